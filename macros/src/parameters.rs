//! Parameters that the rule has in another form, of which the body begins by making what the user wrote: patterns have names, and views
//! of arrays are lent, and so are the items of iterators.

use crate::found::Moved;
use crate::streams::{Items, unrolled};
use quote::format_ident;

use syn::{Block, FnArg, GenericArgument, Pat, PathArguments, Signature, Type, parse_quote};

/// `fn f((a, b): (f64, f64)) { … }` becomes `fn f(_0: (f64, f64)) { let (a, b) = _0; … }`, and in `fn f(x: ArrayView1<f64>) { … }` the body
/// begins with `let x = x.view();`, as in `fn f(mut x: &[f64]) { … }` by `let mut x = x;`.
pub(crate) fn name_patterns(sig: &mut Signature, body: &mut Block) {
    let mut apart = Vec::new();
    let (generics, inputs) = (&sig.generics, &mut sig.inputs);
    for (i, input) in inputs.iter_mut().enumerate() {
        let FnArg::Typed(typed) = input else { continue };
        if let (Some(lent), Pat::Ident(name)) = (lent_view(&typed.ty), &*typed.pat) {
            let (name, mutable) = (&name.ident, &name.mutability);
            apart.push(match lent.mutability {
                Some(_) => parse_quote!(let #mutable #name = #name.view_mut();),
                None => parse_quote!(let #mutable #name = #name.view();),
            });
            continue;
        }
        if let (Some(items), Pat::Ident(name)) = (Items::of(&typed.ty, generics), &mut *typed.pat) {
            let mutable = name.mutability.take().is_some();
            apart.extend(unrolled(&name.ident, mutable, &items, body));
            continue;
        }
        let constant = typed.attrs.iter().any(|attr| attr.path().is_ident("constant"));
        if let (Type::Reference(lent), Pat::Ident(name)) = (&*typed.ty, &mut *typed.pat)
            && lent.mutability.is_none()
            && (constant || matches!(*lent.elem, Type::Slice(_)))
            && name.mutability.is_some()
            && Moved::in_block(body).assigns(&name.ident)
        {
            // It goes on to something else.
            name.mutability = None;
            let name = &name.ident;
            apart.push(parse_quote!(let mut #name = #name;));
        }
        let named = match &*typed.pat {
            Pat::Ident(ident) => ident.by_ref.is_none() && ident.subpat.is_none(),
            pattern => matches!(pattern, Pat::Wild(_)),
        };
        if !named {
            let name = format_ident!("_{i}");
            let pattern = std::mem::replace(&mut *typed.pat, parse_quote!(#name));
            apart.push(parse_quote!(let #pattern = #name;));
        }
    }
    body.stmts.splice(0..0, apart);
}

/// `ArrayView1<'a, f64>` as the rule has it: `&'a ArrayRef1<f64>`. `None` if the type is no view.
pub(crate) fn lent_view(ty: &Type) -> Option<syn::TypeReference> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last()?;
    let name = segment.ident.to_string();
    let kind = name.strip_prefix("ArrayView")?;
    let (mutability, dimensions) = match kind.strip_prefix("Mut") {
        Some(dimensions) => (Some(<syn::Token![mut]>::default()), dimensions),
        None => (None, kind),
    };
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    let (mut lifetime, mut arguments) = (None, arguments.clone());
    arguments.args = std::mem::take(&mut arguments.args)
        .into_iter()
        .filter(|argument| match argument {
            GenericArgument::Lifetime(of_view) => {
                lifetime = (of_view.ident != "_").then(|| of_view.clone());
                false
            }
            _ => true,
        })
        .collect();
    let array = format_ident!("ArrayRef{dimensions}", span = segment.ident.span());
    Some(parse_quote!(& #lifetime #mutability ::pullback::__private::ndarray::#array #arguments))
}
