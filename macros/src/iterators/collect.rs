//! Vectors of the items of a chain: `collect` and `extend`.

use quote::ToTokens;
use syn::{Expr, ExprMethodCall, Ident, Pat, PatType, Stmt, Type, parse_quote, parse_quote_spanned};

use crate::arrays::shape::Shape;
use crate::closures::{Refused, Site};
use crate::gathered::{is_gathered, room};
use crate::iterators::consumers::{generic, makes_number};
use crate::iterators::flow::{Flow, Origin as From};
use crate::iterators::item::{Code, Item};
use crate::iterators::source::{Access, Function, Source};
use crate::kind::{kind_of_type, numeric_method, of_float};
use crate::methods::of_option;
use crate::outcome::inside_type;
use crate::parse::{Binding, Parser};
use crate::program::{Kind, Origin};
use crate::recycled::recycled;
use crate::rename::{is_name, path};

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
        if ty.as_ref().is_some_and(|ty| inside_type(ty).is_some()) {
            return refused(
                "such a `collect` is differentiable into a `Vec` within an `Option` or a `Result`, where the function returns it, or a `?`, a \
                 `match`, an `if let` or a `let … else` directly behind it looks into it",
            );
        }
        // Where nothing tells, the compiler will say so if it is anything else than a vector.
        let Some(element) = ty.as_ref().map_or(Some(parse_quote!(_)), element_of_vec) else {
            return refused("`collect` is differentiable into a `Vec`: say so, by `collect::<Vec<_>>()`");
        };
        if matches!(element, Type::Reference(_)) {
            return refused(
                "a vector of references is not differentiable: go through them where they are needed, or `collect` copies, by \
                 `map(|part| part.to_vec())`",
            );
        }
        let (items, gathered) = (self.hidden("items"), is_gathered(ty.as_ref()));
        let Some(source) = flow.source() else {
            let empty = match gathered {
                // Of a size that does not depend on which items are left out.
                true => room(self.room_for(&flow.at_most(), out)?.as_ref()),
                false => self.empty_for(flow, out)?,
            };
            out.push(parse_quote!(let mut #items: Vec<#element> = #empty;));
            return self.push_all(&items, &element, flow, site, out);
        };
        let mut source = source.clone();
        if let Some(base) = self.reusable(&mut source, &element) {
            // The standard library collects into the memory of the vector that is used up.
            let replaced = self.replaced.clone().filter(|name| is_name(&base, name));
            let items = replaced.unwrap_or_else(|| {
                out.push(parse_quote!(let mut #items: Vec<#element> = #base;));
                items
            });
            *base_of(&mut source).expect("just found").0 = path(&items);
            self.name_lengths(&mut source, out)?;
            let flow = Flow { origin: From::Source(Box::new(source)), ..flow.clone() };
            let mut sink = |_: &mut Parser<'e>, item: Item, index: Option<&Expr>, out: &mut Vec<Stmt>| {
                let (index, value) = (index.expect("asked for"), item.expr());
                out.push(parse_quote!(#items[#index] = #value;));
                Ok(())
            };
            self.drive(&flow, site, true, &mut sink, out)?;
            return Ok(Item::Value(path(&items)));
        }
        if let Some(base) = self.copied_whole(&source).filter(|_| !gathered) {
            out.push(parse_quote!(let mut #items: Vec<#element> = #base.to_vec();));
            return Ok(Item::Value(path(&items)));
        }
        self.name_lengths(&mut source, out)?;
        let Some(len) = source.len() else { return refused("this iterator has no end") };
        let n = self.names.fresh("n");
        out.push(parse_quote!(let #n = #len;));
        let numbers = match &element {
            Type::Infer(_) => self.may_hand_out_numbers(&source),
            ty => kind_of_type(ty) == Kind::Float,
        };
        let empty = if gathered { room(Some(&path(&n))) } else { parse_quote!(Vec::with_capacity(#n)) };
        // A generic function has no literal for the numbers to start with.
        if !numbers || gathered && !self.program.scalars.is_empty() {
            out.push(parse_quote!(let mut #items: Vec<#element> = #empty;));
            return self.push_all(&items, &element, flow, site, out);
        }
        let used_up = base_of(&mut source).and_then(|(base, _)| self.used_up(base, out));
        // Its length does not change in the loop, so that there is nothing to undo but the writing.
        match (gathered, used_up) {
            (true, _) => {
                out.push(parse_quote!(let mut #items: Vec<#element> = #empty;));
                out.push(parse_quote!(#items.resize(#n, 0.0);));
            }
            (false, Some(used_up)) => {
                let zeros = recycled(&used_up, &n);
                out.push(parse_quote!(let mut #items: Vec<#element> = #zeros;));
            }
            (false, None) => out.push(
                parse_quote_spanned!(call.method.span()=> let mut #items: Vec<#element> = vec![0.0; #n];),
            ),
        }
        let mut sink = |_: &mut Parser<'e>, item: Item, index: Option<&Expr>, out: &mut Vec<Stmt>| {
            let (index, value) = (index.expect("asked for"), item.expr());
            out.push(parse_quote!(#items[#index] = #value;));
            Ok(())
        };
        self.drive(flow, site, true, &mut sink, out)?;
        Ok(Item::Value(path(&items)))
    }

    /// What `source` has copies of all elements of, where nothing tells what these are: they may own memory.
    fn copied_whole(&mut self, source: &Source) -> Option<Expr> {
        let Source::Copied(inner) = source else { return None };
        let Source::Elements { base, .. } = &**inner else { return None };
        let known = match self.place(base) {
            Some(place) => match self.program.kind_of_place(&place) {
                Kind::Sequence(element) => *element != Kind::Unknown,
                kind => kind != Kind::Unknown,
            },
            // The name of a part, which comes with the loop.
            None => !matches!(base, Expr::Path(_)),
        };
        (!known).then(|| base.clone())
    }

    /// `let a: Array1<f64> = chain.collect();` and `let a = Array1::from_iter(chain);` of a known length: an array that is written to, with
    /// no vector in between.
    pub(crate) fn collected_array(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let Stmt::Local(local) = stmt else { return None };
        let init = &local.init.as_ref()?.expr;
        let (name, annotated) = match &local.pat {
            Pat::Type(PatType { pat: name, ty, .. }) => (&**name, Some((**ty).clone())),
            name => (name, None),
        };
        let (chain, owner) = match &**init {
            Expr::MethodCall(call) if call.method == "collect" => {
                let Type::Path(owner) = annotated.or_else(|| generic(call))? else { return None };
                (&*call.receiver, owner.path.segments.last()?.clone())
            }
            Expr::Call(call) if call.args.len() == 1 => {
                let Expr::Path(function) = &*call.func else { return None };
                let mut segments = function.path.segments.iter().rev();
                segments.next().filter(|last| last.ident == "from_iter")?;
                (&call.args[0], segments.next()?.clone())
            }
            _ => return None,
        };
        let (Pat::Ident(name), mut owner) = (name, owner) else { return None };
        let named = self.around(chain).count(&name.ident) > 0;
        if Shape::of_segment(&owner)?.rank != Some(1) || named || !self.suspects.any(chain) {
            return None;
        }
        if let syn::PathArguments::AngleBracketed(arguments) = &mut owner.arguments {
            arguments.colon2_token = Some(Default::default());
        }
        let (around, mut out) = (self.around(init), Vec::new());
        let flow = self.flow(chain, &mut out).ok()??;
        let mut source = flow.source()?.clone();
        self.name_lengths(&mut source, &mut out).ok()?;
        let (len, items) = (source.len()?, &name.ident);
        out.push(parse_quote!(let mut #items = ::pullback::__private::ndarray::#owner::zeros(#len);));
        let mut sink = |_: &mut Parser<'e>, item: Item, index: Option<&Expr>, out: &mut Vec<Stmt>| {
            let (index, value) = (index.expect("asked for"), item.expr());
            out.push(parse_quote!(#items[#index] = #value;));
            Ok(())
        };
        self.drive(&flow, Site::Chain(&around), true, &mut sink, &mut out).ok()?;
        Some(out)
    }

    /// The vector of numbers that the chain uses up to make as many numbers of the same type.
    fn reusable(&self, source: &mut Source, element: &Type) -> Option<Expr> {
        let number = matches!(element, Type::Infer(_)) || kind_of_type(element) == Kind::Float;
        let (base, converted) = base_of(source).filter(|_| number)?;
        let base = base.clone();
        let Expr::Path(name) = &base else { return None };
        let Some(Binding::Variable(id)) = self.lookup(name.path.get_ident()?) else { return None };
        let variable = &self.program.variables[*id];
        let local = variable.origin == Origin::Local && !self.captures(variable);
        let numbers = variable.kind == Kind::Sequence(Box::new(Kind::Float));
        let told = self.types.get(id).and_then(element_of_vec);
        let same = match (&told, element) {
            (None | Some(Type::Infer(_)), _) | (_, Type::Infer(_)) => !converted,
            (Some(told), element) => {
                told.to_token_stream().to_string() == element.to_token_stream().to_string()
            }
        };
        (local && numbers && same && self.program.vectors.contains(id)).then_some(base)
    }

    /// The items are taken for numbers where no type is told.
    fn may_hand_out_numbers(&self, source: &Source) -> bool {
        !composite(source) && !self.may_be_anything(source)
    }

    /// Likewise of what is collected, which is then taken for a vector of numbers.
    pub(crate) fn is_taken_for_numbers(&mut self, collect: &ExprMethodCall) -> bool {
        let flow = self.flow(&collect.receiver, &mut Vec::new());
        matches!(flow, Ok(Some(flow)) if flow.source().is_some_and(|source| self.may_hand_out_numbers(source)))
    }

    /// Nothing tells that the items are numbers: they come of a user's function or method.
    fn may_be_anything(&self, source: &Source) -> bool {
        match source {
            Source::Map(_, Function::Closure(closure)) => {
                Code::of(&closure.body).value.is_some_and(|value| self.is_of_user(&value))
            }
            Source::Map(_, Function::Path(function)) => self.is_function_of_user(function),
            Source::Skip(inner, _)
            | Source::Take(inner, _)
            | Source::StepBy(inner, _)
            | Source::Rev(inner, _)
            | Source::Copied(inner) => self.may_be_anything(inner),
            // Of a type that is told, and is none of ours.
            Source::Elements { base, .. } => self.variable(base).is_some_and(|id| {
                let element = match self.types.get(&id) {
                    Some(Type::Slice(slice)) => Some((*slice.elem).clone()),
                    Some(ty) => element_of_vec(ty),
                    None => None,
                };
                element.is_some_and(|ty| {
                    matches!(ty, Type::Path(_)) && self.program.kind_of_type(&ty) == Kind::Unknown
                })
            }),
            _ => false,
        }
    }

    fn is_of_user(&self, value: &Expr) -> bool {
        match value {
            Expr::Call(call) => self.is_function_of_user(&call.func),
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                !numeric_method(&name) && !makes_number(&name) && !of_option(&call.method)
            }
            Expr::Paren(paren) => self.is_of_user(&paren.expr),
            _ => false,
        }
    }

    /// Neither a closure under a name, whose value is not told either, nor a function of `f64` or of a type parameter.
    fn is_function_of_user(&self, function: &Expr) -> bool {
        let Expr::Path(path) = function else { return false };
        let of_float = of_float(&path.path) || self.program.of_scalar(&path.path);
        !of_float && self.closure(function).is_none() && self.function_parameter(function).is_none()
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
        let around = self.around(call);
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
        let extended = self.room_for(&flow, &mut out).and_then(|room| {
            out.extend(room.map(|n| -> Stmt { parse_quote!(#v.reserve(#n);) }));
            self.drive(&flow, Site::Chain(&around), false, &mut sink, &mut out)
        });
        if let Err((tokens, why)) = extended {
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

/// What a chain goes through that makes one item of each element of its own, and whether that may be of another type.
fn base_of(source: &mut Source) -> Option<(&mut Expr, bool)> {
    match source {
        Source::Elements { base, access: Access::Value, .. } => Some((base, false)),
        Source::Map(inner, Function::Closure(closure)) => {
            let (base, converted) = base_of(inner)?;
            Some((base, converted || converts(&closure.body)))
        }
        Source::Map(inner, Function::Path(_)) => base_of(inner).map(|(base, _)| (base, true)),
        Source::Enumerate(inner) | Source::Zip(inner, _) => base_of(inner),
        _ => None,
    }
}

/// Some number becomes one of another type.
fn converts(value: &Expr) -> bool {
    struct Converts(bool);
    impl<'ast> syn::visit::Visit<'ast> for Converts {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.0 |= match expr {
                Expr::Cast(cast) => kind_of_type(&cast.ty) == Kind::Float,
                Expr::MethodCall(call) => call.method == "into",
                Expr::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "from"),
                _ => false,
            };
            syn::visit::visit_expr(self, expr);
        }
    }
    let mut converts = Converts(false);
    syn::visit::Visit::visit_expr(&mut converts, value);
    converts.0
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
