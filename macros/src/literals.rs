//! Literals of structs that own memory, where the reverse pass finds them: a statement of its own for one that is an argument, and with all
//! that changes written out instead of `..rest`.
//!
//! ```text
//! State { x, t: t + dt, ..state }    let t_1 = t + dt; let mut updated = state; updated.x = x; updated.t = t_1; updated
//! ```

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Member, Stmt, Type, parse_quote};

use crate::annotation::take_owner;
use crate::boxing::{MovedOn, Told, Unnamed};
use crate::functions::is_box;
use crate::mutation::owned_type;
use crate::ownership::Owners;
use crate::program::Program;
use crate::returned::constructs;
use crate::signature::type_name;

/// The body of a function with such literals in their places; `output` is what it returns.
pub(crate) fn in_place(owners: &Owners, output: &Type, body: &Block) -> Block {
    let mut body = body.clone();
    MovedOn.visit_block_mut(&mut body);
    Unnamed.visit_block_mut(&mut body);
    Told.visit_block_mut(&mut body);
    if owners.is_empty() {
        return body;
    }
    if owners.own(output) && !owned_type(output) {
        guards_to_branches(&mut body);
        returning_a_local(&mut body);
    }
    Literals { owners, output, before: Vec::new(), count: 0 }.visit_block_mut(&mut body);
    body
}

/// `if c { return a; } …; b` is `if c { a } else { …; b }`.
fn guards_to_branches(body: &mut Block) {
    let guard = |stmt: &Stmt| match stmt {
        Stmt::Expr(Expr::If(branch), _) if branch.else_branch.is_none() && branch.attrs.is_empty() => {
            matches!(branch.then_branch.stmts.last(), Some(Stmt::Expr(Expr::Return(jump), _)) if jump.expr.is_some())
        }
        _ => false,
    };
    let ends = matches!(body.stmts.last(), Some(Stmt::Expr(_, None)));
    let Some(i) = body.stmts.iter().position(guard).filter(|i| ends && i + 1 < body.stmts.len()) else {
        return;
    };
    let mut rest = Block { brace_token: body.brace_token, stmts: body.stmts.split_off(i + 1) };
    guards_to_branches(&mut rest);
    if let Some(Stmt::Expr(Expr::If(mut branch), _)) = body.stmts.pop() {
        if let Some(Stmt::Expr(Expr::Return(jump), _)) = branch.then_branch.stmts.pop() {
            branch.then_branch.stmts.extend(jump.expr.map(|value| Stmt::Expr(*value, None)));
        }
        branch.else_branch = Some((Default::default(), parse_quote!(#rest)));
        body.stmts.push(Stmt::Expr(Expr::If(branch), None));
    }
}

/// What several branches make is a local's.
fn returning_a_local(body: &mut Block) {
    let chooses = |stmt: &mut Stmt| matches!(stmt, Stmt::Expr(Expr::If(_) | Expr::Match(_), None));
    if let Some(Stmt::Expr(value, None)) = body.stmts.pop_if(chooses) {
        let returned = Program::fresh("returned");
        body.stmts.push(parse_quote!(let #returned = #value;));
        body.stmts.push(Stmt::Expr(parse_quote!(#returned), None));
    }
}

struct Literals<'o> {
    owners: &'o Owners,
    /// What the function returns.
    output: &'o Type,
    /// What is to stand before the statement.
    before: Vec<Stmt>,
    count: usize,
}

impl Literals<'_> {
    fn fresh(&mut self, name: &str) -> Ident {
        self.count += 1;
        Program::fresh(&format!("{name}_{}", self.count))
    }

    fn is_owner(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Struct(literal) if literal.path.get_ident().is_some_and(|name| self.owners.know(name)))
    }

    /// What a statement is about, or a block has as its value.
    fn root(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Assign(assign) => self.root(&mut assign.right),
            Expr::Return(syn::ExprReturn { expr: Some(value), .. })
            | Expr::Break(syn::ExprBreak { expr: Some(value), .. }) => self.root(value),
            Expr::Struct(literal) if literal.rest.is_some() => self.update(expr),
            expr => self.visit_expr_mut(expr),
        }
    }

    /// `Type { field, ..rest }`
    fn update(&mut self, expr: &mut Expr) {
        let owner = self.is_owner(expr);
        let Expr::Struct(literal) = expr else { return };
        let Some(rest) = literal.rest.clone().filter(|_| owner) else { return };
        let changes = self.changes(literal);
        let (updated, path) = (self.fresh("updated"), &literal.path);
        // The path of a literal leaves generic arguments out.
        let ty: Type = match path.get_ident() {
            Some(name) if type_name(self.output) == *name => self.output.clone(),
            _ => parse_quote!(#path),
        };
        // Of what is behind a reference only fields are taken that can be copied, which a clone has as well.
        let rest = match &*rest {
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                let whole = &unary.expr;
                parse_quote!(#whole.clone())
            }
            rest => rest.clone(),
        };
        self.before.push(parse_quote!(let mut #updated: #ty = #rest;));
        self.change(&parse_quote!(#updated), changes);
        *expr = parse_quote!(#updated);
    }

    /// `state = Type { field, ..state };`, which changes the fields where they are.
    fn updates_itself(&mut self, stmt: &mut Stmt) -> bool {
        let Stmt::Expr(Expr::Assign(assign), _) = stmt else { return false };
        let (left, owner) = (assign.left.clone(), self.is_owner(&assign.right));
        let Expr::Struct(literal) = &mut *assign.right else { return false };
        let itself = literal.rest.as_deref().and_then(name).is_some_and(|rest| Some(rest) == name(&left));
        if !owner || !itself {
            return false;
        }
        let changes = self.changes(literal);
        self.change(&left, changes);
        true
    }

    /// The values of the fields that are written out, before the rest is moved, of which they may be made.
    fn changes(&mut self, literal: &mut syn::ExprStruct) -> Vec<(Member, Expr)> {
        let mut changes = Vec::new();
        for field in &mut literal.fields {
            self.visit_expr_mut(&mut field.expr);
            let mut value = field.expr.clone();
            if !matches!(value, Expr::Path(_) | Expr::Lit(_)) {
                let name = self.fresh(&match &field.member {
                    Member::Named(name) => name.to_string(),
                    Member::Unnamed(index) => format!("field_{}", index.index),
                });
                self.before.push(parse_quote!(let #name = #value;));
                value = parse_quote!(#name);
            }
            changes.push((field.member.clone(), value));
        }
        changes
    }

    fn change(&mut self, whole: &Expr, changes: Vec<(Member, Expr)>) {
        let assigned = changes.into_iter().map(|(member, value)| parse_quote!(#whole.#member = #value;));
        self.before.extend::<Vec<_>>(assigned.collect());
    }

    fn argument(&mut self, arg: &mut Expr) {
        if !self.is_owner(arg) {
            return;
        }
        self.update(arg);
        if self.is_owner(arg) {
            let name = self.fresh("argument");
            self.before.push(parse_quote!(let #name = #arg;));
            *arg = parse_quote!(#name);
        }
    }
}

impl VisitMut for Literals<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let outer = std::mem::take(&mut self.before);
        let mut statements = Vec::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            let done = self.updates_itself(&mut stmt);
            match &mut stmt {
                Stmt::Local(local) => {
                    take_owner(local);
                    if let Some(init) = local.init.as_mut().filter(|init| init.diverge.is_none()) {
                        self.root(&mut init.expr);
                    }
                }
                Stmt::Expr(expr, _) if !done => self.root(expr),
                _ => {}
            }
            statements.append(&mut self.before);
            statements.extend((!done).then_some(stmt));
        }
        block.stmts = statements;
        self.before = outer;
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            // Evaluated only under a condition, or by others.
            Expr::Closure(_) | Expr::Macro(_) => return,
            Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) => return,
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        match expr {
            // In a box it is by itself.
            Expr::Call(call) if is_box(&call.func) && !call.args.first().is_some_and(updates) => {}
            Expr::Call(call) if !constructs(call) => call.args.iter_mut().for_each(|arg| self.argument(arg)),
            Expr::MethodCall(call) if call.method != "push" => {
                call.args.iter_mut().for_each(|arg| self.argument(arg));
            }
            _ => {}
        }
    }
    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        // What the value of an arm needs stands in the arm.
        let outer = std::mem::take(&mut self.before);
        self.root(&mut arm.body);
        let before = std::mem::replace(&mut self.before, outer);
        if !before.is_empty() {
            let value = &arm.body;
            *arm.body = parse_quote!({ #(#before)* #value });
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// `Type { field, ..rest }`
fn updates(expr: &Expr) -> bool {
    matches!(expr, Expr::Struct(literal) if literal.rest.is_some())
}

/// The variable that an expression is.
fn name(expr: &Expr) -> Option<&Ident> {
    let Expr::Path(path) = expr else { return None };
    path.path.get_ident()
}
