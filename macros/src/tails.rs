//! `collect()` at the end of a function: what it makes is told by what the function returns. In a field of a struct it is taken to
//! make a vector.

use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Pat, Stmt, Type, parse_quote};

use crate::iterators::collect::element_of_vec;
use crate::iterators::made::is_from_fn;
use crate::kind::{kind_of_type, names_other_type};
use crate::outcome::inside_type;
use crate::program::{Kind, Program};
use crate::suspects::Suspects;

/// `body` with the type behind each `collect` whose value a function returns, if `output` is a vector, or one in an `Option` or a
/// `Result`.
pub(crate) fn with_types(output: &Type, mut body: Block) -> Block {
    let inside = inside_type(output);
    let vector = inside.as_ref().unwrap_or(output);
    if element_of_vec(vector).is_some() {
        tell_block(&mut body, vector);
        Returns(vector).visit_block_mut(&mut body);
    }
    if let (Type::Array(_), Some(Stmt::Expr(Expr::Call(call), None))) = (output, body.stmts.last())
        && is_from_fn(&call.func)
    {
        let made = Program::fresh("made");
        let whole: Stmt = parse_quote!(let #made: #output = #call;);
        body.stmts.pop();
        body.stmts.extend([whole, Stmt::Expr(parse_quote!(#made), None)]);
    }
    if let (Type::Tuple(types), Some(Stmt::Expr(Expr::Tuple(tuple), None))) = (output, body.stmts.last()) {
        let elements: Vec<_> = tuple.elems.iter().cloned().zip(types.elems.clone()).collect();
        for (element, ty) in elements.iter().filter(|(_, ty)| element_of_vec(ty).is_some()) {
            tell_variable(&mut body.stmts, element, ty);
        }
        if let Some(Stmt::Expr(Expr::Tuple(tuple), None)) = body.stmts.last_mut() {
            tuple.elems.iter_mut().zip(&types.elems).for_each(|(value, ty)| {
                if element_of_vec(ty).is_some() {
                    tell(value, ty);
                }
            });
        }
    }
    body
}

/// A type of the user's, as far as its name tells.
pub(crate) fn makes_itself(ty: &Type) -> bool {
    names_other_type(ty, &kind_of_type(ty)) && inside_type(ty).is_none() && element_of_vec(ty).is_none()
}

/// `body` with the type of the errors that a function returns, `Result<T, Box<dyn Error>>`: the values in them become such only where one is told.
pub(crate) fn with_type_of_errors(output: &Type, mut body: Block) -> Block {
    if let Some(error) = error_type(output).filter(is_of_traits) {
        tell_errors(&error, &mut body);
    }
    body
}

/// `body` with the types of the errors that closures return, where they are told: inlined, nothing else tells them.
pub(crate) fn with_types_of_errors_in_closures(mut body: Block) -> Block {
    struct Closures;
    impl VisitMut for Closures {
        fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
            visit_mut::visit_expr_closure_mut(self, closure);
            let syn::ReturnType::Type(_, output) = &closure.output else { return };
            let error = error_type(output).filter(|error| !matches!(error, Type::Infer(_)));
            if let (Some(error), Expr::Block(body)) = (error, &mut *closure.body) {
                tell_errors(&error, &mut body.block);
            }
        }
        fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    }
    Closures.visit_block_mut(&mut body);
    body
}

fn tell_errors(error: &Type, body: &mut Block) {
    let mut errors = Errors(error);
    errors.visit_block_mut(body);
    at_end(body, &mut |value| errors.tell(value));
}

/// The `E` of `Result<T, E>`.
fn error_type(output: &Type) -> Option<Type> {
    let Type::Path(path) = output else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.iter().nth(1) {
        Some(syn::GenericArgument::Type(error)) => Some(error.clone()),
        _ => None,
    }
}

/// `Box<dyn Error>`
pub(crate) fn is_of_traits(ty: &Type) -> bool {
    let mut tokens = ty.to_token_stream().into_iter();
    tokens.any(|token| matches!(token, proc_macro2::TokenTree::Ident(name) if name == "dyn"))
}

/// The errors in what `return` returns.
struct Errors<'t>(&'t Type);

impl Errors<'_> {
    fn tell(&self, value: &mut Expr) {
        if let Expr::Call(call) = value
            && matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Err"))
            && let Some(error) = call.args.first_mut()
        {
            let ty = self.0;
            *error = parse_quote!(::pullback::__private::error::<#ty>(#error));
        }
    }
}

impl VisitMut for Errors<'_> {
    fn visit_expr_return_mut(&mut self, jump: &mut syn::ExprReturn) {
        jump.expr.iter_mut().for_each(|value| self.tell(value));
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Shows what a block may end in.
fn at_end(block: &mut Block, show: &mut impl FnMut(&mut Expr)) {
    if let Some(Stmt::Expr(value, None)) = block.stmts.last_mut() {
        each_end(value, show);
    }
}

fn each_end(value: &mut Expr, show: &mut impl FnMut(&mut Expr)) {
    match value {
        Expr::Block(block) if block.label.is_none() => at_end(&mut block.block, show),
        Expr::If(branch) => {
            at_end(&mut branch.then_branch, show);
            branch.else_branch.iter_mut().for_each(|(_, otherwise)| each_end(otherwise, show));
        }
        Expr::Match(m) => m.arms.iter_mut().for_each(|arm| each_end(&mut arm.body, show)),
        value => show(value),
    }
}

/// `body` with the type behind a `sum`, a `product` or an `into` whose value a function returns.
pub(crate) fn with_type_of_value(output: &Type, mut body: Block) -> Block {
    at_end(&mut body, &mut |value| tell_value(value, output));
    body
}

fn tell_value(value: &mut Expr, ty: &Type) {
    let Expr::MethodCall(call) = value else { return };
    if !call.args.is_empty() || call.turbofish.is_some() {
        return;
    }
    let known = call.method == "collect" && inside_type(ty).is_none() && element_of_vec(ty).is_none();
    if (call.method == "sum" || call.method == "product") && makes_itself(ty) || known {
        call.turbofish = Some(parse_quote!(::<#ty>));
    } else if let Some(converted) = converted(ty, call) {
        *value = converted;
    }
}

/// `ty::from(x)` in the place of `x.into()`.
pub(crate) fn converted(ty: &Type, call: &syn::ExprMethodCall) -> Option<Expr> {
    let (whole, of_numbers) =
        (matches!(ty, Type::Array(_)) || makes_itself(ty), kind_of_type(ty) == Kind::Float);
    let value = &call.receiver;
    match call.method == "into" {
        true if whole => Some(parse_quote!(<#ty>::from(#value))),
        true if of_numbers => Some(parse_quote!(#ty::from(#value))),
        _ => None,
    }
}

/// `block` with the type behind each `collect` whose value becomes a field of a struct, if it is one that `suspect`s say may carry a
/// gradient.
pub(crate) fn with_types_of_fields(suspects: &Suspects, block: &mut Block) {
    Fields(suspects).visit_block_mut(block);
}

struct Fields<'s>(&'s Suspects);

impl Fields<'_> {
    /// A struct literal whose fields are vectors that take statements to make: these get names before.
    fn hoisted(&self, mut stmt: Stmt) -> Vec<Stmt> {
        let value = match &mut stmt {
            Stmt::Local(local) => {
                local.init.as_mut().filter(|init| init.diverge.is_none()).map(|init| &mut *init.expr)
            }
            Stmt::Expr(Expr::Assign(assign), _) => Some(&mut *assign.right),
            Stmt::Expr(Expr::Return(jump), _) => jump.expr.as_deref_mut(),
            Stmt::Expr(value, None) => Some(value),
            _ => None,
        };
        let mut out = Vec::new();
        if let Some(Expr::Struct(literal)) = value
            && self.0.any(&*literal)
        {
            self.hoist(literal, &mut out);
        }
        out.push(stmt);
        out
    }

    fn hoist(&self, literal: &mut syn::ExprStruct, out: &mut Vec<Stmt>) {
        let Some(last) = literal.fields.iter().rposition(|field| takes_statements(&field.expr)) else {
            return;
        };
        for field in literal.fields.iter_mut().take(last + 1) {
            if matches!(field.expr, Expr::Path(_) | Expr::Lit(_)) {
                continue;
            }
            if let Expr::Struct(inner) = &mut field.expr {
                self.hoist(inner, out);
            }
            let name = Program::fresh(&format!("field_{}", field.member.to_token_stream()));
            let value = std::mem::replace(&mut field.expr, parse_quote!(#name));
            field.colon_token.get_or_insert_with(Default::default);
            out.push(parse_quote!(let #name = #value;));
        }
    }

    fn tell(&self, value: &mut Expr) {
        if self.0.any(&*value) {
            tell(value, &parse_quote!(Vec<_>));
        }
    }
}

impl VisitMut for Fields<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        let mut found = Names(Vec::new());
        block.stmts.iter().for_each(|stmt| syn::visit::Visit::visit_stmt(&mut found, stmt));
        block.stmts =
            std::mem::take(&mut block.stmts).into_iter().flat_map(|stmt| self.hoisted(stmt)).collect();
        for stmt in &mut block.stmts {
            if let Stmt::Local(local) = stmt
                && matches!(&local.pat, Pat::Ident(ident) if found.0.contains(&ident.ident))
                && let Some(init) = &mut local.init
            {
                self.tell(&mut init.expr);
            }
        }
    }
    fn visit_expr_struct_mut(&mut self, literal: &mut syn::ExprStruct) {
        visit_mut::visit_expr_struct_mut(self, literal);
        literal.fields.iter_mut().for_each(|field| self.tell(&mut field.expr));
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The value is a vector, or a struct of vectors, that is made by more than a call.
fn takes_statements(value: &Expr) -> bool {
    let tail =
        |block: &Block| matches!(block.stmts.last(), Some(Stmt::Expr(value, None)) if makes_vector(value));
    match value {
        Expr::MethodCall(call) => call.method == "collect",
        Expr::Block(block) => tail(&block.block),
        Expr::If(branch) => tail(&branch.then_branch),
        Expr::Match(m) => m.arms.iter().any(|arm| makes_vector(&arm.body)),
        Expr::Struct(inner) => inner.fields.iter().any(|field| makes_vector(&field.expr)),
        _ => false,
    }
}

pub(crate) fn makes_vector(value: &Expr) -> bool {
    match value {
        Expr::Macro(mac) => mac.mac.path.is_ident("vec"),
        Expr::MethodCall(call) if call.method == "to_vec" => true,
        value => takes_statements(value),
    }
}

/// The variables that become fields.
struct Names(Vec<syn::Ident>);

impl<'ast> syn::visit::Visit<'ast> for Names {
    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        syn::visit::visit_expr_struct(self, literal);
        self.0.extend(literal.fields.iter().filter_map(|field| match &field.expr {
            Expr::Path(path) => path.path.get_ident().cloned(),
            _ => None,
        }));
    }
}

/// `Vec::new()` and the like.
fn is_empty(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    let Expr::Path(function) = &*call.func else { return false };
    let mut segments = function.path.segments.iter().rev();
    let made = segments.next().is_some_and(|last| last.ident == "new" || last.ident == "with_capacity");
    made && segments.next().is_some_and(|of| of.ident == "Vec")
}

struct Returns<'t>(&'t Type);

impl VisitMut for Returns<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Return(jump) = expr {
            jump.expr.iter_mut().for_each(|value| tell(value, self.0));
        }
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Tells `value` that it is to be of type `ty`, a vector.
pub(crate) fn tell(value: &mut Expr, ty: &Type) {
    match value {
        Expr::MethodCall(call) if call.method == "collect" && call.turbofish.is_none() => {
            call.turbofish = Some(parse_quote!(::<#ty>));
        }
        Expr::Call(call) if fills(call) => call.args.iter_mut().for_each(|inside| tell(inside, ty)),
        Expr::Block(inner) => tell_block(&mut inner.block, ty),
        Expr::Paren(inner) => tell(&mut inner.expr, ty),
        Expr::If(branch) => {
            tell_block(&mut branch.then_branch, ty);
            branch.else_branch.iter_mut().for_each(|(_, otherwise)| tell(otherwise, ty));
        }
        Expr::Match(m) => m.arms.iter_mut().for_each(|arm| tell(&mut arm.body, ty)),
        _ => {}
    }
}

/// `Some(…)` and `Ok(…)`
pub(crate) fn fills(call: &syn::ExprCall) -> bool {
    matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Some") || path.path.is_ident("Ok"))
}

fn tell_block(block: &mut Block, ty: &Type) {
    let Some((Stmt::Expr(value, None), before)) = block.stmts.split_last_mut() else { return };
    tell(value, ty);
    tell_variable(before, &value.clone(), ty);
}

/// Likewise for the variable that `value` is.
fn tell_variable(before: &mut [Stmt], value: &Expr, ty: &Type) {
    if let Expr::Call(call) = value
        && fills(call)
    {
        return call.args.iter().for_each(|inside| tell_variable(before, inside, ty));
    }
    let Expr::Path(path) = value else { return };
    let Some(name) = path.path.get_ident() else { return };
    // The variable's type is that of the value.
    let bound = before.iter_mut().rev().find_map(|stmt| match stmt {
        Stmt::Local(local) if matches!(&local.pat, Pat::Ident(ident) if ident.ident == *name) => Some(local),
        _ => None,
    });
    let Some(local) = bound else { return };
    let Some(init) = &mut local.init else { return };
    tell(&mut init.expr, ty);
    // What is pushed to it is told, too.
    if is_empty(&init.expr) {
        let typed: Stmt = parse_quote!(let name: #ty;);
        let Stmt::Local(syn::Local { pat: Pat::Type(mut typed), .. }) = typed else { return };
        std::mem::swap(&mut *typed.pat, &mut local.pat);
        local.pat = Pat::Type(typed);
    }
}
