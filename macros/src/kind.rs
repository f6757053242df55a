//! What a type's syntax tells about gradients.

use syn::{
    BinOp, Expr, GenericArgument, Lit, Member, PathArguments, Type, TypeArray, TypeGroup, TypeParen,
    TypeReference, TypeSlice,
};

use crate::advancing::is_place_of_part;
use crate::iterators::consumers::TO_OPTION;
use crate::iterators::integers::{is_item, is_private};
use crate::program::{ExprId, ExprKind, Kind, Op, Place, Program, Projection, VarId, Zero};

const INERT: &[&str] = &[
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "bool",
    "char",
    "str",
    "String",
    "Range",
    "RangeInclusive",
];

/// Methods that tell the shape of an array, and so carry no gradient.
const SHAPE: &[&str] = &[
    "len",
    "is_empty",
    "dim",
    "raw_dim",
    "shape",
    "ndim",
    "nrows",
    "ncols",
    "len_of",
    "strides",
    "numbering",
];

/// The methods of the standard library's floats that have a rule.
const NUMERIC: &[&str] = &[
    "recip",
    "sqrt",
    "cbrt",
    "powi",
    "powf",
    "hypot",
    "exp",
    "exp2",
    "exp_m1",
    "ln",
    "ln_1p",
    "log2",
    "log10",
    "log",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "to_degrees",
    "to_radians",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "abs",
    "max",
    "min",
    "clamp",
    "copysign",
    "signum",
    "floor",
    "ceil",
    "round",
    "round_ties_even",
    "trunc",
    "fract",
    "rem_euclid",
    "div_euclid",
    "mul_add",
    "midpoint",
    "next_up",
    "next_down",
    "sin_cos",
];

/// Whether the standard library's floats have a method called `name`, with a rule.
pub(crate) fn numeric_method(name: &str) -> bool {
    NUMERIC.contains(&name)
}

/// The same for a call with so many arguments: another number tells that it is a method of a user's type.
pub(crate) fn numeric_call(name: &str, args: usize) -> bool {
    let arity = match name {
        "powi" | "powf" | "hypot" | "log" | "atan2" | "max" | "min" | "copysign" | "rem_euclid"
        | "div_euclid" | "midpoint" => 1,
        "clamp" | "mul_add" => 2,
        _ => 0,
    };
    numeric_method(name) && args == arity
}

/// The methods that take longer to compute than a number takes to be kept.
const COSTLY: &[&str] = &[
    "sqrt", "cbrt", "powf", "hypot", "exp", "exp2", "exp_m1", "ln", "ln_1p", "log2", "log10", "log", "sin",
    "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "sin_cos",
];

/// Whether a numeric method called `name` takes longer to compute than its value takes to be kept.
pub(crate) fn costly_method(name: &str) -> bool {
    COSTLY.contains(&name)
}

/// Whether the derivative of a costly method called `name` is at hand once its value is.
pub(crate) fn reused_method(name: &str) -> bool {
    ["exp", "exp2", "exp_m1", "tanh"].contains(&name)
}

/// Whether a method called `name` returns something without gradient.
pub(crate) fn inert_method(name: &str) -> bool {
    SHAPE.contains(&name)
        || name.starts_with("is_")
        || ["to_bits", "total_cmp", "partial_cmp"].contains(&name)
}

/// Whether a method called `name` is one of the standard library's that only read their receiver, and hardly any other type has one that
/// writes to it.
pub(crate) fn reads_receiver(name: &str) -> bool {
    const TESTS: &[&str] = &["is_some", "is_none", "is_ok", "is_err", "is_nan", "is_finite", "is_infinite"];
    inert_method(name) && (!name.starts_with("is_") || SHAPE.contains(&name) || TESTS.contains(&name))
}

/// Whether a method called `name` is one that integers have and nothing else has that carries a gradient.
pub(crate) fn integer_method(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "count_ones",
        "count_zeros",
        "leading_zeros",
        "trailing_zeros",
        "leading_ones",
        "trailing_ones",
        "swap_bytes",
        "reverse_bits",
        "ilog",
        "ilog2",
        "ilog10",
        "isqrt",
        "abs_diff",
        "unsigned_abs",
        "div_ceil",
        "next_power_of_two",
        "next_multiple_of",
    ];
    NAMES.contains(&name)
        || ["wrapping_", "checked_", "saturating_", "overflowing_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Whether what a method called `name` makes of an integer, a `bool`, a text or a range carries no gradient either. `parse` and the
/// methods of users' traits may make floats of these.
fn stays_inert(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "abs",
        "as_bytes",
        "as_str",
        "bytes",
        "char_indices",
        "chars",
        "clamp",
        "clone",
        "cmp",
        "collect",
        "contains",
        "count",
        "div_euclid",
        "ends_with",
        "enumerate",
        "eq",
        "expect",
        "find",
        "ge",
        "gt",
        "last",
        "le",
        "lines",
        "lt",
        "max",
        "min",
        "ne",
        "next",
        "nth",
        "pow",
        "rem_euclid",
        "repeat",
        "rev",
        "rfind",
        "rotate_left",
        "rotate_right",
        "signum",
        "skip",
        "split",
        "split_at",
        "split_once",
        "split_terminator",
        "split_whitespace",
        "starts_with",
        "step_by",
        "strip_prefix",
        "strip_suffix",
        "take",
        "to_digit",
        "to_lowercase",
        "to_owned",
        "to_string",
        "to_uppercase",
        "trim",
        "trim_end",
        "trim_matches",
        "trim_start",
        "unwrap",
        "unwrap_or",
        "unwrap_or_default",
    ];
    NAMES.contains(&name) || integer_method(name) || inert_method(name)
}

/// Whether a method called `name` may change what carries no gradient as it is: an iterator gets shorter and a text longer, while numbers do
/// not change.
pub(crate) fn may_change_inert(name: &str) -> bool {
    const ASKING: &[&str] = &["find", "next", "nth"];
    const READING: &[&str] = &["as_", "into", "is_", "parse", "then", "to_"];
    let reads = stays_inert(name) && !ASKING.contains(&name) && !changes_receiver(name);
    let converts = !name.ends_with("_mut") && READING.iter().any(|start| name.starts_with(start));
    !reads && !converts && !numeric_method(name)
}

impl Kind {
    /// A method of this name may change a value of this kind, as far as these tell.
    pub(crate) fn may_be_changed_by(&self, method: &str) -> bool {
        match self {
            Kind::Float => false,
            Kind::Inert => may_change_inert(method),
            _ => true,
        }
    }

    /// That of the elements of a sequence, and of theirs.
    pub(crate) fn of_parts(&self) -> &Kind {
        match self {
            Kind::Sequence(inner) | Kind::Matrix(inner) => inner.of_parts(),
            kind => kind,
        }
    }
}

/// Methods of the standard library's and ndarray's collections that write to them.
const CHANGING: &[&str] = &[
    "append",
    "assign",
    "clear",
    "clone_from",
    "clone_from_slice",
    "copy_from_slice",
    "copy_within",
    "dedup",
    "drain",
    "extend",
    "extend_from_slice",
    "fill",
    "insert",
    "pop",
    "push",
    "remove",
    "reserve",
    "reserve_exact",
    "resize",
    "retain",
    "reverse",
    "rotate_left",
    "rotate_right",
    "scaled_add",
    "sort",
    "swap",
    "swap_remove",
    "swap_with_slice",
    "truncate",
];

/// Whether a method called `name` writes to its receiver, as its name tells.
pub(crate) fn changes_receiver(name: &str) -> bool {
    CHANGING.contains(&name)
        || name.starts_with("sort_")
        || name.starts_with("select_nth_")
        || ["_mut", "_inplace"].iter().any(|suffix| name.ends_with(suffix))
}

/// `+=` and its like.
pub(crate) fn assigns(op: &BinOp) -> bool {
    use BinOp::*;
    matches!(
        op,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitXorAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}

pub(crate) fn kind_of_type(ty: &Type) -> Kind {
    match ty {
        Type::Reference(r) => kind_of_type(&r.elem),
        Type::Paren(p) => kind_of_type(&p.elem),
        Type::Group(g) => kind_of_type(&g.elem),
        Type::Tuple(t) if !t.elems.is_empty() && t.elems.iter().all(|ty| kind_of_type(ty) == Kind::Inert) => {
            Kind::Inert
        }
        Type::Slice(s) => Kind::Sequence(Box::new(kind_of_type(&s.elem))),
        Type::Array(a) => Kind::Sequence(Box::new(kind_of_type(&a.elem))),
        Type::Path(p) => {
            let Some(segment) = p.path.segments.last() else { return Kind::Unknown };
            let name = segment.ident.to_string();
            if name == "f32" || name == "f64" || name == "DualNumber" {
                Kind::Float
            } else if INERT.contains(&name.as_str()) && of_standard_library(&p.path) {
                Kind::Inert
            } else if name == "Vec" || name.starts_with("Array") {
                element(&segment.arguments).map_or(Kind::Unknown, |kind| Kind::Sequence(Box::new(kind)))
            } else if crate::matrices::on_heap(&name) {
                Kind::Matrix(Box::new(element(&segment.arguments).unwrap_or(Kind::Unknown)))
            } else {
                Kind::Unknown
            }
        }
        _ => Kind::Unknown,
    }
}

/// Whether the type may be the standard library's of this name: its ranges have a type parameter, and `own::String` is another one.
pub(crate) fn of_standard_library(path: &syn::Path) -> bool {
    let last = &path.segments[path.segments.len() - 1];
    let range = last.ident == "Range" || last.ident == "RangeInclusive";
    let within = path.segments.iter().rev().nth(1).is_none_or(|module| {
        ["marker", "ops", "primitive", "range", "string"].iter().any(|known| module.ident == known)
    });
    within && (!range || matches!(last.arguments, PathArguments::AngleBracketed(_)))
}

/// Methods of iterators that end in an `Option`.
fn finds(name: &str) -> bool {
    const OTHERS: [&str; 6] = ["position", "rposition", "min", "max", "min_by_key", "max_by_key"];
    TO_OPTION.contains(&name) || OTHERS.contains(&name)
}

/// The kind of the first generic argument.
fn element(arguments: &PathArguments) -> Option<Kind> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    arguments.args.iter().find_map(|a| match a {
        GenericArgument::Type(t) => Some(kind_of_type(t)),
        _ => None,
    })
}

/// What a type refers to, if it is a reference.
fn behind(ty: &Type) -> &Type {
    match ty {
        Type::Reference(TypeReference { elem, .. })
        | Type::Paren(TypeParen { elem, .. })
        | Type::Group(TypeGroup { elem, .. }) => behind(elem),
        ty => ty,
    }
}

/// A slice, an array or a vector, or a reference to one.
pub(crate) fn is_slice(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => is_slice(&reference.elem),
        Type::Paren(paren) => is_slice(&paren.elem),
        Type::Slice(_) | Type::Array(_) => true,
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Vec"),
        _ => false,
    }
}

/// The syntax tells that values of the type are copied: numbers and the like, arrays and tuples of these, and references.
pub(crate) fn copied_type(ty: &Type) -> bool {
    match ty {
        Type::Paren(paren) => copied_type(&paren.elem),
        Type::Group(group) => copied_type(&group.elem),
        Type::Array(array) => copied_type(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().all(copied_type),
        Type::Reference(reference) => reference.mutability.is_none(),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            !["str", "String", "Range", "RangeInclusive"].contains(&&name[..])
                && matches!(kind_of_type(ty), Kind::Inert | Kind::Float)
        }),
        _ => false,
    }
}

/// The type is that of a vector, of anything.
pub(crate) fn is_vector(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Vec"))
}

/// Nothing in the type carries a gradient.
pub(crate) fn inert(kind: &Kind) -> bool {
    match kind {
        Kind::Inert => true,
        Kind::Sequence(element) | Kind::Matrix(element) => inert(element),
        _ => false,
    }
}

/// The name of a type of which the language knows nothing; `kind` is what is known of it.
pub(crate) fn names_other_type(ty: &Type, kind: &Kind) -> bool {
    matches!(ty, Type::Path(_)) && *kind == Kind::Unknown
}

/// The function by which the compiler confirms that a value carries no gradient.
pub(crate) fn is_check(path: &syn::Path) -> bool {
    is_private(path, "inert") || is_item(path) || is_place_of_part(path)
}

/// A function or a constant of a float: `f64::sin`
pub(crate) fn of_float(path: &syn::Path) -> bool {
    let first = &path.segments[0].ident;
    first == "f64" || first == "f32"
}

/// `f64::INFINITY`, `std::f64::consts::PI`
pub(crate) fn is_float_constant(path: &syn::Path) -> bool {
    let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let (Some(name), Some((_, module))) = (names.last(), names.split_last()) else { return false };
    let of = module.iter().rev().find(|segment| *segment != "consts");
    let integer = name == "RADIX" || name.ends_with("DIGITS") || name.ends_with("_EXP");
    of.is_some_and(|of| of == "f32" || of == "f64") && name.chars().all(|c| !c.is_lowercase()) && !integer
}

impl Program {
    pub(crate) fn kind_of_place(&self, place: &Place) -> Kind {
        let mut kind = self.variables[place.base].kind.clone();
        for (n, projection) in place.projections.iter().enumerate() {
            kind = match (projection, kind) {
                (Projection::Deref | Projection::View(..), kind) => kind,
                (Projection::Field(_), _) => self
                    .annotated(place.base, &place.projections[..=n])
                    .map_or(Kind::Unknown, |ty| self.kind_of_type(ty)),
                (Projection::Indexed(_, kind) | Projection::Selected(_, _, kind), _) => kind.clone(),
                (Projection::Index(index), kind @ Kind::Sequence(_))
                    if matches!(self.exprs[*index].syntax, Expr::Range(_)) =>
                {
                    kind
                }
                (Projection::Index(_), Kind::Sequence(element) | Kind::Matrix(element)) => *element,
                _ => Kind::Unknown,
            };
        }
        kind
    }

    /// What the annotation of a variable tells of the type of a part, within tuples.
    fn annotated(&self, base: VarId, projections: &[Projection]) -> Option<&Type> {
        projections.iter().try_fold(self.variables[base].ty.as_deref()?, |ty, projection| {
            match (projection, behind(ty)) {
                (Projection::Deref, ty) => Some(ty),
                (Projection::Field(Member::Unnamed(i)), Type::Tuple(tuple)) => {
                    tuple.elems.get(i.index as usize)
                }
                (
                    Projection::Index(index),
                    Type::Slice(TypeSlice { elem, .. }) | Type::Array(TypeArray { elem, .. }),
                ) if !matches!(self.exprs[*index].syntax, Expr::Range(_)) => Some(&**elem),
                _ => None,
            }
        })
    }

    pub(crate) fn kind_of(&self, expr: ExprId) -> Kind {
        match &self.exprs[expr].kind {
            ExprKind::Constant(_) => match &self.exprs[expr].syntax {
                Expr::Lit(lit) if matches!(lit.lit, Lit::Float(_)) => Kind::Float,
                Expr::Lit(_) | Expr::Binary(_) | Expr::Range(_) => Kind::Inert,
                Expr::MethodCall(syn::ExprMethodCall { method, .. })
                    if inert_method(&method.to_string()) || integer_method(&method.to_string()) =>
                {
                    Kind::Inert
                }
                // `T::from(2.0)` is an option, but of a float.
                Expr::Path(path) if self.of_scalar(&path.path) || is_float_constant(&path.path) => {
                    Kind::Float
                }
                Expr::Call(call) => match &*call.func {
                    Expr::Path(path) if self.of_scalar(&path.path) => Kind::Float,
                    Expr::Path(path) if is_check(&path.path) => Kind::Inert,
                    _ => Kind::Unknown,
                },
                _ => Kind::Unknown,
            },
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => self.kind_of_place(place),
            ExprKind::Neg(e) | ExprKind::Paren(e) => self.kind_of(*e),
            ExprKind::Binary { op, left, right } => match (self.kind_of(*left), self.kind_of(*right)) {
                (Kind::Float, Kind::Float) => Kind::Float,
                _ if self.of_user(expr) => Kind::Unknown,
                (Kind::Float, _) | (_, Kind::Float) if matches!(op, Op::Add | Op::Sub) => Kind::Float,
                // A vector may be multiplied by a float as well; most constants are numbers.
                (Kind::Float, _) if self.constant_number(*right) => Kind::Float,
                (_, Kind::Float) if self.constant_number(*left) => Kind::Float,
                (Kind::Inert, Kind::Inert) => Kind::Inert,
                _ => Kind::Unknown,
            },
            ExprKind::Cast(_, ty) => kind_of_type(ty),
            // The numeric methods of a float return floats, but for the inert ones and this one.
            ExprKind::Method { receiver, name, args } => {
                let of_range = matches!(self.exprs[self.peel(*receiver)].syntax, Expr::Range(_));
                // `(x > 0.0).then_some(x)`
                let others = || args.iter().any(|arg| self.kind_of(*arg) != Kind::Inert);
                match self.kind_of(*receiver) {
                    _ if name == "sin_cos" || of_range => Kind::Unknown,
                    // An item, or none, of what goes through a sequence.
                    Kind::Sequence(_) if finds(&name.to_string()) => Kind::Unknown,
                    Kind::Inert if others() || !stays_inert(&name.to_string()) => Kind::Unknown,
                    kind => kind,
                }
            }
            ExprKind::Call { function, args } => match self.kind_of_call(function) {
                Kind::Sequence(_) if self.copies_floats(function, args) => {
                    Kind::Sequence(Box::new(Kind::Float))
                }
                kind => kind,
            },
            ExprKind::Mutation { .. } if self.takes_box(expr) => Kind::Unknown,
            ExprKind::Mutation { action, args } => self.kind_of_mutation(*action, args),
            ExprKind::Vector { elements, .. } => {
                Kind::Sequence(Box::new(elements.first().map_or(Kind::Unknown, |e| self.kind_of(*e))))
            }
            ExprKind::Tuple(_)
            | ExprKind::Struct(_)
            | ExprKind::Exit { .. }
            | ExprKind::Try(_)
            | ExprKind::Split(_)
            | ExprKind::Callback(_)
            | ExprKind::Wrap(..) => Kind::Unknown,
            ExprKind::If { .. }
            | ExprKind::Match(_)
            | ExprKind::Block(_)
            | ExprKind::Loop { .. }
            | ExprKind::Rest(_) => {
                let blocks = self.blocks_of(expr);
                let ends = blocks.iter().filter_map(|b| self.blocks[*b].value);
                let values = ends.chain(blocks.iter().flat_map(|b| self.broken(*b)));
                values
                    .map(|value| self.kind_of(value))
                    .find(|kind| *kind != Kind::Unknown)
                    .unwrap_or(Kind::Unknown)
            }
            ExprKind::Array(elements) => {
                Kind::Sequence(Box::new(elements.first().map_or(Kind::Unknown, |e| self.kind_of(*e))))
            }
            ExprKind::Repeat(element, _) => Kind::Sequence(Box::new(self.kind_of(*element))),
        }
    }

    /// What is known of the parts of a tuple, and their zeros.
    pub(crate) fn kinds_of_parts(&self, expr: ExprId) -> Vec<(Kind, Option<Zero>)> {
        match &self.exprs[self.peel(expr)].kind {
            ExprKind::Tuple(elements) => {
                elements.iter().map(|e| (self.kind_of(*e), self.zero_of(*e))).collect()
            }
            ExprKind::Method { receiver, name, .. }
                if name == "sin_cos" && self.kind_of(*receiver) == Kind::Float =>
            {
                vec![(Kind::Float, Some(Zero::Scalar)); 2]
            }
            _ => Vec::new(),
        }
    }

    /// A constant that is a number, as far as the syntax tells.
    fn constant_number(&self, expr: ExprId) -> bool {
        matches!(self.exprs[self.peel(expr)].kind, ExprKind::Constant(_)) && !self.may_be_no_number(expr)
    }

    /// The zero of the shape of `expr`, where its syntax tells that.
    pub(crate) fn zero_of(&self, expr: ExprId) -> Option<Zero> {
        match &self.exprs[expr].kind {
            ExprKind::Paren(e) => self.zero_of(*e),
            ExprKind::Repeat(element, len) => {
                let len: &Expr = len;
                Some(Zero::Repeat(Box::new(self.zero_of(*element)?), quote::quote!(#len)))
            }
            ExprKind::Array(elements) => {
                elements.iter().map(|e| self.zero_of(*e)).collect::<Option<_>>().map(Zero::List)
            }
            _ => (self.kind_of(expr) == Kind::Float).then_some(Zero::Scalar),
        }
    }
}
