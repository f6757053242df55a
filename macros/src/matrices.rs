//! Vectors and matrices of nalgebra on the heap. An operator of theirs yields a new one, or changes one that it owns. Either
//! becomes the call of a function that has a rule, see `rules/src/nalgebra/on_heap.rs`:
//!
//! ```text
//! let y = &a * &x + &b;    let mut part = product(&a, &x); add(&b, &mut part); let y = part;
//! ```

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, Ident, Stmt, Token, UnOp, parse_quote};

use crate::kind::inert;
use crate::lowering::Lowering;
use crate::parse::Parser;
use crate::program::*;
use crate::suspects::Suspects;

/// Without the feature these names mean nothing; what is said of them is tested all the same.
const KNOWN: bool = cfg!(any(feature = "nalgebra", test));

/// Names of types whose values are on the heap: `DVector`, `Matrix3xX`.
pub(crate) fn on_heap(name: &str) -> bool {
    let partly = |sizes: &str| sizes.starts_with("Xx") || sizes.ends_with("xX");
    KNOWN
        && (["DVector", "DMatrix", "RowDVector"].contains(&name)
            || name.strip_prefix("Matrix").is_some_and(partly))
}

/// Names of types whose dimensions are known: `SVector`, `Vector3`, `Matrix2x4`.
pub(crate) fn on_stack(name: &str) -> bool {
    let sizes = ["Vector", "RowVector", "Matrix"].iter().find_map(|start| name.strip_prefix(start));
    let sized = |sizes: &str| !sizes.is_empty() && sizes.chars().all(|c| c.is_ascii_digit() || c == 'x');
    KNOWN && (["SVector", "SMatrix", "RowSVector"].contains(&name) || sizes.is_some_and(sized))
}

/// Methods of nalgebra's that only read. Where one of a user's type has such a name and writes, and its result is used, the compiler refuses it.
const READING: &[&str] = &[
    "add_scalar",
    "clone_owned",
    "column",
    "component_div",
    "component_mul",
    "cross",
    "cross_matrix",
    "determinant",
    "diagonal",
    "dot",
    "fixed_columns",
    "fixed_rows",
    "fixed_view",
    "into_owned",
    "lerp",
    "magnitude",
    "magnitude_squared",
    "mean",
    "metric_distance",
    "norm",
    "norm_squared",
    "normalize",
    "row",
    "scale",
    "sum",
    "tr_mul",
    "trace",
    "transpose",
    "try_inverse",
    "unscale",
];

/// The method only reads its receiver, as its name tells.
pub(crate) fn reads(name: &Ident) -> bool {
    KNOWN && READING.iter().any(|method| name == method)
}

/// `matrices::product` and the like, which return a matrix on the heap.
pub(crate) fn makes(function: &Ident, module: &syn::PathSegment) -> bool {
    module.ident == "matrices" && ["product", "copy", "transpose"].iter().any(|name| function == name)
}

/// A method of a matrix that yields another one, as functions in `matrices`.
enum Method {
    /// Of the receiver.
    Made(&'static str),
    /// Of a copy of the receiver, which it changes together with the argument.
    Changed(&'static str, Takes),
}

/// What the argument of a method is.
enum Takes {
    Matrix,
    Number,
}

fn method(call: &syn::ExprMethodCall) -> Option<Method> {
    Some(match (call.method.to_string().as_str(), call.args.len()) {
        ("transpose", 0) => Method::Made("transpose"),
        ("clone" | "clone_owned", 0) => Method::Made("copy"),
        ("component_mul", 1) => Method::Changed("multiply_entries", Takes::Matrix),
        ("component_div", 1) => Method::Changed("divide_entries", Takes::Matrix),
        ("scale", 1) => Method::Changed("scale", Takes::Number),
        ("unscale", 1) => Method::Changed("divide", Takes::Number),
        ("add_scalar", 1) => Method::Changed("add_number", Takes::Number),
        _ => return None,
    })
}

impl Parser<'_> {
    /// nalgebra's `vector![x, y]` and `matrix![a, b; c, d]`, written out, if something in it may carry a gradient.
    pub(crate) fn matrix_macro(&self, mac: &syn::Macro) -> Option<Expr> {
        let name = &mac.path.segments.last()?.ident;
        let vector = name == "vector";
        if !KNOWN || !(vector || name == "matrix") || !self.suspects.any(&mac.tokens) {
            return None;
        }
        let rows = |input: syn::parse::ParseStream| {
            Punctuated::<Row, Token![;]>::parse_terminated(input)
                .map(|rows| rows.into_iter().collect::<Vec<_>>())
        };
        let rows = syn::parse::Parser::parse2(rows, mac.tokens.clone()).ok()?;
        let columns = rows.first()?.0.len();
        if rows.iter().any(|row| row.0.len() != columns) || vector && rows.len() > 1 {
            return None;
        }
        let (rows_here, columns) = if vector { (columns, 1) } else { (rows.len(), columns) };
        let entries = rows.iter().flat_map(|row| &row.0);
        Some(
            parse_quote!(::pullback::__private::nalgebra::SMatrix::<_, #rows_here, #columns>::new(#(#entries),*)),
        )
    }
}

/// One row of `matrix!`.
struct Row(Punctuated<Expr, Token![,]>);

impl syn::parse::Parse for Row {
    fn parse(input: syn::parse::ParseStream) -> syn::Result<Self> {
        Punctuated::parse_separated_nonempty(input).map(Row)
    }
}

/// Takes operators of matrices on the heap out of a statement.
pub(crate) struct Lower<'p, 'e> {
    parser: &'p mut Parser<'e>,
    before: Vec<Stmt>,
}

impl<'p, 'e> Lower<'p, 'e> {
    pub(crate) fn new(parser: &'p mut Parser<'e>) -> Self {
        Lower { parser, before: Vec::new() }
    }
}

impl Lowering for Lower<'_, '_> {
    const KNOWN: bool = KNOWN;
    const WHAT: &'static str = "matrices";

    fn is_changed(&self, place: &Expr) -> bool {
        self.is_matrix(place)
    }
    fn suspects(&self) -> &Suspects {
        &self.parser.suspects
    }
    fn change(&mut self, place: &Expr, op: Op, value: &Expr) {
        let place = quote::quote!(&mut #place);
        let function = match op {
            Op::Add => "add",
            Op::Sub => "subtract",
            Op::Mul => "scale",
            Op::Div => "divide",
            Op::Rem => return,
        };
        let value = match op {
            Op::Add | Op::Sub => self.borrowed(value),
            _ => self.number(value),
        };
        self.call(function, &[value, place]);
    }
    fn replaced(&mut self, place: &Expr) {
        let why = "a matrix behind a reference is not replaced differentiably: write to it by `copy_from`";
        self.parser.errors.push(place, why);
    }
    fn before(self) -> Vec<Stmt> {
        self.before
    }
}

impl Lower<'_, '_> {
    /// The value is a matrix on the heap, or a reference to one, as far as the syntax tells.
    fn is_matrix(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.is_matrix(&paren.expr),
            Expr::Group(group) => self.is_matrix(&group.expr),
            Expr::Reference(reference) => self.is_matrix(&reference.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => self.is_matrix(&unary.expr),
            Expr::Binary(binary) => {
                operator(&binary.op).is_some()
                    && (self.is_matrix(&binary.left) || self.is_matrix(&binary.right))
            }
            Expr::MethodCall(call) => method(call).is_some() && self.is_matrix(&call.receiver),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => {
                    let mut segments = path.path.segments.iter().rev();
                    let (name, owner) = (segments.next(), segments.next());
                    let both = name.zip(owner);
                    both.is_some_and(|(name, owner)| {
                        makes(&name.ident, owner) || on_heap(&owner.ident.to_string())
                    })
                }
                _ => false,
            },
            expr => matches!(self.parser.kind_of_syntax(expr), kind @ Kind::Matrix(_) if !inert(&kind)),
        }
    }

    /// `expr` computes a matrix out of others, of which one may carry a gradient.
    fn is_operator(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.is_operator(&paren.expr),
            Expr::Group(group) => self.is_operator(&group.expr),
            Expr::Unary(unary) if !matches!(unary.op, UnOp::Neg(_)) => false,
            Expr::Binary(_) | Expr::Unary(_) | Expr::MethodCall(_) => {
                self.is_matrix(expr) && self.parser.suspects.any(expr)
            }
            _ => false,
        }
    }

    fn call(&mut self, function: &str, args: &[TokenStream]) {
        let function = Ident::new(function, proc_macro2::Span::mixed_site());
        self.before.push(parse_quote!(::pullback::__private::matrices::#function(#(#args),*);));
    }

    fn bind(&mut self, value: TokenStream) -> Ident {
        let part = self.parser.parts.fresh("part");
        self.parser.suspects.insert(&part);
        self.before.push(parse_quote!(let mut #part = #value;));
        part
    }

    fn make(&mut self, function: &str, args: &[TokenStream]) -> Ident {
        let function = Ident::new(function, proc_macro2::Span::mixed_site());
        self.bind(quote::quote!(::pullback::__private::matrices::#function(#(#args),*)))
    }

    /// A place that holds the value of `expr`, by reference.
    fn borrowed(&mut self, expr: &Expr) -> TokenStream {
        match expr {
            Expr::Paren(paren) => self.borrowed(&paren.expr),
            Expr::Group(group) => self.borrowed(&group.expr),
            Expr::Reference(reference) => self.borrowed(&reference.expr),
            Expr::Path(path) if path.path.get_ident().is_some_and(|name| self.parser.is_reference(name)) => {
                path.to_token_stream()
            }
            Expr::Path(_) | Expr::Index(_) | Expr::Field(_) => {
                self.know(expr);
                quote::quote!(&#expr)
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => quote::quote!(&#expr),
            expr => {
                let part = self.owned(expr);
                quote::quote!(&#part)
            }
        }
    }

    /// The expression is a value rather than a reference to one.
    fn is_owned(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.is_owned(&paren.expr),
            Expr::Group(group) => self.is_owned(&group.expr),
            Expr::Reference(_) => false,
            Expr::Path(path) => !path.path.get_ident().is_some_and(|name| self.parser.is_reference(name)),
            _ => true,
        }
    }

    /// A local of its own with the value of `expr`.
    fn owned(&mut self, expr: &Expr) -> Ident {
        match expr {
            Expr::Paren(paren) => self.owned(&paren.expr),
            Expr::Group(group) => self.owned(&group.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                let part = self.owned(&unary.expr);
                self.call("negate", &[quote::quote!(&mut #part)]);
                part
            }
            Expr::Binary(binary) => match operator(&binary.op) {
                Some(op) => self.operation(op, &binary.left, &binary.right),
                None => self.bind(expr.to_token_stream()),
            },
            Expr::MethodCall(call) if self.is_matrix(expr) => match method(call).expect("as found before") {
                Method::Made(function) => {
                    let receiver = self.borrowed(&call.receiver);
                    self.make(function, &[receiver])
                }
                Method::Changed(function, takes) => {
                    let part = self.copied(&call.receiver);
                    let arg = match takes {
                        Takes::Matrix => self.borrowed(&call.args[0]),
                        Takes::Number => self.number(&call.args[0]),
                    };
                    self.call(function, &[arg, quote::quote!(&mut #part)]);
                    part
                }
            },
            expr if self.is_owned(expr) => {
                self.know(expr);
                self.bind(expr.to_token_stream())
            }
            expr => self.copied(expr),
        }
    }

    /// A local next to a matrix, where no number stands, is one as well.
    fn know(&mut self, expr: &Expr) {
        let Expr::Path(path) = expr else { return };
        let name = path.path.get_ident().and_then(|name| self.parser.lookup(name));
        let Some(&crate::parse::Binding::Variable(id)) = name else { return };
        let variable = &mut self.parser.program.variables[id];
        if variable.kind == Kind::Unknown && variable.origin == Origin::Local {
            variable.kind = Kind::Matrix(Box::new(Kind::Unknown));
            variable.heap = true;
        }
    }

    fn copied(&mut self, expr: &Expr) -> Ident {
        let place = self.borrowed(expr);
        self.make("copy", &[place])
    }

    /// A number, with operators of matrices in it taken out.
    fn number(&mut self, expr: &Expr) -> TokenStream {
        let mut expr = expr.clone();
        self.visit_expr_mut(&mut expr);
        expr.to_token_stream()
    }

    fn operation(&mut self, op: Op, left: &Expr, right: &Expr) -> Ident {
        // Next to a matrix, what is borrowed or transposed is one as well: numbers are not.
        let matrix = |this: &Self, e: &Expr| match e {
            Expr::Reference(_) => true,
            Expr::MethodCall(call) if call.method == "transpose" => true,
            e => this.is_matrix(e),
        };
        match (op, matrix(self, left), matrix(self, right)) {
            (Op::Mul, true, true) => {
                let (left, right) = (self.borrowed(left), self.borrowed(right));
                self.make("product", &[left, right])
            }
            (Op::Mul, false, _) => {
                let s = self.number(left);
                let part = self.owned(right);
                self.call("scale", &[s, quote::quote!(&mut #part)]);
                part
            }
            (Op::Mul | Op::Div, _, _) => {
                let part = self.owned(left);
                let s = self.number(right);
                let function = if op == Op::Mul { "scale" } else { "divide" };
                self.call(function, &[s, quote::quote!(&mut #part)]);
                part
            }
            _ if !self.is_owned(left) && self.is_owned(right) => {
                let left = self.borrowed(left);
                let part = self.owned(right);
                if op == Op::Sub {
                    self.call("negate", &[quote::quote!(&mut #part)]);
                }
                self.call("add", &[left, quote::quote!(&mut #part)]);
                part
            }
            _ => {
                let part = self.owned(left);
                let right = self.borrowed(right);
                let function = if op == Op::Sub { "subtract" } else { "add" };
                self.call(function, &[right, quote::quote!(&mut #part)]);
                part
            }
        }
    }
}

impl VisitMut for Lower<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if self.is_operator(expr) {
            let part = self.owned(expr);
            *expr = parse_quote!(#part);
            return;
        }
        match expr {
            // Parsed on their own, or emitted as they are.
            Expr::If(_)
            | Expr::Match(_)
            | Expr::Loop(_)
            | Expr::Block(_)
            | Expr::Closure(_)
            | Expr::Macro(_) => {}
            Expr::ForLoop(_) | Expr::While(_) => {}
            Expr::Binary(binary) if operator(&binary.op).is_none() => {}
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_block_mut(&mut self, _: &mut syn::Block) {}
}

pub(crate) fn operator(op: &BinOp) -> Option<Op> {
    Some(match op {
        BinOp::Add(_) => Op::Add,
        BinOp::Sub(_) => Op::Sub,
        BinOp::Mul(_) => Op::Mul,
        BinOp::Div(_) => Op::Div,
        _ => return None,
    })
}
