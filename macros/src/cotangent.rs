//! Gradients on their way through the reverse pass.

use proc_macro2::{Span, TokenStream};
use quote::quote;

use crate::program::Program;
use crate::vectors::Moved;

/// A gradient on its way: an expression, and how tightly it binds.
#[derive(Clone)]
pub(crate) struct Cotangent {
    pub(crate) tokens: TokenStream,
    /// A name or an element: can be written several times.
    pub(crate) atom: bool,
    /// The gradient is owned, along with the vector that it belongs to.
    pub(crate) moved: Option<Moved>,
    /// A name for a gradient that may own memory: a callee has it lent.
    pub(crate) owned: bool,
    /// References to those of the elements of a tuple, of which some may own memory.
    pub(crate) apart: bool,
    /// That of what a call has returned, if it has to be a number here, and the name by which it goes.
    pub(crate) unsure: Option<Span>,
}

impl Cotangent {
    pub(crate) fn atom(tokens: TokenStream) -> Self {
        Cotangent { tokens, atom: true, moved: None, owned: false, apart: false, unsure: None }
    }
    pub(crate) fn term(tokens: TokenStream) -> Self {
        Cotangent { tokens, atom: false, moved: None, owned: false, apart: false, unsure: None }
    }
    /// That of a value which nobody looks at.
    pub(crate) fn nothing() -> Self {
        Cotangent::term(quote!(__pb::zero()))
    }
    pub(crate) fn is_nothing(&self) -> bool {
        self.tokens.to_string() == Cotangent::nothing().tokens.to_string()
    }
}

impl quote::ToTokens for Cotangent {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.tokens.to_tokens(tokens);
    }
}

impl Program {
    /// `-d`
    pub(crate) fn negate(&self, d: Cotangent) -> Cotangent {
        let mut tokens = d.tokens.clone().into_iter();
        match tokens.next() {
            _ if d.is_nothing() => d,
            Some(proc_macro2::TokenTree::Punct(minus)) if minus.as_char() == '-' => {
                Cotangent::term(tokens.collect())
            }
            _ => Cotangent::term(self.negated(&d.tokens)),
        }
    }

    /// The same of a name or an element. In generic functions the type of a number shows late.
    pub(crate) fn negated(&self, d: &TokenStream) -> TokenStream {
        if self.generic() && !self.dual { quote!(__pb::negated(#d)) } else { quote!(-#d) }
    }
}
