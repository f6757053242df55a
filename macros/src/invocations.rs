//! Calls of functions and methods, as syntax → [`Program`](crate::program::Program): which are rules, which become statements, and
//! which carry no gradient.

use syn::Expr as Syn;
use syn::punctuated::Punctuated;

use crate::advancing::is_place_of_part;
use crate::boxes::BOXED;
use crate::calls::{Callee, gradient, is_associated, with_functions};
use crate::functions::is_box;
use crate::iterators::SOURCES;
use crate::iterators::constant::UNKNOWN_ITERATOR;
use crate::iterators::consumers::Chain;
use crate::iterators::integers::{is_constant_item, is_private};
use crate::iterators::item::Item;
use crate::iterators::made::is_blank;
use crate::kind::{
    inert, inert_method, integer_method, is_check, kind_of_type, names_other_type, numeric_method, of_float,
};
use crate::methods::of_option;
use crate::of_std::{self, Named};
use crate::operands::is_deref;
use crate::outcome::inside_type;
use crate::parse::{ERROR, Parser};
use crate::program::*;

impl Parser<'_> {
    /// An argument that becomes the receiver of a method: what binds less gets the parentheses that it needs there.
    fn as_receiver(&mut self, argument: &Syn) -> ExprId {
        let inner = self.expr(argument);
        let binds = matches!(
            argument,
            Syn::Path(_)
                | Syn::Lit(_)
                | Syn::Paren(_)
                | Syn::Call(_)
                | Syn::MethodCall(_)
                | Syn::Field(_)
                | Syn::Index(_)
                | Syn::Macro(_)
        );
        if binds {
            return inner;
        }
        let syntax: Syn = syn::parse_quote!((#argument));
        self.add(&syntax, ExprKind::Paren(inner))
    }

    /// A numeric method, by its path: `f64::max(x, y)`, or `f64::add(x, y)`.
    fn numeric(
        &mut self,
        expr: &Syn,
        name: &syn::Ident,
        operands: &Punctuated<Syn, syn::Token![,]>,
    ) -> ExprId {
        let receiver = self.as_receiver(&operands[0]);
        let others: Vec<_> = operands.iter().skip(1).collect();
        match Named::of(name, others.len()) {
            Some(operator) => self.operator(expr, operator, receiver, &others),
            None => {
                let args = others.into_iter().map(|a| self.expr(a)).collect();
                self.add(expr, ExprKind::Method { receiver, name: name.clone(), args })
            }
        }
    }

    /// An operator by the name of its method, of floats.
    fn operator(&mut self, expr: &Syn, operator: Named, left: ExprId, others: &[&Syn]) -> ExprId {
        let kind = match operator {
            Named::Neg => ExprKind::Neg(left),
            Named::Between(op) => ExprKind::Binary { op, left, right: self.as_receiver(others[0]) },
        };
        let applied = self.add(expr, kind);
        self.add(expr, ExprKind::Paren(applied))
    }

    pub(crate) fn method(&mut self, expr: &Syn, call: &syn::ExprMethodCall) -> ExprId {
        if let Some(block) = self.element_of_call(expr) {
            return self.expr(&block);
        }
        let mut before = Vec::new();
        if let Some(result) = self.chain(expr, None, &mut before) {
            return self.in_place(expr, result, before);
        }
        if let Some(place) = self.view(call) {
            return self.add(expr, ExprKind::Read(place));
        }
        if let Some(kind) = self.known_to_select(call)
            && let Some(place) = self.selected_by(call, kind)
        {
            let unique = self.selects_uniquely(call);
            self.program.variables[place.base].memory |= unique;
            return self.add(expr, ExprKind::Borrow { place, unique });
        }
        if inert_method(&call.method.to_string()) {
            let inert = self.inert_expr(expr);
            self.have_checked(inert, call);
            return inert;
        }
        if self.searches(call) {
            let found = self.inert_expr(expr);
            self.have_checked(found, call);
            return found;
        }
        let told_of_user = self.is_told_to_be_of_user(&call.receiver);
        if !told_of_user
            && let Some(branch) = self
                .then(call)
                .or_else(|| self.mapped_option(call))
                .or_else(|| self.option_of_option(call))
                .or_else(|| self.exchanged_option(call))
        {
            return self.expr(&branch);
        }
        if let Some(mutation) = self.mutating_method(expr, call) {
            return mutation;
        }
        if integer_method(&call.method.to_string()) || !told_of_user && self.bounds_integer(call) {
            let integer = self.inert_expr(expr);
            self.have_checked(integer, call);
            return integer;
        }
        if let Some(place) = self.place(&call.receiver)
            && let kind @ Kind::Sequence(_) = self.program.kind_of_place(&place)
        {
            if inert(&kind) && !call.args.iter().any(crate::escape::writes) {
                // Indices are sorted by active values, for instance.
                return self.constant(expr, false, None);
            }
            let why = match call.method.to_string() {
                method if SOURCES.contains(&&*method) => {
                    "an iterator is differentiable where something consumes it: put its consumer behind it, or write a loop".into()
                }
                method => match crate::arrays::instead_of(&method).filter(|_| self.shape_of(&call.receiver).is_some()) {
                    Some(instead) => format!("method `{method}` of an array has no rule: {instead}"),
                    None => format!(
                        "method `{method}` of an array has no rule yet: write a loop, or pass the array to a function that has one"
                    ),
                },
            };
            let pure = self.is_pure(expr);
            return self.constant(expr, pure, Some(&why));
        }
        if matches!(self.kind_of_syntax(&call.receiver), Kind::Matrix(_))
            && numeric_method(&call.method.to_string())
        {
            let why = format!(
                "method `{}` of a matrix on the heap has no rule: write a loop over its entries",
                call.method
            );
            return self.constant(expr, self.is_pure(expr), Some(&why));
        }
        let of_std = takes_closure(&call.method.to_string()) || of_option(&call.method);
        if let (false, Some(block)) = (of_std, self.with_gathered_of_method(call)) {
            return self.expr(&block);
        }
        if let Some(block) = self.with_named_temporaries_of_method(call) {
            return self.expr(&block);
        }
        if call.method == "as_ref"
            && let Some(place) = self.place(&call.receiver)
            && self.program.kind_of_place(&place) == Kind::Unknown
            && self.suspects.any(&call.receiver)
            && !told_of_user
        {
            let outcome = &call.receiver;
            return self.expr(&syn::parse_quote!(&#outcome));
        }
        let receiver = self.expr(&call.receiver);
        if let ExprKind::Borrow { place, .. } = &self.program.exprs[receiver].kind {
            // A name for a place: the method is called on what is there.
            self.program.exprs[receiver].kind = ExprKind::Read(place.clone());
        }
        if let Some(operator) = Named::of(&call.method, call.args.len())
            && self.program.kind_of(receiver) == Kind::Float
        {
            return self.operator(expr, operator, receiver, &call.args.iter().collect::<Vec<_>>());
        }
        let known = takes_closure(&call.method.to_string()) && !told_of_user;
        let of_user = !known && !of_option(&call.method);
        let takes_functions = !known && self.suspects.any(call);
        let mut args = Vec::new();
        for arg in &call.args {
            let callback = if takes_functions { self.callback(arg) } else { None };
            let lent = match of_user && callback.is_none() {
                true => self.optional_argument(arg).or_else(|| self.lent(arg)),
                false => None,
            };
            args.push(callback.or(lent).unwrap_or_else(|| match makes_error(&call.method, arg) {
                true => self.constant(arg, self.is_pure(arg), Some(ERROR)),
                false => self.expr(arg),
            }));
        }
        self.add(expr, ExprKind::Method { receiver, name: call.method.clone(), args })
    }

    /// The name of a variable that is told to be of a type of the user's, whose methods may be called as those of the standard library.
    pub(crate) fn is_told_to_be_of_user(&self, receiver: &Syn) -> bool {
        let Some(id) = self.variable(receiver) else { return false };
        let outcome = |ty: &syn::Type| inside_type(ty).is_some();
        let told =
            self.types.get(&id).is_some_and(|ty| names_other_type(ty, &kind_of_type(ty)) && !outcome(ty));
        told || self.is_made_by_type(id)
    }

    /// A method of a slice or a range that finds a position, or whether something is there.
    fn searches(&mut self, call: &syn::ExprMethodCall) -> bool {
        const POSITIONS: &[&str] = &["partition_point", "binary_search_by", "binary_search_by_key"];
        const TESTS: &[&str] = &["contains", "starts_with", "ends_with"];
        let one_of = |names: &[&str]| names.iter().any(|name| call.method == name);
        if matches!(&*call.receiver, Syn::Paren(paren) if matches!(&*paren.expr, Syn::Range(_))) {
            return one_of(&["contains"]);
        }
        let Some(place) = self.place(&call.receiver).filter(|_| one_of(POSITIONS) || one_of(TESTS)) else {
            return false;
        };
        match self.program.kind_of_place(&place) {
            Kind::Sequence(_) => true,
            // The names of the others are those of a user's methods, too.
            kind => kind == Kind::Unknown && one_of(POSITIONS),
        }
    }

    /// `self.n.pow(2) as f64` of what nothing tells the type of: a power that is written like this and cast is that of an integer, which the
    /// compiler is to confirm.
    pub(crate) fn power_of_integer(&mut self, cast: &syn::ExprCast) -> Option<ExprId> {
        let Syn::MethodCall(call) = &*cast.expr else { return None };
        if call.method != "pow"
            || call.args.len() != 1
            || self.kind_of_syntax(&call.receiver) != Kind::Unknown
        {
            return None;
        }
        let power = self.inert_expr(&cast.expr);
        self.have_checked(power, call);
        Some(power)
    }

    /// A method of a type that is not known carries no gradient by its name alone, which the compiler has to confirm.
    fn have_checked(&mut self, inert: ExprId, call: &syn::ExprMethodCall) {
        if self.kind_of_syntax(&call.receiver) != Kind::Unknown || !self.suspects.any(&call.receiver) {
            return;
        }
        self.program.rewritten.insert(inert);
        let inert = &mut self.program.exprs[inert];
        let syntax = &inert.syntax;
        inert.syntax = syn::parse_quote_spanned!(call.method.span()=> ::pullback::__private::inert(#syntax));
    }

    /// `(a - b).max(1)`, `size.min(left)`: the argument tells that these are integers, which the compiler is to confirm.
    fn bounds_integer(&self, call: &syn::ExprMethodCall) -> bool {
        let integer = |arg: &Syn| match arg {
            Syn::Lit(literal) => matches!(literal.lit, syn::Lit::Int(_)),
            arg => self.kind_of_syntax(arg) == Kind::Inert,
        };
        let plain = match &*call.receiver {
            Syn::Paren(paren) => matches!(&*paren.expr, Syn::Binary(_)),
            receiver => matches!(receiver, Syn::Path(_) | Syn::Field(_) | Syn::Index(_)),
        };
        plain
            && (call.method == "max" || call.method == "min")
            && call.args.len() == 1
            && integer(&call.args[0])
    }

    /// A name for a `&mut`, given twice or beside a part of what it refers to, `dot(row, row)`: nobody can write to that.
    fn share_repeated(&mut self, args: &[ExprId]) {
        let borrowed: Vec<_> = args
            .iter()
            .filter_map(|arg| match &self.program.exprs[*arg].kind {
                ExprKind::Borrow { place, .. } => Some((*arg, place.clone())),
                _ => None,
            })
            .collect();
        for (arg, place) in &borrowed {
            let within = |other: &Place| {
                let len = place.projections.len();
                let all = place.projections.iter().zip(&other.projections).all(|(one, other)| one.is(other));
                other.base == place.base && other.projections.len() >= len && all
            };
            let repeated = borrowed.iter().any(|(other, of_other)| other != arg && within(of_other));
            let node = &mut self.program.exprs[*arg];
            if let (Syn::Path(_), ExprKind::Borrow { unique, .. }, true) =
                (&node.syntax, &mut node.kind, repeated)
            {
                *unique = false;
            }
        }
    }

    pub(crate) fn call(&mut self, expr: &Syn, call: &syn::ExprCall) -> ExprId {
        let mut before = Vec::new();
        if let Some(result) = self.chain(expr, None, &mut before) {
            return self.in_place(expr, result, before);
        }
        if let Some(chosen) = self.chosen(call) {
            return self.expr(&chosen);
        }
        if let Some(id) = self.function_parameter(&call.func) {
            if let Some(block) = self.with_named_temporaries(call) {
                return self.expr(&block);
            }
            let args = call.args.iter().map(|a| self.argument(a)).collect();
            let function = Callee::Parameter(id, self.program.variables[id].name.clone());
            return self.add(expr, ExprKind::Call { function, args });
        }
        let Syn::Path(path) = &*call.func else {
            return self.constant(
                expr,
                false,
                Some("only functions called by their name are differentiable, and elements of arrays of functions: bind this one with `let`"),
            );
        };
        if let Some(closure) = self.closure(&call.func) {
            let mut before = Vec::new();
            let value = self.inline_call(&closure, call, &mut before);
            let value = value.map(|v| Chain::Value(Item::Value(v.unwrap_or_else(|| syn::parse_quote!(())))));
            return self.in_place(expr, value, before);
        }
        let function = &path.path;
        if is_place_of_part(function) {
            self.check_place_of_part(call);
        }
        if is_check(function) || is_blank(function) {
            return self.inert_expr(expr);
        }
        if is_private(function, "items_of_constants") {
            return self.constant(expr, false, Some(UNKNOWN_ITERATOR));
        }
        if is_constant_item(function) {
            let why = "nothing tells what this loop goes through: tell the type, by a `let` before";
            return self.constant(expr, self.is_pure(expr), Some(why));
        }
        let last = function.segments.last().expect("a path has a segment");
        if function.get_ident().is_some_and(|name| self.lookup(name).is_some()) {
            return self.constant(
                expr,
                false,
                Some("nothing is known of what is called here: bind a closure or a function with `let`, or take a parameter `impl Fn(…) -> …`"),
            );
        }
        if last.ident == "from_bits" && of_float(function) && self.suspects.mention(&call.args) {
            let why = "bits carry no gradient: put `constant(…)` around this float, or write it as an operation on the one that they are from";
            self.errors.push(expr, why);
        }
        if let Some(boxed) = self.boxing(expr, call) {
            return boxed;
        }
        if let Some(contents) = self.contents(expr, call, function) {
            return contents;
        }
        if let Some(recycled) = self.recycling(expr, call, function) {
            return recycled;
        }
        if let Some(mutation) = self.mutating_function(expr, call, function) {
            return mutation;
        }
        if last.ident == "constant" {
            let pure = call.args.iter().all(|arg| self.is_pure(arg));
            let held = self.constant(expr, pure, None);
            if let [value] = &call.args.iter().collect::<Vec<_>>()[..] {
                self.program.rewritten.insert(held);
                // A function of the user's by this name has a gradient.
                self.program.exprs[held].syntax = syn::parse_quote_spanned! {last.ident.span()=>
                    #function(::pullback::__private::about_to_be_constant(|x| #function(x), #value))
                };
            }
            return held;
        }
        if last.ident == "checkpoint" && call.args.len() == 1 {
            return self.checkpointed(&call.args[0]);
        }
        if (last.ident == "Some" || last.ident == "Ok") && path.qself.is_none() && call.args.len() == 1 {
            let inner = self.expr(&call.args[0]);
            return self.add(expr, ExprKind::Wrap(function.clone(), vec![inner]));
        }
        if last.ident == "Err" && path.qself.is_none() {
            let text = call.args.first().is_some_and(is_text);
            return self.constant(expr, !text, Some(ERROR).filter(|_| !text));
        }
        if self.program.of_scalar(function) {
            // `T::max(x, y)` is `x.max(y)`, `T::from(2.0)` a constant.
            let others = call.args.len().checked_sub(1);
            let numeric =
                |others| numeric_method(&last.ident.to_string()) || Named::of(&last.ident, others).is_some();
            return if others.is_some_and(numeric) {
                self.numeric(expr, &last.ident, &call.args)
            } else {
                let pure = call.args.iter().all(|a| self.is_pure(a));
                let why = "this function of a type parameter has no rule: bind its result with `let`, or write a function with one";
                self.constant(expr, pure, Some(why))
            };
        }
        if last.ident.to_string().starts_with(char::is_uppercase) {
            return self.constructor(expr, function, call);
        }
        if let Some(float) = float_of(function) {
            // `f64::max(x, y)` is `x.max(y)`.
            return match (&call.args.iter().collect::<Vec<_>>()[..], last.ident == "from") {
                ([], _) => self.constant(expr, true, None),
                ([arg], true) => {
                    let arg = self.as_receiver(arg);
                    // The user's `impl From<Meters> for f64`.
                    if self.program.of_user(arg) {
                        let function = Callee::Associated(path.clone());
                        return self.add(expr, ExprKind::Call { function, args: vec![arg] });
                    }
                    let cast = self.add(expr, ExprKind::Cast(arg, Box::new(float)));
                    self.add(expr, ExprKind::Paren(cast))
                }
                _ => self.numeric(expr, &last.ident, &call.args),
            };
        }
        if is_box(&call.func) {
            return self.constant(expr, false, Some(BOXED));
        }
        if let Some(why) = of_std::refused(function).filter(|_| self.suspects.mention(&call.args)) {
            return self.constant(expr, false, Some(why));
        }
        if let Some(block) = self.with_gathered(call) {
            return self.expr(&block);
        }
        if let Some(block) = self.with_named_temporaries(call) {
            return self.expr(&block);
        }
        let takes_functions = self.suspects.any(call);
        let mut args = Vec::new();
        for arg in &call.args {
            let callback = if takes_functions { self.callback(arg) } else { None };
            args.push(callback.unwrap_or_else(|| self.argument(arg)));
        }
        self.share_repeated(&args);
        let callee = if is_associated(path) {
            Callee::Associated(path.clone())
        } else if self.function.as_ref().is_some_and(|own| function.get_ident() == Some(own)) {
            Callee::Itself(function.clone())
        } else if let Some((of, name)) = gradient(function) {
            Callee::Gradient(of, name)
        } else {
            let functions =
                args.iter().filter(|arg| matches!(self.program.exprs[**arg].kind, ExprKind::Callback(_)));
            Callee::Function(with_functions(function, functions.count()))
        };
        if crate::arrays::is_map(function) {
            self.keep_slopes(&args);
        }
        let recomputed = self.recomputing && self.program.passes_functions(&args);
        let call = self.add(expr, ExprKind::Call { function: callee, args });
        if recomputed {
            self.program.recomputed.insert(call);
        }
        call
    }

    /// `Vec2(a, b)`
    fn constructor(&mut self, expr: &Syn, path: &syn::Path, call: &syn::ExprCall) -> ExprId {
        if ["Some", "Ok", "Err"].iter().any(|name| path.is_ident(name)) {
            let why = "`Option` and `Result` are not differentiable yet: use variables, arrays or structs";
            return self.constant(expr, true, Some(why));
        }
        let value = |(i, arg): (usize, &Syn)| (syn::Member::from(i), self.expr(arg));
        let fields = call.args.iter().enumerate().map(value).collect();
        let literal = StructLiteral { path: path.clone(), fields, rest: None, called: true };
        self.add(expr, ExprKind::Struct(Box::new(literal)))
    }

    /// An argument: a variable that is itself a reference is borrowed anew.
    pub(crate) fn argument(&mut self, arg: &Syn) -> ExprId {
        match self.optional_argument(arg) {
            Some(reference) => reference,
            None => self.argument_itself(arg),
        }
    }

    /// An argument that is no reference which may be missing, or what one is made of.
    pub(crate) fn argument_itself(&mut self, arg: &Syn) -> ExprId {
        if let Some(lent) = self.lent(arg) {
            return lent;
        }
        let id = self.expr(arg);
        if let ExprKind::Read(place) = &self.program.exprs[id].kind {
            let variable = &self.program.variables[place.base];
            let refers = variable.refers && !is_deref(arg);
            if place.projections.is_empty() && (variable.by_reference() || refers) {
                let unique = variable.origin == Origin::Unique && !self.captures(variable);
                self.program.exprs[id].kind = ExprKind::Borrow { place: place.clone(), unique };
            }
        }
        id
    }
}

/// The argument of this method is an error, or a closure that makes one.
fn makes_error(method: &syn::Ident, arg: &Syn) -> bool {
    method == "ok_or" || (method == "ok_or_else" || method == "map_err") && matches!(arg, Syn::Closure(_))
}

/// A method of the standard library's `Option` and `Result` or of ndarray's arrays that takes a function.
pub(crate) fn takes_closure(name: &str) -> bool {
    const KNOWN: &[&str] = &[
        "map",
        "map_or",
        "map_or_else",
        "map_err",
        "and_then",
        "or_else",
        "filter",
        "inspect",
        "is_some_and",
        "is_none_or",
        "is_ok_and",
        "unwrap_or_else",
        "ok_or_else",
        "get_or_insert_with",
        "then",
        "mapv",
        "fold",
    ];
    numeric_method(name) || KNOWN.contains(&name)
}

/// The type, if `function` is a function of `f32` or `f64`.
fn float_of(function: &syn::Path) -> Option<syn::Type> {
    let segments: Vec<_> = function.segments.iter().collect();
    let [float, _] = segments[..] else { return None };
    (float.ident == "f32" || float.ident == "f64").then(|| syn::parse_quote!(#float))
}

/// `format!(…)`, which is not made again, also as an error of a type that is told.
fn is_text(error: &Syn) -> bool {
    match error {
        Syn::Macro(mac) => mac.mac.path.is_ident("format"),
        Syn::Call(call) => {
            let told = matches!(&*call.func, Syn::Path(path) if is_private(&path.path, "error"));
            told && call.args.first().is_some_and(is_text)
        }
        _ => false,
    }
}
