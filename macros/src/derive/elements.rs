//! What makes a type that owns memory an element of vectors, and something that is in boxes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{WherePredicate, parse_quote};

use super::container::{bounds, differentiable};
use super::{Field, Item, with};

pub(super) fn of<'f>(item: &Item, fields: impl IntoIterator<Item = &'f Field> + Clone) -> TokenStream {
    let statics = item.generics.type_params().map(|p| -> WherePredicate {
        let name = &p.ident;
        parse_quote!(#name: 'static)
    });
    let own = with(&differentiable(item, fields.clone()), statics);
    let returned = super::output::is_returned(item, fields.clone()).then(|| {
        quote! {
            fn size_all(items: &[Self]) -> usize {
                items.iter().map(<Self as __pb::Output>::size).sum()
            }
            fn refill_all(
                items: &[Self],
                copies: &mut ::std::vec::Vec<Self>,
                spares: &mut __pb::SpareBoxes,
            ) -> bool {
                __pb::refill_rows(items, copies, spares)
            }
        }
    });
    let exchanged = with(&own, bounds(fields, &quote!(__pb::Exchange))).where_clause;
    let (parameters, _, clause) = own.split_for_impl();
    let (name, (_, arguments, _)) = (item.name, item.generics.split_for_impl());
    quote! {
        #[automatically_derived]
        impl #parameters __pb::IsInBox for #name #arguments #clause {}
        #[automatically_derived]
        impl #parameters __pb::Item for #name #arguments #clause {
            type Gradients = __pb::Rows<Self>;
            type Shadows<'pullback> = &'pullback [<Self as __pb::Differentiable>::Shadow<'pullback>];
            type Views<'pullback> = &'pullback [<Self as __pb::Differentiable>::Gradient];

            fn empty_all() -> Self::Gradients {
                __pb::Rows::new()
            }
            fn prepare_all(items: &[Self], gradients: &mut Self::Gradients) {
                gradients.prepare(items);
            }
            fn shadows(gradients: &mut Self::Gradients) -> Self::Shadows<'_> {
                gradients.shadows()
            }
            #[inline(always)]
            fn align_all<'pullback>(
                items: &[Self],
                shadows: Self::Shadows<'pullback>,
            ) -> Self::Shadows<'pullback> {
                __pb::Rows::align(items, shadows)
            }
            #[inline(always)]
            fn shortened_all<'pullback, 'longer: 'pullback>(
                shadows: Self::Shadows<'longer>,
            ) -> Self::Shadows<'pullback> {
                __pb::Rows::<Self>::shortened(shadows)
            }
            fn fit_all(items: &[Self], _: usize, gradients: &mut Self::Gradients, to: __pb::Extent) {
                gradients.fit(items, to);
            }
            fn all_make_way(items: &[Self], new: &[Self]) -> bool {
                __pb::Rows::all_make_way(items, new)
            }
            fn largest_of(items: &[Self]) -> usize {
                __pb::Rows::largest(items)
            }
            fn take_shadows(shadows: Self::Shadows<'_>, gradients: &mut Self::Gradients) {
                gradients.take(shadows);
            }
            #[inline(always)]
            fn shadow_at<'pullback>(
                shadows: Self::Shadows<'pullback>,
                i: usize,
            ) -> <Self as __pb::Differentiable>::Shadow<'pullback> {
                shadows[i]
            }
            fn reserve_all(items: &[Self], copies: &mut [Self]) {
                items.iter().zip(copies).for_each(|(item, copy)| __pb::Differentiable::reserve_as(item, copy));
            }
            fn views(gradients: &Self::Gradients) -> Self::Views<'_> {
                gradients
            }
            fn gradients_size(gradients: &Self::Gradients) -> usize {
                gradients.heap_size()
            }
            fn prepare_all_from(items: &[Self], gradients: &mut Self::Gradients, stock: &mut dyn ::core::any::Any) {
                gradients.prepare_from_stock(items, stock);
            }
            fn release_all(gradients: Self::Gradients, stock: &mut ::std::vec::Vec<Self::Gradients>) {
                gradients.release_all(stock);
            }
            fn release_to(gradients: &mut Self::Gradients, stock: &mut dyn ::core::any::Any) {
                gradients.release_to(stock);
            }
            fn seed_all(gradients: &mut Self::Gradients, seeds: Self::Views<'_>) {
                gradients.seed(seeds);
            }
            fn copy_all(gradients: &mut Self::Gradients, others: Self::Views<'_>) {
                gradients.copy_from(others);
            }
            #returned
        }
        #[automatically_derived]
        impl #parameters __pb::ExchangeItems for #name #arguments #exchanged {
            fn all_fit(items: &[Self], shadows: Self::Shadows<'_>) -> bool {
                __pb::Rows::all_fit(items, shadows)
            }
            fn swap_shadows(shadows: Self::Shadows<'_>, i: usize, j: usize) {
                if i != j {
                    <Self as __pb::Exchange>::exchange(shadows[i], shadows[j]);
                }
            }
            fn exchange_all(one: Self::Shadows<'_>, other: Self::Shadows<'_>) {
                for (one, other) in one.iter().zip(other) {
                    <Self as __pb::Exchange>::exchange(*one, *other);
                }
            }
            fn clear_all(shadows: Self::Shadows<'_>) {
                for shadow in shadows {
                    <Self as __pb::Exchange>::clear(*shadow);
                }
            }
        }
    }
}
