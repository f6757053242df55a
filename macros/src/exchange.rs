//! Vectors that are replaced: `std::mem::take(&mut v)`, `std::mem::replace(&mut v, w)` and `rows[i] = row` as what they are, an
//! exchange, which the reverse pass undoes by another one.

use syn::{Expr as Syn, Pat, Stmt, parse_quote};

use crate::boxing::{BESIDE, moved_on, read_beside, some_in_box};
use crate::calls::Callee;
use crate::derive::in_optional_box;
use crate::iterators::collect::element_of_vec;
use crate::kind::inert;
use crate::mutation::Action;
use crate::of_std::name_in;
use crate::parse::Parser;
use crate::program::*;
use crate::rename::path;

impl Parser<'_> {
    /// Remembers what a `let` tells about vectors.
    pub(crate) fn note_vector(&mut self, id: VarId, init: Option<ExprId>, ty: Option<&syn::Type>) {
        let boxed = ty.is_some_and(|ty| in_optional_box(ty).is_some())
            || init.is_some_and(|init| self.program.gives_box(init));
        self.program.boxes.extend(boxed.then_some(id));
        if let Some(ty) = ty {
            let element = element_of_vec(ty);
            if element.as_ref().and_then(element_of_vec).is_some() {
                self.program.nested.insert(id);
            }
            if element.is_some() {
                self.program.vectors.insert(id);
            }
            let of_arrays = matches!(element, Some(syn::Type::Array(_)));
            self.program.of_arrays.extend(of_arrays.then_some(id));
            return;
        }
        let Some(init) = init else { return };
        self.program.copies.extend(self.program.copies_unknown(init).then_some(id));
        let (vector, nested) = self.program.vector(init);
        self.program.vectors.extend(vector.then_some(id));
        self.program.nested.extend(nested.then_some(id));
        if let ExprKind::Vector { elements, .. } = &self.program.exprs[self.program.peel(init)].kind {
            let of_arrays = elements.iter().any(|e| self.program.is_array(*e));
            self.program.of_arrays.extend(of_arrays.then_some(id));
        }
    }

    /// A variable that is known to be a vector.
    pub(crate) fn is_known_vector(&self, expr: &Syn) -> bool {
        self.variable(expr).is_some_and(|id| self.program.vectors.contains(&id))
    }

    /// What is lent to the rule though it is passed by value: a vector, so that it need not be copied before, a view of an array, or what an
    /// iterator goes through.
    pub(crate) fn lent(&mut self, arg: &Syn) -> Option<ExprId> {
        if let Some(items) = self.lent_items(arg) {
            return Some(items);
        }
        if let Some(unique) = self.is_view_to_write_to(arg) {
            let lent = self.expr(&if unique { parse_quote!(&mut #arg) } else { parse_quote!(&#arg) });
            if unique {
                // Its name need not be `mut`.
                self.program.exprs[lent].syntax = parse_quote!(&mut { #arg });
            }
            self.program.viewed.insert(lent);
            return Some(lent);
        }
        if let Syn::MethodCall(call) = arg
            && call.method == "clone"
        {
            return match self.is_known_vector(&call.receiver) {
                true => Some(self.argument(&call.receiver)),
                false => self.given_copy(&call.receiver),
            };
        }
        let base = self.variable(arg)?;
        let owns = self.program.vectors.contains(&base) || self.shape_of(arg).is_some();
        if !owns || self.program.variables[base].by_reference() {
            return None;
        }
        let place = Place { base, projections: Vec::new() };
        let taken = self.add(&parse_quote!(&#arg), ExprKind::Borrow { place, unique: false });
        self.program.taken.insert(taken);
        Some(taken)
    }

    /// A copy of a part of something, of which nothing tells the type.
    fn given_copy(&mut self, part: &Syn) -> Option<ExprId> {
        let place = self.place(part)?;
        let field = place.projections.iter().any(|p| matches!(p, Projection::Field(_)));
        if !field || self.program.kind_of_place(&place) != Kind::Unknown {
            return None;
        }
        self.program.variables[place.base].parted = true;
        let given = self.add(&parse_quote!(&#part), ExprKind::Borrow { place, unique: false });
        self.program.given.insert(given);
        Some(given)
    }

    /// The place holds a vector that is the function's own.
    fn holds_vector(&mut self, expr: &Syn) -> bool {
        let Some(place) = self.place(expr) else { return false };
        let active = !inert(&self.program.kind_of_place(&place));
        active && !self.program.variables[place.base].by_reference() && self.program.is_vector_at(&place).0
    }

    /// What is to stand in place of a statement that replaces a vector.
    pub(crate) fn by_exchange(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let mut stmt = stmt.clone();
        let mut out = Vec::new();
        match &mut stmt {
            Stmt::Local(syn::Local { init: Some(init), .. }) if init.diverge.is_none() => {
                let taken = self.taken_local_box(&init.expr, &mut out);
                *init.expr = taken.or_else(|| self.exchanged(&init.expr, &mut out))?;
            }
            Stmt::Expr(Syn::MethodCall(call), _) if call.method == "push" && call.args.len() == 1 => {
                let taken = self.exchanged(&call.args[0], &mut out);
                call.args[0] = taken.or_else(|| self.taken_row(&call.args[0], &mut out))?;
            }
            Stmt::Expr(call @ Syn::Call(_), None) => *call = self.exchanged(call, &mut out)?,
            Stmt::Expr(Syn::Assign(assign), _) if let Some(out) = self.replaced_box(assign) => {
                return Some(out);
            }
            Stmt::Expr(Syn::Assign(assign), _) => {
                let taken = self.exchanged(&assign.right, &mut out);
                if let Some(value) = taken.or_else(|| self.taken_row(&assign.right, &mut out)) {
                    *assign.right = value;
                } else if matches!(&*assign.left, Syn::Index(_)) && self.holds_vector(&assign.left) {
                    let (new, value, place) = (self.hidden("row"), &assign.right, &assign.left);
                    out.push(parse_quote!(let mut #new = #value;));
                    out.push(parse_quote!(::core::mem::swap(&mut #place, &mut #new);));
                    return Some(out);
                } else {
                    return self.replaced_field(assign, out);
                }
            }
            _ => return None,
        }
        out.push(stmt);
        Some(out)
    }

    /// `s.x = vector;` and `*x = vector;`
    fn replaced_field(&mut self, assign: &syn::ExprAssign, mut out: Vec<Stmt>) -> Option<Vec<Stmt>> {
        let (field @ (Syn::Field(_) | Syn::Unary(_)), value) = (&*assign.left, &assign.right) else {
            return None;
        };
        let place = self.place(field)?;
        // What may have been there may own memory.
        let emptied = matches!(&**value, Syn::Path(none) if none.path.is_ident("None"));
        if emptied && self.program.is_lent(place.base) && self.program.kind_of_place(&place) == Kind::Unknown
        {
            out.push(parse_quote!(::pullback::__private::renewed::renew(#value, &mut #field);));
            return Some(out);
        }
        if some_in_box(value) && self.suspects.any(assign) {
            let (mut value, new, taken) = ((**value).clone(), self.hidden("boxed"), self.hidden("taken"));
            if moved_on(&mut value, field, &taken) {
                if read_beside(&value, field) {
                    self.errors.push(&assign.right, BESIDE);
                }
                if self.program.is_lent(place.base) {
                    out.push(
                        parse_quote!(let mut #taken = ::pullback::__private::renewed::take_box(&mut #field);),
                    );
                } else {
                    out.push(parse_quote!(let mut #taken: ::core::option::Option<::std::boxed::Box<_>> = ::core::option::Option::None;));
                    out.push(parse_quote!(::core::mem::swap(&mut #field, &mut #taken);));
                }
            }
            if self.program.is_lent(place.base) {
                out.push(parse_quote!(let #new = #value;));
                out.push(parse_quote!(::pullback::__private::renewed::renew_box(#new, &mut #field);));
            } else {
                out.push(parse_quote!(let mut #new = #value;));
                out.push(parse_quote!(::core::mem::swap(&mut #field, &mut #new);));
            }
            return Some(out);
        }
        let array = self.shape_of(value).is_some();
        let told = self.type_of_place(&place).is_some_and(|ty| element_of_vec(&ty).is_some());
        let named = matches!(&**value, Syn::Path(_)) && self.variable(value).is_some();
        let called = told && (named || matches!(&**value, Syn::Call(_) | Syn::MethodCall(_)));
        let owned = array || called || self.gives_vector(value) || self.renews(&place, value);
        if !owned || inert(&self.program.kind_of_place(&place)) || !self.suspects.any(assign) {
            return None;
        }
        let by_reference = self.program.variables[place.base].by_reference() && !array;
        if by_reference && named && self.program.is_lent(place.base) {
            out.push(parse_quote!(::pullback::__private::renewed::renew(#value, &mut #field);));
            return Some(out);
        }
        let new = self.hidden("field");
        out.push(match (by_reference, told) {
            (true, true) => parse_quote!(let #new: ::std::vec::Vec<_> = #value;),
            (true, false) => parse_quote!(let #new = #value;),
            (false, _) => parse_quote!(let mut #new = #value;),
        });
        out.push(match by_reference {
            true if self.program.is_lent(place.base) => {
                parse_quote!(::pullback::__private::renewed::renew(#new, &mut #field);)
            }
            // Of the same length.
            true => parse_quote!(#field.copy_from_slice(&#new);),
            false => parse_quote!(::core::mem::swap(&mut #field, &mut #new);),
        });
        Some(out)
    }

    /// The value is a `Vec` in any case.
    pub(crate) fn gives_vector(&self, value: &Syn) -> bool {
        match value {
            Syn::Paren(paren) => self.gives_vector(&paren.expr),
            Syn::Macro(mac) => mac.mac.path.is_ident("vec"),
            Syn::MethodCall(call) => match call.method.to_string().as_str() {
                "collect" | "to_vec" => true,
                "clone" => self.gives_vector(&call.receiver),
                _ => false,
            },
            Syn::Call(call) => match &*call.func {
                Syn::Path(path) => path.path.segments.iter().rev().nth(1).is_some_and(|s| s.ident == "Vec"),
                _ => false,
            },
            value => self.is_known_vector(value),
        }
    }

    /// What `std::mem::take` and `std::mem::replace` return for a vector: it gets a name.
    fn exchanged(&mut self, expr: &Syn, out: &mut Vec<Stmt>) -> Option<Syn> {
        let (place, new) = taken(expr)?;
        let vector = self.holds_vector(place)
            || self.place(place).is_some_and(|place| {
                self.program.variables[place.base].by_reference()
                    && self.program.is_vector_at(&place) == (true, false)
            });
        if !vector {
            return None;
        }
        self.change_places(place, new, out)
    }

    /// The same for a field, which is a vector if what the `let` binds is handled as one in `scope`.
    pub(crate) fn exchanged_field<'s>(
        &mut self,
        local: &syn::Local,
        scope: impl IntoIterator<Item = &'s Stmt>,
    ) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let (field @ Syn::Field(_), new) = taken(&init.expr)? else { return None };
        let vector = match &local.pat {
            Pat::Type(typed) => element_of_vec(&typed.ty).is_some(),
            pattern => self.is_handled(pattern, scope),
        };
        self.place(field).filter(|_| vector || new.is_some_and(|new| self.gives_vector(new)))?;
        let (mut local, mut out) = (local.clone(), Vec::new());
        *local.init.as_mut()?.expr = self.change_places(field, new, &mut out)?;
        out.push(Stmt::Local(local));
        Some(out)
    }

    /// Statements by which `place` gets `new`, and the name of what was there.
    fn change_places(&mut self, place: &Syn, value: Option<&Syn>, out: &mut Vec<Stmt>) -> Option<Syn> {
        let taken = self.hidden("taken");
        let base = self.place(place)?.base;
        let place: Syn = if self.names_reference(place) { parse_quote!(*#place) } else { place.clone() };
        if self.program.variables[base].by_reference() {
            let new = self.hidden("new");
            if let Some(value) = value {
                out.push(parse_quote!(let #new = #value;));
            }
            out.push(parse_quote!(let mut #taken = ::pullback::__private::renewed::take_all(&mut #place);));
            if value.is_some() {
                out.push(parse_quote!(::pullback::__private::renewed::renew(#new, &mut #place);));
            }
        } else {
            let new = value.cloned().unwrap_or_else(|| parse_quote!(::std::vec::Vec::new()));
            out.push(parse_quote!(let mut #taken = #new;));
            out.push(parse_quote!(::core::mem::swap(&mut #place, &mut #taken);));
        }
        Some(path(&taken))
    }
}

/// From where `std::mem::take` or `std::mem::replace` takes something, and what is there instead.
pub(crate) fn taken(expr: &Syn) -> Option<(&Syn, Option<&Syn>)> {
    let Syn::Call(call) = expr else { return None };
    let Syn::Path(function) = &*call.func else { return None };
    let new = match (name_in("mem", &function.path)?.as_str(), call.args.len()) {
        ("take", 1) => None,
        ("replace", 2) => Some(&call.args[1]),
        _ => return None,
    };
    match call.args.first() {
        Some(Syn::Reference(reference)) if reference.mutability.is_some() => Some((&*reference.expr, new)),
        // A reference by itself.
        Some(place @ Syn::Path(_)) => Some((place, new)),
        _ => None,
    }
}

/// The path is that of the rule of a copy that is called `name`.
fn is_copy(path: &syn::Path, name: &str) -> bool {
    let rule = path.segments.len() > 3 && path.segments.iter().any(|s| s.ident == "mutation");
    rule && path.segments.last().is_some_and(|last| last.ident == name)
}

impl Program {
    /// What is at `place` is a `Vec`, and one of these, as far as syntax tells.
    pub(crate) fn is_vector_at(&self, place: &Place) -> (bool, bool) {
        let (vector, nested) = (self.vectors.contains(&place.base), self.nested.contains(&place.base));
        match &place.projections[..] {
            [] => (vector, nested),
            [Projection::Index(index)] if !matches!(self.exprs[*index].syntax, Syn::Range(_)) => {
                (nested, false)
            }
            _ => (false, false),
        }
    }

    /// The value is an array, by its syntax.
    pub(crate) fn is_array(&self, value: ExprId) -> bool {
        matches!(self.exprs[self.peel(value)].syntax, Syn::Array(_) | Syn::Repeat(_))
    }

    /// The value is a copy of what may own memory, or not.
    fn copies_unknown(&self, value: ExprId) -> bool {
        let ExprKind::Call { function: Callee::Function(path), args } = &self.exprs[self.peel(value)].kind
        else {
            return false;
        };
        let of = args.first().map(|arg| &self.exprs[*arg].kind);
        is_copy(path, "to_owned")
            && matches!(of, Some(ExprKind::Borrow { place, .. }) if self.kind_of_place(place) == Kind::Unknown)
    }

    /// The same for a value.
    pub(crate) fn vector(&self, value: ExprId) -> (bool, bool) {
        let vec = |path: &syn::Path| path.segments.iter().rev().nth(1).is_some_and(|s| s.ident == "Vec");
        match &self.exprs[self.peel(value)].kind {
            ExprKind::Mutation { action: Action::TakeAll, .. } => (!self.takes_box(value), false),
            ExprKind::Vector { elements, .. } => (true, elements.iter().any(|e| self.vector(*e).0)),
            ExprKind::Read(place) if place.projections.is_empty() => self.is_vector_at(place),
            ExprKind::Call { function: Callee::Associated(path), .. } => (vec(&path.path), false),
            ExprKind::Call { function: Callee::Function(path), args } => {
                match args.first().map(|arg| &self.exprs[*arg].kind) {
                    Some(ExprKind::Borrow { place, .. }) if is_copy(path, "to_owned") => {
                        self.is_vector_at(place)
                    }
                    _ => (is_copy(path, "to_vec") || vec(path), false),
                }
            }
            _ => (false, false),
        }
    }
}
