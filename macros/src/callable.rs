//! Parameters that are functions: `f: impl Fn(f64) -> f64`, by value or by reference, or of a type parameter with such a bound.
//!
//! The type beside the function has a type parameter for each, which stands for what is called: in a call with closures for how
//! their residuals look, otherwise for a function with a rule.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut;
use syn::{GenericParam, Ident, PathArguments, Token, Type, TypeParamBound, WherePredicate};

use crate::errors::Errors;
use crate::generics::Generics;
use crate::kind::inert;
use crate::passing::{Parameter, Passing};
use crate::program::Program;
use crate::signature::Signature;

/// The type of a parameter that is a function.
pub(crate) struct Callable {
    /// The type parameter that stands for it.
    pub(crate) generic: Ident,
    /// The parameter is a reference, which may be a `&mut`.
    referred: Option<bool>,
    /// It is declared as one that may change something.
    pub(crate) changing: bool,
    /// What it is called with.
    pub(crate) inputs: Vec<Parameter>,
    pub(crate) output: Type,
    /// The type parameter is the function's own.
    named: bool,
}

/// Bounds of type parameters.
type Bounds = Punctuated<TypeParamBound, Token![+]>;

/// `Fn(…) -> O`
struct Bound {
    name: Ident,
    arguments: syn::ParenthesizedGenericArguments,
}

fn bound(bounds: &Bounds) -> Option<Bound> {
    bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let segment = bound.path.segments.last()?;
        let PathArguments::Parenthesized(arguments) = &segment.arguments else { return None };
        Some(Bound { name: segment.ident.clone(), arguments: arguments.clone() })
    })
}

/// The bounds of the type parameter `name`.
fn bounds_of(generics: &syn::Generics, name: &Ident) -> Option<Bound> {
    let declared = generics.type_params().find(|p| p.ident == *name)?;
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    bound(&declared.bounds).or_else(|| {
        predicates.into_iter().find_map(|predicate| match predicate {
            WherePredicate::Type(predicate) if is_name(&predicate.bounded_ty, name) => {
                bound(&predicate.bounds)
            }
            _ => None,
        })
    })
}

fn is_name(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

/// `Box<dyn Fn(…)>`
fn owns_function(path: &syn::TypePath) -> bool {
    let Some(PathArguments::AngleBracketed(arguments)) = path.path.segments.last().map(|s| &s.arguments)
    else {
        return false;
    };
    let function = |ty: &Type| match ty {
        Type::TraitObject(ty) => bound(&ty.bounds).is_some(),
        Type::ImplTrait(ty) => bound(&ty.bounds).is_some(),
        _ => false,
    };
    arguments.args.iter().any(|argument| matches!(argument, syn::GenericArgument::Type(ty) if function(ty)))
}

/// Lifetimes of references are elided.
struct Elide;

impl VisitMut for Elide {
    fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
        reference.lifetime = None;
        syn::visit_mut::visit_type_reference_mut(self, reference);
    }
}

impl Callable {
    /// The parameter `name: ty`, if it is a function.
    pub(crate) fn parse(
        name: Option<&Ident>,
        ty: &Type,
        syntax: &syn::Generics,
        generics: &Generics,
        errors: &mut Errors,
    ) -> Option<Callable> {
        let (inner, referred) = match ty {
            Type::Reference(reference) => (&*reference.elem, Some(reference.mutability.is_some())),
            ty => (ty, None),
        };
        let inner = match inner {
            Type::Paren(paren) => &*paren.elem,
            inner => inner,
        };
        let (found, named) = match inner {
            Type::ImplTrait(ty) => (bound(&ty.bounds)?, None),
            Type::TraitObject(ty) if referred.is_some() => (bound(&ty.bounds)?, None),
            Type::Path(path) if owns_function(path) => {
                errors.push(ty, "a function that is owned carries no gradient: take `impl Fn(…) -> …`, or `&dyn Fn(…) -> …`");
                return None;
            }
            Type::Path(path) => {
                let name = path.path.get_ident()?;
                (bounds_of(syntax, name)?, Some(name.clone()))
            }
            Type::FnPtr(_) => {
                errors.push(ty, "a pointer to a function carries no gradient: take `impl Fn(…) -> …`, or mark it `#[constant]`");
                return None;
            }
            _ => return None,
        };
        // `FnMut` and `FnOnce` ask for less than `Fn`, which is what it gets.
        if !["Fn", "FnMut", "FnOnce"].iter().any(|known| found.name == known) {
            errors.push(ty, "a differentiable function takes functions as `impl Fn(…) -> …`");
        }
        let changing = found.name != "Fn" || referred == Some(true);
        let generic = named.clone().unwrap_or_else(|| type_of(name, syntax));
        let inputs =
            found.arguments.inputs.iter().map(|input| input_of(&input.ty, generics, errors)).collect();
        let output = match &found.arguments.output {
            syn::ReturnType::Default => syn::parse_quote!(()),
            syn::ReturnType::Type(_, ty) => {
                if let Type::Reference(reference) = &**ty {
                    errors.push(reference, "a function with a rule returns its result by value: let it write to an argument of type `&mut`");
                }
                (**ty).clone()
            }
        };
        Some(Callable { generic, referred, changing, inputs, output, named: named.is_some() })
    }

    /// It is of a type parameter of the function's own.
    pub(crate) fn is_named(&self) -> bool {
        self.named
    }

    /// How its arguments are passed, as a type.
    pub(crate) fn modes(&self, generics: &Generics) -> TokenStream {
        let modes = self.inputs.iter().map(|input| input.mode(generics));
        quote!((#(#modes,)*))
    }

    /// The `Parameter` type of the rules crate.
    pub(crate) fn mode(&self, generics: &Generics) -> TokenStream {
        let (modes, output, generic) = (self.modes(generics), &self.output, &self.generic);
        quote!(::pullback::__private::Called<#modes, #output, #generic>)
    }

    /// As an argument lent for `'a`.
    pub(crate) fn lent(&self, generics: &Generics) -> TokenStream {
        let (modes, output, generic) = (self.modes(generics), &self.output, &self.generic);
        quote!(__pb::Callback<'a, #modes, #output, #generic>)
    }

    /// A closure with the parameters of the function, that calls `primal` with a tuple of them.
    pub(crate) fn closure(&self, primal: impl ToTokens) -> TokenStream {
        let names: Vec<_> = (0..self.inputs.len()).map(|i| Program::fresh(&format!("a{i}"))).collect();
        let types = self.inputs.iter().map(|input| &input.syntax);
        let reference = self.referred.map(|unique| if unique { quote!(&mut) } else { quote!(&) });
        quote!(#reference move |#(#names: #types),*| #primal((#(#names,)*)))
    }
}

/// The name of the type that stands for the parameter `rhs`: `FnRhs`, unless that is taken.
fn type_of(name: Option<&Ident>, generics: &syn::Generics) -> Ident {
    let text = name.map_or("f".to_string(), |name| name.unraw().to_string());
    let words = text.split('_').filter(|word| !word.is_empty());
    let capitalised = words.map(|word| {
        let mut letters = word.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect::<String>())
            .unwrap_or_default()
    });
    let span = name.map_or(proc_macro2::Span::call_site(), Ident::span);
    let mut ident = format_ident!("Fn{}", capitalised.collect::<String>(), span = span);
    while generics.type_params().any(|p| p.ident == ident)
        || generics.const_params().any(|p| p.ident == ident)
    {
        ident = format_ident!("{}_", ident);
    }
    ident
}

/// A parameter of the function.
fn input_of(ty: &Type, generics: &Generics, errors: &mut Errors) -> Parameter {
    let mut syntax = ty.clone();
    Elide.visit_type_mut(&mut syntax);
    let (passing, ty) = match &syntax {
        Type::Reference(reference) if reference.mutability.is_some() => {
            (Passing::Unique, (*reference.elem).clone())
        }
        Type::Reference(reference) => (Passing::Shared, (*reference.elem).clone()),
        ty => (Passing::Value, ty.clone()),
    };
    let constant = inert(&generics.kind_of(&ty));
    if constant && passing == Passing::Unique {
        errors.push(&syntax, "a `&mut` parameter without gradient is not differentiable yet: pass numbers by `&mut`, and return the rest");
    }
    Parameter {
        name: None,
        mutable: false,
        passing,
        owned: false,
        handed: None,
        optional: false,
        ty,
        syntax,
        constant,
        lent: None,
        callable: None,
    }
}

/// Makes the type parameters of `generics` those of the type beside the function: what stands for functions is `Callable`.
pub(crate) fn settle(generics: &mut syn::Generics, parameters: &[Parameter], errors: &mut Errors) {
    let callables: Vec<_> = parameters.iter().filter_map(|p| p.callable.as_ref()).collect();
    for (i, callable) in callables.iter().enumerate() {
        let name = &callable.generic;
        if callables[..i].iter().any(|other| other.generic == *name) {
            errors.push(
                name,
                "each function that a function takes has a type parameter of its own: `f: impl Fn(…) -> …, g: impl Fn(…) -> …`",
            );
        }
        if !callable.named {
            generics.params.push(GenericParam::Type(syn::TypeParam::from(name.clone())));
        }
        for param in generics.type_params_mut().filter(|p| p.ident == *name) {
            param.bounds = syn::parse_quote!(::pullback::__private::Callable);
        }
        if let Some(clause) = &mut generics.where_clause {
            clause.predicates = std::mem::take(&mut clause.predicates)
                .into_iter()
                .filter(
                    |predicate| !matches!(predicate, WherePredicate::Type(p) if is_name(&p.bounded_ty, name)),
                )
                .collect();
        }
    }
}

impl Signature {
    /// The parameters that are functions, with their numbers.
    pub(crate) fn callables(&self) -> impl Iterator<Item = (usize, &Callable)> {
        self.parameters.iter().enumerate().filter_map(|(i, p)| Some((i, p.callable.as_ref()?)))
    }

    /// Reports parameters that are functions, which methods of traits do not have.
    pub(crate) fn refuse_callables(&self, errors: &mut Errors) {
        for parameter in self.parameters.iter().filter(|p| p.callable.is_some()) {
            errors.push(
                &parameter.syntax,
                "free functions and the methods of a type itself take functions: write one of these",
            );
        }
        for parameter in self.parameters.iter().filter(|p| p.items().is_some()) {
            let why = "free functions and the methods of a type itself take iterators: take a slice here";
            errors.push(&parameter.syntax, why);
        }
    }

    /// `::<T, _>` for a call of the function.
    pub(crate) fn turbofish(&self) -> TokenStream {
        if self.callables().next().is_none() {
            return self.generics.turbofish();
        }
        let arguments: Vec<_> = self
            .generics
            .names()
            .filter_map(|name| match self.callables().find(|(_, callable)| callable.generic == *name) {
                Some((_, callable)) => callable.named.then(|| quote!(_)),
                None => Some(name.to_token_stream()),
            })
            .collect();
        self.generics.turbofish_of(arguments)
    }

    /// The rules of the functions in a gradient object, as a field of it.
    pub(crate) fn kept_functions(&self) -> Option<TokenStream> {
        let generics: Vec<_> = self.callables().map(|(_, callable)| &callable.generic).collect();
        let kept = quote!(functions: (#(<#generics as ::pullback::__private::Callable>::Kept,)*),);
        (!generics.is_empty()).then_some(kept)
    }

    /// The type parameters, where those that stand for functions are functions with a rule.
    pub(crate) fn of_functions(&self) -> Generics {
        let predicates = self.callables().map(|(_, callable)| {
            let (name, modes, output) = (&callable.generic, callable.modes(&self.generics), &callable.output);
            syn::parse_quote! {
                #name: __pb::Function<Parameters = #modes, Output = #output>
                    + __pb::HasRule
                    + __pb::Callable<Residual = (), Kept = __pb::Recursive<#name>>
            }
        });
        self.generics.clone().with(predicates)
    }

    /// The arguments that a gradient object passes on, given names for those that are no functions.
    pub(crate) fn passed(&self, names: &[Ident]) -> Vec<TokenStream> {
        let mut functions = 0;
        let pass = |(parameter, name): (&Parameter, &Ident)| match &parameter.callable {
            Some(_) => {
                let i = syn::Index::from(functions);
                functions += 1;
                quote!(__pb::Callback::of_rule(&mut self.functions.#i))
            }
            None if parameter.owned => quote!(&#name),
            None => quote!(#name),
        };
        self.parameters.iter().zip(names).map(pass).collect()
    }
}
