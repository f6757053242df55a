//! Type parameters that stand for numbers and for plain data alike: `S: Add<Output = S> + Mul<f64, Output = S>`, such as the state of an
//! integrator. The rule asks that their operators have rules.

use proc_macro2::Span;
use quote::{ToTokens, quote};
use syn::{Ident, Type, TypeParamBound, WherePredicate};

use crate::generics::{names_a_float, names_a_scalar};
use crate::signature::IMPLEMENTOR;

/// The type parameters that stand for numbers.
pub(crate) struct Numbers {
    /// For a float.
    pub(crate) scalars: Vec<Ident>,
    /// For a number or for plain data with operators: these have products with other types.
    pub(crate) linear: Vec<Ident>,
}

impl Numbers {
    /// Those of `syntax`.
    pub(crate) fn among(syntax: &syn::Generics) -> Self {
        let asked = bounds(syntax);
        let has = |name: &Ident, tells: fn(&TypeParamBound) -> bool| {
            asked.iter().any(|(of, bound)| is(of, name) && tells(bound))
        };
        let is_linear = |name: &Ident| {
            !has(name, names_a_float)
                && asked.iter().any(|(of, bound)| {
                    OperatorBound::new(bound).is_some_and(|operator| match is(of, name) {
                        true => operator.is_mixed(name),
                        false => operator.right.is_some_and(|right| is(right, name)),
                    })
                })
        };
        let names = syntax.type_params().map(|p| p.ident.clone()).filter(|name| name != IMPLEMENTOR);
        let (linear, others): (Vec<_>, Vec<_>) = names.partition(is_linear);
        let scalars = others.into_iter().filter(|name| has(name, names_a_scalar)).collect();
        Numbers { scalars, linear }
    }
}

/// What the rule asks of the type parameters of `syntax` with products, beyond their bounds.
pub(crate) fn rules(syntax: &syn::Generics) -> Vec<WherePredicate> {
    let Numbers { scalars, linear } = Numbers::among(syntax);
    let plain = linear.iter().map(|name| syn::parse_quote!(#name: ::pullback::__private::mutation::Plain));
    let among = |ty: &Type| linear.iter().any(|name| is(ty, name));
    let rules = bounds(syntax).into_iter().filter_map(|(ty, bound)| {
        let operator = OperatorBound::new(&bound)?;
        let rule = (among(&ty) || operator.right.is_some_and(among)).then(|| operator.rule(&ty, &scalars))?;
        Some(syn::parse_quote!(#ty: #rule))
    });
    plain.chain(rules).collect()
}

/// `syntax` with these, for the `impl` of a trait that asks for them.
pub(crate) fn with_rules(syntax: &syn::Generics) -> syn::Generics {
    let (mut out, rules) = (syntax.clone(), rules(syntax));
    if !rules.is_empty() {
        out.make_where_clause().predicates.extend(rules);
    }
    out
}

/// The same of a marked trait with `supertraits`.
pub(crate) fn rules_of_trait<'b>(
    supertraits: impl IntoIterator<Item = &'b TypeParamBound>,
) -> Vec<TypeParamBound> {
    let this = Ident::new("Self", Span::call_site());
    let operators: Vec<_> = supertraits.into_iter().filter_map(OperatorBound::new).collect();
    if !operators.iter().any(|operator| operator.is_mixed(&this)) {
        return Vec::new();
    }
    let plain = syn::parse_quote!(::pullback::__private::mutation::Plain);
    let rules = operators.iter().map(|operator| operator.rule(&syn::parse_quote!(#this), &[]));
    std::iter::once(plain).chain(rules).collect()
}

/// `T: Mul<f64, Output = T>`: the operator, what is on its right if that is not `T`, and what it returns.
struct OperatorBound<'b> {
    operator: &'b Ident,
    right: Option<&'b Type>,
    output: Option<&'b Type>,
}

impl<'b> OperatorBound<'b> {
    fn new(bound: &'b TypeParamBound) -> Option<Self> {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last()?;
        if !["Add", "Sub", "Mul", "Div", "Rem", "Neg"].iter().any(|name| last.ident == name) {
            return None;
        }
        let mut of = OperatorBound { operator: &last.ident, right: None, output: None };
        if let syn::PathArguments::AngleBracketed(arguments) = &last.arguments {
            for argument in &arguments.args {
                match argument {
                    syn::GenericArgument::Type(ty) => of.right = Some(ty),
                    syn::GenericArgument::AssocType(output) => of.output = Some(&output.ty),
                    _ => {}
                }
            }
        }
        Some(of)
    }

    /// Its right or its result is of another type than `name`: what has such a product is no float.
    fn is_mixed(&self, name: &Ident) -> bool {
        let other = |ty: Option<&Type>| ty.is_some_and(|ty| !is(ty, name) && !is(ty, "Self"));
        other(self.right) || other(self.output)
    }

    /// That the operator of `ty` has a rule, too; `scalars` are their own tangents, as floats are.
    fn rule(&self, ty: &Type, scalars: &[Ident]) -> TypeParamBound {
        let output = self.output.unwrap_or(ty);
        let (operator, unary) = (self.operator, self.operator == "Neg");
        let tangent = |ty: &Type| match scalars.iter().any(|name| is(ty, name)) {
            true => quote!(#ty),
            false => quote!(<#ty as ::pullback::__private::Value>::Tangent),
        };
        let (left, right, right_tangent) = match self.right.unwrap_or(ty) {
            _ if unary => (tangent(ty), quote!(()), quote!(())),
            right => (tangent(ty), right.to_token_stream(), tangent(right)),
        };
        syn::parse_quote! {
            ::pullback::__private::OperatorRule<
                ::pullback::__private::operator::#operator, #right, Output = #output, Left = #left, Right = #right_tangent
            >
        }
    }
}

/// Each type of which `syntax` asks something, with that.
fn bounds(syntax: &syn::Generics) -> Vec<(Type, TypeParamBound)> {
    let type_of = |name: &Ident| -> Type { syn::parse_quote!(#name) };
    let of_params = syntax.type_params().map(|p| (type_of(&p.ident), &p.bounds));
    let clauses = syntax.where_clause.iter().flat_map(|clause| &clause.predicates);
    let of_clauses = clauses.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => Some((predicate.bounded_ty.clone(), &predicate.bounds)),
        _ => None,
    });
    let each = of_params.chain(of_clauses);
    each.flat_map(|(ty, bounds)| bounds.iter().map(move |bound| (ty.clone(), bound.clone()))).collect()
}

/// The type is the parameter `name`.
fn is<N: ?Sized>(ty: &Type, name: &N) -> bool
where
    Ident: PartialEq<N>,
{
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}
