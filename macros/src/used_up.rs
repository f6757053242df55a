//! What functions do with vectors without gradient that they take by value: the rule has them lent.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Item, Macro, PatIdent, parse_quote};

/// Whether `body` needs the vector `name` itself, in the place of a reference to it. Loops and chains that use it up go through it by
/// reference instead.
pub(crate) fn is_used_up(name: &Ident, body: &mut Block) -> bool {
    let mut uses = Uses { name, itself: false, bound: false };
    uses.visit_block_mut(&mut body.clone());
    if uses.bound {
        return true;
    }
    uses.visit_block_mut(body);
    uses.itself
}

/// Whether a macro only looks at parts of the variable, as in `assert_eq!(x.len(), name.len())`.
fn looks_at_parts(tokens: TokenStream, name: &Ident) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let looks = match token {
            TokenTree::Ident(ident) if ident == *name => match tokens.peek() {
                Some(TokenTree::Punct(next)) => next.as_char() == '.',
                Some(TokenTree::Group(next)) => next.delimiter() == Delimiter::Bracket,
                _ => false,
            },
            TokenTree::Group(group) => looks_at_parts(group.stream(), name),
            _ => true,
        };
        if !looks {
            return false;
        }
    }
    true
}

/// The uses of one variable.
struct Uses<'n> {
    name: &'n Ident,
    /// One of them is of the vector itself.
    itself: bool,
    /// The name is also that of something else.
    bound: bool,
}

impl Uses<'_> {
    /// An argument, which may be a reference to the variable.
    fn argument(&mut self, arg: &mut Expr) {
        let lent = matches!(arg, Expr::Reference(reference) if reference.mutability.is_none() && self.is_it(&reference.expr));
        if !lent {
            self.visit_expr_mut(arg);
        }
    }

    /// The expression is the variable.
    fn is_it(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.get_ident() == Some(self.name))
    }
}

impl VisitMut for Uses<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(_) => self.itself |= self.is_it(expr),
            Expr::Call(call) => {
                self.visit_expr_mut(&mut call.func);
                call.args.iter_mut().for_each(|arg| self.argument(arg));
            }
            Expr::Index(index) if self.is_it(&index.expr) => self.visit_expr_mut(&mut index.index),
            Expr::MethodCall(call) if self.is_it(&call.receiver) => {
                if call.method == "into_iter" {
                    let items = &call.receiver;
                    *expr = parse_quote!(#items.iter().cloned());
                    return;
                }
                call.args.iter_mut().for_each(|arg| self.argument(arg));
            }
            Expr::MethodCall(call) => {
                self.visit_expr_mut(&mut call.receiver);
                call.args.iter_mut().for_each(|arg| self.argument(arg));
            }
            Expr::ForLoop(repeated) if self.is_it(&repeated.expr) => {
                let items = &repeated.expr;
                *repeated.expr = parse_quote!(#items.iter().cloned());
                self.visit_pat_mut(&mut repeated.pat);
                self.visit_block_mut(&mut repeated.body);
            }
            Expr::ForLoop(repeated) => {
                self.argument(&mut repeated.expr);
                self.visit_pat_mut(&mut repeated.pat);
                self.visit_block_mut(&mut repeated.body);
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        self.itself |= !looks_at_parts(mac.tokens.clone(), self.name);
    }
    fn visit_pat_ident_mut(&mut self, pattern: &mut PatIdent) {
        self.bound |= pattern.ident == *self.name;
        visit_mut::visit_pat_ident_mut(self, pattern);
    }
    fn visit_item_mut(&mut self, _: &mut Item) {}
}
