//! Values made of numbers: the tangent, a struct with the same field names, and its struct of cells.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Generics, Member, WherePredicate, parse_quote};

use super::parse::keep;
use super::{Field, Fields, Item, Role, Style, allow, with};

/// A struct to be generated: that of the gradients of some fields.
struct Record<'a> {
    name: Ident,
    doc: String,
    style: Style,
    parts: Vec<Part>,
    generics: &'a Generics,
}

struct Part {
    member: Member,
    /// The type of its gradient.
    tangent: TokenStream,
    generic: bool,
    /// What comes to it is dropped.
    constant: bool,
}

pub(super) fn expand_struct(item: &Item, fields: &Fields) -> TokenStream {
    let name = item.name;
    let kept = with(&item.kept, values(fields));
    let record = Record {
        name: format_ident!("{name}Tangent"),
        doc: format!("The gradient with respect to a [`{name}`]."),
        style: fields.style,
        parts: fields.fields.iter().map(Part::of).collect(),
        generics: &kept,
    };
    let (declaration, impls) = record.expand(item);
    let value = value(item, &record, values(fields));
    let coordinates = coordinates(item, fields);
    let on_duals = super::dual::expand(item, fields, &record.name);
    let blank = super::blank::of_struct(item, fields);
    let asked = super::by_value::asked(&fields.fields);
    quote! {
        #asked
        #declaration
        const _: () = {
            use ::pullback::__private as __pb;
            #value
            #impls
            #coordinates
            #on_duals
            #blank
        };
    }
}

pub(super) fn expand_enum(item: &Item, variants: &[(Ident, Fields)]) -> TokenStream {
    let name = item.name;
    let bounds = || variants.iter().flat_map(|(_, fields)| values(fields));
    let kept = with(&item.kept, bounds());
    let (mut declarations, mut impls, mut parts) = (TokenStream::new(), TokenStream::new(), Vec::new());
    for (variant, fields) in variants.iter().filter(|(_, fields)| !fields.fields.is_empty()) {
        let kept = with(&keep(item.generics, &fields.fields), values(fields));
        let (_, arguments, _) = kept.split_for_impl();
        let record = Record {
            name: format_ident!("{name}{variant}Tangent"),
            doc: format!("The gradient with respect to the fields of [`{name}::{variant}`]."),
            style: fields.style,
            parts: fields.fields.iter().map(Part::of).collect(),
            generics: &kept,
        };
        let (declaration, inner) = record.expand(item);
        declarations.extend(declaration);
        impls.extend(inner);
        let tangent = &record.name;
        let generic = !kept.params.is_empty();
        parts.push(Part {
            member: Member::Named(variant.clone()),
            tangent: quote!(#tangent #arguments),
            generic,
            constant: false,
        });
    }
    let record = Record {
        name: format_ident!("{name}Tangent"),
        doc: format!("The gradient with respect to a [`{name}`]: zero for the variants that it is not."),
        style: Style::Named,
        parts,
        generics: &kept,
    };
    let (declaration, inner) = record.expand(item);
    let value = value(item, &record, bounds());
    let coordinates = coordinates_of_enum(item, variants);
    let parts = super::parts::of_enum(item, variants, &elements(item, variants), true);
    let asked = super::by_value::asked(variants.iter().flat_map(|(_, fields)| &fields.fields));
    let blank = super::blank::of_enum(item, variants);
    quote! {
        #asked
        #declarations
        #declaration
        const _: () = {
            use ::pullback::__private as __pb;
            #value
            #impls
            #inner
            #coordinates
            #parts
            #blank
        };
    }
}

/// The parameters of the enum, where the gradients of its fields have cells.
fn elements(item: &Item, variants: &[(Ident, Fields)]) -> Generics {
    let fields = variants.iter().flat_map(|(_, fields)| &fields.fields);
    let bounds = fields.filter(|f| f.generic && f.role == Role::Active).map(|f| -> WherePredicate {
        let ty = &f.ty;
        parse_quote!(#ty: __pb::Value<Tangent: __pb::Element> + 'static)
    });
    with(item.generics, bounds)
}

/// Testers see zeros in the place of the variants that a value is not: it has as many numbers as its gradient.
fn coordinates_of_enum(item: &Item, variants: &[(Ident, Fields)]) -> TokenStream {
    let name = item.name;
    let fields = variants.iter().flat_map(|(_, fields)| &fields.fields);
    let bounds = fields.filter(|f| f.generic && f.role == Role::Active).map(|f| -> WherePredicate {
        let ty = &f.ty;
        parse_quote!(#ty: __pb::Coordinates + __pb::Value<Tangent: __pb::Coordinates>)
    });
    let statics = item.kept.type_params().map(|p| -> WherePredicate {
        let name = &p.ident;
        parse_quote!(#name: 'static)
    });
    let generics = with(&with(item.generics, bounds), statics);
    let (parameters, _, clause) = generics.split_for_impl();
    let (_, own, _) = item.generics.split_for_impl();
    let numbered = variants.iter().enumerate().map(|(i, (variant, _))| {
        let i = i as u128;
        quote!(#name::#variant { .. } => __pb::Coordinate::Discrete(#i),)
    });
    let full = || variants.iter().filter(|(_, fields)| !fields.fields.is_empty());
    let missing: Vec<_> = full()
        .map(|(variant, fields)| {
            let tangent = format_ident!("{name}{variant}Tangent");
            let kept = keep(item.generics, &fields.fields);
            let (_, arguments, _) = kept.split_for_impl();
            quote! {
                let mut zero = <#tangent #arguments as __pb::Tangent>::zero();
                __pb::Coordinates::visit(&mut zero, &mut |coordinate| _visitor(coordinate.absent()));
            }
        })
        .collect();
    let visits = full().zip(&missing).map(|((variant, fields), missing)| {
        let active: Vec<_> = fields.fields.iter().filter(|f| f.role == Role::Active).collect();
        let members = active.iter().map(|f| &f.member);
        let names: Vec<_> = (0..active.len()).map(|i| format_ident!("_field_{i}")).collect();
        let visits = active.iter().zip(&names).map(|(f, name)| f.visit(quote!(#name)));
        quote! {
            match self {
                #name::#variant { #(#members: #names,)* .. } => {
                    #(#visits)*
                }
                #[allow(unreachable_patterns)]
                _ => { #missing }
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Coordinates for #name #own #clause {
            fn visit(&mut self, _visitor: &mut dyn FnMut(__pb::Coordinate<'_>)) {
                _visitor(match self { #(#numbered)* });
                #(#visits)*
            }
            fn visit_missing(_visitor: &mut dyn FnMut(__pb::Coordinate<'_>)) {
                #(#missing)*
            }
        }
    }
}

/// The bounds under which a value has a gradient.
pub(super) fn values(fields: &Fields) -> Vec<WherePredicate> {
    let generic = fields.fields.iter().filter(|f| f.generic && f.role == Role::Active);
    generic
        .map(|f| {
            let ty = &f.ty;
            parse_quote!(#ty: ::pullback::__private::Value)
        })
        .collect()
}

/// `impl Value`
fn value(item: &Item, record: &Record, bounds: impl IntoIterator<Item = WherePredicate>) -> TokenStream {
    let (name, tangent) = (item.name, &record.name);
    let statics = item.kept.type_params().map(|p| -> WherePredicate {
        let name = &p.ident;
        parse_quote!(#name: 'static)
    });
    let generics = with(&with(item.generics, bounds), statics);
    let (parameters, _, clause) = generics.split_for_impl();
    let (_, own, _) = item.generics.split_for_impl();
    let (_, arguments, _) = item.kept.split_for_impl();
    // With a lifetime, the bounds are checked where a slice is sorted.
    let sorted: WherePredicate = parse_quote!(
        for<'any> #name #own: ::core::marker::Copy + __pb::Value<Tangent: __pb::Element>
    );
    let sorted = with(&generics, [sorted]).where_clause;
    let output = super::output::of_value(&generics, &quote!(#name #own));
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Value for #name #own #clause {
            type Tangent = #tangent #arguments;
        }
        #output
        #[automatically_derived]
        impl #parameters __pb::SortItem for #name #own #sorted {}
    }
}

/// Testers look at arguments number by number.
fn coordinates(item: &Item, fields: &Fields) -> TokenStream {
    let name = item.name;
    let visited = || fields.fields.iter().filter(|f| f.role == Role::Active);
    let visits = visited().map(|f| {
        let member = &f.member;
        f.visit(quote!(&mut self.#member))
    });
    let types = visited().map(|f| &f.ty);
    let bounds = visited().filter(|f| f.generic).map(|f| -> WherePredicate {
        let ty = &f.ty;
        parse_quote!(#ty: __pb::Coordinates)
    });
    let generics = with(item.generics, bounds);
    let (parameters, _, clause) = generics.split_for_impl();
    let (_, own, _) = item.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Coordinates for #name #own #clause {
            fn visit(&mut self, _visitor: &mut dyn FnMut(__pb::Coordinate<'_>)) {
                #(#visits)*
            }
            fn visit_missing(_visitor: &mut dyn FnMut(__pb::Coordinate<'_>)) {
                #(<#types as __pb::Coordinates>::visit_missing(_visitor);)*
            }
        }
    }
}

impl Part {
    fn of(field: &Field) -> Part {
        let ty = &field.ty;
        let tangent = match field.role {
            Role::Active => quote!(<#ty as ::pullback::__private::Value>::Tangent),
            Role::Constant => quote!(::pullback::__private::Constant<#ty>),
            Role::Inert => quote!(()),
        };
        Part {
            member: field.member.clone(),
            tangent,
            generic: field.generic && field.role == Role::Active,
            constant: field.role == Role::Constant,
        }
    }

    /// The type of its cells.
    fn cells(&self) -> TokenStream {
        let tangent = &self.tangent;
        if self.constant { quote!(#tangent) } else { quote!(<#tangent as __pb::Element>::Cells) }
    }
}

impl Record<'_> {
    /// Predicates on the gradients of generic parts.
    fn bounds(&self, bound: &TokenStream) -> Vec<WherePredicate> {
        let generic = self.parts.iter().filter(|p| p.generic);
        generic
            .map(|part| {
                let tangent = &part.tangent;
                parse_quote!(#tangent: #bound)
            })
            .collect()
    }

    /// The declaration, and what is implemented for the struct.
    fn expand(&self, item: &Item) -> (TokenStream, TokenStream) {
        let Record { name, doc, style, parts, generics } = self;
        let (vis, allow) = (item.vis, allow());
        let (parameters, arguments, clause) = generics.split_for_impl();
        let fields: TokenStream = parts.iter().map(|p| style.declare(&p.member, &p.tangent)).collect();
        let body = style.body(&fields, clause);
        let declared = without_where(generics);
        let declaration = quote! {
            #[doc = #doc]
            #allow
            #[repr(C)]
            #vis struct #name #declared #body
        };

        let members: Vec<_> = parts.iter().map(|p| &p.member).collect();
        let active: Vec<_> = parts.iter().filter(|p| !p.constant).map(|p| &p.member).collect();
        let zeros = parts.iter().map(|p| match p.constant {
            true => quote!(__pb::Constant::new()),
            false => quote!(__pb::Tangent::zero()),
        });
        let debug = with(generics, self.bounds(&quote!(::core::fmt::Debug)));
        let debug_clause = &debug.where_clause;
        let equal = with(generics, self.bounds(&quote!(::core::cmp::PartialEq)));
        let equal_clause = &equal.where_clause;
        let visit = with(generics, self.bounds(&quote!(__pb::Coordinates)));
        let visit_clause = &visit.where_clause;
        let label = name.to_string();
        let debug_fields = members.iter().map(|member| match member {
            Member::Named(name) => {
                let label = name.to_string();
                quote!(.field(#label, &self.#member))
            }
            Member::Unnamed(_) => quote!(.field(&self.#member)),
        });
        let debug_kind = match style {
            Style::Tuple => quote!(debug_tuple),
            _ => quote!(debug_struct),
        };
        let cells = self.cells(vis);
        let output = super::output::of_value(generics, &quote!(#name #arguments));
        let impls = quote! {
            #[automatically_derived]
            impl #parameters ::core::marker::Copy for #name #arguments #clause {}
            #[automatically_derived]
            impl #parameters ::core::clone::Clone for #name #arguments #clause {
                #[inline(always)]
                fn clone(&self) -> Self {
                    *self
                }
            }
            #[automatically_derived]
            impl #parameters ::core::fmt::Debug for #name #arguments #debug_clause {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.#debug_kind(#label) #(#debug_fields)* .finish()
                }
            }
            #[automatically_derived]
            impl #parameters ::core::cmp::PartialEq for #name #arguments #equal_clause {
                fn eq(&self, _other: &Self) -> bool {
                    true #(&& self.#members == _other.#members)*
                }
            }
            #[automatically_derived]
            impl #parameters ::core::default::Default for #name #arguments #clause {
                #[inline(always)]
                fn default() -> Self {
                    __pb::Tangent::zero()
                }
            }
            #[automatically_derived]
            impl #parameters __pb::Tangent for #name #arguments #clause {
                #[inline(always)]
                fn zero() -> Self {
                    #name { #(#members: #zeros,)* }
                }
                #[inline(always)]
                fn accumulate(&mut self, _other: Self) {
                    #(__pb::Tangent::accumulate(&mut self.#active, _other.#active);)*
                }
            }
            #[automatically_derived]
            impl #parameters __pb::Value for #name #arguments #clause {
                type Tangent = Self;
            }
            #output
            #[automatically_derived]
            impl #parameters __pb::Coordinates for #name #arguments #visit_clause {
                fn visit(&mut self, _visitor: &mut dyn FnMut(__pb::Coordinate<'_>)) {
                    #(__pb::Coordinates::visit(&mut self.#active, _visitor);)*
                }
            }
            #cells
        };
        (declaration, impls)
    }

    /// The struct of cells.
    fn cells(&self, vis: &syn::Visibility) -> TokenStream {
        let Record { name, style, parts, generics, .. } = self;
        let allow = allow();
        let cells = format_ident!("{name}Cells");
        let elements = with(generics, self.bounds(&quote!(__pb::Element)));
        let (parameters, arguments, clause) = elements.split_for_impl();
        let fields: TokenStream = parts.iter().map(|p| style.declare(&p.member, &p.cells())).collect();
        let body = style.body(&fields, clause);
        let declared = without_where(generics);
        let members: Vec<_> = parts.iter().map(|p| &p.member).collect();
        let active: Vec<_> = parts.iter().filter(|p| !p.constant).map(|p| &p.member).collect();
        let tangents: Vec<_> = parts.iter().filter(|p| !p.constant).map(|p| &p.tangent).collect();
        let part = |method: TokenStream| -> Vec<TokenStream> {
            let parts = parts.iter().map(|p| match (p.constant, &p.member) {
                (true, _) => quote!(__pb::Constant::new()),
                (false, member) => quote!(__pb::Accumulate::#method(&self.#member)),
            });
            parts.collect()
        };
        let (read, take) = (part(quote!(read)), part(quote!(take)));
        quote! {
            #[doc(hidden)]
            #allow
            #[repr(C)]
            #vis struct #cells #declared #body
            #[automatically_derived]
            impl #parameters __pb::OfStruct for &#cells #arguments #clause {}
            #[automatically_derived]
            impl #parameters __pb::Accumulate for #cells #arguments #clause {
                type Tangent = #name #arguments;
                #[inline(always)]
                fn accumulate(&self, _gradient: Self::Tangent) {
                    #(__pb::Accumulate::accumulate(&self.#active, _gradient.#active);)*
                }
                #[inline(always)]
                fn read(&self) -> Self::Tangent {
                    #name { #(#members: #read,)* }
                }
                #[inline(always)]
                fn take(&self) -> Self::Tangent {
                    #name { #(#members: #take,)* }
                }
            }
            // SAFETY: both structs are `repr(C)` with the same fields in the same order, each of which has the layout of its
            // cells by the contract of this trait; what is constant has size zero and the same type in both.
            #[automatically_derived]
            unsafe impl #parameters __pb::Element for #name #arguments #clause {
                type Cells = #cells #arguments;
                const LAYOUT: () = { #(let () = <#tangents as __pb::Element>::LAYOUT;)* };
            }
        }
    }
}

/// `<T: Bound>`, the predicates left out.
fn without_where(generics: &Generics) -> TokenStream {
    let (parameters, _, _) = generics.split_for_impl();
    quote!(#parameters)
}
