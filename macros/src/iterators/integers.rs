//! Ranges of integers that are no indices: `(-r..=r).map(|i| x.powi(i))`. An item comes of the first one and of how many are before it, in
//! the type of the first.

use quote::ToTokens;
use syn::visit::Visit;
use syn::{Expr, Ident, Pat, Type, parse_quote};

use crate::iterators::source::{Function, Source};
use crate::parse::{Binding, Parser};

const INTEGERS: &[&str] =
    &["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

/// Methods of integers that return what they are called on.
const SAME: &[&str] = &[
    "abs",
    "clone",
    "pow",
    "min",
    "max",
    "clamp",
    "isqrt",
    "signum",
    "rem_euclid",
    "div_euclid",
    "div_ceil",
    "unwrap",
];

/// Methods of integers that return a `u32`, whatever they are called on.
const COUNTS: &[&str] =
    &["count_ones", "count_zeros", "leading_zeros", "trailing_zeros", "ilog", "ilog2", "ilog10"];

/// The function of `pullback_rules::__private` that an item comes from.
pub(crate) fn is_item(path: &syn::Path) -> bool {
    is_private(path, "item_of_range")
}

/// Likewise an item of constants, which may be numbers, and how many there are.
pub(crate) fn is_constant_item(path: &syn::Path) -> bool {
    is_private(path, "item_of_constant") || is_private(path, "len_of_constants")
}

/// The function of this `name` of `pullback_rules::__private`.
pub(crate) fn is_private(path: &syn::Path, name: &str) -> bool {
    path.leading_colon.is_some() && path.segments.len() == 3 && path.segments[2].ident == name
}

/// Where this is followed by `*`, it is a reference.
pub(crate) fn is_item_of_constant(init: &Expr) -> bool {
    matches!(init, Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if is_private(&path.path, "item_of_constant")))
}

impl Parser<'_> {
    /// As far as the syntax tells, `expr` is an integer, but no `usize`.
    pub(crate) fn is_other_integer(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }) => is_other(int.suffix()),
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Byte(_), .. }) => true,
            Expr::Cast(cast) => is_other_type(&cast.ty),
            Expr::Paren(paren) => self.is_other_integer(&paren.expr),
            Expr::Group(group) => self.is_other_integer(&group.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => true,
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Not(_)) => self.is_other_integer(&unary.expr),
            Expr::Binary(binary) => match binary.op {
                syn::BinOp::Shl(_) | syn::BinOp::Shr(_) => self.is_other_integer(&binary.left),
                _ => self.is_other_integer(&binary.left) || self.is_other_integer(&binary.right),
            },
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                let same = SAME.contains(&&*name)
                    || ["wrapping_", "saturating_", "checked_"].iter().any(|prefix| name.starts_with(prefix));
                COUNTS.contains(&&*name) || same && self.is_other_integer(&call.receiver)
            }
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => is_item(&path.path) || of_other_integer(&path.path),
                _ => false,
            },
            Expr::Path(path) if path.path.get_ident().is_none() => of_other_integer(&path.path),
            expr => {
                let noted = match expr {
                    Expr::Path(path) => path.path.get_ident().and_then(|name| self.lookup(name)),
                    _ => None,
                };
                let noted = matches!(noted, Some(Binding::Variable(id)) if self.integers.contains(id));
                noted || self.type_of(expr).as_ref().is_some_and(is_other_type)
            }
        }
    }

    /// A bound of a range that a loop goes through tells so.
    pub(crate) fn has_other_bound(&self, range: &Expr) -> bool {
        match range {
            Expr::Range(range) => {
                [&range.start, &range.end].into_iter().flatten().any(|bound| self.is_other_integer(bound))
            }
            Expr::Paren(paren) => self.has_other_bound(&paren.expr),
            Expr::MethodCall(call) => self.has_other_bound(&call.receiver),
            _ => false,
        }
    }

    /// The `start` of a range as a literal with the type that its `end` is written with: methods may be called on the items.
    fn in_type_of(&self, start: Expr, end: Option<&Expr>) -> Expr {
        match (&start, end.and_then(|end| self.written_type(end)).filter(is_other_type)) {
            (Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }), Some(Type::Path(ty)))
                if int.suffix().is_empty() =>
            {
                let literal = syn::LitInt::new(&format!("{int}{}", ty.path.to_token_stream()), int.span());
                parse_quote!(#literal)
            }
            _ => start,
        }
    }

    /// The type of an integer, by a cast or a declaration.
    fn written_type(&self, expr: &Expr) -> Option<Type> {
        match expr {
            Expr::Cast(cast) => Some((*cast.ty).clone()),
            Expr::Paren(paren) => self.written_type(&paren.expr),
            Expr::Binary(binary) if !matches!(binary.op, syn::BinOp::Shl(_) | syn::BinOp::Shr(_)) => {
                self.written_type(&binary.left).or_else(|| self.written_type(&binary.right))
            }
            expr => self.type_of(expr),
        }
    }

    /// `range` as one of integers that need be no indices, if a bound tells so.
    pub(super) fn range(&self, range: &syn::ExprRange, start: Expr, end: Option<Expr>) -> Source {
        let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
        let start = self.in_type_of(start, range.end.as_deref());
        match (self.has_other_bound(&Expr::Range(range.clone())), end) {
            (true, end) => Source::Integers { start, end, inclusive },
            (false, Some(end)) => Source::Range { start, end, inclusive },
            (false, None) => Source::From(start),
        }
    }
}

fn is_other(name: &str) -> bool {
    name != "usize" && INTEGERS.contains(&name)
}

/// A type of integers, or of references to such, that are no indices.
pub(crate) fn is_other_type(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.get_ident().is_some_and(|name| is_other(&name.to_string())),
        Type::Reference(reference) => is_other_type(&reference.elem),
        Type::Paren(paren) => is_other_type(&paren.elem),
        _ => false,
    }
}

/// `i32::MAX`, `i32::from`
fn of_other_integer(path: &syn::Path) -> bool {
    let before_last = path.segments.iter().rev().nth(1);
    before_last.is_some_and(|of| is_other(&of.ident.to_string()))
}

/// Of a range between literals only what is done with its items tells the type: where `pattern` is bound to them and `code` passes them to
/// a function, the compiler is to find out.
pub(super) fn leave_open(source: &mut Source, pattern: &Pat, code: &Expr) {
    match (source, pattern) {
        (source @ Source::Range { .. }, Pat::Ident(name)) => {
            let Source::Range { start, end, inclusive } = &*source else { unreachable!("matched") };
            if is_unsuffixed(start) && is_unsuffixed(end) && is_passed(&name.ident, code) {
                let (start, end, inclusive) = (start.clone(), Some(end.clone()), *inclusive);
                *source = Source::Integers { start, end, inclusive };
            }
        }
        (
            Source::Skip(inner, _)
            | Source::Take(inner, _)
            | Source::StepBy(inner, _)
            | Source::Rev(inner, _),
            pattern,
        ) => leave_open(inner, pattern, code),
        (Source::Zip(left, right), Pat::Tuple(parts)) if parts.elems.len() == 2 => {
            leave_open(left, &parts.elems[0], code);
            leave_open(right, &parts.elems[1], code);
        }
        (Source::Enumerate(inner), Pat::Tuple(parts)) if parts.elems.len() == 2 => {
            leave_open(inner, &parts.elems[1], code);
        }
        (source, Pat::Paren(paren)) => leave_open(source, &paren.pat, code),
        _ => {}
    }
}

/// Likewise where `function` is what the items are mapped by.
pub(super) fn leave_open_to(source: &mut Source, function: &Function) {
    match function {
        Function::Closure(closure) => {
            if let Some(pattern) = closure.inputs.first() {
                leave_open(source, pattern, &closure.body);
            }
        }
        Function::Path(path) => {
            let name = quote::format_ident!("item");
            leave_open(source, &syn::parse_quote!(#name), &syn::parse_quote!(#path(#name)));
        }
    }
}

fn is_unsuffixed(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }) if int.suffix().is_empty())
}

/// `code` passes what is called `name` to a function or a method.
fn is_passed(name: &Ident, code: &Expr) -> bool {
    struct Passed<'n>(&'n Ident, bool);
    impl Passed<'_> {
        fn look(&mut self, args: &syn::punctuated::Punctuated<Expr, syn::Token![,]>) {
            self.1 |= args.iter().any(|arg| matches!(arg, Expr::Path(path) if path.path.is_ident(self.0)));
        }
    }
    impl<'ast> Visit<'ast> for Passed<'_> {
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            self.look(&call.args);
            syn::visit::visit_expr_call(self, call);
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            self.look(&call.args);
            syn::visit::visit_expr_method_call(self, call);
        }
    }
    let mut passed = Passed(name, false);
    passed.visit_expr(code);
    passed.1
}
