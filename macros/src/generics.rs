//! The generic parameters of a function, and what its rule asks of them beyond the function's own bounds.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::visit_mut::VisitMut;
use syn::{GenericParam, Ident, Lifetime, Type, TypeParamBound, WherePredicate};

use crate::errors::Errors;
use crate::iterators::collect::element_of_vec;
use crate::kind::kind_of_type;
use crate::passing::{Parameter, Passing};
use crate::program::Kind;
use crate::spaces::{self, Numbers};

/// Without lifetimes, which the rule has no use for.
#[derive(Clone, Default)]
pub(crate) struct Generics {
    syntax: syn::Generics,
    /// The type parameters that stand for a float.
    pub(crate) scalars: Vec<Ident>,
    /// Those that stand for a number or for plain data with operators, such as the state of an integrator.
    linear: Vec<Ident>,
    /// The places of type parameters of the function that the rule has no use for.
    inferred: Vec<usize>,
}

/// Operators whose bounds tell that a type parameter is a number.
const OPERATORS: &[&str] = &[
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Rem",
    "Neg",
    "AddAssign",
    "SubAssign",
    "MulAssign",
    "DivAssign",
    "RemAssign",
    "Signed",
    "One",
    "Zero",
];

/// `T: Float` and the like, of whatever crate: their names tell what they are for.
pub(crate) fn names_a_float(bound: &TypeParamBound) -> bool {
    let name = trait_name(bound);
    ["Float", "Real", "Scalar"].iter().any(|part| name.contains(part)) || name.starts_with("Num")
}

/// Or that the type has operators, as numbers have.
pub(crate) fn names_a_scalar(bound: &TypeParamBound) -> bool {
    names_a_float(bound) || OPERATORS.contains(&&*trait_name(bound))
}

fn trait_name(bound: &TypeParamBound) -> String {
    let TypeParamBound::Trait(bound) = bound else { return String::new() };
    bound.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default()
}

/// Bounds that say nothing of what a type is for.
const OF_STD: &[&str] =
    &["Copy", "Clone", "Debug", "Default", "Display", "PartialEq", "PartialOrd", "Send", "Sync", "Sized"];

/// `syntax` with a gradient for each type parameter that stands for a part of a struct: `A` in `&Sum<A, B>`, if that has a trait of the user's.
/// Of one whose constants `code` reads, `U::FACTOR`, there is none.
pub(crate) fn with_parts<'t>(
    syntax: &syn::Generics,
    types: impl IntoIterator<Item = &'t Type> + Clone,
    code: &impl ToTokens,
) -> syn::Generics {
    let mut out = syntax.clone();
    let code = code.to_token_stream().to_string();
    for param in syntax.type_params() {
        let name = &param.ident;
        let of_param = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident(name));
        let clauses = syntax.where_clause.iter().flat_map(|clause| &clause.predicates);
        let more = clauses.filter_map(|predicate| match predicate {
            WherePredicate::Type(predicate) if of_param(&predicate.bounded_ty) => Some(&predicate.bounds),
            _ => None,
        });
        let bounds: Vec<_> = std::iter::once(&param.bounds).chain(more).flatten().collect();
        let told = |bound: &&TypeParamBound| match bound {
            TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|last| {
                let name = last.ident.to_string();
                last.arguments.is_none() && !OF_STD.contains(&&*name)
            }),
            _ => false,
        };
        let is_part = types.clone().into_iter().any(|ty| has_argument(ty, name));
        let number = bounds.iter().any(|bound| names_a_scalar(bound) || names_a_gradient(bound));
        if is_part && bounds.iter().any(told) && !number && !reads_constants_of(&code, name) {
            out.make_where_clause().predicates.push(syn::parse_quote!(#name: ::pullback::__private::Active));
        }
    }
    out
}

/// `U::FACTOR` stands somewhere in `code`, which is tokens with spaces between them.
fn reads_constants_of(code: &str, name: &Ident) -> bool {
    let in_word = |before: char| before.is_alphanumeric() || before == '_';
    code.match_indices(&format!("{name} ::")).any(|(at, _)| !code[..at].ends_with(in_word))
}

/// `T: Active` and the like
fn names_a_gradient(bound: &TypeParamBound) -> bool {
    let TypeParamBound::Trait(bound) = bound else { return false };
    let known = ["Active", "Value", "Differentiable"];
    bound.path.segments.last().is_some_and(|last| known.iter().any(|name| last.ident == name))
}

/// The type parameter is an argument of a struct that `ty` is, or refers to.
fn has_argument(ty: &Type, name: &Ident) -> bool {
    let inner =
        |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident(name)) || has_argument(ty, name);
    match ty {
        Type::Reference(reference) => has_argument(&reference.elem, name),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| match &last.arguments {
            syn::PathArguments::AngleBracketed(arguments) => arguments
                .args
                .iter()
                .any(|argument| matches!(argument, syn::GenericArgument::Type(ty) if inner(ty))),
            _ => false,
        }),
        _ => false,
    }
}

impl Generics {
    /// Takes over what `syntax` declares.
    pub(crate) fn new(syntax: &syn::Generics) -> Self {
        let mut syntax = syntax.clone();
        syntax.params =
            syntax.params.into_iter().filter(|p| !matches!(p, GenericParam::Lifetime(_))).collect();
        for param in syntax.type_params_mut() {
            param.default = None;
            param.bounds = std::mem::take(&mut param.bounds)
                .into_iter()
                .filter(|bound| !matches!(bound, TypeParamBound::Lifetime(_)))
                .collect();
        }
        for param in syntax.const_params_mut() {
            param.default = None;
        }
        if let Some(clause) = &mut syntax.where_clause {
            clause.predicates = std::mem::take(&mut clause.predicates)
                .into_iter()
                .filter(|predicate| !matches!(predicate, WherePredicate::Lifetime(_)))
                .collect();
        }
        let Numbers { scalars, linear } = Numbers::among(&syntax);
        Generics { syntax, scalars, linear, inferred: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.syntax.params.is_empty()
    }

    pub(crate) fn params(&self) -> impl Iterator<Item = &GenericParam> {
        self.syntax.params.iter()
    }

    /// The `const` parameters alone.
    pub(crate) fn only_constants(&self) -> Self {
        let mut syntax = syn::Generics::default();
        syntax.params.extend(self.params().filter(|p| matches!(p, GenericParam::Const(_))).cloned());
        Generics { syntax, ..Generics::default() }
    }

    /// The names of type parameters.
    pub(crate) fn type_names(&self) -> impl Iterator<Item = &Ident> {
        self.syntax.type_params().map(|p| &p.ident)
    }

    /// What is asked of type parameters, all of it in a `where`, with `number` in the place of the one called `float`.
    pub(crate) fn clause_at(&self, float: &str, number: &Type) -> Option<syn::WhereClause> {
        let mut clause = self.syntax.where_clause.clone().unwrap_or_else(|| syn::parse_quote!(where));
        for param in self.syntax.type_params().filter(|p| !p.bounds.is_empty()) {
            let (name, bounds) = (&param.ident, &param.bounds);
            clause.predicates.push(syn::parse_quote!(#name: #bounds));
        }
        crate::dual::Retype { from: float, to: number }.visit_where_clause_mut(&mut clause);
        (!clause.predicates.is_empty()).then_some(clause)
    }

    /// Makes the type parameters that stand for functions those of the type beside the function, which has none for iterators.
    pub(crate) fn settle_callables(&mut self, parameters: &[Parameter], errors: &mut Errors) {
        crate::callable::settle(&mut self.syntax, parameters, errors);
        self.inferred = crate::streams::settle(&mut self.syntax, parameters);
    }

    /// The names of type and `const` parameters.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Ident> {
        self.syntax.params.iter().filter_map(|p| match p {
            GenericParam::Type(p) => Some(&p.ident),
            GenericParam::Const(p) => Some(&p.ident),
            GenericParam::Lifetime(_) => None,
        })
    }

    /// With more bounds.
    pub(crate) fn with(mut self, predicates: impl IntoIterator<Item = WherePredicate>) -> Self {
        let mut predicates = predicates.into_iter().peekable();
        if predicates.peek().is_some() {
            self.syntax.make_where_clause().predicates.extend(predicates);
        }
        self
    }

    /// What [`split`](Generics::split) gives where each of the type parameters stands for a function with a residual of some type.
    pub(crate) fn with_residuals(
        &self,
        residuals: &[(Ident, Ident)],
    ) -> (TokenStream, TokenStream, Option<&syn::WhereClause>) {
        let residual = |name: &Ident| residuals.iter().find(|(n, _)| n == name).map(|(_, residual)| residual);
        let mut declared = self.syntax.clone();
        for param in declared.type_params_mut() {
            if let Some(residual) = residual(&param.ident) {
                param.ident = residual.clone();
                param.bounds = syn::parse_quote!(::core::marker::Send + 'static);
            }
        }
        let types = self.names().map(|name| match residual(name) {
            Some(residual) => quote!(__pb::Lent<#residual>),
            None => quote!(#name),
        });
        let types = quote!(<#(#types),*>);
        let declared = declared.split_for_impl().0.to_token_stream();
        (declared, types, self.syntax.where_clause.as_ref())
    }

    /// Adds what the modes of `parameters` and the output ask for.
    pub(crate) fn require(&mut self, parameters: &[Parameter], output: &Type) {
        if self.is_empty() {
            return;
        }
        let names: Vec<_> = self.syntax.type_params().map(|p| p.ident.clone()).collect();
        let mut predicates: Vec<WherePredicate> = Vec::new();
        predicates.extend(spaces::rules(&self.syntax));
        for name in names {
            if self.scalars.contains(&name) {
                predicates.push(syn::parse_quote!(#name: ::pullback::__private::Scalar));
                continue;
            }
            if self.linear.contains(&name) {
                continue;
            }
            if parameters.iter().any(|p| p.callable.as_ref().is_some_and(|callable| callable.generic == name))
            {
                continue;
            }
            predicates.push(syn::parse_quote!(#name: 'static));
            let is_name = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident(&name));
            for parameter in parameters.iter().filter(|p| is_name(&p.ty)) {
                predicates.push(match (parameter.passing, parameter.constant) {
                    (Passing::Value, true) => syn::parse_quote!(#name: ::core::marker::Copy),
                    (Passing::Value, false) => {
                        syn::parse_quote!(#name: ::pullback::__private::Value + ::core::marker::Copy)
                    }
                    (_, true) => continue,
                    (_, false) => syn::parse_quote!(#name: ::pullback::__private::Differentiable),
                });
            }
            if is_name(output) {
                predicates.push(syn::parse_quote!(#name: ::pullback::__private::Value));
            }
        }
        self.syntax.make_where_clause().predicates.extend(predicates);
    }

    /// The type parameter that `ty` is, unless that stands for a float.
    pub(crate) fn general(&self, ty: &Type) -> Option<&Ident> {
        let Type::Path(path) = ty else { return None };
        let name = path.path.get_ident()?;
        self.syntax.type_params().map(|p| &p.ident).find(|p| *p == name && !self.scalars.contains(p))
    }

    /// The type parameter of which `ty` is a slice, an array or a vector, unless that stands for a float.
    pub(crate) fn elements_of(&self, ty: &Type) -> Option<&Ident> {
        let vector = element_of_vec(ty);
        let element = match ty {
            Type::Slice(slice) => &slice.elem,
            Type::Array(array) => &array.elem,
            _ => vector.as_ref()?,
        };
        self.general(element).filter(|name| !self.linear.contains(name)).or_else(|| self.elements_of(element))
    }

    /// What the syntax tells about `ty`.
    pub(crate) fn kind_of(&self, ty: &Type) -> Kind {
        kind_of(&self.scalars, ty)
    }

    /// `<T: Float>`, `<T>` and `where …`.
    pub(crate) fn split(&self) -> (syn::ImplGenerics<'_>, syn::TypeGenerics<'_>, Option<&syn::WhereClause>) {
        self.syntax.split_for_impl()
    }

    /// `<T: Float>` and `where …` of a definition.
    pub(crate) fn declaration(&self) -> (&syn::Generics, Option<&syn::WhereClause>) {
        (&self.syntax, self.syntax.where_clause.as_ref())
    }

    /// `::<T>`
    pub(crate) fn turbofish(&self) -> TokenStream {
        self.turbofish_of(self.names().map(ToTokens::to_token_stream).collect())
    }

    /// Likewise of the arguments of those parameters that the rule has as well: the others are inferred.
    pub(crate) fn turbofish_of(&self, mut arguments: Vec<TokenStream>) -> TokenStream {
        if arguments.is_empty() {
            return TokenStream::new();
        }
        for place in &self.inferred {
            arguments.insert(*place, quote!(_));
        }
        quote!(::<#(#arguments),*>)
    }

    /// The same with the lifetime `'a` before them.
    pub(crate) fn with_lifetime(&self) -> syn::Generics {
        let mut generics = self.syntax.clone();
        generics.params.insert(0, syn::parse_quote!('a));
        generics
    }

    /// The type parameters, in a tuple.
    pub(crate) fn types(&self) -> TokenStream {
        let names = self.syntax.type_params().map(|p| &p.ident);
        quote!((#(#names,)*))
    }

    /// Whether all type parameters stand for floats.
    pub(crate) fn only_scalars(&self) -> bool {
        self.syntax.type_params().all(|p| self.scalars.contains(&p.ident))
    }
}

/// What the syntax tells about `ty` where `scalars` stand for floats.
pub(crate) fn kind_of(scalars: &[Ident], ty: &Type) -> Kind {
    struct Concrete<'s>(&'s [Ident]);
    impl VisitMut for Concrete<'_> {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            if let Type::Path(path) = ty
                && path.path.get_ident().is_some_and(|name| self.0.contains(name))
            {
                *ty = syn::parse_quote!(f64);
            }
            syn::visit_mut::visit_type_mut(self, ty);
        }
    }
    if scalars.is_empty() {
        return kind_of_type(ty);
    }
    let mut ty = ty.clone();
    Concrete(scalars).visit_type_mut(&mut ty);
    kind_of_type(&ty)
}

/// Elides the lifetime of a reference, which is named in `generics`; those within what it refers to last for ever.
pub(crate) fn elide(generics: &syn::Generics, ty: &mut Type) {
    struct Named<'g>(&'g syn::Generics);
    impl VisitMut for Named<'_> {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if self.0.lifetimes().any(|l| l.lifetime == *lifetime) {
                *lifetime = Lifetime::new("'static", lifetime.span());
            }
        }
    }
    if generics.lifetimes().next().is_none() {
        return;
    }
    if let Type::Reference(reference) = ty {
        reference.lifetime = None;
    }
    Named(generics).visit_type_mut(ty);
}
