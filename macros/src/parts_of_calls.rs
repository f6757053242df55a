//! Parts of what calls return, without a name for the whole: `f(x)[0]`, `*f(x).last().unwrap()`, `f(x).last().copied().unwrap_or(0.0)`,
//! and of what operators of users' types do, `(a * b).0[1]`, and of arrays, `[a, b][i]`.
//! The whole gets a name, and the part is one of a variable.

use syn::{Expr as Syn, ExprMethodCall, Pat, Stmt, UnOp, parse_quote};

use crate::iterators::SOURCES;
use crate::parse::Parser;
use crate::rename::path;
use crate::variants::guarded;

impl Parser<'_> {
    /// `f(x)[0]` as `{ let whole = f(x); whole[0] }`; `None` if it is no part of what a call returns.
    pub(crate) fn part_of_call(&mut self, expr: &Syn) -> Option<Syn> {
        let mut part = expr.clone();
        let named = self.named_whole(taken_from(&mut part)?)?;
        Some(parse_quote!({ #named #part }))
    }

    /// `f(x).last().copied().unwrap_or(0.0)` likewise.
    pub(crate) fn element_of_call(&mut self, expr: &Syn) -> Option<Syn> {
        let (named, element) = self.named_element(expr)?;
        Some(parse_quote!({ #named #element }))
    }

    /// `if let Some(v) = f(x).last() { … }` and `if let [a, b] = f(x).as_slice() { … }` likewise, and `match` with such a scrutinee.
    pub(crate) fn choice_by_element_of_call(&mut self, expr: &Syn) -> Option<Syn> {
        match expr {
            Syn::Match(m) => {
                let patterns = m.arms.iter().map(|arm| guarded(&arm.pat).0);
                let (named, element) = self.named_element_or_slice(&m.expr, patterns)?;
                let choice = syn::ExprMatch { expr: Box::new(element), ..m.clone() };
                Some(parse_quote!({ #named #choice }))
            }
            Syn::If(branch) => {
                let Syn::Let(test) = &*branch.cond else { return None };
                let (named, element) =
                    self.named_element_or_slice(&test.expr, std::iter::once(&*test.pat))?;
                let test = syn::ExprLet { expr: Box::new(element), ..test.clone() };
                let choice = syn::ExprIf { cond: Box::new(Syn::Let(test)), ..branch.clone() };
                Some(parse_quote!({ #named #choice }))
            }
            _ => None,
        }
    }

    /// `let Some(v) = f(x).last() else { … };`, `let [a, b] = f(x)[..] else { … };` and `let v = f(x).last()?;`, likewise.
    pub(crate) fn let_element_of_call(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let (init, pattern) = (&local.init.as_ref()?.expr, std::iter::once(&local.pat));
        let (named, element) = self.named_element_or_slice(init, pattern)?;
        let mut local = local.clone();
        *local.init.as_mut()?.expr = element;
        Some(vec![named, Stmt::Local(local)])
    }

    /// A name for what makes the vector that `argument` is a reference to an element of: `&f(x)[1]` and `f(x).last().unwrap()`.
    pub(crate) fn referred_call(&mut self, argument: &mut Syn) -> Option<Stmt> {
        let refers = match &*argument {
            Syn::Reference(reference) => {
                reference.mutability.is_none() && matches!(*reference.expr, Syn::Index(_))
            }
            element => is_element(element),
        };
        let part = match argument {
            _ if !refers => return None,
            Syn::Reference(reference) => &mut *reference.expr,
            element => element,
        };
        let call = taken_from(part)?;
        if self.is_made(call) { self.named_whole(call) } else { None }
    }

    /// `*f(x).last().unwrap()` for `f(x).last().unwrap()` as an operand, which is the number that the reference leads to.
    pub(crate) fn number_of_call(&self, operand: &Syn) -> Option<Syn> {
        let end = if is_element(operand) { option(operand).and_then(end)? } else { return None };
        self.is_made(&end.receiver).then(|| parse_quote!(*#operand))
    }

    /// What is made of an element of what a call returns, or a part that patterns of slices take apart, after a name for that.
    fn named_element_or_slice<'p>(
        &mut self,
        expr: &Syn,
        mut patterns: impl Iterator<Item = &'p Pat>,
    ) -> Option<(Stmt, Syn)> {
        let mut part = expr.clone();
        match sliced(&mut part).filter(|from| self.is_made(from)) {
            Some(call) if patterns.any(is_of_slice) => Some((self.named_whole(call)?, part)),
            _ => self.named_element(expr),
        }
    }

    /// What is made of an element of what a call returns, after a name for that.
    fn named_element(&mut self, expr: &Syn) -> Option<(Stmt, Syn)> {
        // Nothing else is worth a copy.
        if !matches!(expr, Syn::MethodCall(_) | Syn::Try(_) | Syn::Unary(_)) {
            return None;
        }
        let mut element = expr.clone();
        let call = element_from(&mut element, &|from| self.is_made(from))?;
        Some((self.named_whole(call)?, element))
    }

    /// A name instead of `call`, if that may carry a gradient.
    fn named_whole(&mut self, call: &mut Syn) -> Option<Stmt> {
        if !self.suspects.any(&*call) {
            return None;
        }
        let whole = self.hidden("whole");
        let call = std::mem::replace(call, path(&whole));
        Some(parse_quote!(let #whole = #call;))
    }

    /// A function has made this, or a method of a user's type, or it is a copy of a slice.
    fn is_made(&self, expr: &Syn) -> bool {
        match expr {
            Syn::Call(call) => matches!(&*call.func, Syn::Path(_)),
            Syn::MethodCall(call) => {
                let of_self = matches!(&*call.receiver, Syn::Path(path) if path.path.is_ident("self_"));
                let chain = SOURCES.iter().any(|name| call.method == name);
                call.method == "to_vec" || !chain && (of_self || self.is_told_to_be_of_user(&call.receiver))
            }
            _ => false,
        }
    }
}

/// The call that `part` is a part of what it returns, the operator of a user's type, or an array that is written out.
fn taken_from(part: &mut Syn) -> Option<&mut Syn> {
    if !is_element(part) && matches!(part, Syn::Call(_) | Syn::MethodCall(_) | Syn::Try(_)) {
        return Some(part);
    }
    match part {
        Syn::Binary(_) | Syn::Array(_) => Some(part),
        Syn::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => Some(part),
        Syn::Index(index) => taken_from(&mut index.expr),
        Syn::Field(field) => taken_from(&mut field.base),
        Syn::Paren(paren) => taken_from(&mut paren.expr),
        Syn::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => taken_from(&mut unary.expr),
        // An element, as above.
        Syn::MethodCall(element) => taken_from(receiver(&mut element.receiver)?),
        Syn::Try(element) => taken_from(receiver(&mut element.expr)?),
        _ => None,
    }
}

/// The call that returns a vector, by `is_made`, of which `part` is an element or made of one.
fn element_from<'p>(part: &'p mut Syn, is_made: &dyn Fn(&Syn) -> bool) -> Option<&'p mut Syn> {
    let of_call = end(part).is_some_and(|end| is_made(&end.receiver));
    match part {
        Syn::MethodCall(call) => {
            let receiver = &mut *call.receiver;
            if of_call { Some(receiver) } else { element_from(receiver, is_made) }
        }
        Syn::Try(tried) => element_from(&mut tried.expr, is_made),
        Syn::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => element_from(&mut unary.expr, is_made),
        _ => None,
    }
}

/// The vector of which `part` is a slice: `x.as_slice()`, `x[..]`, `&x[1..]`.
fn sliced(part: &mut Syn) -> Option<&mut Syn> {
    match part {
        Syn::MethodCall(call) if call.method == "as_slice" => Some(&mut *call.receiver),
        Syn::Reference(reference) if reference.mutability.is_none() => sliced(&mut reference.expr),
        Syn::Index(index) if matches!(*index.index, Syn::Range(_)) => Some(&mut *index.expr),
        Syn::Paren(paren) => sliced(&mut paren.expr),
        _ => None,
    }
}

/// `[a, b]`, `&[a, b]`, and alternatives of such.
fn is_of_slice(pattern: &Pat) -> bool {
    match pattern {
        Pat::Slice(_) => true,
        Pat::Reference(reference) => is_of_slice(&reference.pat),
        Pat::Or(cases) => cases.cases.iter().any(is_of_slice),
        _ => false,
    }
}

fn receiver(of: &mut Syn) -> Option<&mut Syn> {
    match of {
        Syn::MethodCall(call) => Some(&mut *call.receiver),
        _ => None,
    }
}

/// `x.last()` and the like: an element, if there is one.
fn end(expr: &Syn) -> Option<&ExprMethodCall> {
    match expr {
        Syn::MethodCall(call) if ["first", "last", "get"].iter().any(|name| call.method == name) => {
            Some(call)
        }
        _ => None,
    }
}

/// `x.last().unwrap()` and the like: a reference to the element, which has to be there or is gone out of.
pub(crate) fn is_element(expr: &Syn) -> bool {
    option(expr).and_then(end).is_some()
}

fn option(element: &Syn) -> Option<&Syn> {
    match element {
        Syn::MethodCall(call) if call.method == "unwrap" || call.method == "expect" => Some(&*call.receiver),
        Syn::Try(tried) => Some(&*tried.expr),
        _ => None,
    }
}
