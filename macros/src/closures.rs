//! Local closures: known by their name, and inlined where they are called.
//!
//! A call becomes the closure's body, with a `let` for each parameter. What it captures is still there, under the same name:
//! Rust's borrows see to the values, and a name that would be taken in between is given to the newcomer in another form.

use std::collections::HashSet;
use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Expr, ExprClosure, Ident, Pat, Stmt, parse_quote};

use crate::iterators::consumers::changes;
use crate::iterators::item::{Code, Item};
use crate::normal::Parts;
use crate::parse::{Binding, Parser};
use crate::program::{Kind, VarId};
use crate::rename::{Occurrences, Replace, Substitute, bound, path};
use crate::statements::referent;

/// A closure bound to a name.
pub(crate) struct Closure {
    pub(crate) syntax: ExprClosure,
    /// What its free names referred to where it was made.
    captured: Vec<(Ident, Binding)>,
}

impl Closure {
    /// The variables that it captures.
    pub(crate) fn mentions(&self, found: &mut Vec<VarId>) {
        for (_, binding) in &self.captured {
            match binding {
                Binding::Variable(id) => found.push(*id),
                Binding::Alias { place, .. } => found.push(place.base),
                Binding::Closure(closure) => closure.mentions(found),
                Binding::Held(_) => {}
            }
        }
    }
}

/// Where code is inlined, which decides about the names it may use.
#[derive(Clone, Copy)]
pub(crate) enum Site<'a> {
    /// Into a loop of its own, that a chain becomes: beside these names.
    Chain(&'a Occurrences),
    /// Among the statements of the user's.
    Block,
}

pub(crate) const STANDS: &str = "an iterator under a name is differentiable where something consumes it, and an `Option` of a reference where `if let`, `match` or \
     `let … else` takes it apart, and with `unwrap`, `unwrap_or`, `map_or`, `is_some` or `?` behind it: do that";

/// What cannot be rewritten: the code in question, and why.
pub(crate) type Refused = (TokenStream, String);

pub(crate) const ESCAPES: &str = "this closure is differentiable only where it is called by its name or passed to a function with a rule: do that, or write a function";

impl Parser<'_> {
    /// `let name = |…| …;`, if values with gradients may be involved. What is to stand in place of that statement.
    pub(crate) fn closure_let(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let (Pat::Ident(name), Some(init)) = (pattern, &local.init) else { return None };
        let Expr::Closure(closure) = referent(&init.expr) else { return None };
        if name.by_ref.is_some() || name.subpat.is_some() || !self.suspects.contains(&name.ident) {
            return None;
        }
        if closure.asyncness.is_some() {
            return None;
        }
        let mut syntax = closure.clone();
        let mut out = Vec::new();
        let mut captured = Vec::new();
        for (ident, binding) in self.free_names(closure) {
            // What is moved in is a copy, as soon as one of the two can change.
            if let (Some(_), Binding::Variable(id)) = (closure.capture, &binding)
                && self.program.variables[*id].mutable
                && !self.program.variables[*id].by_reference()
            {
                let copy = self.hidden(&ident.to_string());
                out.push(parse_quote!(let mut #copy = #ident;));
                let by = Substitute::Name(copy);
                let mut replace = Replace::new(&ident, &by);
                replace.visit_expr_mut(&mut syntax.body);
                if replace.left {
                    self.errors.push(&ident, "write this name out, instead of in a format string");
                }
                continue;
            }
            captured.push((ident, binding));
        }
        for statement in &out {
            self.push_statement(statement);
        }
        // The copies are captured as well.
        for (ident, binding) in self.free_names(&syntax) {
            if !captured.iter().any(|(name, _)| *name == ident) {
                captured.push((ident, binding));
            }
        }
        let binding = Binding::Closure(Rc::new(Closure { syntax, captured }));
        self.scope().insert(name.ident.to_string(), binding);
        Some(Vec::new())
    }

    /// `let squares = x.iter().map(|v| v * v);`, which one place consumes: kept as a closure without parameters.
    pub(crate) fn chain_let(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let (Pat::Ident(name), chain) = (&local.pat, &init.expr) else { return None };
        // What is not `mut` is moved where it is mentioned, all of it.
        let once = self.names.occurring.count(&name.ident) == 2;
        let chain = &self.without_own_name(chain, &name.ident)?;
        if name.mutability.is_some()
            || !once && !self.computes_nothing(chain)
            || !self.suspects.any(chain)
            || !self.goes_through(chain)
        {
            return None;
        }
        let syntax: ExprClosure = parse_quote!(|| #chain);
        if self.may_change(&syntax) {
            return None;
        }
        self.stands_for(&name.ident, syntax);
        Some(Vec::new())
    }

    /// `chain`, where it goes on with another chain of the same name: with what that name has stood for so far.
    fn without_own_name(&self, chain: &Expr, name: &Ident) -> Option<Expr> {
        let mut chain = chain.clone();
        if let Some(before) = self.named_chain(&path(name)).ok()? {
            let by = Substitute::Expr(before);
            let mut replace = Replace::new(name, &by);
            replace.visit_expr_mut(&mut chain);
            if replace.left {
                return None;
            }
        }
        Some(chain)
    }

    /// The chain just goes through elements: these can be had again where it is cloned.
    fn computes_nothing(&mut self, chain: &Expr) -> bool {
        let flow = self.flow(chain, &mut Vec::new());
        matches!(flow, Ok(Some(flow)) if flow.source().is_some_and(|source| source.is_of_elements()))
    }

    /// The code mentions variables of the user's that may be others where it is inlined: what an adapter is given by value is a copy, made here.
    pub(crate) fn may_change(&self, syntax: &ExprClosure) -> bool {
        self.free_names(syntax).iter().any(|(name, binding)| match binding {
            Binding::Variable(id) if self.names.occurring.count(name) > 0 => {
                let variable = &self.program.variables[*id];
                variable.mutable && !variable.by_reference() && !matches!(variable.kind, Kind::Sequence(_))
            }
            _ => false,
        })
    }

    /// From now on `name` stands for the value of a closure without parameters, wherever it is mentioned.
    pub(crate) fn stands_for(&mut self, name: &Ident, syntax: ExprClosure) {
        let captured = self.free_names(&syntax);
        self.suspects.insert(name);
        self.scope().insert(name.to_string(), Binding::Closure(Rc::new(Closure { syntax, captured })));
    }

    /// The chain that `expr` names.
    pub(crate) fn named_chain(&self, expr: &Expr) -> Result<Option<Expr>, Refused> {
        let Expr::Path(_) = expr else { return Ok(None) };
        let Some(closure) = self.closure(expr).filter(|closure| closure.syntax.inputs.is_empty()) else {
            return Ok(None);
        };
        if self.named_option(expr).is_some() {
            return Ok(None);
        }
        self.still_valid(&closure)?;
        Ok(Some((*closure.syntax.body).clone()))
    }

    /// The variables that a closure captures.
    fn free_names(&self, closure: &ExprClosure) -> Vec<(Ident, Binding)> {
        let parameters: Vec<_> = closure.inputs.iter().flat_map(bound).collect();
        let mut found: Vec<(Ident, Binding)> = Vec::new();
        for ident in identifiers(closure.body.to_token_stream()) {
            if parameters.contains(&ident) || found.iter().any(|(name, _)| *name == ident) {
                continue;
            }
            if let Some(binding) = self.lookup(&ident) {
                found.push((ident, binding.clone()));
            }
        }
        found
    }

    /// The names in code that is about to become a loop, with those of the closures and chains that it mentions: these are inlined there.
    pub(crate) fn around(&self, tokens: impl ToTokens) -> Occurrences {
        let mut all = Occurrences::default();
        let mut codes = vec![tokens.to_token_stream()];
        let mut inlined = HashSet::new();
        while let Some(code) = codes.pop() {
            all.extend(Occurrences::of(&code));
            for name in identifiers(code) {
                // A parameter may have the name of the closure.
                if let Some(Binding::Closure(closure)) = self.lookup(&name)
                    && inlined.insert(name)
                {
                    codes.push(closure.syntax.to_token_stream());
                }
            }
        }
        all
    }

    /// One of the names in `tokens` is that of a closure, or stands for something else that is no variable.
    pub(crate) fn names_code(&self, tokens: impl ToTokens) -> bool {
        identifiers(tokens.to_token_stream())
            .iter()
            .any(|name| matches!(self.lookup(name), Some(Binding::Closure(_) | Binding::Held(_))))
    }

    /// The closure that `expr` names.
    pub(crate) fn closure(&self, expr: &Expr) -> Option<Rc<Closure>> {
        match expr {
            Expr::Path(path) => match self.lookup(path.path.get_ident()?)? {
                Binding::Closure(closure) => Some(closure.clone()),
                _ => None,
            },
            Expr::Reference(reference) => self.closure(&reference.expr),
            Expr::Paren(paren) => self.closure(&paren.expr),
            _ => None,
        }
    }

    /// A closure that can still be called by its name captures `name`.
    pub(crate) fn is_captured(&self, name: &Ident) -> bool {
        self.visible_closures().any(|closure| closure.captured.iter().any(|(captured, _)| captured == name))
    }

    /// The names that `closure` captures mean what they meant.
    pub(crate) fn still_valid(&self, closure: &Closure) -> Result<(), Refused> {
        for (name, binding) in &closure.captured {
            if !self.lookup(name).is_some_and(|now| now.is(binding)) {
                let why =
                    format!("the closure refers to an earlier `{name}`: give the later one another name");
                return Err((closure.syntax.body.to_token_stream(), why));
            }
        }
        Ok(())
    }

    /// A call of a closure by its name, inlined: its value, `None` for `()`.
    pub(crate) fn inline_call(
        &mut self,
        closure: &Closure,
        call: &syn::ExprCall,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Expr>, Refused> {
        self.still_valid(closure)?;
        if let Err((tokens, why)) = inlinable(&self.without_tries(&closure.syntax)) {
            self.errors.push(tokens, why);
            return Err((call.to_token_stream(), String::new()));
        }
        if call.args.len() != closure.syntax.inputs.len() {
            return Err((call.to_token_stream(), "the closure takes another number of arguments".into()));
        }
        let args = call.args.iter().map(|arg| Item::Value(arg.clone())).collect();
        self.inline(&closure.syntax, args, Site::Block, out)
    }

    /// Binds the parameters of a closure and runs its statements. Its value, `None` for `()`.
    pub(crate) fn inline(
        &mut self,
        closure: &ExprClosure,
        args: Vec<Item>,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Expr>, Refused> {
        let closure = &self.without_tries(closure);
        inlinable(closure)?;
        let (closure, left) = self.without_returns(closure);
        let own = Occurrences::of(&closure);
        let mut code = Code::of(&closure.body);
        let mut patterns: Vec<Pat> = closure.inputs.iter().cloned().collect();
        for name in closure.inputs.iter().flat_map(bound) {
            if let Some(new) = self.another_name(&name, &own, site) {
                let by = Substitute::Name(new);
                let mut replace = Replace::new(&name, &by);
                patterns.iter_mut().for_each(|pattern| replace.visit_pat_mut(pattern));
                self.must_replace(&name, code.replace(&name, &by));
            }
        }
        for (pattern, item) in patterns.iter().zip(args) {
            self.bind_item(pattern, item, &mut code, out);
        }
        self.rename_locals(&mut code, &own, site);
        out.extend(code.statements);
        Ok(match (left, code.value) {
            (Some(Left::WithValue), Some(value)) => {
                let name = self.hidden("outcome");
                out.push(parse_quote!(let #name = #value;));
                Some(path(&name))
            }
            (Some(Left::Plainly), Some(value)) => {
                out.push(Stmt::Expr(value, Some(Default::default())));
                None
            }
            (_, value) => value,
        })
    }

    /// The closure with a `match` in place of each `?`, where the syntax tells what kind of value it returns.
    fn without_tries(&mut self, closure: &ExprClosure) -> ExprClosure {
        let mut closure = closure.clone();
        if let Some(option) = returns_option(&closure) {
            Tries { option, parser: self }.visit_expr_mut(&mut closure.body);
        }
        closure
    }

    /// The closure with a block that `break` leaves in place of what `return` does, if it is left so.
    fn without_returns(&mut self, closure: &ExprClosure) -> (ExprClosure, Option<Left>) {
        let mut closure = closure.clone();
        let mut returns = Returns { label: None, parts: &mut self.parts, left: None };
        returns.visit_expr_mut(&mut closure.body);
        let (label, left) = (returns.label, returns.left);
        if let Some(label) = label {
            let statements = match &*closure.body {
                Expr::Block(block) if block.label.is_none() => block.block.stmts.clone(),
                value => vec![Stmt::Expr(value.clone(), None)],
            };
            *closure.body = parse_quote!({ #label: { #(#statements)* } });
        }
        (closure, left)
    }

    /// Gives the locals of inlined code names that meet no others.
    pub(crate) fn rename_locals(&mut self, code: &mut Code, own: &Occurrences, site: Site) {
        for i in 0..code.statements.len() {
            let Stmt::Local(local) = &code.statements[i] else { continue };
            for name in bound(&local.pat) {
                let Some(new) = self.another_name(&name, own, site) else { continue };
                let by = Substitute::Name(new);
                if let Stmt::Local(local) = &mut code.statements[i] {
                    Replace::new(&name, &by).visit_pat_mut(&mut local.pat);
                }
                let replaced = code.replace_from(i + 1, &name, &by);
                self.must_replace(&name, replaced);
            }
        }
    }

    fn must_replace(&mut self, name: &Ident, replaced: bool) {
        if !replaced {
            self.errors.push(name, "this name means two things here: give the variable a name of its own");
        }
    }

    /// What a variable of inlined code has to be called instead.
    fn another_name(&mut self, name: &Ident, own: &Occurrences, site: Site) -> Option<Ident> {
        let new = match site {
            Site::Chain(around) => {
                let meets = around.count(name) > own.count(name) || self.is_captured(name);
                meets.then(|| self.names.fresh(&name.to_string()))
            }
            Site::Block => self.names.claim(name, own),
        }?;
        if self.suspects.contains(name) {
            self.suspects.insert(&new);
        }
        Some(new)
    }

    /// A test, as a block that is emitted as it is: it carries no gradient.
    pub(crate) fn predicate(&mut self, function: &Expr, args: &[Expr]) -> Result<Expr, Refused> {
        if let Some(closure) = self.closure(function) {
            self.still_valid(&closure)?;
            return Ok(self.verbatim_call(&closure.syntax, args));
        }
        match function {
            Expr::Closure(closure) => {
                inlinable(closure)?;
                Ok(self.verbatim_call(closure, args))
            }
            Expr::Path(_) => Ok(parse_quote!(#function(#(#args),*))),
            other => {
                Err((other.to_token_stream(), "write this function as a closure, or by its name".into()))
            }
        }
    }

    /// `{ let (parameters) = (arguments); body }`
    fn verbatim_call(&mut self, closure: &ExprClosure, args: &[Expr]) -> Expr {
        let (inputs, body) = self.named_apart(closure);
        with_arguments(&inputs, args, &body)
    }

    /// The parameters of `closure` and its body, with names for what it declares that mean nothing else where it is called.
    fn named_apart(&mut self, closure: &ExprClosure) -> (Vec<Pat>, syn::Block) {
        let closure = &self.without_returns(closure).0;
        let own = Occurrences::of(closure);
        let mut code = Code::of(&closure.body);
        let mut inputs: Vec<Pat> = closure.inputs.iter().cloned().collect();
        for name in closure.inputs.iter().flat_map(bound) {
            let Some(new) = self.another_name(&name, &own, Site::Block) else { continue };
            let by = Substitute::Name(new);
            let mut replace = Replace::new(&name, &by);
            inputs.iter_mut().for_each(|input| replace.visit_pat_mut(input));
            self.must_replace(&name, code.replace(&name, &by));
        }
        self.rename_locals(&mut code, &own, Site::Block);
        (inputs, parse_quote!({ #code }))
    }

    /// Code without gradient, with calls of closures written out, and with parameters of closures in it that have the names of
    /// variables renamed; `None` if there are none.
    pub(crate) fn plain(&mut self, expr: &Expr) -> Option<Expr> {
        let mut expr = expr.clone();
        let mut plain = Plain { parser: self, depth: 0, changed: false };
        plain.visit_expr_mut(&mut expr);
        plain.changed.then_some(expr)
    }
}

/// `{ let (parameters) = (arguments); body }`
fn with_arguments(parameters: &[Pat], args: &[Expr], body: &syn::Block) -> Expr {
    let code = &body.stmts;
    match (parameters, args) {
        ([], _) => parse_quote!({ #(#code)* }),
        ([pattern], [arg]) => parse_quote!({ let #pattern = #arg; #(#code)* }),
        (many, _) => {
            let (patterns, types): (Vec<_>, Vec<_>) = many
                .iter()
                .map(|input| match input {
                    Pat::Type(typed) => (&*typed.pat, typed.ty.to_token_stream()),
                    input => (input, quote!(_)),
                })
                .unzip();
            parse_quote!({ let (#(#patterns),*): (#(#types),*) = (#(#args),*); #(#code)* })
        }
    }
}

struct Plain<'p, 'e> {
    parser: &'p mut Parser<'e>,
    /// Closures inlined within each other: they cannot be recursive, but a mistake should not hang the compiler.
    depth: usize,
    changed: bool,
}

impl VisitMut for Plain<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Call(call) = expr
            && let Some(closure) = self.parser.closure(&call.func)
            && call.args.len() == closure.syntax.inputs.len()
            && self.depth < 64
        {
            if let Err((tokens, why)) =
                self.parser.still_valid(&closure).and_then(|()| inlinable(&closure.syntax))
            {
                self.parser.errors.push(tokens, why);
                return;
            }
            let mut args: Vec<Expr> = call.args.iter().cloned().collect();
            args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
            let (inputs, mut body) = self.parser.named_apart(&closure.syntax);
            self.depth += 1;
            self.visit_block_mut(&mut body);
            self.depth -= 1;
            *expr = with_arguments(&inputs, &args, &body);
            self.changed = true;
            return;
        }
        if let Some(view) = self.parser.held_view(expr) {
            *expr = view;
            self.changed = true;
            return;
        }
        if let Expr::MethodCall(call) = expr
            && let Some(view) = self.parser.held_receiver(call)
        {
            *call.receiver = view;
            self.changed = true;
        }
        if let Expr::MethodCall(call) = expr
            && let Some(test) = self.parser.held_test(call).or_else(|| self.parser.named_test(call))
        {
            *expr = test;
            self.changed = true;
            return;
        }
        if let Expr::Call(call) = expr
            && let Some(chosen) = self.parser.chosen(call)
        {
            *expr = chosen;
            self.changed = true;
            return self.visit_expr_mut(expr);
        }
        if let Expr::Path(_) = expr
            && let Ok(Some(chain)) = self.parser.named_chain(expr)
            && self.parser.goes_through(&chain)
            && self.depth < 64
        {
            *expr = chain;
            self.changed = true;
            self.depth += 1;
            self.visit_expr_mut(expr);
            self.depth -= 1;
            return;
        }
        if let Expr::Path(_) = expr
            && let Some(closure) = self.parser.closure(expr)
            && !changes(&closure.syntax.body)
            && self.parser.still_valid(&closure).is_ok()
            && self.depth < 64
        {
            let mut closure = closure.syntax.clone();
            closure.capture = None;
            self.depth += 1;
            self.visit_expr_closure_mut(&mut closure);
            self.depth -= 1;
            *expr = Expr::Closure(closure);
            self.changed = true;
            return;
        }
        syn::visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut ExprClosure) {
        for name in closure.inputs.iter().flat_map(bound).collect::<Vec<_>>() {
            if self.parser.lookup(&name).is_some() || self.parser.is_captured(&name) {
                let by = Substitute::Name(self.parser.names.fresh(&name.to_string()));
                let mut replace = Replace::new(&name, &by);
                closure.inputs.iter_mut().for_each(|input| replace.visit_pat_mut(input));
                replace.visit_expr_mut(&mut closure.body);
                let left = replace.left;
                self.changed = true;
                self.parser.must_replace(&name, !left);
            }
        }
        syn::visit_mut::visit_expr_closure_mut(self, closure);
    }
}

/// How a closure is left early.
#[derive(Clone, Copy)]
enum Left {
    WithValue,
    Plainly,
}

/// Whether a closure returns an `Option`, or else a `Result`, as far as syntax tells.
fn returns_option(closure: &ExprClosure) -> Option<bool> {
    let of = |path: &syn::Path| {
        let name = path.segments.last()?.ident.to_string();
        match name.as_str() {
            "Option" | "Some" | "None" => Some(true),
            "Result" | "Ok" | "Err" => Some(false),
            _ => None,
        }
    };
    if let syn::ReturnType::Type(_, ty) = &closure.output {
        let syn::Type::Path(path) = &**ty else { return None };
        return of(&path.path);
    }
    let mut value = (*closure.body).clone();
    loop {
        value = match value {
            Expr::Block(block) if block.label.is_none() => match block.block.stmts.last()? {
                Stmt::Expr(value, None) => value.clone(),
                _ => return None,
            },
            Expr::If(branch) => match branch.then_branch.stmts.last()? {
                Stmt::Expr(value, None) => value.clone(),
                _ => return None,
            },
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => return of(&path.path),
                _ => return None,
            },
            Expr::Path(path) => return of(&path.path),
            _ => return None,
        };
    }
}

/// Turns each `?` into a `match` that may return.
struct Tries<'p, 'e> {
    option: bool,
    parser: &'p mut Parser<'e>,
}

impl VisitMut for Tries<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        syn::visit_mut::visit_expr_mut(self, expr);
        if let Expr::Try(tried) = expr {
            let (tried, value) = (&tried.expr, self.parser.hidden("tried"));
            *expr = if self.option {
                parse_quote!(match #tried { Some(#value) => #value, None => return None })
            } else {
                let error = self.parser.hidden("error");
                parse_quote!(match #tried { Ok(#value) => #value, Err(#error) => return Err(#error) })
            };
        }
    }
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Turns each `return` into a `break`.
struct Returns<'p> {
    label: Option<syn::Lifetime>,
    parts: &'p mut Parts,
    left: Option<Left>,
}

impl VisitMut for Returns<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        syn::visit_mut::visit_expr_mut(self, expr);
        if let Expr::Return(jump) = expr {
            let label = self.label.get_or_insert_with(|| {
                let ident = self.parts.fresh("inlined");
                syn::Lifetime { apostrophe: ident.span(), ident }
            });
            self.left = Some(if jump.expr.is_some() { Left::WithValue } else { Left::Plainly });
            let value = &jump.expr;
            *expr = parse_quote!(break #label #value);
        }
    }
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Nothing in the closure leaves it early, but by `return`.
pub(crate) fn inlinable(closure: &ExprClosure) -> Result<(), Refused> {
    struct Exits(Option<TokenStream>);
    impl<'ast> Visit<'ast> for Exits {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Try(_) | Expr::Await(_) | Expr::Yield(_) => {
                    self.0.get_or_insert_with(|| expr.to_token_stream());
                }
                Expr::Closure(_) | Expr::Async(_) => {}
                _ => syn::visit::visit_expr(self, expr),
            }
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut exits = Exits(None);
    exits.visit_expr(&closure.body);
    match exits.0 {
        Some(tokens) => Err((
            tokens,
            "`?` in a closure is differentiable where the syntax tells what that returns: write `-> Option<f64>` behind its parameters".into(),
        )),
        None => Ok(()),
    }
}

/// The identifiers in `tokens`, in order.
fn identifiers(tokens: TokenStream) -> Vec<Ident> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Group(group) => found.extend(identifiers(group.stream())),
            proc_macro2::TokenTree::Ident(ident) => found.push(ident),
            _ => {}
        }
    }
    found
}
