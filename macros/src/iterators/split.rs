//! Two vectors of the items of a chain: `partition` and `unzip`, as the initialiser of a `let`.

use quote::ToTokens;
use syn::{Expr, ExprMethodCall, GenericArgument, Ident, Pat, Stmt, Type, parse_quote};

use crate::closures::{Refused, Site};
use crate::iterators::collect::element_of_vec;
use crate::iterators::flow::reference;
use crate::iterators::item::Item;
use crate::parse::Parser;

impl<'e> Parser<'e> {
    /// `let (a, b): (Vec<f64>, Vec<f64>) = chain.unzip();`
    pub(crate) fn let_split(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let Expr::MethodCall(call) = &*init.expr else { return None };
        let parts = call.method == "partition" && call.args.len() == 1;
        if !parts && (call.method != "unzip" || !call.args.is_empty()) || !self.suspects.any(local) {
            return None;
        }
        match self.split_items(local, call) {
            Ok(out) => out,
            Err((tokens, why)) => {
                self.errors.push(tokens, why);
                Some(Vec::new())
            }
        }
    }

    fn split_items(
        &mut self,
        local: &syn::Local,
        call: &ExprMethodCall,
    ) -> Result<Option<Vec<Stmt>>, Refused> {
        let mut out = Vec::new();
        let Some(flow) = self.flow_of_receiver(&call.receiver, &mut out)? else { return Ok(None) };
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        let Some([left, right]) = pair(pattern) else {
            let why = "give both vectors a name: `let (a, b): (Vec<_>, Vec<_>) = …`";
            return Err((pattern.to_token_stream(), why.into()));
        };
        let (to_left, to_right) = types(ty, call);
        let empty = match call.method == "unzip" {
            true => self.empty_for(&flow, &mut out)?,
            false => parse_quote!(Vec::new()),
        };
        // A vector is extended by references to its elements, too.
        let of_values = |ty: &Type| {
            element_of_vec(ty).is_some_and(|element| !matches!(element, Type::Reference(_) | Type::Infer(_)))
        };
        let (values_left, values_right) = (of_values(&to_left), of_values(&to_right));
        let taken = |item: &Item, values: bool| match item {
            Item::Place { place, .. } if values => place.clone(),
            item => item.expr(),
        };
        let around = self.around(call);
        let site = Site::Chain(&around);
        for (name, ty) in [(&left, to_left), (&right, to_right)] {
            if around.count(name) > 0 {
                let why = "the chain mentions a variable of this name: give the vector another one";
                return Err((name.to_token_stream(), why.into()));
            }
            self.suspects.insert(name);
            out.push(parse_quote!(let mut #name: #ty = #empty;));
        }
        let mut sink = |parser: &mut Parser<'e>, item: Item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
            match call.args.first() {
                Some(test) => {
                    let item = parser.named(item, out);
                    let test = parser.predicate(test, &[reference(&item)])?;
                    let (one, other) = (taken(&item, values_left), taken(&item, values_right));
                    out.push(parse_quote!(if #test { #left.push(#one); } else { #right.push(#other); }));
                }
                None => match item {
                    Item::Tuple(items) if items.len() == 2 => {
                        let (one, other) = (taken(&items[0], values_left), taken(&items[1], values_right));
                        out.push(parse_quote!(#left.push(#one);));
                        out.push(parse_quote!(#right.push(#other);));
                    }
                    item => {
                        let (one, other, value) = (parser.hidden("one"), parser.hidden("other"), item.expr());
                        out.push(parse_quote!(let (#one, #other) = #value;));
                        out.push(parse_quote!(#left.push(#one);));
                        out.push(parse_quote!(#right.push(#other);));
                    }
                },
            }
            Ok(())
        };
        self.drive(&flow, site, false, &mut sink, &mut out)?;
        Ok(Some(out))
    }
}

/// `(a, mut b)`
fn pair(pattern: &Pat) -> Option<[Ident; 2]> {
    let Pat::Tuple(tuple) = pattern else { return None };
    let names = tuple.elems.iter().map(|part| match part {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(name.ident.clone()),
        _ => None,
    });
    names.collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// The types of the two vectors: as annotated, or as the method is told.
fn types(ty: Option<&Type>, call: &ExprMethodCall) -> (Type, Type) {
    if let Some(Type::Tuple(tuple)) = ty
        && tuple.elems.len() == 2
    {
        return (tuple.elems[0].clone(), tuple.elems[1].clone());
    }
    let told: Vec<&Type> = call
        .turbofish
        .iter()
        .flat_map(|turbofish| &turbofish.args)
        .filter_map(|arg| match arg {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
        .collect();
    match told[..] {
        [both] => (both.clone(), both.clone()),
        [_, _, left, right] => (left.clone(), right.clone()),
        _ => (parse_quote!(Vec<_>), parse_quote!(Vec<_>)),
    }
}
