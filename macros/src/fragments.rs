//! What `macro_rules!` inserts as a whole, `$x:expr` and the like: groups that the parser does not look into everywhere.

use proc_macro2::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};
use syn::visit_mut::VisitMut;

/// Puts parentheses around expressions: the compiler forgets their bounds in the output of a macro like this one. Types need none.
pub(crate) struct Ungroup;

impl VisitMut for Ungroup {
    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        if let syn::Expr::Group(group) = expr {
            let inner = (*group.expr).clone();
            let loose = matches!(
                inner,
                syn::Expr::Binary(_)
                    | syn::Expr::Unary(_)
                    | syn::Expr::Cast(_)
                    | syn::Expr::Range(_)
                    | syn::Expr::If(_)
            );
            *expr = if loose { syn::parse_quote!((#inner)) } else { inner };
        }
        syn::visit_mut::visit_expr_mut(self, expr);
    }
    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        while let syn::Type::Group(group) = ty {
            *ty = (*group.elem).clone();
        }
        syn::visit_mut::visit_type_mut(self, ty);
    }
}

/// Makes `let` statements, `$x:stmt`, out of their groups.
pub(crate) fn with_statements(tokens: TokenStream) -> TokenStream {
    if !has_statements(&tokens) {
        return tokens;
    }
    let mut out = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let TokenTree::Group(group) = token else {
            out.push(token);
            continue;
        };
        let inner = with_statements(group.stream());
        if is_statement(&group) {
            out.extend(inner);
            let ends = matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ';');
            if !ends {
                out.push(Punct::new(';', Spacing::Alone).into());
            }
        } else {
            let mut whole = Group::new(group.delimiter(), inner);
            whole.set_span(group.span());
            out.push(whole.into());
        }
    }
    out.into_iter().collect()
}

fn has_statements(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => is_statement(&group) || has_statements(&group.stream()),
        _ => false,
    })
}

fn is_statement(group: &Group) -> bool {
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::None && matches!(first, Some(TokenTree::Ident(first)) if first == "let")
}
