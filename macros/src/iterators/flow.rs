//! From an iterator to a loop: the stages that items pass through become statements of the loop's body.

use quote::ToTokens;
use syn::visit::Visit;
use syn::{Expr, ExprClosure, Ident, Stmt, parse_quote};

use crate::closures::{Refused, Site};
use crate::iterators::item::{Code, Item, operand};
use crate::iterators::source::{Access, Function, Source, result};
use crate::options::mapped;
use crate::parse::Parser;
use crate::rename::{Bindings, Occurrences, Substitute, bound, path};
use crate::views::tested;

/// Sources, and what their items pass through before anybody sees them.
#[derive(Clone)]
pub(crate) struct Flow {
    pub(crate) origin: Origin,
    pub(crate) stages: Vec<Stage>,
}

#[derive(Clone)]
pub(crate) enum Origin {
    Source(Box<Source>),
    /// One after the other.
    Chain(Box<Flow>, Box<Flow>),
    /// An iterator of any type whose items carry no gradient.
    Constant(Box<Expr>),
}

#[derive(Clone)]
pub(crate) enum Stage {
    Map(Function),
    Copied,
    Filter(Expr),
    /// As long as this local is true, if there is one.
    FilterMap(ExprClosure, Option<Ident>),
    FlatMap(Option<Function>),
    Inspect(ExprClosure),
    /// As long as this local is true.
    TakeWhile(Expr, Ident),
    /// Since this local is false.
    SkipWhile(Expr, Ident),
    /// With a counter.
    Enumerate(Ident),
    Skip(Expr, Ident),
    Take(Expr, Ident),
    StepBy(Expr, Ident),
    /// The closure gets the item alone, and knows the state by the locals that hold it. As long as a local is true, if there is one.
    Scan(ExprClosure, Option<Ident>),
    /// With as many items of a source as have come so far.
    Zip(Box<Zipped>),
}

/// What another iterator's items come together with, where these are not known by their index.
#[derive(Clone)]
pub(crate) struct Zipped {
    pub(crate) source: Source,
    /// How many items there are, unless that has no end.
    pub(crate) len: Option<Expr>,
    /// How many have been taken.
    pub(crate) count: Ident,
    /// The source is asked first: `source.zip(others)`
    pub(crate) first: bool,
    /// If it is asked after the others, and may end: true until it has none for one of these.
    pub(crate) going: Option<Ident>,
}

impl Stage {
    /// It makes one item of each.
    pub(crate) fn keeps_count(&self) -> bool {
        matches!(
            self,
            Stage::Map(_) | Stage::Copied | Stage::Inspect(_) | Stage::Enumerate(_) | Stage::Scan(..)
        )
    }

    /// How many items it makes of `count`.
    fn count(&self, count: Expr) -> Option<Expr> {
        match self {
            // It may end before.
            Stage::Scan(..) => None,
            stage if stage.keeps_count() => Some(count),
            Stage::Skip(n, _) => Some(parse_quote!(usize::saturating_sub(#count, #n))),
            Stage::Take(n, _) => Some(parse_quote!(usize::min(#count, #n))),
            Stage::StepBy(n, _) => Some(parse_quote!(usize::div_ceil(#count, #n))),
            Stage::Zip(zipped) => Some(match &zipped.len {
                Some(len) => parse_quote!(usize::min(#count, #len)),
                None => count,
            }),
            Stage::FlatMap(Some(Function::Closure(closure))) => match Code::of(&closure.body).value? {
                Expr::Array(array) => {
                    let each = array.elems.len();
                    Some(parse_quote!(#count * #each))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// What becomes of each item.
pub(crate) type Sink<'s, 'e> =
    dyn FnMut(&mut Parser<'e>, Item, Option<&Expr>, &mut Vec<Stmt>) -> Result<(), Refused> + 's;

impl Flow {
    pub(crate) fn source(&self) -> Option<&Source> {
        match &self.origin {
            Origin::Source(source) if self.stages.is_empty() => Some(source),
            _ => None,
        }
    }

    /// The items are those of an iterator of a type that is not known, as it hands them out.
    pub(super) fn hands_out_untold(&self) -> bool {
        let makes = |stage: &Stage| {
            matches!(stage, Stage::Map(_) | Stage::FilterMap(..) | Stage::FlatMap(_) | Stage::Scan(..))
        };
        matches!(self.origin, Origin::Constant(_)) && !self.stages.iter().any(makes)
    }

    /// Leaves out the closure that each item goes through last, if that is one of `map`.
    pub(super) fn take_map(&mut self) -> Option<ExprClosure> {
        if let Some(Stage::Map(Function::Closure(closure))) = self.stages.last() {
            let closure = (**closure).clone();
            self.stages.pop();
            return Some(closure);
        }
        let Origin::Source(source) = &mut self.origin else { return None };
        match &**source {
            Source::Map(inner, Function::Closure(closure)) if self.stages.is_empty() => {
                let (inner, closure) = ((**inner).clone(), (**closure).clone());
                **source = inner;
                Some(closure)
            }
            _ => None,
        }
    }

    /// The flow if all items passed what leaves some out.
    pub(super) fn at_most(&self) -> Flow {
        let origin = match &self.origin {
            Origin::Chain(first, second) => {
                Origin::Chain(Box::new(first.at_most()), Box::new(second.at_most()))
            }
            source => source.clone(),
        };
        let leaves_out = |stage: &&Stage| {
            matches!(
                stage,
                Stage::Filter(_)
                    | Stage::FilterMap(..)
                    | Stage::TakeWhile(..)
                    | Stage::SkipWhile(..)
                    | Stage::Scan(..)
            )
        };
        Flow { origin, stages: self.stages.iter().filter(|stage| !leaves_out(stage)).cloned().collect() }
    }

    /// The items come from one loop.
    pub(crate) fn is_one_loop(&self) -> bool {
        let one = match &self.origin {
            Origin::Source(source) => !matches!(**source, Source::Matrix { .. }),
            Origin::Chain(..) => false,
            Origin::Constant(_) => true,
        };
        one && !self.stages.iter().any(|stage| matches!(stage, Stage::FlatMap(_)))
    }

    /// Locals that tell whether more items are wanted.
    pub(super) fn guard(&self) -> Option<Expr> {
        let conditions: Vec<Expr> = self
            .stages
            .iter()
            .filter_map(|stage| match stage {
                Stage::TakeWhile(_, going)
                | Stage::FilterMap(_, Some(going))
                | Stage::Scan(_, Some(going)) => Some(path(going)),
                Stage::Take(count, taken) => Some(parse_quote!(#taken < #count)),
                Stage::Zip(zipped) => match (&zipped.going, &zipped.len) {
                    (Some(going), _) => Some(path(going)),
                    (None, Some(len)) => {
                        let count = &zipped.count;
                        Some(parse_quote!(#count < #len))
                    }
                    (None, None) => None,
                },
                _ => None,
            })
            .collect();
        let (first, rest) = conditions.split_first()?;
        Some(parse_quote!(#first #(&& #rest)*))
    }
}

impl<'e> Parser<'e> {
    /// The room that the standard library makes in a vector for the items at once, by a name: for all of them, or where there may be more
    /// than are known of, for these and the first.
    pub(crate) fn room_for(&mut self, flow: &Flow, out: &mut Vec<Stmt>) -> Result<Option<Expr>, Refused> {
        Ok(self.count(flow, out)?.map(|(count, all)| match all {
            true => self.named_count(count, out),
            false => self.named_count(parse_quote!(#count + 1), out),
        }))
    }

    /// An empty vector with the room that the standard library makes in a new one for the items. Where there may be more than are known of,
    /// it makes no less than for four.
    pub(crate) fn empty_for(&mut self, flow: &Flow, out: &mut Vec<Stmt>) -> Result<Expr, Refused> {
        let Some((count, all)) = self.count(flow, out)? else { return Ok(parse_quote!(Vec::new())) };
        let n = match all {
            true => self.named_count(count, out),
            false => self.named_count(parse_quote!(usize::max(#count + 1, 4)), out),
        };
        Ok(parse_quote!(Vec::with_capacity(#n)))
    }

    /// Gives a number of items a name.
    fn named_count(&mut self, count: Expr, out: &mut Vec<Stmt>) -> Expr {
        let n = self.names.fresh("n");
        out.push(parse_quote!(let #n = #count;));
        path(&n)
    }

    /// How many items there are at least, and whether that is all.
    fn count(&mut self, flow: &Flow, out: &mut Vec<Stmt>) -> Result<Option<(Expr, bool)>, Refused> {
        let count: Option<(Expr, bool)> = match &flow.origin {
            Origin::Source(source) => {
                let mut source = source.clone();
                self.name_lengths(&mut source, out)?;
                source.len().map(|len| (len, true))
            }
            Origin::Chain(first, second) => match (self.count(first, out)?, self.count(second, out)?) {
                (Some((first, all)), Some((second, others))) => {
                    Some((parse_quote!(#first + #second), all && others))
                }
                (one, other) => one.or(other).map(|(count, _)| (count, false)),
            },
            Origin::Constant(_) => None,
        };
        Ok(count.and_then(|(count, all)| {
            let count = flow.stages.iter().try_fold(count, |count, stage| stage.count(count))?;
            Some((count, all))
        }))
    }

    /// The loop, or loops, over `flow`. `by_index`: the sink wants to know how many items came before.
    pub(crate) fn drive(
        &mut self,
        flow: &Flow,
        site: Site,
        by_index: bool,
        sink: &mut Sink<'_, 'e>,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Refused> {
        let guard = flow.guard();
        let stages = &flow.stages[..];
        match &flow.origin {
            Origin::Chain(first, second) => {
                for part in [first, second] {
                    let mut pass = |parser: &mut Parser<'e>, item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
                        guarded(&guard, out, |out| parser.pass(stages, item, None, site, sink, out))
                    };
                    self.drive(part, site, false, &mut pass, out)?;
                }
                Ok(())
            }
            Origin::Constant(iterator) => {
                let (items, name) = (self.names.fresh("items"), self.names.fresh("item"));
                // There may be no end of items.
                let mut body: Vec<Stmt> =
                    guard.iter().map(|guard| parse_quote!(if !(#guard) { break; })).collect();
                self.pass(stages, Item::Value(path(&name)), None, site, sink, &mut body)?;
                out.push(parse_quote!(let mut #items = #iterator;));
                out.push(parse_quote!(while let Some(#name) = #items.next() { #(#body)* }));
                // What it borrows is free again, as behind a `for`.
                out.push(parse_quote!(::core::mem::drop(#items);));
                Ok(())
            }
            Origin::Source(source) if !by_index && matches!(**source, Source::Matrix { .. }) => {
                let Source::Matrix { base, access, .. } = &**source else { unreachable!("just seen") };
                let (row, column) = (self.names.fresh("row"), self.names.fresh("column"));
                let place: Expr = parse_quote!(#base[[#row, #column]]);
                let item = match access {
                    Access::Value => Item::Value(place),
                    access => Item::Place { place, unique: *access == Access::Unique },
                };
                let mut body = Vec::new();
                guarded(&guard, &mut body, |out| self.pass(stages, item, None, site, sink, out))?;
                out.push(parse_quote! {
                    for #row in 0..#base.nrows() {
                        for #column in 0..#base.ncols() { #(#body)* }
                    }
                });
                Ok(())
            }
            Origin::Source(source) => {
                let (mut core, steps) = (**source).clone().split();
                let native = if by_index { None } else { core.native() };
                let range: Expr = match (native, &mut core) {
                    (Some(range), _) => {
                        core =
                            Source::Range { start: parse_quote!(0), end: parse_quote!(0), inclusive: false };
                        range
                    }
                    (None, Source::Rev(inner, _)) if !by_index => {
                        self.name_lengths(inner, out)?;
                        let len = endless(inner)?;
                        core = (**inner).clone();
                        parse_quote!((0..#len).rev())
                    }
                    (None, source) => {
                        self.name_lengths(source, out)?;
                        let len = endless(source)?;
                        parse_quote!(0..#len)
                    }
                };
                let name = self.names.fresh("i");
                let index = path(&name);
                let mut body = Vec::new();
                guarded(&guard, &mut body, |out| {
                    let mut item = self.item_at(&core, &index, site, out)?;
                    for step in &steps {
                        item = match step {
                            Some(function) => self.mapped(function, item, site, out)?,
                            None => item.copied(),
                        };
                    }
                    let known = (by_index && stages.is_empty()).then_some(&index);
                    self.pass(stages, item, known, site, sink, out)
                })?;
                let name = named_by_user(&name, &mut body);
                out.push(parse_quote!(for #name in #range { #(#body)* }));
                Ok(())
            }
        }
    }

    /// Takes an item through `stages`.
    pub(super) fn pass(
        &mut self,
        stages: &[Stage],
        item: Item,
        index: Option<&Expr>,
        site: Site,
        sink: &mut Sink<'_, 'e>,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Refused> {
        let Some((stage, rest)) = stages.split_first() else { return sink(self, item, index, out) };
        match stage {
            Stage::Map(function) => {
                let item = self.mapped(function, item, site, out)?;
                self.pass(rest, item, None, site, sink, out)
            }
            Stage::Copied => self.pass(rest, item.copied(), None, site, sink, out),
            Stage::Filter(test) => {
                let item = self.named(item, out);
                let test = self.predicate(test, &[reference(&item)])?;
                self.pass_if(test, rest, item, site, sink, out)
            }
            Stage::FilterMap(closure, going) => {
                let value = self.inline(closure, vec![item], site, out)?;
                self.pass_optional(value, closure, going, rest, site, sink, out)
            }
            Stage::FlatMap(function) => {
                let item = match function {
                    Some(function) => self.mapped(function, item, site, out)?,
                    None => {
                        self.flattens(&item, out);
                        item
                    }
                };
                let inner = self.flow_of_item(item, out)?;
                let mut sink = |parser: &mut Parser<'e>, item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
                    parser.pass(rest, item, None, site, sink, out)
                };
                self.drive(&inner, site, false, &mut sink, out)
            }
            Stage::Inspect(closure) => {
                let item = self.named(item, out);
                let mut inner = Vec::new();
                let value = self.inline(closure, vec![Item::Value(reference(&item))], site, &mut inner)?;
                out.push(parse_quote!({ #(#inner)* #value; }));
                self.pass(rest, item, None, site, sink, out)
            }
            Stage::TakeWhile(test, going) => {
                let item = self.named(item, out);
                let test = self.predicate(test, &[reference(&item)])?;
                // An inner loop goes on with items that nobody wants any more.
                out.push(parse_quote!(if #going && !(#test) { #going = false; }));
                self.pass_if(path(going), rest, item, site, sink, out)
            }
            Stage::SkipWhile(test, skipping) => {
                let item = self.named(item, out);
                let test = self.predicate(test, &[reference(&item)])?;
                out.push(parse_quote!(if #skipping && !(#test) { #skipping = false; }));
                self.pass_if(parse_quote!(!#skipping), rest, item, site, sink, out)
            }
            Stage::Enumerate(count) => {
                let index = self.names.fresh("index");
                out.push(parse_quote!(let #index = #count;));
                out.push(parse_quote!(#count += 1;));
                let item = Item::Tuple(vec![Item::Value(path(&index)), item]);
                self.pass(rest, item, None, site, sink, out)
            }
            Stage::Take(count, taken) => {
                let mut inner = vec![parse_quote!(#taken += 1;)];
                self.pass(rest, item, None, site, sink, &mut inner)?;
                out.push(parse_quote!(if #taken < #count { #(#inner)* }));
                Ok(())
            }
            Stage::Skip(count, skipped) => {
                let item = self.named(item, out);
                out.push(parse_quote!(#skipped += 1;));
                self.pass_if(parse_quote!(#skipped > #count), rest, item, site, sink, out)
            }
            Stage::StepBy(step, count) => {
                let item = self.named(item, out);
                out.push(parse_quote!(#count += 1;));
                self.pass_if(parse_quote!((#count - 1) % #step == 0), rest, item, site, sink, out)
            }
            Stage::Scan(closure, going) => {
                let value = self.inline(closure, vec![item], site, out)?;
                if going.is_none() && !value.as_ref().is_some_and(is_some) {
                    let why = "this is differentiable where its closure ends in `Some(…)`: write a loop";
                    return Err((closure.body.to_token_stream(), why.into()));
                }
                self.pass_optional(value, closure, going, rest, site, sink, out)
            }
            Stage::Zip(zipped) => {
                let Zipped { source, len, count, first, going } = &**zipped;
                let item = self.named(item, out);
                let index = self.names.fresh("index");
                let mut inner: Vec<Stmt> =
                    vec![parse_quote!(let #index = #count;), parse_quote!(#count += 1;)];
                let other = self.item_at(source, &path(&index), site, &mut inner)?;
                let both = if *first { vec![other, item] } else { vec![item, other] };
                self.pass(rest, Item::Tuple(both), None, site, sink, &mut inner)?;
                match (len, going) {
                    (None, _) => out.extend(inner),
                    (Some(len), None) => out.push(parse_quote!(if #count < #len { #(#inner)* })),
                    (Some(len), Some(going)) => {
                        out.push(parse_quote!(if #count < #len { #(#inner)* } else { #going = false; }));
                    }
                }
                Ok(())
            }
        }
    }

    /// What is in `option`, with the functions of `map` behind it; `stop` if there is nothing.
    fn pass_if_there(
        &mut self,
        option: &Expr,
        stop: Option<Stmt>,
        rest: &[Stage],
        site: Site,
        sink: &mut Sink<'_, 'e>,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Refused> {
        let (option, functions) = mapped(option);
        let there = self.names.fresh("there");
        // Not to be taken for a vector where something refers to it.
        let item = self.names.fresh("item");
        let mut inner: Vec<Stmt> = vec![parse_quote!(let #item = #there;)];
        let mut item = Item::Value(path(&item));
        for function in functions {
            let function = self.function(function)?;
            item = self.mapped(&function, item, site, &mut inner)?;
        }
        self.pass(rest, item, None, site, sink, &mut inner)?;
        let value = match option {
            Expr::Call(_) | Expr::MethodCall(_) | Expr::Path(_) => option.clone(),
            _ => {
                let found = self.names.fresh("found");
                out.push(parse_quote!(let #found = #option;));
                path(&found)
            }
        };
        out.push(either(&parse_quote!(let Some(#there) = #value), &inner, &stop));
        Ok(())
    }

    fn pass_if(
        &mut self,
        test: Expr,
        rest: &[Stage],
        item: Item,
        site: Site,
        sink: &mut Sink<'_, 'e>,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Refused> {
        let mut inner = Vec::new();
        self.pass(rest, item, None, site, sink, &mut inner)?;
        out.push(parse_quote!(if #test { #(#inner)* }));
        Ok(())
    }

    /// Goes on with what is inside `value`, to which `closure` comes, if there is something; otherwise nothing comes after it if there is a local
    /// that tells so.
    #[allow(clippy::too_many_arguments, reason = "one more than `pass`")]
    fn pass_optional(
        &mut self,
        value: Option<Expr>,
        closure: &ExprClosure,
        going: &Option<Ident>,
        rest: &[Stage],
        site: Site,
        sink: &mut Sink<'_, 'e>,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Refused> {
        let stop: Option<Stmt> = going.as_ref().map(|going| parse_quote!(#going = false;));
        let (test, mut then) = match (optional(value.clone(), closure), value) {
            (Ok(parts), _) => parts,
            (Err(_), Some(option)) => return self.pass_if_there(&option, stop, rest, site, sink, out),
            (Err(refused), None) => return Err(refused),
        };
        self.rename_locals(&mut then, &Occurrences::of(closure), site);
        let mut inner = then.statements;
        let item = result(then.value.expect("an option has a value"));
        self.pass(rest, item, None, site, sink, &mut inner)?;
        match test {
            Some(test) => out.push(either(&parse_quote!(#test), &inner, &stop)),
            None => out.extend(inner),
        }
        Ok(())
    }
}

/// `if test { then } else { otherwise }`
fn either(test: &Expr, then: &[Stmt], otherwise: &Option<Stmt>) -> Stmt {
    match otherwise {
        Some(otherwise) => parse_quote!(if #test { #(#then)* } else { #otherwise }),
        None => parse_quote!(if #test { #(#then)* }),
    }
}

/// Runs `body` only as long as `guard` holds.
pub(super) fn guarded(
    guard: &Option<Expr>,
    out: &mut Vec<Stmt>,
    body: impl FnOnce(&mut Vec<Stmt>) -> Result<(), Refused>,
) -> Result<(), Refused> {
    match guard {
        None => body(out),
        Some(guard) => {
            let mut inner = Vec::new();
            body(&mut inner)?;
            out.push(parse_quote!(if #guard { #(#inner)* }));
            Ok(())
        }
    }
}

/// A loop over an iterator without end cannot be undone.
fn endless(source: &Source) -> Result<Expr, Refused> {
    source.len().ok_or_else(|| {
        (proc_macro2::TokenStream::new(), "this iterator has no end: `take` as many items as you need".into())
    })
}

/// A test gets the item by reference, and only reads it.
pub(crate) fn reference(item: &Item) -> Expr {
    let item = match item.clone().shared().expr() {
        item @ Expr::Reference(_) => item,
        item => operand(item),
    };
    parse_quote!(&#item)
}

/// `if c { Some(x) } else { None }` and its relatives: the condition, and the code for `x`.
pub(crate) fn optional(value: Option<Expr>, closure: &ExprClosure) -> Result<(Option<Expr>, Code), Refused> {
    let refused = || {
        let why = "this closure is differentiable if it ends in `Some(…)`, in `if … { Some(…) } else { None }` or in `then`: \
                   write it like that, or as a loop";
        (closure.body.to_token_stream(), why.to_string())
    };
    let some = |expr: Expr| match expr {
        Expr::Call(call) if call.args.len() == 1 && is_path(&call.func, "Some") => Some(call.args[0].clone()),
        _ => None,
    };
    match value.ok_or_else(refused)? {
        Expr::If(branch) if !matches!(&*branch.cond, Expr::Let(_)) => {
            let Some((_, otherwise)) = &branch.else_branch else { return Err(refused()) };
            let none = |code: &Code| {
                code.statements.is_empty() && code.value.as_ref().is_some_and(|value| is_path(value, "None"))
            };
            let (block, cond) = (&branch.then_branch, branch.cond);
            let (then, otherwise) = (Code::of(&parse_quote!(#block)), Code::of(otherwise));
            let (test, mut code): (Expr, Code) = match (none(&then), none(&otherwise)) {
                (false, true) => (*cond, then),
                (true, false) => (parse_quote!(!(#cond)), otherwise),
                _ => return Err(refused()),
            };
            let Some(inner) = code.value.take().and_then(some) else { return Err(refused()) };
            code.value = Some(inner);
            Ok((Some(test), code))
        }
        Expr::MethodCall(call)
            if call.args.len() == 1 && (call.method == "then" || call.method == "then_some") =>
        {
            match &call.args[0] {
                Expr::Closure(then) if call.method == "then" => {
                    Ok((Some(tested(&call.receiver)), Code::of(&then.body)))
                }
                value if call.method == "then_some" => Ok((Some(tested(&call.receiver)), Code::of(value))),
                _ => Err(refused()),
            }
        }
        value => {
            let value = some(value).ok_or_else(refused)?;
            Ok((None, Code { statements: Vec::new(), value: Some(value) }))
        }
    }
}

/// `Some(…)`
pub(super) fn is_some(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call) if call.args.len() == 1 && is_path(&call.func, "Some"))
}

fn is_path(expr: &Expr, name: &str) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident(name))
}

/// The loop's index under the name that the user has for it, if there is one: `let i = index;` at the start of the body.
fn named_by_user(index: &Ident, body: &mut Vec<Stmt>) -> Ident {
    let found = body.iter().position(|statement| match statement {
        Stmt::Local(local) => {
            let simple = matches!(&local.pat, syn::Pat::Ident(name) if name.mutability.is_none() && name.subpat.is_none() && name.by_ref.is_none());
            let same = local.init.as_ref().is_some_and(|init| {
                let same = matches!(&*init.expr, Expr::Path(path) if path.path.get_ident() == Some(index));
                same && init.diverge.is_none()
            });
            simple && same
        }
        _ => false,
    });
    let Some(found) = found else { return index.clone() };
    let Stmt::Local(local) = &body[found] else { unreachable!("found above") };
    let name = bound(&local.pat).remove(0);
    let mut code = Code { statements: std::mem::take(body), value: None };
    // The name is free before the `let`, and means the same to the end.
    let before = crate::rename::Occurrences::of(quote_all(&code.statements[..found]));
    let mut bindings = Bindings::of(&name);
    code.statements.iter().for_each(|statement| bindings.visit_stmt(statement));
    if before.count(&name) > 0 || bindings.count != 1 {
        *body = code.statements;
        return index.clone();
    }
    code.statements.remove(found);
    code.replace(index, &Substitute::Name(name.clone()));
    *body = code.statements;
    name
}

fn quote_all(statements: &[Stmt]) -> proc_macro2::TokenStream {
    quote::quote!(#(#statements)*)
}
