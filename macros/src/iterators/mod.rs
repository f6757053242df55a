//! Chains of iterators, and loops over them, become loops over indices before anything is analysed.
//!
//! A chain has a source, adapters and a consumer. [`source`] holds what reaches its items by an index; [`flow`] the stages
//! that do not, such as `filter`; [`consumers`] what is made of the items. The result is syntax, which the parser then takes like
//! any other: items that are references become names of places, closures are inlined.

mod adapters;
pub(crate) mod array_windows;
mod best;
pub(crate) mod collect;
pub(crate) mod constant;
mod consumed;
pub(crate) mod consumers;
mod elements;
mod flattened;
pub(crate) mod flow;
pub(crate) mod generators;
pub(crate) mod indexed;
pub(crate) mod integers;
pub(crate) mod item;
mod looked_at;
pub(crate) mod made;
pub(crate) mod optional;
mod parts;
mod picked;
pub(crate) mod source;
pub(crate) mod split;

use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{Expr, ExprClosure, Ident, Pat, Stmt, parse_quote};

use crate::closures::{Refused, Site};
use crate::iterators::adapters::ADAPTERS;
use crate::iterators::array_windows::size_of_window;
use crate::iterators::constant::{constant, is_gone_through, marked};
use crate::iterators::flow::{Flow, Origin};
use crate::iterators::generators::generator;
use crate::iterators::item::{Code, Item};
use crate::iterators::source::{Access, Function, Source};
use crate::parse::{Binding, Parser};
use crate::program::Kind;
use crate::rename::{Replace, Substitute, bound, path};

/// Methods that begin a chain.
pub(crate) const SOURCES: &[&str] = &[
    "iter",
    "iter_mut",
    "into_iter",
    "windows",
    "array_windows",
    "chunks",
    "chunks_exact",
    "chunks_mut",
    "chunks_exact_mut",
];

const LOOP: &str = "write a loop";

impl<'e> Parser<'e> {
    /// `for pattern in chain { … }`, if that is not a range: what is to stand in its place.
    pub(crate) fn for_over(&mut self, f: &syn::ExprForLoop) -> Option<Result<Vec<Stmt>, Refused>> {
        if crate::parse::is_range(&f.expr) && matches!(&*f.pat, Pat::Ident(_) | Pat::Wild(_)) {
            return None;
        }
        if !self.suspects.any(f) {
            return None;
        }
        if let Some(counted) = self.without_end(f).or_else(|| self.over_a_copy(f)) {
            return Some(Ok(counted));
        }
        let mut out = Vec::new();
        let mut flow = match self.flow(&f.expr, &mut out) {
            Ok(Some(flow)) => flow,
            Ok(None) if let Some(chain) = self.over_constants(&f.expr, is_gone_through(&f.expr)) => {
                let mut over = f.clone();
                *over.expr = chain;
                return self.for_over(&over);
            }
            Ok(None) if let Some(items) = self.constant_items(&f.expr) => constant(&items),
            Ok(None) => return self.over_what_is_made(f).map(Ok),
            Err(refused) => return Some(Err(refused)),
        };
        if let (Origin::Source(source), true) = (&mut flow.origin, flow.stages.is_empty()) {
            let body = &f.body;
            integers::leave_open(source, &f.pat, &parse_quote!(#body));
        }
        Some(self.loop_over(f, &flow, out))
    }

    fn loop_over(
        &mut self,
        f: &syn::ExprForLoop,
        flow: &Flow,
        mut out: Vec<Stmt>,
    ) -> Result<Vec<Stmt>, Refused> {
        if !flow.is_one_loop() && !f.attrs.is_empty() {
            let why = "this is several loops in one, which have no strategy in common: write a loop for each";
            return Err((f.expr.to_token_stream(), why.into()));
        }
        if !flow.is_one_loop() && (f.label.is_some() || breaks(&f.body)) {
            let why = format!(
                "leaving this loop, which is several loops in one, is not differentiable: {LOOP} for each"
            );
            return Err((f.expr.to_token_stream(), why));
        }
        let around = self.around(f);
        let apart = self.apart_from_source(f)?;
        let f = apart.as_ref().unwrap_or(f);
        let mut sink = |parser: &mut Parser<'e>, item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
            let body = &f.body;
            let mut code = Code::of(&parse_quote!(#body));
            parser.bind_item(&f.pat, item, &mut code, out);
            out.extend(code.statements);
            out.extend(code.value.map(|value| Stmt::Expr(value, None)));
            Ok(())
        };
        self.drive(flow, Site::Chain(&around), false, &mut sink, &mut out)?;
        let dropped = out.pop_if(|last| matches!(last, Stmt::Expr(Expr::Call(_), _)));
        let (attrs, label) = match out.last_mut() {
            Some(Stmt::Expr(Expr::ForLoop(inner), _)) => (&mut inner.attrs, &mut inner.label),
            Some(Stmt::Expr(Expr::While(inner), _)) => (&mut inner.attrs, &mut inner.label),
            _ => {
                out.extend(dropped);
                return Ok(out);
            }
        };
        *attrs = f.attrs.clone();
        *label = f.label.clone().or(label.take());
        out.extend(dropped);
        Ok(out)
    }

    /// `for v in made(x)` as `let items = made(x); for v in items`: what functions with a rule return is a vector or an array.
    fn over_what_is_made(&mut self, f: &syn::ExprForLoop) -> Option<Vec<Stmt>> {
        let made = match &*f.expr {
            Expr::Call(_) => true,
            // Of a type of the user's.
            Expr::MethodCall(call) => {
                let of_place = matches!(&*call.receiver, Expr::Path(_) | Expr::Field(_));
                of_place && self.kind_of_syntax(&call.receiver) == Kind::Unknown
            }
            _ => false,
        };
        if !made || !self.suspects.any(&f.expr) {
            return None;
        }
        let (items, source, mut over) = (self.hidden("items"), &f.expr, f.clone());
        over.expr = Box::new(path(&items));
        Some(vec![parse_quote!(let #items = #source;), Stmt::Expr(Expr::ForLoop(over), None)])
    }

    /// `for i in start..`, which only what is in the loop can end.
    fn without_end(&mut self, f: &syn::ExprForLoop) -> Option<Vec<Stmt>> {
        let mut range = &*f.expr;
        while let Expr::Paren(paren) = range {
            range = &paren.expr;
        }
        let Expr::Range(syn::ExprRange { start: Some(start), end: None, .. }) = range else { return None };
        let (attrs, label, pattern, body) = (&f.attrs, &f.label, &f.pat, &f.body.stmts);
        let next = self.names.fresh("next");
        Some(vec![
            parse_quote!(let mut #next = #start;),
            parse_quote! {
                #(#attrs)* #label while true {
                    let #pattern = #next;
                    #next += 1;
                    #(#body)*
                }
            },
        ])
    }

    /// The loop with other names in the pattern in place of those that occur in what it goes through: each name gets a `let` of its
    /// own, and the one after it may be a part of what the first would hide, as in `for (a, b) in b.iter().zip(a)`. In `for v in &v`, where
    /// both passes run at once, the reverse pass of an iteration asks for the vector again.
    fn apart_from_source(&mut self, f: &syn::ExprForLoop) -> Result<Option<syn::ExprForLoop>, Refused> {
        let (names, source) = (bound(&f.pat), self.around(&f.expr));
        if names.iter().all(|name| source.count(name) == 0) {
            return Ok(None);
        }
        let mut apart = f.clone();
        for name in names.iter().filter(|name| source.count(name) > 0) {
            let by = Substitute::Name(self.hidden(&name.to_string()));
            let mut replace = Replace::new(name, &by);
            replace.visit_pat_mut(&mut apart.pat);
            replace.visit_block_mut(&mut apart.body);
            if replace.left {
                // One name alone hides nothing that its own `let` needs.
                if names.len() == 1 {
                    return Ok(None);
                }
                let why = "this name means two things here: give the variable a name of its own";
                return Err((name.to_token_stream(), why.into()));
            }
        }
        Ok(Some(apart))
    }

    /// The iterator that `expr` is, or that a `for` makes of it; `None` if that is not known.
    pub(crate) fn flow(&mut self, expr: &Expr, out: &mut Vec<Stmt>) -> Result<Option<Flow>, Refused> {
        if let Some(items) = self.items_of_option(expr) {
            return self.flow(&items, out);
        }
        match expr {
            Expr::Paren(paren) => self.flow(&paren.expr, out),
            Expr::Group(group) => self.flow(&group.expr, out),
            Expr::MethodCall(call) => match self.flow_of_method(expr, out)? {
                // A view by itself is gone through by its elements, as is what a method of the user's returns a reference to.
                None if self.viewed(call).is_some() || self.selects_within(call).is_some() => {
                    let unique = call.method.to_string().ends_with("_mut");
                    let access = if unique { Access::Unique } else { Access::Shared };
                    Ok(self.elements(expr, access, out))
                }
                flow => Ok(flow),
            },
            Expr::Call(call) if let Some(flow) = marked(call) => Ok(Some(flow)),
            Expr::Call(call) => self.flow_of_call(call, out),
            Expr::Range(range) => match (&range.start, &range.end) {
                (Some(start), Some(end)) => {
                    let (start, end) = (self.bound(start, "start", out), self.bound(end, "end", out));
                    Ok(Some(plain(self.range(range, start, Some(end)))))
                }
                (Some(start), None) => {
                    let start = self.bound(start, "start", out);
                    Ok(Some(plain(self.range(range, start, None))))
                }
                _ => Ok(None),
            },
            Expr::Reference(reference) => {
                let access = if reference.mutability.is_some() { Access::Unique } else { Access::Shared };
                Ok(self.elements(&reference.expr, access, out))
            }
            Expr::Array(_) => Ok(self.elements(expr, Access::Value, out)),
            Expr::Path(_) if let Some(chain) = self.named_chain(expr)? => self.flow(&chain, out),
            Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => {
                let access = self.access(expr);
                Ok(self.elements(expr, access, out))
            }
            _ => Ok(None),
        }
    }

    /// `flat_map` and `flatten` go through the items of an item.
    pub(crate) fn flow_of_item(&mut self, item: Item, out: &mut Vec<Stmt>) -> Result<Flow, Refused> {
        let flow = match &item {
            Item::Place { place, unique } => {
                let access = if *unique { Access::Unique } else { Access::Shared };
                self.elements(place, access, out)
            }
            Item::Value(value) => self.flow(value, out)?,
            Item::Tuple(_) => None,
        };
        let why = "the items of this iterator are not known to be iterators: write a loop";
        flow.ok_or_else(|| (item.expr().to_token_stream(), why.into()))
    }

    fn flow_of_method(&mut self, expr: &Expr, out: &mut Vec<Stmt>) -> Result<Option<Flow>, Refused> {
        if let Some(items) = self.items_of_option(expr) {
            return self.flow(&items, out);
        }
        let Expr::MethodCall(call) = expr else { return Ok(None) };
        let method = call.method.to_string();
        if let Some((view, axis)) = self.views(call) {
            let access = if method.ends_with("_mut") { Access::Unique } else { Access::Shared };
            let base = self.base(&call.receiver, access, out);
            return Ok(Some(plain(Source::Views { base, view, axis })));
        }
        if self.iterates_views(call) {
            return self.flow_of_method(&call.receiver, out);
        }
        if let Some(parts) = self.parts_of_array(call) {
            return Ok(Some(plain(self.array_source(call, parts, out))));
        }
        if method == "array_windows" && size_of_window(call).is_none() {
            let why = "nothing here tells how many elements a window has: `array_windows::<2>()`";
            return Err((call.method.to_token_stream(), why.to_owned()));
        }
        if SOURCES.contains(&method.as_str()) && !self.is_made_again(call) {
            return Ok(self.source(call, out));
        }
        if !ADAPTERS.contains(&method.as_str()) {
            let chain = self.is_chain(&call.receiver);
            if !chain || !self.suspects.any(expr) {
                return Ok(chain.then(|| constant(expr)));
            }
        }
        let Some(flow) = self.flow_of_receiver(&call.receiver, out)? else { return Ok(None) };
        self.adapt(flow, call, out).map(Some)
    }

    /// A method of an iterator: its receiver has to be one itself, which a slice is not.
    pub(crate) fn flow_of_receiver(
        &mut self,
        expr: &Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Flow>, Refused> {
        match expr {
            Expr::Paren(paren) => self.flow_of_receiver(&paren.expr, out),
            Expr::Range(_) | Expr::Call(_) => self.flow(expr, out),
            Expr::MethodCall(_) => self.flow_of_method(expr, out),
            Expr::Path(_) if let Some(chain) = self.named_chain(expr)? => self.flow(&chain, out),
            _ => Ok(None),
        }
    }

    /// An iterator with adapters, as far as syntax tells.
    pub(crate) fn goes_through(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::MethodCall(call) if !CONSUMERS.contains(&call.method.to_string().as_str()))
            && self.is_chain(expr)
    }

    /// `expr` is an iterator of a kind that is known, as far as syntax tells.
    pub(crate) fn is_chain(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.is_chain(&paren.expr),
            Expr::Range(range) => range.start.is_some(),
            Expr::Call(call) => generator(&call.func).is_some(),
            Expr::Path(_) => matches!(self.named_chain(expr), Ok(Some(_))),
            Expr::MethodCall(_) if self.items_of_option(expr).is_some() => true,
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                if self.views(call).is_some()
                    || self.iterates_views(call)
                    || self.parts_of_array(call).is_some()
                {
                    return true;
                }
                if SOURCES.contains(&method.as_str()) && !self.is_made_again(call) {
                    return self.is_indexable(&call.receiver);
                }
                !CONSUMERS.contains(&method.as_str()) && self.is_chain(&call.receiver)
            }
            _ => false,
        }
    }

    /// `into_iter` of what is an iterator already.
    fn is_made_again(&self, call: &syn::ExprMethodCall) -> bool {
        let again = match &*call.receiver {
            Expr::Path(_) => self.is_chain(&call.receiver),
            receiver => self.goes_through(receiver),
        };
        again && call.method == "into_iter" && call.args.is_empty()
    }

    fn counter(&mut self, name: &str, out: &mut Vec<Stmt>) -> Ident {
        let name = self.names.fresh(name);
        out.push(parse_quote!(let mut #name = 0_usize;));
        name
    }

    /// What an adapter is given: a closure, or a function by its name.
    pub(crate) fn function(&self, expr: &Expr) -> Result<Function, Refused> {
        match expr {
            Expr::Path(_) if self.closure(expr).is_none() => Ok(Function::Path(expr.clone())),
            Expr::Reference(reference) if self.function_parameter(expr).is_some() => {
                self.function(&reference.expr)
            }
            _ => self.literal(expr).map(|closure| Function::Closure(Box::new(closure))),
        }
    }

    /// A closure, written here or bound to a name before.
    pub(crate) fn literal(&self, expr: &Expr) -> Result<ExprClosure, Refused> {
        if let Some(closure) = self.closure(expr) {
            self.still_valid(&closure)?;
            return Ok(closure.syntax.clone());
        }
        match expr {
            Expr::Closure(closure) => Ok(closure.clone()),
            Expr::Paren(paren) => self.literal(&paren.expr),
            other => Err((other.to_token_stream(), "write this function as a closure".into())),
        }
    }

    /// What syntax tells about the type of an expression.
    pub(crate) fn kind_of_syntax(&self, expr: &Expr) -> Kind {
        match expr {
            Expr::Path(path) => match path.path.get_ident().and_then(|name| self.lookup(name)) {
                Some(Binding::Variable(id)) => self.program.variables[*id].kind.clone(),
                Some(Binding::Alias { place, .. }) => self.program.kind_of_place(place),
                _ => Kind::Unknown,
            },
            Expr::Paren(paren) => self.kind_of_syntax(&paren.expr),
            Expr::Reference(reference) => self.kind_of_syntax(&reference.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.kind_of_syntax(&unary.expr),
            Expr::Index(index) => match (self.kind_of_syntax(&index.expr), &*index.index) {
                (kind, Expr::Range(_)) => kind,
                (Kind::Sequence(element) | Kind::Matrix(element), _) => *element,
                _ => Kind::Unknown,
            },
            _ => Kind::Unknown,
        }
    }

    /// The number of indices of an array of `ndarray`'s, where the syntax tells.
    fn rank(&self, expr: &Expr) -> Option<usize> {
        self.shape_of(expr)?.rank
    }

    /// A closure with another name for one of its parameters.
    pub(crate) fn renamed(closure: &ExprClosure, name: &Ident, by: Ident) -> ExprClosure {
        let mut closure = closure.clone();
        let by = Substitute::Name(by);
        Replace::new(name, &by).visit_expr_closure_mut(&mut closure);
        closure
    }
}

/// What is no iterator any more.
const CONSUMERS: &[&str] = &[
    "sum",
    "product",
    "fold",
    "reduce",
    "min_by",
    "max_by",
    "min",
    "max",
    "min_by_key",
    "max_by_key",
    "last",
    "nth",
    "next",
    "next_back",
    "find",
    "find_map",
    "position",
    "rposition",
    "any",
    "all",
    "count",
    "collect",
    "for_each",
    "len",
    "size_hint",
    "try_fold",
    "try_for_each",
    "rfold",
    "rfind",
    "partition",
    "unzip",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "cmp",
    "partial_cmp",
    "is_sorted",
    "contains",
    "is_empty",
    "start",
    "end",
    "as_slice",
];

fn plain(source: Source) -> Flow {
    Flow { origin: Origin::Source(Box::new(source)), stages: Vec::new() }
}

/// A `break` that leaves the loop of which this is the body.
fn breaks(body: &syn::Block) -> bool {
    struct Breaks(bool);
    impl<'ast> syn::visit::Visit<'ast> for Breaks {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Break(_) => self.0 = true,
                Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) | Expr::Closure(_) => {}
                _ => syn::visit::visit_expr(self, expr),
            }
        }
    }
    let mut breaks = Breaks(false);
    syn::visit::Visit::visit_block(&mut breaks, body);
    breaks.0
}
