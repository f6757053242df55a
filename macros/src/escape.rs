//! Which syntax may leave the place where it stands.

use syn::visit::{self, Visit};
use syn::{Block, Expr, Stmt};

/// The macros that never return.
const PANICS: [&str; 4] = ["panic", "unreachable", "todo", "unimplemented"];

/// `panic!` and its like.
pub(crate) fn is_panic(mac: &syn::Macro) -> bool {
    mac.path.segments.last().is_some_and(|s| PANICS.iter().any(|name| s.ident == name))
}

/// `return`, `?`, and each `break` and `continue` whose target is outside.
#[derive(Default)]
struct Escapes {
    loops: usize,
    labels: Vec<String>,
    found: bool,
}

impl Escapes {
    fn jump(&mut self, label: Option<&syn::Lifetime>) {
        self.found |= match label {
            Some(label) => !self.labels.contains(&label.ident.to_string()),
            None => self.loops == 0,
        };
    }

    fn within(&mut self, label: Option<&syn::Label>, loops: usize, block: &Block) {
        self.labels.extend(label.map(|label| label.name.ident.to_string()));
        self.loops += loops;
        self.visit_block(block);
        self.loops -= loops;
        if label.is_some() {
            self.labels.pop();
        }
    }
}

impl<'ast> Visit<'ast> for Escapes {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Return(_) | Expr::Try(_) => self.found = true,
            Expr::Break(jump) => {
                self.jump(jump.label.as_ref());
                visit::visit_expr(self, expr);
            }
            Expr::Continue(jump) => self.jump(jump.label.as_ref()),
            Expr::ForLoop(f) => {
                self.visit_expr(&f.expr);
                self.within(f.label.as_ref(), 1, &f.body);
            }
            Expr::While(w) => {
                self.labels.extend(w.label.as_ref().map(|label| label.name.ident.to_string()));
                self.loops += 1;
                self.visit_expr(&w.cond);
                self.loops -= 1;
                if w.label.is_some() {
                    self.labels.pop();
                }
                self.within(w.label.as_ref(), 1, &w.body);
            }
            Expr::Loop(l) => self.within(l.label.as_ref(), 1, &l.body),
            Expr::Block(block) => self.within(block.label.as_ref(), 0, &block.block),
            Expr::Closure(_) | Expr::Async(_) => {}
            _ => visit::visit_expr(self, expr),
        }
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The expression may leave the block in which it stands.
pub(crate) fn escapes(expr: &Expr) -> bool {
    let mut visitor = Escapes::default();
    visitor.visit_expr(expr);
    visitor.found
}

/// Likewise for a statement.
pub(crate) fn statement_escapes(stmt: &Stmt) -> bool {
    let mut visitor = Escapes::default();
    visitor.visit_stmt(stmt);
    visitor.found
}

/// The end of the block is never reached.
pub(crate) fn is_left(block: &Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(expr, _)) => leaves(expr),
        Some(Stmt::Macro(m)) => is_panic(&m.mac),
        _ => false,
    }
}

fn leaves(expr: &Expr) -> bool {
    match expr {
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
        Expr::Macro(m) => is_panic(&m.mac),
        Expr::If(branch) => {
            is_left(&branch.then_branch) && branch.else_branch.as_ref().is_some_and(|(_, e)| leaves(e))
        }
        Expr::Match(m) => !m.arms.is_empty() && m.arms.iter().all(|arm| leaves(&arm.body)),
        Expr::Block(block) => block.label.is_none() && is_left(&block.block),
        Expr::Paren(paren) => leaves(&paren.expr),
        _ => false,
    }
}

/// Evaluating the expression may do or yield something else at another time.
pub(crate) fn acts(expr: &Expr) -> bool {
    struct Acts(bool);
    impl<'ast> Visit<'ast> for Acts {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            let simple = matches!(
                expr,
                Expr::Lit(_)
                    | Expr::Path(_)
                    | Expr::Field(_)
                    | Expr::Index(_)
                    | Expr::Paren(_)
                    | Expr::Group(_)
                    | Expr::Unary(_)
                    | Expr::Binary(_)
                    | Expr::Cast(_)
                    | Expr::Tuple(_)
                    | Expr::Array(_)
                    | Expr::Repeat(_)
                    | Expr::Range(_)
                    | Expr::Closure(_)
            ) || matches!(expr, Expr::Reference(r) if r.mutability.is_none());
            self.0 |= !simple;
            visit::visit_expr(self, expr);
        }
    }
    let mut visitor = Acts(false);
    visitor.visit_expr(expr);
    visitor.0
}

/// The expression may write to a variable.
pub(crate) fn writes(expr: &Expr) -> bool {
    struct Writes(bool);
    impl<'ast> Visit<'ast> for Writes {
        fn visit_expr_reference(&mut self, reference: &'ast syn::ExprReference) {
            self.0 |= reference.mutability.is_some();
            visit::visit_expr_reference(self, reference);
        }
        fn visit_expr_assign(&mut self, _: &'ast syn::ExprAssign) {
            self.0 = true;
        }
        fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
            self.0 |= crate::parse::assign_op(&binary.op).is_some();
            visit::visit_expr_binary(self, binary);
        }
    }
    let mut visitor = Writes(false);
    visitor.visit_expr(expr);
    visitor.0
}
