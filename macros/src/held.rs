//! Options of vectors and structs under a name: `let mut best: Option<Vec<f64>> = None;` is a flag and a vector.
//!
//! `best = Some(v)` sets both, and `if let Some(v) = &best { … }` asks the flag and names the vector, as do `match`, `let … else`,
//! `?` and `unwrap`.

use std::collections::HashSet;
use std::rc::Rc;

use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprMethodCall, Ident, Pat, Stmt, Type, parse_quote};

use crate::iterators::collect::element_of_vec;
use crate::iterators::item::Item;
use crate::iterators::optional::{Found, Located};
use crate::kind::{kind_of_type, names_other_type};
use crate::outcome::{blank, inside_type, is_option};
use crate::parse::{Binding, Parser};
use crate::program::Kind;
use crate::rename::{Occurrences, bound, path};
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

/// The names in a body that stand for options of what is no vector, as it is declared with its type, and done with what a flag and a
/// value beside it serve for.
pub(crate) fn holdable(body: &Block, output: &Type) -> HashSet<String> {
    let mut bound = Bound(HashSet::new());
    bound.visit_block(body);
    let fits = |name: &&Ident| {
        let mut scope = body.clone();
        InScope(name).visit_block_mut(&mut scope);
        let mut uses = Uses { name, returned: is_option(output), bound: &bound.0, known: 0, moved: 0 };
        uses.visit_block(&scope);
        if uses.returned && matches!(scope.stmts.last(), Some(Stmt::Expr(value, None)) if uses.is(value)) {
            uses.known += 1;
        }
        Occurrences::of(&scope).count(name) == uses.known + 1 && uses.moved <= 1
    };
    let structs = |ty: &Type| names_other_type(ty, &kind_of_type(ty));
    names_of_options(body, &structs).iter().filter(fits).map(Ident::to_string).collect()
}

/// The function returns one of these names as it is.
pub(crate) fn returns_one_of(names: &HashSet<String>, body: &Block) -> bool {
    struct Returned<'n>(&'n HashSet<String>, bool);
    impl Returned<'_> {
        fn note(&mut self, value: &Expr) {
            let Expr::Path(path) = value else { return };
            self.1 |= path.path.get_ident().is_some_and(|name| self.0.contains(&name.to_string()));
        }
    }
    impl<'ast> Visit<'ast> for Returned<'_> {
        fn visit_expr_return(&mut self, expr: &'ast syn::ExprReturn) {
            visit::visit_expr_return(self, expr);
            expr.expr.iter().for_each(|value| self.note(value));
        }
    }
    let mut returned = Returned(names, false);
    returned.visit_block(body);
    if let Some(Stmt::Expr(value, None)) = body.stmts.last() {
        returned.note(value);
    }
    returned.1
}

/// The names in a body that may stand for a flag and a value.
pub(crate) fn declared(body: &Block) -> Vec<Ident> {
    names_of_options(body, &|ty| element_of_vec(ty).is_some() || names_other_type(ty, &kind_of_type(ty)))
}

fn names_of_options(body: &Block, inside: &dyn Fn(&Type) -> bool) -> Vec<Ident> {
    let mut declared = Declared(Vec::new(), inside);
    declared.visit_block(body);
    declared.0
}

/// The names that are declared as options of such types, and hold nothing to begin with.
struct Declared<'i>(Vec<Ident>, &'i dyn Fn(&Type) -> bool);

impl<'ast> Visit<'ast> for Declared<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        if let (Pat::Type(typed), Some(init)) = (&local.pat, &local.init)
            && let Pat::Ident(name) = &*typed.pat
            && matches!(content(&init.expr), Some(None))
            && is_option(&typed.ty)
            && inside_type(&typed.ty).is_some_and(|ty| self.1(&ty))
        {
            self.0.push(name.ident.clone());
        }
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Leaves out where the name means something else, since a pattern has bound it again.
struct InScope<'n>(&'n Ident);

impl InScope<'_> {
    fn is_bound(&self, pattern: &Pat) -> bool {
        bound(pattern).contains(self.0)
    }
}

impl VisitMut for InScope<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let declares = |local: &syn::Local| {
            local.init.as_ref().is_some_and(|init| matches!(content(&init.expr), Some(None)))
        };
        let again =
            |stmt: &Stmt| matches!(stmt, Stmt::Local(local) if self.is_bound(&local.pat) && !declares(local));
        if let Some(at) = block.stmts.iter().position(again) {
            block.stmts.truncate(at + 1);
            if let Some(Stmt::Local(local)) = block.stmts.last_mut() {
                local.pat = parse_quote!(_);
            }
        }
        visit_mut::visit_block_mut(self, block);
    }
    fn visit_expr_if_mut(&mut self, branch: &mut syn::ExprIf) {
        if let Expr::Let(binding) = &mut *branch.cond
            && self.is_bound(&binding.pat)
        {
            *binding.pat = parse_quote!(_);
            branch.then_branch.stmts.clear();
        }
        visit_mut::visit_expr_if_mut(self, branch);
    }
    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        if self.is_bound(&arm.pat) {
            (arm.pat, *arm.body) = (parse_quote!(_), parse_quote!(()));
        }
        visit_mut::visit_arm_mut(self, arm);
    }
}

/// The name that a `let` binds, if it is one.
fn name_of(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Type(typed) => name_of(&typed.pat),
        Pat::Ident(name) => Some(&name.ident),
        _ => None,
    }
}

/// The names of what calls return, and literals make.
struct Bound(HashSet<String>);

impl<'ast> Visit<'ast> for Bound {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        if let (Some(name), Some(init)) = (name_of(&local.pat), &local.init)
            && is_made(&init.expr)
        {
            self.0.insert(name.to_string());
        }
    }
}

fn is_made(value: &Expr) -> bool {
    matches!(value, Expr::Call(_) | Expr::MethodCall(_) | Expr::Struct(_) | Expr::Try(_))
}

/// What is done with such a name.
struct Uses<'n> {
    name: &'n Ident,
    /// It may be returned as it is.
    returned: bool,
    /// Names of what it may get.
    bound: &'n HashSet<String>,
    known: usize,
    /// How often it is taken as it is.
    moved: usize,
}

impl Uses<'_> {
    /// It may get this value.
    fn gets(&self, value: Option<&Expr>) -> bool {
        match value {
            Some(Expr::Path(path)) => {
                path.path.get_ident().is_some_and(|name| self.bound.contains(&name.to_string()))
            }
            Some(value) => is_made(value),
            None => true,
        }
    }

    fn is(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.is_ident(self.name))
    }

    /// It is taken apart, as it is or by reference.
    fn taken_apart(&mut self, expr: &Expr) {
        let by_reference = matches!(expr, Expr::Reference(reference) if self.is(&reference.expr));
        self.moved += usize::from(self.is(expr));
        self.known += usize::from(by_reference || self.is(expr));
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        visit::visit_expr(self, expr);
        match expr {
            Expr::Match(m) if m.arms.iter().all(|arm| !matches!(arm.pat, Pat::Guard(_))) => {
                self.taken_apart(&m.expr);
            }
            Expr::Let(binding) => self.taken_apart(&binding.expr),
            Expr::Assign(assign) if self.is(&assign.left) => {
                self.known += usize::from(content(&assign.right).is_some_and(|value| self.gets(value)));
            }
            Expr::Return(syn::ExprReturn { expr: Some(value), .. }) if self.is(value) => {
                self.known += usize::from(self.returned);
            }
            Expr::MethodCall(call) if self.is(&call.receiver) => {
                let is = |names: &[&str]| names.iter().any(|name| call.method == name);
                let taken = is(&["unwrap", "expect", "map_or"]);
                self.moved += usize::from(taken);
                self.known += usize::from(taken || is(&["is_some", "is_none", "as_ref", "as_mut"]));
            }
            _ => {}
        }
    }
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        if let Some(init) = local.init.as_ref().filter(|init| init.diverge.is_some()) {
            self.taken_apart(&init.expr);
        }
    }
}

/// What is in `Some(value)`; nothing in `None`.
fn content(expr: &Expr) -> Option<Option<&Expr>> {
    match expr {
        Expr::Call(call) if fills(call) => Some(call.args.first()),
        Expr::Path(path) if path.path.is_ident("None") => Some(None),
        _ => None,
    }
}
