//! Other ways to write `x.to_vec()`, `Vec::from(x)` and `<[f64]>::to_vec(x)`, and that of an array, which is a `vec![…]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprCall, ExprRepeat, Type, parse_quote};

use crate::suspects::Suspects;

/// Has `block` copy by `to_vec` what `suspects` say may carry a gradient.
pub(crate) fn with_copying_methods(suspects: &Suspects, block: &mut Block) {
    Copying(suspects).visit_block_mut(block);
}

struct Copying<'s>(&'s Suspects);

impl VisitMut for Copying<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Call(call) = &*expr
            && let Some(slice) = copied(call).filter(|slice| self.0.any(*slice))
        {
            *expr = parse_quote!(#slice.to_vec());
        }
        if let Expr::MethodCall(call) = &*expr
            && call.method == "to_vec"
            && let Some(elements) = elements(&call.receiver)
            && self.0.any(&elements)
        {
            *expr = parse_quote!(vec![#elements]);
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// What stands in the brackets of an array.
fn elements(array: &Expr) -> Option<TokenStream> {
    match array {
        Expr::Array(array) => Some(array.elems.to_token_stream()),
        Expr::Repeat(ExprRepeat { expr, len, .. }) => Some(quote!(#expr; #len)),
        _ => None,
    }
}

/// What such a call copies: a place, what another call returns, or an array.
fn copied(call: &ExprCall) -> Option<&Expr> {
    let Expr::Path(function) = &*call.func else { return None };
    let mut names = function.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let of_slices = matches!(function.qself.as_ref().map(|of| &*of.ty), Some(Type::Slice(_)));
    let copies = match (names.next()?.as_str(), names.next().as_deref()) {
        ("from", Some("Vec")) => function.qself.is_none(),
        ("to_vec", None) => of_slices,
        _ => false,
    };
    let slice = match call.args.first().filter(|_| copies && call.args.len() == 1)? {
        Expr::Reference(reference) => &*reference.expr,
        slice => slice,
    };
    let place = matches!(slice, Expr::Path(_) | Expr::Field(_) | Expr::Index(_) | Expr::Paren(_));
    let made = matches!(slice, Expr::Call(_) | Expr::MethodCall(_) | Expr::Array(_) | Expr::Repeat(_));
    (place || made).then_some(slice)
}
