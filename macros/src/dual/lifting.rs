//! Where constants flow into places of dual numbers, they become dual numbers themselves.
//!
//! In a function of dual numbers, what is active is made of these, and what is constant of floats, as ever: the two mix in arithmetic.
//! They have to agree where values meet: in what a variable holds over time, in the branches of an `if`, in the elements of an array.

use std::collections::HashMap;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::visit_mut::VisitMut;
use syn::{Expr as Syn, Ident, Type};

use crate::activity;
use crate::calls::{Callee, is_mutation};
use crate::dual::companion::on_numbers;
use crate::dual::values::{Values, calls_itself, of_floats};
use crate::dual::{Retype, number};
use crate::errors::Errors;
use crate::kind::{inert, numeric_method};
use crate::program::*;
use crate::signature::Signature;

/// Settles what becomes a dual number, once activity is known.
pub(crate) fn lift(program: &mut Program, signature: &Signature, errors: &mut Errors) {
    program.dual = true;
    // Also what nobody looks at is computed with dual numbers.
    program.unused.clear();
    activity::spread(program);
    let mut lifting = Lifting { program, signature, wanted: Vec::new() };
    lifting.collect();
    let wanted = std::mem::take(&mut lifting.wanted);
    for expr in wanted {
        program.want(expr);
    }
    program.retype_locals();
    program.look_at_values();
    program.settle_callees(errors);
}

struct Lifting<'p> {
    program: &'p Program,
    signature: &'p Signature,
    wanted: Vec<ExprId>,
}

impl Lifting<'_> {
    fn collect(&mut self) {
        let Lifting { program, signature, .. } = *self;
        let carries = !matches!(&signature.output, Type::Tuple(tuple) if tuple.elems.is_empty());
        if carries && !inert(&signature.generics.kind_of(&signature.output)) {
            self.wanted.extend(program.blocks[BODY].value);
        }
        for block in &program.blocks {
            for statement in &block.statements {
                self.statement(statement);
            }
        }
        for (id, expr) in program.exprs.iter().enumerate() {
            match &expr.kind {
                ExprKind::Exit { target: Target::Function, value } if carries => self.wanted.extend(*value),
                _ if expr.active => self.operands(id),
                _ => {}
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let program = self.program;
        let active = |id: &VarId| program.variables[*id].active;
        match &statement.kind {
            StatementKind::Let(Let { variables, tuple, init: Some(init), .. }) => {
                match (&program.exprs[program.peel(*init)].kind, tuple) {
                    (ExprKind::Tuple(elements), true) => {
                        let pairs = variables.iter().zip(elements);
                        self.wanted
                            .extend(pairs.filter(|(v, _)| v.as_ref().is_some_and(active)).map(|(_, e)| e));
                    }
                    _ if variables.iter().flatten().any(active) => self.wanted.push(*init),
                    _ => {}
                }
            }
            StatementKind::Assign(Assign { place, op: None, value, .. })
                if active(&place.base) && !inert(&program.kind_of_place(place)) =>
            {
                self.wanted.push(*value);
            }
            _ => {}
        }
    }

    /// What an active expression is made of.
    fn operands(&mut self, id: ExprId) {
        let program = self.program;
        let active = |e: &ExprId| program.exprs[*e].active;
        match &program.exprs[id].kind {
            ExprKind::If { .. } | ExprKind::Match(_) | ExprKind::Block(_) | ExprKind::Rest(_) => {
                let ends = program.blocks_of(id).into_iter().filter_map(|block| program.blocks[block].value);
                let ends: Vec<_> = ends.filter(|end| !program.leaves(*end)).collect();
                // Otherwise it is active for what it does, and not for its value.
                if ends.iter().any(active) {
                    self.wanted.extend(ends);
                }
            }
            ExprKind::Array(elements) | ExprKind::Tuple(elements) => self.wanted.extend(elements),
            ExprKind::Repeat(element, _) => self.wanted.push(*element),
            ExprKind::Wrap(_, args) => self.wanted.push(args[0]),
            ExprKind::Vector { elements, .. } => self.wanted.extend(elements),
            ExprKind::Struct(literal) => self.wanted.extend(literal.fields.iter().map(|(_, value)| value)),
            ExprKind::Method { receiver, name, args }
                if numeric_method(&name.to_string()) || name == "unwrap_or" =>
            {
                self.wanted.push(*receiver);
                self.wanted.extend(args);
            }
            ExprKind::Call { function: Callee::Itself(_), args } => {
                let args = args.iter().zip(&self.signature.parameters);
                self.wanted.extend(args.filter(|(_, parameter)| !parameter.constant).map(|(arg, _)| arg));
            }
            ExprKind::Call { function: Callee::Function(path), args } if is_mutation(path) => {
                self.wanted.extend(args);
            }
            ExprKind::Call { function: Callee::Function(path), args } => {
                self.wanted.extend(crate::arrays::numbers_among(path, args));
            }
            ExprKind::Mutation { args, .. } => self.wanted.extend(args),
            _ => {}
        }
        for block in program.blocks_of(id) {
            self.wanted.extend(program.broken(block));
        }
    }
}

impl Program {
    /// The value of `expr` comes to where dual numbers are.
    fn want(&mut self, expr: ExprId) {
        if self.lifted.contains(&expr) || inert(&self.kind_of(expr)) {
            return;
        }
        match &self.exprs[expr].kind {
            ExprKind::Paren(inner) => {
                let inner = *inner;
                self.want(inner);
            }
            ExprKind::Tuple(elements) | ExprKind::Array(elements) | ExprKind::Vector { elements, .. } => {
                elements.clone().into_iter().for_each(|element| self.want(element));
            }
            ExprKind::Repeat(element, _) => {
                let element = *element;
                self.want(element);
            }
            ExprKind::Wrap(_, args) => {
                let inside = args[0];
                self.want(inside);
            }
            ExprKind::If { .. }
            | ExprKind::Match(_)
            | ExprKind::Block(_)
            | ExprKind::Rest(_)
            | ExprKind::Loop { .. } => {
                let blocks = self.blocks_of(expr).into_iter();
                let ends =
                    blocks.flat_map(|block| self.blocks[block].value.into_iter().chain(self.broken(block)));
                let ends: Vec<_> = ends.collect();
                ends.into_iter().for_each(|end| self.want(end));
            }
            ExprKind::Exit { .. } | ExprKind::Borrow { .. } | ExprKind::Callback(_) => {}
            // A copy of what has no gradient, in memory that will have one.
            ExprKind::Call { function: Callee::Function(path), args }
                if is_mutation(path) && !args.iter().any(|arg| self.exprs[*arg].active) =>
            {
                self.exprs[expr].active = false;
                self.lifted.insert(expr);
            }
            _ if self.exprs[expr].active => {}
            _ if matches!(self.exprs[expr].syntax, Syn::Closure(_)) => {}
            // What is made of nothing, such as a `Vec::new()`, is of the type that is asked for.
            _ if !self.tells_a_float(expr) && !self.depends(expr) => {}
            _ => {
                self.lifted.insert(expr);
            }
        }
    }

    /// `expr` looks at variables that may be made of floats.
    fn depends(&self, expr: ExprId) -> bool {
        let float = |id: &VarId| !inert(&self.variables[*id].kind);
        self.tree(expr).into_iter().any(|e| match &self.exprs[e].kind {
            ExprKind::Constant(constant) => constant.reads.iter().any(float),
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => {
                float(&place.base) && !inert(&self.kind_of_place(place))
            }
            _ => !self.blocks_of(e).is_empty(),
        })
    }

    /// A constant whose type does not follow from what is made of it: it has a float in it, or is a name.
    fn tells_a_float(&self, expr: ExprId) -> bool {
        fn float(tokens: TokenStream) -> bool {
            tokens.into_iter().any(|token| match token {
                TokenTree::Group(group) => float(group.stream()),
                TokenTree::Ident(ident) => ident == "f64",
                TokenTree::Literal(literal) => {
                    matches!(syn::Lit::new(literal), syn::Lit::Float(_))
                }
                TokenTree::Punct(_) => false,
            })
        }
        match &self.exprs[expr].syntax {
            Syn::Path(path) => !path.path.is_ident("None") && !names_a_function(&path.path),
            syntax => float(syntax.to_token_stream()),
        }
    }

    /// `tokens`, the value of `expr`, as what the place that it comes to holds.
    pub(crate) fn lifted(&self, expr: ExprId, tokens: TokenStream) -> TokenStream {
        if !self.lifted.contains(&expr) {
            return tokens;
        }
        let arguments = crate::dual::arguments();
        match self.kind_of(expr) {
            Kind::Float => crate::dual::constant(&tokens),
            _ => quote!(__pb::Lift::<#arguments>::lift(&(#tokens))),
        }
    }

    /// A cast, of `value`.
    pub(crate) fn cast(&self, expr: ExprId, value: TokenStream, ty: &Type) -> TokenStream {
        if !(self.dual && self.exprs[expr].active) {
            return quote!(#value as #ty);
        }
        let mut ty = ty.clone();
        Retype { from: "f64", to: &number() }.visit_type_mut(&mut ty);
        quote!(__pb::Cast::<#ty>::cast(#value))
    }

    /// What is annotated as a float is a dual number now.
    fn retype_locals(&mut self) {
        let number = number();
        let retype = |ty: &mut Type| on_numbers(ty, &number);
        let active: Vec<_> = self.variables.iter().map(|v| v.active).collect();
        let exprs = &self.exprs;
        for (variable, active) in self.variables.iter_mut().zip(&active) {
            if let (Some(ty), true) = (&mut variable.ty, active) {
                retype(ty);
            }
        }
        for block in &mut self.blocks {
            let typed = |s: &Statement| matches!(&s.kind, StatementKind::Let(l) if matches!(l.syntax.pat, syn::Pat::Type(_)));
            block.rewritten |= block.statements.iter().any(typed);
        }
        for statement in self.blocks.iter_mut().flat_map(|block| &mut block.statements) {
            let StatementKind::Let(l) = &mut statement.kind else { continue };
            let syn::Pat::Type(typed) = &mut l.syntax.pat else { continue };
            let elements = match l.init.map(|init| &exprs[init].kind) {
                Some(ExprKind::Tuple(elements)) if l.tuple => Some(elements),
                _ => None,
            };
            match (&mut *typed.ty, elements) {
                (Type::Tuple(types), Some(elements)) => {
                    let parts = types.elems.iter_mut().zip(elements).zip(&l.variables);
                    for ((ty, element), variable) in parts {
                        if variable.map_or(exprs[*element].active, |id| active[id]) {
                            retype(ty);
                        }
                    }
                }
                (ty, _) if l.aliases.iter().any(|(_, place)| active[place.base]) => retype(ty),
                (ty, _) if l.variables.iter().flatten().any(|id| active[*id]) => retype(ty),
                // `let _: f64 = x;`, as where a closure leaves an argument out.
                (ty, _)
                    if l.variables.iter().all(Option::is_none)
                        && l.init.is_some_and(|init| exprs[init].active) =>
                {
                    retype(ty)
                }
                _ => {}
            }
        }
    }

    /// Code that only looks at active values looks at their values.
    fn look_at_values(&mut self) {
        let known = |program: &Program, mentions: &[VarId], aliases: &[(Ident, Place)]| {
            let active = mentions.iter().map(|id| &program.variables[*id]).filter(|v| v.active);
            let mut known: HashMap<_, _> = active.map(|v| (v.name.to_string(), v.kind.clone())).collect();
            let active = aliases.iter().filter(|(_, place)| program.variables[place.base].active);
            known.extend(active.map(|(name, place)| (name.to_string(), program.kind_of_place(place))));
            known
        };
        let all: Vec<_> = self
            .exprs
            .iter()
            .map(|expr| match &expr.kind {
                ExprKind::Constant(constant) => known(self, &constant.mentions, &constant.aliases),
                _ => HashMap::new(),
            })
            .collect();
        for (id, (expr, known)) in self.exprs.iter_mut().zip(all).enumerate() {
            match &mut expr.kind {
                ExprKind::Constant(_) if !known.is_empty() || calls_itself(&expr.syntax) => {
                    Values { known, held: false }.visit_expr_mut(&mut expr.syntax);
                    self.rewritten.insert(id);
                }
                ExprKind::Call { function: Callee::Itself(path), .. } if !expr.active => {
                    of_floats(path);
                    self.rewritten.insert(id);
                }
                // `f64::max(x, y)`
                ExprKind::Method { .. } if expr.active && matches!(expr.syntax, Syn::Call(_)) => {
                    self.rewritten.insert(id);
                }
                ExprKind::Cast(..) if expr.active => {
                    self.rewritten.insert(id);
                }
                _ => {}
            }
        }
        for block in 0..self.blocks.len() {
            for i in 0..self.blocks[block].statements.len() {
                let StatementKind::Opaque(opaque) = &self.blocks[block].statements[i].kind else { continue };
                let known = known(self, &opaque.mentions, &opaque.aliases);
                if known.is_empty() && !calls_itself(&opaque.syntax) {
                    continue;
                }
                self.blocks[block].rewritten = true;
                if let StatementKind::Opaque(opaque) = &mut self.blocks[block].statements[i].kind {
                    Values { known, held: false }.visit_stmt_mut(&mut opaque.syntax);
                }
            }
        }
    }

    /// Functions that active values come to are those of dual numbers.
    fn settle_callees(&mut self, errors: &mut Errors) {
        let (number, mut closures) = (number(), Vec::new());
        for expr in &self.exprs {
            let (ExprKind::Call { function, args }, true) = (&expr.kind, expr.active) else { continue };
            if let Callee::Gradient(..) = function {
                errors.push(
                    &expr.syntax,
                    "a function that takes a derivative does not run on dual numbers, which would take third derivatives: \
                     leave out `dual`",
                );
            }
            let is_map = matches!(function, Callee::Function(path) if crate::arrays::is_map(path));
            for arg in args {
                match &self.exprs[*arg].kind {
                    ExprKind::Callback(Callback::Closure { .. }) if is_map => closures.push(*arg),
                    ExprKind::Callback(_) if is_map => errors.push(
                        &self.exprs[*arg].syntax,
                        "in a function of dual numbers a map is given a closure: write `|x| …(x)` in the place of this function",
                    ),
                    ExprKind::Callback(_) => errors.push(
                        &expr.syntax,
                        "a function that takes functions does not run on dual numbers yet: leave out `dual`, or write a loop",
                    ),
                    _ => {}
                }
            }
        }
        self.rewritten.extend(closures);
        let active: Vec<_> = self.exprs.iter().map(|expr| expr.active).collect();
        for (id, expr) in self.exprs.iter_mut().enumerate().filter(|(_, expr)| expr.active) {
            if let ExprKind::Call { function, args } = &mut expr.kind
                && let Callee::Function(path) = function
            {
                if let Some(map) = crate::arrays::of_constants(path, args, &active) {
                    *path = map;
                    self.rewritten.insert(id);
                }
                if crate::arrays::consuming(path).is_some() {
                    self.rewritten.insert(id);
                }
                Retype { from: "f64", to: &number }.visit_path_mut(path);
                if !is_of_engine(path) {
                    *function = Callee::OnDuals(path.clone());
                    self.rewritten.insert(id);
                }
            }
        }
    }
}

/// A function of the engine, which is generic.
fn is_of_engine(path: &syn::Path) -> bool {
    path.segments.first().is_some_and(|first| first.ident == "pullback")
}

/// `f64::total_cmp`, by the case of its letters.
fn names_a_function(path: &syn::Path) -> bool {
    let last = path.segments.last().map(|last| last.ident.to_string());
    path.segments.len() > 1 && last.is_some_and(|last| last.starts_with(char::is_lowercase))
}
