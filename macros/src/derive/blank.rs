//! The value from which a local starts before it gets the struct that a function returns: field by field, where all of these have one.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::WherePredicate;

use super::{Fields, Item, with};

pub(super) fn of_struct(item: &Item, fields: &Fields) -> TokenStream {
    let name = item.name;
    of(item, fields, &quote!(#name))
}

/// The variant that is the least to make, which holds no other of the enum if possible.
pub(super) fn of_enum(item: &Item, variants: &[(Ident, Fields)]) -> TokenStream {
    let name = item.name;
    let least = variants.iter().min_by_key(|(_, fields)| {
        (fields.fields.iter().any(|field| field.nest.is_some()), fields.fields.len())
    });
    least.map(|(variant, fields)| of(item, fields, &quote!(#name::#variant))).unwrap_or_default()
}

fn of(item: &Item, fields: &Fields, constructor: &TokenStream) -> TokenStream {
    if item.generics.lifetimes().next().is_some() || fields.fields.iter().any(|field| field.borrowed) {
        return TokenStream::new();
    }
    let whole = |field: &super::Field| {
        let ty = &field.ty;
        match (field.boxed, field.declared()) {
            (true, _) => quote!(::std::boxed::Box<#ty>),
            (false, declared) => declared,
        }
    };
    let types: Vec<_> = fields.fields.iter().map(whole).collect();
    let members = fields.fields.iter().map(|field| &field.member);
    // Asked where it is needed, of types that have none as well.
    let asked = types.iter().map(|ty| -> WherePredicate { syn::parse_quote!(for<'any> #ty: __pb::Blank) });
    let generics = with(item.generics, asked);
    let (name, (parameters, _, clause)) = (item.name, generics.split_for_impl());
    let (_, arguments, _) = item.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Blank for #name #arguments #clause {
            fn blank() -> Self {
                #constructor { #(#members: <#types as __pb::Blank>::blank(),)* }
            }
        }
    }
}
