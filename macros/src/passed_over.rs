//! Numbers that nobody may look at: what uses them is a branch that is not taken, or they lose against others in `max`.
//!
//! Their gradient is zero then, and so is what they hand on, even where a derivative is infinite: 0·∞ would be NaN. Of what is looked at
//! in any case nothing is asked, so that straight code has no tests in it.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::quote;

use crate::cotangent::Cotangent;
use crate::program::*;
use crate::reverse::Reverse;

/// The methods that may pass over an operand.
const CHOOSING: &[&str] = &["max", "min", "clamp"];

/// The methods whose derivative is infinite somewhere, or whose value is.
pub(crate) const STEEP: &[&str] = &[
    "recip", "sqrt", "cbrt", "powi", "powf", "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10",
    "asin", "acos", "atan2", "sinh", "cosh", "acosh", "atanh",
];

/// Where a number goes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Goes {
    Local(VarId),
    /// A method that may pass over it.
    Choice,
    Memory,
}

/// The gradient with respect to a number that nobody may look at, whose operands get theirs.
#[derive(Clone)]
pub(crate) struct Unseen {
    seed: TokenStream,
    /// It is a local, or an argument: of what goes to memory only the steps that are infinite themselves are looked at, not their products.
    products: bool,
    /// They come by a derivative that may be infinite.
    within: bool,
}

impl Program {
    /// The numbers in locals that nobody may look at.
    pub(crate) fn unseen_locals(&self) -> HashSet<VarId> {
        let seen = self.seen_locals();
        let number = |id: &VarId| self.is_local_number(*id) && !seen.contains(id);
        let mut unseen: HashSet<VarId> = (0..self.variables.len()).filter(number).collect();
        let statements = self
            .blocks
            .iter()
            .enumerate()
            .flat_map(|(block, body)| body.statements.iter().map(move |statement| (block, statement)));
        for (block, statement) in statements {
            // What is replaced by something else in a branch, and not by what comes of it.
            if let StatementKind::Assign(Assign { place, op: None, value, .. }) = &statement.kind
                && self.is_local_number(place.base)
                && self.variables[place.base].block != block
                && !self.tree(*value).into_iter().any(|e| self.mentions(e, place.base))
            {
                unseen.insert(place.base);
            }
        }
        unseen
    }

    fn is_local_number(&self, id: VarId) -> bool {
        let variable = &self.variables[id];
        variable.origin == Origin::Local && variable.kind == Kind::Float && !variable.memory
    }

    /// The blocks whose value is what the function or a closure returns.
    fn ends(&self) -> HashSet<BlockId> {
        let closures = self.exprs.iter().filter_map(|expr| match &expr.kind {
            ExprKind::Callback(Callback::Closure { body, .. }) => Some(*body),
            _ => None,
        });
        let mut open: Vec<_> = closures.chain([BODY]).collect();
        let mut ends = HashSet::new();
        while let Some(id) = open.pop() {
            let block = &self.blocks[id];
            let last = block.statements.last().and_then(|statement| match &statement.kind {
                StatementKind::Expr(expr, _) => Some(*expr),
                _ => None,
            });
            if ends.insert(id) {
                open.extend(block.value.or(last).into_iter().flat_map(|end| self.blocks_of(self.peel(end))));
            }
        }
        ends
    }

    /// The variables that somebody looks at for sure: in the block that they are of, since others may not run, or not once more. A number
    /// that is made for another one is looked at if that is, and the value of a block if it is one of the `ends`.
    fn seen_locals(&self) -> HashSet<VarId> {
        let (ends, mut seen) = (self.ends(), HashSet::new());
        loop {
            let known = seen.len();
            for (id, block) in self.blocks.iter().enumerate() {
                if let Some(value) = block.value.filter(|_| ends.contains(&id)) {
                    self.look(value, id, &mut seen);
                }
                for statement in block.statements.iter().rev() {
                    if self.number_made(statement).is_some_and(|(made, _)| !seen.contains(&made)) {
                        continue;
                    }
                    for root in statement.roots() {
                        self.look(root, id, &mut seen);
                    }
                }
            }
            if seen.len() == known {
                return seen;
            }
        }
    }

    fn look(&self, expr: ExprId, block: BlockId, seen: &mut HashSet<VarId>) {
        match &self.exprs[expr].kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => {
                if self.variables[place.base].block == block {
                    seen.insert(place.base);
                }
            }
            ExprKind::Method { name, .. } if CHOOSING.contains(&&*name.to_string()) => {}
            _ => self.operands(expr).into_iter().for_each(|operand| self.look(operand, block, seen)),
        }
    }

    /// The number in a local that the statement makes, or changes, and the value that goes there.
    fn number_made(&self, statement: &Statement) -> Option<(VarId, ExprId)> {
        let (id, value) = match &statement.kind {
            StatementKind::Let(l) if !l.tuple => (l.variables.first().copied()??, l.init?),
            StatementKind::Assign(a) if a.place.projections.is_empty() => (a.place.base, a.value),
            _ => return None,
        };
        self.is_local_number(id).then_some((id, value))
    }

    /// The numbers in locals that may be infinite, by what they are made of.
    pub(crate) fn steep_locals(&self) -> HashSet<VarId> {
        let statements = self.blocks.iter().flat_map(|block| &block.statements);
        let made: Vec<_> = statements.filter_map(|statement| self.number_made(statement)).collect();
        let mut steep = HashSet::new();
        loop {
            let known = steep.len();
            for (id, value) in &made {
                if self.has_steep(*value, &steep) {
                    steep.insert(*id);
                }
            }
            if steep.len() == known {
                return steep;
            }
        }
    }

    /// Something in `expr` may be infinite, or have an infinite derivative.
    fn has_steep(&self, expr: ExprId, locals: &HashSet<VarId>) -> bool {
        self.tree(expr).into_iter().any(|e| match &self.exprs[e].kind {
            ExprKind::Read(place) => locals.contains(&place.base),
            _ => {
                let mut inner = self.blocks_of(e).into_iter().flat_map(|block| self.roots(block));
                self.exprs[e].active && (self.is_steep(e) || inner.any(|root| self.has_steep(root, locals)))
            }
        })
    }

    /// All that its operands get comes of the gradient with respect to `expr` itself: it does not leave the function, say, nor write anything.
    fn hands_on_alone(&self, expr: ExprId) -> bool {
        match &self.exprs[expr].kind {
            ExprKind::Call { args, .. } => args.iter().all(|arg| {
                !matches!(
                    self.exprs[*arg].kind,
                    ExprKind::Borrow { unique: true, .. } | ExprKind::Callback(_)
                )
            }),
            ExprKind::Constant(_)
            | ExprKind::Read(_)
            | ExprKind::Borrow { .. }
            | ExprKind::Paren(_)
            | ExprKind::Neg(_)
            | ExprKind::Binary { .. }
            | ExprKind::Cast(..)
            | ExprKind::Method { .. }
            | ExprKind::If { .. }
            | ExprKind::Match(_)
            | ExprKind::Block(_) => true,
            _ => false,
        }
    }

    fn is_steep(&self, expr: ExprId) -> bool {
        match &self.exprs[expr].kind {
            ExprKind::Binary { op: Op::Div, right, .. } => {
                !matches!(self.exprs[self.peel(*right)].syntax, syn::Expr::Lit(_))
            }
            ExprKind::Method { name, .. } => STEEP.contains(&&*name.to_string()),
            ExprKind::Call { .. } => true,
            _ => false,
        }
    }
}

impl Reverse<'_> {
    /// The block makes something steep that nobody may look at.
    pub(crate) fn may_pass_over(&self, block: BlockId) -> bool {
        let program = self.program;
        let steep = |expr: ExprId| program.has_steep(expr, &self.steep_locals);
        let unseen = program.blocks[block].statements.iter().any(|statement| {
            program
                .number_made(statement)
                .is_some_and(|(made, value)| self.unseen_locals.contains(&made) && steep(value))
        });
        let passes = |e: &ExprId| matches!(&program.exprs[*e].kind, ExprKind::Method { name, .. } if CHOOSING.contains(&&*name.to_string()));
        let mut trees = program.roots(block).into_iter().flat_map(|root| program.tree(root));
        unseen || trees.any(|e| passes(&e) && steep(e))
    }

    /// Does what pulls `expr` with `seed`, to which nobody may look where it goes.
    pub(crate) fn unless_unseen(
        &mut self,
        expr: ExprId,
        to: Goes,
        seed: &Cotangent,
        pull: impl FnOnce(&mut Self, &Cotangent),
    ) {
        let program = self.program;
        let sure = matches!(to, Goes::Local(id) if !self.unseen_locals.contains(&id));
        let may_be = !sure
            && !seed.is_nothing()
            && (program.kind_of(expr) == Kind::Float || matches!(to, Goes::Local(_)))
            && program.has_steep(expr, &self.steep_locals);
        if !may_be {
            return pull(self, seed);
        }
        let seed = match &self.unseen {
            Some(Unseen { seed: whole, within: true, .. }) => {
                Cotangent::term(quote!(__pb::where_seen(#whole, #seed)))
            }
            _ => seed.clone(),
        };
        let seed = self.bind(&seed);
        let products = to != Goes::Memory;
        let around = self.unseen.replace(Unseen { seed: seed.tokens.clone(), products, within: false });
        pull(self, &seed);
        self.unseen = around;
    }

    /// Goes into `expr`, whose operands have infinite gradients maybe. Returns what is to be known of them when it is done.
    pub(crate) fn enter(&mut self, expr: ExprId) -> Option<Unseen> {
        let around = self.unseen.clone();
        let program = self.program;
        if !program.hands_on_alone(expr) {
            self.unseen = None;
        } else if let Some(unseen) = &mut self.unseen {
            unseen.within |= match &program.exprs[expr].kind {
                ExprKind::Binary { op: Op::Mul, .. } => {
                    unseen.products && program.has_steep(expr, &self.steep_locals)
                }
                _ => program.is_steep(expr),
            };
        }
        around
    }

    /// Pulls an operand that the method may pass over.
    pub(crate) fn pull_operand(&mut self, method: &syn::Ident, operand: ExprId, d: &Cotangent, at: &At) {
        if CHOOSING.contains(&&*method.to_string()) {
            self.unless_unseen(operand, Goes::Choice, d, |reverse, d| reverse.pull(operand, d, at));
        } else {
            self.pull(operand, d, at);
        }
    }

    /// `d` for a number in `place`, which is zero if nobody has looked at what that has gone into.
    pub(crate) fn where_seen(&self, place: &Place, d: &Cotangent) -> Cotangent {
        match &self.unseen {
            Some(Unseen { seed, within: true, .. })
                if self.recurrence.is_none() && self.program.kind_of_place(place) == Kind::Float =>
            {
                Cotangent::term(quote!(__pb::where_seen(#seed, #d)))
            }
            _ => d.clone(),
        }
    }
}
