//! What the variants of an enum hold, behind a reference to that: methods which select a part, as those of the user's do.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Generics;

use super::nested::Nest;
use super::{Fields, Item, Role};
use crate::projections::beside;
use crate::variants::part;

/// The methods for each field; of a plain enum the shadow is a reference to cells.
pub(super) fn of_enum(
    item: &Item,
    variants: &[(Ident, Fields)],
    generics: &Generics,
    plain: bool,
) -> TokenStream {
    let (name, vis, (parameters, _, clause)) = (item.name, item.vis, generics.split_for_impl());
    let (_, arguments, _) = item.generics.split_for_impl();
    let fields = variants.iter().flat_map(|(variant, list)| list.fields.iter().map(move |f| (variant, f)));
    let methods = fields.map(|(variant, f)| {
        let (member, seen) = (&f.member, &f.ty);
        let own = quote!(#name #arguments);
        let (boxed, ty) = if f.nest == Some(Nest::Boxed) { (true, &own) } else { (f.boxed, &f.declared()) };
        let (shared, unique) = if boxed {
            (quote!(::core::convert::AsRef::as_ref(part)), quote!(::core::convert::AsMut::as_mut(part)))
        } else {
            (quote!(part), quote!(part))
        };
        let (of, of_shadow) = match f.role {
            Role::Active if plain => (quote!(__pb::PartShadow<'shadow, #ty>), quote!(__pb::Shadow::new(&shadow.#variant.#member))),
            Role::Active if f.nest == Some(Nest::Boxed) => {
                (quote!(__pb::PartShadow<'shadow, Self>), quote!(__pb::Shadow::new(shadow.#variant.#member[0])))
            }
            Role::Active => (quote!(__pb::PartShadow<'shadow, #seen>), quote!(__pb::Shadow::new(shadow.#variant.#member))),
            Role::Constant => (quote!(__pb::PartShadow<'shadow, #ty>), quote!(::core::default::Default::default())),
            Role::Inert => (quote!(__pb::Shadow<&'shadow ()>), quote!(::core::default::Default::default())),
        };
        let (name_of, name_of_unique) = (part(variant, member, false), part(variant, member, true));
        let (beside, beside_unique) = (beside(&name_of), beside(&name_of_unique));
        let other = quote!(#[allow(unreachable_patterns)] _ => ::core::unreachable!("matched before"));
        quote! {
            #[inline(always)]
            #vis fn #name_of(&self) -> &#ty {
                match self { #name::#variant { #member: part, .. } => #shared, #other }
            }
            #[inline(always)]
            #vis fn #name_of_unique(&mut self) -> &mut #ty {
                match self { #name::#variant { #member: part, .. } => #unique, #other }
            }
            #[inline(always)]
            #vis fn #beside<'shadow>(&self, shadow: &'shadow <Self as __pb::Differentiable>::Shadow<'shadow>) -> #of {
                #of_shadow
            }
            #[inline(always)]
            #vis fn #beside_unique<'shadow>(&self, shadow: &'shadow <Self as __pb::Differentiable>::Shadow<'shadow>) -> #of {
                #of_shadow
            }
        }
    });
    quote! {
        /// For code that `#[differentiable]` writes.
        #[doc(hidden)]
        #[allow(non_snake_case, private_interfaces, private_bounds, missing_docs, unreachable_pub, dead_code, unused_variables, clippy::borrowed_box, clippy::must_use_candidate)]
        impl #parameters #name #arguments #clause {
            #(#methods)*
        }
    }
}
