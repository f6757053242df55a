//! Syntax → [`Program`]: resolves names, and sets apart what is not understood, which is fine as long as it is constant.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{BinOp, Expr as Syn, Ident, Stmt, UnOp};

use crate::arrays::{Evidence, with_arrays};
use crate::by_key::with_compared_keys;
use crate::calls::Operator;
use crate::closures::{Closure, ESCAPES, Refused, STANDS};
use crate::control::Landing;
use crate::copied::with_copying_methods;
use crate::destructure::destructured;
use crate::errors::Errors;
use crate::escape::{escapes, is_panic};
use crate::fallible::with_fallible;
use crate::functions::{CHOSEN, Choice, is_called};
use crate::held::{HELD, Held};
use crate::holdable::{holdable, returns_one_of};
use crate::imported_variants::with_imported_variants;
use crate::iterators::array_windows::with_sizes_of_windows;
use crate::iterators::consumers::Chain;
use crate::iterators::indexed::Indexed;
use crate::iterators::source::is_zero;
use crate::kind::{inert, is_slice, kind_of_type, names_other_type};
use crate::literals::in_place;
use crate::mutation::owned_type;
use crate::normal::Parts;
use crate::outcome::{inside_type, wraps_local_of_outer_block};
use crate::own_results::with_own_results;
use crate::passing::Passing;
use crate::place_closures::with_chosen_parts;
use crate::program::*;
use crate::purity::{Asked, each_name};
use crate::queues::with_queues_as_vectors;
use crate::rename::{Names, Occurrences, named_in_format};
use crate::returned::{returning_a_local, returning_changed_copy, with_copies};
use crate::sequence::in_sequence;
use crate::signature::Signature;
use crate::suspects::Suspects;
use crate::synonyms::in_plain_words;
use crate::tails::{
    with_type_of_errors, with_type_of_value, with_types, with_types_of_errors_in_closures,
    with_types_of_fields,
};
use crate::written_out::without_arrays;

/// What code mentions.
#[derive(Default)]
pub(crate) struct Mentions {
    pub(crate) mentions: Vec<VarId>,
    /// Those of which more than the shape is read.
    pub(crate) reads: Vec<VarId>,
    /// Names of places.
    pub(crate) aliases: Vec<(Ident, Place)>,
}

/// What a name stands for.
#[derive(Clone)]
pub(crate) enum Binding {
    Variable(VarId),
    /// `let row = &x[a..b]`
    Alias {
        place: Place,
        unique: bool,
        /// As annotated.
        ty: Option<Box<syn::Type>>,
    },
    /// `let f = |…| …`
    Closure(Rc<Closure>),
    /// `let best: Option<Vec<f64>> = None;`
    Held(Rc<Held>),
}

impl Binding {
    /// The two are the same thing.
    pub(crate) fn is(&self, other: &Binding) -> bool {
        match (self, other) {
            (Binding::Variable(one), Binding::Variable(other)) => one == other,
            (Binding::Alias { place: one, .. }, Binding::Alias { place: other, .. }) => {
                one.base == other.base && one.indices().eq(other.indices())
            }
            (Binding::Closure(one), Binding::Closure(other)) => Rc::ptr_eq(one, other),
            (Binding::Held(one), Binding::Held(other)) => Rc::ptr_eq(one, other),
            _ => false,
        }
    }
}

pub(crate) struct Parser<'e> {
    pub(crate) program: Program,
    /// Items inside the function; both passes need them.
    pub(crate) items: Vec<syn::Item>,
    pub(crate) scopes: Vec<HashMap<String, Binding>>,
    pub(crate) block: BlockId,
    /// The function's name, by which it may call itself.
    pub(crate) function: Option<Ident>,
    /// The body of the closure around, if that is passed on.
    pub(crate) closure_body: Option<BlockId>,
    /// The parameters that are vectors by value, which rules have lent.
    pub(crate) by_value: HashSet<VarId>,
    /// The variable that the value of the statement at hand is assigned to.
    pub(crate) replaced: Option<Ident>,
    /// The statement is marked: rules that it calls by themselves run the functions they are given in both passes.
    pub(crate) recomputing: bool,
    /// Loops and blocks around that can be left.
    pub(crate) landings: Vec<Landing>,
    /// Variables bound by patterns.
    pub(crate) bound: HashSet<VarId>,
    pub(crate) parts: Parts,
    pub(crate) errors: &'e mut Errors,
    pub(crate) names: Names,
    pub(crate) suspects: Suspects,
    /// The functions whose numbers variables hold.
    pub(crate) choices: HashMap<VarId, Rc<Choice>>,
    /// The types of variables, where the syntax tells.
    pub(crate) types: HashMap<VarId, syn::Type>,
    /// Those of integer types other than `usize`, likewise.
    pub(crate) integers: HashSet<VarId>,
    /// The methods of `self` that return parts of it, and what is known of these.
    pub(crate) selecting: Vec<(Ident, Kind)>,
    /// The methods beside it that leave `self` as it is, or return a reference.
    pub(crate) reading: Vec<Ident>,
    /// The variables that a function of a type has made: `Filter::new(x)`.
    pub(crate) constructed: HashSet<VarId>,
    /// What is inside of the outcomes that have a name.
    pub(crate) outcomes: HashMap<String, Ident>,
    /// The names of options of structs that a flag and a struct may stand for.
    pub(crate) holdable: HashSet<String>,
    /// What is known to be an array, though no declaration says so.
    pub(crate) evidence: Evidence,
    /// What is known to be no `Option`, likewise.
    pub(crate) indexed: Indexed,
}

pub(crate) const ERROR: &str = "an error carries no gradient: put `constant(…)` around what it is made of";

pub(crate) const CONTROL: &str =
    "this cannot be left differentiably: write an `if`, a `match` or a loop over a range instead";

impl<'e> Parser<'e> {
    pub(crate) fn parse(
        signature: &Signature,
        body: &syn::Block,
        errors: &'e mut Errors,
    ) -> (Program, Vec<syn::Item>) {
        let written = Occurrences::of(body);
        let body = &with_chosen_parts(signature, body);
        let body = match written.contains("VecDeque") {
            true => &with_queues_as_vectors(&Suspects::of(signature, body), body),
            false => body,
        };
        let body = &with_imported_variants(&without_arrays(
            signature,
            &with_sizes_of_windows(&in_plain_words(body)),
        ));
        let body = &with_own_results(signature, in_place(&signature.owners, &signature.output, body));
        let mut body = with_fallible(signature, with_copies(signature, body));
        let suspects = Suspects::of(signature, &body);
        with_copying_methods(&suspects, &mut body);
        with_compared_keys(&suspects, &mut body);
        let mut body = with_type_of_errors(&signature.output, with_types(&signature.output, body));
        body = with_types_of_errors_in_closures(body);
        if Suspects::of(signature, &body).any(&body) {
            body = with_type_of_value(&signature.output, body);
        }
        with_types_of_fields(&Suspects::of(signature, &body), &mut body);
        let mut body = destructured(signature, &in_sequence(signature, &body, errors));
        let evidence = with_arrays(signature, &mut body);
        let body = &body;
        let mut parser = Parser {
            program: Program::default(),
            items: Vec::new(),
            scopes: vec![HashMap::new()],
            block: BODY,
            function: signature.method.is_none().then(|| signature.name.clone()),
            closure_body: None,
            by_value: HashSet::new(),
            replaced: None,
            recomputing: false,
            landings: Vec::new(),
            bound: HashSet::new(),
            parts: Parts::of(body),
            errors,
            names: Names::new(body),
            suspects: Suspects::of(signature, body),
            choices: HashMap::new(),
            types: HashMap::new(),
            integers: HashSet::new(),
            selecting: signature.selecting.clone(),
            reading: signature.reading.clone(),
            constructed: HashSet::new(),
            outcomes: HashMap::new(),
            holdable: holdable(body, &signature.output),
            evidence,
            indexed: Indexed::of(body, &signature.output),
        };
        parser.program.blocks.push(Block::default());
        parser.program.scalars = signature.generics.scalars.clone();
        parser.program.owners = signature.owners.clone();
        parser.program.own = Some(signature.own());
        for parameter in &signature.parameters {
            let id = parameter.name.as_ref().map(|name| {
                let origin = match parameter.passing {
                    Passing::Value => Origin::Value,
                    Passing::Shared => Origin::Shared,
                    Passing::Unique => Origin::Unique,
                };
                let origin = if parameter.callable.is_some() { Origin::Function } else { origin };
                let id = parser.bind(name, origin, parameter.mutable || origin == Origin::Unique);
                if let Some(callable) = &parameter.callable {
                    let function = Function {
                        generic: callable.generic.clone(),
                        modes: callable.modes(&signature.generics),
                        resizing: callable.inputs.iter().any(|input| input.may_be_resized()),
                        output: callable.output.to_token_stream(),
                        kind: signature.generics.kind_of(&callable.output),
                        changing: callable.changing,
                    };
                    parser.program.functions.insert(id, function);
                }
                let (variable, ty) = (&mut parser.program.variables[id], parameter.ty_in_body());
                variable.kind = signature.generics.kind_of(&ty);
                variable.constant = parameter.constant;
                variable.optional = parameter.optional && !parameter.constant;
                variable.memory = origin == Origin::Unique;
                variable.slice = is_slice(&ty);
                variable.fixed =
                    origin == Origin::Unique && matches!(ty, syn::Type::Slice(_) | syn::Type::Array(_));
                variable.general = signature.generics.general(&ty).cloned();
                variable.of_user = names_other_type(&ty, &variable.kind);
                variable.ty = Some(Box::new(ty.clone()));
                parser.types.insert(id, ty.clone());
                parser.by_value.extend(parameter.owned.then_some(id));
                parser.program.cloned.extend(parameter.is_cloned(&signature.generics).then_some(id));
                let a_struct = parameter.owned && !owned_type(&ty);
                parser.program.own_parameters.extend(a_struct.then_some(id));
                parser.note_vector(id, None, Some(&ty));
                id
            });
            parser.program.parameters.push(id);
        }
        if owned_type(&signature.output) {
            let early = parser.returning_early(body, &signature.output);
            let body = early.as_ref().unwrap_or(body);
            parser.fill_block(&returning_a_local(body, &signature.output));
            parser.settle_returned(body, &signature.output);
        } else if let Some(ty) = inside_type(&signature.output).filter(|ty| {
            parser.program.owners.own(ty)
                || names_other_type(ty, &signature.generics.kind_of(ty))
                    && (wraps_local_of_outer_block(body) || returns_one_of(&parser.holdable, body))
        }) {
            let body = parser.returning_inside(body, &signature.output, &ty);
            parser.fill_block(&body);
        } else if let Some(body) = parser.returning_parts_inside(body, &signature.output) {
            parser.fill_block(&body);
        } else {
            let output = &signature.output;
            let changed = returning_changed_copy(body, signature);
            let body = match &changed {
                Some(changed) => {
                    parser.program.owners.insert(output);
                    changed
                }
                None => body,
            };
            let parts = parser.returning_parts_early(body, output);
            let early = parts.or_else(|| parser.returning_struct_early(body, output));
            parser.fill_block(early.as_ref().unwrap_or(body));
        }
        parser.settle_constants();
        parser.refuse_optional_values();
        parser.program.settle_owners(&signature.output);
        parser.program.written = written;
        parser.program.name_variables();
        (parser.program, parser.items)
    }

    pub(crate) fn bind(&mut self, name: &Ident, origin: Origin, mutable: bool) -> VarId {
        let id = self.program.variables.len();
        self.program.variables.push(Variable {
            origin,
            mutable,
            ..Variable::local(name.clone(), self.block, id)
        });
        self.scope().insert(name.to_string(), Binding::Variable(id));
        id
    }

    pub(crate) fn scope(&mut self) -> &mut HashMap<String, Binding> {
        self.scopes.last_mut().expect("there is always a scope")
    }

    /// The closures that names stand for.
    pub(crate) fn visible_closures(&self) -> impl Iterator<Item = &Rc<Closure>> {
        self.scopes.iter().flat_map(HashMap::values).filter_map(|binding| match binding {
            Binding::Closure(closure) => Some(closure),
            _ => None,
        })
    }

    pub(crate) fn lookup(&self, name: &Ident) -> Option<&Binding> {
        let name = name.to_string();
        self.scopes.iter().rev().find_map(|scope| scope.get(&name))
    }

    /// The name is that of a reference.
    pub(crate) fn is_reference(&self, name: &Ident) -> bool {
        match self.lookup(name) {
            Some(Binding::Variable(id)) => self.program.variables[*id].by_reference(),
            Some(Binding::Alias { .. }) => true,
            Some(Binding::Closure(_) | Binding::Held(_)) | None => false,
        }
    }

    /// The name is that of a reference by which something is written to.
    pub(crate) fn is_unique(&self, name: &Ident) -> bool {
        match self.lookup(name) {
            Some(Binding::Variable(id)) => self.program.variables[*id].origin == Origin::Unique,
            Some(Binding::Alias { unique, .. }) => *unique,
            Some(Binding::Closure(_) | Binding::Held(_)) | None => false,
        }
    }

    /// The variables whose names occur in `tokens`.
    pub(crate) fn mentions(&self, tokens: TokenStream) -> Vec<VarId> {
        self.mentioned(tokens).mentions
    }

    /// What there is in `tokens` that has a name.
    pub(crate) fn mentioned(&self, tokens: TokenStream) -> Mentions {
        let mut found = Mentions::default();
        each_name(tokens, &mut |token, asked| {
            let known = found.mentions.len();
            self.collect_mentions(token, &mut found);
            if asked == Asked::Value {
                found.reads.extend_from_slice(&found.mentions[known..]);
            }
        });
        for ids in [&mut found.mentions, &mut found.reads] {
            ids.sort_unstable();
            ids.dedup();
        }
        found
    }

    fn collect_mentions(&self, token: &TokenTree, found: &mut Mentions) {
        match token {
            TokenTree::Ident(ident) => match self.lookup(ident) {
                Some(Binding::Variable(id)) => found.mentions.push(*id),
                Some(Binding::Alias { place, .. }) => {
                    found.mentions.push(place.base);
                    found.aliases.push((ident.clone(), place.clone()));
                }
                Some(Binding::Closure(closure)) => closure.mentions(&mut found.mentions),
                Some(Binding::Held(_)) | None => {}
            },
            TokenTree::Literal(literal) => {
                let named = named_in_format(&literal.to_string());
                let bound =
                    named.iter().filter_map(|name| self.scopes.iter().rev().find_map(|s| s.get(name)));
                found.mentions.extend(bound.filter_map(|binding| match binding {
                    Binding::Variable(id) => Some(*id),
                    _ => None,
                }));
            }
            TokenTree::Group(_) | TokenTree::Punct(_) => {}
        }
    }

    /// The names of places that occur in `tokens`.
    pub(crate) fn aliases(&self, tokens: TokenStream) -> Vec<(Ident, Place)> {
        self.mentioned(tokens).aliases
    }

    /// Notes which names for places from outside there are in `tokens`, of which `block` is made.
    pub(crate) fn name_places(&mut self, block: BlockId, tokens: impl ToTokens) {
        let mut names = self.aliases(tokens.into_token_stream());
        names.sort_by_key(|(name, _)| name.to_string());
        names.dedup_by_key(|(name, _)| name.to_string());
        self.program.names.insert(block, names);
    }

    pub(crate) fn new_block(&mut self) -> BlockId {
        self.program.blocks.push(Block::default());
        let id = self.program.blocks.len() - 1;
        self.program.closures.extend(self.closure_body.map(|body| (id, body)));
        id
    }

    pub(crate) fn parse_block(&mut self, block: &syn::Block) -> BlockId {
        let id = self.new_block();
        self.in_block(id, |parser| parser.fill_block(block));
        id
    }

    pub(crate) fn in_block(&mut self, id: BlockId, parse: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.block, id);
        self.scopes.push(HashMap::new());
        parse(self);
        self.scopes.pop();
        self.block = outer;
    }

    pub(crate) fn fill_block(&mut self, block: &syn::Block) {
        self.fill(block.stmts.iter().cloned().collect());
    }

    pub(crate) fn add(&mut self, syntax: &Syn, kind: ExprKind) -> ExprId {
        self.program.exprs.push(Expr { kind, syntax: syntax.clone(), active: false, span: syntax.span() });
        self.program.exprs.len() - 1
    }

    /// A closure that is inlined where it is called is nowhere else, nor is a function that a variable chooses.
    pub(crate) fn refuse_closures(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        for (i, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.refuse_closures(group.stream()),
                TokenTree::Ident(ident) => match self.lookup(ident) {
                    Some(Binding::Closure(closure)) if closure.syntax.inputs.is_empty() => {
                        self.errors.push(ident, STANDS);
                    }
                    Some(Binding::Closure(_)) => self.errors.push(ident, ESCAPES),
                    Some(Binding::Held(_)) => self.errors.push(ident, HELD),
                    Some(Binding::Variable(id))
                        if self.choices.contains_key(id) && is_called(&tokens[i + 1..]) =>
                    {
                        self.errors.push(ident, CHOSEN);
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }

    pub(crate) fn constant(&mut self, syntax: &Syn, pure: bool, why: Option<&str>) -> ExprId {
        if escapes(syntax) {
            self.errors.push(syntax, CONTROL);
        }
        self.refuse_closures(syntax.to_token_stream());
        self.refuse_moved_names(|moved| moved.visit_expr(syntax));
        self.constant_as_it_is(syntax, pure, why)
    }

    fn constant_as_it_is(&mut self, syntax: &Syn, pure: bool, why: Option<&str>) -> ExprId {
        let Mentions { mentions, reads, aliases } = self.mentioned(syntax.to_token_stream());
        self.add(
            syntax,
            ExprKind::Constant(Constant { mentions, reads, aliases, pure, why: why.map(Into::into) }),
        )
    }

    /// An expression of a type that carries no gradient, whatever it looks at.
    pub(crate) fn inert_expr(&mut self, syntax: &Syn) -> ExprId {
        self.plain_constant(syntax, None)
    }

    fn plain_constant(&mut self, syntax: &Syn, why: Option<&str>) -> ExprId {
        let plain = self.plain(syntax);
        let syntax = plain.as_ref().unwrap_or(syntax);
        let pure = why.is_none() && self.is_pure(syntax);
        let id = self.constant(syntax, pure, why);
        if plain.is_some() {
            self.program.rewritten.insert(id);
        }
        id
    }

    /// The variable that `expr` names.
    pub(crate) fn variable(&self, expr: &Syn) -> Option<VarId> {
        let Syn::Path(path) = expr else { return None };
        match self.lookup(path.path.get_ident()?)? {
            Binding::Variable(id) => Some(*id),
            _ => None,
        }
    }

    pub(crate) fn place(&mut self, expr: &Syn) -> Option<Place> {
        match expr {
            Syn::Path(path) => match self.lookup(path.path.get_ident()?)? {
                Binding::Variable(id) => Some(Place { base: *id, projections: Vec::new() }),
                Binding::Alias { place, .. } => Some(place.clone()),
                Binding::Closure(_) | Binding::Held(_) => None,
            },
            Syn::Index(index) => {
                let mut place = self.place(&index.expr)?;
                place.settle_part();
                self.program.variables[place.base].parted = true;
                let of_user = self.indexes_by_itself(&index.expr, &place, &index.index);
                let position = self.expr(&index.index);
                self.mark_inert(position);
                if of_user {
                    // Two indices are those of a matrix: see `pullback_rules::__private::number`.
                    let pair = matches!(&*index.index, Syn::Tuple(_));
                    let kind = if pair { Kind::Float } else { Kind::Unknown };
                    place.projections.push(Projection::Indexed(position, kind));
                    return Some(place);
                }
                let part = place.projections.last().cloned();
                place.projections.push(Projection::Index(position));
                // A row of one of two parts remains that: the call that has it and the other one cuts the slice.
                if let Some(Projection::Index(part)) = part
                    && (!self.program.cuts.contains_key(&part)
                        || self.program.kind_of_place(&place) == Kind::Float)
                    && let Some(position) = self.within(part, position)
                {
                    place.projections.truncate(place.projections.len() - 2);
                    place.projections.push(Projection::Index(position));
                }
                Some(place)
            }
            Syn::Field(field) => {
                let mut place = self.place(&field.base)?;
                place.settle_part();
                let variable = &mut self.program.variables[place.base];
                variable.parted = true;
                variable.positional |=
                    place.projections.is_empty() && matches!(field.member, syn::Member::Unnamed(_));
                place.projections.push(Projection::Field(field.member.clone()));
                Some(place)
            }
            Syn::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                if let Syn::MethodCall(call) = &*unary.expr
                    && let Some(place) = self.selected_by(call, Kind::Unknown)
                {
                    return Some(place);
                }
                let mut place = self.place(&unary.expr)?;
                let variable = &self.program.variables[place.base];
                let whole = place.projections.is_empty() && (variable.by_reference() || variable.referring)
                    || variable.found && place.projections.iter().all(|p| matches!(p, Projection::Deref));
                // A reference in a field, or a box.
                let field = matches!(&*unary.expr, Syn::Field(_));
                if whole || field && matches!(place.projections.last(), Some(Projection::Field(_))) {
                    place.projections.push(Projection::Deref);
                }
                Some(place)
            }
            Syn::MethodCall(call) => match self.view(call) {
                Some(place) => Some(place),
                None => self.selected_by(call, self.selects_within(call)?),
            },
            Syn::Paren(paren) => self.place(&paren.expr),
            Syn::Group(group) => self.place(&group.expr),
            _ => None,
        }
    }

    /// The position `k` of the part `i..i + n` is `i + k` of the whole, for the index `i` of a loop, which does not change. As
    /// written it stays `k`.
    fn within(&mut self, part: ExprId, position: ExprId) -> Option<ExprId> {
        let part = &self.program.exprs[part];
        let (Syn::Range(range), ExprKind::Constant(constant)) = (&part.syntax, &part.kind) else {
            return None;
        };
        let Some(Syn::Path(path)) = range.start.as_deref() else { return None };
        let Some(Binding::Variable(id)) = self.lookup(path.path.get_ident()?) else { return None };
        let position = &self.program.exprs[position];
        let literal = matches!(&position.syntax, Syn::Lit(lit) if matches!(lit.lit, syn::Lit::Int(_)));
        let same = constant.mentions == [*id] && self.program.variables[*id].origin == Origin::Index;
        if !same || !literal || !matches!(position.kind, ExprKind::Constant(_)) {
            return None;
        }
        let (start, literal, base) = (Syn::Path(path.clone()), position.syntax.clone(), *id);
        let first = Place { base, projections: Vec::new() };
        if is_zero(&literal) {
            return Some(self.add(&literal, ExprKind::Read(first)));
        }
        let left = self.add(&start, ExprKind::Read(first));
        let right = self.constant(&literal, true, None);
        Some(self.add(&literal, ExprKind::Binary { op: Op::Add, left, right }))
    }

    /// What an index is computed from carries no gradient.
    pub(crate) fn mark_inert(&mut self, expr: ExprId) {
        match &self.program.exprs[expr].kind {
            ExprKind::Read(place) if place.projections.is_empty() => {
                let base = place.base;
                self.program.variables[base].kind = Kind::Inert;
            }
            ExprKind::Neg(_)
            | ExprKind::Paren(_)
            | ExprKind::Binary { .. }
            | ExprKind::Tuple(_)
            | ExprKind::Array(_) => {
                for operand in self.program.operands(expr) {
                    self.mark_inert(operand);
                }
            }
            _ => {}
        }
    }

    /// What selects parts of a `const` or a `static`, `TABLE[i][j + 1]`, is integers.
    fn mark_indices_of_table(&mut self, part: &Syn) {
        match part {
            Syn::Index(index) if is_of_table(&index.expr) => {
                let position = self.expr(&index.index);
                self.mark_inert(position);
                self.mark_indices_of_table(&index.expr);
            }
            Syn::Field(field) => self.mark_indices_of_table(&field.base),
            _ => {}
        }
    }

    pub(crate) fn mark_range(&mut self, expr: &Syn) {
        match expr {
            Syn::Range(range) => {
                for bound in [&range.start, &range.end].into_iter().flatten() {
                    let bound = self.expr(bound);
                    self.mark_inert(bound);
                }
            }
            Syn::Paren(paren) => self.mark_range(&paren.expr),
            Syn::MethodCall(call) => self.mark_range(&call.receiver),
            _ => {}
        }
    }

    pub(crate) fn expr(&mut self, expr: &Syn) -> ExprId {
        match expr {
            Syn::Lit(_) => self.constant(expr, true, None),
            Syn::Path(path) => match path.path.get_ident().and_then(|name| self.lookup(name)).cloned() {
                Some(Binding::Variable(id)) => {
                    self.add(expr, ExprKind::Read(Place { base: id, projections: Vec::new() }))
                }
                Some(Binding::Alias { place, unique, .. }) => self.add(expr, ExprKind::Borrow { place, unique }),
                Some(Binding::Closure(_) | Binding::Held(_)) | None => self.constant(expr, true, None),
            },
            Syn::Index(_) | Syn::Field(_) => match self.place(expr) {
                Some(place) => self.add(expr, ExprKind::Read(place)),
                None => match self.part_of_call(expr) {
                    Some(block) => self.expr(&block),
                    None => {
                        self.mark_indices_of_table(expr);
                        let why = "only parts of variables can be selected differentiably: bind the value with `let` first";
                        let pure = self.is_pure(expr);
                        self.constant(expr, pure, Some(why))
                    }
                },
            },
            Syn::Unary(unary) => match unary.op {
                UnOp::Neg(_) if self.operates_on_owners(&[&unary.expr]) => {
                    self.operator_call(expr, Operator::Negation, &[&unary.expr])
                }
                UnOp::Neg(_) => {
                    let operand = self.operand(&unary.expr);
                    self.add(expr, ExprKind::Neg(operand))
                }
                UnOp::Deref(_) => match self.place(expr) {
                    Some(place) => self.add(expr, ExprKind::Read(place)),
                    None => match self.part_of_call(expr) {
                        Some(block) => self.expr(&block),
                        None => self.constant(
                            expr,
                            false,
                            Some("only references bound to names can be followed differentiably"),
                        ),
                    },
                },
                _ => self.inert_expr(expr),
            },
            Syn::Binary(binary) => match arithmetic(&binary.op) {
                Some(op) if self.operates_on_owners(&[&binary.left, &binary.right]) => {
                    self.operator_call(expr, Operator::Between(op), &[&binary.left, &binary.right])
                }
                Some(op) => {
                    let (left, right) = (self.operand(&binary.left), self.operand(&binary.right));
                    self.add(expr, ExprKind::Binary { op, left, right })
                }
                None if assign_op(&binary.op).is_some() => {
                    self.constant(expr, false, Some("an assignment is differentiable as a statement of its own only"))
                }
                None => self.inert_expr(expr),
            },
            Syn::Paren(paren) => {
                let inner = self.expr(&paren.expr);
                self.add(expr, ExprKind::Paren(inner))
            }
            Syn::Group(group) => self.expr(&group.expr),
            Syn::Cast(cast) => {
                if inert(&kind_of_type(&cast.ty)) {
                    return self.inert_expr(expr);
                }
                let inner = self.power_of_integer(cast).unwrap_or_else(|| self.expr(&cast.expr));
                self.add(expr, ExprKind::Cast(inner, cast.ty.clone()))
            }
            Syn::MethodCall(call) => self.method(expr, call),
            Syn::Call(call) => self.call(expr, call),
            Syn::Reference(reference) => match self.place(&reference.expr) {
                Some(place) => {
                    let unique = reference.mutability.is_some();
                    if unique {
                        self.program.variables[place.base].memory = true;
                        if self.through_binding(&reference.expr) {
                            self.errors.push(expr, "this borrows what a pattern has bound: borrow the variable itself, by its name");
                        }
                    }
                    self.add(expr, ExprKind::Borrow { place, unique })
                }
                None => {
                    let pure = self.is_pure(expr);
                    self.constant(expr, pure, Some("only variables and parts of them can be borrowed differentiably: bind the value with `let` first"))
                }
            },
            Syn::If(branch) if let Some(test) = self.if_variant(branch) => self.without_names(&branch.cond, &test),
            Syn::Match(m) if let Some(test) = self.match_variants(m) => self.without_names(&m.expr, &test),
            Syn::If(_) | Syn::Match(_) if let Some(block) = self.choice_by_element_of_call(expr) => self.expr(&block),
            Syn::If(_) | Syn::Match(_) if let Some(through) = self.through(expr) => self.expr(&through),
            Syn::If(branch) => self.branch(expr, branch),
            Syn::Match(m) => self.parse_match(expr, m),
            Syn::Loop(l) => self.endless(expr, l),
            Syn::Block(syn::ExprBlock { label: Some(label), block, .. }) => self.labelled(expr, label, block),
            Syn::Block(block) if block.label.is_none() => {
                let block = self.parse_block(&block.block);
                self.add(expr, ExprKind::Block(block))
            }
            Syn::Tuple(tuple) => {
                let elements = tuple.elems.iter().map(|e| self.expr(e)).collect();
                self.add(expr, ExprKind::Tuple(elements))
            }
            Syn::Array(array) => {
                let elements = array.elems.iter().map(|e| self.expr(e)).collect();
                self.add(expr, ExprKind::Array(elements))
            }
            Syn::Repeat(repeat) => {
                let element = self.expr(&repeat.expr);
                self.add(expr, ExprKind::Repeat(element, repeat.len.clone()))
            }
            Syn::Range(_) => self.inert_expr(expr),
            Syn::Return(_) | Syn::Break(_) | Syn::Continue(_) => self.exit(expr),
            Syn::Try(tried) if let Some(mapped) = self.mapped_try(tried) => self.expr(&mapped),
            Syn::Try(tried) => {
                let tried = self.expr(&tried.expr);
                self.add(expr, ExprKind::Try(tried))
            }
            Syn::Unsafe(_) | Syn::Async(_) | Syn::Await(_) => {
                self.errors.push(
                    expr,
                    "`unsafe` and `async` code cannot be differentiated: move it into a function of its own with a \
                     hand-written rule (`#[derive(Rule)]`)",
                );
                self.constant(expr, false, None)
            }
            Syn::Closure(_) => {
                self.plain_constant(expr, Some("a closure over active values is bound by `let`, or passed to an adapter or to a free function with a rule: do that, or write a function"))
            }
            Syn::Macro(m) if is_panic(&m.mac) => {
                let constant =
                    Constant { mentions: Vec::new(), reads: Vec::new(), aliases: Vec::new(), pure: true, why: None };
                self.add(expr, ExprKind::Constant(constant))
            }
            Syn::Macro(mac) if mac.mac.path.is_ident("vec") => self.vector(expr, &mac.mac),
            Syn::Macro(mac) if let Some(matrix) = self.matrix_macro(&mac.mac) => self.expr(&matrix),
            Syn::Macro(_) => self.constant(expr, false, Some("the value of a macro is not differentiable: write it out, or call a function")),
            Syn::Struct(literal) => {
                let fields = literal.fields.iter().map(|f| (f.member.clone(), self.expr(&f.expr))).collect();
                let rest = literal.rest.as_ref().map(|rest| self.expr(rest));
                let literal = StructLiteral { path: literal.path.clone(), fields, rest, called: false };
                self.add(expr, ExprKind::Struct(Box::new(literal)))
            }
            _ => self.constant(expr, false, Some("this expression is not differentiable yet: write it with variables, arithmetic and calls")),
        }
    }

    /// An operand of arithmetic, which follows references to numbers by itself.
    pub(crate) fn operand(&mut self, expr: &Syn) -> ExprId {
        if let Some(number) = self.number_of_call(expr) {
            return self.expr(&number);
        }
        let id = self.expr(expr);
        if let (Syn::Path(_), ExprKind::Borrow { place, unique: false }) =
            (expr, &self.program.exprs[id].kind)
            && self.program.kind_of_place(place) == Kind::Float
        {
            self.program.exprs[id].kind = ExprKind::Read(place.clone());
        }
        id
    }

    /// What [`Parser::lift`] could not take out: in a place of its own.
    pub(crate) fn in_place(
        &mut self,
        expr: &Syn,
        result: Result<Chain, Refused>,
        mut before: Vec<Stmt>,
    ) -> ExprId {
        match result {
            Ok(Chain::Inert) => self.inert_expr(expr),
            Ok(Chain::Value(item)) => {
                before.push(Stmt::Expr(item.expr(), None));
                let block = self.parse_block(&syn::Block { brace_token: Default::default(), stmts: before });
                self.program.blocks[block].rewritten = true;
                self.add(expr, ExprKind::Block(block))
            }
            Err((tokens, why)) => {
                let pure = self.is_pure(expr);
                let id = self.constant_as_it_is(expr, pure, Some(why.as_str()).filter(|why| !why.is_empty()));
                self.program.exprs[id].span = tokens.span();
                id
            }
        }
    }
}

pub(crate) fn is_assignment(expr: &Syn) -> bool {
    matches!(expr, Syn::Assign(_)) || matches!(expr, Syn::Binary(binary) if assign_op(&binary.op).is_some())
}

pub(crate) fn is_range(expr: &Syn) -> bool {
    match expr {
        Syn::Range(range) => range.start.is_some() && range.end.is_some(),
        Syn::Paren(paren) => is_range(&paren.expr),
        Syn::MethodCall(call) => {
            (call.method == "rev" || call.method == "step_by") && is_range(&call.receiver)
        }
        _ => false,
    }
}

pub(crate) fn arithmetic(op: &BinOp) -> Option<Op> {
    Some(match op {
        BinOp::Add(_) => Op::Add,
        BinOp::Sub(_) => Op::Sub,
        BinOp::Mul(_) => Op::Mul,
        BinOp::Div(_) => Op::Div,
        BinOp::Rem(_) => Op::Rem,
        _ => return None,
    })
}

/// What `^=` and its like, which only integers have, assign: the operator is that of `a ^ b`.
pub(crate) fn bitwise_op(op: &BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::BitXorAssign(_) => BinOp::BitXor(Default::default()),
        BinOp::BitAndAssign(_) => BinOp::BitAnd(Default::default()),
        BinOp::BitOrAssign(_) => BinOp::BitOr(Default::default()),
        BinOp::ShlAssign(_) => BinOp::Shl(Default::default()),
        BinOp::ShrAssign(_) => BinOp::Shr(Default::default()),
        _ => return None,
    })
}

pub(crate) fn assign_op(op: &BinOp) -> Option<Op> {
    Some(match op {
        BinOp::AddAssign(_) => Op::Add,
        BinOp::SubAssign(_) => Op::Sub,
        BinOp::MulAssign(_) => Op::Mul,
        BinOp::DivAssign(_) => Op::Div,
        BinOp::RemAssign(_) => Op::Rem,
        _ => return None,
    })
}

/// A part of something with the name of a `const` or a `static`.
fn is_of_table(expr: &Syn) -> bool {
    match expr {
        Syn::Index(index) => is_of_table(&index.expr),
        Syn::Field(field) => is_of_table(&field.base),
        Syn::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            name == name.to_uppercase()
        }),
        _ => false,
    }
}
