//! What derived code calls of a hand-written rule that takes functions: like those beside derived rules in [`crate::lent`], but the
//! pullback gets both passes of each function.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use super::Rule;
use crate::callable::Callable;
use crate::generics::Generics;
use crate::program::Program;

fn numbered(letter: &str, i: usize) -> Ident {
    Program::fresh(&format!("{letter}{i}"))
}

impl Rule<'_> {
    /// The functions; none if the rule takes no functions. `types` are those of the parameters, lent for `'a`.
    pub(super) fn with_functions(&self, types: &[TokenStream], output: &TokenStream) -> Option<TokenStream> {
        self.parameters.iter().find(|p| p.function.is_some())?;
        let private = quote!(::pullback::__private);
        let span = self.signature.ident.span();
        let (forward, missing) = (crate::calls::forward_of_both(span), crate::calls::forward_with(span));
        let generics = Generics::new(&self.signature.generics);
        let (rule_type, rule) = (Program::fresh("Rule"), Program::fresh("rule"));
        let (residual, shadows, seed) =
            (Program::fresh("residual"), Program::fresh("shadows"), Program::fresh("seed"));

        // Of each of the four functions: type parameters, bounds, parameters.
        let (mut of_forward, mut of_pullback, mut of_missing, mut of_missing_pullback) =
            (Parts::default(), Parts::default(), Parts::default(), Parts::default());
        let (mut made_values, mut made_both) = (TokenStream::new(), TokenStream::new());
        let (mut values, mut both) = (Vec::new(), Vec::new());
        for (i, (parameter, ty)) in self.parameters.iter().zip(types).enumerate() {
            let x = numbered("x", i);
            let Some(callable) = &parameter.function else {
                for parts in [&mut of_forward, &mut of_pullback, &mut of_missing, &mut of_missing_pullback] {
                    parts.parameters.push(quote!(#x: #ty));
                }
                values.push(quote!(#x));
                both.push(quote!(#x));
                continue;
            };
            let Callable { inputs, output, .. } = callable;
            let modes = callable.modes(&generics);
            let (f, d, r, derivative) =
                (numbered("F", i), numbered("D", i), numbered("R", i), numbered("d", i));
            let syntax: Vec<_> = inputs.iter().map(|input| &input.syntax).collect();
            let args: Vec<_> = (0..inputs.len()).map(|i| numbered("a", i)).collect();
            let (args_of, gradients) = (
                quote!(<#modes as #private::Parameters>::Args<'any>),
                quote!(<#modes as #private::Parameters>::Gradients),
            );

            of_forward.generics.push(quote!(#f));
            of_forward.bounds.push(quote!(#f: Fn(#(#syntax),*) -> #output));
            of_forward.parameters.push(quote!(#x: #f));
            made_values.extend(quote! {
                let #x = #private::primal::<#modes, #output, _>(|(#(#args,)*)| #x(#(#args),*));
            });
            values.push(quote!(#private::DualFn::of_value(&#x)));

            of_pullback.generics.push(quote!(#f, #d));
            of_pullback.bounds.push(quote! {
                #f: for<'any> Fn(#args_of) -> #output,
                #d: for<'any, 'seed> FnMut(#private::Again<'any, 'seed, #modes, #output>) -> (#output, #gradients)
            });
            of_pullback.parameters.push(quote!(#x: #f, #derivative: #d));
            made_both.extend(quote!(let mut #derivative = #private::AtOnce(#derivative);));
            both.push(quote!(#private::DualFn::of_both(&#x, &mut #derivative)));

            of_missing.generics.push(quote!(#f, #d, #r));
            of_missing.residuals.push(quote!(#r));
            // The message is shown at the function that is passed.
            of_missing.bounds.push(quote! {
                #f: Fn(#(#syntax),*) -> #output + #private::CalledInOnePass,
                #d: for<'any> FnMut(#args_of) -> (#output, #r)
            });
            of_missing.parameters.push(quote!(#x: #f, #derivative: #d));

            of_missing_pullback.generics.push(quote!(#d, #r));
            of_missing_pullback.residuals.push(quote!(#r));
            of_missing_pullback.bounds.push(quote! {
                #d: for<'any, 'seed> FnMut(
                    #r,
                    #args_of,
                    <#modes as #private::Parameters>::Shadows<'any>,
                    <#output as #private::Output>::Cotangent<'seed>,
                ) -> #gradients
            });
            of_missing_pullback.parameters.push(quote!(#derivative: #d));
        }
        let Parts { generics: g1, bounds: b1, parameters: p1, .. } = of_forward;
        let Parts { generics: g2, bounds: b2, parameters: p2, .. } = of_pullback;
        let Parts { generics: g3, bounds: b3, parameters: p3, residuals: r3 } = of_missing;
        let Parts { generics: g4, bounds: b4, parameters: p4, residuals: r4 } = of_missing_pullback;
        Some(quote! {
            /// The forward of a call.
            #[doc(hidden)]
            #[inline(always)]
            #[allow(clippy::too_many_arguments, clippy::ptr_arg, clippy::type_complexity, clippy::multiple_bound_locations)]
            pub fn #forward<'a, #rule_type: #private::Rule<Function = Self>, #(#g1),*>(
                #rule: &mut #rule_type,
                #(#p1),*
            ) -> (#output, #rule_type::Residual)
            where
                #(#b1),*
            {
                #made_values
                #rule.forward((#(#values,)*))
            }

            /// Its pullback: for each function itself, and both of its passes.
            #[doc(hidden)]
            #[inline(always)]
            #[allow(clippy::too_many_arguments, clippy::ptr_arg, clippy::type_complexity, clippy::multiple_bound_locations)]
            pub fn pullback_of_both<'a, #rule_type: #private::Rule<Function = Self>, #(#g2),*>(
                #rule: &mut #rule_type,
                #residual: #rule_type::Residual,
                #(#p2,)*
                #shadows: #private::Shadows<'a, Self>,
                #seed: #private::Cotangent<'_, Self>,
            ) -> #private::Gradients<Self>
            where
                #(#b2),*
            {
                #made_both
                #rule.pullback(#residual, (#(#both,)*), #shadows, #seed)
            }

            /// What a call without `#[pullback(recompute)]` refers to.
            #[doc(hidden)]
            #[allow(unused_variables, clippy::too_many_arguments, clippy::ptr_arg, clippy::type_complexity, clippy::multiple_bound_locations)]
            pub fn #missing<
                'a,
                #rule_type: #private::Rule<Function = Self>,
                #(#g3),*
            >(
                #rule: &mut #rule_type,
                #(#p3),*
            ) -> (#output, #private::Lacking<(#(#r3,)*)>)
            where
                #(#b3),*
            {
                #private::lacking()
            }

            #[doc(hidden)]
            #[allow(unused_variables, clippy::too_many_arguments, clippy::ptr_arg, clippy::type_complexity, clippy::multiple_bound_locations)]
            pub fn pullback_with<'a, #rule_type: #private::Rule<Function = Self>, #(#g4),*>(
                #rule: &mut #rule_type,
                #residual: #private::Lacking<(#(#r4,)*)>,
                _room: usize,
                #(#p4,)*
                #shadows: #private::Shadows<'a, Self>,
                #seed: #private::Cotangent<'_, Self>,
            ) -> #private::Gradients<Self>
            where
                #(#b4),*
            {
                ::core::unreachable!("not compiled")
            }
        })
    }
}

/// What one of the functions consists of.
#[derive(Default)]
struct Parts {
    generics: Vec<TokenStream>,
    bounds: Vec<TokenStream>,
    parameters: Vec<TokenStream>,
    residuals: Vec<TokenStream>,
}
