//! Derivatives in one line: `scalar_rule!`, `non_differentiable!` and tables of methods.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, Token, Type, Visibility};

use crate::errors::Errors;
use crate::ownership::Owners;
use crate::passing::Passing;
use crate::signature::Signature;

/// `= y`, a name for the output in the formulas behind it.
fn output_name(input: ParseStream) -> syn::Result<Option<Ident>> {
    if input.peek(Token![=]) && !input.peek(Token![=>]) {
        input.parse::<Token![=]>()?;
        return Ok(Some(input.parse()?));
    }
    Ok(None)
}

/// The type that bears a function's name, with `rule`, where there is no gradient object. It has braces because a unit
/// struct would be a value of the function's name as well.
fn register(signature: &Signature, rule: TokenStream) -> TokenStream {
    let Signature { vis, name, generics, .. } = signature;
    let doc = format!("The rule of the function `{name}`.");
    let (function, ty) = (signature.function(), signature.ty());
    let (declared, _, clause) = generics.split();
    let (definition, types) = (generics.declaration().0, generics.types());
    let marker =
        (!generics.is_empty()).then(|| quote!(generics: ::core::marker::PhantomData<fn() -> #types>));
    let (as_callee, on_duals) = (signature.numbers_as_callee(), signature.itself_on_duals());
    quote! {
        #[doc = #doc]
        #[allow(non_camel_case_types)]
        #vis struct #name #definition #clause { #marker }
        #[allow(unused, non_local_definitions, clippy::all, clippy::pedantic)]
        const _: () = {
            use ::pullback::__private as __pb;
            #function
            impl #declared __pb::HasRule for #ty #clause {
                fn make_rule() -> impl __pb::Rule<Function = Self> + 'static {
                    Self::rule()
                }
            }
            impl #declared #ty #clause {
                #[doc = #doc]
                pub fn rule() -> impl __pb::Rule<Function = #ty> {
                    #rule
                }
            }
            #as_callee
            #on_duals
        };
    }
}

/// `written`: the type parameters as they stand there, without those of `impl Fn` parameters, which are refused anyway.
fn refuse_generics(written: &Punctuated<syn::GenericParam, Token![,]>, allowed: bool, errors: &mut Errors) {
    if !written.is_empty() && !allowed {
        errors.push(
            written,
            "a rule in one line is for one type, that of numbers also for `<T: Float>`: use `#[derive(Rule)]` for other generic functions",
        );
    }
}

/// `fn softplus(x: f64) -> f64 = y => 1.0 - (-y).exp()`
pub(crate) struct ScalarRule {
    vis: Visibility,
    sig: syn::Signature,
    output: Option<Ident>,
    partials: Punctuated<Expr, Token![,]>,
}

impl Parse for ScalarRule {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let vis = input.parse()?;
        let sig = input.parse()?;
        let output = output_name(input)?;
        input.parse::<Token![=>]>()?;
        let partials = Punctuated::parse_terminated(input)?;
        Ok(ScalarRule { vis, sig, output, partials })
    }
}

impl ScalarRule {
    pub(crate) fn expand(mut self) -> syn::Result<TokenStream> {
        let mut errors = Errors::default();
        let written = self.sig.generics.params.clone();
        let signature = Signature::parse(&self.vis, &mut self.sig, Owners::default(), &mut errors);
        let generics = &signature.generics;
        refuse_generics(&written, written.len() == generics.scalars.len().min(1), &mut errors);
        signature.refuse_callables(&mut errors);
        let active: Vec<_> = signature.parameters.iter().filter(|p| !p.constant).collect();
        for parameter in &active {
            if parameter.passing != Passing::Value {
                errors.push(
                    &parameter.syntax,
                    "a scalar rule takes numbers by value: use `#[derive(Rule)]` for references",
                );
            }
        }
        if matches!(signature.output, Type::Tuple(_) | Type::Array(_)) {
            errors.push(
                &signature.output,
                "a scalar rule is for a function that returns one number: use `#[derive(Rule)]` for others",
            );
        }
        if active.len() != self.partials.len() {
            errors.push(
                &signature.name,
                format!(
                    "`{}` has {} active parameters, but {} partial derivatives are given: write one for each, in order",
                    signature.name,
                    active.len(),
                    self.partials.len(),
                ),
            );
        }
        errors.finish()?;
        let (ty, primal) = (signature.ty(), signature.primal());
        let names = signature.names();
        let mut partials = self.partials.iter();
        let gradients = signature.parameters.iter().map(|p| match p.constant {
            true => quote!(__pb::zero()),
            false => {
                let partial = partials.next();
                quote!(d * (#partial))
            }
        });
        let y = self.output.clone().unwrap_or_else(|| format_ident!("_y"));
        // The output is a residual only if the formulas read it.
        let residual = if self.output.is_some() { quote!((#y, #y)) } else { quote!((#y, ())) };
        let pattern = if self.output.is_some() { quote!(#y) } else { quote!(()) };
        let rule = quote! {
            __pb::derived::<#ty, _, _, _, _>(
                (),
                |_, (#(#names,)*)| { let #y = #primal(#(#names),*); #residual },
                |_, #pattern, (#(#names,)*), _, d| (#(#gradients,)*),
            )
        };
        Ok(register(&signature, rule))
    }
}

/// `fn nearest(x: &[f64]) -> usize`
pub(crate) struct NonDifferentiable {
    vis: Visibility,
    sig: syn::Signature,
}

impl Parse for NonDifferentiable {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let function = NonDifferentiable { vis: input.parse()?, sig: input.parse()? };
        input.parse::<Option<Token![;]>>()?;
        Ok(function)
    }
}

impl NonDifferentiable {
    pub(crate) fn expand(mut self) -> syn::Result<TokenStream> {
        let mut errors = Errors::default();
        let written = self.sig.generics.params.clone();
        let signature = Signature::parse(&self.vis, &mut self.sig, Owners::default(), &mut errors);
        refuse_generics(&written, false, &mut errors);
        signature.refuse_callables(&mut errors);
        for parameter in signature.parameters.iter().filter(|p| p.passing == Passing::Unique) {
            errors.push(
                &parameter.syntax,
                "a function that writes through `&mut` has to be undone: write a rule with `#[derive(Rule)]`",
            );
        }
        errors.finish()?;
        let (ty, primal) = (signature.ty(), signature.primal());
        let names = signature.names();
        let zeros = names.iter().map(|_| quote!(__pb::zero()));
        let rule = quote! {
            __pb::derived::<#ty, _, _, _, _>(
                (),
                |_, (#(#names,)*)| (#primal(#(#names),*), ()),
                |_, (), _, _, _| (#(#zeros,)*),
            )
        };
        Ok(register(&signature, rule))
    }
}

/// `pub trait ScalarRules for f32, f64 { exp(x) = y => y; … }`
pub(crate) struct ScalarMethods {
    attributes: Vec<syn::Attribute>,
    vis: Visibility,
    name: Ident,
    types: Punctuated<Type, Token![,]>,
    methods: Vec<Method>,
}

struct Method {
    attributes: Vec<syn::Attribute>,
    name: Ident,
    receiver: Ident,
    /// With their types, unless they are of the receiver's.
    operands: Vec<(Ident, Option<Type>)>,
    output: Option<Ident>,
    partials: Punctuated<Expr, Token![,]>,
}

impl Parse for ScalarMethods {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(syn::Attribute::parse_outer)?;
        let vis = input.parse()?;
        input.parse::<Token![trait]>()?;
        let name = input.parse()?;
        input.parse::<Token![for]>()?;
        let mut types = Punctuated::new();
        while !input.peek(syn::token::Brace) {
            types.push_value(input.parse()?);
            if input.peek(Token![,]) {
                types.push_punct(input.parse()?);
            }
        }
        let body;
        syn::braced!(body in input);
        let mut methods = Vec::new();
        while !body.is_empty() {
            methods.push(body.parse()?);
            body.parse::<Token![;]>()?;
        }
        Ok(ScalarMethods { attributes, vis, name, types, methods })
    }
}

impl Parse for Method {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(syn::Attribute::parse_outer)?;
        let name = input.parse()?;
        let arguments;
        syn::parenthesized!(arguments in input);
        let receiver = arguments.parse()?;
        let mut operands = Vec::new();
        while arguments.parse::<Option<Token![,]>>()?.is_some() && !arguments.is_empty() {
            let operand = arguments.parse()?;
            let ty = match arguments.parse::<Option<Token![:]>>()? {
                Some(_) => Some(arguments.parse()?),
                None => None,
            };
            operands.push((operand, ty));
        }
        let output = output_name(input)?;
        input.parse::<Token![=>]>()?;
        let partials = Punctuated::parse_separated_nonempty(input)?;
        let expected = 1 + operands.iter().filter(|(_, ty)| ty.is_none()).count();
        let method = Method { attributes, name, receiver, operands, output, partials };
        if method.partials.len() != expected {
            return Err(syn::Error::new(
                method.name.span(),
                format!(
                    "`{}` needs {expected} partial derivatives, one for each operand, in order",
                    method.name
                ),
            ));
        }
        Ok(method)
    }
}

impl Method {
    /// The name of the pullback.
    fn pullback(&self) -> Ident {
        format_ident!("{}_pullback", self.name)
    }

    /// The signature of the pullback.
    fn signature(&self) -> TokenStream {
        let pullback = self.pullback();
        let operands = self.operands.iter().map(|(name, ty)| match ty {
            Some(ty) => quote!(#name: #ty),
            None => quote!(#name: Self),
        });
        let result = if self.operands.is_empty() {
            quote!(Self)
        } else {
            let results =
                self.operands.iter().map(|(_, ty)| if ty.is_some() { quote!(()) } else { quote!(Self) });
            quote!((Self, #(#results),*))
        };
        quote!(fn #pullback(self, #(#operands,)* y: impl FnOnce() -> Self, d: Self) -> #result)
    }

    /// The body of the pullback for numbers that literals are converted to by `lift`.
    fn body(&self, lift: Option<&TokenStream>) -> TokenStream {
        let receiver = &self.receiver;
        let output = self.output.as_ref().map(|y| quote!(let #y = y();));
        let partials = match lift {
            Some(lift) => self.mixed_partials(lift),
            None => self.partials.iter().cloned().collect(),
        };
        let mut partials = partials.iter();
        let first = partials.next();
        let nothing = if lift.is_some() { quote!(d.passed_over()) } else { quote!(Self::default()) };
        let times = |partial: &Expr| {
            each_branch(partial, &|branch| match number(branch) {
                Some(0.0) => nothing.clone(),
                Some(1.0) => quote!(d),
                _ => quote!(d * (#branch)),
            })
        };
        let first = times(first.expect("one for the receiver"));
        let value = if self.operands.is_empty() {
            first
        } else {
            let rest = self.operands.iter().map(|(_, ty)| match ty {
                Some(_) => quote!(()),
                None => times(partials.next().expect("one for each operand")),
            });
            quote!((#first, #(#rest),*))
        };
        quote!(let #receiver = self; #output #value)
    }

    /// The body of the pullback for dual numbers. Without directions it is the component's.
    fn body_of_dual(&self, rules: &Ident, lift: &TokenStream) -> TokenStream {
        let (body, pullback) = (self.body(Some(lift)), self.pullback());
        let operands = self.operands.iter().map(|(name, ty)| match ty {
            Some(_) => quote!(#name),
            None => quote!(#name.value),
        });
        let whole = |partial: &Ident| quote!(DualNumber { value: #partial, tangent: d.tangent });
        let (pattern, result) = self.results(whole);
        quote! {
            if N == 0 {
                let #pattern = #rules::#pullback(self.value, #(#operands,)* || y().value, d.value);
                return #result;
            }
            #body
        }
    }

    /// The body of the pullback for lanes: the derivative is that of `f64`.
    fn of_lanes(&self, rules: &Ident) -> TokenStream {
        let pullback = self.pullback();
        let operands = self.operands.iter().map(|(name, ty)| match ty {
            Some(_) => quote!(#name),
            None => quote!(#name.value()),
        });
        let (pattern, result) = self.results(|partial| match self.partials.iter().any(may_be_nothing) {
            true => quote!(if #partial == 0.0 { Self::default() } else { d.times(#partial) }),
            false => quote!(d.times(#partial)),
        });
        quote! {
            let #pattern = #rules::#pullback(self.value(), #(#operands,)* || y().value(), 1.0);
            #result
        }
    }

    /// A pattern for what a pullback returns, and that with `change` applied to each gradient.
    fn results(&self, change: impl Fn(&Ident) -> TokenStream) -> (TokenStream, TokenStream) {
        let first = format_ident!("first", span = Span::mixed_site());
        let changed = change(&first);
        if self.operands.is_empty() {
            return (quote!(#first), changed);
        }
        let rest: Vec<_> = self
            .operands
            .iter()
            .map(|(name, ty)| {
                let name = format_ident!("d_{name}", span = Span::mixed_site());
                match ty {
                    Some(_) => (quote!(()), quote!(())),
                    None => (quote!(#name), change(&name)),
                }
            })
            .collect();
        let (names, rest): (Vec<_>, Vec<_>) = rest.into_iter().unzip();
        (quote!((#first, #(#names),*)), quote!((#changed, #(#rest),*)))
    }

    /// The partial derivatives, with `lift` around what is a number of another type where the two do not mix.
    fn mixed_partials(&self, lift: &TokenStream) -> Vec<Expr> {
        let mut partials: Vec<_> = self.partials.iter().cloned().collect();
        partials.iter_mut().for_each(|partial| Mixed(lift).visit_expr_mut(partial));
        partials
    }

    /// The partial derivatives, with `lift` around what is a number of another type.
    fn partials(&self, lift: &TokenStream) -> Vec<Expr> {
        let mut partials: Vec<_> = self.partials.iter().cloned().collect();
        partials.iter_mut().for_each(|partial| Lifted(lift).visit_expr_mut(partial));
        partials
    }

    /// The method of dual numbers: *f(x, z)˙ = ∂f/∂x·ẋ + ∂f/∂z·ż*.
    fn of_dual(&self) -> TokenStream {
        let Method { name, receiver, operands, output, .. } = self;
        let of = |name: &Ident| format_ident!("dual_{name}", span = Span::mixed_site());
        let parameters = operands.iter().map(|(name, ty)| match ty {
            Some(ty) => quote!(#name: #ty),
            None => quote!(#name: impl Into<Self>),
        });
        let active: Vec<_> = operands.iter().filter(|(_, ty)| ty.is_none()).map(|(name, _)| name).collect();
        let duals: Vec<_> = active.iter().map(|name| of(name)).collect();
        let passed = operands.iter().map(|(name, _)| name);
        let partials = self.partials(&quote!(<T as Float>::from_f64));
        let (first, rest) = partials.split_first().expect("one for the receiver");
        let y = output.clone().unwrap_or_else(|| Ident::new("y", Span::mixed_site()));
        let doc = format!("See [`f64::{name}`].");
        let chained = |dual: TokenStream, partial: &Expr| {
            each_branch(partial, &|branch| match number(branch) {
                Some(0.0) => quote!(DualNumber { value: #y, tangent: #dual.passed_over().tangent }),
                Some(1.0) => quote!(DualNumber { value: #y, tangent: #dual.tangent }),
                _ => quote!(#dual.chain(#y, #branch)),
            })
        };
        let rest = duals.iter().zip(rest).map(|(dual, partial)| chained(quote!(#dual), partial));
        let whole = chained(quote!(self), first);
        // A power is a product, which makes nothing infinite of what is finite.
        let exponent = operands.iter().find(|(_, ty)| ty.is_some()).map(|(n, _)| n);
        let product = exponent.map(|n| quote!(if #n > 0 { return self.chain_finite(#y, #first); }));
        quote! {
            #[doc = #doc]
            #[must_use]
            #[inline(always)]
            #[allow(unused, clippy::float_cmp)]
            pub fn #name(self, #(#parameters),*) -> Self {
                #(let #duals: Self = #active.into(); let #active = #duals.value;)*
                let #receiver = self.value;
                let #y = #receiver.#name(#(#passed),*);
                if N == 0 { return DualNumber { value: #y, tangent: self.tangent }; }
                #product
                #whole #(.plus_tangent_of(#rest))*
            }
        }
    }
}

/// The partial derivative with `change` applied to what it is in each branch. What is 0 there hands on nothing, not even of an infinite
/// gradient.
fn each_branch(partial: &Expr, change: &dyn Fn(&Expr) -> TokenStream) -> TokenStream {
    let value = |block: &syn::Block| match &block.stmts[..] {
        [syn::Stmt::Expr(value, None)] => each_branch(value, change),
        _ => change(&Expr::Block(syn::parse_quote!(#block))),
    };
    match partial {
        Expr::If(syn::ExprIf { cond, then_branch, else_branch: Some((_, otherwise)), .. }) => {
            let then = value(then_branch);
            let otherwise = match &**otherwise {
                Expr::Block(block) => value(&block.block),
                other => each_branch(other, change),
            };
            quote!((if #cond { #then } else { #otherwise }))
        }
        _ => change(partial),
    }
}

/// The value of a literal, which may have been converted.
fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Float(literal), .. }) => literal.base10_parse().ok(),
        Expr::Call(call) if call.args.len() == 1 => number(&call.args[0]),
        _ => None,
    }
}

/// It is 0 in some branch, or everywhere.
fn may_be_nothing(partial: &Expr) -> bool {
    let found = std::cell::Cell::new(false);
    each_branch(partial, &|branch| {
        found.set(found.get() || number(branch) == Some(0.0));
        TokenStream::new()
    });
    found.get()
}

/// Puts a function around literals, and around what is cast to `Self`.
struct Lifted<'l>(&'l TokenStream);

impl VisitMut for Lifted<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let lift = self.0;
        match expr {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Float(_), .. }) => {
                *expr = syn::parse_quote!(#lift(#expr))
            }
            Expr::Cast(cast) if matches!(&*cast.ty, Type::Path(ty) if ty.path.is_ident("Self")) => {
                let number = &cast.expr;
                *expr = syn::parse_quote!(#lift(#number as f64));
            }
            _ => syn::visit_mut::visit_expr_mut(self, expr),
        }
    }
}

/// The same in formulas of dual numbers, which mix with constants in arithmetic: what is left are the results of whole formulas, and
/// of branches. What is made of constants alone is a constant.
struct Mixed<'l>(&'l TokenStream);

impl Mixed<'_> {
    fn constant(expr: &Expr) -> bool {
        match expr {
            Expr::Lit(lit) => matches!(lit.lit, syn::Lit::Float(_)),
            Expr::Cast(_) => true,
            Expr::Paren(paren) => Self::constant(&paren.expr),
            Expr::Unary(unary) => Self::constant(&unary.expr),
            Expr::Binary(binary) => Self::constant(&binary.left) && Self::constant(&binary.right),
            Expr::MethodCall(call) => Self::constant(&call.receiver) && call.args.is_empty(),
            _ => false,
        }
    }

    /// The value of a branch.
    fn end(&mut self, block: &mut syn::Block) {
        if let Some(syn::Stmt::Expr(end, None)) = block.stmts.last_mut() {
            if Self::constant(end) {
                let lift = self.0;
                self.visit_expr_mut(end);
                *end = syn::parse_quote!(#lift(#end));
            } else {
                self.visit_expr_mut(end);
            }
        }
    }
}

impl VisitMut for Mixed<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Cast(cast) => {
                let number = &cast.expr;
                *expr = syn::parse_quote!((#number as f64));
            }
            Expr::If(branches) => {
                self.visit_expr_mut(&mut branches.cond);
                self.end(&mut branches.then_branch);
                if let Some((_, otherwise)) = &mut branches.else_branch {
                    match &mut **otherwise {
                        Expr::Block(block) => self.end(&mut block.block),
                        other => self.visit_expr_mut(other),
                    }
                }
            }
            _ => syn::visit_mut::visit_expr_mut(self, expr),
        }
    }
}

/// The type of dual numbers gets the methods themselves as well, that of lanes has its pullbacks from `f64`.
fn is(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

impl ScalarMethods {
    pub(crate) fn expand(self) -> TokenStream {
        let ScalarMethods { attributes, vis, name, types, methods } = self;
        let types = types.iter();
        let signatures: Vec<_> = methods.iter().map(Method::signature).collect();
        let (duals, numbers): (Vec<_>, Vec<_>) = types.partition(|ty| is(ty, "DualNumber"));
        let (lanes, numbers): (Vec<_>, Vec<_>) = numbers.into_iter().partition(|ty| is(ty, "Lanes"));
        let bodies: Vec<_> = methods.iter().map(|method| method.body(None)).collect();
        let documented = methods.iter().zip(&signatures).map(|(method, signature)| {
            let attributes = &method.attributes;
            let doc = format!("The pullback of `{}`.", method.name);
            quote!(#[doc = #doc] #(#attributes)* #signature;)
        });
        let implementations = numbers.into_iter().map(|ty| {
            quote! {
                impl #name for #ty {
                    #(
                        #[inline(always)]
                        #[allow(unused, clippy::float_cmp)]
                        #signatures { #bodies }
                    )*
                }
            }
        });
        let of_duals = duals.first().map(|ty| {
            let lift = quote!(<Self as Float>::from_f64);
            let bodies = methods.iter().map(|method| method.body_of_dual(&name, &lift));
            let methods = methods.iter().map(Method::of_dual);
            quote! {
                impl<T: Float, const N: usize> #ty<T, N> {
                    #(#methods)*
                }

                impl<T: Float, const N: usize> #name for #ty<T, N> {
                    #(
                        #[inline(always)]
                        #[allow(unused, clippy::float_cmp)]
                        #signatures { #bodies }
                    )*
                }
            }
        });
        let of_lanes = lanes.first().map(|ty| {
            let bodies = methods.iter().map(|method| method.of_lanes(&name));
            quote! {
                impl<const K: usize> #name for #ty<K> {
                    #(
                        #[inline(always)]
                        #signatures { #bodies }
                    )*
                }
            }
        });
        quote! {
            #(#attributes)*
            #vis trait #name: Sized {
                #(#documented)*
            }
            #(#implementations)*
            #of_duals
            #of_lanes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_rule_is_for_scalars() {
        let error = |input: TokenStream| {
            let rule: ScalarRule = syn::parse2(input).expect("the syntax is right");
            rule.expand().expect_err("not for a scalar rule").to_string()
        };
        assert!(error(quote!(fn f(x: f64, y: f64) -> f64 => y)).contains("2 active parameters"));
        assert!(error(quote!(fn f(x: &[f64]) -> f64 => 1.0)).contains("by value"));
        assert!(error(quote!(fn f(x: f64) -> (f64, f64) => 1.0)).contains("one number"));
    }

    #[test]
    fn registers_a_type_that_is_no_value() {
        let rule: ScalarRule = syn::parse_quote!(pub fn f(x: f64) -> f64 = y => y);
        let tokens = rule.expand().expect("a scalar rule").to_string();
        // A unit struct would take the function's own name.
        assert!(tokens.contains("pub struct f { }"), "{tokens}");
    }
}
