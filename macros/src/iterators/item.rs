//! What an iterator hands out, as syntax: references stay names of places, so that nothing is copied or recomputed.

use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Pat, Stmt, parse_quote};

use crate::destructure::{Referred, fields, name_parts};
use crate::parse::Parser;
use crate::rename::{Replace, Substitute, path};

#[derive(Clone)]
pub(crate) enum Item {
    /// `&place` or `&mut place`.
    Place {
        place: Expr,
        unique: bool,
    },
    /// Evaluated where it is used, once.
    Value(Expr),
    Tuple(Vec<Item>),
}

impl Item {
    /// The item as an expression.
    pub(crate) fn expr(&self) -> Expr {
        match self {
            Item::Place { place, unique: false } => parse_quote!(&#place),
            Item::Place { place, unique: true } => parse_quote!(&mut #place),
            Item::Value(value) => value.clone(),
            Item::Tuple(items) => {
                let items = items.iter().map(Item::expr);
                parse_quote!((#(#items,)*))
            }
        }
    }

    /// What the item refers to, or the item itself: `sum` and the like take both.
    pub(crate) fn referent(&self) -> Expr {
        match self {
            Item::Place { place, .. } => place.clone(),
            other => other.expr(),
        }
    }

    /// Copies what is referred to.
    pub(crate) fn copied(self) -> Item {
        match self {
            Item::Place { place, .. } => Item::Value(place),
            // A reference by value: the result of a closure.
            Item::Value(Expr::Reference(reference)) => Item::Value(*reference.expr),
            Item::Value(value) => {
                let value = operand(value);
                Item::Value(parse_quote!(*#value))
            }
            tuple => tuple,
        }
    }

    /// Where it is only read.
    pub(crate) fn shared(self) -> Item {
        match self {
            Item::Place { place, .. } => Item::Place { place, unique: false },
            Item::Value(value) => Item::Value(value),
            Item::Tuple(items) => Item::Tuple(items.into_iter().map(Item::shared).collect()),
        }
    }

    /// It can be evaluated several times.
    fn is_simple(&self) -> bool {
        match self {
            Item::Place { .. } => true,
            Item::Value(value) => matches!(value, Expr::Path(_) | Expr::Lit(_)),
            Item::Tuple(items) => items.iter().all(Item::is_simple),
        }
    }
}

impl Parser<'_> {
    /// `item` in a form that can be evaluated several times.
    pub(crate) fn named(&mut self, item: Item, out: &mut Vec<Stmt>) -> Item {
        match item {
            item if item.is_simple() => item,
            Item::Tuple(items) => Item::Tuple(items.into_iter().map(|item| self.named(item, out)).collect()),
            other => self.under_a_name(other, out),
        }
    }

    /// `item` under a name of its own.
    pub(super) fn under_a_name(&mut self, item: Item, out: &mut Vec<Stmt>) -> Item {
        let (name, value) = (self.hidden("item"), item.expr());
        out.push(parse_quote!(let #name = #value;));
        Item::Value(path(&name))
    }

    /// Binds the names of `pattern` to `item`, for use in `code`, where some of them may have to be replaced.
    pub(crate) fn bind_item(&mut self, pattern: &Pat, item: Item, code: &mut Code, out: &mut Vec<Stmt>) {
        match (pattern, item) {
            (Pat::Paren(paren), item) => self.bind_item(&paren.pat, item, code, out),
            (Pat::Reference(reference), item) => match (&*reference.pat, item.copied()) {
                (name @ Pat::Ident(_), Item::Value(value)) => out.push(bound_to(name, &value)),
                (pattern, item) => self.bind_item(pattern, item, code, out),
            },
            (Pat::Tuple(tuple), Item::Tuple(items)) if tuple.elems.len() == items.len() => {
                for (pattern, item) in tuple.elems.iter().zip(items) {
                    self.bind_item(pattern, item, code, out);
                }
            }
            (Pat::Type(typed), item @ Item::Tuple(_)) => self.bind_item(&typed.pat, item, code, out),
            (Pat::Ident(name), Item::Tuple(items)) if name.subpat.is_none() && name.by_ref.is_none() => {
                let parts: Vec<Ident> = items
                    .into_iter()
                    .map(|item| {
                        let part = self.hidden(&name.ident.to_string());
                        let value = item.expr();
                        out.push(match name.mutability {
                            Some(_) => parse_quote!(let mut #part = #value;),
                            None => parse_quote!(let #part = #value;),
                        });
                        part
                    })
                    .collect();
                if !code.replace(&name.ident, &Substitute::Parts(parts)) {
                    self.errors
                        .push(&name.ident, "give the parts of this tuple names of their own, in the pattern");
                }
            }
            (pattern, Item::Place { place, unique: true }) if fields(pattern, &place).is_some() => {
                for (pattern, item) in self.fields_to_write(pattern, &place, out) {
                    self.bind_item(pattern, item, code, out);
                }
            }
            (Pat::Wild(_), Item::Place { .. }) => {}
            (Pat::Wild(_), item) if item.is_simple() => {}
            (Pat::Ident(name), Item::Place { unique, .. }) if unique && name.mutability.is_some() => {
                self.errors.push(
                    name,
                    "a reference that changes what it refers to is not differentiable: leave the `mut` out",
                );
            }
            // What is constant need not be `Copy`.
            (Pat::Slice(_), Item::Place { place, unique: false })
                if !self.suspects.any(&place)
                    && let Some(parts) = shared_parts(pattern, &place) =>
            {
                out.extend(parts);
            }
            (pattern, item) => {
                let looked_at = match (pattern, &item) {
                    (Pat::Ident(name), Item::Value(Expr::Index(element)))
                        if name.mutability.is_none() && name.by_ref.is_none() && name.subpat.is_none() =>
                    {
                        self.only_looked_at(&name.ident, element, code)
                    }
                    _ => None,
                };
                out.push(looked_at.unwrap_or_else(|| bound_to(pattern, &item.expr())));
            }
        }
    }

    /// The fields that a pattern takes apart, each of which may be written to.
    pub(crate) fn fields_to_write<'p>(
        &mut self,
        pattern: &'p Pat,
        place: &Expr,
        out: &mut Vec<Stmt>,
    ) -> Vec<(&'p Pat, Item)> {
        let whole = self.hidden("whole");
        out.push(parse_quote!(let #whole = &mut #place;));
        let fields = fields(pattern, &path(&whole)).into_iter().flatten();
        fields.map(|(pattern, place)| (pattern, Item::Place { place, unique: true })).collect()
    }

    /// A name of generated code that may carry a gradient.
    pub(crate) fn hidden(&mut self, name: &str) -> Ident {
        let name = self.names.fresh(name);
        self.suspects.insert(&name);
        name
    }
}

/// `let pattern = value;`
fn bound_to(pattern: &Pat, value: &Expr) -> Stmt {
    let span = pattern.span();
    syn::parse2(quote::quote_spanned!(span=> let #pattern = #value;))
        .unwrap_or_else(|_| parse_quote!(let #pattern = #value;))
}

/// Code that is about to be inlined.
pub(crate) struct Code {
    pub(crate) statements: Vec<Stmt>,
    pub(crate) value: Option<Expr>,
}

impl Code {
    pub(crate) fn of(body: &Expr) -> Code {
        match body {
            Expr::Block(block) if block.label.is_none() && block.attrs.is_empty() => {
                let mut statements = block.block.stmts.clone();
                let value = match statements.last() {
                    Some(Stmt::Expr(expr, None)) if !never_a_value(expr) => {
                        let value = expr.clone();
                        statements.pop();
                        Some(value)
                    }
                    _ => None,
                };
                Code { statements, value }
            }
            expr => Code { statements: Vec::new(), value: Some(expr.clone()) },
        }
    }

    /// Replaces a variable; false if it could not be replaced everywhere.
    pub(crate) fn replace(&mut self, name: &Ident, by: &Substitute) -> bool {
        self.replace_from(0, name, by)
    }

    pub(crate) fn replace_from(&mut self, from: usize, name: &Ident, by: &Substitute) -> bool {
        let mut replace = Replace::new(name, by);
        for statement in &mut self.statements[from..] {
            syn::visit_mut::VisitMut::visit_stmt_mut(&mut replace, statement);
        }
        if let Some(value) = &mut self.value {
            syn::visit_mut::VisitMut::visit_expr_mut(&mut replace, value);
        }
        !replace.left
    }
}

impl quote::ToTokens for Code {
    fn to_tokens(&self, tokens: &mut proc_macro2::TokenStream) {
        let (statements, value) = (&self.statements, &self.value);
        tokens.extend(quote!(#(#statements)* #value));
    }
}

/// `expr`, in parentheses where it needs them as an operand.
pub(crate) fn operand(expr: Expr) -> Expr {
    match expr {
        Expr::Path(_)
        | Expr::Lit(_)
        | Expr::Call(_)
        | Expr::MethodCall(_)
        | Expr::Field(_)
        | Expr::Index(_)
        | Expr::Paren(_)
        | Expr::Tuple(_)
        | Expr::Array(_)
        | Expr::Macro(_) => expr,
        expr if never_a_value(&expr) => expr,
        expr => parse_quote!((#expr)),
    }
}

pub(crate) fn never_a_value(expr: &Expr) -> bool {
    matches!(expr, Expr::ForLoop(_) | Expr::While(_) | Expr::Assign(_))
        || matches!(expr, Expr::Binary(binary) if crate::parse::assign_op(&binary.op).is_some())
}

/// The names of `pattern` for references to the parts of `place`.
fn shared_parts(pattern: &Pat, place: &Expr) -> Option<Vec<Stmt>> {
    let mut parts = Vec::new();
    name_parts(pattern, place, Referred::Shared, &mut parts).then_some(parts)
}
