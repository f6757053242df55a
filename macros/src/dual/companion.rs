//! The function of dual numbers that `#[differentiable(dual)]` derives from a function of floats, and its rule.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{Ident, ReturnType, Type};

use crate::calls::on_duals;
use crate::differentiable::{analysed, rule};
use crate::dual::{Retype, arguments, component, lifting, number, parameters, width};
use crate::errors::Errors;
use crate::forward::primal;
use crate::passing::{Parameter, Passing};
use crate::privacy::Scope;
use crate::signature::Signature;

/// What the name of a companion ends with.
pub(crate) const ON_DUALS: &str = "_on_duals";

/// The function in dual numbers, what makes it one with a rule, and how the function refers to it.
pub(crate) fn companion(signature: &Signature, function: &syn::ItemFn) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let name = format_ident!("{}{ON_DUALS}", signature.name, span = signature.name.span());
    let (mut sig, mut body) = (function.sig.clone(), (*function.block).clone());
    CallsItself { name: &signature.name, by: &name }.visit_block_mut(&mut body);
    let (number, component, width) = (number(), component(), width());
    sig.ident = name;
    sig.generics.params.push(syn::parse_quote!(#component: ::pullback::__private::Float));
    sig.generics.params.push(syn::parse_quote!(const #width: usize));
    for (input, parameter) in sig.inputs.iter_mut().zip(&signature.parameters) {
        if let (syn::FnArg::Typed(typed), false) = (input, parameter.constant) {
            on_numbers(&mut typed.ty, &number);
        }
    }
    if let ReturnType::Type(_, ty) = &mut sig.output {
        on_numbers(ty, &number);
    }
    let mut attributes = sig.clone();
    for (input, parameter) in attributes.inputs.iter_mut().zip(&signature.parameters) {
        if let (syn::FnArg::Typed(typed), true) = (input, parameter.constant) {
            typed.attrs.push(syn::parse_quote!(#[constant]));
        }
    }
    let mut dual = Signature::parse(&signature.vis, &mut attributes, signature.owners.clone(), &mut errors);
    // No value is a mere component.
    dual.generics.scalars.clear();
    let (mut program, items) = analysed(&dual, &body, &mut errors)?;
    lifting::lift(&mut program, &dual, &mut errors);
    errors.finish()?;
    let rule = rule(&dual, &mut program)?;
    let primal = primal(&program)?;

    let (own, ty) = (&signature.name, dual.ty());
    let (declared, _, clause) = dual.generics.split();
    let Scope { declared: definition, field, .. } = dual.scope();
    let (of_function, own_types, own_clause) = signature.generics.split();
    let function = dual.function();
    let (vis, dual_name, output) = (&dual.vis, &dual.name, &dual.output);
    let (names, lent) = (dual.names(), dual.lent(0));
    // A number may be a constant.
    let is_number = |parameter: &Parameter| {
        !parameter.constant
            && parameter.ty.to_token_stream().to_string() == number.to_token_stream().to_string()
    };
    let written: Vec<_> = names
        .iter()
        .zip(&dual.parameters)
        .map(|(name, parameter)| match &parameter.syntax {
            ty if is_number(parameter) && parameter.passing == Passing::Value => {
                quote!(#name: impl Into<#ty>)
            }
            ty => quote!(#name: #ty),
        })
        .collect();
    let lent = lent.into_iter().zip(names.iter().zip(&dual.parameters)).map(|(lent, (name, parameter))| {
        match is_number(parameter) && parameter.passing == Passing::Value {
            true => quote!(#name: impl Into<#number>),
            false => lent,
        }
    });
    let given: Vec<_> = names
        .iter()
        .zip(&dual.parameters)
        .map(|(name, parameter)| match is_number(parameter) && parameter.passing == Passing::Value {
            true => quote!(#name.into()),
            false => quote!(#name),
        })
        .collect();
    let call = on_duals(Span::call_site());
    let doc = format!(
        "`{own}` on dual numbers: active arguments are made of these, and so is what it returns. What comes from one function can go to another, \
         derivatives and all."
    );
    let (parameters, arguments, own_arguments) = (parameters(), arguments(), signature.generics.names());
    let (inner, types) = (&items, dual.generics.types());
    Ok(quote! {
        #sig {
            #(#inner)*
            #primal
        }

        #[allow(non_camel_case_types)]
        #vis struct #dual_name #definition #clause {
            marker: ::core::marker::PhantomData<fn() -> #types>,
            #field
        }

        #function

        impl #declared #ty #clause {
            pub fn rule() -> impl __pb::Rule<Function = #ty> {
                #(#items)*
                #rule
            }
        }

        impl #declared __pb::HasRule for #ty #clause {
            fn make_rule() -> impl __pb::Rule<Function = Self> + 'static {
                Self::rule()
            }
        }

        impl #declared __pb::HasDual<#arguments> for #own #own_types #clause {
            type Dual = #ty;
        }

        impl #of_function #own #own_types #own_clause {
            #[doc = #doc]
            #[inline]
            #[allow(clippy::too_many_arguments)]
            pub fn on_dual_numbers<#parameters>(#(#written),*) -> #output {
                Self::#call(#(#names),*)
            }

            /// The function of dual numbers.
            #[doc(hidden)]
            #[inline]
            pub fn #call<#parameters>(#(#written),*) -> #output {
                #dual_name::<#(#own_arguments,)* #arguments>(#(#given),*)
            }

            /// The arguments of a call of that.
            #[doc(hidden)]
            #[inline(always)]
            pub fn args_on_duals<'a, #parameters>(#(#lent),*) -> __pb::Args<'a, #ty> {
                (#(#given,)*)
            }

            /// Its rule.
            #[doc(hidden)]
            pub fn rule_on_duals<#parameters>() -> impl __pb::Rule<Function = #ty> {
                <#ty>::rule()
            }
        }
    })
}

/// The type with dual numbers in the place of floats: as written where the macro sees through it, as the compiler knows it elsewhere.
pub(crate) fn on_numbers(ty: &mut Type, number: &Type) {
    Retype { from: "f64", to: number }.visit_type_mut(ty);
    Named.visit_type_mut(ty);
}

/// Names that the macro does not know: structs of floats, which have no counterpart, and other names of types that have one.
struct Named;

impl VisitMut for Named {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Path(path) if path.qself.is_none() => {
                let name = path.path.get_ident().map(ToString::to_string);
                if name.is_some_and(|name| name.starts_with(char::is_uppercase)) {
                    let arguments = arguments();
                    *ty = syn::parse_quote!(<#ty as ::pullback::__private::Lift<#arguments>>::Dual);
                } else {
                    syn::visit_mut::visit_type_mut(self, ty);
                }
            }
            _ => syn::visit_mut::visit_type_mut(self, ty),
        }
    }
}

/// Calls of the function itself.
struct CallsItself<'n> {
    name: &'n Ident,
    by: &'n Ident,
}

impl VisitMut for CallsItself<'_> {
    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        syn::visit_mut::visit_expr_call_mut(self, call);
        if let syn::Expr::Path(path) = &mut *call.func
            && path.path.is_ident(self.name)
        {
            path.path.segments[0].ident = self.by.clone();
        }
    }
}
