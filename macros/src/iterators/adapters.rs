//! Adapters: what they make of the flow that they are called on.

use quote::ToTokens;
use syn::{Expr, ExprClosure, ExprMethodCall, Stmt, parse_quote};

use super::{LOOP, plain};
use crate::closures::Refused;
use crate::iterators::flow::{Flow, Origin, Stage};
use crate::iterators::integers::leave_open_to;
use crate::iterators::source::{Access, Function, Source, is_zero};
use crate::parse::Parser;

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
                flow.stages.push(Stage::FilterMap(self.filter_map(function)?, None));
            }
            ("map_while", Some(function)) => {
                let going = self.names.fresh("going");
                out.push(parse_quote!(let mut #going = true;));
                flow.stages.push(Stage::FilterMap(self.filter_map(function)?, Some(going)));
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

/// Both by one index.
pub(super) fn zip(left: Flow, right: Flow, tokens: impl ToTokens) -> Result<Flow, Refused> {
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
