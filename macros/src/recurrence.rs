//! Loops that hand numbers on from one iteration to the next: `u += h * (a - u * v); v += h * u;`.
//!
//! The gradient goes back through such a loop as the numbers have come, one iteration after the other, and the processor waits for each
//! of its operations. Derivatives do not depend on it, so it does not have to wait for them. Within an iteration the gradient with
//! respect to a variable is a *form* therefore: a sum of derivatives times gradients that are known already. That of a variable's
//! initial value is pulled with 1 in the place of the gradient, which gives derivatives, and these times the form is what goes to
//! the operands. A form that would make more of what it is multiplied with is computed and given a name.
//!
//! This is the elimination of vertices from a computational graph, in the order of reverse mode, wherever that does not make it larger
//! (Griewank & Walther, *Evaluating Derivatives*, chapter 10).

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;

use crate::blocks::Blocks;
use crate::chain::Chain;
use crate::cotangent::Cotangent;
use crate::forms::{Form, Slope, Source, sum};
use crate::program::*;
use crate::reverse::Reverse;

/// The operations of an iteration from which on forms do not pay, unless it runs in a block: there are too many derivatives to be
/// computed while others are waited for.
pub(crate) const LONG: usize = 16;

/// An iteration that is being undone.
#[derive(Default)]
pub(crate) struct Recurrence {
    pub(crate) sources: Vec<Source>,
    /// By variable; of those that the iteration changes, at first the gradient that comes from the iteration behind it.
    pub(crate) forms: BTreeMap<VarId, Form>,
    /// The variables that an expression is made of, and its derivatives, while it is being pulled.
    derivatives: Option<Vec<(Place, TokenStream)>>,
    /// Of an iteration in a block: its forms have no names, and what goes to elements waits for its end.
    in_block: bool,
    pub(crate) waiting: Vec<(Place, At, Form)>,
}

impl Recurrence {
    fn source(&mut self, name: syn::Ident, depth: usize) -> usize {
        self.sources.push(Source { name, depth });
        self.sources.len() - 1
    }

    /// The depth of what waits for the gradients that `form` is made of.
    fn behind(&self, form: &Form) -> usize {
        form.0.keys().map(|source| self.sources[*source].depth + 1).max().unwrap_or(0)
    }
}

impl Program {
    /// The numbers that iterations of a loop hand on, if all that happens to them is arithmetic in the loop's own block.
    pub(crate) fn carried(&self, body: BlockId) -> Option<Vec<VarId>> {
        let block = &self.blocks[body];
        let simple = block.value.is_none()
            && !self.generic()
            && !self.dual
            && !self.left_early(body)
            && block.statements.iter().all(|statement| self.is_step(statement));
        let number = |id: &VarId| self.variables[*id].active && self.is_scalar(*id);
        let carried: Vec<VarId> = self.written(body).into_iter().filter(number).collect();
        let read =
            |e: ExprId| matches!(&self.exprs[e].kind, ExprKind::Read(place) if carried.contains(&place.base));
        let any = || self.roots(body).into_iter().flat_map(|root| self.tree(root)).any(read);
        (simple && any()).then_some(carried)
    }

    /// The operations on numbers with gradient that an iteration consists of.
    pub(crate) fn operations(&self, body: BlockId) -> usize {
        let operation = |e: &ExprId| {
            let Expr { kind, active, .. } = &self.exprs[*e];
            *active && matches!(kind, ExprKind::Binary { .. } | ExprKind::Method { .. } | ExprKind::Neg(_))
        };
        self.roots(body).into_iter().flat_map(|root| self.tree(root)).filter(operation).count()
    }

    /// A number of its own, whose gradient is a number as well.
    fn is_scalar(&self, id: VarId) -> bool {
        let variable = &self.variables[id];
        variable.kind == Kind::Float && !variable.memory && !variable.by_reference()
    }

    /// All that has a gradient in the body of the loop is a number, and made by formulas.
    pub(crate) fn hands_on_numbers_alone(&self, body: BlockId) -> bool {
        let number = |id: &VarId| !self.variables[*id].active || self.is_scalar(*id);
        let own = self.variables.iter().enumerate().filter(|(_, variable)| variable.block == body);
        own.map(|(id, _)| id).chain(self.written(body)).all(|id| number(&id))
            && self.roots(body).into_iter().all(|root| match &self.exprs[root].kind {
                ExprKind::Tuple(elements) => elements.iter().all(|element| self.is_formula(*element)),
                _ => self.is_formula(root),
            })
    }

    /// The statement is in one block, and nobody has the shadow of a number in it lent.
    fn is_step(&self, statement: &Statement) -> bool {
        let roots: Vec<ExprId> = match &statement.kind {
            StatementKind::Let(l) => l.init.into_iter().collect(),
            StatementKind::Assign(a) => vec![a.value],
            StatementKind::Expr(e, _) => vec![*e],
            StatementKind::Opaque(_) => Vec::new(),
            StatementKind::For(_) | StatementKind::While(_) => return false,
        };
        roots.into_iter().flat_map(|root| self.tree(root)).all(|e| match &self.exprs[e].kind {
            ExprKind::Borrow { place, .. } => !self.is_scalar(place.base),
            ExprKind::Callback(_) => false,
            _ => self.blocks_of(e).is_empty(),
        })
    }

    /// Arithmetic and methods of numbers, each with one gradient.
    fn is_formula(&self, expr: ExprId) -> bool {
        let node = &self.exprs[expr];
        !node.active
            || self.kind_of(expr) == Kind::Float
                && match &node.kind {
                    ExprKind::Read(_) => true,
                    ExprKind::Paren(e) | ExprKind::Neg(e) => self.is_formula(*e),
                    ExprKind::Binary { left, right, .. } => {
                        !self.by_rule(expr) && self.is_formula(*left) && self.is_formula(*right)
                    }
                    ExprKind::Method { receiver, name, args } => {
                        !self.passes_on(*receiver, name)
                            && self.is_formula(*receiver)
                            && args.iter().all(|arg| self.is_formula(*arg))
                    }
                    _ => false,
                }
    }
}

impl Reverse<'_> {
    /// The numbers that iterations hand on as forms. Derivatives that may be infinite are only multiplied with gradients that are known
    /// if these may be zero.
    pub(crate) fn carried(&self, body: BlockId) -> Option<Vec<VarId>> {
        self.program.carried(body).filter(|_| !self.may_pass_over(body))
    }

    /// Undoes an iteration of a loop, whose level is open. Where it runs in `blocks` and hands numbers on, that is what goes to others,
    /// behind what is returned.
    pub(crate) fn undo_body(&mut self, body: BlockId, blocks: Option<&Blocks>) -> Option<Chain> {
        let short = || self.program.operations(body) < LONG;
        let carried = self.carried(body).filter(|_| self.captured.is_empty());
        let Some(carried) = carried.filter(|_| blocks.is_some() || short()) else {
            self.undo_block(body, None);
            return None;
        };
        let mut recurrence = Recurrence { in_block: blocks.is_some(), ..Recurrence::default() };
        let mut given = Vec::new();
        for id in carried {
            self.declare(id);
            let source = recurrence.source(self.program.variables[id].shadow.clone(), 0);
            recurrence.forms.insert(id, Form::of(source));
            given.push((id, source));
        }
        self.recurrence = Some(recurrence);
        for statement in self.program.blocks[body].statements.iter().rev() {
            self.undo_in_step(statement);
            let top = self.top();
            self.levels[top].current = (*statement.before.versions).clone();
        }
        if let Some(blocks) = blocks {
            return Some(self.end_block(&given, blocks));
        }
        self.end_step(&given);
        None
    }

    fn undo_in_step(&mut self, statement: &Statement) {
        let (program, at) = (self.program, &statement.before);
        match &statement.kind {
            StatementKind::Let(Let { tuple, variables, init: Some(init), .. }) => {
                match &program.exprs[*init].kind {
                    ExprKind::Tuple(elements) if *tuple => {
                        for (variable, element) in variables.iter().zip(elements).rev() {
                            self.undo_number(*variable, *element, at);
                        }
                    }
                    _ if !tuple => self.undo_number(variables[0], *init, at),
                    _ => {
                        variables.iter().flatten().for_each(|id| self.settle(*id));
                        self.undo_statement(statement);
                    }
                }
            }
            StatementKind::Assign(assign) if self.has_form(&assign.place) => {
                let (id, top) = (assign.place.base, self.top());
                self.levels[top].current = (*at.versions).clone();
                let forms = &mut self.forms().forms;
                match assign.op {
                    Some(op @ (Op::Add | Op::Sub)) if !program.by_rule(assign.result) => {
                        let form = forms.get(&id).cloned().unwrap_or_default();
                        let sign = if op == Op::Add { Slope::One } else { Slope::MinusOne };
                        let form = self.scaled(&form, &sign);
                        self.pull_form(form, assign.value, at);
                    }
                    _ => {
                        let form = forms.remove(&id).unwrap_or_default();
                        self.pull_form(form, assign.result, at);
                    }
                }
            }
            _ => self.undo_statement(statement),
        }
    }

    fn undo_number(&mut self, variable: Option<VarId>, init: ExprId, at: &At) {
        match variable {
            Some(id) if self.program.is_scalar(id) && self.program.variables[id].active => {
                let form = self.forms().forms.remove(&id).unwrap_or_default();
                self.pull_form(form, init, at);
            }
            _ => self.undo_binding(variable, init, at),
        }
    }

    /// Hands `form`, the gradient with respect to `expr`, on to the operands.
    fn pull_form(&mut self, form: Form, expr: ExprId, at: &At) {
        let expr = self.program.peel(expr);
        if form.is_empty() {
            return self.pull_root(expr, None, at);
        }
        if !self.program.is_formula(expr) {
            let source = self.named(form);
            let d = self.forms().sources[source].name.clone();
            return self.pull_root(expr, Some(Cotangent::atom(quote!(#d))), at);
        }
        self.forms().derivatives = Some(Vec::new());
        self.pull(expr, &Cotangent::atom(quote!(1.0)), at);
        let derivatives = self.forms().derivatives.take().expect("set above");
        let (mut of_numbers, mut others) = (BTreeMap::<VarId, Vec<Slope>>::new(), Vec::new());
        for (place, derivative) in derivatives {
            let slope = self.slope(derivative);
            match self.has_form(&place) {
                true => of_numbers.entry(place.base).or_default().push(slope),
                false => others.push((place, slope)),
            }
        }
        let numbers: Vec<_> = of_numbers.into_iter().map(|(id, slopes)| (id, self.total(&slopes))).collect();
        let forms = &self.forms().forms;
        let of_numbers = numbers.iter().map(|(id, slope)| (forms.get(id), slope));
        let slopes: Vec<_> = of_numbers.chain(others.iter().map(|(_, slope)| (None, slope))).collect();
        let grows = form.grows(&slopes) && !self.forms().in_block;
        let form = if grows { Form::of(self.named(form)) } else { form };
        for (id, slope) in numbers {
            let scaled = self.scaled(&form, &slope);
            let target = self.forms().forms.entry(id).or_default();
            for (source, slopes) in scaled.0 {
                slopes.into_iter().for_each(|slope| target.add(source, slope));
            }
        }
        for (place, slope) in others {
            let scaled = self.scaled(&form, &slope);
            if self.forms().in_block {
                self.forms().waiting.push((place, at.clone(), scaled));
            } else {
                let d = self.sum(&scaled);
                self.accumulate(&place, &Cotangent::term(d), at);
            }
        }
    }

    /// Whether what comes to `place` is a form: it is a number in an iteration that hands numbers on.
    fn has_form(&self, place: &Place) -> bool {
        self.recurrence.is_some()
            && self.program.variables[place.base].active
            && place.projections.is_empty()
            && self.program.is_scalar(place.base)
    }

    /// Takes note of `d`, which comes to a place. The answer is whether that is all.
    pub(crate) fn comes_to_form(&mut self, place: &Place, d: &Cotangent) -> bool {
        let own = self.has_form(place);
        let Some(recurrence) = &mut self.recurrence else { return false };
        if let Some(derivatives) = &mut recurrence.derivatives {
            derivatives.push((place.clone(), d.tokens.clone()));
            return true;
        }
        if own {
            let name = self.kept.fresh("d");
            self.emit(quote!(let #name = #d;));
            let recurrence = self.forms();
            let depth = recurrence.sources.iter().map(|source| source.depth + 1).max().unwrap_or(0);
            let source = recurrence.source(name, depth);
            recurrence.forms.entry(place.base).or_default().add(source, Slope::One);
        }
        own
    }

    fn forms(&mut self) -> &mut Recurrence {
        self.recurrence.as_mut().expect("within an iteration")
    }

    /// The form as a gradient with a name.
    fn named(&mut self, form: Form) -> usize {
        if let Some(source) = form.0.keys().copied().find(|source| form.is(*source)) {
            return source;
        }
        let (sum, name) = (self.sum(&form), self.kept.fresh("d"));
        self.emit(quote!(let #name = #sum;));
        let depth = self.forms().behind(&form);
        self.forms().source(name, depth)
    }

    /// What has come to a local of the block is its shadow from here on.
    fn settle(&mut self, id: VarId) {
        if let Some(form) = self.forms().forms.remove(&id) {
            let (sum, shadow, top) = (self.sum(&form), &self.program.variables[id].shadow, self.top());
            self.emit(quote!(let mut #shadow = #sum;));
            self.levels[top].declared.insert(id);
        }
    }

    /// The form as a sum, in which what is known late comes last.
    fn sum(&mut self, form: &Form) -> TokenStream {
        let totals = self.totals(form);
        let sources = &self.forms().sources;
        let mut terms: Vec<_> = totals.into_iter().map(|(source, slope)| (&sources[source], slope)).collect();
        terms.sort_by_key(|(source, _)| source.depth);
        sum(terms.into_iter().map(|(Source { name, .. }, slope)| (slope, quote!(#name))))
    }

    /// The iteration is undone: hands on the gradients with respect to what it started from, of which `given` are those behind it.
    fn end_step(&mut self, given: &[(VarId, usize)]) {
        let program = self.program;
        let mut forms = std::mem::take(&mut self.forms().forms);
        let mut next = TokenStream::new();
        for (id, source) in given {
            let form = forms.remove(id).unwrap_or_default();
            if form.is(*source) {
                continue;
            }
            let (shadow, name) = (&program.variables[*id].shadow, self.kept.fresh("d"));
            let sum = if form.is_empty() { program.zero() } else { self.sum(&form) };
            self.emit(quote!(let #name = #sum;));
            next.extend(quote!(#shadow = #name;));
        }
        for (id, form) in forms {
            let sum = self.sum(&form);
            self.declare(id);
            let shadow = &program.variables[id].shadow;
            self.emit(quote!(#shadow += #sum;));
        }
        self.emit(next);
        self.recurrence = None;
    }
}
