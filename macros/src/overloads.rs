//! `#[differentiable]` on the `impl` of an operator for a type of the user's.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{FnArg, Ident, ImplItem, ItemImpl, Path, PathArguments, Type};

use crate::annotation::Strip;
use crate::differentiable::{allowed, derive, imports};
use crate::errors::Errors;
use crate::impls::named;
use crate::ownership::Owners;
use crate::signature::{self, Passing, Signature};

const OPERATORS: &[&str] = &["Add", "Sub", "Mul", "Div", "Rem", "Neg"];

/// The operator whose trait `path` names.
pub(crate) fn operator(path: &Path) -> Option<&Ident> {
    let name = &path.segments.last()?.ident;
    OPERATORS.iter().any(|operator| name == operator).then_some(name)
}

pub(crate) fn expand(block: ItemImpl) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let (path, _) = block.trait_.as_ref().expect("the `impl` of a trait");
    let operator = operator(path).expect("of an operator").clone();
    let owner = &*block.self_ty;
    let output = block.items.iter().find_map(|item| match item {
        ImplItem::Type(ty) if ty.ident == "Output" => Some(&ty.ty),
        _ => None,
    });
    let method = block.items.iter().find_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    let (Some(output), Some(method)) = (output, method) else {
        // The compiler says what is missing.
        return Ok(quote!(#block));
    };
    let mut original = block.clone();
    for item in &mut original.items {
        if let ImplItem::Fn(method) = item {
            signature::strip(&mut method.sig);
            Strip.visit_block_mut(&mut method.block);
        }
    }
    let (mut sig, mut body) = named(&method.sig, &method.block);
    let mut resolve = Resolve { owner, output: Some(output) };
    resolve.visit_signature_mut(&mut sig);
    resolve.visit_block_mut(&mut body);
    let vis = syn::Visibility::Inherited;
    let mut signature = Signature::parse_in(
        &vis,
        &mut sig,
        &block.generics,
        (Some(owner), Owners::of_impl(&block)),
        &mut errors,
    );
    signature.name = format_ident!("{}_{}", signature::type_name(owner), method.sig.ident);
    let mut of_trait = path.clone();
    resolve.visit_path_mut(&mut of_trait);
    signature.of_trait = Some(of_trait);
    signature.refuse_callables(&mut errors);
    let by_value = signature.parameters.iter().all(|p| p.passing == Passing::Value);
    if !by_value
        || matches!(owner, Type::Reference(_))
        || !matches!(sig.inputs.first(), Some(FnArg::Receiver(_)))
    {
        errors.push(
            owner,
            "an operator of references is taken to be that of the values: mark the `impl` for these alone",
        );
    }
    errors.finish()?;
    let rule = derive(&signature, &body, &mut errors)?;

    let (name, ty) = (&signature.name, signature.ty());
    let ((declared, _, clause), (definition, _)) =
        (signature.generics.split(), signature.generics.declaration());
    let phantoms = signature.generics.types();
    let function = signature.function();
    let (allowed, imports) = (allowed(), imports());
    let (right, right_operand) = match signature.parameters.get(1) {
        Some(parameter) => {
            let ty = &parameter.ty;
            (quote!(#ty), quote!(r.get()))
        }
        None => (quote!(()), quote!()),
    };
    let gradients = match signature.parameters.len() {
        1 => quote!((gradients.0, ())),
        _ => quote!(gradients),
    };
    let right_tangent = match signature.parameters.get(1) {
        Some(parameter) if parameter.constant => quote!(()),
        _ => quote!(<#right as __pb::Value>::Tangent),
    };
    let by_reference = by_reference(&signature, &operator, &right, &right_tangent);
    let doc = format!("The rule of `{operator}` of this type.");
    Ok(quote! {
        // Indices are what the language offers for now.
        #[allow(clippy::needless_range_loop)]
        #original
        #allowed
        const _: () = {
            #imports

            #[doc = #doc]
            #[allow(non_camel_case_types)]
            struct #name #definition #clause {
                marker: __pb::PhantomData<fn() -> #phantoms>,
            }

            #function

            impl #declared __pb::HasRule for #ty #clause {
                fn make_rule() -> impl __pb::Rule<Function = Self> + 'static {
                    #rule
                }
            }

            impl #declared __pb::OperatorRule<__pb::operator::#operator, #right> for #owner #clause {
                type Output = #output;
                type Left = <#owner as __pb::Value>::Tangent;
                type Right = #right_tangent;

                #[inline]
                fn both(
                    l: impl __pb::Source<Operand = Self>,
                    r: impl __pb::Source<Operand = #right>,
                    d: <#output as __pb::Value>::Tangent,
                ) -> (Self::Left, Self::Right) {
                    let gradients = __pb::pull_at_once::<#ty>((l.get(), #right_operand), d);
                    #gradients
                }
            }

            #by_reference
        };
    })
}

/// The same operator of references, which may be kept as values.
fn by_reference(
    signature: &Signature,
    operator: &Ident,
    right: &TokenStream,
    right_tangent: &TokenStream,
) -> TokenStream {
    let (owner, output) = (&signature.method.as_ref().expect("a method").1, &signature.output);
    let (_, _, clause) = signature.generics.split();
    let value = |name: TokenStream, referred: bool| match referred {
        true => quote!(|| *#name.get()),
        false => quote!(|| #name.get()),
    };
    let unary = signature.parameters.len() == 1;
    let forms = [(true, false), (false, true), (true, true)];
    let of = |(left, other): (bool, bool)| {
        let mut generics = signature.generics.declaration().0.clone();
        let mut refer = |lifetime: TokenStream, ty: &TokenStream, referred: bool| {
            if !referred {
                return ty.clone();
            }
            let parameter: syn::GenericParam = syn::parse_quote!(#lifetime);
            generics.params.insert(0, parameter);
            quote!(&#lifetime #ty)
        };
        let this = refer(quote!('left), &quote!(#owner), left);
        let that = refer(quote!('right), right, other);
        let (declared, _, _) = generics.split_for_impl();
        let (l, r) = (value(quote!(l), left), value(quote!(r), other));
        quote! {
            impl #declared __pb::OperatorRule<__pb::operator::#operator, #that> for #this #clause {
                type Output = #output;
                type Left = <#owner as __pb::Value>::Tangent;
                type Right = #right_tangent;

                #[inline]
                fn both(
                    l: impl __pb::Source<Operand = Self>,
                    r: impl __pb::Source<Operand = #that>,
                    d: <#output as __pb::Value>::Tangent,
                ) -> (Self::Left, Self::Right) {
                    <#owner as __pb::OperatorRule<__pb::operator::#operator, #right>>::both(#l, #r, d)
                }
            }
        }
    };
    forms.into_iter().filter(|(_, other)| !(unary && *other)).map(of).collect()
}

/// Writes out what `Self` and `Self::Output` stand for, since the rule stands outside of the `impl`.
pub(crate) struct Resolve<'i> {
    pub(crate) owner: &'i Type,
    /// `None` where the type may be another one.
    pub(crate) output: Option<&'i Type>,
}

impl VisitMut for Resolve<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = ty
            && path.qself.is_none()
        {
            let names: Vec<_> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
            match &names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["Self"] => {
                    *ty = self.owner.clone();
                    return;
                }
                ["Self", "Output"] => {
                    if let Some(output) = self.output {
                        *ty = output.clone();
                        return;
                    }
                }
                _ => {}
            }
        }
        syn::visit_mut::visit_type_mut(self, ty);
    }
    fn visit_path_mut(&mut self, path: &mut Path) {
        if path.segments.first().is_some_and(|s| s.ident == "Self")
            && let Type::Path(owner) = self.owner
            && owner.qself.is_none()
        {
            let mut segments = owner.path.segments.clone();
            if let Some(last) = segments.last_mut()
                && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
            {
                arguments.colon2_token.get_or_insert_with(|| syn::Token![::](Span::call_site()));
            }
            segments.extend(path.segments.iter().skip(1).cloned());
            path.segments = segments;
        }
        syn::visit_mut::visit_path_mut(self, path);
    }
}
