//! Functions within the body of a function. Those that something active goes through have rules as well, without a mark of their own: the
//! user sees them in what is marked. The function itself keeps them as they are.

use quote::ToTokens;
use syn::{Item, ItemFn, parse_quote};

use crate::calls::Callee;
use crate::program::{ExprKind, Program};
use crate::rename::Occurrences;

/// Marks the functions among `items` that active calls name, and those that these mention.
pub(crate) fn mark(program: &Program, items: &mut [Item]) {
    // They would have to run on dual numbers, too.
    if program.dual {
        return;
    }
    loop {
        let marked: Vec<Occurrences> =
            items.iter().filter_map(function).filter(|f| is_marked(f)).map(body).collect();
        let needed =
            |f: &ItemFn| is_called(program, f) || marked.iter().any(|body| body.count(&f.sig.ident) > 0);
        let next = items.iter_mut().filter_map(|item| match item {
            Item::Fn(f) if !is_marked(f) && needed(f) => Some(f),
            _ => None,
        });
        let mut any = false;
        for f in next {
            f.attrs.push(parse_quote!(#[::pullback::differentiable]));
            any = true;
        }
        if !any {
            return;
        }
    }
}

fn function(item: &Item) -> Option<&ItemFn> {
    match item {
        Item::Fn(f) => Some(f),
        _ => None,
    }
}

fn is_marked(f: &ItemFn) -> bool {
    f.attrs
        .iter()
        .any(|attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "differentiable"))
}

fn body(f: &ItemFn) -> Occurrences {
    Occurrences::of(f.block.to_token_stream())
}

/// An active call is that of the function, or is given it.
fn is_called(program: &Program, f: &ItemFn) -> bool {
    let name = &f.sig.ident;
    program.exprs.iter().filter(|expr| expr.active).any(|expr| match &expr.kind {
        ExprKind::Call { function, args } => {
            let called = match function {
                Callee::Function(path) | Callee::Itself(path) => path.is_ident(name),
                _ => false,
            };
            called || args.iter().any(|arg| matches!(&program.exprs[*arg].syntax, syn::Expr::Path(path) if path.path.is_ident(name)))
        }
        _ => false,
    })
}
