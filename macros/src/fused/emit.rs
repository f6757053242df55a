//! The function, its rule, and how they call the engine.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::parse::{Arrays, Fused, Operand};
use super::{Kernels, Result};

pub(super) fn function(function: &Fused, kernels: &Kernels) -> TokenStream {
    let Fused { attributes, visibility, name, operands, axis, arrays, .. } = function;
    let Kernels { result, kept, forward, backward, both, staged } = kernels;
    let anywhere = *arrays == Arrays::Anywhere;
    // On a device a pullback adds, and follows its forward.
    let both = both.as_ref().filter(|_| !anywhere);
    let private = quote!(::pullback::__private);
    let fused = quote!(#private::fused);
    // Of any memory, the type parameters stand for the arrays; or else for their dimensions.
    let array_of = |dim: &Ident| match anywhere {
        true => quote!(#dim),
        false => quote!(#private::ndarray::ArrayRef<T, #dim>),
    };
    let rule = format_ident!("__Fused_{name}");
    let kept = Literal::usize_unsuffixed(*kept);

    // Type parameters.
    let y = Ident::new("y", name.span());
    let whole = format_ident!("D");
    let dims: Vec<Ident> = (0..operands.len()).map(|i| format_ident!("D{i}")).collect();
    let dimensions: Vec<&Ident> = (*result != Result::Number)
        .then_some(&whole)
        .into_iter()
        .chain(operands.iter().zip(&dims).filter(|(o, _)| !o.scalar).map(|(_, dim)| dim))
        .collect();
    let bounds = dimensions.iter().enumerate().map(|(i, dim)| match (anywhere, i) {
        (false, _) => quote!(#dim: #fused::Rank),
        (true, 0) => quote!(#dim: #fused::Array<T>),
        (true, _) => {
            let first = dimensions[0];
            quote!(#dim: #fused::Array<T, Memory = #first::Memory>)
        }
    });
    let generics = quote!(<T: #fused::Real, #(#bounds),*>);
    let memory = match dimensions.first() {
        Some(dim) => {
            let array = array_of(dim);
            quote!(<#array as #fused::Array<T>>::Memory)
        }
        None => quote!(#fused::Host),
    };
    let arguments = quote!(<T, #(#dimensions),*>);

    // Parameters: the result, where that is an array; the operands; the axis.
    let of_array = array_of(&whole);
    let (y_parameter, y_name, output) = match result {
        Result::Number => (None, None, Some(quote!(-> T))),
        _ => (Some(quote!(#y: &mut #of_array,)), Some(quote!(#y,)), None),
    };
    let names: Vec<&Ident> = operands.iter().map(|o| &o.name).collect();
    let parameters = operands.iter().zip(&dims).map(|(Operand { name, scalar }, dim)| {
        let array = array_of(dim);
        if *scalar { quote!(#name: T,) } else { quote!(#name: &#array,) }
    });
    let parameters = quote!(#y_parameter #(#parameters)*);
    let axis_type = quote!(#private::ndarray::Axis);
    let (axis_parameter, axis_name, along) = match axis {
        true => (Some(quote!(axis: #axis_type,)), Some(quote!(axis,)), quote!(#fused::Along::One(axis))),
        false => (None, None, quote!(#fused::Along::All)),
    };
    let constant_axis = axis_parameter.as_ref().map(|axis| quote!(#[constant] #axis));

    // What the engine gets.
    let texts = names.iter().map(|name| Literal::string(&name.to_string())).collect::<Vec<_>>();
    let text = Literal::string(&name.to_string());
    let sources = operands.iter().map(|Operand { name, scalar }| match scalar {
        true => quote!(#fused::Source::number(&#name)),
        false => quote!(#fused::Array::source(#name)),
    });
    let sources = quote!([#(#sources),*]);
    let call = quote!(#fused::Call::new(memory, #text, [#(#texts),*], #along));
    // The result's, or else the first array's.
    let first = operands.iter().find(|o| !o.scalar).map(|o| &o.name);
    let (found, found_back) = match (y_name.is_some(), first) {
        (true, _) => (quote!(#fused::Array::memory(#y)), quote!(#fused::Array::memory(#y.value))),
        (_, Some(first)) => {
            (quote!(#fused::Array::memory(#first)), quote!(#fused::Array::memory(#first.value)))
        }
        (_, None) => (quote!(#fused::Host), quote!(#fused::Host)),
    };
    let of_forward = match result {
        Result::Elements => quote! {
            #call.elements::<Forward, _, #kept, _>(#sources, #fused::Array::sink(#y), kept);
        },
        Result::Rows => quote! {
            #call.rows::<Forward, _, #kept, _>(#sources, #fused::Array::sink(#y), kept);
        },
        Result::Number => quote! {
            let mut total = T::of(0.0);
            #call.rows::<Forward, _, #kept, _>(#sources, #fused::Sink::number(&mut total), kept);
            total
        },
    };

    let values = operands.iter().map(|Operand { name, scalar }| match scalar {
        true => quote!(#fused::Source::number(&#name)),
        false => quote!(#fused::Array::source(#name.value)),
    });
    let totals: Vec<Ident> = names.iter().map(|name| format_ident!("d_{name}")).collect();
    let scalars: Vec<&Ident> =
        operands.iter().zip(&totals).filter(|(o, _)| o.scalar).map(|(_, total)| total).collect();
    let sinks = operands.iter().zip(&totals).zip(&dims).map(|((Operand { name, scalar }, total), dim)| {
        let array = array_of(dim);
        let overwrites = overwrites(name);
        match (scalar, anywhere) {
            (true, _) => quote!(#fused::Sink::number(&mut #total)),
            (false, true) => quote!(<#array as #fused::Array<T>>::shadow_sink(#name.shadow.get(), true)),
            (false, false) => quote!(#fused::Sink::shadow(#name.shadow, self.#overwrites)),
        }
    });
    let marked: Vec<&Ident> = operands.iter().filter(|o| !o.scalar && !anywhere).map(|o| &o.name).collect();
    let marks: Vec<Ident> = marked.iter().map(|name| overwrites(name)).collect();
    let (values, sinks) = (quote!(#(#values),*), quote!(#(#sinks),*));
    let of_pullback = match result {
        Result::Elements => quote! {
            if let Some(dy) = #y.shadow.get() {
                #call.pull_elements::<Backward, _, #kept, _, _, _>(
                    [#values, #fused::Array::source(&*#y.value), <#of_array as #fused::Array<T>>::shadow_source(&dy)],
                    [#sinks, <#of_array as #fused::Array<T>>::shadow_sink(Some(dy), false)],
                    &self.kept,
                );
            }
        },
        Result::Rows => quote! {
            if let Some(dy) = #y.shadow.get() {
                #call.pull_rows::<Backward, _, #kept, _>(
                    [#values], [#sinks], <#of_array as #fused::Array<T>>::shadow_source(&dy), &self.kept,
                );
                <#of_array as #fused::Array<T>>::clear_shadow(&dy);
            }
        },
        Result::Number => quote! {
            #call.pull_rows::<Backward, _, #kept, _>(
                [#values], [#sinks], #fused::Source::number(&seed), &self.kept,
            );
        },
    };
    let (old, save, restore) = match result {
        Result::Number => (None, None, None),
        _ => (
            Some(quote!(#[rule(restores = #y)] old: #fused::Old<T, #of_array>,)),
            Some(quote!(self.old.save(#y);)),
            Some(quote!(self.old.restore(#y.value);)),
        ),
    };
    let old_empty = old.is_some().then(|| quote!(old: ::core::default::Default::default(),));
    let duals: Vec<TokenStream> = operands
        .iter()
        .zip(&dims)
        .map(|(Operand { name, scalar }, dim)| {
            let array = array_of(dim);
            if *scalar { quote!(#name: T,) } else { quote!(#name: #private::Dual<'_, #array>,) }
        })
        .collect();
    let y_dual = y_parameter.as_ref().map(|_| quote!(#y: #private::DualMut<'_, #of_array>,));
    let seed = (*result == Result::Number).then(|| quote!(seed: T));

    let types = scalars.iter().map(|_| quote!(T));
    let (returned, returns): (TokenStream, TokenStream) = match scalars.len() {
        0 => (quote!(()), quote!(())),
        1 => (quote!(#(#scalars)*), quote!(T)),
        _ => (quote!((#(#scalars),*)), quote!((#(#types),*))),
    };

    let at_once = both.as_ref().map(|_| quote!(#[rule(at_once)]));
    let together = both.as_ref().map(|both| {
        let primals = operands.iter().map(|Operand { name, scalar }| match scalar {
            true => quote!(#name),
            false => quote!(#name.value),
        });
        let plain = quote!(call.both::<Both, _, _, _>([#values], sinks, seed));
        let (staged, value) = match staged {
            Some((port, staged)) => (
                Some(staged),
                quote! {
                    match call.stage(&[#values], &sinks[#port]) {
                        Some(stage) => call.both::<Staged, _, _, _>([#values, stage], sinks, seed),
                        None => #plain,
                    }
                },
            ),
            None => (None, plain),
        };
        quote! {
            #[allow(unused_mut, clippy::unused_unit, clippy::type_complexity)]
            fn value_and_pullback(&mut self, #(#duals)* seed: T) -> (T, #returns) {
                #both
                #staged
                let memory = #found_back;
                #(let mut #scalars = T::of(0.0);)*
                let (call, sinks) = (#call, [#sinks]);
                match #value {
                    Some(value) => (value, #returned),
                    None => {
                        let value = self.forward(#(#primals),*);
                        (value, self.pullback(#(#names,)* seed))
                    }
                }
            }
        }
    });

    quote! {
        #(#attributes)*
        #[allow(clippy::too_many_arguments)]
        #visibility fn #name #generics (#parameters #axis_parameter) #output {
            #rule::#arguments::compute(#y_name #(#names,)* #axis_name None)
        }

        #[doc(hidden)]
        #[allow(non_camel_case_types, clippy::type_complexity)]
        #[derive(::pullback::Rule)]
        #[rule(#visibility fn #name #generics (#parameters #constant_axis) #output)]
        #at_once
        struct #rule #generics {
            #old
            /// What the forward knows of each row.
            kept: <#memory as #fused::Memory>::Kept<T>,
            #(#[rule(overwrites = #marked)] #marks: bool,)*
            dimensions: ::core::marker::PhantomData<fn(#(#dimensions,)*)>,
        }

        impl #generics ::core::default::Default for #rule #arguments {
            fn default() -> Self {
                #rule {
                    #old_empty
                    kept: ::core::default::Default::default(),
                    #(#marks: false,)*
                    dimensions: ::core::marker::PhantomData,
                }
            }
        }

        #[allow(clippy::too_many_arguments, clippy::approx_constant)]
        impl #generics #rule #arguments {
            fn compute(
                #parameters #axis_parameter
                kept: ::core::option::Option<&mut <#memory as #fused::Memory>::Kept<T>>,
            ) #output {
                #forward
                let memory = #found;
                #of_forward
            }

            fn forward(&mut self, #parameters #axis_parameter) #output {
                #save
                Self::compute(#y_name #(#names,)* #axis_name ::core::option::Option::Some(&mut self.kept))
            }

            #[allow(unused_mut, clippy::unused_unit)]
            fn pullback(&mut self, #y_dual #(#duals)* #axis_parameter #seed) -> #returns {
                #backward
                let memory = #found_back;
                #(let mut #scalars = T::of(0.0);)*
                #of_pullback
                #restore
                #returned
            }

            #together
        }
    }
}

/// The two passes of a function of places.
pub(super) fn passes(function: &Fused, kernels: &Kernels) -> TokenStream {
    let Fused { attributes, visibility, name, operands, .. } = function;
    let Kernels { result, kept, forward, backward, .. } = kernels;
    let fused = quote!(::pullback::__private::fused);
    let kept = Literal::usize_unsuffixed(*kept);
    let count = Literal::usize_unsuffixed(operands.len());
    let texts = operands.iter().map(|o| Literal::string(&o.name.to_string()));
    let text = Literal::string(&name.to_string());
    let (sources, shadows): (Vec<Ident>, Vec<Ident>) = operands
        .iter()
        .map(|Operand { name, .. }| (format_ident!("of_{name}"), format_ident!("d_{name}")))
        .unzip();
    let (of_forward, of_pullback) = match result {
        Result::Elements => (
            quote!(call.elements::<Forward, _, #kept, _>(operands, y, kept)),
            quote!(call.pull_elements::<Backward, _, #kept, _, _, _>(
                [#(#sources,)* y, dy.0], [#(#shadows,)* dy.1], kept,
            )),
        ),
        Result::Rows | Result::Number => (
            quote!(call.rows::<Forward, _, #kept, _>(operands, y, kept)),
            // Whoever wants the gradient of the value to be zero empties it.
            quote!(call.pull_rows::<Backward, _, #kept, _>([#(#sources),*], [#(#shadows),*], dy.0, kept)),
        ),
    };
    quote! {
        #(#attributes)*
        #[allow(non_camel_case_types)]
        #visibility struct #name;

        #[allow(dead_code, clippy::approx_constant)]
        impl #name {
            const NAMES: [&'static str; #count] = [#(#texts),*];

            /// Writes the value to `y`, and what is known of each row to `kept`.
            #visibility fn forward<T: #fused::Real, M: #fused::Memory>(
                memory: &M,
                along: #fused::Along,
                y: #fused::Sink<'_, T>,
                operands: [#fused::Source<'_, T>; #count],
                kept: ::core::option::Option<&mut M::Kept<T>>,
            ) {
                #forward
                let call = #fused::Call::new(memory.clone(), #text, Self::NAMES, along);
                #of_forward;
            }

            /// Adds to the shadows of the operands, for the gradient `dy` as it is read and as it is overwritten.
            #visibility fn pullback<T: #fused::Real, M: #fused::Memory>(
                memory: &M,
                along: #fused::Along,
                [#(#sources),*]: [#fused::Source<'_, T>; #count],
                y: #fused::Source<'_, T>,
                dy: (#fused::Source<'_, T>, #fused::Sink<'_, T>),
                [#(#shadows),*]: [#fused::Sink<'_, T>; #count],
                kept: &M::Kept<T>,
            ) {
                #backward
                let _ = &y;
                let call = #fused::Call::new(memory.clone(), #text, Self::NAMES, along);
                #of_pullback;
            }
        }
    }
}

/// What tells that the shadow of the operand `name` is to be overwritten.
fn overwrites(name: &Ident) -> Ident {
    format_ident!("overwrites_{name}")
}
