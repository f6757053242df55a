//! Iterators that functions of `std::iter` make.

use quote::ToTokens;
use syn::{Expr, ExprClosure, Stmt, parse_quote};

use super::plain;
use crate::closures::Refused;
use crate::iterators::flow::{Flow, Stage};
use crate::iterators::item::Code;
use crate::iterators::source::{Function, Source};
use crate::parse::Parser;
use crate::rename::path;

impl Parser<'_> {
    /// What a call of such a function makes.
    pub(super) fn flow_of_call(
        &mut self,
        call: &syn::ExprCall,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Flow>, Refused> {
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
                Some(Flow {
                    stages: vec![Stage::Scan(parse_quote!(|_| #body), None)],
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
                let flows = (self.flow(left, out)?, self.flow(right, out)?);
                match flows {
                    (Some(first), Some(second)) => {
                        Some(self.zip((left, first), (right, second), call, out)?)
                    }
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
        let scan = parse_quote!(|_| {
            let #item = #state;
            #state = { let #pattern = &#item; #code };
            Some(#item)
        });
        Ok(Flow { stages: vec![Stage::Scan(scan, None)], ..plain(Source::From(parse_quote!(0))) })
    }

    fn repeated(&mut self, value: &Expr, out: &mut Vec<Stmt>) -> Expr {
        let name = self.hidden("item");
        out.push(parse_quote!(let #name = #value;));
        path(&name)
    }
}

/// The function of `std::iter` that is called.
pub(crate) fn generator(function: &Expr) -> Option<&'static str> {
    let Expr::Path(path) = function else { return None };
    let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
    let known = ["repeat", "repeat_n", "repeat_with", "once", "zip", "from_fn", "successors"].into_iter();
    known.into_iter().find(|name| {
        segments.len() > 1
            && segments[segments.len() - 2] == "iter"
            && segments.last().is_some_and(|s| s == name)
    })
}
