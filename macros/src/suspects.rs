//! Names that may carry a gradient, guessed before anything is parsed. Chains of iterators and closures that mention none of
//! them stay as they are. A guess too many costs nothing but the rewriting; one that is missing shows as an error later, when
//! activity is known.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit::{Visit, visit_expr};
use syn::{Expr, Ident, Pat};

use crate::kind::{inert, inert_method, kind_of_type, numeric_method};
use crate::parse::assign_op;
use crate::passing::Passing;
use crate::purity::{Asked, asked_by, each_name};
use crate::rename::{Occurrences, bound};
use crate::signature::Signature;
use crate::statements::referent;
use crate::zips::{Azip, Producer, chain};

#[derive(Default)]
pub(crate) struct Suspects(HashSet<String>);

/// What a statement hands from some names to others.
struct Flow {
    from: HashSet<String>,
    to: Vec<String>,
}

impl Suspects {
    pub(crate) fn of(signature: &Signature, body: &syn::Block) -> Self {
        let mut names = HashSet::new();
        let mut flows = Flows::default();
        for parameter in &signature.parameters {
            let Some(name) = &parameter.name else { continue };
            if !parameter.constant && !inert(&kind_of_type(&parameter.ty)) {
                names.insert(text(name));
            }
            if parameter.passing == Passing::Unique {
                flows.unique.insert(text(name));
            }
        }
        flows.visit_block(body);
        loop {
            let before = names.len();
            for flow in &flows.found {
                if flow.from.iter().any(|name| names.contains(name)) {
                    names.extend(flow.to.iter().cloned());
                }
            }
            if names.len() == before {
                return Suspects(names);
            }
        }
    }

    /// One of the names in `tokens` may carry a gradient.
    pub(crate) fn any(&self, tokens: impl ToTokens) -> bool {
        mentioned(tokens.into_token_stream()).iter().any(|name| self.0.contains(name))
    }

    /// The same, but for what closures in `expr` are given: that is what the rest of it is.
    pub(crate) fn any_outside(&self, expr: &Expr) -> bool {
        outside(expr).iter().any(|name| self.0.contains(name))
    }

    /// The same, also of those of which only the shape or the like is asked.
    pub(crate) fn mention(&self, tokens: impl ToTokens) -> bool {
        Occurrences::of(tokens).names().any(|name| self.0.contains(name))
    }

    pub(crate) fn contains(&self, name: &Ident) -> bool {
        self.0.contains(&text(name))
    }

    pub(crate) fn insert(&mut self, name: &Ident) {
        self.0.insert(text(name));
    }
}

fn text(name: &Ident) -> String {
    name.unraw().to_string()
}

/// The names in `tokens`, but for those of which only the shape is asked.
fn mentioned(tokens: TokenStream) -> HashSet<String> {
    let mut found = HashSet::new();
    each_name(tokens, &mut |token, asked| {
        if let (TokenTree::Ident(name), Asked::Value | Asked::Bits) = (token, asked) {
            found.insert(text(name));
        }
    });
    found
}

/// The names in `expr`, but for those that closures in it bind, and those of which only the shape is asked.
fn outside(expr: &Expr) -> HashSet<String> {
    #[derive(Default)]
    struct Outside {
        bound: Vec<String>,
        found: HashSet<String>,
    }
    impl<'ast> Visit<'ast> for Outside {
        fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
            let around = self.bound.len();
            self.bound.extend(closure.inputs.iter().flat_map(bound).map(|name| text(&name)));
            self.visit_expr(&closure.body);
            self.bound.truncate(around);
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            match &*call.receiver {
                Expr::Path(_) if asked_by(&call.method.to_string()) == Asked::Shape => {}
                receiver => self.visit_expr(receiver),
            }
            call.args.iter().for_each(|arg| self.visit_expr(arg));
        }
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            if !matches!(&*call.func, Expr::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "constant"))
            {
                syn::visit::visit_expr_call(self, call);
            }
        }
        fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
            if let Some(name) = path.path.get_ident().map(text)
                && !self.bound.contains(&name)
            {
                self.found.insert(name);
            }
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            self.found.extend(mentioned(mac.tokens.clone()));
        }
    }
    let mut names = Outside::default();
    names.visit_expr(expr);
    names.found
}

#[derive(Default)]
struct Flows {
    found: Vec<Flow>,
    unique: HashSet<String>,
}

impl Flows {
    fn add(&mut self, from: impl ToTokens, to: Vec<Ident>) {
        self.hand(from, to.iter().map(text).collect());
    }

    fn hand(&mut self, from: impl ToTokens, to: Vec<String>) {
        if !to.is_empty() {
            self.found.push(Flow { from: mentioned(from.into_token_stream()), to });
        }
    }

    /// Where one of `names` is called, it is one of the functions that are mentioned in `of`.
    fn call(&mut self, names: &[Ident], of: &Expr) {
        if names.is_empty() {
            return;
        }
        let mut to: Vec<_> = mentioned(of.to_token_stream()).iter().map(|name| format!("{name}()")).collect();
        to.extend(names.iter().map(text));
        self.found.push(Flow { from: names.iter().map(|name| format!("{name}()")).collect(), to });
    }

    /// The names of a pattern stand for the parts of what `expr` is.
    fn bind_parts(&mut self, pattern: &Pat, expr: &Expr) {
        match (pattern, expr) {
            (Pat::Tuple(names), Expr::Tuple(parts))
                if names.elems.len() == parts.elems.len()
                    && !names.elems.iter().any(|name| matches!(name, Pat::Rest(_))) =>
            {
                for (name, part) in names.elems.iter().zip(&parts.elems) {
                    self.bind_parts(name, part);
                }
            }
            _ => {
                self.bind(expr, bound(pattern));
                // Nothing calls a number.
                if !matches!(expr, Expr::MethodCall(call) if inert_method(&call.method.to_string())) {
                    self.call(&bound(pattern), expr);
                }
            }
        }
    }

    /// The names of a pattern stand for the parts of what `expr` goes through.
    fn bind_items(&mut self, pattern: &Pat, expr: &Expr) {
        if let (Some((first, second)), Expr::MethodCall(call)) = (pair(pattern), expr) {
            match (&*call.method.to_string(), call.args.first()) {
                ("enumerate", None) => return self.bind_items(second, &call.receiver),
                ("zip", Some(other)) => {
                    self.bind_items(first, &call.receiver);
                    return self.bind_items(second, other);
                }
                _ => {}
            }
        }
        self.bind(expr, bound(pattern));
        self.call(&bound(pattern), expr);
    }

    /// The names of a pattern stand for what `expr` is, and where they may be written through for what it refers to.
    fn bind(&mut self, expr: &Expr, names: Vec<Ident>) {
        if unique(expr.to_token_stream()) {
            let of = mentioned(expr.to_token_stream()).into_iter().collect();
            self.found.push(Flow { from: names.iter().map(text).collect(), to: of });
        }
        if !names.is_empty() {
            self.found.push(Flow { from: outside(expr), to: names.iter().map(text).collect() });
        }
    }
}

/// There is a `&mut` in `tokens`, or a method such as `iter_mut`.
fn unique(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => unique(group.stream()),
        TokenTree::Ident(ident) => ident == "mut" || ident.to_string().ends_with("_mut"),
        _ => false,
    })
}

/// The variable that an expression is, or is a part of, or that its methods are called on.
pub(crate) fn base(expr: &Expr) -> Option<&Ident> {
    match part_of(expr) {
        Expr::MethodCall(call) => base(&call.receiver),
        expr => name(expr),
    }
}

/// The variable that a place is, or is a part of.
pub(crate) fn variable_of(place: &Expr) -> Option<&Ident> {
    name(part_of(place))
}

/// What `place` is a part of, if it is one.
pub(crate) fn part_of(place: &Expr) -> &Expr {
    match place {
        Expr::Index(index) => part_of(&index.expr),
        Expr::Field(field) => part_of(&field.base),
        Expr::Unary(unary) => part_of(&unary.expr),
        Expr::Paren(paren) => part_of(&paren.expr),
        Expr::Group(group) => part_of(&group.expr),
        Expr::Reference(reference) => part_of(&reference.expr),
        place => place,
    }
}

fn name(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
}

/// An iterator over shared references: what its methods are given does not come to what it goes through.
fn only_read(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => call.method == "iter" || only_read(&call.receiver),
        Expr::Paren(paren) => only_read(&paren.expr),
        _ => false,
    }
}

/// An adapter or a consumer of an iterator that evidently writes to nothing, neither to what it goes through: what closures compute goes on to
/// the result.
fn only_computes(call: &syn::ExprMethodCall) -> bool {
    struct Writes {
        given: Vec<Ident>,
        found: bool,
    }
    impl Writes {
        fn is_given(&self, expr: &Expr) -> bool {
            name(expr).is_some_and(|name| self.given.contains(name))
        }
    }
    impl<'ast> Visit<'ast> for Writes {
        fn visit_expr_assign(&mut self, _: &'ast syn::ExprAssign) {
            self.found = true;
        }
        fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
            self.found |= assign_op(&binary.op).is_some();
            syn::visit::visit_expr_binary(self, binary);
        }
        fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
            self.found |= matches!(stmt, syn::Stmt::Expr(_, Some(_)));
            syn::visit::visit_stmt(self, stmt);
        }
        // Items may be references of which nothing tells that something is written by them.
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            let something = call.args.iter().any(|arg| !matches!(arg, Expr::Lit(_)));
            let writes = something && !numeric_method(&call.method.to_string());
            self.found |= writes && self.is_given(&call.receiver);
            syn::visit::visit_expr_method_call(self, call);
        }
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            self.found |= call.args.iter().any(|arg| self.is_given(arg));
            syn::visit::visit_expr_call(self, call);
        }
    }
    const NAMES: &[&str] = &[
        "map",
        "filter",
        "filter_map",
        "flat_map",
        "take_while",
        "map_while",
        "skip_while",
        "zip",
        "chain",
        "fold",
        "any",
        "all",
    ];
    if !NAMES.iter().any(|name| call.method == name) || !matches!(&*call.receiver, Expr::MethodCall(_)) {
        return false;
    }
    let given = call.args.iter().flat_map(parameters).collect();
    let mut writes = Writes { given, found: unique(call.to_token_stream()) };
    call.args.iter().for_each(|arg| writes.visit_expr(arg));
    !writes.found
}

/// The parts of the pattern of a pair.
fn pair(pattern: &Pat) -> Option<(&Pat, &Pat)> {
    let Pat::Tuple(tuple) = pattern else { return None };
    match &tuple.elems.iter().collect::<Vec<_>>()[..] {
        [Pat::Rest(_), _] | [_, Pat::Rest(_)] => None,
        &[first, second] => Some((first, second)),
        _ => None,
    }
}

/// The closure is given the items of the receiver, as they are.
fn gives_items(call: &syn::ExprMethodCall) -> bool {
    const NAMES: &[&str] = &[
        "map",
        "filter",
        "filter_map",
        "flat_map",
        "for_each",
        "inspect",
        "any",
        "all",
        "find",
        "find_map",
        "position",
        "take_while",
        "map_while",
        "skip_while",
    ];
    call.args.len() == 1 && NAMES.iter().any(|name| call.method == name)
}

/// What closures call the numbers of the items of `enumerate`.
fn numbers_of_items(call: &syn::ExprMethodCall) -> Vec<Ident> {
    if !matches!(&*call.receiver, Expr::MethodCall(receiver) if receiver.method == "enumerate") {
        return Vec::new();
    }
    let items = call.args.iter().filter_map(|arg| match arg {
        Expr::Closure(closure) => pair(closure.inputs.last()?),
        _ => None,
    });
    items.flat_map(|(number, _)| bound(number)).collect()
}

fn parameters(expr: &Expr) -> Vec<Ident> {
    match expr {
        Expr::Closure(closure) => closure.inputs.iter().flat_map(bound).collect(),
        Expr::Reference(reference) => parameters(&reference.expr),
        _ => Vec::new(),
    }
}

/// The variables of which a `Zip` may write to elements.
fn written(producers: &[Producer]) -> Vec<Ident> {
    let written = producers.iter().filter(|producer| producer.is_written());
    written.filter_map(|producer| base(&producer.array)).cloned().collect()
}

impl<'ast> Visit<'ast> for Flows {
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if let Some(Azip { producers, patterns, body, .. }) = Azip::of(mac) {
            let names = patterns.iter().flat_map(bound).chain(written(&producers)).collect();
            self.add(&mac.tokens, names);
            // What the body binds.
            let mut inner = Flows { unique: std::mem::take(&mut self.unique), ..Flows::default() };
            inner.visit_expr(&body);
            self.unique = inner.unique;
            self.found.append(&mut inner.found);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let without = matches!(&local.pat, Pat::Type(typed) if inert(&kind_of_type(&typed.ty)));
        if let (Some(init), false) = (&local.init, without) {
            self.bind_parts(&local.pat, &init.expr);
            if let Expr::Closure(closure) = referent(&init.expr) {
                // Its parameters are what it is called with: the name stands for all of that.
                let names = bound(&local.pat);
                self.found.push(Flow {
                    from: names.iter().map(|name| format!("{name}()")).collect(),
                    to: closure.inputs.iter().flat_map(bound).chain(names).map(|n| text(&n)).collect(),
                });
            }
        }
        syn::visit::visit_local(self, local);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Assign(assign) => {
                self.add(&assign.right, base(&assign.left).into_iter().cloned().collect())
            }
            Expr::Binary(binary) if assign_op(&binary.op).is_some() => {
                self.add(&binary.right, base(&binary.left).into_iter().cloned().collect());
            }
            Expr::ForLoop(f) => self.bind_items(&f.pat, &f.expr),
            Expr::Let(l) => self.bind(&l.expr, bound(&l.pat)),
            Expr::Match(m) => {
                let names = m.arms.iter().flat_map(|arm| bound(&arm.pat)).collect();
                self.bind(&m.expr, names);
            }
            Expr::MethodCall(call) => {
                if let Some((producers, _)) = chain(&call.receiver) {
                    self.add(call, written(&producers));
                }
                let mut names: Vec<_> = call.args.iter().flat_map(parameters).collect();
                let numbers = numbers_of_items(call);
                names.retain(|name| !numbers.contains(name));
                self.call(&names, expr);
                if gives_items(call) {
                    self.add(&call.receiver, names);
                } else {
                    self.add(call, names);
                }
                if !only_read(&call.receiver) && !only_computes(call) {
                    self.add(&call.args, base(&call.receiver).into_iter().cloned().collect());
                }
                let functions =
                    call.args.iter().filter_map(base).map(|name| format!("{}()", text(name))).collect();
                self.hand(call, functions);
            }
            Expr::Call(call) => {
                let mut to: Vec<_> = call.args.iter().flat_map(parameters).collect();
                to.extend(call.args.iter().filter_map(|arg| match arg {
                    Expr::Reference(reference) if reference.mutability.is_some() => base(arg).cloned(),
                    Expr::Path(_) => base(arg).filter(|name| self.unique.contains(&text(name))).cloned(),
                    _ => None,
                }));
                self.add(&call.args, to);
                // What a closure is called with is known to the function that it is passed to.
                let functions =
                    call.args.iter().filter_map(base).map(|name| format!("{}()", text(name))).collect();
                self.hand(&call.args, functions);
                if let Some(name) = base(&call.func) {
                    self.hand(&call.args, vec![format!("{name}()")]);
                }
            }
            _ => {}
        }
        visit_expr(self, expr);
    }
}
