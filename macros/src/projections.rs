//! Functions that return a part of `self`: `&self.data[i * self.cols + j]`.
//!
//! Such a function has no rule. What it selects of a value is selected of the shadow as well: by a copy of the function whose constants come
//! from the value, and whose result is the same place of the shadow.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, Pat, ReturnType, Stmt, Type, UnOp};

use crate::differentiable::allowed;
use crate::errors::Errors;
use crate::generics::Generics;
use crate::impls::{not_lifetimes, without_lifetimes};
use crate::kind::{inert, kind_of_type};
use crate::passing;
use crate::program::Kind;
use crate::rename::Occurrences;

const FORM: &str = "a function that returns a reference selects a part of `self`: end it with a field of `self`, an element or a range of one, \
                    `&self.data[i]`, or with another such function, by `if` and `match` on constants; `#[constant]` leaves a method without gradient";

/// What the method returns a reference to, if that is a part of `self`.
pub(crate) fn selects(method: &syn::Signature) -> Option<&Type> {
    let ReturnType::Type(_, ty) = &method.output else { return None };
    let Type::Reference(reference) = &**ty else { return None };
    let fixed = reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static");
    let by_reference = matches!(method.inputs.first(), Some(FnArg::Receiver(receiver))
        if matches!(receiver.kind, syn::ReceiverKind::Reference(..)));
    (by_reference && !fixed).then_some(&*reference.elem)
}

/// The methods of the `impl` that return parts of `self`, and what is known of these.
pub(crate) fn beside_methods(block: &ItemImpl, generics: &Generics) -> Vec<(Ident, Kind)> {
    let methods = block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) if !method.attrs.iter().any(crate::impls::is_constant) => {
            let part = selects(&method.sig).filter(|part| !inert(&kind_of_type(part)))?;
            Some((method.sig.ident.clone(), generics.kind_of(part)))
        }
        _ => None,
    });
    methods.collect()
}

/// The method beside the method `name` that selects the same of the shadow. The compiler's message about one that does not exist shows its
/// name, which therefore tells what to do.
pub(crate) fn beside(name: &Ident) -> Ident {
    format_ident!("{}_selects_no_part_mark_its_impl_differentiable", name.unraw(), span = name.span())
}

/// The `impl` is one of `Index` or `IndexMut`: the trait of ours, and its method.
pub(crate) fn index(block: &ItemImpl) -> Option<(Ident, Ident)> {
    let name = &block.trait_.as_ref()?.0.segments.last()?.ident;
    let known =
        [("Index", "index", "Select", "select"), ("IndexMut", "index_mut", "SelectMut", "select_mut")];
    let (_, index, of, method) = known.into_iter().find(|(of, ..)| name == of)?;
    let indexes = |item: &ImplItem| matches!(item, ImplItem::Fn(method) if method.sig.ident == index);
    block.items.iter().any(indexes).then(|| (format_ident!("{of}"), format_ident!("{method}")))
}

/// Expands the `impl` of `Index` or `IndexMut`.
pub(crate) fn expand_index(block: &ItemImpl) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let (path, _) = block.trait_.as_ref().expect("the `impl` of a trait");
    let (of, name) = index(block).expect("of an index");
    let plain = crate::impls::plain(block.clone());
    let method = block.items.iter().find_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    let index = path.segments.last().and_then(|last| match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) => arguments.args.first(),
        _ => None,
    });
    let (Some(method), Some(index)) = (method, index) else {
        // The compiler says what is missing.
        return Ok(quote!(#plain));
    };
    let body = selecting(method, &mut errors);
    let refused = errors.into_compile_error();
    let of_gradient = (name == "select").then(|| of_gradient(block, method, index));
    let owner = passing::at("'_", &block.self_ty);
    let part = (name == "select").then(|| quote!(type Part = <Self as #path>::Output;));
    let mut generics = Generics::new(&block.generics);
    generics.require(&[], &block.self_ty);
    let (declared, _, clause) = generics.split();
    let (parameters, shadow) = (others(&method.sig), shadow_name());
    let allowed = allowed();
    Ok(quote! {
        #plain
        #refused
        #allowed
        const _: () = {
            use ::pullback::__private as __pb;

            impl #declared __pb::#of<#index> for #owner #clause {
                #part
                #[inline(always)]
                fn #name<'shadow>(
                    &self,
                    #shadow: &'shadow <Self as __pb::Differentiable>::Shadow<'shadow>,
                    #(#parameters)*
                ) -> __pb::PartShadow<'shadow, <Self as __pb::Select<#index>>::Part> {
                    #body
                }
            }

            #of_gradient
        };
    })
}

/// The same `Index` of the gradient, whose fields have the same names, where the place depends on the index alone. What is indexed by a
/// number, and of which nothing tells the type, has a gradient that is indexed by it.
fn of_gradient(block: &ItemImpl, method: &ImplItemFn, index: &syn::GenericArgument) -> Option<TokenStream> {
    let output = block.items.iter().find_map(|item| match item {
        ImplItem::Type(ty) if ty.ident == "Output" => Some(&ty.ty),
        _ => None,
    })?;
    if not_lifetimes(&block.generics).next().is_some() || kind_of_type(output) != Kind::Float {
        return None;
    }
    let body = |unique| selecting_of(Of::Gradient { unique }, method, &mut Errors::default());
    let (shared, unique) = (body(false)?, body(true)?);
    let (owner, shadow) = (passing::at("'_", &block.self_ty), shadow_name());
    let parameters = others(&method.sig);
    let gradient = quote!(<#owner as __pb::Differentiable>::Gradient);
    Some(quote! {
        impl ::core::ops::Index<#index> for #gradient {
            type Output = #output;
            #[inline(always)]
            fn index(&self, #(#parameters)*) -> &#output {
                let #shadow = self;
                #shared
            }
        }
        impl ::core::ops::IndexMut<#index> for #gradient {
            #[inline(always)]
            fn index_mut(&mut self, #(#parameters)*) -> &mut #output {
                let #shadow = self;
                #unique
            }
        }
    })
}

/// What stands beside a method of the `impl` that returns a part of `self`, which is a `part`.
pub(crate) fn expand_method(block: &ItemImpl, method: &ImplItemFn, part: &Type) -> syn::Result<TokenStream> {
    if inert(&kind_of_type(part)) {
        return Ok(TokenStream::new());
    }
    let mut errors = Errors::default();
    let body = selecting(method, &mut errors);
    let refused = errors.into_compile_error();
    let owner = passing::at("'_", &block.self_ty);
    let of_impl = without_lifetimes(&block.generics);
    let (impl_generics, _, of_type) = of_impl.split_for_impl();
    let mut generics = Generics::new(&crate::impls::joined(&block.generics, &method.sig.generics));
    generics.require(&[], &block.self_ty);
    let clause = generics.split().2;
    let own: Vec<_> = not_lifetimes(&method.sig.generics).collect();
    let part = passing::at("'_", part);
    let (vis, name, rule) =
        (&method.vis, beside(&method.sig.ident), crate::calls::sibling(&method.sig.ident));
    let (parameters, shadow) = (others(&method.sig), shadow_name());
    let allowed = allowed();
    Ok(quote! {
        #refused
        #allowed
        const _: () = {
            use ::pullback::__private as __pb;

            impl #impl_generics #owner #of_type {
                /// Selects the same part of the shadow, for code that `#[differentiable]` writes.
                #[doc(hidden)]
                #[inline(always)]
                #vis fn #name<'shadow, #(#own),*>(
                    &self,
                    #shadow: &'shadow <Self as __pb::Differentiable>::Shadow<'shadow>,
                    #(#parameters)*
                ) -> __pb::PartShadow<'shadow, #part> #clause {
                    #body
                }

                /// Tells that there is no rule.
                #[doc(hidden)]
                #vis fn #rule<#(#own),*>(&self, #(#parameters)*) -> __pb::ReturnsAReferenceTellItsType {
                    __pb::ReturnsAReferenceTellItsType
                }
            }
        };
    })
}

fn shadow_name() -> Ident {
    Ident::new("shadow", proc_macro2::Span::mixed_site())
}

/// The parameters behind `self`, whose references last for as long as they may.
fn others(method: &syn::Signature) -> Vec<TokenStream> {
    let typed = method.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => {
            let (pattern, ty) = (&typed.pat, passing::at("'_", &typed.ty));
            Some(quote!(#pattern: #ty,))
        }
        FnArg::Receiver(_) => None,
    });
    typed.collect()
}

/// The body of the function that selects of the shadow what `method` selects of `self`.
fn selecting(method: &ImplItemFn, errors: &mut Errors) -> TokenStream {
    // What is refused is told once.
    selecting_of(Of::Shadow, method, errors).unwrap_or_else(|| quote!(::core::unreachable!()))
}

fn selecting_of(of: Of, method: &ImplItemFn, errors: &mut Errors) -> Option<TokenStream> {
    let mut body = method.block.clone();
    crate::fragments::Ungroup.visit_block_mut(&mut body);
    Shared.visit_block_mut(&mut body);
    let selected = Selecting { of, names: Vec::new(), errors }.block(&body);
    let by_itself = of == Of::Shadow || Occurrences::of(&selected).count(&format_ident!("self")) == 0;
    (errors.is_empty() && by_itself).then_some(selected)
}

/// Of what a part is selected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// By means of the value.
    Shadow,
    /// Without it.
    Gradient { unique: bool },
}

/// What is read of `self` is read by a shared reference.
struct Shared;

impl VisitMut for Shared {
    fn visit_expr_reference_mut(&mut self, reference: &mut syn::ExprReference) {
        if is_of_self(&reference.expr) {
            reference.mutability = None;
        }
        visit_mut::visit_expr_reference_mut(self, reference);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn is_of_self(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) => is_self(expr),
        Expr::Field(field) => is_of_self(&field.base),
        Expr::Index(index) => is_of_self(&index.expr),
        Expr::Unary(unary) => is_of_self(&unary.expr),
        Expr::Paren(paren) => is_of_self(&paren.expr),
        Expr::MethodCall(call) => is_of_self(&call.receiver),
        _ => false,
    }
}

struct Selecting<'e> {
    of: Of,
    /// Names for parts of `self`, with the places of the shadow that they stand for.
    names: Vec<(Ident, TokenStream)>,
    errors: &'e mut Errors,
}

impl Selecting<'_> {
    fn block(&mut self, block: &Block) -> TokenStream {
        let known = self.names.len();
        let Some((Stmt::Expr(last, None), statements)) = block.stmts.split_last() else {
            // It may end in a `return`, or a panic.
            let statements: Vec<_> = block.stmts.iter().map(|statement| self.statement(statement)).collect();
            if !matches!(block.stmts.last(), Some(Stmt::Expr(Expr::Return(_), _) | Stmt::Macro(_))) {
                self.errors.push(block, FORM);
            }
            return quote!(#(#statements)*);
        };
        let statements: Vec<_> = statements.iter().map(|statement| self.statement(statement)).collect();
        let last = self.value(last);
        self.names.truncate(known);
        quote!(#(#statements)* #last)
    }

    /// What computes constants stays as it is.
    fn statement(&mut self, statement: &Stmt) -> TokenStream {
        if let Stmt::Local(syn::Local { pat, init: Some(init), .. }) = statement {
            let pattern = match pat {
                Pat::Type(typed) => &*typed.pat,
                pattern => pattern,
            };
            let place = match &*init.expr {
                Expr::Reference(reference) => self.place(&reference.expr),
                _ => None,
            };
            let taken = crate::rename::bound(pattern);
            self.names.retain(|(name, _)| !taken.contains(name));
            if let (Pat::Ident(name), Some(place)) = (pattern, place) {
                self.names.push((name.ident.clone(), place));
            }
        }
        let mut statement = statement.clone();
        Returned(self).visit_stmt_mut(&mut statement);
        let mut found = Changes(Vec::new());
        found.visit_stmt_mut(&mut statement);
        for change in found.0 {
            self.errors.push(change, "a function that returns a part of `self` changes nothing: write a function that does so by itself");
        }
        statement.to_token_stream()
    }

    /// What is returned, of the shadow.
    fn value(&mut self, expr: &Expr) -> TokenStream {
        match expr {
            Expr::Paren(paren) => self.value(&paren.expr),
            Expr::Block(block) if block.label.is_none() && block.attrs.is_empty() => {
                let block = self.block(&block.block);
                quote!({ #block })
            }
            Expr::If(branch) if branch.else_branch.is_some() => {
                let (cond, then) = (&branch.cond, self.block(&branch.then_branch));
                let otherwise = branch.else_branch.as_ref().map(|(_, otherwise)| self.value(otherwise));
                // An `if` stands behind `else` as it is.
                quote!(if #cond { #then } else { #otherwise })
            }
            Expr::Match(m) => {
                let scrutinee = &m.expr;
                let arms: Vec<_> = m
                    .arms
                    .iter()
                    .map(|arm| {
                        let (pattern, body) = (&arm.pat, self.value(&arm.body));
                        quote!(#pattern => { #body })
                    })
                    .collect();
                quote!(match #scrutinee { #(#arms)* })
            }
            Expr::Return(returned) if let Some(value) = &returned.expr => {
                let value = self.value(value);
                quote!(return #value)
            }
            Expr::Macro(mac) if crate::escape::is_panic(&mac.mac) => expr.to_token_stream(),
            Expr::Reference(reference) => self.part(&reference.expr),
            expr => self.part(expr),
        }
    }

    fn part(&mut self, expr: &Expr) -> TokenStream {
        match self.place(expr) {
            Some(place) => match self.of {
                Of::Shadow => quote_spanned!(expr.span()=> __pb::Shadow::new(&#place).into()),
                Of::Gradient { unique: false } => quote!(&#place),
                Of::Gradient { unique: true } => quote!(&mut #place),
            },
            None => {
                self.errors.push(expr, FORM);
                quote!(::core::unreachable!())
            }
        }
    }

    /// The place of the shadow that is the part `expr` of `self`.
    fn place(&self, expr: &Expr) -> Option<TokenStream> {
        let shadow = shadow_name();
        Some(match expr {
            expr if is_self(expr) => quote!((*#shadow)),
            Expr::Path(path) => {
                let name = path.path.get_ident()?;
                let (_, place) = self.names.iter().rev().find(|(known, _)| known == name)?;
                place.clone()
            }
            Expr::Paren(paren) => self.place(&paren.expr)?,
            Expr::Reference(reference) => self.place(&reference.expr)?,
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.place(&unary.expr)?,
            Expr::Field(field) => {
                let (base, member) = (self.place(&field.base)?, &field.member);
                quote!(#base.#member)
            }
            Expr::Index(index) if is_selected(&index.expr, &index.index) => {
                let (value, base, position) = (&index.expr, self.place(&index.expr)?, &index.index);
                let value = if is_self(value) { quote!(#value) } else { quote!(&#value) };
                quote_spanned!(expr.span()=> (*__pb::part_of(__pb::Select::select(#value, &#base, #position))))
            }
            Expr::Index(index) => {
                let (base, position) = (self.place(&index.expr)?, &index.index);
                quote_spanned!(expr.span()=> #base[#position])
            }
            Expr::MethodCall(call) => self.selected(call)?,
            _ => return None,
        })
    }

    /// A part that a method selects: one of the standard library's, or one like this.
    fn selected(&self, call: &syn::ExprMethodCall) -> Option<TokenStream> {
        let (method, args) = (call.method.to_string(), &call.args);
        let method = method.strip_suffix("_mut").unwrap_or(&method);
        match (method, &*call.receiver) {
            ("as_slice" | "as_mut_slice" | "as_ref" | "as_mut", receiver) if args.is_empty() => {
                let base = self.place(receiver)?;
                Some(quote!(#base[..]))
            }
            ("unwrap" | "expect", Expr::MethodCall(found)) => {
                let name = found.method.to_string();
                let name = name.strip_suffix("_mut").unwrap_or(&name);
                let (base, of) = (self.place(&found.receiver)?, &found.args);
                let known = ["get", "first", "last"].contains(&name).then(|| format_ident!("{name}"))?;
                let last = &call.method;
                Some(quote!((*#base.#known(#of).#last(#args))))
            }
            _ => {
                let (value, base, name) = (&call.receiver, self.place(&call.receiver)?, beside(&call.method));
                Some(quote!((*__pb::part_of(#value.#name(&#base, #args)))))
            }
        }
    }
}

/// `self[(i, j)]` and `self.m[(i, j)]`: what is not indexed by a number alone has an `Index` of its own.
fn is_selected(base: &Expr, index: &Expr) -> bool {
    matches!(index, Expr::Tuple(_)) || is_self(base)
}

fn is_self(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident("self"))
}

/// `return`s within statements.
struct Returned<'s, 'e>(&'s mut Selecting<'e>);

impl VisitMut for Returned<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Return(_) => *expr = Expr::Verbatim(self.0.value(expr)),
            Expr::Closure(_) => {}
            expr => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Assignments to parts of `self`.
struct Changes(Vec<Expr>);

impl VisitMut for Changes {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let changed = match expr {
            Expr::Assign(assign) => is_of_self(&assign.left),
            Expr::Binary(binary) => crate::kind::assigns(&binary.op) && is_of_self(&binary.left),
            _ => false,
        };
        if changed {
            self.0.push(expr.clone());
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}
