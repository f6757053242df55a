//! Parameters that are patterns: to the rule they have names, and the body begins by taking them apart.

use quote::format_ident;
use syn::{Block, FnArg, Pat, Signature, parse_quote};

/// `fn f((a, b): (f64, f64)) { … }` becomes `fn f(_0: (f64, f64)) { let (a, b) = _0; … }`.
pub(crate) fn name_patterns(sig: &mut Signature, body: &mut Block) {
    let mut apart = Vec::new();
    for (i, input) in sig.inputs.iter_mut().enumerate() {
        let FnArg::Typed(typed) = input else { continue };
        let named = match &*typed.pat {
            Pat::Ident(ident) => ident.by_ref.is_none() && ident.subpat.is_none(),
            pattern => matches!(pattern, Pat::Wild(_)),
        };
        if !named {
            let name = format_ident!("_{i}");
            let pattern = std::mem::replace(&mut *typed.pat, parse_quote!(#name));
            apart.push(parse_quote!(let #pattern = #name;));
        }
    }
    body.stmts.splice(0..0, apart);
}
