//! The signature of a function with a rule, and what follows from it alone: the type that bears the function's name.

use std::cell::Cell;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{FnArg, Ident, ReceiverKind, ReturnType, Type, Visibility};

use crate::behind::Lengths;
use crate::calls::Own;
use crate::derive::in_optional_box;
use crate::dual::companion::ON_DUALS;
use crate::errors::Errors;
use crate::generics::Generics;
use crate::ownership::Owners;
use crate::passing::{Parameter, Passing, parameter};
use crate::privacy::Scope;
use crate::program::{Kind, Program};

/// The type parameter of the rules of a trait's methods that stands for the type which implements the trait.
pub(crate) const IMPLEMENTOR: &str = "Self_";

pub(crate) struct Signature {
    pub(crate) vis: Visibility,
    /// Of the type that bears the function's name.
    pub(crate) name: Ident,
    /// If it is a method: its name, and the type that it belongs to.
    pub(crate) method: Option<(Ident, Type)>,
    /// The trait that the method is one of.
    pub(crate) of_trait: Option<syn::Path>,
    pub(crate) generics: Generics,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: Type,
    /// The function runs on dual numbers, too.
    pub(crate) dual: bool,
    /// The methods beside it that return parts of `self`, and what is known of these.
    pub(crate) selecting: Vec<(Ident, Kind)>,
    /// The methods beside it that leave `self` as it is, or return a reference.
    pub(crate) reading: Vec<Ident>,
    /// The types of the user's that own memory, as far as is known.
    pub(crate) owners: Owners,
    /// What the body does to the lengths of vectors behind references: set once that is known.
    pub(crate) lengths: Cell<Lengths>,
}

impl Signature {
    /// Reads the signature of a function and takes the `#[constant]` attributes off it.
    pub(crate) fn parse(
        vis: &Visibility,
        sig: &mut syn::Signature,
        owners: Owners,
        errors: &mut Errors,
    ) -> Signature {
        let generics = sig.generics.clone();
        Self::parse_in(vis, sig, &generics, (None, owners), errors)
    }

    /// The same for a method of an `impl` for the type `owner`; `generics` are those of both. `owners` are the types that own memory.
    pub(crate) fn parse_in(
        vis: &Visibility,
        sig: &mut syn::Signature,
        generics: &syn::Generics,
        (owner, mut owners): (Option<&Type>, Owners),
        errors: &mut Errors,
    ) -> Signature {
        if let Some(token) = &sig.asyncness {
            errors.push(
                token,
                "`async` functions cannot be differentiated: move the computation into a plain function",
            );
        }
        if let syn::Safety::Unsafe(token) = &sig.safety {
            errors.push(
                token,
                "`unsafe` functions cannot be differentiated: write a rule by hand with `#[derive(Rule)]`",
            );
        }
        for input in &mut sig.inputs {
            if let Some(ty) = taken_by_reference(input, owner, errors) {
                owners.insert(&ty);
            }
        }
        let syntax = generics;
        let mut generics = Generics::new(syntax);
        let parameters: Vec<_> = sig
            .inputs
            .iter_mut()
            .map(|input| parameter(input, syntax, &generics, (owner, &owners), errors))
            .collect();
        let output = match &sig.output {
            ReturnType::Default => syn::parse_quote!(()),
            ReturnType::Type(_, ty) => {
                if let Type::Reference(reference) = &**ty {
                    errors.push(reference, "a differentiable function returns its result by value: return a number, an array or a tuple, or write through a `&mut` parameter");
                }
                if let Type::ImplTrait(ty) = &**ty {
                    errors.push(ty, "a differentiable function returns numbers, arrays or structs: take a function that is to be called as a parameter, `impl Fn(…) -> …`");
                }
                let mut ty = (**ty).clone();
                resolve_self(&mut ty, owner);
                ty
            }
        };
        generics.settle_callables(&parameters, errors);
        generics.require(&parameters, &output);
        let method = owner.map(|owner| (sig.ident.clone(), owner.clone()));
        let name = match owner {
            Some(owner) => {
                format_ident!("{}_{}", type_name(owner), sig.ident.unraw(), span = sig.ident.span())
            }
            None => sig.ident.clone(),
        };
        let (of_trait, vis, dual, selecting, reading) = (None, vis.clone(), false, Vec::new(), Vec::new());
        let lengths = Cell::default();
        Signature {
            vis,
            name,
            method,
            of_trait,
            generics,
            parameters,
            output,
            dual,
            selecting,
            reading,
            owners,
            lengths,
        }
    }

    /// The function as it is called.
    pub(crate) fn primal(&self) -> TokenStream {
        let Signature { name, method, of_trait, .. } = self;
        match (method, of_trait) {
            (Some((method, owner)), Some(of_trait)) => quote!(<#owner as #of_trait>::#method),
            (Some((method, owner)), None) => quote!(<#owner>::#method),
            (None, _) => {
                let turbofish = self.turbofish();
                quote!(#name #turbofish)
            }
        }
    }

    /// How the parameters are passed, as a type.
    pub(crate) fn modes(&self) -> TokenStream {
        let modes = self.parameters.iter().map(|p| p.mode(&self.generics));
        quote!((#(#modes,)*))
    }

    /// The parameters but for the first `skipped`, as those of a function that lends them for `'a`.
    pub(crate) fn lent(&self, skipped: usize) -> Vec<TokenStream> {
        let types = self.lent_types();
        self.names().iter().zip(types).skip(skipped).map(|(name, ty)| quote!(#name: #ty)).collect()
    }

    /// The types of the parameters of a function that lends them for `'a`.
    pub(crate) fn lent_types(&self) -> Vec<TokenStream> {
        let lend = |p: &Parameter| {
            if let Some(callable) = &p.callable {
                return callable.lent(&self.generics);
            }
            let ty = p.lent.as_ref().unwrap_or(&p.ty);
            match p.passing {
                _ if p.optional => quote!(::core::option::Option<&'a #ty>),
                Passing::Value => quote!(#ty),
                Passing::Shared => quote!(&'a #ty),
                Passing::Unique => quote!(&'a mut #ty),
            }
        };
        self.parameters.iter().map(lend).collect()
    }

    /// The types of what callers pass for the parameters, and the arguments of the rule that come of it: where a constant is taken by value
    /// that may own memory, a caller lends what it has under a name.
    fn arguments(&self) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let named = |ty: &Type| matches!(ty, Type::Path(path) if path.path.segments.iter().all(|s| s.arguments.is_none()));
        let argument = |((parameter, ty), name): ((&Parameter, TokenStream), Ident)| match parameter
            .is_cloned(&self.generics)
            && named(&parameter.ty)
        {
            true => (quote!(impl __pb::ConstantArgument<#ty>), quote!(__pb::ConstantArgument::owned(#name))),
            false => (ty, quote!(#name)),
        };
        self.parameters.iter().zip(self.lent_types()).zip(self.names()).map(argument).unzip()
    }

    /// The type that bears the function's name.
    pub(crate) fn ty(&self) -> TokenStream {
        let (name, types) = (&self.name, self.generics.split().1);
        quote!(#name #types)
    }

    /// The function as it sees itself.
    pub(crate) fn own(&self) -> Own {
        Own {
            ty: self.ty(),
            method: self.method.as_ref().map(|(name, _)| name.clone()),
            output: self.generics.kind_of(&self.output),
            boxed: in_optional_box(&self.output).is_some(),
        }
    }

    /// What users call the function.
    pub(crate) fn label(&self) -> String {
        match &self.method {
            Some((method, owner)) => {
                let owner = type_name(owner);
                let of_trait = self.of_trait.as_ref().and_then(|path| path.segments.last());
                let owner =
                    of_trait.filter(|_| owner == IMPLEMENTOR).map_or(owner, |last| last.ident.clone());
                format!("{owner}::{}", method.unraw())
            }
            // In dual numbers it is the same function.
            None => self.name.unraw().to_string().trim_end_matches(ON_DUALS).to_owned(),
        }
    }

    pub(crate) fn active(&self) -> impl Iterator<Item = (usize, &Parameter)> {
        self.parameters.iter().enumerate().filter(|(_, p)| !p.constant && p.callable.is_none())
    }

    /// The names of the parameters.
    pub(crate) fn names(&self) -> Vec<Ident> {
        self.parameters.iter().enumerate().map(|(i, p)| p.ident(i)).collect()
    }

    /// The type that bears the function's name.
    pub(crate) fn item(&self) -> TokenStream {
        let Signature { vis, name, generics, .. } = self;
        let (types, clause) = (generics.split().1, generics.declaration().1);
        let Scope { declared, field, .. } = self.scope();
        let functions = self.kept_functions();
        let extras = self.dual.then(|| quote!(extras: ::pullback::__private::Extras,));
        let products =
            self.has_products().then(|| quote!(products: ::pullback::__private::KeptProducts<#name #types>,));
        let doc = format!("The derivative of the function of this name: see [`{name}::gradient`].");
        quote! {
            #[doc = #doc]
            #[allow(non_camel_case_types)]
            #vis struct #name #declared #clause {
                driver: ::pullback::__private::Driver<#name #types>,
                #extras
                #products
                #functions
                #field
            }
        }
    }

    /// Names for the parameters where the function itself is called: one of them may have its name.
    pub(crate) fn other_names(&self) -> Vec<Ident> {
        (0..self.parameters.len()).map(|i| Program::fresh(&format!("x{i}"))).collect()
    }

    /// `impl Function` for that type, and how arguments are brought together.
    pub(crate) fn function(&self) -> TokenStream {
        let Signature { name, generics, output, .. } = self;
        let ((declared, types, clause), primal) = (generics.split(), self.primal());
        let (label, lengths) = (self.label(), self.lengths.get().constants());
        let names = self.names();
        let values = self.other_names();
        let modes = self.parameters.iter().map(|p| p.mode(generics));
        let (given, arguments) = self.arguments();
        let passed = self.parameters.iter().zip(&values).map(|(p, x)| match &p.callable {
            Some(callable) => callable.closure(quote!((#x.primal))),
            None if p.owned => quote!(::core::clone::Clone::clone(#x)),
            None => p.passed(x).unwrap_or(quote!(#x)),
        });
        let (with_closures, rule) = (self.with_closures(), Program::fresh("rule"));
        quote! {
            impl #declared __pb::Function for #name #types #clause {
                type Parameters = (#(#modes,)*);
                type Output = #output;
                const NAME: &'static str = #label;
                #lengths

                fn primal((#(#values,)*): __pb::Args<'_, Self>) -> #output {
                    #primal(#(#passed),*)
                }
            }

            impl #declared #name #types #clause {
                /// The arguments of a call as a tuple, coerced as in a call of the function.
                #[doc(hidden)]
                #[inline(always)]
                pub fn args<'a>(#(#names: #given),*) -> __pb::Args<'a, Self> {
                    (#(#arguments,)*)
                }

                /// The arguments of a call of `rule`'s function, which the rule tells where nothing that is given does.
                #[doc(hidden)]
                #[inline(always)]
                pub fn args_for<'a>(#rule: &impl __pb::Rule<Function = Self>, #(#names: #given),*) -> __pb::Args<'a, Self> {
                    Self::args(#(#names),*)
                }
            }

            #with_closures
        }
    }

    /// What users call, and the gradient that they get.
    pub(crate) fn driver(&self) -> TokenStream {
        let Signature { name, output, .. } = self;
        let (names, generics) = (self.names(), &self.of_functions());
        // A gradient is that of the function for the functions that its type tells.
        let given = || self.parameters.iter().zip(&names).filter(|(p, _)| p.callable.is_none());
        let typed: Vec<_> =
            given().map(|(p, name)| (name, &p.syntax)).map(|(name, ty)| quote!(#name: #ty)).collect();
        let passed = self.passed(&names);
        let takes_functions = self.callables().next().is_some();
        let made = takes_functions.then(|| quote!(functions: ::core::default::Default::default(),));
        let extras = self.dual.then(|| quote!(extras: __pb::Extras::new(),));
        let products = self.has_products().then(|| quote!(products: __pb::KeptProducts::new(),));
        let shrink_extras = self.dual.then(|| quote!(self.extras.shrink();));
        let shrink_products = self.has_products().then(|| quote!(self.products.shrink();));
        let memory_of_extras = self.dual.then(|| quote!(+ self.extras.memory()));
        let memory_of_products = self.has_products().then(|| quote!(+ self.products.memory()));
        let memory_of_functions = takes_functions.then(|| quote!(+ __pb::State::memory(&self.functions)));
        let dual_methods = self.dual_methods();
        let scope = self.scope().value;
        let reset = takes_functions.then(|| quote!(__pb::State::reset(&mut self.functions);));
        let shrink = takes_functions.then(|| quote!(__pb::State::shrink(&mut self.functions);));
        let fields: TokenStream = self
            .active()
            .map(|(i, p)| {
                let (field, ty) = (&names[i], p.seen());
                let doc = format!("With respect to `{field}`.");
                match p.passing {
                    Passing::Value => quote!(#[doc = #doc] pub #field: <#ty as __pb::Value>::Tangent,),
                    _ => quote!(#[doc = #doc] pub #field: <#ty as __pb::Differentiable>::View<'a>,),
                }
            })
            .collect();
        let values: TokenStream = self
            .active()
            .map(|(i, p)| {
                let (field, ty, index) = (&names[i], p.seen(), syn::Index::from(i));
                match p.passing {
                    Passing::Value => quote!(#field: gradients.#index,),
                    _ => quote!(#field: <#ty as __pb::Differentiable>::view(&buffers.#index),),
                }
            })
            .collect();
        let (declared, of_types, clause) = generics.split();
        let lent = generics.with_lifetime();
        let (lent_clause, all) = (&lent.where_clause, generics.types());
        // `derive` cannot know that the gradients of unknown types can be copied and shown.
        let derive = generics.only_scalars().then(|| quote!(#[derive(Clone, Copy, Debug)]));
        let (short, marker) = match generics.is_empty() {
            true => (quote!(Gradient<'_>), quote!(&'a ())),
            false => {
                let lent = syn::parse_quote!('_);
                let mut arguments: syn::AngleBracketedGenericArguments =
                    syn::parse2(quote!(#of_types)).expect("a list of generic arguments");
                arguments.args.insert(0, lent);
                (quote!(Gradient #arguments), quote!((&'a (), fn() -> #all)))
            }
        };
        // What is passed by value is of no more use then.
        let reclaimed: TokenStream = self
            .active()
            .filter(|(_, p)| p.owned)
            .map(|(i, _)| (i, &names[i]))
            .map(|(i, name)| quote!(let buffers = self.driver.reclaim(#i, #name);))
            .collect();
        let unit = matches!(output, Type::Tuple(tuple) if tuple.elems.is_empty());
        let value_and_gradient = {
            let doc = format!(
                "The value of `{name}` and its gradient with respect to each active parameter.\n\n`&mut` arguments are \
                 restored when the call returns, and their gradient is the one with respect to what they hold on entry."
            );
            quote! {
                #[doc = #doc]
                #[allow(clippy::too_many_arguments)]
                pub fn value_and_gradient(&mut self, #(#typed),*) -> (#output, #short)
                where
                    // With a lifetime, the bound is checked where the method is called.
                    for<'any> #output: __pb::ScalarOutput,
                {
                    #reset
                    let (value, gradients, buffers) = self.driver.gradient((#(#passed,)*));
                    #reclaimed
                    (value, Gradient { #values marker: __pb::PhantomData })
                }
            }
        };
        // Hygienic: a parameter may be called `seed`, too.
        let seed = Ident::new("seed", Span::mixed_site());
        let (seed, seed_parameter) = if unit {
            (quote!(()), quote!())
        } else {
            (quote!(#seed), quote!(#seed: __pb::Cotangent<'_, Self>,))
        };
        let (mut seed_parameters, mut seeding) = (TokenStream::new(), TokenStream::new());
        for (i, p) in self.active().filter(|(_, p)| p.passing == Passing::Unique) {
            let (seed, ty, index) = (
                format_ident!("seed_{}", names[i], span = Span::mixed_site()),
                p.seen(),
                syn::Index::from(i),
            );
            seed_parameters.extend(quote!(#seed: <#ty as __pb::Differentiable>::View<'_>,));
            seeding.extend(quote!(<#ty as __pb::Differentiable>::seed(&mut _buffers.#index, #seed);));
        }
        let doc = format!(
            "The value of `{name}`, and the pullback of `seed` (the gradient of some scalar with respect to the output) to \
             each active parameter. Behind it stands a seed for each active `&mut` parameter: the gradient of that \
             scalar with respect to what the argument holds when the function returns."
        );
        quote! {
            /// The gradient with respect to each active parameter, in fields of their names.
            #derive
            pub struct Gradient #lent #lent_clause {
                #fields
                marker: __pb::PhantomData<#marker>,
            }

            impl #declared #name #of_types #clause {
                /// An object that computes gradients. It owns the rule and the shadows, allocates on its first use and
                /// reuses its memory from then on.
                // Inlined, what a library's user does not ask for is not compiled there, and what serves one caller is known to.
                #[inline]
                pub fn gradient() -> Self {
                    Self { driver: __pb::Driver::new(Self::rule()), #extras #products #made #scope }
                }

                /// An object that computes pullbacks: the same as [`gradient`](Self::gradient).
                pub fn pullback() -> Self {
                    Self::gradient()
                }

                /// The bytes of the heap that the object holds: one gradient for each reference parameter, and what its rules keep
                /// from call to call.
                pub fn memory(&self) -> usize {
                    self.driver.memory() #memory_of_extras #memory_of_products #memory_of_functions
                }

                /// Gives back the memory that the object holds.
                pub fn shrink(&mut self) {
                    self.driver.shrink();
                    #shrink_extras
                    #shrink_products
                    #shrink
                }

                #value_and_gradient

                #[doc = #doc]
                #[allow(clippy::too_many_arguments)]
                pub fn value_and_pullback(
                    &mut self,
                    #(#typed,)*
                    #seed_parameter
                    #seed_parameters
                ) -> (#output, #short) {
                    #reset
                    let (value, gradients, buffers) =
                        self.driver.pullback((#(#passed,)*), #seed, |_buffers| { #seeding });
                    #reclaimed
                    (value, Gradient { #values marker: __pb::PhantomData })
                }
            }

            #dual_methods
        }
    }
}

/// The name of a type, for names that begin with it.
pub(crate) fn type_name(ty: &Type) -> Ident {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|s| s.ident.clone()),
        Type::Reference(reference) => Some(type_name(&reference.elem)),
        _ => None,
    }
    .unwrap_or_else(|| Ident::new("Type", ty.span()))
}

/// Writes out what `Self` stands for.
pub(crate) fn resolve_self(ty: &mut Type, owner: Option<&Type>) {
    struct Resolve<'o>(&'o Type);
    impl VisitMut for Resolve<'_> {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            let owner = self.0;
            if let Type::Path(path) = ty
                && path.qself.is_none()
                && path.path.segments.first().is_some_and(|s| s.ident == "Self")
            {
                let rest = path.path.segments.iter().skip(1);
                *ty = match path.path.segments.len() {
                    1 => owner.clone(),
                    _ => syn::parse_quote!(<#owner> #(::#rest)*),
                };
                return;
            }
            syn::visit_mut::visit_type_mut(self, ty);
        }
    }
    if let Some(owner) = owner {
        Resolve(owner).visit_type_mut(ty);
    }
}

/// `#[pullback(by_reference)]`: takes it off a parameter that is passed by value, of which the type owns memory, and returns that.
fn taken_by_reference(input: &mut FnArg, owner: Option<&Type>, errors: &mut Errors) -> Option<Type> {
    let is_option = |a: &syn::Attribute| a.path().is_ident("pullback");
    let options: Vec<_> = attributes(input).extract_if(.., |a| is_option(a)).collect();
    for option in &options {
        if !option.parse_args::<Ident>().is_ok_and(|word| word == "by_reference") {
            errors.push(option, "the only option of a parameter is `by_reference`");
            return None;
        }
    }
    let option = options.first()?;
    let mut ty = match input {
        FnArg::Typed(typed) => (*typed.ty).clone(),
        FnArg::Receiver(receiver) => match &receiver.kind {
            ReceiverKind::Value => syn::parse_quote!(Self),
            _ => syn::parse_quote!(&Self),
        },
    };
    if !matches!(ty, Type::Path(_)) {
        errors.push(
            option,
            "`by_reference` is for a struct that owns memory and is passed by value: here it says nothing",
        );
        return None;
    }
    resolve_self(&mut ty, owner);
    Some(ty)
}

pub(crate) fn attributes(input: &mut FnArg) -> &mut Vec<syn::Attribute> {
    match input {
        FnArg::Typed(typed) => &mut typed.attrs,
        FnArg::Receiver(receiver) => &mut receiver.attrs,
    }
}

/// Takes what this macro reads off the parameters of a function.
pub(crate) fn strip(sig: &mut syn::Signature) {
    for input in &mut sig.inputs {
        attributes(input).retain(|a| !a.path().is_ident("constant") && !a.path().is_ident("pullback"));
    }
}
