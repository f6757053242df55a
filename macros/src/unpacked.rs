//! Assignments to several places at once: `(a, b) = (b, a + b);` is `let (u, v) = (b, a + b); a = u; b = v;`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser as _;
use syn::{Expr, ExprAssign, Ident, Pat, RangeLimits, Stmt, parse_quote};

use crate::parse::Parser;
use crate::rename::path;

impl Parser<'_> {
    /// The statements that such an assignment stands for.
    pub(crate) fn unpacked(&mut self, assign: &ExprAssign) -> Option<Vec<Stmt>> {
        if !matches!(
            &*assign.left,
            Expr::Tuple(_) | Expr::Array(_) | Expr::Struct(_) | Expr::Call(_) | Expr::Infer(_)
        ) {
            return None;
        }
        if let Some(swaps) = exchanged(assign) {
            return Some(swaps);
        }
        let mut places = Vec::new();
        let (pattern, value) = (self.places_of(&assign.left, &mut places)?, &assign.right);
        let mut out = vec![parse_quote!(let #pattern = #value;)];
        out.extend(places.iter().map(|(place, name)| -> Stmt { parse_quote!(#place = #name;) }));
        Some(out)
    }

    /// The left-hand side as a pattern, with a name for each place in it.
    fn places_of(&mut self, left: &Expr, places: &mut Vec<(Expr, Ident)>) -> Option<Pat> {
        let mut inner = |elements: &mut dyn Iterator<Item = &Expr>| -> Option<Vec<Pat>> {
            elements.map(|element| self.places_of(element, places)).collect()
        };
        Some(match left {
            Expr::Tuple(tuple) => {
                let elements = inner(&mut tuple.elems.iter())?;
                single(quote!((#(#elements,)*)))?
            }
            Expr::Array(array) => {
                let elements = inner(&mut array.elems.iter())?;
                single(quote!([#(#elements),*]))?
            }
            Expr::Call(call) => {
                let (function, elements) = (&call.func, inner(&mut call.args.iter())?);
                single(quote!(#function(#(#elements),*)))?
            }
            Expr::Struct(literal) => {
                let elements = inner(&mut literal.fields.iter().map(|field| &field.expr))?;
                let (path, members) = (&literal.path, literal.fields.iter().map(|field| &field.member));
                let rest = literal.dot2_token;
                single(quote!(#path { #(#members: #elements,)* #rest }))?
            }
            Expr::Paren(paren) => return self.places_of(&paren.expr, places),
            Expr::Infer(_) => single(quote!(_))?,
            Expr::Range(range) if range.start.is_none() && range.end.is_none() => {
                matches!(range.limits, RangeLimits::HalfOpen(_)).then(|| single(quote!(..)))??
            }
            place => {
                let name = self.hidden("assigned");
                places.push((place.clone(), name.clone()));
                single(quote!(#name))?
            }
        })
    }
}

fn single(tokens: TokenStream) -> Option<Pat> {
    Pat::parse_single.parse2(tokens).ok()
}

/// `(a, b) = (b, a);` and the like: variables that change places, whatever they hold.
fn exchanged(assign: &ExprAssign) -> Option<Vec<Stmt>> {
    let (Expr::Tuple(left), Expr::Tuple(right)) = (&*assign.left, &*assign.right) else { return None };
    let names = |tuple: &syn::ExprTuple| -> Option<Vec<Ident>> {
        let name = |expr: &Expr| match expr {
            Expr::Path(path) => path.path.get_ident().cloned(),
            _ => None,
        };
        tuple.elems.iter().map(name).collect()
    };
    // What each variable is to hold, and what it holds.
    let (left, mut right) = (names(left)?, names(right)?);
    let mut held = left.clone();
    let mut swaps = Vec::new();
    for (i, wanted) in std::mem::take(&mut right).into_iter().enumerate() {
        let from = held.iter().position(|name| *name == wanted).filter(|from| *from >= i)?;
        if from != i {
            let (one, other) = (path(&left[i]), path(&left[from]));
            swaps.push(parse_quote!(::std::mem::swap(&mut #one, &mut #other);));
            held.swap(i, from);
        }
    }
    Some(swaps)
}
