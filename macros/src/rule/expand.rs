//! What becomes of the registration.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, ReturnType, Type};

use super::{Forgoing, Key, Mode, Parameter, Rule};
use crate::generics::Generics;

/// What the derive adds beside the struct.
pub(super) fn expand(rule: &Rule<'_>) -> TokenStream {
    let Rule { activation, vis, signature, parameters, forgoing, members, at_once } = rule;
    let function = &signature.ident;
    let private = quote!(::pullback::__private);
    let (impl_generics, type_generics, where_clause) = signature.generics.split_for_impl();
    let turbofish = type_generics.as_turbofish();
    let usual = Usual::new(&signature.generics);
    let mut with_lifetime = signature.generics.clone();
    with_lifetime.params.insert(0, syn::parse_quote!('pullback));
    let pullback_generics = with_lifetime.split_for_impl().0;
    // Whatever rustc says about the author's `forward` and `pullback` is shown at the struct's name, not at the derive.
    let here = activation.span().resolved_at(Span::call_site());
    let owner = quote_spanned!(here=> #activation #turbofish);

    // A braced struct, because any other would take the function's name in the namespace of values.
    let phantoms = signature.generics.type_params().map(|p| &p.ident);
    let contents = match signature.generics.params.is_empty() {
        true => quote!({}),
        false => quote!({ generics: ::core::marker::PhantomData<fn() -> (#(#phantoms,)*)> }),
    };
    let doc = format!(
        "The type that goes with [`{function}`](fn@{function}), for `#[differentiable]` functions that call it."
    );

    let names: Vec<Ident> = parameters.iter().map(|p| internal("argument", &p.name)).collect();
    let public_names: Vec<_> = parameters.iter().map(|p| &p.name).collect();
    let of_rule = Ident::new("rule", Span::mixed_site());
    let generics = Generics::new(&signature.generics);
    let lend = |Parameter { mode, function, .. }: &Parameter, ty: &Type| match mode {
        Mode::Function => {
            let function = function.as_ref().expect("its mode says so");
            let (modes, output) = (function.modes(&generics), &function.output);
            quote!(#private::DualFn<'a, #modes, #output>)
        }
        Mode::Ref | Mode::ConstRef => quote!(&'a #ty),
        Mode::Mut => quote!(&'a mut #ty),
        Mode::Val | Mode::InertVal | Mode::ConstVal => quote!(#ty),
    };
    let types: Vec<_> = parameters.iter().map(|p| lend(p, &p.ty)).collect();
    let usual_parameters: Vec<_> = parameters.iter().map(|p| lend(p, &usual.of(&p.ty))).collect();
    let (usual_generics, usual_list) = (usual.generics.split_for_impl().0, &usual.types);
    let usual_types = (!usual_list.is_empty()).then(|| quote!(<#(#usual_list),*>));
    let declared = &signature.generics;
    let modes = parameters.iter().map(|Parameter { ty, mode, function, .. }| {
        if let Some(function) = function {
            let (modes, output) = (function.modes(&generics), &function.output);
            return quote!(#private::GivenFn<#modes, #output>);
        }
        let mode = Ident::new(
            match mode {
                Mode::Val | Mode::InertVal => "Val",
                Mode::ConstVal => "ConstVal",
                Mode::Ref => "Ref",
                Mode::ConstRef => "ConstRef",
                Mode::Mut => "Mut",
                Mode::Function => unreachable!("above"),
            },
            Span::mixed_site(),
        );
        quote_spanned!(ty.span()=> #private::#mode<#ty>)
    });
    let (output, has_output) = match &signature.output {
        ReturnType::Default => (quote!(()), false),
        ReturnType::Type(_, ty) => (ty.to_token_stream(), !is_unit(ty)),
    };
    let name = Literal::string(&unraw(function));
    let list = quote!((#(#names,)*));

    let shadows: Vec<Ident> = parameters.iter().map(|p| internal("shadow", &p.name)).collect();
    let duals = parameters.iter().zip(&names).zip(&shadows).map(|((p, name), shadow)| match p.mode {
        Mode::Ref => quote_spanned!(name.span()=> #private::Dual { value: #name, shadow: #shadow }),
        Mode::Mut => quote_spanned!(name.span()=> #private::DualMut { value: #name, shadow: #shadow }),
        _ => quote!(#name),
    });
    let mut passed: Vec<TokenStream> = duals.collect();
    if has_output {
        passed.push(quote!(seed));
    }
    let gradients: Vec<Ident> = parameters
        .iter()
        .filter(|p| matches!(p.mode, Mode::Val))
        .map(|p| internal("gradient", &p.name))
        .collect();
    let returned = match &gradients[..] {
        [] => quote_spanned!(here=> ()),
        [gradient] => quote!(#gradient),
        gradients => quote_spanned!(here=> (#(#gradients),*)),
    };
    let of_parameter = |p: &Parameter| match p.mode {
        Mode::Val => internal("gradient", &p.name).into_token_stream(),
        Mode::InertVal => quote!(#private::zero()),
        _ => quote!(()),
    };
    let all_gradients: Vec<TokenStream> = parameters.iter().map(of_parameter).collect();

    let given: Vec<_> = parameters
        .iter()
        .zip(&names)
        .map(|(p, name)| match &p.function {
            Some(function) => function.closure(quote!(#name.call)),
            None => quote!(#name),
        })
        .collect();
    // The function itself has the usual types only.
    let call_primal = match usual.is_all() {
        true => quote_spanned!(function.span()=> #function #turbofish (#(#given),*)),
        false => quote_spanned!(here=> #owner::primal(#(#given),*)),
    };
    let call_forward = quote_spanned!(here=> #owner::forward(activation, #(#given),*));
    let with_functions = rule.with_functions(&types, &output);
    let call_pullback = quote_spanned!(here=> let #returned = #owner::pullback(activation, #(#passed),*););
    let told = |overwrites: bool| forgoing.iter().filter(move |f| (f.key == Key::Overwrites) == overwrites);
    let heap_size = (!members.is_empty()).then(|| {
        quote! {
            fn heap_size(&self) -> usize {
                #[allow(unused_imports)]
                use #private::{OfAnyField as _, OfReturnedField as _};
                0 #(+ (&#private::OfField(&self.#members)).heap_size())*
            }
        }
    });
    let forgo = told(false).next().map(|_| {
        let numbers = told(false).map(|f| Literal::usize_unsuffixed(f.parameter));
        let consequences = told(false).map(|Forgoing { field, key, .. }| match key {
            Key::Restores => quote!(self.#field.forgo()),
            _ => quote!(self.#field = true),
        });
        quote! {
            fn forgo(&mut self, parameter: usize) {
                #(if parameter == #numbers {
                    #consequences;
                })*
            }
        }
    });
    let overwrite = told(true).next().map(|_| {
        let numbers = told(true).map(|f| Literal::usize_unsuffixed(f.parameter));
        let fields = told(true).map(|f| &f.field);
        quote! {
            fn overwrite(&mut self, parameter: usize) -> bool {
                match parameter {
                    #(#numbers => self.#fields = true,)*
                    _ => return false,
                }
                true
            }
        }
    });
    let (together, call_together) = match at_once {
        true => {
            let call = quote_spanned! {here=>
                let (output, #returned) = #owner::value_and_pullback(activation, #(#passed),*);
            };
            let body = quote! {
                #[inline]
                #[allow(clippy::let_unit_value, clippy::unused_unit)]
                fn value_and_pullback #pullback_generics (
                    activation: &mut #activation #type_generics,
                    #list: #private::Args<'pullback, #function #type_generics>,
                    (#(#shadows,)*): #private::Shadows<'pullback, #function #type_generics>,
                    seed: #private::Cotangent<#function #type_generics>,
                ) -> (#output, #private::Gradients<#function #type_generics>) #where_clause {
                    let _ = (#(&#shadows,)* &seed);
                    #call
                    (output, (#(#all_gradients,)*))
                }
            };
            let call = quote! {
                #[inline]
                fn value_and_pullback<'a>(
                    &mut self,
                    arguments: #private::Args<'a, #function #type_generics>,
                    shadows: #private::Shadows<'a, #function #type_generics>,
                    seed: #private::Cotangent<#function #type_generics>,
                ) -> (#output, #private::Gradients<#function #type_generics>) {
                    value_and_pullback(self, arguments, shadows, seed)
                }
            };
            (Some(body), Some(call))
        }
        false => (None, None),
    };

    // It is called with dual numbers as it is, if its type parameters can be such. A number may be a constant.
    let is_number =
        |ty: &Type| signature.generics.type_params().any(|p| p.ident == ty.to_token_stream().to_string());
    let numbers: Vec<_> =
        parameters.iter().map(|p| matches!(p.mode, Mode::Val) && is_number(&p.ty)).collect();
    let written = types.iter().zip(&numbers).map(|(ty, number)| match number {
        true => quote!(impl Into<#ty>),
        false => ty.clone(),
    });
    let written: Vec<_> = written.collect();
    let given = public_names.iter().zip(&numbers).map(|(name, number)| match number {
        true => quote!(#name.into()),
        false => quote!(#name),
    });
    let given: Vec<_> = given.collect();
    let on_duals = signature.generics.type_params().next().map(|first| {
        let (call, of_numbers) = (crate::calls::on_duals(here), crate::dual::parameters());
        // Where arguments may be constants they do not tell what numbers there are.
        let (number, first) = (crate::dual::number(), &first.ident);
        let clause = (!usual.is_all()).then(|| quote!(where #number: #private::Is<#first>));
        quote! {
            #[doc(hidden)]
            #[inline(always)]
            #[allow(clippy::too_many_arguments, clippy::ptr_arg, clippy::type_complexity)]
            pub fn #call<'a, #of_numbers>(#(#public_names: #written),*) -> #output #clause {
                <Self as #private::Function>::primal((#(#given,)*))
            }

            #[doc(hidden)]
            #[inline(always)]
            #[allow(clippy::too_many_arguments, clippy::ptr_arg, clippy::type_complexity)]
            pub fn args_on_duals<'a, #of_numbers>(#(#public_names: #written),*) -> #private::Args<'a, Self> #clause {
                (#(#given,)*)
            }

            #[doc(hidden)]
            pub fn rule_on_duals<#of_numbers>() -> impl #private::Rule<Function = Self, Residual = ()> #clause {
                <#private::Frames<#activation #type_generics> as ::core::default::Default>::default()
            }
        }
    });

    let beside = with_functions.into_iter().chain(on_duals).map(|functions| {
        quote! {
            #[automatically_derived]
            impl #impl_generics #function #type_generics #where_clause {
                #functions
            }
        }
    });

    quote! {
        #[doc = #doc]
        #[allow(non_camel_case_types)]
        #vis struct #function #declared #where_clause #contents

        const _: () = {
            #[automatically_derived]
            impl #impl_generics #private::Function for #function #type_generics #where_clause {
                type Parameters = (#(#modes,)*);
                type Output = #output;
                const NAME: &'static str = #name;

                #[inline]
                fn primal(#list: #private::Args<'_, Self>) -> #output {
                    #call_primal
                }
            }

            // Functions of their own, because inside of the `impl` below a `forward` or `pullback` that the author forgot would
            // be taken for the trait's.
            #[inline]
            fn forward #impl_generics (
                activation: &mut #activation #type_generics,
                #list: #private::Args<'_, #function #type_generics>,
            ) -> #output #where_clause {
                #call_forward
            }

            #[inline]
            #[allow(clippy::let_unit_value, clippy::unused_unit)]
            fn pullback #pullback_generics (
                activation: &mut #activation #type_generics,
                #list: #private::Args<'pullback, #function #type_generics>,
                (#(#shadows,)*): #private::Shadows<'pullback, #function #type_generics>,
                seed: #private::Cotangent<#function #type_generics>,
            ) -> #private::Gradients<#function #type_generics> #where_clause {
                let _ = (#(&#shadows,)* &seed);
                #call_pullback
                (#(#all_gradients,)*)
            }

            #together

            #[automatically_derived]
            impl #impl_generics #private::Activation for #activation #type_generics #where_clause {
                type Function = #function #type_generics;

                #[inline]
                fn forward(&mut self, arguments: #private::Args<'_, #function #type_generics>) -> #output {
                    forward(self, arguments)
                }

                #[inline]
                fn pullback<'a>(
                    &mut self,
                    arguments: #private::Args<'a, #function #type_generics>,
                    shadows: #private::Shadows<'a, #function #type_generics>,
                    seed: #private::Cotangent<#function #type_generics>,
                ) -> #private::Gradients<#function #type_generics> {
                    pullback(self, arguments, shadows, seed)
                }

                #call_together
                #forgo
                #overwrite
                #heap_size
            }

            #[automatically_derived]
            impl #impl_generics #private::HasRule for #function #type_generics #where_clause {
                fn make_rule() -> impl #private::Rule<Function = Self> + 'static {
                    <#private::Frames<#activation #type_generics> as ::core::default::Default>::default()
                }
            }

            #[automatically_derived]
            impl #usual_generics #function #usual_types #where_clause {
                /// The rule, with nothing pending.
                pub fn rule() -> impl #private::Rule<Function = Self, Residual = ()> {
                    <#private::Frames<#activation #usual_types> as ::core::default::Default>::default()
                }

                /// The arguments of a call as the rule takes them: this is where they coerce as in any call.
                #[doc(hidden)]
                #[inline(always)]
                #[allow(clippy::too_many_arguments, clippy::ptr_arg, clippy::type_complexity)]
                pub fn args<'a>(#(#public_names: #usual_parameters),*) -> #private::Args<'a, Self> {
                    (#(#public_names,)*)
                }

                /// The arguments of a call of `rule`'s function, which the rule tells where nothing that is given does.
                #[doc(hidden)]
                #[inline(always)]
                #[allow(clippy::too_many_arguments, clippy::ptr_arg, clippy::type_complexity)]
                pub fn args_for<'a>(
                    #of_rule: &impl #private::Rule<Function = Self>,
                    #(#public_names: #usual_parameters),*
                ) -> #private::Args<'a, Self> {
                    Self::args(#(#public_names),*)
                }
            }

            #(#beside)*
        };
    }
}

/// The function without type parameters that have defaults: it is called with these types, and with others on dual numbers.
struct Usual {
    generics: syn::Generics,
    types: Vec<TokenStream>,
    defaults: Vec<(String, Type)>,
}

impl Usual {
    fn new(all: &syn::Generics) -> Self {
        let defaults: Vec<_> =
            all.type_params().filter_map(|p| Some((p.ident.to_string(), p.default.clone()?.1))).collect();
        let mut generics = all.clone();
        generics.params = (all.params.iter())
            .filter(|p| !matches!(p, GenericParam::Type(p) if p.default.is_some()))
            .cloned()
            .collect();
        let types = all.params.iter().map(|p| match p {
            GenericParam::Type(p) => match &p.default {
                Some((_, default)) => default.to_token_stream(),
                None => p.ident.to_token_stream(),
            },
            GenericParam::Const(p) => p.ident.to_token_stream(),
            GenericParam::Lifetime(_) => unreachable!("refused before"),
        });
        let types = types.collect();
        Usual { generics, types, defaults }
    }

    /// There are no such type parameters.
    fn is_all(&self) -> bool {
        self.defaults.is_empty()
    }

    /// A type with the defaults in the place of their parameters.
    fn of(&self, ty: &Type) -> Type {
        self.defaults.iter().fold(ty.clone(), |ty, (from, to)| crate::dual::retyped(&ty, from, to))
    }
}

/// A name that cannot be confused with what the author wrote.
fn internal(role: &str, name: &Ident) -> Ident {
    format_ident!("{role}_{}", unraw(name), span = name.span().resolved_at(Span::mixed_site()))
}

fn unraw(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}

fn is_unit(ty: &Type) -> bool {
    let mut tokens = ty.to_token_stream().into_iter();
    let unit = |g: &Group| g.delimiter() == Delimiter::Parenthesis && g.stream().is_empty();
    matches!(tokens.next(), Some(TokenTree::Group(g)) if unit(&g)) && tokens.next().is_none()
}
