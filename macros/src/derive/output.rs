//! What makes a struct something that functions return, and that is copied.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Generics, WherePredicate, parse_quote};

use super::nested::Nest;
use super::parse::in_vec;
use super::{Field, Fields, Item, Role, with};

/// Of a value made of numbers: its gradient is passed by value.
pub(super) fn of_value(generics: &Generics, ty: &TokenStream) -> TokenStream {
    let (parameters, _, clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Output for #ty #clause {
            type Cotangent<'pullback> = <Self as __pb::Value>::Tangent;
            type Gradient = <Self as __pb::Value>::Tangent;

            #[inline(always)]
            fn empty() -> Self::Gradient {
                __pb::Tangent::zero()
            }
            #[inline(always)]
            fn prepare(&self, gradient: &mut Self::Gradient) {
                *gradient = __pb::Tangent::zero();
            }
            #[inline(always)]
            fn lend(gradient: &Self::Gradient) -> Self::Gradient {
                *gradient
            }
            #[inline(always)]
            fn copy(gradient: &mut Self::Gradient, cotangent: Self::Gradient) {
                *gradient = cotangent;
            }
            fn size(_value: &Self) -> usize {
                0
            }
            fn gradient_size(_gradient: &Self::Gradient) -> usize {
                0
            }
        }
    }
}

/// What is done with a value, part by part.
struct Parts {
    /// Copies `self` to `copy` where the memory of that suffices, and tells whether it does.
    copied: TokenStream,
    /// The bytes of the heap that `_value` owns.
    size: TokenStream,
    /// Adds `_d` to `_shadow`.
    handed: TokenStream,
    /// Gives `_copy` the room of `self`.
    room: TokenStream,
}

/// Of a container: the caller keeps the gradient. `own` are the bounds under which it is differentiable.
pub(super) fn of_container(item: &Item, fields: &Fields, own: &Generics) -> TokenStream {
    let list = &fields.fields;
    let active = list.iter().filter(|f| f.role == Role::Active);
    let (active, types): (Vec<_>, Vec<_>) = active.map(|f| (&f.member, &f.ty)).unzip();
    let copied = list
        .iter()
        .map(|f @ Field { member, .. }| f.copied(&quote!(&self.#member), &quote!(&mut copy.#member)));
    let sizes = list.iter().map(|f @ Field { member, .. }| f.size(&quote!(&_value.#member)));
    let parts = Parts {
        copied: quote!(true #(&& #copied)*),
        size: quote!(0 #(+ #sizes)*),
        handed: quote!(#(<#types as __pb::mutation::CopyPart>::hand_part_back(_shadow.#active, &_d.#active);)*),
        room: quote!(#(<#types as __pb::mutation::CopyPart>::make_room_for_part(&self.#active, &mut _copy.#active);)*),
    };
    whole(item, &list.iter().collect::<Vec<_>>(), &parts, own)
}

/// Of an enum that owns memory.
pub(super) fn of_choice(item: &Item, variants: &[(Ident, Fields)], own: &Generics) -> TokenStream {
    let (mut copied, mut size, mut handed, mut room) =
        (TokenStream::new(), TokenStream::new(), TokenStream::new(), TokenStream::new());
    for (variant, fields) in variants {
        let of = |prefix: &str, bound: &dyn Fn(&Field) -> bool| {
            let list = fields.fields.iter().enumerate().filter(|(_, f)| bound(f));
            let (members, names): (Vec<_>, Vec<_>) =
                list.map(|(i, f)| (&f.member, format_ident!("{prefix}_{i}"))).unzip();
            let name = item.name;
            (quote!(#name::#variant { #(#members: #names,)* .. }), names)
        };
        let (any, active) = (|_: &Field| true, |f: &Field| f.role == Role::Active);
        let ((one, ones), (other, others)) = (of("one", &any), of("other", &any));
        let names = fields.fields.iter().zip(ones.iter().zip(&others));
        let copies = names.map(|(f, (one, other))| f.copied(&quote!(#one), &quote!(#other)));
        let sizes = fields.fields.iter().zip(&ones).map(|(f, one)| f.size(&quote!(#one)));
        copied.extend(quote!((#one, #other) => true #(&& #copies)*,));
        size.extend(quote!(#one => 0 #(+ #sizes)*,));
        let ((one, ones), (other, others)) = (of("one", &active), of("other", &active));
        let list = fields.fields.iter().filter(|f| active(f));
        let (members, types): (Vec<_>, Vec<_>) = list.map(|f| (&f.member, &f.ty)).unzip();
        handed.extend(quote! {
            #(<#types as __pb::mutation::CopyPart>::hand_part_back(_shadow.#variant.#members, &_d.#variant.#members);)*
        });
        room.extend(quote! {
            (#one, #other) => { #(<#types as __pb::mutation::CopyPart>::make_room_for_part(#ones, #others);)* }
        });
    }
    let parts = Parts {
        copied: quote!(match (self, &mut *copy) { #copied #[allow(unreachable_patterns)] _ => false }),
        size: quote!(match _value { #size }),
        handed,
        room: quote!(match (self, _copy) { #room #[allow(unreachable_patterns)] _ => {} }),
    };
    let list: Vec<_> = variants.iter().flat_map(|(_, fields)| &fields.fields).collect();
    whole(item, &list, &parts, own)
}

/// Functions return values of the type: it borrows nothing.
pub(super) fn is_returned<'f>(item: &Item, fields: impl IntoIterator<Item = &'f Field>) -> bool {
    item.generics.lifetimes().next().is_none() && !fields.into_iter().any(|field| field.borrowed)
}

/// The traits of a type with these fields.
fn whole(item: &Item, list: &[&Field], parts: &Parts, own: &Generics) -> TokenStream {
    if !is_returned(item, list.iter().copied()) {
        return TokenStream::new();
    }
    let (name, (parameters, _, clause)) = (item.name, own.split_for_impl());
    let (_, arguments, _) = item.generics.split_for_impl();
    let Parts { copied, size, .. } = parts;
    // A derived `clone_from` allocates. Of a field whose type is a parameter it is not known whether it can be cloned.
    let refill = (!list.iter().any(|f| f.generic)).then(|| {
        quote! {
            fn refill(&self, copy: &mut Self, _spares: &mut __pb::SpareBoxes) -> bool {
                use __pb::{CopyAnyBox as _, CopyAnyField as _};
                #copied
            }
        }
    });
    let copying = copying(item, list, parts, own);
    let in_box = in_box(item, list, own);
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Output for #name #arguments #clause {
            type Cotangent<'pullback> = <Self as __pb::Differentiable>::View<'pullback>;
            type Gradient = <Self as __pb::Differentiable>::Gradient;

            fn empty() -> Self::Gradient {
                <Self as __pb::Differentiable>::empty()
            }
            fn prepare(&self, gradient: &mut Self::Gradient) {
                __pb::Differentiable::prepare(self, gradient);
            }
            fn lend(gradient: &Self::Gradient) -> Self::Cotangent<'_> {
                gradient
            }
            fn copy(gradient: &mut Self::Gradient, cotangent: Self::Cotangent<'_>) {
                <Self as __pb::Differentiable>::copy_gradient(gradient, cotangent);
            }
            #refill
            fn size(_value: &Self) -> usize {
                use __pb::{OfAnyField as _, OfReturnedField as _};
                #size
            }
            fn gradient_size(gradient: &Self::Gradient) -> usize {
                <Self as __pb::Differentiable>::gradient_size(gradient)
            }
        }
        #copying
        #in_box
    }
}

/// Of a box of the type, if it holds others in boxes: the gradient is that of a slice of one.
fn in_box(item: &Item, list: &[&Field], own: &Generics) -> TokenStream {
    if !list.iter().any(|f| matches!(f.nest, Some(Nest::Boxed | Nest::Perhaps))) {
        return TokenStream::new();
    }
    let (name, (parameters, _, clause)) = (item.name, own.split_for_impl());
    let (_, arguments, _) = item.generics.split_for_impl();
    let slice = quote!(<[#name #arguments] as __pb::Differentiable>);
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Output for ::std::boxed::Box<#name #arguments> #clause {
            type Cotangent<'pullback> = #slice::View<'pullback>;
            type Gradient = #slice::Gradient;

            fn empty() -> Self::Gradient {
                #slice::empty()
            }
            fn prepare(&self, gradient: &mut Self::Gradient) {
                #slice::prepare(::core::slice::from_ref(self), gradient);
            }
            fn lend(gradient: &Self::Gradient) -> Self::Cotangent<'_> {
                #slice::view(gradient)
            }
            fn copy(gradient: &mut Self::Gradient, cotangent: Self::Cotangent<'_>) {
                #slice::copy_gradient(gradient, cotangent);
            }
            fn refill(&self, copy: &mut Self, spares: &mut __pb::SpareBoxes) -> bool {
                <#name #arguments as __pb::Output>::refill(self, copy, spares)
            }
            fn size(value: &Self) -> usize {
                ::core::mem::size_of::<#name #arguments>() + <#name #arguments as __pb::Output>::size(value)
            }
            fn gradient_size(gradient: &Self::Gradient) -> usize {
                #slice::gradient_size(gradient)
            }
        }
    }
}

impl Field {
    /// Copies what is at `one` to `other`, in the memory of that if it suffices, and tells whether it is done.
    fn copied(&self, one: &TokenStream, other: &TokenStream) -> TokenStream {
        let rows = self.role == Role::Active && !self.boxed && !self.perhaps && in_vec(&self.ty).is_some();
        match self.nest {
            Some(Nest::Perhaps) => quote!(__pb::CopyBox(#one, #other).refill(_spares)),
            nest if rows || matches!(nest, Some(Nest::Boxed)) => {
                quote!((__pb::Output::refill(#one, #other, _spares) || __pb::CopyField(#one, #other).copy()))
            }
            _ => quote!(__pb::CopyField(#one, #other).copy()),
        }
    }

    /// How many bytes of the heap what is at `place` owns.
    fn size(&self, place: &TokenStream) -> TokenStream {
        match self.nest {
            Some(Nest::Boxed | Nest::Perhaps) => quote!(__pb::Output::size(#place)),
            _ => quote!((&__pb::OfField(#place)).heap_size()),
        }
    }
}

/// `clone`, if the type and its fields have one.
fn copying(item: &Item, list: &[&Field], parts: &Parts, own: &Generics) -> TokenStream {
    let (name, Parts { handed, room, .. }) = (item.name, parts);
    let (_, arguments, _) = item.generics.split_for_impl();
    let active: Vec<_> = list.iter().filter(|f| f.role == Role::Active).collect();
    if active.iter().any(|f| f.boxed || f.perhaps || f.nest.is_some()) {
        return TokenStream::new();
    }
    let types: Vec<_> = active.iter().map(|f| &f.ty).collect();
    // With a lifetime, the bounds are checked where the value is cloned.
    let mut bounds: Vec<WherePredicate> =
        vec![parse_quote!(for<'any> #name #arguments: ::core::clone::Clone)];
    bounds.extend(
        types.iter().map(|ty| -> WherePredicate { parse_quote!(for<'any> #ty: __pb::mutation::CopyPart) }),
    );
    let generics = with(own, bounds);
    let (parameters, _, clause) = generics.split_for_impl();
    let statics = item.generics.type_params().map(|p| -> WherePredicate {
        let name = &p.ident;
        parse_quote!(#name: 'static)
    });
    let of_statics = with(&generics, statics);
    let clause_static = &of_statics.where_clause;
    quote! {
        #[automatically_derived]
        impl #parameters __pb::mutation::CopyItem for #name #arguments #clause_static {
            fn hand_all_back(shadows: Self::Shadows<'_>, d: Self::Views<'_>) {
                for (shadow, d) in shadows.iter().zip(d) {
                    <Self as __pb::mutation::Copyable>::hand_back(*shadow, d);
                }
            }
            fn room_all(items: &[Self]) -> usize {
                items.iter().map(__pb::mutation::Copyable::room).sum()
            }
            fn make_room_all(items: &[Self], copies: &mut [Self]) {
                items.iter().zip(copies).for_each(|(item, copy)| __pb::mutation::Copyable::make_room(item, copy));
            }
        }
        #[automatically_derived]
        impl #parameters __pb::mutation::Copyable for #name #arguments #clause {
            fn hand_back(_shadow: Self::Shadow<'_>, _d: <Self as __pb::Output>::Cotangent<'_>) {
                #handed
            }
            fn room(&self) -> usize {
                <Self as __pb::Output>::size(self)
            }
            fn make_room(&self, _copy: &mut Self) {
                #room
            }
            fn copy_into(&self, copy: &mut Self) {
                <Self as __pb::Output>::copy_to(self, copy);
            }
        }
    }
}
