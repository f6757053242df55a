//! Functions as arguments, in both passes.
//!
//! A closure has two passes of its own, which stand as closures where it stands: its forward returns what its pullback needs, and
//! the callee keeps that. What it captures is there by name in either pass; the shadows of captured locals are turned into
//! views, so that several closures can add to them.

use std::collections::{HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Expr as Syn, Ident};

use crate::calls::{Callee, is_associated};
use crate::cotangent::Cotangent;
use crate::dual::companion::on_numbers;
use crate::errors::Errors;
use crate::forward::Forward;
use crate::kept::Item;
use crate::kind::inert;
use crate::leave::{Frame, Link};
use crate::program::*;
use crate::reverse::{Reverse, Slot};
use crate::statements::referent;

/// What to do about a call of a function that may change something, in the midst of other code.
pub(crate) const CALL_FIRST: &str = "call it by a `let` of its own before, `let y = f(x);`";

/// Reports functions that are neither called nor passed on, and calls in code without gradient of those that may change something.
pub(crate) fn report(program: &Program, errors: &mut Errors) {
    for (id, expr) in program.exprs.iter().enumerate() {
        match &expr.kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. }
                if program.variables[place.base].origin == Origin::Function =>
            {
                errors.push(
                    &expr.syntax,
                    "a function is called by its name, or passed on to a free function with a rule: this is neither",
                );
            }
            ExprKind::Call { function, args } if expr.active => {
                if program.calls_itself(function, args)
                    && let Some(made) = args.iter().find(|arg| program.is_made_function(**arg))
                {
                    errors.push(
                        &program.exprs[*made].syntax,
                        "a function that calls itself passes on the function that it has been given, as it is: its rule is one for \
                         functions of one type",
                    );
                }
                if program.recomputed.contains(&id) {
                    crate::again::report(program, args, errors);
                }
                if program.checkpointed.contains(&id) {
                    for arg in args.iter().filter(|arg| program.changes_something(**arg)) {
                        errors.push(
                            &program.exprs[*arg].syntax,
                            "the reverse pass runs this call once more, and would change what the closure captures twice: leave \
                             `checkpoint` out",
                        );
                    }
                }
            }
            ExprKind::Constant(constant) => program.refuse_changes(&constant.mentions, &expr.syntax, errors),
            _ => {}
        }
    }
    for statement in program.blocks.iter().flat_map(|block| &block.statements) {
        if let StatementKind::Opaque(opaque) = &statement.kind {
            program.refuse_changes(&opaque.mentions, &opaque.syntax, errors);
        }
    }
}

/// Where `name` stands in `tokens`.
fn first(tokens: TokenStream, name: &Ident) -> Option<Ident> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) => first(group.stream(), name),
        TokenTree::Ident(ident) => (ident == *name).then_some(ident),
        _ => None,
    })
}

impl Program {
    /// The argument is a function whose calls may change something besides their arguments: a closure that writes to what it captures, or
    /// that calls another such function, or a parameter `f: impl FnMut()`.
    pub(crate) fn changes_something(&self, arg: ExprId) -> bool {
        match &self.exprs[arg].kind {
            ExprKind::Callback(Callback::Closure { body, .. }) => {
                !self.written(*body).is_empty()
                    || self.called_within(*body).iter().any(|id| self.is_changing(*id))
            }
            ExprKind::Callback(Callback::Parameter(id)) => self.is_changing(*id),
            _ => false,
        }
    }

    /// The call may change something besides its arguments.
    pub(crate) fn call_changes_something(&self, expr: ExprId) -> bool {
        let ExprKind::Call { function, args } = &self.exprs[expr].kind else { return false };
        matches!(function, Callee::Parameter(id, _) if self.is_changing(*id))
            || args.iter().any(|arg| self.changes_something(*arg))
    }

    /// The variable is a parameter `f: impl FnMut()`, or likewise.
    fn is_changing(&self, id: VarId) -> bool {
        self.variables[id].active && self.functions.get(&id).is_some_and(|function| function.changing)
    }

    /// Reports a function among `mentions` that may change something, which code without gradient would do behind the reverse pass's back.
    fn refuse_changes(&self, mentions: &[VarId], syntax: impl ToTokens, errors: &mut Errors) {
        if let Some(id) = mentions.iter().find(|id| self.is_changing(**id)) {
            let name = &self.variables[*id].name;
            let text = syntax.to_token_stream();
            let called = first(text, name).unwrap_or_else(|| name.clone());
            errors.push(called, format!("`{name}` may change what it captures, and is called here where no gradient passes: {CALL_FIRST}, or declare it as `impl Fn`"));
        }
    }

    /// The variables whose shadows the pullback of an argument borrows.
    pub(crate) fn borrowed(&self, arg: ExprId) -> Vec<VarId> {
        match &self.exprs[arg].kind {
            ExprKind::Borrow { place, .. } => vec![place.base],
            ExprKind::Callback(Callback::Closure { body, .. }) => self.captured(*body),
            _ => Vec::new(),
        }
    }

    /// The variables of which a closure reads what carries a gradient. Those that it writes to are its own for the time of the call.
    pub(crate) fn captured(&self, body: BlockId) -> Vec<VarId> {
        let (blocks, written) = (self.nested(body), self.written(body));
        let mut found = Vec::new();
        for expr in blocks.iter().flat_map(|b| self.roots(*b)).flat_map(|root| self.tree(root)) {
            let base = match &self.exprs[expr].kind {
                ExprKind::Read(place) | ExprKind::Borrow { place, .. } => place.base,
                _ => continue,
            };
            let variable = &self.variables[base];
            let own = blocks.contains(&variable.block) || written.contains(&base);
            if variable.active && !own && !inert(&variable.kind) && !found.contains(&base) {
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
                ExprKind::Call { function: Callee::Parameter(id, _), .. } => Some(*id),
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
                let changed = |id: VarId| self.variables[id].active || self.variables[id].memory;
                !self.captured(*body).is_empty()
                    || !self.called_within(*body).is_empty()
                    || self.written(*body).into_iter().any(changed)
            }
            Callback::Function(_) => false,
            Callback::Parameter(id) => self.variables[*id].active,
        }
    }

    /// Some argument is a function.
    pub(crate) fn passes_functions(&self, args: &[ExprId]) -> bool {
        args.iter().any(|arg| matches!(self.exprs[*arg].kind, ExprKind::Callback(_)))
    }

    /// The call passes on functions other than the caller's own, each of them once.
    pub(crate) fn with_closures(&self, args: &[ExprId]) -> bool {
        args.iter().any(|arg| self.is_made_function(*arg)) || !self.shared(args).is_empty()
    }

    /// A function other than the caller's own.
    fn is_made_function(&self, arg: ExprId) -> bool {
        matches!(self.exprs[arg].kind, ExprKind::Callback(Callback::Closure { .. } | Callback::Function(_)))
    }

    /// The argument is a parameter of a closure, which may be a reference or a value.
    pub(crate) fn either(&self, arg: ExprId) -> bool {
        let reference = matches!(self.exprs[arg].syntax, Syn::Reference(_));
        matches!(&self.exprs[arg].kind, ExprKind::Borrow { place, unique: false }
            if place.projections.is_empty() && !reference && self.variables[place.base].origin == Origin::Either)
    }

    /// The call passes on functions that may change the lengths of vectors they borrow.
    pub(crate) fn passes_resizing(&self, args: &[ExprId]) -> bool {
        args.iter().any(|arg| match &self.exprs[*arg].kind {
            ExprKind::Callback(Callback::Closure { parameters, .. }) => {
                parameters.iter().flatten().any(|id| self.variables[*id].origin == Origin::Unique)
            }
            ExprKind::Callback(Callback::Function(_)) => true,
            ExprKind::Callback(Callback::Parameter(id)) => self.functions[id].resizing,
            _ => false,
        })
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
                let rule = self.rule_of_callback(arg, path);
                pass_on(&rule, None)
            }
            Callback::Parameter(id) if with_closures => {
                let turn = shared.contains(id).then(|| self.program.turn(*id));
                pass_on(&self.program.variables[*id].shadow, turn)
            }
            Callback::Parameter(id) => self.program.passed_on(*id),
        }
    }

    /// The rule of a function that is named where it is passed on.
    pub(crate) fn rule_of_callback(&mut self, arg: ExprId, path: &syn::ExprPath) -> Ident {
        if let Some(rule) = self.rules.get(&arg) {
            return rule.clone();
        }
        let name = path.path.segments.last().expect("a path has a segment").ident.clone();
        let rule = self.kept.fresh(&format!("{name}_rule"));
        let init = if is_associated(path) {
            let mut made = path.clone();
            let last = made.path.segments.last_mut().expect("a path has a segment");
            last.ident = format_ident!("{}_rule", name.unraw(), span = name.span());
            quote_spanned!(name.span()=> #made())
        } else {
            let callee = self.callee(arg, &path.path);
            quote_spanned!(name.span()=> #callee::rule())
        };
        self.slots.push(Slot { name: rule.clone(), init });
        self.rules.insert(arg, rule.clone());
        rule
    }

    /// How much room the shadows of vectors need that functions among the arguments `texts` of a pullback borrow.
    pub(crate) fn room_of_called(&self, texts: &[TokenStream]) -> TokenStream {
        let within = |name: &Ident| texts.iter().any(|text| first(text.clone(), name).is_some());
        let rules = self.slots.iter().map(|slot| &slot.name).filter(|name| within(name));
        let program = self.program;
        let resizing = |id: &&VarId| program.functions.get(id).is_some_and(|function| function.resizing);
        let functions = program.parameters.iter().flatten().filter(resizing);
        let lent = functions.map(|id| &program.variables[*id].shadow).filter(|name| within(name));
        quote!(0usize #(.max(__pb::State::least_room(&*#rules)))* #(.max(#lent.least_room()))*)
    }

    /// The pullback of a closure.
    pub(crate) fn closure(
        &mut self,
        arg: ExprId,
        parameters: &[Option<VarId>],
        body: BlockId,
        turns: TokenStream,
    ) -> TokenStream {
        let program = self.program;
        if program.returned_by(body).next().is_none()
            && program.blocks[body].value.is_some_and(|value| program.owns(value))
        {
            self.errors.push(
                &program.exprs[arg].syntax,
                "that this closure returns a vector is not to be seen at its end: write its type, `|…| -> Vec<f64> { … }`, or let it \
                 write to an argument of type `&mut`",
            );
            return TokenStream::new();
        }
        let seed = Cotangent::atom(self.kept.fresh("d").into_token_stream());
        self.open(body, !program.written(body).is_empty());
        let received = self.receive(body, &seed);
        let inner = self.seed(Target::Break(body), &seed);
        self.undo_block(body, (!received).then_some(&inner));
        self.give_back_copy(body);
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
        let (copy, undone) = (self.copy(body), self.close());
        let residual = self.kept.pattern(body);
        quote! {
            |#residual, (#(#names,)*), (#(#shadows,)*), #seed| { #turns #before #copy #undone (#(#gradients,)*) }
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
                let primal = match program.changes_something(arg) {
                    // Whoever calls it has it by its forward alone.
                    true => {
                        let inputs = parameters.iter().map(|_| quote!(_));
                        quote!(|#(#inputs),*| ::core::unreachable!())
                    }
                    false => self.as_called(arg, parameters, *body),
                };
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

    /// A closure that is passed on, as a function: as written, or of dual numbers.
    pub(crate) fn as_called(
        &mut self,
        arg: ExprId,
        parameters: &[Option<VarId>],
        body: BlockId,
    ) -> TokenStream {
        let program = self.program;
        let syntax = referent(&program.exprs[arg].syntax);
        let (true, Syn::Closure(closure)) = (program.rewritten.contains(&arg), syntax) else {
            return syntax.to_token_stream();
        };
        let nothing = Reverse::new(program, None);
        let mut plain = Forward { plain: true, ..Forward::new(program, &nothing) };
        plain.frames.push(Frame { block: body, link: Link::Function });
        let whole = plain.whole(body);
        if let Err(error) = plain.errors.finish() {
            self.errors.add(error);
        }
        let number = crate::dual::number();
        let inputs = closure.inputs.iter().zip(parameters).map(|(pattern, parameter)| {
            let name = match parameter.map(|id| &program.variables[id]) {
                Some(variable) => {
                    let (name, mutable) = (&variable.name, variable.mutable.then(|| quote!(mut)));
                    quote!(#mutable #name)
                }
                None => quote!(_),
            };
            match pattern {
                syn::Pat::Type(typed) => {
                    let mut ty = (*typed.ty).clone();
                    on_numbers(&mut ty, &number);
                    quote!(#name: #ty)
                }
                _ => name,
            }
        });
        quote!(|#(#inputs),*| { #whole })
    }

    /// The forward of a closure.
    pub(crate) fn closure(
        &mut self,
        parameters: &[Option<VarId>],
        body: BlockId,
        turns: TokenStream,
    ) -> TokenStream {
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
