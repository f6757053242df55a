//! Compile errors, collected so that all of a function's are shown at once.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Records that `tokens` cannot be differentiated; `message` says what to write instead.
    pub(crate) fn push(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The errors as code, beside what is usable nevertheless.
    pub(crate) fn into_compile_error(self) -> Option<TokenStream> {
        self.0.map(syn::Error::into_compile_error)
    }

    pub(crate) fn finish(&mut self) -> syn::Result<()> {
        self.0.take().map_or(Ok(()), Err)
    }
}
