//! The structs in which the gradients of types that own memory are kept.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Generics, Member, WherePredicate, parse_quote};

use super::{Field, Item, Role, with};

/// A field of such a struct.
pub(super) struct Part {
    pub(super) member: Member,
    /// Its type, if that depends on parameters; of what holds others of the type itself those of all fields.
    pub(super) generic: Vec<TokenStream>,
    /// It is no placeholder.
    pub(super) active: bool,
}

impl Part {
    pub(super) fn of(item: &Item, field: &Field) -> Part {
        let generic = |field: &&Field| field.generic && field.role == Role::Active;
        let types = if field.nest.is_some() { item.form.fields() } else { vec![field] };
        let generic = types.into_iter().filter(generic).map(Field::gradient).collect();
        Part { member: field.member.clone(), generic, active: field.role == Role::Active }
    }
}

/// The types of a shadow and of a gradient, and what the methods of `Differentiable` do, with the names of their parameters as
/// [`differentiable`](Bodies::differentiable) has them.
pub(super) struct Bodies {
    pub(super) shadow: TokenStream,
    pub(super) gradient: TokenStream,
    pub(super) empty: TokenStream,
    pub(super) prepare: TokenStream,
    pub(super) shadows: TokenStream,
    pub(super) align: TokenStream,
    pub(super) shortened: TokenStream,
    pub(super) fit: TokenStream,
    pub(super) makes_way: TokenStream,
    pub(super) largest: TokenStream,
    pub(super) taken: TokenStream,
    pub(super) reserve: TokenStream,
    pub(super) size: TokenStream,
    pub(super) need: TokenStream,
    pub(super) seed: TokenStream,
    pub(super) copy: TokenStream,
    /// Methods that only what holds others of its own type has.
    pub(super) nested: TokenStream,
}

impl Bodies {
    /// `impl Differentiable`, under the bounds of `own`.
    pub(super) fn differentiable(&self, item: &Item, own: &Generics) -> TokenStream {
        let Bodies { shadow, gradient, empty, prepare, shadows, align, shortened, fit, .. } = self;
        let Bodies { makes_way, largest, taken, reserve, size, need, seed, copy, nested, .. } = self;
        let (name, (parameters, _, clause)) = (item.name, own.split_for_impl());
        let (_, arguments, _) = item.generics.split_for_impl();
        quote! {
            #[automatically_derived]
            impl #parameters __pb::Differentiable for #name #arguments #clause {
                type Shadow<'pullback> = #shadow;
                type Gradient = #gradient;
                type View<'pullback> = &'pullback #gradient;

                fn empty() -> Self::Gradient {
                    #empty
                }
                fn prepare(&self, gradient: &mut Self::Gradient) {
                    #prepare
                }
                #[inline]
                fn shadow(gradient: &mut Self::Gradient) -> Self::Shadow<'_> {
                    #shadows
                }
                #[inline(always)]
                fn align<'pullback>(&self, shadow: Self::Shadow<'pullback>) -> Self::Shadow<'pullback> {
                    #align
                }
                #[inline(always)]
                fn shortened<'pullback, 'longer: 'pullback>(shadow: Self::Shadow<'longer>) -> Self::Shadow<'pullback> {
                    #shortened
                }
                fn fit(&self, gradient: &mut Self::Gradient, _to: __pb::Extent) {
                    #fit
                }
                fn makes_way(&self, _new: &Self) -> bool {
                    #makes_way
                }
                fn largest(&self) -> usize {
                    #largest
                }
                fn take_shadow(shadow: Self::Shadow<'_>, gradient: &mut Self::Gradient) {
                    #taken
                }
                fn reserve_as(&self, _copy: &mut Self) {
                    #reserve
                }
                #[inline]
                fn view(gradient: &Self::Gradient) -> Self::View<'_> {
                    gradient
                }
                fn gradient_size(_gradient: &Self::Gradient) -> usize {
                    #size
                }
                fn gradient_need(&self) -> ::core::option::Option<usize> {
                    ::core::option::Option::Some(#need)
                }
                fn seed(gradient: &mut Self::Gradient, seed: Self::View<'_>) {
                    #seed
                }
                fn copy_gradient(gradient: &mut Self::Gradient, _other: Self::View<'_>) {
                    #copy
                }
                #nested
            }
        }
    }
}

/// The traits of the struct `gradient`.
pub(super) fn traits(gradient: &Ident, kept: &Generics, parts: &[Part]) -> TokenStream {
    let (parameters, arguments, _) = kept.split_for_impl();
    let extended = |bound: TokenStream| {
        let predicates = parts
            .iter()
            .flat_map(|part| &part.generic)
            .map(|ty| -> WherePredicate { parse_quote!(#ty: #bound) });
        with(kept, predicates).where_clause
    };
    let (debug, clone, equal, visit) = (
        extended(quote!(::core::fmt::Debug)),
        extended(quote!(::core::clone::Clone)),
        extended(quote!(::core::cmp::PartialEq)),
        extended(quote!(__pb::Coordinates)),
    );
    let members: Vec<_> = parts.iter().map(|part| &part.member).collect();
    let active: Vec<_> = parts.iter().filter(|part| part.active).map(|part| &part.member).collect();
    let label = gradient.to_string();
    let named = parts.iter().any(|part| matches!(part.member, Member::Named(_)));
    let (kind, shown): (_, TokenStream) = match named {
        true => {
            let parts = members.iter().map(|member| {
                let label = quote!(#member).to_string();
                quote!(.field(#label, &self.#member))
            });
            (quote!(debug_struct), parts.collect())
        }
        false => (quote!(debug_tuple), members.iter().map(|member| quote!(.field(&self.#member))).collect()),
    };
    quote! {
        #[automatically_derived]
        impl #parameters ::core::fmt::Debug for #gradient #arguments #debug {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.#kind(#label) #shown .finish()
            }
        }
        #[automatically_derived]
        impl #parameters ::core::clone::Clone for #gradient #arguments #clone {
            fn clone(&self) -> Self {
                #gradient { #(#members: ::core::clone::Clone::clone(&self.#members),)* }
            }
            fn clone_from(&mut self, _other: &Self) {
                #(::core::clone::Clone::clone_from(&mut self.#members, &_other.#members);)*
            }
        }
        #[automatically_derived]
        impl #parameters ::core::cmp::PartialEq for #gradient #arguments #equal {
            fn eq(&self, _other: &Self) -> bool {
                true #(&& self.#members == _other.#members)*
            }
        }
        #[automatically_derived]
        impl #parameters __pb::Coordinates for #gradient #arguments #visit {
            fn visit(&mut self, _visitor: &mut dyn FnMut(__pb::Coordinate<'_>)) {
                #(__pb::Coordinates::visit(&mut self.#active, _visitor);)*
            }
        }
    }
}
