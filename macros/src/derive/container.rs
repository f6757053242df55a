//! Structs that own or borrow arrays: storage for the gradient, and the shadow, a struct of the fields' shadows.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Generics, Lifetime, WherePredicate, parse_quote};

use super::{Field, Fields, Item, Role, allow, with};

pub(super) fn expand(item: &Item, fields: &Fields) -> TokenStream {
    let Item { name, vis, .. } = item;
    let (gradient, shadow) = (format_ident!("{name}Gradient"), format_ident!("{name}Shadow"));
    let (style, list) = (fields.style, &fields.fields);
    let allow = allow();
    let kept = with(&item.kept, bounds(list, &quote!(::pullback::__private::Differentiable)));
    let (parameters, arguments, clause) = kept.split_for_impl();
    let own = with(&with(item.generics, kept.where_clause.iter().flat_map(|c| c.predicates.clone())), None);
    let (own_parameters, _, own_clause) = own.split_for_impl();
    let (_, own_arguments, _) = item.generics.split_for_impl();
    let lifetime: Lifetime = parse_quote!('pullback);
    // A type parameter for each field: with a lifetime, the compiler would not know that a shadow can be shortened.
    let views: Vec<_> = (0..list.len()).map(|i| format_ident!("V{i}")).collect();
    let shadow_types = list.iter().map(|f| f.shadow(&lifetime));

    let gradient_fields: TokenStream = list.iter().map(|f| style.declare(&f.member, &f.gradient())).collect();
    let gradient_body = style.body(&gradient_fields, clause);
    let shadow_fields: TokenStream =
        list.iter().zip(&views).map(|(f, view)| style.declare(&f.member, &quote!(#view))).collect();
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
            let value = f.value();
            quote!(<#ty as __pb::Differentiable>::reserve_as(#value, &mut _copy.#member);)
        })
        .collect();
    let exchange = exchange(item, &own, list);
    let declared = quote!(#parameters);
    let doc = format!("The gradient with respect to a [`{name}`].");
    let traits = traits(list, &gradient, &kept);
    let coordinates = coordinates(item, fields);
    let lend = lend(item, &own);
    let output = super::output::of_container(item, fields, &own);
    let blank = super::blank::of_struct(item, fields);
    quote! {
        #[doc = #doc]
        #allow
        #vis struct #gradient #declared #gradient_body

        const _: () = {
            use ::pullback::__private as __pb;

            #[doc(hidden)]
            #allow
            #[derive(Clone, Copy)]
            #vis struct #shadow<#(#views),*> #shadow_body

            #[automatically_derived]
            impl #own_parameters __pb::Differentiable for #name #own_arguments #own_clause {
                type Shadow<#lifetime> = #shadow<#(#shadow_types),*>;
                type Gradient = #gradient #arguments;
                type View<#lifetime> = &#lifetime #gradient #arguments;

                fn empty() -> Self::Gradient {
                    #gradient { #empty }
                }
                fn prepare(&self, gradient: &mut Self::Gradient) {
                    #prepare
                }
                #[inline]
                fn shadow(gradient: &mut Self::Gradient) -> Self::Shadow<'_> {
                    #shadow { #shadows }
                }
                #[inline(always)]
                fn align<#lifetime>(&self, shadow: Self::Shadow<#lifetime>) -> Self::Shadow<#lifetime> {
                    #shadow { #align }
                }
                #[inline(always)]
                fn shortened<#lifetime, 'longer: #lifetime>(shadow: Self::Shadow<'longer>) -> Self::Shadow<#lifetime> {
                    #shadow { #shortened }
                }
                fn fit(&self, gradient: &mut Self::Gradient, _to: __pb::Extent) {
                    #fit
                }
                fn makes_way(&self, _new: &Self) -> bool {
                    true #makes_way
                }
                fn largest(&self) -> usize {
                    0 #largest
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
                    0 #size
                }
                fn gradient_need(&self) -> ::core::option::Option<usize> {
                    ::core::option::Option::Some(0 #need)
                }
                fn seed(gradient: &mut Self::Gradient, seed: Self::View<'_>) {
                    #seed
                }
                fn copy_gradient(gradient: &mut Self::Gradient, _other: Self::View<'_>) {
                    #copy
                }
            }
            #traits
            #exchange
            #coordinates
            #lend
            #output
            #blank
        };
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
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Exchange for #name #arguments #clause {
            fn fits(&self, _shadow: Self::Shadow<'_>) -> bool {
                true #(&& <#types as __pb::Exchange>::fits(&self.#members, _shadow.#members))*
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
fn bounds(fields: &[Field], bound: &TokenStream) -> Vec<WherePredicate> {
    let generic = fields.iter().filter(|f| f.generic && f.role == Role::Active);
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

/// What makes the container an element of vectors, and its gradient one to look at.
fn traits(fields: &[Field], gradient: &proc_macro2::Ident, kept: &Generics) -> TokenStream {
    let (parameters, arguments, _) = kept.split_for_impl();
    let extended = |bound: TokenStream| {
        let generic = fields.iter().filter(|f| f.generic && f.role == Role::Active);
        let predicates = generic.map(|f| -> WherePredicate {
            let gradient = f.gradient();
            parse_quote!(#gradient: #bound)
        });
        with(kept, predicates).where_clause
    };
    let (debug, clone, equal, visit) = (
        extended(quote!(::core::fmt::Debug)),
        extended(quote!(::core::clone::Clone)),
        extended(quote!(::core::cmp::PartialEq)),
        extended(quote!(__pb::Coordinates)),
    );
    let members: Vec<_> = fields.iter().map(|f| &f.member).collect();
    let active: Vec<_> = fields.iter().filter(|f| f.role == Role::Active).map(|f| &f.member).collect();
    let label = gradient.to_string();
    let named = fields.iter().any(|f| matches!(f.member, syn::Member::Named(_)));
    let (kind, parts): (_, TokenStream) = match named {
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
                f.#kind(#label) #parts .finish()
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

/// What owns its fields can be an element of vectors, and be visited by testers.
fn coordinates(item: &Item, fields: &Fields) -> TokenStream {
    let name = item.name;
    if item.generics.lifetimes().next().is_some() || fields.fields.iter().any(|f| f.borrowed) {
        return TokenStream::new();
    }
    let own = with(item.generics, item.kept.where_clause.iter().flat_map(|c| c.predicates.clone()));
    let own = with(&own, bounds(&fields.fields, &quote!(__pb::Differentiable)));
    let (parameters, _, _) = own.split_for_impl();
    let (_, arguments, _) = item.generics.split_for_impl();
    let statics = item.generics.type_params().map(|p| -> WherePredicate {
        let name = &p.ident;
        parse_quote!(#name: 'static)
    });
    let of_statics = with(&own, statics);
    let exchanged = with(&of_statics, bounds(&fields.fields, &quote!(__pb::Exchange))).where_clause;
    let clause_static = of_statics.where_clause;
    let visit = with(&own, bounds(&fields.fields, &quote!(__pb::Coordinates))).where_clause;
    let members = fields.fields.iter().filter(|f| f.role == Role::Active).map(|f| {
        let member = &f.member;
        if f.boxed { quote!(*self.#member) } else { quote!(self.#member) }
    });
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Item for #name #arguments #clause_static {
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
            fn seed_all(gradients: &mut Self::Gradients, seeds: Self::Views<'_>) {
                gradients.seed(seeds);
            }
            fn copy_all(gradients: &mut Self::Gradients, others: Self::Views<'_>) {
                gradients.copy_from(others);
            }
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
        #[automatically_derived]
        impl #parameters __pb::Coordinates for #name #arguments #visit {
            fn visit(&mut self, _visitor: &mut dyn FnMut(__pb::Coordinate<'_>)) {
                #(__pb::Coordinates::visit(&mut #members, _visitor);)*
            }
        }
    }
}

impl Field {
    /// The type of its gradient.
    fn gradient(&self) -> TokenStream {
        let ty = &self.ty;
        match self.role {
            Role::Active => quote!(<#ty as ::pullback::__private::Differentiable>::Gradient),
            Role::Constant => quote!(::pullback::__private::Constant<#ty>),
            Role::Inert => quote!(()),
        }
    }

    /// The type of its shadow.
    fn shadow(&self, lifetime: &Lifetime) -> TokenStream {
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
        if self.borrowed || self.boxed { quote!(&*#whole.#member) } else { quote!(&#whole.#member) }
    }
}
