//! Structs that own or borrow arrays: storage for the gradient, and the shadow, a struct of the fields' shadows.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Generics, Lifetime, WherePredicate, parse_quote};

use super::nested::{Declaration, declaration};
use super::storage::{Bodies, Part};
use super::{Field, Fields, Item, Role, allow, with};

pub(super) fn expand(item: &Item, fields: &Fields) -> TokenStream {
    let Item { name, vis, .. } = item;
    let (gradient, shadow) = (format_ident!("{name}Gradient"), format_ident!("{name}Shadow"));
    let (style, list) = (fields.style, &fields.fields);
    let allow = allow();
    let kept = with(&item.kept, bounds(list, &quote!(::pullback::__private::Differentiable)));
    let (parameters, arguments, clause) = kept.split_for_impl();
    let own = with(&with(item.generics, kept.where_clause.iter().flat_map(|c| c.predicates.clone())), None);
    let Declaration { parameters: views, types: view_types, arguments: shadow_types } =
        declaration(&shadow, &list.iter().collect::<Vec<_>>());

    let gradient_fields: TokenStream = list.iter().map(|f| style.declare(&f.member, &f.gradient())).collect();
    let gradient_body = style.body(&gradient_fields, clause);
    let shadow_fields: TokenStream =
        list.iter().zip(&view_types).map(|(f, view)| style.declare(&f.member, view)).collect();
    let shadow_body = style.body(&shadow_fields, None);

    let each = |active: &dyn Fn(&Field) -> TokenStream, other: &dyn Fn(&Field) -> TokenStream| {
        let part = |f: &Field| if f.role == Role::Active { active(f) } else { other(f) };
        list.iter().map(part).collect::<TokenStream>()
    };
    let filled = |f: &Field| {
        let member = &f.member;
        match f.role {
            Role::Constant => quote!(#member: __pb::Constant::new(),),
            _ => quote!(#member: (),),
        }
    };
    let none = |_: &Field| TokenStream::new();
    let empty =
        each(&|Field { member, ty, .. }| quote!(#member: <#ty as __pb::Differentiable>::empty(),), &filled);
    let prepare = each(
        &|f @ Field { member, ty, .. }| {
            let value = f.value();
            quote!(<#ty as __pb::Differentiable>::prepare(#value, &mut gradient.#member);)
        },
        &none,
    );
    let shadows = each(
        &|Field { member, ty, .. }| quote!(#member: <#ty as __pb::Differentiable>::shadow(&mut gradient.#member),),
        &filled,
    );
    let shortened = each(
        &|Field { member, ty, .. }| quote!(#member: <#ty as __pb::Differentiable>::shortened(shadow.#member),),
        &filled,
    );
    let align = each(
        &|f @ Field { member, ty, .. }| {
            let value = f.value();
            quote!(#member: <#ty as __pb::Differentiable>::align(#value, shadow.#member),)
        },
        &filled,
    );
    let seed = each(
        &|Field { member, ty, .. }| {
            quote!(<#ty as __pb::Differentiable>::seed(
                &mut gradient.#member,
                <#ty as __pb::Differentiable>::view(&seed.#member),
            );)
        },
        &none,
    );
    let copy = each(
        &|Field { member, ty, .. }| {
            quote!(<#ty as __pb::Differentiable>::copy_gradient(
                &mut gradient.#member,
                <#ty as __pb::Differentiable>::view(&_other.#member),
            );)
        },
        &none,
    );
    let size = each(
        &|Field { member, ty, .. }| quote!(+ <#ty as __pb::Differentiable>::gradient_size(&_gradient.#member)),
        &none,
    );
    let need = each(
        &|f @ Field { ty, .. }| {
            let value = f.value();
            quote!(+ <#ty as __pb::Differentiable>::gradient_need(#value)?)
        },
        &none,
    );
    let fit = each(
        &|f @ Field { member, ty, .. }| {
            let value = f.value();
            quote!(<#ty as __pb::Differentiable>::fit(#value, &mut gradient.#member, _to);)
        },
        &none,
    );
    let taken = each(
        &|Field { member, ty, .. }| quote!(<#ty as __pb::Differentiable>::take_shadow(shadow.#member, &mut gradient.#member);),
        &none,
    );
    let makes_way = each(
        &|f @ Field { ty, .. }| {
            let (value, new) = (f.value(), f.value_in(&quote!(_new)));
            quote!(&& <#ty as __pb::Differentiable>::makes_way(#value, #new))
        },
        &none,
    );
    let largest = each(
        &|f @ Field { ty, .. }| {
            let value = f.value();
            quote!(.max(<#ty as __pb::Differentiable>::largest(#value)))
        },
        &none,
    );
    let owned = list.iter().filter(|f| f.role == Role::Active && !f.borrowed);
    let reserve: TokenStream = owned
        .map(|f @ Field { member, ty, .. }| {
            let (value, copy) = (f.value(), quote!(&mut _copy.#member));
            let copy = if f.perhaps { f.behind_mut(&copy) } else { copy };
            quote!(<#ty as __pb::Differentiable>::reserve_as(#value, #copy);)
        })
        .collect();
    let differentiable = Bodies {
        shadow: quote!(#shadow #shadow_types),
        gradient: quote!(#gradient #arguments),
        empty: quote!(#gradient { #empty }),
        prepare,
        shadows: quote!(#shadow { #shadows }),
        align: quote!(#shadow { #align }),
        shortened: quote!(#shadow { #shortened }),
        fit,
        makes_way: quote!(true #makes_way),
        largest: quote!(0 #largest),
        taken,
        reserve,
        size: quote!(0 #size),
        need: quote!(0 #need),
        seed,
        copy,
        nested: nested(list),
    }
    .differentiable(item, &own);
    let exchange = exchange(item, &own, list);
    let declared = quote!(#parameters);
    let doc = format!("The gradient with respect to a [`{name}`].");
    let parts: Vec<_> = list.iter().map(|f| Part::of(item, f)).collect();
    let traits = super::storage::traits(&gradient, &kept, &parts);
    let coordinates = coordinates(item, list);
    let lend = lend(item, &own);
    let output = super::output::of_container(item, fields, &own);
    let blank = super::blank::of_struct(item, fields);
    let never = super::by_value::never(item);
    quote! {
        #[doc = #doc]
        #allow
        #vis struct #gradient #declared #gradient_body

        const _: () = {
            use ::pullback::__private as __pb;

            #[doc(hidden)]
            #allow
            #[derive(Clone, Copy)]
            #vis struct #shadow #views #shadow_body
            #[automatically_derived]
            impl #views __pb::OfStruct for #shadow #views {}

            #differentiable
            #traits
            #exchange
            #coordinates
            #lend
            #output
            #blank
            #never
        };
    }
}

/// How gradients of what is in boxes come from a stock, and go there.
fn nested(fields: &[Field]) -> TokenStream {
    let active: Vec<_> = fields.iter().filter(|f| f.role == Role::Active).collect();
    if active.iter().all(|f| f.nest.is_none()) {
        return TokenStream::new();
    }
    let (members, types): (Vec<_>, Vec<_>) = active.iter().map(|f| (&f.member, &f.ty)).unzip();
    let values: Vec<_> = active.iter().map(|f| f.value()).collect();
    quote! {
        fn prepare_from(&self, gradient: &mut Self::Gradient, stock: &mut dyn ::core::any::Any) {
            #(<#types as __pb::Differentiable>::prepare_from(#values, &mut gradient.#members, stock);)*
        }
        fn release(gradient: &mut Self::Gradient, stock: &mut dyn ::core::any::Any) {
            #(<#types as __pb::Differentiable>::release(&mut gradient.#members, stock);)*
        }
    }
}

/// What makes the container one that changes places behind references.
fn exchange(item: &Item, own: &Generics, fields: &[Field]) -> TokenStream {
    let name = item.name;
    let active: Vec<_> = fields.iter().filter(|f| f.role == Role::Active).collect();
    let own = with(own, bounds(fields, &quote!(__pb::Exchange)));
    let (parameters, _, clause) = own.split_for_impl();
    let (_, arguments, _) = item.generics.split_for_impl();
    if item.generics.lifetimes().next().is_some() || active.iter().any(|f| f.borrowed) {
        return TokenStream::new();
    }
    let (members, types): (Vec<_>, Vec<_>) = active.iter().map(|f| (&f.member, &f.ty)).unzip();
    let values: Vec<_> = active.iter().map(|f| f.value()).collect();
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Exchange for #name #arguments #clause {
            fn fits(&self, _shadow: Self::Shadow<'_>) -> bool {
                true #(&& <#types as __pb::Exchange>::fits(#values, _shadow.#members))*
            }
            fn exchange(_one: Self::Shadow<'_>, _other: Self::Shadow<'_>) {
                #(<#types as __pb::Exchange>::exchange(_one.#members, _other.#members);)*
            }
            fn clear(_shadow: Self::Shadow<'_>) {
                #(<#types as __pb::Exchange>::clear(_shadow.#members);)*
            }
        }
    }
}

/// `bound` for the types of generic fields.
pub(super) fn bounds<'f>(
    fields: impl IntoIterator<Item = &'f Field>,
    bound: &TokenStream,
) -> Vec<WherePredicate> {
    let generic = fields.into_iter().filter(|f| f.generic && f.role == Role::Active);
    generic
        .map(|f| {
            let ty = &f.ty;
            parse_quote!(#ty: #bound)
        })
        .collect()
}

/// What makes a struct that borrows a parameter.
fn lend(item: &Item, generics: &Generics) -> TokenStream {
    if item.generics.lifetimes().next().is_none() {
        return TokenStream::new();
    }
    let name = item.name;
    let at = |lifetime: Lifetime| {
        let arguments = item.generics.params.iter().map(|param| match param {
            syn::GenericParam::Lifetime(_) => quote!(#lifetime),
            syn::GenericParam::Type(ty) => ty.ident.to_token_stream(),
            syn::GenericParam::Const(constant) => constant.ident.to_token_stream(),
        });
        quote!(#name<#(#arguments),*>)
    };
    let (longest, any, short, long) =
        (at(parse_quote!('static)), at(parse_quote!('_)), at(parse_quote!('s)), at(parse_quote!('pullback)));
    let mut generics = generics.clone();
    generics.params =
        generics.params.into_iter().filter(|p| !matches!(p, syn::GenericParam::Lifetime(_))).collect();
    let (parameters, _, clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Lend for #longest #clause {
            type At<'pullback> = #long;

            #[inline(always)]
            fn shorten<'s, 'pullback: 's>(lent: &'s #long) -> &'s #short {
                lent
            }
            fn prepare_lent(lent: &#any, gradient: &mut Self::Gradient) {
                __pb::Differentiable::prepare(lent, gradient);
            }
            #[inline(always)]
            fn align_lent<'pullback>(lent: &#any, shadow: Self::Shadow<'pullback>) -> Self::Shadow<'pullback> {
                __pb::Differentiable::align(lent, shadow)
            }
        }
    }
}

/// What owns its fields is visited by testers, and can be an element of vectors.
fn coordinates(item: &Item, fields: &[Field]) -> TokenStream {
    if item.generics.lifetimes().next().is_some() || fields.iter().any(|f| f.borrowed) {
        return TokenStream::new();
    }
    let own = with(&differentiable(item, fields), bounds(fields, &quote!(__pb::Coordinates)));
    let (parameters, _, clause) = own.split_for_impl();
    let (name, (_, arguments, _)) = (item.name, item.generics.split_for_impl());
    let visits = fields.iter().filter(|f| f.role == Role::Active).map(|f| {
        let member = &f.member;
        f.visit(if f.boxed { quote!(&mut *self.#member) } else { quote!(&mut self.#member) })
    });
    let elements = super::elements::of(item, fields);
    quote! {
        #elements
        #[automatically_derived]
        impl #parameters __pb::Coordinates for #name #arguments #clause {
            fn visit(&mut self, _visitor: &mut dyn FnMut(__pb::Coordinate<'_>)) {
                #(#visits)*
            }
        }
    }
}

/// The parameters of the type, where that is differentiable.
pub(super) fn differentiable<'f>(item: &Item, fields: impl IntoIterator<Item = &'f Field>) -> Generics {
    let own = with(item.generics, item.kept.where_clause.iter().flat_map(|c| c.predicates.clone()));
    with(&own, bounds(fields, &quote!(::pullback::__private::Differentiable)))
}

impl Field {
    /// The type of its gradient.
    pub(super) fn gradient(&self) -> TokenStream {
        let ty = &self.ty;
        match self.role {
            Role::Active => quote!(<#ty as ::pullback::__private::Differentiable>::Gradient),
            Role::Constant => quote!(::pullback::__private::Constant<#ty>),
            Role::Inert => quote!(()),
        }
    }

    /// The type of its shadow.
    pub(super) fn shadow(&self, lifetime: &Lifetime) -> TokenStream {
        let ty = &self.ty;
        match self.role {
            Role::Active => quote!(<#ty as __pb::Differentiable>::Shadow<#lifetime>),
            _ => self.gradient(),
        }
    }

    /// A reference to it.
    fn value(&self) -> TokenStream {
        self.value_in(&quote!(self))
    }

    /// The same in another struct.
    fn value_in(&self, whole: &TokenStream) -> TokenStream {
        let member = &self.member;
        match self.borrowed || self.boxed {
            true => quote!(&*#whole.#member),
            false if self.perhaps => self.behind(&quote!(&#whole.#member)),
            false => quote!(&#whole.#member),
        }
    }
}
