//! What a macro is given, where that is made of expressions.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Token};

/// Visits the expressions in a list, what is named in it among them, `println!("{x}", x = 1.0)`, or the one in front of the pattern of
/// `matches!`.
pub(crate) fn visit_given(mac: &mut Macro, mut visit: impl FnMut(&mut Expr)) {
    let list = Punctuated::<Expr, Token![,]>::parse_terminated;
    let first = |input: ParseStream| Ok((input.parse::<Expr>()?, input.parse::<TokenStream>()?));
    mac.tokens = match (list.parse2(mac.tokens.clone()), first.parse2(mac.tokens.clone())) {
        (Ok(mut args), _) => {
            args.iter_mut().for_each(|arg| match arg {
                Expr::Assign(named) => visit(&mut named.right),
                arg => visit(arg),
            });
            args.into_token_stream()
        }
        (_, Ok((mut expr, rest))) => {
            visit(&mut expr);
            let mut tokens = expr.into_token_stream();
            tokens.extend(rest);
            tokens
        }
        _ => return,
    };
}
