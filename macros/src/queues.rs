//! Queues: `let mut line: VecDeque<f64> = …` becomes a vector, whose methods do the same from both ends.
//!
//! Taking from the front moves what is left, as `remove(0)` does. A queue that is used as a whole stays what it is, and is refused
//! where its methods carry gradients.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprMethodCall, Ident, Local, Pat, PathSegment, Stmt, Type, parse_quote};

use crate::holdable::name_of;
use crate::rename::{Bindings, Occurrences, is_name};
use crate::suspects::Suspects;

/// Methods that a vector has under the same name, to the same effect.
const SAME: [&str; 24] = [
    "append",
    "binary_search_by",
    "clear",
    "clone",
    "contains",
    "drain",
    "extend",
    "get",
    "get_mut",
    "insert",
    "into_iter",
    "is_empty",
    "iter",
    "iter_mut",
    "len",
    "partition_point",
    "reserve",
    "resize",
    "retain",
    "rotate_left",
    "rotate_right",
    "split_off",
    "swap",
    "truncate",
];

/// Methods that a vector has under another name.
const RENAMED: [(&str, &str); 6] = [
    ("back", "last"),
    ("back_mut", "last_mut"),
    ("front", "first"),
    ("front_mut", "first_mut"),
    ("pop_back", "pop"),
    ("push_back", "push"),
];

/// Methods that are written in other words.
const OWN: [&str; 3] = ["make_contiguous", "pop_front", "push_front"];

/// `body` with vectors in the place of local queues that may carry gradients.
pub(crate) fn with_queues_as_vectors(suspects: &Suspects, body: &Block) -> Block {
    let mut found = Found { suspects, names: Vec::new() };
    let mut body = body.clone();
    found.visit_block_mut(&mut body);
    for name in &found.names {
        let mut count = Bindings::of(name);
        syn::visit::Visit::visit_block(&mut count, &body);
        // Of another variable with this name nothing is known.
        if count.count > found.names.iter().filter(|other| *other == name).count() {
            continue;
        }
        let mut replaced = body.clone();
        let mut queue = Queue { name, whole: false };
        queue.visit_block_mut(&mut replaced);
        if !queue.whole {
            body = replaced;
        }
    }
    body
}

/// The names that are declared as queues.
struct Found<'s> {
    suspects: &'s Suspects,
    names: Vec<Ident>,
}

impl VisitMut for Found<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        visit_mut::visit_local_mut(self, local);
        let Some(name) = name_of(&local.pat).filter(|name| self.suspects.contains(name)) else { return };
        let name = name.clone();
        self.names.extend(as_vector(&mut local.clone()).then_some(name));
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Makes the declaration of a queue that of a vector, if it is one.
fn as_vector(local: &mut Local) -> bool {
    let told = match &mut local.pat {
        Pat::Type(typed) => type_as_vector(&mut typed.ty),
        _ => false,
    };
    let Some(init) = local.init.as_mut().filter(|init| init.diverge.is_none()) else { return told };
    let made = match &mut *init.expr {
        Expr::Call(call) => match &mut *call.func {
            Expr::Path(path) => made_by(&mut path.path),
            _ => false,
        },
        Expr::MethodCall(call) if call.method == "collect" => match &mut call.turbofish {
            Some(turbofish) => turbofish.args.iter_mut().any(|argument| match argument {
                syn::GenericArgument::Type(ty) => type_as_vector(ty),
                _ => false,
            }),
            None => told,
        },
        Expr::MethodCall(call) if call.method == "into" && told => {
            *init.expr = (*call.receiver).clone();
            true
        }
        _ => false,
    };
    if let Expr::Call(call) = &*init.expr
        && let Expr::Path(path) = &*call.func
        && made
    {
        let [.., function] = &path.path.segments.iter().collect::<Vec<_>>()[..] else { return false };
        match (&*function.ident.to_string(), call.args.first()) {
            ("new" | "with_capacity", _) => {}
            ("from", Some(vector @ Expr::Macro(_))) => *init.expr = vector.clone(),
            ("from", Some(whole)) => *init.expr = parse_quote!((#whole).to_vec()),
            ("from_iter", Some(items)) => *init.expr = parse_quote!((#items).into_iter().collect::<Vec<_>>()),
            _ => return false,
        }
    }
    made
}

fn type_as_vector(ty: &mut Type) -> bool {
    match ty {
        Type::Path(path) => {
            path.path.segments.last_mut().is_some_and(is_queue) && keep_last(&mut path.path, 1)
        }
        _ => false,
    }
}

/// `VecDeque::new`, `std::collections::VecDeque::<f64>::with_capacity`
fn made_by(path: &mut syn::Path) -> bool {
    let Some(owner) = path.segments.len().checked_sub(2) else { return false };
    is_queue(&mut path.segments[owner]) && keep_last(path, 2)
}

/// The segment is `VecDeque`, and `Vec` afterwards.
fn is_queue(segment: &mut PathSegment) -> bool {
    let is = segment.ident == "VecDeque";
    if is {
        segment.ident = Ident::new("Vec", segment.ident.span());
    }
    is
}

fn keep_last(path: &mut syn::Path, count: usize) -> bool {
    path.leading_colon = None;
    path.segments = path.segments.iter().skip(path.segments.len() - count).cloned().collect();
    true
}

/// Writes what is done with one queue as it is done with a vector.
struct Queue<'n> {
    name: &'n Ident,
    /// It is used as a whole as well, or by a method that vectors lack.
    whole: bool,
}

impl Queue<'_> {
    fn is(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.is(&paren.expr),
            expr => is_name(expr, self.name),
        }
    }

    /// The method is called on the queue.
    fn calls(&self, expr: &Expr, method: &str) -> bool {
        matches!(expr, Expr::MethodCall(call) if call.method == method && self.is(&call.receiver))
    }

    /// What is gone through: the queue, or a reference to it.
    fn goes_through(&mut self, items: &mut Expr) {
        let is = match &*items {
            Expr::Reference(reference) => self.is(&reference.expr),
            items => self.is(items),
        };
        if !is {
            self.visit_expr_mut(items);
        }
    }

    /// The front, of a queue that is known not to be empty, or panics.
    fn first(&self) -> Expr {
        let name = self.name;
        parse_quote!(#name.remove(0))
    }

    fn method(&mut self, call: &mut ExprMethodCall) -> Option<Expr> {
        let name = call.method.to_string();
        call.args.iter_mut().for_each(|arg| self.goes_through_if(&["extend", "zip", "chain"], &name, arg));
        if (name == "unwrap" || name == "expect") && self.calls(&call.receiver, "pop_front") {
            return Some(self.first());
        }
        if name == "unwrap_or" && self.calls(&call.receiver, "pop_front") {
            let (queue, first, missing) = (self.name, self.first(), call.args.first()?);
            return Some(parse_quote!(if #queue.is_empty() { #missing } else { #first }));
        }
        if !self.is(&call.receiver) {
            self.visit_expr_mut(&mut call.receiver);
            return None;
        }
        let queue = self.name;
        match (&*name, call.args.first()) {
            ("pop_front", None) => {
                let first = self.first();
                Some(parse_quote!((if #queue.is_empty() { None } else { Some(#first) })))
            }
            ("push_front", Some(value)) => Some(parse_quote!(#queue.insert(0, #value))),
            ("make_contiguous", None) => Some(parse_quote!(#queue)),
            _ => {
                match RENAMED.iter().find(|(queues, _)| *queues == name) {
                    Some((_, vectors)) => call.method = Ident::new(vectors, call.method.span()),
                    None => self.whole |= !SAME.contains(&&*name),
                }
                None
            }
        }
    }

    fn goes_through_if(&mut self, methods: &[&str], name: &str, arg: &mut Expr) {
        match methods.contains(&name) {
            true => self.goes_through(arg),
            false => self.visit_expr_mut(arg),
        }
    }
}

impl VisitMut for Queue<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        if name_of(&local.pat) == Some(self.name) {
            as_vector(local);
            if let Some(init) = &mut local.init {
                self.visit_expr_mut(&mut init.expr);
            }
            return;
        }
        visit_mut::visit_local_mut(self, local);
    }
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Expr(expr, Some(_)) = stmt
            && self.calls(expr, "pop_front")
        {
            let (queue, first) = (self.name, self.first());
            *stmt = parse_quote!(if !#queue.is_empty() { #first; });
            return;
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::MethodCall(call) => {
                if let Some(written) = self.method(call) {
                    *expr = written;
                }
            }
            Expr::Index(index) if self.is(&index.expr) => self.visit_expr_mut(&mut index.index),
            Expr::ForLoop(for_loop) => {
                self.goes_through(&mut for_loop.expr);
                self.visit_block_mut(&mut for_loop.body);
            }
            Expr::Path(_) => self.whole |= is_name(expr, self.name),
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let mentioned = Occurrences::of(&mac.tokens);
        let names = RENAMED.iter().map(|(queues, _)| *queues).chain(OWN);
        self.whole |=
            mentioned.count(self.name) > 0 && names.into_iter().any(|name| mentioned.contains(name));
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
