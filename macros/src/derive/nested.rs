//! Types that hold others of their own, such as the nodes of a tree: in a `Vec`, in an `Option<Box<_>>`, or, in an enum, in a `Box`.
//!
//! What is in a `Box` is taken for a slice of one, or of none where it may be missing: the storage and the shadows of the elements of a slice
//! are in memory of their own, so that neither the struct of the gradient nor that of the shadow has to contain itself.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::visit::Visit;
use syn::{Data, DeriveInput, Error, Lifetime, Result, Type, parse_quote};

use super::Field;
use super::parse::{in_box, in_optional_box, in_vec, is_constant};

/// How a field holds others of the type that it belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nest {
    /// `Vec<Self>`
    Listed,
    /// `Box<Self>`
    Boxed,
    /// `Option<Box<Self>>`
    Perhaps,
}

impl Nest {
    /// Of a field of type `ty` in the type `own`: none, if it holds no others of that, or not differentiably.
    fn of(ty: &Type, own: &Ident) -> Option<Nest> {
        let is_own = |ty: &&Type| matches!(ty, Type::Path(path) if path.path.segments.len() == 1 && names(&path.path.segments[0].ident, own));
        let listed = in_vec(ty).filter(is_own).map(|_| Nest::Listed);
        let boxed = || in_box(ty).filter(is_own).map(|_| Nest::Boxed);
        listed.or_else(boxed).or_else(|| in_optional_box(ty).filter(is_own).map(|_| Nest::Perhaps))
    }
}

/// The type by which derived code sees a field, if that holds others of the type that `input` is.
pub(super) fn seen(ty: &Type, input: &DeriveInput) -> Option<(Nest, Type)> {
    let nest = Nest::of(ty, &input.ident)?;
    let (name, (_, arguments, _)) = (&input.ident, input.generics.split_for_impl());
    let own = quote!(#name #arguments);
    Some((
        nest,
        if nest == Nest::Listed { parse_quote!(::std::vec::Vec<#own>) } else { parse_quote!([#own]) },
    ))
}

/// Refuses other fields that hold some of the type itself, whose gradients would be of no end.
pub(super) fn refuse_others(input: &DeriveInput) -> Result<()> {
    let (fields, of_enum): (Vec<&syn::Field>, bool) = match &input.data {
        Data::Struct(data) => (data.fields.iter().collect(), false),
        Data::Enum(data) => (data.variants.iter().flat_map(|variant| &variant.fields).collect(), true),
        Data::Union(_) => (Vec::new(), false),
    };
    let refused = |field: &&&syn::Field| {
        let mut looking = LookingFor { own: &input.ident, found: false };
        looking.visit_type(&field.ty);
        let known = match Nest::of(&field.ty, &input.ident) {
            Some(Nest::Boxed) => of_enum,
            nest => nest.is_some(),
        };
        looking.found && !known && !is_constant(field)
    };
    match fields.iter().find(refused) {
        Some(field) => Err(Error::new_spanned(
            &field.ty,
            "a type is differentiable that holds others of its own type in a `Vec`, in an `Option<Box<_>>`, or, an enum, in a `Box`",
        )),
        None => Ok(()),
    }
}

fn names(ident: &Ident, own: &Ident) -> bool {
    ident == own || ident == "Self"
}

/// Whether the type `own` is mentioned; another of that name has a path before it.
struct LookingFor<'i> {
    own: &'i Ident,
    found: bool,
}

impl Visit<'_> for LookingFor<'_> {
    fn visit_type_path(&mut self, ty: &syn::TypePath) {
        if let [segment] = &ty.path.segments.iter().collect::<Vec<_>>()[..] {
            self.found |= names(&segment.ident, self.own);
        }
        syn::visit::visit_type_path(self, ty);
    }
}

/// How the shadow of a type is declared: with a type parameter for each field, since with a lifetime the compiler would not know that a shadow
/// can be shortened, and without one for fields that hold others of the type itself.
pub(super) struct Declaration {
    /// `<'pullback, V0, V1>`, where the lifetime is that of slices of shadows of the type itself.
    pub(super) parameters: TokenStream,
    /// The types of the fields, under these parameters.
    pub(super) types: Vec<TokenStream>,
    /// The arguments in the place of the parameters, for a shadow of the lifetime `'pullback`.
    pub(super) arguments: TokenStream,
}

/// That of the struct `shadow`, whose fields stand for `fields`.
pub(super) fn declaration(shadow: &Ident, fields: &[&Field]) -> Declaration {
    let lifetime: Lifetime = parse_quote!('pullback);
    let view = |i: usize| format_ident!("V{i}");
    let own = fields.iter().any(|f| f.nest.is_some()).then(|| quote!(#lifetime,));
    let views = fields.iter().enumerate().filter(|(_, f)| f.nest.is_none()).map(|(i, _)| view(i));
    let parameters = quote!(<#own #(#views),*>);
    let types = fields.iter().enumerate().map(|(i, f)| match f.nest {
        Some(_) => quote!(&#lifetime [#shadow #parameters]),
        None => view(i).to_token_stream(),
    });
    let types = types.collect();
    let arguments = fields.iter().filter(|f| f.nest.is_none()).map(|f| f.shadow(&lifetime));
    Declaration { arguments: quote!(<#own #(#arguments),*>), types, parameters }
}

impl Field {
    /// The type by which it is declared, without a `Box` that is always there.
    pub(super) fn declared(&self) -> TokenStream {
        match &self.ty {
            Type::Slice(slice) if self.perhaps => {
                let inside = &slice.elem;
                quote!(::core::option::Option<::std::boxed::Box<#inside>>)
            }
            ty => ty.to_token_stream(),
        }
    }

    /// By a reference to the field, `place`, one to what its type stands for.
    pub(super) fn behind(&self, place: &TokenStream) -> TokenStream {
        match self.nest {
            Some(Nest::Boxed) => quote!(::core::slice::from_ref(#place.as_ref())),
            _ if self.perhaps => quote!(__pb::in_box(#place)),
            _ if self.boxed => quote!(#place.as_ref()),
            _ => place.clone(),
        }
    }

    /// The same to write to.
    pub(super) fn behind_mut(&self, place: &TokenStream) -> TokenStream {
        match self.nest {
            Some(Nest::Boxed) => quote!(::core::slice::from_mut(#place.as_mut())),
            _ if self.perhaps => quote!(__pb::in_box_mut(#place)),
            _ if self.boxed => quote!(#place.as_mut()),
            _ => place.clone(),
        }
    }
}
