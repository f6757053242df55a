//! `&mut` parameters without gradient that constant code changes, which nothing undoes: they are copied on entry, and brought
//! back when the pullback is through.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use crate::program::*;
use crate::reverse::Reverse;

/// The copies that a function makes.
pub(crate) struct Entries {
    save: TokenStream,
    restore: TokenStream,
}

impl Reverse<'_> {
    /// A slot for each parameter that has to be copied.
    pub(crate) fn entries(&mut self) -> Entries {
        let (mut save, mut restore) = (TokenStream::new(), TokenStream::new());
        for id in self.program.parameters.iter().flatten() {
            let variable = &self.program.variables[*id];
            if variable.origin == Origin::Unique && variable.is_copied() {
                let slot = self.slot("entry", quote!(__pb::Entries::new()));
                let (name, unique) = (&variable.name, &variable.unique);
                // Messages are about the parameter.
                save.extend(quote_spanned!(name.span()=> #slot.save(&*#name);));
                restore.extend(quote_spanned!(name.span()=> #slot.restore(&mut *#unique);));
            }
        }
        Entries { save, restore }
    }
}

impl Entries {
    /// The bodies of both closures, with the copies.
    pub(crate) fn around(&self, forward: TokenStream, pullback: TokenStream) -> (TokenStream, TokenStream) {
        let Entries { save, restore } = self;
        if restore.is_empty() {
            return (forward, pullback);
        }
        let gradients = Program::fresh("value");
        (quote!(#save #forward), quote!(let #gradients = { #pullback }; #restore #gradients))
    }
}
