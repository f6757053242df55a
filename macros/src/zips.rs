//! `Zip`, `azip!` and `zip_mut_with`: loops over the indices of arrays, with the elements of each as parameters of a closure.

use syn::{Expr, ExprClosure, Ident, Pat, Stmt, Token, parse_quote};

use crate::iterators::item::Item;
use crate::parse::Parser;

/// What is gone through.
pub(crate) struct Producer {
    pub(crate) array: Expr,
    unique: bool,
    /// By its name, which may be that of a `&mut`.
    bare: bool,
    /// It is broadcast to the shape of the first.
    stretched: bool,
}

impl Producer {
    /// Its elements are written to.
    pub(crate) fn is_written(&self) -> bool {
        self.unique
            || matches!(&self.array, Expr::MethodCall(call) if call.method.to_string().ends_with("_mut"))
    }

    fn written(array: &Expr) -> Producer {
        Producer { array: array.clone(), unique: true, bare: false, stretched: false }
    }

    /// `&a`, `&mut a`, or the name of a reference or view.
    fn of(expr: &Expr) -> Producer {
        match expr {
            Expr::Reference(reference) => {
                let unique = reference.mutability.is_some();
                Producer { array: (*reference.expr).clone(), unique, bare: false, stretched: false }
            }
            Expr::Paren(paren) => Producer::of(&paren.expr),
            Expr::MethodCall(call) if call.method == "view_mut" => Producer::written(&call.receiver),
            expr => Producer { array: expr.clone(), unique: false, bare: true, stretched: false },
        }
    }
}

/// The rows of an array, or what else views are gone through.
struct Rows {
    of: Expr,
    view: Ident,
    axis: Option<Expr>,
    unique: bool,
}

impl Rows {
    /// How many there are of `array`.
    fn len(&self, array: &Expr) -> Expr {
        match &self.axis {
            Some(axis) => parse_quote!(#array.len_of(#axis)),
            None if self.view.to_string().starts_with("row") => parse_quote!(#array.nrows()),
            None => parse_quote!(#array.ncols()),
        }
    }
}

/// The closure and what it is called with.
struct Zipped {
    producers: Vec<Producer>,
    closure: ExprClosure,
    /// The closure takes the indices first.
    indexed: bool,
}

impl Zipped {
    fn of(parser: &mut Parser, expr: &Expr) -> Option<Zipped> {
        match expr {
            Expr::MethodCall(call) => match (call.method.to_string().as_str(), call.args.len()) {
                ("for_each", 1) => {
                    let Expr::Closure(closure) = &call.args[0] else { return None };
                    let (producers, indexed) = chain(&call.receiver).or_else(|| {
                        parser.shape_of(&call.receiver).map(|_| (vec![Producer::of(&call.receiver)], false))
                    })?;
                    Some(Zipped { producers, closure: closure.clone(), indexed })
                }
                ("map_inplace", 1) => {
                    let Expr::Closure(closure) = &call.args[0] else { return None };
                    let array = Producer::written(&call.receiver);
                    Some(Zipped { producers: vec![array], closure: closure.clone(), indexed: false })
                }
                ("map_assign_into", 2) => {
                    let Expr::Closure(closure) = &call.args[1] else { return None };
                    let (mut producers, indexed) = chain(&call.receiver)?;
                    let into = Producer::of(&call.args[0]);
                    producers.push(Producer { unique: true, ..into });
                    let (mut closure, element) = (closure.clone(), parser.hidden("element"));
                    let body = &closure.body;
                    closure.body = parse_quote!(*#element = #body);
                    closure.inputs.push(parse_quote!(#element));
                    Some(Zipped { producers, closure, indexed })
                }
                ("zip_mut_with", 2) => {
                    let Expr::Closure(closure) = &call.args[1] else { return None };
                    let first = Producer::written(&call.receiver);
                    let producers = vec![first, Producer { stretched: true, ..Producer::of(&call.args[0]) }];
                    Some(Zipped { producers, closure: closure.clone(), indexed: false })
                }
                _ => None,
            },
            Expr::Macro(mac) => {
                let Azip { producers, patterns, indexed, body } = Azip::of(&mac.mac)?;
                let closure: ExprClosure = parse_quote!(|#(#patterns),*| #body);
                Some(Zipped { producers, closure, indexed })
            }
            _ => None,
        }
    }
}

/// `Zip::from(a).and(b)`, or `indexed(a)`: then there are indices, too.
pub(crate) fn chain(expr: &Expr) -> Option<(Vec<Producer>, bool)> {
    match expr {
        Expr::Call(call) => {
            let Expr::Path(path) = &*call.func else { return None };
            let names: Vec<_> =
                path.path.segments.iter().rev().take(2).map(|s| s.ident.to_string()).collect();
            let indexed = names == ["indexed", "Zip"];
            let zips = indexed || names == ["from", "Zip"];
            (zips && call.args.len() == 1).then(|| (vec![Producer::of(&call.args[0])], indexed))
        }
        Expr::MethodCall(call) if call.args.len() == 1 => {
            let stretched = call.method == "and_broadcast";
            if !stretched && call.method != "and" {
                return None;
            }
            let (mut producers, indexed) = chain(&call.receiver)?;
            producers.push(Producer { stretched, ..Producer::of(&call.args[0]) });
            Some((producers, indexed))
        }
        _ => None,
    }
}

/// `azip!((a in &mut x, &b in &y) *a += b)`, with the indices where `index (i, j)` stands first
pub(crate) struct Azip {
    pub(crate) producers: Vec<Producer>,
    pub(crate) patterns: Vec<Pat>,
    indexed: bool,
    pub(crate) body: Expr,
}

impl Azip {
    pub(crate) fn of(mac: &syn::Macro) -> Option<Azip> {
        let is_one = mac.path.segments.last().is_some_and(|last| last.ident == "azip");
        mac.parse_body().ok().filter(|_| is_one)
    }
}

impl syn::parse::Parse for Azip {
    fn parse(input: syn::parse::ParseStream) -> syn::Result<Self> {
        let list;
        syn::parenthesized!(list in input);
        let (mut producers, mut patterns) = (Vec::new(), Vec::new());
        let names_indices = list.fork().parse::<Ident>().is_ok_and(|first| first == "index");
        let indexed = names_indices && !list.peek2(Token![in]);
        if indexed {
            list.parse::<Ident>()?;
            patterns.push(Pat::parse_single(&list)?);
            list.parse::<Option<Token![,]>>()?;
        }
        while !list.is_empty() {
            patterns.push(Pat::parse_single(&list)?);
            list.parse::<Token![in]>()?;
            producers.push(Producer::of(&list.parse()?));
            list.parse::<Option<Token![,]>>()?;
        }
        input.parse::<Option<Token![=>]>>()?;
        let body = input.parse()?;
        input.parse::<Option<Token![;]>>()?;
        Ok(Azip { producers, patterns, indexed, body })
    }
}

impl Parser<'_> {
    /// The number of dimensions of what a `Zip` goes through; of rows and the like there is a line.
    pub(crate) fn rank_of_produced(&self, producer: &Producer) -> Option<usize> {
        match self.rows(&producer.array) {
            Some(_) => Some(1),
            None => self.shape_of(&producer.array)?.rank,
        }
    }

    /// The lengths of the axes of the first that a `Zip` goes through, which is `array`.
    pub(crate) fn lengths_of(&self, array: &Expr, rank: usize) -> Vec<Expr> {
        match self.rows(array) {
            Some(rows) => vec![rows.len(&rows.of)],
            None => (0..rank)
                .map(|axis| {
                    let axis = proc_macro2::Literal::usize_unsuffixed(axis);
                    parse_quote!(#array.shape()[#axis])
                })
                .collect(),
        }
    }

    /// What is read by a `Zip`, under names, once their shapes have been found to be the same. `None` if that cannot be seen.
    pub(crate) fn named_producers(
        &mut self,
        producers: &[Producer],
        out: &mut Vec<Stmt>,
    ) -> Option<Vec<Expr>> {
        let ranks: Option<Vec<_>> =
            producers.iter().map(|producer| self.rank_of_produced(producer)).collect();
        let ranks = ranks?;
        if producers.iter().any(|producer| producer.stretched || producer.is_written())
            || ranks.iter().any(|rank| *rank != ranks[0])
        {
            return None;
        }
        let arrays: Vec<Expr> = producers
            .iter()
            .map(|producer| match self.rows(&producer.array) {
                Some(Rows { of, .. }) => {
                    let of = self.zipped_array(&of, false, out);
                    let Expr::MethodCall(call) = &producer.array else { unreachable!("rows are a method's") };
                    Expr::MethodCall(syn::ExprMethodCall { receiver: Box::new(of), ..call.clone() })
                }
                None => self.zipped_array(&producer.array, false, out),
            })
            .collect();
        let lengths: Vec<_> = arrays.iter().map(|array| self.lengths_of(array, ranks[0])).collect();
        for other in &lengths[1..] {
            for (first, other) in lengths[0].iter().zip(other) {
                out.push(parse_quote!(assert!(#other == #first, "the arrays have different shapes");));
            }
        }
        Some(arrays)
    }

    /// The row with that index of what a `Zip` goes through, if it consists of rows or the like.
    pub(crate) fn row_of(&self, producer: &Expr, index: &Ident) -> Option<Expr> {
        let Rows { of, view, axis, .. } = self.rows(producer)?;
        let axis = axis.iter();
        Some(parse_quote!(#of.#view(#(#axis,)* #index)))
    }

    fn rows(&self, producer: &Expr) -> Option<Rows> {
        let Expr::MethodCall(call) = producer else { return None };
        let (view, axis) = self.views(call)?;
        let unique = call.method.to_string().ends_with("_mut");
        Some(Rows { of: (*call.receiver).clone(), view, axis, unique })
    }

    /// The loops that do what `stmt` does, if it goes through arrays together.
    pub(crate) fn zipped(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let zipped = match stmt {
            Stmt::Expr(expr, _) => Zipped::of(self, expr)?,
            Stmt::Macro(mac) => {
                Zipped::of(self, &Expr::Macro(syn::ExprMacro { attrs: Vec::new(), mac: mac.mac.clone() }))?
            }
            _ => return None,
        };
        let Zipped { mut producers, closure, indexed } = zipped;
        for producer in producers.iter_mut().filter(|producer| producer.bare) {
            producer.unique |= matches!(&producer.array, Expr::Path(path) if path.path.get_ident().is_some_and(|name| self.is_unique(name)));
        }
        if !self.suspects.any(stmt) || producers.len() + usize::from(indexed) != closure.inputs.len() {
            return None;
        }
        let rows: Vec<_> = producers.iter().map(|producer| self.rows(&producer.array)).collect();
        let ranks: Option<Vec<_>> =
            producers.iter().map(|producer| self.rank_of_produced(producer)).collect();
        let fits = |ranks: &Vec<usize>| {
            producers.iter().zip(ranks).all(|(producer, rank)| producer.stretched || *rank == ranks[0])
        };
        let Some(ranks) = ranks.filter(fits) else {
            let why = "how many dimensions these arrays have is not to be seen here: bind each with `let` first, with its type, such as \
                       `Array2<f64>`, or write a loop over indices";
            self.errors.push(stmt, why);
            return None;
        };
        let mut out = Vec::new();
        let arrays: Vec<Expr> = producers
            .iter()
            .zip(&rows)
            .map(|(producer, rows)| match rows {
                Some(rows) => self.zipped_array(&rows.of, rows.unique, &mut out),
                None => self.zipped_array(&producer.array, producer.unique, &mut out),
            })
            .collect();
        let indices: Vec<Ident> = (0..ranks[0]).map(|_| self.names.fresh("i")).collect();
        let lengths: Vec<Expr> = match &rows[0] {
            Some(rows) => vec![rows.len(&arrays[0])],
            None => (0..ranks[0])
                .map(|axis| {
                    let (first, axis) = (&arrays[0], proc_macro2::Literal::usize_unsuffixed(axis));
                    parse_quote!(#first.shape()[#axis])
                })
                .collect(),
        };
        for (((array, rank), rows_of), producer) in
            arrays.iter().zip(&ranks).zip(&rows).zip(&producers).skip(1)
        {
            let first = &arrays[0];
            if producer.stretched && rows[0].is_some() {
                self.errors
                    .push(stmt, "nothing is broadcast to rows and the like here: write a loop over them");
            }
            if rows_of.is_some() || rows[0].is_some() {
                let len = rows_of.as_ref().map_or_else(|| parse_quote!(#array.len()), |rows| rows.len(array));
                let first = &lengths[0];
                out.push(parse_quote!(assert!(#len == #first, "the arrays have different shapes");));
                continue;
            }
            out.push(match producer.stretched {
                true => parse_quote!(assert!(#array.broadcast(#first.raw_dim()).is_some(), "the arrays have different shapes");),
                false => parse_quote!(assert!(#array.shape() == #first.shape(), "the arrays have different shapes");),
            });
            if *rank > ranks[0] {
                self.errors.push(stmt, "an array is not broadcast to one with fewer dimensions");
            }
        }
        let mut items = Vec::new();
        if indexed {
            let mut at: Vec<_> = indices.iter().map(|i| Item::Value(parse_quote!(#i))).collect();
            items.push(if at.len() == 1 { at.remove(0) } else { Item::Tuple(at) });
        }
        for (((array, rank), producer), rows) in arrays.iter().zip(&ranks).zip(&producers).zip(&rows) {
            if let Some(Rows { view, axis, .. }) = rows {
                let (axis, index) = (axis.iter(), &indices[0]);
                items.push(Item::Value(parse_quote!(#array.#view(#(#axis,)* #index))));
                continue;
            }
            let skipped = ranks[0].saturating_sub(*rank);
            let position = |(axis, index): (usize, &Ident)| -> Expr {
                if !producer.stretched {
                    return parse_quote!(#index);
                }
                // A stretched axis has one element.
                let axis = proc_macro2::Literal::usize_unsuffixed(axis);
                parse_quote!(#index % #array.shape()[#axis])
            };
            let at: Vec<Expr> = indices[skipped..].iter().enumerate().map(position).collect();
            let place: Expr = match &at[..] {
                [] => parse_quote!(#array[[]]),
                [one] => parse_quote!(#array[#one]),
                many => parse_quote!(#array[[#(#many),*]]),
            };
            items.push(Item::Place { place, unique: producer.unique });
        }
        let mut body = Vec::new();
        let value = self.inlined(&closure, items, &mut body);
        body.extend(value.map(|value| Stmt::Expr(value, Some(Default::default()))));
        let nested = indices
            .iter()
            .zip(lengths)
            .rev()
            .fold(body, |body, (index, len)| vec![parse_quote!(for #index in 0..#len { #(#body)* })]);
        out.extend(nested);
        Some(out)
    }

    /// A name for what is computed.
    pub(crate) fn zipped_array(&mut self, array: &Expr, unique: bool, out: &mut Vec<Stmt>) -> Expr {
        match array {
            Expr::Path(_) => array.clone(),
            Expr::Paren(paren) => self.zipped_array(&paren.expr, unique, out),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => (*unary.expr).clone(),
            _ => {
                let name = self.hidden("zipped");
                let view = matches!(array, Expr::MethodCall(_));
                out.push(match (unique, view) {
                    (true, false) => parse_quote!(let #name = &mut #array;),
                    (true, true) => parse_quote!(let mut #name = #array;),
                    (false, true) => parse_quote!(let #name = #array;),
                    (false, false) => parse_quote!(let #name = &#array;),
                });
                parse_quote!(#name)
            }
        }
    }
}
