//! Options of vectors and structs under a name: `let mut best: Option<Vec<f64>> = None;` is a flag and a vector.
//!
//! `best = Some(v)` sets both, and `if let Some(v) = &best { … }` asks the flag and names the vector, as do `match`, `let … else`,
//! `?` and `unwrap`.

use std::rc::Rc;

use syn::{Expr, ExprMethodCall, Ident, Pat, Stmt, parse_quote};

use crate::iterators::collect::element_of_vec;
use crate::iterators::item::Item;
use crate::iterators::optional::{Found, Located};
use crate::kind::kind_of_type;
use crate::outcome::{blank, inside_type};
use crate::parse::{Binding, Parser};
use crate::program::Kind;
use crate::rename::{Occurrences, path};
use crate::tails::fills;

/// What such a name stands for.
pub(crate) struct Held {
    /// There is something inside.
    there: Ident,
    inside: Ident,
}

impl Held {
    /// What is inside, moved out.
    fn taken(&self) -> Expr {
        let inside = &self.inside;
        parse_quote!(::pullback::__private::move_out(&mut #inside))
    }
}

pub(crate) const HELD: &str = "an `Option` of a vector under a name is differentiable where it is taken apart, `if let Some(v) = &name`, by `match`, \
     `unwrap`, `is_some`, and where it is set by `name = Some(v)` or `name = None`: do that";

impl Parser<'_> {
    /// The option that `expr` names.
    pub(crate) fn held(&self, expr: &Expr) -> Option<Rc<Held>> {
        let Expr::Path(path) = expr else { return None };
        match self.lookup(path.path.get_ident()?)? {
            Binding::Held(held) => Some(held.clone()),
            _ => None,
        }
    }

    /// `let mut best: Option<Vec<f64>> = None;`, and `best = Some(v);`
    pub(crate) fn holding(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        match stmt {
            Stmt::Local(local) => self.held_let(local),
            Stmt::Expr(Expr::Assign(assign), _) => {
                let held = self.held(&assign.left)?;
                let Held { there, inside, .. } = &*held;
                Some(match content(&assign.right) {
                    Some(Some(value)) => {
                        vec![parse_quote!(#inside = #value;), parse_quote!(#there = true;)]
                    }
                    Some(None) => vec![parse_quote!(#there = false;)],
                    None => {
                        self.errors.push(&assign.right, HELD);
                        Vec::new()
                    }
                })
            }
            _ => None,
        }
    }

    fn held_let(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let (Pat::Type(typed), Some(init)) = (&local.pat, &local.init) else { return None };
        let Pat::Ident(name) = &*typed.pat else { return None };
        let ty = inside_type(&typed.ty)?;
        let vector = element_of_vec(&ty).is_some();
        if !vector && !self.holdable.contains(&name.ident.to_string()) {
            return None;
        }
        let content = content(&init.expr)?;
        if !self.suspects.contains(&name.ident) || Occurrences::of(&init.expr).count(&name.ident) > 0 {
            return None;
        }
        let (there, inside) = (self.names.fresh("there"), self.hidden(&name.ident.to_string()));
        let starts = content.is_some();
        let blank = || if vector { parse_quote!(Vec::new()) } else { blank(&ty) };
        let value = content.cloned().unwrap_or_else(blank);
        let held = Held { there: there.clone(), inside: inside.clone() };
        self.scope().insert(name.ident.to_string(), Binding::Held(Rc::new(held)));
        Some(vec![parse_quote!(let mut #there = #starts;), parse_quote!(let mut #inside: #ty = #value;)])
    }

    /// `&best` of an option of plain data that a `let` has declared: what is inside by value, and the place where that is.
    fn held_copy(&mut self, expr: &Expr) -> Option<Found> {
        let option = match expr {
            Expr::Reference(reference) if reference.mutability.is_none() => &*reference.expr,
            Expr::MethodCall(call) if call.method == "as_ref" => &*call.receiver,
            _ => return None,
        };
        let Expr::Path(path) = option else { return None };
        let Some(Binding::Variable(id)) = self.lookup(path.path.get_ident()?) else { return None };
        let ty = inside_type(self.types.get(id)?)?;
        if self.program.variables[*id].by_reference() || kind_of_type(&ty) == Kind::Float {
            return None;
        }
        let value = self.hidden("value");
        Some(Found {
            exists: parse_quote!(#option.is_some()),
            item: Located::Made(
                vec![parse_quote!(let #value = #option.unwrap();)],
                Item::Place { place: parse_quote!(#value), unique: false },
            ),
        })
    }

    /// What such an option holds, as `expr` asks for it.
    pub(crate) fn held_item(&mut self, expr: &Expr) -> Option<Found> {
        if let Some(copy) = self.held_copy(expr) {
            return Some(copy);
        }
        let whole = |held: &Held| path(&held.inside);
        let (held, item, left) = match expr {
            Expr::Reference(reference) => {
                let held = self.held(&reference.expr)?;
                let item = Item::Place { place: whole(&held), unique: reference.mutability.is_some() };
                (held, item, Vec::new())
            }
            Expr::MethodCall(call) if call.args.is_empty() => {
                let held = self.held(&call.receiver)?;
                let (place, there) = (whole(&held), &held.there);
                match call.method.to_string().as_str() {
                    "as_ref" | "as_deref" => (held, Item::Place { place, unique: false }, Vec::new()),
                    "as_mut" => (held, Item::Place { place, unique: true }, Vec::new()),
                    "clone" => (held, Item::Value(parse_quote!(#place.clone())), Vec::new()),
                    "take" => {
                        let left = vec![parse_quote!(#there = false;)];
                        let taken = Item::Value(held.taken());
                        (held, taken, left)
                    }
                    _ => return None,
                }
            }
            expr => {
                let held = self.held(expr)?;
                let taken = Item::Value(held.taken());
                (held, taken, Vec::new())
            }
        };
        let exists = path(&held.there);
        Some(Found { exists, item: Located::Made(left, item) })
    }

    /// `best.unwrap()` and `best.as_ref().expect("…")`
    pub(crate) fn held_unwrapped(&mut self, expr: &Expr, out: &mut Vec<Stmt>) -> Option<Item> {
        let Expr::MethodCall(call) = expr else { return None };
        let message: Expr = match (call.method.to_string().as_str(), call.args.first()) {
            ("unwrap", None) => parse_quote!("called `Option::unwrap()` on a `None` value"),
            ("expect", Some(message)) => message.clone(),
            _ => return None,
        };
        let Found { exists, item: Located::Made(left, item) } = self.held_item(&call.receiver)? else {
            unreachable!("as it is made")
        };
        out.push(parse_quote!(assert!(#exists, "{}", #message);));
        out.extend(left);
        Some(item)
    }

    /// `best` in `best.map_or(true, |b| x < b.x)`, in code that is otherwise emitted as it is: what is looked at may stay where it is.
    pub(crate) fn held_receiver(&self, call: &ExprMethodCall) -> Option<Expr> {
        const LOOKING: [&str; 5] = ["map_or", "is_some_and", "is_none_or", "unwrap", "expect"];
        let held = self.held(&call.receiver).filter(|_| LOOKING.iter().any(|name| call.method == name))?;
        let Held { there, inside, .. } = &*held;
        Some(parse_quote!(#there.then_some(&#inside)))
    }

    /// `&best` and `best.as_ref()`, in code that is otherwise emitted as it is.
    pub(crate) fn held_view(&self, expr: &Expr) -> Option<Expr> {
        let option = match expr {
            Expr::Reference(reference) if reference.mutability.is_none() => &*reference.expr,
            Expr::MethodCall(call) if call.method == "as_ref" => &*call.receiver,
            _ => return None,
        };
        let held = self.held(option)?;
        let Held { there, inside, .. } = &*held;
        Some(parse_quote!(#there.then_some(&#inside)))
    }

    /// `best.is_some()` and `best.is_none()`, in code that is otherwise emitted as it is.
    pub(crate) fn held_test(&self, call: &ExprMethodCall) -> Option<Expr> {
        let held = self.held(&call.receiver)?;
        let there = &held.there;
        match call.method.to_string().as_str() {
            "is_some" => Some(path(there)),
            "is_none" => Some(parse_quote!((!#there))),
            _ => None,
        }
    }
}

/// What is in `Some(value)`; nothing in `None`.
pub(crate) fn content(expr: &Expr) -> Option<Option<&Expr>> {
    match expr {
        Expr::Call(call) if fills(call) => Some(call.args.first()),
        Expr::Path(path) if path.path.is_ident("None") => Some(None),
        _ => None,
    }
}
