//! Whole arrays of ndarray. What computes an array out of others becomes the call of a function that has a rule, see
//! `rules/src/arrays`:
//!
//! ```text
//! let h = (x.dot(w) + b).mapv(f64::tanh);
//! let part = arrays::dot(x, w); let part_2 = arrays::add_left(&part, b); let h = arrays::mapv(&part_2, f64::tanh);
//! ```
//!
//! A view, such as `x.row(i)` or `x.t()`, is a part of a place: what is done to `x` is done to its shadow.

mod evidence;
mod loops;
mod operation;
pub(crate) mod shape;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, Ident, Stmt, UnOp, parse_quote};

use crate::kind::{inert, kind_of_type};
use crate::lift::is_held_constant;
use crate::lowering::Lowering;
use crate::parse::{Binding, Parser};
use crate::program::*;
use crate::suspects::Suspects;
pub(crate) use evidence::{Evidence, with_arrays};
use operation::{Operation, Takes, function_of, is_by_columns};
pub(crate) use shape::{Shape, is_pure_slice, is_selector, is_written, written};

/// The operators that arrays have: those of matrices, and `%`.
fn operator(op: &BinOp) -> Option<Op> {
    match op {
        BinOp::Rem(_) => Some(Op::Rem),
        op => crate::matrices::operator(op),
    }
}

/// The name of the function, if it is one of ours.
pub(crate) fn own(path: &syn::Path) -> Option<&Ident> {
    let mut segments = path.segments.iter().rev().map(|segment| &segment.ident);
    let (name, module, private) = (segments.next()?, segments.next()?, segments.next()?);
    (module == "arrays" && private == "__private").then_some(name)
}

/// What the path of one of our functions tells about its value.
pub(crate) fn kind_of_call(function: &syn::Path) -> Option<Kind> {
    let name = own(function)?.to_string();
    Some(match name.as_str() {
        name if NUMBERS.contains(&name) => Kind::Float,
        "scaled_add" | "mapv_inplace" | "fill" | "times" => Kind::Unknown,
        name if name.ends_with("_assign") => Kind::Unknown,
        _ => Kind::Sequence(Box::new(Kind::Unknown)),
    })
}

/// `arrays::mapv` and its like.
pub(crate) fn is_map(function: &syn::Path) -> bool {
    own(function).is_some_and(|name| name == "mapv" || name == "mapv_into" || name == "mapv_inplace")
}

/// The arguments of one of our functions that are numbers of the type of the elements.
pub(crate) fn numbers_among<'a>(function: &syn::Path, args: &'a [ExprId]) -> &'a [ExprId] {
    match own(function).map(ToString::to_string).as_deref() {
        Some("scaled_add" | "listed") => &args[..1],
        Some("linspace") => &args[..2],
        Some("from_elem" | "var" | "std_dev") => &args[1..2],
        Some("var_axis" | "std_axis") => &args[2..3],
        _ => &[],
    }
}

/// The function that takes over the memory of an operand, where one of ours has borrowed what the source gives away, and the number of
/// that operand.
pub(crate) fn consuming(function: &syn::Path) -> Option<(syn::Path, usize)> {
    let name = own(function)?.to_string();
    let (consuming, operand) = match name.as_str() {
        "negate_left" => ("negate_owned".to_owned(), 0),
        "mapv_into" => ("mapv_owned".to_owned(), 0),
        name if name.ends_with("_left") => (format!("{name}_owned"), 0),
        name if name.ends_with("_right") => (format!("{name}_owned"), 1),
        _ => return None,
    };
    let mut function = function.clone();
    let last = function.segments.last_mut().expect("a path has a segment");
    last.ident = Ident::new(&consuming, last.ident.span());
    Some((function, operand))
}

/// `arrays::mapv` of an array that is not `active`, for a closure of dual numbers.
pub(crate) fn of_constants(function: &syn::Path, args: &[ExprId], active: &[bool]) -> Option<syn::Path> {
    let name = own(function)?;
    ((name == "mapv" || name == "mapv_into") && !active[args[0]]).then(|| {
        let mut function = function.clone();
        let last = function.segments.last_mut().expect("a path has a segment");
        last.ident = Ident::new("mapv_of_constants", last.ident.span());
        function
    })
}

/// What to write instead of a method of ndarray's arrays.
pub(crate) fn instead_of(method: &str) -> Option<&'static str> {
    Some(match method {
        "push_row" | "push_column" | "push" | "append" => {
            "make an array of the final size and `assign` to its parts, or put arrays together by `concatenate`"
        }
        "split_at" | "multi_slice_mut" | "multi_slice_move" => {
            "take one part at a time, by `slice` or `slice_mut`"
        }
        "swap_axes" | "invert_axis" | "merge_axes" | "slice_collapse" => {
            "it changes how the array lies in memory; make another one of it, by `permuted_axes`, `reversed_axes`, `slice` or `to_shape`"
        }
        "as_slice"
        | "as_slice_mut"
        | "as_slice_memory_order"
        | "as_slice_memory_order_mut"
        | "to_slice"
        | "into_slice" => {
            "the gradient may lie in memory in another way than the array; index the array itself, or go through it by `iter`"
        }
        "into_raw_vec_and_offset" | "into_raw_vec" | "to_vec" => {
            "write `x.iter().copied().collect::<Vec<_>>()`, which has the elements in the order of their indices"
        }
        "get" | "get_mut" | "uget" => "index it, as in `x[[i, j]]`",
        _ => return None,
    })
}

/// Our functions that yield numbers.
const NUMBERS: &[&str] = &["sum", "mean", "product", "var", "std_dev", "inner"];

impl Program {
    /// The value of the call may go back to the rule.
    pub(crate) fn is_reclaimed(&self, expr: ExprId) -> bool {
        self.own_call(expr).is_some() || self.is_room(expr) || self.is_recycled(expr)
    }

    /// `Array::zeros(n)` and the like, and room for gathered items.
    pub(crate) fn is_made(&self, expr: ExprId) -> bool {
        self.own_call(expr).is_some_and(|name| name == "from_elem" || name == "laid_out")
            || self.is_room(expr)
    }

    /// The function in `arrays` that is called.
    fn own_call(&self, expr: ExprId) -> Option<&Ident> {
        let ExprKind::Call { function: crate::calls::Callee::Function(path), .. } = &self.exprs[expr].kind
        else {
            return None;
        };
        own(path)
    }
}

impl Parser<'_> {
    /// The derivatives of functions that take long to compute are kept by closures among `args`.
    pub(crate) fn keep_slopes(&mut self, args: &[ExprId]) {
        for arg in args {
            let ExprKind::Callback(Callback::Closure { body, .. }) = &self.program.exprs[*arg].kind else {
                continue;
            };
            let roots = self.program.roots(*body);
            let costly = roots.into_iter().flat_map(|root| self.program.tree(root)).any(|e| {
                matches!(&self.program.exprs[e].kind, ExprKind::Method { name, .. } if crate::kind::costly_method(&name.to_string()))
            });
            if costly {
                self.program.stored.insert(*body);
            }
        }
    }
}

/// Takes operations on arrays out of a statement.
pub(crate) struct Lower<'p, 'e> {
    parser: &'p mut Parser<'e>,
    before: Vec<Stmt>,
    changed: bool,
}

impl<'p, 'e> Lower<'p, 'e> {
    pub(crate) fn new(parser: &'p mut Parser<'e>) -> Self {
        Lower { parser, before: Vec::new(), changed: false }
    }
}

/// An operand, by reference.
struct Operand {
    tokens: TokenStream,
    /// The value itself is taken.
    owned: bool,
}

impl Lower<'_, '_> {
    fn is_array(&self, expr: &Expr) -> bool {
        let carries = |shape: Shape| shape.element.is_none_or(|ty| !inert(&kind_of_type(&ty)));
        self.parser.shape_of(expr).is_some_and(carries)
    }

    /// `expr` computes an array out of others, of which one may carry a gradient.
    fn is_operation(&self, expr: &Expr) -> bool {
        let computes = match expr {
            Expr::Unary(unary) => matches!(unary.op, UnOp::Neg(_)),
            Expr::Binary(_) => true,
            Expr::MethodCall(call) => self.parser.viewed(call).is_none() && Operation::of(expr).is_some(),
            Expr::Call(_) | Expr::Macro(_) => Operation::of(expr).is_some(),
            _ => false,
        };
        computes && self.is_array(expr) && self.parser.suspects.any(expr)
    }

    fn call(&self, function: &str, args: &[TokenStream]) -> Expr {
        let function = Ident::new(function, proc_macro2::Span::mixed_site());
        parse_quote!(::pullback::__private::arrays::#function(#(#args),*))
    }

    fn bind(&mut self, value: &Expr) -> Ident {
        let part = self.parser.parts.fresh("part");
        self.parser.suspects.insert(&part);
        self.before.push(match self.parser.evidence.shape_of(value) {
            Some(shape) => {
                let ty = shape.to_type();
                parse_quote!(let #part: ::pullback::__private::ndarray::#ty = #value;)
            }
            None => parse_quote!(let #part = #value;),
        });
        part
    }

    /// A place, as it is, if `expr` is one, or a view of one; a view of what is computed is one of a local.
    fn place(&mut self, expr: &Expr) -> Option<TokenStream> {
        match expr {
            Expr::Paren(paren) => self.place(&paren.expr),
            Expr::Group(group) => self.place(&group.expr),
            Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => Some(expr.to_token_stream()),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => Some(quote!((#expr))),
            Expr::MethodCall(call) if self.parser.viewed(call).is_some() => {
                let receiver = match self.place(&call.receiver) {
                    Some(place) => place,
                    None => {
                        let value = self.value_of(&call.receiver);
                        self.bind(&value).to_token_stream()
                    }
                };
                let (method, args) = (&call.method, &call.args);
                Some(quote!(#receiver.#method(#args)))
            }
            _ => None,
        }
    }

    /// The name of a reference; that of a view is a value.
    fn is_reference(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = expr else { return false };
        let Some(name) = path.path.get_ident() else { return false };
        match self.parser.lookup(name) {
            Some(Binding::Alias { place, .. }) => {
                !matches!(place.projections.last(), Some(Projection::View(..)))
            }
            _ => self.parser.is_reference(name),
        }
    }

    /// A reference, to be read.
    fn followed(&self, expr: &Expr) -> TokenStream {
        let Expr::Path(path) = expr else { return expr.to_token_stream() };
        let unique = match path.path.get_ident().and_then(|name| self.parser.lookup(name)) {
            Some(Binding::Variable(id)) => self.parser.program.variables[*id].origin == Origin::Unique,
            Some(Binding::Alias { unique, .. }) => *unique,
            _ => false,
        };
        if unique { quote!(&*#expr) } else { expr.to_token_stream() }
    }

    fn operand(&mut self, expr: &Expr) -> Operand {
        match expr {
            Expr::Paren(paren) => self.operand(&paren.expr),
            Expr::Group(group) => self.operand(&group.expr),
            Expr::Reference(reference) => Operand { owned: false, ..self.operand(&reference.expr) },
            expr if self.is_reference(expr) => Operand { tokens: self.followed(expr), owned: false },
            expr => match self.place(expr) {
                Some(place) => {
                    let viewed = matches!(expr, Expr::MethodCall(_));
                    Operand { tokens: quote!(&#place), owned: !viewed && !self.is_view(expr) }
                }
                None => {
                    let value = self.value_of(expr);
                    let part = self.bind(&value);
                    Operand { tokens: quote!(&#part), owned: true }
                }
            },
        }
    }

    /// The name of a view.
    fn is_view(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = expr else { return false };
        let binding = path.path.get_ident().and_then(|name| self.parser.lookup(name));
        matches!(binding, Some(Binding::Alias { .. }))
    }

    /// What stands next to an array and is none, as far as the syntax tells.
    fn number(&mut self, expr: &Expr) -> TokenStream {
        let mut expr = expr.clone();
        self.visit_expr_mut(&mut expr);
        match &expr {
            Expr::Lit(_) => quote!(&#expr),
            expr if self.is_reference(expr) => self.followed(expr),
            Expr::Reference(reference) if self.place(&reference.expr).is_some() => expr.to_token_stream(),
            expr => match self.place(expr) {
                Some(place) if self.parser.suspects.any(expr) => quote!(&#place),
                Some(_) => quote!(&#expr),
                None => {
                    let part = self.bind(expr);
                    quote!(&#part)
                }
            },
        }
    }

    /// The operation `expr` as a call, or what else it is.
    fn value_of(&mut self, expr: &Expr) -> Expr {
        if matches!(expr, Expr::Call(call) if is_held_constant(call)) {
            return expr.clone();
        }
        if let Some(made) = self.looped(expr) {
            return made;
        }
        match expr {
            Expr::Paren(paren) => self.value_of(&paren.expr),
            Expr::Group(group) => self.value_of(&group.expr),
            expr if !self.is_operation(expr) => {
                let mut expr = expr.clone();
                visit_mut::visit_expr_mut(self, &mut expr);
                expr
            }
            Expr::Unary(unary) => {
                let Operand { tokens, owned } = self.operand(&unary.expr);
                self.call(if owned { "negate_left" } else { "negate" }, &[tokens])
            }
            Expr::Binary(binary) => {
                let name = match operator(&binary.op).expect("as found before") {
                    Op::Add => "add",
                    Op::Sub => "sub",
                    Op::Mul => "mul",
                    Op::Div => "div",
                    Op::Rem => "rem",
                };
                // What is borrowed may be an array, but for all that is seen no number.
                let of = |this: &mut Self, e: &Expr| match this.is_array(e) || matches!(e, Expr::Reference(_))
                {
                    true => this.operand(e),
                    false => Operand { tokens: this.number(e), owned: false },
                };
                let (left, right) = (of(self, &binary.left), of(self, &binary.right));
                let suffix = match (left.owned, right.owned) {
                    (true, _) => "_left",
                    (false, true) => "_right",
                    (false, false) => "",
                };
                self.call(&format!("{name}{suffix}"), &[left.tokens, right.tokens])
            }
            expr => {
                let Operation { function, operands } = Operation::of(expr).expect("as found before");
                let by_reference = matches!(expr, Expr::MethodCall(call) if call.method == "map");
                let element = operands.first().and_then(|(_, array)| self.parser.shape_of(array)?.element);
                let args: Vec<_> = operands
                    .iter()
                    .map(|(takes, operand)| match takes {
                        Takes::Array => self.operand(operand).tokens,
                        Takes::Number => self.value_of(operand).to_token_stream(),
                        Takes::Inert => operand.to_token_stream(),
                        Takes::Function => function_of(self.parser, operand, element.as_ref(), by_reference),
                        Takes::List => self.list(operand),
                        Takes::Method => self.of_each(operand, element.as_ref()),
                    })
                    .collect();
                self.call(function, &args)
            }
        }
    }

    /// A vector and its like, as a slice.
    fn list(&mut self, list: &Expr) -> TokenStream {
        match list {
            Expr::Reference(reference) => self.list(&reference.expr),
            Expr::Path(_) => quote!(&#list[..]),
            list => {
                let mut list = list.clone();
                self.visit_expr_mut(&mut list);
                let part = self.bind(&list);
                quote!(&#part[..])
            }
        }
    }

    /// A method of each element as a closure.
    fn of_each(&mut self, method: &Expr, element: Option<&syn::Type>) -> TokenStream {
        let Expr::Call(syn::ExprCall { func: method, args, .. }) = method else {
            unreachable!("as the operation has it")
        };
        let args: Vec<_> = args.iter().map(|arg| self.once(arg)).collect();
        let entry = self.parser.parts.fresh("entry");
        let element = element.map_or(quote!(_), ToTokens::to_token_stream);
        match matches!(&**method, Expr::Path(path) if path.path.is_ident("pow2")) {
            true => quote!(|#entry: #element| #entry * #entry),
            false => quote!(|#entry: #element| #entry.#method(#(#args),*)),
        }
    }

    /// What is evaluated once for all elements.
    fn once(&mut self, value: &Expr) -> Expr {
        if matches!(value, Expr::Lit(_))
            || matches!(value, Expr::Unary(unary) if matches!(&*unary.expr, Expr::Lit(_)))
        {
            return value.clone();
        }
        let mut value = value.clone();
        self.visit_expr_mut(&mut value);
        let part = self.bind(&value);
        parse_quote!(#part)
    }

    /// A number out of arrays.
    fn reduced(&mut self, call: &syn::ExprMethodCall) -> Option<Expr> {
        if call.method == "unwrap_or" && call.args.len() == 1 {
            return self.mean_or(&call.receiver, &call.args[0]);
        }
        let (function, receiver, args) = match (call.method.to_string().as_str(), call.args.len()) {
            ("sum", 0) => ("sum", &call.receiver, None),
            ("product", 0) => ("product", &call.receiver, None),
            ("var", 1) => ("var", &call.receiver, Some(&call.args[0])),
            ("std", 1) => ("std_dev", &call.receiver, Some(&call.args[0])),
            ("unwrap", 0) | ("expect", 1) => match &*call.receiver {
                Expr::MethodCall(inner) if inner.method == "mean" && inner.args.is_empty() => {
                    ("mean", &inner.receiver, None)
                }
                _ => return None,
            },
            ("dot", 1) if self.is_array(&call.receiver) || self.is_array(&call.args[0]) => {
                let line = |e: &Expr| self.parser.shape_of(e).and_then(|shape| shape.rank) == Some(1);
                let lines = line(&call.receiver) && line(&call.args[0]);
                let args = [self.operand(&call.receiver).tokens, self.operand(&call.args[0]).tokens];
                // Whether it is a number the types tell.
                return Some(self.call(if lines { "inner" } else { "times" }, &args));
            }
            _ => return None,
        };
        if !self.is_array(receiver) {
            return None;
        }
        let mut operands = vec![self.operand(receiver).tokens];
        if let Some(arg) = args {
            let mut arg = arg.clone();
            self.visit_expr_mut(&mut arg);
            operands.push(arg.to_token_stream());
        }
        Some(self.call(function, &operands))
    }

    /// `a.mean().unwrap_or(other)`, for an `other` that may be evaluated where it is not needed.
    fn mean_or(&mut self, mean: &Expr, other: &Expr) -> Option<Expr> {
        let Expr::MethodCall(inner) = mean else { return None };
        let mean = inner.method == "mean" && inner.args.is_empty();
        if !mean || !self.is_array(&inner.receiver) || !self.parser.is_pure(other) {
            return None;
        }
        let operand = self.operand(&inner.receiver).tokens;
        let mean = self.call("mean", std::slice::from_ref(&operand));
        let mut other = other.clone();
        self.visit_expr_mut(&mut other);
        Some(parse_quote!(if (#operand).is_empty() { #other } else { #mean }))
    }

    /// What writes to an array, as a statement.
    fn writing(&mut self, call: &syn::ExprMethodCall) -> Option<Expr> {
        let name = call.method.to_string();
        let (function, arity) = match name.as_str() {
            "scaled_add" => ("scaled_add", 2),
            "mapv_inplace" => ("mapv_inplace", 1),
            "fill" => ("fill", 1),
            _ => return None,
        };
        if call.args.len() != arity || !self.is_array(&call.receiver) {
            return None;
        }
        let place = self.place(&call.receiver)?;
        let place = match self.is_reference(&call.receiver) {
            true => quote!(&mut *#place),
            false => quote!(&mut #place),
        };
        let args = match function {
            "scaled_add" => {
                let mut factor = call.args[0].clone();
                self.visit_expr_mut(&mut factor);
                vec![factor.to_token_stream(), self.operand(&call.args[1]).tokens, place]
            }
            "fill" => vec![self.number(&call.args[0]), place],
            _ => {
                let element = self.parser.shape_of(&call.receiver).and_then(|shape| shape.element);
                vec![place, function_of(self.parser, &call.args[0], element.as_ref(), false)]
            }
        };
        Some(self.call(function, &args))
    }
}

impl Parser<'_> {
    /// `let mut x = Array1::zeros(n);` where gradients may come to `x`: in memory that is kept.
    pub(crate) fn made_array(&self, stmt: &Stmt) -> Option<Stmt> {
        let Stmt::Local(local) = stmt else { return None };
        let pattern = match &local.pat {
            syn::Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let (syn::Pat::Ident(name), Some(init)) = (pattern, &local.init) else { return None };
        let Expr::Call(call) = &*init.expr else { return None };
        let Operation { function: "from_elem", operands } = Operation::of_constructor(call)? else {
            return None;
        };
        let Expr::Path(path) = &*call.func else { return None };
        if !self.suspects.contains(&name.ident)
            || self.suspects.any(&operands[1].1)
            || !matches!(operands[1].1, Expr::Lit(_) | Expr::Cast(_))
        {
            return None;
        }
        let rank = Shape::of_segment(path.path.segments.iter().rev().nth(1)?)?.rank;
        let (shape, value) = (&operands[0].1, &operands[1].1);
        let mut made = local.clone();
        let init: Expr = parse_quote!(::pullback::__private::arrays::from_elem(#shape, #value));
        *made.init.as_mut().expect("there is one").expr = init;
        if !matches!(made.pat, syn::Pat::Type(_)) {
            let (pat, ty) = (&local.pat, Shape::of_segment(path.path.segments.iter().rev().nth(1)?)?);
            let ty = Shape { rank, element: ty.element }.to_type();
            let typed: Stmt = parse_quote!(let #pat: ::pullback::__private::ndarray::#ty;);
            let Stmt::Local(typed) = typed else { unreachable!("a `let`") };
            made.pat = typed.pat;
        }
        Some(Stmt::Local(made))
    }
}

impl Lowering for Lower<'_, '_> {
    const KNOWN: bool = true;
    const WHAT: &'static str = "arrays";

    fn is_changed(&self, place: &Expr) -> bool {
        self.is_array(place)
    }
    fn suspects(&self) -> &Suspects {
        &self.parser.suspects
    }
    fn change(&mut self, place: &Expr, op: Op, value: &Expr) {
        let function = match op {
            Op::Add => "add_assign",
            Op::Sub => "sub_assign",
            Op::Mul => "mul_assign",
            Op::Div => "div_assign",
            Op::Rem => "rem_assign",
        };
        let value = match self.is_array(value) || matches!(value, Expr::Reference(_)) {
            true => self.operand(value).tokens,
            false => self.number(value),
        };
        let call = self.call(function, &[value, quote!(&mut #place)]);
        self.before.push(parse_quote!(#call;));
    }
    fn replaced(&mut self, place: &Expr) {
        let why = "an array behind a reference is not replaced differentiably: write to it by `assign`";
        self.parser.errors.push(place, why);
    }
    fn value(&mut self, value: &mut Expr) {
        if self.is_operation(value) {
            *value = self.value_of(value);
            self.changed = true;
        } else {
            self.visit_expr_mut(value);
        }
    }
    fn changed(&self) -> bool {
        self.changed
    }
    fn before(self) -> Vec<Stmt> {
        self.before
    }
}

impl VisitMut for Lower<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if self.is_operation(expr) {
            let value = self.value_of(expr);
            let part = self.bind(&value);
            *expr = parse_quote!(#part);
            return;
        }
        if let Some(made) = self.looped(expr) {
            *expr = made;
            return;
        }
        if let Expr::MethodCall(call) = expr
            && self.parser.suspects.any(&*call)
            && let Some(lowered) = self.reduced(&call.clone()).or_else(|| self.writing(&call.clone()))
        {
            *expr = lowered;
            self.changed = true;
            return;
        }
        match expr {
            Expr::Call(call) if is_held_constant(call) => {}
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
