//! Plain structs and enums hold values. Whether a field of some other type of the user's is one no syntax tells, so that the compiler is asked; and
//! what owns memory has an `impl` that never holds. Without that the compiler would take it for a number, whose `impl` is the only one left that may
//! be meant, and complain about all that a number is.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{WherePredicate, parse_quote};

use super::{Field, Item, Role, with};
use crate::kind::kind_of_type;
use crate::program::Kind;

/// Asks whether the fields whose types no syntax tells are values.
pub(super) fn asked<'f>(fields: impl IntoIterator<Item = &'f Field>) -> TokenStream {
    let untold = fields
        .into_iter()
        .filter(|f| f.role == Role::Active && !f.generic && kind_of_type(&f.ty) == Kind::Unknown);
    let asked = untold.map(|f| {
        let ty = &f.ty;
        quote_spanned!(ty.span()=> const _: ::core::option::Option<::pullback::__private::PartOfPlain<#ty>> = ::core::option::Option::None;)
    });
    asked.collect()
}

/// The `impl` of what owns memory.
pub(super) fn never(item: &Item) -> TokenStream {
    let name = item.name;
    let (_, arguments, _) = item.generics.split_for_impl();
    let never: WherePredicate = parse_quote!(for<'any> #name #arguments: __pb::NoValue);
    let generics = with(item.generics, [never]);
    let (parameters, _, clause) = generics.split_for_impl();
    quote! {
        #[doc(hidden)]
        #[diagnostic::do_not_recommend]
        #[automatically_derived]
        impl #parameters __pb::Value for #name #arguments #clause {
            type Tangent = ();
        }
    }
}
