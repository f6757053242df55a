//! `#[differentiable(dual)]`: what a function that runs on dual numbers has beside its gradient.

pub(crate) mod companion;
mod direction;
mod floats;
mod gradient;
pub(crate) mod lifting;
mod seed;
mod sparse;
mod values;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{GenericParam, Ident, Type};

use crate::calls::on_duals;
use crate::dual::sparse::{sparse_hessian, sparse_jacobian};
use crate::errors::Errors;
use crate::passing::{Parameter, Passing};
use crate::program::Kind;
use crate::signature::Signature;

/// The number of directions, as a generic parameter.
pub(crate) fn width() -> Ident {
    Ident::new("__N", Span::mixed_site())
}

/// The type of a dual number's components, as a generic parameter.
pub(crate) fn component() -> Ident {
    Ident::new("__T", Span::mixed_site())
}

/// Both, as arguments of what has these parameters.
pub(crate) fn arguments() -> TokenStream {
    let (component, width) = (component(), width());
    quote!(#component, #width)
}

/// Both, as parameters.
pub(crate) fn parameters() -> TokenStream {
    let (component, width) = (component(), width());
    quote!(#component: ::pullback::__private::Float, const #width: usize)
}

/// The type of the dual numbers that take the place of floats.
pub(crate) fn number() -> Type {
    let arguments = arguments();
    syn::parse_quote!(::pullback::__private::DualNumber<#arguments>)
}

/// A dual number with the value `value` and no derivatives.
pub(crate) fn constant(value: &TokenStream) -> TokenStream {
    let arguments = arguments();
    quote!(__pb::DualNumber::<#arguments>::constant(#value))
}

/// Replaces a type by its name.
pub(crate) struct Retype<'t> {
    pub(crate) from: &'t str,
    pub(crate) to: &'t Type,
}

impl VisitMut for Retype<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Path(path) if path.qself.is_none() && path.path.is_ident(self.from) => {
                *ty = self.to.clone()
            }
            _ => syn::visit_mut::visit_type_mut(self, ty),
        }
    }
}

/// A type with another in the place of the one that is called `from`.
pub(crate) fn retyped(ty: &Type, from: &str, to: &Type) -> Type {
    let mut ty = ty.clone();
    Retype { from, to }.visit_type_mut(&mut ty);
    ty
}

impl Signature {
    /// Reports what keeps the function from being run on dual numbers.
    pub(crate) fn check_dual(&self, errors: &mut Errors) {
        if !self.dual {
            return;
        }
        for parameter in self.parameters.iter().filter(|p| p.callable.is_some()) {
            errors.push(
                &parameter.syntax,
                "a function that takes functions does not run on dual numbers yet: leave out `dual`",
            );
        }
        for parameter in self.parameters.iter().filter(|p| p.items().is_some()) {
            errors.push(
                &parameter.syntax,
                "a function that takes iterators does not run on dual numbers yet: take a slice, or leave out `dual`",
            );
        }
        let mentions = |ty: &Type, name: &str| {
            retyped(ty, name, &number()).to_token_stream().to_string() != ty.to_token_stream().to_string()
        };
        let active = self.active().map(|(_, p)| &p.ty).chain([&self.output]);
        for ty in active.filter(|ty| mentions(ty, "f32")) {
            errors.push(
                ty,
                "functions that run on dual numbers are of `f64`, or generic over a `Float`: write one of these, or leave out `dual`",
            );
        }
        if let Some(float) = self.float() {
            let constants = self.parameters.iter().filter(|p| p.constant && mentions(&p.ty, &float));
            for parameter in constants {
                errors.push(
                    &parameter.syntax,
                    format!(
                        "to run on dual numbers a function has constants of `f64`: write that in the place of `{float}`, and \
                         `{float}::from_f64(…)` where they are used"
                    ),
                );
            }
        }
        if self.callables().next().is_some() {
            // Their types are parameters, too.
            return;
        }
        let others = self.generics.type_names().filter(|name| !self.generics.scalars.contains(name));
        if let Some(name) = others.into_iter().next().or(self.generics.scalars.get(1)) {
            errors.push(
                name,
                "to run on dual numbers a function is generic over one float at most: leave out `dual`",
            );
        }
    }

    /// The Hessian is that of one number.
    pub(crate) fn has_products(&self) -> bool {
        self.dual && self.generics.kind_of(&self.output) == Kind::Float
    }

    /// The type parameter that stands for a float, if there is one.
    fn float(&self) -> Option<String> {
        self.generics.scalars.first().map(ToString::to_string)
    }

    /// The type of the function that is generic over a float, at another type.
    fn at(&self, number: &Type) -> TokenStream {
        let name = &self.name;
        let arguments =
            self.generics.names().map(|argument| match self.generics.scalars.contains(argument) {
                true => quote!(#number),
                false => quote!(#argument),
            });
        quote!(#name<#(#arguments),*>)
    }

    /// For a function with type parameters: it is called with dual numbers as it is.
    pub(crate) fn itself_as_callee(&self) -> TokenStream {
        if self.generics.type_names().next().is_none()
            || self.method.is_some()
            || self.callables().next().is_some()
        {
            return TokenStream::new();
        }
        let ((declared, types, clause), of_numbers) = (self.generics.split(), parameters());
        let (name, names, lent, output) = (&self.name, self.names(), self.lent(0), &self.output);
        let others = self.other_names();
        let written = others.iter().zip(&self.parameters).map(|(name, parameter)| {
            let ty = &parameter.syntax;
            quote!(#name: #ty)
        });
        let (call, primal) = (on_duals(Span::call_site()), self.primal());
        let passed = self.parameters.iter().zip(&others).map(|(p, x)| p.passed(x).unwrap_or(quote!(#x)));
        quote! {
            impl #declared #name #types #clause {
                #[doc(hidden)]
                #[inline(always)]
                pub fn #call<#of_numbers>(#(#written),*) -> #output {
                    #primal(#(#passed),*)
                }

                #[doc(hidden)]
                #[inline(always)]
                pub fn args_on_duals<'a, #of_numbers>(#(#lent),*) -> __pb::Args<'a, Self> {
                    (#(#names,)*)
                }

                #[doc(hidden)]
                pub fn rule_on_duals<#of_numbers>() -> impl __pb::Rule<Function = Self> {
                    <Self as __pb::HasRule>::make_rule()
                }
            }
        }
    }

    /// For a function of numbers that is generic over a float: it is called with dual numbers as itself at another type, and some of
    /// them may be constants.
    pub(crate) fn numbers_as_callee(&self) -> TokenStream {
        let Some(float) = self.float() else { return TokenStream::new() };
        let (number, parameters) = (number(), parameters());
        let (own, dual) = (self.at(&syn::parse_quote!(f64)), self.at(&number));
        let clause = self.generics.clause_at(&float, &number);
        let (call, name, names) = (on_duals(Span::call_site()), &self.name, self.other_names());
        let is_number = |p: &Parameter| !p.constant && p.ty.to_token_stream().to_string() == float;
        let (written, given): (Vec<_>, Vec<_>) = self
            .parameters
            .iter()
            .zip(&names)
            .map(|(p, name)| match (is_number(p), retyped(&p.ty, &float, &number)) {
                (true, ty) => (quote!(#name: impl Into<#ty>), quote!(#name.into())),
                (false, ty) => (quote!(#name: #ty), quote!(#name)),
            })
            .unzip();
        quote! {
            impl #own {
                #[doc(hidden)]
                #[inline(always)]
                pub fn #call<#parameters>(#(#written),*) -> #number #clause {
                    #name::<#number>(#(#given),*)
                }

                #[doc(hidden)]
                #[inline(always)]
                pub fn args_on_duals<'a, #parameters>(#(#written),*) -> __pb::Args<'a, #dual> #clause {
                    (#(#given,)*)
                }

                #[doc(hidden)]
                pub fn rule_on_duals<#parameters>() -> impl __pb::Rule<Function = #dual> #clause {
                    <#dual>::rule()
                }
            }
        }
    }

    /// For a function that is generic over a float: its counterpart in dual numbers is itself at another type.
    pub(crate) fn itself_on_duals(&self) -> TokenStream {
        let Some(float) = self.float() else { return TokenStream::new() };
        let (number, parameters, arguments) = (number(), parameters(), arguments());
        let (of_floats, of_duals) = (self.at(&syn::parse_quote!(f64)), self.at(&number));
        let constants = self.generics.constants();
        let clause = self.generics.clause_at(&float, &number);
        quote! {
            impl<#parameters, #(#constants),*> __pb::HasDual<#arguments> for #of_floats
            #clause
            {
                type Dual = #of_duals;
            }
        }
    }

    /// The methods of a gradient object that take dual numbers.
    pub(crate) fn dual_methods(&self) -> TokenStream {
        if !self.dual {
            return TokenStream::new();
        }
        let f64: Type = syn::parse_quote!(f64);
        let plain = |ty: &Type| self.float().map_or(ty.clone(), |float| retyped(ty, &float, &f64));
        let (ty, short, constants) = if self.generics.is_empty() {
            let name = &self.name;
            (quote!(#name), quote!(Gradient<'_>), Vec::new())
        } else {
            let arguments = self.generics.names().map(|name| match self.generics.scalars.contains(name) {
                true => quote!(f64),
                false => quote!(#name),
            });
            (self.at(&f64), quote!(Gradient<'_, #(#arguments),*>), self.generics.constants())
        };
        let (name, names, output) = (&self.name, self.names(), plain(&self.output));
        let typed: Vec<_> = self
            .parameters
            .iter()
            .zip(&names)
            .map(|(p, name)| {
                let ty = plain(&p.syntax);
                quote!(#name: #ty)
            })
            .collect();
        let passed = self.passed(&names);
        let (mut directions, mut direction_of) = (Vec::new(), vec![quote!(&()); names.len()]);
        // The same for several at once.
        let (number, mut each, mut each_of) = (width(), Vec::new(), direction_of.clone());
        let (mut shown, mut written, mut tangents) = (Vec::new(), Vec::new(), Vec::new());
        for (i, p) in self.active() {
            let (field, ty, index) = (&names[i], plain(&p.ty), syn::Index::from(i));
            let direction = format_ident!("d_{}", field, span = Span::mixed_site());
            let of_direction = match p.passing {
                Passing::Value => quote!(<#ty as __pb::Value>::Tangent),
                _ => quote!(<#ty as __pb::Differentiable>::View<'_>),
            };
            directions.push(quote!(#direction: #of_direction));
            each.push(quote!(#direction: [#of_direction; #number]));
            match p.passing {
                Passing::Value => {
                    shown.push(quote!(#field: gradients.#index));
                }
                _ => {
                    shown.push(quote!(#field: <#ty as __pb::Differentiable>::view(&buffers.#index)));
                }
            }
            direction_of[i] = quote!(&#direction);
            each_of[i] = quote!(&#direction[_k]);
            if p.passing == Passing::Unique {
                let doc = format!("Of what `{field}` holds at the end.");
                tangents.push(quote!(#[doc = #doc] pub #field: <#ty as __pb::Differentiable>::View<'a>));
                written.push(quote!(#field: <#ty as __pb::Differentiable>::view(&buffers.#index)));
            }
        }
        let direct = quote!(|lifted| lifted.direct(0, &[#(#direction_of),*]));
        let unit = matches!(&output, Type::Tuple(tuple) if tuple.elems.is_empty());
        let (mut types, mut values) = (Vec::new(), Vec::new());
        let (mut types_of_each, mut values_of_each) = (Vec::new(), Vec::new());
        if !unit {
            types.extend([quote!(#output), quote!(__pb::OutputTangent<Self>)]);
            values.extend([quote!(value), quote!(tangent)]);
            types_of_each.extend([quote!(#output), quote!([__pb::OutputTangent<Self>; #number])]);
            values_of_each.extend([quote!(value), quote!(tangents)]);
        }
        let struct_of_tangents = (!written.is_empty()).then(|| {
            let tangents_of_written = quote!(Tangents { #(#written,)* marker: __pb::PhantomData });
            types.push(quote!(Tangents<'_>));
            types_of_each.push(quote!([Tangents<'_>; #number]));
            values_of_each.push(quote!(buffers.each_ref().map(|buffers| #tangents_of_written)));
            values.push(tangents_of_written);
            quote! {
                /// The derivatives of what the `&mut` arguments hold at the end, in fields of their names.
                #[derive(Clone, Copy, Debug)]
                pub struct Tangents<'a> {
                    #(#tangents,)*
                    marker: __pb::PhantomData<&'a ()>,
                }
            }
        });
        // The lengths of arrays are not among the parameters of that struct.
        let struct_of_tangents = struct_of_tangents.filter(|_| constants.is_empty());
        let doc = format!(
            "The value of `{name}`, and its derivative in the direction that the arguments behind its own give, one for each \
             active parameter.\n\n`&mut` arguments hold afterwards what the function leaves there; the derivatives of that are \
             fields of the last result.\n\n# Panics\nIf a direction has another size than its argument."
        );
        let doc_of_each = format!(
            "The value of `{name}`, and its derivatives in several directions, of one run: behind the arguments stands an array for each \
             active parameter, with its part of each direction.\n\n`&mut` arguments hold afterwards what the function leaves there; \
             the derivatives of that are fields of the last results.\n\n# Panics\nIf a direction has another size than its argument."
        );
        let pushforward = (constants.is_empty() || written.is_empty()).then(|| {
            quote! {
                #[doc = #doc]
                #[inline]
                #[allow(clippy::too_many_arguments)]
                pub fn value_and_pushforward(&mut self, #(#typed,)* #(#directions),*) -> (#(#types),*) {
                    let (value, [tangent], [buffers]) =
                        self.extras.get::<__pb::Pushforward<Self>>().run((#(#passed,)*), #direct);
                    (#(#values),*)
                }

                #[doc = #doc_of_each]
                #[inline]
                #[allow(clippy::too_many_arguments)]
                pub fn value_and_pushforwards<const #number: usize>(
                    &mut self,
                    #(#typed,)*
                    #(#each),*
                ) -> (#(#types_of_each),*) {
                    let (value, tangents, buffers) = self
                        .extras
                        .get::<__pb::Pushforward<Self, #number>>()
                        .run((#(#passed,)*), |lifted| (0..#number).for_each(|_k| lifted.direct(_k, &[#(#each_of),*])));
                    (#(#values_of_each),*)
                }
            }
        });
        let gradient = |of: Ident| {
            quote!({
                let (gradients, buffers) = #of;
                Gradient { #(#shown,)* marker: __pb::PhantomData }
            })
        };
        let (first, second) = (gradient(format_ident!("first")), gradient(format_ident!("second")));
        let of_second_order = self.has_products().then(|| {
            let product = format!(
                "The value of `{name}`, its gradient, and the product of its Hessian with the direction that the arguments \
                 behind its own give, one for each active parameter.\n\n# Panics\nIf a direction has another size than its \
                 argument."
            );
            let hessian = format!(
                "The value of `{name}`, its gradient, and its Hessian. Rows and columns are the numbers that the active \
                 arguments consist of, one after the other."
            );
            let diagonal = format!(
                "The value of `{name}`, its gradient, and the diagonal of its Hessian, which has the fields of a gradient: *∂²f/∂xᵢ²* in the \
                 place of each number *xᵢ*."
            );
            let sparse = sparse_hessian(name, &typed, &passed, &output, &short, &first);
            quote! {
                #sparse

                /// An object that computes products of the Hessian with directions: the same as [`gradient`](Self::gradient).
                pub fn hvp() -> Self {
                    Self::gradient()
                }

                /// An object that computes Hessians: the same as [`gradient`](Self::gradient).
                pub fn hessian() -> Self {
                    Self::gradient()
                }

                #[doc = #product]
                #[inline]
                #[allow(clippy::too_many_arguments)]
                pub fn value_gradient_and_hvp(&mut self, #(#typed,)* #(#directions),*) -> (#output, #short, #short) {
                    let (value, first, second) =
                        self.products.run((#(#passed,)*), &[#(#direction_of),*]);
                    (value, #first, #second)
                }

                #[doc = #hessian]
                #[inline]
                #[allow(clippy::too_many_arguments)]
                pub fn value_gradient_and_hessian(
                    &mut self,
                    #(#typed),*
                ) -> (#output, #short, __pb::ndarray::ArrayView2<'_, f64>) {
                    let (value, first, hessian) = self.extras.get::<__pb::Hessian<Self>>().run((#(#passed,)*));
                    (value, #first, hessian)
                }

                #[doc = #diagonal]
                #[inline]
                #[allow(clippy::too_many_arguments)]
                pub fn value_gradient_and_hessian_diagonal(&mut self, #(#typed),*) -> (#output, #short, #short) {
                    let (value, first, second) = self.extras.get::<__pb::Hessian<Self>>().diagonal((#(#passed,)*));
                    (value, #first, #second)
                }
            }
        });
        let jacobian = format!(
            "The value of `{name}`, and the Jacobian: a row for each number that the function makes, those of its value first, \
             those of its `&mut` arguments behind; a column for each number that the active arguments consist of. `&mut` \
             arguments are restored."
        );
        let (of_floats, beside) = self.of_floats();
        let functions = [of_floats.gradient_as_function(&beside), of_floats.derivative_as_function(&beside)];
        let sparse_jacobian = sparse_jacobian(name, &typed, &passed, &output);
        quote! {
            #struct_of_tangents

            #(#functions)*

            impl<#(#constants),*> #ty {
                /// An object that computes pushforwards: the same as [`gradient`](Self::gradient).
                pub fn pushforward() -> Self {
                    Self::gradient()
                }

                /// An object that computes Jacobians: the same as [`gradient`](Self::gradient).
                pub fn jacobian() -> Self {
                    Self::gradient()
                }

                #pushforward

                #[doc = #jacobian]
                #[inline]
                #[allow(clippy::too_many_arguments)]
                pub fn value_and_jacobian(&mut self, #(#typed),*) -> (#output, __pb::ndarray::ArrayView2<'_, f64>) {
                    self.extras.get::<__pb::Jacobian<Self>>().run((#(#passed,)*))
                }

                #sparse_jacobian

                #of_second_order
            }
        }
    }
}

impl crate::generics::Generics {
    /// The `const` parameters, with their types.
    pub(crate) fn constants(&self) -> Vec<TokenStream> {
        let constants = self.params().filter_map(|p| match p {
            GenericParam::Const(p) => Some(quote!(#p)),
            _ => None,
        });
        constants.collect()
    }
}
