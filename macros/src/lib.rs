//! The macros of the `pullback` crate, which is what to depend on: it re-exports and documents them.

mod activity;
mod differentiable;
mod effects;
mod errors;
mod forward;
mod fusion;
mod kept;
mod kind;
mod parse;
mod program;
mod reverse;
mod rule;
mod scalar;
mod signature;
mod stencil;
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

/// Registers a hand-written, stateful rule for a function.
///
/// The struct holds what *one* activation keeps: the forward fills it, the matching pullback empties it. How many
/// activations are pending at a time is not the author's business: the engine makes one value of the struct, by
/// `Default`, for each, and reuses them, so that buffers in them are allocated once.
///
/// `#[rule(fn …)]` repeats the signature of the function that the rule is for, which is in scope under that name. With
/// `pub` before `fn`, what is generated is public as well: a *type* of the function's name, which one `use` imports along
/// with the function.
///
/// ```ignore
/// use pullback::prelude::*;
/// use pullback::{Dual, DualMut, Saved};
///
/// /// y ← a·y + x
/// pub fn scale_and_add(a: f64, y: &mut [f64], x: &[f64]) {
///     y.iter_mut().zip(x).for_each(|(y, x)| *y = a * *y + x);
/// }
///
/// #[derive(Rule, Default)]
/// #[rule(pub fn scale_and_add(a: f64, y: &mut [f64], x: &[f64]))]
/// struct ScaleAndAdd {
///     old_y: Saved<f64>,
/// }
///
/// impl ScaleAndAdd {
///     fn forward(&mut self, a: f64, y: &mut [f64], x: &[f64]) {
///         self.old_y.save(y);
///         scale_and_add(a, y, x);
///     }
///
///     fn pullback(&mut self, a: f64, y: DualMut<'_, [f64]>, x: Dual<'_, [f64]>) -> f64 {
///         self.old_y.restore(y.value);
///         let mut da = 0.0;
///         for i in 0..y.value.len() {
///             let dy = y.shadow.take(|dy| &dy[i]);
///             da += dy * y.value[i];
///             x.shadow.accumulate(|dx| &dx[i], dy);
///             y.shadow.accumulate(|old_dy| &old_dy[i], a * dy);
///         }
///         da
///     }
/// }
///
/// #[differentiable]
/// fn loss(a: f64, x: &[f64; 2]) -> f64 {
///     let mut y = [1.0, 2.0];
///     scale_and_add(a, &mut y, x);
///     y[0] * y[1]
/// }
///
/// let (value, d) = loss::gradient().value_and_gradient(3.0, &[0.5, 1.0]);
/// assert_eq!(value, 3.5 * 7.0);
/// assert_eq!((d.a, *d.x), (7.0 + 3.5 * 2.0, [7.0, 3.5]));
/// ```
///
/// # What the author writes
/// `Default`, derived or not, and two methods:
///
/// * `fn forward(&mut self, …)`, with the parameters and the output of the function. It computes what the function
///   computes, bit for bit, and keeps what the pullback will need.
/// * `fn pullback(&mut self, …)`, with one argument for each parameter, and the cotangent of the output as the last one
///   unless the output is `()`. It adds to the shadows of `&` parameters, brings `&mut` parameters back to what they
///   held, replaces their shadows by the gradient with respect to that, and returns the gradients of the active
///   parameters passed by value: nothing, one, or a tuple in their order.
///
/// | parameter | the pullback gets | and returns |
/// |---|---|---|
/// | `x: &T` | `Dual<'_, T>` | |
/// | `x: &mut T` | `DualMut<'_, T>` | |
/// | `x: f64`, or any other type by value | `f64` | its gradient |
/// | `n: usize`, or any other integer, `bool`, `char` | `usize` | |
/// | `#[constant] x: &T`, `#[constant] x: T` | `&T`, `T` | |
///
/// A generic function has a generic struct with the same parameters: `#[rule(fn f<T: Float>(x: &[T]))] struct F<T: Float>`.
///
/// # Fields
/// `#[rule(restores = c)]` on a field of type `Saved` says that it serves only to bring the `&mut` parameter `c` back. Where
/// nobody will look at that, the engine calls the field's `forgo`, after which `save_to_restore` copies nothing.
///
/// `#[rule(constant = x)]` on a field of type `bool` has it set to true where nobody will look at the gradient for the
/// parameter `x`, which is passed by value. What the pullback returns for `x` does not matter then.
#[proc_macro_derive(Rule, attributes(rule))]
pub fn rule(input: TokenStream) -> TokenStream {
    rule::derive(input.into()).into()
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
