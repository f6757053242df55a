//! Which variables and expressions carry a gradient.

use crate::calls::Callee;
use crate::errors::Errors;
use crate::kind::inert;
use crate::methods;
use crate::mutation::report_moves;
use crate::parse::ERROR;
use crate::program::*;

/// Marks what is active: parameters that are not constant, and whatever is computed from active values, unless its type
/// carries no gradient. Reports active values in code that is not understood.
pub(crate) fn analyse(program: &mut Program, errors: &mut Errors) {
    for variable in &mut program.variables {
        let parameter =
            matches!(variable.origin, Origin::Value | Origin::Shared | Origin::Unique | Origin::Function);
        variable.active = parameter && !variable.passed && !variable.constant && !inert(&variable.kind);
    }
    spread(program);
    report(program, errors);
}

/// Marks what is computed from active variables.
pub(crate) fn spread(program: &mut Program) {
    while propagate(program) {}
    settle_numbers(program);
    while methods::resolve(program) {
        while propagate(program) {}
    }
    settle_inert(program);
    settle_made(program);
}

/// What a number is added to is one, as in `let mut u = f(x); u -= y;`, though the call does not tell: its gradient has a type before
/// any operator is applied to it. Where the number has no gradient the operator may be a user's.
fn settle_numbers(program: &mut Program) {
    let mut numbers = Vec::new();
    for statement in program.blocks.iter().flat_map(|block| &block.statements) {
        if let StatementKind::Assign(Assign { place, op: Some(_), value, result, .. }) = &statement.kind
            && place.projections.is_empty()
            && program.variables[place.base].kind == Kind::Unknown
            && program.exprs[*value].active
            && program.kind_of(*result) == Kind::Float
        {
            numbers.push(place.base);
        }
    }
    for id in numbers {
        let variable = &mut program.variables[id];
        (variable.kind, variable.zero) = (Kind::Float, Some(Zero::Scalar));
    }
}

/// A new array without gradient of its own, to which gradients come: its memory is the rule's.
fn settle_made(program: &mut Program) {
    let mut made = Vec::new();
    for statement in program.blocks.iter().flat_map(|block| &block.statements) {
        if let StatementKind::Let(Let { variables, init: Some(init), .. }) = &statement.kind
            && let [Some(id)] = variables[..]
            && program.variables[id].active
            && program.is_made(*init)
        {
            made.push(*init);
        }
    }
    for expr in made {
        program.exprs[expr].active = true;
    }
}

/// One round; tells whether anything changed.
fn propagate(program: &mut Program) -> bool {
    let mut changed = false;
    for expr in 0..program.exprs.len() {
        let active = is_active(program, expr);
        changed |= active != program.exprs[expr].active;
        program.exprs[expr].active = active;
    }
    let mut reached = Vec::new();
    for block in &program.blocks {
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Let(Let { variables, tuple, init: Some(init), .. }) => {
                    match (&program.exprs[*init].kind, tuple) {
                        (ExprKind::Tuple(elements), true) => {
                            for (variable, element) in variables.iter().zip(elements) {
                                if program.exprs[*element].active {
                                    reached.extend(*variable);
                                }
                            }
                        }
                        _ if program.carries(*init) => reached.extend(variables.iter().flatten()),
                        _ => {}
                    }
                }
                StatementKind::Assign(assign) if program.carries(assign.value) => {
                    reached.push(assign.place.base)
                }
                _ => {}
            }
            // What becomes a part of an active struct comes back with a gradient.
            let (targets, value) = match &statement.kind {
                StatementKind::Let(Let { variables, init: Some(init), .. }) => (variables.clone(), *init),
                StatementKind::Assign(assign) => (vec![Some(assign.place.base)], assign.value),
                _ => continue,
            };
            if targets.iter().flatten().any(|id| program.variables[*id].active) {
                reached.extend(
                    program
                        .moved_in(value)
                        .into_iter()
                        .filter(|(e, _)| program.peel(*e) != program.peel(value))
                        .map(|(_, id)| id),
                );
            }
        }
    }
    for expr in program.exprs.iter().filter(|e| e.active) {
        if let ExprKind::Call { args, .. } | ExprKind::Mutation { args, .. } = &expr.kind {
            for arg in args {
                if let ExprKind::Borrow { place, unique: true } = &program.exprs[*arg].kind {
                    reached.push(place.base);
                }
                if let ExprKind::Callback(Callback::Closure { parameters, .. }) = &program.exprs[*arg].kind {
                    reached.extend(parameters.iter().flatten());
                }
            }
        }
    }
    for expr in &program.exprs {
        if let ExprKind::Match(m) = &expr.kind
            && program.exprs[m.scrutinee].active
        {
            reached.extend(m.arms.iter().flat_map(|arm| &arm.bindings).map(|binding| binding.variable));
        }
    }
    for id in reached {
        let variable = &mut program.variables[id];
        if !variable.active && !variable.constant && !inert(&variable.kind) {
            variable.active = true;
            changed = true;
        }
    }
    changed
}

fn is_active(program: &Program, expr: ExprId) -> bool {
    match &program.exprs[expr].kind {
        ExprKind::Constant(_) => false,
        _ if program.unused.contains(&expr) => false,
        _ if program.makes_room(&program.exprs[expr]).is_some() => false,
        ExprKind::Read(place) | ExprKind::Borrow { place, .. } => {
            program.variables[place.base].active && !inert(&program.kind_of_place(place))
        }
        ExprKind::If { .. }
        | ExprKind::Match(_)
        | ExprKind::Block(_)
        | ExprKind::Loop { .. }
        | ExprKind::Rest(_) => {
            program.blocks_of(expr).into_iter().any(|block| block_is_active(program, block))
        }
        ExprKind::Callback(callback) => program.callback_is_active(callback),
        ExprKind::Call { function: Callee::Parameter(id, _), .. } => program.variables[*id].active,
        _ => program.operands(expr).iter().any(|e| program.exprs[*e].active),
    }
}

/// Something in the block has to be undone or carries a gradient.
fn block_is_active(program: &Program, block: BlockId) -> bool {
    let block = &program.blocks[block];
    block.value.is_some_and(|value| program.exprs[value].active)
        || block.statements.iter().any(|statement| match &statement.kind {
            StatementKind::Let(l) => l.init.is_some_and(|init| program.exprs[init].active),
            StatementKind::Assign(assign) => {
                program.variables[assign.place.base].active
                    || program.variables[assign.place.base].memory
                    || program.exprs[assign.value].active
            }
            StatementKind::Expr(expr, _) => program.exprs[*expr].active,
            StatementKind::For(f) => block_is_active(program, f.body),
            StatementKind::While(w) => block_is_active(program, w.body),
            StatementKind::Opaque(_) => false,
        })
}

/// A call whose result carries no gradient, and which writes nothing active, stays as it is: it needs no rule.
fn settle_inert(program: &mut Program) {
    let mut inactive = Vec::new();
    for block in &program.blocks {
        for statement in &block.statements {
            let (targets, value) = match &statement.kind {
                StatementKind::Let(Let { variables, init: Some(init), .. }) => (variables.clone(), *init),
                StatementKind::Assign(assign) => (vec![Some(assign.place.base)], assign.value),
                _ => continue,
            };
            let inert = |v: &VarId| inert(&program.variables[*v].kind);
            if targets.iter().flatten().count() == 0 || !targets.iter().flatten().all(inert) {
                continue;
            }
            let writes = |e: &ExprId| {
                matches!(program.exprs[*e].kind, ExprKind::Borrow { unique: true, .. })
                    || program
                        .blocks_of(*e)
                        .into_iter()
                        .any(|b| !program.written(b).is_empty() || !program.exits(b).is_empty())
            };
            let calls = |e: &ExprId| {
                let blocks = program.blocks_of(*e).into_iter().flat_map(|b| program.nested(b));
                let mut inner = blocks.flat_map(|b| program.roots(b)).flat_map(|root| program.tree(root));
                program.call_changes_something(*e) || inner.any(|e| program.call_changes_something(e))
            };
            if !program.tree(value).iter().any(|e| writes(e) || calls(e)) {
                inactive.push(value);
            }
        }
    }
    for expr in inactive {
        program.exprs[expr].active = false;
    }
}

fn report(program: &Program, errors: &mut Errors) {
    crate::exits::report(program, errors);
    crate::in_turn::report(program, errors);
    crate::lending::report(program, errors);
    crate::references::report(program, errors);
    let active = |mentions: &[VarId]| {
        mentions.iter().map(|v| &program.variables[*v]).find(|v| v.active).map(Variable::as_called)
    };
    for expr in &program.exprs {
        if let ExprKind::Constant(Constant { reads, why: Some(why), .. }) = &expr.kind
            // Errors are looked at by themselves.
            && why != ERROR
            && let Some(name) = active(reads)
        {
            errors.push(&expr.syntax, format!("{why}\n(`{name}` carries a gradient)"));
        }
        if let ExprKind::Struct(literal) = &expr.kind {
            for (_, value) in &literal.fields {
                let value = &program.exprs[*value];
                if value.active && matches!(value.kind, ExprKind::Borrow { .. }) {
                    errors.push(
                        &value.syntax,
                        "a struct that borrows active values is not differentiable within a function: make it outside, or \
                         pass the parts on by themselves",
                    );
                }
            }
        }
    }
    for expr in &program.exprs {
        let ExprKind::Match(m) = &expr.kind else { continue };
        for arm in m.arms.iter().filter(|_| program.exprs[m.scrutinee].active) {
            let unknown = |b: &&Binding| b.part.is_none() && program.variables[b.variable].active;
            if let Some(binding) = arm.bindings.iter().find(unknown) {
                let name = &program.variables[binding.variable].name;
                errors.push(
                    &arm.pattern,
                    format!(
                        "`{name}` is a part of this pattern that cannot be differentiated: tuples, arrays, references, structs, \
                         enums, `Some` and `Ok` can, in front of `..`: name all parts of a tuple, `let (_, last) = f(x);`, or give it its type"
                    ),
                );
            }
        }
    }
    for block in &program.blocks {
        for statement in &block.statements {
            if let StatementKind::Opaque(Opaque { syntax, reads, why: Some(why), .. }) = &statement.kind
                && let Some(name) = active(reads)
            {
                errors.push(syntax, format!("{why}\n(`{name}` carries a gradient)"));
            }
        }
    }
    report_moves(program, errors);
    // Elsewhere the order of evaluation would matter.
    for block in &program.blocks {
        for statement in &block.statements {
            let root = match &statement.kind {
                StatementKind::Let(l) => l.init,
                StatementKind::Assign(a) => Some(a.value),
                StatementKind::Expr(e, _) => Some(*e),
                _ => None,
            };
            root.into_iter().for_each(|root| report_nested_writes(program, root, errors));
            if let StatementKind::Assign(assign) = &statement.kind {
                report_order(program, assign, errors);
                report_lost(program, assign, errors);
            }
        }
        block.value.into_iter().for_each(|value| report_nested_writes(program, value, errors));
    }
}

/// What is written to a constant has no gradient from then on.
fn report_lost(program: &Program, assign: &Assign, errors: &mut Errors) {
    let variable = &program.variables[assign.place.base];
    if variable.constant
        && program.exprs[assign.value].active
        && !inert(&program.kind_of_place(&assign.place))
    {
        errors.push(
            &assign.syntax,
            "what is written to a `#[constant]` parameter, or to a variable that starts as `constant(…)`, loses its gradient: leave \
             that out, or put `constant(…)` around the value",
        );
    }
}

/// The right-hand side is evaluated first, and might change what the left-hand side refers to.
fn report_order(program: &Program, assign: &Assign, errors: &mut Errors) {
    let mut written = Vec::new();
    for expr in program.tree(assign.value) {
        written.extend(program.blocks_of(expr).into_iter().flat_map(|b| program.written(b)));
        if let ExprKind::Borrow { place, unique: true } = &program.exprs[expr].kind {
            written.push(place.base);
        }
    }
    let index = |id: &VarId| {
        assign.place.indices().flat_map(|i| program.tree(i)).any(|e| match &program.exprs[e].kind {
            ExprKind::Read(place) => place.base == *id,
            ExprKind::Constant(constant) => constant.mentions.contains(id),
            _ => false,
        })
    };
    let calls = matches!(program.exprs[program.peel(assign.value)].kind, ExprKind::Call { .. });
    let itself = |id: &VarId| *id == assign.place.base && (assign.op.is_some() || !calls);
    if written.iter().any(|id| index(id) || itself(id) && program.variables[*id].active) {
        errors.push(
            &assign.syntax,
            "this writes twice to the same variable, or to an index on the left: bind the right-hand side with `let` first",
        );
    }
}

fn report_nested_writes(program: &Program, root: ExprId, errors: &mut Errors) {
    fn nested(program: &Program, expr: ExprId, errors: &mut Errors) {
        if let (ExprKind::Call { args, .. } | ExprKind::Mutation { args, .. }, true) =
            (&program.exprs[expr].kind, program.exprs[expr].active)
        {
            let writes =
                args.iter().any(|a| matches!(program.exprs[*a].kind, ExprKind::Borrow { unique: true, .. }));
            if !writes && program.call_changes_something(expr) {
                errors.push(
                    &program.exprs[expr].syntax,
                    "a call of what may change something besides its arguments stands alone in its statement: bind its result with `let` first",
                );
            }
            if writes {
                errors.push(
                    &program.exprs[expr].syntax,
                    "a call that takes `&mut` stands alone in its statement: bind its result with `let` first (or \
                     pass `&*` of the reference, if the call only reads)",
                );
            }
        }
        if let ExprKind::Callback(_) = program.exprs[expr].kind {
            return;
        }
        if program.blocks_of(expr).into_iter().any(|b| !program.written(b).is_empty()) {
            errors.push(
                &program.exprs[expr].syntax,
                "a block that assigns to variables from outside is not differentiable within an expression: bind its \
                 value with `let` first",
            );
        }
        for operand in program.operands(expr) {
            nested(program, operand, errors);
        }
    }
    let root = program.peel(root);
    for operand in program.operands(root) {
        match program.standing_in(root) == Some(operand) {
            true => report_nested_writes(program, operand, errors),
            false => nested(program, operand, errors),
        }
    }
}
