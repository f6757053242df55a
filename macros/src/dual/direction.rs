//! `f::along(args…, directions…)`: the derivative along a direction as a function, which differentiable functions may call.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::Type;

use crate::passing::Passing;
use crate::privacy::Scope;
use crate::signature::Signature;

/// Numbers, arrays and tuples of them, which are of the same type as their gradients.
fn is_its_own_gradient(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.qself.is_none() && path.path.is_ident("f64"),
        Type::Array(array) => is_its_own_gradient(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().all(is_its_own_gradient),
        Type::Paren(paren) => is_its_own_gradient(&paren.elem),
        _ => false,
    }
}

impl Signature {
    /// The function, and its rule, for a function of `f64` with the type `of` beside it. There is one where directions can be parameters: values
    /// of numbers, or slices of them.
    pub(super) fn derivative_as_function(&self, of: &TokenStream) -> TokenStream {
        let active: Vec<_> = self.active().collect();
        let fits = active.iter().all(|(_, p)| match (p.passing, &p.ty) {
            (Passing::Value, ty) => is_its_own_gradient(ty),
            (Passing::Shared, Type::Slice(slice)) => is_its_own_gradient(&slice.elem),
            _ => false,
        });
        let scalar = matches!(&self.output, Type::Path(path) if path.path.is_ident("f64"));
        if !scalar || active.is_empty() || !fits {
            return TokenStream::new();
        }
        let (name, vis) = (&self.name, &self.vis);
        let derivative = format_ident!("{name}_along", span = name.span());
        let label = format!("{}::along", self.label());
        let (names, modes) = (self.names(), self.parameters.iter().map(|p| p.mode(&self.generics)));
        let count = names.len();
        let (mut typed, mut lent) = (Vec::new(), self.lent(0));
        for (name, parameter) in names.iter().zip(&self.parameters) {
            let ty = &parameter.syntax;
            typed.push(quote!(#name: #ty));
        }
        let (mut directions, mut directed, mut appended) = (Vec::new(), Vec::new(), Vec::new());
        let (mut of_directions, mut contributed) = (Vec::new(), Vec::new());
        for (number, (i, p)) in active.iter().enumerate() {
            let direction = format_ident!("d_{}", names[*i], span = Span::mixed_site());
            let (ty, mode) = (&p.ty, p.mode(&self.generics));
            let (from, to) = (syn::Index::from(*i), syn::Index::from(count + number));
            match p.passing {
                Passing::Value => {
                    typed.push(quote!(#direction: #ty));
                    lent.push(quote!(#direction: #ty));
                    of_directions.push(quote!(direction.0.#from));
                }
                _ => {
                    typed.push(quote!(#direction: &#ty));
                    lent.push(quote!(#direction: &'a #ty));
                    of_directions.push(quote!(()));
                    for (shadow, part) in [(&from, quote!(args)), (&to, quote!(direction))] {
                        contributed.push(quote! {
                            <#mode as __pb::ContributeParameter>::contribute(shadows.#shadow, &#part.1.#from);
                        });
                    }
                }
            }
            directed.push(mode);
            if p.passing == Passing::Shared {
                appended.push(quote! {
                    let (given, size) = (args.#to.len(), args.#from.len());
                    assert!(given == size, "`{}`: a direction has {given} elements, and its argument has {size}", #label);
                });
            }
            appended.push(quote!(__pb::Direction::append_to(&args.#to, flat);));
            directions.push(direction);
        }
        let indices: Vec<_> = (0..count).map(syn::Index::from).collect();
        let doc = format!(
            "The derivative of [`{name}`](fn@{name}) along a direction, which stands behind the arguments: for each active parameter one of \
             its type. A differentiable function may call it; by itself it computes everything anew, and an object of \
             [`pushforward`](Self::pushforward) does better."
        );
        let (declared, types, _) = self.generics.split();
        let Scope { declared: definition, field, .. } = self.scope();
        quote! {
            #[allow(non_camel_case_types)]
            #vis struct #derivative #definition { #field }

            impl #declared __pb::Function for #derivative #types {
                type Parameters = (#(#modes,)* #(#directed,)*);
                type Output = f64;
                const NAME: &'static str = #label;
                fn primal(args: __pb::Args<'_, Self>) -> f64 {
                    __pb::derivative_of::<Self>(args)
                }
            }

            impl #declared __pb::OfDirection for #derivative #types {
                type Of = #of;
                fn args<'a>(args: __pb::Args<'a, Self>) -> __pb::Args<'a, #of> {
                    (#(args.#indices,)*)
                }
                fn append(args: &__pb::Args<'_, Self>, flat: &mut ::std::vec::Vec<f64>) {
                    #(#appended)*
                }
                #[allow(unused_variables)]
                fn gradients<'a>(
                    shadows: __pb::Shadows<'a, Self>,
                    args: __pb::Shown<'_, #of>,
                    direction: __pb::Shown<'_, #of>,
                ) -> __pb::Gradients<Self> {
                    #(#contributed)*
                    (#(args.0.#indices,)* #(#of_directions,)*)
                }
            }

            impl #declared __pb::HasRule for #derivative #types {
                fn make_rule() -> impl __pb::Rule<Function = Self> + 'static {
                    __pb::DirectionRule::<Self>::new()
                }
            }

            impl #declared #of {
                #[doc = #doc]
                #[allow(clippy::too_many_arguments)]
                pub fn along(#(#typed),*) -> f64 {
                    <#derivative #types as __pb::Function>::primal(Self::along_args(#(#names,)* #(#directions),*))
                }

                /// The arguments of a call of that.
                #[doc(hidden)]
                #[inline(always)]
                #[allow(clippy::too_many_arguments)]
                pub fn along_args<'a>(#(#lent),*) -> __pb::Args<'a, #derivative #types> {
                    (#(#names,)* #(#directions,)*)
                }

                /// Its rule.
                #[doc(hidden)]
                pub fn along_rule() -> impl __pb::Rule<Function = #derivative #types> {
                    <#derivative #types as __pb::HasRule>::make_rule()
                }
            }
        }
    }
}
