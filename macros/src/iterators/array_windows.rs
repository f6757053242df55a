//! `x.array_windows().map(|[a, b]| …)`: how many elements a window has, as the pattern of its items tells.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprMethodCall, GenericArgument, Pat, Type, parse_quote};

/// Adapters that hand out the items that they are given.
const SAME_ITEMS: [&str; 7] = ["by_ref", "filter", "inspect", "rev", "skip", "step_by", "take"];

/// Consumers whose closure is given something before an item.
const AFTER_STATE: [&str; 3] = ["fold", "scan", "try_fold"];

/// `body` with the sizes of all windows written out, `array_windows::<2>()`, where a pattern tells them.
pub(crate) fn with_sizes_of_windows(body: &Block) -> Block {
    let mut body = body.clone();
    Sizes.visit_block_mut(&mut body);
    body
}

/// `N` of `x.array_windows::<N>()`
pub(crate) fn size_of_window(call: &ExprMethodCall) -> Option<Expr> {
    match call.turbofish.as_ref()?.args.first()? {
        GenericArgument::Const(size) => Some(size.clone()),
        // The name of a constant may as well be that of a type.
        GenericArgument::Type(Type::Path(size)) => Some(parse_quote!(#size)),
        _ => None,
    }
}

struct Sizes;

impl VisitMut for Sizes {
    fn visit_expr_method_call_mut(&mut self, call: &mut ExprMethodCall) {
        visit_mut::visit_expr_method_call_mut(self, call);
        let behind = usize::from(AFTER_STATE.iter().any(|name| call.method == name));
        let closure = call.args.iter().find_map(|arg| match arg {
            Expr::Closure(closure) => closure.inputs.iter().nth(behind),
            _ => None,
        });
        if let Some(pattern) = closure {
            tell(&mut call.receiver, pattern);
        }
    }
    fn visit_expr_for_loop_mut(&mut self, for_loop: &mut syn::ExprForLoop) {
        visit_mut::visit_expr_for_loop_mut(self, for_loop);
        tell(&mut for_loop.expr, &for_loop.pat);
    }
}

fn tell_size(call: &mut ExprMethodCall, array: &Pat) {
    if let Some(size) = elements(array).filter(|_| call.turbofish.is_none()) {
        call.turbofish = Some(parse_quote!(::<#size>));
    }
}

/// `pattern` binds the items of `chain`.
fn tell(chain: &mut Expr, pattern: &Pat) {
    let Expr::MethodCall(call) = chain else { return };
    match (&*call.method.to_string(), pattern) {
        ("array_windows", pattern) => tell_size(call, pattern),
        ("enumerate", Pat::Tuple(both)) if both.elems.len() == 2 => tell(&mut call.receiver, &both.elems[1]),
        ("zip", Pat::Tuple(both)) if both.elems.len() == 2 => {
            tell(&mut call.receiver, &both.elems[0]);
            tell(&mut call.args[0], &both.elems[1]);
        }
        (method, pattern) if SAME_ITEMS.contains(&method) => tell(&mut call.receiver, pattern),
        _ => {}
    }
}

/// How many elements an array has that the pattern matches.
fn elements(pattern: &Pat) -> Option<Expr> {
    match pattern {
        Pat::Paren(paren) => elements(&paren.pat),
        Pat::Reference(reference) => elements(&reference.pat),
        Pat::Slice(slice) if !slice.elems.iter().any(|element| matches!(element, Pat::Rest(_))) => {
            let count = slice.elems.len();
            Some(parse_quote!(#count))
        }
        Pat::Type(typed) => length(&typed.ty),
        _ => None,
    }
}

fn length(ty: &Type) -> Option<Expr> {
    match ty {
        Type::Reference(reference) => length(&reference.elem),
        Type::Array(array) => Some(array.len.clone()),
        _ => None,
    }
}
