//! What constant code may do to variables: it is emitted as written, and nothing undoes it.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;

use crate::errors::Errors;
use crate::kind::{assigns, changes_receiver, may_change_inert};
use crate::lift::is_held_constant;
use crate::program::*;
use crate::suspects::variable_of;
use crate::unseen::Unseen;

/// Marks the variables that constant code changes, and code that is not to be run again. Reports active variables that
/// are changed where nobody looks.
pub(crate) fn settle(program: &mut Program, errors: &mut Errors) {
    let opaque = program.blocks.iter().flat_map(|b| &b.statements).filter_map(|s| match &s.kind {
        StatementKind::Opaque(opaque) => Some(program.disturbed(opaque)),
        _ => None,
    });
    for id in opaque.flatten().collect::<Vec<_>>() {
        program.variables[id].disturbed = true;
    }
    for variable in &mut program.variables {
        variable.disturbed |= variable.moved && !variable.active;
    }
    let owners = owners(program);
    for id in replaced(program).intersection(&owners) {
        program.variables[*id].disturbed = true;
    }
    // What keeps its name to the end is moved from there, and that need not be a variable.
    for id in owners {
        let local = program.variables[id].origin == Origin::Local;
        let loses_name = program.shadowed(id) || program.variables[id].mutable;
        program.variables[id].memory |= local && loses_name;
    }
    let roots: Vec<ExprId> = (0..program.blocks.len()).flat_map(|block| program.roots(block)).collect();
    for root in roots {
        settle_expr(program, root);
    }
    for (block, statement) in program.observers() {
        let StatementKind::Opaque(opaque) = &program.blocks[block].statements[statement].kind else {
            continue;
        };
        let mut found = Written::new(program, &opaque.mentions, &opaque.aliases);
        found.visit_stmt(&opaque.syntax);
        let names = std::mem::take(&mut found.names);
        let mut syntax = opaque.syntax.clone();
        let mut unseen = Unseen { written: &found, any: false };
        unseen.visit_stmt_mut(&mut syntax);
        let any = unseen.any;
        let (mentions, aliases) = (opaque.mentions.clone(), opaque.aliases.clone());
        if let (true, StatementKind::Opaque(opaque)) =
            (any, &mut program.blocks[block].statements[statement].kind)
        {
            opaque.syntax = syntax;
        }
        settle_names(program, names, &mentions, &aliases, errors);
    }
    let compares = compares(program);
    for expr in 0..program.exprs.len() {
        let node = &program.exprs[expr];
        match &node.kind {
            _ if program.makes_room(node).is_some() => {}
            ExprKind::Call { args, .. } | ExprKind::Mutation { args, .. } if !node.active => {
                for arg in args.clone() {
                    if let ExprKind::Borrow { place, unique: true } = &program.exprs[arg].kind {
                        let base = place.base;
                        program.variables[base].unrestored = true;
                    }
                }
            }
            ExprKind::Constant(constant) => {
                let mut found = Written::new(program, &constant.mentions, &constant.aliases);
                found.active |= compares.contains(&expr);
                found.visit_expr(&node.syntax);
                let names = std::mem::take(&mut found.names);
                let mut syntax = node.syntax.clone();
                let mut unseen = Unseen { written: &found, any: false };
                unseen.visit_expr_mut(&mut syntax);
                let any = unseen.any;
                let (mentions, aliases) = (constant.mentions.clone(), constant.aliases.clone());
                if any {
                    program.rewritten.insert(expr);
                    program.exprs[expr].syntax = syntax;
                }
                if let (false, ExprKind::Constant(constant)) =
                    (names.is_empty(), &mut program.exprs[expr].kind)
                {
                    // A part of something may be what changes.
                    constant.pure = false;
                }
                settle_names(program, names, &mentions, &aliases, errors);
            }
            _ => {}
        }
    }
}

/// The functions that are given elements which carry a gradient, to tell their order.
fn compares(program: &Program) -> HashSet<ExprId> {
    let mutations = program.exprs.iter().filter_map(|node| match &node.kind {
        ExprKind::Mutation { args, .. } => Some(args),
        _ => None,
    });
    let active = |place: &Place| program.variables[place.base].active;
    let changes =
        |arg: &ExprId| matches!(&program.exprs[*arg].kind, ExprKind::Borrow { place, .. } if active(place));
    mutations.filter(|args| args.iter().any(changes)).flatten().copied().collect()
}

/// The variables that get another value as a whole.
fn replaced(program: &Program) -> HashSet<VarId> {
    let statements = program.blocks.iter().flat_map(|block| &block.statements);
    let assigned = statements.filter_map(|s| match &s.kind {
        StatementKind::Assign(Assign { place, op: None, .. }) if place.projections.is_empty() => {
            Some(place.base)
        }
        _ => None,
    });
    assigned.collect()
}

/// The variables without gradient that may own memory: that is not there twice.
fn owners(program: &Program) -> HashSet<VarId> {
    let mut made = HashSet::new();
    let mut note =
        |id: VarId, value: ExprId| made.extend(makes_memory(&program.exprs[value].syntax).then_some(id));
    for statement in program.blocks.iter().flat_map(|block| &block.statements) {
        match &statement.kind {
            StatementKind::Let(Let { variables, init: Some(init), .. }) => match &program.exprs[*init].kind {
                ExprKind::Tuple(values) => {
                    variables
                        .iter()
                        .zip(values)
                        .for_each(|(id, value)| id.iter().for_each(|id| note(*id, *value)));
                }
                _ => variables.iter().flatten().for_each(|id| note(*id, *init)),
            },
            StatementKind::Assign(assign) => note(assign.place.base, assign.value),
            _ => {}
        }
    }
    let owns = |id: &VarId| {
        let variable = &program.variables[*id];
        let number = matches!(variable.kind, Kind::Float | Kind::Inert);
        let owner = program.vectors.contains(id) || variable.heap || made.contains(id);
        !variable.active && !number && owner
    };
    (0..program.variables.len()).filter(owns).collect()
}

/// The value may own memory, as its syntax tells.
fn makes_memory(value: &syn::Expr) -> bool {
    match value {
        syn::Expr::Macro(mac) => ["format", "vec"].iter().any(|name| mac.mac.path.is_ident(name)),
        syn::Expr::MethodCall(call) => {
            ["clone", "collect", "to_owned", "to_string", "to_vec"].iter().any(|name| call.method == name)
        }
        syn::Expr::Call(call) => match &*call.func {
            syn::Expr::Path(path) => path
                .path
                .segments
                .iter()
                .rev()
                .nth(1)
                .is_some_and(|ty| ty.ident.to_string().starts_with(char::is_uppercase)),
            _ => false,
        },
        _ => false,
    }
}

/// Marks the variables behind `names`, which constant code may write to, and reports those that are active.
fn settle_names(
    program: &mut Program,
    names: Vec<Name>,
    mentions: &[VarId],
    aliases: &[(syn::Ident, Place)],
    errors: &mut Errors,
) {
    for Name { name, certain, carries } in names {
        let Some(id) = program.meant_by(&name, mentions, aliases) else { continue };
        let variable = &mut program.variables[id];
        let numbers = match &variable.kind {
            Kind::Float => true,
            Kind::Sequence(element) => **element == Kind::Float,
            _ => false,
        };
        // Nothing else tells that it would carry a gradient.
        let carries = carries && numbers;
        if !variable.active && !carries {
            variable.disturbed = true;
        } else if certain || variable.origin == Origin::Unique {
            errors.push(
                &name,
                "this may be written to here, which is not differentiable within a condition, a comparison, an \
                 assertion or a cast: bind the result with `let` first, or pass `&*` of it if it is only read",
            );
        }
    }
}

/// Methods of what may be no number are not run again: an iterator, a generator of random numbers.
fn settle_expr(program: &mut Program, expr: ExprId) {
    // A way out is one, whatever comes of what it looks into.
    let leaves = matches!(program.exprs[expr].kind, ExprKind::Try(_) | ExprKind::Exit { .. });
    if !program.exprs[expr].active && !leaves {
        let tree = program.tree(expr);
        let method = |e: &ExprId| match &program.exprs[*e].kind {
            ExprKind::Method { .. } if program.looks_up(*e) => false,
            ExprKind::Method { receiver, name, .. } => {
                let receiver = program.peel(*receiver);
                let range = matches!(program.exprs[receiver].syntax, syn::Expr::Range(_));
                range
                    || match program.kind_of(receiver) {
                        Kind::Float => false,
                        Kind::Inert => {
                            let changeable = |place: &Place| program.variables[place.base].mutable;
                            matches!(&program.exprs[receiver].kind, ExprKind::Read(place) if changeable(place))
                                && may_change_inert(&name.to_string())
                        }
                        _ => true,
                    }
            }
            _ => false,
        };
        if tree.iter().any(method) {
            let (mut mentions, mut aliases) = (Vec::new(), Vec::new());
            for e in tree {
                let node = &program.exprs[e];
                match &node.kind {
                    ExprKind::Constant(constant) => {
                        mentions.extend(constant.mentions.iter().copied());
                        aliases.extend(constant.aliases.iter().cloned());
                    }
                    ExprKind::Read(place) | ExprKind::Borrow { place, .. } => {
                        mentions.push(place.base);
                        let alias = variable_of(&node.syntax)
                            .filter(|name| **name != program.variables[place.base].name);
                        aliases.extend(alias.map(|name| (name.clone(), place.clone())));
                    }
                    _ => {}
                }
            }
            mentions.sort_unstable();
            mentions.dedup();
            program.exprs[expr].kind = ExprKind::Constant(Constant {
                reads: mentions.clone(),
                mentions,
                aliases,
                pure: false,
                why: None,
            });
        }
        return;
    }
    for operand in program.operands(expr) {
        settle_expr(program, operand);
    }
}

/// The types of the standard library's collections that are looked up in.
const COLLECTIONS: &[&str] = &["HashMap", "BTreeMap", "HashSet", "BTreeSet", "Vec", "VecDeque"];

impl Program {
    /// The variable that `name` stands for in code that mentions these.
    pub(crate) fn meant_by(
        &self,
        name: &syn::Ident,
        mentions: &[VarId],
        aliases: &[(syn::Ident, Place)],
    ) -> Option<VarId> {
        let alias = aliases.iter().find(|(alias, _)| alias == name).map(|(_, place)| place.base);
        alias.or_else(|| mentions.iter().rev().copied().find(|id| self.variables[*id].name == *name))
    }

    /// The statements that merely look at values, by their block and their place in it. Code that is not understood is refused by itself.
    pub(crate) fn observers(&self) -> Vec<(BlockId, usize)> {
        let observes = |s: &Statement| matches!(s.kind, StatementKind::Opaque(Opaque { why: None, .. }));
        let all = self.blocks.iter().enumerate();
        all.flat_map(|(id, block)| {
            let found = block.statements.iter().enumerate().filter(|(_, s)| observes(s));
            found.map(move |(i, _)| (id, i)).collect::<Vec<_>>()
        })
        .collect()
    }

    /// `expr` looks for something in a collection, which leaves that as it is. It may be a reference, which is not to be kept.
    pub(crate) fn looks_up(&self, expr: ExprId) -> bool {
        let Some(variable) = self.looked_up_in(expr) else { return false };
        // A method by this name of a user's type may change it.
        is_collection(variable) || !variable.mutable && variable.origin != Origin::Unique
    }

    /// Likewise in a local that is known to be a collection.
    pub(crate) fn looks_up_in_own(&self, expr: ExprId) -> bool {
        self.looked_up_in(expr)
            .is_some_and(|variable| variable.origin == Origin::Local && is_collection(variable))
    }

    /// The variable that is asked, by its name, what it holds.
    fn looked_up_in(&self, expr: ExprId) -> Option<&Variable> {
        const LOOKUPS: &[&str] =
            &["get", "get_key_value", "contains_key", "first", "last", "split_first", "split_last"];
        let ExprKind::Method { receiver, name, args } = &self.exprs[expr].kind else { return None };
        if name == "get" && args.is_empty() {
            // That of a cell.
            return None;
        }
        let (ExprKind::Read(place) | ExprKind::Borrow { place, unique: false }) =
            &self.exprs[self.peel(*receiver)].kind
        else {
            return None;
        };
        LOOKUPS.iter().any(|lookup| name == lookup).then(|| &self.variables[place.base])
    }
}

fn is_collection(variable: &Variable) -> bool {
    let Some(syn::Type::Path(ty)) = variable.ty.as_deref() else { return false };
    ty.path.segments.last().is_some_and(|last| COLLECTIONS.iter().any(|name| last.ident == name))
}

/// The names in an expression that it may write to, and whether that shows.
pub(crate) struct Written<'p> {
    pub(crate) program: &'p Program,
    pub(crate) mentions: &'p [VarId],
    pub(crate) aliases: &'p [(syn::Ident, Place)],
    /// Active values come to it.
    pub(crate) active: bool,
    names: Vec<Name>,
}

/// A name that code may write to.
struct Name {
    name: syn::Ident,
    /// It does.
    certain: bool,
    /// What it writes may carry a gradient.
    carries: bool,
}

impl<'p> Written<'p> {
    fn new(program: &'p Program, mentions: &'p [VarId], aliases: &'p [(syn::Ident, Place)]) -> Self {
        let active = mentions.iter().any(|id| program.variables[*id].active);
        Written { program, mentions, aliases, active, names: Vec::new() }
    }

    fn add(&mut self, expr: &syn::Expr, carries: bool) {
        self.names.extend(variable_of(expr).map(|name| Name { name: name.clone(), certain: true, carries }));
    }

    /// The value may carry a gradient: active variables are mentioned in it, or such of the code's own, which may be parts of those.
    pub(crate) fn carries<'v>(&self, values: impl IntoIterator<Item = &'v syn::Expr>) -> bool {
        struct Carries<'w, 'p>(&'w Written<'p>, bool);
        impl<'ast> Visit<'ast> for Carries<'_, '_> {
            fn visit_expr(&mut self, expr: &'ast syn::Expr) {
                match expr {
                    syn::Expr::Closure(_) => {}
                    syn::Expr::Call(call) if is_held_constant(call) => {}
                    syn::Expr::Path(path) => {
                        let Some(name) = path.path.get_ident() else { return };
                        let Written { program, mentions, aliases, .. } = self.0;
                        self.1 |= match program.meant_by(name, mentions, aliases) {
                            Some(id) => program.variables[id].active,
                            None => name.to_string().starts_with(char::is_lowercase),
                        };
                    }
                    expr => syn::visit::visit_expr(self, expr),
                }
            }
        }
        let mut carries = Carries(self, false);
        values.into_iter().for_each(|value| carries.visit_expr(value));
        carries.1 && self.active
    }
}

impl<'ast> Visit<'ast> for Written<'_> {
    fn visit_expr_reference(&mut self, reference: &'ast syn::ExprReference) {
        if reference.mutability.is_some() {
            self.add(&reference.expr, self.active);
        }
        syn::visit::visit_expr_reference(self, reference);
    }
    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        let carries = self.carries([&*assign.right]);
        match &*assign.left {
            syn::Expr::Tuple(tuple) => tuple.elems.iter().for_each(|part| self.add(part, carries)),
            place => self.add(place, carries),
        }
        syn::visit::visit_expr_assign(self, assign);
    }
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        call.args.iter().for_each(|arg| self.add_reference(arg));
        syn::visit::visit_expr_call(self, call);
    }
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        if changes_receiver(&method) {
            self.add(&call.receiver, self.carries(&call.args));
        } else if !crate::kind::inert_method(&method) {
            self.add_unless_number(&call.receiver, &method);
        }
        call.args.iter().for_each(|arg| self.add_reference(arg));
        syn::visit::visit_expr_method_call(self, call);
    }
    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if assigns(&binary.op) {
            self.add(&binary.left, self.carries([&*binary.right]));
        }
        syn::visit::visit_expr_binary(self, binary);
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let args = mac.parse_body_with(Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated);
        let Ok(args) = args else { return self.add_tokens(mac.tokens.clone()) };
        for arg in args {
            let mut inner = Written { names: Vec::new(), ..*self };
            match &arg {
                // A named argument of a format string.
                syn::Expr::Assign(named) => inner.visit_expr(&named.right),
                arg => inner.visit_expr(arg),
            }
            self.names.append(&mut inner.names);
        }
    }
}

impl Written<'_> {
    fn variable(&self, path: &syn::ExprPath) -> Option<&Variable> {
        let name = path.path.get_ident()?;
        self.mentions.iter().rev().map(|id| &self.program.variables[*id]).find(|v| v.name == *name)
    }

    /// A `&mut` passed on by its name.
    fn add_reference(&mut self, arg: &syn::Expr) {
        let syn::Expr::Path(path) = arg else { return };
        let alias = path.path.get_ident().is_some_and(|name| {
            let written = self.program.unique_names.contains(&name.to_string());
            written && self.aliases.iter().any(|(alias, _)| alias == name)
        });
        if alias || self.variable(path).is_some_and(|v| v.origin == Origin::Unique) {
            self.add(arg, false);
        }
    }

    /// What a method is called on, if that may change it.
    fn add_unless_number(&mut self, receiver: &syn::Expr, method: &str) {
        if self.may_change(receiver, method)
            && let Some(name) = variable_of(receiver)
        {
            self.names.push(Name { name: name.clone(), certain: false, carries: false });
        }
    }

    /// A method of `receiver` may change a variable without gradient: it is no number.
    pub(crate) fn may_change(&self, receiver: &syn::Expr, method: &str) -> bool {
        let (Some(name), part) = (variable_of(receiver), !matches!(receiver, syn::Expr::Path(_))) else {
            return false;
        };
        let Some(id) = self.program.meant_by(name, self.mentions, self.aliases) else { return false };
        let variable = &self.program.variables[id];
        let kind = if part { variable.kind.of_parts() } else { &variable.kind };
        variable.mutable && !variable.active && kind.may_be_changed_by(method)
    }

    /// The arguments of a macro that are no list of expressions.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut borrowed = false;
        for token in tokens {
            let certain = std::mem::take(&mut borrowed);
            match token {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(name) if name == "mut" => borrowed = true,
                TokenTree::Ident(name) => self.names.push(Name { name, certain, carries: false }),
                _ => {}
            }
        }
    }
}
