//! Types that are less visible than the function whose signature mentions them.
//!
//! To a public function the compiler only warns about such a type. In an associated type, as the type beside the function has
//! them, it is an error (E0446), unless the `impl` is as little visible: for which it is enough that its header mentions the type.
//! Whether a type is private a macro cannot see. So the type beside a function that is not private itself has one more type
//! parameter, with a default that mentions all of those that may be.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::visit::{self, Visit};
use syn::{Ident, Type, TypePath, Visibility};

use crate::kind::{inert, kind_of_type};
use crate::matrices::{on_heap, on_stack};
use crate::signature::Signature;

/// Types of floats, and containers that everybody sees.
const PUBLIC: &[&str] = &["f32", "f64", "Vec", "Option", "Result", "Box"];

/// What the header of the type beside a function has for the sake of private types.
pub(crate) struct Scope {
    /// The declaration of the parameters.
    pub(crate) declared: TokenStream,
    /// A field that makes use of it.
    pub(crate) field: Option<TokenStream>,
    /// The field's value.
    pub(crate) value: Option<TokenStream>,
}

impl Signature {
    pub(crate) fn scope(&self) -> Scope {
        let declared = self.generics.declaration().0;
        let mentioned = self.mentioned();
        if mentioned.is_empty() {
            return Scope { declared: quote!(#declared), field: None, value: None };
        }
        let (mut declared, types) = (declared.clone(), format_ident!("Types_"));
        declared.params.push(syn::parse_quote!(#types = fn(#(#mentioned),*)));
        Scope {
            declared: quote!(#declared),
            field: Some(quote!(types: ::core::marker::PhantomData<#types>,)),
            value: Some(quote!(types: ::core::marker::PhantomData,)),
        }
    }

    /// The types that may be less visible than the function.
    fn mentioned(&self) -> Vec<&Type> {
        if matches!(self.vis, Visibility::Inherited) {
            return Vec::new();
        }
        let mut mentioned = Mentioned { generics: self.generics.names().collect(), found: Vec::new() };
        for parameter in &self.parameters {
            match &parameter.callable {
                Some(callable) => {
                    callable.inputs.iter().for_each(|input| mentioned.visit_type(&input.ty));
                    mentioned.visit_type(&callable.output);
                }
                None => mentioned.visit_type(&parameter.ty),
            }
        }
        mentioned.visit_type(&self.output);
        mentioned.found
    }
}

struct Mentioned<'s> {
    generics: Vec<&'s Ident>,
    found: Vec<&'s Type>,
}

impl Mentioned<'_> {
    /// A parameter of the function, or of a crate that everybody sees.
    fn is_public(&self, path: &TypePath) -> bool {
        let Some(name) = path.path.segments.last().map(|s| s.ident.to_string()) else { return false };
        let first = &path.path.segments[0].ident;
        path.qself.is_some()
            || self.generics.contains(&first)
            || PUBLIC.contains(&&*name)
            || name.starts_with("Array")
            || on_heap(&name)
            || on_stack(&name)
    }
}

impl<'s> Visit<'s> for Mentioned<'s> {
    fn visit_type(&mut self, ty: &'s Type) {
        let private = match ty {
            Type::Path(path) => !inert(&kind_of_type(ty)) && !self.is_public(path),
            Type::TraitObject(_) => true,
            _ => false,
        };
        match private {
            true if self.found.iter().any(|other| same(other, ty)) => {}
            true => self.found.push(ty),
            false => visit::visit_type(self, ty),
        }
    }
}

fn same(a: &Type, b: &Type) -> bool {
    a.to_token_stream().to_string() == b.to_token_stream().to_string()
}
