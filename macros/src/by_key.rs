//! The best by a key, `x.iter().min_by_key(|v| …)`, as the best by comparison of keys, where what is chosen may carry a gradient.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, parse_quote};

use crate::normal::Parts;
use crate::suspects::Suspects;

/// Has `body` compare the keys of items itself.
pub(crate) fn with_compared_keys(suspects: &Suspects, body: &mut Block) {
    let names = Parts::of(body);
    Keys { suspects, names }.visit_block_mut(body);
}

struct Keys<'s> {
    suspects: &'s Suspects,
    names: Parts,
}

impl VisitMut for Keys<'_> {
    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        visit_mut::visit_expr_method_call_mut(self, call);
        let by = match call.method.to_string().as_str() {
            "min_by_key" => "min_by",
            "max_by_key" => "max_by",
            _ => return,
        };
        let Some(key) = call.args.first().filter(|_| self.suspects.any(&*call)) else { return };
        let items = [self.names.fresh("one"), self.names.fresh("other")];
        let [one, other] = items.clone().map(|item| -> Expr {
            match key {
                Expr::Closure(closure) => {
                    let (pattern, body) = (&closure.inputs, &closure.body);
                    parse_quote!({ let #pattern = #item; #body })
                }
                function => parse_quote!(#function(#item)),
            }
        });
        call.method = syn::Ident::new(by, call.method.span());
        call.args = parse_quote!(|#(#items),*| ::core::cmp::Ord::cmp(&#one, &#other));
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
