//! The signature of a function with a rule, and what follows from it alone: the type that bears the function's name.

use std::cell::Cell;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{FnArg, Ident, Pat, ReceiverKind, ReturnType, Type, Visibility};

use crate::arrays::Shape;
use crate::behind::Lengths;
use crate::callable::Callable;
use crate::calls::Own;
use crate::dual::companion::ON_DUALS;
use crate::errors::Errors;
use crate::generics::{Generics, elide};
use crate::kind::{copied_type, inert, is_vector};
use crate::outcome::inside_type;
use crate::ownership::Owners;
use crate::parameters::lent_view;
use crate::privacy::Scope;
use crate::program::{Kind, Program};
use crate::streams::Items;

/// The type parameter of the rules of a trait's methods that stands for the type which implements the trait.
pub(crate) const IMPLEMENTOR: &str = "Self_";

/// How a parameter is passed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passing {
    Value,
    Shared,
    Unique,
}

/// What a function takes of which the rule has a reference.
#[derive(Clone)]
pub(crate) enum Handed {
    /// A view of an array.
    View,
    /// An iterator.
    Items(Box<Items>),
}

pub(crate) struct Parameter {
    /// `None` for `_`
    pub(crate) name: Option<Ident>,
    pub(crate) mutable: bool,
    pub(crate) passing: Passing,
    /// A vector or an array that is passed by value: to the rule it is lent.
    pub(crate) owned: bool,
    /// What the rule has another form of.
    pub(crate) handed: Option<Handed>,
    /// `Option<&T>`: a reference that may be missing.
    pub(crate) optional: bool,
    /// Without the reference.
    pub(crate) ty: Type,
    /// As written.
    pub(crate) syntax: Type,
    /// Marked `#[constant]`, or of a type that carries no gradient.
    pub(crate) constant: bool,
    /// For `&Data<'_>`: the type with `'a` for each lifetime.
    pub(crate) lent: Option<Type>,
    /// If it is a function.
    pub(crate) callable: Option<Callable>,
}

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
    fn handed(&self) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let named = |ty: &Type| matches!(ty, Type::Path(path) if path.path.segments.iter().all(|s| s.arguments.is_none()));
        let handed = |((parameter, ty), name): ((&Parameter, TokenStream), Ident)| match parameter
            .is_cloned(&self.generics)
            && named(&parameter.ty)
        {
            true => (quote!(impl __pb::Handed<#ty>), quote!(__pb::Handed::handed(#name))),
            false => (ty, quote!(#name)),
        };
        self.parameters.iter().zip(self.lent_types()).zip(self.names()).map(handed).unzip()
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
        let (given, handed) = self.handed();
        let passed = self.parameters.iter().zip(&values).map(|(p, x)| match &p.callable {
            Some(callable) => callable.closure(quote!((#x.primal))),
            None if p.owned => quote!(::core::clone::Clone::clone(#x)),
            None => p.passed(x).unwrap_or(quote!(#x)),
        });
        let with_closures = self.with_closures();
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
                    (#(#handed,)*)
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
                let (field, ty) = (&names[i], &p.ty);
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
                let (field, ty, index) = (&names[i], &p.ty, syn::Index::from(i));
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
            let (seed, ty, index) =
                (format_ident!("seed_{}", names[i], span = Span::mixed_site()), &p.ty, syn::Index::from(i));
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

impl Parameter {
    /// Its name, or one for `_`.
    fn ident(&self, index: usize) -> Ident {
        self.name.clone().unwrap_or_else(|| format_ident!("_{index}"))
    }

    /// Its type, of which the body has the value.
    pub(crate) fn ty_in_body(&self) -> Type {
        let ty = &self.ty;
        if self.optional { syn::parse_quote!(Option<#ty>) } else { ty.clone() }
    }

    /// `x`, which the rule has, as what the function takes, if that is a view or an iterator.
    pub(crate) fn passed(&self, x: &Ident) -> Option<TokenStream> {
        Some(match (self.handed.as_ref()?, self.passing) {
            (Handed::View, Passing::Unique) => quote!(#x.view_mut()),
            (Handed::View, _) => quote!(#x.view()),
            (Handed::Items(items), _) => items.handing.chain(x).to_token_stream(),
        })
    }

    /// What its items are, if it is an iterator.
    pub(crate) fn items(&self) -> Option<&Items> {
        match &self.handed {
            Some(Handed::Items(items)) => Some(items),
            _ => None,
        }
    }

    /// Its type has lifetimes, and carries a gradient: `written` is a struct that borrows.
    fn lend(&mut self, written: &impl ToTokens, errors: &mut Errors) {
        if self.passing != Passing::Shared {
            errors
                .push(written, "a struct that borrows is taken by `&` differentiably, or as a `#[constant]`");
        }
        let syntax = at("'_", &self.ty);
        self.syntax = syn::parse_quote!(&#syntax);
        self.lent = Some(at("'a", &self.ty));
        self.ty = at("'static", &self.ty);
    }

    /// A constant by value of which nothing tells that it can be copied.
    pub(crate) fn is_cloned(&self, generics: &Generics) -> bool {
        self.passing == Passing::Value
            && self.constant
            && !self.optional
            && self.callable.is_none()
            && generics.kind_of(&self.ty) != Kind::Float
            && !copied_type(&self.ty)
    }

    /// The `Parameter` type of the rules crate.
    pub(crate) fn mode(&self, generics: &Generics) -> TokenStream {
        if let Some(callable) = &self.callable {
            return callable.mode(generics);
        }
        let ty = &self.ty;
        let span = ty.span();
        let kind = generics.kind_of(ty);
        match (self.passing, self.constant) {
            (_, true) if self.optional => quote_spanned!(span=> ::pullback::__private::ConstOptRef<#ty>),
            // A float that is held constant has a gradient all the same: zero.
            (Passing::Value, true) if self.is_cloned(generics) => {
                quote_spanned!(span=> ::pullback::__private::ConstCloned<#ty>)
            }
            (Passing::Value, true) if kind != Kind::Float => {
                quote_spanned!(span=> ::pullback::__private::ConstVal<#ty>)
            }
            (Passing::Value, true) => quote_spanned!(span=> ::pullback::__private::Held<#ty>),
            (Passing::Value, false) => quote_spanned!(span=> ::pullback::__private::Val<#ty>),
            (Passing::Shared, true) => quote_spanned!(span=> ::pullback::__private::ConstRef<#ty>),
            (Passing::Unique, true) => quote_spanned!(span=> ::pullback::__private::ConstMut<#ty>),
            (Passing::Shared, false) if self.optional => {
                quote_spanned!(span=> ::pullback::__private::OptRef<#ty>)
            }
            (Passing::Shared, false) if self.lent.is_some() => {
                quote_spanned!(span=> ::pullback::__private::RefLent<#ty>)
            }
            (Passing::Shared, false) => quote_spanned!(span=> ::pullback::__private::Ref<#ty>),
            (Passing::Unique, false) => quote_spanned!(span=> ::pullback::__private::Mut<#ty>),
        }
    }
}

fn parameter(
    input: &mut FnArg,
    syntax: &syn::Generics,
    generics: &Generics,
    (owner, owners): (Option<&Type>, &Owners),
    errors: &mut Errors,
) -> Parameter {
    if let (FnArg::Receiver(receiver), Some(owner)) = (&mut *input, owner) {
        return self_parameter(receiver, owner, owners, errors);
    }
    let FnArg::Typed(typed) = input else {
        errors.push(
            &*input,
            "a method is differentiable within an `impl` that is: put `#[differentiable]` on that",
        );
        let ty: Type = syn::parse_quote!(());
        let syntax = ty.clone();
        let (passing, lent) = (Passing::Value, None);
        return Parameter {
            name: None,
            mutable: false,
            passing,
            owned: false,
            handed: None,
            optional: false,
            ty,
            syntax,
            constant: true,
            lent,
            callable: None,
        };
    };
    let attributes = typed.attrs.len();
    typed.attrs.retain(|a| !a.path().is_ident("constant"));
    let marked = typed.attrs.len() < attributes;
    let (name, mutable) = match &*typed.pat {
        Pat::Ident(ident) => (Some(ident.ident.clone()), ident.mutability.is_some()),
        // `_`
        _ => (None, false),
    };
    let mut written = (*typed.ty).clone();
    let lent_view = lent_view(&written);
    let mut handed = lent_view.is_some().then_some(Handed::View);
    if let Some(lent) = lent_view {
        written = Type::Reference(lent);
    }
    if let Some(items) = Items::behind_reference(&written, syntax) {
        let why = "an iterator is taken by value differentiably, all of it: `impl Iterator<Item = f64>`; what goes on where the caller has it is a loop there";
        errors.push(&typed.ty, why);
        written = items.slice();
    }
    if let Some(items) = Items::of(&written, syntax) {
        items.check(marked, generics, &typed.ty, errors);
        written = items.slice();
        handed = Some(Handed::Items(Box::new(items)));
    }
    tell_lifetimes(&mut written);
    elide(syntax, &mut written);
    resolve_self(&mut written, owner);
    if !marked && let Some(callable) = Callable::parse(name.as_ref(), &written, syntax, generics, errors) {
        let (passing, ty, syntax) = (Passing::Value, written.clone(), (*typed.ty).clone());
        let (constant, callable) = (false, Some(callable));
        let (owned, optional, handed, lent) = (false, false, None, None);
        return Parameter {
            name,
            mutable,
            passing,
            owned,
            handed,
            optional,
            ty,
            syntax,
            constant,
            lent,
            callable,
        };
    }
    let constant = marked || inert(&generics.kind_of(&written));
    let refused = refused_array(&written, constant);
    if let Some(why) = &refused {
        errors.push(&typed.ty, why);
    }
    if let (false, Type::Tuple(tuple)) = (constant, &written)
        && let Some(reference) = tuple.elems.iter().find(|element| matches!(element, Type::Reference(_)))
    {
        let why =
            "a tuple of references is taken apart differentiably: make each of them a parameter of its own";
        errors.push(reference, why);
    }
    let referred = optional_reference(&written);
    let optional = referred.is_some();
    if let (false, false, Some(content @ Type::Reference(_))) = (constant, optional, &inside_type(&written)) {
        let why = "what is written to through a reference is not missing differentiably: take the `&mut` itself, and a `bool` beside it";
        errors.push(content, why);
    }
    if let (true, Type::Reference(reference)) = (constant, &mut written) {
        Lasting.visit_type_mut(&mut reference.elem);
    }
    let (passing, ty) = match &written {
        _ if let Some(ty) = referred => (if constant { Passing::Value } else { Passing::Shared }, ty),
        // It outlives all calls, as errors that hold it may ask for.
        Type::Reference(reference) if constant && lasts_for_ever(reference) => {
            (Passing::Value, written.clone())
        }
        Type::Reference(reference) => {
            let passing = if reference.mutability.is_some() { Passing::Unique } else { Passing::Shared };
            (passing, (*reference.elem).clone())
        }
        Type::ImplTrait(_) => {
            errors.push(&typed.ty, "an `impl Trait` parameter is differentiable if it is a function, `impl Fn(…) -> …`, without `#[constant]`, or an iterator that tells its items, `impl Iterator<Item = f64>`: otherwise write the type out");
            (Passing::Value, written.clone())
        }
        ty => (Passing::Value, ty.clone()),
    };
    if let (false, Some(element)) = (constant, generics.elements_of(&ty)) {
        let why = format!(
            "elements of any type are not differentiable: take one `&{element}` and call the function for each element where the \
             type is known, or write the type in the place of `{element}`; if it is a number, tell that by a bound, `{element}: Float`; \
             without gradient mark the parameter `#[constant]`"
        );
        errors.push(&typed.ty, why);
    }
    if constant || !has_lifetimes(&ty) {
        let owns = if constant { is_vector(&ty) } else { owners.own(&ty) };
        let owned = passing == Passing::Value && owns && !optional;
        return Parameter {
            name,
            mutable,
            passing: if owned { Passing::Shared } else { passing },
            owned,
            handed,
            optional,
            ty,
            syntax: written,
            constant,
            lent: None,
            callable: None,
        };
    }
    let mut parameter = Parameter {
        name,
        mutable,
        passing,
        owned: false,
        handed: None,
        optional: false,
        ty,
        syntax: written,
        constant,
        lent: None,
        callable: None,
    };
    if refused.is_none() {
        parameter.lend(&typed.ty, errors);
    }
    parameter
}

/// The last segment of the path of a type of ndarray's, behind a reference or not.
fn array_segment(ty: &mut Type) -> Option<&mut syn::PathSegment> {
    match ty {
        Type::Reference(reference) => array_segment(&mut reference.elem),
        Type::Path(path) => {
            path.path.segments.last_mut().filter(|segment| Shape::of_segment(segment).is_some())
        }
        _ => None,
    }
}

/// `&'static T`
fn lasts_for_ever(reference: &syn::TypeReference) -> bool {
    reference.mutability.is_none()
        && reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static")
}

/// `T` of `Option<&T>`.
fn optional_reference(ty: &Type) -> Option<Type> {
    let outcome = matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"));
    match inside_type(ty).filter(|_| outcome)? {
        Type::Reference(reference) if reference.mutability.is_none() => Some(*reference.elem),
        _ => None,
    }
}

fn is_view(segment: &syn::PathSegment) -> bool {
    segment.ident.to_string().starts_with("ArrayView")
}

/// `ArrayView1<f64>` is `ArrayView1<'_, f64>`.
fn tell_lifetimes(ty: &mut Type) {
    if let Some(segment) = array_segment(ty)
        && is_view(segment)
        && let syn::PathArguments::AngleBracketed(arguments) = &mut segment.arguments
        && !arguments.args.iter().any(|argument| matches!(argument, syn::GenericArgument::Lifetime(_)))
    {
        arguments.args.insert(0, syn::parse_quote!('_));
    }
}

/// Why an array is not taken in this way.
fn refused_array(written: &Type, constant: bool) -> Option<String> {
    let mut ty = written.clone();
    let shared = matches!(written, Type::Reference(reference) if reference.mutability.is_none());
    let segment = array_segment(&mut ty)?;
    let (name, arguments) = (segment.ident.to_string(), segment.arguments.to_token_stream().to_string());
    if !constant && (name.ends_with('D') || arguments.contains("IxDyn")) {
        let why = "how many dimensions an array has is part of its type differentiably: take `&Array2<f64>` or the like, which \
                   `x.into_dimensionality::<Ix2>()` makes of this one";
        return Some(why.into());
    }
    if !is_view(segment) || shared && !constant || !arguments.contains("'_") {
        return None;
    }
    let reference = name.replace("ArrayViewMut", "ArrayRef").replace("ArrayView", "ArrayRef");
    let arguments = arguments.replace(' ', "").replace("'_,", "").replace(',', ", ");
    let mutable = if name.contains("Mut") { "mut " } else { "" };
    Some(format!("a view is passed as `&{mutable}{reference}{arguments}`, to which `&{mutable}view` coerces"))
}

/// The type is a path with lifetimes: `Data<'_>`.
fn has_lifetimes(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.iter().any(|segment| match &segment.arguments {
        syn::PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().any(|a| matches!(a, syn::GenericArgument::Lifetime(_)))
        }
        _ => false,
    })
}

/// The type, with `lifetime` in the place of all.
pub(crate) fn at(lifetime: &str, ty: &Type) -> Type {
    let mut ty = ty.clone();
    Lifetimes(lifetime).visit_type_mut(&mut ty);
    ty
}

/// The same for the types in a path.
pub(crate) fn path_at(lifetime: &str, path: &syn::Path) -> syn::Path {
    let mut path = path.clone();
    Lifetimes(lifetime).visit_path_mut(&mut path);
    path
}

/// References without a lifetime last for ever.
struct Lasting;

impl VisitMut for Lasting {
    fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
        reference.lifetime.get_or_insert_with(|| syn::Lifetime::new("'static", Span::call_site()));
        syn::visit_mut::visit_type_reference_mut(self, reference);
    }
    // What functions are called with need not.
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut syn::ParenthesizedGenericArguments) {}
    fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
}

/// Replaces all lifetimes.
struct Lifetimes<'t>(&'t str);

impl VisitMut for Lifetimes<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
        *lifetime = syn::Lifetime::new(self.0, lifetime.span());
    }
}

/// The parameter that stands for `self`.
fn self_parameter(
    receiver: &mut syn::Receiver,
    owner: &Type,
    owners: &Owners,
    errors: &mut Errors,
) -> Parameter {
    let attributes = receiver.attrs.len();
    receiver.attrs.retain(|a| !a.path().is_ident("constant"));
    let constant = receiver.attrs.len() < attributes;
    let (passing, written) = match &receiver.kind {
        ReceiverKind::Value => (Passing::Value, owner.clone()),
        ReceiverKind::Reference(_, _, None) => (Passing::Shared, syn::parse_quote!(&#owner)),
        ReceiverKind::Reference(_, _, Some(_)) => (Passing::Unique, syn::parse_quote!(&mut #owner)),
        _ => {
            errors.push(
                &*receiver,
                "the receiver of a differentiable method is `self`, `&self` or `&mut self`",
            );
            (Passing::Value, owner.clone())
        }
    };
    let name = Ident::new("self_", receiver.self_token.span());
    let owned = passing == Passing::Value && !constant && owners.own(owner);
    let mut parameter = Parameter {
        name: Some(name),
        mutable: receiver.mutability.is_some(),
        passing: if owned { Passing::Shared } else { passing },
        owned,
        handed: None,
        optional: false,
        ty: owner.clone(),
        syntax: written,
        constant,
        lent: None,
        callable: None,
    };
    if !constant && has_lifetimes(owner) {
        parameter.lend(receiver, errors);
    }
    parameter
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

fn attributes(input: &mut FnArg) -> &mut Vec<syn::Attribute> {
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
