//! What constant code looks at of an array: `x[i] < 0.0` at one element.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::Visit;

use crate::program::*;
use crate::reverse::Reverse;

impl Reverse<'_> {
    /// The element that a loop around overwrites, if all that the constant code `expr` at `at` has of the array is that one.
    pub(crate) fn looked_at(&self, expr: ExprId, array: VarId, at: &At) -> Option<&Place> {
        let program = self.program;
        let ExprKind::Constant(constant) = &program.exprs[expr].kind else { return None };
        if !constant.aliases.is_empty() {
            return None;
        }
        let swept =
            self.levels.iter().flat_map(|level| &level.swept).find(|swept| swept.variable == array)?;
        let (place, there) = &swept.place;
        let [Projection::Index(position)] = place.projections[..] else { return None };
        let same = |id: &VarId| {
            constant.mentions.contains(id)
                && at.versions.contains_key(id)
                && at.versions.get(id) == there.versions.get(id)
        };
        let known = program.tree(position).into_iter().all(|e| match &program.exprs[e].kind {
            ExprKind::Read(place) => place.projections.is_empty() && same(&place.base),
            ExprKind::Constant(constant) => constant.mentions.iter().all(same),
            _ => true,
        });
        let syntax = &program.exprs[expr].syntax;
        let name = program.variables[array].name.to_string();
        let text = program.exprs[position].syntax.to_token_stream().to_string();
        let mut elements = Elements { name: &name, position: &text, count: 0 };
        elements.visit_expr(syntax);
        let alone = elements.count > 0 && elements.count == count(&name, syntax.to_token_stream());
        (known && alone).then_some(place)
    }
}

/// How often a name occurs.
fn count(name: &str, tokens: TokenStream) -> usize {
    let occurrences = |token| match token {
        TokenTree::Ident(ident) => usize::from(ident == name),
        TokenTree::Group(group) => count(name, group.stream()),
        _ => 0,
    };
    tokens.into_iter().map(occurrences).sum()
}

/// How often the element occurs.
struct Elements<'n> {
    name: &'n str,
    position: &'n str,
    count: usize,
}

impl Visit<'_> for Elements<'_> {
    fn visit_expr_index(&mut self, index: &syn::ExprIndex) {
        syn::visit::visit_expr_index(self, index);
        let of_array = matches!(&*index.expr, syn::Expr::Path(path) if path.path.is_ident(self.name));
        let here = index.index.to_token_stream().to_string() == self.position;
        self.count = self.count.saturating_add(usize::from(of_array && here));
    }
    // Names may be others there.
    fn visit_expr_let(&mut self, _: &syn::ExprLet) {
        self.count = usize::MAX;
    }
    fn visit_expr_closure(&mut self, _: &syn::ExprClosure) {}
    fn visit_block(&mut self, _: &syn::Block) {}
    fn visit_arm(&mut self, _: &syn::Arm) {}
}
