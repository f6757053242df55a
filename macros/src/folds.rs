//! `#[differentiable]` on the `impl` of `Sum` or `Product` for a type of the user's: where it folds by the operator, `sum()` is a loop of
//! that, whose rule is the operator's.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{
    Expr, ExprClosure, FnArg, GenericArgument, Ident, ImplItem, ItemImpl, Pat, PathArguments, Stmt, Type,
};

use crate::differentiable::{allowed, imports};
use crate::errors::Errors;
use crate::impls;

const FORM: &str = "`sum` and `product` are differentiable where they fold by the operator: `iter.fold(start, |a, b| a + b)`, `a * b` of a product";

/// The operator by which the trait that `path` names folds.
pub(crate) fn operator(path: &syn::Path) -> Option<Ident> {
    let name = &path.segments.last()?.ident;
    let folds = [("Sum", "Add"), ("Product", "Mul")].into_iter().find(|(fold, _)| name == fold)?;
    Some(Ident::new(folds.1, name.span()))
}

/// How a value of the type `ty` begins that `sum` or `product` makes.
pub(crate) fn start(sum: bool, ty: &Type) -> Expr {
    let operator = format_ident!("{}", if sum { "Add" } else { "Mul" });
    syn::parse_quote!(<#ty as ::pullback::__private::FoldsBy<::pullback::__private::operator::#operator>>::start())
}

pub(crate) fn expand(block: &ItemImpl, operator: &Ident) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let (path, _) = block.trait_.as_ref().expect("the `impl` of a trait");
    let item = path.segments.last().and_then(|last| match &last.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.first(),
        _ => None,
    });
    if let Some(GenericArgument::Type(ty)) = item
        && ![quote!(Self).to_string(), block.self_ty.to_token_stream().to_string()]
            .contains(&ty.to_token_stream().to_string())
    {
        let why = match ty {
            Type::Reference(_) => {
                "a sum of references is taken to be that of the values: mark the `impl` for these alone"
            }
            _ => {
                "the sum of values of another type has no rule: leave this `impl` as it is, and write a loop"
            }
        };
        errors.push(ty, why);
        errors.finish()?;
    }
    let method = block.items.iter().find_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    let plain = impls::plain(block.clone());
    let Some(method) = method else {
        // The compiler says what is missing.
        return Ok(quote!(#plain));
    };
    let start = match (&method.block.stmts[..], method.sig.inputs.first()) {
        ([Stmt::Expr(Expr::MethodCall(call), None)], Some(FnArg::Typed(iter)))
            if call.method == "fold" && is_name(&call.receiver, &iter.pat) && call.args.len() == 2 =>
        {
            applies(operator, &call.args[1]).then(|| &call.args[0])
        }
        _ => None,
    };
    if start.is_none() {
        errors.push(&method.block, FORM);
    }
    // What is refused is told here; what sums up values of the type compiles.
    let start = start.map_or(quote!(::core::unreachable!()), |start| quote!(#start));
    let refused = errors.into_compile_error();
    let (declared, _, clause) = block.generics.split_for_impl();
    let (owner, allowed, imports) = (&block.self_ty, allowed(), imports());
    Ok(quote! {
        #plain
        #allowed
        const _: () = {
            #imports

            impl #declared __pb::FoldsBy<__pb::operator::#operator> for #owner #clause {
                fn start() -> Self {
                    #start
                }
            }
        };
        #refused
    })
}

fn is_name(expr: &Expr, pattern: &Pat) -> bool {
    matches!(pattern, Pat::Ident(_))
        && expr.to_token_stream().to_string() == pattern.to_token_stream().to_string()
}

/// `|a, b| a + b`, or `Add::add`
fn applies(operator: &Ident, function: &Expr) -> bool {
    match function {
        Expr::Closure(closure) => applies_in(operator, closure),
        Expr::Path(path) => {
            let method = operator.to_string().to_lowercase();
            let mut names = path.path.segments.iter().rev().map(|segment| &segment.ident);
            path.qself.is_none()
                && names.next().is_some_and(|name| *name == method)
                && names.next().is_some_and(|owner| owner == operator)
        }
        _ => false,
    }
}

fn applies_in(operator: &Ident, closure: &ExprClosure) -> bool {
    let body = match &*closure.body {
        Expr::Block(block) => match &block.block.stmts[..] {
            [Stmt::Expr(value, None)] => value,
            _ => return false,
        },
        body => body,
    };
    let Expr::Binary(binary) = body else { return false };
    let same = match &binary.op {
        syn::BinOp::Add(_) => operator == "Add",
        syn::BinOp::Mul(_) => operator == "Mul",
        _ => false,
    };
    let mut inputs = closure.inputs.iter();
    let (Some(left), Some(right), None) = (inputs.next(), inputs.next(), inputs.next()) else { return false };
    same && is_name(&binary.left, untyped(left)) && is_name(&binary.right, untyped(right))
}

fn untyped(pattern: &Pat) -> &Pat {
    match pattern {
        Pat::Type(typed) => &typed.pat,
        pattern => pattern,
    }
}
