//! What the gradient of a function of dual numbers starts with: one, which does not change in any direction.

use proc_macro2::TokenTree;

use crate::cotangent::Cotangent;
use crate::fusion::added_to;
use crate::program::*;
use crate::reverse::{Reverse, quote_name};

impl Reverse<'_> {
    /// `d` may be what the reverse pass starts with, as a constant: that of the output, or of a sum that the output is made of. The
    /// optimiser multiplies by it as by a constant where `by_seed` does.
    pub(crate) fn of_seed(&self, d: &Cotangent) -> bool {
        let program = self.program;
        let mut tokens = d.tokens.clone().into_iter().filter(|token| !matches!(token, TokenTree::Punct(_)));
        let (true, Some(TokenTree::Ident(name)), None) = (program.dual, tokens.next(), tokens.next()) else {
            return false;
        };
        let blocks: Vec<_> = (0..program.blocks.len()).collect();
        let is_sum = |(id, variable): (VarId, &Variable)| {
            variable.shadow == name
                && variable.block == BODY
                && variable.kind == Kind::Float
                && added_to(program, &blocks, &[id])
        };
        name == quote_name("d").to_string() || program.variables.iter().enumerate().any(is_sum)
    }
}
