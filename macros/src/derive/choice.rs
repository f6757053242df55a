//! Enums that own memory. The gradient has a struct for each variant with fields, as that of a plain enum; what a value is not is empty
//! there, or zero. The shadow likewise.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Generics, Member, WherePredicate, parse_quote};

use super::container::{bounds, differentiable};
use super::nested::{Declaration, declaration};
use super::parse::keep;
use super::storage::{Bodies, Part, traits};
use super::{Field, Fields, Item, Role, allow, elements, with};

/// A variant that has fields.
struct Variant<'a> {
    name: &'a Ident,
    fields: &'a Fields,
    /// The parameters of the enum that these mention, with their bounds.
    kept: Generics,
    /// The names of the structs of the gradients and of the shadows of its fields.
    gradient: Ident,
    shadow: Ident,
    /// The type parameters of that, one for each field.
    views: Vec<Ident>,
}

pub(super) fn expand(item: &Item, all: &[(Ident, Fields)]) -> TokenStream {
    let Item { name, vis, .. } = item;
    let (gradient, shadow) = (format_ident!("{name}Gradient"), format_ident!("{name}Shadow"));
    let with_fields = all.iter().filter(|(_, fields)| !fields.fields.is_empty());
    let variants: Vec<_> = with_fields.map(|(variant, fields)| Variant::of(item, variant, fields)).collect();
    let list = || variants.iter().flat_map(|variant| &variant.fields.fields);
    let kept = with(&item.kept, bounds(list(), &quote!(::pullback::__private::Differentiable)));
    let own = differentiable(item, list());
    let structs = structs(item, &variants);

    let (allow, (parameters, arguments, clause)) = (allow(), kept.split_for_impl());
    let names: Vec<_> = variants.iter().map(|variant| variant.name).collect();
    let gradients: Vec<_> = variants.iter().map(Variant::gradient_type).collect();
    let Declaration { parameters: views, types, arguments: shadow_types } =
        declaration(&shadow, &list().collect::<Vec<_>>());
    let mut types = types.into_iter();
    let shadows_of_variants: Vec<_> = variants
        .iter()
        .map(|Variant { shadow, fields, .. }| {
            let types = types.by_ref().take(fields.fields.len());
            quote!(#shadow<#(#types),*>)
        })
        .collect();

    // The method of each active field, called for the field `of` of some struct of gradients or shadows.
    let each = |part: &dyn Fn(&Ident, &Field) -> TokenStream| -> TokenStream {
        variants.iter().flat_map(|v| v.active().map(|f| part(v.name, f))).collect()
    };
    // The same for those of the variant that `self` is, with the names that `Variant::pattern` gives; `zero` is what it starts from.
    let present = |zero: TokenStream, part: &dyn Fn(&Ident, &Field, &TokenStream) -> TokenStream| {
        let arms = variants.iter().map(|v| {
            let (pattern, values) = (v.pattern(name, "field"), v.values("field"));
            let parts = v.active().zip(&values).map(|(f, value)| part(v.name, f, value));
            quote!(#pattern => { #zero #(#parts)* })
        });
        quote!(match self { #(#arms)* #[allow(unreachable_patterns)] _ => { #zero } })
    };
    // What stands in the struct of each variant, whatever `self` is.
    let filled =
        |of: &dyn Fn(&Variant) -> Ident, part: &dyn Fn(&Ident, &Field) -> TokenStream| -> TokenStream {
            let of_variant = |v: &Variant| {
                let (name, of, fields) = (v.name, of(v), v.filled(|f| part(v.name, f)));
                quote!(#name: #of { #fields },)
            };
            variants.iter().map(of_variant).collect()
        };

    let empty = filled(
        &|v| v.gradient.clone(),
        &|_, Field { ty, .. }| quote!(<#ty as __pb::Differentiable>::empty()),
    );
    let prepare: TokenStream = variants
        .iter()
        .map(|v| {
            let (variant, pattern, values) = (v.name, v.pattern(name, "field"), v.values("field"));
            let (members, types) = v.members_and_types();
            quote! {
                match self {
                    #pattern => {
                        #(<#types as __pb::Differentiable>::prepare(#values, &mut gradient.#variant.#members);)*
                    }
                    #[allow(unreachable_patterns)]
                    _ => {
                        // Emptied, it keeps its memory.
                        #(<#types as __pb::Differentiable>::copy_gradient(
                            &mut gradient.#variant.#members,
                            <#types as __pb::Differentiable>::view(&<#types as __pb::Differentiable>::empty()),
                        );)*
                    }
                }
            }
        })
        .collect();
    let shadows = filled(
        &|v| v.shadow.clone(),
        &|variant, Field { member, ty, .. }| quote!(<#ty as __pb::Differentiable>::shadow(&mut gradient.#variant.#member)),
    );
    let shortened = filled(
        &|v| v.shadow.clone(),
        &|variant, Field { member, ty, .. }| quote!(<#ty as __pb::Differentiable>::shortened(shadow.#variant.#member)),
    );
    let aligned: TokenStream = variants
        .iter()
        .map(|v| {
            let (variant, of, pattern) = (v.name, &v.shadow, v.pattern(name, "field"));
            let mut values = v.values("field").into_iter();
            let fields = v.filled(|Field { member, ty, .. }| {
                let value = values.next().expect("one for each active field");
                quote!(<#ty as __pb::Differentiable>::align(#value, shadow.#variant.#member))
            });
            quote! {
                #variant: match self {
                    #pattern => #of { #fields },
                    #[allow(unreachable_patterns)]
                    _ => shadow.#variant,
                },
            }
        })
        .collect();
    let fit = present(
        quote!(),
        &|variant, Field { member, ty, .. }, value| quote!(<#ty as __pb::Differentiable>::fit(#value, &mut gradient.#variant.#member, _to);),
    );
    let largest = present(
        quote!(0),
        &|_, Field { ty, .. }, value| quote!(.max(<#ty as __pb::Differentiable>::largest(#value))),
    );
    let need = present(
        quote!(0),
        &|_, Field { ty, .. }, value| quote!(+ <#ty as __pb::Differentiable>::gradient_need(#value)?),
    );
    // `method` of each pair of fields, where both are the same variant; the other one is referred to by `behind`.
    let pairs = |method: TokenStream,
                 behind: &dyn Fn(&Field, &TokenStream) -> TokenStream,
                 join: &dyn Fn(TokenStream) -> TokenStream|
     -> TokenStream {
        let arms = all.iter().map(|(variant, fields)| {
            let v = Variant::of(item, variant, fields);
            let (one, other) = (v.pattern(name, "field"), v.pattern(name, "other"));
            let (ones, others) = (v.values("field"), v.values_by("other", behind));
            let types = v.members_and_types().1;
            let both = join(quote!(#(<#types as __pb::Differentiable>::#method(#ones, #others)),*));
            quote!((#one, #other) => #both)
        });
        arms.collect()
    };
    let makes_way =
        pairs(quote!(makes_way), &Field::behind, &|calls| quote!([true, #calls].iter().all(|way| *way),));
    let reserve = pairs(quote!(reserve_as), &Field::behind_mut, &|calls| {
        quote!({
            let _: &[()] = &[#calls];
        })
    });
    let taken = each(
        &|variant, Field { member, ty, .. }| quote!(<#ty as __pb::Differentiable>::take_shadow(shadow.#variant.#member, &mut gradient.#variant.#member);),
    );
    let size = each(
        &|variant, Field { member, ty, .. }| quote!(+ <#ty as __pb::Differentiable>::gradient_size(&_gradient.#variant.#member)),
    );
    let from = |method: TokenStream, other: TokenStream| {
        each(&|variant, Field { member, ty, .. }| {
            quote!(<#ty as __pb::Differentiable>::#method(
                &mut gradient.#variant.#member,
                <#ty as __pb::Differentiable>::view(&#other.#variant.#member),
            );)
        })
    };
    let (seed, copy) = (from(quote!(seed), quote!(seed)), from(quote!(copy_gradient), quote!(_other)));

    let differentiable = Bodies {
        shadow: quote!(#shadow #shadow_types),
        gradient: quote!(#gradient #arguments),
        empty: quote!(#gradient { #empty }),
        prepare,
        shadows: quote!(#shadow { #shadows }),
        align: quote!(#shadow { #aligned }),
        shortened: quote!(#shadow { #shortened }),
        fit,
        makes_way: quote!(match (self, _new) { #makes_way #[allow(unreachable_patterns)] _ => false }),
        largest,
        taken,
        reserve: quote!(match (self, _copy) { #reserve #[allow(unreachable_patterns)] _ => {} }),
        size: quote!(0 #size),
        need,
        seed,
        copy,
        nested: TokenStream::new(),
    }
    .differentiable(item, &own);
    let of_variants = |variant: &Variant| {
        let generic = if variant.kept.params.is_empty() { vec![] } else { vec![variant.gradient_type()] };
        Part { member: Member::Named(variant.name.clone()), generic, active: true }
    };
    let of_whole = traits(&gradient, &kept, &variants.iter().map(of_variants).collect::<Vec<_>>());
    let exchange = exchange(item, &variants, &own);
    let elements = elements::of(item, list().collect::<Vec<_>>());
    let coordinates = coordinates(item, all, &own);
    let never = super::by_value::never(item);
    let output = super::output::of_choice(item, all, &own);
    let parts = super::parts::of_enum(item, all, &own, false);
    let declared = quote!(#parameters);
    let doc = format!("The gradient with respect to a [`{name}`]: empty for the variants that it is not.");
    let blank = super::blank::of_enum(item, all);
    quote! {
        #[doc = #doc]
        #allow
        #vis struct #gradient #declared #clause {
            #(pub #names: #gradients,)*
        }
        #structs

        const _: () = {
            use ::pullback::__private as __pb;

            #blank

            #[doc(hidden)]
            #allow
            #[derive(Clone, Copy)]
            #vis struct #shadow #views {
                #(pub #names: #shadows_of_variants,)*
            }
            #[automatically_derived]
            impl #views __pb::OfStruct for #shadow #views {}

            #differentiable
            #of_whole
            #exchange
            #elements
            #coordinates
            #output
            #parts
            #never
        };
    }
}

impl<'a> Variant<'a> {
    fn of(item: &Item, variant: &'a Ident, fields: &'a Fields) -> Self {
        let name = item.name;
        // One that holds others of the enum itself holds all that these do.
        let nested = fields.fields.iter().any(|f| f.nest.is_some());
        let mentioned = if nested { item.form.fields() } else { fields.fields.iter().collect() };
        let of_fields = bounds(mentioned, &quote!(::pullback::__private::Differentiable));
        Variant {
            name: variant,
            fields,
            kept: with(&keep(item.generics, &fields.fields), of_fields),
            gradient: format_ident!("{name}{variant}Gradient"),
            shadow: format_ident!("{name}{variant}Shadow"),
            views: (0..fields.fields.len()).map(|i| format_ident!("V{i}")).collect(),
        }
    }

    /// The type of the gradient of its fields.
    fn gradient_type(&self) -> TokenStream {
        let (name, (_, arguments, _)) = (&self.gradient, self.kept.split_for_impl());
        quote!(#name #arguments)
    }

    fn active(&self) -> impl Iterator<Item = &'a Field> {
        self.fields.fields.iter().filter(|f| f.role == Role::Active)
    }

    fn members_and_types(&self) -> (Vec<&'a Member>, Vec<&'a syn::Type>) {
        self.active().map(|f| (&f.member, &f.ty)).unzip()
    }

    /// The pattern that matches it and binds references to its active fields, by names that begin with `prefix`.
    fn pattern(&self, of: &Ident, prefix: &str) -> TokenStream {
        let (variant, members) = (self.name, self.active().map(|f| &f.member));
        let names = (0..self.active().count()).map(|i| format_ident!("{prefix}_{i}"));
        quote!(#of::#variant { #(#members: #names,)* .. })
    }

    /// What these refer to.
    fn values(&self, prefix: &str) -> Vec<TokenStream> {
        self.values_by(prefix, &Field::behind)
    }

    /// The same, by `behind`.
    fn values_by(
        &self,
        prefix: &str,
        behind: &dyn Fn(&Field, &TokenStream) -> TokenStream,
    ) -> Vec<TokenStream> {
        let names = self.active().enumerate().map(|(i, f)| (format_ident!("{prefix}_{i}"), f));
        names.map(|(name, f)| behind(f, &quote!(#name))).collect()
    }

    /// The fields of a literal of one of its structs, in which what is not active is a placeholder.
    fn filled(&self, mut active: impl FnMut(&Field) -> TokenStream) -> TokenStream {
        let field = |f: &Field| {
            let member = &f.member;
            let value = match f.role {
                Role::Active => active(f),
                Role::Constant => quote!(__pb::Constant::new()),
                Role::Inert => quote!(()),
            };
            quote!(#member: #value,)
        };
        self.fields.fields.iter().map(field).collect()
    }
}

/// The structs of the gradients and of the shadows of each variant.
fn structs(item: &Item, variants: &[Variant]) -> TokenStream {
    let (vis, allow) = (item.vis, allow());
    let of_variant = |v: &Variant| {
        let Variant { name, fields, kept, gradient, shadow, views, .. } = v;
        let (parameters, _, clause) = kept.split_for_impl();
        let declared = quote!(#parameters);
        let style = fields.style;
        let list = || fields.fields.iter();
        let gradients: TokenStream = list().map(|f| style.declare(&f.member, &f.gradient())).collect();
        let shadows: TokenStream =
            list().zip(views).map(|(f, view)| style.declare(&f.member, &quote!(#view))).collect();
        let (of_gradient, of_shadow) = (style.body(&gradients, clause), style.body(&shadows, None));
        let traits = traits(gradient, kept, &list().map(|f| Part::of(item, f)).collect::<Vec<_>>());
        let doc = format!("The gradient with respect to the fields of [`{}::{name}`].", item.name);
        quote! {
            #[doc = #doc]
            #allow
            #vis struct #gradient #declared #of_gradient

            #[doc(hidden)]
            #allow
            #[derive(Clone, Copy)]
            #vis struct #shadow<#(#views),*> #of_shadow

            const _: () = {
                use ::pullback::__private as __pb;
                #traits
            };
        }
    };
    variants.iter().map(of_variant).collect()
}

/// What makes the enum one that changes places behind references.
fn exchange(item: &Item, variants: &[Variant], own: &Generics) -> TokenStream {
    let list = variants.iter().flat_map(|variant| &variant.fields.fields);
    let own = with(own, bounds(list, &quote!(__pb::Exchange)));
    let (name, (parameters, _, clause)) = (item.name, own.split_for_impl());
    let (_, arguments, _) = item.generics.split_for_impl();
    let (mut fits, mut exchanged, mut cleared) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
    for v in variants {
        let (variant, pattern, values) = (v.name, v.pattern(name, "field"), v.values("field"));
        let (members, types) = v.members_and_types();
        fits.extend(quote!(#pattern => {
            true #(&& <#types as __pb::Exchange>::fits(#values, shadow.#variant.#members))*
        }));
        exchanged.extend(
            quote!(#(<#types as __pb::Exchange>::exchange(one.#variant.#members, other.#variant.#members);)*),
        );
        cleared.extend(quote!(#(<#types as __pb::Exchange>::clear(shadow.#variant.#members);)*));
    }
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Exchange for #name #arguments #clause {
            fn fits(&self, shadow: Self::Shadow<'_>) -> bool {
                match self { #fits #[allow(unreachable_patterns)] _ => true }
            }
            fn exchange(one: Self::Shadow<'_>, other: Self::Shadow<'_>) {
                #exchanged
            }
            fn clear(shadow: Self::Shadow<'_>) {
                #cleared
            }
        }
    }
}

/// Testers see in the place of the variants that a value is not what its gradient has there.
fn coordinates(item: &Item, all: &[(Ident, Fields)], own: &Generics) -> TokenStream {
    let name = item.name;
    let fields = || all.iter().flat_map(|(_, fields)| &fields.fields);
    let of_gradients = fields().filter(|f| f.generic && f.role == Role::Active).map(|f| -> WherePredicate {
        let gradient = f.gradient();
        parse_quote!(#gradient: __pb::Coordinates)
    });
    let own = with(&with(own, bounds(fields(), &quote!(__pb::Coordinates))), of_gradients);
    let (parameters, _, clause) = own.split_for_impl();
    let (_, arguments, _) = item.generics.split_for_impl();
    let numbered = all.iter().enumerate().map(|(i, (variant, _))| {
        let i = i as u128;
        quote!(#name::#variant { .. } => __pb::Coordinate::Discrete(#i),)
    });
    let with_fields = all.iter().filter(|(_, fields)| !fields.fields.is_empty());
    let visits = with_fields.map(|(variant, fields)| {
        let v = Variant::of(item, variant, fields);
        let (pattern, types) = (v.pattern(name, "field"), v.members_and_types().1);
        let visits = v.active().enumerate().map(|(i, f)| {
            let name = format_ident!("field_{i}");
            f.visit(if f.perhaps { quote!(#name) } else { f.behind_mut(&quote!(#name)) })
        });
        quote! {
            match self {
                #pattern => {
                    #(#visits)*
                }
                #[allow(unreachable_patterns)]
                _ => {
                    #(__pb::Coordinates::visit(
                        &mut <#types as __pb::Differentiable>::empty(),
                        &mut |coordinate| _visitor(coordinate.absent()),
                    );)*
                }
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #parameters __pb::Coordinates for #name #arguments #clause {
            fn visit(&mut self, _visitor: &mut dyn FnMut(__pb::Coordinate<'_>)) {
                _visitor(match self { #(#numbered)* });
                #(#visits)*
            }
        }
    }
}
