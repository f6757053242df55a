//! References to numbers that a branch chooses: `let (low, high) = if a < b { (&a, &b) } else { (&b, &a) };` chooses the numbers,
//! `let (low, high) = if a < b { (a, b) } else { (b, a) };`, and refers to these.

use syn::{Expr as Syn, Pat, Stmt, parse_quote};

use crate::chosen::{each_end, ends_of};
use crate::contents::leaves;
use crate::parse::Parser;
use crate::uses::is_name;

impl Parser<'_> {
    /// What is to stand in place of such a `let`.
    pub(crate) fn chosen_numbers(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        if !matches!(&*init.expr, Syn::If(_) | Syn::Match(_) | Syn::Block(_))
            || !self.suspects.any(&init.expr)
        {
            return None;
        }
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let patterns: Vec<&Pat> = match pattern {
            Pat::Tuple(tuple) => tuple.elems.iter().collect(),
            pattern => vec![pattern],
        };
        let several = matches!(pattern, Pat::Tuple(_));
        let mut ends = Vec::new();
        if !patterns.iter().all(|pattern| is_name(pattern) || matches!(pattern, Pat::Wild(_)))
            || !ends_of(&init.expr, &mut ends)
        {
            return None;
        }
        ends.retain(|end| !leaves(end));
        let ends: Vec<_> =
            ends.into_iter().map(|end| parts(end, several, patterns.len())).collect::<Option<_>>()?;
        // They are all of one type, which one of them tells.
        let told = |i: usize| ends.iter().any(|end| self.is_reference_to(end[i]) == Some(false));
        let refers = |i: usize| told(i) && ends.iter().all(|end| self.referred(end[i]).is_some());
        let referring: Vec<bool> = (0..patterns.len()).map(refers).collect();
        if ends.is_empty() || !referring.contains(&true) {
            return None;
        }
        let mut numbers = (*init.expr).clone();
        each_end(&mut numbers, &mut |end| {
            let Some(parts) = parts(end, several, patterns.len()).filter(|_| !leaves(end)) else { return };
            let values = parts.iter().zip(&referring).map(|(part, refers)| match refers {
                true => self.referred(part).expect("as asked before"),
                false => (*part).clone(),
            });
            let values: Vec<_> = values.collect();
            *end = if several { parse_quote!((#(#values,)*)) } else { values[0].clone() };
        });
        let (mut names, mut references) = (Vec::<Pat>::new(), Vec::<Stmt>::new());
        for (pattern, refers) in patterns.iter().zip(&referring) {
            if !refers || !is_name(pattern) {
                names.push((*pattern).clone());
                continue;
            }
            let part = self.parts.fresh("part");
            names.push(parse_quote!(#part));
            references.push(parse_quote!(let #pattern = &#part;));
        }
        let names: Pat = if several { parse_quote!((#(#names,)*)) } else { names.remove(0) };
        Some(std::iter::once(parse_quote!(let #names = #numbers;)).chain(references).collect())
    }

    /// What `expr` refers to.
    fn referred(&self, expr: &Syn) -> Option<Syn> {
        self.is_reference_to(expr)?;
        match expr {
            Syn::Reference(reference) => reference.mutability.is_none().then(|| (*reference.expr).clone()),
            Syn::Paren(paren) => self.referred(&paren.expr),
            Syn::Path(_) => Some(parse_quote!(*#expr)),
            _ => None,
        }
    }
}

/// What a value gives to each of so many patterns.
fn parts(value: &Syn, several: bool, count: usize) -> Option<Vec<&Syn>> {
    match value {
        value if !several => Some(vec![value]),
        Syn::Tuple(tuple) if tuple.elems.len() == count => Some(tuple.elems.iter().collect()),
        _ => None,
    }
}
