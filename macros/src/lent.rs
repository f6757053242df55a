//! How derived code calls the rule of a function that takes functions: by two functions beside `args`, for the closures to be their
//! arguments. From their bounds the compiler infers the closures' types.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericParam, Ident};

use crate::callable::Callable;
use crate::calls::beside_method;
use crate::program::Program;
use crate::signature::Signature;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Forward,
    Reverse,
}

/// What one of the two functions consists of.
#[derive(Default)]
struct Parts {
    generics: Vec<TokenStream>,
    bounds: Vec<TokenStream>,
    parameters: Vec<TokenStream>,
    /// Statements that put closures in place.
    made: TokenStream,
    /// What the parameters are called.
    names: Vec<Ident>,
    /// The arguments of the rule.
    values: Vec<TokenStream>,
}

fn numbered(letter: &str, i: usize) -> Ident {
    Program::fresh(&format!("{letter}{i}"))
}

impl Signature {
    /// The functions that take closures; none if the function takes no functions.
    pub(crate) fn with_closures(&self) -> TokenStream {
        if self.callables().next().is_none() {
            return TokenStream::new();
        }
        let (name, output) = (&self.name, &self.output);
        let residuals: Vec<_> =
            self.callables().map(|(i, c)| (c.generic.clone(), numbered("R", i))).collect();
        let (declared, types, clause) = self.generics.with_residuals(&residuals);
        let (forward, pullback) =
            (crate::calls::forward_with(name.span()), Ident::new("pullback_with", name.span()));
        let of_forward = self.parts(Pass::Forward);
        let Parts { generics, bounds, parameters, made, values, .. } = self.parts(Pass::Reverse);
        let Parts { generics: generics_of_forward, bounds: bounds_of_forward, .. } = &of_forward;
        let Parts {
            parameters: parameters_of_forward, made: made_in_forward, values: values_of_forward, ..
        } = &of_forward;
        let rule_type = Program::fresh("Rule");
        let (rule, residual) = (Program::fresh("rule"), Program::fresh("residual"));
        let (shadows, seed, room) =
            (Program::fresh("shadows"), Program::fresh("seed"), Program::fresh("room"));
        quote! {
            impl #declared #name #types #clause {
                /// The forward of a call with closures: for each function itself and its forward.
                #[doc(hidden)]
                #[inline(always)]
                pub fn #forward<'a, #rule_type: __pb::Rule<Function = Self>, #(#generics_of_forward),*>(
                    #rule: &mut #rule_type,
                    #(#parameters_of_forward),*
                ) -> (#output, #rule_type::Residual)
                where
                    #(#bounds_of_forward),*
                {
                    #made_in_forward
                    #rule.forward((#(#values_of_forward,)*))
                }

                /// Its pullback: for each function its pullback; what they call asks for that much room.
                #[doc(hidden)]
                #[inline(always)]
                pub fn #pullback<'a, #rule_type: __pb::Rule<Function = Self>, #(#generics),*>(
                    #rule: &mut #rule_type,
                    #residual: #rule_type::Residual,
                    #room: usize,
                    #(#parameters,)*
                    #shadows: __pb::Shadows<'a, Self>,
                    #seed: __pb::Cotangent<'_, Self>,
                ) -> __pb::Gradients<Self>
                where
                    #(#bounds),*
                {
                    #made
                    #rule.pullback(#residual, (#(#values,)*), #shadows, #seed)
                }
            }
        }
    }

    /// The same beside a method, which the compiler's own resolution finds: `own` are the type parameters of the method.
    pub(crate) fn methods_with_closures(
        &self,
        own: &[&GenericParam],
        receiver: &TokenStream,
        this: &Option<TokenStream>,
    ) -> TokenStream {
        let Signature { vis, name, output, .. } = self;
        let (method, _) = self.method.as_ref().expect("a method");
        let residuals: Vec<_> =
            self.callables().map(|(i, c)| (c.generic.clone(), numbered("R", i))).collect();
        let stands_for_function = |p: &GenericParam| matches!(p, GenericParam::Type(p) if residuals.iter().any(|(name, _)| *name == p.ident));
        let own: Vec<_> = own.iter().filter(|p| !stands_for_function(p)).collect();
        let (_, types, clause) = self.generics.with_residuals(&residuals);
        let predicates: Vec<_> = clause.iter().flat_map(|clause| &clause.predicates).collect();
        let residuals: Vec<_> = residuals.iter().map(|(_, residual)| residual).collect();
        let rule_type = Program::fresh("Rule");
        let (rule, residual) = (Program::fresh("rule"), Program::fresh("residual"));
        let (shadows, seed, room) =
            (Program::fresh("shadows"), Program::fresh("seed"), Program::fresh("room"));
        let skipped = usize::from(!receiver.is_empty());
        let forward = crate::calls::forward_with(method.span());
        let pullback = Ident::new("pullback_with", method.span());
        let ty = quote!(#name #types);
        let declare = |pass: Pass, function: &Ident, extra: TokenStream, returned: TokenStream| {
            let (beside, parts) = (beside_method(method, function), self.parts(pass));
            let (generics, bounds) = (parts.generics, parts.bounds);
            let (parameters, names) = (&parts.parameters[skipped..], &parts.names[skipped..]);
            let behind = match pass {
                Pass::Forward => quote!(),
                Pass::Reverse => quote!(#shadows, #seed),
            };
            let first = match pass {
                Pass::Forward => quote!(#rule),
                Pass::Reverse => quote!(#rule, #residual, #room),
            };
            quote! {
                #[doc(hidden)]
                #[inline(always)]
                #vis fn #beside<'a, #rule_type: __pb::Rule<Function = #ty>, #(#own,)* #(#residuals: Send + 'static,)* #(#generics),*>(
                    #receiver
                    #(#parameters,)*
                    #rule: &mut #rule_type,
                    #extra
                ) -> #returned
                where
                    #(#predicates,)*
                    #(#bounds),*
                {
                    <#ty>::#function(#first, #this #(#names,)* #behind)
                }
            }
        };
        let of_forward = declare(Pass::Forward, &forward, quote!(), quote!((#output, #rule_type::Residual)));
        let extra = quote! {
            #residual: #rule_type::Residual,
            #room: usize,
            #shadows: __pb::Shadows<'a, #ty>,
            #seed: __pb::Cotangent<'_, #ty>,
        };
        let of_pullback = declare(Pass::Reverse, &pullback, extra, quote!(__pb::Gradients<#ty>));
        quote!(#of_forward #of_pullback)
    }

    fn parts(&self, pass: Pass) -> Parts {
        let mut parts = Parts::default();
        for (i, (parameter, ty)) in self.parameters.iter().zip(self.lent_types()).enumerate() {
            let x = numbered("x", i);
            match &parameter.callable {
                Some(callable) => self.add_callable(&mut parts, pass, i, callable),
                None => {
                    parts.names.push(x.clone());
                    parts.parameters.push(quote!(#x: #ty));
                    parts.values.push(quote!(#x));
                }
            }
        }
        parts
    }

    fn add_callable(&self, parts: &mut Parts, pass: Pass, i: usize, callable: &Callable) {
        let (modes, output, residual) = (callable.modes(&self.generics), &callable.output, numbered("R", i));
        let (primal, derivative, room) = (numbered("x", i), numbered("d", i), Program::fresh("room"));
        let (of_primal, of_derivative) = (numbered("F", i), numbered("D", i));
        match pass {
            Pass::Forward => {
                let inputs: Vec<_> = callable.inputs.iter().map(|input| &input.syntax).collect();
                let args: Vec<_> = (0..inputs.len()).map(|i| numbered("a", i)).collect();
                parts.generics.push(quote!(#of_primal, #of_derivative));
                parts.bounds.push(quote! {
                    #of_primal: Fn(#(#inputs),*) -> #output,
                    #of_derivative: for<'any> FnMut(<#modes as __pb::Parameters>::Args<'any>) -> (#output, #residual)
                });
                parts.names.extend([primal.clone(), derivative.clone()]);
                parts.parameters.extend([quote!(#primal: #of_primal), quote!(#derivative: #of_derivative)]);
                parts.made.extend(quote! {
                    let #primal = __pb::primal::<#modes, #output, _>(|(#(#args,)*)| #primal(#(#args),*));
                    let mut #derivative = __pb::Forward(#derivative);
                });
            }
            Pass::Reverse => {
                parts.generics.push(quote!(#of_derivative));
                parts.bounds.push(quote! {
                    #of_derivative: for<'any, 'seed> FnMut(
                        #residual,
                        <#modes as __pb::Parameters>::Args<'any>,
                        <#modes as __pb::Parameters>::Shadows<'any>,
                        <#output as __pb::Output>::Cotangent<'seed>,
                    ) -> <#modes as __pb::Parameters>::Gradients
                });
                parts.names.push(derivative.clone());
                parts.parameters.push(quote!(#derivative: #of_derivative));
                parts.made.extend(quote! {
                    let #primal = __pb::primal::<#modes, #output, _>(|_| ::core::unreachable!());
                    let mut #derivative = __pb::Pullback(#derivative, #room);
                });
            }
        }
        parts.values.push(quote!(__pb::Callback { primal: &#primal, derivative: &mut #derivative }));
    }
}
