//! The function, its rule, and how they call the engine.

use proc_macro2::{Ident, Literal, Span, TokenStream};
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
    // Of the host's arrays some may consist of constants, on dual numbers.
    let elements: Vec<Option<Ident>> = operands
        .iter()
        .enumerate()
        .map(|(i, o)| (!o.scalar && !anywhere).then(|| format_ident!("E{i}")))
        .collect();
    let operand_of = |i: usize| match &elements[i] {
        Some(element) => {
            let dim = &dims[i];
            quote!(#private::ndarray::ArrayRef<#element, #dim>)
        }
        None => array_of(&dims[i]),
    };
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
    let bounds: Vec<_> = bounds.collect();
    let generics = quote!(<T: #fused::Real, #(#bounds),*>);
    let others: Vec<&Ident> = elements.iter().flatten().collect();
    let of_rule = quote!(<T: #fused::Real, #(#bounds,)* #(#others: #fused::Operand<T>),*>);
    let registered = quote!(<T: #fused::Real, #(#bounds,)* #(#others: #fused::Operand<T> = T),*>);
    let memory = match (anywhere, dimensions.first()) {
        (true, Some(array)) => quote!(<#array as #fused::Array<T>>::Memory),
        _ => quote!(#fused::Host),
    };
    let arguments = quote!(<T, #(#dimensions,)* #(#others),*>);
    let same = others.iter().map(|_| quote!(T));
    let usual = quote!(<T, #(#dimensions,)* #(#same),*>);

    // Parameters: the result, where that is an array; the operands; the axis.
    let of_array = array_of(&whole);
    let (y_parameter, y_name, output) = match result {
        Result::Number => (None, None, Some(quote!(-> T))),
        _ => (Some(quote!(#y: &mut #of_array,)), Some(quote!(#y,)), None),
    };
    let names: Vec<&Ident> = operands.iter().map(|o| &o.name).collect();
    let listed = |array: &dyn Fn(usize) -> TokenStream| {
        let operands = operands.iter().enumerate().map(|(i, Operand { name, scalar })| {
            let array = array(i);
            if *scalar { quote!(#name: T,) } else { quote!(#name: &#array,) }
        });
        quote!(#y_parameter #(#operands)*)
    };
    let (parameters, of_function) = (listed(&operand_of), listed(&|i| array_of(&dims[i])));
    let axis_type = quote!(#private::ndarray::Axis);
    let (axis_parameter, axis_name, along) = match axis {
        true => (Some(quote!(axis: #axis_type,)), Some(quote!(axis,)), quote!(#fused::Along::One(axis))),
        false => (None, None, quote!(#fused::Along::All)),
    };
    let constant_axis = axis_parameter.as_ref().map(|axis| quote!(#[constant] #axis));

    // What the engine gets.
    let texts = names.iter().map(|name| Literal::string(&name.to_string())).collect::<Vec<_>>();
    let text = Literal::string(&name.to_string());
    let rooms: Vec<Option<Ident>> = operands
        .iter()
        .zip(&elements)
        .map(|(o, element)| element.as_ref().map(|_| own(&format!("room_{}", o.name))))
        .collect();
    let listed = |value: &dyn Fn(&Ident) -> TokenStream| {
        let sources = operands.iter().enumerate().map(|(i, Operand { name, scalar })| {
            let value = value(name);
            match (&elements[i], &rooms[i]) {
                _ if *scalar => quote!(#fused::Source::number(&#name)),
                (Some(element), Some(room)) => {
                    quote!(<#element as #fused::Operand<T>>::source(#value, #room))
                }
                _ => quote!(#fused::Array::source(#value)),
            }
        });
        quote!(#(#sources),*)
    };
    let (sources, values) = (listed(&|name| quote!(#name)), listed(&|name| quote!(#name.value)));
    let sources = quote!([#sources]);
    let rooms: Vec<&Ident> = rooms.iter().flatten().collect();
    let (all_rooms, all_sources) = (own("rooms"), own("sources"));
    let room_types = quote!((#(<#others as #fused::Operand<T>>::Room,)*));
    let call = quote!(#fused::Call::new(memory, #text, [#(#texts),*], #along));
    // The result's, or else the first array's.
    let first = operands.iter().find(|o| !o.scalar).map(|o| &o.name);
    let (found, found_back) = match (y_name.is_some(), first.filter(|_| anywhere)) {
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

    let totals: Vec<Ident> = names.iter().map(|name| format_ident!("d_{name}")).collect();
    let scalars: Vec<&Ident> =
        operands.iter().zip(&totals).filter(|(o, _)| o.scalar).map(|(_, total)| total).collect();
    let sinks = operands.iter().enumerate().map(|(i, Operand { name, scalar })| {
        let (total, array, overwrites) = (&totals[i], operand_of(i), overwrites(name));
        match &elements[i] {
            _ if *scalar => {
                let constant = constant(name);
                quote!(#fused::Sink::number_unless(self.#constant, &mut #total))
            }
            Some(element) => {
                quote!(#fused::Sink::shadow(<#element as #fused::Operand<T>>::shadow(#name.shadow), self.#overwrites))
            }
            None => quote!(<#array as #fused::Array<T>>::shadow_sink(#name.shadow.get(), true)),
        }
    });
    let overwritten = (*result != Result::Number && !anywhere).then(|| overwrites(&y));
    let arrays = operands.iter().filter(|o| !o.scalar && !anywhere).map(|o| &o.name);
    let marked: Vec<&Ident> = arrays.chain(overwritten.is_some().then_some(&y)).collect();
    let marks: Vec<Ident> = marked.iter().map(|name| overwrites(name)).collect();
    let numbers: Vec<&Ident> = operands.iter().filter(|o| o.scalar).map(|o| &o.name).collect();
    let constants: Vec<Ident> = numbers.iter().map(|name| constant(name)).collect();
    let sinks = quote!(#(#sinks),*);
    // Nobody looks at the result's shadow any more where all of the result is overwritten.
    let (emptied, empty) = match &overwritten {
        Some(overwritten) => {
            (quote!((!self.#overwritten).then_some(dy)), Some(quote!(if !self.#overwritten)))
        }
        None => (quote!(Some(dy)), None),
    };
    let of_pullback = match result {
        Result::Elements => quote! {
            if let Some(dy) = #y.shadow.get() {
                #call.pull_elements::<Backward, _, #kept, _, _, _>(
                    [#values, #fused::Array::source(&*#y.value), <#of_array as #fused::Array<T>>::shadow_source(&dy)],
                    [#sinks, <#of_array as #fused::Array<T>>::shadow_sink(#emptied, false)],
                    &self.kept,
                );
            }
        },
        Result::Rows => quote! {
            if let Some(dy) = #y.shadow.get() {
                #call.pull_rows::<Backward, _, #kept, _>(
                    [#values], [#sinks], <#of_array as #fused::Array<T>>::shadow_source(&dy), &self.kept,
                );
                #empty { <#of_array as #fused::Array<T>>::clear_shadow(&dy); }
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
        .enumerate()
        .map(|(i, Operand { name, scalar })| {
            let array = operand_of(i);
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
        let plain = quote!(call.both::<Both, _, _, _>(#all_sources, sinks, seed));
        let (staged, value) = match staged {
            Some((port, staged)) => (
                Some(staged),
                quote! {
                    match call.stage(&#all_sources, &sinks[#port]) {
                        Some(stage) => {
                            let [#(#names),*] = #all_sources;
                            call.both::<Staged, _, _, _>([#(#names,)* stage], sinks, seed)
                        }
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
                let (#(#rooms,)*) = &mut self.rooms;
                let (call, #all_sources, sinks) = (#call, [#values], [#sinks]);
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
        #visibility fn #name #generics (#of_function #axis_parameter) #output {
            #rule::#usual::primal(#y_name #(#names,)* #axis_name)
        }

        #[doc(hidden)]
        #[allow(non_camel_case_types, clippy::type_complexity)]
        #[derive(::pullback::Rule)]
        #[rule(#visibility fn #name #registered (#parameters #constant_axis) #output)]
        #at_once
        struct #rule #of_rule {
            #old
            /// Constants as dual numbers.
            rooms: #room_types,
            /// What the forward knows of each row.
            kept: <#memory as #fused::Memory>::Kept<T>,
            #(#[rule(overwrites = #marked)] #marks: bool,)*
            #(#[rule(constant = #numbers)] #constants: bool,)*
            dimensions: ::core::marker::PhantomData<fn(#(#dimensions,)*)>,
        }

        impl #of_rule ::core::default::Default for #rule #arguments {
            fn default() -> Self {
                #rule {
                    #old_empty
                    rooms: ::core::default::Default::default(),
                    kept: ::core::default::Default::default(),
                    #(#marks: false,)*
                    #(#constants: false,)*
                    dimensions: ::core::marker::PhantomData,
                }
            }
        }

        #[allow(clippy::too_many_arguments, clippy::approx_constant)]
        impl #of_rule #rule #arguments {
            fn primal(#parameters #axis_parameter) #output {
                #fused::in_rooms(|#all_rooms| {
                    Self::compute(#y_name #(#names,)* #axis_name #all_rooms, ::core::option::Option::None)
                })
            }

            fn compute(
                #parameters #axis_parameter
                (#(#rooms,)*): &mut #room_types,
                kept: ::core::option::Option<&mut <#memory as #fused::Memory>::Kept<T>>,
            ) #output {
                #forward
                let memory = #found;
                #of_forward
            }

            fn forward(&mut self, #parameters #axis_parameter) #output {
                #save
                let kept = ::core::option::Option::Some(&mut self.kept);
                Self::compute(#y_name #(#names,)* #axis_name &mut self.rooms, kept)
            }

            #[allow(unused_mut, clippy::unused_unit)]
            fn pullback(&mut self, #y_dual #(#duals)* #axis_parameter #seed) -> #returns {
                #backward
                let memory = #found_back;
                let (#(#rooms,)*) = &mut self.rooms;
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

/// A variable that no operand's name meets.
fn own(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// What tells that the shadow of the operand `name` is to be overwritten.
fn overwrites(name: &Ident) -> Ident {
    format_ident!("overwrites_{name}")
}

/// What tells that nobody wants the gradient with respect to the operand `name`.
fn constant(name: &Ident) -> Ident {
    format_ident!("{name}_is_constant")
}
