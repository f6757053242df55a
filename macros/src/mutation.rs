//! What writes to vectors, slices and arrays other than by assignment.
//!
//! A method that keeps the length, such as `fill`, is the call of a function that has a rule: they are in
//! `rules/src/mutation.rs`. What changes the length of a vector, or moves it, is an [`Action`]: the reverse pass does the
//! opposite to the vector and to its shadow, see [`crate::vectors`].

use syn::spanned::Spanned;
use syn::{Expr as Syn, parse_quote, parse_quote_spanned};

use crate::aggregates;
use crate::arrays::Shape;
use crate::boxing::REPLACED;
use crate::calls::Callee;
use crate::errors::Errors;
use crate::kind::{changes_receiver, inert, kind_of_type};
use crate::listed::as_array;
use crate::matrices::{on_heap, on_stack};
use crate::of_std::name_in;
use crate::parse::Parser;
use crate::program::*;
use crate::views::CHANGES;

pub(crate) const TAKEN_AWAY: &str = "a vector behind a reference is taken away or replaced by a statement of its own, `let v = std::mem::take(&mut self.data);`, \
                                     `self.data = v;`, differentiably";

const ROWS_BEHIND: &str = "behind a reference, a vector of what owns memory only gets more of it differentiably, by `push`: change a local, and return it";

pub(crate) const VECTOR_WITHIN: &str =
    "a vector within an expression is not differentiable: bind it with `let` first";

pub(crate) const CANNOT_MOVE: &str =
    "a vector cannot be moved here differentiably: pass a reference to it, or `clone` it";

/// What a [`ExprKind::Mutation`] does to its first argument, which is borrowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// `v.push(x)`
    Push,
    /// `v.pop()`, unwrapped in some way
    Pop,
    /// `v.insert(i, x)`
    Insert,
    /// `v.remove(i)`
    Remove,
    /// `v.extend_from_slice(x)`
    Extend,
    /// `v.truncate(n)`
    Truncate,
    /// `v.clear()`
    Clear,
    /// `v.resize(n, x)`
    Resize,
    /// `v.swap(i, j)` of a local whose elements are vectors
    Swap,
    /// `v.sort_by(…)` and its like
    Sort,
    /// `std::mem::swap(&mut v, &mut w)` of locals, or of vectors in them
    Exchange,
    /// `*v = w;` of a vector behind a reference
    Renew,
    /// `std::mem::take(v)` of one
    TakeAll,
    /// What is inside an option is taken out, where there is something: see [`crate::contents`]
    TakeOut,
}

impl Action {
    fn of_method(name: &str) -> Option<Action> {
        Some(match name {
            "push" => Action::Push,
            "pop" => Action::Pop,
            "insert" => Action::Insert,
            "remove" => Action::Remove,
            "extend_from_slice" => Action::Extend,
            "truncate" => Action::Truncate,
            "clear" => Action::Clear,
            "resize" => Action::Resize,
            _ => return None,
        })
    }

    /// There may be fewer elements then.
    pub(crate) fn takes_out(self) -> bool {
        use Action::*;
        matches!(self, Pop | Remove | Truncate | Clear | Resize | Renew | TakeAll)
    }

    /// The value that is put into the vector.
    pub(crate) fn value(self, args: &[ExprId]) -> Option<ExprId> {
        match self {
            Action::Push | Action::Renew => args.get(1).copied(),
            Action::Insert | Action::Resize => args.get(2).copied(),
            _ => None,
        }
    }
}

/// An argument of a method that writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Index,
    Range,
    Value,
    Slice,
    /// A slice that is written to as well.
    Other,
}

/// The methods that keep the length, with the function in `rules/src/mutation.rs` and what they take.
fn in_place(name: &str) -> Option<(syn::Path, &'static [Takes])> {
    use Takes::*;
    Some(match name {
        "swap" => (parse_quote!(::pullback::__private::mutation::swap), &[Index, Index]),
        "fill" => (parse_quote!(::pullback::__private::mutation::fill), &[Value]),
        "reverse" => (parse_quote!(::pullback::__private::mutation::reverse), &[]),
        "rotate_left" => (parse_quote!(::pullback::__private::mutation::rotate_left), &[Index]),
        "rotate_right" => (parse_quote!(::pullback::__private::mutation::rotate_right), &[Index]),
        "copy_within" => (parse_quote!(::pullback::__private::mutation::copy_within), &[Range, Index]),
        "copy_from_slice" => (parse_quote!(::pullback::__private::mutation::copy_from_slice), &[Slice]),
        "swap_with_slice" => (parse_quote!(::pullback::__private::mutation::swap_with_slice), &[Other]),
        "clone_from_slice" => (parse_quote!(::pullback::__private::mutation::clone_from_slice), &[Slice]),
        "assign" => (parse_quote!(::pullback::__private::mutation::assign), &[Slice]),
        _ => return None,
    })
}

/// What [`crate::exchange`] writes for a vector behind a reference: a function in `rules/src/renewed.rs`.
fn renewing(function: &syn::Path) -> Option<Action> {
    let names: Vec<_> = function.segments.iter().map(|s| s.ident.to_string()).collect();
    match &names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["pullback", "__private", "renewed", "renew" | "renew_box"] => Some(Action::Renew),
        ["pullback", "__private", "renewed", "take_all" | "take_box"] => Some(Action::TakeAll),
        _ => None,
    }
}

/// Methods of a `VecDeque`.
const QUEUES: &[&str] = &["push_back", "push_front", "pop_back", "pop_front"];

impl Parser<'_> {
    /// A method that writes to its receiver, if it is known.
    pub(crate) fn mutating_method(&mut self, expr: &Syn, call: &syn::ExprMethodCall) -> Option<ExprId> {
        let name = call.method.to_string();
        if changes_receiver(&name) && self.has_own_methods(&call.receiver) {
            return None;
        }
        if QUEUES.contains(&name.as_str()) && self.suspects.any(call) {
            let why = "a `VecDeque` is differentiable as a local that its own methods, loops and indices use, and nothing else: use a `Vec` with `push` and `remove(0)`";
            return Some(self.constant(expr, false, Some(why)));
        }
        if ["unwrap", "expect", "unwrap_or", "unwrap_or_default"].contains(&name.as_str())
            && let Syn::MethodCall(inner) = &*call.receiver
            && inner.method == "pop"
            && inner.args.is_empty()
            && call.args.iter().all(|arg| matches!(arg, Syn::Lit(_)))
            && !self.has_own_methods(&inner.receiver)
        {
            return self.action(expr, inner, Action::Pop);
        }
        if name == "extend" && call.args.len() == 1 && self.suspects.any(&call.receiver) {
            let (receiver, slice) = (&call.receiver, self.slice_of(&call.args[0])?);
            let call: syn::ExprMethodCall = parse_quote!(#receiver.extend_from_slice(#slice));
            return self.action(&Syn::MethodCall(call.clone()), &call, Action::Extend);
        }
        if let Some(sorting) = self.sorting_method(expr, call) {
            return Some(sorting);
        }
        if let Some(action) = Action::of_method(&name) {
            return self.action(expr, call, action);
        }
        if let Some(copy) = self.copying_method(expr, call, &name) {
            return Some(copy);
        }
        if let ("swap", Some(Shape { rank: Some(1), .. }), [i, j]) =
            (&*name, self.shape_of(&call.receiver), &call.args.iter().collect::<Vec<_>>()[..])
        {
            let ((one, other), held, array) =
                ((self.hidden("one"), self.hidden("other")), self.hidden("held"), &call.receiver);
            return Some(self.expr(&parse_quote!({
                let (#one, #other): (usize, usize) = (#i, #j);
                let #held = #array[#one];
                #array[#one] = #array[#other];
                #array[#other] = #held;
            })));
        }
        if ["reserve", "reserve_exact"].contains(&name.as_str()) {
            return self.reserve(call);
        }
        let (function, takes) = in_place(&name)?;
        let place = self.written_sequence(&call.receiver)?;
        if name == "swap"
            && self.program.has_rows(&place)
            && !self.program.variables[place.base].by_reference()
        {
            return self.action(expr, call, Action::Swap);
        }
        if call.args.len() != takes.len() {
            return None;
        }
        let mut args = Vec::new();
        for (arg, takes) in call.args.iter().zip(takes) {
            args.push(match takes {
                Takes::Index if matches!(arg, Syn::Array(_) | Syn::Tuple(_)) => {
                    self.errors.push(arg, "elements of a multi-dimensional array are not swapped differentiably yet: assign to each");
                    self.inert_expr(arg)
                }
                Takes::Index => {
                    let index = self.expr(arg);
                    self.mark_inert(index);
                    index
                }
                Takes::Range => match arg {
                    Syn::Range(syn::ExprRange { start: Some(start), limits: syn::RangeLimits::HalfOpen(_), end: Some(end), .. }) => {
                        let bounds: Syn = parse_quote!((#start, #end));
                        self.inert_expr(&bounds)
                    }
                    _ => {
                        self.errors.push(arg, "`copy_within` is differentiable for a range with both bounds, `a..b`");
                        self.inert_expr(arg)
                    }
                },
                Takes::Value => self.expr(arg),
                Takes::Slice | Takes::Other => self.argument(arg),
            });
        }
        args.push(self.lend(&call.receiver, place));
        Some(self.add(expr, ExprKind::Call { function: Callee::Function(function), args }))
    }

    /// `v.reserve(n)`: what the vector holds stays as it is, and so does its gradient.
    fn reserve(&mut self, call: &syn::ExprMethodCall) -> Option<ExprId> {
        let (method, receiver, additional) = (&call.method, &call.receiver, call.args.first()?);
        let place = self.written_sequence(receiver)?;
        let vector: Syn = match self.names_reference(receiver) {
            true => parse_quote!(&mut *#receiver),
            false => parse_quote!(&mut #receiver),
        };
        // By this name, since a method of a user's type could do anything.
        let function: syn::Path = parse_quote_spanned!(method.span()=> ::std::vec::Vec::#method);
        let number = self.inert_expr(additional);
        let args = vec![number, self.lend(receiver, place)];
        let kind = ExprKind::Call { function: Callee::Function(function.clone()), args };
        Some(self.add(&parse_quote!(#function(#vector, #additional)), kind))
    }

    /// The variable is of a type of the user's, whose methods may have the names of those of vectors. Other names of `Vec` are told from it
    /// as a vector behind a reference keeps its length, and as no literal nor function of theirs makes one.
    fn has_own_methods(&self, receiver: &Syn) -> bool {
        let Some(id) = self.variable(receiver) else { return false };
        let variable = &self.program.variables[id];
        if variable.by_reference() {
            return variable.of_user;
        }
        self.program.init_of(id).is_some_and(|init| match &self.program.exprs[self.program.peel(init)].kind {
            ExprKind::Struct(_) => true,
            ExprKind::Call { function: Callee::Associated(path), .. } => {
                let ty = path.path.segments[0].ident.to_string();
                !self.program.vector(init).0 && ty != "VecDeque" && !on_heap(&ty) && !on_stack(&ty)
            }
            _ => false,
        })
    }

    /// The slice, by reference, of which `items` are the elements: `x`, `&x[a..b]`, `x.iter().copied()`.
    pub(crate) fn slice_of(&mut self, items: &Syn) -> Option<Syn> {
        let whole = match items {
            Syn::MethodCall(call) if call.method == "copied" || call.method == "cloned" => {
                return match &*call.receiver {
                    inner @ Syn::MethodCall(_) => self.slice_of(inner),
                    _ => None,
                };
            }
            Syn::MethodCall(call) if call.method == "iter" && call.args.is_empty() => &*call.receiver,
            Syn::Reference(reference) if reference.mutability.is_none() => &*reference.expr,
            path @ Syn::Path(_) if self.names_reference(path) => path,
            _ => return None,
        };
        let place = self.place(whole)?;
        let numbers = matches!(self.program.kind_of_place(&place), Kind::Sequence(element) if !matches!(*element, Kind::Sequence(_)));
        let array = self.type_of_place(&place).is_some_and(|ty| Shape::of_type(&ty).is_some());
        let slice = if self.names_reference(whole) { whole.clone() } else { parse_quote!(&#whole) };
        (numbers && !array).then_some(slice)
    }

    /// A method that returns a copy of its receiver.
    fn copying_method(&mut self, expr: &Syn, call: &syn::ExprMethodCall, name: &str) -> Option<ExprId> {
        let function = match name {
            "to_vec" => Callee::Function(parse_quote!(::pullback::__private::mutation::to_vec)),
            "clone" | "to_owned" => Callee::Function(parse_quote!(::pullback::__private::mutation::to_owned)),
            _ => return None,
        };
        if !call.args.is_empty() {
            return None;
        }
        let place = self.place(&call.receiver)?;
        let kind = self.program.kind_of_place(&place);
        if inert(&kind) {
            return None;
        }
        if kind == Kind::Float {
            let number = self.expr(&call.receiver);
            return Some(self.add(expr, ExprKind::Paren(number)));
        }
        let receiver = &call.receiver;
        let syntax: Syn =
            if self.names_reference(receiver) { parse_quote!(&*#receiver) } else { parse_quote!(&#receiver) };
        self.program.variables[place.base].parted = true;
        let borrowed = self.add(&syntax, ExprKind::Borrow { place, unique: false });
        Some(self.add(expr, ExprKind::Call { function, args: vec![borrowed] }))
    }

    pub(crate) fn names_reference(&self, expr: &Syn) -> bool {
        matches!(expr, Syn::Path(path) if path.path.get_ident().is_some_and(|name| self.is_reference(name)))
    }

    /// `std::mem::swap` and its like.
    pub(crate) fn mutating_function(
        &mut self,
        expr: &Syn,
        call: &syn::ExprCall,
        function: &syn::Path,
    ) -> Option<ExprId> {
        if let Some(action) = renewing(function) {
            let args = match action {
                Action::Renew => {
                    let new = self.expr(&call.args[0]);
                    vec![self.argument(&call.args[1]), new]
                }
                _ => vec![self.argument(&call.args[0])],
            };
            return Some(self.add(expr, ExprKind::Mutation { action, args }));
        }
        let name = name_in("mem", function)?;
        match (name.as_str(), call.args.len()) {
            ("swap", 2) => {
                let reference =
                    |arg: &&Syn| matches!(arg, Syn::Reference(arg) if self.names_reference(&arg.expr));
                if let Some(arg) = call.args.iter().find(reference) {
                    self.errors.push(arg, CHANGES);
                    return Some(self.inert_expr(&parse_quote!(())));
                }
                let args: Vec<_> = call.args.iter().map(|arg| self.argument(arg)).collect();
                let local = |id: &ExprId| match &self.program.exprs[*id].kind {
                    ExprKind::Borrow { place, unique: true } => {
                        let field = |p: &Projection| matches!(p, Projection::Field(_));
                        let moves = place.projections.iter().all(field) || self.program.is_row(place);
                        let own = moves && !self.program.variables[place.base].by_reference();
                        Some((own, place.base))
                    }
                    _ => None,
                };
                match (local(&args[0])?, local(&args[1])?) {
                    ((true, one), (true, other)) if one != other => {
                        Some(self.add(expr, ExprKind::Mutation { action: Action::Exchange, args }))
                    }
                    _ => {
                        let function = Callee::Function(
                            parse_quote_spanned!(call.func.span()=> ::pullback::__private::mutation::exchange),
                        );
                        Some(self.add(expr, ExprKind::Call { function, args }))
                    }
                }
            }
            ("replace", 2) => {
                let place = self.argument(&call.args[0]);
                self.refuse_vector(place);
                let value = self.expr(&call.args[1]);
                let function = Callee::Function(
                    parse_quote_spanned!(call.func.span()=> ::pullback::__private::mutation::replace),
                );
                Some(self.add(expr, ExprKind::Call { function, args: vec![value, place] }))
            }
            ("take", 1) => {
                let place = self.argument(&call.args[0]);
                self.refuse_vector(place);
                let function = Callee::Function(
                    parse_quote_spanned!(call.func.span()=> ::pullback::__private::mutation::take),
                );
                Some(self.add(expr, ExprKind::Call { function, args: vec![place] }))
            }
            _ => None,
        }
    }

    /// What is taken away from behind a reference is no vector.
    fn refuse_vector(&mut self, borrow: ExprId) {
        if let ExprKind::Borrow { place, .. } = &self.program.exprs[borrow].kind
            && self.program.variables[place.base].by_reference()
            && self.program.is_vector_at(place).0
        {
            self.errors.push(&self.program.exprs[borrow].syntax, TAKEN_AWAY);
        }
    }

    /// `vec![a, b]` and `vec![a; n]`
    pub(crate) fn vector(&mut self, expr: &Syn, mac: &syn::Macro) -> ExprId {
        match as_array(mac) {
            Some(Syn::Repeat(repeat)) => {
                let (element, len) = (self.expr(&repeat.expr), self.inert_expr(&repeat.len));
                self.add(expr, ExprKind::Vector { elements: vec![element], len: Some(len) })
            }
            Some(Syn::Array(array)) => {
                let elements = array.elems.iter().map(|e| self.expr(e)).collect();
                self.add(expr, ExprKind::Vector { elements, len: None })
            }
            _ => self.constant(
                expr,
                false,
                Some("this `vec!` is not understood: write `vec![a, b]` or `vec![a; n]`"),
            ),
        }
    }

    fn action(&mut self, expr: &Syn, call: &syn::ExprMethodCall, action: Action) -> Option<ExprId> {
        let place = self.written_sequence(&call.receiver)?;
        let arity = match action {
            Action::Pop | Action::Clear => 0,
            Action::Insert | Action::Resize | Action::Swap => 2,
            _ => 1,
        };
        if call.args.len() != arity {
            return None;
        }
        if matches!(action, Action::Extend | Action::Resize) && self.program.of_rows(&place) {
            let why =
                format!("`{}` of a vector of vectors is not differentiable: `push` row by row", call.method);
            return Some(self.constant(expr, false, Some(&why)));
        }
        let base = place.base;
        let whole = place.projections.is_empty();
        let mut args = vec![self.lend(&call.receiver, place)];
        for (i, arg) in call.args.iter().enumerate() {
            args.push(match action {
                Action::Extend => self.argument(arg),
                Action::Truncate => self.inert_expr(arg),
                Action::Swap => self.inert_expr(arg),
                Action::Insert | Action::Remove | Action::Resize if i == 0 => self.inert_expr(arg),
                _ => self.expr(arg),
            });
        }
        if let Some(value) = action.value(&args) {
            self.program.nested.extend((whole && self.program.vector(value).0).then_some(base));
            self.program.of_arrays.extend((whole && self.program.is_array(value)).then_some(base));
            let (kind, variable) = (self.program.kind_of(value), &mut self.program.variables[base]);
            if whole && matches!(&variable.kind, Kind::Sequence(element) if **element == Kind::Unknown) {
                variable.kind = Kind::Sequence(Box::new(kind));
            }
        }
        Some(self.add(expr, ExprKind::Mutation { action, args }))
    }

    /// The place that a method writes to, if that may hold numbers one after the other.
    pub(crate) fn written_sequence(&mut self, receiver: &Syn) -> Option<Place> {
        let place = self.place(receiver)?;
        let kind = self.program.kind_of_place(&place);
        (matches!(kind, Kind::Sequence(_) | Kind::Matrix(_) | Kind::Unknown) && !inert(&kind))
            .then_some(place)
    }

    /// `&mut receiver`
    pub(crate) fn lend(&mut self, receiver: &Syn, place: Place) -> ExprId {
        let syntax: Syn = if self.names_reference(receiver) {
            parse_quote!(&mut *#receiver)
        } else {
            parse_quote!(&mut #receiver)
        };
        let variable = &mut self.program.variables[place.base];
        variable.memory = true;
        variable.parted = true;
        self.add(&syntax, ExprKind::Borrow { place, unique: true })
    }
}

impl Program {
    /// The elements are vectors.
    pub(crate) fn has_rows(&self, place: &Place) -> bool {
        matches!(self.kind_of_place(place), Kind::Sequence(element) if matches!(*element, Kind::Sequence(_)))
    }

    /// It is a vector of vectors, as far as syntax tells.
    pub(crate) fn of_rows(&self, place: &Place) -> bool {
        let of_arrays = place.projections.is_empty() && self.of_arrays.contains(&place.base);
        self.is_vector_at(place).1 || !of_arrays && matches!(self.element_of(place), Kind::Sequence(_))
    }

    /// A row is taken out of a vector of vectors, or something else that owns memory.
    pub(crate) fn takes_out(&self, expr: ExprId) -> bool {
        match &self.exprs[self.peel(expr)].kind {
            ExprKind::Mutation { action: Action::TakeOut | Action::TakeAll, .. } => true,
            ExprKind::Mutation { action: Action::Pop | Action::Remove, args } => {
                matches!(&self.exprs[args[0]].kind, ExprKind::Borrow { place, .. } if self.of_rows(place))
            }
            _ => false,
        }
    }

    /// The syntax does not tell what the elements are.
    pub(crate) fn of_unknown(&self, place: &Place) -> bool {
        !self.of_rows(place) && self.element_of(place) == Kind::Unknown
    }

    /// An element is taken out of which the syntax does not tell whether it owns memory, by a statement of its own.
    pub(crate) fn drops_element(&self, expr: ExprId) -> bool {
        let ExprKind::Mutation { action: Action::Pop | Action::Remove, args } = &self.exprs[expr].kind else {
            return false;
        };
        let unknown =
            matches!(&self.exprs[args[0]].kind, ExprKind::Borrow { place, .. } if self.of_unknown(place));
        let mut statements = self.blocks.iter().flat_map(|block| &block.statements);
        let whole = |e: ExprId| {
            self.peel(e) == expr
                && matches!(&self.exprs[expr].syntax, Syn::MethodCall(call) if call.method == "pop" || call.method == "remove")
        };
        unknown && statements.any(|s| matches!(s.kind, StatementKind::Expr(e, _) if whole(e)))
    }

    /// An element which is a vector itself.
    pub(crate) fn is_row(&self, place: &Place) -> bool {
        let Some((Projection::Index(index), around)) = place.projections.split_last() else { return false };
        let around = Place { base: place.base, projections: around.to_vec() };
        let one = !matches!(self.exprs[*index].syntax, Syn::Range(_));
        one && self.has_rows(&around) && around.projections.iter().all(|p| matches!(p, Projection::Index(_)))
    }

    /// What is pushed to `place` is a vector.
    pub(crate) fn pushes_row(&self, place: &Place, value: ExprId) -> bool {
        let result = self.moves(value).is_some_and(|id| self.pushed.contains(&id));
        !result && (self.owns(value) || place.projections.is_empty() && self.nested.contains(&place.base))
    }

    /// The vector that gets room for more by `v.reserve(n)`, and holds what it held. With a type in its path a function of the user's is
    /// an associated one: this is what [`Parser::reserve`] makes.
    pub(crate) fn makes_room(&self, expr: &Expr) -> Option<ExprId> {
        match &expr.kind {
            ExprKind::Call { function: Callee::Function(path), args }
                if path.segments.len() == 4 && path.segments[2].ident == "Vec" =>
            {
                args.last().copied()
            }
            _ => None,
        }
    }

    /// All that happens to the local is that elements are pushed, no rows, and that it is returned.
    pub(crate) fn only_pushed(&self, id: VarId) -> bool {
        let variable = &self.variables[id];
        let alone = |(other, v): (VarId, &Variable)| {
            other == id
                || ![variable.pool, variable.rows, variable.storage]
                    .iter()
                    .any(|group| *group == other || [v.pool, v.rows, v.storage].contains(group))
        };
        if !self.is_returned(id) || variable.moved || !self.variables.iter().enumerate().all(alone) {
            return false;
        }
        let (mut pushed, mut reserved) = (Vec::new(), Vec::new());
        for expr in &self.exprs {
            if let Some(vector) = self.makes_room(expr) {
                reserved.push(vector);
            }
            if let ExprKind::Mutation { action: Action::Push, args } = &expr.kind
                && let ExprKind::Borrow { place, .. } = &self.exprs[args[0]].kind
                && place.base == id
                && place.projections.is_empty()
                && !self.pushes_row(place, args[1])
            {
                pushed.push(args[0]);
            }
        }
        let returned = self.blocks[BODY].value.map_or(Vec::new(), |value| self.tree(value));
        let elsewhere = |e: ExprId| {
            let whole = matches!(&self.exprs[e].kind, ExprKind::Read(place) if place.projections.is_empty());
            let expected = pushed.contains(&e) || reserved.contains(&e) || whole && returned.contains(&e);
            self.mentions(e, id) && !expected
        };
        let statement = |statement: &Statement| match &statement.kind {
            StatementKind::Opaque(opaque) => opaque.mentions.contains(&id),
            StatementKind::Assign(assign) => assign.place.base == id,
            StatementKind::Let(l) => l.aliases.iter().any(|(_, place)| place.base == id),
            _ => false,
        };
        !pushed.is_empty()
            && !(0..self.exprs.len()).any(elsewhere)
            && !self.blocks.iter().flat_map(|block| &block.statements).any(statement)
    }

    /// The local holds what a call has returned, which may own memory or not.
    pub(crate) fn moves_result(&self, value: ExprId) -> bool {
        match &self.exprs[self.peel(value)].kind {
            ExprKind::Read(place) => {
                let variable = &self.variables[place.base];
                place.projections.is_empty()
                    && variable.kind == Kind::Unknown
                    && (self.results.contains(&place.base) || self.called.contains(&place.base))
            }
            _ => false,
        }
    }

    /// What is pushed is what a call returns, which may own memory or not.
    pub(crate) fn pushes_anything(&self, place: &Place, value: ExprId) -> bool {
        place.projections.is_empty()
            && !self.dual
            && !self.pushes_row(place, value)
            && self.may_push_row(value)
    }

    /// What is pushed is what a call returns, of which nothing tells what it is.
    pub(crate) fn may_push_row(&self, value: ExprId) -> bool {
        self.exprs[value].active
            && matches!(self.exprs[self.peel(value)].kind, ExprKind::Call { .. } | ExprKind::Method { .. })
            && self.is_call(value)
            && self.kind_of(value) == Kind::Unknown
    }

    fn element_of(&self, place: &Place) -> Kind {
        match self.kind_of_place(place) {
            Kind::Sequence(element) => *element,
            _ => Kind::Unknown,
        }
    }

    /// What the path of a function tells about its result.
    pub(crate) fn kind_of_call(&self, function: &Callee) -> Kind {
        let function = match function {
            Callee::Itself(_) => return self.own.as_ref().map_or(Kind::Unknown, |own| own.output.clone()),
            Callee::Function(path) | Callee::OnDuals(path) => path,
            Callee::Associated(path) => &path.path,
            Callee::Parameter(id, _) => {
                return self.functions.get(id).map_or(Kind::Unknown, |function| function.kind.clone());
            }
            Callee::Gradient(..) | Callee::Method(..) | Callee::OfPart(..) | Callee::Operator(..) => {
                return Kind::Unknown;
            }
        };
        if copies_slice(function) {
            return Kind::Sequence(Box::new(Kind::Unknown));
        }
        let mut segments = function.segments.iter().rev();
        let (Some(name), Some(ty)) = (segments.next(), segments.next()) else { return Kind::Unknown };
        if let Some(kind) = crate::arrays::kind_of_call(function) {
            return kind;
        }
        if crate::matrices::makes(&name.ident, ty) {
            return Kind::Matrix(Box::new(Kind::Unknown));
        }
        if on_heap(&ty.ident.to_string()) {
            return kind_of_type(&syn::Type::Path(parse_quote!(#ty)));
        }
        if !(ty.ident == "Vec" || ty.ident.to_string().starts_with("Array")) {
            return Kind::Unknown;
        }
        if !["new", "with_capacity", "zeros", "ones", "from_elem", "from_vec", "from"]
            .contains(&name.ident.to_string().as_str())
        {
            return Kind::Unknown;
        }
        match kind_of_type(&syn::Type::Path(parse_quote!(#ty))) {
            Kind::Unknown => Kind::Sequence(Box::new(Kind::Unknown)),
            kind => kind,
        }
    }

    /// `x.to_vec()` where `x` has floats.
    pub(crate) fn copies_floats(&self, function: &Callee, args: &[ExprId]) -> bool {
        let copied = args.first().map(|arg| self.kind_of(*arg));
        matches!(function, Callee::Function(path) if copies_slice(path))
            && copied == Some(Kind::Sequence(Box::new(Kind::Float)))
    }

    pub(crate) fn kind_of_mutation(&self, action: Action, args: &[ExprId]) -> Kind {
        match (action, args.first().map(|v| &self.exprs[*v].kind)) {
            (Action::Pop | Action::Remove, Some(ExprKind::Borrow { place, .. })) => self.element_of(place),
            (Action::TakeAll, Some(ExprKind::Borrow { place, .. })) => match self.kind_of_place(place) {
                Kind::Unknown => Kind::Sequence(Box::new(Kind::Unknown)),
                kind => kind,
            },
            _ => Kind::Unknown,
        }
    }

    /// `Some(v)` of a vector, or of a variable that may be one.
    pub(crate) fn wraps_memory(&self, expr: ExprId) -> bool {
        match &self.exprs[self.peel(expr)].kind {
            ExprKind::Wrap(_, args) => {
                args.iter().any(|inside| self.owns(*inside) || self.moves(*inside).is_some())
            }
            _ => false,
        }
    }

    /// The value of `expr` owns memory, as far as the syntax tells.
    pub(crate) fn owns(&self, expr: ExprId) -> bool {
        match &self.exprs[expr].kind {
            ExprKind::Vector { .. } => true,
            ExprKind::Struct(literal) => {
                self.owning.contains(&expr)
                    || literal.is_box()
                    || literal.variant().is_none()
                        && literal.path.segments.last().is_some_and(|s| self.owners.know(&s.ident))
                    || literal.fields.iter().any(|(_, value)| self.owns(*value))
            }
            ExprKind::Paren(inner) => self.owns(*inner),
            ExprKind::Mutation { .. } => self.takes_out(expr),
            ExprKind::Read(place) => place.projections.is_empty() && self.variables[place.base].heap,
            ExprKind::Call { function: Callee::Itself(_) | Callee::Parameter(..), .. } => false,
            ExprKind::Call { function, .. } => {
                matches!(self.kind_of_call(function), Kind::Sequence(_) | Kind::Matrix(_))
                    || self.vector(expr).0
            }
            ExprKind::If { .. } | ExprKind::Block(_) | ExprKind::Match(_) | ExprKind::Rest(_) => self
                .blocks_of(expr)
                .iter()
                .filter_map(|b| self.blocks[*b].value)
                .any(|value| self.owns(value)),
            _ => false,
        }
    }

    /// The local whose vector `expr` moves.
    pub(crate) fn moves(&self, expr: ExprId) -> Option<VarId> {
        match &self.exprs[self.peel(expr)].kind {
            ExprKind::Read(place) if place.projections.is_empty() && self.variables[place.base].heap => {
                Some(place.base)
            }
            _ => None,
        }
    }
}

/// A type whose values own memory, and are empty by default.
pub(crate) fn is_array_type(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Path(path) => {
            path.path.segments.last().is_some_and(|segment| !on_heap(&segment.ident.to_string()))
        }
        _ => true,
    }
}

/// A type whose values own memory.
pub(crate) fn owned_type(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Path(path) => path.path.segments.last().is_some_and(|segment| {
            let name = segment.ident.to_string();
            let array = name == "Array" || name.strip_prefix("Array").is_some_and(|n| n.len() == 1);
            (name == "Vec" || array || on_heap(&name)) && !inert(&kind_of_type(ty))
        }),
        syn::Type::Paren(paren) => owned_type(&paren.elem),
        syn::Type::Group(group) => owned_type(&group.elem),
        _ => false,
    }
}

/// A vector of what owns memory.
pub(crate) fn nested_type(ty: &syn::Type) -> bool {
    crate::iterators::collect::element_of_vec(ty).is_some_and(|element| owned_type(&element))
}

/// Vectors are moved whole, once, and where the reverse pass finds them again.
pub(crate) fn report_moves(program: &Program, errors: &mut Errors) {
    let allowed: Vec<_> = program.moving_roots().into_iter().map(|(expr, _)| program.peel(expr)).collect();
    for (id, expr) in program.exprs.iter().enumerate() {
        let active = |id: VarId| program.variables[id].active;
        match &expr.kind {
            ExprKind::Struct(literal) if program.owns(id) => {
                aggregates::report(program, id, literal, allowed.contains(&id), errors);
            }
            ExprKind::Vector { .. }
                if expr.active && !allowed.contains(&id) && !inside_vector(program, id) =>
            {
                errors.push(&expr.syntax, VECTOR_WITHIN);
            }
            ExprKind::Read(place)
                if place.projections.is_empty()
                    && program.variables[place.base].heap
                    && active(place.base)
                    && !allowed.contains(&id) =>
            {
                errors.push(&expr.syntax, CANNOT_MOVE);
            }
            ExprKind::Mutation { action, args } if expr.active => {
                let ExprKind::Borrow { place, .. } = &program.exprs[args[0]].kind else { continue };
                let boxed = |arg: &ExprId| matches!(&program.exprs[*arg].kind, ExprKind::Borrow { place, .. } if program.boxes.contains(&place.base));
                if !matches!(action, Action::Exchange | Action::Renew | Action::TakeAll)
                    && args.iter().any(boxed)
                {
                    errors.push(&expr.syntax, REPLACED);
                }
                let keeps = matches!(action, Action::Exchange | Action::Sort);
                if program.variables[place.base].by_reference() && !keeps {
                    let value = action.value(args);
                    let owns = program.of_rows(place) || value.is_some_and(|v| program.pushes_row(place, v));
                    if owns && !matches!(action, Action::Push | Action::Renew | Action::TakeAll) {
                        errors.push(&expr.syntax, ROWS_BEHIND);
                    }
                }
            }
            _ => {}
        }
    }
    aggregates::report_fields(program, errors);
    for block in 0..program.blocks.len() {
        for statement in &program.blocks[block].statements {
            let value = match &statement.kind {
                StatementKind::Let(l) => l.init,
                StatementKind::Assign(assign) => Some(assign.value),
                StatementKind::Expr(expr, _) => match &program.exprs[program.peel(*expr)].kind {
                    ExprKind::Mutation { action, args } => action.value(args),
                    _ => None,
                },
                _ => None,
            };
            report_move(program, value, block, errors);
            if let StatementKind::Assign(assign) = &statement.kind {
                report_assignment(program, assign, errors);
            }
        }
        report_move(program, program.blocks[block].value, block, errors);
    }
}

fn report_move(program: &Program, value: Option<ExprId>, block: BlockId, errors: &mut Errors) {
    for (value, id) in value.map_or(Vec::new(), |value| program.moved_in(value)) {
        if program.variables[id].active && program.variables[id].block != block {
            errors.push(
                &program.exprs[value].syntax,
                "a vector is moved differentiably in its own block only: use `std::mem::swap`, or `clone` it",
            );
        }
    }
}

fn report_assignment(program: &Program, assign: &Assign, errors: &mut Errors) {
    let variable = &program.variables[assign.place.base];
    if !variable.active || assign.op.is_some() {
        return;
    }
    if assign.place.projections.is_empty() && program.boxes.contains(&assign.place.base) {
        return errors.push(&assign.syntax, REPLACED);
    }
    if assign.place.projections.is_empty() && variable.moved {
        errors.push(
            &assign.syntax,
            "a vector that has been moved does not get a new one differentiably: use `std::mem::swap`",
        );
    } else if !assign.place.projections.is_empty() && program.wraps_memory(assign.value) {
        errors.push(&assign.syntax, aggregates::OPTION_STAYS);
    } else if !assign.place.projections.is_empty() && program.owns(assign.value) {
        let why = match assign.place.projections.last() {
            Some(Projection::Deref) => TAKEN_AWAY,
            Some(Projection::Field(_)) => {
                "a field that owns memory is not replaced differentiably yet: copy the elements with `copy_from_slice`, or \
                 make the struct anew"
            }
            _ => {
                "a vector within a vector is not replaced differentiably yet: copy the elements with `copy_from_slice`"
            }
        };
        errors.push(&assign.syntax, why);
    }
}

fn inside_vector(program: &Program, inner: ExprId) -> bool {
    program
        .exprs
        .iter()
        .any(|e| matches!(&e.kind, ExprKind::Vector { elements, .. } if elements.contains(&inner)))
}

/// `x.to_vec()`, as a rule.
fn copies_slice(function: &syn::Path) -> bool {
    function.segments.len() > 3 && function.segments.last().is_some_and(|last| last.ident == "to_vec")
}
