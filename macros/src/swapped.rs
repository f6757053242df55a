//! Structs and vectors that calls have returned, and that a branch moves out of the block around it: `if c { best = next; }`, and
//! `if c { a } else { b }`. In the place of such a move stands an exchange, which the reverse pass undoes by another one: what is moved
//! is not asked for later, so that nobody sees what it is exchanged for.

use std::collections::HashSet;

use syn::parse_quote;

use crate::calls::Callee;
use crate::kind::{inert, names_other_type};
use crate::mutation::{Action, owned_type};
use crate::program::*;

/// Where a block stands.
#[derive(Clone, Copy)]
struct Around {
    block: BlockId,
    /// In this statement, or in the value.
    statement: Option<usize>,
    /// It may be run more often than the block around it, or later.
    repeated: bool,
}

/// `best = next;` in a branch, with a `next` that nobody asks for later.
struct Replaced {
    block: BlockId,
    statement: usize,
    /// What gets another value.
    local: VarId,
    value: ExprId,
}

impl Program {
    /// Puts exchanges in the places of moves.
    pub(crate) fn settle_swapped(&mut self, output: &syn::Type) {
        if owned_type(output) {
            let own = |init: ExprId| {
                matches!(self.exprs[self.peel(init)].kind, ExprKind::Call { function: Callee::Itself(_), .. })
            };
            let called =
                self.lets().filter(|(_, init)| own(*init)).flat_map(|(l, _)| l.variables.iter().flatten());
            let called: Vec<_> = called.copied().collect();
            self.vectors.extend(called);
        }
        for block in 0..self.blocks.len() {
            self.chosen_locals(block, output);
        }
        let around = self.surroundings();
        let statements = (0..self.blocks.len())
            .flat_map(|block| (0..self.blocks[block].statements.len()).map(move |i| (block, i)));
        let mut replaced: Vec<_> =
            statements.filter_map(|(block, i)| self.replaced_in_branch(block, i, &around)).collect();
        // None of those is a move then.
        loop {
            let values: HashSet<_> = replaced.iter().map(|replaced| self.peel(replaced.value)).collect();
            let before = replaced.len();
            replaced.retain(|replaced| !self.is_moved_before(replaced, &values, &around));
            if replaced.len() == before {
                break;
            }
        }
        for Replaced { block, statement, local, value } in replaced {
            self.blocks[block].statements[statement].kind = self.exchange(local, value);
            self.blocks[block].rewritten = true;
        }
    }

    /// `best = next;` with a `next` from an enclosing block.
    fn replaced_in_branch(
        &self,
        block: BlockId,
        statement: usize,
        around: &[Option<Around>],
    ) -> Option<Replaced> {
        let StatementKind::Assign(Assign { place, op: None, value, .. }) =
            &self.blocks[block].statements[statement].kind
        else {
            return None;
        };
        let (best, next) = (place.base, self.whole_owner(*value)?);
        let replaced = place.projections.is_empty()
            && best != next
            && self.is_owner(best)
            && self.variables[next].block != block
            && [best, next].iter().any(|id| self.is_taken_apart(*id))
            && self.is_spent(next, block, statement, around);
        replaced.then_some(Replaced { block, statement, local: best, value: *value })
    }

    /// `let x = if c { a } else { b };`, or such a value of the block: `if c {} else { swap(&mut a, &mut b) }`, and `a` in its place.
    fn chosen_locals(&mut self, block: BlockId, output: &syn::Type) {
        let mut i = 0;
        while i < self.blocks[block].statements.len() {
            if self.chosen_pair(block, i) {
                i += 2;
                continue;
            }
            let statement = &self.blocks[block].statements[i].kind;
            if let Some(value) = self.value_moved_by(statement)
                && let Some(chosen) = self.chosen_among(value, block, Some(i), false)
            {
                let stays = matches!(statement, StatementKind::Assign(Assign { place, .. }) if place.base == chosen && place.projections.is_empty());
                let read = self.choose(value, chosen);
                if stays {
                    self.blocks[block].statements[i].kind = StatementKind::Expr(value, true);
                    self.blocks[block].rewritten = true;
                    self.unit(read);
                } else {
                    self.move_instead(block, i, read);
                    self.insert(block, i, StatementKind::Expr(value, true));
                    i += 1;
                }
            }
            i += 1;
        }
        let told =
            block == BODY && (owned_type(output) || names_other_type(output, &self.kind_of_type(output)));
        if let Some(value) = self.blocks[block].value
            && let Some(chosen) = self.chosen_among(value, block, None, told)
        {
            let read = self.choose(value, chosen);
            self.blocks[block].value = Some(read);
            let end = self.blocks[block].statements.len();
            self.insert(block, end, StatementKind::Expr(value, true));
        }
    }

    /// `let (x, y) = if c { (a, b) } else { (b, a) };`, likewise.
    fn chosen_pair(&mut self, block: BlockId, i: usize) -> bool {
        let StatementKind::Let(Let { variables, tuple: true, init: Some(init), .. }) =
            &self.blocks[block].statements[i].kind
        else {
            return false;
        };
        let (init, mut ends) = (*init, Vec::new());
        if variables.len() != 2 || !self.branch_ends(init, &mut ends) {
            return false;
        }
        let pair = |end: ExprId| match &self.exprs[self.peel(end)].kind {
            ExprKind::Tuple(elements) if elements.len() == 2 => {
                Some((self.whole_owner(elements[0])?, self.whole_owner(elements[1])?))
            }
            _ => None,
        };
        let Some(pairs) = ends.iter().map(|(_, end)| pair(*end)).collect::<Option<Vec<_>>>() else {
            return false;
        };
        let (one, other) = pairs[0];
        let same = pairs.iter().all(|pair| *pair == (one, other) || *pair == (other, one));
        let here = |id: &VarId| self.variables[*id].block == block && !self.mentioned_behind(*id, block, i);
        let owns = variables.iter().flatten().chain(&[one, other]).any(|id| self.is_taken_apart(*id));
        if one == other || !same || !owns || ![one, other].iter().all(here) {
            return false;
        }
        for ((inner, end), pair) in ends.iter().zip(&pairs).skip(1) {
            let end = self.peel(*end);
            let ExprKind::Tuple(elements) = &self.exprs[end].kind else { unreachable!("as asked before") };
            let elements = elements.clone();
            (self.blocks[*inner].value, self.blocks[*inner].rewritten) = (None, true);
            if *pair == (one, other) {
                elements.into_iter().for_each(|element| self.unit(element));
            } else {
                let exchange = self.exchange(one, elements[0]);
                self.unit(elements[1]);
                self.insert(*inner, self.blocks[*inner].statements.len(), exchange);
            }
        }
        let (first, read) = (ends[0].0, self.peel(ends[0].1));
        (self.blocks[first].value, self.blocks[first].rewritten) = (None, true);
        self.rewritten.insert(init);
        let syntax = self.exprs[read].syntax.clone();
        let StatementKind::Let(l) = &mut self.blocks[block].statements[i].kind else {
            unreachable!("as asked before")
        };
        l.variables.iter().flatten().for_each(|id| self.variables[*id].heap = true);
        l.init = Some(read);
        l.syntax.init.iter_mut().for_each(|init| *init.expr = syntax.clone());
        self.insert(block, i, StatementKind::Expr(init, true));
        true
    }

    /// The value that a statement gives to a local, or to a vector.
    fn value_moved_by(&self, statement: &StatementKind) -> Option<ExprId> {
        match statement {
            StatementKind::Let(Let { variables, tuple: false, init: Some(init), .. }) => {
                matches!(variables[..], [Some(_)]).then_some(*init)
            }
            StatementKind::Assign(Assign { op: None, value, .. }) => Some(*value),
            StatementKind::Expr(expr, _) => match &self.exprs[self.peel(*expr)].kind {
                ExprKind::Mutation { action: Action::Push, args } => Some(args[1]),
                _ => None,
            },
            _ => None,
        }
    }

    /// Has the statement take `read` in the place of that value.
    fn move_instead(&mut self, block: BlockId, i: usize, read: ExprId) {
        let syntax = self.exprs[read].syntax.clone();
        match &mut self.blocks[block].statements[i].kind {
            StatementKind::Let(l) => {
                l.variables.iter().flatten().for_each(|id| self.variables[*id].heap = true);
                l.init = Some(read);
                l.syntax.init.iter_mut().for_each(|init| *init.expr = syntax.clone());
            }
            StatementKind::Assign(assign) => {
                (assign.value, assign.result) = (read, read);
                if let syn::Expr::Assign(assign) = &mut assign.syntax {
                    *assign.right = syntax;
                }
            }
            &mut StatementKind::Expr(expr, _) => {
                let expr = self.peel(expr);
                if let ExprKind::Mutation { args, .. } = &mut self.exprs[expr].kind {
                    args[1] = read;
                }
                self.rewritten.insert(expr);
            }
            _ => unreachable!("no value is moved by it"),
        }
    }

    /// The local of `block` that is to hold what `value` comes to, if that may own memory and is chosen among such; `told` if it owns some for sure.
    fn chosen_among(
        &self,
        value: ExprId,
        block: BlockId,
        statement: Option<usize>,
        told: bool,
    ) -> Option<VarId> {
        let mut ends = Vec::new();
        if !told && block == BODY && statement.is_none() || !self.branch_ends(value, &mut ends) {
            return None;
        }
        // `best = if c { next } else { best };`
        let assigned = statement.and_then(|i| match &self.blocks[block].statements[i].kind {
            StatementKind::Assign(assign) if assign.place.projections.is_empty() => Some(assign.place.base),
            _ => None,
        });
        let mut found = Vec::new();
        for (inner, end) in ends {
            let ExprKind::Read(place) = &self.exprs[self.peel(end)].kind else { continue };
            match self.whole_owner(end) {
                Some(id) if Some(id) == assigned => found.insert(0, id),
                Some(id) if self.variables[id].block == block => found.push(id),
                _ if self.variables[place.base].block == inner => {}
                _ => return None,
            }
        }
        let behind = |id: &VarId| {
            Some(*id) != assigned && statement.is_some_and(|i| self.mentioned_behind(*id, block, i))
        };
        let target = statement.and_then(|i| match &self.blocks[block].statements[i].kind {
            StatementKind::Let(l) => l.variables[0],
            StatementKind::Assign(assign) => Some(assign.place.base),
            _ => None,
        });
        let owns = told || found.iter().chain(&target).any(|id| self.is_taken_apart(*id));
        (owns && !found.iter().any(behind)).then(|| found.first().copied()).flatten()
    }

    /// The values that the blocks of `value` end in, with these blocks. Not if there is none of them.
    fn branch_ends(&self, value: ExprId, ends: &mut Vec<(BlockId, ExprId)>) -> bool {
        let value = self.peel(value);
        let complete = match &self.exprs[value].kind {
            ExprKind::If { otherwise, .. } => otherwise.is_some(),
            ExprKind::Match(m) => m.panic.is_none(),
            ExprKind::Block(_) => true,
            _ => false,
        };
        complete
            && self.blocks_of(value).into_iter().all(|block| match self.blocks[block].value {
                Some(end) if matches!(self.exprs[end].kind, ExprKind::Exit { .. }) => true,
                Some(end) if self.branch_ends(end, ends) => true,
                Some(end) => {
                    ends.push((block, end));
                    true
                }
                None => false,
            })
    }

    /// Has each end of `value` leave what it comes to in the local; an expression for that.
    fn choose(&mut self, value: ExprId, chosen: VarId) -> ExprId {
        let mut ends = Vec::new();
        self.branch_ends(value, &mut ends);
        let mut read = None;
        for (block, end) in ends {
            let kind = match self.whole_owner(end) {
                Some(id) if id == chosen => {
                    read.get_or_insert(end);
                    None
                }
                Some(_) => Some(self.exchange(chosen, end)),
                None => {
                    let local = self.bind_end(block, end, chosen);
                    Some(self.exchange(chosen, local))
                }
            };
            let content = &mut self.blocks[block];
            (content.value, content.rewritten) = (None, true);
            if let Some(kind) = kind {
                self.insert(block, self.blocks[block].statements.len(), kind);
            } else if read != Some(end) {
                self.unit(end);
            }
        }
        self.rewritten.insert(value);
        self.variables[chosen].heap = true;
        read.expect("one of them is the local")
    }

    /// `let chosen = end;`, at the end of the block, of the type of a local; that, as an expression.
    fn bind_end(&mut self, block: BlockId, end: ExprId, like: VarId) -> ExprId {
        let (name, id) = (Program::fresh("chosen"), self.variables.len());
        let variable = Variable {
            kind: self.variables[like].kind.clone(),
            zero: None,
            heap: true,
            ..Variable::local(name.clone(), block, id)
        };
        self.variables.push(variable);
        if self.is_call(end) {
            self.results.insert(id);
        }
        if self.vector(end).0 {
            self.vectors.insert(id);
        }
        let init = self.exprs[end].syntax.clone();
        let syn::Stmt::Local(syntax) = parse_quote!(let #name = #init;) else { unreachable!("a `let`") };
        let kind = StatementKind::Let(Let {
            syntax,
            variables: vec![Some(id)],
            tuple: false,
            init: Some(end),
            aliases: Vec::new(),
        });
        self.insert(block, self.blocks[block].statements.len(), kind);
        let (syntax, span) = (parse_quote!(#name), self.exprs[end].span);
        let kind = ExprKind::Read(Place { base: id, projections: Vec::new() });
        self.exprs.push(Expr { kind, syntax, active: false, span });
        self.exprs.len() - 1
    }

    /// Nothing is left of an expression.
    fn unit(&mut self, expr: ExprId) {
        let expr = self.peel(expr);
        self.exprs[expr].kind = ExprKind::Tuple(Vec::new());
        self.exprs[expr].syntax = parse_quote!(());
    }

    fn insert(&mut self, block: BlockId, i: usize, kind: StatementKind) {
        let statement = Statement { id: self.statements, kind, before: At::default(), defines: Vec::new() };
        self.statements += 1;
        self.blocks[block].statements.insert(i, statement);
        self.blocks[block].rewritten = true;
    }

    /// `swap(&mut local, &mut value);` with another local as the value, whose expression becomes that.
    fn exchange(&mut self, local: VarId, value: ExprId) -> StatementKind {
        let value = self.peel(value);
        let other = self.whole_owner(value).expect("it is a local");
        for id in [local, other] {
            self.make_mutable(id);
            self.variables[id].heap = true;
        }
        let span = self.exprs[value].span;
        let mut borrow = |id: VarId| {
            let (name, place) = (&self.variables[id].name, Place { base: id, projections: Vec::new() });
            let (kind, syntax) = (ExprKind::Borrow { place, unique: true }, parse_quote!(&mut #name));
            self.exprs.push(Expr { kind, syntax, active: false, span });
            self.exprs.len() - 1
        };
        let args = vec![borrow(local), borrow(other)];
        let [one, other] = [local, other].map(|id| &self.variables[id].name);
        self.exprs[value].syntax = parse_quote!(::core::mem::swap(&mut #one, &mut #other));
        self.exprs[value].kind = ExprKind::Mutation { action: Action::Exchange, args };
        StatementKind::Expr(value, true)
    }

    /// The local that `expr` is, as a whole, if it holds what a call has returned.
    fn whole_owner(&self, expr: ExprId) -> Option<VarId> {
        let ExprKind::Read(place) = &self.exprs[self.peel(expr)].kind else { return None };
        (place.projections.is_empty() && self.is_owner(place.base)).then_some(place.base)
    }

    /// The local is a vector, or holds what a call has returned, of which nothing tells that it is a number.
    fn is_owner(&self, id: VarId) -> bool {
        let variable = &self.variables[id];
        let bound = |s: &Statement| matches!(&s.kind, StatementKind::Let(l) if l.init.is_some() && l.variables.contains(&Some(id)));
        let vector = self.vectors.contains(&id) && !inert(&variable.kind);
        let result = variable.kind == Kind::Unknown && (self.is_result(id) || variable.heap);
        variable.origin == Origin::Local
            && (vector || result)
            && self.blocks[variable.block].statements.iter().any(bound)
    }

    /// Something but for these `values` asks for all of the local elsewhere than after the statement: it may be moved there.
    fn is_moved_before(
        &self,
        replaced: &Replaced,
        values: &HashSet<ExprId>,
        around: &[Option<Around>],
    ) -> bool {
        let &Replaced { block, statement, local, .. } = replaced;
        let behind = self.all_behind(local, block, statement, around);
        (0..self.exprs.len()).any(|e| {
            let whole = matches!(&self.exprs[e].kind, ExprKind::Read(place) if place.base == local && place.projections.is_empty());
            whole && !self.is_receiver(e) && !behind.contains(&e) && !values.contains(&e)
        })
    }

    /// What comes after a statement of `block` where the local is in scope.
    fn all_behind(
        &self,
        id: VarId,
        mut block: BlockId,
        statement: usize,
        around: &[Option<Around>],
    ) -> HashSet<ExprId> {
        let (mut statement, mut found) = (Some(statement), HashSet::new());
        loop {
            if let Some(i) = statement {
                found.extend(self.exprs_behind(block, i));
            }
            if self.variables[id].block == block {
                return found;
            }
            let Some(outer) = around[block] else { return found };
            (block, statement) = (outer.block, outer.statement);
        }
    }

    /// Nobody asks for the local after a statement of `block`.
    fn is_spent(&self, id: VarId, mut block: BlockId, statement: usize, around: &[Option<Around>]) -> bool {
        let mut statement = Some(statement);
        loop {
            if statement.is_some_and(|i| self.mentioned_behind(id, block, i)) {
                return statement.is_some_and(|i| self.is_replaced_next(id, block, i));
            }
            if self.variables[id].block == block {
                return true;
            }
            match around[block] {
                Some(outer) if !outer.repeated => (block, statement) = (outer.block, outer.statement),
                _ => return false,
            }
        }
    }

    fn surroundings(&self) -> Vec<Option<Around>> {
        let mut found = vec![None; self.blocks.len()];
        for (block, content) in self.blocks.iter().enumerate() {
            let mut note = |inner: BlockId, statement, repeated| {
                found[inner] = Some(Around { block, statement, repeated });
            };
            let mut inside = |root: ExprId, statement| {
                for expr in self.tree(root) {
                    let kind = &self.exprs[expr].kind;
                    let repeated = matches!(kind, ExprKind::Loop { .. } | ExprKind::Callback(_));
                    self.blocks_of(expr).into_iter().for_each(|inner| note(inner, statement, repeated));
                }
            };
            for (i, statement) in content.statements.iter().enumerate() {
                statement.roots().into_iter().for_each(|root| inside(root, Some(i)));
            }
            content.value.into_iter().for_each(|root| inside(root, None));
            for (i, statement) in content.statements.iter().enumerate() {
                match &statement.kind {
                    StatementKind::For(f) => note(f.body, Some(i), true),
                    StatementKind::While(w) => note(w.body, Some(i), true),
                    _ => {}
                }
            }
        }
        found
    }
}
