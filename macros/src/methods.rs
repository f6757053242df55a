//! Methods of users' types: calls of active values that are no numbers, as far as the syntax tells.

use crate::calls::Callee;
use crate::kind::numeric_call;
use crate::operands::is_deref;
use crate::program::*;
use crate::unmarked::Access;

/// Turns such calls into calls of rules. Tells whether there were any.
pub(crate) fn resolve(program: &mut Program) -> bool {
    let mut found = Vec::new();
    for block in 0..program.blocks.len() {
        let standing = standing(program, block);
        for root in program.roots(block) {
            for expr in program.tree(root) {
                if is_call(program, expr) {
                    let reads = program.reads_only(block, expr);
                    found.push((expr, standing.contains(&expr) && !reads));
                }
            }
        }
    }
    for &(expr, writes) in &found {
        resolve_call(program, expr, writes);
    }
    if !found.is_empty() {
        program.name_variables();
    }
    !found.is_empty()
}

/// The expressions of a block that may write: they are evaluated by themselves.
fn standing(program: &Program, block: BlockId) -> Vec<ExprId> {
    let block = &program.blocks[block];
    let statements = block.statements.iter().filter_map(|s| match &s.kind {
        StatementKind::Let(l) => l.init,
        StatementKind::Assign(a) => Some(a.value),
        StatementKind::Expr(e, _) => Some(*e),
        _ => None,
    });
    let inner = |e: &ExprId| program.standing_in(*e);
    let taken = |e: ExprId| program.peel(std::iter::successors(Some(e), inner).last().unwrap_or(e));
    statements.chain(block.value).map(taken).collect()
}

/// A method of `Option` and `Result`, whose rule comes with ours.
pub(crate) fn unwraps(name: &str) -> bool {
    ["unwrap", "expect", "unwrap_or", "unwrap_or_default", "maybe"].contains(&name)
}

/// The methods of `Option` and `Result` that leave the value as it is.
const PASSING: [&str; 7] = ["unwrap", "expect", "maybe", "ok", "ok_or", "ok_or_else", "map_err"];

/// One of these: `f(x).unwrap()`
pub(crate) fn passes(name: &str) -> bool {
    PASSING.contains(&name)
}

/// One of these whose value is one of them as well: `f(x).ok_or(error)`
pub(crate) fn converts_outcome(name: &str) -> bool {
    passes(name) && !unwraps(name)
}

/// A method of `Option` and `Result`, as its name tells.
pub(crate) fn of_option(name: &syn::Ident) -> bool {
    unwraps(&name.to_string()) || PASSING.iter().any(|known| name == known)
}

impl Program {
    /// What stands alone if `expr` does: the call in `f(x)?`, `return f(x)`, `f(x).unwrap()` and `f(x).ok_or(error)`.
    pub(crate) fn standing_in(&self, expr: ExprId) -> Option<ExprId> {
        match &self.exprs[self.peel(expr)].kind {
            ExprKind::Exit { value, .. } => *value,
            ExprKind::Try(part) | ExprKind::Split(part) => Some(*part),
            ExprKind::Method { receiver, name, .. } if passes(&name.to_string()) => Some(*receiver),
            _ => None,
        }
    }

    /// The method is one of nalgebra's that read, as its name and its result tell: where nobody looks at that, it is another one.
    fn reads_only(&self, block: BlockId, expr: ExprId) -> bool {
        let ExprKind::Method { name, .. } = &self.exprs[expr].kind else { return false };
        let dropped = |s: &Statement| matches!(s.kind, StatementKind::Expr(e, true) if self.peel(e) == expr);
        crate::matrices::reads(name) && !self.blocks[block].statements.iter().any(dropped)
    }

    /// `f(x).unwrap()`, `f(x).ok_or(error)` and the like: the gradient is that of what the call has returned.
    pub(crate) fn passes_on(&self, receiver: ExprId, name: &syn::Ident) -> bool {
        let passing = |name: &syn::Ident| PASSING.iter().any(|known| name == known);
        passing(name)
            && match &self.exprs[self.peel(receiver)].kind {
                ExprKind::Call { .. } | ExprKind::Try(_) => true,
                ExprKind::Read(place) => place.projections.is_empty() && converts_outcome(&name.to_string()),
                ExprKind::Method { receiver, name, args } => {
                    let name_of_ours =
                        numeric_call(&name.to_string(), args.len()) || unwraps(&name.to_string());
                    !name_of_ours || self.passes_on(*receiver, name)
                }
                _ => false,
            }
    }
}

/// A method of an active value that has its rule by its type.
fn is_call(program: &Program, expr: ExprId) -> bool {
    let node = &program.exprs[expr];
    match &node.kind {
        ExprKind::Method { receiver, name, args } => {
            node.active
                && !numeric_call(&name.to_string(), args.len())
                && !unwraps(&name.to_string())
                && !program.passes_on(*receiver, name)
                && program.kind_of(*receiver) != Kind::Float
                && matches!(node.syntax, syn::Expr::MethodCall(_))
        }
        _ => false,
    }
}

/// `writes`: the receiver may be written to.
fn resolve_call(program: &mut Program, expr: ExprId, writes: bool) {
    let (ExprKind::Method { receiver, name, args }, syn::Expr::MethodCall(syntax)) =
        (&program.exprs[expr].kind, &program.exprs[expr].syntax)
    else {
        unreachable!("selected above")
    };
    let (receiver, args) = (program.peel(*receiver), args.clone());
    let turbofish = syntax.turbofish.as_ref();
    let mut callee = match program.may_be_unmarked(receiver, &args, turbofish) {
        true => Callee::OfPart(name.clone(), Access::Reads),
        false => Callee::Method(name.clone(), turbofish.cloned()),
    };
    let syntax = &mut program.exprs[receiver].syntax;
    if is_deref(syntax) {
        // `(*r).method()`
        *syntax = syn::parse_quote!((#syntax));
    }
    for &arg in &args {
        // A variable that is itself a reference is borrowed anew.
        if let Expr { kind: ExprKind::Read(place), syntax, .. } = &program.exprs[arg]
            && place.projections.is_empty()
            && (program.variables[place.base].by_reference()
                || program.variables[place.base].refers && !is_deref(syntax))
        {
            let unique = program.variables[place.base].origin == Origin::Unique;
            program.exprs[arg].kind = ExprKind::Borrow { place: place.clone(), unique };
        }
    }
    match &program.exprs[receiver].kind {
        ExprKind::Read(place) => {
            let place = place.clone();
            let variable = &mut program.variables[place.base];
            // A `mut` variable may be written to; that it is not does no harm.
            let unique = writes && variable.mutable && !variable.constant;
            variable.memory |= unique;
            let (local, whole) = (variable.origin == Origin::Local, place.projections.is_empty());
            if local && whole && variable.kind == Kind::Unknown {
                // The method may take it by value.
                program.taken.insert(receiver);
            }
            program.exprs[receiver].kind = ExprKind::Borrow { place, unique };
            if let (Callee::OfPart(_, access), true) = (&mut callee, unique) {
                *access = Access::Writes;
            }
            program.exprs[expr].kind = call(callee, receiver, args);
        }
        ExprKind::Borrow { .. } => program.exprs[expr].kind = call(callee, receiver, args),
        _ => bind_receiver(program, expr, callee, receiver, args),
    }
}

fn call(function: Callee, receiver: ExprId, args: Vec<ExprId>) -> ExprKind {
    ExprKind::Call { function, args: std::iter::once(receiver).chain(args).collect() }
}

/// `f(x).norm()` is `{ let receiver = f(x); receiver.norm() }`.
fn bind_receiver(program: &mut Program, expr: ExprId, callee: Callee, receiver: ExprId, args: Vec<ExprId>) {
    let (bound, block) = program.bind_operand(expr, receiver, "receiver");
    let ExprKind::Read(place) = &program.exprs[bound].kind else { unreachable!("just bound") };
    program.exprs[bound].kind = ExprKind::Borrow { place: place.clone(), unique: false };
    program.taken.insert(bound);
    let inner = program.blocks[block].value.expect("the value of `expr`");
    program.exprs[inner].kind = call(callee, bound, args);
}

impl Program {
    /// Makes `{ let name = operand; … }` of an expression, and returns the variable, as an expression, and the block. The value of that is
    /// yet to be made: for now it is nothing.
    pub(crate) fn bind_operand(&mut self, expr: ExprId, operand: ExprId, name: &str) -> (ExprId, BlockId) {
        let (name, block) = (Program::fresh(name), self.blocks.len());
        self.blocks.push(Block::default());
        let variable = self.variables.len();
        let kind = self.kind_of(operand);
        self.variables.push(Variable { kind, ..Variable::local(name.clone(), block, variable) });
        self.results.insert(variable);
        let init = self.exprs[operand].syntax.clone();
        let local: syn::Stmt = syn::parse_quote!(let #name = #init;);
        let syn::Stmt::Local(syntax) = local else { unreachable!("a `let`") };
        let id = self.statements;
        self.statements += 1;
        let kind = StatementKind::Let(Let {
            syntax,
            variables: vec![Some(variable)],
            tuple: false,
            init: Some(operand),
            aliases: Vec::new(),
        });
        let statement = Statement { id, kind, before: At::default(), defines: Vec::new() };
        self.blocks[block].statements.push(statement);
        let place = Place { base: variable, projections: Vec::new() };
        let (span, active, syntax) =
            (self.exprs[expr].span, self.exprs[expr].active, self.exprs[expr].syntax.clone());
        let mut add = |kind: ExprKind, active: bool, syntax: syn::Expr| {
            self.exprs.push(Expr { kind, syntax, active, span });
            self.exprs.len() - 1
        };
        let bound = add(ExprKind::Read(place), true, syn::parse_quote!(#name));
        let inner = add(ExprKind::Paren(bound), active, syntax);
        // As written it would be evaluated twice.
        self.rewritten.insert(inner);
        self.blocks[block].value = Some(inner);
        self.exprs[expr].kind = ExprKind::Block(block);
        (bound, block)
    }
}
