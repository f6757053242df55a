//! A plain struct that is generic over a float has a counterpart in dual numbers: itself at another type.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::visit_mut::VisitMut;
use syn::{Type, WherePredicate, parse_quote};

use super::plain::values;
use super::{Fields, Item, Role, with};
use crate::dual::Retype;

/// The counterpart, and how the struct and its gradient are counted off.
pub(super) fn expand(item: &Item, fields: &Fields, tangent: &Ident) -> TokenStream {
    let (component, width) = (Ident::new("__C", Span::mixed_site()), Ident::new("__N", Span::mixed_site()));
    let number = Ident::new("__S", Span::mixed_site());
    let name = item.name;
    // With some type in the place of each parameter.
    let at = |mut ty: Type, number: &Type| {
        for param in item.generics.type_params() {
            Retype { from: &param.ident.to_string(), to: number }.visit_type_mut(&mut ty);
        }
        ty
    };
    let (float, number_of_duals): (Type, Type) =
        (parse_quote!(f64), parse_quote!(__pb::DualNumber<#component, #width>));
    let of_floats = |ty: &Type| at(ty.clone(), &float);
    let of_duals = |ty: &Type| at(ty.clone(), &number_of_duals);
    let (_, own, _) = item.generics.split_for_impl();
    let whole: Type = parse_quote!(#name #own);
    let (plain, dual) = (of_floats(&whole), of_duals(&whole));

    // What the struct asks of its parameters, and what its fields have to be: asked where it is needed.
    let bounds =
        item.generics.type_params().filter(|param| !param.bounds.is_empty()).map(|param| -> WherePredicate {
            let bounds = &param.bounds;
            parse_quote!(#number_of_duals: #bounds)
        });
    let clause = item.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let predicates: Vec<WherePredicate> = clause
        .map(|predicate| {
            let mut predicate = predicate.clone();
            for param in item.generics.type_params() {
                let retype = &mut Retype { from: &param.ident.to_string(), to: &number_of_duals };
                retype.visit_where_predicate_mut(&mut predicate);
            }
            predicate
        })
        .collect();
    let of_fields = fields.fields.iter().filter(|f| f.generic).map(|f| -> WherePredicate {
        let (plain, dual) = (of_floats(&f.ty), of_duals(&f.ty));
        parse_quote!(#plain: __pb::Lift<#component, #width, Dual = #dual>)
    });
    let sized: WherePredicate = parse_quote!(#dual: ::core::marker::Send + 'static);
    let constants = item.generics.const_params();
    let mut lifting: syn::Generics =
        parse_quote!(<#component: __pb::Float, const #width: usize #(, #constants)*>);
    lifting.make_where_clause().predicates.extend(bounds.chain(predicates).chain(of_fields).chain([sized]));
    let (lift_parameters, _, lift_clause) = lifting.split_for_impl();
    let members: Vec<_> = fields.fields.iter().map(|f| &f.member).collect();
    let convert = |method: TokenStream, from: TokenStream| -> Vec<_> {
        let convert = fields.fields.iter().map(|f| match (f.generic, &f.member, &f.ty) {
            (true, member, ty) => {
                let ty = of_floats(ty);
                quote!(<#ty as __pb::Lift<#component, #width>>::#method(&#from.#member))
            }
            (false, member, _) => quote!(::core::clone::Clone::clone(&#from.#member)),
        });
        convert.collect()
    };
    let (lifted, lowered) = (convert(quote!(lift), quote!(self)), convert(quote!(lower), quote!(dual)));

    let active: Vec<_> = fields.fields.iter().filter(|f| f.role == Role::Active).collect();
    let counted: Vec<_> = active.iter().map(|f| &f.member).collect();
    let numbers = |of_tangent: bool| {
        let bounds = active.iter().map(|f| -> WherePredicate {
            let ty = &f.ty;
            match of_tangent {
                true => parse_quote!(<#ty as __pb::Value>::Tangent: __pb::Numbers<#number>),
                false => parse_quote!(#ty: __pb::Numbers<#number>),
            }
        });
        let generics = if of_tangent { with(&item.kept, values(fields)) } else { item.generics.clone() };
        let mut generics = with(&generics, bounds);
        generics.params.push(parse_quote!(#number: __pb::Scalar));
        generics
    };
    let types: Vec<_> = active.iter().map(|f| &f.ty).collect();
    let visit = quote! {
        fn visit_runs<__F: FnMut(&mut [#number])>(&mut self, _visitor: &mut __F) {
            #(__pb::Numbers::<#number>::visit_runs(&mut self.#counted, _visitor);)*
        }
    };
    let visit_missing = quote! {
        fn visit_missing<__F: FnMut(&mut [#number])>(_visitor: &mut __F) {
            #(<#types as __pb::Numbers<#number>>::visit_missing(_visitor);)*
        }
    };
    let (of_value, of_tangent) = (numbers(false), numbers(true));
    let (value_parameters, _, value_clause) = of_value.split_for_impl();
    let (tangent_parameters, _, tangent_clause) = of_tangent.split_for_impl();
    let (_, kept, _) = item.kept.split_for_impl();
    // Fields without a direction are no error by themselves: a bound for all lifetimes is asked for where it is needed.
    let directions = active.iter().map(|f| -> WherePredicate {
        let ty = &f.ty;
        parse_quote!(for<'__any> <#ty as __pb::Value>::Tangent: __pb::Direction)
    });
    let direction = with(&with(&item.kept, values(fields)), directions);
    let (direction_parameters, _, direction_clause) = direction.split_for_impl();
    // A struct of floats has none, which one message tells.
    let counterpart = item.generics.type_params().next().map(|_| {
        quote! {
            #[automatically_derived]
            impl #lift_parameters __pb::Lift<#component, #width> for #plain #lift_clause {
                type Dual = #dual;
                fn lift(&self) -> #dual {
                    #name { #(#members: #lifted,)* }
                }
                fn lower(dual: &#dual) -> Self {
                    #name { #(#members: #lowered,)* }
                }
            }

            #[automatically_derived]
            impl #value_parameters __pb::Numbers<#number> for #whole #value_clause {
                #visit
                #visit_missing
            }
        }
    });
    quote! {
        #counterpart

        #[automatically_derived]
        impl #tangent_parameters __pb::Numbers<#number> for #tangent #kept #tangent_clause {
            #visit
        }

        #[automatically_derived]
        impl #direction_parameters __pb::Direction for #tangent #kept #direction_clause {
            fn append_to(&self, _flat: &mut ::std::vec::Vec<f64>) {
                #(__pb::Direction::append_to(&self.#counted, _flat);)*
            }
        }
    }
}
