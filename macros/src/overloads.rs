//! `#[differentiable]` on the `impl` of an operator for a type of the user's.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{FnArg, Ident, ImplItem, ItemImpl, Path, PathArguments, Type};

use crate::annotation::Strip;
use crate::differentiable::{allowed, derive, imports};
use crate::errors::Errors;
use crate::impls::{named, without_lifetimes};
use crate::ownership::Owners;
use crate::passing::{self, Parameter, Passing};
use crate::signature::{self, Signature};

const OPERATORS: &[&str] = &["Add", "Sub", "Mul", "Div", "Rem", "Neg"];

/// The operator whose trait `path` names.
fn operator(path: &Path) -> Option<&Ident> {
    let name = &path.segments.last()?.ident;
    OPERATORS
        .iter()
        .any(|operator| name == operator || is_onto(name) && name.to_string().starts_with(operator))
        .then_some(name)
}

/// `AddAssign` and the like.
fn is_onto(name: &Ident) -> bool {
    name.to_string().strip_suffix("Assign").is_some_and(|of| OPERATORS[..5].contains(&of))
}

/// The `impl` is that of an operator. `a += b` is `a = a + b` of plain data, so that `AddAssign` is one of what owns memory: the operand is
/// a reference, or is told to be such.
pub(crate) fn is_operator(block: &ItemImpl) -> bool {
    let Some(name) = block.trait_.as_ref().and_then(|(path, _)| operator(path)) else { return false };
    let right = block.items.iter().find_map(|item| match item {
        ImplItem::Fn(method) => match method.sig.inputs.get(1) {
            Some(FnArg::Typed(typed)) => Some(&*typed.ty),
            _ => None,
        },
        _ => None,
    });
    let owners = Owners::of_impl(block);
    !is_onto(name)
        || owners.own(&block.self_ty)
        || right.is_some_and(|ty| matches!(ty, Type::Reference(_)) || owners.own(ty))
}

pub(crate) fn expand(block: ItemImpl) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let (path, _) = block.trait_.as_ref().expect("the `impl` of a trait");
    let operator = operator(path).expect("of an operator").clone();
    let this = &passing::at("'_", &block.self_ty);
    let onto = is_onto(&operator);
    let output = block.items.iter().find_map(|item| match item {
        ImplItem::Type(ty) if ty.ident == "Output" => Some(&ty.ty),
        _ => None,
    });
    let method = block.items.iter().find_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    let (Some(method), true) = (method, output.is_some() || onto) else {
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
    let mut resolve = Resolve { owner: this, output };
    resolve.visit_signature_mut(&mut sig);
    resolve.visit_block_mut(&mut body);
    // To the rule a reference is a parameter of this kind.
    let owner = match this {
        Type::Reference(reference) => {
            if let Some(FnArg::Receiver(receiver)) = sig.inputs.first_mut() {
                let span = receiver.self_token.span;
                *receiver = syn::parse_quote_spanned!(span=> &self);
            }
            &*reference.elem
        }
        ty => ty,
    };
    let vis = syn::Visibility::Inherited;
    let generics = without_lifetimes(&block.generics);
    let owners = Owners::of_impl(&block);
    for input in &mut sig.inputs {
        if let FnArg::Typed(typed) = input {
            *typed.ty = passing::at("'_", &typed.ty);
        }
    }
    let mut signature = Signature::parse_in(&vis, &mut sig, &generics, (Some(owner), owners), &mut errors);
    signature.name = format_ident!("{}_{}", signature::type_name(owner), method.sig.ident);
    signature.method = Some((method.sig.ident.clone(), this.clone()));
    let mut of_trait = path.clone();
    resolve.visit_path_mut(&mut of_trait);
    signature.of_trait = Some(passing::path_at("'_", &of_trait));
    signature.refuse_callables(&mut errors);
    let receives = matches!(sig.inputs.first(), Some(FnArg::Receiver(_)));
    if !receives || signature.parameters.iter().skip(onto.into()).any(|p| p.passing == Passing::Unique) {
        errors.push(&*block.self_ty, "an operator takes its operands by value, or by `&`, differentiably");
    }
    errors.finish()?;
    let rule = derive(&signature, &body, &mut errors)?;

    let (name, ty) = (&signature.name, signature.ty());
    let ((declared, _, clause), (definition, _)) =
        (signature.generics.split(), signature.generics.declaration());
    let phantoms = signature.generics.types();
    let function = signature.function();
    let (allowed, imports) = (allowed(), imports());
    let by_value = signature.parameters.iter().all(|p| p.passing == Passing::Value);
    let of_values = by_value.then(|| of_values(&signature, owner, &operator));
    let calls = calls(&signature, &operator);
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

            #of_values

            #calls
        };
    })
}

/// The rule of an operator of plain data, within expressions.
fn of_values(signature: &Signature, owner: &Type, operator: &Ident) -> TokenStream {
    let (ty, (declared, _, clause)) = (signature.ty(), signature.generics.split());
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
    let by_reference = by_reference(signature, operator, &right, &right_tangent);
    let both = quote! {
        let gradients = __pb::pull_at_once::<#ty>((l.get(), #right_operand), d);
        #gradients
    };
    let head =
        quote!(impl #declared __pb::OperatorRule<__pb::operator::#operator, #right> for #owner #clause);
    let rule = operator_rule(signature, head, &right, &right_tangent, both);
    quote!(#rule #by_reference)
}

/// The `impl` that begins with `head`, of an operator with `right` on its right.
fn operator_rule(
    signature: &Signature,
    head: TokenStream,
    right: &TokenStream,
    right_tangent: &TokenStream,
    both: TokenStream,
) -> TokenStream {
    let (left, output) = (&signature.parameters[0].ty, &signature.output);
    quote! {
        #head {
            type Output = #output;
            type Left = <#left as __pb::Value>::Tangent;
            type Right = #right_tangent;

            #[inline]
            fn both(
                l: impl __pb::Source<Operand = Self>,
                r: impl __pb::Source<Operand = #right>,
                d: <#output as __pb::Value>::Tangent,
            ) -> (Self::Left, Self::Right) {
                #both
            }
        }
    }
}

/// The operator as a call: of references, and of plain data by value as well.
fn calls(signature: &Signature, operator: &Ident) -> TokenStream {
    let marker = match operator.to_string().strip_suffix("Assign") {
        Some(of) => {
            let of = Ident::new(of, operator.span());
            quote!(__pb::operator::Onto<__pb::operator::#of>)
        }
        None => quote!(__pb::operator::#operator),
    };
    let (ty, (_, _, clause), output) = (signature.ty(), signature.generics.split(), &signature.output);
    let mut generics = signature.generics.declaration().0.clone();
    generics.params.insert(0, syn::parse_quote!('a));
    let (declared, _, _) = generics.split_for_impl();
    // How it is passed, and what the rule gets.
    let forms = |name: TokenStream, parameter: Option<&Parameter>| match parameter {
        Some(Parameter { passing: Passing::Value, ty, .. }) => {
            vec![(quote!(#ty), quote!(#name,)), (quote!(&'a #ty), quote!(*#name,))]
        }
        Some(Parameter { passing: Passing::Shared, ty, .. }) => vec![(quote!(&'a #ty), quote!(#name,))],
        Some(Parameter { passing: Passing::Unique, ty, .. }) => vec![(quote!(&'a mut #ty), quote!(#name,))],
        None => vec![(quote!(()), quote!())],
    };
    // `a += b` of plain data is `a = a + b`.
    let plain = |p: &Parameter| p.passing == Passing::Value && !p.constant;
    let onto = match &signature.parameters[..] {
        [left, right]
            if plain(left)
                && plain(right)
                && quote!(#output).to_string() == left.ty.to_token_stream().to_string() =>
        {
            let (l, r) = (&left.ty, &right.ty);
            let args = |form: TokenStream, value: TokenStream| {
                let function = quote!(__pb::OntoValue<#marker, #l, #r>);
                quote! {
                    impl #declared __pb::OperatorCall<'a, __pb::operator::Onto<#marker>, #form, #function> for &'a mut #l #clause {
                        #[inline(always)]
                        fn args(self, right: #form) -> __pb::Args<'a, #function> {
                            (self, #value)
                        }
                    }
                }
            };
            let (by_value, by_reference) =
                (args(quote!(#r), quote!(right)), args(quote!(&'a #r), quote!(*right)));
            quote!(#by_value #by_reference)
        }
        _ => TokenStream::new(),
    };
    let lefts = forms(quote!(self), signature.parameters.first());
    let rights = forms(quote!(right), signature.parameters.get(1));
    let each = lefts.iter().flat_map(|left| rights.iter().map(move |right| (left, right)));
    let each = each.map(|((left, l), (right, r))| {
        quote! {
            impl #declared __pb::OperatorCall<'a, #marker, #right, #ty> for #left #clause {
                #[inline(always)]
                fn args(self, right: #right) -> __pb::Args<'a, #ty> {
                    (#l #r)
                }
            }
        }
    });
    let (of_impl, _, _) = signature.generics.split();
    let left = &signature.parameters[0].ty;
    let right = signature.parameters.get(1).map_or(quote!(()), |right| right.ty.to_token_stream());
    quote! {
        #(#each)*
        #onto
        impl #of_impl __pb::MarkedOnceForValuesOrForReferences<#marker, #right> for #left #clause {}
    }
}

/// The same operator of references, which may be kept as values.
fn by_reference(
    signature: &Signature,
    operator: &Ident,
    right: &TokenStream,
    right_tangent: &TokenStream,
) -> TokenStream {
    let owner = &signature.method.as_ref().expect("a method").1;
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
        let both = quote!(<#owner as __pb::OperatorRule<__pb::operator::#operator, #right>>::both(#l, #r, d));
        let head =
            quote!(impl #declared __pb::OperatorRule<__pb::operator::#operator, #that> for #this #clause);
        operator_rule(signature, head, &that, right_tangent, both)
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
