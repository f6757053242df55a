//! Parameters that are iterators: `xs: impl Iterator<Item = f64>`, `xs: I` with `I: IntoIterator<Item = &'a f64>`.
//!
//! An iterator has no shadow: what its items depend on is the caller's business. So the rule has the items themselves, in a slice, which is a
//! parameter like any other: `xs: &[f64]`. The function stays as it is. In its rule the body begins with what the user's name stands for,
//! `let items = xs; let xs = items.iter().cloned();`, or without `cloned` if the items are references, and from there on it is a chain over
//! a slice, as any other. That each item is visited once, and in order, is more than the rule asks for.
//!
//! A caller does not see what a function takes. It need not: an argument that is an iterator, as far as syntax tells, can but go to such a
//! parameter, and everything else that may, `&v`, `v`, or a slice, is lent to a rule as it is. A chain that goes through all elements of
//! something, `x.iter().copied()`, is lent by what it goes through. All others are gathered before the call, as if the user had written
//! `let gathered: Vec<_> = chain.collect();`, from where the gradients find their way back. The call then has `gathered.iter().cloned()`, which
//! is what it is without gradient, too. Items that the function does not ask for are computed all the same.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{
    Expr, GenericArgument, GenericParam, Ident, PathArguments, Stmt, Type, TypeParamBound, WherePredicate,
    parse_quote,
};

use crate::errors::Errors;
use crate::generics::Generics;
use crate::kind::inert;
use crate::passing::Parameter;
use crate::rename::{Occurrences, path};

/// The traits of std that tell that a type is an iterator, or is made one.
const ITERATORS: &[&str] =
    &["Iterator", "IntoIterator", "ExactSizeIterator", "DoubleEndedIterator", "FusedIterator"];

/// How an item is had from an element of the slice.
#[derive(Clone, PartialEq)]
pub(crate) enum Handing {
    /// A copy.
    Value,
    /// A reference to it.
    Reference,
    /// Likewise for the parts of a tuple.
    Tuple(Vec<Handing>),
}

/// What the items of an iterator are.
#[derive(Clone)]
pub(crate) struct Items {
    /// The type of an element of the slice.
    element: Type,
    pub(crate) handing: Handing,
    /// The type parameter that the iterator is of, if that has a name.
    generic: Option<Ident>,
}

impl Items {
    /// Those of a parameter of type `ty`, if that is an iterator whose items are told.
    pub(crate) fn of(ty: &Type, generics: &syn::Generics) -> Option<Items> {
        let (item, generic) = match ty {
            Type::Paren(paren) => return Items::of(&paren.elem, generics),
            Type::ImplTrait(ty) => (item_of(&ty.bounds)?, None),
            Type::Path(path) => {
                let name = path.path.get_ident()?;
                let declared = generics.type_params().find(|p| p.ident == *name)?;
                let clauses = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
                let of_clauses = clauses.filter_map(|predicate| match predicate {
                    WherePredicate::Type(p) if matches!(&p.bounded_ty, Type::Path(path) if path.path.is_ident(name)) => item_of(&p.bounds),
                    _ => None,
                });
                (item_of(&declared.bounds).into_iter().chain(of_clauses).next()?, Some(name.clone()))
            }
            _ => return None,
        };
        let (element, handing) = element_of(&item)?;
        Some(Items { element, handing, generic })
    }

    /// Those of a parameter that is a reference to an iterator, which would go on where the caller has it.
    pub(crate) fn behind_reference(ty: &Type, generics: &syn::Generics) -> Option<Items> {
        match ty {
            Type::Reference(reference) => Items::of(&reference.elem, generics),
            _ => None,
        }
    }

    /// The type that the rule has in the place of the iterator.
    pub(crate) fn slice(&self) -> Type {
        let element = &self.element;
        parse_quote!(&[#element])
    }

    /// Reports items that carry no gradient.
    pub(crate) fn check(&self, marked: bool, generics: &Generics, written: &Type, errors: &mut Errors) {
        if marked || inert(&generics.kind_of(&self.element)) {
            let element = self.element.to_token_stream();
            errors.push(
                written,
                format!("an iterator whose items carry no gradient is not taken differentiably: take a slice of them, `&[{element}]`"),
            );
        }
    }
}

/// What the body of a function begins with of which the parameter `name` is such an iterator.
pub(crate) fn unrolled(name: &Ident, mutable: bool, items: &Items, body: &syn::Block) -> Vec<Stmt> {
    let (used, mut slice) = (Occurrences::of(body), format_ident!("{name}_items", span = Span::mixed_site()));
    while used.count(&slice) > 0 {
        slice = format_ident!("{slice}_", span = Span::mixed_site());
    }
    let chain = items.handing.chain(&path(&slice));
    let mutable = mutable.then(|| quote!(mut));
    vec![parse_quote!(let #slice = #name;), parse_quote!(let #mutable #name = #chain;)]
}

impl Handing {
    /// The iterator over the items that the elements of `slice` stand for.
    pub(crate) fn chain(&self, slice: &impl ToTokens) -> Expr {
        match self {
            Handing::Value => parse_quote!(#slice.iter().cloned()),
            Handing::Reference => parse_quote!(#slice.iter()),
            Handing::Tuple(parts) if parts.iter().all(|part| *part == Handing::Value) => {
                parse_quote!(#slice.iter().cloned())
            }
            other => {
                let element = Ident::new("element", Span::mixed_site());
                let item = other.item(&path(&element));
                parse_quote!(#slice.iter().map(|#element| #item))
            }
        }
    }

    /// The iterator whose items are of the same values as those of `chain`, and are owned.
    pub(crate) fn owned(&self, chain: &Expr) -> Expr {
        match self {
            Handing::Value => chain.clone(),
            Handing::Reference => parse_quote!(#chain.cloned()),
            Handing::Tuple(parts) if parts.iter().all(|part| *part == Handing::Value) => chain.clone(),
            other => {
                let mut names = Vec::new();
                let (pattern, value) = other.taken_apart(&mut names);
                parse_quote!(#chain.map(|#pattern| #value))
            }
        }
    }

    /// A pattern for an item, with names of its own, and what is owned of it.
    fn taken_apart(&self, names: &mut Vec<Ident>) -> (TokenStream, TokenStream) {
        if let Handing::Tuple(parts) = self {
            let parts = parts.iter().map(|part| part.taken_apart(names));
            let (patterns, values): (Vec<_>, Vec<_>) = parts.unzip();
            return (quote!((#(#patterns,)*)), quote!((#(#values,)*)));
        }
        let name = format_ident!("part{}", names.len(), span = Span::mixed_site());
        names.push(name.clone());
        let value = match self {
            Handing::Reference => quote!(*#name),
            _ => quote!(#name),
        };
        (quote!(#name), value)
    }

    /// The item that `element` stands for.
    fn item(&self, element: &Expr) -> Expr {
        match self {
            Handing::Value => element.clone(),
            Handing::Reference => parse_quote!(&#element),
            Handing::Tuple(parts) => {
                let parts = parts.iter().enumerate().map(|(i, part)| {
                    let i = syn::Index::from(i);
                    part.item(&parse_quote!(#element.#i))
                });
                parse_quote!((#(#parts,)*))
            }
        }
    }
}

/// The type of the items that one of the bounds tells.
fn item_of(bounds: &syn::punctuated::Punctuated<TypeParamBound, syn::Token![+]>) -> Option<Type> {
    bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let segment = bound.path.segments.last()?;
        let known = ITERATORS.iter().any(|name| segment.ident == name);
        let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
        arguments.args.iter().filter(|_| known).find_map(|argument| match argument {
            GenericArgument::AssocType(item) if item.ident == "Item" => Some(item.ty.clone()),
            _ => None,
        })
    })
}

/// The type of the elements of a slice that stands for items of type `item`, and how these are had from them.
fn element_of(item: &Type) -> Option<(Type, Handing)> {
    Some(match item {
        Type::Paren(paren) => return element_of(&paren.elem),
        Type::Group(group) => return element_of(&group.elem),
        Type::Reference(reference) if reference.mutability.is_none() => {
            (owned(&reference.elem)?, Handing::Reference)
        }
        Type::Tuple(tuple) => {
            let parts: Option<Vec<_>> = tuple.elems.iter().map(element_of).collect();
            let (types, handings): (Vec<_>, Vec<_>) = parts?.into_iter().unzip();
            (parse_quote!((#(#types,)*)), Handing::Tuple(handings))
        }
        ty => (owned(ty)?, Handing::Value),
    })
}

/// The type, if it borrows nothing and is written out. Of slices there would be copies, each in memory of its own.
fn owned(ty: &Type) -> Option<Type> {
    if matches!(ty, Type::Slice(_)) {
        return None;
    }
    struct Borrows(bool);
    impl VisitMut for Borrows {
        fn visit_lifetime_mut(&mut self, _: &mut syn::Lifetime) {
            self.0 = true;
        }
        fn visit_type_reference_mut(&mut self, _: &mut syn::TypeReference) {
            self.0 = true;
        }
        fn visit_type_impl_trait_mut(&mut self, _: &mut syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let (mut borrows, mut visited) = (Borrows(false), ty.clone());
    borrows.visit_type_mut(&mut visited);
    (!borrows.0).then_some(visited)
}

/// Leaves out the type parameters that stand for iterators, with all that is asked of them; their places among the others.
pub(crate) fn settle(generics: &mut syn::Generics, parameters: &[Parameter]) -> Vec<usize> {
    let names: Vec<_> =
        parameters.iter().filter_map(|p| p.items()).filter_map(|items| items.generic.as_ref()).collect();
    let stands = |param: &GenericParam| matches!(param, GenericParam::Type(p) if names.contains(&&p.ident));
    let given = generics.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_)));
    let places = given.enumerate().filter(|(_, p)| stands(p)).map(|(place, _)| place).collect();
    generics.params = std::mem::take(&mut generics.params).into_iter().filter(|p| !stands(p)).collect();
    if let Some(clause) = &mut generics.where_clause {
        let asks = |predicate: &WherePredicate| match predicate {
            WherePredicate::Type(predicate) => {
                let mentioned = Occurrences::of(&predicate.bounded_ty);
                names.iter().any(|name| mentioned.count(name) > 0)
            }
            _ => false,
        };
        clause.predicates = std::mem::take(&mut clause.predicates).into_iter().filter(|p| !asks(p)).collect();
    }
    places
}
