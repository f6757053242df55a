//! Adapters: what they make of the flow that they are called on.

use quote::ToTokens;
use syn::{Expr, ExprClosure, ExprMethodCall, Pat, Stmt, parse_quote};

use super::consumers::CHANGES;
use super::{LOOP, plain};
use crate::closures::Refused;
use crate::escape::escapes;
use crate::iterators::flow::{Flow, Origin, Stage, Zipped, is_some};
use crate::iterators::integers::leave_open_to;
use crate::iterators::item::Code;
use crate::iterators::source::{Access, Function, Source, is_zero};
use crate::parse::Parser;
use crate::rename::{Substitute, path};

impl Parser<'_> {
    /// What the adapter that is called makes of `flow`.
    pub(super) fn adapt(
        &mut self,
        mut flow: Flow,
        call: &ExprMethodCall,
        out: &mut Vec<Stmt>,
    ) -> Result<Flow, Refused> {
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
        // The loops in front go on with items that nobody wants any more, which matters where these change something.
        let ends = ["take", "take_while", "map_while", "scan"].contains(&method.as_str());
        if ends && !flow.is_one_loop() && self.changes_others(&call.receiver) {
            return Err((call.to_token_stream(), CHANGES.into()));
        }
        match (method.as_str(), arg) {
            ("into_iter" | "fuse" | "clone", None) => {}
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
                    wrap(&mut flow, &mut |mut inner| {
                        leave_open_to(&mut inner, &function);
                        Source::Map(inner, function.clone())
                    });
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
                // Items that are left out are made all the same, which matters where that counts them.
                let leaves_out = method != "take" && self.changes_on_the_way(&call.receiver);
                if direct && !leaves_out || method == "take" && counted {
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
                let Some(other_flow) = self.flow_of_other(other, out)? else {
                    return Err((
                        other.to_token_stream(),
                        format!(
                            "this is not known to be an iterator over a slice or a range: {LOOP} over indices"
                        ),
                    ));
                };
                return self.zip((&call.receiver, flow), (other, other_flow), call, out);
            }
            ("chain", Some(other)) => {
                let Some(other_flow) = self.flow_of_other(other, out)? else {
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
                flow.stages.push(Stage::FilterMap(self.filter_map(function)?, None));
            }
            ("map_while", Some(function)) => {
                let going = self.names.fresh("going");
                out.push(parse_quote!(let mut #going = true;));
                flow.stages.push(Stage::FilterMap(self.filter_map(function)?, Some(going)));
            }
            ("flatten", None) if self.hands_out_options(&call.receiver) => {
                // What makes options of the items does so where these are looked into.
                let made = flow.take_map();
                let options = made.unwrap_or_else(|| parse_quote!(|item| item));
                flow.stages.push(Stage::FilterMap(self.filter_map(&Expr::Closure(options))?, None));
            }
            ("flat_map", Some(function)) if self.makes_options(function) => {
                flow.stages.push(Stage::FilterMap(self.filter_map(function)?, None));
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
                let closure = self.filter_map(&call.args[1])?;
                let closure = self.scanned(closure, &call.args[0], out)?;
                let some = Code::of(&closure.body).value.as_ref().is_some_and(is_some);
                let ends = !some || escapes(&closure.body);
                let going = ends.then(|| self.names.fresh("going"));
                out.extend(going.iter().map(|going| -> Stmt { parse_quote!(let mut #going = true;) }));
                flow.stages.push(Stage::Scan(closure, going));
            }
            _ => {
                return refuse(&format!(
                    "`{method}` of an iterator is not differentiable: {LOOP}, or use another adapter"
                ));
            }
        }
        Ok(flow)
    }

    /// What a chain goes on with, or goes along with: also the elements of what a function returns.
    fn flow_of_other(&mut self, other: &Expr, out: &mut Vec<Stmt>) -> Result<Option<Flow>, Refused> {
        let flow = self.flow(other, out)?;
        Ok(match other {
            Expr::Call(call) if flow.is_none() && self.closure(&call.func).is_none() => {
                self.elements(other, Access::Value, out)
            }
            _ => flow,
        })
    }

    /// A function whose result is an `Option`.
    pub(super) fn filter_map(&mut self, function: &Expr) -> Result<ExprClosure, Refused> {
        let mut closure: ExprClosure = match function {
            Expr::Path(_) if self.closure(function).is_none() => parse_quote!(|item| #function(item)),
            function => self.literal(function)?,
        };
        // For a `?` in it.
        if matches!(closure.output, syn::ReturnType::Default) {
            closure.output = parse_quote!(-> Option<_>);
        }
        Ok(closure)
    }

    /// The items are vectors, by reference.
    fn is_of_rows(&mut self, source: &Source) -> bool {
        match source {
            Source::Elements { base, access: Access::Shared, .. } => self.holds_vectors(base),
            Source::Skip(inner, _)
            | Source::Take(inner, _)
            | Source::StepBy(inner, _)
            | Source::Rev(inner, _) => self.is_of_rows(inner),
            _ => false,
        }
    }

    /// The closure of `scan` without its state: that is a local, or where both are taken apart, `scan((0.0, 1.0), |(a, b), v| …)`, one for each part.
    fn scanned(
        &mut self,
        mut closure: ExprClosure,
        init: &Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<ExprClosure, Refused> {
        let state = match closure.inputs.first() {
            Some(Pat::Type(typed)) => Some(&*typed.pat),
            state => state,
        };
        let parts: Vec<(&Pat, &Expr)> = match (state, init) {
            (Some(Pat::Tuple(names)), Expr::Tuple(parts)) if names.elems.len() == parts.elems.len() => {
                names.elems.iter().zip(&parts.elems).collect()
            }
            (Some(name), init) => vec![(name, init)],
            (None, _) => Vec::new(),
        };
        let mut code = Code::of(&closure.body);
        for (name, init) in parts {
            let Pat::Ident(name) = name else {
                return Err((closure.inputs.to_token_stream(), "give the state a name".into()));
            };
            let local = self.hidden("state");
            out.push(parse_quote!(let mut #local = #init;));
            if !code.replace(&name.ident, &Substitute::Referent(local)) {
                return Err((name.to_token_stream(), "this name means two things here".into()));
            }
        }
        closure.inputs = closure.inputs.into_iter().skip(1).collect();
        closure.body = parse_quote!({ #code });
        Ok(closure)
    }

    /// Both by one index; what makes another number of items of its own is gone through, and the other one by how many there were.
    pub(super) fn zip(
        &mut self,
        (one, left): (&Expr, Flow),
        (another, right): (&Expr, Flow),
        tokens: impl ToTokens,
        out: &mut Vec<Stmt>,
    ) -> Result<Flow, Refused> {
        let refused = |tokens: &dyn ToTokens| {
            let why = "`zip` is differentiable if one of its iterators is over a slice or a range, before `filter` and the like";
            Err((tokens.to_token_stream(), format!("{why}: {LOOP}")))
        };
        let first = right.source().is_none();
        let (mut flow, other) = match (left, right) {
            (
                Flow { origin: Origin::Source(left), stages: none },
                Flow { origin: Origin::Source(right), stages: neither },
            ) if none.is_empty() && neither.is_empty() => return Ok(plain(Source::Zip(left, right))),
            (other, flow) if first => (flow, other),
            (flow, other) => (flow, other),
        };
        let Origin::Source(source) = other.origin else { return refused(&tokens) };
        if !other.stages.is_empty() {
            return refused(&tokens);
        }
        // Whether there is one more item of the one when the other has ended is not for us to know.
        if self.changes_others(one) || self.changes_others(another) {
            return Err((tokens.to_token_stream(), CHANGES.into()));
        }
        let mut source = *source;
        self.name_lengths(&mut source, out)?;
        let (len, count) = (source.len(), self.counter("zipped", out));
        let len = len.map(|len| {
            let name = self.names.fresh("n");
            out.push(parse_quote!(let #name = #len;));
            path(&name)
        });
        let going = (!first && len.is_some()).then(|| {
            let going = self.names.fresh("going");
            out.push(parse_quote!(let mut #going = true;));
            going
        });
        flow.stages.push(Stage::Zip(Box::new(Zipped { source, len, count, first, going })));
        Ok(flow)
    }

    fn reversed(&mut self, flow: Flow, call: &ExprMethodCall) -> Result<Flow, Refused> {
        let passes = |stage: &Stage| {
            matches!(
                stage,
                Stage::Map(_)
                    | Stage::Copied
                    | Stage::Filter(_)
                    | Stage::FilterMap(_, None)
                    | Stage::Inspect(_)
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
            Origin::Constant(iterator) => Origin::Constant(Box::new(parse_quote!(#iterator.rev()))),
        };
        Ok(Flow { origin, stages: flow.stages })
    }
}

pub(super) const ADAPTERS: &[&str] = &[
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
    "map_while",
    "skip_while",
    "scan",
];
