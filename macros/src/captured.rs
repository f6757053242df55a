//! Variables that a format string captures: `format!("{a}")` is `format!("{a}", a = a)`, where something else may stand behind the `=`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Ident, Macro};

use crate::rename::named_in_format;

/// The macros that take a format string, and how many arguments go before it.
const FORMATTING: [(&str, usize); 18] = [
    ("assert", 1),
    ("assert_eq", 2),
    ("assert_ne", 2),
    ("debug_assert", 1),
    ("debug_assert_eq", 2),
    ("debug_assert_ne", 2),
    ("eprint", 0),
    ("eprintln", 0),
    ("format", 0),
    ("format_args", 0),
    ("panic", 0),
    ("print", 0),
    ("println", 0),
    ("todo", 0),
    ("unimplemented", 0),
    ("unreachable", 0),
    ("write", 1),
    ("writeln", 1),
];

/// What a macro is given, with `name` as an argument of its own where the format string captures it.
pub(crate) fn with_captured(mac: &Macro, name: &Ident) -> TokenStream {
    let mut tokens = mac.tokens.clone();
    let before = FORMATTING.iter().find(|(formatting, _)| mac.path.is_ident(formatting)).map(|(_, n)| *n);
    if let Some(before) = before
        && captures(&tokens, before, name)
        && !is_labelled(&tokens, name)
    {
        let open = !tokens.clone().into_iter().last().is_some_and(|last| is_comma(&last));
        let comma = open.then(|| quote!(,));
        tokens.extend(quote!(#comma #name = #name));
    }
    tokens
}

/// The argument behind `before` others is a literal in which `name` stands in braces.
fn captures(tokens: &TokenStream, before: usize, name: &Ident) -> bool {
    let (mut commas, mut first) = (0, true);
    for token in tokens.clone() {
        if is_comma(&token) {
            (commas, first) = (commas + 1, true);
            continue;
        }
        if commas == before && first {
            return matches!(token, TokenTree::Literal(text) if named_in_format(&text.to_string()).contains(&name.to_string()));
        }
        first = false;
    }
    false
}

/// There is an argument `name = …`.
pub(crate) fn is_labelled(tokens: &TokenStream, name: &Ident) -> bool {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    (0..tokens.len()).any(|i| is_label(&tokens, i, name))
}

/// Token number `i` is the name of the argument `name = …`.
pub(crate) fn is_label(tokens: &[TokenTree], i: usize, name: &Ident) -> bool {
    let is =
        |i: usize, text: &str| tokens.get(i).is_some_and(|token| token.to_token_stream().to_string() == text);
    let named = matches!(&tokens[i], TokenTree::Ident(ident) if ident == name);
    named && i > 0 && is_comma(&tokens[i - 1]) && is(i + 1, "=") && !is(i + 2, "=")
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}
