//! `#[derive(Rule)]`: makes the registration of a function out of a struct that holds one activation of its rule.
//!
//! [`parse`] reads the attributes and collects every error of the item, [`expand`] emits.

mod expand;
mod given;
mod parse;

use proc_macro2::{Ident, TokenStream};
use syn::{DeriveInput, Error, Member, Signature, Type, Visibility};

use crate::callable::Callable;
use expand::expand;
use parse::parse;

/// The derive macro. Errors become `compile_error!`s at the tokens they are about.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let expanded = syn::parse2::<DeriveInput>(input).and_then(|input| Ok(expand(&parse(&input)?)));
    expanded.unwrap_or_else(Error::into_compile_error)
}

/// What the attributes say.
struct Rule<'a> {
    /// The struct that holds one activation.
    activation: &'a Ident,
    /// The function's visibility, and hence that of its type.
    vis: Visibility,
    /// The function's signature, without `#[constant]`s.
    signature: Signature,
    parameters: Vec<Parameter>,
    /// The fields.
    members: Vec<syn::Member>,
    /// What fields are to be told that a parameter is forgone.
    forgoing: Vec<Forgoing>,
    /// `#[rule(at_once)]`: the author has a `value_and_pullback`, too.
    at_once: bool,
}

struct Parameter {
    name: Ident,
    /// The type that the reference refers to, or the type itself.
    ty: Type,
    mode: Mode,
    /// If it is a function.
    function: Option<Callable>,
}

#[derive(Clone, Copy)]
enum Mode {
    /// `x: T`: the pullback returns its gradient.
    Val,
    /// `#[constant] x: f64`: passed like an active one, since a caller may have an active argument; its gradient is zero.
    InertVal,
    /// `#[constant] x: T`, or a type without gradient.
    ConstVal,
    /// `x: &T`
    Ref,
    /// `#[constant] x: &T`
    ConstRef,
    /// `x: &mut T`
    Mut,
    /// `f: impl Fn(…) -> O`
    Function,
}

/// A field that takes part in `Rule::forgo` or `Rule::overwrite`.
struct Forgoing {
    field: Member,
    parameter: usize,
    key: Key,
}

/// What a field says about a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    /// `#[rule(restores = c)]`: the field serves only to bring a `&mut` parameter back.
    Restores,
    /// `#[rule(constant = x)]`: the field becomes true if nobody looks at the gradient for a parameter passed by value.
    Constant,
    /// `#[rule(overwrites = a)]`: the field becomes true if the shadow of a `&` parameter is to be written and not added to, or a `&mut`
    /// parameter and its shadow do not matter before and after.
    Overwrites,
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn errors(input: TokenStream) -> Vec<String> {
        let input = syn::parse2(input).expect("a struct");
        match parse(&input) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.into_iter().map(|e| e.to_string()).collect(),
        }
    }

    #[test]
    fn accepts_what_is_documented() {
        let input = quote! {
            #[rule(pub fn f<T: Scalar, const N: usize>(
                c: &mut ArrayRef2<T>, a: &[T; N], #[constant] m: &[T], x: T, #[constant] y: f64, n: usize
            ) -> T where T: Copy)]
            struct F<T: Scalar, const N: usize> where T: Copy {
                #[rule(restores = c)]
                old: Saved<T>,
                #[rule(constant = x)]
                no_x: bool,
                other: Vec<T>,
            }
        };
        assert_eq!(errors(input.clone()), [""; 0]);
        let expansion = derive(input).to_string();
        syn::parse_str::<syn::File>(&expansion).expect("items");
        let modes = ["Mut <", "Ref <", "ConstRef <", "Val <", "ConstVal <"];
        assert!(modes.iter().all(|mode| expansion.contains(mode)), "{expansion}");
    }

    #[test]
    fn shows_all_errors_at_once() {
        let errors = errors(quote! {
            #[rule(async fn f<'a>((x, y): (f64, f64), z: &'a f64, w: impl Iterator, #[other] v: f64, u: ArrayView1<'_, f64>))]
            #[rule(fn g())]
            enum F<T> {}
        });
        let expected = [
            "write `struct`",
            "remove this attribute",
            "synchronous",
            "leave lifetimes out",
            "`F`",
            "plain name",
            "leave lifetimes out",
            "generic parameter",
            "`#[constant]`",
            "cannot hold a borrow",
        ];
        assert_eq!(errors.len(), expected.len(), "{errors:#?}");
        for (error, expected) in errors.iter().zip(expected) {
            assert!(error.contains(expected), "{error} does not say {expected}");
        }
    }

    #[test]
    fn takes_functions() {
        let input = quote! {
            #[rule(fn f(g: impl Fn(f64, &mut [f64]), h: &impl Fn(&[f64]) -> f64, x: &mut [f64]))]
            struct F;
        };
        assert_eq!(errors(input.clone()), [""; 0]);
        let expansion = derive(input).to_string();
        syn::parse_str::<syn::File>(&expansion).expect("items");
        assert!(expansion.contains("GivenFn <") && expansion.contains("pullback_of_both"), "{expansion}");
        for (input, expected) in [
            (
                quote!(
                    #[rule(fn f<G: Fn(f64) -> f64>(g: G))]
                    struct F<G>;
                ),
                "write `impl Fn(…) -> …`",
            ),
            (
                quote!(
                    #[rule(fn f(g: impl FnMut(f64) -> f64))]
                    struct F;
                ),
                "change nothing",
            ),
            (
                quote!(
                    #[rule(fn f(#[constant] g: impl Fn(f64) -> f64))]
                    struct F;
                ),
                "no function",
            ),
        ] {
            let errors = errors(input);
            assert!(errors.len() == 1 && errors[0].contains(expected), "{errors:?} does not say {expected}");
        }
    }

    #[test]
    fn says_what_a_field_may_restore() {
        let errors = errors(quote! {
            #[rule(fn f(c: &mut [f64], a: &[f64]))]
            struct F {
                #[rule(restores = a)]
                x: Saved<f64>,
                #[rule(restores = d)]
                y: Saved<f64>,
                #[rule(saves = c)]
                z: Saved<f64>,
                #[rule(restores = 1)]
                w: Saved<f64>,
                #[rule]
                v: Saved<f64>,
            }
        });
        let expected = [
            "only a `&mut` parameter",
            "its `&mut` parameters are `c`",
            "unknown key",
            "name one `&mut` parameter",
            "write `#[rule(restores = parameter)]`",
        ];
        assert_eq!(errors.len(), expected.len(), "{errors:#?}");
        for (error, expected) in errors.iter().zip(expected) {
            assert!(error.contains(expected), "{error} does not say {expected}");
        }
    }

    #[test]
    fn says_which_gradient_a_field_may_leave_out() {
        let errors = errors(quote! {
            #[rule(fn f(a: &[f64], x: f64, n: usize))]
            struct F {
                #[rule(constant = x)]
                right: bool,
                #[rule(constant = a)]
                x: bool,
                #[rule(constant = n)]
                y: bool,
                #[rule(constant = z)]
                z: bool,
                #[rule(constant = 1)]
                w: bool,
            }
        });
        let expected = [
            "which `a` is not",
            "which `n` is not",
            "its active parameters by value are `x`",
            "name one parameter of the function that is passed by value",
        ];
        assert_eq!(errors.len(), expected.len(), "{errors:#?}");
        for (error, expected) in errors.iter().zip(expected) {
            assert!(error.contains(expected), "{error} does not say {expected}");
        }
    }

    #[test]
    fn says_what_a_field_may_overwrite() {
        let input = |field| {
            quote! {
                #[rule(fn f(a: &[f64], c: &mut [f64], #[constant] b: &[f64], x: f64))]
                #[rule(at_once)]
                struct F {
                    #[rule(overwrites = #field)]
                    mark: bool,
                }
            }
        };
        for field in [quote!(a), quote!(c)] {
            assert_eq!(errors(input(field.clone())), [""; 0]);
            let expansion = derive(input(field)).to_string();
            syn::parse_str::<syn::File>(&expansion).expect("items");
            assert!(
                expansion.contains("fn overwrite") && expansion.contains("fn value_and_pullback"),
                "{expansion}"
            );
        }
        for (field, expected) in [
            (quote!(b), "which `b` is not"),
            (quote!(x), "which `x` is not"),
            (quote!(d), "its active parameters by reference are `a`, `c`"),
            (quote!(1), "as in `overwrites = a`"),
        ] {
            let errors = errors(input(field));
            assert!(errors.len() == 1 && errors[0].contains(expected), "{errors:?} does not say {expected}");
        }
        let twice = quote! {
            #[rule(fn f(a: &[f64]) -> f64)]
            #[rule(together)]
            struct F;
        };
        assert!(errors(twice)[0].contains("a rule is for one function"));
    }

    #[test]
    fn asks_for_the_signature() {
        assert!(
            errors(quote!(
                struct F;
            ))[0]
                .contains("Add its signature")
        );
        assert!(
            errors(quote!(
                #[rule(function = f)]
                struct F;
            ))[0]
                .contains("unknown key")
        );
        assert!(
            errors(quote!(
                #[rule(fn f() {})]
                struct F;
            ))[0]
                .contains("nothing may follow")
        );
    }
}
