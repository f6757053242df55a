//! What is made of the items of a chain: `sum`, `fold`, `max_by`, ….

use quote::ToTokens;
use syn::{BinOp, Expr, ExprClosure, ExprMethodCall, Ident, Pat, Stmt, Type, parse_quote};

use crate::closures::{Refused, Site};
use crate::folds;
use crate::iterators::LOOP;
use crate::iterators::collect::composite;
use crate::iterators::consumed::CONSUMED;
use crate::iterators::flow::{Flow, Stage, optional, reference};
use crate::iterators::item::Item;
use crate::iterators::optional::{Found, Located, behind_option};
use crate::iterators::source::{Function, result};
use crate::kind::{changes_receiver, inert, is_float_constant, kind_of_type, numeric_method, of_float};
use crate::parse::Parser;
use crate::program::Kind;
use crate::rename::{Occurrences, Replace, Substitute, bound, path};
use crate::suspects::variable_of;
use crate::tails::makes_itself;
use crate::views::is_optional;

/// What is known about a chain that an expression is.
pub(crate) enum Chain {
    /// Its value.
    Value(Item),
    /// It carries no gradient, and stays as it is.
    Inert,
}

/// Without gradient, whatever the items are.
const INERT: &[&str] =
    &["any", "all", "count", "position", "rposition", "is_sorted", "eq", "ne", "lt", "le", "gt", "ge"];

/// Why a chain is refused of which the loops that it becomes would do something more often, or less, than it does.
pub(super) const CHANGES: &str = "this chain changes variables on the way: write a loop";

const TO_NUMBERS: &[&str] = &["sum", "product", "fold"];

/// Methods of iterators, slices and arrays whose value is a number, most of the time.
pub(crate) fn makes_number(name: &str) -> bool {
    const OTHERS: &[&str] =
        &["dot", "norm", "mean", "std", "var", "last", "next", "min_by", "max_by", "reduce", "count"];
    TO_NUMBERS.contains(&name) || OTHERS.contains(&name)
}

/// With an `Option` as the result.
pub(crate) const TO_OPTION: &[&str] =
    &["reduce", "min_by", "max_by", "last", "nth", "next", "find", "find_map", "try_fold"];

/// `chain.rev().fold(start, f)` in the place of `chain.rfold(start, f)`.
fn backwards(consumer: &ExprMethodCall) -> Option<Expr> {
    let (chain, args) = (&consumer.receiver, &consumer.args);
    (consumer.method == "rfold" && args.len() == 2).then(|| parse_quote!(#chain.rev().fold(#args)))
}

/// Variables for something that a chain computes.
pub(super) struct Names {
    pub(super) names: Vec<Ident>,
    /// They are the parts of a tuple.
    pub(super) tuple: bool,
    /// They are numbers, as far as what they start with tells.
    pub(super) numbers: bool,
}

impl Names {
    pub(super) fn item(&self) -> Item {
        match self.tuple {
            true => Item::Tuple(self.names.iter().map(|name| Item::Value(path(name))).collect()),
            false => Item::Value(path(&self.names[0])),
        }
    }
}

impl<'e> Parser<'e> {
    /// The value of a chain that ends in a consumer; `None` if `expr` is none. The loop goes to `out`.
    pub(crate) fn chain(
        &mut self,
        expr: &Expr,
        expected: Option<&Type>,
        out: &mut Vec<Stmt>,
    ) -> Option<Result<Chain, Refused>> {
        if let Some(made) = self.made_whole(expr, expected, out) {
            return Some(made);
        }
        if let Some(item) = self.held_unwrapped(expr, out) {
            return Some(Ok(Chain::Value(item)));
        }
        let (root, behind) = behind_option(expr);
        if let (Expr::MethodCall(call), Some(found)) = (expr, self.named_option(root)) {
            let item = found.and_then(|found| self.option(found, &behind, call, out));
            return Some(item.map(Chain::Value));
        }
        let Expr::MethodCall(consumer) = root else { return None };
        if let Some(fold) = backwards(consumer) {
            return self.chain(&fold, expected, out);
        }
        let name = consumer.method.to_string();
        if ["min", "max"].contains(&name.as_str()) && !consumer.args.is_empty() {
            // That of a number, such as a sum.
            return None;
        }
        if is_optional(&name) {
            let mut setup = Vec::new();
            if let Some(found) = self.optional_part(consumer, &mut setup) {
                out.extend(setup);
                let item = self.option(found, &behind, consumer, out);
                return Some(item.map(Chain::Value));
            }
        }
        let optional = TO_OPTION.contains(&name.as_str());
        let known = INERT.contains(&name.as_str())
            || TO_NUMBERS.contains(&name.as_str())
            || optional
            || ["collect", "for_each", "min", "max", "min_by_key", "max_by_key", "partition", "unzip"]
                .contains(&name.as_str());
        if !known
            || !behind.is_empty()
                && !optional
                && !["min", "max", "position", "rposition", "min_by_key", "max_by_key"]
                    .contains(&name.as_str())
        {
            return None;
        }
        if !self.suspects.any(expr) {
            return None;
        }
        let mut setup = Vec::new();
        let rest = self.before_next(consumer, &mut setup);
        let flow = match self.flow_of_receiver(rest.as_ref().unwrap_or(&consumer.receiver), &mut setup) {
            Ok(Some(flow)) => flow,
            Ok(None) => {
                let (marked, mut over) = (self.over_constants(&consumer.receiver, true)?, expr.clone());
                let mut receiver = &mut over;
                for _ in 0..=behind.len() {
                    let Expr::MethodCall(call) = receiver else { return None };
                    receiver = &mut call.receiver;
                }
                *receiver = marked;
                return self.chain(&over, expected, out);
            }
            Err(refused) => return Some(Err(refused)),
        };
        if optional && flow.hands_out_untold() {
            let why =
                format!("`{name}` of what an iterator of this type hands out is not differentiable: {LOOP}");
            return Some(Err((consumer.method.to_token_stream(), why)));
        }
        let inert_type = [generic(consumer), expected.cloned()]
            .into_iter()
            .flatten()
            .next()
            .is_some_and(|ty| inert(&kind_of_type(&ty)));
        let changes = changes(expr);
        // A loop can do what closures do on the way to integers.
        let by_loop = match name.as_str() {
            "for_each" => true,
            "collect" => self.writes_by_method(expr),
            "sum" | "product" => changes,
            _ => false,
        };
        if INERT.contains(&name.as_str()) || ["min", "max"].contains(&name.as_str()) || inert_type && !by_loop
        {
            if changes {
                return Some(Err((expr.to_token_stream(), CHANGES.into())));
            }
            // What is made of the one that is found may carry a gradient: `x.iter().position(…).map(|i| x[i])`.
            if !behind.iter().flat_map(|step| &step.args).any(|arg| self.suspects.any(arg)) {
                return Some(Ok(Chain::Inert));
            }
            return Some(Ok(Chain::Value(Item::Value(self.made_of_found(root, &behind, out)))));
        }
        if self.changes_consumed(expr) {
            return Some(Err((expr.to_token_stream(), CONSUMED.into())));
        }
        out.extend(setup);
        Some(self.consume(expr, consumer, &name, flow, expected, &behind, out).map(Chain::Value))
    }

    /// `root`, a search without gradient, gets a name, on which the steps behind it are called.
    fn made_of_found(&mut self, root: &Expr, behind: &[&ExprMethodCall], out: &mut Vec<Stmt>) -> Expr {
        let found = self.parts.fresh("found");
        let (mut root, mut made) = (root.clone(), path(&found));
        for (i, step) in behind.iter().enumerate() {
            let mut step = (*step).clone();
            // `.max().map(|&i| …)`
            if i == 0
                && let Some(Expr::Closure(closure)) = step.args.first_mut()
                && let Some(Pat::Reference(item)) = closure.inputs.first().cloned()
            {
                closure.inputs[0] = *item.pat;
                root = parse_quote!(#root.copied());
            }
            *step.receiver = made;
            made = Expr::MethodCall(step);
        }
        out.push(parse_quote!(let #found: Option<_> = #root;));
        made
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one chain")]
    fn consume(
        &mut self,
        chain: &Expr,
        call: &ExprMethodCall,
        name: &str,
        flow: Flow,
        expected: Option<&Type>,
        behind: &[&ExprMethodCall],
        out: &mut Vec<Stmt>,
    ) -> Result<Item, Refused> {
        let around = self.around(chain);
        let site = Site::Chain(&around);
        match (name, call.args.len()) {
            ("sum" | "product", 0) => {
                let ty = generic(call).or_else(|| expected.cloned());
                self.sum(name == "sum", ty, call, &flow, site, out)
            }
            ("fold", 2) => self.fold(&call.args[0], &call.args[1], &flow, site, out),
            ("for_each", 1) => {
                let function = self.function(&call.args[0])?;
                let mut sink = |parser: &mut Parser<'e>, item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
                    let value = match parser.mapped(&function, item, site, out)? {
                        Item::Value(Expr::Tuple(unit)) if unit.elems.is_empty() => return Ok(()),
                        item => item.expr(),
                    };
                    out.push(Stmt::Expr(value, Some(Default::default())));
                    Ok(())
                };
                self.drive(&flow, site, false, &mut sink, out)?;
                Ok(Item::Value(parse_quote!(())))
            }
            ("collect", 0) => {
                let ty = generic(call).or_else(|| expected.cloned());
                self.collect(ty, call, &flow, site, out)
            }
            (name, _) if TO_OPTION.contains(&name) => {
                let found = self.found(call, name, &flow, site, out)?;
                self.option(found, behind, call, out)
            }
            _ => Err((
                call.method.to_token_stream(),
                format!("`{name}` of an iterator is not differentiable: write a loop"),
            )),
        }
    }

    /// What of the items is picked out, if there are any.
    pub(super) fn found(
        &mut self,
        call: &ExprMethodCall,
        name: &str,
        flow: &Flow,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Found, Refused> {
        match (name, call.args.len()) {
            // An operator may be that of a type of the user's.
            ("reduce", 1)
                if flow.source().is_some_and(|source| composite(source) || by_operator(&call.args[0])) =>
            {
                let function = self.function(&call.args[0])?;
                self.peeled(flow, |parser, best, item, out| {
                    let args = vec![best.item(), item];
                    let value = match &function {
                        Function::Closure(closure) => parser.inline(closure, args, Site::Block, out)?,
                        Function::Path(function) => {
                            let args = args.iter().map(Item::expr);
                            Some(parse_quote!(#function(#(#args),*)))
                        }
                    };
                    let why = "this closure has no value";
                    let value = value.ok_or_else(|| (call.args.to_token_stream(), why.to_string()))?;
                    parser.assign(best, value, out);
                    Ok(())
                })
            }
            ("reduce", 1) => {
                let function = self.function(&call.args[0])?;
                self.reduce(flow, site, out, |parser, best, item, out| {
                    let value = match &function {
                        Function::Closure(closure) => {
                            let args = vec![Item::Value(path(best)), item];
                            let why = "this closure has no value";
                            let value = parser.inline(closure, args, site, out)?;
                            value.ok_or_else(|| (closure.to_token_stream(), why.to_string()))?
                        }
                        Function::Path(function) => {
                            let item = item.expr();
                            parse_quote!(#function(#best, #item))
                        }
                    };
                    out.push(parse_quote!(#best = #value;));
                    Ok(())
                })
            }
            ("min_by" | "max_by", 1) => {
                let compare = &call.args[0];
                match flow.source() {
                    Some(source) if source.names_places() => {
                        self.best_index(source, name, compare, site, out)
                    }
                    Some(source) if composite(source) => self.peeled(flow, |parser, best, item, out| {
                        let old = reference(&best.item());
                        let test = parser.better(name, compare, &old, &reference(&item))?;
                        let mut then = Vec::new();
                        parser.assign(best, item.expr(), &mut then);
                        out.push(parse_quote!(if #test { #(#then)* }));
                        Ok(())
                    }),
                    _ => self.reduce(flow, site, out, |parser, best, item, out| {
                        let test = parser.better(name, compare, &parse_quote!(&#best), &reference(&item))?;
                        let item = item.expr();
                        out.push(parse_quote!(if #test { #best = #item; }));
                        Ok(())
                    }),
                }
            }
            // The loop goes on with items that nobody wants any more.
            ("try_fold", 2) if self.changes_on_the_way(&call.receiver) => {
                let why =
                    "`try_fold` behind a closure that changes variables is not differentiable: write a loop";
                Err((call.method.to_token_stream(), why.into()))
            }
            ("try_fold", 2) => self.try_fold(&call.args[0], &call.args[1], flow, site, out),
            ("find", 1) => match flow.source() {
                Some(source) if source.is_plain() => self.find(source, &call.args[0], site, out),
                _ => self.picked(flow, Some(Stage::Filter(call.args[0].clone())), call, site, out),
            },
            ("find_map", 1) => {
                let some = Stage::FilterMap(self.filter_map(&call.args[0])?, None);
                self.picked(flow, Some(some), call, site, out)
            }
            ("last" | "next", 0) | ("nth", 1) => {
                let leaves_out = name != "next" && self.changes_on_the_way(&call.receiver);
                let Some(source) = flow.source().filter(|_| !leaves_out) else {
                    return self.picked(flow, None, call, site, out);
                };
                let (source, n) = self.counted(source, &call.method, out)?;
                let (exists, index): (Expr, Expr) = match call.args.first() {
                    Some(index) => {
                        let at = self.names.fresh("at");
                        out.push(parse_quote!(let #at: usize = #index;));
                        (parse_quote!(#at < #n), path(&at))
                    }
                    None if name == "next" => (parse_quote!(0 < #n), parse_quote!(0)),
                    None => (parse_quote!(0 < #n), parse_quote!((#n - 1))),
                };
                Ok(Found { exists, item: Located::At(Box::new(source), index) })
            }
            _ => Err((
                call.method.to_token_stream(),
                format!("`{name}` of an iterator is not differentiable: write a loop"),
            )),
        }
    }

    fn sum(
        &mut self,
        sum: bool,
        ty: Option<Type>,
        call: &ExprMethodCall,
        flow: &Flow,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Item, Refused> {
        let ty = ty.filter(|ty| !matches!(ty, Type::Infer(_)));
        let total = self.hidden(if sum { "total" } else { "product" });
        let scalar = match &ty {
            Some(Type::Path(path)) => {
                path.path.get_ident().filter(|name| self.program.scalars.contains(name))
            }
            _ => None,
        };
        let integers = ty.as_ref().is_some_and(|ty| inert(&kind_of_type(ty)));
        let numbers = |ty: &Type| kind_of_type(ty) == Kind::Float || integers || scalar.is_some();
        if let Some(ty) = ty.as_ref().filter(|ty| !numbers(ty)) {
            return self.sum_of_values(sum, total, ty, call, flow, site, out);
        }
        // As the standard library starts: −0 + x is x, whatever the sign of x.
        let start: Expr = match (scalar, sum) {
            (None, _) if integers => {
                if sum {
                    parse_quote!(0)
                } else {
                    parse_quote!(1)
                }
            }
            (None, true) => parse_quote!(-0.0),
            (None, false) => parse_quote!(1.0),
            (Some(scalar), true) => parse_quote!(-#scalar::default()),
            (Some(scalar), false) => parse_quote!(#scalar::gradient_seed()),
        };
        let ty = ty.as_ref().map(|ty| quote::quote!(: #ty));
        out.push(parse_quote!(let mut #total #ty = #start;));
        let mut sink = |_: &mut Parser<'e>, item: Item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
            let item = item.referent();
            out.push(match sum {
                true => parse_quote!(#total += #item;),
                false => parse_quote!(#total *= #item;),
            });
            Ok(())
        };
        self.drive(flow, site, false, &mut sink, out)?;
        Ok(Item::Value(path(&total)))
    }

    /// The sum of values of a user's type, by its own operator.
    #[allow(clippy::too_many_arguments, reason = "the parts of one chain")]
    fn sum_of_values(
        &mut self,
        sum: bool,
        total: Ident,
        ty: &Type,
        call: &ExprMethodCall,
        flow: &Flow,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Item, Refused> {
        if !makes_itself(ty) {
            let why = "this is differentiable for `f32`, `f64` and types with an `impl` of `Sum` or `Product` that is: write a loop";
            return Err((call.method.to_token_stream(), why.into()));
        }
        let start = folds::start(sum, ty);
        out.push(parse_quote!(let mut #total: #ty = #start;));
        let mut sink = |parser: &mut Parser<'e>, item: Item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
            let (name, value) = (parser.hidden("item"), item.referent());
            // Of values of another type there may be another sum.
            out.push(parse_quote!(let #name: #ty = #value;));
            out.push(match sum {
                true => parse_quote!(#total = #total + #name;),
                false => parse_quote!(#total = #total * #name;),
            });
            Ok(())
        };
        self.drive(flow, site, false, &mut sink, out)?;
        Ok(Item::Value(path(&total)))
    }

    fn fold(
        &mut self,
        init: &Expr,
        function: &Expr,
        flow: &Flow,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Item, Refused> {
        let (result, closure) = self.accumulator(init, function, out)?;
        let mut sink = |parser: &mut Parser<'e>, item: Item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
            match parser.inline(&closure, vec![item], site, out)? {
                Some(value) => parser.assign(&result, value, out),
                None => return Err((closure.body.to_token_stream(), "this closure has no value".into())),
            }
            Ok(())
        };
        self.drive(flow, site, false, &mut sink, out)?;
        Ok(result.item())
    }

    /// `fold` for as long as the closure returns `Some`.
    fn try_fold(
        &mut self,
        init: &Expr,
        function: &Expr,
        flow: &Flow,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Found, Refused> {
        let (result, closure) = self.accumulator(init, function, out)?;
        let going = self.names.fresh("going");
        out.push(parse_quote!(let mut #going = true;));
        let mut sink = |parser: &mut Parser<'e>, item: Item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
            let mut step = Vec::new();
            let value = parser.inline(&closure, vec![item], site, &mut step)?;
            let (test, mut then) = optional(value, &closure)?;
            parser.rename_locals(&mut then, &Occurrences::of(&closure), site);
            let mut inner = then.statements;
            let value = then.value.expect("an option has a value");
            parser.assign(&result, value, &mut inner);
            match test {
                Some(test) => step.push(parse_quote!(if #test { #(#inner)* } else { #going = false; })),
                None => step.extend(inner),
            }
            out.push(parse_quote!(if #going { #(#step)* }));
            Ok(())
        };
        self.drive(flow, site, false, &mut sink, out)?;
        Ok(Found { exists: path(&going), item: Located::There(result.item()) })
    }

    /// What `fold` starts with, under names of its own, and the closure without the parameter for it.
    fn accumulator(
        &mut self,
        init: &Expr,
        function: &Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<(Names, ExprClosure), Refused> {
        let closure = match self.function(function)? {
            Function::Closure(closure) => *closure,
            Function::Path(function) => {
                let (a, b) = (self.names.fresh("a"), self.names.fresh("b"));
                parse_quote!(|#a, #b| #function(#a, #b))
            }
        };
        if closure.inputs.len() != 2 {
            return Err((
                closure.inputs.to_token_stream(),
                "a closure with two parameters is what this takes".into(),
            ));
        }
        let mut closure = closure;
        let mut pattern = match &closure.inputs[0] {
            Pat::Type(typed) => (*typed.pat).clone(),
            pattern => pattern.clone(),
        };
        // Anything else is taken apart by itself.
        if !is_name(&pattern) && !matches!(&pattern, Pat::Tuple(tuple) if tuple.elems.iter().all(is_name)) {
            let (whole, parts, body) = (self.hidden("whole"), &closure.inputs[0], &closure.body);
            *closure.body = parse_quote!({ let #parts = #whole; #body });
            pattern = parse_quote!(#whole);
            closure.inputs[0] = pattern.clone();
        }
        // The accumulators live outside of the loop: under names of their own.
        let own = Occurrences::of(&closure);
        for name in bound(&pattern) {
            if let Some(new) = self.names.claim(&name, &own) {
                self.suspects.insert(&new);
                closure = Self::renamed(&closure, &name, new.clone());
                let by = Substitute::Name(new);
                syn::visit_mut::VisitMut::visit_pat_mut(&mut Replace::new(&name, &by), &mut pattern);
            }
        }
        let names = match &pattern {
            Pat::Ident(name) => vec![name.ident.clone()],
            tuple => bound(tuple),
        };
        let tuple = matches!(pattern, Pat::Tuple(_));
        match (tuple, init) {
            (true, Expr::Tuple(inits)) if inits.elems.len() == names.len() => {
                for (name, init) in names.iter().zip(&inits.elems) {
                    out.push(parse_quote!(let mut #name = #init;));
                }
            }
            (true, init) => out.push(parse_quote!(let (#(mut #names),*) = #init;)),
            (false, init) => {
                let name = &names[0];
                out.push(match &closure.inputs[0] {
                    Pat::Type(typed) => {
                        let ty = &typed.ty;
                        parse_quote!(let mut #name: #ty = #init;)
                    }
                    _ => parse_quote!(let mut #name = #init;),
                });
            }
        }
        closure.inputs = closure.inputs.into_iter().skip(1).collect();
        Ok((Names { names, tuple, numbers: self.is_number(init) }, closure))
    }

    /// The value is a number, or a tuple of these, as its syntax tells: other types need not have both `+` and `+=`.
    pub(crate) fn is_number(&self, value: &Expr) -> bool {
        match value {
            Expr::Lit(_) => true,
            Expr::Unary(unary) => self.is_number(&unary.expr),
            Expr::Paren(paren) => self.is_number(&paren.expr),
            Expr::Block(block) => match &block.block.stmts[..] {
                [Stmt::Expr(value, None)] => self.is_number(value),
                _ => false,
            },
            Expr::Cast(cast) => kind_of_type(&cast.ty) == Kind::Float,
            Expr::Tuple(tuple) => tuple.elems.iter().all(|part| self.is_number(part)),
            Expr::Binary(binary) => self.is_number(&binary.left) && self.is_number(&binary.right),
            Expr::MethodCall(call) => numeric_method(&call.method.to_string()),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => of_float(&path.path) || self.program.of_scalar(&path.path),
                _ => false,
            },
            Expr::Path(path) => is_float_constant(&path.path) || self.kind_of_syntax(value) == Kind::Float,
            value => self.kind_of_syntax(value) == Kind::Float,
        }
    }

    /// `names = value`, as plainly as possible.
    pub(super) fn assign(&mut self, result: &Names, value: Expr, out: &mut Vec<Stmt>) {
        let Names { names, tuple, numbers } = result;
        match (tuple, self::result(value)) {
            (true, Item::Tuple(items)) if items.len() == names.len() => {
                let values: Vec<Expr> = items.iter().map(Item::expr).collect();
                // A value may read what an assignment before it has changed.
                let late =
                    |i: usize| names[..i].iter().any(|name| Occurrences::of(&values[i]).count(name) > 0);
                let clash = (0..values.len()).any(late);
                if clash {
                    let new: Vec<Ident> =
                        names.iter().map(|name| self.hidden(&format!("next_{name}"))).collect();
                    for (new, value) in new.iter().zip(&values) {
                        out.push(parse_quote!(let #new = #value;));
                    }
                    for (name, new) in names.iter().zip(&new) {
                        out.push(parse_quote!(#name = #new;));
                    }
                } else {
                    let values = names.iter().zip(values);
                    out.extend(values.filter_map(|(name, value)| assignment(name, value, *numbers)));
                }
            }
            (true, item) => {
                let value = item.expr();
                let new: Vec<Ident> = names.iter().map(|name| self.hidden(&format!("next_{name}"))).collect();
                out.push(parse_quote!(let (#(#new),*) = #value;));
                for (name, new) in names.iter().zip(&new) {
                    out.push(parse_quote!(#name = #new;));
                }
            }
            (false, item) => out.extend(assignment(&names[0], item.expr(), *numbers)),
        }
    }
}

/// `|a, b| a * b`
fn by_operator(function: &Expr) -> bool {
    matches!(function, Expr::Closure(closure) if matches!(&*closure.body, Expr::Binary(_)))
}

/// `name = value`, or `name += term` for `name = name + term` of `numbers`.
fn assignment(name: &Ident, value: Expr, numbers: bool) -> Option<Stmt> {
    let is_name = |expr: &Expr| matches!(expr, Expr::Path(path) if path.path.get_ident() == Some(name));
    if is_name(&value) {
        return None;
    }
    if numbers
        && let Expr::Binary(binary) = &value
        && is_name(&binary.left)
        && Occurrences::of(&binary.right).count(name) == 0
    {
        let right = &binary.right;
        match binary.op {
            BinOp::Add(_) => return Some(parse_quote!(#name += #right;)),
            BinOp::Sub(_) => return Some(parse_quote!(#name -= #right;)),
            BinOp::Mul(_) => return Some(parse_quote!(#name *= #right;)),
            BinOp::Div(_) => return Some(parse_quote!(#name /= #right;)),
            _ => {}
        }
    }
    Some(parse_quote!(#name = #value;))
}

/// The type that a consumer is told: `sum::<f64>`.
pub(crate) fn generic(call: &ExprMethodCall) -> Option<Type> {
    call.turbofish.as_ref()?.args.iter().find_map(|arg| match arg {
        syn::GenericArgument::Type(Type::Infer(_)) => None,
        syn::GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    })
}

/// Something in the chain writes, by other methods than those of collections.
pub(crate) fn changes(expr: &Expr) -> bool {
    writes(expr, &[], |method| method.ends_with("_mut"))
}

/// Something in the chain writes to variables other than `own`, or may do so.
pub(crate) fn changes_others(expr: &Expr, own: &[Ident]) -> bool {
    writes(expr, own, changes_receiver)
}

fn writes(expr: &Expr, own: &[Ident], method: fn(&str) -> bool) -> bool {
    struct Writes<'o> {
        own: &'o [Ident],
        method: fn(&str) -> bool,
        any: bool,
    }
    impl<'ast> syn::visit::Visit<'ast> for Writes<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            let written = match expr {
                Expr::Assign(assign) => Some(&assign.left),
                Expr::Binary(binary) if crate::parse::assign_op(&binary.op).is_some() => Some(&binary.left),
                Expr::Reference(reference) if reference.mutability.is_some() => Some(&reference.expr),
                Expr::MethodCall(call) if (self.method)(&call.method.to_string()) => Some(&call.receiver),
                _ => None,
            };
            self.any |=
                written.is_some_and(|place| !variable_of(place).is_some_and(|v| self.own.contains(v)));
            syn::visit::visit_expr(self, expr);
        }
    }
    let mut writes = Writes { own, method, any: false };
    syn::visit::Visit::visit_expr(&mut writes, expr);
    writes.any
}

fn is_name(pattern: &Pat) -> bool {
    matches!(pattern, Pat::Ident(_))
}
