//! What the syntax tells about arrays: that a value is one, how many dimensions it has, and of what it consists.

use proc_macro2::TokenTree;
use quote::{ToTokens, quote};
use syn::{Expr, GenericArgument, Ident, PathArguments, Stmt, Type, UnOp, parse_quote};

use super::operation::{Operation, shape_of_call};
use crate::arrays::operator;
use crate::kind::inert_method;
use crate::parse::{Binding, Parser};
use crate::program::*;

/// What the syntax tells about an array.
#[derive(Clone)]
pub(crate) struct Shape {
    /// The number of indices.
    pub(crate) rank: Option<usize>,
    /// The type of an element.
    pub(crate) element: Option<Type>,
}

impl Shape {
    /// Of an array type, by its name.
    pub(crate) fn of_type(ty: &Type) -> Option<Shape> {
        match ty {
            Type::Reference(reference) => Shape::of_type(&reference.elem),
            Type::Paren(paren) => Shape::of_type(&paren.elem),
            Type::Group(group) => Shape::of_type(&group.elem),
            Type::Path(path) => Shape::of_segment(path.path.segments.last()?),
            _ => None,
        }
    }

    pub(crate) fn of_segment(segment: &syn::PathSegment) -> Option<Shape> {
        let name = segment.ident.to_string();
        let rest = name.strip_prefix("Array")?;
        let number = rest.trim_start_matches(|c: char| c.is_alphabetic());
        let owner = &rest[..rest.len() - number.len()];
        if !["", "View", "ViewMut", "Ref", "Base", "D"].contains(&owner) {
            return None;
        }
        let arguments: Vec<_> = match &segment.arguments {
            PathArguments::AngleBracketed(arguments) => arguments
                .args
                .iter()
                .filter_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some(ty.clone()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let named = |ty: &Type| match ty {
            Type::Path(path) => path.path.segments.last()?.ident.to_string().strip_prefix("Ix")?.parse().ok(),
            _ => None,
        };
        let rank = number.parse().ok().or_else(|| arguments.get(1).and_then(named));
        let element = arguments.first().filter(|ty| !matches!(ty, Type::Infer(_))).cloned();
        Some(Shape { rank, element: element.filter(|_| owner != "Base") })
    }

    pub(crate) fn to_type(&self) -> Type {
        let element = self.element.as_ref().map_or(quote!(_), ToTokens::to_token_stream);
        match self.rank {
            Some(rank) => {
                let rank = quote::format_ident!("Ix{rank}");
                parse_quote!(Array<#element, ::pullback::__private::ndarray::#rank>)
            }
            None => parse_quote!(Array<#element, _>),
        }
    }

    pub(super) fn with(&self, rank: Option<usize>) -> Shape {
        Shape { rank, element: self.element.clone() }
    }

    /// Of the view that the method `name` yields.
    fn viewed(&self, name: &str, args: &[&Expr]) -> Shape {
        let more = |by: isize| self.rank.and_then(|rank| rank.checked_add_signed(by));
        self.with(match name {
            "row" | "column" | "diag" => Some(1),
            "index_axis" => more(-1),
            "insert_axis" => more(1),
            "slice" => taken(args[0]).and_then(|taken| more(-taken)),
            "broadcast" => match args[0] {
                Expr::Tuple(tuple) => Some(tuple.elems.len()),
                Expr::Lit(_) => Some(1),
                _ => None,
            },
            _ => self.rank,
        })
    }

    /// Both, broadcast.
    pub(super) fn and(&self, other: &Shape) -> Shape {
        let rank = self.rank.zip(other.rank).map(|(one, other)| one.max(other));
        Shape { rank, element: self.element.clone().or_else(|| other.element.clone()) }
    }
}

/// Views, with the number of their arguments.
const VIEWS: &[(&str, usize)] = &[
    ("t", 0),
    ("view", 0),
    ("row", 1),
    ("column", 1),
    ("diag", 0),
    ("index_axis", 2),
    ("slice", 1),
    ("slice_axis", 2),
    ("insert_axis", 1),
    ("permuted_axes", 1),
    ("broadcast", 1),
    ("unwrap", 0),
    ("expect", 1),
];

/// The views that can be written to.
const WRITTEN: &[&str] = &["view", "row", "column", "diag", "index_axis", "slice", "slice_axis"];

fn base_of(name: &str) -> &str {
    name.strip_suffix("_mut").filter(|base| WRITTEN.contains(base)).unwrap_or(name)
}

/// The method that yields the view to write to.
pub(crate) fn written(view: &Ident) -> Ident {
    let name = view.to_string();
    match WRITTEN.contains(&name.as_str()) {
        true => quote::format_ident!("{name}_mut", span = view.span()),
        false => view.clone(),
    }
}

/// `row_mut` and its like.
pub(crate) fn is_written(method: &Ident) -> bool {
    *method != base_of(&method.to_string())
}

/// `Axis(0)`, `Slice::from(1..3)`: what a view is selected by
pub(crate) fn is_selector(path: &syn::Path) -> bool {
    let mut segments = path.segments.iter().rev();
    let (last, owner) = (segments.next(), segments.next());
    last.is_some_and(|last| last.ident == "Axis")
        || owner.is_some_and(|owner| owner.ident == "Slice")
            && last.is_some_and(|last| last.ident == "from" || last.ident == "new")
}

/// `s![.., 0]`, in which nothing is called that might not do the same again.
pub(crate) fn is_pure_slice(mac: &syn::Macro) -> bool {
    fn calls(tokens: proc_macro2::TokenStream) -> bool {
        let mut known = true;
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(name) => {
                let name = name.to_string();
                known =
                    inert_method(&name) || ["min", "max", "saturating_sub", "isqrt"].contains(&name.as_str());
                false
            }
            TokenTree::Group(group) => !known || calls(group.stream()),
            _ => {
                known = true;
                false
            }
        })
    }
    is_slice(mac) && !calls(mac.tokens.clone())
}

/// `s![…]`
pub(crate) fn is_slice(mac: &syn::Macro) -> bool {
    mac.path.segments.last().is_some_and(|last| last.ident == "s")
}

/// The number of axes that `s![…]` takes away.
fn taken(arg: &Expr) -> Option<isize> {
    let Expr::Macro(mac) = arg else { return None };
    if !is_slice(&mac.mac) {
        return None;
    }
    let (mut taken, mut range, mut any) = (0, false, false);
    let mut dots = 0;
    for token in mac.mac.tokens.clone() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => {
                taken += isize::from(any && !range);
                (range, any, dots) = (false, false, 0);
                continue;
            }
            TokenTree::Punct(punct) if punct.as_char() == '.' => {
                dots += 1;
                range |= dots == 2;
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => range = true,
            TokenTree::Ident(ident) if ident == "NewAxis" => {
                taken -= 1;
                range = true;
            }
            _ => dots = 0,
        }
        any = true;
    }
    Some(taken + isize::from(any && !range))
}

impl Parser<'_> {
    /// `x.row(i)`, `x` being a part of a variable that is an array.
    pub(crate) fn view(&mut self, call: &syn::ExprMethodCall) -> Option<Place> {
        self.viewed(call)?;
        let mut place = self.place(&call.receiver)?;
        self.program.variables[place.base].parted = true;
        let args = call.args.iter().map(|arg| self.inert_expr(arg)).collect();
        let name = Ident::new(base_of(&call.method.to_string()), call.method.span());
        place.projections.push(Projection::View(name, args));
        Some(place)
    }

    /// Of a view, by its name or as it is made: whether it can be written to.
    pub(crate) fn is_view_to_write_to(&self, expr: &Expr) -> Option<bool> {
        match expr {
            Expr::MethodCall(call) => self.viewed(call).map(|_| call.method.to_string().ends_with("_mut")),
            Expr::Path(path) => match self.lookup(path.path.get_ident()?)? {
                Binding::Alias { place, unique, .. } => {
                    matches!(place.projections.last()?, Projection::View(..)).then_some(*unique)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The shape of a view.
    pub(crate) fn viewed(&self, call: &syn::ExprMethodCall) -> Option<Shape> {
        let name = call.method.to_string();
        let name = base_of(&name);
        VIEWS.iter().find(|(view, args)| *view == name && *args == call.args.len())?;
        let of_view = match &*call.receiver {
            Expr::MethodCall(inner) => {
                let broadcast = inner.method == "broadcast";
                // What is unwrapped is that, and only that is.
                if broadcast != (name == "unwrap" || name == "expect") {
                    return None;
                }
                self.viewed(inner).is_some()
            }
            _ if name == "unwrap" || name == "expect" => return None,
            _ => false,
        };
        // These take a view, not an array.
        if (name == "insert_axis" || name == "permuted_axes") && !of_view {
            return None;
        }
        let shape = self.shape_of(&call.receiver)?;
        let args: Vec<_> = call.args.iter().collect();
        Some(shape.viewed(name, &args))
    }

    /// The type of a place.
    pub(crate) fn type_of_place(&self, place: &Place) -> Option<Type> {
        let mut ty = self.types.get(&place.base)?.clone();
        for projection in &place.projections {
            ty = match projection {
                Projection::Deref => ty,
                Projection::Field(syn::Member::Unnamed(index)) => match ty {
                    Type::Tuple(tuple) => tuple.elems.get(index.index as usize)?.clone(),
                    _ => return None,
                },
                Projection::Field(_) | Projection::Indexed(..) | Projection::Selected(..) => return None,
                Projection::Index(index) => {
                    let range = matches!(self.program.exprs[*index].syntax, Expr::Range(_));
                    if range { ty } else { element(&ty)? }
                }
                Projection::View(view, args) => {
                    let args: Vec<_> = args.iter().map(|arg| &self.program.exprs[*arg].syntax).collect();
                    Shape::of_type(&ty)?.viewed(&view.to_string(), &args).to_type()
                }
            };
        }
        Some(ty)
    }

    pub(crate) fn type_of(&self, expr: &Expr) -> Option<Type> {
        match expr {
            Expr::Path(path) => match self.lookup(path.path.get_ident()?)? {
                Binding::Variable(id) => self.types.get(id).cloned(),
                Binding::Alias { ty: Some(ty), .. } => Some((**ty).clone()),
                Binding::Alias { place, .. } => self.type_of_place(place),
                Binding::Closure(_) | Binding::Held(_) => None,
            },
            Expr::Paren(paren) => self.type_of(&paren.expr),
            Expr::Group(group) => self.type_of(&group.expr),
            Expr::Reference(reference) => self.type_of(&reference.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.type_of(&unary.expr),
            Expr::Index(index) => {
                let ty = self.type_of(&index.expr)?;
                if matches!(&*index.index, Expr::Range(_)) { Some(ty) } else { element(&ty) }
            }
            _ => None,
        }
    }

    /// What the syntax tells, if the value is an array.
    pub(crate) fn shape_of(&self, expr: &Expr) -> Option<Shape> {
        match expr {
            Expr::Paren(paren) => self.shape_of(&paren.expr),
            Expr::Group(group) => self.shape_of(&group.expr),
            Expr::Reference(reference) => self.shape_of(&reference.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => None,
            Expr::Unary(unary) => self.shape_of(&unary.expr),
            Expr::Binary(binary) => {
                operator(&binary.op)?;
                match (self.shape_of(&binary.left), self.shape_of(&binary.right)) {
                    (Some(left), Some(right)) => Some(left.and(&right)),
                    (one, other) => one.or(other),
                }
            }
            Expr::MethodCall(call) => self
                .viewed(call)
                .or_else(|| Operation::of(expr)?.shape(self, expr))
                .or_else(|| self.shape_of_made(expr))
                .or_else(|| self.evidence.shape_of(expr)),
            Expr::Macro(_) => Operation::of(expr)?.shape(self, expr),
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else { return None };
                let mut segments = path.path.segments.iter().rev();
                let (Some(_), Some(owner)) = (segments.next(), segments.next()) else {
                    return self.evidence.shape_of(expr);
                };
                if let Some(name) = super::own(&path.path).filter(|name| *name != "both") {
                    return self.shape_of_own_call(&name.to_string(), call);
                }
                if let Some(operation) = Operation::of(expr) {
                    return operation.shape(self, expr);
                }
                let constructed = Shape::of_segment(owner).map(|shape| {
                    let rank = match call.args.first() {
                        Some(Expr::Tuple(tuple)) => Some(tuple.elems.len()),
                        _ => None,
                    };
                    shape.with(shape.rank.or(rank))
                });
                constructed.or_else(|| self.evidence.shape_of(expr))
            }
            Expr::If(branch) => self
                .shape_of_block(&branch.then_branch)
                .or_else(|| branch.else_branch.as_ref().and_then(|(_, e)| self.shape_of(e))),
            Expr::Block(block) => self.shape_of_block(&block.block),
            Expr::Try(_) => self.evidence.shape_of(expr),
            Expr::Field(_) if let Some(shape) = self.evidence.shape_of(expr) => Some(shape),
            expr => Shape::of_type(&self.type_of(expr)?),
        }
    }

    /// Of a call that a statement has been lowered to.
    pub(super) fn shape_of_own_call(&self, name: &str, call: &syn::ExprCall) -> Option<Shape> {
        let arrays: Vec<_> = call.args.iter().map(|operand| self.shape_of(operand)).collect();
        let rank_of = |shape: &Expr| match shape {
            Expr::Tuple(tuple) => Some(tuple.elems.len()),
            Expr::Array(array) => Some(array.elems.len()),
            Expr::Lit(_) => Some(1),
            Expr::MethodCall(call) if call.method == "len" => Some(1),
            _ => None,
        };
        match name {
            "from_elem" | "laid_out" => Some(Shape { rank: rank_of(&call.args[0]), element: None }),
            "shaped" => Some(Shape { rank: rank_of(&call.args[1]), element: None }),
            "listed" => {
                let (mut rank, mut list) = (0, &call.args[0]);
                while let Expr::Array(array) = list {
                    rank += 1;
                    list = array.elems.first()?;
                }
                Some(Shape { rank: Some(rank), element: None })
            }
            "reshape" => Some(arrays.into_iter().next()??.with(rank_of(&call.args[1]))),
            "join" => shape_of_call(name, &arrays[1..]),
            _ => shape_of_call(name, &arrays),
        }
    }

    fn shape_of_block(&self, block: &syn::Block) -> Option<Shape> {
        match block.stmts.last()? {
            Stmt::Expr(value, None) => self.shape_of(value),
            _ => None,
        }
    }
}

/// The type of what an index selects.
pub(crate) fn element(ty: &Type) -> Option<Type> {
    match ty {
        Type::Reference(reference) => element(&reference.elem),
        Type::Paren(paren) => element(&paren.elem),
        Type::Group(group) => element(&group.elem),
        Type::Slice(slice) => Some((*slice.elem).clone()),
        Type::Array(array) => Some((*array.elem).clone()),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
            let known = last.ident == "Vec" || Shape::of_segment(last).is_some();
            arguments.args.iter().filter(|_| known).find_map(|argument| match argument {
                GenericArgument::Type(ty) if !matches!(ty, Type::Infer(_)) => Some(ty.clone()),
                _ => None,
            })
        }
        _ => None,
    }
}
