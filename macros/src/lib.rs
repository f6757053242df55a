//! The macros of the `pullback` crate, which is what to depend on: it re-exports and documents them.

mod activity;
mod differentiable;
mod errors;
mod forward;
mod kept;
mod kind;
mod parse;
mod program;
mod reverse;
mod scalar;
mod signature;
mod values;
mod versions;

use proc_macro::TokenStream;

/// Derives the gradient of a function. See the documentation of the `pullback` crate.
#[proc_macro_attribute]
pub fn differentiable(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let attribute = proc_macro2::TokenStream::from(attribute);
    if !attribute.is_empty() {
        let error = syn::Error::new_spanned(attribute, "`#[differentiable]` takes no arguments yet");
        return error.into_compile_error().into();
    }
    let function = match syn::parse::<syn::ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            let item = proc_macro2::TokenStream::from(item);
            let error = syn::Error::new_spanned(
                &item,
                "`#[differentiable]` stands on a free function with a body: move the computation into one",
            )
            .into_compile_error();
            return quote::quote!(#item #error).into();
        }
    };
    let plain = function.clone();
    match differentiable::expand(function) {
        Ok(tokens) => tokens.into(),
        Err(error) => {
            // The function itself stays usable, so that one mistake does not cause a hundred messages.
            let mut plain = plain;
            signature::strip(&mut plain);
            let error = error.into_compile_error();
            quote::quote!(#plain #error).into()
        }
    }
}

/// Registers the derivative of a scalar function in one line. See the documentation of the `pullback` crate.
#[proc_macro]
pub fn scalar_rule(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).and_then(scalar::ScalarRule::expand))
}

/// Declares that a function has no derivative. See the documentation of the `pullback` crate.
#[proc_macro]
pub fn non_differentiable(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).and_then(scalar::NonDifferentiable::expand))
}

/// Registers the derivatives of a table of scalar methods. See the documentation of the `pullback` crate.
#[proc_macro]
pub fn scalar_methods(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).map(|table: scalar::ScalarMethods| table.expand()))
}

fn expand(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(syn::Error::into_compile_error).into()
}

#[cfg(test)]
mod golden;
