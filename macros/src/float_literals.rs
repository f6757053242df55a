//! Floats without a point, `0f64`: to the parser these are integers, which carry no gradient.

use proc_macro2::{Group, Literal, TokenStream, TokenTree};

/// `tokens` with a point in each float, `0.0f64`. What has none of these stays as it is, along with where its brackets stand.
pub(crate) fn with_points(tokens: TokenStream) -> TokenStream {
    if !lacks_points(&tokens) {
        return tokens;
    }
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(group) if lacks_points(&group.stream()) => {
                let mut inner = Group::new(group.delimiter(), with_points(group.stream()));
                inner.set_span(group.span());
                inner.into()
            }
            TokenTree::Literal(literal) => pointed(&literal).unwrap_or(literal).into(),
            token => token,
        })
        .collect()
}

fn lacks_points(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => lacks_points(&group.stream()),
        TokenTree::Literal(literal) => pointed(&literal).is_some(),
        _ => false,
    })
}

fn pointed(literal: &Literal) -> Option<Literal> {
    let text = literal.to_string();
    let (digits, suffix) = text.split_at_checked(text.len().checked_sub("f64".len())?)?;
    // Neither an exponent nor digits of another base: `0x1f32` is an integer.
    let decimal = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '_');
    if !decimal || suffix != "f32" && suffix != "f64" {
        return None;
    }
    let mut float: Literal = format!("{}.0{suffix}", digits.trim_end_matches('_')).parse().ok()?;
    float.set_span(literal.span());
    Some(float)
}

#[cfg(test)]
mod tests {
    use super::with_points;

    #[test]
    fn floats_get_points() {
        let tokens =
            "f(0f64, 1_f32, 12_000f64, vec![-3f64; 2]) + 1.5f64 + 1e3f64 + 0x1f64 + 0b1 + 7 + 7u64 + t.0";
        let expected = "f(0.0f64, 1.0f32, 12_000.0f64, vec![-3.0f64; 2]) + 1.5f64 + 1e3f64 + 0x1f64 + 0b1 + 7 + 7u64 + t.0";
        let parse = |text: &str| text.parse::<proc_macro2::TokenStream>().expect("these are tokens");
        assert_eq!(with_points(parse(tokens)).to_string(), parse(expected).to_string());
    }
}
