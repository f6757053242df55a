//! What functions do with vectors without gradient that they take by value: the rule has them lent.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Item, Macro, parse_quote};

/// Whether `body` needs the vector `name` itself, in the place of a reference to it. Loops and chains that use it up go through it by
/// reference instead.
pub(crate) fn is_used_up(name: &Ident, body: &mut Block) -> bool {
    let mut uses = Uses { name, itself: false };
    uses.visit_block_mut(body);
    uses.itself
}

/// The uses of one variable.
struct Uses<'n> {
    name: &'n Ident,
    /// One of them is of the vector itself.
    itself: bool,
}

impl Uses<'_> {
    /// The expression is the variable.
    fn is_it(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.get_ident() == Some(self.name))
    }
}

impl VisitMut for Uses<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(_) => self.itself |= self.is_it(expr),
            Expr::Reference(reference) if reference.mutability.is_none() && self.is_it(&reference.expr) => {}
            Expr::Index(index) if self.is_it(&index.expr) => self.visit_expr_mut(&mut index.index),
            Expr::MethodCall(call) if self.is_it(&call.receiver) => {
                if call.method == "into_iter" {
                    let items = &call.receiver;
                    *expr = parse_quote!(#items.iter().cloned());
                    return;
                }
                call.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
            }
            Expr::ForLoop(repeated) if self.is_it(&repeated.expr) => {
                let items = &repeated.expr;
                *repeated.expr = parse_quote!(#items.iter().cloned());
                self.visit_block_mut(&mut repeated.body);
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        // Macros such as `assert!` only look at things; but which one is it?
        let looks = ["assert", "assert_eq", "assert_ne", "debug_assert", "format", "panic", "println"];
        self.itself |= !looks.iter().any(|name| mac.path.is_ident(name))
            && crate::rename::Occurrences::of(&*mac).count(self.name) > 0;
    }
    fn visit_item_mut(&mut self, _: &mut Item) {}
}
