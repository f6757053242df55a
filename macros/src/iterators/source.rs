//! Iterators that know their length and reach any of their items by an index: slices, ranges, and what `zip`, `enumerate`,
//! `rev`, `skip`, `take`, `step_by` and `map` make of them.

use quote::{ToTokens, quote};
use syn::{Expr, ExprClosure, Ident, Stmt, parse_quote};

use crate::closures::{Refused, Site};
use crate::iterators::item::Item;
use crate::parse::Parser;
use crate::rename::path;

/// How the elements of a slice are handed out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Shared,
    Unique,
    Value,
}

/// What `map` and the like are given.
#[derive(Clone)]
pub(crate) enum Function {
    Closure(Box<ExprClosure>),
    /// Called by its name.
    Path(Expr),
}

#[derive(Clone)]
pub(crate) enum Source {
    Range {
        start: Expr,
        end: Expr,
        inclusive: bool,
    },
    /// Of integers that need be no `usize`.
    Integers {
        start: Expr,
        end: Option<Expr>,
        inclusive: bool,
    },
    /// `start..`
    From(Expr),
    /// The elements of something that is indexed; where nothing tells by what, what does so.
    Elements {
        base: Expr,
        access: Access,
        numbering: Option<Ident>,
    },
    /// What `for` makes of a constant, whose type tells whether these are references.
    Constants(Expr),
    Windows {
        base: Expr,
        size: Expr,
    },
    /// With the length of the whole, unless all have the same size.
    Chunks {
        base: Expr,
        size: Expr,
        len: Option<Ident>,
        unique: bool,
    },
    /// The elements of a matrix, row by row; with the number of columns, where it is reached by an index.
    Matrix {
        base: Expr,
        access: Access,
        columns: Option<Ident>,
    },
    /// The elements of an array, row by row, each behind its index.
    Indexed {
        base: Expr,
        /// Of all axes but the first, under names: the array may be borrowed.
        lengths: Vec<Ident>,
        access: Access,
    },
    /// Parts of an array: so many elements along each axis, side by side or at every place.
    Parts {
        base: Expr,
        sizes: Vec<Expr>,
        side_by_side: bool,
    },
    /// Parts of an array along an axis, of which the last may be smaller.
    Chunked {
        base: Expr,
        axis: Expr,
        size: Expr,
    },
    /// Rows of an array, or what else views it consists of, along an axis.
    Views {
        base: Expr,
        /// `row`, or `index_axis` if there is an axis.
        view: Ident,
        axis: Option<Expr>,
    },
    Repeat(Expr),
    /// From the start again and again, with the length of one round under a name.
    Cycle(Box<Source>, Option<Ident>),
    Zip(Box<Source>, Box<Source>),
    Enumerate(Box<Source>),
    Skip(Box<Source>, Expr),
    Take(Box<Source>, Expr),
    StepBy(Box<Source>, Expr),
    /// With the length under a name, where the index is needed.
    Rev(Box<Source>, Option<Ident>),
    Map(Box<Source>, Function),
    Copied(Box<Source>),
}

impl Source {
    /// How many items there are; `None` for no end.
    pub(crate) fn len(&self) -> Option<Expr> {
        Some(match self {
            Source::Range { start, end, inclusive } => match (is_zero(start), inclusive) {
                (true, false) => end.clone(),
                (true, true) => parse_quote!(#end + 1),
                (false, false) => parse_quote!(usize::saturating_sub(#end, #start)),
                (false, true) => parse_quote!(usize::saturating_sub(#end + 1, #start)),
            },
            Source::Integers { start, end: Some(end), inclusive: false } => {
                parse_quote!(::pullback::__private::items_of_range(#start, #end))
            }
            Source::Integers { start, end: Some(end), inclusive: true } => {
                parse_quote!(::pullback::__private::items_of_closed_range(#start, #end))
            }
            Source::Constants(base) => parse_quote!(::pullback::__private::len_of_constants(&#base)),
            Source::Elements { base, .. } | Source::Matrix { base, .. } | Source::Indexed { base, .. } => {
                parse_quote!(#base.len())
            }
            Source::Parts { base, sizes, side_by_side } => {
                let counts =
                    (0..sizes.len()).map(|axis| parts_along(base, axis, &sizes[axis], *side_by_side));
                product(counts)
            }
            Source::Chunked { base, axis, size } => parse_quote!(usize::div_ceil(#base.len_of(#axis), #size)),
            Source::Windows { base, size: Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(size), .. }) } => {
                let less = size.base10_parse::<u64>().ok()?.saturating_sub(1);
                let less = proc_macro2::Literal::u64_unsuffixed(less);
                parse_quote!(#base.len().saturating_sub(#less))
            }
            Source::Windows { base, size } => parse_quote!((#base.len() + 1).saturating_sub(#size)),
            Source::Chunks { base, size, len: None, .. } => parse_quote!(#base.len() / #size),
            Source::Chunks { size, len: Some(len), .. } => parse_quote!(usize::div_ceil(#len, #size)),
            Source::Views { base, axis: Some(axis), .. } => parse_quote!(#base.len_of(#axis)),
            Source::Views { base, view, .. } => match view.to_string().starts_with("row") {
                true => parse_quote!(#base.nrows()),
                false => parse_quote!(#base.ncols()),
            },
            Source::Integers { end: None, .. } | Source::From(_) | Source::Repeat(_) => return None,
            Source::Cycle(_, n) => {
                let n = n.as_ref()?;
                parse_quote!(if #n == 0 { 0 } else { usize::MAX })
            }
            Source::Zip(left, right) => match (left.len(), right.len()) {
                (Some(left), Some(right)) => parse_quote!(usize::min(#left, #right)),
                (one, other) => one.or(other)?,
            },
            Source::Skip(inner, count) => {
                let len = inner.len()?;
                parse_quote!(usize::saturating_sub(#len, #count))
            }
            Source::Take(inner, count) => match inner.len() {
                Some(len) => parse_quote!(usize::min(#len, #count)),
                None => count.clone(),
            },
            Source::StepBy(inner, step) => {
                let len = inner.len()?;
                parse_quote!(usize::div_ceil(#len, #step))
            }
            Source::Enumerate(inner)
            | Source::Rev(inner, _)
            | Source::Map(inner, _)
            | Source::Copied(inner) => inner.len()?,
        })
    }

    /// Nothing is computed for an item: it only names places, copies, and indices.
    pub(crate) fn is_plain(&self) -> bool {
        match self {
            Source::Map(..) => false,
            Source::Zip(left, right) => left.is_plain() && right.is_plain(),
            Source::Enumerate(inner)
            | Source::Skip(inner, _)
            | Source::Take(inner, _)
            | Source::StepBy(inner, _)
            | Source::Rev(inner, _)
            | Source::Cycle(inner, _)
            | Source::Copied(inner) => inner.is_plain(),
            _ => true,
        }
    }

    /// Plain, also where a closure tells which places the items are.
    pub(crate) fn names_places(&self) -> bool {
        match self {
            Source::Map(inner, Function::Closure(closure)) => {
                inner.names_places()
                    && matches!(&*closure.body, Expr::Reference(_))
                    && is_of_places(&closure.body)
            }
            other => other.is_plain(),
        }
    }

    /// The elements of something, or copies or parts of these.
    pub(crate) fn is_of_elements(&self) -> bool {
        match self {
            Source::Elements { access, .. } => *access == Access::Shared,
            Source::Copied(inner) => inner.is_of_elements(),
            Source::Map(inner, Function::Closure(closure)) => {
                inner.is_of_elements() && selects(&closure.body)
            }
            _ => false,
        }
    }

    /// What a `for` loop may run over as it is, with the index as the item: a range, backwards or in steps.
    pub(crate) fn native(&self) -> Option<Expr> {
        match self {
            Source::Range { start, end, inclusive: false }
            | Source::Integers { start, end: Some(end), inclusive: false } => {
                Some(parse_quote!(#start..#end))
            }
            Source::Range { start, end, inclusive: true }
            | Source::Integers { start, end: Some(end), inclusive: true } => {
                Some(parse_quote!(#start..=#end))
            }
            Source::Rev(inner, _) => inner.native().map(|range| method_of_range(range, "rev", None)),
            Source::StepBy(inner, step) => {
                inner.native().map(|range| method_of_range(range, "step_by", Some(step)))
            }
            _ => None,
        }
    }

    /// The outermost sources that compute an item from one of another source, innermost first, and that source.
    pub(crate) fn split(self) -> (Source, Vec<Option<Function>>) {
        match self {
            Source::Map(inner, function) => {
                let (core, mut steps) = inner.split();
                steps.push(Some(function));
                (core, steps)
            }
            Source::Copied(inner) => {
                let (core, mut steps) = inner.split();
                steps.push(None);
                (core, steps)
            }
            core => (core, Vec::new()),
        }
    }
}

/// `a * b * c`
pub(crate) fn product(factors: impl IntoIterator<Item = Expr>) -> Expr {
    factors.into_iter().reduce(|a, b| parse_quote!(#a * #b)).expect("one factor or more")
}

/// How many parts an array has along an axis.
fn parts_along(base: &Expr, axis: usize, size: &Expr, side_by_side: bool) -> Expr {
    let axis = proc_macro2::Literal::usize_unsuffixed(axis);
    match side_by_side {
        true => parse_quote!((#base.shape()[#axis] / #size)),
        false => parse_quote!((#base.shape()[#axis] + 1).saturating_sub(#size)),
    }
}

/// The index along each axis of what comes at `index` row by row.
fn unravelled(index: &Expr, rank: usize, len: &dyn Fn(usize) -> Expr) -> Vec<Expr> {
    let along = |axis: usize| -> Expr {
        let mut at = quote!(#index);
        for inner in axis + 1..rank {
            let len = len(inner);
            at = quote!(#at / #len);
        }
        match axis {
            0 => parse_quote!(#at),
            axis => {
                let len = len(axis);
                parse_quote!(#at % #len)
            }
        }
    };
    (0..rank).map(along).collect()
}

fn method_of_range(range: Expr, name: &str, arg: Option<&Expr>) -> Expr {
    let name = Ident::new(name, proc_macro2::Span::call_site());
    match range {
        Expr::Range(range) => parse_quote!((#range).#name(#arg)),
        range => parse_quote!(#range.#name(#arg)),
    }
}

impl Parser<'_> {
    /// Gives a name to what is needed in each iteration: the lengths behind `rev`.
    pub(crate) fn name_lengths(&mut self, source: &mut Source, setup: &mut Vec<Stmt>) -> Result<(), Refused> {
        match source {
            Source::Rev(inner, name) | Source::Cycle(inner, name) => {
                self.name_lengths(inner, setup)?;
                let Some(len) = inner.len() else {
                    return Err((inner_tokens(inner), "this iterator has no end from which to go on".into()));
                };
                let n = self.names.fresh("n");
                setup.push(parse_quote!(let #n = #len;));
                *name = Some(n);
                Ok(())
            }
            Source::Zip(left, right) => {
                self.name_lengths(left, setup)?;
                self.name_lengths(right, setup)
            }
            Source::Enumerate(inner)
            | Source::Skip(inner, _)
            | Source::Take(inner, _)
            | Source::StepBy(inner, _)
            | Source::Map(inner, _)
            | Source::Copied(inner) => self.name_lengths(inner, setup),
            Source::Matrix { base, columns, .. } => {
                let name = self.names.fresh("columns");
                setup.push(parse_quote!(let #name = #base.ncols();));
                *columns = Some(name);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The item at `index`; what has to be computed for it goes to `out`.
    pub(crate) fn item_at(
        &mut self,
        source: &Source,
        index: &Expr,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Item, Refused> {
        Ok(match source {
            Source::Range { start, .. } | Source::From(start) if is_zero(start) => Item::Value(index.clone()),
            Source::Range { start, .. } | Source::From(start) => Item::Value(parse_quote!(#start + #index)),
            Source::Integers { start, .. } => {
                Item::Value(parse_quote!(::pullback::__private::item_of_range(#start, #index)))
            }
            Source::Elements { base, access, numbering: None } => {
                item_of(parse_quote!(#base[#index]), *access)
            }
            Source::Elements { base, access, numbering: Some(numbering) } => {
                item_of(parse_quote!(#base[#numbering.index_of(#index)]), *access)
            }
            Source::Constants(base) => {
                Item::Value(parse_quote!(::pullback::__private::item_of_constant(&#base, #index)))
            }
            Source::Windows { base, size } => {
                item_of(parse_quote!(#base[#index..#index + #size]), Access::Shared)
            }
            Source::Chunks { base, size, len, unique } => {
                let place = match len {
                    None => parse_quote!(#base[#index * #size..#index * #size + #size]),
                    Some(len) => {
                        parse_quote!(#base[#index * #size..usize::min(#index * #size + #size, #len)])
                    }
                };
                item_of(place, if *unique { Access::Unique } else { Access::Shared })
            }
            Source::Matrix { base, access, columns } => {
                let columns = columns.as_ref().expect("named before");
                item_of(parse_quote!(#base[[#index / #columns, #index % #columns]]), *access)
            }
            Source::Indexed { base, lengths, access } => {
                let len = |axis: usize| path(&lengths[axis - 1]);
                let at = unravelled(index, lengths.len() + 1, &len);
                match &at[..] {
                    [at] => {
                        Item::Tuple(vec![Item::Value(at.clone()), item_of(parse_quote!(#base[#at]), *access)])
                    }
                    at_all => {
                        let at = at_all.iter().map(|at| Item::Value(at.clone())).collect();
                        Item::Tuple(vec![
                            Item::Tuple(at),
                            item_of(parse_quote!(#base[[#(#at_all),*]]), *access),
                        ])
                    }
                }
            }
            Source::Parts { base, sizes, side_by_side } => {
                let counts = |axis: usize| parts_along(base, axis, &sizes[axis], *side_by_side);
                let ranges =
                    unravelled(index, sizes.len(), &counts).into_iter().zip(sizes).map(|(at, size)| {
                        match side_by_side {
                            true => quote!((#at) * #size..(#at) * #size + #size),
                            false => quote!((#at)..(#at) + #size),
                        }
                    });
                Item::Value(parse_quote!(#base.slice(::pullback::__private::ndarray::s![#(#ranges),*])))
            }
            Source::Chunked { base, axis, size } => {
                let end = quote!(usize::min((#index) * #size + #size, #base.len_of(#axis)));
                let part = quote!(::pullback::__private::ndarray::Slice::from((#index) * #size..#end));
                Item::Value(parse_quote!(#base.slice_axis(#axis, #part)))
            }
            Source::Views { base, view, axis } => {
                let axis = axis.iter();
                Item::Value(parse_quote!(#base.#view(#(#axis,)* #index)))
            }
            Source::Repeat(value) => Item::Value(value.clone()),
            Source::Cycle(inner, n) => {
                let n = n.as_ref().expect("named before");
                self.item_at(inner, &parse_quote!((#index % #n)), site, out)?
            }
            Source::Zip(left, right) => {
                let left = self.item_at(left, index, site, out)?;
                Item::Tuple(vec![left, self.item_at(right, index, site, out)?])
            }
            Source::Enumerate(inner) => {
                Item::Tuple(vec![Item::Value(index.clone()), self.item_at(inner, index, site, out)?])
            }
            Source::Skip(inner, count) => self.item_at(inner, &parse_quote!((#index + #count)), site, out)?,
            Source::Take(inner, _) => self.item_at(inner, index, site, out)?,
            Source::StepBy(inner, step) => self.item_at(inner, &parse_quote!((#index * #step)), site, out)?,
            Source::Rev(inner, n) => {
                let n = n.as_ref().expect("named before");
                self.item_at(inner, &parse_quote!((#n - 1 - #index)), site, out)?
            }
            Source::Map(inner, function) => {
                let item = self.item_at(inner, index, site, out)?;
                self.mapped(function, item, site, out)?
            }
            Source::Copied(inner) => self.item_at(inner, index, site, out)?.copied(),
        })
    }

    /// What `function` makes of an item.
    pub(crate) fn mapped(
        &mut self,
        function: &Function,
        item: Item,
        site: Site,
        out: &mut Vec<Stmt>,
    ) -> Result<Item, Refused> {
        match function {
            Function::Closure(closure) => {
                if let Some(item) = returned(closure, &item) {
                    return Ok(item);
                }
                Ok(match self.inline(closure, vec![item], site, out)? {
                    Some(value) => result(value),
                    None => Item::Value(parse_quote!(())),
                })
            }
            Function::Path(path) => {
                let arg = item.expr();
                Ok(Item::Value(parse_quote!(#path(#arg))))
            }
        }
    }
}

/// `|x| x`
fn returned(closure: &ExprClosure, item: &Item) -> Option<Item> {
    match (closure.inputs.first()?, &*closure.body) {
        (syn::Pat::Ident(name), Expr::Path(path)) if path.path.get_ident() == Some(&name.ident) => {
            Some(item.clone())
        }
        _ => None,
    }
}

/// The value of a closure as an item.
pub(crate) fn result(value: Expr) -> Item {
    match value {
        Expr::Tuple(tuple) if !tuple.elems.is_empty() => {
            Item::Tuple(tuple.elems.into_iter().map(result).collect())
        }
        Expr::Paren(paren) => result(*paren.expr),
        Expr::Reference(reference) if is_place(&reference.expr) => {
            Item::Place { place: *reference.expr, unique: reference.mutability.is_some() }
        }
        value => Item::Value(value),
    }
}

fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Index(_) | Expr::Field(_) => true,
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)),
        _ => false,
    }
}

fn item_of(place: Expr, access: Access) -> Item {
    match access {
        Access::Shared => Item::Place { place, unique: false },
        Access::Unique => Item::Place { place, unique: true },
        Access::Value => Item::Value(place),
    }
}

/// The value consists of parts of what there is, and of references to these.
fn selects(value: &Expr) -> bool {
    match value {
        Expr::Path(_) => true,
        Expr::Paren(paren) => selects(&paren.expr),
        Expr::Field(field) => selects(&field.base),
        Expr::Reference(reference) => reference.mutability.is_none() && selects(&reference.expr),
        Expr::Index(index) => {
            matches!(&*index.index, Expr::Range(range) if range.start.is_none() && range.end.is_none())
                && selects(&index.expr)
        }
        Expr::Tuple(tuple) => tuple.elems.iter().all(selects),
        _ => false,
    }
}

/// The value is a place, or made of places: it may be asked for twice.
fn is_of_places(value: &Expr) -> bool {
    match value {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Paren(paren) => is_of_places(&paren.expr),
        Expr::Field(field) => is_of_places(&field.base),
        Expr::Unary(unary) => is_of_places(&unary.expr),
        Expr::Binary(binary) => is_of_places(&binary.left) && is_of_places(&binary.right),
        Expr::Reference(reference) => reference.mutability.is_none() && is_of_places(&reference.expr),
        Expr::Index(index) => is_of_places(&index.expr) && is_of_places(&index.index),
        Expr::Range(range) => [&range.start, &range.end].into_iter().flatten().all(|end| is_of_places(end)),
        _ => false,
    }
}

pub(crate) fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }) if int.base10_digits() == "0")
}

fn inner_tokens(source: &Source) -> proc_macro2::TokenStream {
    match source {
        Source::Repeat(value) => value.to_token_stream(),
        Source::Enumerate(inner) | Source::Skip(inner, _) | Source::Map(inner, _) => inner_tokens(inner),
        _ => proc_macro2::TokenStream::new(),
    }
}
