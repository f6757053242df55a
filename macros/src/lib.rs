//! The macros of the `pullback` crate, which is what to depend on: it re-exports and documents them.

mod activity;
mod advancing;
mod again;
mod aggregates;
mod annotation;
mod apart;
mod arms;
mod arrays;
mod assigned;
mod behind;
mod blocks;
mod boxes;
mod boxing;
mod breaks;
mod by_key;
mod callable;
mod callbacks;
mod calls;
mod captured;
mod chain;
mod checkpoint;
mod chosen;
mod chosen_numbers;
mod closures;
mod configured;
mod contents;
mod control;
mod conversions;
mod copied;
mod cotangent;
mod counts;
mod cursors;
mod deferred;
mod derive;
mod destructure;
mod differentiable;
mod distinct;
mod dual;
mod effects;
mod entries;
mod error_values;
mod errors;
mod escape;
mod exchange;
mod exits;
mod expressions;
mod fallible;
mod float_literals;
mod folds;
mod forms;
mod formula;
mod forward;
mod found;
mod fragments;
mod functions;
mod fused;
mod fusion;
mod gather;
mod gathered;
mod generics;
mod given_to_macros;
mod guards;
mod handed_on;
mod held;
mod holdable;
mod hygiene;
mod impls;
mod imported_variants;
mod in_turn;
mod invocations;
mod iterators;
mod keeping;
mod kept;
mod kind;
mod latest;
mod leave;
mod lending;
mod lent;
mod let_else;
mod lift;
mod linear;
mod listed;
mod literals;
mod looks;
mod loops;
mod lowering;
mod mapped_outcomes;
mod matrices;
mod methods;
mod moves;
mod mutation;
mod named;
mod named_items;
mod named_options;
mod nested;
mod next_nodes;
mod normal;
mod of_std;
mod once;
mod only_read;
mod onto;
mod operands;
mod operators;
mod optional_references;
mod options;
mod order;
mod outcome;
mod overloads;
mod overwriting;
mod own_results;
mod owners;
mod ownership;
mod parameters;
mod parse;
mod parts_inside;
mod parts_of_calls;
mod passed_over;
mod passing;
mod peeling;
mod place_closures;
mod places;
mod plan;
mod polynomial;
mod privacy;
mod program;
mod projections;
mod pull;
mod purity;
mod queues;
mod reach;
mod reclaiming;
mod recurrence;
mod recycled;
mod references;
mod refilled;
mod rename;
mod replaced;
mod returned;
mod reverse;
mod rows;
mod rule;
mod runs;
mod scalar;
mod selected;
mod sequence;
mod several_options;
mod several_references;
mod shadows;
mod shortening;
mod signature;
mod sinking;
mod slices;
mod sorting;
mod spaces;
mod stacked;
mod statements;
mod stencil;
mod streams;
mod suspects;
mod swapped;
mod sweep;
mod synonyms;
mod tails;
mod temporaries;
mod through;
mod traits;
mod unmarked;
mod unpacked;
mod unseen;
mod used_up;
mod uses;
mod values;
mod variable;
mod variants;
mod vectors;
mod versions;
mod views;
mod walks;
mod whole;
mod written_out;
mod zips;

use proc_macro::TokenStream;

/// Derives the gradient of a function.
///
/// ```text
/// #[differentiable]
/// fn loss(w: &[f64], b: f64, #[constant] x: &[f64], n: usize) -> f64 { … }
///
/// let mut g = loss::gradient();
/// let (value, d) = g.value_and_gradient(&w, b, &x, n);    // d.w: &[f64], d.b: f64
/// ```
///
/// The attribute stands on one of these:
///
/// * a free function, which stays as it is but for the `#[constant]`s;
/// * an `impl`, or a trait: each method has a gradient then, unless it is marked `#[constant]`;
/// * the `impl` of an operator, such as `Add`, or of `Index` and `IndexMut`.
///
/// A parameter is *active*, that is, it has a gradient, unless it is marked `#[constant]` or its type carries none, such as an integer.
///
/// `#[differentiable(dual)]` on a free function adds forward mode and
/// [second derivatives](https://docs.rs/pullback/latest/pullback/guide/second_order/). `#[differentiable(recursive)]`, or
/// `#[pullback(recursive)]` on a method, is for a function that calls itself by way of others.
///
/// # What it emits
/// A type of the function's name and visibility, which one `use` imports along with the function. It is `Send`. If it has a last type
/// parameter `Types_`, leave that out: it makes types of the signature known that may be private. For a function `f` with parameters `args…`:
///
/// | | |
/// |---|---|
/// | `f::gradient() -> f` | an object that computes gradients; `f::pullback()` is the same |
/// | `g.value_and_gradient(args…) -> (Output, Gradient)` | if the output is one `f32` or `f64`: the value, and a struct with a field for each active parameter |
/// | `g.value_and_pullback(args…, seed, seeds…)` | for any output: from the gradient with respect to the output, and to what each active `&mut` argument holds at the end |
/// | `g.memory() -> usize` | the bytes of the heap that it holds |
/// | `g.shrink()` | gives them back |
/// | `f::rule() -> impl Rule<Function = f>` | the rule alone |
///
/// With `#[differentiable(dual)]`, for a function that runs on dual numbers, too:
///
/// | | |
/// |---|---|
/// | `g.value_and_pushforward(args…, directions…)` | the value, and its derivative along a direction: one for each active parameter |
/// | `g.value_and_pushforwards(args…, directions…)` | the same along several directions, by one run: an array for each active parameter |
/// | `g.value_and_jacobian(args…)` | the value, and the Jacobian |
/// | `g.value_gradient_and_hvp(args…, directions…)` | if the output is one `f64`: the value, the gradient, and the product of the Hessian with a direction |
/// | `g.value_gradient_and_hessian(args…)` | likewise with the Hessian |
/// | `g.value_gradient_and_hessian_diagonal(args…)` | likewise with its diagonal, in the form of a gradient |
/// | `g.value_and_sparse_jacobian(args…, &colouring)`, `g.value_gradient_and_sparse_hessian(args…, &colouring)` | the entries of matrices of which most are zero |
/// | `f::on_dual_numbers(args…)` | for a function that is not generic over a float: the function on dual numbers |
/// | `f::grad(args…)`, `f::along(args…, directions…)` | the gradient, and the derivative along a direction, as functions that differentiable functions may call |
///
/// The first call allocates; later ones do only if a size has grown. `&mut` arguments are restored.
///
/// A parameter `f: impl Fn(f64) -> f64`, or of a type parameter with such a bound, is a function. The type of the gradient object has
/// a type parameter for it, `integrate::<square>::gradient()`, and the methods take the other arguments. Called by another
/// differentiable function it may be a closure.
///
/// # Errors
/// What cannot be differentiated is a compile error on the code in question, which says what to write instead; all of
/// a function's come at once, and those that call it are told nothing more. A function that is called with active arguments
/// needs a rule: where it has none, the compiler does not find `f_has_no_rule_mark_it_differentiable`.
///
/// The guide has [examples](https://docs.rs/pullback/latest/pullback/guide/gradients/) and a table of
/// [what is accepted](https://docs.rs/pullback/latest/pullback/guide/language/).
#[proc_macro_attribute]
pub fn differentiable(attribute: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(both) = configured::both(&attribute.clone().into(), &item.clone().into()) {
        return both.into();
    }
    let options = match syn::parse::<differentiable::Options>(attribute) {
        Ok(options) => options,
        Err(error) => return error.into_compile_error().into(),
    };
    let recursive = options.recursive || options.dual;
    let item = float_literals::with_points(fragments::with_statements(item.into()));
    let item = TokenStream::from(item);
    if let (false, Ok(block)) = (recursive, syn::parse::<syn::ItemImpl>(item.clone())) {
        let plain = impls::plain(block.clone());
        return match impls::expand(block) {
            Ok(tokens) => tokens.into(),
            Err(error) => {
                let error = error.into_compile_error();
                quote::quote!(#plain #error).into()
            }
        };
    }
    if let (false, Ok(definition)) = (recursive, syn::parse::<syn::ItemTrait>(item.clone())) {
        let plain = traits::plain(definition.clone());
        return match traits::expand_trait(definition) {
            Ok(tokens) => tokens.into(),
            Err(error) => {
                let error = error.into_compile_error();
                quote::quote!(#plain #error).into()
            }
        };
    }
    let function = match syn::parse::<syn::ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) if recursive && syn::parse::<syn::ItemImpl>(item.clone()).is_ok() => {
            let error = syn::Error::new(
                proc_macro2::Span::call_site(),
                "`dual` and `recursive` are for free functions: leave them out here, mark a method that calls itself by way of others \
                 `#[pullback(recursive)]`, and write what is to run on dual numbers as a function",
            )
            .into_compile_error();
            let plain = syn::parse::<syn::ItemImpl>(item).map(impls::plain).expect("parsed before");
            return quote::quote!(#plain #error).into();
        }
        Err(_) => {
            let item = proc_macro2::TokenStream::from(item);
            let error = syn::Error::new_spanned(
                &item,
                "`#[differentiable]` stands on a function with a body, or on an `impl`: move the computation into one",
            )
            .into_compile_error();
            return quote::quote!(#item #error).into();
        }
    };
    let plain = function.clone();
    match differentiable::expand(function, options) {
        Ok(tokens) => tokens.into(),
        Err(error) => {
            // The function itself stays usable, so that one mistake does not cause a hundred messages.
            let mut plain = plain;
            signature::strip(&mut plain.sig);
            syn::visit_mut::VisitMut::visit_block_mut(&mut annotation::Strip, &mut plain.block);
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
/// ```text
/// /// y ← a·y + x
/// pub fn scale_and_add(a: f64, y: &mut [f64], x: &[f64]) { … }
///
/// #[derive(Rule, Default)]
/// #[rule(pub fn scale_and_add(a: f64, y: &mut [f64], x: &[f64]))]
/// struct ScaleAndAdd {
///     old_y: Saved<f64>,
/// }
///
/// impl ScaleAndAdd {
///     fn forward(&mut self, a: f64, y: &mut [f64], x: &[f64]) { … }
///     fn pullback(&mut self, a: f64, y: DualMut<'_, [f64]>, x: Dual<'_, [f64]>) -> f64 { … }
/// }
/// ```
///
/// The guide has this [in full](https://docs.rs/pullback/latest/pullback/guide/rules/).
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
/// | `f: impl Fn(…) -> O` | `DualFn<'_, P, O>` | |
///
/// A `DualFn` calls the function, and gives its pullback wherever that is asked for; `P` tells how the function takes its arguments. Derived code
/// marks a statement that calls a function with such parameters by `#[pullback(recompute)]`.
///
/// A generic function has a generic struct with the same parameters: `#[rule(fn f<T: Float>(x: &[T]))] struct F<T: Float>`. A type parameter with a
/// default, `C: Operand<T> = T`, is one of the rule alone: the function itself has `T` in its place, and another type may be there where it is
/// called on dual numbers, which are the first type parameter. What is called then is `fn primal(…)` of the struct.
///
/// # Fields
/// `#[rule(restores = c)]` on a field of type `Saved` says that it serves only to bring the `&mut` parameter `c` back. Where
/// nobody will look at that, the engine calls the field's `forgo`, after which `save_to_restore` copies nothing.
///
/// `#[rule(constant = x)]` on a field of type `bool` has it set to true where nobody will look at the gradient for the
/// parameter `x`, which is passed by value. What the pullback returns for `x` does not matter then.
///
/// `#[rule(overwrites = x)]` on a field of type `bool` has it set to true where what the shadow of the parameter `x: &T` holds does not
/// matter: the pullback sets it instead of adding to it, and all of it. For a parameter `x: &mut T` of which the forward reads nothing and
/// sets all the field becomes true where it does not matter what the pullback leaves in `x` and in its shadow.
///
/// # Both passes at once
/// With a second attribute on the struct, `#[rule(at_once)]`, it has a method `value_and_pullback`, too, with the parameters of its
/// `pullback`. It returns the value and what the pullback returns, as a pair, and is called where the seed is known beforehand.
#[proc_macro_derive(Rule, attributes(rule))]
pub fn rule(input: TokenStream) -> TokenStream {
    rule::derive(input.into()).into()
}

/// Makes a struct or an enum one that differentiable functions can take, and return.
///
/// ```text
/// #[derive(Clone, Copy, Differentiable)]
/// struct Body { mass: f64, position: [f64; 3], id: usize }        // d.mass: f64, d.position: [f64; 3]
///
/// #[derive(Differentiable)]
/// struct Layer { weights: Array2<f64>, bias: Vec<f64> }           // d.weights: Array2<f64>, d.bias: Vec<f64>
/// ```
///
/// The gradient is a struct with the same field names, all of them public. A field whose type carries no gradient, such as an
/// integer, is `()` there. So is a field marked `#[constant]`, which may be of any type; where it is made of floats, gradients
/// that come to it are dropped.
///
/// # Plain structs
/// consist of numbers, arrays and tuples of these, an `Option` of such, and other plain structs. They are values, with `BodyTangent` as the type of
/// their gradient. If they are `Copy` they are passed by value; `&Body`, `&mut Body`, slices, arrays and vectors of them are
/// taken by reference, with `d.bodies[i].mass`. They may be generic.
///
/// # Containers
/// have some field that is a `Vec`, an array of ndarray, a `Box`, or a reference. They are taken by reference, with `LayerGradient` as the
/// type of their gradient: `d.layer.bias[i]`. A `Vec<Layer>` is fine, too. A struct that holds another container says so,
/// since a macro cannot see it: `#[pullback(by_reference)]`. So does a parameter of such a type that is passed by value, where nothing else in the
/// function tells.
///
/// # Enums
/// are like structs: plain, or containers, with `#[pullback(by_reference)]` where a variant holds another container. The gradient of
/// `enum Shape { Disc { radius: f64 }, Path(Vec<f64>), Nothing }` has a field for each variant with fields, by its name, `d.Disc.radius` and
/// `d.Path.0`; for the variants that the value is not it is zero, and has no elements.
///
/// The guide has [examples](https://docs.rs/pullback/latest/pullback/guide/gradients/).
#[proc_macro_derive(Differentiable, attributes(pullback, constant))]
pub fn differentiable_type(input: TokenStream) -> TokenStream {
    derive::derive(input.into()).into()
}

/// Registers the derivative of a scalar function in one line.
///
/// ```text
/// scalar_rule!(fn softplus(x: f64) -> f64 = y => 1.0 - (-y).exp());
/// scalar_rule!(pub fn lerp(a: f64, b: f64, #[constant] t: f64) -> f64 => 1.0 - t, t);
/// ```
///
/// The signature is that of a function in scope. Behind `=>` stand its partial derivatives, one for each active parameter, in
/// order; they may use the parameters, and the output by the name that `= name` gives it. The pullback multiplies
/// each by the gradient with respect to the output. With `pub` before `fn`, the type that is generated is public as well.
///
/// Of a function that is generic over a `Float`, `fn softplus<T: Float>(x: T) -> T`, the formulas are so, too. It then has a rule for
/// dual numbers, whose second derivatives are those of the formulas.
///
/// # Errors
/// Active parameters are numbers by value. References, and results other than a number, take `#[derive(Rule)]`. So does a
/// function that is generic over more than one `T: Float`.
///
/// The guide has [examples](https://docs.rs/pullback/latest/pullback/guide/rules/).
#[proc_macro]
pub fn scalar_rule(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).and_then(scalar::ScalarRule::expand))
}

/// Declares that a function has no derivative: its gradient is zero, with respect to everything.
///
/// ```text
/// non_differentiable!(fn nearest(x: &[f64]) -> usize);
/// ```
///
/// The signature is that of a function in scope. With `pub` before `fn`, the type that is generated is public as well.
///
/// # Errors
/// The function takes nothing by `&mut`: that would have to be undone, which takes `#[derive(Rule)]`.
///
/// The guide has [examples](https://docs.rs/pullback/latest/pullback/guide/rules/).
#[proc_macro]
pub fn non_differentiable(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).and_then(scalar::NonDifferentiable::expand))
}

/// Registers the derivatives of a table of methods of numbers.
///
/// ```text
/// scalar_methods! {
///     /// Pullbacks of `Activations`.
///     pub trait ActivationRules for f32, f64 {
///         logistic(x) = y => y * (1.0 - y);
///         leaky(x, slope) => if x > 0.0 { 1.0 } else { slope }, if x > 0.0 { 0.0 } else { x };
///         power(x, n: i32) => n as Self * x.powi(n - 1);
///     }
/// }
/// ```
///
/// It writes the trait, with a method `name_pullback` for each line, and implements it for the types listed. A derived function
/// calls that for `x.name(…)`, so the trait has to be in scope there. Behind `=>` stand the partial derivatives with respect to the
/// receiver and each operand, in order, but for an operand with a type, which is constant; `= y` names the output. `Self` is
/// the receiver's type, which all other operands and the output share.
///
/// The guide has [examples](https://docs.rs/pullback/latest/pullback/guide/rules/).
#[proc_macro]
pub fn scalar_methods(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).map(|table: scalar::ScalarMethods| table.expand()))
}

/// Makes functions of arrays, with their rules, out of expressions for one element.
///
/// ```text
/// fused! {
///     /// y = tanh(x·w + b)
///     pub fn affine_tanh(x, w, b) { (x * w + b).tanh() }
///     pub fn squared_error(x, t) { 0.5 * sum((x - t) * (x - t)) }
///     pub fn softmax(x; axis) {
///         let e = (x - constant(max(x))).exp();
///         e / sum(e)
///     }
///     pub fn scaled(x, k: T) { k * x }
/// }
/// ```
///
/// Operands are arrays of ndarray, of any rank and layout, which are broadcast, or numbers, `k: T`. A function of elements writes to its
/// first argument, `affine_tanh(&mut y, &x, &w, &b)`; a reduction returns a number, `squared_error(&x, &t)`; with `; axis` rows
/// run along the axis that the last argument names, `softmax(&mut y, &x, Axis(1))`. They are generic over `f32` and `f64`, and run on dual
/// numbers.
///
/// # Panics
/// Calls panic if shapes do not go together, or if there is no such axis.
///
/// The guide has [examples](https://docs.rs/pullback/latest/pullback/guide/fused/).
#[proc_macro]
pub fn fused(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).and_then(fused::expand))
}

fn expand(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(syn::Error::into_compile_error).into()
}

#[cfg(test)]
mod golden;
