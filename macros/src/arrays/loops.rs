//! What ndarray does with a closure becomes loops: `from_shape_fn`, `map_axis`, `fold_axis`, `cumprod` and `Zip`'s `map_collect` are values,
//! `accumulate_axis_inplace` is a statement, and `fold` one of an iterator, in the order in which ndarray visits elements.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprClosure, Ident, Stmt, Type, parse_quote};

use super::{Lower, Shape};
use crate::closures::Site;
use crate::iterators::consumers::generic;
use crate::iterators::item::Item;
use crate::iterators::source::product;
use crate::parse::Parser;
use crate::zips::{Producer, chain};

/// An array that a closure makes.
enum Made {
    /// `Array2::from_shape_fn(shape, |(i, j)| …)`
    FromIndices { shape: Expr, rank: usize, element: Option<Type> },
    /// `x.map_axis(axis, |lane| …)`
    OfLanes(Lanes),
    /// `x.fold_axis(axis, init, |a, x| …)`
    Folded(Lanes, Expr),
    /// `Zip::from(a).and(b).map_collect(|a, b| …)`, and whether there are indices, too
    Collected(Vec<Producer>, bool, usize),
}

/// The lanes of an array along an axis.
struct Lanes {
    array: Expr,
    shape: Shape,
    rank: usize,
    axis: Expr,
}

fn closure_of(expr: &Expr) -> Option<&ExprClosure> {
    match expr {
        Expr::Closure(closure) => Some(closure),
        _ => None,
    }
}

impl Parser<'_> {
    fn made(&self, expr: &Expr) -> Option<(Made, ExprClosure)> {
        match expr {
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else { return None };
                let mut segments = path.path.segments.iter().rev();
                let (name, owner) = (segments.next()?, segments.next()?);
                let Shape { rank, element } = Shape::of_segment(owner)?;
                if name.ident != "from_shape_fn"
                    || call.args.len() != 2
                    || super::is_by_columns(&call.args[0])
                {
                    return None;
                }
                let shape = call.args[0].clone();
                Some((Made::FromIndices { shape, rank: rank?, element }, closure_of(&call.args[1])?.clone()))
            }
            Expr::MethodCall(call) => {
                let lanes = || {
                    let shape = self.shape_of(&call.receiver)?;
                    let (array, axis) = ((*call.receiver).clone(), call.args[0].clone());
                    Some(Lanes { array, rank: shape.rank.filter(|rank| *rank > 0)?, shape, axis })
                };
                match (call.method.to_string().as_str(), call.args.len()) {
                    ("map_axis", 2) => Some((Made::OfLanes(lanes()?), closure_of(&call.args[1])?.clone())),
                    ("map_collect", 1) => {
                        let (producers, indexed) = chain(&call.receiver)?;
                        let rank = self.rank_of_produced(&producers[0])?;
                        Some((Made::Collected(producers, indexed, rank), closure_of(&call.args[0])?.clone()))
                    }
                    ("fold_axis", 3) => {
                        let folded = Made::Folded(lanes()?, call.args[1].clone());
                        Some((folded, closure_of(&call.args[2])?.clone()))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What the syntax tells about an array that becomes loops.
    pub(super) fn shape_of_made(&self, expr: &Expr) -> Option<Shape> {
        match expr {
            Expr::MethodCall(call) if call.method == "cumprod" && call.args.len() == 1 => {
                self.shape_of(&call.receiver)
            }
            expr => match self.made(expr)?.0 {
                Made::FromIndices { rank, element, .. } => Some(Shape { rank: Some(rank), element }),
                Made::OfLanes(lanes) | Made::Folded(lanes, _) => Some(lanes.shape.with(Some(lanes.rank - 1))),
                Made::Collected(_, _, rank) => Some(Shape { rank: Some(rank), element: None }),
            },
        }
    }
}

/// The layouts of arrays that a `Zip` goes through. Of a line there is one.
fn layouts(arrays: &[Expr], rank: usize) -> Vec<TokenStream> {
    let arrays = if rank > 1 { arrays } else { &[] };
    arrays.iter().map(|array| quote!(layout(#array.shape(), #array.strides()))).collect()
}

/// The axes beside the one with the number `along`.
fn across(along: &Ident, rank: usize) -> Vec<Expr> {
    let axis = |k| {
        let k = Literal::usize_unsuffixed(k);
        parse_quote!(#k + (#along <= #k) as usize)
    };
    (0..rank - 1).map(axis).collect()
}

fn nested(indices: &[Ident], lengths: &[Expr], body: Vec<Stmt>) -> Vec<Stmt> {
    indices
        .iter()
        .zip(lengths)
        .rev()
        .fold(body, |body, (index, len)| vec![parse_quote!(for #index in 0..#len { #(#body)* })])
}

fn element_at(array: &Ident, indices: &[Ident]) -> Expr {
    match indices {
        [index] => parse_quote!(#array[#index]),
        indices => parse_quote!(#array[[#(#indices),*]]),
    }
}

impl Lower<'_, '_> {
    /// The name of the array that `expr` makes, after the loops that fill it.
    pub(super) fn looped(&mut self, expr: &Expr) -> Option<Expr> {
        if !self.parser.suspects.any(expr) {
            return None;
        }
        if let Expr::MethodCall(call) = expr
            && call.method == "cumprod"
            && call.args.len() == 1
            && self.is_array(&call.receiver)
        {
            let (copied, axis) = (self.operand(&call.receiver).tokens, &call.args[0]);
            let (name, copy) = (self.parser.hidden("made"), self.call("copy", &[copied]));
            self.before.push(parse_quote!(let mut #name = #copy;));
            self.before.push(parse_quote!(#name.accumulate_axis_inplace(#axis, |before, x| *x *= *before);));
            return Some(parse_quote!(#name));
        }
        let (made, closure) = self.parser.made(expr)?;
        Some(match made {
            Made::FromIndices { shape, rank, element } => {
                self.over_indices(&shape, Shape { rank: Some(rank), element }, &closure)
            }
            Made::OfLanes(lanes) => self.of_lanes(&lanes, None, &closure),
            Made::Folded(lanes, init) => {
                let start = self.once(&init);
                self.of_lanes(&lanes, Some(start), &closure)
            }
            Made::Collected(producers, indexed, rank) => {
                self.collected(&producers, indexed, rank, &closure)?
            }
        })
    }

    fn over_indices(&mut self, shape: &Expr, made: Shape, closure: &ExprClosure) -> Expr {
        let rank = made.rank.expect("as found before");
        let out = self.new_array(made, shape, &[]);
        let indices: Vec<_> = (0..rank).map(|_| self.parser.names.fresh("i")).collect();
        let mut items: Vec<_> = indices.iter().map(|i| Item::Value(parse_quote!(#i))).collect();
        let item = if rank == 1 { items.remove(0) } else { Item::Tuple(items) };
        let mut body = Vec::new();
        let value = self.inlined(closure, vec![item], &mut body);
        let element = element_at(&out, &indices);
        body.push(parse_quote!(#element = #value;));
        let lengths: Vec<Expr> = (0..rank)
            .map(|axis| {
                let axis = Literal::usize_unsuffixed(axis);
                parse_quote!(#out.shape()[#axis])
            })
            .collect();
        self.before.extend(nested(&indices, &lengths, body));
        parse_quote!(#out)
    }

    /// Of each lane what the closure makes of it, or folds its elements into.
    fn of_lanes(&mut self, lanes: &Lanes, start: Option<Expr>, closure: &ExprClosure) -> Expr {
        let Lanes { array, shape, rank, axis } = lanes;
        let array = self.named_array(array);
        let along = self.along(axis);
        let across = across(&along, *rank);
        let lengths: Vec<Expr> = across.iter().map(|axis| parse_quote!(#array.shape()[#axis])).collect();
        let made: Expr = match &lengths[..] {
            [len] => len.clone(),
            lengths => parse_quote!((#(#lengths),*)),
        };
        // ndarray's is laid out as its `Zip` of the lanes is.
        let others = Literal::usize_unsuffixed(rank - 1);
        let layout = quote!(layout_across::<#others>(#array.shape(), #array.strides(), #along));
        let layouts = if *rank > 2 && start.is_none() { &[layout][..] } else { &[] };
        let out = self.new_array(shape.with(Some(rank - 1)), &made, layouts);
        let indices: Vec<_> = across.iter().map(|_| self.parser.names.fresh("i")).collect();
        let mut body = Vec::new();
        let lane = self.parser.lane(&array, &across, &indices, false, &mut body);
        let value = match start {
            None => self.inlined(closure, vec![Item::Value(lane)], &mut body),
            Some(start) => {
                let (total, k) = (self.parser.hidden("total"), self.parser.names.fresh("k"));
                body.push(parse_quote!(let mut #total = #start;));
                let items = [parse_quote!(#total), parse_quote!(#lane[#k])];
                let items = items.map(|place| Item::Place { place, unique: false });
                let mut step = Vec::new();
                let value = self.inlined(closure, items.into(), &mut step);
                body.push(parse_quote!(for #k in 0..#lane.len() { #(#step)* #total = #value; }));
                parse_quote!(#total)
            }
        };
        let element = element_at(&out, &indices);
        body.push(parse_quote!(#element = #value;));
        self.before.extend(nested(&indices, &lengths, body));
        parse_quote!(#out)
    }

    /// The number of an axis under a name.
    fn along(&mut self, axis: &Expr) -> Ident {
        let along = self.parser.names.fresh("along");
        self.before.push(parse_quote!(let #along: usize = #axis.index();));
        along
    }

    /// A name for an array that is read.
    fn named_array(&mut self, array: &Expr) -> Expr {
        if self.place(array).is_some() {
            let mut before = Vec::new();
            let name = self.parser.zipped_array(array, false, &mut before);
            self.before.extend(before);
            return name;
        }
        let value = self.value_of(array);
        let name = self.bind(&value);
        parse_quote!(#name)
    }

    /// What a `Zip` collects: a loop over one more array.
    fn collected(
        &mut self,
        producers: &[Producer],
        indexed: bool,
        rank: usize,
        closure: &ExprClosure,
    ) -> Option<Expr> {
        let mut before = Vec::new();
        let arrays = self.parser.named_producers(producers, &mut before)?;
        self.before.extend(before);
        let lengths = self.parser.lengths_of(&arrays[0], rank);
        let made: Expr = match &lengths[..] {
            [len] => len.clone(),
            lengths => parse_quote!((#(#lengths),*)),
        };
        let layouts = layouts(&arrays, rank);
        let out = self.new_array(Shape { rank: Some(rank), element: None }, &made, &layouts);
        let start: Expr = match indexed {
            true => parse_quote!(::pullback::__private::ndarray::Zip::indexed),
            false => parse_quote!(::pullback::__private::ndarray::Zip::from),
        };
        let read = |array: &Expr| -> Expr {
            match array {
                Expr::Path(_) => parse_quote!(&#array),
                array => array.clone(),
            }
        };
        let (first, others) = (read(&arrays[0]), arrays[1..].iter().map(read));
        let (element, inputs, body) = (self.parser.hidden("element"), closure.inputs.iter(), &closure.body);
        self.before.push(parse_quote!(
            #start(#first)#(.and(#others))*.and(&mut #out).for_each(|#(#inputs,)* #element| *#element = #body);
        ));
        Some(parse_quote!(#out))
    }

    /// An array of zeros, to be written to; laid out as a `Zip` of arrays with these layouts collects.
    fn new_array(&mut self, made: Shape, shape: &Expr, layouts: &[TokenStream]) -> Ident {
        let (out, ty) = (self.parser.hidden("made"), made.to_type());
        let zeros = match layouts {
            [] => self.call("from_elem", &[quote!(#shape), quote!(0.0)]),
            layouts => {
                let by_columns = self.parser.by_columns(layouts, &mut self.before);
                self.call("laid_out", &[quote!(#shape), quote!(#by_columns), quote!(0.0)])
            }
        };
        self.before.push(parse_quote!(let mut #out: ::pullback::__private::ndarray::#ty = #zeros;));
        out
    }

    /// The value of the closure for `items`, after its statements.
    fn inlined(&mut self, closure: &ExprClosure, items: Vec<Item>, out: &mut Vec<Stmt>) -> Expr {
        self.parser.inlined(closure, items, out).unwrap_or_else(|| parse_quote!(0.0))
    }
}

impl Parser<'_> {
    /// Whether a `Zip` of arrays with these layouts goes column by column, under a name.
    fn by_columns(&mut self, layouts: &[TokenStream], out: &mut Vec<Stmt>) -> Ident {
        let names: Vec<_> = layouts.iter().map(|_| self.names.fresh("layout")).collect();
        for (name, layout) in names.iter().zip(layouts) {
            out.push(parse_quote!(let #name: [isize; 3] = ::pullback::__private::arrays::#layout;));
        }
        let by_columns = self.names.fresh("by_columns");
        out.push(parse_quote!(
            let #by_columns: bool = #(#names[0])+* > 0 && (#(#names[1])+* == 0 || #(#names[2])+* < 0);
        ));
        by_columns
    }

    /// Reports what cannot be inlined.
    pub(crate) fn inlined(
        &mut self,
        closure: &ExprClosure,
        items: Vec<Item>,
        out: &mut Vec<Stmt>,
    ) -> Option<Expr> {
        if closure.inputs.len() != items.len() {
            self.errors.push(&closure.inputs, "this closure takes another number of arguments");
            return None;
        }
        self.inline(closure, items, Site::Block, out).unwrap_or_else(|(tokens, why)| {
            self.errors.push(tokens, &why);
            None
        })
    }

    /// The lane of `array` at the indices along the axes `across`, under a name.
    fn lane(
        &mut self,
        array: &Expr,
        across: &[Expr],
        indices: &[Ident],
        unique: bool,
        out: &mut Vec<Stmt>,
    ) -> Expr {
        let mut lane = array.clone();
        // The last axis first, so that the numbers of the others stay.
        for (axis, index) in across.iter().zip(indices).rev() {
            let axis: Expr = parse_quote!(::pullback::__private::ndarray::Axis(#axis));
            let part = self.hidden("lane");
            out.push(match unique {
                true => parse_quote!(let mut #part = #lane.index_axis_mut(#axis, #index);),
                false => parse_quote!(let #part = #lane.index_axis(#axis, #index);),
            });
            lane = parse_quote!(#part);
        }
        lane
    }

    /// `x.accumulate_axis_inplace(axis, |before, x| …);` as loops, one for each lane.
    pub(crate) fn accumulated(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let Stmt::Expr(Expr::MethodCall(call), _) = stmt else { return None };
        if call.method != "accumulate_axis_inplace" || call.args.len() != 2 || !self.suspects.any(call) {
            return None;
        }
        let rank = self.shape_of(&call.receiver)?.rank.filter(|rank| *rank > 0)?;
        let closure = closure_of(&call.args[1])?.clone();
        let mut out = Vec::new();
        let array = self.zipped_array(&call.receiver, true, &mut out);
        let (along, axis) = (self.names.fresh("along"), &call.args[0]);
        out.push(parse_quote!(let #along: usize = #axis.index();));
        out.push(parse_quote!(assert!(#along < #array.ndim(), "an array of {} dimensions has no axis {}", #array.ndim(), #along);));
        let across = across(&along, rank);
        let indices: Vec<_> = across.iter().map(|_| self.names.fresh("i")).collect();
        let lengths: Vec<Expr> = across.iter().map(|axis| parse_quote!(#array.shape()[#axis])).collect();
        let mut body = Vec::new();
        let lane = self.lane(&array, &across, &indices, true, &mut body);
        let (k, before) = (self.names.fresh("k"), self.hidden("before"));
        let items = vec![
            Item::Place { place: parse_quote!(#before), unique: false },
            Item::Place { place: parse_quote!(#lane[#k]), unique: true },
        ];
        let mut step = Vec::new();
        let value = self.inlined(&closure, items, &mut step);
        step.extend(value.map(|value| Stmt::Expr(value, Some(Default::default()))));
        body.push(parse_quote!(for #k in 1..#lane.len() { let #before = #lane[#k - 1]; #(#step)* }));
        out.extend(nested(&indices, &lengths, body));
        Some(out)
    }

    /// `x.fold(init, |a, x| …)` as that of an iterator, and what else is made of one.
    pub(crate) fn folded(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let mut stmt = stmt.clone();
        let mut folds = Folds { parser: self, before: Vec::new(), changed: false };
        match &mut stmt {
            Stmt::Local(local) => {
                let init = &mut local.init.as_mut()?.expr;
                if let (syn::Pat::Type(typed), Expr::MethodCall(call)) = (&local.pat, &mut **init)
                    && call.method == "collect"
                    && call.turbofish.is_none()
                    && Shape::of_type(&typed.ty).is_some()
                {
                    let ty = &typed.ty;
                    call.turbofish = Some(parse_quote!(::<#ty>));
                }
                folds.visit_expr_mut(init);
            }
            Stmt::Expr(Expr::ForLoop(_) | Expr::While(_), _) => return None,
            Stmt::Expr(expr, _) => folds.visit_expr_mut(expr),
            _ => return None,
        }
        let mut before = folds.before;
        if !folds.changed {
            return None;
        }
        before.push(stmt);
        Some(before)
    }
}

struct Folds<'p, 'e> {
    parser: &'p mut Parser<'e>,
    before: Vec<Stmt>,
    changed: bool,
}

impl VisitMut for Folds<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            // Parsed on their own.
            Expr::If(_) | Expr::Match(_) | Expr::Loop(_) | Expr::Block(_) | Expr::Closure(_) => return,
            Expr::ForLoop(_) | Expr::While(_) => return,
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        if let Some(collected) = self.vector(expr) {
            *expr = collected;
            self.changed = true;
            return;
        }
        let Expr::MethodCall(call) = expr else { return };
        if call.method != "fold" || call.args.len() != 2 || !self.parser.suspects.any(&*call) {
            return;
        }
        if let Some(folded) = self.of_zip(call) {
            *expr = folded;
            self.changed = true;
            return;
        }
        let Some(rank) = self.parser.shape_of(&call.receiver).and_then(|shape| shape.rank) else { return };
        let array: Expr = match &*call.receiver {
            receiver @ (Expr::Path(_) | Expr::Field(_) | Expr::Index(_)) => {
                self.parser.zipped_array(receiver, false, &mut self.before)
            }
            Expr::MethodCall(view) if self.parser.viewed(view).is_some() => {
                self.parser.zipped_array(&call.receiver, false, &mut self.before)
            }
            receiver => {
                let name = self.parser.hidden("folded");
                self.before.push(parse_quote!(let #name = #receiver;));
                parse_quote!(#name)
            }
        };
        let (order, k) = (self.parser.names.fresh("order"), self.parser.names.fresh("k"));
        let element = element_of(&array, &positions(&order, &k, rank));
        let rank = Literal::usize_unsuffixed(rank);
        self.before.push(parse_quote!(
            let #order: [[isize; 4]; #rank] = ::pullback::__private::arrays::order(#array.shape(), #array.strides());
        ));
        let (init, function) = (&call.args[0], &call.args[1]);
        *expr = parse_quote!((0..#array.len()).map(|#k| &#element).fold(#init, #function));
        self.changed = true;
    }
    fn visit_block_mut(&mut self, _: &mut syn::Block) {}
}

/// Where the `k`th element is, by [`order`](crate): arithmetic, so that the reverse pass can do it again.
fn positions(order: &Ident, k: &Ident, rank: usize) -> Vec<Expr> {
    let at = |axis| {
        let axis = Literal::usize_unsuffixed(axis);
        let part = quote!(#order[#axis]);
        parse_quote!((#part[2] + #k as isize / #part[0] % #part[1] * #part[3]) as usize)
    };
    (0..rank).map(at).collect()
}

fn element_of(array: &Expr, at: &[Expr]) -> Expr {
    match at {
        [at] => parse_quote!(#array[#at]),
        at => parse_quote!(#array[[#(#at),*]]),
    }
}

impl Folds<'_, '_> {
    /// `x.to_vec()`, `Array1::from_iter(iterator)`, `iterator.collect::<Array1<_>>()`: between arrays and iterators there is a vector.
    fn vector(&self, expr: &Expr) -> Option<Expr> {
        match expr {
            Expr::MethodCall(call) if call.method == "to_vec" && call.args.is_empty() => {
                let array = &call.receiver;
                self.parser.shape_of(array)?;
                self.parser
                    .suspects
                    .any(&**array)
                    .then(|| parse_quote!(#array.iter().copied().collect::<Vec<_>>()))
            }
            Expr::MethodCall(call) if call.method == "collect" => {
                let Type::Path(path) = generic(call)? else { return None };
                let mut owner = path.path.segments.into_iter().next_back()?;
                if Shape::of_segment(&owner)?.rank != Some(1) {
                    return None;
                }
                if let syn::PathArguments::AngleBracketed(arguments) = &mut owner.arguments {
                    arguments.colon2_token = Some(Default::default());
                }
                let iterator = &call.receiver;
                self.parser
                    .suspects
                    .any(&**iterator)
                    .then(|| parse_quote!(::pullback::__private::ndarray::#owner::from_vec(#iterator.collect::<Vec<_>>())))
            }
            Expr::Call(call) if call.args.len() == 1 => {
                let (Expr::Path(path), iterator) = (&*call.func, &call.args[0]) else { return None };
                let mut segments = path.path.segments.iter().rev();
                let (name, owner) = (segments.next()?, segments.next()?);
                let owner = (name.ident == "from_iter" && Shape::of_segment(owner)?.rank == Some(1))
                    .then_some(owner)?;
                self.parser
                    .suspects
                    .any(iterator)
                    .then(|| parse_quote!(#owner::from_vec(#iterator.collect::<Vec<_>>())))
            }
            _ => None,
        }
    }

    /// `Zip::from(a).and(b).fold(init, |sum, a, b| …)`
    fn of_zip(&mut self, call: &syn::ExprMethodCall) -> Option<Expr> {
        let (producers, indexed) = chain(&call.receiver)?;
        let closure = closure_of(&call.args[1])?;
        let rank = self.parser.rank_of_produced(&producers[0])?;
        let arrays = self.parser.named_producers(&producers, &mut self.before)?;
        let lengths = self.parser.lengths_of(&arrays[0], rank);
        let k = self.parser.names.fresh("k");
        let at: Vec<Expr> = match layouts(&arrays, rank) {
            layouts if layouts.is_empty() => vec![parse_quote!(#k)],
            layouts => {
                let by_columns = self.parser.by_columns(&layouts, &mut self.before);
                let (order, first) = (self.parser.names.fresh("order"), &arrays[0]);
                let axes = Literal::usize_unsuffixed(rank);
                self.before.push(parse_quote!(
                    let #order: [[isize; 4]; #axes] = ::pullback::__private::arrays::zip_order(#first.shape(), #by_columns);
                ));
                positions(&order, &k, rank)
            }
        };
        let mut items: Vec<Expr> = match &at[..] {
            _ if !indexed => Vec::new(),
            [at] => vec![at.clone()],
            at => vec![parse_quote!((#(#at),*))],
        };
        for array in &arrays {
            items.push(match self.parser.row_of(array, &k) {
                Some(row) => row,
                None => {
                    let element = element_of(array, &at);
                    parse_quote!(&#element)
                }
            });
        }
        let (init, inputs, body) = (&call.args[0], &closure.inputs, &closure.body);
        let (sum, parts) = (inputs.first()?, inputs.iter().skip(1));
        let len = product(lengths);
        Some(match &items[..] {
            [item] => parse_quote!((0..#len).map(|#k| #item).fold(#init, |#sum, #(#parts)*| #body)),
            items => {
                parse_quote!((0..#len).map(|#k| (#(#items),*)).fold(#init, |#sum, (#(#parts),*)| #body))
            }
        })
    }
}
