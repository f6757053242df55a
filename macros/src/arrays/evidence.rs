//! What is an array though no declaration says so: what functions of the user's return, `let k = slope(&y, t);`, and fields of structs. That
//! is gathered, before anything is parsed, from what is done with it: `y + &k` next to an array, `k.mapv(f64::tanh)`, `y = k`. Each such
//! `let` gets the type.
//!
//! A wrong guess does not compile.

use std::collections::{HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, Ident, Pat, Stmt, Type, UnOp, parse_quote};

use super::operation::Operation;
use super::{Shape, operator, own};
use crate::contents::{inside, referred};
use crate::kind::{assigns, inert, inert_method, kind_of_type, numeric_method};
use crate::lift::is_held_constant;
use crate::program::{Kind, variant};
use crate::rename::bound;
use crate::signature::Signature;
use crate::variants::fields;

/// Methods that only arrays have.
const OF_ARRAYS: &[&str] = &[
    "accumulate_axis_inplace",
    "axis_chunks_iter",
    "axis_iter",
    "axis_iter_mut",
    "columns",
    "exact_chunks",
    "fold_axis",
    "index_axis",
    "index_axis_mut",
    "indexed_iter",
    "insert_axis",
    "into_shape_with_order",
    "lanes",
    "map_axis",
    "mapv",
    "mapv_inplace",
    "mapv_into",
    "mean_axis",
    "outer_iter",
    "outer_iter_mut",
    "permuted_axes",
    "product_axis",
    "reversed_axes",
    "rows",
    "rows_mut",
    "scaled_add",
    "slice",
    "slice_axis",
    "slice_mut",
    "std_axis",
    "sum_axis",
    "to_shape",
    "var_axis",
];

/// Methods that arrays have in common with matrices and vectors of the user's.
const IN_COMMON: &[&str] = &["column", "diag", "dot", "row", "t", "view"];

/// Methods that arrays of two dimensions have, and hardly any others.
const OF_MATRICES: &[&str] = &["column", "columns", "ncols", "nrows", "row", "rows"];

/// Methods whose value is an array of as many dimensions.
const ALIKE: &[&str] = &["clone", "map", "mapv", "mapv_into", "t", "to_owned", "into_owned", "view"];

/// Methods that yield numbers.
const NUMBERS: &[&str] = &["sum", "product", "var", "std"];

/// What a value is, as far as is known.
#[derive(Clone, Copy, PartialEq)]
enum Is {
    Unknown,
    Number,
    /// With the number of dimensions.
    Array(Option<usize>),
    Other,
}

impl Is {
    fn of(ty: &Type) -> Is {
        match Shape::of_type(ty) {
            _ if matches!(ty, Type::Infer(_)) => Is::Unknown,
            Some(shape) if shape.element.as_ref().is_some_and(|ty| inert(&kind_of_type(ty))) => Is::Other,
            Some(shape) => Is::Array(shape.rank),
            None => match kind_of_type(ty) {
                Kind::Float | Kind::Inert => Is::Number,
                _ => Is::Other,
            },
        }
    }
}

/// The calls and the fields that are arrays, with the number of dimensions.
#[derive(Default)]
pub(crate) struct Evidence {
    calls: HashMap<String, Option<usize>>,
    fields: HashMap<String, Option<usize>>,
    /// The fields that the source mentions.
    written: HashSet<String>,
}

impl Evidence {
    /// What is known of a call of the user's, or of a field.
    pub(crate) fn shape_of(&self, expr: &Expr) -> Option<Shape> {
        let rank = match expr {
            Expr::Field(field) => {
                let name = path_of(field);
                // What a loop goes through has another name by then.
                let alias = || {
                    let member = format!(".{}", field.member.to_token_stream());
                    self.fields.iter().find(|(name, _)| name.ends_with(&member)).map(|(_, rank)| rank)
                };
                match self.written.contains(&name) {
                    true => self.fields.get(&name)?,
                    false => alias()?,
                }
            }
            expr => self.calls.get(&callee(expr)?)?,
        };
        Some(Shape { rank: *rank, element: None })
    }

    /// What is known of the field of a variant.
    pub(crate) fn shape_in(&self, variant: &Ident, member: &syn::Member) -> Option<Shape> {
        self.fields.get(&key_of(variant, member)).map(|rank| Shape { rank: *rank, element: None })
    }
}

/// The field of a variant among those of structs.
fn key_of(variant: &Ident, member: &syn::Member) -> String {
    format!("{variant}.{}", member.to_token_stream())
}

/// `body` with the types of what is an array, and what else is known.
pub(crate) fn with_arrays(signature: &Signature, body: &mut Block) -> Evidence {
    let mut search = Search {
        evidence: Evidence::default(),
        arguments: HashMap::new(),
        generic: HashSet::new(),
        names: Vec::new(),
        scopes: Vec::new(),
        references: HashSet::new(),
        returned: HashSet::new(),
        operated: HashSet::new(),
        bindings: 0,
        output: Is::of(&signature.output),
        changed: false,
        telling: false,
    };
    let parameters = || signature.parameters.iter().filter(|parameter| parameter.callable.is_none());
    let array = |is: Is| matches!(is, Is::Array(_));
    if !array(search.output) && !parameters().any(|p| array(Is::of(&p.ty))) && !mentions_arrays(body) {
        return search.evidence;
    }
    if signature.method.is_none() {
        let function = signature.name.to_string();
        if let Is::Array(rank) = search.output {
            search.evidence.calls.insert(function.clone(), rank);
        }
        for (i, parameter) in signature.parameters.iter().enumerate() {
            search.arguments.insert((function.clone(), i), Is::of(&parameter.ty));
        }
    }
    let mut run = |telling: bool| {
        search.scopes = vec![HashMap::new()];
        (search.bindings, search.changed, search.telling) = (0, false, telling);
        for parameter in parameters() {
            if let Some(name) = &parameter.name {
                search.bind(name, Is::of(&parameter.ty));
            }
        }
        search.visit_block_mut(body);
        search.changed
    };
    while run(false) {}
    run(true);
    search.evidence
}

/// Some name in `body` is one of ndarray's types, macros or axes, or of a method that nothing else has.
fn mentions_arrays(body: &Block) -> bool {
    fn any(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => any(group.stream()),
            TokenTree::Ident(name) => {
                let segment = syn::PathSegment::from(name.clone());
                let known = ["array", "Axis", "mapv", "mapv_inplace", "mapv_into", "scaled_add"];
                known.iter().any(|known| name == known) || Shape::of_segment(&segment).is_some()
            }
            _ => false,
        })
    }
    any(body.to_token_stream())
}

/// The names that lead to a field.
fn path_of(field: &syn::ExprField) -> String {
    fn names(expr: &Expr) -> String {
        match expr {
            Expr::Field(field) => path_of(field),
            Expr::Index(index) => format!("{}[]", names(&index.expr)),
            Expr::Paren(paren) => names(&paren.expr),
            Expr::Unary(unary) => names(&unary.expr),
            Expr::Path(path) => path.path.get_ident().map(ToString::to_string).unwrap_or_default(),
            _ => String::new(),
        }
    }
    format!("{}.{}", names(&field.base), field.member.to_token_stream())
}

/// How a function of the user's is known: by its path, or as a method by its name.
fn callee(call: &Expr) -> Option<String> {
    match call {
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if path.path.segments.iter().all(|s| Shape::of_segment(s).is_none()) => {
                let names = path.path.segments.iter().map(|segment| segment.ident.to_string());
                Some(names.collect::<Vec<_>>().join("::"))
            }
            _ => None,
        },
        Expr::MethodCall(call) => Some(format!(".{}", call.method)),
        Expr::Try(tried) => callee(&tried.expr),
        _ => None,
    }
}

/// Goes through a body again and again, until nothing new is found.
struct Search {
    evidence: Evidence,
    /// What the functions that are called take.
    arguments: HashMap<(String, usize), Is>,
    /// The functions that take arrays of several ranks, of which one call tells nothing about another.
    generic: HashSet<String>,
    /// What names mean, by the number of their binding.
    names: Vec<Is>,
    scopes: Vec<HashMap<String, usize>>,
    /// The names of what is inside of an `Option`, by number.
    references: HashSet<usize>,
    /// The names of what functions of the user's return, and of what operators make, by number.
    returned: HashSet<usize>,
    operated: HashSet<usize>,
    bindings: usize,
    output: Is,
    changed: bool,
    /// Types are written.
    telling: bool,
}

impl Search {
    fn bind(&mut self, name: &Ident, is: Is) {
        let id = self.bindings;
        self.bindings += 1;
        if self.names.len() == id {
            self.names.push(Is::Unknown);
        }
        self.scopes.last_mut().expect("there is always a scope").insert(name.to_string(), id);
        self.note(id, is);
    }

    fn bind_pattern(&mut self, pattern: &Pat, is: Is) {
        match pattern {
            Pat::Type(typed) => self.bind_pattern(&typed.pat, Is::of(&typed.ty)),
            Pat::Ident(name) if name.subpat.is_none() => self.bind(&name.ident, is),
            pattern => bound(pattern).iter().for_each(|name| self.bind(name, Is::Unknown)),
        }
    }

    /// Binds what is inside of `whole`, if the pattern is `Some(name)`, and that a field, and what the fields of a variant hold.
    fn bind_inside(&mut self, pattern: &Pat, whole: &Expr) {
        if let Some((path, fields)) = fields(pattern) {
            let Some(variant) = variant(path) else { return };
            for (member, pattern) in fields {
                let Pat::Ident(name) = pattern else {
                    bound(pattern).iter().for_each(|name| self.bind(name, Is::Unknown));
                    continue;
                };
                let (id, key) = (self.bindings, key_of(variant, &member));
                if let Some(Is::Array(rank)) = self.names.get(id).copied() {
                    Self::insert(&mut self.evidence.fields, key.clone(), rank, &mut self.changed);
                }
                let is = self.evidence.fields.get(&key).map_or(Is::Unknown, |rank| Is::Array(*rank));
                self.references.insert(id);
                self.bind(&name.ident, is);
            }
            return;
        }
        let (Some(Pat::Ident(name)), Some(option @ Expr::Field(_))) =
            (inside(pattern), referred(whole).map(|(option, _)| option))
        else {
            return bound(pattern).iter().for_each(|name| self.bind(name, Is::Unknown));
        };
        let (id, is) = (self.bindings, self.is(option));
        if let Some(Is::Array(rank)) = self.names.get(id).copied() {
            self.expect(option, rank);
        }
        self.references.insert(id);
        self.bind(&name.ident, is);
    }

    /// A number would hardly be.
    fn is_borrowed(&self, operand: &Expr) -> bool {
        match without_parentheses(operand) {
            Expr::Reference(_) => true,
            Expr::Path(path) => {
                let id = path.path.get_ident().and_then(|name| self.id(name));
                id.is_some_and(|id| self.references.contains(&id))
            }
            _ => false,
        }
    }

    /// The name in `expr`, which may be borrowed, is one of `names`.
    fn is_among(&self, names: &HashSet<usize>, expr: &Expr) -> bool {
        match without_parentheses(expr) {
            Expr::Reference(reference) => self.is_among(names, &reference.expr),
            Expr::Path(path) => {
                let id = path.path.get_ident().and_then(|name| self.id(name));
                id.is_some_and(|id| names.contains(&id))
            }
            _ => false,
        }
    }

    /// The name is that of something like `is`.
    fn note(&mut self, id: usize, is: Is) {
        let better = match (self.names[id], is) {
            (Is::Unknown, is) => is != Is::Unknown,
            (Is::Array(None), Is::Array(Some(_))) => true,
            _ => false,
        };
        if better {
            self.names[id] = is;
            self.changed = true;
        }
    }

    fn id(&self, name: &Ident) -> Option<usize> {
        let name = name.to_string();
        self.scopes.iter().rev().find_map(|scope| scope.get(&name)).copied()
    }

    fn in_scope(&mut self, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(HashMap::new());
        visit(self);
        self.scopes.pop();
    }

    /// What the value of `expr` is.
    fn is(&self, expr: &Expr) -> Is {
        match expr {
            Expr::Paren(paren) => self.is(&paren.expr),
            Expr::Group(group) => self.is(&group.expr),
            Expr::Reference(reference) => self.is(&reference.expr),
            Expr::Unary(unary) => self.is(&unary.expr),
            Expr::Lit(_) => Is::Number,
            Expr::Cast(cast) => Is::of(&cast.ty),
            Expr::Path(path) => match path.path.get_ident().and_then(|name| self.id(name)) {
                Some(id) => self.names[id],
                None => Is::Unknown,
            },
            Expr::Field(_) => match self.evidence.shape_of(expr) {
                Some(shape) => Is::Array(shape.rank),
                None => Is::Unknown,
            },
            Expr::Index(index) => match self.is(&index.expr) {
                Is::Array(_) => Is::Number,
                _ => Is::Unknown,
            },
            Expr::Binary(binary) if operator(&binary.op).is_some() => {
                match (self.is(&binary.left), self.is(&binary.right)) {
                    (Is::Array(left), Is::Array(right)) => {
                        Is::Array(left.zip(right).map(|(left, right)| left.max(right)))
                    }
                    (array @ Is::Array(_), Is::Number) | (Is::Number, array @ Is::Array(_)) => array,
                    (Is::Array(_), _) | (_, Is::Array(_)) => Is::Array(None),
                    (Is::Number, Is::Number) => Is::Number,
                    _ => Is::Unknown,
                }
            }
            Expr::MethodCall(call) => self.is_method(expr, call),
            Expr::Call(_) | Expr::Try(_) => {
                match self.of_constructor(expr).or_else(|| self.evidence.shape_of(expr)) {
                    Some(shape) => Is::Array(shape.rank),
                    None => Is::Unknown,
                }
            }
            Expr::Macro(mac) if mac.mac.path.segments.last().is_some_and(|name| name.ident == "array") => {
                Is::Array(None)
            }
            Expr::Block(block) => self.is_block(&block.block),
            Expr::If(branch) => self.is_block(&branch.then_branch),
            _ => Is::Unknown,
        }
    }

    /// Where nothing in the block is mentioned at its end.
    fn is_block(&self, block: &Block) -> Is {
        match &block.stmts[..] {
            [Stmt::Expr(value, None)] => self.is(value),
            _ => Is::Unknown,
        }
    }

    /// `Array1::zeros(n)`
    fn of_constructor(&self, expr: &Expr) -> Option<Shape> {
        let Expr::Call(call) = expr else { return None };
        let Expr::Path(path) = &*call.func else { return None };
        Shape::of_segment(path.path.segments.iter().rev().nth(1)?)
    }

    fn is_method(&self, expr: &Expr, call: &syn::ExprMethodCall) -> Is {
        let name = call.method.to_string();
        let receiver = self.is(&call.receiver);
        if let Some(shape) = self.evidence.shape_of(expr) {
            return Is::Array(shape.rank);
        }
        match receiver {
            Is::Array(rank) if ALIKE.contains(&name.as_str()) => Is::Array(rank),
            Is::Array(_) if NUMBERS.contains(&name.as_str()) || inert_method(&name) => Is::Number,
            Is::Array(rank)
                if ["sum_axis", "product_axis", "var_axis", "std_axis"].contains(&name.as_str()) =>
            {
                Is::Array(rank.map(|rank| rank.saturating_sub(1)))
            }
            Is::Array(_) if ["row", "column", "diag"].contains(&name.as_str()) => Is::Array(Some(1)),
            Is::Array(left) if name == "dot" && call.args.len() == 1 => {
                match (left, self.is(&call.args[0])) {
                    (Some(1), Is::Array(Some(1))) => Is::Number,
                    (Some(left), Is::Array(Some(right))) => Is::Array(Some(left.min(right))),
                    (Some(2), _) | (_, Is::Array(Some(2))) => Is::Array(None),
                    _ => Is::Unknown,
                }
            }
            Is::Array(_) if OF_ARRAYS.contains(&name.as_str()) => Is::Array(None),
            Is::Array(rank) if numeric_method(&name) => Is::Array(rank),
            Is::Number if numeric_method(&name) => Is::Number,
            _ => Is::Unknown,
        }
    }

    /// `expr` has to be an array, of so many dimensions as are told.
    fn expect(&mut self, expr: &Expr, rank: Option<usize>) {
        match expr {
            Expr::Paren(paren) => self.expect(&paren.expr, rank),
            Expr::Group(group) => self.expect(&group.expr, rank),
            Expr::Reference(reference) => self.expect(&reference.expr, rank),
            Expr::Unary(unary) if !matches!(unary.op, UnOp::Not(_)) => self.expect(&unary.expr, rank),
            Expr::Path(path) => {
                if let Some(id) = path.path.get_ident().and_then(|name| self.id(name)) {
                    self.note(id, Is::Array(rank));
                }
            }
            Expr::Field(field) => {
                Self::insert(&mut self.evidence.fields, path_of(field), rank, &mut self.changed);
            }
            Expr::Binary(binary) if operator(&binary.op).is_some() => self.expect_operands(binary, rank),
            Expr::MethodCall(call) if ALIKE.iter().any(|name| call.method == name) => {
                self.expect(&call.receiver, rank);
            }
            Expr::MethodCall(call) if call.method == "dot" && call.args.len() == 1 => {
                self.expect_factors(call, rank);
            }
            Expr::Call(_) | Expr::MethodCall(_) | Expr::Try(_) => self.expect_call(expr, rank),
            _ => {}
        }
    }

    fn expect_call(&mut self, call: &Expr, rank: Option<usize>) {
        if self.is_of_user(call)
            && let Some(callee) = callee(call)
            && !self.generic.contains(&callee)
        {
            Self::insert(&mut self.evidence.calls, callee, rank, &mut self.changed);
        }
    }

    /// The call may be one of a function or a method of the user's.
    fn is_of_user(&self, call: &Expr) -> bool {
        match call {
            Expr::Try(tried) => self.is_of_user(&tried.expr),
            Expr::Paren(paren) => self.is_of_user(&paren.expr),
            Expr::Call(inner) => {
                let ours = matches!(&*inner.func, Expr::Path(path) if own(&path.path).is_some());
                !ours
                    && !is_held_constant(inner)
                    && Operation::of(call).is_none()
                    && self.of_constructor(call).is_none()
            }
            Expr::MethodCall(inner) => {
                let name = inner.method.to_string();
                let of_library = ["unwrap", "expect"].contains(&name.as_str())
                    || OF_ARRAYS
                        .iter()
                        .chain(IN_COMMON)
                        .chain(ALIKE)
                        .chain(NUMBERS)
                        .any(|known| name == *known)
                    || numeric_method(&name)
                    || Operation::of(call).is_some();
                let place = matches!(&*inner.receiver, Expr::Path(_) | Expr::Field(_) | Expr::Index(_));
                place && !of_library && !matches!(self.is(&inner.receiver), Is::Array(_) | Is::Number)
            }
            _ => false,
        }
    }

    fn insert(
        into: &mut HashMap<String, Option<usize>>,
        name: String,
        rank: Option<usize>,
        changed: &mut bool,
    ) {
        let known = into.get(&name).copied();
        if known.is_none() || known == Some(None) && rank.is_some() {
            into.insert(name, rank);
            *changed = true;
        }
    }

    /// The operator yields an array: what stands next to a number is one, and so is what is added to something that is not known.
    fn expect_operands(&mut self, binary: &syn::ExprBinary, rank: Option<usize>) {
        let (left, right) = (self.is(&binary.left), self.is(&binary.right));
        match (left, right) {
            (_, Is::Number) => self.expect(&binary.left, rank),
            (Is::Number, _) => self.expect(&binary.right, rank),
            _ => {
                let sum = matches!(binary.op, BinOp::Add(_) | BinOp::Sub(_));
                for (operand, is, other) in [(&binary.left, left, right), (&binary.right, right, left)] {
                    let unknown = sum && other == Is::Unknown && is == Is::Unknown;
                    if is_product(operand) {
                        self.expect(operand, rank);
                    } else if unknown || self.is_borrowed(operand) {
                        self.expect(operand, None);
                    }
                }
            }
        }
    }

    /// `rate * g`, an array if one of the two is a number.
    fn expect_multiple(&mut self, expr: &Expr) {
        if let Expr::Binary(binary) = without_parentheses(expr)
            && matches!(binary.op, BinOp::Mul(_))
            && [&binary.left, &binary.right].into_iter().any(|operand| self.is(operand) == Is::Number)
        {
            self.expect(expr, None);
        }
    }

    /// `a.dot(b)`, an array of so many dimensions.
    fn expect_factors(&mut self, call: &syn::ExprMethodCall, rank: Option<usize>) {
        let (left, right) = (&*call.receiver, &call.args[0]);
        let ranks = |is: Is| match is {
            Is::Array(rank) => rank,
            _ => None,
        };
        let (of_left, of_right) = match (ranks(self.is(left)), ranks(self.is(right)), rank) {
            (_, _, Some(2)) => (Some(2), Some(2)),
            (_, Some(1), _) => (Some(2), Some(1)),
            (Some(1), _, _) => (Some(1), Some(2)),
            (Some(2), _, Some(1)) => (Some(2), Some(1)),
            (_, Some(2), Some(1)) => (Some(1), Some(2)),
            known => (known.0, known.1),
        };
        self.expect(left, of_left);
        self.expect(right, of_right);
    }

    /// What `expr` itself tells about its parts.
    fn look(&mut self, expr: &Expr) {
        match expr {
            Expr::Binary(binary) if operator(&binary.op).is_some() => {
                let (left, right) = (self.is(&binary.left), self.is(&binary.right));
                for (operand, other) in [(&binary.left, right), (&binary.right, left)] {
                    // Next to a number another one would not be borrowed, unless it is an item.
                    let returned = other == Is::Number && self.is_among(&self.returned, operand);
                    if (matches!(other, Is::Array(_)) || returned) && self.is_borrowed(operand) {
                        self.expect(operand, None);
                    }
                }
                // A multiple that is added to an array is hardly one of a number: `x - rate * g`.
                if matches!(binary.op, BinOp::Add(_) | BinOp::Sub(_)) {
                    for (operand, other) in [(&binary.left, right), (&binary.right, left)] {
                        if matches!(other, Is::Array(_)) && self.is(operand) == Is::Unknown {
                            self.expect_multiple(operand);
                        }
                    }
                }
                // Next to a product a number would not be borrowed.
                let product = |e: &Expr, is: Is| is == Is::Unknown && is_product(e);
                if product(&binary.left, left) && self.is_borrowed(&binary.right)
                    || product(&binary.right, right) && self.is_borrowed(&binary.left)
                {
                    self.expect(expr, None);
                }
            }
            Expr::Index(index) => {
                let rank = match &*index.index {
                    Expr::Array(indices) => Some(indices.elems.len()),
                    Expr::Tuple(indices) => Some(indices.elems.len()),
                    Expr::Range(_) => None,
                    _ => Some(1),
                };
                let array = matches!(self.is(&index.expr), Is::Array(None));
                if rank.is_some() && (array || matches!(&*index.index, Expr::Array(_))) {
                    self.expect(&index.expr, rank);
                }
            }
            Expr::Assign(assign) => self.both(&assign.left, &assign.right),
            Expr::Binary(binary) if assigns(&binary.op) => {
                let sum = matches!(binary.op, BinOp::AddAssign(_) | BinOp::SubAssign(_));
                match (self.is(&binary.left), self.is(&binary.right)) {
                    (Is::Unknown, Is::Array(_)) => self.expect(&binary.left, None),
                    (Is::Array(_), _) if sum && self.is_borrowed(&binary.right) => {
                        self.expect(&binary.right, None);
                    }
                    (Is::Array(_), _) if sum => self.expect_multiple(&binary.right),
                    _ => {}
                }
            }
            Expr::Return(jump) => {
                if let (Some(value), Is::Array(rank)) = (&jump.expr, self.output) {
                    self.expect(value, rank);
                }
            }
            Expr::MethodCall(call) => {
                let (name, receiver) = (call.method.to_string(), self.is(&call.receiver));
                let unknown = receiver == Is::Unknown;
                if unknown && OF_ARRAYS.contains(&name.as_str())
                    || unknown
                        && IN_COMMON.contains(&name.as_str())
                        && (matches!(&*call.receiver, Expr::Path(_)) || self.is_of_user(&call.receiver))
                {
                    self.expect(&call.receiver, None);
                }
                // No operator makes an iterator.
                if unknown
                    && NUMBERS.contains(&name.as_str())
                    && call.args.is_empty()
                    && self.is_among(&self.operated, &call.receiver)
                {
                    self.expect(&call.receiver, None);
                }
                if receiver == Is::Array(None) && OF_MATRICES.contains(&name.as_str()) {
                    self.expect(&call.receiver, Some(2));
                }
                if name == "dot" && call.args.len() == 1 {
                    let other = self.is(&call.args[0]);
                    if matches!(other, Is::Array(_)) || matches!(receiver, Is::Array(_)) {
                        self.expect(&call.receiver, None);
                        self.expect(&call.args[0], None);
                    }
                }
            }
            Expr::Call(call) => {
                let Some(callee) = callee(expr).filter(|callee| !self.generic.contains(callee)) else {
                    return;
                };
                for (i, arg) in call.args.iter().enumerate() {
                    if let (Some(Is::Array(Some(one))), Is::Array(Some(other))) =
                        (self.arguments.get(&(callee.clone(), i)), self.is(arg))
                        && *one != other
                    {
                        self.evidence.calls.remove(&callee);
                        self.generic.insert(callee);
                        return;
                    }
                    match (self.arguments.get(&(callee.clone(), i)).copied(), self.is(arg)) {
                        (Some(Is::Array(rank)), _) => self.expect(arg, rank),
                        (None, is @ Is::Array(_)) => {
                            self.arguments.insert((callee.clone(), i), is);
                            self.changed = true;
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// The two are alike.
    fn both(&mut self, one: &Expr, other: &Expr) {
        match (self.is(one), self.is(other)) {
            (Is::Array(rank), _) => self.expect(other, rank),
            (_, Is::Array(rank)) => self.expect(one, rank),
            _ => {}
        }
    }

    /// The type of a `let` that has none.
    fn tell(&self, local: &mut syn::Local) {
        let Some(init) = local.init.as_ref().filter(|init| init.diverge.is_none()) else { return };
        let Pat::Ident(name) = &local.pat else { return };
        let Some(Is::Array(rank)) = self.id(&name.ident).map(|id| self.names[id]) else { return };
        let ty = Shape { rank, element: None }.to_type();
        let name = &local.pat;
        let typed: Stmt = match &*init.expr {
            Expr::Reference(reference) if matches!(&*reference.expr, Expr::Field(_)) => {
                parse_quote!(let #name: &::pullback::__private::ndarray::#ty;)
            }
            init if self.is_of_user(init) => {
                parse_quote!(let #name: ::pullback::__private::ndarray::#ty;)
            }
            _ => return,
        };
        if let Stmt::Local(typed) = typed {
            local.pat = typed.pat;
        }
    }
}

/// `a.dot(b)`
fn is_product(expr: &Expr) -> bool {
    matches!(without_parentheses(expr), Expr::MethodCall(call) if call.method == "dot" && call.args.len() == 1)
}

fn without_parentheses(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => without_parentheses(&paren.expr),
        Expr::Group(group) => without_parentheses(&group.expr),
        expr => expr,
    }
}

impl VisitMut for Search {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let outermost = self.scopes.len() == 1;
        self.in_scope(|search| {
            visit_mut::visit_block_mut(search, block);
            if let (true, Is::Array(rank), Some(Stmt::Expr(value, None))) =
                (outermost, search.output, block.stmts.last())
            {
                search.expect(value, rank);
            }
        });
    }
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        if let Some(init) = &mut local.init {
            self.visit_expr_mut(&mut init.expr);
            if let Some((_, otherwise)) = &mut init.diverge {
                self.visit_expr_mut(otherwise);
            }
        }
        let init = local.init.as_ref().filter(|init| init.diverge.is_none()).map(|init| &*init.expr);
        let is = init.map_or(Is::Unknown, |init| self.is(init));
        if let (Pat::Tuple(names), Some(Expr::Tuple(values))) = (&local.pat, init)
            && names.elems.len() == values.elems.len()
        {
            let parts: Vec<_> = values.elems.iter().map(|value| self.is(value)).collect();
            names.elems.iter().zip(parts).for_each(|(name, is)| self.bind_pattern(name, is));
            return;
        }
        // In the initialiser names mean what they have meant before.
        let first = self.bindings;
        if let (Pat::Ident(_), Some(init)) = (&local.pat, init)
            && let Some(Is::Array(rank)) = self.names.get(first).copied()
        {
            self.expect(init, rank);
        }
        if let (Pat::Ident(_), Some(init)) = (&local.pat, init) {
            match init {
                Expr::Binary(binary) if operator(&binary.op).is_some() => {
                    self.operated.insert(first);
                }
                init if self.is_of_user(init) => {
                    self.returned.insert(first);
                }
                _ => {}
            }
        }
        match &local.init {
            Some(syn::LocalInit { expr, diverge: Some(_), .. }) => self.bind_inside(&local.pat, expr),
            _ => self.bind_pattern(&local.pat, is),
        }
        if self.telling {
            self.tell(local);
        }
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        self.look(expr);
    }
    fn visit_expr_field_mut(&mut self, field: &mut syn::ExprField) {
        self.evidence.written.insert(path_of(field));
        visit_mut::visit_expr_field_mut(self, field);
    }
    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        let output = std::mem::replace(&mut self.output, Is::Unknown);
        self.in_scope(|search| {
            closure.inputs.iter().for_each(|pattern| search.bind_pattern(pattern, Is::Unknown));
            search.visit_expr_mut(&mut closure.body);
        });
        self.output = output;
    }
    fn visit_expr_for_loop_mut(&mut self, f: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut f.expr);
        let is = if matches!(&*f.expr, Expr::Range(_)) { Is::Number } else { Is::Unknown };
        if let (Expr::MethodCall(call), Pat::Tuple(item)) = (&*f.expr, &*f.pat)
            && call.method == "indexed_iter"
        {
            let rank = match item.elems.first() {
                Some(Pat::Tuple(indices)) => indices.elems.len(),
                _ => 1,
            };
            self.expect(&call.receiver, Some(rank));
        }
        self.in_scope(|search| {
            search.bind_pattern(&f.pat, is);
            search.visit_block_mut(&mut f.body);
        });
    }
    fn visit_expr_match_mut(&mut self, m: &mut syn::ExprMatch) {
        self.visit_expr_mut(&mut m.expr);
        for arm in &mut m.arms {
            self.in_scope(|search| {
                search.bind_inside(&arm.pat, &m.expr);
                search.visit_arm_mut(arm);
            });
        }
    }
    fn visit_expr_if_mut(&mut self, branch: &mut syn::ExprIf) {
        self.in_scope(|search| visit_mut::visit_expr_if_mut(search, branch));
    }
    fn visit_expr_while_mut(&mut self, w: &mut syn::ExprWhile) {
        self.in_scope(|search| visit_mut::visit_expr_while_mut(search, w));
    }
    fn visit_expr_let_mut(&mut self, l: &mut syn::ExprLet) {
        self.visit_expr_mut(&mut l.expr);
        self.bind_inside(&l.pat, &l.expr);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
