//! `#[differentiable]` on a trait, and on its `impl`s.
//!
//! Beside the trait `Model` there is a type `Model_energy<T>` for the method `energy`: the function that this method is for the
//! type `T`. Its rule is what `T::energy_rule()` returns, a hidden function of the trait that each `impl` provides, and the trait
//! itself for a method with a body.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{
    FnArg, GenericParam, Ident, ImplItem, ImplItemFn, ItemImpl, ItemTrait, TraitItem, TraitItemFn, Type,
};

use crate::annotation::Strip;
use crate::calls::sibling;
use crate::differentiable::{allowed, derive, imports};
use crate::errors::Errors;
use crate::generics::with_parts;
use crate::impls::{self, is_constant, joined, not_lifetimes};
use crate::onto;
use crate::overloads::Resolve;
use crate::ownership::Owners;
use crate::passing::Passing;
use crate::signature::{self, IMPLEMENTOR, Signature};
use crate::spaces;

/// The hidden function that returns the rule of `method`.
fn rule_of(method: &Ident) -> Ident {
    format_ident!("{}_rule", method.unraw(), span = method.span())
}

/// The hidden function that an `impl` with `#[constant]` on `method` provides: the trait only has it where the method is
/// `#[constant]` there as well, so that the rule of a default does not stand for another body.
fn constancy_of(method: &Ident) -> Ident {
    format_ident!("{}_is_constant_here_but_not_in_the_trait", method.unraw(), span = method.span())
}

/// The hidden function by which an `impl` tells that it is marked: the rules of its methods are its own.
fn mark() -> Ident {
    Ident::new("mark_the_trait_and_its_impls_differentiable", Span::call_site())
}

/// What a hidden function of a trait returns.
fn returned(signature: &Signature) -> TokenStream {
    let (modes, output) = (signature.modes(), &signature.output);
    quote! {
        impl ::pullback::__private::Rule<
            Function: ::pullback::__private::Function<Parameters = #modes, Output = #output>,
        > + 'static
    }
}

/// The trait, if it is one of the standard library, which has no rules, and what to do instead.
fn of_std(block: &ItemImpl) -> Option<(&Ident, &'static str)> {
    const ASSIGNS: &str = "`a += b` is taken to be `a = a + b`: mark the `impl` of the operator itself, and leave this one \
         as it is, or write it as `*self = *self + other`";
    const REFERS: &str = "what hands out references to parts has no rule: leave this `impl` as it is, and in differentiable code read \
         and write the fields, or call a method such as `fn get(&self, i: usize) -> &f64`";
    const OTHER: &str = "a method of this trait has no rule: write an associated function or a method, in an `impl` with `#[differentiable]`, \
         and call that";
    let name = &block.trait_.as_ref()?.0.segments.last()?.ident;
    let method = block.items.iter().find_map(|item| match item {
        ImplItem::Fn(method) => Some(method.sig.ident.to_string()),
        _ => None,
    })?;
    let why = match (name.to_string().as_str(), method.as_str()) {
        ("AddAssign", "add_assign")
        | ("SubAssign", "sub_assign")
        | ("MulAssign", "mul_assign")
        | ("DivAssign", "div_assign")
        | ("RemAssign", "rem_assign") => ASSIGNS,
        ("Deref", "deref") | ("DerefMut", "deref_mut") | ("AsRef", "as_ref") | ("AsMut", "as_mut") => REFERS,
        ("TryFrom", "try_from")
        | ("Into", "into")
        | ("Default", "default")
        | ("FromIterator", "from_iter")
        | ("Iterator", "next") => OTHER,
        _ => return None,
    };
    Some((name, why))
}

pub(crate) fn plain(mut item: ItemTrait) -> ItemTrait {
    for item in &mut item.items {
        if let TraitItem::Fn(method) = item {
            method.attrs.retain(|a| !is_constant(a));
            signature::strip(&mut method.sig);
            method.default.iter_mut().for_each(|body| Strip.visit_block_mut(body));
        }
    }
    item
}

/// A trait: each method that is not `#[constant]` has a rule.
pub(crate) fn expand_trait(item: ItemTrait) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let mut original = plain(item.clone());
    let (mark, mut derived) = (mark(), TokenStream::new());
    original.supertraits.extend(spaces::rules_of_trait(&item.supertraits));
    original.items.push(syn::parse_quote! {
        #[doc(hidden)]
        fn #mark()
        where
            Self: ::core::marker::Sized;
    });
    for method in &item.items {
        let TraitItem::Fn(method) = method else { continue };
        if method.attrs.iter().any(is_constant) {
            let constancy = constancy_of(&method.sig.ident);
            original.items.push(syn::parse_quote! {
                #[doc(hidden)]
                fn #constancy()
                where
                    Self: ::core::marker::Sized,
                {
                }
            });
            continue;
        }
        match expand_method(&item, method) {
            Ok((items, tokens)) => {
                original.items.extend(items);
                derived.extend(tokens);
            }
            Err(error) => errors.add(error),
        }
    }
    let refused = errors.into_compile_error();
    Ok(quote! {
        #[allow(clippy::needless_range_loop)]
        #original
        #derived
        #refused
    })
}

/// What belongs into the trait for one of its methods, and what stands beside it.
fn expand_method(item: &ItemTrait, method: &TraitItemFn) -> syn::Result<([TraitItem; 2], TokenStream)> {
    let mut errors = Errors::default();
    let (name, this) = (&method.sig.ident, Ident::new(IMPLEMENTOR, Span::call_site()));
    let of_types = item.generics.split_for_impl().1;
    let (own, of) = (&item.ident, quote!(#of_types));
    let path: syn::Path = syn::parse_quote!(#own #of);
    let mut generics = joined(&item.generics, &method.sig.generics);
    generics.params.insert(0, syn::parse_quote!(#this: #path));
    let owner: Type = syn::parse_quote!(#this);
    let (mut sig, mut body) = (method.sig.clone(), None);
    if let Some(default) = &method.default {
        let (named, default) = impls::named(&sig, default);
        (sig, body) = (named, Some(default));
    }
    let mut signature =
        Signature::parse_in(&item.vis, &mut sig, &generics, (Some(&owner), Owners::default()), &mut errors);
    signature.name = format_ident!("{}_{}", own, name.unraw(), span = name.span());
    signature.of_trait = Some(path.clone());
    signature.refuse_callables(&mut errors);

    let (ty, (declared, _, clause)) = (signature.ty(), signature.generics.split());
    let default = match body {
        None => None,
        Some(mut body) => {
            Resolve { owner: &owner, output: None }.visit_block_mut(&mut body);
            let rule = derive(&signature, &body, &mut errors)?;
            Some(quote! {
                impl #declared #ty #clause {
                    #[doc(hidden)]
                    pub fn default_rule() -> impl __pb::Rule<Function = Self> + 'static {
                        #rule
                    }
                }
            })
        }
    };
    errors.finish()?;

    let (rule, label) = (rule_of(name), signature.label());
    let doc = format!("The rule of `{label}`, as the type that has the method provides it.");
    let own_names = names_of(&sig.generics);
    let turbofish = if own_names.is_empty() { quote!() } else { quote!(::<#(#own_names),*>) };
    let (parts, driver) = (signature.function(), signature.driver());
    let (declaration, allowed, imports) = (signature.item(), allowed(), imports());
    let tokens = quote! {
        #declaration
        #allowed
        const _: () = {
            #imports

            #parts

            impl #declared __pb::HasRule for #ty #clause {
                fn make_rule() -> impl __pb::Rule<Function = Self> + 'static {
                    __pb::Dispatched::new(<#this as #path>::#rule #turbofish())
                }
            }

            impl #declared #ty #clause {
                #[doc = #doc]
                pub fn rule() -> impl __pb::Rule<Function = #ty> {
                    <Self as __pb::HasRule>::make_rule()
                }
            }

            #default

            #driver
        };
    };
    Ok((hidden(&signature, method), tokens))
}

/// The hidden functions of the trait for a method: its rule, and what brings the arguments of a call together.
fn hidden(signature: &Signature, method: &TraitItemFn) -> [TraitItem; 2] {
    let name = &method.sig.ident;
    let (rule, call, returned) = (rule_of(name), sibling(name), returned(signature));
    let own: Vec<_> = not_lifetimes(&method.sig.generics).collect();
    let has_receiver = matches!(method.sig.inputs.first(), Some(FnArg::Receiver(_)));
    let lent = signature.lent(usize::from(has_receiver));
    let names = &signature.names()[usize::from(has_receiver)..];
    let (receiver, this, mode) = match signature.parameters.first().filter(|_| has_receiver) {
        None => (quote!(), quote!(), quote!(Reads)),
        Some(p) => match p.passing {
            Passing::Value => (quote!(self,), quote!(self,), quote!(Reads)),
            Passing::Shared => (quote!(&'a self,), quote!(self,), quote!(Reads)),
            Passing::Unique => (quote!(&'a mut self,), quote!(self,), quote!(WritesToReceiver)),
        },
    };
    let (ty, clause) = (signature.ty(), signature.generics.declaration().1);
    let predicates = clause.iter().flat_map(|clause| &clause.predicates);
    let predicates = quote!(where Self: ::core::marker::Sized, #(#predicates,)*);
    let body = match &method.default {
        Some(_) => quote!({ <#ty>::default_rule() }),
        None => quote!(;),
    };
    let doc = format!("The rule of `{}`, for code that `#[differentiable]` writes.", signature.label());
    let items = [
        quote! {
            #[doc = #doc]
            #[doc(hidden)]
            #[allow(private_interfaces)]
            fn #rule<#(#own),*>() -> #returned #predicates #body
        },
        quote! {
            /// The arguments of a call, for code that `#[differentiable]` writes.
            #[doc(hidden)]
            fn #call<'a, #(#own),*>(
                #receiver #(#lent),*
            ) -> ::pullback::__private::Call<'a, #ty, ::pullback::__private::#mode> #predicates {
                ::pullback::__private::Call::new((#this #(#names,)*))
            }
        },
    ];
    items.map(|tokens| syn::parse2(as_self(tokens)).expect("an item of a trait"))
}

/// Within the trait the type that implements it is `Self`.
fn as_self(tokens: TokenStream) -> TokenStream {
    let tree = |token| match token {
        proc_macro2::TokenTree::Ident(name) if name == IMPLEMENTOR => {
            proc_macro2::TokenTree::Ident(Ident::new("Self", name.span()))
        }
        proc_macro2::TokenTree::Group(group) => {
            let mut inner = proc_macro2::Group::new(group.delimiter(), as_self(group.stream()));
            inner.set_span(group.span());
            proc_macro2::TokenTree::Group(inner)
        }
        token => token,
    };
    tokens.into_iter().map(tree).collect()
}

fn names_of(generics: &syn::Generics) -> Vec<&Ident> {
    let names = generics.params.iter().filter_map(|p| match p {
        GenericParam::Type(p) => Some(&p.ident),
        GenericParam::Const(p) => Some(&p.ident),
        GenericParam::Lifetime(_) => None,
    });
    names.collect()
}

const LIFETIMES: &str = "the `impl` of a trait for a type with lifetimes is not differentiable yet: write methods of the type itself, or free functions";

/// The lifetimes `'_` in a type.
struct Elided<'t>(Vec<&'t syn::Lifetime>);

impl<'t> Visit<'t> for Elided<'t> {
    fn visit_lifetime(&mut self, lifetime: &'t syn::Lifetime) {
        if lifetime.ident == "_" {
            self.0.push(lifetime);
        }
    }
}

/// The `impl` of such a trait.
pub(crate) fn expand_impl(mut block: ItemImpl) -> syn::Result<TokenStream> {
    if let Some(plain) = onto::evident(&block) {
        return Ok(plain);
    }
    // The trait asks no more of the method than that its type has a gradient.
    block.generics = spaces::with_rules(&with_parts(&block.generics, [&*block.self_ty], &block));
    let mut errors = Errors::default();
    if let Some((name, instead)) = of_std(&block) {
        errors.push(name, instead);
    }
    for param in &block.generics.params {
        if let GenericParam::Lifetime(lifetime) = param {
            errors.push(lifetime, LIFETIMES);
        }
    }
    let mut elided = Elided(Vec::new());
    elided.visit_type(&block.self_ty);
    elided.0.iter().for_each(|lifetime| errors.push(lifetime, LIFETIMES));
    if let syn::Type::Reference(reference) = &*block.self_ty
        && reference.lifetime.is_none()
    {
        errors.push(reference, LIFETIMES);
    }
    errors.finish()?;
    let mut original = block.clone();
    let marks = impls::strip(&mut original);
    let owners = Owners::of_impl(&block);
    let (mark, mut derived) = (mark(), TokenStream::new());
    original.items.push(syn::parse_quote!(
        fn #mark() {}
    ));
    for (item, mark) in block.items.iter().zip(marks) {
        let ImplItem::Fn(method) = item else { continue };
        if mark.is_none() {
            let (constancy, span) = (constancy_of(&method.sig.ident), method.sig.ident.span());
            original.items.push(syn::parse_quote_spanned!(span=> fn #constancy() {}));
            continue;
        }
        match expand_method_of_impl(&block, method, &owners) {
            Ok((rule, tokens)) => {
                original.items.push(rule);
                derived.extend(tokens);
            }
            Err(error) => errors.add(error),
        }
    }
    let refused = errors.into_compile_error();
    Ok(quote! {
        // Indices are what the language offers for now.
        #[allow(clippy::needless_range_loop)]
        #original
        #derived
        #refused
    })
}

fn expand_method_of_impl(
    block: &ItemImpl,
    method: &ImplItemFn,
    owners: &Owners,
) -> syn::Result<(ImplItem, TokenStream)> {
    let mut errors = Errors::default();
    let owner = &*block.self_ty;
    let (mut sig, mut body) = impls::named(&method.sig, &method.block);
    Resolve { owner, output: None }.visit_block_mut(&mut body);
    // The type may be private; what others use is the function beside the trait.
    let vis = syn::Visibility::Inherited;
    let generics = joined(&block.generics, &sig.generics);
    let mut signature =
        Signature::parse_in(&vis, &mut sig, &generics, (Some(owner), owners.clone()), &mut errors);
    signature.of_trait = block.trait_.as_ref().map(|(path, _)| path.clone());
    signature.refuse_callables(&mut errors);
    errors.finish()?;
    let rule = derive(&signature, &body, &mut errors)?;

    let (ty, (declared, _, clause)) = (signature.ty(), signature.generics.split());
    let (item, function, driver) = (signature.item(), signature.function(), signature.driver());
    let (allowed, imports) = (allowed(), imports());
    let doc = format!("The rule of `{}`, as derived from its source.", signature.label());
    let (name, returned) = (rule_of(&method.sig.ident), returned(&signature));
    let own: Vec<_> = not_lifetimes(&sig.generics).collect();
    let own_clause = own_clause(&signature, &sig.generics);
    let provided = syn::parse_quote! {
        fn #name<#(#own),*>() -> #returned #own_clause {
            <#ty as ::pullback::__private::HasRule>::make_rule()
        }
    };
    let tokens = quote! {
        #item
        #allowed
        const _: () = {
            #imports

            #function

            impl #declared __pb::HasRule for #ty #clause {
                fn make_rule() -> impl __pb::Rule<Function = Self> + 'static {
                    #rule
                }
            }

            impl #declared #ty #clause {
                #[doc = #doc]
                pub fn rule() -> impl __pb::Rule<Function = #ty> {
                    <Self as __pb::HasRule>::make_rule()
                }
            }

            #driver
        };
    };
    Ok((provided, tokens))
}

/// What a rule asks of the method's own type parameters.
fn own_clause(signature: &Signature, own: &syn::Generics) -> TokenStream {
    let names = names_of(own);
    let of_own = |predicate: &&syn::WherePredicate| match predicate {
        syn::WherePredicate::Type(predicate) => {
            names.iter().any(|name| predicate.bounded_ty.to_token_stream().to_string() == name.to_string())
        }
        _ => false,
    };
    let clause = signature.generics.declaration().1;
    let predicates: Vec<_> = clause.iter().flat_map(|clause| &clause.predicates).filter(of_own).collect();
    if predicates.is_empty() { quote!() } else { quote!(where #(#predicates),*) }
}
