//! A function that is generic over a float, of `f64`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Type;

use crate::dual::retyped;
use crate::passing::Parameter;
use crate::signature::Signature;

impl Signature {
    /// The signature with `f64` in the place of the float, and the type that stands beside the function then.
    pub(super) fn of_floats(&self) -> (Signature, TokenStream) {
        let f64: Type = syn::parse_quote!(f64);
        let plain = |ty: &Type| self.float().map_or(ty.clone(), |float| retyped(ty, &float, &f64));
        let parameters = self.parameters.iter().map(|p| Parameter {
            name: p.name.clone(),
            ty: plain(&p.ty),
            syntax: plain(&p.syntax),
            lent: p.lent.as_ref().map(plain),
            callable: None,
            handed: p.handed.clone(),
            ..*p
        });
        let signature = Signature {
            vis: self.vis.clone(),
            name: self.name.clone(),
            method: None,
            of_trait: None,
            generics: self.generics.only_constants(),
            parameters: parameters.collect(),
            output: plain(&self.output),
            dual: self.dual,
            selecting: self.selecting.clone(),
            reading: self.reading.clone(),
            owners: self.owners.clone(),
            lengths: self.lengths.clone(),
        };
        let name = &self.name;
        let ty = if self.generics.is_empty() { quote!(#name) } else { self.at(&f64) };
        (signature, ty)
    }
}
