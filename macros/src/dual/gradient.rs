//! `f::grad(args…)`: the gradient as a function, which differentiable functions may call.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::passing::Passing;
use crate::privacy::Scope;
use crate::program::Kind;
use crate::signature::Signature;

impl Signature {
    /// The function, and its rule, for a function of `f64` with the type `of` beside it. There is one where the gradient can be returned: with
    /// respect to values, or to one reference.
    pub(super) fn gradient_as_function(&self, of: &TokenStream) -> TokenStream {
        let active: Vec<_> = self.active().collect();
        let values = active.iter().all(|(_, p)| p.passing == Passing::Value);
        let reference = matches!(&active[..], [(_, p)] if p.passing == Passing::Shared);
        let scalar = self.generics.kind_of(&self.output) == Kind::Float;
        if !scalar || active.is_empty() || !(values || reference) {
            return TokenStream::new();
        }
        let (name, vis) = (&self.name, &self.vis);
        let of_gradient = format_ident!("{name}_grad", span = name.span());
        let label = format!("{}::grad", self.label());
        let parts: Vec<_> = active
            .iter()
            .map(|(i, p)| {
                let (ty, index) = (&p.ty, syn::Index::from(*i));
                match p.passing {
                    Passing::Value => (quote!(<#ty as __pb::Value>::Tangent), quote!(gradients.#index)),
                    _ => {
                        let gradient = quote!(<#ty as __pb::Differentiable>::Gradient);
                        (gradient, quote!(::core::clone::Clone::clone(&buffers.#index)))
                    }
                }
            })
            .collect();
        let (output, made, appended) = match &parts[..] {
            [(ty, value)] => (ty.clone(), value.clone(), quote!(__pb::Direction::append_to(&seed, flat);)),
            parts => {
                let (types, values) = (parts.iter().map(|(ty, _)| ty), parts.iter().map(|(_, value)| value));
                let indices = (0..parts.len()).map(syn::Index::from);
                (
                    quote!((#(#types),*)),
                    quote!((#(#values),*)),
                    quote!(#(__pb::Direction::append_to(&seed.#indices, flat);)*),
                )
            }
        };
        let names = self.names();
        let lent = self.lent(0);
        let typed = names.iter().zip(&self.parameters).map(|(name, p)| {
            let ty = &p.syntax;
            quote!(#name: #ty)
        });
        let doc = format!(
            "The gradient of [`{name}`](fn@{name}) with respect to its active parameters, a tuple if these are several. A \
             differentiable function may call it; by itself it computes everything anew, and a gradient object does better."
        );
        let (declared, types, _) = self.generics.split();
        let Scope { declared: definition, field, .. } = self.scope();
        quote! {
            #[allow(non_camel_case_types)]
            #vis struct #of_gradient #definition { #field }

            impl #declared __pb::Function for #of_gradient #types {
                type Parameters = <#of as __pb::Function>::Parameters;
                type Output = #output;
                const NAME: &'static str = #label;
                fn primal(args: __pb::Args<'_, Self>) -> #output {
                    __pb::gradient_of::<Self>(args)
                }
            }

            impl #declared __pb::OfGradient for #of_gradient #types {
                type Of = #of;
                fn output(gradients: __pb::Gradients<#of>, buffers: &__pb::Buffers<#of>) -> #output {
                    #made
                }
                fn append(seed: __pb::Cotangent<'_, Self>, flat: &mut ::std::vec::Vec<f64>) {
                    #appended
                }
            }

            impl #declared __pb::HasRule for #of_gradient #types {
                fn make_rule() -> impl __pb::Rule<Function = Self> + 'static {
                    __pb::GradientRule::<Self>::new()
                }
            }

            impl #declared #of {
                #[doc = #doc]
                #[allow(clippy::too_many_arguments)]
                pub fn grad(#(#typed),*) -> #output {
                    <#of_gradient #types as __pb::Function>::primal(Self::args(#(#names),*))
                }

                /// The arguments of a call of that.
                #[doc(hidden)]
                #[inline(always)]
                pub fn grad_args<'a>(#(#lent),*) -> __pb::Args<'a, #of_gradient #types> {
                    Self::args(#(#names),*)
                }

                /// Its rule.
                #[doc(hidden)]
                pub fn grad_rule() -> impl __pb::Rule<Function = #of_gradient #types> {
                    <#of_gradient #types as __pb::HasRule>::make_rule()
                }
            }
        }
    }
}
