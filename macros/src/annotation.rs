//! `#[pullback(…)]` on a loop: how the reverse pass comes by what it needs of each iteration. On another statement
//! `#[pullback(recompute)]` marks calls of rules that run the functions they are given in the reverse pass as well.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Ident, Stmt, Token, parse_quote};

use crate::errors::Errors;
use crate::parse::Parser;
use crate::program::{BlockId, Placement, Strategy};

const WAYS: &str = "write `store`, `recompute`, `checkpoint = n` or `binomial = n` here";

enum Annotation {
    Store,
    Recompute,
    Checkpoint(Expr),
    Binomial(Expr),
}

impl syn::parse::Parse for Annotation {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input.parse()?;
        let annotation = match name.to_string().as_str() {
            "store" => Annotation::Store,
            "recompute" => Annotation::Recompute,
            "checkpoint" => Annotation::Checkpoint(number(input)?),
            "binomial" => Annotation::Binomial(number(input)?),
            _ => return Err(syn::Error::new(name.span(), WAYS)),
        };
        if input.is_empty() { Ok(annotation) } else { Err(input.error(WAYS)) }
    }
}

fn number(input: syn::parse::ParseStream<'_>) -> syn::Result<Expr> {
    input.parse::<Token![=]>().map_err(|e| syn::Error::new(e.span(), WAYS))?;
    input.parse()
}

fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().is_ident("pullback")
}

/// The attributes in front of a statement other than a loop, where the parser puts them.
fn attributes(stmt: &mut Stmt) -> Option<&mut Vec<Attribute>> {
    fn first(expr: &mut Expr) -> Option<&mut Vec<Attribute>> {
        Some(match expr {
            Expr::Assign(assign) => return first(&mut assign.left),
            Expr::Binary(binary) => return first(&mut binary.left),
            Expr::Cast(cast) => return first(&mut cast.expr),
            Expr::Call(expr) => &mut expr.attrs,
            Expr::MethodCall(expr) => &mut expr.attrs,
            Expr::Path(expr) => &mut expr.attrs,
            Expr::Lit(expr) => &mut expr.attrs,
            Expr::Index(expr) => &mut expr.attrs,
            Expr::Field(expr) => &mut expr.attrs,
            Expr::Unary(expr) => &mut expr.attrs,
            Expr::Paren(expr) => &mut expr.attrs,
            Expr::Tuple(expr) => &mut expr.attrs,
            Expr::Array(expr) => &mut expr.attrs,
            Expr::Try(expr) => &mut expr.attrs,
            Expr::Return(expr) => &mut expr.attrs,
            _ => return None,
        })
    }
    match stmt {
        Stmt::Local(local) => Some(&mut local.attrs),
        Stmt::Expr(expr, _) => first(expr),
        Stmt::Item(_) | Stmt::Macro(_) => None,
    }
}

/// Takes the mark off a statement whose calls run functions in both passes. Tells whether there was one.
pub(crate) fn take_mark(stmt: &mut Stmt) -> bool {
    let Some(attributes) = attributes(stmt) else { return false };
    let mark = |a: &Attribute| is_ours(a) && matches!(a.parse_args(), Ok(Annotation::Recompute));
    attributes.iter().position(mark).map(|i| attributes.remove(i)).is_some()
}

/// Takes `#[pullback(by_reference)]` off `let s: State = …;` or `let s = State { … };`, and returns the type, which is said to own memory.
pub(crate) fn take_owner(local: &mut syn::Local) -> Option<syn::Type> {
    let ty = match (&local.pat, &local.init) {
        (syn::Pat::Type(typed), _) => (*typed.ty).clone(),
        (syn::Pat::Ident(_), Some(init)) => match &*init.expr {
            Expr::Struct(literal) => {
                let path = &literal.path;
                parse_quote!(#path)
            }
            _ => return None,
        },
        _ => return None,
    };
    let i = local.attrs.iter().position(says_owner)?;
    local.attrs.remove(i);
    Some(ty)
}

/// `#[pullback(by_reference)]`
fn says_owner(attribute: &Attribute) -> bool {
    is_ours(attribute) && attribute.parse_args::<Ident>().is_ok_and(|word| word == "by_reference")
}

/// Puts it there.
pub(crate) fn mark(stmt: &mut Stmt) {
    if let Some(attributes) = attributes(stmt) {
        attributes.push(parse_quote!(#[pullback(recompute)]));
    }
}

impl Parser<'_> {
    /// What the attributes of a loop ask for.
    pub(crate) fn strategy(&mut self, attributes: &[Attribute]) -> Option<Strategy> {
        let mut ours = attributes.iter().filter(|a| is_ours(a));
        let attribute = ours.next()?;
        if let Some(second) = ours.next() {
            self.errors.push(second, "a loop has one strategy: leave one of these out");
        }
        match attribute.parse_args() {
            Ok(Annotation::Store) => Some(Strategy::Store),
            // Each iteration starts from a checkpoint of its own.
            Ok(Annotation::Recompute) => {
                let every = syn::LitInt::new("1", attribute.path().span());
                let every = self.inert_expr(&parse_quote!(#every));
                Some(Strategy::Checkpoint(Placement::Every(every)))
            }
            Ok(Annotation::Checkpoint(every)) => {
                let every = self.inert_expr(&every);
                Some(Strategy::Checkpoint(Placement::Every(every)))
            }
            Ok(Annotation::Binomial(limit)) => {
                let limit = self.inert_expr(&limit);
                Some(Strategy::Checkpoint(Placement::Binomial(limit)))
            }
            Err(error) => {
                self.errors.add(error);
                None
            }
        }
    }

    /// The loop with this body, whose syntax is `tokens`, has been parsed.
    pub(crate) fn heed(&mut self, strategy: Option<Strategy>, body: BlockId, tokens: impl ToTokens) {
        if strategy.is_some() {
            // The compiler knows no such attribute.
            self.program.blocks[self.block].rewritten = true;
            self.name_places(body, tokens);
        }
        if let Some(Strategy::Store) = strategy {
            let within = self.program.nested(body);
            self.program.stored.extend(within);
        }
        self.program.annotated |= strategy.is_some();
    }
}

/// Reports annotations on what is not a loop that has a strategy.
pub(crate) fn report(body: &syn::Block, errors: &mut Errors) {
    struct Visitor<'e>(&'e mut Errors);
    impl<'ast> syn::visit::Visit<'ast> for Visitor<'_> {
        fn visit_stmt(&mut self, stmt: &'ast Stmt) {
            let mut rest = stmt.clone();
            take_mark(&mut rest);
            if let Stmt::Local(local) = &mut rest {
                take_owner(local);
            }
            syn::visit::visit_stmt(&mut Visitor(self.0), &rest);
        }
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::ForLoop(f) => {
                    self.visit_expr(&f.expr);
                    self.visit_block(&f.body);
                }
                Expr::While(w) => {
                    self.visit_expr(&w.cond);
                    self.visit_block(&w.body);
                }
                _ => syn::visit::visit_expr(self, expr),
            }
        }
        fn visit_attribute(&mut self, attribute: &'ast Attribute) {
            if is_ours(attribute) {
                let why = match says_owner(attribute) {
                    true => {
                        "`by_reference` goes in front of a type, of a parameter, or of a `let` that tells the type: `let s: State = f(x);`, `let s = State { … };`"
                    }
                    false => {
                        "only `for` and `while` loops have a strategy, and `recompute` goes in front of a statement as well"
                    }
                };
                self.0.push(attribute, why);
            }
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    syn::visit::Visit::visit_block(&mut Visitor(errors), body);
}

/// The expression in the annotation of a loop.
fn operand(statement: &syn::Stmt) -> Option<Expr> {
    let syn::Stmt::Expr(
        Expr::ForLoop(syn::ExprForLoop { attrs, .. }) | Expr::While(syn::ExprWhile { attrs, .. }),
        _,
    ) = statement
    else {
        return None;
    };
    match attrs.iter().find(|a| is_ours(a))?.parse_args() {
        Ok(Annotation::Checkpoint(operand) | Annotation::Binomial(operand)) => Some(operand),
        _ => None,
    }
}

/// Takes annotations off the code that the compiler is to see.
pub(crate) struct Strip;

impl VisitMut for Strip {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        attributes.retain(|a| !is_ours(a));
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        let mut i = 0;
        while i < block.stmts.len() {
            // What the annotation alone mentions is not unused.
            if let Some(operand) = operand(&block.stmts[i]) {
                block.stmts.insert(i, parse_quote!(let _ = &(#operand);));
                i += 1;
            }
            i += 1;
        }
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = stripped(std::mem::take(&mut mac.tokens));
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// What a macro is given, without annotations.
fn stripped(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let first = group.stream().into_iter().next();
                let ours = group.delimiter() == Delimiter::Bracket
                    && matches!(first, Some(TokenTree::Ident(name)) if name == "pullback")
                    && matches!(kept.last(), Some(TokenTree::Punct(hash)) if hash.as_char() == '#');
                if ours {
                    kept.pop();
                } else {
                    let mut inner = Group::new(group.delimiter(), stripped(group.stream()));
                    inner.set_span(group.span());
                    kept.push(inner.into());
                }
            }
            token => kept.push(token),
        }
    }
    kept.into_iter().collect()
}
