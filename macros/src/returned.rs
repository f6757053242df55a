//! Functions that return vectors: the value is a local's, since the reverse pass needs a shadow for it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Expr as Syn, Ident, Lifetime, Pat, Stmt, parse_quote};

use crate::chosen::each_end;
use crate::contents::leaves;
use crate::escape::is_left;
use crate::kind::names_other_type;
use crate::mutation::{nested_type, owned_type};
use crate::outcome::{Outcome, blank};
use crate::parse::Parser;
use crate::passing::{Parameter, Passing};
use crate::program::*;
use crate::signature::{Signature, type_name};

impl Parser<'_> {
    /// Marks the local that the function returns.
    pub(crate) fn settle_returned(&mut self, body: &syn::Block, output: &syn::Type) {
        if self.block != BODY {
            let last = body.stmts.last().expect("it has a value");
            self.errors.push(
                last,
                "a function that returns a matrix is not left early, nor does it end within a `let` that takes an enum or a \
                 slice apart: move that into a function of its own, or write to a `&mut` parameter",
            );
            return;
        }
        let Some(value) = self.program.blocks[BODY].value else { return };
        if let ExprKind::Read(place) = &self.program.exprs[value].kind
            && self.program.variables[place.base].origin == Origin::Local
        {
            self.program.variables[place.base].heap = true;
            let ty = Some(Box::new(output.clone()));
            self.program.returned.push(Returned { id: place.base, body: BODY, part: None, ty });
        }
    }
}

impl Parser<'_> {
    /// The statements of a closure that is passed on: if it returns a vector, as its end tells, the value is a local's as well.
    pub(crate) fn returning_from_closure(&self, closure: &syn::ExprClosure) -> Vec<Stmt> {
        let block: syn::Block = match &*closure.body {
            Syn::Block(block) if block.label.is_none() => block.block.clone(),
            value => parse_quote!({ #value }),
        };
        let told = matches!(&closure.output, syn::ReturnType::Type(_, ty) if owned_type(ty));
        let vector = |value: &Syn| ends_in(value, &|end| self.gives_vector(end) || gives_array(end));
        match block.stmts.last() {
            Some(Stmt::Expr(value, None)) if told || vector(value) => {
                let ty: syn::Type = match &closure.output {
                    syn::ReturnType::Type(_, ty) => (**ty).clone(),
                    syn::ReturnType::Default => parse_quote!(_),
                };
                returning_a_local(&block, &ty).stmts
            }
            _ => block.stmts,
        }
    }

    /// Marks the local that a closure with this body returns, if it is a vector.
    pub(crate) fn settle_returned_from(&mut self, body: BlockId) {
        let Some(value) = self.program.blocks[body].value else { return };
        let ExprKind::Read(place) = &self.program.exprs[value].kind else { return };
        let id = place.base;
        let own =
            self.program.variables[id].block == body && self.program.variables[id].origin == Origin::Local;
        let vector = self.program.vectors.contains(&id) || self.program.variables[id].name == RETURNED;
        if own && vector && place.projections.is_empty() {
            self.program.variables[id].heap = true;
            self.program.returned.push(Returned { id, body, part: None, ty: None });
        }
    }
}

/// The name of what is returned.
const RETURNED: &str = "returned";

/// Whether all values of which `value` is one are `such`.
fn ends_in(value: &Syn, such: &dyn Fn(&Syn) -> bool) -> bool {
    let block = |block: &syn::Block| match block.stmts.last() {
        Some(Stmt::Expr(value, None)) => ends_in(value, such) || made_in(block, value, such),
        _ => false,
    };
    match value {
        Syn::Paren(paren) => ends_in(&paren.expr, such),
        Syn::Block(inner) => block(&inner.block),
        Syn::If(branch) => {
            let otherwise = branch.else_branch.as_ref();
            block(&branch.then_branch) && otherwise.is_some_and(|(_, value)| ends_in(value, such))
        }
        Syn::Match(m) => m.arms.iter().all(|arm| ends_in(&arm.body, such)),
        value => such(value),
    }
}

/// Whether some value that ends a block within `value` is `such`.
fn some_end(value: &Syn, such: &dyn Fn(&syn::Block, &Syn) -> bool) -> bool {
    let block = |block: &syn::Block| match block.stmts.last() {
        Some(Stmt::Expr(value, None)) => such(block, value) || some_end(value, such),
        _ => false,
    };
    match value {
        Syn::Block(inner) => block(&inner.block),
        Syn::If(branch) => {
            block(&branch.then_branch)
                || branch.else_branch.as_ref().is_some_and(|(_, value)| some_end(value, such))
        }
        Syn::Match(m) => m.arms.iter().any(|arm| some_end(&arm.body, such)),
        _ => false,
    }
}

/// The value is a local of the block that is made `such`.
fn made_in(block: &syn::Block, value: &Syn, such: &dyn Fn(&Syn) -> bool) -> bool {
    let Syn::Path(path) = value else { return false };
    let made = |local: &syn::Local| {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        let named = matches!(pattern, Pat::Ident(name) if path.path.is_ident(&name.ident));
        named
            && (ty.is_some_and(owned_type)
                || local.init.as_ref().is_some_and(|init| ends_in(&init.expr, such)))
    };
    block.stmts.iter().any(|stmt| matches!(stmt, Stmt::Local(local) if made(local)))
}

/// The value is one of `ndarray`'s arrays, as its syntax tells.
fn gives_array(value: &Syn) -> bool {
    match value {
        Syn::Macro(mac) => mac.mac.path.is_ident("array"),
        Syn::Call(call) => match &*call.func {
            Syn::Path(path) => path.path.segments.iter().rev().nth(1).is_some_and(|s| {
                let name = s.ident.to_string();
                name.strip_prefix("Array").is_some_and(|rank| rank.chars().all(|c| c.is_ascii_digit()))
            }),
            _ => false,
        },
        _ => false,
    }
}

/// The body of a function that returns a vector: its value is a local's, since the reverse pass needs a shadow for it.
pub(crate) fn returning_a_local(body: &syn::Block, output: &syn::Type) -> syn::Block {
    let mut body = body.clone();
    if let Some(Stmt::Expr(value, None)) = body.stmts.pop_if(|last| matches!(last, Stmt::Expr(_, None))) {
        let name = Ident::new(RETURNED, proc_macro2::Span::call_site());
        let value: Syn = match &value {
            // A parameter is not the function's own.
            Syn::Path(path) if path.path.get_ident().is_some_and(|name| bound_in(&body, name)) => {
                body.stmts.push(Stmt::Expr(value, None));
                return body;
            }
            value => value.clone(),
        };
        let ty = matches!(value, Syn::Loop(_)).then(|| quote!(: #output));
        body.stmts.push(parse_quote!(let #name #ty = #value;));
        body.stmts.push(Stmt::Expr(parse_quote!(#name), None));
    }
    body
}

/// The body of a function that ends in branches of which one returns a copy that it has changed, of a struct that may own memory: the rule needs a
/// shadow for that, which may be written to.
pub(crate) fn returning_changed_copy(body: &syn::Block, signature: &Signature) -> Option<syn::Block> {
    let output = &signature.output;
    let by_value = |p: &Parameter| p.passing == Passing::Value && type_name(&p.ty) == type_name(output);
    if !names_other_type(output, &signature.generics.kind_of(output))
        || signature.parameters.iter().any(by_value)
    {
        return None;
    }
    let mut body = body.clone();
    let Some(Stmt::Expr(value, None)) = body.stmts.pop() else { return None };
    let name = match &value {
        Syn::Path(path) => path.path.get_ident()?.clone(),
        value => {
            let name = Ident::new(RETURNED, proc_macro2::Span::call_site());
            body.stmts.push(parse_quote!(let #name = #value;));
            name
        }
    };
    let Some(Stmt::Local(syn::Local { pat, init: Some(init), .. })) = body.stmts.last_mut() else {
        return None;
    };
    let copied = |value: &Syn| matches!(value, Syn::MethodCall(call) if call.method == "clone");
    if !matches!(pat, Pat::Ident(pattern) if pattern.ident == name && pattern.mutability.is_none())
        || !some_end(&init.expr, &|block, end| made_in(block, end, &copied))
    {
        return None;
    }
    let Stmt::Local(typed) = parse_quote!(let #name: #output;) else { return None };
    *pat = typed.pat;
    body.stmts.push(Stmt::Expr(parse_quote!(#name), None));
    Some(body)
}

/// A `let` of the block binds `name`.
fn bound_in(block: &syn::Block, name: &Ident) -> bool {
    fn binds(pattern: &Pat, name: &Ident) -> bool {
        match pattern {
            Pat::Ident(ident) => ident.ident == *name,
            Pat::Type(typed) => binds(&typed.pat, name),
            Pat::Tuple(tuple) => tuple.elems.iter().any(|element| binds(element, name)),
            _ => false,
        }
    }
    block.stmts.iter().any(|stmt| matches!(stmt, Stmt::Local(local) if binds(&local.pat, name)))
}

impl Parser<'_> {
    /// The body, with a local for what is returned at several places: each of them exchanges the vector in question with that,
    /// and leaves a block with a label. `None` if there is one place alone.
    pub(crate) fn returning_early(&mut self, body: &syn::Block, output: &syn::Type) -> Option<syn::Block> {
        let splits = |stmt: &Stmt| matches!(stmt, Stmt::Local(local) if is_split(local));
        let mut found = Early { leaving: None, names: Vec::new(), found: false };
        found.visit_block_mut(&mut body.clone());
        if !(found.found || body.stmts.iter().any(splits)) || !crate::mutation::is_array_type(output) {
            return None;
        }
        Some(self.returning_by_a_local(body, output))
    }

    /// The same for a struct that owns memory, where a loop is left.
    pub(crate) fn returning_struct_early(
        &mut self,
        body: &syn::Block,
        output: &syn::Type,
    ) -> Option<syn::Block> {
        let mut found = OutOfLoops(false);
        found.visit_block(body);
        (found.0 && self.program.owners.own(output)).then(|| self.returning_by_a_local(body, output))
    }

    fn returning_by_a_local(&mut self, body: &syn::Block, output: &syn::Type) -> syn::Block {
        let leaving = self.leaving(untold(output), None);
        let body = leaving.body(body);
        let (Leaving { returned, label, .. }, blank) = (&leaving, blank(output));
        parse_quote!({
            let mut #returned: #output = #blank;
            #label: #body
            #returned
        })
    }

    /// The same for a tuple with vectors in it: each part has a local. The others are numbers, or carry no gradient.
    pub(crate) fn returning_parts_early(
        &mut self,
        body: &syn::Block,
        output: &syn::Type,
    ) -> Option<syn::Block> {
        let types = self.returned_parts(output)?;
        let mut found = Early { leaving: None, names: Vec::new(), found: false };
        found.visit_block_mut(&mut body.clone());
        if !found.found {
            return None;
        }
        let mut leaving = self.leaving(None, None);
        leaving.parts = self.locals_of_parts(&types);
        let body = leaving.body(body);
        let locals = leaving.parts.iter().zip(types).map(|((name, owned), ty)| -> Stmt {
            match owned {
                true => parse_quote!(let mut #name: #ty = ::core::default::Default::default();),
                false => parse_quote!(let #name: #ty;),
            }
        });
        let (label, names) = (&leaving.label, leaving.parts.iter().map(|(name, _)| name));
        Some(parse_quote!({
            #(#locals)*
            #label: #body
            (#(#names),*)
        }))
    }

    /// The types of the parts of a tuple with vectors in it, of which the others are numbers, or carry no gradient.
    pub(crate) fn returned_parts(&self, ty: &syn::Type) -> Option<Vec<syn::Type>> {
        let syn::Type::Tuple(syn::TypeTuple { elems: types, .. }) = ty else { return None };
        let plain = |ty: &syn::Type| matches!(self.program.kind_of_type(ty), Kind::Float | Kind::Inert);
        let known = types.iter().any(owned_type) && types.iter().all(|ty| owned_type(ty) || plain(ty));
        known.then(|| types.iter().cloned().collect())
    }

    /// Names for the locals of parts of these types, and whether they are vectors.
    pub(crate) fn locals_of_parts(&mut self, types: &[syn::Type]) -> Vec<(Ident, bool)> {
        types.iter().map(|ty| (self.parts.fresh("returned"), owned_type(ty))).collect()
    }

    /// Names for what is left, and for what is returned then; `ty` is the type of that, if nothing else tells it.
    pub(crate) fn leaving(&mut self, ty: Option<&syn::Type>, outcome: Option<Outcome>) -> Leaving {
        let (returned, label) = (self.parts.fresh("returned"), self.parts.fresh("left"));
        let label = Lifetime { apostrophe: label.span(), ident: label };
        Leaving { returned, ty: ty.cloned(), parts: Vec::new(), label, outcome }
    }
}

/// How a function is left that returns a vector at several places.
pub(crate) struct Leaving {
    /// The local that gets what is returned.
    pub(crate) returned: Ident,
    /// The type of that, if it is a struct.
    pub(crate) ty: Option<syn::Type>,
    /// If it returns a tuple, the locals of its parts, and whether they are vectors.
    pub(crate) parts: Vec<(Ident, bool)>,
    /// Of the block that is left.
    pub(crate) label: Lifetime,
    /// If it returns an `Option` or a `Result`.
    pub(crate) outcome: Option<Outcome>,
}

impl Leaving {
    /// The body, whose every `return` leaves the block that it is.
    pub(crate) fn body(&self, body: &syn::Block) -> syn::Block {
        let mut body = body.clone();
        if let Some(Stmt::Expr(value, semi @ None)) = body.stmts.last_mut()
            && !is_left(&syn::Block {
                brace_token: Default::default(),
                stmts: vec![Stmt::Expr(value.clone(), None)],
            })
        {
            *value = parse_quote!(return #value);
            *semi = Some(Default::default());
        }
        let mut early = Early { leaving: Some(self), names: Vec::new(), found: false };
        early.visit_block_mut(&mut body);
        Mutable(early.names).visit_block_mut(&mut body);
        body
    }

    /// What a `return` of `value` becomes. Variables that are returned by their names go to `names`.
    pub(crate) fn leave(&self, value: &Syn, names: &mut Vec<Ident>) -> syn::Block {
        if let Some(outcome) = &self.outcome {
            return self.leave_with(outcome, value, names);
        }
        let exchange = self.exchange(value, names);
        let label = &self.label;
        parse_quote!({ #exchange break #label; })
    }

    /// Statements by which the local that is returned, or those of its parts, get `value`.
    pub(crate) fn exchange(&self, value: &Syn, names: &mut Vec<Ident>) -> TokenStream {
        match self.parts[..] {
            [] => exchange(&self.returned, self.ty.as_ref(), value, names),
            _ => self.exchange_parts(value, names),
        }
    }

    fn exchange_parts(&self, value: &Syn, names: &mut Vec<Ident>) -> TokenStream {
        match value {
            Syn::Paren(_) | Syn::If(_) | Syn::Match(_) | Syn::Block(syn::ExprBlock { label: None, .. }) => {
                let mut value = value.clone();
                each_end(&mut value, &mut |end| {
                    if !leaves(end) {
                        let exchange = self.exchange_parts(end, names);
                        *end = parse_quote!({ #exchange });
                    }
                });
                quote!(#value)
            }
            Syn::Tuple(tuple) if tuple.elems.len() == self.parts.len() => {
                let parts = self.parts.iter().zip(&tuple.elems).map(|((name, owned), value)| match owned {
                    true => exchange(name, None, value, names),
                    false => quote!(#name = #value;),
                });
                parts.collect()
            }
            value => {
                let early: Vec<_> =
                    (0..self.parts.len()).map(|i| Program::fresh(&format!("early_{i}"))).collect();
                let patterns = self.parts.iter().zip(&early).map(|((_, owned), early)| match owned {
                    true => quote!(mut #early),
                    false => quote!(#early),
                });
                let parts = self.parts.iter().zip(&early).map(|((name, owned), early)| match owned {
                    true => quote!(::core::mem::swap(&mut #name, &mut #early);),
                    false => quote!(#name = #early;),
                });
                quote!(let (#(#patterns),*) = #value; #(#parts)*)
            }
        }
    }
}

/// Statements by which the local that is returned gets `value`, of type `ty`.
fn exchange(returned: &Ident, ty: Option<&syn::Type>, value: &Syn, names: &mut Vec<Ident>) -> TokenStream {
    match value {
        Syn::Path(path) if let Some(name) = path.path.get_ident() => {
            names.push(name.clone());
            quote!(::core::mem::swap(&mut #returned, &mut #name);)
        }
        // A branch chooses among locals.
        value if has_named_end(value) => {
            let mut value = value.clone();
            each_end(&mut value, &mut |end| {
                if !leaves(end) {
                    let exchange = exchange(returned, ty, end, names);
                    *end = parse_quote!({ #exchange });
                }
            });
            quote!(#value)
        }
        value => {
            let early = Ident::new("early", proc_macro2::Span::mixed_site());
            let ty = ty.map(|ty| quote!(: #ty));
            quote!(let mut #early #ty = #value; ::core::mem::swap(&mut #returned, &mut #early);)
        }
    }
}

/// The value is one of several, of which one is a name.
fn has_named_end(value: &Syn) -> bool {
    let mut found = false;
    if matches!(value, Syn::If(_) | Syn::Match(_)) {
        each_end(&mut value.clone(), &mut |end| {
            found |= matches!(end, Syn::Path(path) if path.path.get_ident().is_some())
        });
    }
    found
}

/// The `let` takes what follows along.
pub(crate) fn is_split(local: &syn::Local) -> bool {
    let pattern = match &local.pat {
        Pat::Type(typed) => &*typed.pat,
        pattern => pattern,
    };
    local.init.as_ref().is_some_and(|init| init.diverge.is_some())
        || matches!(pattern, Pat::Slice(_) | Pat::TupleStruct(_))
}

/// Turns each `return` into what leaves a block; without a block to leave it only looks for one.
struct Early<'l> {
    leaving: Option<&'l Leaving>,
    /// The variables that are returned by their names.
    names: Vec<Ident>,
    found: bool,
}

impl VisitMut for Early<'_> {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        for stmt in std::mem::take(&mut block.stmts) {
            match (stmt, &self.leaving) {
                (Stmt::Expr(Syn::Return(jump), _), Some(_)) => {
                    let mut jump = Syn::Return(jump);
                    self.visit_expr_mut(&mut jump);
                    match jump {
                        Syn::Block(inner) => block.stmts.extend(inner.block.stmts),
                        other => block.stmts.push(Stmt::Expr(other, Some(Default::default()))),
                    }
                }
                (mut stmt, _) => {
                    self.visit_stmt_mut(&mut stmt);
                    block.stmts.push(stmt);
                }
            }
        }
    }
    fn visit_expr_mut(&mut self, expr: &mut Syn) {
        syn::visit_mut::visit_expr_mut(self, expr);
        let Syn::Return(jump) = &*expr else { return };
        self.found = true;
        if let (Some(leaving), Some(value)) = (self.leaving, &jump.expr) {
            let block = leaving.leave(value, &mut self.names);
            *expr = parse_quote!(#block);
        }
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// A type of which the syntax of a value does not tell: that of a struct.
pub(crate) fn untold(ty: &syn::Type) -> Option<&syn::Type> {
    (!owned_type(ty)).then_some(ty)
}

/// Whether a `return` leaves a loop.
struct OutOfLoops(bool);

impl<'ast> Visit<'ast> for OutOfLoops {
    fn visit_expr(&mut self, expr: &'ast Syn) {
        let body = match expr {
            Syn::ForLoop(f) => &f.body,
            Syn::While(w) => &w.body,
            Syn::Loop(l) => &l.body,
            Syn::Closure(_) => return,
            expr => return syn::visit::visit_expr(self, expr),
        };
        let mut found = Early { leaving: None, names: Vec::new(), found: false };
        found.visit_block_mut(&mut body.clone());
        self.0 |= found.found;
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Makes variables of these names mutable.
pub(crate) struct Mutable(pub(crate) Vec<Ident>);

impl VisitMut for Mutable {
    fn visit_pat_ident_mut(&mut self, pattern: &mut syn::PatIdent) {
        if self.0.contains(&pattern.ident) && pattern.by_ref.is_none() {
            pattern.mutability.get_or_insert_with(Default::default);
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The body of a function that takes vectors by value. To its rule they are lent: where it moves them, or changes them, it has a
/// copy.
pub(crate) fn with_copies(signature: &Signature, body: &syn::Block) -> syn::Block {
    let mut body = body.clone();
    for parameter in signature.parameters.iter().filter(|p| p.owned) {
        let Some(name) = &parameter.name else { continue };
        if parameter.constant {
            // What carries no gradient is copied as by anybody.
            if parameter.mutable || crate::used_up::is_used_up(name, &mut body) {
                let (ty, mutable) = (&parameter.ty, parameter.mutable.then(|| quote!(mut)));
                body.stmts.insert(0, parse_quote!(let #mutable #name: #ty = #name.to_vec();));
            }
        } else if parameter.mutable && (nested_type(&parameter.ty) || !owned_type(&parameter.ty)) {
            // Of vectors and structs as a whole: a `clone` of these would be a loop, or a method.
            let ty = &parameter.ty;
            let copy = quote!(::pullback::__private::mutation::to_owned(&*#name));
            body.stmts.insert(0, parse_quote!(let mut #name: #ty = #copy;));
        } else if parameter.mutable {
            body.stmts.insert(0, parse_quote!(let mut #name = #name.clone();));
        } else {
            Copied(name).visit_block_mut(&mut body);
        }
    }
    body
}

/// Has a variable copied where it is moved.
struct Copied<'n>(&'n Ident);

impl Copied<'_> {
    fn copy(&self, value: &mut Syn) {
        if self.is_part(value) {
            *value = parse_quote!(#value.clone());
        }
    }

    /// The variable, or a field of it.
    fn is_part(&self, value: &Syn) -> bool {
        match value {
            Syn::Path(path) => path.path.get_ident() == Some(self.0),
            Syn::Field(field) => self.is_part(&field.base),
            _ => false,
        }
    }
}

impl VisitMut for Copied<'_> {
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        syn::visit_mut::visit_local_mut(self, local);
        // The fields are looked at one by one.
        let apart = matches!(local.pat, Pat::Struct(_) | Pat::TupleStruct(_));
        if let Some(init) = &mut local.init
            && !apart
            && !is_field(&local.pat, &init.expr)
        {
            self.copy(&mut init.expr);
        }
    }
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        syn::visit_mut::visit_block_mut(self, block);
        if let Some(Stmt::Expr(value, None)) = block.stmts.last_mut() {
            self.copy(value);
        }
    }
    fn visit_expr_mut(&mut self, expr: &mut Syn) {
        syn::visit_mut::visit_expr_mut(self, expr);
        match expr {
            Syn::Assign(assign) => self.copy(&mut assign.right),
            Syn::Return(jump) => jump.expr.iter_mut().for_each(|value| self.copy(value)),
            Syn::Struct(literal) => {
                for field in &mut literal.fields {
                    self.copy(&mut field.expr);
                    // A shorthand has no colon.
                    field.colon_token.get_or_insert_with(Default::default);
                }
            }
            Syn::Tuple(tuple) => tuple.elems.iter_mut().for_each(|element| self.copy(element)),
            Syn::MethodCall(call) if call.method == "push" => {
                call.args.iter_mut().for_each(|arg| self.copy(arg))
            }
            Syn::Call(call) if constructs(call) => call.args.iter_mut().for_each(|inside| self.copy(inside)),
            _ => {}
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// `let x = s.x;`, of which nothing tells what it is.
fn is_field(pattern: &Pat, value: &Syn) -> bool {
    matches!(pattern, Pat::Ident(_)) && matches!(value, Syn::Field(_))
}

/// `Some(…)`, `Point(…)`
pub(crate) fn constructs(call: &syn::ExprCall) -> bool {
    let Syn::Path(path) = &*call.func else { return false };
    path.path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}
