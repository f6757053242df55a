//! Which of our functions computes what a method, a constructor or a macro of ndarray computes.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, Ident, Type, parse_quote};

use super::NUMBERS;
use super::shape::Shape;
use crate::kind::kind_of_type;
use crate::parse::Parser;
use crate::program::*;

/// What an operation takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Array,
    Number,
    /// Without gradient.
    Inert,
    /// A closure, or the path of a function.
    Function,
    /// A method of each element, as `powi(2)`.
    Method,
    /// A slice, an array or a vector.
    List,
}

/// Methods of arrays that are methods of their elements, with the number of their arguments.
const EACH: &[(&str, usize)] = &[
    ("exp", 0),
    ("exp2", 0),
    ("exp_m1", 0),
    ("ln", 0),
    ("ln_1p", 0),
    ("log", 1),
    ("log2", 0),
    ("log10", 0),
    ("sqrt", 0),
    ("cbrt", 0),
    ("recip", 0),
    ("powi", 1),
    ("powf", 1),
    ("pow2", 0),
    ("hypot", 1),
    ("sin", 0),
    ("cos", 0),
    ("tan", 0),
    ("asin", 0),
    ("acos", 0),
    ("atan", 0),
    ("sinh", 0),
    ("cosh", 0),
    ("tanh", 0),
    ("asinh", 0),
    ("acosh", 0),
    ("atanh", 0),
    ("to_degrees", 0),
    ("to_radians", 0),
    ("abs", 0),
    ("signum", 0),
    ("clamp", 2),
    ("floor", 0),
    ("ceil", 0),
    ("round", 0),
    ("trunc", 0),
    ("fract", 0),
];

/// Something that computes an array, as a call of one of our functions.
pub(super) struct Operation {
    pub(super) function: &'static str,
    pub(super) operands: Vec<(Takes, Expr)>,
}

impl Operation {
    /// As its syntax tells, where the operands that have to be arrays are some.
    pub(super) fn of(expr: &Expr) -> Option<Operation> {
        match expr {
            Expr::MethodCall(call) => Operation::of_method(call),
            Expr::Call(call) => Operation::of_constructor(call),
            Expr::Macro(mac) => Operation::of_macro(&mac.mac),
            _ => None,
        }
    }

    fn of_method(call: &syn::ExprMethodCall) -> Option<Operation> {
        use Takes::*;
        let receiver = || (Array, (*call.receiver).clone());
        let arg = |i: usize| call.args[i].clone();
        let (function, operands) = match (call.method.to_string().as_str(), call.args.len()) {
            ("dot", 1) => ("dot", vec![receiver(), (Array, arg(0))]),
            ("mapv" | "map", 1) => ("mapv", vec![receiver(), (Function, arg(0))]),
            ("mapv_into", 1) => ("mapv_into", vec![receiver(), (Function, arg(0))]),
            ("to_owned" | "into_owned", 0) => ("copy", vec![receiver()]),
            ("clone", 0) => ("duplicate", vec![receiver()]),
            ("reversed_axes", 0) => {
                let receiver = &call.receiver;
                ("copy", vec![(Array, parse_quote!(#receiver.t()))])
            }
            ("insert_axis", 1) => {
                let (receiver, axis) = (&call.receiver, arg(0));
                ("copy", vec![(Array, parse_quote!(#receiver.view().insert_axis(#axis)))])
            }
            // What is owned keeps its memory, and so its layout.
            ("permuted_axes", 1) => {
                let (receiver, axes) = (&call.receiver, arg(0));
                ("duplicate", vec![(Array, parse_quote!(#receiver.view().permuted_axes(#axes)))])
            }
            ("sum_axis", 1) => ("sum_axis", vec![receiver(), (Inert, arg(0))]),
            ("product_axis", 1) => ("product_axis", vec![receiver(), (Inert, arg(0))]),
            ("var_axis", 2) => ("var_axis", vec![receiver(), (Inert, arg(0)), (Number, arg(1))]),
            ("std_axis", 2) => ("std_axis", vec![receiver(), (Inert, arg(0)), (Number, arg(1))]),
            (name, arity) if EACH.contains(&(name, arity)) => {
                let (method, args) = (&call.method, &call.args);
                ("mapv", vec![receiver(), (Method, parse_quote!(#method(#args)))])
            }
            ("flatten" | "into_flat", 0) => {
                let receiver = &call.receiver;
                return Operation::of_result(&parse_quote!(#receiver.to_shape(#receiver.len())));
            }
            ("select", 2) => ("select", vec![receiver(), (Inert, arg(0)), (Inert, arg(1))]),
            ("unwrap", 0) | ("expect", 1) => return Operation::of_result(&call.receiver),
            _ => return None,
        };
        Some(Operation { function, operands })
    }

    /// What is unwrapped.
    fn of_result(result: &Expr) -> Option<Operation> {
        use Takes::*;
        match result {
            Expr::MethodCall(call) => {
                let operands = |call: &syn::ExprMethodCall| {
                    vec![(Array, (*call.receiver).clone()), (Inert, call.args[0].clone())]
                };
                match (call.method.to_string().as_str(), call.args.len()) {
                    ("mean_axis", 1) => Some(Operation { function: "mean_axis", operands: operands(call) }),
                    ("to_shape" | "into_shape_with_order" | "into_shape_clone", 1) => {
                        Some(Operation { function: "reshape", operands: operands(call) })
                    }
                    _ => None,
                }
            }
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else { return None };
                let name = &path.path.segments.last()?.ident;
                if name == "from_shape_vec" && call.args.len() == 2 && !is_by_columns(&call.args[0]) {
                    Shape::of_segment(path.path.segments.iter().rev().nth(1)?)?;
                    let operands = vec![(List, call.args[1].clone()), (Inert, call.args[0].clone())];
                    return Some(Operation { function: "shaped", operands });
                }
                let (axis, list) = match (call.args.first()?, call.args.get(1)?) {
                    (axis, Expr::Reference(reference)) => (axis, &*reference.expr),
                    _ => return None,
                };
                let Expr::Array(list) = list else { return None };
                Operation::joined(name, axis, list.elems.iter().cloned().collect())
            }
            _ => None,
        }
    }

    /// `concatenate` and `stack`, two arrays at a time.
    fn joined(name: &Ident, axis: &Expr, arrays: Vec<Expr>) -> Option<Operation> {
        let parts = arrays.into_iter().map(|array| match name == "stack" {
            true => match array {
                Expr::MethodCall(call) if call.method == "view" => parse_quote!(#call.insert_axis(#axis)),
                array @ (Expr::Path(_) | Expr::MethodCall(_)) => {
                    parse_quote!(#array.view().insert_axis(#axis))
                }
                array => parse_quote!((#array).view().insert_axis(#axis)),
            },
            false => array,
        });
        if name != "stack" && name != "concatenate" {
            return None;
        }
        let both = |one: Expr, other: Expr| -> Expr {
            parse_quote!(::pullback::__private::arrays::both(#axis, #one, #other))
        };
        let joined = parts.reduce(both)?;
        Operation::of_join(&joined)
    }

    fn of_join(joined: &Expr) -> Option<Operation> {
        use Takes::*;
        let Expr::Call(call) = joined else { return None };
        let args: Vec<_> = call.args.iter().cloned().collect();
        let [axis, one, other] = <[Expr; 3]>::try_from(args).ok()?;
        Some(Operation { function: "join", operands: vec![(Inert, axis), (Array, one), (Array, other)] })
    }

    pub(super) fn of_constructor(call: &syn::ExprCall) -> Option<Operation> {
        use Takes::*;
        let Expr::Path(path) = &*call.func else { return None };
        let mut segments = path.path.segments.iter().rev();
        let (name, owner) = (segments.next()?, segments.next()?);
        // Not the function itself, which is what a statement has been lowered to.
        if super::own(&path.path).is_some_and(|name| name == "both") {
            return Operation::of_join(&Expr::Call(call.clone()));
        }
        let shape = Shape::of_segment(owner)?;
        if (name.ident == "from_vec" || name.ident == "from") && call.args.len() == 1 && shape.rank == Some(1)
        {
            return Some(Operation { function: "line", operands: vec![(List, call.args[0].clone())] });
        }
        let arg = |i: usize| call.args[i].clone();
        let operation = |function, operands| Some(Operation { function, operands });
        match (name.ident.to_string().as_str(), call.args.len()) {
            ("linspace", 3) => {
                return operation("linspace", vec![(Number, arg(0)), (Number, arg(1)), (Inert, arg(2))]);
            }
            ("from_diag", 1) => return operation("from_diag", vec![(Array, arg(0))]),
            _ => {}
        }
        let number = |value: TokenStream| -> Option<Expr> {
            match &shape.element {
                None => Some(parse_quote!(#value)),
                Some(ty) if kind_of_type(ty) == Kind::Float => Some(parse_quote!(#value as #ty)),
                Some(_) => None,
            }
        };
        let value = match (name.ident.to_string().as_str(), call.args.len()) {
            ("zeros", 1) => number(quote!(0.0))?,
            ("ones", 1) => number(quote!(1.0))?,
            ("from_elem", 2) => call.args[1].clone(),
            _ => return None,
        };
        if is_by_columns(&call.args[0]) {
            return None;
        }
        Some(Operation {
            function: "from_elem",
            operands: vec![(Inert, call.args[0].clone()), (Number, value)],
        })
    }

    fn of_macro(mac: &syn::Macro) -> Option<Operation> {
        let name = &mac.path.segments.last()?.ident;
        let list = || {
            let parse = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
            Some(mac.parse_body_with(parse).ok()?.into_iter().collect::<Vec<_>>())
        };
        if name == "array" {
            let elements = list()?;
            return Some(Operation {
                function: "listed",
                operands: vec![(Takes::Number, parse_quote!([#(#elements),*]))],
            });
        }
        if name == "stack" || name == "concatenate" {
            let mut arrays = list()?;
            let axis = arrays.remove(0);
            return Operation::joined(name, &axis, arrays);
        }
        None
    }

    pub(super) fn shape(&self, parser: &Parser, written: &Expr) -> Option<Shape> {
        let operands = self.operands.iter().map(|(_, operand)| operand);
        let function = Ident::new(self.function, proc_macro2::Span::call_site());
        let call: syn::ExprCall = parse_quote!(#function(#(#operands),*));
        let shape = parser.shape_of_own_call(self.function, &call)?;
        // A constructor has the type before it.
        let Expr::Call(syn::ExprCall { func, .. }) = written else { return Some(shape) };
        let Expr::Path(path) = &**func else { return Some(shape) };
        let owner = path.path.segments.iter().rev().nth(1).and_then(Shape::of_segment);
        Some(match owner {
            Some(owner) => Shape { rank: owner.rank.or(shape.rank), element: owner.element },
            None => shape,
        })
    }
}

/// `(m, n).f()`: column by column, ndarray makes the array.
pub(super) fn is_by_columns(shape: &Expr) -> bool {
    matches!(shape, Expr::MethodCall(shape) if shape.method == "f" || shape.method == "set_f")
}

/// The shape of the value of one of our functions.
pub(super) fn shape_of_call(function: &str, operands: &[Option<Shape>]) -> Option<Shape> {
    match function {
        "dot" => {
            let (left, right) = match (operands.first()?, operands.get(1)?) {
                (None, None) => return None,
                (left, right) => (left.clone(), right.clone()),
            };
            let element = left.iter().chain(&right).find_map(|shape| shape.element.clone());
            let rank = |shape: &Option<Shape>| shape.as_ref().and_then(|shape| shape.rank);
            match (rank(&left), rank(&right)) {
                (Some(1), Some(1)) => None,
                (Some(2), Some(2)) => Some(Shape { rank: Some(2), element }),
                (Some(2), Some(1)) | (Some(1), Some(2)) => Some(Shape { rank: Some(1), element }),
                (Some(2), None) | (None, Some(2)) => Some(Shape { rank: None, element }),
                _ => None,
            }
        }
        name if NUMBERS.contains(&name) => None,
        "scaled_add" | "mapv_inplace" | "fill" | "times" => None,
        "line" | "linspace" => Some(Shape { rank: Some(1), element: None }),
        "from_diag" => Some(operands.first()?.clone()?.with(Some(2))),
        name if name.ends_with("_assign") => None,
        "mapv" | "mapv_into" | "copy" | "duplicate" | "negate" | "negate_left" | "select" => {
            operands.first()?.clone()
        }
        "sum_axis" | "mean_axis" | "product_axis" | "var_axis" | "std_axis" => {
            let shape = operands.first()?.clone()?;
            let rank = shape.rank.and_then(|rank| rank.checked_sub(1));
            Some(shape.with(rank))
        }
        _ => match (operands.first()?.clone(), operands.get(1).cloned().flatten()) {
            (Some(left), Some(right)) => Some(left.and(&right)),
            (one, other) => one.or(other),
        },
    }
}

/// What a map is given, with the type of its parameter.
pub(super) fn function_of(
    parser: &mut Parser,
    function: &Expr,
    element: Option<&Type>,
    by_reference: bool,
) -> TokenStream {
    let element = element.map_or(quote!(_), ToTokens::to_token_stream);
    let Expr::Closure(closure) = function else { return function.to_token_stream() };
    let body = &closure.body;
    match (closure.inputs.first(), by_reference) {
        (Some(syn::Pat::Reference(pattern)), true) => {
            let pattern = &pattern.pat;
            quote!(|#pattern: #element| #body)
        }
        (Some(syn::Pat::Type(_)) | None, false) | (None, true) => closure.to_token_stream(),
        (Some(pattern), false) => quote!(|#pattern: #element| #body),
        (Some(pattern), true) => {
            let name = parser.parts.fresh("entry");
            quote!(|#name: #element| { let #pattern = &#name; #body })
        }
    }
}
