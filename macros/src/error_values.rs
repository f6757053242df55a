//! What stands in an error, of something that carries a gradient: the compiler confirms that it is an integer, a text or the like.
//!
//! `Err(Error::NoConvergence(config.max_iter))`, of an active `config`, becomes
//! `Err(Error::NoConvergence(confirmed(config.max_iter)))`.

use quote::ToTokens;
use syn::Expr;
use syn::spanned::Spanned;

use crate::errors::Errors;
use crate::kind::inert;
use crate::lift::is_held_constant;
use crate::parse::ERROR;
use crate::program::*;
use crate::rename::Occurrences;
use crate::suspects::variable_of;
use crate::tails::is_of_traits;

/// Has the compiler confirm that errors carry no gradient, where they mention something that does, and reports the numbers in them.
pub(crate) fn confirm(program: &mut Program, errors: &mut Errors) {
    for expr in 0..program.exprs.len() {
        let node = &program.exprs[expr];
        let ExprKind::Constant(constant) = &node.kind else { continue };
        let active = constant.reads.iter().any(|id| program.variables[*id].active);
        if constant.why.as_deref() != Some(ERROR) || !active {
            continue;
        }
        let mut parts = Parts { program, constant, number: None, any: false };
        let mut syntax = node.syntax.clone();
        parts.confirm(&mut syntax);
        match parts.number {
            Some(name) => errors.push(&node.syntax, format!("{ERROR}\n(`{name}` carries a gradient)")),
            // It is the name of a field that is one of a variable, too.
            None if !parts.any => {}
            None => {
                program.exprs[expr].syntax = syntax;
                program.rewritten.insert(expr);
            }
        }
    }
}

/// The parts of an error.
struct Parts<'p> {
    program: &'p Program,
    constant: &'p Constant,
    /// A number with a gradient that is among them, by the name of its variable.
    number: Option<String>,
    /// There is something to confirm.
    any: bool,
}

impl Parts<'_> {
    /// Wraps what `value` is put together from.
    fn confirm(&mut self, value: &mut Expr) {
        match value {
            Expr::Paren(paren) => self.confirm(&mut paren.expr),
            Expr::Closure(closure) => self.confirm(&mut closure.body),
            Expr::Tuple(tuple) => tuple.elems.iter_mut().for_each(|part| self.confirm(part)),
            Expr::Struct(literal) if literal.rest.is_none() => {
                literal.fields.iter_mut().for_each(|field| {
                    self.confirm(&mut field.expr);
                    field.colon_token.get_or_insert_with(Default::default);
                });
            }
            Expr::MethodCall(call) if call.method == "into" && call.args.is_empty() => {
                self.confirm(&mut call.receiver);
            }
            Expr::Cast(cast) if is_of_traits(&cast.ty) => self.confirm(&mut cast.expr),
            Expr::Call(call) if is_held_constant(call) => {}
            Expr::Call(call) if matches!(&*call.func, Expr::Path(_)) && self.meant(&call.func).is_none() => {
                call.args.iter_mut().for_each(|arg| self.confirm(arg));
            }
            part if matches!(part, Expr::Macro(_)) || self.mentions_active(part) => {
                self.number = self.number.take().or_else(|| self.name_of_number(part));
                self.any = true;
                let span = part.span().resolved_at(proc_macro2::Span::call_site());
                *part = syn::parse_quote_spanned!(span=> ::pullback::__private::confirmed(#part));
            }
            _ => {}
        }
    }

    /// The variable that `expr` is a part of.
    fn meant(&self, expr: &Expr) -> Option<&Variable> {
        let id =
            self.program.meant_by(variable_of(expr)?, &self.constant.mentions, &self.constant.aliases)?;
        Some(&self.program.variables[id])
    }

    /// Something that carries a gradient is read.
    fn mentions_active(&self, part: &Expr) -> bool {
        let names = Occurrences::of_values(part.to_token_stream());
        let aliases = self.constant.aliases.iter().map(|(alias, place)| (alias, place.base));
        let variables = self.constant.mentions.iter().map(|id| (&self.program.variables[*id].name, *id));
        let mut known = aliases.chain(variables);
        known.any(|(name, id)| self.program.variables[id].active && names.count(name) > 0)
    }

    /// How the user calls the variable, if `part` is a number, or an element of an array of such.
    fn name_of_number(&self, part: &Expr) -> Option<String> {
        let variable = self.meant(part)?;
        let numbers = match &variable.kind {
            Kind::Sequence(element) => matches!(part, Expr::Index(_)) && !inert(element),
            kind => *kind == Kind::Float && !matches!(part, Expr::MethodCall(_)),
        };
        numbers.then(|| variable.as_called())
    }
}
