//! Which arguments of a call are functions: closures, functions by their path, and parameters that are passed on.

use std::collections::HashMap;

use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Expr as Syn, ExprClosure, Ident, Pat, Stmt, UnOp, parse_quote};

use crate::annotation::Strip;
use crate::kind::{changes_receiver, numeric_method};
use crate::parse::{Binding, Parser};
use crate::program::*;
use crate::rename::bound;
use crate::statements::referent;

impl Parser<'_> {
    /// The parameter that is a function, if `expr` names it.
    pub(crate) fn function_parameter(&self, expr: &Syn) -> Option<VarId> {
        let id = match expr {
            Syn::Path(path) => match self.lookup(path.path.get_ident()?)? {
                Binding::Variable(id) => *id,
                Binding::Alias { place, .. } if place.projections.is_empty() => place.base,
                _ => return None,
            },
            Syn::Reference(reference) => self.function_parameter(&reference.expr)?,
            Syn::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                self.function_parameter(&unary.expr)?
            }
            Syn::Paren(paren) => self.function_parameter(&paren.expr)?,
            Syn::Group(group) => self.function_parameter(&group.expr)?,
            _ => return None,
        };
        (self.program.variables[id].origin == Origin::Function).then_some(id)
    }

    /// An argument that is a function.
    pub(crate) fn callback(&mut self, arg: &Syn) -> Option<ExprId> {
        if let Some(id) = self.function_parameter(arg) {
            return Some(self.add(arg, ExprKind::Callback(Callback::Parameter(id))));
        }
        match arg {
            Syn::Closure(closure) => Some(self.closure_argument(closure)),
            Syn::Reference(reference) => {
                let inner = match referent(arg) {
                    inner @ (Syn::Closure(_) | Syn::Path(_) | Syn::Paren(_)) => self.callback(inner)?,
                    _ => return None,
                };
                let (and, function) = (&reference.and_token, &self.program.exprs[inner].syntax);
                self.program.exprs[inner].syntax = parse_quote!(#and #function);
                Some(inner)
            }
            Syn::Paren(paren) => self.callback(&paren.expr),
            Syn::Group(group) => self.callback(&group.expr),
            Syn::Path(path) => {
                if let Some(closure) = self.closure(arg) {
                    if let Err((tokens, why)) = self.still_valid(&closure) {
                        self.errors.push(tokens, why);
                    }
                    return Some(self.closure_argument(&closure.syntax));
                }
                let local = path.path.get_ident().is_some_and(|name| self.lookup(name).is_some());
                if local || path.qself.is_some() {
                    return None;
                }
                if let Some(closure) = method_of_float(&path.path, &self.program.scalars) {
                    return Some(self.closure_argument(&closure));
                }
                let last = path.path.segments.last()?.ident.to_string();
                let function = last.starts_with(|c: char| c.is_lowercase() || c == '_');
                function.then(|| self.add(arg, ExprKind::Callback(Callback::Function(path.clone()))))
            }
            _ => None,
        }
    }

    /// The variable is from outside of the closure around, which only reads it.
    pub(crate) fn captures(&self, variable: &Variable) -> bool {
        self.closure_body.is_some()
            && self.program.closures.get(&variable.block) != self.closure_body.as_ref()
    }

    /// A closure, parsed where it stands.
    fn closure_argument(&mut self, closure: &ExprClosure) -> ExprId {
        if let Some(token) = &closure.asyncness {
            self.errors.push(token, "an `async` closure cannot be differentiated: pass a plain one");
        }
        let mut closure = closure.clone();
        // Both passes borrow what they need.
        let moved = closure.capture.take();
        let verbatim = Syn::Closure(closure.clone());
        let mut verbatim = self.plain(&verbatim).unwrap_or(verbatim);
        Strip.visit_expr_mut(&mut verbatim);
        let body = self.new_block();
        let outside = self.closure_body.replace(body);
        self.program.closures.insert(body, body);
        self.name_places(body, &closure);
        let landings = std::mem::take(&mut self.landings);
        let mut parameters = Vec::new();
        self.in_block(body, |parser| {
            let mut before = Vec::new();
            for pattern in &closure.inputs {
                parameters.push(parser.closure_parameter(pattern, &closure.body, &mut before));
            }
            parser.scopes.push(HashMap::new());
            before.extend(parser.returning_from_closure(&closure));
            parser.fill(before.into());
            parser.settle_returned_from(body);
            parser.scopes.pop();
        });
        self.landings = landings;
        self.closure_body = outside;
        if let Some(token) = moved
            && self.program.written(body).into_iter().any(|id| !self.program.variables[id].by_reference())
        {
            self.errors.push(
                token,
                "a `move` closure changes a copy of what it captures: leave `move` out where it is passed on",
            );
        }
        for id in parameters.iter().flatten() {
            let variable = &self.program.variables[*id];
            if variable.origin == Origin::Either && variable.memory {
                let why = "this parameter is written to: write its type, `&mut [f64]` for a slice";
                self.errors.push(&variable.name, why);
            }
        }
        self.add(&verbatim, ExprKind::Callback(Callback::Closure { parameters, body }))
    }

    /// Binds a parameter of a closure; a pattern is taken apart by a statement of the body.
    fn closure_parameter(&mut self, pattern: &Pat, body: &Syn, before: &mut Vec<Stmt>) -> Option<VarId> {
        let (inner, ty) = match pattern {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        let (name, mutable) = match inner {
            Pat::Wild(_) => return None,
            Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
                (ident.ident.clone(), ident.mutability.is_some())
            }
            inner => {
                let name = self.hidden("argument");
                before.push(parse_quote!(let #inner = #name;));
                bound(inner).iter().for_each(|name| self.suspects.insert(name));
                (name, false)
            }
        };
        self.suspects.insert(&name);
        let origin = match ty {
            Some(syn::Type::Reference(reference)) if reference.mutability.is_some() => Origin::Unique,
            Some(syn::Type::Reference(_)) => Origin::Shared,
            Some(_) => Origin::Value,
            None if mutable || matches!(inner, Pat::Tuple(_) | Pat::Slice(_)) => Origin::Value,
            None if matches!(inner, Pat::Reference(_)) => Origin::Shared,
            None => Uses::of(&name, body).origin(),
        };
        let id = self.bind(&name, origin, mutable || origin == Origin::Unique);
        let kind = ty.map_or(Kind::Unknown, |ty| self.program.kind_of_type(ty));
        let variable = &mut self.program.variables[id];
        variable.kind = kind;
        variable.passed = true;
        variable.memory = origin == Origin::Unique;
        if let Some(syn::Type::Reference(reference)) = ty {
            self.types.insert(id, (*reference.elem).clone());
            self.note_vector(id, None, Some(&reference.elem));
        }
        Some(id)
    }
}

/// `f64::sin` is `|x| x.sin()`.
fn method_of_float(path: &syn::Path, scalars: &[Ident]) -> Option<ExprClosure> {
    let segments: Vec<_> = path.segments.iter().collect();
    let [float, method] = segments[..] else { return None };
    let (float, method) = (&float.ident, &method.ident);
    let name = method.to_string();
    if !(float == "f32" || float == "f64" || scalars.contains(float)) || !numeric_method(&name) {
        return None;
    }
    Some(match name.as_str() {
        "powi" => parse_quote!(|x: #float, n: i32| x.#method(n)),
        "clamp" | "mul_add" => parse_quote!(|x: #float, y: #float, z: #float| x.#method(y, z)),
        "powf" | "hypot" | "log" | "atan2" | "max" | "min" | "copysign" | "rem_euclid" | "div_euclid"
        | "midpoint" => {
            parse_quote!(|x: #float, y: #float| x.#method(y))
        }
        _ => parse_quote!(|x: #float| x.#method()),
    })
}

/// What the body of a closure does with a parameter that has no type.
#[derive(Default)]
struct Uses<'n> {
    name: Option<&'n Ident>,
    written: bool,
    followed: bool,
}

impl<'n> Uses<'n> {
    fn of(name: &'n Ident, body: &Syn) -> Self {
        let mut uses = Uses { name: Some(name), ..Uses::default() };
        uses.visit_expr(body);
        uses
    }

    fn origin(&self) -> Origin {
        match (self.written, self.followed) {
            (true, _) => Origin::Unique,
            (false, true) => Origin::Shared,
            (false, false) => Origin::Either,
        }
    }

    fn is(&self, expr: &Syn) -> bool {
        matches!(expr, Syn::Path(path) if path.path.get_ident() == self.name)
    }

    fn binds(&self, pattern: &Pat) -> bool {
        bound(pattern).iter().any(|name| Some(name) == self.name)
    }

    fn base(&self, expr: &Syn) -> bool {
        match expr {
            Syn::Index(index) => self.base(&index.expr),
            Syn::Field(field) => self.base(&field.base),
            Syn::Paren(paren) => self.base(&paren.expr),
            Syn::Unary(unary) => self.base(&unary.expr),
            expr => self.is(expr),
        }
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_block(&mut self, block: &'ast syn::Block) {
        for statement in &block.stmts {
            self.visit_stmt(statement);
            // From here on the name is that of another variable.
            if let Stmt::Local(local) = statement
                && self.binds(&local.pat)
            {
                return;
            }
        }
    }
    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        if !closure.inputs.iter().any(|input| self.binds(input)) {
            syn::visit::visit_expr_closure(self, closure);
        }
    }
    fn visit_expr_for_loop(&mut self, f: &'ast syn::ExprForLoop) {
        self.visit_expr(&f.expr);
        if !self.binds(&f.pat) {
            self.visit_block(&f.body);
        }
    }
    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if !self.binds(&arm.pat) {
            syn::visit::visit_arm(self, arm);
        }
    }
    fn visit_expr(&mut self, expr: &'ast Syn) {
        match expr {
            Syn::Assign(assign) => self.written |= self.base(&assign.left),
            Syn::Binary(binary) if crate::parse::assign_op(&binary.op).is_some() => {
                self.written |= self.base(&binary.left);
            }
            Syn::MethodCall(call) if changes_receiver(&call.method.to_string()) => {
                self.written |= self.base(&call.receiver);
            }
            Syn::Reference(reference) if reference.mutability.is_some() => {
                self.written |= self.base(&reference.expr)
            }
            Syn::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.followed |= self.is(&unary.expr),
            _ => {}
        }
        syn::visit::visit_expr(self, expr);
    }
}
