//! `flatten` of options: it goes on with what is inside of those that hold something, as `filter_map` does.

use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, Stmt, parse_quote};

use crate::arrays::shape::element;
use crate::iterators::item::{Code, Item};
use crate::outcome::is_option;
use crate::parse::Parser;
use crate::program::Kind;
use crate::views::is_optional;

/// Adapters that hand out some of the items, or all.
const SAME_ITEMS: &[&str] = &[
    "iter",
    "into_iter",
    "copied",
    "cloned",
    "rev",
    "skip",
    "take",
    "step_by",
    "filter",
    "inspect",
    "skip_while",
    "take_while",
    "chain",
    "cycle",
];

impl Parser<'_> {
    /// The items of `chain` are options, as far as syntax tells.
    pub(super) fn hands_out_options(&self, chain: &Expr) -> bool {
        match chain {
            Expr::Paren(paren) => self.hands_out_options(&paren.expr),
            Expr::Reference(reference) => self.hands_out_options(&reference.expr),
            Expr::MethodCall(call) if call.method == "map" => {
                call.args.first().is_some_and(|function| self.makes_options(function))
            }
            Expr::MethodCall(call) if call.method == "into_iter" && is_array_of_fields(&call.receiver) => {
                true
            }
            Expr::MethodCall(call) => {
                SAME_ITEMS.iter().any(|name| call.method == name) && self.hands_out_options(&call.receiver)
            }
            Expr::Array(array) => array.elems.iter().any(|element| self.is_optional(element)),
            expr => self.type_of(expr).and_then(|ty| element(&ty)).is_some_and(|ty| is_option(&ty)),
        }
    }

    /// Lets the compiler refuse an item of which the syntax tells nothing, and that turns out to be an option.
    pub(super) fn flattens(&self, item: &Item, out: &mut Vec<Stmt>) {
        if let Item::Place { place, .. } | Item::Value(place) = item
            && matches!(place, Expr::Index(_))
            && self.kind_of_syntax(place) == Kind::Unknown
        {
            let test = quote_spanned!(place.span()=> {
                ::pullback::__private::flattens((&#place).flattened_items());
                true
            });
            out.push(parse_quote!(::core::debug_assert!(#test);));
        }
    }

    /// The closure returns an option, as far as syntax tells.
    pub(super) fn makes_options(&self, function: &Expr) -> bool {
        let Expr::Closure(closure) = function else { return false };
        Code::of(&closure.body).value.is_some_and(|value| self.is_optional(&value))
    }

    /// The value is an option, as far as syntax tells.
    pub(crate) fn is_optional(&self, value: &Expr) -> bool {
        match value {
            Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Some")),
            Expr::Path(path) if path.path.is_ident("None") => true,
            Expr::If(branch) => {
                let end = branch.then_branch.stmts.last();
                matches!(end, Some(Stmt::Expr(value, None)) if self.is_optional(value))
            }
            Expr::MethodCall(call) => {
                makes_option(call) || passes_option(call) && self.is_optional(&call.receiver)
            }
            value => self.type_of(value).is_some_and(|ty| is_option(&ty)),
        }
    }
}

/// By its name, a method that makes an option of what is none.
fn makes_option(call: &ExprMethodCall) -> bool {
    let name = call.method.to_string();
    is_optional(&name) || name.starts_with("checked_") || name == "then" || name == "then_some"
}

/// By its name, a method of an option that makes another one of it.
fn passes_option(call: &ExprMethodCall) -> bool {
    ["copied", "cloned", "map", "and_then", "filter", "or", "or_else", "zip", "as_ref"]
        .iter()
        .any(|name| call.method == name)
}

/// `[node.left, node.right]`: by value these are hardly arrays.
fn is_array_of_fields(expr: &Expr) -> bool {
    matches!(expr, Expr::Array(array) if array.elems.iter().all(|element| matches!(element, Expr::Field(_))))
}
