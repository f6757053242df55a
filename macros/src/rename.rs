//! Names: which occur where, and code with some of them replaced, so that what is inlined means what it meant.

use std::collections::HashMap;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, Pat};

use crate::captured::{is_label, is_labelled, with_captured};
use crate::kept::RESERVED;
use crate::purity::{Asked, each_name};

/// How often each identifier occurs, in format strings as well.
#[derive(Default, Clone)]
pub(crate) struct Occurrences(HashMap<String, usize>);

impl Occurrences {
    pub(crate) fn of(tokens: impl ToTokens) -> Self {
        let mut found = Occurrences::default();
        found.add(tokens);
        found
    }

    /// Those of which more than the shape is asked.
    pub(crate) fn of_values(tokens: TokenStream) -> Self {
        let mut found = Occurrences::default();
        each_name(tokens, &mut |token, asked| {
            if asked == Asked::Value {
                found.token(token);
            }
        });
        found
    }

    pub(crate) fn add(&mut self, tokens: impl ToTokens) {
        for token in tokens.into_token_stream() {
            match token {
                TokenTree::Group(group) => self.add(group.stream()),
                token => self.token(&token),
            }
        }
    }

    fn token(&mut self, token: &TokenTree) {
        match token {
            TokenTree::Ident(ident) => self.count_up(ident.unraw().to_string()),
            TokenTree::Literal(literal) => {
                let names = named_in_format(&literal.to_string());
                names.into_iter().for_each(|name| self.count_up(name));
            }
            TokenTree::Group(_) | TokenTree::Punct(_) => {}
        }
    }

    pub(crate) fn extend(&mut self, others: Occurrences) {
        for (name, count) in others.0 {
            *self.0.entry(name).or_default() += count;
        }
    }

    fn count_up(&mut self, name: String) {
        *self.0.entry(name).or_default() += 1;
    }

    pub(crate) fn count(&self, name: &Ident) -> usize {
        self.0.get(&name.unraw().to_string()).copied().unwrap_or(0)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// The names in the braces of what may be a format string.
pub(crate) fn named_in_format(text: &str) -> Vec<String> {
    let name = |part: &str| part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    text.split('{').skip(1).map(name).filter(|name| !name.is_empty()).collect()
}

/// The names that a pattern binds.
pub(crate) fn bound(pattern: &Pat) -> Vec<Ident> {
    struct Bound(Vec<Ident>);
    impl<'ast> syn::visit::Visit<'ast> for Bound {
        fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
            self.0.push(pattern.ident.clone());
            syn::visit::visit_pat_ident(self, pattern);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut bound = Bound(Vec::new());
    syn::visit::Visit::visit_pat(&mut bound, pattern);
    bound.0
}

/// The expression is this name alone.
pub(crate) fn is_name(expr: &Expr, name: &Ident) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident(name))
}

/// How many patterns bind `name` in what is visited.
pub(crate) struct Bindings<'n> {
    name: &'n Ident,
    pub(crate) count: usize,
}

impl<'n> Bindings<'n> {
    pub(crate) fn of(name: &'n Ident) -> Self {
        Bindings { name, count: 0 }
    }
}

impl<'ast> syn::visit::Visit<'ast> for Bindings<'_> {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.count += usize::from(pattern.ident == *self.name);
        syn::visit::visit_pat_ident(self, pattern);
    }
}

/// What stands for a name.
pub(crate) enum Substitute {
    /// Another name.
    Name(Ident),
    /// What a `&mut` of this name referred to.
    Referent(Ident),
    /// The parts of what was a tuple.
    Parts(Vec<Ident>),
    /// What the name stands for.
    Expr(Expr),
}

/// Replaces a name wherever it is a variable's. Within the scope of that variable every occurrence is its own, or that of a
/// variable further inside, which may as well be renamed with it.
pub(crate) struct Replace<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) by: &'a Substitute,
    /// Occurrences that could not be replaced.
    pub(crate) left: bool,
}

impl<'a> Replace<'a> {
    pub(crate) fn new(name: &'a Ident, by: &'a Substitute) -> Self {
        Replace { name, by, left: false }
    }

    fn is(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.get_ident() == Some(self.name))
    }

    fn tokens(&mut self, tokens: TokenStream) -> TokenStream {
        let (by, mut left) = (self.by, false);
        let replaced = in_tokens(tokens, self.name, &mut |ident| match (by, ident) {
            (Substitute::Name(new), Some(ident)) => Some(at(new, ident).into_token_stream()),
            _ => {
                left = true;
                None
            }
        });
        self.left |= left;
        replaced
    }
}

/// `tokens` of a macro, with what stands for `name` in its place: `by` tells that, if there is something, of an occurrence, or of none where a
/// format string names it. A hygienic name cannot stand in that.
pub(crate) fn in_tokens(
    tokens: TokenStream,
    name: &Ident,
    by: &mut dyn FnMut(Option<&Ident>) -> Option<TokenStream>,
) -> TokenStream {
    let mut field = false;
    let mut out = TokenStream::new();
    let labelled = is_labelled(&tokens, name);
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (i, token) in tokens.iter().cloned().enumerate() {
        let was_field = field;
        field = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
        match token {
            TokenTree::Ident(ident) if !was_field && ident == *name && !is_label(&tokens, i, name) => {
                out.extend(by(Some(&ident)).unwrap_or_else(|| ident.into_token_stream()));
            }
            TokenTree::Group(group) => {
                let mut inner =
                    proc_macro2::Group::new(group.delimiter(), in_tokens(group.stream(), name, by));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            TokenTree::Literal(literal) => {
                if !labelled && named_in_format(&literal.to_string()).contains(&name.to_string()) {
                    by(None);
                }
                out.extend([TokenTree::Literal(literal)]);
            }
            token => out.extend([token]),
        }
    }
    out
}

/// `new`, located where `old` stands.
fn at(new: &Ident, old: &Ident) -> Ident {
    let mut new = new.clone();
    new.set_span(old.span().resolved_at(new.span()));
    new
}

impl VisitMut for Replace<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match (self.by, &mut *expr) {
            (Substitute::Referent(new), Expr::Unary(unary))
                if matches!(unary.op, syn::UnOp::Deref(_)) && self.is(&unary.expr) =>
            {
                *expr = syn::parse_quote!(#new);
                return;
            }
            (Substitute::Parts(parts), Expr::Field(field)) if self.is(&field.base) => {
                if let syn::Member::Unnamed(index) = &field.member
                    && let Some(part) = parts.get(index.index as usize)
                {
                    *expr = syn::parse_quote!(#part);
                    return;
                }
            }
            (Substitute::Referent(new), Expr::Call(call)) => {
                for arg in &mut call.args {
                    if matches!(arg, Expr::Path(path) if path.path.get_ident() == Some(self.name)) {
                        *arg = syn::parse_quote!(&mut #new);
                    }
                }
            }
            _ => {}
        }
        if self.is(expr) {
            match self.by {
                Substitute::Name(new) | Substitute::Referent(new) => {
                    let Expr::Path(path) = &*expr else { unreachable!("checked") };
                    let old = path.path.get_ident().expect("checked");
                    let new = at(new, old);
                    *expr = syn::parse_quote!(#new);
                }
                Substitute::Parts(parts) => *expr = syn::parse_quote!((#(#parts),*)),
                Substitute::Expr(by) => *expr = by.clone(),
            }
            return;
        }
        syn::visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_pat_ident_mut(&mut self, pattern: &mut syn::PatIdent) {
        if pattern.ident == *self.name {
            match self.by {
                Substitute::Name(new) => pattern.ident = at(new, &pattern.ident),
                // A variable further inside takes the name.
                _ => self.left = true,
            }
        }
        syn::visit_mut::visit_pat_ident_mut(self, pattern);
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        field.colon_token.get_or_insert_default();
        syn::visit_mut::visit_field_value_mut(self, field);
    }

    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        if bound(&field.pat).contains(self.name) && matches!(self.by, Substitute::Name(_)) {
            // `Point { x }` becomes `Point { x: x_2 }`.
            field.colon_token.get_or_insert_default();
        }
        if field.colon_token.is_none() {
            self.left |= bound(&field.pat).contains(self.name);
        } else {
            syn::visit_mut::visit_field_pat_mut(self, field);
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = self.tokens(with_captured(mac, self.name));
    }
}

/// Identifiers for generated code, none of which occurs in the function.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) occurring: Occurrences,
    claimed: std::collections::HashSet<String>,
}

impl Names {
    pub(crate) fn new(function: impl ToTokens) -> Self {
        Names { occurring: Occurrences::of(function), claimed: Default::default() }
    }

    /// A name like `name` that nobody else uses.
    pub(crate) fn fresh(&mut self, name: &str) -> Ident {
        let name = name.trim_start_matches("r#");
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        let text = std::iter::once(name.to_string())
            .chain(numbered)
            .find(|text| {
                !self.occurring.contains(text) && !self.claimed.contains(text) && !RESERVED.contains(&&**text)
            })
            .expect("there are enough numbers");
        self.claimed.insert(text.clone());
        match syn::parse_str::<Ident>(&text) {
            Ok(_) => Ident::new(&text, Span::mixed_site()),
            Err(_) => Ident::new_raw(&text, Span::mixed_site()),
        }
    }

    /// `name` itself, if it occurs nowhere but in `within` and was not handed out before.
    pub(crate) fn claim(&mut self, name: &Ident, within: &Occurrences) -> Option<Ident> {
        let text = name.unraw().to_string();
        let free = self.occurring.count(name) <= within.count(name) && self.claimed.insert(text.clone());
        if free { None } else { Some(self.fresh(&text)) }
    }
}

/// A path to a variable, as an expression.
pub(crate) fn path(name: &Ident) -> Expr {
    syn::parse2(quote!(#name)).expect("an identifier is an expression")
}
