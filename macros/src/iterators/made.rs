//! Arrays and vectors that are made whole: `std::array::from_fn`, `array.map`, `concat`. They become loops, as chains do.

use quote::ToTokens;
use syn::{Expr, ExprMethodCall, Ident, Stmt, Type, TypeArray, parse_quote};

use crate::closures::{Refused, Site};
use crate::iterators::collect::{element_of_vec, makes_composite};
use crate::iterators::consumers::Chain;
use crate::iterators::integers::is_private;
use crate::iterators::item::{Code, Item};
use crate::iterators::source::Function;
use crate::kind::{kind_of_type, names_other_type};
use crate::options::mapped;
use crate::outcome::inside_type;
use crate::parse::Parser;
use crate::program::{Kind, Origin};
use crate::rename::path;
use crate::tails::makes_vector;

impl Parser<'_> {
    /// The value of such a call; `None` if `expr` is none. The loop goes to `out`.
    pub(crate) fn made_whole(
        &mut self,
        expr: &Expr,
        expected: Option<&Type>,
        out: &mut Vec<Stmt>,
    ) -> Option<Result<Chain, Refused>> {
        let made = match expr {
            Expr::Call(call) if is_from_fn(&call.func) && call.args.len() == 1 && self.suspects.any(call) => {
                self.array_of(call, expected, out)
            }
            Expr::MethodCall(call) if call.method == "map" && call.args.len() == 1 => {
                let told = matches!(expected, Some(Type::Array(_)));
                if !self.suspects.any(call) {
                    return None;
                }
                let array = told || self.is_array(&call.receiver);
                if array && !self.may_hold_others(&call.receiver) {
                    self.array_map(call, out)
                } else if array || self.may_be_array(&call.receiver) || self.is_untold_name(call) {
                    self.other_map(call, out)
                } else if matches!(call.args[0], Expr::Closure(_) | Expr::Path(_))
                    && self.is_returned(mapped(&call.receiver).0)
                {
                    self.named_map(call, out)
                } else {
                    return None;
                }
            }
            Expr::MethodCall(call)
                if let Some(slice) = converted(call)
                    && self.suspects.any(slice) =>
            {
                self.array_of_slice(slice, call, expected, out)
            }
            Expr::MethodCall(call) if call.method == "concat" && call.args.is_empty() => {
                if !self.suspects.any(call) {
                    return None;
                }
                self.concat(call, out)?
            }
            Expr::MethodCall(call)
                if ["to_vec", "clone", "to_owned"].iter().any(|copies| call.method == copies)
                    && self.suspects.any(call)
                    && self.holds_vectors(&call.receiver) =>
            {
                Ok(self.copied_rows(&call.receiver, out))
            }
            _ => return None,
        };
        Some(made.map(|name| Chain::Value(Item::Value(path(&name)))))
    }

    /// An array, as far as the syntax tells, and no `Option`.
    fn is_array(&mut self, expr: &Expr) -> bool {
        match expr {
            Expr::Array(_) => true,
            Expr::Paren(paren) => self.is_array(&paren.expr),
            Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => {
                self.shape_of(expr).is_none()
                    && self
                        .place(expr)
                        .is_some_and(|place| matches!(self.program.kind_of_place(&place), Kind::Sequence(_)))
            }
            _ => false,
        }
    }

    /// The elements of a place are not known to be numbers.
    fn may_hold_others(&mut self, expr: &Expr) -> bool {
        let kind = self.place(expr).map(|place| self.program.kind_of_place(&place));
        kind.is_some_and(|kind| !matches!(kind, Kind::Sequence(element) if *element == Kind::Float))
    }

    /// A part of something of a type that the syntax does not tell.
    fn may_be_array(&mut self, expr: &Expr) -> bool {
        matches!(expr, Expr::Field(_) | Expr::Index(_))
            && self.shape_of(expr).is_none()
            && self.type_of(expr).is_none_or(|ty| inside_type(&ty).is_none())
            && self.place(expr).is_some_and(|place| self.program.kind_of_place(&place) == Kind::Unknown)
    }

    /// `row.map(|x| …)`, where nothing tells what the local is, nor that it may be an `Option`.
    fn is_untold_name(&mut self, call: &ExprMethodCall) -> bool {
        let receiver = &call.receiver;
        matches!(call.args[0], Expr::Closure(_))
            && !self.is_told_to_be_of_user(receiver)
            && (self.indexed.has(receiver) || !self.may_be_option(receiver))
            && self.variable(receiver).is_some_and(|id| {
                let variable = &self.program.variables[id];
                variable.kind == Kind::Unknown && variable.origin == Origin::Local && !variable.optional
            })
            && self.shape_of(receiver).is_none()
            && self.type_of(receiver).is_none()
    }

    /// `f(x).map(g)` and `row.map(g)`, of which nothing tells whether it is an array or an `Option`.
    pub(crate) fn may_map_option(&mut self, expr: &Expr) -> bool {
        let (root, functions) = mapped(expr);
        let name = |root| matches!(root, &Expr::Path(_));
        !functions.is_empty()
            && (self.is_returned(root) || name(root) && !self.is_array(root) && !self.indexed.has(root))
    }

    /// What a function returns, by its path, or a method of a type of the user's, or a part of it.
    fn is_returned(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Index(index) => matches!(&*index.expr, Expr::Call(_)),
            Expr::Call(call) => matches!(&*call.func, Expr::Path(_)),
            Expr::MethodCall(call) => {
                let own = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self_"));
                own || self.is_told_to_be_of_user(&call.receiver)
            }
            _ => false,
        }
    }

    /// `std::array::from_fn(|i| …)`. Where no type is told, it is an array of as many numbers as what takes it asks for.
    fn array_of(
        &mut self,
        call: &syn::ExprCall,
        expected: Option<&Type>,
        out: &mut Vec<Stmt>,
    ) -> Result<Ident, Refused> {
        let function = self.function(&call.args[0])?;
        let value = match &function {
            Function::Closure(closure) => Code::of(&closure.body).value,
            _ => None,
        };
        let blank = || parse_quote!(::pullback::__private::blank_array());
        let told = told(&call.func);
        let (ty, elem, start) = match told.as_ref().or(expected) {
            Some(ty @ Type::Array(TypeArray { elem, .. })) => {
                (ty.clone(), (**elem).clone(), zeros(ty).unwrap_or_else(blank))
            }
            _ => {
                let nested = |value: &Expr| matches!(value, Expr::Call(inner) if is_from_fn(&inner.func));
                let start = match value.as_ref().is_some_and(|v| makes_composite(v) || nested(v)) {
                    true => blank(),
                    false => parse_quote!([0.0; _]),
                };
                (parse_quote!([_; _]), parse_quote!(_), start)
            }
        };
        if element_of_vec(&elem).is_some() || value.is_some_and(|v| makes_vector(&v)) {
            let why = "`from_fn` is differentiable for arrays of numbers and of plain data: of vectors make a `Vec`, in a loop";
            return Err((call.func.to_token_stream(), why.into()));
        }
        let (items, item, i) = (self.hidden("items"), self.hidden("item"), self.names.fresh("i"));
        let mut body = Vec::new();
        let value = self.mapped(&function, Item::Value(path(&i)), Site::Block, &mut body)?.expr();
        out.push(parse_quote!(let mut #items: #ty = #start;));
        out.push(
            parse_quote!(for #i in 0..#items.len() { #(#body)* let #item: #elem = #value; #items[#i] = #item; }),
        );
        Ok(items)
    }

    /// `slice.try_into().unwrap()`, a copy of as many numbers as the array has.
    fn array_of_slice(
        &mut self,
        slice: &Expr,
        call: &ExprMethodCall,
        expected: Option<&Type>,
        out: &mut Vec<Stmt>,
    ) -> Result<Ident, Refused> {
        // What a reference refers to is a copy as well.
        let (expected, refers) = match expected {
            Some(Type::Reference(reference)) if reference.mutability.is_none() => {
                (Some(&*reference.elem), true)
            }
            expected => (expected, false),
        };
        let numbers = expected.and_then(|ty| Some((ty, zeros(ty)?)));
        let Some((ty @ Type::Array(TypeArray { elem, .. }), start)) = numbers else {
            let why = "`try_into` is differentiable where it makes an array of numbers whose type is told, and is unwrapped: \
                       `let a: [f64; 3] = x[..3].try_into().unwrap();`";
            return Err((call.to_token_stream(), why.into()));
        };
        let (items, part, item, i) =
            (self.hidden("items"), self.hidden("part"), self.hidden("item"), self.names.fresh("i"));
        let mut slice = slice;
        while let Expr::Paren(syn::ExprParen { expr, .. })
        | Expr::Reference(syn::ExprReference { expr, .. }) = slice
        {
            slice = expr;
        }
        let slice: Expr = match slice {
            Expr::Index(_) => slice.clone(),
            slice => parse_quote!(#slice[..]),
        };
        out.push(parse_quote!(let #part = &#slice;));
        out.push(parse_quote!(let mut #items: #ty = #start;));
        out.push(parse_quote!(assert_eq!(#part.len(), #items.len(), "a slice is as long as the array that it becomes");));
        out.push(
            parse_quote!(for #i in 0..#items.len() { let #item: #elem = #part[#i]; #items[#i] = #item; }),
        );
        if refers {
            let array = self.hidden("array");
            out.push(parse_quote!(let #array = &#items;));
            return Ok(array);
        }
        Ok(items)
    }

    /// `x.map(f)` of an array, with results of the type of the elements.
    fn array_map(&mut self, call: &ExprMethodCall, out: &mut Vec<Stmt>) -> Result<Ident, Refused> {
        let function = self.function(&call.args[0])?;
        if is_of_integers(&call.receiver) {
            return self.named_map(call, out);
        }
        if let Function::Closure(closure) = &function
            && let Some(value) = Code::of(&closure.body).value
            && (makes_composite(&value) || self.maps_array(&value))
        {
            return match &*call.receiver {
                Expr::Array(_) => self.named_map(call, out),
                _ => self.other_map(call, out),
            };
        }
        let (items, i, x) = (self.hidden("items"), self.names.fresh("i"), &call.receiver);
        let reference = matches!(&**x, Expr::Path(path) if path.path.get_ident().is_some_and(|name| self.is_reference(name)));
        out.push(match reference {
            true => parse_quote!(let mut #items = *#x;),
            false => parse_quote!(let mut #items = #x;),
        });
        let mut body = Vec::new();
        let item = Item::Value(parse_quote!(#items[#i]));
        let value = self.mapped(&function, item, Site::Block, &mut body)?.expr();
        out.push(parse_quote!(for #i in 0..#items.len() { #(#body)* #items[#i] = #value; }));
        Ok(items)
    }

    /// The value is an array that `map` makes.
    fn maps_array(&mut self, value: &Expr) -> bool {
        let (root, functions) = mapped(value);
        !functions.is_empty() && self.is_array(root)
    }

    /// The same of what is no place.
    fn named_map(&mut self, call: &ExprMethodCall, out: &mut Vec<Stmt>) -> Result<Ident, Refused> {
        let (list, mut named) = (self.hidden("list"), call.clone());
        let array = std::mem::replace(&mut *named.receiver, path(&list));
        out.push(parse_quote!(let #list = #array;));
        self.other_map(&named, out)
    }

    /// `x.map(f)` of what the compiler confirms to be an array, of elements and with results of any type.
    fn other_map(&mut self, call: &ExprMethodCall, out: &mut Vec<Stmt>) -> Result<Ident, Refused> {
        let function = self.function(&call.args[0])?;
        let (items, i, x) = (self.hidden("items"), self.names.fresh("i"), &call.receiver);
        out.push(parse_quote!(let mut #items = ::pullback::__private::blank_of_array(&#x);));
        let mut body = Vec::new();
        let item = Item::Value(parse_quote!(#x[#i]));
        let value = self.mapped(&function, item, Site::Block, &mut body)?.expr();
        out.push(parse_quote!(for #i in 0..#items.len() { #(#body)* #items[#i] = #value; }));
        Ok(items)
    }

    /// `expr` is a slice or a vector whose elements are vectors, as far as its type tells.
    pub(crate) fn holds_vectors(&mut self, expr: &Expr) -> bool {
        let ty = self.place(expr).and_then(|place| self.type_of_place(&place));
        ty.and_then(|ty| match ty {
            Type::Slice(slice) => Some(*slice.elem),
            ty => element_of_vec(&ty),
        })
        .is_some_and(|element| element_of_vec(&element).is_some())
    }

    /// The type of `points.to_vec()`, a vector of values of a user's type.
    pub(crate) fn type_of_copy(&mut self, expr: &Expr) -> Option<Type> {
        let Expr::MethodCall(call) = expr else { return None };
        if !["to_vec", "clone", "to_owned"].iter().any(|copies| call.method == copies) {
            return None;
        }
        let element = match self.place(&call.receiver).and_then(|place| self.type_of_place(&place))? {
            Type::Slice(slice) => *slice.elem,
            ty => element_of_vec(&ty)?,
        };
        names_other_type(&element, &kind_of_type(&element)).then(|| parse_quote!(Vec<#element>))
    }

    /// `rows.to_vec()`
    fn copied_rows(&mut self, rows: &Expr, out: &mut Vec<Stmt>) -> Ident {
        let (items, row, i) = (self.hidden("items"), self.hidden("row"), self.names.fresh("i"));
        out.push(parse_quote!(let mut #items: Vec<Vec<_>> = Vec::with_capacity(#rows.len());));
        out.push(
            parse_quote!(for #i in 0..#rows.len() { let #row = #rows[#i].to_vec(); #items.push(#row); }),
        );
        items
    }

    /// `[x, y].concat()` of slices, and `rows.concat()` of a vector of vectors.
    fn concat(&mut self, call: &ExprMethodCall, out: &mut Vec<Stmt>) -> Option<Result<Ident, Refused>> {
        let (items, n) = (self.names.fresh("items"), self.names.fresh("n"));
        match &*call.receiver {
            Expr::Array(array) => {
                let mut part = |part: &Expr| -> Expr {
                    match part {
                        Expr::Array(_) | Expr::Repeat(_) => {
                            let name = self.hidden("part");
                            out.push(parse_quote!(let #name = #part;));
                            parse_quote!(&#name[..])
                        }
                        Expr::Path(_) => parse_quote!(&#part[..]),
                        Expr::MethodCall(call) if call.method == "as_slice" => {
                            let whole = &call.receiver;
                            parse_quote!(&#whole[..])
                        }
                        slice => slice.clone(),
                    }
                };
                let parts: Vec<Expr> = array.elems.iter().map(&mut part).collect();
                out.push(parse_quote!(let #n = 0 #(+ (#parts).len())*;));
                out.push(parse_quote!(let mut #items: Vec<_> = Vec::with_capacity(#n);));
                out.extend(
                    parts.iter().map(|part| -> Stmt { parse_quote!(#items.extend_from_slice(#part);) }),
                );
            }
            rows => {
                let place = self.place(rows)?;
                if !self.program.of_rows(&place) && !self.program.has_rows(&place) {
                    return None;
                }
                let row = self.hidden("row");
                out.push(parse_quote!(let mut #n = 0_usize;));
                out.push(parse_quote!(for #row in #rows.iter() { #n += #row.len(); }));
                out.push(parse_quote!(let mut #items: Vec<_> = Vec::with_capacity(#n);));
                out.push(parse_quote!(for #row in #rows.iter() { #items.extend_from_slice(&#row[..]); }));
            }
        }
        self.suspects.insert(&items);
        Some(Ok(items))
    }
}

/// The functions that make room for what `map` of an array returns and for what `from_fn` makes, whatever the array holds.
pub(crate) fn is_blank(path: &syn::Path) -> bool {
    is_private(path, "blank_of_array") || is_private(path, "blank_array")
}

/// The slice in `slice.try_into().unwrap()`
fn converted(call: &ExprMethodCall) -> Option<&Expr> {
    let Expr::MethodCall(inner) = &*call.receiver else { return None };
    let unwrapped = call.method == "unwrap" || call.method == "expect";
    (unwrapped && inner.method == "try_into" && inner.args.is_empty()).then_some(&inner.receiver)
}

/// `std::array::from_fn`
pub(crate) fn is_from_fn(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    names.next().as_deref() == Some("from_fn") && names.next().as_deref() == Some("array")
}

/// The type of what `from_fn::<f64, 3, _>` makes.
fn told(function: &Expr) -> Option<Type> {
    let Expr::Path(path) = function else { return None };
    let syn::PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    let (elem, len) = (arguments.args.first()?, arguments.args.get(1)?);
    Some(parse_quote!([#elem; #len]))
}

/// An array of zeros.
fn zeros(ty: &Type) -> Option<Expr> {
    match ty {
        Type::Array(TypeArray { elem, len, .. }) => {
            let element = zeros(elem)?;
            Some(parse_quote!([#element; #len]))
        }
        ty => (kind_of_type(ty) == Kind::Float).then(|| parse_quote!(0.0)),
    }
}

/// `[0, 1, 2]`
fn is_of_integers(expr: &Expr) -> bool {
    let integer = |element: &Expr| matches!(element, Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(_), .. }));
    matches!(expr, Expr::Array(array) if !array.elems.is_empty() && array.elems.iter().all(integer))
}
