//! Gradients as forms: sums of derivatives times gradients that are known.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::reverse::Reverse;

/// How many multiplications more it is worth to wait for one less.
const WORTH: usize = 2;

/// A derivative.
#[derive(Clone)]
pub(crate) enum Slope {
    One,
    MinusOne,
    /// A name, or an element.
    Atom(TokenStream),
}

impl Slope {
    /// It takes a multiplication.
    fn is_factor(&self) -> bool {
        matches!(self, Slope::Atom(_))
    }
}

/// A gradient that is known: what it is called, and how many others have to be known before.
pub(crate) struct Source {
    pub(crate) name: Ident,
    pub(crate) depth: usize,
}

/// Σ slopeᵢ·sourceᵢ, where several slopes may belong to one source.
#[derive(Clone, Default)]
pub(crate) struct Form(pub(crate) BTreeMap<usize, Vec<Slope>>);

impl Form {
    pub(crate) fn of(source: usize) -> Self {
        Form(BTreeMap::from([(source, vec![Slope::One])]))
    }

    pub(crate) fn add(&mut self, source: usize, slope: Slope) {
        self.0.entry(source).or_default().push(slope);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// It is this gradient and nothing else.
    pub(crate) fn is(&self, source: usize) -> bool {
        self.0.len() == 1 && matches!(self.0.get(&source).map(Vec::as_slice), Some([Slope::One]))
    }

    /// Whether without a name for it there would be more multiplications, by more than that is worth: by `slopes`, each of which comes
    /// to a variable that already has a form, or has not.
    pub(crate) fn grows(&self, slopes: &[(Option<&Form>, &Slope)]) -> bool {
        let factor = |slopes: &Vec<Slope>| slopes.len() > 1 || slopes[0].is_factor();
        let own = self.0.values().filter(|slopes| factor(slopes)).count();
        let derivatives = slopes.iter().filter(|(_, slope)| slope.is_factor()).count();
        let new = |(there, slope): &(Option<&Form>, &Slope)| {
            let new = self.0.iter().filter(|(source, slopes)| {
                let known = there.is_some_and(|form| form.0.contains_key(source));
                !known && (slope.is_factor() || factor(slopes))
            });
            new.count()
        };
        own * derivatives + slopes.iter().map(new).sum::<usize>() > own + derivatives + WORTH
    }
}

impl Reverse<'_> {
    /// A derivative, as code.
    pub(crate) fn slope(&mut self, derivative: TokenStream) -> Slope {
        match derivative.to_string().as_str() {
            "1.0" => Slope::One,
            "- 1.0" => Slope::MinusOne,
            _ if syn::parse2::<Ident>(derivative.clone()).is_ok() => Slope::Atom(derivative),
            _ => self.named_slope(derivative),
        }
    }

    fn named_slope(&mut self, value: TokenStream) -> Slope {
        let name = self.kept.fresh("slope");
        self.emit(quote!(let #name = #value;));
        Slope::Atom(quote!(#name))
    }

    pub(crate) fn total(&mut self, slopes: &[Slope]) -> Slope {
        if let [slope] = slopes {
            return slope.clone();
        }
        let slopes = slopes.iter().map(|slope| match slope {
            Slope::One => quote!(1.0),
            Slope::MinusOne => quote!(-1.0),
            Slope::Atom(name) => quote!(#name),
        });
        self.named_slope(quote!(#(#slopes)+*))
    }

    fn product(&mut self, a: &Slope, b: &Slope) -> Slope {
        match (a, b) {
            (Slope::One, other) | (other, Slope::One) => other.clone(),
            (Slope::MinusOne, Slope::MinusOne) => Slope::One,
            (Slope::MinusOne, Slope::Atom(name)) | (Slope::Atom(name), Slope::MinusOne) => {
                self.named_slope(quote!(-#name))
            }
            (Slope::Atom(a), Slope::Atom(b)) => self.named_slope(quote!(#a * #b)),
        }
    }

    /// The form with one slope for each source.
    pub(crate) fn totals(&mut self, form: &Form) -> Vec<(usize, Slope)> {
        form.0.iter().map(|(source, slopes)| (*source, self.total(slopes))).collect()
    }

    pub(crate) fn scaled(&mut self, form: &Form, by: &Slope) -> Form {
        let mut scaled = Form::default();
        for (source, slope) in self.totals(form) {
            scaled.add(source, self.product(&slope, by));
        }
        scaled
    }
}

/// Slopes and what they belong to, as a sum.
pub(crate) fn sum(terms: impl IntoIterator<Item = (Slope, TokenStream)>) -> TokenStream {
    let mut sum = TokenStream::new();
    for (slope, source) in terms {
        sum.extend(match (slope, sum.is_empty()) {
            (Slope::One, true) => source,
            (Slope::One, false) => quote!(+ #source),
            (Slope::MinusOne, _) => quote!(- #source),
            (Slope::Atom(slope), true) => quote!(#slope * #source),
            (Slope::Atom(slope), false) => quote!(+ #slope * #source),
        });
    }
    sum
}
