//! Functions under names of their own: `let f = if cubic { cube } else { square };`, `let g = &f;`, `[f64::sin, f64::cos]`.
//!
//! A closure just has several names. Otherwise a variable holds the number of a function, `let f = if cubic { 0 } else { 1 };`, and
//! a call goes by that: `match f { 0 => cube(x), _ => square(x) }`. So arrays of functions are arrays of numbers, which loops and
//! iterators go through like any other.

use std::rc::Rc;

use proc_macro2::{Delimiter, TokenTree};
use quote::quote;
use syn::{Expr, ExprCall, Ident, Local, Pat, Stmt, parse_quote};

use crate::iterators::consumers::changes;
use crate::listed::as_array;
use crate::parse::{Binding, Parser};
use crate::rename::{Occurrences, bound, path};

/// The functions among which a variable chooses.
#[derive(Default)]
pub(crate) struct Choice {
    functions: Vec<Expr>,
    /// What the names among them referred to where the variable was made.
    meant: Vec<Option<Binding>>,
    /// Closures among them, which have names now.
    named: Vec<Stmt>,
}

pub(crate) const CHOSEN: &str =
    "a variable chooses this function, whose value is not to be had here: bind it with `let` before";

const MEANT: &str = "this name stands for another variable by now where the function is called: give the later one another name";

const COPIED: &str = "a `move` closure that changes what it captures has one name: call it by that";

impl Parser<'_> {
    /// `let name = …;`, if that is a function or several of them, and values with gradients may be involved.
    pub(crate) fn function_let(&mut self, local: &Local) -> Option<Vec<Stmt>> {
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let (Pat::Ident(name), Some(init)) = (pattern, &local.init) else { return None };
        let plain = name.by_ref.is_none() && name.subpat.is_none() && init.diverge.is_none();
        if !plain || !self.suspects.contains(&name.ident) {
            return None;
        }
        if let Some(closure) = self.closure(&init.expr) {
            if closure.syntax.capture.is_some() && changes(&closure.syntax.body) {
                self.errors.push(&init.expr, COPIED);
            }
            self.scope().insert(name.ident.to_string(), Binding::Closure(closure));
            return Some(Vec::new());
        }
        if self.function_parameter(&init.expr).is_some() {
            return None;
        }
        let mut choice = Choice::default();
        let number = self.numbered(&init.expr, &mut choice)?;
        if choice.functions.is_empty() {
            return None;
        }
        if name.mutability.is_some() {
            let why =
                "which function this is must not change: choose one with `if` or `match` where it is called";
            self.errors.push(name, why);
        }
        for closure in &choice.named {
            self.rewrite(closure);
        }
        choice.meant = choice.functions.iter().map(|function| self.meaning(function)).collect();
        let ident = &name.ident;
        self.push_statement(&parse_quote!(let #ident = #number;));
        if let Some(Binding::Variable(id)) = self.lookup(ident) {
            let id = *id;
            self.choices.insert(id, Rc::new(choice));
        }
        Some(Vec::new())
    }

    /// The number of the function that `expr` is, or what holds such numbers.
    fn numbered(&mut self, expr: &Expr, choice: &mut Choice) -> Option<Expr> {
        match expr {
            Expr::Paren(paren) => self.numbered(&paren.expr, choice),
            Expr::Group(group) => self.numbered(&group.expr, choice),
            Expr::Reference(reference) if reference.mutability.is_none() => {
                self.numbered(&reference.expr, choice)
            }
            Expr::Cast(cast) if matches!(*cast.ty, syn::Type::FnPtr(_)) => self.numbered(&cast.expr, choice),
            Expr::Array(array) => {
                let elements: Option<Vec<_>> = array.elems.iter().map(|e| self.numbered(e, choice)).collect();
                let elements = elements?;
                Some(parse_quote!([#(#elements),*]))
            }
            // Numbers need no vector.
            Expr::Macro(mac) => match as_array(&mac.mac)? {
                array @ Expr::Array(_) => self.numbered(&array, choice),
                _ => None,
            },
            Expr::Call(call) if is_box(&call.func) && call.args.len() == 1 => {
                self.numbered(&call.args[0], choice)
            }
            Expr::Repeat(repeat) => {
                let (element, len) = (self.numbered(&repeat.expr, choice)?, &repeat.len);
                Some(parse_quote!([#element; #len]))
            }
            Expr::If(branch) => {
                let (_, otherwise) = branch.else_branch.as_ref()?;
                let (cond, then) = (&branch.cond, self.numbered(value(&branch.then_branch)?, choice)?);
                let otherwise = self.numbered(otherwise, choice)?;
                Some(parse_quote!(if #cond { #then } else { #otherwise }))
            }
            Expr::Block(block) if block.label.is_none() => self.numbered(value(&block.block)?, choice),
            Expr::Match(m) => {
                let mut m = m.clone();
                for arm in &mut m.arms {
                    let names = Occurrences::of(&arm.body);
                    if bound(&arm.pat).iter().any(|name| names.count(name) > 0) {
                        return None;
                    }
                    *arm.body = self.numbered(&arm.body, choice)?;
                }
                Some(Expr::Match(m))
            }
            Expr::Closure(_) => {
                let name = self.hidden("function");
                choice.named.push(parse_quote!(let #name = #expr;));
                Some(choice.add(path(&name)))
            }
            Expr::Path(_) if self.is_function(expr) => Some(choice.add(expr.clone())),
            _ => {
                let chosen = self.choice(expr)?;
                let first = choice.functions.len();
                choice.functions.extend(chosen.functions.iter().cloned());
                let plain = without_references(expr);
                Some(if first == 0 { plain.clone() } else { parse_quote!((#plain + #first)) })
            }
        }
    }

    /// The path of a function or of a closure.
    fn is_function(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = expr else { return false };
        if self.closure(expr).is_some() || self.function_parameter(expr).is_some() {
            return true;
        }
        let local = path.path.get_ident().is_some_and(|name| self.lookup(name).is_some());
        let last = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        !local && last.starts_with(|c: char| c.is_lowercase() || c == '_')
    }

    fn meaning(&self, function: &Expr) -> Option<Binding> {
        let Expr::Path(path) = function else { return None };
        self.lookup(path.path.get_ident()?).cloned()
    }

    /// The functions among which `expr` chooses.
    fn choice(&self, expr: &Expr) -> Option<Rc<Choice>> {
        let id = match self.lookup(base(without_references(expr))?)? {
            Binding::Variable(id) => *id,
            Binding::Alias { place, .. } => place.base,
            Binding::Closure(_) | Binding::Held(_) => return None,
        };
        self.choices.get(&id).cloned()
    }

    /// A function is called here that a variable chooses, or passed on.
    pub(crate) fn chooses(&self, call: &ExprCall) -> bool {
        self.choice(&call.func).is_some() || call.args.iter().any(|arg| self.passes(arg).is_some())
    }

    /// The choice, where `arg` is one function.
    fn passes(&self, arg: &Expr) -> Option<Rc<Choice>> {
        let inner = without_references(arg);
        matches!(inner, Expr::Path(_) | Expr::Index(_)).then(|| self.choice(inner)).flatten()
    }

    /// The call for each of the functions, where the one that is called, or passed on, is chosen by a variable.
    pub(crate) fn chosen(&mut self, call: &ExprCall) -> Option<Expr> {
        if let Some(choice) = self.choice(&call.func) {
            return Some(self.for_each_of(&choice, &call.func, |function| {
                Expr::Call(ExprCall { func: Box::new(function.clone()), ..call.clone() })
            }));
        }
        let (i, choice) = call.args.iter().enumerate().find_map(|(i, arg)| Some((i, self.passes(arg)?)))?;
        Some(self.for_each_of(&choice, &call.args[i], |function| {
            let mut call = call.clone();
            call.args[i] = match &call.args[i] {
                Expr::Reference(_) => parse_quote!(&#function),
                _ => function.clone(),
            };
            Expr::Call(call)
        }))
    }

    fn for_each_of(&mut self, choice: &Choice, number: &Expr, call: impl Fn(&Expr) -> Expr) -> Expr {
        for (function, meant) in choice.functions.iter().zip(&choice.meant) {
            let same = match (meant, self.meaning(function)) {
                (Some(meant), Some(now)) => meant.is(&now),
                (None, None) => true,
                _ => false,
            };
            if !same {
                self.errors.push(function, MEANT);
            }
        }
        let (last, others) = choice.functions.split_last().expect("there is a function");
        let (last, number) = (call(last), without_references(number));
        if others.is_empty() {
            return last;
        }
        let others = others.iter().enumerate().map(|(i, function)| {
            let call = call(function);
            quote!(#i => #call,)
        });
        parse_quote!(match #number { #(#others)* _ => #last })
    }
}

impl Choice {
    /// The number of another function.
    fn add(&mut self, function: Expr) -> Expr {
        let number = self.functions.len();
        self.functions.push(function);
        parse_quote!(#number)
    }
}

/// What a block that has nothing else in it comes to.
fn value(block: &syn::Block) -> Option<&Expr> {
    match &block.stmts[..] {
        [Stmt::Expr(value, None)] => Some(value),
        _ => None,
    }
}

/// What follows a name makes that a call: `(x)`, or `[i](x)`.
pub(crate) fn is_called(rest: &[TokenTree]) -> bool {
    let mut groups = rest.iter().map_while(|token| match token {
        TokenTree::Group(group) => Some(group.delimiter()),
        _ => None,
    });
    groups.find(|delimiter| *delimiter != Delimiter::Bracket) == Some(Delimiter::Parenthesis)
}

/// `Box::new`
pub(crate) fn is_box(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let mut names = path.path.segments.iter().rev().map(|segment| &segment.ident);
    matches!((names.next(), names.next()), (Some(new), Some(of)) if new == "new" && of == "Box")
}

/// Numbers are copied where functions are referred to.
fn without_references(expr: &Expr) -> &Expr {
    match expr {
        Expr::Reference(reference) => without_references(&reference.expr),
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => without_references(&unary.expr),
        Expr::Paren(paren) => without_references(&paren.expr),
        Expr::Group(group) => without_references(&group.expr),
        expr => expr,
    }
}

/// The variable that `expr` is, or is an element of.
fn base(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Index(index) => base(without_references(&index.expr)),
        _ => None,
    }
}
