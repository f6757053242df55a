//! Methods of parts whose type may carry no gradient: `self.kind.sign()`, of an enum that nobody has marked. The macro sees no type, so the
//! compiler finds out: see `rules/src/unmarked.rs`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{GenericArgument, Ident};

use crate::calls::{Callee, sibling};
use crate::program::*;

/// How a method may reach its receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// To read it.
    Reads,
    /// To change it as well.
    Writes,
}

/// How many arguments such a method may have beside its receiver.
const ARGUMENTS: usize = 4;

impl Program {
    /// `receiver.name(args)`, called on a field, or a part of one, with constant arguments alone: its type may carry no gradient.
    pub(crate) fn may_be_unmarked(
        &self,
        receiver: ExprId,
        args: &[ExprId],
        turbofish: Option<&syn::AngleBracketedGenericArguments>,
    ) -> bool {
        let (ExprKind::Read(place) | ExprKind::Borrow { place, .. }) = &self.exprs[receiver].kind else {
            return false;
        };
        let variable = &self.variables[place.base];
        let inert = |arg: &ExprId| self.may_be_inert(*arg);
        let written = turbofish.into_iter().flat_map(|generics| &generics.args);
        let of_field = place.projections.iter().any(|p| matches!(p, Projection::Field(_)));
        variable.active
            && of_field
            && self.kind_of_place(place) == Kind::Unknown
            && args.len() <= ARGUMENTS
            && args.iter().all(inert)
            && !written.into_iter().any(|argument| !matches!(argument, GenericArgument::Lifetime(_)))
    }

    /// The argument carries no gradient, or is a field, `self.frame`, whose type tells. By reference none that does would be missed.
    fn may_be_inert(&self, arg: ExprId) -> bool {
        match &self.exprs[self.peel(arg)].kind {
            ExprKind::Callback(_) => false,
            ExprKind::Read(place) => {
                let of_field = place.projections.iter().any(|p| matches!(p, Projection::Field(_)));
                !self.exprs[arg].active || of_field && self.kind_of_place(place) == Kind::Unknown
            }
            _ => !self.exprs[arg].active,
        }
    }
}

/// The arguments of the rule of such a method.
pub(crate) fn call(method: &Ident, access: Access, args: &[TokenStream]) -> TokenStream {
    let (receiver, args) = args.split_first().expect("a method has a receiver");
    let [inner, marker] = ["receiver", "marker"].map(|name| Ident::new(name, Span::mixed_site()));
    let names: Vec<_> =
        (0..args.len()).map(|i| format_ident!("argument_{i}", span = Span::mixed_site())).collect();
    let (reached, name) = (
        if access == Access::Writes { quote!(#receiver.receiver_to_change()) } else { quote!(&#receiver) },
        sibling(method),
    );
    quote! {
        (&&&__pb::MethodOf::of(&#receiver))
            .called()
            .receiver(#reached, |#inner, (#(#names,)*), #marker| { #marker.reach(); #inner.#method(#(#names),*) })
            .#name(#(#args),*)
    }
}

/// What such methods of the program stand for where the type carries no gradient: a trait for each.
pub(crate) fn traits(program: &Program) -> TokenStream {
    let mut methods: Vec<(&Ident, usize)> = Vec::new();
    for expr in &program.exprs {
        if let ExprKind::Call { function: Callee::OfPart(name, _), args } = &expr.kind
            && !methods.contains(&(name, args.len() - 1))
        {
            methods.push((name, args.len() - 1));
        }
    }
    let traits = methods.iter().map(|(method, arguments)| {
        let name = format_ident!("Unmarked_{}_{arguments}", syn::ext::IdentExt::unraw(*method));
        let beside = sibling(&Ident::new(&method.to_string(), Span::call_site()));
        let types: Vec<_> = (0..*arguments).map(|i| format_ident!("A{i}")).collect();
        let values: Vec<_> = (0..*arguments).map(|i| format_ident!("a{i}")).collect();
        let nothing = types.iter().map(|_| quote!(__pb::ConstVal<()>));
        let call = quote! {
            __pb::UnmarkedCall<R, M, (#(#types,)*), O, (__pb::OfUnmarked<O>, #(#nothing,)*)>
        };
        quote! {
            #[allow(non_camel_case_types)]
            trait #name<R, M, O, #(#types),*> {
                fn #beside(self, #(#values: #types),*) -> #call;
            }
            impl<R, M, O, #(#types),*> #name<R, M, O, #(#types),*>
                for __pb::UnmarkedMethod<R, M, (#(#types,)*), O>
            {
                #[inline(always)]
                fn #beside(self, #(#values: #types),*) -> #call {
                    __pb::UnmarkedCall::new(self, (#(#values,)*))
                }
            }
        }
    });
    let traits: TokenStream = traits.collect();
    if traits.is_empty() {
        return traits;
    }
    quote! {
        use __pb::{OfActive as _, OfInert as _, OfReferent as _, ToChange as _};
        #traits
    }
}
