//! What a function that calls itself has returned, under a name without a type: the signature tells the type of what owns memory.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Local, Pat, Type, parse_quote};

use crate::derive::in_optional_box;
use crate::iterators::collect::element_of_vec;
use crate::signature::Signature;
use crate::tails::makes_itself;

/// `body` with the type in `let children = build(n - 1);` of `fn build(n: usize) -> Vec<Link>`.
pub(crate) fn with_own_results(signature: &Signature, mut body: Block) -> Block {
    let output = &signature.output;
    let of_structs = element_of_vec(output).is_some_and(|element| makes_itself(&element));
    if signature.generics.is_empty() && (of_structs || in_optional_box(output).is_some()) {
        Results { signature, output }.visit_block_mut(&mut body);
    }
    body
}

struct Results<'s> {
    signature: &'s Signature,
    output: &'s Type,
}

impl Results<'_> {
    fn are_of(&self, value: &Expr) -> bool {
        let Expr::Call(call) = value else { return false };
        self.signature.method.is_none()
            && matches!(&*call.func, Expr::Path(path) if path.path.is_ident(&self.signature.name))
    }
}

impl VisitMut for Results<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        visit_mut::visit_local_mut(self, local);
        let own = local.init.as_ref().is_some_and(|init| init.diverge.is_none() && self.are_of(&init.expr));
        if let (true, Pat::Ident(name)) = (own, &local.pat) {
            let ty = self.output;
            let typed: syn::Stmt = parse_quote!(let #name: #ty;);
            let syn::Stmt::Local(typed) = typed else { unreachable!("as it is written") };
            local.pat = typed.pat;
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
