//! What becomes of arguments that calls take by value.
//!
//! A rule has them lent, and where its function moves one, or changes it, the rule makes a copy. When an argument is of no more use, its
//! memory goes to the rule for the next copy: by way of callers that have had it lent themselves, in their order.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::calls::Callee;
use crate::program::*;
use crate::reverse::Reverse;
use crate::signature::Signature;

impl Reverse<'_> {
    /// What becomes of the memory of `vector`, which is of no more use: it goes back to the `slot`, if it is from there, or to a call that
    /// has taken what was moved to this variable.
    pub(crate) fn given_back(
        &self,
        slot: Option<&Ident>,
        vector: &TokenStream,
        id: Option<VarId>,
    ) -> TokenStream {
        let (rest, argument) = (Program::fresh("rest"), Program::fresh("argument"));
        let takers = id.map(|id| self.takers(id)).unwrap_or_default();
        let reclaims: Vec<_> =
            takers.iter().map(|(rule, i)| quote!(#rule.reclaim_argument(#i, #argument))).collect();
        match (slot, reclaims.is_empty()) {
            (None, true) => quote!(),
            (Some(slot), true) => quote!(#slot.give(#vector);),
            (None, false) => quote!(__pb::unless_reclaimed(#vector, |#argument| #(#reclaims)||*);),
            (Some(slot), false) => quote! {
                if let Some(#rest) = #slot.give(#vector) {
                    __pb::unless_reclaimed(#rest, |#argument| #(#reclaims)||*);
                }
            },
        }
    }

    /// The rules of calls that take the vector by value, or one that it may be moved to, with the numbers of the arguments.
    fn takers(&self, id: VarId) -> Vec<(Ident, usize)> {
        let program = self.program;
        if program.taken.is_empty() {
            return Vec::new();
        }
        let pool = |id: VarId| program.variables[id].pool;
        // With its rows.
        let whole = program.variables[id].row_of.unwrap_or(id);
        let taken = |arg: ExprId, place: &Place| {
            program.taken.contains(&arg) && [pool(id), pool(whole)].contains(&pool(place.base))
        };
        self.lent_to(taken)
    }

    /// The rules of calls with arguments such as `taken` says, which are whole variables.
    fn lent_to(&self, taken: impl Fn(ExprId, &Place) -> bool) -> Vec<(Ident, usize)> {
        let program = self.program;
        let mut found = Vec::new();
        for (call, expr) in program.exprs.iter().enumerate() {
            let ExprKind::Call { function, args } = &expr.kind else { continue };
            let Some(rule) = self.rules.get(&call).filter(|rule| self.slots.iter().any(|s| s.name == **rule))
            else {
                continue;
            };
            if matches!(function, Callee::Parameter(..)) || program.with_closures(args) {
                continue;
            }
            for (i, &arg) in args.iter().enumerate() {
                let (ExprKind::Borrow { place, unique: false } | ExprKind::Read(place)) =
                    &program.exprs[arg].kind
                else {
                    continue;
                };
                let pair = (rule.clone(), i);
                let whole = place.projections.iter().all(|p| matches!(p, Projection::Deref));
                if whole && taken(arg, place) && !found.contains(&pair) {
                    found.push(pair);
                }
            }
        }
        found
    }

    /// The arms of a `match` on the number of a parameter that the function owns: what its memory may serve.
    pub(crate) fn reclaiming(&self, signature: &Signature) -> Option<TokenStream> {
        let argument = Program::fresh("argument");
        let parameters = signature.parameters.iter().zip(&self.program.parameters).enumerate();
        let arms: Vec<_> = parameters
            .filter_map(|(number, (parameter, id))| {
                let id = id.filter(|_| parameter.owned)?;
                let reclaims: Vec<_> = self.lent_to(|_, place| place.base == id);
                let reclaims: Vec<_> =
                    reclaims.iter().map(|(rule, i)| quote!(#rule.reclaim_argument(#i, #argument))).collect();
                (!reclaims.is_empty()).then(|| quote!(#number => #(#reclaims)||*,))
            })
            .collect();
        (!arms.is_empty()).then(|| quote!(#(#arms)*))
    }
}
