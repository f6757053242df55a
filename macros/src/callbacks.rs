//! Functions as arguments: closures, functions by their path, and parameters that are passed on.
//!
//! A closure has two passes of its own, which stand as closures where it stands: its forward returns what its pullback needs, and
//! the callee keeps that. What it captures is there by name in either pass; the shadows of captured locals are turned into
//! views, so that several closures can add to them.

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::visit::Visit;
use syn::{Expr as Syn, ExprClosure, Ident, Pat, Stmt, UnOp, parse_quote};

use crate::errors::Errors;
use crate::forward::Forward;
use crate::kept::Item;
use crate::kind::{changes_receiver, inert, numeric_method};
use crate::leave::{Frame, Link};
use crate::parse::{Binding, Parser};
use crate::program::*;
use crate::rename::bound;
use crate::reverse::{Cotangent, Reverse, Slot};
use crate::statements::referent;

impl Parser<'_> {
    /// The parameter that is a function, if `expr` names it.
    pub(crate) fn function_parameter(&self, expr: &Syn) -> Option<VarId> {
        let id = match expr {
            Syn::Path(path) => match self.lookup(path.path.get_ident()?)? {
                Binding::Variable(id) => *id,
                Binding::Alias { place, .. } if place.projections.is_empty() => place.base,
                _ => return None,
            },
            Syn::Reference(reference) => self.function_parameter(&reference.expr)?,
            Syn::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                self.function_parameter(&unary.expr)?
            }
            Syn::Paren(paren) => self.function_parameter(&paren.expr)?,
            Syn::Group(group) => self.function_parameter(&group.expr)?,
            _ => return None,
        };
        (self.program.variables[id].origin == Origin::Function).then_some(id)
    }

    /// An argument that is a function.
    pub(crate) fn callback(&mut self, arg: &Syn) -> Option<ExprId> {
        if let Some(id) = self.function_parameter(arg) {
            return Some(self.add(arg, ExprKind::Callback(Callback::Parameter(id))));
        }
        match arg {
            Syn::Closure(closure) => Some(self.closure_argument(closure)),
            Syn::Reference(reference) if reference.mutability.is_none() => {
                let inner = match referent(arg) {
                    inner @ (Syn::Closure(_) | Syn::Path(_) | Syn::Paren(_)) => self.callback(inner)?,
                    _ => return None,
                };
                let (and, function) = (&reference.and_token, &self.program.exprs[inner].syntax);
                self.program.exprs[inner].syntax = parse_quote!(#and #function);
                Some(inner)
            }
            Syn::Paren(paren) => self.callback(&paren.expr),
            Syn::Group(group) => self.callback(&group.expr),
            Syn::Path(path) => {
                if let Some(closure) = self.closure(arg) {
                    if let Err((tokens, why)) = self.still_valid(&closure) {
                        self.errors.push(tokens, why);
                    }
                    return Some(self.closure_argument(&closure.syntax));
                }
                let local = path.path.get_ident().is_some_and(|name| self.lookup(name).is_some());
                if local || path.qself.is_some() {
                    return None;
                }
                if let Some(closure) = method_of_float(&path.path) {
                    return Some(self.closure_argument(&closure));
                }
                let mut segments = path.path.segments.iter().rev().map(|s| s.ident.to_string());
                let lower = |name: &String| name.starts_with(|c: char| c.is_lowercase() || c == '_');
                let function = segments.next().is_some_and(|last| lower(&last))
                    && segments.next().is_none_or(|s| lower(&s));
                function.then(|| self.add(arg, ExprKind::Callback(Callback::Function(path.path.clone()))))
            }
            _ => None,
        }
    }

    /// The variable is from outside of the closure around, which only reads it.
    pub(crate) fn captures(&self, variable: &Variable) -> bool {
        self.closure_body.is_some()
            && self.program.closures.get(&variable.block) != self.closure_body.as_ref()
    }

    /// A closure, parsed where it stands.
    fn closure_argument(&mut self, closure: &ExprClosure) -> ExprId {
        if let Some(token) = &closure.asyncness {
            self.errors.push(token, "an `async` closure cannot be differentiated: pass a plain one");
        }
        let mut closure = closure.clone();
        // Both passes borrow what they need.
        closure.capture = None;
        let verbatim = self.plain(&Syn::Closure(closure.clone()));
        let body = self.new_block();
        let outside = self.closure_body.replace(body);
        self.program.closures.insert(body, body);
        let landings = std::mem::take(&mut self.landings);
        let mut parameters = Vec::new();
        self.in_block(body, |parser| {
            let mut before = Vec::new();
            for pattern in &closure.inputs {
                parameters.push(parser.closure_parameter(pattern, &closure.body, &mut before));
            }
            parser.scopes.push(HashMap::new());
            before.extend(match &*closure.body {
                Syn::Block(block) if block.label.is_none() => block.block.stmts.clone(),
                value => vec![Stmt::Expr(value.clone(), None)],
            });
            parser.fill(before.into());
            parser.scopes.pop();
        });
        self.landings = landings;
        self.closure_body = outside;
        for id in parameters.iter().flatten() {
            let variable = &self.program.variables[*id];
            if variable.origin == Origin::Either && variable.memory {
                let why = "this parameter is written to: write its type, `&mut [f64]` for a slice";
                self.errors.push(&variable.name, why);
            }
        }
        self.add(&verbatim, ExprKind::Callback(Callback::Closure { parameters, body }))
    }

    /// Binds a parameter of a closure; a pattern is taken apart by a statement of the body.
    fn closure_parameter(&mut self, pattern: &Pat, body: &Syn, before: &mut Vec<Stmt>) -> Option<VarId> {
        let (inner, ty) = match pattern {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        let (name, mutable) = match inner {
            Pat::Wild(_) => return None,
            Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
                (ident.ident.clone(), ident.mutability.is_some())
            }
            inner => {
                let name = self.hidden("argument");
                before.push(parse_quote!(let #inner = #name;));
                bound(inner).iter().for_each(|name| self.suspects.insert(name));
                (name, false)
            }
        };
        self.suspects.insert(&name);
        let origin = match ty {
            Some(syn::Type::Reference(reference)) if reference.mutability.is_some() => Origin::Unique,
            Some(syn::Type::Reference(_)) => Origin::Shared,
            Some(_) => Origin::Value,
            None if mutable || matches!(inner, Pat::Tuple(_) | Pat::Slice(_)) => Origin::Value,
            None if matches!(inner, Pat::Reference(_)) => Origin::Shared,
            None => Uses::of(&name, body).origin(),
        };
        let id = self.bind(&name, origin, mutable || origin == Origin::Unique);
        let kind = ty.map_or(Kind::Unknown, |ty| self.program.kind_of_type(ty));
        let variable = &mut self.program.variables[id];
        variable.kind = kind;
        variable.passed = true;
        variable.memory = origin == Origin::Unique;
        Some(id)
    }
}

/// `f64::sin` is `|x| x.sin()`.
fn method_of_float(path: &syn::Path) -> Option<ExprClosure> {
    let segments: Vec<_> = path.segments.iter().collect();
    let [float, method] = segments[..] else { return None };
    let (float, method) = (&float.ident, &method.ident);
    let name = method.to_string();
    if !(float == "f32" || float == "f64") || !numeric_method(&name) {
        return None;
    }
    Some(match name.as_str() {
        "powi" => parse_quote!(|x: #float, n: i32| x.#method(n)),
        "clamp" | "mul_add" => parse_quote!(|x: #float, y: #float, z: #float| x.#method(y, z)),
        "powf" | "hypot" | "log" | "atan2" | "max" | "min" | "copysign" | "rem_euclid" | "div_euclid" => {
            parse_quote!(|x: #float, y: #float| x.#method(y))
        }
        _ => parse_quote!(|x: #float| x.#method()),
    })
}

/// What the body of a closure does with a parameter that has no type.
#[derive(Default)]
struct Uses<'n> {
    name: Option<&'n Ident>,
    written: bool,
    followed: bool,
}

impl<'n> Uses<'n> {
    fn of(name: &'n Ident, body: &Syn) -> Self {
        let mut uses = Uses { name: Some(name), ..Uses::default() };
        uses.visit_expr(body);
        uses
    }

    fn origin(&self) -> Origin {
        match (self.written, self.followed) {
            (true, _) => Origin::Unique,
            (false, true) => Origin::Shared,
            (false, false) => Origin::Either,
        }
    }

    fn is(&self, expr: &Syn) -> bool {
        matches!(expr, Syn::Path(path) if path.path.get_ident() == self.name)
    }

    fn binds(&self, pattern: &Pat) -> bool {
        bound(pattern).iter().any(|name| Some(name) == self.name)
    }

    fn base(&self, expr: &Syn) -> bool {
        match expr {
            Syn::Index(index) => self.base(&index.expr),
            Syn::Field(field) => self.base(&field.base),
            Syn::Paren(paren) => self.base(&paren.expr),
            Syn::Unary(unary) => self.base(&unary.expr),
            expr => self.is(expr),
        }
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_block(&mut self, block: &'ast syn::Block) {
        for statement in &block.stmts {
            self.visit_stmt(statement);
            // From here on the name is that of another variable.
            if let Stmt::Local(local) = statement
                && self.binds(&local.pat)
            {
                return;
            }
        }
    }
    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        if !closure.inputs.iter().any(|input| self.binds(input)) {
            syn::visit::visit_expr_closure(self, closure);
        }
    }
    fn visit_expr_for_loop(&mut self, f: &'ast syn::ExprForLoop) {
        self.visit_expr(&f.expr);
        if !self.binds(&f.pat) {
            self.visit_block(&f.body);
        }
    }
    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if !self.binds(&arm.pat) {
            syn::visit::visit_arm(self, arm);
        }
    }
    fn visit_expr(&mut self, expr: &'ast Syn) {
        match expr {
            Syn::Assign(assign) => self.written |= self.base(&assign.left),
            Syn::Binary(binary) if crate::parse::assign_op(&binary.op).is_some() => {
                self.written |= self.base(&binary.left);
            }
            Syn::MethodCall(call) if changes_receiver(&call.method.to_string()) => {
                self.written |= self.base(&call.receiver);
            }
            Syn::Reference(reference) if reference.mutability.is_some() => {
                self.written |= self.base(&reference.expr)
            }
            Syn::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.followed |= self.is(&unary.expr),
            _ => {}
        }
        syn::visit::visit_expr(self, expr);
    }
}

/// Reports functions that are neither called nor passed on, and closures that change what they capture.
pub(crate) fn report(program: &Program, errors: &mut Errors) {
    for expr in &program.exprs {
        match &expr.kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. }
                if program.variables[place.base].origin == Origin::Function =>
            {
                errors.push(
                    &expr.syntax,
                    "a function is called by its name, or passed on to a free function with a rule: this is neither",
                );
            }
            ExprKind::Call { args, .. } if expr.active => {
                for arg in args {
                    if let ExprKind::Callback(Callback::Closure { body, .. }) = &program.exprs[*arg].kind
                        && !program.written(*body).is_empty()
                    {
                        errors.push(
                            &program.exprs[*arg].syntax,
                            "a closure that changes what it captures cannot be passed on differentiably: let it return what it \
                             computes, or write to an argument of type `&mut`",
                        );
                    }
                }
            }
            _ => {}
        }
    }
}

impl Program {
    /// The variables whose shadows the pullback of an argument borrows.
    pub(crate) fn borrowed(&self, arg: ExprId) -> Vec<VarId> {
        match &self.exprs[arg].kind {
            ExprKind::Borrow { place, .. } => vec![place.base],
            ExprKind::Callback(Callback::Closure { body, .. }) => self.captured(*body),
            _ => Vec::new(),
        }
    }

    /// The variables of which a closure reads what carries a gradient.
    fn captured(&self, body: BlockId) -> Vec<VarId> {
        let blocks = self.nested(body);
        let mut found = Vec::new();
        for expr in blocks.iter().flat_map(|b| self.roots(*b)).flat_map(|root| self.tree(root)) {
            let base = match &self.exprs[expr].kind {
                ExprKind::Read(place) | ExprKind::Borrow { place, .. } => place.base,
                _ => continue,
            };
            let variable = &self.variables[base];
            let own = blocks.contains(&variable.block);
            if variable.active
                && !own
                && !inert(&self.kind_of_place(&Place { base, projections: Vec::new() }))
                && !found.contains(&base)
            {
                found.push(base);
            }
        }
        found
    }

    /// The parameters that a closure calls or passes on.
    pub(crate) fn called_within(&self, body: BlockId) -> HashSet<VarId> {
        let blocks = self.nested(body);
        let exprs = blocks.iter().flat_map(|b| self.roots(*b)).flat_map(|root| self.tree(root));
        exprs
            .filter_map(|e| match &self.exprs[e].kind {
                ExprKind::Call { function: crate::calls::Callee::Parameter(id, _), .. } => Some(*id),
                ExprKind::Callback(Callback::Parameter(id)) => Some(*id),
                _ => None,
            })
            .filter(|id| self.variables[*id].active)
            .collect()
    }

    /// A gradient comes by way of the function.
    pub(crate) fn callback_is_active(&self, callback: &Callback) -> bool {
        match callback {
            Callback::Closure { body, .. } => {
                !self.captured(*body).is_empty() || !self.called_within(*body).is_empty()
            }
            Callback::Function(_) => false,
            Callback::Parameter(id) => self.variables[*id].active,
        }
    }

    /// The call passes functions on other than the caller's own, as they are.
    pub(crate) fn with_closures(&self, args: &[ExprId]) -> bool {
        args.iter().any(|arg| {
            matches!(
                self.exprs[*arg].kind,
                ExprKind::Callback(Callback::Closure { .. } | Callback::Function(_))
            )
        })
    }

    /// The argument is a parameter of a closure, which may be a reference or a value.
    pub(crate) fn either(&self, arg: ExprId) -> bool {
        let reference = matches!(self.exprs[arg].syntax, Syn::Reference(_));
        matches!(&self.exprs[arg].kind, ExprKind::Borrow { place, unique: false }
            if place.projections.is_empty() && !reference && self.variables[place.base].origin == Origin::Either)
    }

    /// The parameters that several arguments of one call may call.
    pub(crate) fn shared(&self, args: &[ExprId]) -> Vec<VarId> {
        let mut found = Vec::new();
        for arg in args {
            match &self.exprs[*arg].kind {
                ExprKind::Callback(Callback::Closure { body, .. }) => found.extend(self.called_within(*body)),
                ExprKind::Callback(Callback::Parameter(id)) => found.push(*id),
                _ => {}
            }
        }
        found.sort_unstable();
        let mut shared: Vec<_> =
            found.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        shared.dedup();
        shared
    }

    /// The call, where several of its arguments may call the same parameter: one at a time.
    pub(crate) fn sharing(&self, shared: &[VarId], call: TokenStream) -> TokenStream {
        if shared.is_empty() {
            return call;
        }
        let cells = shared.iter().map(|id| {
            let (cell, derivative) = (self.cell(*id), &self.variables[*id].shadow);
            quote!(let #cell = __pb::RefCell::new(&mut *#derivative);)
        });
        quote!({ #(#cells)* #call })
    }

    /// What stands in a closure that calls some of the parameters `shared`.
    fn turns(&self, shared: &[VarId], body: BlockId) -> TokenStream {
        let called = self.called_within(body);
        shared.iter().filter(|id| called.contains(id)).map(|id| self.turn(*id)).collect()
    }

    /// The parameter `id`, for as long as a closure runs.
    fn turn(&self, id: VarId) -> TokenStream {
        let (cell, derivative) = (self.cell(id), &self.variables[id].shadow);
        let turn = Program::fresh("turn");
        quote!(let mut #turn = #cell.borrow_mut(); let #derivative = &mut **#turn;)
    }

    fn cell(&self, id: VarId) -> Ident {
        Program::fresh(&format!("shared_{}", self.variables[id].shadow))
    }

    /// A function, as it is passed on by the caller.
    fn passed_on(&self, id: VarId) -> TokenStream {
        let Variable { unique: primal, shadow: derivative, .. } = &self.variables[id];
        let generic = &self.functions[&id].generic;
        quote!(__pb::Callback::<_, _, #generic> { primal: #primal, derivative: &mut *#derivative })
    }
}

impl Reverse<'_> {
    /// A function as an argument of a pullback. The shadows of what closures capture are in `local`.
    pub(crate) fn callback(
        &mut self,
        arg: ExprId,
        callback: &Callback,
        local: &HashMap<VarId, Ident>,
        with_closures: bool,
        shared: &[VarId],
    ) -> TokenStream {
        match callback {
            Callback::Closure { parameters, body } => {
                let outer = self.captured.clone();
                self.captured.extend(local.iter().map(|(id, cells)| (*id, cells.clone())));
                let turns = self.program.turns(shared, *body);
                let closure = self.closure(arg, parameters, *body, turns);
                self.captured = outer;
                closure
            }
            Callback::Function(path) => {
                let rule = match self.rules.get(&arg) {
                    Some(rule) => rule.clone(),
                    None => {
                        let callee = self.callee(arg, path);
                        let name = &path.segments.last().expect("a path has a segment").ident;
                        let rule = self.kept.fresh(&format!("{name}_rule"));
                        let init = quote_spanned!(name.span()=> #callee::rule());
                        self.slots.push(Slot { name: rule.clone(), init });
                        self.rules.insert(arg, rule.clone());
                        rule
                    }
                };
                pass_on(&rule, None)
            }
            Callback::Parameter(id) if with_closures => {
                let turn = shared.contains(id).then(|| self.program.turn(*id));
                pass_on(&self.program.variables[*id].shadow, turn)
            }
            Callback::Parameter(id) => self.program.passed_on(*id),
        }
    }

    /// The pullback of a closure.
    fn closure(
        &mut self,
        arg: ExprId,
        parameters: &[Option<VarId>],
        body: BlockId,
        turns: TokenStream,
    ) -> TokenStream {
        let program = self.program;
        if program.blocks[body].value.is_some_and(|value| program.owns(value)) {
            self.errors.push(
                &program.exprs[arg].syntax,
                "a closure that returns a vector is not differentiable: let it write to an argument of type `&mut`",
            );
            return TokenStream::new();
        }
        let seed = Cotangent::atom(self.kept.fresh("d").into_token_stream());
        self.open(body, true);
        let inner = self.seed(Target::Break(body), &seed);
        self.undo_block(body, Some(&inner));
        self.seeds.remove(&Target::Break(body));
        let (mut names, mut shadows, mut gradients) = (Vec::new(), Vec::new(), Vec::new());
        let mut before = TokenStream::new();
        for parameter in parameters {
            let Some(id) = *parameter else {
                names.push(quote!(_));
                shadows.push(quote!(_));
                gradients.push(quote!(__pb::zero()));
                continue;
            };
            let variable = &program.variables[id];
            let (name, shadow) = (&variable.unique, &variable.shadow);
            names.push(match self.kept.name(body, Item::Final(id)) {
                // An array passed by value and written to comes back as the forward left it.
                Some(_) => quote!(_),
                None => quote!(#name),
            });
            match variable.origin {
                Origin::Either if variable.active => {
                    let (view, room) = (self.kept.fresh("view"), self.kept.fresh("room"));
                    before.extend(quote! {
                        let mut #room = __pb::Either::room(&#view, &#name);
                        let #shadow = __pb::Either::view(#view, &#name, &mut #room);
                    });
                    shadows.push(quote!(#view));
                    gradients.push(quote!(#room));
                }
                Origin::Value if self.levels[self.top()].declared.contains(&id) => {
                    shadows.push(quote!(_));
                    gradients.push(quote!(#shadow));
                }
                origin => {
                    let view = variable.active && matches!(origin, Origin::Shared | Origin::Unique);
                    shadows.push(if view { quote!(#shadow) } else { quote!(_) });
                    gradients.push(quote!(__pb::zero()));
                }
            }
        }
        let undone = self.close();
        let residual = self.kept.pattern(body);
        quote! {
            |#residual, (#(#names,)*), (#(#shadows,)*), #seed| { #turns #before #undone (#(#gradients,)*) }
        }
    }
}

/// The pullback of what `rule` is the rule of.
fn pass_on(rule: &Ident, turn: Option<TokenStream>) -> TokenStream {
    let (residual, args) = (Program::fresh("residual"), Program::fresh("args"));
    let (shadows, seed) = (Program::fresh("shadows"), Program::fresh("seed"));
    let call = quote!(#rule.pullback(#residual, #args, #shadows, #seed));
    quote!(|#residual, #args, #shadows, #seed| { #turn #call })
}

impl Forward<'_> {
    /// A function as an argument of a forward: itself, and its forward.
    pub(crate) fn callback(
        &mut self,
        arg: ExprId,
        callback: &Callback,
        with_closures: bool,
        shared: &[VarId],
    ) -> TokenStream {
        let (program, args) = (self.program, Program::fresh("args"));
        let primal = referent(&program.exprs[arg].syntax);
        match callback {
            Callback::Closure { parameters, body } => {
                let forward = self.closure(parameters, *body, program.turns(shared, *body));
                quote!(#primal, #forward)
            }
            Callback::Function(_) => {
                let rule = &self.reverse.rules[&arg];
                quote!(#primal, |#args| #rule.forward(#args))
            }
            Callback::Parameter(id) if with_closures => {
                let derivative = &program.variables[*id].shadow;
                let turn = shared.contains(id).then(|| program.turn(*id));
                quote!(#primal, |#args| { #turn #derivative.forward(#args) })
            }
            Callback::Parameter(id) => program.passed_on(*id),
        }
    }

    /// The forward of a closure.
    fn closure(&mut self, parameters: &[Option<VarId>], body: BlockId, turns: TokenStream) -> TokenStream {
        let names =
            parameters.iter().map(|parameter| match parameter.map(|id| &self.program.variables[id]) {
                Some(variable) => {
                    let name = &variable.name;
                    let mutable = (variable.mutable && variable.origin == Origin::Value).then(|| quote!(mut));
                    quote!(#mutable #name)
                }
                None => quote!(_),
            });
        let names: Vec<_> = names.collect();
        let checks = parameters.iter().flatten().map(|id| &self.program.variables[*id]);
        let checks: Vec<_> = checks
            .filter(|v| v.origin == Origin::Either && v.active && !self.program.mentioned_once(v, body))
            .map(|v| {
                let name = &v.name;
                quote_spanned!(name.span()=> __pb::read_only(&#name);)
            })
            .collect();
        let outer = std::mem::take(&mut self.before);
        self.frames.push(Frame { block: body, link: Link::Function });
        let whole = self.whole(body);
        self.frames.pop();
        self.before = outer;
        quote!(|(#(#names,)*)| { #turns #(#checks)* #whole })
    }
}

impl Program {
    /// The variable occurs once in its closure, where it is passed on.
    fn mentioned_once(&self, variable: &Variable, body: BlockId) -> bool {
        let blocks = self.nested(body);
        let is = |id: &VarId| self.variables[*id].unique == variable.unique;
        let mut count = 0;
        for expr in blocks.iter().flat_map(|b| self.roots(*b)).flat_map(|root| self.tree(root)) {
            count += match &self.exprs[expr].kind {
                ExprKind::Borrow { place, .. } if is(&place.base) => {
                    if self.either(expr) {
                        1
                    } else {
                        2
                    }
                }
                ExprKind::Read(place) if is(&place.base) => 2,
                ExprKind::Constant(constant) => 2 * usize::from(constant.reads.iter().any(is)),
                _ => 0,
            };
        }
        let statements = blocks.iter().flat_map(|b| &self.blocks[*b].statements);
        let read =
            statements.filter(|s| matches!(&s.kind, StatementKind::Opaque(o) if o.reads.iter().any(is)));
        count + read.count() <= 1
    }
}
