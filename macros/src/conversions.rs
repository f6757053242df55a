//! `#[differentiable]` on an `impl` of `From`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::VisitMut;
use syn::{ImplItem, ItemImpl};

use crate::differentiable::{allowed, derive, imports};
use crate::errors::Errors;
use crate::impls::{self, named};
use crate::overloads::Resolve;
use crate::ownership::Owners;
use crate::passing::Passing;
use crate::signature::Signature;

/// The `impl` is one of `From`.
pub(crate) fn converts(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident == "From")
}

pub(crate) fn expand(block: &ItemImpl) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let plain = impls::plain(block.clone());
    let method = block.items.iter().find_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    let Some(method) = method else {
        // The compiler says what is missing.
        return Ok(quote!(#plain));
    };
    let owner = &*block.self_ty;
    let (mut sig, mut body) = named(&method.sig, &method.block);
    let mut resolve = Resolve { owner, output: None };
    resolve.visit_signature_mut(&mut sig);
    resolve.visit_block_mut(&mut body);
    let vis = syn::Visibility::Inherited;
    let signature =
        Signature::parse_in(&vis, &mut sig, &block.generics, (Some(owner), Owners::default()), &mut errors);
    let Some(from) = signature.parameters.first().filter(|p| p.passing == Passing::Value && !p.constant)
    else {
        errors.push(
            &method.sig.inputs,
            "`From` has a rule where it takes numbers, arrays, tuples or structs of these by value: write an associated function otherwise",
        );
        errors.finish()?;
        unreachable!("just pushed")
    };
    signature.refuse_callables(&mut errors);
    let rule = derive(&signature, &body, &mut errors)?;
    let (name, from) = (&signature.name, &from.ty);
    let ((declared, _, clause), (definition, _)) =
        (signature.generics.split(), signature.generics.declaration());
    let (allowed, imports) = (allowed(), imports());
    Ok(quote! {
        // Indices are what the language offers for now.
        #[allow(clippy::needless_range_loop)]
        #plain
        #allowed
        const _: () = {
            #imports

            #[allow(non_camel_case_types, type_alias_bounds)]
            type #name #definition = __pb::Converted<#from, #owner>;

            impl #declared __pb::Conversion<#from> for #owner #clause {
                fn make_rule() -> impl __pb::Rule<Function = __pb::Converted<#from, Self>> + 'static {
                    #rule
                }
            }
        };
    })
}
