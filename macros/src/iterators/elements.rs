//! What chains of iterators begin with: the elements, rows and other parts of arrays.

use proc_macro2::Span;
use quote::ToTokens;
use syn::{Expr, ExprMethodCall, Ident, Stmt, parse_quote, parse_quote_spanned};

use super::plain;
use crate::iterators::array_windows::size_of_window;
use crate::iterators::flow::Flow;
use crate::iterators::source::{Access, Source, is_zero};
use crate::kind::kind_of_type;
use crate::outcome::inside_type;
use crate::parse::{Binding, Parser};
use crate::program::{Kind, Projection};
use crate::rename::path;

impl Parser<'_> {
    /// The rows of an array, or what else views it is gone through by: the method for each of them, and the axis.
    pub(crate) fn views(&self, call: &ExprMethodCall) -> Option<(Ident, Option<Expr>)> {
        let method = call.method.to_string();
        let (name, suffix) = match method.strip_suffix("_mut") {
            Some(name) => (name, "_mut"),
            None => (method.as_str(), ""),
        };
        let (view, axis) = match (name, call.args.len()) {
            ("rows", 0) => ("row", None),
            ("columns", 0) => ("column", None),
            ("outer_iter", 0) => ("index_axis", Some(parse_quote!(::pullback::__private::ndarray::Axis(0)))),
            ("axis_iter", 1) => ("index_axis", Some(call.args[0].clone())),
            ("lanes", 1) => ("index_axis", None),
            _ => return None,
        };
        // One that is not known is more than one: what is gone through are arrays.
        let rank = self.shape_of(&call.receiver)?.rank.unwrap_or(2);
        if name == "lanes" {
            // Those along one axis of a matrix are what is at the indices of the other one.
            let along = &call.args[0];
            let across = parse_quote!(::pullback::__private::ndarray::Axis(1 - #along.index()));
            return (rank == 2)
                .then(|| (Ident::new(&format!("index_axis{suffix}"), call.method.span()), Some(across)));
        }
        let fits = if axis.is_some() { rank > 1 } else { rank == 2 };
        fits.then(|| (Ident::new(&format!("{view}{suffix}"), call.method.span()), axis))
    }

    /// `x.rows().into_iter()`
    pub(super) fn iterates_views(&self, call: &ExprMethodCall) -> bool {
        call.method == "into_iter"
            && matches!(&*call.receiver, Expr::MethodCall(inner) if self.views(inner).is_some() || self.parts_of_array(inner).is_some())
    }

    pub(super) fn source(&mut self, call: &ExprMethodCall, out: &mut Vec<Stmt>) -> Option<Flow> {
        let base = &call.receiver;
        if !self.is_indexable(base) {
            return None;
        }
        let method = call.method.to_string();
        let size = |out: &mut Vec<Stmt>, parser: &mut Self| {
            call.args.first().map(|size| parser.size_of_part(size, out))
        };
        let source = match method.as_str() {
            "iter" => return self.elements(base, Access::Shared, out),
            "iter_mut" => return self.elements(base, Access::Unique, out),
            "into_iter" => {
                let access = match &**base {
                    Expr::Reference(reference) if reference.mutability.is_some() => Access::Unique,
                    Expr::Reference(_) => Access::Shared,
                    other => self.access(other),
                };
                let base = match &**base {
                    Expr::Reference(reference) => (*reference.expr).clone(),
                    other => other.clone(),
                };
                return self.elements(&base, access, out);
            }
            "windows" => {
                Source::Windows { base: self.base(base, Access::Shared, out), size: size(out, self)? }
            }
            "array_windows" => {
                let (base, size) = (self.base(base, Access::Shared, out), size_of_window(call)?);
                Source::Windows { base, size: self.size_of_part(&size, out) }
            }
            _ => {
                let unique = method.ends_with("_mut");
                let access = if unique { Access::Unique } else { Access::Shared };
                let base = self.base(base, access, out);
                let len = (!method.starts_with("chunks_exact")).then(|| {
                    let n = self.names.fresh("n");
                    out.push(parse_quote!(let #n = #base.len();));
                    n
                });
                Source::Chunks { base, size: size(out, self)?, len, unique }
            }
        };
        Some(plain(source))
    }

    /// The elements of something that is indexed.
    pub(super) fn elements(&mut self, base: &Expr, access: Access, out: &mut Vec<Stmt>) -> Option<Flow> {
        if !self.is_indexable(base) {
            return None;
        }
        let rank = self.rank(base);
        let untold = (rank.is_none() && self.is_untold_part(base)).then(|| last_span(base));
        let base = self.base(base, access, out);
        let constant = matches!(&base, Expr::Path(path) if self.is_untold_constant(&path.path));
        Some(plain(match rank {
            _ if constant && access == Access::Value => Source::Constants(base),
            Some(2) => Source::Matrix { base, access, columns: None },
            _ => {
                let numbering = untold.map(|span| {
                    let numbering = self.names.fresh("numbering");
                    out.push(parse_quote_spanned!(span=> let #numbering = #base.numbering();));
                    numbering
                });
                Source::Elements { base, access, numbering }
            }
        }))
    }

    /// A part of something, of which nothing tells the type: it may be an array with several axes.
    fn is_untold_part(&self, expr: &Expr) -> bool {
        let part = match expr {
            Expr::Paren(paren) => return self.is_untold_part(&paren.expr),
            Expr::Reference(reference) => return self.is_untold_part(&reference.expr),
            Expr::Unary(unary) => return self.is_untold_part(&unary.expr),
            Expr::Field(_) => true,
            Expr::Index(index) => !matches!(&*index.index, Expr::Range(_)),
            Expr::Path(path) => match path.path.get_ident().and_then(|name| self.lookup(name)) {
                Some(Binding::Alias { place, .. }) => match place.projections.last() {
                    Some(Projection::Index(index)) => {
                        !matches!(self.program.exprs[*index].syntax, Expr::Range(_))
                    }
                    last => last.is_some(),
                },
                _ => false,
            },
            _ => false,
        };
        part && self.kind_of_syntax(expr) == Kind::Unknown
    }

    /// `expr` may be a slice, an array, a `Vec` or the like.
    pub(super) fn is_indexable(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.is_indexable(&paren.expr),
            Expr::Reference(reference) => self.is_indexable(&reference.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.is_indexable(&unary.expr),
            Expr::Range(_) | Expr::Closure(_) => false,
            Expr::Path(_) => {
                self.rank(expr).is_none_or(|rank| rank <= 2)
                    && !matches!(self.kind_of_syntax(expr), Kind::Float | Kind::Inert)
                    && !self.is_keyed(expr)
                    && (self.suspects.any(expr) || !self.is_told_to_be_of_user(expr))
            }
            // Values of a map are reached by an iterator alone.
            Expr::MethodCall(call) if self.is_keyed(&call.receiver) => call.method == "get_mut",
            Expr::MethodCall(call) => !self.is_chain(expr) || call.method == "collect",
            _ => true,
        }
    }

    /// A local without gradient that may be a reference, as of what a map holds, or a `const` or `static`, `Q::WEIGHTS`.
    fn is_untold_constant(&self, path: &syn::Path) -> bool {
        let Some(name) = path.get_ident() else { return true };
        match self.lookup(name) {
            Some(Binding::Variable(id)) => {
                let variable = &self.program.variables[*id];
                variable.origin == crate::program::Origin::Local
                    && variable.kind == Kind::Unknown
                    && !self.suspects.contains(name)
            }
            Some(_) => false,
            None => name.to_string().starts_with(char::is_uppercase),
        }
    }

    /// A map or a set, as its type tells, or what makes it.
    pub(crate) fn is_keyed(&self, variable: &Expr) -> bool {
        const KEYED: &[&str] = &["HashMap", "BTreeMap", "HashSet", "BTreeSet", "LinkedList", "BinaryHeap"];
        let Some(id) = self.variable(variable) else { return false };
        let keyed = |segment: &syn::PathSegment| KEYED.iter().any(|keyed| segment.ident == keyed);
        match self.types.get(&id) {
            Some(syn::Type::Path(ty)) => ty.path.segments.last().is_some_and(keyed),
            Some(_) => false,
            // `HashMap::new()`
            None => match self.program.init_of(id).map(|init| &self.program.exprs[init].syntax) {
                Some(Expr::Call(call)) => {
                    matches!(&*call.func, Expr::Path(path) if path.path.segments.iter().rev().nth(1).is_some_and(keyed))
                }
                _ => false,
            },
        }
    }

    /// What goes through a variable that is an `Option` of a number, as its type tells: through what is inside, if there is anything.
    pub(super) fn items_of_option(&self, expr: &Expr) -> Option<Expr> {
        let (option, method): (_, Ident) = match expr {
            Expr::MethodCall(call)
                if call.args.is_empty() && (call.method == "iter" || call.method == "into_iter") =>
            {
                (&*call.receiver, call.method.clone())
            }
            Expr::Reference(reference) if reference.mutability.is_none() => {
                (&*reference.expr, parse_quote!(iter))
            }
            expr => (expr, parse_quote!(into_iter)),
        };
        let inside = self.variable(option).and_then(|id| inside_type(self.types.get(&id)?))?;
        matches!(kind_of_type(&inside), Kind::Float | Kind::Inert)
            .then(|| parse_quote!([#option].#method().flatten()))
    }

    /// What an expression is indexed by in a loop: a name for it, unless it is one.
    pub(super) fn base(&mut self, expr: &Expr, access: Access, out: &mut Vec<Stmt>) -> Expr {
        match expr {
            Expr::Paren(paren) => self.base(&paren.expr, access, out),
            Expr::Path(_) => expr.clone(),
            Expr::Field(field) if is_path_of_fields(&field.base) => expr.clone(),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => match &*unary.expr {
                // Indexing follows references by itself.
                Expr::Path(_) => (*unary.expr).clone(),
                _ => expr.clone(),
            },
            Expr::Index(_) | Expr::Field(_) => {
                let mut part = expr.clone();
                if let Some(call) = call_of_part(&mut part) {
                    let name = self.hidden("returned");
                    out.push(parse_quote!(let #name = #call;));
                    *call = path(&name);
                    return part;
                }
                let name = self.hidden("part");
                out.push(match access {
                    Access::Unique => parse_quote!(let #name = &mut #expr;),
                    _ => parse_quote!(let #name = &#expr;),
                });
                path(&name)
            }
            _ => {
                let name = self.hidden("items");
                out.push(match access {
                    Access::Unique => parse_quote!(let mut #name = #expr;),
                    _ => parse_quote!(let #name = #expr;),
                });
                path(&name)
            }
        }
    }

    /// How a `for` over `expr` gets the elements.
    pub(crate) fn access(&self, expr: &Expr) -> Access {
        match expr {
            Expr::Path(path) => match path.path.get_ident().and_then(|name| self.lookup(name)) {
                Some(Binding::Alias { unique, .. }) => {
                    if *unique {
                        Access::Unique
                    } else {
                        Access::Shared
                    }
                }
                Some(Binding::Variable(id)) => {
                    let variable = &self.program.variables[*id];
                    let numbers = variable.kind == Kind::Sequence(Box::new(Kind::Float));
                    match variable.origin {
                        // It is lent, and gives numbers as if it were not.
                        crate::program::Origin::Shared if numbers && self.by_value.contains(id) => {
                            Access::Value
                        }
                        crate::program::Origin::Shared => Access::Shared,
                        crate::program::Origin::Unique => Access::Unique,
                        _ => Access::Value,
                    }
                }
                _ => Access::Value,
            },
            Expr::Paren(paren) => self.access(&paren.expr),
            _ => Access::Value,
        }
    }

    /// An operand that is evaluated once, before the loop.
    pub(super) fn once(&mut self, expr: &Expr, name: &str, out: &mut Vec<Stmt>) -> Expr {
        match expr {
            Expr::Lit(_) => expr.clone(),
            _ => {
                let name = self.names.fresh(name);
                out.push(parse_quote!(let #name: usize = #expr;));
                path(&name)
            }
        }
    }

    /// The size of windows or chunks, which is not to be zero, as by the method itself.
    pub(super) fn size_of_part(&mut self, size: &Expr, out: &mut Vec<Stmt>) -> Expr {
        let size = self.once(size, "size", out);
        if !matches!(size, Expr::Lit(_)) || is_zero(&size) {
            out.push(parse_quote!(assert!(#size != 0, "the size of a part must not be zero");));
        }
        size
    }

    /// A bound of a range: it may be asked for several times.
    pub(super) fn bound(&mut self, expr: &Expr, name: &str, out: &mut Vec<Stmt>) -> Expr {
        let simple = match expr {
            Expr::Lit(_) | Expr::Path(_) => true,
            Expr::MethodCall(call) => crate::kind::inert_method(&call.method.to_string()),
            _ => false,
        };
        if simple {
            return expr.clone();
        }
        let name = self.names.fresh(name);
        out.push(parse_quote!(let #name = #expr;));
        path(&name)
    }
}

/// Where `expr` ends.
fn last_span(expr: &Expr) -> Span {
    expr.to_token_stream().into_iter().last().map_or_else(Span::call_site, |last| last.span())
}

/// The call of whose result `part` is a part.
fn call_of_part(part: &mut Expr) -> Option<&mut Expr> {
    match part {
        Expr::Field(field) => call_of_part(&mut field.base),
        Expr::Paren(paren) => call_of_part(&mut paren.expr),
        Expr::Call(_) | Expr::MethodCall(_) => Some(part),
        _ => None,
    }
}

fn is_path_of_fields(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) => true,
        Expr::Field(field) => is_path_of_fields(&field.base),
        _ => false,
    }
}
