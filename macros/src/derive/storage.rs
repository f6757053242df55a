//! The structs in which the gradients of types that own memory are kept.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Generics, Member, WherePredicate, parse_quote};

use super::{Field, Role, with};

/// A field of such a struct.
pub(super) struct Part {
    pub(super) member: Member,
    /// Its type, if that depends on parameters.
    pub(super) generic: Option<TokenStream>,
    /// It is no placeholder.
    pub(super) active: bool,
}

impl Part {
    pub(super) fn of(field: &Field) -> Part {
        let active = field.role == Role::Active;
        let generic = (field.generic && active).then(|| field.gradient());
        Part { member: field.member.clone(), generic, active }
    }
}

/// The traits of the struct `gradient`.
pub(super) fn traits(gradient: &Ident, kept: &Generics, parts: &[Part]) -> TokenStream {
    let (parameters, arguments, _) = kept.split_for_impl();
    let extended = |bound: TokenStream| {
        let predicates = parts
            .iter()
            .filter_map(|part| part.generic.as_ref())
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
