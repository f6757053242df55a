//! Gradients of expressions: from a result to its operands.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Ident;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::calls::Callee;
use crate::cotangent::Cotangent;
use crate::kept::Item;
use crate::kind::inert;
use crate::methods::unwraps;
use crate::optional_references::refers_to_value;
use crate::parse::ERROR;
use crate::program::*;
use crate::reverse::{Branched, Reverse, Slot};

impl Reverse<'_> {
    /// Gives a gradient that is used several times a name.
    pub(crate) fn bind(&mut self, d: &Cotangent) -> Cotangent {
        if d.atom {
            return d.clone();
        }
        let name = self.kept.fresh("d");
        self.emit(quote!(let #name = #d;));
        Cotangent::atom(quote!(#name))
    }

    /// [`bind`](Self::bind) for a branch that is `valued`, unless nobody looks at its value: nothing would tell the type then.
    pub(crate) fn bind_if(&mut self, valued: bool, d: &Cotangent) -> Cotangent {
        if valued && !d.is_nothing() { self.bind(d) } else { d.clone() }
    }

    /// Hands `d`, the gradient with respect to `expr`, on to the operands.
    pub(crate) fn pull(&mut self, expr: ExprId, d: &Cotangent, at: &At) {
        let program = self.program;
        if let Some(moved) = &d.moved {
            return self.pull_vector(expr, d, moved, at);
        }
        let node = &program.exprs[expr];
        if !node.active {
            return;
        }
        let around = self.enter(expr);
        self.pull_active(expr, d, at);
        self.unseen = around;
    }

    fn pull_active(&mut self, expr: ExprId, d: &Cotangent, at: &At) {
        let program = self.program;
        let node = &program.exprs[expr];
        let active = |e: ExprId| program.exprs[e].active;
        match &node.kind {
            ExprKind::Constant(_) => {}
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => self.accumulate(place, d, at),
            ExprKind::Paren(e) => self.pull(*e, d, at),
            ExprKind::Neg(e) if program.by_rule(expr) => self.pull_negation(expr, *e, d, at),
            ExprKind::Neg(e) => self.pull(*e, &program.negate(d.clone()), at),
            ExprKind::Binary { op, left, right } if program.by_rule(expr) => {
                self.pull_operator(expr, *op, (*left, *right), d, at)
            }
            ExprKind::Binary { .. } if self.pull_polynomial(expr, d, at) => {}
            ExprKind::Binary { op, left, right } => {
                let both = active(*left) && active(*right);
                let d = if both { self.bind(d) } else { d.clone() };
                // Of a user's type the sum may be anything.
                let d = match program.sum_with_constant(expr) && !d.owned && !d.is_nothing() {
                    true => Cotangent::term(quote_spanned!(node.span=> __pb::of_number(#d))),
                    false => d,
                };
                match op {
                    Op::Add => {
                        self.pull(*left, &d, at);
                        self.pull(*right, &d, at);
                    }
                    Op::Sub => {
                        self.pull(*left, &d, at);
                        self.pull(*right, &program.negate(d), at);
                    }
                    Op::Mul if both && self.same_variable(*left, *right) => {
                        let factor = self.value(*left, at);
                        let d = self.twice(&d, &factor);
                        self.pull(*left, &d, at);
                    }
                    Op::Mul if both && let Some(factor) = self.square_within(*left, *right) => {
                        // c·x²: twice c·x for x, and x² for c.
                        let (c, x) = (self.value(factor, at), self.value(*right, at));
                        let of_x = match active(factor) {
                            true => self.twice(&d, &quote!((#c * #x))),
                            false => self.twice(&Cotangent::term(quote!(#c * #d)), &x),
                        };
                        self.pull(*right, &of_x, at);
                        self.pull(factor, &Cotangent::term(quote!(#d * (#x * #x))), at);
                    }
                    Op::Mul => {
                        let by_seed = both && self.of_seed(&d);
                        let times = |factor| match by_seed {
                            true => Cotangent::term(quote!(__pb::by_seed(#d, #factor))),
                            false => Cotangent::term(quote!(#d * #factor)),
                        };
                        let mut factors = [(*left, *right), (*right, *left)];
                        // What a call returns that runs both passes is known from then on.
                        if self.has_calls_at_once(*right) {
                            factors.reverse();
                        }
                        for (factor, other) in factors {
                            if active(factor) {
                                let other = self.value(other, at);
                                self.pull(factor, &times(other), at);
                            }
                        }
                    }
                    Op::Div => {
                        let divisor = self.value(*right, at);
                        // The division does not wait for the gradient, and stands for all by the same divisor.
                        let share = Cotangent::term(match !program.generic() || program.dual {
                            true => quote!(#d * (1.0 / #divisor)),
                            false => quote!(#d / #divisor),
                        });
                        if !active(*right) {
                            return self.pull(*left, &share, at);
                        }
                        let share = self.bind(&share);
                        let quotient = self.value(expr, at);
                        if active(*left) {
                            self.pull(*left, &share, at);
                        }
                        let share = program.negated(&share.tokens);
                        self.pull(*right, &Cotangent::term(quote!(#share * #quotient)), at);
                    }
                    Op::Rem => {
                        // a % b = a - b·trunc(a/b)
                        self.pull(*left, &d, at);
                        if active(*right) {
                            let (left, divisor) = (self.value(*left, at), self.value(*right, at));
                            let d = program.negated(&d.tokens);
                            self.pull(
                                *right,
                                &Cotangent::term(match !program.generic() {
                                    true => quote!(#d * (#left / #divisor).trunc()),
                                    false => quote!(#d * __pb::Scalar::truncated_quotient(#left, #divisor)),
                                }),
                                at,
                            );
                        }
                    }
                }
            }
            ExprKind::Cast(e, _) => {
                let value = self.value(*e, at);
                self.pull(*e, &Cotangent::term(quote!(__pb::cast_tangent(&#value, #d))), at);
            }
            ExprKind::Method { receiver, name, args } => self.pull_method(expr, *receiver, name, args, d, at),
            ExprKind::Call { function, args } => self.pull_call(expr, function, args, d, at),
            ExprKind::If { cond, then, otherwise } => self.pull_if(expr, *cond, *then, *otherwise, d, at),
            ExprKind::Match(m) => self.pull_match(expr, m, d, at),
            ExprKind::Loop { body, id } => self.pull_loop(*body, *id, d, at),
            ExprKind::Rest(block) => self.pull_rest(expr, *block, d, at),
            ExprKind::Exit { target, value } => self.pull_exit(*target, *value, at),
            ExprKind::Try(e) => {
                // If there was no value the gradient is zero.
                let seed = (!d.is_nothing()).then(|| d.clone());
                self.pull_root(*e, seed, at);
            }
            ExprKind::Wrap(_, args) => self.pull(args[0], d, at),
            ExprKind::Split(_) => unreachable!("undone with its `let`"),
            ExprKind::Block(block) => self.pull_block(expr, *block, d, at),
            ExprKind::Mutation { action, args } => self.pull_mutation(expr, *action, args, d, at),
            ExprKind::Vector { .. } => self.errors.push(&node.syntax, crate::mutation::VECTOR_WITHIN),
            ExprKind::Callback(_) => unreachable!("an argument of a call"),
            ExprKind::Tuple(elements) => {
                let d = self.bind(d);
                for (i, element) in elements.iter().enumerate() {
                    if program.moves(*element).is_none_or(|id| !program.is_returned(id)) {
                        let index = syn::Index::from(i);
                        self.pull_part(*element, Cotangent::atom(quote!(#d.#index)), false, at);
                    }
                }
            }
            ExprKind::Struct(literal) if program.owns(expr) => {
                let kept =
                    |(_, id): (ExprId, VarId)| program.variables[id].active && !program.is_returned(id);
                if program.moved_in(expr).into_iter().any(kept) {
                    self.errors.push(&node.syntax, crate::aggregates::NOT_AT_THE_END);
                }
                self.pull_fields(literal, d, at);
            }
            ExprKind::Struct(literal) => self.pull_struct(literal, d, at),
            ExprKind::Array(elements) => {
                let d = self.bind(d);
                for (i, element) in elements.iter().enumerate() {
                    let index = syn::Index::from(i);
                    self.pull_root(*element, Some(Cotangent::atom(quote!(#d[#index]))), at);
                }
            }
            ExprKind::Repeat(element, _) => self.pull(*element, &Cotangent::term(quote!(__pb::sum(#d))), at),
        }
    }

    pub(crate) fn pull_block(&mut self, expr: ExprId, block: BlockId, d: &Cotangent, at: &At) {
        let d = self.bind_if(self.yields(block), d);
        let d = self.seed(Target::Break(block), &d);
        self.open(block, false);
        self.undo_block(block, Some(&d));
        let body = self.close();
        if self.kept.is_empty(block) {
            self.emit(quote!({ #body }));
        } else {
            let residual = self.kept.keep(at.block, Item::Branch(expr), "inner");
            let pattern = self.kept.pattern(block);
            self.emit(quote!({ let #pattern = #residual; #body }));
        }
    }

    /// The gradient has the fields of the struct; that of an enum has them within a field named like the variant.
    fn pull_struct(&mut self, literal: &StructLiteral, d: &Cotangent, at: &At) {
        let d = self.bind(d);
        let variant = literal.variant().map(|variant| quote!(.#variant));
        for (member, value) in &literal.fields {
            let part = quote!(#d #variant.#member);
            if !self.takes_part(*value, &part) {
                let owned = self.program.is_call(*value);
                self.pull_root(*value, Some(Cotangent { owned, ..Cotangent::atom(part) }), at);
            }
        }
        let Some(rest) = literal.rest.filter(|rest| self.program.exprs[*rest].active) else { return };
        let others = self.kept.fresh("d");
        let given = literal.fields.iter().map(|(member, _)| member);
        self.emit(quote!(let mut #others = #d; #(__pb::clear_part(&mut #others.#given);)*));
        self.pull_root(rest, Some(Cotangent::atom(quote!(#others))), at);
    }

    /// 2·d·factor
    fn twice(&self, d: &Cotangent, factor: &TokenStream) -> Cotangent {
        Cotangent::term(match !self.program.generic() || self.program.dual {
            true if self.of_seed(d) => quote!(__pb::by_seed(2.0 * #d, #factor)),
            true => quote!(2.0 * #d * #factor),
            false => quote!((#d + #d) * #factor),
        })
    }

    /// What else `left * right` is a product of if it has the variable `right` twice: `c` in `c * x * x`.
    fn square_within(&self, left: ExprId, right: ExprId) -> Option<ExprId> {
        let program = self.program;
        if self.has_calls_at_once(left) {
            return None;
        }
        let product = program.peel(left);
        match program.exprs[product].kind {
            ExprKind::Binary { .. } if program.by_rule(product) => None,
            ExprKind::Binary { op: Op::Mul, left, right: last } if self.same_variable(last, right) => {
                Some(left)
            }
            ExprKind::Binary { op: Op::Mul, left, right: last } if self.same_variable(left, right) => {
                Some(last)
            }
            _ => None,
        }
    }

    /// `x * x`, of floats.
    pub(crate) fn same_variable(&self, left: ExprId, right: ExprId) -> bool {
        let program = self.program;
        let (left, right) = (program.peel(left), program.peel(right));
        match (&program.exprs[left].kind, &program.exprs[right].kind) {
            (ExprKind::Read(_), ExprKind::Read(_)) => {
                let syntax = |e: ExprId| program.exprs[e].syntax.to_token_stream().to_string();
                program.kind_of(left) == Kind::Float && syntax(left) == syntax(right)
            }
            _ => false,
        }
    }

    pub(crate) fn pull_method(
        &mut self,
        expr: ExprId,
        receiver: ExprId,
        name: &Ident,
        args: &[ExprId],
        d: &Cotangent,
        at: &At,
    ) {
        let program = self.program;
        if program.passes_on(receiver, name) {
            if let Some(error) = args.iter().find(|arg| program.exprs[**arg].active) {
                self.errors.push(&program.exprs[*error].syntax, ERROR);
            }
            // It need not be there once more.
            return self.pull(program.peel(receiver), d, at);
        }
        let level = self.top();
        let all: Vec<_> = std::iter::once(receiver).chain(args.iter().copied()).collect();
        if let Some(slopes) = self.slopes(expr, &all, at) {
            let d = self.bind(d);
            for (operand, slope) in all.into_iter().zip(slopes) {
                if let Some(slope) = slope {
                    self.pull_operand(name, operand, &Cotangent::term(quote!(#d * #slope)), at);
                }
            }
            return;
        }
        let x = self.value(receiver, at);
        let operands: Vec<_> = args.iter().map(|a| self.value(*a, at)).collect();
        // Those of an `Option` have no formula that would ask for the value.
        let y = match unwraps(&name.to_string()) {
            true => None,
            false => {
                let y = self.text(expr, at, level);
                Some(quote!(|| #y,))
            }
        };
        let pullback = format_ident!("{name}_pullback", span = name.span());
        let call = quote_spanned!(name.span()=> #x.#pullback(#(#operands,)* #y #d));
        if args.is_empty() {
            return self.pull(receiver, &Cotangent::term(call), at);
        }
        let names: Vec<_> =
            all.iter().map(|e| program.exprs[*e].active.then(|| self.kept.fresh("d"))).collect();
        let pattern = names.iter().map(|n| n.as_ref().map_or(quote!(_), |n| quote!(#n)));
        self.emit(quote!(let (#(#pattern),*) = #call;));
        for (operand, d) in all.into_iter().zip(names) {
            if let Some(d) = d {
                self.pull_operand(name, operand, &Cotangent::atom(quote!(#d)), at);
            }
        }
    }

    pub(crate) fn pull_call(
        &mut self,
        expr: ExprId,
        function: &Callee,
        args: &[ExprId],
        d: &Cotangent,
        at: &At,
    ) {
        let program = self.program;
        let level = self.top();
        let last = function.name();
        let known = self.rules.get(&expr).cloned();
        let recursive = program.calls_itself(function, args);
        let at_once = self.plan.calls.contains(&expr);
        let residual = match at_once {
            true => self.kept.fresh("none"),
            false => self.kept.keep(at.block, Item::Residual(expr), &format!("{last}_residual")),
        };
        // The pullback gets the arguments as the forward left them.
        let after = At { block: at.block, versions: std::rc::Rc::new(self.levels[level].current.clone()) };
        let mut forgone = Vec::new();
        let init = match (function, &program.own) {
            (_, Some(own)) if recursive => {
                let ty = &own.ty;
                quote_spanned!(last.span()=> __pb::Recursive::<#ty>::new())
            }
            (Callee::Function(path), _) => {
                let callee = self.callee(expr, path);
                quote_spanned!(last.span()=> #callee::rule())
            }
            (Callee::Gradient(path, name), _) => {
                let (callee, rule) = (self.callee(expr, path), format_ident!("{name}_rule"));
                quote_spanned!(last.span()=> #callee::#rule())
            }
            (Callee::OnDuals(path), _) => {
                let (callee, of_numbers) = (self.callee(expr, path), crate::dual::arguments());
                quote_spanned!(last.span()=> #callee::rule_on_duals::<#of_numbers>())
            }
            _ if program.may_call_itself(expr, function, args).is_some() => quote!(__pb::ByReceiver::new()),
            (Callee::Itself(path), _) => quote_spanned!(last.span()=> __pb::Recursive::<#path>::new()),
            _ => quote!(__pb::rule_of()),
        };
        let init = match program.checkpointed.contains(&expr) {
            true => quote_spanned!(last.span()=> __pb::checkpointed(#init)),
            false => init,
        };
        let known = match function {
            Callee::Parameter(id, _) => Some(program.variables[*id].shadow.clone()),
            _ => known,
        };
        let number = recursive.then(|| program.number_of_call(expr));
        let shared = number.and_then(|number| self.recursions.get(&number).cloned());
        let rule = known
            .clone()
            .or_else(|| shared.clone())
            .or_else(|| self.rule_names.get(&expr).cloned())
            .unwrap_or_else(|| self.kept.fresh(&format!("{last}_rule")));
        let method = function.is_method();
        // The shadows of what a callee may take by value.
        let mut settled = HashMap::new();
        let with_closures = program.with_closures(args);
        self.declare_for(expr, args, &rule, !with_closures && !recursive);
        let recomputed = program.recomputed.contains(&expr);
        // Whose room that is shows when the functions have been written.
        let called = (with_closures && !recomputed && program.passes_resizing(args))
            .then(|| (self.kept.fresh("room"), self.levels[level].out.leave_place()));
        let room_of_called = called.as_ref().map_or_else(|| quote!(0), |(room, _)| quote!(#room));
        let (room, fit) = self.resizing(function, args, &rule, &room_of_called, at);
        self.emit(room);
        // The shadows of locals are borrowed before the arguments are.
        let mut local = HashMap::new();
        for base in args.iter().flat_map(|&arg| program.borrowed(arg)) {
            if program.variables[base].active && self.view(base).is_none() && !local.contains_key(&base) {
                let whole = self.local_shadow(base, at);
                let name = self.kept.fresh("cells");
                self.emit(quote!(let #name = #whole;));
                local.insert(base, name);
            }
        }
        let shared_functions = program.shared(args);
        let of_parts = program.writes_to_part(args);
        let (mut texts, mut shadows) = (Vec::new(), Vec::new());
        for (i, &arg) in args.iter().enumerate() {
            if let ExprKind::Callback(callback) = &program.exprs[arg].kind {
                texts.push(match recomputed {
                    true => self.callback_again(arg, callback, &local, at),
                    false => self.callback(arg, callback, &local, with_closures, &shared_functions),
                });
                shadows.push(quote!(__pb::none()));
                continue;
            }
            let ExprKind::Borrow { place, unique } = &program.exprs[arg].kind else {
                let temporary = refers_to_value(&program.exprs[arg].syntax);
                if temporary && !self.replayable(arg, at, level) {
                    self.errors.push(
                        &program.exprs[arg].syntax,
                        "the pullback needs this value once more: bind it with `let` first, and pass a reference to the variable",
                    );
                }
                if !program.exprs[arg].active && program.kind_of(arg) != Kind::Inert && !temporary {
                    forgone.push(i);
                }
                let text = if temporary { self.text(arg, at, level) } else { self.value(arg, at) };
                let text = match program.copies(arg) {
                    _ if program.hands(function, arg, i) => quote!(__pb::Given(&(#text)).hand()),
                    true => quote!(::core::clone::Clone::clone(&#text)),
                    false => text,
                };
                texts.push(if of_parts && !temporary {
                    self.bind(&Cotangent::term(text)).tokens
                } else {
                    text
                });
                shadows.push(quote!(__pb::none()));
                continue;
            };
            let given = program.given.contains(&arg);
            // Whether the operand of an operator is taken by reference is for the compiler to find out, too.
            let operand = matches!(function, Callee::Operator(..));
            if method && i == 0 || given || operand {
                let (text, shadow) =
                    self.receiver(place, at, unique.then_some(&after), local.get(&place.base));
                let whole = place.projections.iter().all(|p| matches!(p, Projection::Deref));
                let reference = whole && program.variables[place.base].by_reference();
                texts.push(match (given, operand && reference, unique) {
                    _ if program.hands(function, arg, i) => quote!(__pb::Given(&(#text)).hand()),
                    (true, ..) => quote!((&&__pb::Given(&#text)).given()),
                    (_, true, true) => quote!(&mut *#text),
                    (_, true, false) => text,
                    _ if !operand => text,
                    (_, _, true) => quote!(&mut #text),
                    (_, _, false) => quote!(&#text),
                });
                match shadow {
                    Some(shadow) => {
                        let variable = &program.variables[place.base];
                        let general = variable.general.as_ref();
                        let of_parameter = place.projections.is_empty() && variable.by_reference();
                        shadows.push(match general.filter(|_| of_parameter) {
                            Some(ty) => quote!(#shadow.map(<#ty as __pb::Differentiable>::shortened).into()),
                            None => quote!(#shadow.into()),
                        });
                        settled.insert(i, shadow);
                    }
                    None => shadows.push(quote!(__pb::none())),
                }
                self.check_disturbed(arg, place.base, if *unique { &after } else { at });
                continue;
            }
            let text = if *unique {
                if !self.needs_undo(place.base, at) {
                    forgone.push(i);
                }
                // Indices are as they were before the call, the contents as it left them.
                self.borrow_after(place, at, &after)
            } else {
                program.made_optional(arg, self.text(arg, at, level))
            };
            self.check_disturbed(arg, place.base, if *unique { &after } else { at });
            texts.push(text);
            let span = program.exprs[arg].span;
            shadows.push(self.shadow_argument(place, (*unique, span), at, local.get(&place.base)));
        }
        for (i, part) in self.apart(args, at) {
            let ExprKind::Borrow { unique, .. } = program.exprs[args[i]].kind else {
                unreachable!("a borrow")
            };
            texts[i] = match (method && i == 0, unique) {
                (true, _) if matches!(function, Callee::OfPart(..)) => quote!((*#part)),
                (true, _) => part,
                (false, true) => quote!(&mut #part),
                (false, false) => quote!(&#part),
            };
        }
        if known.is_none() && shared.is_none() {
            let forgone = if recursive || program.may_call_itself(expr, function, args).is_some() {
                Vec::new()
            } else {
                forgone
            };
            let init = quote!(#init #(.forgoing(#forgone))*);
            self.slots.push(Slot { name: rule.clone(), init });
            self.recursions.extend(number.map(|number| (number, rule.clone())));
        }
        self.rules.insert(expr, rule.clone());
        let values: Vec<_> = args
            .iter()
            .enumerate()
            .map(|(i, &arg)| {
                let by_value = match &program.exprs[arg].kind {
                    ExprKind::Borrow { .. } => program.either(arg),
                    ExprKind::Callback(_) => false,
                    _ => true,
                };
                let returned = by_value && program.exprs[arg].active || settled.contains_key(&i);
                returned.then(|| self.kept.fresh("d"))
            })
            .collect();
        let seed = if d.owned {
            let seed = self.kept.fresh("seed");
            self.emit(match function {
                Callee::Parameter(id, _) => {
                    let output = &program.functions[id].output;
                    quote!(let #seed = <#output as __pb::Output>::lend(&#d);)
                }
                _ => quote!(let #seed = __pb::lend(&*#rule, &#d);),
            });
            quote!(#seed)
        } else if d.apart {
            quote!(__pb::lend_parts(&*#rule, #d))
        } else if let Some(span) = d.unsure {
            quote_spanned!(span=> __pb::seed(&*#rule, #d))
        } else {
            quote!(#d)
        };
        let call = match with_closures {
            true => {
                if let Some((room, place)) = called {
                    let least = self.room_of_called(&texts);
                    self.levels[level].out.put(place, quote!(let #room = #least;));
                }
                let room = (!recomputed).then_some(room_of_called);
                let call = function.pullback_with(&rule, &residual, &texts, room, &shadows, &seed);
                program.sharing(&shared_functions, call)
            }
            false if at_once => function.at_once(
                &rule,
                &texts,
                &shadows,
                &seed,
                program.may_call_itself(expr, function, args),
            ),
            false => function.pullback(&rule, &residual, &texts, &shadows, &seed),
        };
        if at_once {
            let output = self.kept.fresh("output");
            let pattern = values.iter().map(|n| n.as_ref().map_or(quote!(_), |n| quote!(#n)));
            self.emit(quote!(let (#output, (#(#pattern,)*)) = #call;));
            self.levels[level].temporaries.insert(expr, output);
        } else if values.iter().all(Option::is_none) {
            self.emit(quote!(#call;));
        } else {
            let pattern = values.iter().map(|n| n.as_ref().map_or(quote!(_), |n| quote!(#n)));
            self.emit(quote!(let (#(#pattern,)*) = #call;));
        }
        // The callee has brought its arguments back.
        self.levels[level].current = (*at.versions).clone();
        let mut handed_on = Vec::new();
        for (i, (&arg, name)) in args.iter().zip(values).enumerate() {
            let Some(name) = name else { continue };
            let shadow = match (settled.get(&i), &program.exprs[arg].kind) {
                (Some(shadow), _) => shadow,
                (None, ExprKind::Borrow { place, .. }) => &program.variables[place.base].shadow,
                (None, _) => {
                    handed_on.push((arg, name));
                    continue;
                }
            };
            self.emit(quote!((&__pb::OfReceiver(#name)).settle(#shadow);));
        }
        self.emit(fit);
        for (arg, name) in handed_on {
            self.pull(arg, &Cotangent::atom(quote!(#name)), at);
        }
    }

    /// The receiver of a method, and the name of its shadow. Whether the method takes it by reference is for the compiler
    /// to find out.
    fn receiver(
        &mut self,
        place: &Place,
        at: &At,
        after: Option<&At>,
        local: Option<&Ident>,
    ) -> (TokenStream, Option<Ident>) {
        let level = self.top();
        let variable = &self.program.variables[place.base];
        let text = match after {
            Some(after) => {
                self.reads_memory(place.base, after, level);
                self.present(place.base);
                let base = &variable.unique;
                self.part(quote!(#base), &place.projections, true, at, level)
            }
            None => self.place(place, at, level),
        };
        if !variable.active {
            return (text, None);
        }
        let view = self.view(place.base);
        let whole = view.as_ref().or(local).expect("bound before the call");
        let (whole, rest) = self.viewed(whole, place, after.is_some(), at);
        let projections = self.projections(rest, at, level);
        if projections.is_empty() {
            return (text, Some(whole));
        }
        let (part, cells) = (self.kept.fresh("cells"), Program::fresh("d"));
        self.emit(quote!(let #part = #whole.part(|#cells| &#cells #projections);));
        (text, Some(part))
    }

    fn check_disturbed(&mut self, arg: ExprId, base: VarId, at: &At) {
        let level = self.top();
        let variable = &self.program.variables[base];
        if variable.disturbed || variable.unrestored && !self.intact(base, at, level) {
            self.errors.push(
                &self.program.exprs[arg].syntax,
                "this variable is changed by code that cannot be undone: borrow it before, or copy it into a variable of its own",
            );
        }
    }

    /// `function` where its rule is made: a second name that tells what to do, since the compiler's message about a type
    /// that does not exist holds nothing but the name.
    pub(crate) fn callee(&mut self, call: ExprId, function: &syn::Path) -> syn::Path {
        let mut path = function.clone();
        // One message for each place is all that the compiler gives: this one goes to the arguments.
        let span = match &self.program.exprs[call].syntax {
            syn::Expr::Call(call) => call.paren_token.span.join(),
            other => other.span(),
        };
        let last = path.segments.last_mut().expect("a path has a segment");
        let name = last.ident.unraw();
        let arguments = std::mem::replace(&mut last.arguments, syn::PathArguments::None);
        let path = path.to_token_stream();
        let known = self.imports.iter().find(|(other, _)| other.to_string() == path.to_string());
        let mut alias = match known {
            Some((_, alias)) => alias.clone(),
            None => {
                let taken = |text: &String| self.imports.iter().any(|(_, alias)| alias == text);
                let names = (1..).map(|n| match n {
                    1 => format!("{name}_has_no_rule_mark_it_differentiable"),
                    n => format!("{name}_{n}_has_no_rule_mark_it_differentiable"),
                });
                let text = names.into_iter().find(|text| !taken(text)).expect("there are enough numbers");
                let alias = Ident::new(&text, span);
                self.imports.push((path, alias.clone()));
                alias
            }
        };
        alias.set_span(span);
        syn::PathSegment { ident: alias, arguments }.into()
    }

    pub(crate) fn borrow_after(&mut self, place: &Place, at: &At, after: &At) -> TokenStream {
        let level = self.top();
        let variable = &self.program.variables[place.base];
        self.reads_memory(place.base, after, level);
        self.present(place.base);
        let whole = place.projections.iter().all(|p| matches!(p, Projection::Deref));
        let part = self.part_mut(place, at, level);
        // Coerced as needed, which may be to a shared reference.
        if variable.by_reference() && whole { part } else { quote!(&mut #part) }
    }

    /// What stands for the shadow of a borrowed argument.
    pub(crate) fn shadow_argument(
        &mut self,
        place: &Place,
        (unique, span): (bool, proc_macro2::Span),
        at: &At,
        local: Option<&Ident>,
    ) -> TokenStream {
        let program = self.program;
        let variable = &program.variables[place.base];
        if !variable.active {
            return match unique && variable.constant && !inert(&program.kind_of_place(place)) {
                true => quote_spanned!(span=> __pb::untouched()),
                false => quote!(__pb::none()),
            };
        }
        let level = self.top();
        let view = self.view(place.base);
        let whole = view.as_ref().or(local).expect("bound before the call");
        let (whole, rest) = self.viewed(whole, place, unique, at);
        let projections = self.projections(rest, at, level);
        if let (true, Some(ty)) = (projections.is_empty(), &variable.general) {
            // The compiler knows of no shorter lifetime, where the type is a parameter.
            quote_spanned!(span=> #whole.map(<#ty as __pb::Differentiable>::shortened).into())
        } else if projections.is_empty() {
            quote_spanned!(span=> #whole.into())
        } else {
            let cells = Program::fresh("d");
            quote_spanned!(span=> #whole.part(|#cells| &#cells #projections).into())
        }
    }

    /// The shadow of a local as a callee sees it.
    pub(crate) fn local_shadow(&mut self, id: VarId, at: &At) -> TokenStream {
        self.declare(id);
        let variable = &self.program.variables[id];
        let shadow = &variable.shadow;
        let value = if variable.memory {
            self.present(id);
            let name = &variable.unique;
            quote!(#name)
        } else {
            let level = self.top();
            self.place(&Place { base: id, projections: Vec::new() }, at, level)
        };
        let held = self.shaped(id, &value);
        quote!(__pb::shadow_of(#held, &mut #shadow))
    }

    /// The block has a value that carries a gradient.
    pub(crate) fn yields(&self, block: BlockId) -> bool {
        let Some(value) = self.program.blocks[block].value else { return false };
        let value = self.program.peel(value);
        if matches!(self.program.exprs[value].kind, ExprKind::Exit { .. }) {
            return false;
        }
        let blocks = self.program.blocks_of(value);
        let statement = !blocks.is_empty() && !blocks.into_iter().any(|b| self.yields(b));
        self.program.exprs[value].active && !statement
    }

    /// The branches of an `if` at the end of a block, which are put aside: each follows its own forward pass.
    fn pull_branches(&mut self, then: BlockId, otherwise: BlockId, d: &Cotangent, at: &At) {
        let mut undone = |block| {
            self.open(block, false);
            self.undo_block(block, Some(d));
            self.close()
        };
        let (then, otherwise) = (undone(then), undone(otherwise));
        let before = self.put_aside();
        self.branched.insert(at.block, Branched { before, then, otherwise });
    }

    pub(crate) fn pull_if(
        &mut self,
        expr: ExprId,
        cond: ExprId,
        then: BlockId,
        otherwise: Option<BlockId>,
        d: &Cotangent,
        at: &At,
    ) {
        let valued = self.yields(then) || otherwise.is_some_and(|b| self.yields(b));
        let d = self.bind_if(valued, d);
        if let (Some(otherwise), true) = (otherwise, self.plan.branches.get(&at.block) == Some(&expr)) {
            return self.pull_branches(then, otherwise, &d, at);
        }
        self.open(then, false);
        self.undo_block(then, Some(&d));
        let then_body = self.close();
        let else_body = match otherwise {
            Some(block) => {
                self.open(block, false);
                self.undo_block(block, Some(&d));
                self.close()
            }
            None => TokenStream::new(),
        };
        let stateless = self.kept.is_empty(then) && otherwise.is_none_or(|b| self.kept.is_empty(b));
        if !stateless {
            let residual = self.kept.keep(at.block, Item::Branch(expr), "branch");
            let then_pattern = self.kept.pattern(then);
            let else_pattern = otherwise.map_or(quote!(()), |b| self.kept.pattern(b));
            return self.emit(quote! {
                match #residual {
                    __pb::Branch::Then(#then_pattern) => { #then_body }
                    __pb::Branch::Else(#else_pattern) => { #else_body }
                }
            });
        }
        if then_body.is_empty() && else_body.is_empty() {
            return;
        }
        let level = self.top();
        let cond = if self.free(cond, at, level) {
            self.text(cond, at, level)
        } else {
            let name = self.kept.keep(at.block, Item::Value(cond), "taken");
            quote!(#name)
        };
        self.emit(match (then_body.is_empty(), else_body.is_empty()) {
            (false, true) => quote!(if #cond { #then_body }),
            (true, false) => quote!(if !(#cond) { #else_body }),
            _ => quote!(if #cond { #then_body } else { #else_body }),
        });
    }
}
