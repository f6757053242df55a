//! `#[differentiable]` on a trait, and on its `impl`s: the rule of a method is that of an associated type, which each `impl`
//! chooses.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::visit_mut::VisitMut;
use syn::{FnArg, GenericParam, Ident, ImplItem, ImplItemFn, ItemImpl, ItemTrait, TraitItem, Type};

use crate::calls::sibling;
use crate::differentiable::{Ungroup, allowed, derive, imports};
use crate::errors::Errors;
use crate::impls::{self, NameSelf};
use crate::overloads::Resolve;
use crate::signature::{self, Passing, Signature};

/// The associated type that is the function `method`.
fn associated(method: &Ident) -> Ident {
    format_ident!("{}_rule", method.unraw(), span = method.span())
}

/// What the rule of a method asks of the type that has it: the same in the trait and in each `impl`.
fn bounds(signature: &Signature) -> TokenStream {
    let this = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident("Self"));
    let mut bounds = quote!(Self: ::core::marker::Sized + 'static,);
    for parameter in signature.parameters.iter().filter(|p| this(&p.ty)) {
        bounds.extend(match (parameter.passing, parameter.constant) {
            (Passing::Value, true) => quote!(Self: ::core::marker::Copy,),
            (Passing::Value, false) => quote!(Self: ::pullback::__private::Value + ::core::marker::Copy,),
            (_, true) => continue,
            (_, false) => quote!(Self: ::pullback::__private::Differentiable,),
        });
    }
    if this(&signature.output) {
        bounds.extend(quote!(Self: ::pullback::__private::Value,));
    }
    bounds
}

/// The signature as the trait sees it, where the receiver's type is `Self`.
fn of_trait(sig: &syn::Signature, errors: &mut Errors) -> Signature {
    if !sig.generics.params.is_empty() {
        errors.push(
            &sig.generics.params,
            "a generic method of a trait is not differentiable yet: write a generic function",
        );
    }
    let owner: Type = syn::parse_quote!(Self);
    Signature::parse_in(&syn::Visibility::Inherited, &mut sig.clone(), &sig.generics, Some(&owner), errors)
}

pub(crate) fn plain(mut item: ItemTrait) -> ItemTrait {
    for item in &mut item.items {
        if let TraitItem::Fn(method) = item {
            method.attrs.retain(|a| !a.path().is_ident("constant"));
            signature::strip(&mut method.sig);
        }
    }
    item
}

/// A trait: each method without a body has a rule.
pub(crate) fn expand_trait(item: ItemTrait) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let mut original = plain(item.clone());
    for item in &item.items {
        let TraitItem::Fn(method) = item else { continue };
        // What an `impl` makes of a default is not to be seen in the `impl`, so defaults have no rule.
        if method.default.is_some() || method.attrs.iter().any(|a| a.path().is_ident("constant")) {
            continue;
        }
        let signature = of_trait(&method.sig, &mut errors);
        let (rule, call, bounds) =
            (associated(&method.sig.ident), sibling(&method.sig.ident), bounds(&signature));
        let (modes, output) = (signature.modes(), &signature.output);
        let doc =
            format!("The rule of `{}`: `#[differentiable]` on an `impl` provides it.", method.sig.ident);
        original.items.push(syn::parse_quote! {
            #[doc = #doc]
            #[allow(non_camel_case_types)]
            type #rule: ::pullback::__private::HasRule<Parameters = #modes, Output = #output>
            where
                #bounds;
        });
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
        original.items.push(syn::parse_quote! {
            /// The arguments of a call, for code that `#[differentiable]` writes.
            #[doc(hidden)]
            fn #call<'a>(
                #receiver #(#lent),*
            ) -> ::pullback::__private::Call<'a, Self::#rule, ::pullback::__private::#mode>
            where
                #bounds
            {
                ::pullback::__private::Call::new((#this #(#names,)*))
            }
        });
    }
    errors.finish()?;
    Ok(quote!(#original))
}

/// The `impl` of such a trait.
pub(crate) fn expand_impl(block: ItemImpl) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let mut original = block.clone();
    let marks = impls::strip(&mut original);
    let mut derived = TokenStream::new();
    for (item, mark) in block.items.iter().zip(marks) {
        if let (ImplItem::Fn(method), Some(_)) = (item, mark) {
            match expand_method(&block, method) {
                Ok((rule, tokens)) => {
                    original.items.push(rule);
                    derived.extend(tokens);
                }
                Err(error) => errors.add(error),
            }
        }
    }
    errors.finish()?;
    Ok(quote! {
        // Indices are what the language offers for now.
        #[allow(clippy::needless_range_loop)]
        #original
        #derived
    })
}

fn expand_method(block: &ItemImpl, method: &ImplItemFn) -> syn::Result<(ImplItem, TokenStream)> {
    let mut errors = Errors::default();
    let bounds = bounds(&of_trait(&method.sig, &mut errors));
    errors.finish()?;
    let owner = &*block.self_ty;
    let (mut sig, mut body) = (method.sig.clone(), method.block.clone());
    Ungroup.visit_block_mut(&mut body);
    NameSelf.visit_block_mut(&mut body);
    Resolve { owner, output: None }.visit_block_mut(&mut body);
    for param in &block.generics.params {
        if let GenericParam::Lifetime(lifetime) = param {
            errors.push(lifetime, "an `impl` with lifetimes is not differentiable yet: write free functions");
        }
    }
    let vis = syn::parse_quote!(pub);
    let signature = Signature::parse_in(&vis, &mut sig, &block.generics, Some(owner), &mut errors);
    errors.finish()?;
    let rule = derive(&signature, &body, &mut errors)?;

    let (ty, (declared, _, clause)) = (signature.ty(), signature.generics.split());
    let (item, function, driver) = (signature.item(), signature.function(), signature.driver());
    let (allowed, imports) = (allowed(), imports());
    let doc = format!("The rule of `{}`, as derived from its source.", signature.label());
    let name = associated(&method.sig.ident);
    let associated = syn::parse_quote!(type #name = #ty where #bounds;);
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
    Ok((associated, tokens))
}
