//! Enums that own memory, behind references: what a variant holds is a part of them, which a method that the derive writes selects.
//!
//! `match layer { Layer::Dense { w, b } => …, Layer::Relu => … }` becomes
//!
//! ```text
//! match layer { Layer::Dense { .. } => { let w = &*layer.pullback_part_Dense_w(); let b = …; … }, Layer::Relu => … }
//! ```
//!
//! and so do `if let` and `let … else`; parts that are written to are bound by one `let`. That the enum owns memory is guessed from what is
//! done with the names; of plain ones, which have the same methods, the same code is right.

use std::collections::HashSet;

use proc_macro2::Span;
use quote::{ToTokens, format_ident, quote};
use syn::visit::Visit;
use syn::{Expr as Syn, Ident, Member, Pat, Stmt, parse_quote};

use crate::boxes::referred_to_inside;
use crate::contents::{inside, leaves, of_ours, referred};
use crate::destructure::{Referred, name_parts};
use crate::gather::idents;
use crate::parse::{Binding, Parser};
use crate::program::*;
use crate::rename::{bound, path};
use crate::selected::{INSIDE, INSIDE_MUT};
use crate::suspects::variable_of;
use crate::uses::is_name;

const PREFIX: &str = "pullback_part_";
/// The function around what binds several parts to be written to.
const PARTS: &str = "parts_of_variant";

/// The method that returns a reference to a field of a variant.
pub(crate) fn part(variant: &Ident, member: &Member, unique: bool) -> Ident {
    let member = match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    };
    let suffix = if unique { "_mut" } else { "" };
    format_ident!("{PREFIX}{variant}_{member}{suffix}", span = Span::mixed_site())
}

/// The method is one of these.
pub(crate) fn is_part(method: &Ident) -> bool {
    method.to_string().starts_with(PREFIX)
}

/// A pattern that binds nothing, and the `let`s that do so instead.
struct Parts {
    pattern: Pat,
    lets: Vec<Stmt>,
}

impl Parser<'_> {
    /// `match layer { Layer::Dense { w, b } => …, … }`
    pub(crate) fn match_variants(&mut self, m: &syn::ExprMatch) -> Option<Syn> {
        if let Syn::Tuple(whole) = &*m.expr {
            return self.match_several(whole, m);
        }
        let (whole, referred) = self.of_variants(&m.expr)?;
        let mut parted = m.clone();
        parted.arms = m.arms.iter().flat_map(alternatives).collect();
        let (mut handled, mut bound) = (false, Vec::new());
        for arm in &mut parted.arms {
            let (pattern, guard) = guarded(&arm.pat);
            let asked = match guard {
                // It only looks at what is there.
                Some(guard) => {
                    let lets = self.parts_of(pattern, &whole, Referred::Shared)?.lets;
                    Some(if lets.is_empty() { guard.clone() } else { parse_quote!({ #(#lets)* #guard }) })
                }
                None => None,
            };
            let Parts { pattern, lets } = self.parts_of(pattern, &whole, referred)?;
            let mut body = [Stmt::Expr((*arm.body).clone(), None)];
            handled |= referred_to_inside(&names(&lets), &mut body);
            handled |= self.handles(&lets, &body);
            arm.pat = match asked {
                Some(asked) => parse_quote!(#pattern if #asked),
                None => pattern,
            };
            if !lets.is_empty() {
                *arm.body = parse_quote!({ #(#lets)* #(#body)* });
            }
            bound.extend(lets);
        }
        let bodies = m.arms.iter().map(|arm| Stmt::Expr((*arm.body).clone(), None)).collect::<Vec<_>>();
        handled |= self.lends_to(&whole, referred, &bound, &bodies);
        handled |= m.arms.iter().any(|arm| is_in_box(&m.expr, &arm.pat));
        *parted.expr = seen(&m.expr);
        handled.then_some(Syn::Match(parted))
    }

    /// `if let Layer::Dense { w, b } = layer { … } else { … }`
    pub(crate) fn if_variant(&mut self, branch: &syn::ExprIf) -> Option<Syn> {
        let Syn::Let(binding) = &*branch.cond else { return None };
        let (whole, referred) = self.of_variants(&binding.expr)?;
        let Parts { pattern, lets } = self.parts_of(&binding.pat, &whole, referred)?;
        let mut branch = branch.clone();
        let boxed = referred_to_inside(&names(&lets), &mut branch.then_branch.stmts);
        let body = &branch.then_branch.stmts;
        let boxed = boxed || is_in_box(&binding.expr, &binding.pat);
        if !boxed && !self.handles(&lets, body) && !self.lends_to(&whole, referred, &lets, body) {
            return None;
        }
        let scrutinee = seen(&binding.expr);
        *branch.cond = parse_quote!(let #pattern = #scrutinee);
        branch.then_branch.stmts.splice(0..0, lets);
        Some(Syn::If(branch))
    }

    /// `match (a, b) { (Shape::Disc { r }, Shape::Path(p)) => …, … }`: which arm it is, and then what that binds.
    fn match_several(&mut self, whole: &syn::ExprTuple, m: &syn::ExprMatch) -> Option<Syn> {
        let places: Vec<_> = whole.elems.iter().map(|part| self.of_variants(part)).collect::<Option<_>>()?;
        let mut handled = false;
        let (mut tests, mut arms) = (Vec::<syn::Arm>::new(), Vec::<syn::Arm>::new());
        for (i, arm) in m.arms.iter().flat_map(alternatives).enumerate() {
            let (whole, guard) = guarded(&arm.pat);
            let lets = match whole {
                Pat::Tuple(parts) if parts.elems.len() == places.len() => {
                    let each = parts.elems.iter().zip(&places);
                    let lets =
                        each.map(|(part, (place, referred))| match option_part(part, place, *referred) {
                            Some(lets) => Some(lets),
                            None => Some(self.parts_of(part, place, *referred)?.lets),
                        });
                    lets.collect::<Option<Vec<_>>>()?.concat()
                }
                pattern if !binds(pattern) => Vec::new(),
                _ => return None,
            };
            let (number, mut body) = (syn::Index::from(i), [Stmt::Expr((*arm.body).clone(), None)]);
            handled |= referred_to_inside(&names(&lets), &mut body);
            handled |= self.handles(&lets, &body);
            let guard = guard.map(|guard| quote!(if #guard));
            tests.push(parse_quote!(#[allow(unused_variables)] #whole #guard => #number,));
            arms.push(parse_quote!(#number => { #(#lets)* #(#body)* }));
        }
        if !handled {
            return None;
        }
        let arm = Program::fresh("arm");
        Some(parse_quote!({
            let #arm: usize = match #whole { #(#tests)* };
            match #arm { #(#arms)* _ => ::core::unreachable!() }
        }))
    }

    /// `let Layer::Dense { w, b } = layer else { … };` in front of `rest`, and `let (w, b) = match layer { … };` if one arm alone yields.
    pub(crate) fn let_variant<'s>(
        &mut self,
        local: &syn::Local,
        rest: impl IntoIterator<Item = &'s Stmt> + Clone,
    ) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref()?;
        let (pattern, scrutinee, otherwise) = match (&init.diverge, &*init.expr) {
            (Some((_, otherwise)), scrutinee) => (local.pat.clone(), scrutinee, (**otherwise).clone()),
            (None, Syn::Match(m)) => (yielded(&local.pat, m)?, &*m.expr, left(m)),
            // The only variant.
            (None, scrutinee) => (local.pat.clone(), scrutinee, parse_quote!({ ::core::unreachable!() })),
        };
        fields(&pattern)?;
        let (whole, referred) = self.of_variants(scrutinee)?;
        let Parts { pattern, lets } = self.parts_of(&pattern, &whole, referred)?;
        if !self.handles(&lets, rest.clone()) && !self.lends_to(&whole, referred, &lets, rest) {
            return None;
        }
        let scrutinee = seen(scrutinee);
        let test = init.diverge.is_some() || matches!(&*init.expr, Syn::Match(_));
        let test = test.then(|| parse_quote!(let #pattern = #scrutinee else #otherwise;));
        Some(test.into_iter().chain(lets).collect())
    }

    /// One of the names is that of what owns memory, as what is done with it in `scope` tells.
    fn handles<'s>(&self, lets: &[Stmt], scope: impl IntoIterator<Item = &'s Stmt> + Clone) -> bool {
        names(lets).iter().any(|name| self.is_handled(&parse_quote!(#name), scope.clone()))
    }

    /// `if let Layer::Scale(k) = layer { *k *= 2.0; }` with `layer: &mut Layer`: whatever the enum is, `body` has the numbers by reference,
    /// and nothing else of `whole`.
    fn lends_to<'s>(
        &mut self,
        whole: &Syn,
        referred: Referred,
        lets: &[Stmt],
        body: impl IntoIterator<Item = &'s Stmt>,
    ) -> bool {
        let Some(root) = variable_of(whole) else { return false };
        let behind = self.place(whole).is_some_and(|place| self.program.variables[place.base].by_reference());
        if lets.is_empty() || !behind || !matches!(referred, Referred::Unique) {
            return false;
        }
        let mut apart = Apart { names: names(lets), root, field: first_field(whole), holds: true };
        body.into_iter().for_each(|stmt| apart.visit_stmt(stmt));
        apart.holds
    }

    /// The place behind a reference that is matched.
    fn of_variants(&mut self, scrutinee: &Syn) -> Option<(Syn, Referred)> {
        let (place, unique) = match scrutinee {
            Syn::Reference(reference) => ((*reference.expr).clone(), reference.mutability.is_some()),
            Syn::Path(path) => {
                let name = path.path.get_ident().filter(|name| self.is_reference(name))?;
                (scrutinee.clone(), self.is_unique(name))
            }
            // Of a box that a pattern has bound, or of an option.
            Syn::MethodCall(call) if referred(scrutinee).is_some() => {
                ((*call.receiver).clone(), call.method.to_string().ends_with("_mut"))
            }
            _ => return None,
        };
        let referred = if unique { Referred::Unique } else { Referred::Shared };
        (self.suspects.any(&place) && self.place(&place).is_some()).then_some((place, referred))
    }

    /// What stands for the pattern of a variant, or for one that binds nothing.
    fn parts_of(&self, pattern: &Pat, whole: &Syn, referred: Referred) -> Option<Parts> {
        if !binds(pattern) {
            return Some(Parts { pattern: pattern.clone(), lets: Vec::new() });
        }
        if let (Pat::Ident(name), true) = (pattern, is_name(pattern)) {
            let reference: Syn = match (whole, referred) {
                (Syn::Path(_), _) => whole.clone(),
                (whole, Referred::Unique) => parse_quote!(&mut #whole),
                (whole, _) => parse_quote!(&#whole),
            };
            return Some(Parts {
                pattern: parse_quote!(_),
                lets: vec![parse_quote!(let #name = #reference;)],
            });
        }
        let (path, all) = fields(pattern)?;
        let all = all.into_iter().filter(|(_, pattern)| binds(pattern));
        let lets = match referred {
            Referred::Unique => unique_lets(path, all, whole)?,
            _ => self.shared_lets(variant(path)?, all, whole)?,
        };
        Some(Parts { pattern: emptied(pattern), lets })
    }

    /// `let w = &*layer.pullback_part_Dense_w();`, for each field.
    fn shared_lets<'p>(
        &self,
        variant: &Ident,
        fields: impl Iterator<Item = (Member, &'p Pat)>,
        whole: &Syn,
    ) -> Option<Vec<Stmt>> {
        let mut lets = Vec::new();
        let whole: Syn = match whole {
            Syn::Unary(_) => parse_quote!((#whole)),
            whole => whole.clone(),
        };
        for (member, pattern) in fields {
            let part = part(variant, &member, false);
            let value: Syn = parse_quote!((*#whole.#part()));
            match self.evidence.shape_in(variant, &member).filter(|_| is_name(pattern)) {
                Some(shape) => {
                    let ty = shape.to_type();
                    lets.push(parse_quote!(let #pattern: &::pullback::__private::ndarray::#ty = &#value;));
                }
                None if name_parts(pattern, &value, Referred::Shared, &mut lets) => {}
                None => return None,
            }
        }
        Some(lets)
    }

    /// What the names in `let (w, b) = parts_of_variant(match layer { Layer::Dense { w, b, .. } => (w, b), … });` stand for.
    pub(crate) fn names_for_variant(&mut self, local: &syn::Local) -> Option<StatementKind> {
        let Syn::Call(call) = &*local.init.as_ref()?.expr else { return None };
        let Syn::Path(function) = &*call.func else { return None };
        let Some(Syn::Match(m)) =
            call.args.first().filter(|_| of_ours(&function.path).is_some_and(|name| name == PARTS))
        else {
            return None;
        };
        let Syn::Reference(whole) = &*m.expr else { return None };
        let (path, all) = fields(&m.arms[0].pat)?;
        let (variant, whole) = (variant(path)?, self.place(&whole.expr)?);
        self.program.variables[whole.base].memory = true;
        self.program.variables[whole.base].parted = true;
        let (mut names, mut arrays) = (Vec::new(), Vec::new());
        for (member, pattern) in all {
            let Pat::Ident(name) = pattern else { continue };
            let mut place = whole.clone();
            place.projections.push(Projection::Selected(
                part(variant, &member, true),
                Vec::new(),
                Kind::Unknown,
            ));
            arrays.extend(
                self.evidence.shape_in(variant, &member).map(|shape| (name.ident.to_string(), shape)),
            );
            names.push((name.ident.clone(), place));
        }
        let statement = self.names_for_places(local, names, true);
        for (name, shape) in arrays {
            let array = shape.to_type();
            if let Some(Binding::Alias { ty, .. }) = self.scope().get_mut(&name) {
                *ty = Some(parse_quote!(&mut ::pullback::__private::ndarray::#array));
            }
        }
        Some(statement)
    }
}

/// `b.as_ref()` of a box, as the pattern of a variant tells, which an option has not.
fn is_in_box(scrutinee: &Syn, pattern: &Pat) -> bool {
    matches!(scrutinee, Syn::MethodCall(_)) && fields(guarded(pattern).0).is_some()
}

/// What binds the name in `Some(name)` to what is inside of `option`.
fn option_part(pattern: &Pat, option: &Syn, referred: Referred) -> Option<Vec<Stmt>> {
    let name = inside(pattern).filter(|name| is_name(name))?;
    let method =
        Ident::new(if referred == Referred::Unique { INSIDE_MUT } else { INSIDE }, Span::mixed_site());
    Some(vec![match referred {
        Referred::Unique => parse_quote!(let #name = &mut *#option.#method();),
        _ => parse_quote!(let #name = &*#option.#method();),
    }])
}

/// The statement that [`Parser::names_for_variant`] knows, which alone may borrow several parts, and what is bound to parts of these.
fn unique_lets<'p>(
    path_of: &syn::Path,
    fields: impl Iterator<Item = (Member, &'p Pat)>,
    whole: &Syn,
) -> Option<Vec<Stmt>> {
    let (mut members, mut names, mut further) = (Vec::new(), Vec::new(), Vec::new());
    for (member, pattern) in fields {
        let name = match pattern {
            Pat::Ident(name) if is_name(pattern) => name.ident.clone(),
            pattern => {
                let name = Program::fresh("part");
                if !name_parts(pattern, &path(&name), Referred::Unique, &mut further) {
                    return None;
                }
                name
            }
        };
        members.push(member);
        names.push(name);
    }
    // A place is evaluated once.
    let name = Program::fresh("whole");
    let place: Syn = match whole {
        Syn::Path(_) => parse_quote!(*#whole),
        whole => whole.clone(),
    };
    let parts = Ident::new(PARTS, Span::mixed_site());
    let mut lets: Vec<Stmt> = vec![
        parse_quote!(let #name = &mut #place;),
        parse_quote! {
            let (#(#names,)*) = ::pullback::__private::#parts(match &mut *#name {
                #path_of { #(#members: #names,)* .. } => (#(#names,)*),
                #[allow(unreachable_patterns)]
                _ => ::core::unreachable!(),
            });
        },
    ];
    lets.extend(further);
    Some(lets)
}

/// What they bind.
fn names(lets: &[Stmt]) -> Vec<Ident> {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Local(local) => bound(&local.pat),
        _ => Vec::new(),
    };
    lets.iter().flat_map(of).collect()
}

/// No call gets several of the names, each of which borrows the whole, and none of the code mentions that.
struct Apart<'w> {
    names: Vec<Ident>,
    /// The variable that the whole is a part of.
    root: &'w Ident,
    /// The field of that which the whole is a part of: others may be mentioned.
    field: Option<&'w Member>,
    holds: bool,
}

impl<'ast> Visit<'ast> for Apart<'_> {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let named = |arg: &&Syn| matches!(arg, Syn::Path(path) if path.path.get_ident().is_some_and(|name| self.names.contains(name)));
        self.holds &= call.args.iter().filter(named).count() < 2;
        syn::visit::visit_expr_call(self, call);
    }
    fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
        let of_root = matches!(&*field.base, Syn::Path(path) if path.path.is_ident(self.root));
        if !of_root || self.field.is_none_or(|whole| *whole == field.member) {
            syn::visit::visit_expr_field(self, field);
        }
    }
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.holds &= !path.is_ident(self.root);
        syn::visit::visit_path(self, path);
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let mut mentioned = HashSet::new();
        idents(&mac.tokens, &mut mentioned);
        self.holds &= !mentioned.contains(&self.root.to_string());
    }
}

/// The field of a variable that `place` is a part of.
fn first_field(place: &Syn) -> Option<&Member> {
    match place {
        Syn::Field(field) if matches!(*field.base, Syn::Path(_)) => Some(&field.member),
        Syn::Field(field) => first_field(&field.base),
        Syn::Index(index) => first_field(&index.expr),
        Syn::Paren(paren) => first_field(&paren.expr),
        _ => None,
    }
}

/// The pattern without its guard.
pub(crate) fn guarded(pattern: &Pat) -> (&Pat, Option<&Syn>) {
    match pattern {
        Pat::Guard(guarded) => (&guarded.pat, Some(&guarded.guard)),
        pattern => (pattern, None),
    }
}

/// An arm for each alternative, if these bind names.
pub(crate) fn alternatives(arm: &syn::Arm) -> Vec<syn::Arm> {
    let (Pat::Or(or), guard) = guarded(&arm.pat) else { return vec![arm.clone()] };
    if !binds(&arm.pat) {
        return vec![arm.clone()];
    }
    let alternative = |case: &Pat| {
        let pat = match guard {
            Some(guard) => parse_quote!(#case if #guard),
            None => case.clone(),
        };
        syn::Arm { pat, ..arm.clone() }
    };
    or.cases.iter().map(alternative).collect()
}

/// The path of a variant, and its fields with what they are bound to.
pub(crate) fn fields(pattern: &Pat) -> Option<(&syn::Path, Vec<(Member, &Pat)>)> {
    let (path, fields): (_, Vec<_>) = match pattern {
        Pat::TupleStruct(inner) => {
            if inner.elems.iter().any(|element| matches!(element, Pat::Rest(_))) {
                // Those behind it cannot be counted.
                let last = inner.elems.last().is_some_and(|last| matches!(last, Pat::Rest(_)));
                last.then_some(())?;
            }
            (&inner.path, inner.elems.iter().enumerate().map(|(i, element)| (i.into(), element)).collect())
        }
        Pat::Struct(inner) => {
            (&inner.path, inner.fields.iter().map(|field| (field.member.clone(), &*field.pat)).collect())
        }
        Pat::Paren(inner) => return fields(&inner.pat),
        _ => return None,
    };
    variant(path).map(|_| (path, fields))
}

/// The pattern, with `_` in the place of what binds names.
fn emptied(pattern: &Pat) -> Pat {
    let mut pattern = pattern.clone();
    let mut empty = |part: &mut Pat| {
        if binds(part) {
            *part = parse_quote!(_);
        }
    };
    match &mut pattern {
        Pat::TupleStruct(inner) => inner.elems.iter_mut().for_each(&mut empty),
        Pat::Struct(inner) => {
            for field in &mut inner.fields {
                field.colon_token.get_or_insert_default();
                empty(&mut field.pat);
            }
        }
        Pat::Paren(inner) => *inner.pat = emptied(&inner.pat),
        _ => {}
    }
    pattern
}

/// The pattern of the only arm that does not leave, if its value is what `names` get.
fn yielded(names: &Pat, m: &syn::ExprMatch) -> Option<Pat> {
    let mut yielding = m.arms.iter().filter(|arm| !leaves(&arm.body));
    let (arm, None) = (yielding.next()?, yielding.next()) else { return None };
    (names.to_token_stream().to_string() == arm.body.to_token_stream().to_string()).then(|| arm.pat.clone())
}

/// What the others do.
fn left(m: &syn::ExprMatch) -> Syn {
    let mut others = m.clone();
    others.arms.retain(|arm| leaves(&arm.body));
    // The last arm need not have one.
    others.arms.iter_mut().for_each(|arm| arm.comma = Some(Default::default()));
    others.arms.push(parse_quote!(_ => ::core::unreachable!()));
    parse_quote!({ #others })
}

/// What a pattern that binds nothing is matched against: it is only looked at.
fn seen(scrutinee: &Syn) -> Syn {
    match scrutinee {
        Syn::Reference(reference) => {
            let place = &reference.expr;
            parse_quote!(&#place)
        }
        Syn::MethodCall(call) if referred(scrutinee).is_some() => {
            let held = &call.receiver;
            parse_quote!(&*#held)
        }
        scrutinee => scrutinee.clone(),
    }
}

/// The pattern binds a name, rather than to name a constant.
pub(crate) fn binds(pattern: &Pat) -> bool {
    bound(pattern).iter().any(|name| !name.to_string().starts_with(char::is_uppercase))
}
