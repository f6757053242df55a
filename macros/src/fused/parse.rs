//! From the syntax of a fused function to its graph.

use std::collections::HashMap;

use syn::parse::{Parse, ParseStream};
use syn::{Attribute, BinOp, Block, Expr, Ident, Lit, Pat, Stmt, Token, UnOp, Visibility, parenthesized};

use super::functions::Function;
use super::graph::*;
use crate::errors::Errors;

/// `pub fn name(x, w, s: T; axis) { … }`
pub(crate) struct Fused {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) operands: Vec<Operand>,
    pub(crate) arrays: Arrays,
    /// Rows run along an axis that each call names, and not through all there is.
    pub(crate) axis: bool,
    pub(crate) body: Block,
}

/// What a fused function takes arrays as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrays {
    /// ndarray's.
    Host,
    /// `<A>`: those of any memory.
    Anywhere,
    /// `<M>`: places in the memory `M`. It has no rule, but the two passes, for rules that are written by hand.
    Places,
}

pub(crate) struct Operand {
    pub(crate) name: Ident,
    /// A number, `s: T`, and not an array.
    pub(crate) scalar: bool,
}

/// All that stands in one `fused!`.
pub(crate) struct Functions(pub(crate) Vec<Fused>);

impl Parse for Functions {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut functions = Vec::new();
        while !input.is_empty() {
            functions.push(input.parse()?);
        }
        Ok(Functions(functions))
    }
}

impl Parse for Fused {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![fn]>()?;
        let name = input.parse()?;
        let mut arrays = Arrays::Host;
        if input.peek(Token![<]) {
            input.parse::<Token![<]>()?;
            let word: Ident = input.parse()?;
            arrays = match word.to_string().as_str() {
                "A" => Arrays::Anywhere,
                "M" => Arrays::Places,
                _ => {
                    return Err(syn::Error::new(
                        word.span(),
                        "between `<` and `>` stands `A`: the function is for arrays of any memory",
                    ));
                }
            };
            input.parse::<Token![>]>()?;
        }
        let list;
        parenthesized!(list in input);
        let mut operands = Vec::new();
        while !list.is_empty() && !list.peek(Token![;]) {
            operands.push(list.call(operand)?);
            if !list.peek(Token![,]) {
                break;
            }
            list.parse::<Token![,]>()?;
        }
        let axis = list.peek(Token![;]);
        if axis {
            list.parse::<Token![;]>()?;
            let word: Ident = list.parse()?;
            if word != "axis" {
                return Err(syn::Error::new(
                    word.span(),
                    "behind `;` stands `axis`: reductions run along that of the call",
                ));
            }
        }
        if !list.is_empty() {
            return Err(list.error("an operand is `x`, an array, or `s: T`, a number; `; axis` may follow"));
        }
        if operands.is_empty() {
            return Err(syn::Error::new_spanned(&name, "a fused function has operands"));
        }
        Ok(Fused { attributes, visibility, name, operands, arrays, axis, body: input.parse()? })
    }
}

fn operand(input: ParseStream<'_>) -> syn::Result<Operand> {
    let name = input.parse()?;
    let scalar = input.peek(Token![:]);
    if scalar {
        input.parse::<Token![:]>()?;
        let ty: Ident = input.parse()?;
        if ty != "T" {
            return Err(syn::Error::new(
                ty.span(),
                "a number among the operands is `s: T`: `T` is `f32` or `f64`",
            ));
        }
    }
    Ok(Operand { name, scalar })
}

impl Operand {
    /// Operand `number` in a graph.
    pub(crate) fn node(&self, number: usize) -> Node {
        if self.scalar { Node::Number(number) } else { Node::Input(number) }
    }
}

impl Fused {
    /// The graph of the function, and its value.
    pub(crate) fn graph(&self) -> syn::Result<(Graph, NodeId)> {
        let mut builder =
            Builder { graph: Graph::default(), names: HashMap::new(), errors: Errors::default() };
        for (number, operand) in self.operands.iter().enumerate() {
            let id = builder.graph.add(operand.node(number));
            builder.names.insert(operand.name.to_string(), id);
        }
        let value = builder.block(&self.body);
        builder.errors.finish()?;
        Ok((builder.graph, value))
    }
}

struct Builder {
    graph: Graph,
    names: HashMap<String, NodeId>,
    errors: Errors,
}

impl Builder {
    fn refuse(&mut self, tokens: impl quote::ToTokens, message: &str) -> NodeId {
        self.errors.push(tokens, message);
        self.graph.literal(0.0)
    }

    fn block(&mut self, block: &Block) -> NodeId {
        let outer = self.names.clone();
        let mut value = None;
        for statement in &block.stmts {
            match statement {
                Stmt::Local(local) => {
                    let (Pat::Ident(name), Some(init)) = (&local.pat, &local.init) else {
                        self.refuse(local, "a fused function has `let name = value;` and a value at its end");
                        continue;
                    };
                    let id = self.expr(&init.expr);
                    self.names.insert(name.ident.to_string(), id);
                }
                Stmt::Expr(expr, None) => value = Some(self.expr(expr)),
                other => {
                    self.refuse(other, "a fused function has `let name = value;` and a value at its end");
                }
            }
        }
        self.names = outer;
        value.unwrap_or_else(|| self.refuse(block, "this has no value"))
    }

    fn expr(&mut self, expr: &Expr) -> NodeId {
        match expr {
            Expr::Paren(paren) => self.expr(&paren.expr),
            Expr::Group(group) => self.expr(&group.expr),
            Expr::Block(block) if block.label.is_none() => self.block(&block.block),
            Expr::Lit(lit) => match number(&lit.lit) {
                Some(value) => self.graph.literal(value),
                None => self.refuse(lit, "a fused function computes with numbers"),
            },
            Expr::Path(path) => match path.path.get_ident().and_then(|name| self.names.get(&name.to_string())) {
                Some(id) => *id,
                None => self.refuse(path, "this is no operand of the fused function, and no variable of its: pass numbers as operands, `s: T`"),
            },
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                let id = self.expr(&unary.expr);
                self.graph.negative(id)
            }
            Expr::Binary(binary) => {
                let op = match binary.op {
                    BinOp::Add(_) => Binary::Add,
                    BinOp::Sub(_) => Binary::Sub,
                    BinOp::Mul(_) => Binary::Mul,
                    BinOp::Div(_) => Binary::Div,
                    op => return self.refuse(op, "a fused function has the operators `+ - * /`"),
                };
                let (left, right) = (self.expr(&binary.left), self.expr(&binary.right));
                self.graph.add(Node::Binary(op, left, right))
            }
            Expr::MethodCall(call) => self.method(call),
            Expr::Call(call) => self.call(call),
            Expr::If(branch) => self.select(branch),
            other => self.refuse(
                other,
                "a fused function is an expression of its operands: `+ - * /`, methods of numbers, `if`, `sum(…)` and the like",
            ),
        }
    }

    fn method(&mut self, call: &syn::ExprMethodCall) -> NodeId {
        let receiver = self.expr(&call.receiver);
        let args: Vec<&Expr> = call.args.iter().collect();
        match (call.method.to_string().as_str(), &args[..]) {
            ("powi", [exponent]) => match integer(exponent) {
                Some(n) => self.power(receiver, n),
                None => self.refuse(exponent, "the exponent of `powi` is a number here: otherwise `powf`"),
            },
            ("powf", [exponent]) => {
                let exponent = self.expr(exponent);
                self.graph.add(Node::Binary(Binary::Pow, receiver, exponent))
            }
            ("atan2", [other]) => {
                let other = self.expr(other);
                self.graph.add(Node::Binary(Binary::Atan2, receiver, other))
            }
            ("max", [other]) => {
                let other = self.expr(other);
                self.graph.select((receiver, Test::Less, other), other, receiver)
            }
            ("min", [other]) => {
                let other = self.expr(other);
                self.graph.select((other, Test::Less, receiver), other, receiver)
            }
            ("clamp", [least, most]) => {
                let (least, most) = (self.expr(least), self.expr(most));
                let raised = self.graph.select((receiver, Test::Less, least), least, receiver);
                self.graph.select((most, Test::Less, raised), most, raised)
            }
            ("mul_add", [factor, summand]) => {
                let (factor, summand) = (self.expr(factor), self.expr(summand));
                let product = self.graph.add(Node::Binary(Binary::Mul, receiver, factor));
                self.graph.add(Node::Binary(Binary::Add, product, summand))
            }
            (name, []) if Function::named(name).is_some() => {
                self.graph.apply(Function::named(name).expect("just found"), receiver)
            }
            _ => self.refuse(&call.method, "a fused function has no such method"),
        }
    }

    /// *xⁿ* by squaring.
    fn power(&mut self, x: NodeId, n: i32) -> NodeId {
        let mut result = None;
        let mut square = x;
        let mut rest = n.unsigned_abs();
        while rest > 0 {
            if rest % 2 == 1 {
                result = Some(match result {
                    Some(result) => self.graph.product(result, square),
                    None => square,
                });
            }
            rest /= 2;
            if rest > 0 {
                square = self.graph.product(square, square);
            }
        }
        let result = result.unwrap_or_else(|| self.graph.literal(1.0));
        if n < 0 { self.graph.apply(Function::Recip, result) } else { result }
    }

    fn call(&mut self, call: &syn::ExprCall) -> NodeId {
        let name = match &*call.func {
            Expr::Path(path) => path.path.get_ident().map(Ident::to_string).unwrap_or_default(),
            _ => String::new(),
        };
        let args: Vec<NodeId> = call.args.iter().map(|arg| self.expr(arg)).collect();
        match (name.as_str(), &args[..]) {
            ("sum", [x]) => self.graph.reduce(Reduction::Sum, *x),
            ("mean", [x]) => {
                let (sum, count) = (self.graph.reduce(Reduction::Sum, *x), self.graph.add(Node::Count));
                self.graph.quotient(sum, count)
            }
            ("max", [x]) => self.graph.reduce(Reduction::Max, *x),
            ("min", [x]) => self.graph.reduce(Reduction::Min, *x),
            ("constant", [x]) => self.graph.add(Node::Constant(*x)),
            ("count", []) => self.graph.add(Node::Count),
            _ => self.refuse(
                &call.func,
                "a fused function may call `sum`, `mean`, `max` and `min` of a row, `count()`, and `constant(…)`; others are methods: `x.exp()`",
            ),
        }
    }

    fn select(&mut self, branch: &syn::ExprIf) -> NodeId {
        let Expr::Binary(condition) = &*branch.cond else {
            return self.refuse(&branch.cond, "a condition of a fused function compares two numbers");
        };
        let Some((_, otherwise)) = &branch.else_branch else {
            return self.refuse(branch, "this `if` has no value without `else`");
        };
        let (left, right) = (self.expr(&condition.left), self.expr(&condition.right));
        let (then, otherwise) = (self.block(&branch.then_branch), self.expr(otherwise));
        match condition.op {
            BinOp::Lt(_) => self.graph.select((left, Test::Less, right), then, otherwise),
            BinOp::Le(_) => self.graph.select((left, Test::LessOrEqual, right), then, otherwise),
            BinOp::Gt(_) => self.graph.select((right, Test::Less, left), then, otherwise),
            BinOp::Ge(_) => self.graph.select((right, Test::LessOrEqual, left), then, otherwise),
            BinOp::Eq(_) => self.graph.select((left, Test::Equal, right), then, otherwise),
            BinOp::Ne(_) => self.graph.select((left, Test::Equal, right), otherwise, then),
            op => self.refuse(op, "a condition of a fused function compares two numbers"),
        }
    }
}

fn number(lit: &Lit) -> Option<f64> {
    match lit {
        Lit::Float(lit) => lit.base10_parse().ok(),
        Lit::Int(lit) => lit.base10_parse().ok(),
        _ => None,
    }
}

fn integer(expr: &Expr) -> Option<i32> {
    match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(lit) => lit.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => integer(&unary.expr).map(|n| -n),
        Expr::Paren(paren) => integer(&paren.expr),
        _ => None,
    }
}
