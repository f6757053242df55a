//! Chains whose items are an `Option` or a `Result` each, and what is made of all of them as well:
//! `let v = x.iter().map(|x| f(*x)).collect::<Result<Vec<_>, _>>()?;` is a loop that pushes what is inside of the items, and leaves at the
//! first that has nothing inside.
//!
//! ```text
//! let mut v = Vec::new();
//! for item in x.iter().map(|x| f(*x)) { let there = item?; v.push(there); }
//! ```
//!
//! Where it is no `?` that looks into the whole, the loop says in a variable how it has ended, and what looks into the whole looks into that.

use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprMethodCall, Ident, Pat, ReturnType, Stmt, Type, parse_quote};

use crate::iterators::collect::element_of_vec;
use crate::iterators::consumers::generic;
use crate::kind::kind_of_type;
use crate::mapped_outcomes;
use crate::options::{applied, mapped};
use crate::outcome::{inside_type, is_option};
use crate::program::{Kind, Program};
use crate::rename::{Occurrences, Replace, Substitute, bound, path};
use crate::signature::Signature;
use crate::suspects::Suspects;
use crate::temporaries::unused_start;

/// `body` with loops in place of such chains, as far as they may carry a gradient.
pub(crate) fn with_fallible(signature: &Signature, mut body: Block) -> Block {
    let suspects = Suspects::of(signature, &body);
    body = mapped_outcomes::with_told(body, &suspects);
    let output = inside_type(&signature.output).map(|_| &signature.output);
    let mut told = Told { output, suspects: &suspects, found: false };
    let mut typed = body.clone();
    told.at_end(&mut typed);
    told.visit_block_mut(&mut typed);
    if !told.found {
        return body;
    }
    let start = unused_start(&body.to_token_stream().to_string());
    body = typed;
    Gather { suspects, start, count: 0 }.visit_block_mut(&mut body);
    body
}

/// Writes the type behind such a consumer, where something else tells it.
struct Told<'t> {
    /// What the function returns, if that is an outcome.
    output: Option<&'t Type>,
    suspects: &'t Suspects,
    /// There is such a chain, or a function of what is inside.
    found: bool,
}

impl Told<'_> {
    /// What ends the function is what is inside, and leaves it before if there is nothing.
    fn returned(&mut self, value: &mut Expr) {
        let Some(output) = self.output else { return };
        match value {
            Expr::MethodCall(call) if is_consumer(call) && call.turbofish.is_none() => {
                call.turbofish = Some(parse_quote!(::<#output>));
                let wrap = if is_option(output) { quote!(Some) } else { quote!(Ok) };
                *value = parse_quote!(#wrap(#call?));
            }
            Expr::MethodCall(call) if self.is_mapped(call) => {
                let (outcome, mut functions) = mapped(&call.receiver);
                functions.extend(&call.args);
                let wrap = if is_option(output) { quote!(Some) } else { quote!(Ok) };
                if let Some(inside) = applied(&functions, parse_quote!(#outcome?)) {
                    *value = parse_quote!(#wrap(#inside));
                    self.found = true;
                }
            }
            Expr::MethodCall(call) if self.is_result_of_result(call) => {
                let outcome = &call.receiver;
                if let Some(next) = applied(&[&call.args[0]], parse_quote!(#outcome?)) {
                    *value = next;
                    self.found = true;
                }
            }
            Expr::Block(block) if block.label.is_none() => self.at_end(&mut block.block),
            Expr::Paren(paren) => self.returned(&mut paren.expr),
            Expr::If(branch) => {
                self.at_end(&mut branch.then_branch);
                branch.else_branch.iter_mut().for_each(|(_, otherwise)| self.returned(otherwise));
            }
            Expr::Match(m) => m.arms.iter_mut().for_each(|arm| self.returned(&mut arm.body)),
            _ => {}
        }
    }

    /// `f(x).map(g)`, of which the type that the function returns tells that it is an outcome.
    fn is_mapped(&self, call: &ExprMethodCall) -> bool {
        let map = call.method == "map" && call.args.len() == 1;
        map && makes_outcome(mapped(&call.receiver).0) && self.suspects.any(call)
    }

    /// `f(x).and_then(g)` of a `Result`.
    fn is_result_of_result(&self, call: &ExprMethodCall) -> bool {
        let and_then = call.method == "and_then" && call.args.len() == 1;
        and_then
            && !self.output.is_some_and(is_option)
            && makes_outcome(&call.receiver)
            && self.suspects.any(call)
    }

    fn at_end(&mut self, block: &mut Block) {
        if let Some(Stmt::Expr(value, None)) = block.stmts.last_mut() {
            self.returned(value);
        }
    }
}

impl VisitMut for Told<'_> {
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        if let (Pat::Type(typed), Some(init)) = (&local.pat, &mut local.init)
            && let Expr::MethodCall(call) = &mut *init.expr
            && is_consumer(call)
            && call.turbofish.is_none()
            && inside_type(&typed.ty).is_some()
        {
            let ty = &typed.ty;
            call.turbofish = Some(parse_quote!(::<#ty>));
        }
        if let (Pat::Type(typed), Some(init)) = (&local.pat, &mut local.init)
            && let Expr::Try(tried) = &mut *init.expr
            && let Expr::MethodCall(call) = &mut *tried.expr
            && is_consumer(call)
            && let Some(Type::Path(mut outcome)) = generic(call)
            && let Some(last) = outcome.path.segments.last_mut()
            && let syn::PathArguments::AngleBracketed(arguments) = &mut last.arguments
            && let Some(syn::GenericArgument::Type(inside @ Type::Infer(_))) = arguments.args.first_mut()
        {
            *inside = (*typed.ty).clone();
            call.turbofish = Some(parse_quote!(::<#outcome>));
        }
        visit_mut::visit_local_mut(self, local);
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Return(jump) = expr {
            jump.expr.iter_mut().for_each(|value| self.returned(value));
        }
        self.found |= Gathered::of(expr).is_some();
        visit_mut::visit_expr_mut(self, expr);
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// It makes something of all items.
fn is_consumer(call: &ExprMethodCall) -> bool {
    ["collect", "sum", "product"].iter().any(|name| call.method == name) && call.args.is_empty()
}

/// A call of a function, or of a method of `self`, by the name that it has here; or what an error is put beside.
fn makes_outcome(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => matches!(&*call.func, Expr::Path(_)),
        Expr::MethodCall(call) => {
            call.method == "ok_or"
                || call.method == "ok_or_else"
                || matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self") || path.path.is_ident("self_"))
        }
        _ => false,
    }
}

/// Such a chain.
struct Gathered {
    chain: Expr,
    /// What it starts with, and what is done with what is inside of an item.
    start: proc_macro2::TokenStream,
    step: fn(&Ident, &Ident) -> Stmt,
    /// It is a vector.
    vector: bool,
    /// The type of what is inside of an item, if that is a number, which it is taken for where it is not told.
    number: Option<Type>,
    /// That of the whole.
    outcome: Type,
}

impl Gathered {
    fn of(expr: &Expr) -> Option<Self> {
        let Expr::MethodCall(call) = expr else { return None };
        let outcome = generic(call).filter(|_| is_consumer(call))?;
        let whole = inside_type(&outcome)?;
        let (mut chain, name) = ((*call.receiver).clone(), call.method.to_string());
        tell_closure(&mut chain, &outcome);
        let (start, step, inside): (_, fn(&Ident, &Ident) -> Stmt, _) = match name.as_str() {
            "collect" => {
                let element = element_of_vec(&whole)?;
                let step = |whole: &Ident, there: &Ident| parse_quote!(#whole.push(#there););
                (quote!(: Vec<#element> = Vec::new()), step, element.clone())
            }
            _ if !matches!(whole, Type::Infer(_)) && kind_of_type(&whole) != Kind::Float => return None,
            // As the standard library starts.
            "sum" => (quote!(: #whole = -0.0), |whole, there| parse_quote!(#whole += #there;), whole.clone()),
            _ => (quote!(: #whole = 1.0), |whole, there| parse_quote!(#whole *= #there;), whole.clone()),
        };
        let number = matches!(inside, Type::Infer(_)) || kind_of_type(&inside) == Kind::Float;
        Some(Gathered {
            chain,
            start,
            step,
            vector: name == "collect",
            number: number.then_some(inside),
            outcome,
        })
    }
}

/// Writes what the closure of the last `map` in `chain` returns behind its parameters, for each `?` in it: the kind of outcome that the whole is.
fn tell_closure(chain: &mut Expr, outcome: &Type) {
    if let Expr::MethodCall(call) = chain
        && call.method == "map"
        && let Some(Expr::Closure(closure)) = call.args.first_mut()
        && matches!(closure.output, ReturnType::Default)
    {
        let told =
            if is_option(outcome) { mapped_outcomes::Told::Option } else { mapped_outcomes::Told::Result };
        mapped_outcomes::write(&mut closure.body, told);
        let returned = if is_option(outcome) { quote!(Option<_>) } else { quote!(Result<_, _>) };
        closure.output = parse_quote!(-> #returned);
    }
}

struct Gather {
    suspects: Suspects,
    /// How the names of values start.
    start: String,
    count: usize,
}

impl Gather {
    fn name(&mut self, role: &str) -> Ident {
        self.count += 1;
        Program::fresh(&format!("{}_{role}_{}", self.start, self.count))
    }

    fn gathered(&self, expr: &Expr) -> Option<Gathered> {
        Gathered::of(expr).filter(|_| self.suspects.any(expr))
    }

    /// The loop that leaves the function; and what it makes.
    fn leaving(&mut self, gathered: &Gathered, out: &mut Vec<Stmt>) -> Ident {
        let [whole, item, there] = ["whole", "item", "there"].map(|role| self.name(role));
        let Gathered { chain, start, number, .. } = gathered;
        let (ty, step) = (number.as_ref().map(|ty| quote!(: #ty)), (gathered.step)(&whole, &there));
        out.push(parse_quote!(let mut #whole #start;));
        out.push(parse_quote!(for #item in #chain { let #there #ty = #item?; #step }));
        whole
    }

    /// The loop that tells how it has ended; and what it makes.
    fn telling(&mut self, gathered: &Gathered, out: &mut Vec<Stmt>) -> (Ident, Ident) {
        let [whole, how, item, inner, there] =
            ["whole", "how", "item", "inner", "there"].map(|role| self.name(role));
        let Gathered { chain, start, number, outcome, .. } = gathered;
        let ty = number.as_ref().map(|ty| quote!(: #ty));
        let (typed, step) = (quote!(let #there #ty = #inner;), (gathered.step)(&whole, &there));
        let arms = match is_option(outcome) {
            true => quote!(Some(#inner) => { #typed #step } None => { #how = None; break; }),
            false => {
                let error = self.name("error");
                quote!(Ok(#inner) => { #typed #step } Err(#error) => { #how = Err(#error); break; })
            }
        };
        let ends: Expr = if is_option(outcome) { parse_quote!(Some(())) } else { parse_quote!(Ok(())) };
        out.push(parse_quote!(let mut #whole #start;));
        out.push(parse_quote!(let mut #how = #ends;));
        out.push(parse_quote!(for #item in #chain { match #item { #arms } }));
        (whole, how)
    }

    /// Puts the loop of what `expr` evaluates first before it, if that is such a chain.
    fn first(&mut self, expr: &mut Expr, out: &mut Vec<Stmt>) {
        match expr {
            Expr::Try(tried) => {
                if let Some(gathered) = self.gathered(&tried.expr) {
                    let whole = self.leaving(&gathered, out);
                    *expr = path(&whole);
                } else if let Some(whole) = self.stepped(expr, out) {
                    *expr = whole;
                } else if let Expr::Try(tried) = expr {
                    self.first(&mut tried.expr, out);
                }
            }
            Expr::MethodCall(_) => {
                if let Some(gathered) = self.gathered(expr) {
                    // An error need not be `Copy`.
                    if !gathered.vector && is_option(&gathered.outcome) {
                        *expr = self.value(&gathered, out);
                    }
                } else if let Some(whole) = self.stepped(expr, out) {
                    *expr = whole;
                } else if let Expr::MethodCall(call) = expr {
                    self.first(&mut call.receiver, out);
                }
            }
            Expr::Match(m) => match self.gathered(&m.expr) {
                Some(gathered) => {
                    let (whole, how) = self.telling(&gathered, out);
                    *m.expr = path(&how);
                    for arm in &mut m.arms {
                        into(&mut arm.pat, &whole, &mut arm.body, None);
                    }
                }
                None => self.first(&mut m.expr, out),
            },
            Expr::If(branch) => match &mut *branch.cond {
                Expr::Let(test) => match self.gathered(&test.expr) {
                    Some(gathered) => {
                        let (whole, how) = self.telling(&gathered, out);
                        *test.expr = path(&how);
                        let then = &mut branch.then_branch;
                        let mut body: Expr = parse_quote!(#then);
                        into(&mut test.pat, &whole, &mut body, None);
                        *then = parse_quote!({ #body });
                    }
                    None => self.first(&mut test.expr, out),
                },
                cond => self.first(cond, out),
            },
            Expr::Binary(binary) if crate::parse::assign_op(&binary.op).is_some() => {
                self.first(&mut binary.right, out);
            }
            Expr::Binary(binary) => self.first(&mut binary.left, out),
            Expr::Assign(assign) => self.first(&mut assign.right, out),
            Expr::Return(syn::ExprReturn { expr: Some(value), .. })
            | Expr::Break(syn::ExprBreak { expr: Some(value), .. }) => self.first(value, out),
            Expr::Call(call) if matches!(&*call.func, Expr::Path(_)) => {
                call.args.first_mut().into_iter().for_each(|first| self.first(first, out));
            }
            Expr::Tuple(tuple) => {
                tuple.elems.first_mut().into_iter().for_each(|first| self.first(first, out))
            }
            Expr::Paren(paren) => self.first(&mut paren.expr, out),
            Expr::Reference(reference) => self.first(&mut reference.expr, out),
            Expr::Unary(unary) => self.first(&mut unary.expr, out),
            Expr::Index(index) => self.first(&mut index.expr, out),
            Expr::Cast(cast) => self.first(&mut cast.expr, out),
            Expr::ForLoop(f) => self.first(&mut f.expr, out),
            _ => {}
        }
    }

    /// The outcome of numbers as a value.
    fn value(&mut self, gathered: &Gathered, out: &mut Vec<Stmt>) -> Expr {
        let (whole, how) = self.telling(gathered, out);
        parse_quote!(::pullback::__private::fill(#whole, #how))
    }

    /// `whole.map_err(f)?`, `whole.ok().unwrap()` and the like: `how.map_err(f)?;` and what is inside of the whole.
    fn stepped(&mut self, expr: &Expr, out: &mut Vec<Stmt>) -> Option<Expr> {
        fn root(expr: &mut Expr) -> Option<&mut Expr> {
            match expr {
                Expr::MethodCall(call) if is_consumer(call) => Some(expr),
                Expr::MethodCall(call) if STEPS.iter().any(|name| call.method == name) => {
                    root(&mut call.receiver)
                }
                _ => None,
            }
        }
        const STEPS: &[&str] = &["ok", "ok_or", "ok_or_else", "map_err"];
        let mut steps = expr.clone();
        let consumer = match &mut steps {
            Expr::Try(tried) => root(&mut tried.expr)?,
            Expr::MethodCall(call) if call.method == "unwrap" || call.method == "expect" => {
                root(&mut call.receiver)?
            }
            _ => return None,
        };
        let gathered = self.gathered(consumer)?;
        let (whole, how) = self.telling(&gathered, out);
        *consumer = path(&how);
        if let Expr::Try(tried) = &mut steps {
            let (stepped, end) = (self.name("end"), &tried.expr);
            out.push(parse_quote!(let #stepped = #end;));
            *tried.expr = path(&stepped);
        }
        out.push(Stmt::Expr(steps, Some(Default::default())));
        Some(path(&whole))
    }

    /// A `let` of such a whole that the next statement alone looks into.
    fn handed_on(&self, stmts: &[Stmt]) -> Option<Stmt> {
        let [Stmt::Local(local), next, rest @ ..] = stmts else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let name = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let Pat::Ident(name) = name else { return None };
        self.gathered(&init.expr)?;
        let shadows = matches!(next, Stmt::Local(local) if bound(&local.pat).contains(&name.ident));
        let mentions = |tokens: proc_macro2::TokenStream| Occurrences::of(tokens).count(&name.ident) > 0;
        if !shadows && mentions(quote!(#(#rest)*)) {
            return None;
        }
        let mut next = next.clone();
        let (place, diverge) = match &mut next {
            Stmt::Local(syn::Local { init: Some(init), .. }) => (&mut *init.expr, init.diverge.as_ref()),
            Stmt::Expr(expr, _) => (expr, None),
            _ => return None,
        };
        if diverge.is_some_and(|(_, diverge)| mentions(quote!(#diverge))) {
            return None;
        }
        let looked_into = looked_into(place)?;
        if !matches!(looked_into, Expr::Path(path) if path.path.is_ident(&name.ident)) {
            return None;
        }
        *looked_into = (*init.expr).clone();
        // Nor does anything else there, but for what a pattern binds to the same name.
        let mut others = place.clone();
        *self::looked_into(&mut others)? = parse_quote!(());
        let binds = |pattern: &Pat| bound(pattern).contains(&name.ident);
        match &mut others {
            Expr::Match(m) => m.arms.retain(|arm| !binds(&arm.pat)),
            Expr::If(branch) if matches!(&*branch.cond, Expr::Let(test) if binds(&test.pat)) => {
                branch.cond = parse_quote!(true);
                branch.then_branch = parse_quote!({});
            }
            _ => {}
        }
        (!mentions(quote!(#others))).then_some(next)
    }
}

/// What a `?`, a `match` or an `if let` that is all of `expr` looks into.
fn looked_into(expr: &mut Expr) -> Option<&mut Expr> {
    match expr {
        Expr::Try(tried) => looked_into(&mut tried.expr),
        Expr::Match(m) => looked_into(&mut m.expr),
        Expr::If(branch) => match &mut *branch.cond {
            Expr::Let(test) => looked_into(&mut test.expr),
            _ => None,
        },
        Expr::MethodCall(call) => looked_into(&mut call.receiver),
        expr => Some(expr),
    }
}

/// `Ok(v)` as `Ok(())`, and `whole` in place of `v` in what comes of it.
fn into(pattern: &mut Pat, whole: &Ident, body: &mut Expr, guard: Option<&mut Expr>) {
    if let Pat::Guard(guarded) = pattern {
        return into(&mut guarded.pat, whole, body, Some(&mut guarded.guard));
    }
    let Pat::TupleStruct(with) = pattern else { return };
    if !with.path.segments.last().is_some_and(|last| last.ident == "Some" || last.ident == "Ok") {
        return;
    }
    let Some(inside @ Pat::Ident(name)) = with.elems.first() else { return };
    let by = Substitute::Name(whole.clone());
    guard.into_iter().for_each(|guard| Replace::new(&name.ident, &by).visit_expr_mut(guard));
    let (mut replace, mut replaced) = (Replace::new(&name.ident, &by), body.clone());
    replace.visit_expr_mut(&mut replaced);
    // A text may name it.
    *body = if replace.left { parse_quote!({ let #inside = #whole; #body }) } else { replaced };
    with.elems[0] = parse_quote!(());
}

impl VisitMut for Gather {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = std::mem::take(&mut block.stmts);
        while !stmts.is_empty() {
            let mut stmt = match self.handed_on(&stmts) {
                Some(next) => {
                    stmts.remove(0);
                    next
                }
                None => stmts[0].clone(),
            };
            stmts.remove(0);
            let mut behind = None;
            match &mut stmt {
                Stmt::Local(syn::Local { init: Some(init), pat, .. }) => match self.gathered(&init.expr) {
                    Some(gathered) if init.diverge.is_some() => {
                        let (whole, how) = self.telling(&gathered, &mut block.stmts);
                        *init.expr = path(&how);
                        if let Pat::TupleStruct(with) = pat {
                            let name = with.elems.first().cloned();
                            with.elems.iter_mut().for_each(|inside| *inside = parse_quote!(()));
                            behind = name.map(|name| parse_quote!(let #name = #whole;));
                        }
                    }
                    _ => self.first(&mut init.expr, &mut block.stmts),
                },
                Stmt::Expr(expr, _) => self.first(expr, &mut block.stmts),
                _ => {}
            }
            self.visit_stmt_mut(&mut stmt);
            block.stmts.push(stmt);
            block.stmts.extend(behind);
        }
    }
    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        let mut before = Vec::new();
        self.first(&mut arm.body, &mut before);
        if !before.is_empty() {
            let value = &arm.body;
            *arm.body = parse_quote!({ #(#before)* #value });
        }
        visit_mut::visit_arm_mut(self, arm);
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
