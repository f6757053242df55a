//! Gives every value of a variable a definition, and everything that memory holds a version, so that the reverse pass can
//! tell what is still there.

use std::rc::Rc;

use crate::program::*;

pub(crate) fn number(program: &mut Program) {
    let mut numbering = Numbering { program, next: 0, late: None };
    let mut versions = Versions::new();
    for id in numbering.program.parameters.clone().into_iter().flatten() {
        numbering.give(id, &mut versions);
    }
    numbering.block(BODY, versions);
}

impl Program {
    /// A definition of the variable that `definition` is one of, which is there in all of the variable's block: what a statement defines that
    /// may leave the block is there in the rest only.
    pub(crate) fn lasting(&self, definition: DefId) -> DefId {
        let Definition::Merged { variable, block } = self.definitions[definition] else { return definition };
        if block == self.variables[variable].block {
            return definition;
        }
        let of_variable = |definition: &Definition| {
            matches!(definition,
                Definition::Given { variable: id } | Definition::Computed { variable: id, .. }
                    | Definition::Merged { variable: id, .. } if *id == variable)
        };
        self.definitions.iter().position(of_variable).unwrap_or(definition)
    }
}

struct Numbering<'p> {
    program: &'p mut Program,
    next: usize,
    /// A block and its rest. What the statement in between defines is there in the rest only.
    late: Option<(BlockId, BlockId)>,
}

impl Numbering<'_> {
    fn define(&mut self, definition: Definition) -> DefId {
        self.program.definitions.push(definition);
        self.program.definitions.len() - 1
    }

    fn version(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// A parameter or index comes into scope.
    fn give(&mut self, id: VarId, versions: &mut Versions) {
        let version = match self.program.variables[id].memory {
            true => self.version(),
            false => self.define(Definition::Given { variable: id }),
        };
        versions.insert(id, version);
    }

    /// `id` holds something that can only be had by keeping it.
    fn merge(&mut self, id: VarId, block: BlockId, versions: &mut Versions, defines: &mut Vec<DefId>) {
        let version = if self.program.variables[id].memory {
            self.version()
        } else {
            let block = match self.late {
                Some((early, rest)) if early == block => rest,
                _ => block,
            };
            let def = self.define(Definition::Merged { variable: id, block });
            defines.push(def);
            def
        };
        versions.insert(id, version);
    }

    fn set(&mut self, id: VarId, expr: ExprId, at: &At, versions: &mut Versions, defines: &mut Vec<DefId>) {
        if self.program.variables[id].memory || !self.recomputable(expr) {
            return self.merge(id, at.block, versions, defines);
        }
        let def = self.define(Definition::Computed { variable: id, expr, at: at.clone() });
        defines.push(def);
        versions.insert(id, def);
    }

    fn recomputable(&self, expr: ExprId) -> bool {
        match &self.program.exprs[self.program.peel(expr)].kind {
            kind if kind.happens_once() => false,
            ExprKind::If { .. } | ExprKind::Block(_) => {
                self.program.blocks_of(self.program.peel(expr)).into_iter().all(|b| {
                    let block = &self.program.blocks[b];
                    let leaves = block.value.is_some_and(|value| self.program.leaves(value));
                    block.statements.is_empty() && !leaves && self.program.exits(b).is_empty()
                }) && !self.uses_up(expr)
            }
            _ => !self.uses_up(expr),
        }
    }

    /// A part of the value is a local of which nothing tells that it can be copied, as a text cannot: it is no longer there afterwards.
    fn uses_up(&self, expr: ExprId) -> bool {
        let moved = |part: ExprId| match &self.program.exprs[self.program.peel(part)].kind {
            ExprKind::Read(place) => {
                let variable = &self.program.variables[place.base];
                place.projections.is_empty()
                    && variable.origin == Origin::Local
                    && variable.kind == Kind::Unknown
                    && !variable.active
            }
            _ => self.uses_up(part),
        };
        match &self.program.exprs[self.program.peel(expr)].kind {
            ExprKind::Tuple(parts) => parts.iter().any(|part| moved(*part)),
            ExprKind::Struct(literal) => literal.fields.iter().any(|(_, part)| moved(*part)),
            ExprKind::Binary { left, right, .. } => moved(*left) && self.is_text(*right),
            ExprKind::If { .. } | ExprKind::Match(_) | ExprKind::Block(_) => {
                let blocks = self.program.blocks_of(self.program.peel(expr)).into_iter();
                blocks.filter_map(|block| self.program.blocks[block].value).any(moved)
            }
            _ => false,
        }
    }

    /// `"text"`, `&text`
    fn is_text(&self, expr: ExprId) -> bool {
        use syn::{Expr as Syn, Lit};
        match &self.program.exprs[expr].syntax {
            Syn::Lit(lit) => matches!(lit.lit, Lit::Str(_)),
            Syn::Reference(_) => true,
            _ => false,
        }
    }

    fn block(&mut self, id: BlockId, mut versions: Versions) -> Versions {
        let count = self.program.blocks[id].statements.len();
        let rest = self.program.blocks[id].value.and_then(|value| match self.program.exprs[value].kind {
            ExprKind::Rest(rest) => Some((id, rest)),
            _ => None,
        });
        for i in 0..count {
            let at = At { block: id, versions: Rc::new(versions.clone()) };
            let mut statement = std::mem::replace(
                &mut self.program.blocks[id].statements[i],
                Statement {
                    id: 0,
                    kind: StatementKind::Expr(0, true),
                    before: At::default(),
                    defines: Vec::new(),
                },
            );
            statement.before = at.clone();
            let outer = self.late;
            self.late = rest.filter(|_| i + 1 == count).or(outer);
            self.statement(&statement.kind, &at, &mut versions, &mut statement.defines);
            for id in self.program.moved_away(&statement.kind) {
                let version = self.version();
                versions.insert(id, version);
            }
            self.late = outer;
            self.program.blocks[id].statements[i] = statement;
        }
        self.program.blocks[id].tail = At { block: id, versions: Rc::new(versions.clone()) };
        if let Some(value) = self.program.blocks[id].value {
            self.effects(value, id, &mut versions, &mut Vec::new());
        }
        self.program.blocks[id].end = At { block: id, versions: Rc::new(versions.clone()) };
        versions
    }

    fn statement(
        &mut self,
        kind: &StatementKind,
        at: &At,
        versions: &mut Versions,
        defines: &mut Vec<DefId>,
    ) {
        match kind {
            StatementKind::Let(l) => {
                for index in l.aliases.iter().flat_map(|(_, place)| place.indices()) {
                    self.program.frozen.entry(index).or_insert_with(|| at.clone());
                }
                let Some(init) = l.init else { return };
                self.effects(init, at.block, versions, defines);
                let elements = match (&self.program.exprs[init].kind, l.tuple) {
                    (ExprKind::Tuple(elements), true) => Some(elements.clone()),
                    _ => None,
                };
                for (i, id) in l.variables.iter().enumerate() {
                    match (id, &elements) {
                        (Some(id), Some(elements)) => self.set(*id, elements[i], at, versions, defines),
                        (Some(id), None) if l.tuple => self.merge(*id, at.block, versions, defines),
                        (Some(id), None) => self.set(*id, init, at, versions, defines),
                        (None, _) => {}
                    }
                }
            }
            StatementKind::Assign(assign) => {
                self.effects(assign.value, at.block, versions, defines);
                self.set(assign.place.base, assign.result, at, versions, defines);
            }
            StatementKind::Expr(expr, _) => self.effects(*expr, at.block, versions, defines),
            StatementKind::For(f) => self.repeat(f.body, f.index, at.block, versions, defines),
            StatementKind::While(w) => self.repeat(w.body, None, at.block, versions, defines),
            StatementKind::Opaque(opaque) => {
                for id in self.program.disturbed(opaque).collect::<Vec<_>>() {
                    if versions.contains_key(&id) {
                        self.merge(id, at.block, versions, defines);
                    }
                }
            }
        }
    }

    fn repeat(
        &mut self,
        body: BlockId,
        index: Option<VarId>,
        block: BlockId,
        versions: &mut Versions,
        defines: &mut Vec<DefId>,
    ) {
        let written = self.program.written(body);
        let mut inner = versions.clone();
        self.enter(body, &written, &mut inner);
        if let Some(index) = index {
            self.give(index, &mut inner);
        }
        self.block(body, inner);
        for id in written {
            self.merge(id, block, versions, defines);
        }
    }

    /// What runs several times starts with what it has left of the variables that it writes to.
    fn enter(&mut self, body: BlockId, written: &[VarId], versions: &mut Versions) {
        // A variable without a value so far gets it each time before it is read.
        for &id in written.iter().filter(|id| versions.contains_key(id)).collect::<Vec<_>>() {
            let version = if self.program.variables[id].memory {
                self.version()
            } else {
                let def = self.define(Definition::Entry { variable: id, block: body });
                self.program.blocks[body].entries.push((id, def));
                def
            };
            versions.insert(id, version);
        }
    }

    /// The names in the pattern of an arm, or the parameters of a closure, come into scope.
    fn bind(&mut self, expr: ExprId, arm: usize, block: BlockId, versions: &mut Versions) {
        if let ExprKind::Callback(Callback::Closure { parameters, .. }) = &self.program.exprs[expr].kind {
            for id in parameters.clone().into_iter().flatten() {
                self.give(id, versions);
            }
        }
        let ExprKind::Match(m) = &self.program.exprs[expr].kind else { return };
        let (body, before) = (m.arms[arm].body, Rc::new(versions.clone()));
        let bindings: Vec<_> = m.arms[arm].bindings.iter().map(|b| (b.variable, b.read)).collect();
        for (variable, read) in bindings {
            let version = if self.program.variables[variable].memory {
                self.version()
            } else {
                let at = |block| At { block, versions: before.clone() };
                let def = self.define(match read {
                    Some(expr) => Definition::Computed { variable, expr, at: at(body) },
                    None => Definition::Bound { variable, expr, arm, at: at(block) },
                });
                self.program.blocks[body].entries.push((variable, def));
                def
            };
            versions.insert(variable, version);
        }
    }

    /// What evaluating `expr` does to variables.
    fn effects(&mut self, expr: ExprId, block: BlockId, versions: &mut Versions, defines: &mut Vec<DefId>) {
        for operand in self.program.operands(expr) {
            self.effects(operand, block, versions, defines);
        }
        if let ExprKind::Loop { body, .. } = self.program.exprs[expr].kind {
            return self.repeat(body, None, block, versions, defines);
        }
        if let ExprKind::Call { args, .. } | ExprKind::Mutation { args, .. } = &self.program.exprs[expr].kind
        {
            for arg in args.clone() {
                if let ExprKind::Borrow { place, unique: true } = &self.program.exprs[arg].kind {
                    self.merge(place.base, block, versions, defines);
                }
            }
        }
        let mut written = Vec::new();
        for (i, inner) in self.program.blocks_of(expr).into_iter().enumerate() {
            let of_inner = self.program.written(inner);
            let mut versions = versions.clone();
            if let ExprKind::Callback(_) = self.program.exprs[expr].kind {
                self.enter(inner, &of_inner, &mut versions);
            }
            written.extend(of_inner);
            self.bind(expr, i, block, &mut versions);
            self.block(inner, versions);
        }
        written.sort_unstable();
        written.dedup();
        for id in written {
            // A variable without a value so far gets it in every branch.
            self.merge(id, block, versions, defines);
        }
    }
}
