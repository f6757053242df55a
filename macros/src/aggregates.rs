//! Structs and tuples of vectors, by value.
//!
//! A struct literal moves the locals that become its fields. The reverse pass takes the struct apart: each field goes back to the
//! local that it came from, and the gradient of the field changes places with that of the local, so that each of them has its
//! memory from the pool to which it returns. What a function returns is copied out of the gradient that the caller lends, field by
//! field.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Ident, Type};

use crate::calls::Callee;
use crate::cotangent::Cotangent;
use crate::errors::Errors;
use crate::kind::{inert_method, names_other_type, numeric_call, numeric_method};
use crate::mutation::owned_type;
use crate::outcome::inside_type;
use crate::program::*;
use crate::reverse::Reverse;

pub(crate) const NOT_AT_THE_END: &str = "a struct that owns vectors is returned differentiably at the end of a function, and \
     made of locals of that: bind it with `let` before, or let a function of its own make it";

impl Program {
    /// The locals that `expr` moves, by themselves or into the fields of a struct, with the expressions that do.
    pub(crate) fn moved_in(&self, expr: ExprId) -> Vec<(ExprId, VarId)> {
        match &self.exprs[self.peel(expr)].kind {
            ExprKind::Struct(literal) if self.owns(expr) => {
                literal.fields.iter().flat_map(|(_, value)| self.moved_in(*value)).collect()
            }
            _ => self.moves(expr).map(|id| (expr, id)).into_iter().collect(),
        }
    }

    /// The literal of a struct that owns memory which a field of another is.
    pub(crate) fn literal_within(&self, field: ExprId) -> Option<&StructLiteral> {
        let field = self.peel(field);
        match &self.exprs[field].kind {
            ExprKind::Struct(literal) if self.exprs[field].active && self.owns(field) => Some(literal),
            _ => None,
        }
    }

    /// The locals that become parts of others.
    pub(crate) fn moved_parts(&self, roots: &[(ExprId, Option<VarId>)]) -> Vec<(VarId, VarId)> {
        let parts = roots.iter().filter_map(|(expr, target)| Some((*expr, (*target)?)));
        let whole = |expr: ExprId| self.moves(expr).is_some();
        parts
            .filter(|(expr, _)| !whole(*expr))
            .flat_map(|(expr, target)| self.moved_in(expr).into_iter().map(move |(_, id)| (id, target)))
            .collect()
    }

    /// The locals that hold what a call has returned, of which the syntax tells nothing else; and those that hold what one of several calls
    /// has, a call in a tuple, or one whose type has a name.
    pub(crate) fn results(&self) -> (Vec<VarId>, Vec<VarId>) {
        let (mut results, mut others) = (Vec::new(), Vec::new());
        for statement in self.blocks.iter().flat_map(|block| &block.statements) {
            let StatementKind::Let(Let { variables, init: Some(init), tuple, .. }) = &statement.kind else {
                continue;
            };
            match &self.exprs[self.peel(*init)].kind {
                ExprKind::Tuple(parts) if *tuple => {
                    let called = variables.iter().zip(parts).filter(|(_, part)| self.is_call(**part));
                    others.extend(called.filter_map(|(id, _)| *id));
                }
                ExprKind::If { .. } | ExprKind::Match(_) if self.is_call(*init) => {
                    others.extend(variables.iter().flatten());
                }
                _ if self.is_call(*init) => results.extend(variables.iter().flatten()),
                _ => {}
            }
        }
        let unknown = |id: &VarId| {
            let variable = &self.variables[*id];
            variable.kind == Kind::Unknown && variable.zero.is_none()
        };
        results.retain(unknown);
        others.retain(unknown);
        let (named, results) = results.into_iter().partition(|id| self.variables[*id].ty.is_some());
        others.extend::<Vec<_>>(named);
        (results, others)
    }

    /// The local holds what a call has returned, and something looks at it by reference, or at a part of it: it may be a struct
    /// that owns memory.
    pub(crate) fn may_own(&self, id: VarId) -> bool {
        let read = |e: &Expr| matches!(&e.kind, ExprKind::Read(place) if place.base == id);
        // What nobody asks for tells nothing of what it is.
        self.is_result(id) && (self.is_looked_into(id) || !self.exprs.iter().any(read))
    }

    /// Something looks at the local by reference, or at a part of it.
    pub(crate) fn is_looked_into(&self, id: VarId) -> bool {
        let Variable { name, parted, .. } = &self.variables[id];
        let looked_at = |e: &Expr| match &e.kind {
            ExprKind::Borrow { place, .. } => place.base == id,
            ExprKind::Constant(c) => c.mentions.contains(&id) && takes_part(e.syntax.to_token_stream(), name),
            _ => false,
        };
        *parted || self.exprs.iter().any(looked_at)
    }

    /// The local holds what a call has returned, of which the syntax tells at most the name of a type.
    pub(crate) fn is_result(&self, id: VarId) -> bool {
        self.results.contains(&id) || self.called.contains(&id)
    }

    /// A call of a function or of a method of the user's, or several of which one is chosen.
    pub(crate) fn is_call(&self, expr: ExprId) -> bool {
        match &self.exprs[self.peel(expr)].kind {
            ExprKind::Call { .. } => true,
            ExprKind::Method { name, args, .. } => !numeric_call(&name.to_string(), args.len()),
            // With names for what is borrowed.
            ExprKind::Block(block) => self.blocks[*block].value.is_some_and(|value| self.is_call(value)),
            ExprKind::If { .. } | ExprKind::Match(_) => {
                let blocks = self.blocks_of(self.peel(expr));
                let mut values = blocks.iter().filter_map(|block| self.blocks[*block].value).peekable();
                values.peek().is_some() && values.all(|value| self.is_call(value))
            }
            _ => false,
        }
    }

    /// Nothing tells what the call returns: it may be a struct that owns memory.
    pub(crate) fn may_return_owner(&self, expr: ExprId) -> bool {
        match &self.exprs[self.peel(expr)].kind {
            ExprKind::Call { function, .. } => self.kind_of_call(function) == Kind::Unknown,
            _ => false,
        }
    }

    /// How often the value of a local is asked for as a whole, other than by methods.
    fn uses(&self, id: VarId) -> usize {
        let whole = |e: &Expr| matches!(&e.kind, ExprKind::Read(place) if place.base == id && place.projections.is_empty());
        let received = |e: &&Expr| match &e.kind {
            ExprKind::Method { receiver, name, args } => {
                whole(&self.exprs[*receiver]) && !numeric_call(&name.to_string(), args.len())
            }
            _ => false,
        };
        self.exprs.iter().filter(|e| whole(e)).count() - self.exprs.iter().filter(received).count()
    }

    /// The local that is the value, if that holds what a call has returned and nobody else asks for it as a whole.
    fn used_up_by(&self, value: ExprId) -> Option<VarId> {
        let ExprKind::Read(place) = &self.exprs[self.peel(value)].kind else { return None };
        let whole = place.projections.is_empty() && self.is_result(place.base);
        (whole && self.uses(place.base) == 1).then_some(place.base)
    }

    /// The value is a literal of a struct with fields that hold what calls have returned, or the only use of a local of `block` that is.
    pub(crate) fn literal_of_results(&self, value: ExprId, block: BlockId) -> Option<Option<VarId>> {
        let (value, local) = match &self.exprs[self.peel(value)].kind {
            ExprKind::Read(place) if place.projections.is_empty() && self.uses(place.base) == 1 => {
                let variable = &self.variables[place.base];
                let init = self.init_of(place.base).filter(|_| variable.block == block)?;
                (self.peel(init), Some(place.base))
            }
            _ => (self.peel(value), None),
        };
        let ExprKind::Struct(literal) = &self.exprs[value].kind else { return None };
        let result = |field: ExprId| {
            self.exprs[field].active && (self.is_call(field) || self.used_up_by(field).is_some())
        };
        literal.fields.iter().any(|(_, field)| result(*field)).then_some(local)
    }

    /// The local is made where it stands, rather than by one of several branches.
    pub(crate) fn is_made_here(&self, id: VarId) -> bool {
        let kind = self.init_of(id).map(|init| &self.exprs[self.peel(init)].kind);
        matches!(kind, Some(ExprKind::Vector { .. } | ExprKind::Call { .. }))
    }

    /// The local is what a call has returned, or an element of such a tuple.
    fn is_bound_by_call(&self, id: VarId) -> bool {
        self.init_of(id).is_some()
            || self.blocks.iter().flat_map(|block| &block.statements).any(|statement| match &statement.kind {
                StatementKind::Let(Let { variables, init: Some(init), tuple: true, .. }) => {
                    let (bound, init) = (variables.contains(&Some(id)), &self.exprs[self.peel(*init)].kind);
                    bound && matches!(init, ExprKind::Call { .. } | ExprKind::Tuple(_))
                }
                _ => false,
            })
    }

    /// What the local starts with.
    pub(crate) fn init_of(&self, id: VarId) -> Option<ExprId> {
        self.lets().find_map(|(l, init)| (l.variables == [Some(id)]).then_some(init))
    }

    /// The value of the local becomes a field of a literal, or is pushed to a vector.
    pub(crate) fn becomes_part(&self, id: VarId) -> bool {
        let is = |value: &ExprId| matches!(&self.exprs[self.peel(*value)].kind, ExprKind::Read(place) if place.base == id && place.projections.is_empty());
        self.exprs.iter().any(|e| match &e.kind {
            ExprKind::Struct(literal) => literal.fields.iter().any(|(_, value)| is(value)),
            ExprKind::Mutation { args, .. } => args.iter().any(is),
            _ => false,
        })
    }

    /// One expression only takes the value of the local or of a part of it, or borrows it.
    fn is_asked_for_once(&self, id: VarId) -> bool {
        let asks = |e: &&Expr| match &e.kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => place.base == id,
            _ => false,
        };
        self.exprs.iter().filter(asks).count() == 1
    }

    /// Structs that hold what calls have returned, and that something looks at by reference: they may own memory. Of plain data the same
    /// code is right.
    pub(crate) fn settle_literals(&mut self) {
        let mut found = Vec::new();
        let result = |value: ExprId| self.used_up_by(value);
        let looked_at = |id: VarId| {
            let within = |place: &Place| place.projections.iter().any(|p| matches!(p, Projection::Index(_)));
            self.exprs.iter().any(|e| match &e.kind {
                ExprKind::Read(place) => place.base == id && within(place),
                ExprKind::Borrow { place, .. } => place.base == id,
                _ => false,
            })
        };
        // Otherwise what the function returns is taken apart as it is.
        let value = self.blocks[BODY].value.map(|value| self.peel(value));
        if let Some(value) = value
            && let ExprKind::Struct(literal) = &self.exprs[value].kind
            && literal.rest.is_none()
            && literal.variant().is_none()
            && literal.fields.iter().any(|(_, value)| result(*value).is_some_and(looked_at))
        {
            found.push(value);
        }
        for statement in self.blocks.iter().flat_map(|block| &block.statements) {
            let StatementKind::Let(Let { variables, init: Some(init), tuple: false, .. }) = &statement.kind
            else {
                continue;
            };
            let (&[Some(id)], init) = (&variables[..], self.peel(*init)) else { continue };
            let ExprKind::Struct(literal) = &self.exprs[init].kind else { continue };
            let returned = |value: ExprId| result(value).is_some() || self.may_return_owner(value);
            let whole = literal.rest.is_none() && literal.variant().is_none();
            let borrowed = |e: &Expr| match &e.kind {
                ExprKind::Borrow { place, .. } => place.base == id,
                ExprKind::Method { receiver, name, .. } => {
                    let whole = matches!(&self.exprs[*receiver].kind, ExprKind::Read(place) if place.base == id && place.projections.is_empty());
                    whole && !numeric_method(&name.to_string())
                }
                _ => false,
            };
            let leaves = value.is_some_and(|value| matches!(&self.exprs[value].kind, ExprKind::Read(place) if place.base == id && place.projections.is_empty()));
            if whole
                && self.uses(id) == usize::from(leaves)
                && literal.fields.iter().any(|(_, value)| returned(*value))
                && (leaves || looked_at(id) || self.exprs.iter().any(borrowed))
            {
                found.push(init);
            }
        }
        self.owning.extend(found);
    }

    /// What a call has returned is moved into a struct that owns memory: it may own memory itself.
    pub(crate) fn settle_parts(&mut self, results: &[VarId], roots: &[(ExprId, Option<VarId>)]) {
        for (expr, target) in roots {
            let expr = self.peel(*expr);
            if matches!(self.exprs[expr].kind, ExprKind::Struct(_))
                && target.is_some_and(|id| self.variables[id].heap)
            {
                self.owning.insert(expr);
            }
        }
        let mut moved = Vec::new();
        for expr in 0..self.exprs.len() {
            let ExprKind::Struct(literal) = &self.exprs[expr].kind else { continue };
            if !self.owns(expr) {
                continue;
            }
            let made = |id: VarId| {
                let Variable { origin, kind, .. } = &self.variables[id];
                literal.is_box() && *origin == Origin::Local && *kind == Kind::Unknown
            };
            for (_, value) in &literal.fields {
                if let ExprKind::Read(place) = &self.exprs[self.peel(*value)].kind
                    && place.projections.is_empty()
                    && (made(place.base)
                        || results.contains(&place.base)
                        || self.called.contains(&place.base))
                    && self.uses(place.base) == 1
                {
                    moved.push(place.base);
                }
            }
        }
        moved.into_iter().for_each(|id| self.variables[id].heap = true);
    }

    /// Finds the locals that a function returns, alone or as parts of a struct or a tuple.
    pub(crate) fn settle_returned(&mut self, output: &Type, results: &[VarId]) {
        let Some(value) = self.blocks[BODY].value.filter(|_| self.returned_by(BODY).next().is_none()) else {
            return;
        };
        let value = self.peel(value);
        let returned: Vec<_> = match (&self.exprs[value].kind, output) {
            (ExprKind::Struct(literal), _) if self.owns(value) => {
                self.returned_fields(literal, BODY, &TokenStream::new())
            }
            (ExprKind::If { .. } | ExprKind::Match(_) | ExprKind::Block(_) | ExprKind::Rest(_), _) => {
                self.returned_at_ends(value)
            }
            (ExprKind::Tuple(elements), Type::Tuple(types)) => {
                self.returned_parts(elements, &types.elems, results)
            }
            (ExprKind::Wrap(_, args), output)
                if let (ExprKind::Tuple(elements), Some(Type::Tuple(types))) =
                    (&self.exprs[args[0]].kind, &inside_type(output)) =>
            {
                self.returned_parts(elements, &types.elems, results)
            }
            (ExprKind::Wrap(_, args), _) => {
                let id = self
                    .local_of_body(args[0])
                    .filter(|id| self.variables[*id].heap || self.landing.is_some());
                id.map(|id| Returned { id, body: BODY, part: None, ty: inside_type(output).map(Box::new) })
                    .into_iter()
                    .collect()
            }
            (ExprKind::Read(_), ty) if names_other_type(ty, &self.kind_of_type(ty)) => {
                let owns =
                    |id: &VarId| self.variables[*id].heap || results.contains(id) && self.is_changed(*id);
                let id = self.local_of_body(value).filter(owns);
                id.map(|id| Returned { id, body: BODY, part: None, ty: None }).into_iter().collect()
            }
            _ => Vec::new(),
        };
        for Returned { id, .. } in &returned {
            self.variables[*id].heap = true;
        }
        self.returned.extend(returned);
    }

    /// The locals of `body` that the literal of what it returns moves; `within` is where the literal stands in that.
    fn returned_fields(&self, literal: &StructLiteral, body: BlockId, within: &TokenStream) -> Vec<Returned> {
        let mut found = Vec::new();
        for (member, value) in &literal.fields {
            let part = literal.part(member);
            let part = quote!(#within #part);
            let value = self.peel(*value);
            match &self.exprs[value].kind {
                ExprKind::Struct(inner) if self.owns(value) => {
                    found.extend(self.returned_fields(inner, body, &part))
                }
                _ => {
                    let id = self.local_of(value, body).filter(|id| self.variables[*id].heap);
                    found.extend(id.map(|id| Returned { id, body, part: Some(part), ty: None }));
                }
            }
        }
        found
    }

    /// Likewise for the literals of structs with which the branches end that `value` consists of.
    fn returned_at_ends(&self, value: ExprId) -> Vec<Returned> {
        let ends = self
            .blocks_of(value)
            .into_iter()
            .filter_map(|block| Some((block, self.peel(self.blocks[block].value?))));
        let returned = ends.flat_map(|(block, end)| match &self.exprs[end].kind {
            ExprKind::Struct(literal) if self.owns(end) => {
                self.returned_fields(literal, block, &TokenStream::new())
            }
            ExprKind::If { .. } | ExprKind::Match(_) | ExprKind::Block(_) | ExprKind::Rest(_) => {
                self.returned_at_ends(end)
            }
            _ => Vec::new(),
        });
        returned.collect()
    }

    /// The local of the body itself that `expr` is.
    fn local_of_body(&self, expr: ExprId) -> Option<VarId> {
        self.local_of(expr, BODY)
    }

    /// The local of a block that `expr` is.
    fn local_of(&self, expr: ExprId, block: BlockId) -> Option<VarId> {
        let ExprKind::Read(place) = &self.exprs[self.peel(expr)].kind else { return None };
        let variable = &self.variables[place.base];
        let whole = place.projections.is_empty() && variable.origin == Origin::Local;
        (whole && variable.block == block).then_some(place.base)
    }

    /// The locals that become elements of a tuple which the function returns, of these types.
    fn returned_parts<'t>(
        &self,
        elements: &[ExprId],
        types: impl IntoIterator<Item = &'t Type>,
        results: &[VarId],
    ) -> Vec<Returned> {
        let part = |(i, (value, ty)): (usize, (&ExprId, &Type))| {
            let id = self.local_of_body(*value)?;
            let result =
                results.contains(&id) && self.uses(id) == 1 && names_other_type(ty, &self.kind_of_type(ty));
            let owns = self.variables[id].heap || owned_type(ty) || result;
            let i = syn::Index::from(i);
            let part = Some(quote!(.#i));
            owns.then(|| Returned { id, body: BODY, part, ty: Some(Box::new(ty.clone())) })
        };
        elements.iter().zip(types).enumerate().filter_map(part).collect()
    }

    /// The parts of a tuple that a call has returned are vectors, perhaps, if something of `parts` is done to them, or nothing.
    pub(crate) fn settle_tuple(&mut self, ids: &[VarId], parts: &[VarId]) {
        let unknown =
            |id: &VarId| self.variables[*id].kind == Kind::Unknown && self.variables[*id].zero.is_none();
        let memory = |id: &VarId| {
            unknown(id) && (self.variables[*id].heap || parts.contains(id) || self.uses(*id) == 0)
        };
        let found: Vec<_> = ids.iter().copied().filter(memory).collect();
        found.into_iter().for_each(|id| self.variables[id].memory = true);
    }

    /// Something is done to the local or to a part of it, beside returning it.
    fn is_changed(&self, id: VarId) -> bool {
        let parts = self.exprs.iter().filter(|e| match &e.kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => place.base == id,
            _ => false,
        });
        let statements = self.blocks.iter().flat_map(|block| &block.statements);
        let assigned =
            |s: &Statement| matches!(&s.kind, StatementKind::Assign(assign) if assign.place.base == id);
        self.uses(id) == 1 && (parts.count() > 1 || statements.into_iter().any(assigned))
    }
}

/// A struct that owns memory stands where it is moved, and has all of its fields.
/// Of an `Option` that owns memory.
pub(crate) const OPTION_STAYS: &str = "an `Option` of a vector gets nothing else to hold differentiably, and is no part of a new struct: take the struct as a \
                                       parameter, write to what is inside, `if let Some(b) = &mut s.b`, or use an empty vector in place of `None`";

pub(crate) fn report(
    program: &Program,
    id: ExprId,
    literal: &StructLiteral,
    allowed: bool,
    errors: &mut Errors,
) {
    let syntax = &program.exprs[id].syntax;
    let moves_active = program.moved_in(id).into_iter().any(|(_, id)| program.variables[id].active);
    if !program.exprs[id].active && !moves_active {
        return;
    }
    if literal.rest.is_some() {
        errors.push(
            syntax,
            "a struct that owns vectors is made differentiably with all of its fields: write them out instead of `..`",
        );
    } else if !allowed {
        errors.push(
            syntax,
            "a struct that owns vectors is not differentiable within an expression: bind it with `let` first",
        );
    }
    for (_, value) in &literal.fields {
        let kind = &program.exprs[program.peel(*value)].kind;
        let block = matches!(kind, ExprKind::If { .. } | ExprKind::Match(_) | ExprKind::Block(_));
        if program.wraps_memory(*value) {
            errors.push(&program.exprs[*value].syntax, OPTION_STAYS);
        } else if block && program.owns(*value) {
            errors.push(
                &program.exprs[*value].syntax,
                "this field owns memory: bind it with `let` first, so that the struct is made of variables and calls",
            );
        }
    }
}

/// Fields that own memory stay where they are.
pub(crate) fn report_fields(program: &Program, errors: &mut Errors) {
    let by_part = |id: VarId| {
        program.exprs.iter().any(|e| match &e.kind {
            ExprKind::Borrow { place, .. } => place.base == id,
            ExprKind::Read(place) => {
                place.base == id && matches!(place.projections.first(), Some(Projection::Index(_)))
            }
            _ => false,
        })
    };
    // What is an operand is a number, or a struct that is copied, and so is what has methods of the user's.
    let moving: Vec<_> = program.moving_roots().into_iter().map(|(expr, _)| program.peel(expr)).collect();
    let whole = |expr: &Expr, id: VarId| match &expr.kind {
        ExprKind::Read(place) | ExprKind::Borrow { place, .. } => {
            place.base == id && place.projections.is_empty()
        }
        _ => false,
    };
    let copied = |id: VarId| {
        program.exprs.iter().enumerate().any(|(e, expr)| match &expr.kind {
            ExprKind::Read(_) => whole(expr, id) && !moving.contains(&e),
            ExprKind::Call { function: Callee::Method(name, _) | Callee::OfPart(name, _), args } => {
                !crate::matrices::reads(name) && whole(&program.exprs[args[0]], id)
            }
            _ => false,
        })
    };
    for statement in program.blocks.iter().flat_map(|block| &block.statements) {
        let StatementKind::Let(Let { variables, init: Some(init), tuple: false, .. }) = &statement.kind
        else {
            continue;
        };
        let ([Some(id)], ExprKind::Read(place)) = (&variables[..], &program.exprs[program.peel(*init)].kind)
        else {
            continue;
        };
        let base = &program.variables[place.base];
        let field = matches!(place.projections.last(), Some(Projection::Field(_)));
        let owns = !base.by_reference() && (base.heap || program.results.contains(&place.base));
        let unknown = matches!(program.variables[*id].kind, Kind::Unknown | Kind::Sequence(_));
        if field && owns && unknown && base.active && by_part(*id) && !copied(*id) {
            errors.push(
                &program.exprs[*init].syntax,
                "a field that owns memory is not moved out of a struct differentiably yet: borrow it, as `&s.x`, or `clone` it",
            );
        }
    }
}

impl Reverse<'_> {
    /// Takes a struct apart that owns memory: `d` is its gradient, which goes to the `pool` in the end, and `value` the struct, both of which are owned. If it is of use as a
    /// whole, it is `given` there.
    pub(crate) fn take_apart(
        &mut self,
        literal: &StructLiteral,
        (d, pool): (&Cotangent, &Ident),
        value: &TokenStream,
        given: TokenStream,
        at: &At,
    ) {
        self.take_out_parts(literal, (d, pool), value, !given.is_empty());
        self.emit(given);
        self.pull_fields(literal, d, at);
    }

    /// The locals that the literal has moved, and their gradients; copies, if the whole is `kept`.
    fn take_out_parts(
        &mut self,
        literal: &StructLiteral,
        (d, pool): (&Cotangent, &Ident),
        value: &TokenStream,
        kept: bool,
    ) {
        let program = self.program;
        if !self.moves_parts(literal) {
            return;
        }
        let places = self.places_of_parts(literal, value, kept);
        for ((member, field), place) in literal.fields.iter().zip(places) {
            let part = literal.part(member);
            if let Some(inner) = program.literal_within(*field) {
                self.take_out_parts(inner, (&Cotangent::atom(quote!(#d #part)), pool), &place, kept);
            }
            let Some(id) = program.moves(*field).filter(|id| program.variables[*id].active) else { continue };
            let (name, shadow) = (&program.variables[id].unique, &program.variables[id].shadow);
            let level = self.level_of(program.variables[id].block);
            match kept {
                false => self.emit(quote!(let mut #name = #place;)),
                true => {
                    let spare = self.spare(id);
                    self.emit(quote!(let mut #name = #spare.part(&#place);));
                }
            }
            let instead = self.in_place_of_part(id, pool);
            self.emit(quote!(let mut #shadow = #instead; (&mut __pb::Part(&mut #d #part)).change_places(&mut #shadow);));
            self.levels[level].declared.insert(id);
            self.lent.insert(id);
        }
    }

    /// Where the fields of `value` are, which the literal has made; it stays as it is, if it is `kept`.
    fn places_of_parts(
        &mut self,
        literal: &StructLiteral,
        value: &TokenStream,
        kept: bool,
    ) -> Vec<TokenStream> {
        let members = literal.fields.iter().map(|(member, _)| member);
        if literal.is_box() {
            let inside = self.kept.fresh("inside");
            let opened = if kept { quote!(in_the_box(&#value)) } else { quote!(out_of_box(#value)) };
            self.emit(quote!(let #inside = __pb::Boxed::#opened;));
            return vec![if kept { quote!((*#inside)) } else { quote!(#inside) }];
        }
        if literal.variant().is_none() {
            return members.map(|member| quote!(#value.#member)).collect();
        }
        let names: Vec<_> = members.clone().map(|_| self.kept.fresh("field")).collect();
        let (path, referred) = (&literal.path, kept.then(|| quote!(&)));
        self.emit(
            quote!(let #path { #(#members: #names,)* } = #referred #value else { ::core::unreachable!() };),
        );
        names.iter().map(|name| if kept { quote!((*#name)) } else { quote!(#name) }).collect()
    }

    /// The slot for what a local holds that comes out of the copy of a struct.
    fn spare(&mut self, id: VarId) -> Ident {
        // What is moved to and fro is the same memory.
        let pool = |id: VarId| self.program.variables[id].pool;
        let known = self.spares.iter().find(|(other, _)| pool(**other) == pool(id));
        let slot = match known.map(|(_, slot)| slot.clone()) {
            Some(slot) => slot,
            None => self.slot("spares", quote!(__pb::Spares::new())),
        };
        self.spares.insert(id, slot.clone());
        slot
    }

    /// The slot to which a local's vector goes in the end, if it may be out of a copy.
    pub(crate) fn spare_of(&self, id: VarId) -> Option<Ident> {
        if let Some(whole) = self.program.variables[id].row_of {
            return self.row_spares(whole);
        }
        let pool = |id: VarId| self.program.variables[id].pool;
        self.spares
            .iter()
            .filter(|(other, _)| pool(**other) == pool(id))
            .min_by_key(|(id, _)| **id)
            .map(|(_, slot)| slot.clone())
    }

    /// Hands the gradients of the fields on to what these are computed from, but for those that are moved.
    pub(crate) fn pull_fields(&mut self, literal: &StructLiteral, d: &Cotangent, at: &At) {
        let program = self.program;
        for (member, field) in &literal.fields {
            let part = literal.part(member);
            let d = Cotangent::atom(quote!(#d #part));
            if let Some(inner) = program.literal_within(*field) {
                self.pull_fields(inner, &d, at);
            } else if program.moves(*field).is_none() {
                self.pull_part(*field, d, true, at);
            }
        }
    }

    /// Hands `d`, the gradient with respect to a part that is not moved, on; `kept` where it may be an array rather than a view.
    pub(crate) fn pull_part(&mut self, part: ExprId, d: Cotangent, kept: bool, at: &At) {
        let part = self.program.peel(part);
        match &self.program.exprs[part].kind {
            ExprKind::Vector { elements, len } => self.pull_elements(elements, len.is_some(), &d, at),
            ExprKind::Call { .. } => self.pull_root(part, Some(Cotangent { owned: kept, ..d }), at),
            _ => self.pull_root(part, Some(d), at),
        }
    }

    /// `let v = f(x); Item { v }`: the pullback of the call has the `part` of the gradient lent where it is, whatever that is. Not so if
    /// anything else adds to the gradient with respect to `v`.
    pub(crate) fn takes_part(&mut self, value: ExprId, part: &TokenStream) -> bool {
        let Some(id) = self.program.used_up_by(value).filter(|id| self.program.is_asked_for_once(*id)) else {
            return false;
        };
        let (variable, level) = (&self.program.variables[id], self.top());
        let here = variable.active && variable.block == self.levels[level].block;
        let taken = here && self.program.is_bound_by_call(id) && self.levels[level].declared.insert(id);
        if taken {
            self.parts.insert(id, part.clone());
        }
        taken
    }

    /// Undoes `let (q, r) = f(…)`, where some of these own memory.
    pub(crate) fn undo_results(&mut self, l: &Let, init: ExprId, at: &At) {
        let ids: Vec<_> =
            l.variables.iter().flatten().copied().filter(|id| self.program.variables[*id].memory).collect();
        for &id in &ids {
            self.declare(id);
        }
        let level = self.top();
        let parts: Vec<_> = l
            .variables
            .iter()
            .map(|id| match id.filter(|id| self.levels[level].declared.contains(id)) {
                Some(id) => {
                    let shadow = &self.program.variables[id].shadow;
                    self.parts.get(&id).cloned().unwrap_or_else(|| quote!(#shadow))
                }
                None => quote!(__pb::zero()),
            })
            .collect();
        let apart = l.variables.iter().flatten().any(|id| self.parts.contains_key(id));
        let whole = self.kept.fresh("d");
        let tokens = if apart { quote!((#(&#parts,)*)) } else { quote!((#(#parts,)*)) };
        self.emit(quote!(let #whole = #tokens;));
        let seed = Cotangent { owned: !apart, apart, ..Cotangent::atom(quote!(#whole)) };
        self.pull_root(init, Some(seed), at);
        for (i, id) in l.variables.iter().enumerate() {
            let back = |id: &VarId| {
                let variable = &self.program.variables[*id];
                let moved = variable.heap && variable.active && self.levels[level].declared.contains(id);
                moved || self.lent.contains(id)
            };
            if let Some(id) = id.filter(back) {
                let (pool, part, i) = (self.pool(id), &parts[i], syn::Index::from(i));
                self.emit(if apart { quote!(#pool.give(#part);) } else { quote!(#pool.give(#whole.#i);) });
                if let Some(slot) = self.spares.get(&id).cloned().or_else(|| self.copies_exchanged(id)) {
                    let name = &self.program.variables[id].unique;
                    self.emit(quote!(#slot.give(#name);));
                }
            }
        }
    }
}

/// All that `code` does with `name` is to look at a part of it, to call a method of it, or to refer to it.
pub(crate) fn looks_at(code: TokenStream, name: &Ident) -> bool {
    let mut tokens = code.into_iter().peekable();
    let mut referred = false;
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Group(group) if !looks_at(group.stream(), name) => return false,
            TokenTree::Ident(found) if found == name => {
                let part = match tokens.peek() {
                    Some(TokenTree::Punct(dot)) => dot.as_char() == '.',
                    Some(TokenTree::Group(index)) => index.delimiter() == Delimiter::Bracket,
                    _ => false,
                };
                if !part && !referred {
                    return false;
                }
            }
            _ => {}
        }
        referred = matches!(&token, TokenTree::Punct(and) if and.as_char() == '&');
    }
    true
}

/// A part of `name` is mentioned, or a method of it that numbers do not have.
fn takes_part(code: TokenStream, name: &Ident) -> bool {
    let mut tokens = code.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let after_dot = match &token {
            TokenTree::Group(group) if takes_part(group.stream(), name) => return true,
            TokenTree::Ident(found) if found == name => {
                matches!(tokens.peek(), Some(TokenTree::Punct(dot)) if dot.as_char() == '.')
            }
            _ => false,
        };
        if after_dot {
            tokens.next();
            match tokens.next() {
                Some(TokenTree::Ident(member)) => {
                    let member = member.to_string();
                    if !numeric_method(&member) && !inert_method(&member) {
                        return true;
                    }
                }
                _ => return true,
            }
        }
    }
    false
}
