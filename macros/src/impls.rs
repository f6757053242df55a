//! `#[differentiable]` on an `impl`: each method has a rule, a type that bears its name, and siblings by which the compiler's
//! own resolution of methods finds them.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::visit_mut::VisitMut;
use syn::{Attribute, FnArg, GenericParam, Ident, ImplItem, ImplItemFn, ItemImpl};

use crate::annotation::Strip;
use crate::callable;
use crate::calls::sibling;
use crate::conversions;
use crate::differentiable::{allowed, derive, imports};
use crate::errors::Errors;
use crate::folds;
use crate::fragments::Ungroup;
use crate::generics::with_parts;
use crate::overloads;
use crate::ownership::Owners;
use crate::parameters::name_patterns;
use crate::passing::{self, Passing};
use crate::projections;
use crate::signature::{self, Signature};
use crate::streams;
use crate::traits;

/// `#[constant]`: the method has no rule.
pub(crate) fn is_constant(attribute: &Attribute) -> bool {
    attribute.path().is_ident("constant")
}

/// `#[pullback(recursive)]`
fn is_recursive(attribute: &Attribute) -> bool {
    attribute.path().is_ident("pullback")
        && attribute.parse_args::<Ident>().is_ok_and(|argument| argument == "recursive")
}

/// Takes what this macro reads off the methods, and says which of them have a rule: `None`, or whether it is boxed.
pub(crate) fn strip(block: &mut ItemImpl) -> Vec<Option<bool>> {
    let mut marks = Vec::new();
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else {
            marks.push(None);
            continue;
        };
        let constant = method.attrs.iter().any(is_constant);
        let recursive = method.attrs.iter().any(is_recursive);
        method.attrs.retain(|a| !is_constant(a) && !is_recursive(a));
        marks.push((!constant).then_some(recursive));
        signature::strip(&mut method.sig);
        Strip.visit_block_mut(&mut method.block);
    }
    marks
}

/// The block without this macro's attributes.
pub(crate) fn plain(mut block: ItemImpl) -> ItemImpl {
    strip(&mut block);
    block
}

pub(crate) fn expand(block: ItemImpl) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    if let Some((path, _)) = &block.trait_ {
        return match folds::operator(path) {
            _ if overloads::is_operator(&block) => overloads::expand(block),
            Some(operator) => folds::expand(&block, &operator),
            _ if conversions::converts(path) => conversions::expand(&block),
            _ if projections::index(&block).is_some() => projections::expand_index(&block),
            _ => traits::expand_impl(block),
        };
    }
    let mut original = block.clone();
    let marks = strip(&mut original);
    let owners = Owners::of_impl(&block);
    let mut derived = TokenStream::new();
    for (item, mark) in block.items.iter().zip(marks) {
        if let (ImplItem::Fn(method), Some(recursive)) = (item, mark) {
            let expanded = match projections::selects(&method.sig) {
                Some(part) => projections::expand_method(&block, method, part),
                None => expand_method(&block, method, recursive, &owners),
            };
            match expanded {
                Ok(tokens) => derived.extend(tokens),
                Err(error) => errors.add(error),
            }
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

/// The types of a function's parameters.
pub(crate) fn types_of(sig: &syn::Signature) -> impl Iterator<Item = &syn::Type> + Clone {
    sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(&*typed.ty),
        FnArg::Receiver(_) => None,
    })
}

/// Both lists of generic parameters, and both where clauses.
pub(crate) fn joined(block: &syn::Generics, method: &syn::Generics) -> syn::Generics {
    let mut joined = block.clone();
    joined.params.extend(method.params.iter().cloned());
    if let Some(clause) = &method.where_clause {
        joined.make_where_clause().predicates.extend(clause.predicates.iter().cloned());
    }
    joined
}

/// The methods that leave `self` as it is, or return a reference.
fn reading(block: &ItemImpl) -> Vec<Ident> {
    let reads = |item: &ImplItem| match item {
        ImplItem::Fn(method) => {
            let unique = matches!(method.sig.inputs.first(), Some(FnArg::Receiver(receiver)) if matches!(receiver.kind, syn::ReceiverKind::Reference(_, _, Some(_))));
            let refers = matches!(&method.sig.output, syn::ReturnType::Type(_, ty) if matches!(**ty, syn::Type::Reference(_)));
            (!unique || refers).then(|| method.sig.ident.clone())
        }
        _ => None,
    };
    block.items.iter().filter_map(reads).collect()
}

/// A method in which every parameter has a name, `self` as well.
pub(crate) fn named(sig: &syn::Signature, body: &syn::Block) -> (syn::Signature, syn::Block) {
    let (mut sig, mut body) = (sig.clone(), body.clone());
    Ungroup.visit_signature_mut(&mut sig);
    Ungroup.visit_block_mut(&mut body);
    name_patterns(&mut sig, &mut body);
    NameSelf.visit_block_mut(&mut body);
    (sig, body)
}

fn expand_method(
    block: &ItemImpl,
    method: &ImplItemFn,
    recursive: bool,
    owners: &Owners,
) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let (mut sig, mut body) = named(&method.sig, &method.block);
    let generics = joined(&block.generics, &sig.generics);
    let types: Vec<_> = types_of(&sig).chain([&*block.self_ty]).cloned().collect();
    let generics = with_parts(&generics, &types, &method.block);
    // Nobody else has names for the lifetimes of the `impl`.
    let owner = &passing::at("'_", &block.self_ty);
    let mut signature =
        Signature::parse_in(&method.vis, &mut sig, &generics, (Some(owner), owners.clone()), &mut errors);
    signature.selecting = projections::beside_methods(block, &signature.generics);
    signature.reading = reading(block);
    Anonymous(&generics).visit_block_mut(&mut body);
    let tokens = derive(&signature, &body, &mut errors)?;

    let (vis, name) = (&method.vis, &method.sig.ident);
    let text = name.unraw().to_string();
    let (rule, gradient) = (
        format_ident!("{text}_rule", span = name.span()),
        format_ident!("{text}_gradient", span = name.span()),
    );
    let of_impl = without_lifetimes(&block.generics);
    let (impl_generics, _, of_type) = of_impl.split_for_impl();
    // A function's own type parameter stands for what is called.
    callable::settle(&mut sig.generics, &signature.parameters, &mut Errors::default());
    streams::settle(&mut sig.generics, &signature.parameters);
    let own: Vec<_> = not_lifetimes(&sig.generics).collect();
    let own_names = own.iter().map(|p| match p {
        GenericParam::Type(p) => &p.ident,
        GenericParam::Const(p) => &p.ident,
        GenericParam::Lifetime(_) => unreachable!("left out above"),
    });
    let (ty, (declared, _, clause)) = (signature.ty(), signature.generics.split());
    let made =
        if recursive { format_ident!("{text}_derived_rule", span = name.span()) } else { rule.clone() };
    let label = signature.label();
    let doc = format!("The rule of `{label}`, as derived from its source.");
    let boxed = recursive.then(|| {
        quote! {
            #[doc = #doc]
            #vis fn #rule<#(#own),*>() -> __pb::Recursive<#ty> #clause {
                __pb::Recursive::new()
            }
        }
    });
    let gradient_doc =
        format!("An object that computes gradients of `{label}`: see [`{}::gradient`].", signature.name);
    let siblings = siblings(&signature, &sig, &own);
    let known = signature.of_functions();
    let of_functions = known.split().2;
    let (item, function, driver) = (signature.item(), signature.function(), signature.driver());
    let turbofish = if own.is_empty() { quote!() } else { quote!(::<#(#own_names),*>) };
    let (allowed, imports) = (allowed(), imports());
    Ok(quote! {
        #item
        #allowed
        const _: () = {
            #imports

            #function

            impl #impl_generics #owner #of_type {
                #[doc = #doc]
                #vis fn #made<#(#own),*>() -> impl __pb::Rule<Function = #ty> #clause {
                    #tokens
                }

                #boxed

                #[doc = #gradient_doc]
                #vis fn #gradient<#(#own),*>() -> #ty #of_functions {
                    <#ty>::gradient()
                }

                #siblings
            }

            impl #declared #ty #clause {
                #[doc = #doc]
                pub fn rule() -> impl __pb::Rule<Function = #ty> {
                    <#owner>::#rule #turbofish()
                }
            }

            impl #declared __pb::HasRule for #ty #clause {
                fn make_rule() -> impl __pb::Rule<Function = Self> + 'static {
                    <#owner>::#made #turbofish()
                }
            }

            #driver
        };
    })
}

/// The methods that are found where the method itself would be.
fn siblings(signature: &Signature, sig: &syn::Signature, own: &[&GenericParam]) -> TokenStream {
    let Signature { vis, method, parameters, output, .. } = signature;
    let method = &method.as_ref().expect("a method").0;
    let (ty, clause) = (signature.ty(), signature.generics.declaration().1);
    let has_receiver = matches!(sig.inputs.first(), Some(FnArg::Receiver(_)));
    let names = signature.names();
    let rest = usize::from(has_receiver);
    let typed = signature.lent(rest);
    let (receiver, mode) = match parameters.first().map(|p| p.passing).filter(|_| has_receiver) {
        None => (quote!(), quote!(Reads)),
        // A struct that is no more than `Clone` stays where it is.
        Some(Passing::Value) => (quote!(&self,), quote!(Reads)),
        Some(Passing::Shared) => (quote!(&'a self,), quote!(Reads)),
        Some(Passing::Unique) => (quote!(&'a mut self,), quote!(WritesToReceiver)),
    };
    let by_value = parameters.first().is_some_and(|p| p.passing == Passing::Value);
    let this = has_receiver.then(|| match by_value {
        true => quote!(::core::clone::Clone::clone(self),),
        false => quote!(self,),
    });
    let values = &names[rest..];
    let call = sibling(method);
    let args = quote! {
        /// The arguments of a call, for code that `#[differentiable]` writes.
        #[doc(hidden)]
        #[inline(always)]
        #vis fn #call<'a, #(#own),*>(#receiver #(#typed),*) -> __pb::Call<'a, #ty, __pb::#mode> #clause {
            __pb::Call::new((#this #(#values,)*))
        }
    };
    if signature.callables().next().is_some() {
        let with_closures = signature.methods_with_closures(own, &receiver, &this);
        return quote!(#args #with_closures);
    }
    let by_value = has_receiver && parameters.iter().all(|p| p.passing == Passing::Value);
    if !by_value {
        return args;
    }
    let pullback = format_ident!("{}_pullback", method.unraw(), span = method.span());
    let (y, d) = (Ident::new("y", Span::mixed_site()), Ident::new("d", Span::mixed_site()));
    let (result, part) = match rest == names.len() {
        true => (quote!(<Self as __pb::Value>::Tangent), quote!(.0)),
        false => (quote!(__pb::Gradients<#ty>), quote!()),
    };
    quote! {
        #args

        /// The gradient with respect to each argument, where the method's name is one of a number's.
        #[doc(hidden)]
        #vis fn #pullback<#(#own),*>(
            &self,
            #(#typed,)*
            #y: impl ::core::ops::FnOnce() -> #output,
            #d: __pb::Cotangent<#ty>,
        ) -> #result #clause {
            __pb::pull_at_once::<#ty>((#this #(#values,)*), #d) #part
        }
    }
}

/// What an `impl` asks of the parameters of its type, beside which lifetimes have no names.
pub(crate) fn without_lifetimes(generics: &syn::Generics) -> syn::Generics {
    let mut generics = generics.clone();
    generics.params = not_lifetimes(&generics).cloned().collect();
    let named = |predicate: &syn::WherePredicate| predicate.to_token_stream().to_string().contains('\'');
    if let Some(clause) = &mut generics.where_clause {
        let predicates = std::mem::take(&mut clause.predicates);
        clause.predicates = predicates.into_iter().filter(|predicate| !named(predicate)).collect();
    }
    generics
}

pub(crate) fn not_lifetimes(generics: &syn::Generics) -> impl Iterator<Item = &GenericParam> {
    generics.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_)))
}

/// Takes their names from the lifetimes that are declared.
struct Anonymous<'g>(&'g syn::Generics);

impl VisitMut for Anonymous<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
        if self.0.lifetimes().any(|declared| declared.lifetime == *lifetime) {
            *lifetime = syn::Lifetime::new("'_", lifetime.span());
        }
    }
}

/// `self` is a parameter like others.
struct NameSelf;

impl VisitMut for NameSelf {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if path.is_ident("self") {
            let span = path.segments[0].ident.span();
            path.segments[0].ident = Ident::new("self_", span);
        }
        syn::visit_mut::visit_path_mut(self, path);
    }
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        fn rename(tokens: TokenStream) -> TokenStream {
            tokens
                .into_iter()
                .map(|token| match token {
                    proc_macro2::TokenTree::Ident(name) if name == "self" => {
                        proc_macro2::TokenTree::Ident(Ident::new("self_", name.span()))
                    }
                    proc_macro2::TokenTree::Group(group) => {
                        let mut inner = proc_macro2::Group::new(group.delimiter(), rename(group.stream()));
                        inner.set_span(group.span());
                        proc_macro2::TokenTree::Group(inner)
                    }
                    token => token,
                })
                .collect()
        }
        mac.tokens = rename(std::mem::take(&mut mac.tokens));
    }
    // An item has a `self` of its own.
    fn visit_item_mut(&mut self, _item: &mut syn::Item) {}
}
