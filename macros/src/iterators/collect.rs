//! Vectors of the items of a chain: `collect` and `extend`.

use quote::ToTokens;
use syn::{Expr, ExprMethodCall, Ident, Stmt, Type, parse_quote, parse_quote_spanned};

use crate::closures::{Refused, Site};
use crate::iterators::flow::Flow;
use crate::iterators::item::{Code, Item};
use crate::iterators::source::{Function, Source};
use crate::kind::kind_of_type;
use crate::parse::Parser;
use crate::program::Kind;
use crate::rename::{Occurrences, path};

impl<'e> Parser<'e> {
    pub(crate) fn collect(
        &mut self,
        ty: Option<Type>,
        call: &ExprMethodCall,
        flow: &Flow,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Item, Refused> {
        let refused = |why: &str| Err((call.method.to_token_stream(), why.to_string()));
        // Where nothing tells, the compiler will say so if it is anything else than a vector.
        let Some(element) = ty.map_or(Some(parse_quote!(_)), |ty| element_of_vec(&ty)) else {
            return refused("`collect` is differentiable into a `Vec`: say so, by `collect::<Vec<_>>()`");
        };
        if matches!(element, Type::Reference(_)) {
            return refused(
                "a vector of references is not differentiable: go through them where they are needed, or `collect` copies, by \
                 `map(|part| part.to_vec())`",
            );
        }
        let items = self.hidden("items");
        let Some(source) = flow.source() else {
            out.push(parse_quote!(let mut #items: Vec<#element> = Vec::new();));
            return self.push_all(&items, &element, flow, site, out);
        };
        let mut source = source.clone();
        self.name_lengths(&mut source, out)?;
        let Some(len) = source.len() else { return refused("this iterator has no end") };
        let n = self.names.fresh("n");
        out.push(parse_quote!(let #n = #len;));
        let numbers = match &element {
            Type::Infer(_) => !composite(&source),
            ty => kind_of_type(ty) == Kind::Float,
        };
        if !numbers {
            out.push(parse_quote!(let mut #items: Vec<#element> = Vec::with_capacity(#n);));
            return self.push_all(&items, &element, flow, site, out);
        }
        // Its length does not change in the loop, so that there is nothing to undo but the writing.
        let start = parse_quote_spanned!(call.method.span()=> let mut #items: Vec<#element> = vec![0.0; #n];);
        out.push(start);
        let mut sink = |_: &mut Parser<'e>, item: Item, index: Option<&Expr>, out: &mut Vec<Stmt>| {
            let (index, value) = (index.expect("asked for"), item.expr());
            out.push(parse_quote!(#items[#index] = #value;));
            Ok(())
        };
        self.drive(flow, site, true, &mut sink, out)?;
        Ok(Item::Value(path(&items)))
    }

    /// `v.extend(chain);`
    pub(crate) fn extended(&mut self, call: &ExprMethodCall) -> Option<Vec<Stmt>> {
        let (v, items) = (&call.receiver, call.args.first()?);
        if call.args.len() != 1
            || self.place(v).is_none()
            || self.slice_of(items).is_some()
            || !self.suspects.any(call)
        {
            return None;
        }
        let around = Occurrences::of(call);
        let mut out = Vec::new();
        let flow = match self.flow(items, &mut out) {
            Ok(flow) => flow?,
            Err((tokens, why)) => {
                self.errors.push(tokens, why);
                return Some(Vec::new());
            }
        };
        let mut sink = |_: &mut Parser<'e>, item: Item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
            let value = item.referent();
            out.push(parse_quote!(#v.push(#value);));
            Ok(())
        };
        if let Err((tokens, why)) = self.drive(&flow, Site::Chain(&around), false, &mut sink, &mut out) {
            self.errors.push(tokens, why);
        }
        Some(out)
    }

    fn push_all(
        &mut self,
        items: &Ident,
        element: &Type,
        flow: &Flow,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Item, Refused> {
        let mut sink = |parser: &mut Parser<'e>, item: Item, _: Option<&Expr>, out: &mut Vec<Stmt>| {
            let mut value = item.expr();
            if let (Expr::MethodCall(inner), Some(_)) = (&value, element_of_vec(element))
                && inner.method == "collect"
            {
                let row = parser.hidden("row");
                out.push(parse_quote!(let #row: #element = #value;));
                value = path(&row);
            }
            out.push(parse_quote!(#items.push(#value);));
            Ok(())
        };
        self.drive(flow, site, false, &mut sink, out)?;
        Ok(Item::Value(path(items)))
    }
}

/// The type of the elements, if `ty` is a `Vec`.
pub(crate) fn element_of_vec(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == "Vec")?;
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|arg| match arg {
            syn::GenericArgument::Type(ty) => Some(ty.clone()),
            _ => None,
        }),
        _ => Some(parse_quote!(_)),
    }
}

/// The value is no number, as far as syntax tells.
pub(crate) fn makes_composite(value: &Expr) -> bool {
    match value {
        Expr::Tuple(_) | Expr::Array(_) | Expr::Repeat(_) | Expr::Struct(_) => true,
        Expr::Macro(mac) => mac.mac.path.is_ident("vec"),
        Expr::MethodCall(call) => call.method == "to_vec" || call.method == "collect",
        _ => false,
    }
}

/// The items are tuples, arrays, structs or vectors, as far as syntax tells.
pub(crate) fn composite(source: &Source) -> bool {
    match source {
        Source::Map(_, Function::Closure(closure)) => {
            let value = Code::of(&closure.body).value;
            value.is_some_and(|value| makes_composite(&value))
        }
        Source::Zip(..) | Source::Enumerate(_) => true,
        Source::Skip(inner, _)
        | Source::Take(inner, _)
        | Source::StepBy(inner, _)
        | Source::Rev(inner, _)
        | Source::Copied(inner) => composite(inner),
        _ => false,
    }
}
