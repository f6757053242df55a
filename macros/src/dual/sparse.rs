//! The methods of a gradient object that compute sparse matrices.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Ident, Type};

/// The name of the last parameter, which cannot meet those of the function.
fn colouring() -> Ident {
    Ident::new("colouring", Span::mixed_site())
}

/// Those of a function that makes `output`, which takes the `typed` parameters as what is `passed`.
pub(super) fn sparse_jacobian(
    name: &Ident,
    typed: &[TokenStream],
    passed: &[TokenStream],
    output: &Type,
) -> TokenStream {
    let pattern = format!(
        "Where the Jacobian of `{name}` has entries: for each number that the function makes, the coordinates that it is computed from. That \
         is so wherever the function takes the same branches."
    );
    let jacobian = format!(
        "The value of `{name}`, and the entries of its Jacobian in the places of the pattern that `colouring` has. `&mut` arguments are \
         restored.\n\n# Panics\nIf the Jacobian has other dimensions than the pattern, or entries outside of it."
    );
    let colouring = colouring();
    quote! {
        #[doc = #pattern]
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn jacobian_pattern(&mut self, #(#typed),*) -> __pb::Pattern {
            self.extras.get::<__pb::SparseJacobian<Self>>().pattern((#(#passed,)*))
        }

        #[doc = #jacobian]
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn value_and_sparse_jacobian(
            &mut self,
            #(#typed,)*
            #colouring: &__pb::JacobianColouring,
        ) -> (#output, __pb::ndarray::ArrayView1<'_, f64>) {
            self.extras.get::<__pb::SparseJacobian<Self>>().run((#(#passed,)*), #colouring)
        }
    }
}

/// The same for Hessians; `shown` is the gradient, of type `gradient`, made of what is called `first`.
pub(super) fn sparse_hessian(
    name: &Ident,
    typed: &[TokenStream],
    passed: &[TokenStream],
    output: &Type,
    gradient: &TokenStream,
    shown: &TokenStream,
) -> TokenStream {
    let pattern = format!(
        "Where the Hessian of `{name}` has entries: for each coordinate those that its gradient is computed from. That is so wherever the \
         function takes the same branches."
    );
    let hessian = format!(
        "The value of `{name}`, its gradient, and the entries of its Hessian in the places of the pattern that `colouring` \
         has.\n\n# Panics\nIf the Hessian has other dimensions than the pattern, or entries outside of it."
    );
    let colouring = colouring();
    quote! {
        #[doc = #pattern]
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn hessian_pattern(&mut self, #(#typed),*) -> __pb::Pattern {
            self.extras.get::<__pb::SparseHessian<Self>>().pattern((#(#passed,)*))
        }

        #[doc = #hessian]
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn value_gradient_and_sparse_hessian(
            &mut self,
            #(#typed,)*
            #colouring: &__pb::HessianColouring,
        ) -> (#output, #gradient, __pb::ndarray::ArrayView1<'_, f64>) {
            let (value, first, hessian) =
                self.extras.get::<__pb::SparseHessian<Self>>().run((#(#passed,)*), #colouring);
            (value, #shown, hessian)
        }
    }
}
