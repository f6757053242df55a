//! Operands that have to stand alone: calls that write, since a statement is undone as a whole, and values of which a part is taken.
//! `draw(x, &mut rng) + (a * b).im` becomes `let part = draw(x, &mut rng); let part_2 = a * b; part + part_2.im`.

use std::collections::VecDeque;

use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Ident, Stmt, UnOp, parse_quote};

use crate::boxing::takes_own_box;
use crate::calls::is_associated;
use crate::contents::splits;
use crate::escape::acts;
use crate::kind::numeric_method;
use crate::methods::{passes, unwraps};
use crate::normal::has_let;
use crate::options::exchanges_field;
use crate::parse::{Binding, Parser, assign_op};
use crate::program::{Kind, Origin, VarId};
use crate::rename::Occurrences;
use crate::suspects::base;

impl Parser<'_> {
    /// The statements that do what `stmt` does, if such an operand is in it.
    pub(crate) fn apart(&mut self, stmt: &Stmt) -> Option<VecDeque<Stmt>> {
        let (original, mut stmt) = (stmt, stmt.clone());
        let root = value_of(&mut stmt)?;
        let root = match root {
            Expr::Return(jump) => &mut **jump.expr.as_mut()?,
            Expr::If(branch) if !has_let(&branch.cond) => &mut *branch.cond,
            Expr::Match(m) => &mut *m.expr,
            Expr::Call(call) if splits(&call.func) => &mut call.args[0],
            root => root,
        };
        if !self.suspects.any(&*root) || !self.stands_within(root) || self.mentions_matrices(root) {
            return None;
        }
        if Found::within(self, root).calls == 1 && takes_own_box(original) {
            return None;
        }
        let mut apart = Apart { parser: self, before: VecDeque::new(), later: false, written: Vec::new() };
        apart.root(root);
        let mut statements = apart.before;
        if statements.is_empty() {
            return None;
        }
        statements.push_back(stmt);
        Some(statements)
    }

    /// Next to matrices on the heap a name without a type could be one of these.
    fn mentions_matrices(&self, root: &Expr) -> bool {
        let mentions = self.mentions(quote::ToTokens::to_token_stream(root));
        mentions.into_iter().any(|id| matches!(self.program.variables[id].kind, Kind::Matrix(_)))
    }

    /// A call that is given something to write to.
    fn is_writing(&self, expr: &Expr) -> bool {
        let args = match expr {
            expr if taken_out(expr).is_some() => return true,
            Expr::Call(call) if is_whole(call) => return false,
            Expr::Call(call) => &call.args,
            // One more array that a loop goes over.
            Expr::MethodCall(call)
                if ["and", "and_broadcast", "zip"].iter().any(|name| call.method == name) =>
            {
                return false;
            }
            Expr::MethodCall(call) if self.writes_to_receiver(call).is_some() => return true,
            Expr::MethodCall(call) if self.goes_with_call(call) || exchanges_field(call) => return true,
            Expr::MethodCall(call) => &call.args,
            Expr::Match(m) if self.named_halves(&m.expr).is_some() => return true,
            Expr::If(_) | Expr::Match(_) => return self.chooses_reference(expr),
            _ => return false,
        };
        args.iter().any(|arg| self.written_by(arg).is_some())
    }

    /// `f(&mut x).ok_or(error)`, `f(&mut x).unwrap()` and the like: what is made of the outcome of a call that writes.
    fn goes_with_call(&self, call: &syn::ExprMethodCall) -> bool {
        passes(&call.method.to_string())
            && taken_out(&call.receiver).is_none()
            && self.is_writing(&call.receiver)
    }

    /// The receiver, if the call is one of a user's method that may take `&mut self`.
    fn writes_to_receiver<'a>(&self, call: &'a syn::ExprMethodCall) -> Option<&'a Ident> {
        let Expr::Path(path) = &*call.receiver else { return None };
        let receiver = path.path.get_ident()?;
        let Some(Binding::Variable(id)) = self.lookup(receiver) else { return None };
        let (variable, beside) = (&self.program.variables[*id], receiver == "self_");
        let of_user = beside || self.holds_user_type(*id);
        let changes =
            variable.origin == Origin::Unique || variable.origin == Origin::Local && variable.mutable;
        // Collections of the standard library have these, and what looks like that hardly writes.
        const LOOKING: &[&str] = &["iter", "keys", "peek", "values"];
        let reads = beside && self.reading.contains(&call.method)
            || LOOKING.iter().any(|name| call.method == name)
            || numeric_method(&call.method.to_string())
            || self.selects_within(call).is_some();
        (of_user && changes && !reads).then_some(receiver)
    }

    /// Some method of the user's that is called in `expr` may take `&mut self`.
    pub(crate) fn writes_by_method(&self, expr: &Expr) -> bool {
        struct Writing<'p, 'e>(&'p Parser<'e>, bool);
        impl<'ast> Visit<'ast> for Writing<'_, '_> {
            fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
                self.1 |= self.0.writes_to_receiver(call).is_some();
                visit::visit_expr_method_call(self, call);
            }
        }
        let mut writing = Writing(self, false);
        writing.visit_expr(expr);
        writing.1
    }

    fn holds_user_type(&self, id: VarId) -> bool {
        self.program.variables[id].of_user || self.constructed.contains(&id)
    }

    /// `Filter::new(x)`, or a clone of what is of a user's type.
    pub(crate) fn constructs(&self, init: &Expr) -> bool {
        match init {
            Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if is_associated(path)),
            Expr::MethodCall(call) if call.method == "clone" => {
                let Expr::Path(path) = &*call.receiver else { return false };
                let whole = path.path.get_ident().and_then(|name| self.lookup(name));
                matches!(whole, Some(Binding::Variable(id)) if self.holds_user_type(*id))
            }
            _ => false,
        }
    }

    /// The variable that a call may write to which has `arg`.
    fn written_by<'a>(&self, arg: &'a Expr) -> Option<&'a Ident> {
        match arg {
            Expr::Reference(reference) if reference.mutability.is_some() => base(&reference.expr),
            Expr::Path(path) => path.path.get_ident().filter(|name| self.is_unique(name)),
            _ => None,
        }
    }

    /// Such an operand is in `root`.
    fn stands_within(&self, root: &Expr) -> bool {
        let found = Found::within(self, root);
        found.parted || found.calls > usize::from(self.is_writing(peeled(root)))
    }
}

/// What a statement evaluates first.
pub(crate) fn value_of(stmt: &mut Stmt) -> Option<&mut Expr> {
    let changes = matches!(&*stmt, Stmt::Expr(Expr::Binary(binary), _) if assign_op(&binary.op).is_some());
    if changes {
        let Stmt::Expr(Expr::Binary(binary), _) = stmt else { return None };
        return Some(&mut binary.right);
    }
    match stmt {
        Stmt::Local(local) => {
            let init = local.init.as_mut().filter(|init| init.diverge.is_none())?;
            Some(&mut init.expr)
        }
        Stmt::Expr(Expr::Assign(assign), _) => Some(&mut assign.right),
        Stmt::Expr(expr, _) => Some(expr),
        _ => None,
    }
}

/// `constant(…)` and `checkpoint(…)`, in which everything stays as it is, and what a loop over several arrays begins with.
pub(crate) fn is_whole(call: &syn::ExprCall) -> bool {
    let Expr::Path(path) = &*call.func else { return false };
    let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let (last, of) = (names.next(), names.next());
    let whole = ["constant", "checkpoint", "zip"];
    last.is_some_and(|last| whole.contains(&&*last)) || of.is_some_and(|of| of == "Zip")
}

/// The call that takes an element out of a vector, of `v.pop().unwrap()`, `v.pop()?` and the like.
fn taken_out(expr: &Expr) -> Option<&syn::ExprMethodCall> {
    match expr {
        Expr::MethodCall(call) if unwraps(&call.method.to_string()) => taken_out(&call.receiver),
        Expr::MethodCall(call) => {
            let takes = ["pop", "remove", "swap_remove"].iter().any(|name| call.method == name);
            (takes && base(&call.receiver).is_some()).then_some(call)
        }
        Expr::Try(tried) => taken_out(&tried.expr),
        _ => None,
    }
}

fn peeled(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => peeled(&paren.expr),
        expr => expr,
    }
}

/// A part of it is taken, which is one of no variable: `(a * b).im`
fn is_parted(base: &Expr) -> bool {
    match peeled(base) {
        Expr::Binary(_) | Expr::Tuple(_) | Expr::Array(_) => true,
        Expr::Unary(unary) => !matches!(unary.op, UnOp::Deref(_)),
        _ => false,
    }
}

/// What has to stand alone of what an expression evaluates in any case.
struct Found<'p, 'e> {
    parser: &'p Parser<'e>,
    /// Calls that write.
    calls: usize,
    /// The variables that they write to.
    names: Vec<Ident>,
    /// A part is taken of something else than a variable.
    parted: bool,
}

impl<'p, 'e> Found<'p, 'e> {
    fn within(parser: &'p Parser<'e>, expr: &Expr) -> Self {
        let mut found = Found { parser, calls: 0, names: Vec::new(), parted: false };
        found.visit_expr(expr);
        found
    }
}

impl<'ast> Visit<'ast> for Found<'_, '_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        self.calls += usize::from(self.parser.is_writing(expr));
        if let Some(taken) = taken_out(expr) {
            self.names.extend(base(&taken.receiver).cloned());
            return taken.args.iter().for_each(|arg| self.visit_expr(arg));
        }
        match expr {
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) | Expr::Closure(_) | Expr::Unsafe(_) => return,
            Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => return,
            Expr::Call(call) if is_whole(call) => return,
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
                return self.visit_expr(&binary.left);
            }
            Expr::Call(syn::ExprCall { args, .. }) | Expr::MethodCall(syn::ExprMethodCall { args, .. }) => {
                self.names.extend(args.iter().filter_map(|arg| self.parser.written_by(arg)).cloned());
                if let Expr::MethodCall(call) = expr {
                    self.names.extend(self.parser.writes_to_receiver(call).cloned());
                }
            }
            Expr::Field(field) => self.parted |= is_parted(&field.base),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

struct Apart<'p, 'e> {
    parser: &'p mut Parser<'e>,
    before: VecDeque<Stmt>,
    /// Something that stands alone is evaluated later.
    later: bool,
    /// What is written to later.
    written: Vec<Ident>,
}

impl Apart<'_, '_> {
    /// It stands alone already.
    fn root(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Paren(paren) => self.root(&mut paren.expr),
            expr => self.operands(expr),
        }
    }

    fn operand(&mut self, expr: &mut Expr) {
        if taken_out(expr).is_none() {
            self.operands(expr);
        }
        if self.parser.is_writing(expr) {
            self.bind(expr);
        }
    }

    fn bind(&mut self, expr: &mut Expr) {
        let part = self.parser.parts.fresh("part");
        if self.parser.suspects.any(&*expr) {
            self.parser.suspects.insert(&part);
        }
        let init = std::mem::replace(expr, parse_quote!(#part));
        self.before.push_back(parse_quote!(let #part = #init;));
    }

    /// What is evaluated before a call that writes is evaluated before it, where it reads what that writes to, or does something itself.
    fn in_order(&mut self, operands: Vec<&mut Expr>) {
        let stands: Vec<_> = operands
            .iter()
            .map(|operand| {
                let found = Found::within(self.parser, operand);
                (found.calls > 0 || found.parted, found.names)
            })
            .collect();
        let around = (self.later, self.written.len());
        for (i, operand) in operands.into_iter().enumerate() {
            let after = &stands[i + 1..];
            self.later = around.0 || after.iter().any(|(stands, _)| *stands);
            self.written.truncate(around.1);
            self.written.extend(after.iter().flat_map(|(_, names)| names).cloned());
            if stands[i].0 {
                self.operand(operand);
                continue;
            }
            let read = Occurrences::of(&*operand);
            let disturbed = self.written.iter().any(|name| read.count(name) > 0);
            let refers = matches!(operand, Expr::Reference(_)) || self.parser.written_by(operand).is_some();
            if self.later && !refers && (acts(operand) || disturbed) {
                self.bind(operand);
            }
        }
        self.later = around.0;
        self.written.truncate(around.1);
    }

    fn operands(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.operand(&mut binary.left);
            }
            Expr::Binary(binary) => self.in_order(vec![&mut binary.left, &mut binary.right]),
            Expr::Call(call) if !is_whole(call) => self.in_order(call.args.iter_mut().collect()),
            Expr::MethodCall(call) if self.parser.goes_with_call(call) => {
                self.operands(&mut call.receiver);
            }
            Expr::MethodCall(call) => {
                // What is written to is no value that could have a name.
                let writes = self.parser.writes_to_receiver(call).is_some();
                let receiver = (!writes).then_some(&mut *call.receiver);
                self.in_order(receiver.into_iter().chain(call.args.iter_mut()).collect());
            }
            Expr::Tuple(tuple) => self.in_order(tuple.elems.iter_mut().collect()),
            Expr::Array(array) => self.in_order(array.elems.iter_mut().collect()),
            Expr::Struct(literal) => self.in_order(literal.fields.iter_mut().map(|f| &mut f.expr).collect()),
            Expr::Index(index) => self.in_order(vec![&mut index.index]),
            Expr::Paren(inner) => self.operand(&mut inner.expr),
            Expr::Unary(inner) => self.operand(&mut inner.expr),
            Expr::Reference(inner) => self.operand(&mut inner.expr),
            Expr::Cast(inner) => self.operand(&mut inner.expr),
            Expr::Try(inner) => self.operand(&mut inner.expr),
            Expr::Field(inner) => {
                self.operand(&mut inner.base);
                if is_parted(&inner.base) {
                    self.bind(&mut inner.base);
                }
            }
            _ => {}
        }
    }
}
