//! Chains of iterators, and loops over them, become loops over indices before anything is analysed.
//!
//! A chain has a source, adapters and a consumer. [`source`] holds what reaches its items by an index; [`flow`] the stages
//! that do not, such as `filter`; [`consumers`] what is made of the items. The result is syntax, which the parser then takes like
//! any other: items that are references become names of places, closures are inlined.

pub(crate) mod collect;
pub(crate) mod consumers;
pub(crate) mod flow;
pub(crate) mod item;
pub(crate) mod made;
mod parts;
pub(crate) mod source;
pub(crate) mod split;

use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{Expr, ExprClosure, ExprMethodCall, Ident, Pat, Stmt, parse_quote};

use crate::closures::{Refused, Site};
use crate::iterators::flow::{Flow, Origin, Stage};
use crate::iterators::item::{Code, Item};
use crate::iterators::source::{Access, Function, Source, is_zero};
use crate::parse::{Binding, Parser};
use crate::program::Kind;
use crate::rename::{Occurrences, Replace, Substitute, bound, path};

/// Methods that begin a chain.
pub(crate) const SOURCES: &[&str] =
    &["iter", "iter_mut", "into_iter", "windows", "chunks", "chunks_exact", "chunks_mut", "chunks_exact_mut"];

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
        if let Some(counted) = self.without_end(f) {
            return Some(Ok(counted));
        }
        let mut out = Vec::new();
        let flow = match self.flow(&f.expr, &mut out) {
            Ok(Some(flow)) => flow,
            Ok(None) => return None,
            Err(refused) => return Some(Err(refused)),
        };
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
        let around = Occurrences::of(f);
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
        if let Some(Stmt::Expr(Expr::ForLoop(inner), _)) = out.last_mut() {
            inner.attrs = f.attrs.clone();
            inner.label = f.label.clone().or(inner.label.take());
        }
        Ok(out)
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
        let (names, source) = (bound(&f.pat), Occurrences::of(&f.expr));
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
        match expr {
            Expr::Paren(paren) => self.flow(&paren.expr, out),
            Expr::Group(group) => self.flow(&group.expr, out),
            Expr::MethodCall(call) => match self.flow_of_method(expr, out)? {
                // A view by itself is gone through by its elements.
                None if self.viewed(call).is_some() => {
                    let unique = call.method.to_string().ends_with("_mut");
                    let access = if unique { Access::Unique } else { Access::Shared };
                    Ok(self.elements(expr, access, out))
                }
                flow => Ok(flow),
            },
            Expr::Call(call) => self.flow_of_call(call, out),
            Expr::Range(range) => match (&range.start, &range.end) {
                (Some(start), Some(end)) => {
                    let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
                    let (start, end) = (self.bound(start, "start", out), self.bound(end, "end", out));
                    Ok(Some(plain(Source::Range { start, end, inclusive })))
                }
                (Some(start), None) => {
                    let start = self.bound(start, "start", out);
                    Ok(Some(plain(Source::From(start))))
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
        if SOURCES.contains(&method.as_str()) {
            return Ok(self.source(call, out));
        }
        if !ADAPTERS.contains(&method.as_str()) && !self.is_chain(&call.receiver) {
            return Ok(None);
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
    fn is_chain(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.is_chain(&paren.expr),
            Expr::Range(range) => range.start.is_some(),
            Expr::Call(call) => generator(&call.func).is_some(),
            Expr::Path(_) => matches!(self.named_chain(expr), Ok(Some(_))),
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                if self.views(call).is_some()
                    || self.iterates_views(call)
                    || self.parts_of_array(call).is_some()
                {
                    return true;
                }
                if SOURCES.contains(&method.as_str()) {
                    return self.is_indexable(&call.receiver);
                }
                !CONSUMERS.contains(&method.as_str()) && self.is_chain(&call.receiver)
            }
            _ => false,
        }
    }

    /// The rows of an array, or what else views it is gone through by: the method for each of them, and the axis.
    pub(crate) fn views(&self, call: &ExprMethodCall) -> Option<(Ident, Option<Expr>)> {
        let method = call.method.to_string();
        let (name, suffix) = match method.strip_suffix("_mut") {
            Some(name) => (name, "_mut"),
            None => (method.as_str(), ""),
        };
        let (view, axis) = match (name, call.args.len()) {
            ("rows", 0) => ("row", None),
            ("columns", 0) => ("column", None),
            ("outer_iter", 0) => ("index_axis", Some(parse_quote!(::pullback::__private::ndarray::Axis(0)))),
            ("axis_iter", 1) => ("index_axis", Some(call.args[0].clone())),
            ("lanes", 1) => ("index_axis", None),
            _ => return None,
        };
        let rank = self.rank(&call.receiver)?;
        if name == "lanes" {
            // Those along one axis of a matrix are what is at the indices of the other one.
            let along = &call.args[0];
            let across = parse_quote!(::pullback::__private::ndarray::Axis(1 - #along.index()));
            return (rank == 2)
                .then(|| (Ident::new(&format!("index_axis{suffix}"), call.method.span()), Some(across)));
        }
        let fits = if axis.is_some() { rank > 1 } else { rank == 2 };
        fits.then(|| (Ident::new(&format!("{view}{suffix}"), call.method.span()), axis))
    }

    /// `x.rows().into_iter()`
    fn iterates_views(&self, call: &ExprMethodCall) -> bool {
        call.method == "into_iter"
            && matches!(&*call.receiver, Expr::MethodCall(inner) if self.views(inner).is_some() || self.parts_of_array(inner).is_some())
    }

    fn source(&mut self, call: &ExprMethodCall, out: &mut Vec<Stmt>) -> Option<Flow> {
        let base = &call.receiver;
        if !self.is_indexable(base) {
            return None;
        }
        let method = call.method.to_string();
        let size = |out: &mut Vec<Stmt>, parser: &mut Self| {
            call.args.first().map(|size| parser.size_of_part(size, out))
        };
        let source = match method.as_str() {
            "iter" => return self.elements(base, Access::Shared, out),
            "iter_mut" => return self.elements(base, Access::Unique, out),
            "into_iter" => {
                let access = match &**base {
                    Expr::Reference(reference) if reference.mutability.is_some() => Access::Unique,
                    Expr::Reference(_) => Access::Shared,
                    other => self.access(other),
                };
                let base = match &**base {
                    Expr::Reference(reference) => (*reference.expr).clone(),
                    other => other.clone(),
                };
                return self.elements(&base, access, out);
            }
            "windows" => {
                Source::Windows { base: self.base(base, Access::Shared, out), size: size(out, self)? }
            }
            _ => {
                let unique = method.ends_with("_mut");
                let access = if unique { Access::Unique } else { Access::Shared };
                let base = self.base(base, access, out);
                let len = (!method.starts_with("chunks_exact")).then(|| {
                    let n = self.names.fresh("n");
                    out.push(parse_quote!(let #n = #base.len();));
                    n
                });
                Source::Chunks { base, size: size(out, self)?, len, unique }
            }
        };
        Some(plain(source))
    }

    /// The elements of something that is indexed.
    fn elements(&mut self, base: &Expr, access: Access, out: &mut Vec<Stmt>) -> Option<Flow> {
        if !self.is_indexable(base) {
            return None;
        }
        let rank = self.rank(base);
        let base = self.base(base, access, out);
        Some(plain(match rank {
            Some(2) => Source::Matrix { base, access, columns: None },
            _ => Source::Elements { base, access },
        }))
    }

    /// `expr` may be a slice, an array, a `Vec` or the like.
    fn is_indexable(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.is_indexable(&paren.expr),
            Expr::Reference(reference) => self.is_indexable(&reference.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.is_indexable(&unary.expr),
            Expr::Range(_) | Expr::Closure(_) => false,
            Expr::Path(_) => {
                self.rank(expr).is_none_or(|rank| rank <= 2)
                    && !matches!(self.kind_of_syntax(expr), Kind::Float | Kind::Inert)
                    && !self.is_keyed(expr)
            }
            Expr::MethodCall(call) => !self.is_chain(expr) || call.method == "collect",
            _ => true,
        }
    }

    /// A map or a set, as its type tells.
    fn is_keyed(&self, variable: &Expr) -> bool {
        const KEYED: &[&str] = &["HashMap", "BTreeMap", "HashSet", "BTreeSet", "LinkedList", "BinaryHeap"];
        let Some(id) = self.variable(variable) else { return false };
        match self.types.get(&id) {
            Some(syn::Type::Path(ty)) => {
                ty.path.segments.last().is_some_and(|last| KEYED.iter().any(|keyed| last.ident == keyed))
            }
            _ => false,
        }
    }

    /// What an expression is indexed by in a loop: a name for it, unless it is one.
    fn base(&mut self, expr: &Expr, access: Access, out: &mut Vec<Stmt>) -> Expr {
        match expr {
            Expr::Paren(paren) => self.base(&paren.expr, access, out),
            Expr::Path(_) => expr.clone(),
            Expr::Field(field) if is_path_of_fields(&field.base) => expr.clone(),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => match &*unary.expr {
                // Indexing follows references by itself.
                Expr::Path(_) => (*unary.expr).clone(),
                _ => expr.clone(),
            },
            Expr::Index(_) | Expr::Field(_) => {
                let name = self.hidden("part");
                out.push(match access {
                    Access::Unique => parse_quote!(let #name = &mut #expr;),
                    _ => parse_quote!(let #name = &#expr;),
                });
                path(&name)
            }
            _ => {
                let name = self.hidden("items");
                out.push(match access {
                    Access::Unique => parse_quote!(let mut #name = #expr;),
                    _ => parse_quote!(let #name = #expr;),
                });
                path(&name)
            }
        }
    }

    /// How a `for` over `expr` gets the elements.
    fn access(&self, expr: &Expr) -> Access {
        match expr {
            Expr::Path(path) => match path.path.get_ident().and_then(|name| self.lookup(name)) {
                Some(Binding::Alias { unique, .. }) => {
                    if *unique {
                        Access::Unique
                    } else {
                        Access::Shared
                    }
                }
                Some(Binding::Variable(id)) => {
                    let variable = &self.program.variables[*id];
                    match variable.origin {
                        crate::program::Origin::Shared => Access::Shared,
                        crate::program::Origin::Unique => Access::Unique,
                        _ => Access::Value,
                    }
                }
                _ => Access::Value,
            },
            Expr::Paren(paren) => self.access(&paren.expr),
            _ => Access::Value,
        }
    }

    /// An operand that is evaluated once, before the loop.
    fn once(&mut self, expr: &Expr, name: &str, out: &mut Vec<Stmt>) -> Expr {
        match expr {
            Expr::Lit(_) => expr.clone(),
            _ => {
                let name = self.names.fresh(name);
                out.push(parse_quote!(let #name: usize = #expr;));
                path(&name)
            }
        }
    }

    /// The size of windows or chunks, which is not to be zero, as by the method itself.
    fn size_of_part(&mut self, size: &Expr, out: &mut Vec<Stmt>) -> Expr {
        let size = self.once(size, "size", out);
        if !matches!(size, Expr::Lit(_)) || is_zero(&size) {
            out.push(parse_quote!(assert!(#size != 0, "the size of a part must not be zero");));
        }
        size
    }

    /// A bound of a range: it may be asked for several times.
    fn bound(&mut self, expr: &Expr, name: &str, out: &mut Vec<Stmt>) -> Expr {
        let simple = match expr {
            Expr::Lit(_) | Expr::Path(_) => true,
            Expr::MethodCall(call) => crate::kind::inert_method(&call.method.to_string()),
            _ => false,
        };
        if simple {
            return expr.clone();
        }
        let name = self.names.fresh(name);
        out.push(parse_quote!(let #name = #expr;));
        path(&name)
    }

    fn flow_of_call(&mut self, call: &syn::ExprCall, out: &mut Vec<Stmt>) -> Result<Option<Flow>, Refused> {
        let args: Vec<_> = call.args.iter().collect();
        Ok(match (generator(&call.func), &args[..]) {
            (Some("repeat"), [value]) => Some(plain(Source::Repeat(self.repeated(value, out)))),
            (Some("repeat_n"), [value, count]) => {
                let value = Source::Repeat(self.repeated(value, out));
                Some(plain(Source::Take(Box::new(value), self.once(count, "count", out))))
            }
            (Some("once"), [value]) => {
                let value = Source::Repeat(self.repeated(value, out));
                Some(plain(Source::Take(Box::new(value), parse_quote!(1))))
            }
            (Some("repeat_with"), [function]) => {
                let closure = self.without_arguments(function)?;
                let every = Function::Closure(Box::new(parse_quote!(|_| #closure)));
                Some(plain(Source::Map(Box::new(Source::From(parse_quote!(0))), every)))
            }
            (Some("from_fn"), [function]) => {
                let body = self.without_arguments(function)?;
                let state = self.names.fresh("state");
                out.push(parse_quote!(let mut #state = 0;));
                Some(Flow {
                    stages: vec![Stage::Scan(parse_quote!(|#state, _| #body), state)],
                    ..plain(Source::From(parse_quote!(0)))
                })
            }
            (Some("successors"), [first, next]) => {
                let some = |call: &syn::ExprCall| matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Some"));
                let first = match first {
                    Expr::Call(call) if some(call) && matches!(call.args[0], Expr::Tuple(_)) => {
                        let why = "`successors` of tuples is not differentiable: write a loop";
                        return Err((call.to_token_stream(), why.into()));
                    }
                    Expr::Call(call) if some(call) => &call.args[0],
                    other => {
                        let why = "`successors` is differentiable from `Some(first)`: write a loop";
                        return Err((other.to_token_stream(), why.into()));
                    }
                };
                Some(self.successors(first, &self.literal(next)?, out)?)
            }
            (Some("zip"), [left, right]) => {
                let (left, right) = (self.flow(left, out)?, self.flow(right, out)?);
                match (left, right) {
                    (Some(left), Some(right)) => Some(zip(left, right, call)?),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// The body of a closure that takes nothing.
    fn without_arguments(&self, function: &Expr) -> Result<Expr, Refused> {
        let closure = self.literal(function)?;
        match closure.inputs.is_empty() {
            true => Ok(*closure.body),
            false => Err((closure.to_token_stream(), "this takes a closure without parameters".into())),
        }
    }

    /// `first`, what `next` makes of it, and so on: a `scan` whose state is the next item.
    fn successors(&mut self, first: &Expr, next: &ExprClosure, out: &mut Vec<Stmt>) -> Result<Flow, Refused> {
        let refused = |why: &str| Err((next.to_token_stream(), why.to_string()));
        let (Some(pattern), 1) = (next.inputs.first(), next.inputs.len()) else {
            return refused("this takes a closure with one parameter");
        };
        let mut code = Code::of(&next.body);
        code.value = match code.value {
            Some(Expr::Call(call))
                if call.args.len() == 1
                    && matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Some")) =>
            {
                Some(call.args[0].clone())
            }
            _ => {
                return refused(
                    "`successors` is differentiable where its closure ends in `Some(…)`: write a loop",
                );
            }
        };
        let (state, item) = (self.hidden("state"), self.hidden("item"));
        out.push(parse_quote!(let mut #state = #first;));
        let scan = parse_quote!(|#state, _| {
            let #item = *#state;
            *#state = { let #pattern = &#item; #code };
            Some(#item)
        });
        Ok(Flow { stages: vec![Stage::Scan(scan, state)], ..plain(Source::From(parse_quote!(0))) })
    }

    fn repeated(&mut self, value: &Expr, out: &mut Vec<Stmt>) -> Expr {
        let name = self.hidden("item");
        out.push(parse_quote!(let #name = #value;));
        path(&name)
    }

    fn adapt(&mut self, mut flow: Flow, call: &ExprMethodCall, out: &mut Vec<Stmt>) -> Result<Flow, Refused> {
        let method = call.method.to_string();
        let arg = call.args.first();
        let refuse = |why: &str| Err((call.method.to_token_stream(), why.to_string()));
        let direct = matches!(flow.origin, Origin::Source(_)) && flow.stages.is_empty();
        let wrap = |flow: &mut Flow, make: &mut dyn FnMut(Box<Source>) -> Source| {
            if let Origin::Source(source) = &mut flow.origin {
                let inner = std::mem::replace(&mut **source, Source::Repeat(parse_quote!(())));
                **source = make(Box::new(inner));
            }
        };
        match (method.as_str(), arg) {
            ("into_iter" | "fuse", None) => {}
            ("cloned", None) if direct && flow.source().is_some_and(|source| self.is_of_rows(source)) => {
                let row = self.hidden("row");
                let clone = Function::Closure(Box::new(parse_quote!(|#row| #row.clone())));
                wrap(&mut flow, &mut |inner| Source::Map(inner, clone.clone()));
            }
            ("copied" | "cloned", None) if direct => wrap(&mut flow, &mut Source::Copied),
            ("copied" | "cloned", None) => flow.stages.push(Stage::Copied),
            ("map", Some(function)) => {
                let function = self.function(function)?;
                if direct {
                    wrap(&mut flow, &mut |inner| Source::Map(inner, function.clone()));
                } else {
                    flow.stages.push(Stage::Map(function));
                }
            }
            ("enumerate", None) if direct => wrap(&mut flow, &mut Source::Enumerate),
            ("enumerate", None) => {
                let count = self.counter("count", out);
                flow.stages.push(Stage::Enumerate(count));
            }
            ("skip" | "take" | "step_by", Some(count)) => {
                let count = self.once(count, if method == "step_by" { "step" } else { "count" }, out);
                if method == "step_by" && (!matches!(count, Expr::Lit(_)) || is_zero(&count)) {
                    out.push(parse_quote!(assert!(#count != 0, "the step must not be zero");));
                }
                let make = match method.as_str() {
                    "skip" => Source::Skip,
                    "take" => Source::Take,
                    _ => Source::StepBy,
                };
                // What stands between makes one item of each.
                let counted =
                    matches!(flow.origin, Origin::Source(_)) && flow.stages.iter().all(Stage::keeps_count);
                if direct || method == "take" && counted {
                    wrap(&mut flow, &mut |inner| make(inner, count.clone()));
                } else {
                    let counter = self.counter("passed", out);
                    flow.stages.push(match method.as_str() {
                        "skip" => Stage::Skip(count, counter),
                        "take" => Stage::Take(count, counter),
                        _ => Stage::StepBy(count, counter),
                    });
                }
            }
            ("rev", None) => return self.reversed(flow, call),
            ("cycle", None) if direct => wrap(&mut flow, &mut |inner| Source::Cycle(inner, None)),
            ("zip", Some(other)) => {
                let Some(other_flow) = self.flow(other, out)? else {
                    return Err((
                        other.to_token_stream(),
                        format!(
                            "this is not known to be an iterator over a slice or a range: {LOOP} over indices"
                        ),
                    ));
                };
                return zip(flow, other_flow, call);
            }
            ("chain", Some(other)) => {
                let Some(other_flow) = self.flow(other, out)? else {
                    return Err((
                        other.to_token_stream(),
                        format!("this is not known to be an iterator over a slice or a range: {LOOP}"),
                    ));
                };
                flow =
                    Flow { origin: Origin::Chain(Box::new(flow), Box::new(other_flow)), stages: Vec::new() };
            }
            ("filter", Some(test)) => flow.stages.push(Stage::Filter(test.clone())),
            ("filter_map", Some(function)) => {
                let closure = self.literal(function)?;
                flow.stages.push(Stage::FilterMap(closure));
            }
            ("flat_map", Some(function)) => {
                let function = self.function(function)?;
                flow.stages.push(Stage::FlatMap(Some(function)));
            }
            ("flatten", None) => flow.stages.push(Stage::FlatMap(None)),
            ("inspect", Some(function)) => {
                let closure = self.literal(function)?;
                flow.stages.push(Stage::Inspect(closure));
            }
            ("take_while", Some(test)) => {
                let going = self.names.fresh("going");
                out.push(parse_quote!(let mut #going = true;));
                flow.stages.push(Stage::TakeWhile(test.clone(), going));
            }
            ("skip_while", Some(test)) => {
                let skipping = self.names.fresh("skipping");
                out.push(parse_quote!(let mut #skipping = true;));
                flow.stages.push(Stage::SkipWhile(test.clone(), skipping));
            }
            ("scan", _) if call.args.len() == 2 => {
                let (init, closure) = (&call.args[0], self.literal(&call.args[1])?);
                let state = self.hidden("state");
                out.push(parse_quote!(let mut #state = #init;));
                flow.stages.push(Stage::Scan(closure, state));
            }
            _ => {
                return refuse(&format!(
                    "`{method}` of an iterator is not differentiable: {LOOP}, or use another adapter"
                ));
            }
        }
        Ok(flow)
    }

    /// The items are vectors, by reference.
    fn is_of_rows(&mut self, source: &Source) -> bool {
        match source {
            Source::Elements { base, access: Access::Shared } => self.holds_vectors(base),
            Source::Skip(inner, _)
            | Source::Take(inner, _)
            | Source::StepBy(inner, _)
            | Source::Rev(inner, _) => self.is_of_rows(inner),
            _ => false,
        }
    }

    fn reversed(&mut self, flow: Flow, call: &ExprMethodCall) -> Result<Flow, Refused> {
        let passes = |stage: &Stage| {
            matches!(
                stage,
                Stage::Map(_) | Stage::Copied | Stage::Filter(_) | Stage::FilterMap(_) | Stage::Inspect(_)
            )
        };
        if !flow.stages.iter().all(passes) {
            return Err((
                call.method.to_token_stream(),
                format!("`rev` behind this adapter is not differentiable: {LOOP}"),
            ));
        }
        let origin = match flow.origin {
            Origin::Source(source) => Origin::Source(Box::new(Source::Rev(source, None))),
            Origin::Chain(first, second) => {
                let (first, second) = (self.reversed(*first, call)?, self.reversed(*second, call)?);
                Origin::Chain(Box::new(second), Box::new(first))
            }
        };
        Ok(Flow { origin, stages: flow.stages })
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

const ADAPTERS: &[&str] = &[
    "copied",
    "cloned",
    "map",
    "enumerate",
    "skip",
    "take",
    "step_by",
    "rev",
    "cycle",
    "zip",
    "chain",
    "filter",
    "filter_map",
    "flat_map",
    "flatten",
    "inspect",
    "take_while",
    "skip_while",
    "scan",
];

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

fn zip(left: Flow, right: Flow, tokens: impl ToTokens) -> Result<Flow, Refused> {
    match (left, right) {
        (
            Flow { origin: Origin::Source(left), stages: none },
            Flow { origin: Origin::Source(right), stages: neither },
        ) if none.is_empty() && neither.is_empty() => Ok(plain(Source::Zip(left, right))),
        _ => Err((
            tokens.to_token_stream(),
            format!(
                "`zip` is differentiable for iterators over slices and ranges, before `filter` and the like: {LOOP}"
            ),
        )),
    }
}

/// The function of `std::iter` that is called.
fn generator(function: &Expr) -> Option<&'static str> {
    let Expr::Path(path) = function else { return None };
    let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
    let known = ["repeat", "repeat_n", "repeat_with", "once", "zip", "from_fn", "successors"].into_iter();
    known.into_iter().find(|name| {
        segments.len() > 1
            && segments[segments.len() - 2] == "iter"
            && segments.last().is_some_and(|s| s == name)
    })
}

fn is_path_of_fields(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) => true,
        Expr::Field(field) => is_path_of_fields(&field.base),
        _ => false,
    }
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
