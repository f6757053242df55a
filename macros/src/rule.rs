//! `#[derive(Rule)]`: makes the registration of a function out of a struct that holds one activation of its rule.
//!
//! [`parse`] reads the attributes and collects every error of the item, [`expand`] emits.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Field, FnArg, GenericParam, Member, Pat, Path, ReturnType,
    Signature, Token, Type, Visibility,
};

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
    /// Which fields serve only to restore which parameter.
    restores: Vec<(Member, usize)>,
}

struct Parameter {
    name: Ident,
    /// The type that the reference refers to, or the type itself.
    ty: Type,
    mode: Mode,
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
}

/// Errors to be shown all at once.
#[derive(Default)]
struct Errors(Option<Error>);

impl Errors {
    fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(Error::new_spanned(tokens, message));
    }
}

/// The contents of `#[rule(…)]` on the struct.
struct Registration {
    vis: Visibility,
    signature: Signature,
}

impl Parse for Registration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        if ahead.parse::<Ident>().is_ok() && (ahead.is_empty() || ahead.peek(Token![=])) {
            return Err(input.error(
                "unknown key: the attribute takes the function's signature, `#[rule(fn name(x: &T) -> U)]`",
            ));
        }
        let registration = Registration { vis: input.parse()?, signature: input.parse()? };
        input.parse::<Option<Token![;]>>()?;
        if !input.is_empty() {
            return Err(
                input.error("nothing may follow the signature: the body stays with the function itself")
            );
        }
        Ok(registration)
    }
}

fn parse(input: &DeriveInput) -> syn::Result<Rule<'_>> {
    let mut errors = Errors::default();
    let fields: Vec<&Field> = match &input.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => {
            errors.at(data.enum_token, "a rule is a struct whose fields hold one activation: write `struct`");
            Vec::new()
        }
        Data::Union(data) => {
            errors
                .at(data.union_token, "a rule is a struct whose fields hold one activation: write `struct`");
            Vec::new()
        }
    };

    let mut registrations = input.attrs.iter().filter(|a| a.path().is_ident("rule"));
    let registration = match registrations.next() {
        Some(attribute) => attribute.parse_args::<Registration>().map_err(|e| errors.push(e)).ok(),
        None => {
            let message =
                "which function is this a rule for? Add its signature: `#[rule(fn name(x: &T) -> U)]`";
            errors.at(&input.ident, message);
            None
        }
    };
    for attribute in registrations {
        errors.at(attribute, "a rule is for one function: remove this attribute");
    }

    let mut parameters = Vec::new();
    let mut restores = Vec::new();
    let registration = registration.map(|Registration { vis, mut signature }| {
        check_signature(&signature, input, &mut errors);
        let mut names: Vec<String> = Vec::new();
        for argument in &mut signature.inputs {
            let parameter = parse_parameter(argument, &mut errors);
            // Parameters that are not understood count, too: the others keep their numbers.
            names.push(parameter.as_ref().map(|p| p.name.to_string()).unwrap_or_default());
            parameters.extend(parameter);
        }
        if parameters.len() == names.len() {
            for (index, field) in fields.iter().enumerate() {
                parse_field(index, field, &parameters, &mut restores, &mut errors);
            }
        }
        (vis, signature)
    });

    match (registration, errors.0) {
        (Some((vis, signature)), None) => {
            Ok(Rule { activation: &input.ident, vis, signature, parameters, restores })
        }
        (_, Some(errors)) => Err(errors),
        (None, None) => unreachable!("a missing registration is an error"),
    }
}

/// What no signature may have, and whether the struct has the function's generic parameters.
fn check_signature(signature: &Signature, input: &DeriveInput, errors: &mut Errors) {
    if let Some(token) = &signature.constness {
        errors.at(token, "write the signature without `const`: a rule runs at run time");
    }
    if let Some(token) = &signature.asyncness {
        errors.at(token, "an async function has no rule: give one to the synchronous part of it");
    }
    if !matches!(signature.safety, syn::Safety::Default) {
        errors.at(
            &signature.safety,
            "a rule is for a safe function: wrap the unsafe one in a function that checks",
        );
    }
    if let Some(abi) = &signature.abi {
        errors.at(abi, "write the signature without `extern`: wrap a foreign function in a Rust one");
    }
    if let Some(variadic) = &signature.variadic {
        errors.at(variadic, "a rule has a fixed number of parameters: take a slice instead");
    }
    if signature.inputs.len() > 16 {
        let message = "a rule has at most 16 parameters: group some in a tuple, an array or a struct";
        errors.at(signature.inputs.iter().nth(16), message);
    }
    for parameter in signature.generics.params.iter().chain(&input.generics.params) {
        if let GenericParam::Lifetime(lifetime) = parameter {
            errors.at(lifetime, "leave lifetimes out: a rule outlives the references it is called with");
        }
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        check_type(ty, "return the data by value, or write it to a `&mut` parameter", errors);
    }

    let names = |generics: &syn::Generics| -> Vec<String> {
        let own = |p: &GenericParam| match p {
            GenericParam::Type(t) => Some(t.ident.to_string()),
            GenericParam::Const(c) => Some(c.ident.to_string()),
            GenericParam::Lifetime(_) => None,
        };
        generics.params.iter().filter_map(own).collect()
    };
    let (wanted, found) = (names(&signature.generics), names(&input.generics));
    if wanted != found {
        let list = if wanted.is_empty() { String::new() } else { format!("<{}>", wanted.join(", ")) };
        let message = format!(
            "the struct needs the generic parameters of the function, in the same order: `{}{list}`",
            input.ident
        );
        errors.at(&input.ident, message);
    }
}

/// Reads one parameter and takes `#[constant]` off it.
fn parse_parameter(argument: &mut FnArg, errors: &mut Errors) -> Option<Parameter> {
    let argument = match argument {
        FnArg::Typed(argument) => argument,
        FnArg::Receiver(receiver) => {
            let message =
                "a rule is for a free function: write the receiver as a parameter with a name and a type";
            errors.at(receiver, message);
            return None;
        }
    };
    let mut constant = false;
    for attribute in std::mem::take(&mut argument.attrs) {
        if attribute.path().is_ident("constant") && matches!(attribute.meta, syn::Meta::Path(_)) {
            constant = true;
        } else {
            errors.at(attribute, "unknown attribute: a parameter may be marked `#[constant]`");
        }
    }
    let name = match &*argument.pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none() => {
            Some(p.ident.clone())
        }
        pattern => {
            errors.at(pattern, "give the parameter a plain name: take it apart in `forward` and `pullback`");
            None
        }
    };
    let (ty, mode) = match &*argument.ty {
        Type::Reference(reference) => {
            if let Some(lifetime) = &reference.lifetime {
                errors.at(lifetime, "leave lifetimes out: a rule outlives the references it is called with");
            }
            let mode = match (reference.mutability, constant) {
                (None, false) => Mode::Ref,
                (None, true) => Mode::ConstRef,
                (Some(_), false) => Mode::Mut,
                (Some(token), true) => {
                    errors.at(token, "a `&mut` parameter is active: take `&T`, or remove `#[constant]`");
                    Mode::Mut
                }
            };
            ((*reference.elem).clone(), mode)
        }
        ty => {
            let mode = match primitive(ty) {
                Some("f32" | "f64") if constant => Mode::InertVal,
                Some("f32" | "f64") => Mode::Val,
                Some(_) => Mode::ConstVal,
                None if constant => Mode::ConstVal,
                None => Mode::Val,
            };
            (ty.clone(), mode)
        }
    };
    check_type(&ty, "take one reference to owned data, such as `&[T]` or `&ArrayRef2<T>`", errors);
    name.map(|name| Parameter { name, ty, mode })
}

/// The name of a primitive scalar type.
fn primitive(ty: &Type) -> Option<&'static str> {
    const NAMES: [&str; 16] = [
        "f32", "f64", "bool", "char", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64",
        "u128", "usize",
    ];
    match ty {
        Type::Path(path) if path.qself.is_none() => NAMES.into_iter().find(|name| path.path.is_ident(name)),
        _ => None,
    }
}

/// Refuses references, lifetimes and `impl Trait` inside of `ty`.
fn check_type(ty: &Type, remedy: &str, errors: &mut Errors) {
    fn walk(tokens: TokenStream, remedy: &str, errors: &mut Errors) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match &token {
                TokenTree::Group(group) => walk(group.stream(), remedy, errors),
                TokenTree::Punct(p) if p.as_char() == '\'' => {
                    let lifetime = tokens.next();
                    let is_static = matches!(&lifetime, Some(TokenTree::Ident(name)) if name == "static");
                    if !is_static {
                        errors.at(quote!(#token #lifetime), format!("a rule cannot hold a borrow: {remedy}"));
                    }
                }
                TokenTree::Punct(p) if p.as_char() == '&' => {
                    errors.at(&token, format!("a reference is not supported here: {remedy}"));
                }
                TokenTree::Ident(name) if name == "impl" => {
                    errors.at(&token, "name the type: `impl Trait` cannot be part of a rule's signature; use a generic parameter");
                }
                _ => {}
            }
        }
    }
    walk(ty.to_token_stream(), remedy, errors);
}

/// Reads `#[rule(restores = c)]`.
fn parse_field(
    index: usize,
    field: &Field,
    parameters: &[Parameter],
    restores: &mut Vec<(Member, usize)>,
    errors: &mut Errors,
) {
    for attribute in field.attrs.iter().filter(|a| a.path().is_ident("rule")) {
        for name in restored(attribute, errors) {
            match parameters.iter().position(|p| name == p.name) {
                Some(number) if matches!(parameters[number].mode, Mode::Mut) => {
                    let member = match &field.ident {
                        Some(name) => Member::Named(name.clone()),
                        None => Member::Unnamed(syn::Index { index: index as u32, span: field.ty.span() }),
                    };
                    restores.push((member, number));
                }
                Some(_) => {
                    let message =
                        format!("only a `&mut` parameter is restored, which `{name}` is not: remove this");
                    errors.at(&name, message);
                }
                None => {
                    let mutable = parameters
                        .iter()
                        .filter(|p| matches!(p.mode, Mode::Mut))
                        .map(|p| format!("`{}`", p.name));
                    let mutable = mutable.collect::<Vec<_>>().join(", ");
                    let remedy = if mutable.is_empty() {
                        "remove this: it has no `&mut` parameter".to_owned()
                    } else {
                        format!("its `&mut` parameters are {mutable}")
                    };
                    errors.at(&name, format!("the function has no parameter `{name}`: {remedy}"));
                }
            }
        }
    }
}

/// The names in `#[rule(restores = c)]`.
fn restored(attribute: &Attribute, errors: &mut Errors) -> Vec<Ident> {
    let pairs = |input: ParseStream<'_>| {
        Punctuated::<(Path, Expr), Token![,]>::parse_terminated_with(input, |input| {
            let key = input.parse()?;
            input.parse::<Token![=]>()?;
            Ok((key, input.parse()?))
        })
    };
    let pairs = match &attribute.meta {
        syn::Meta::List(list) => pairs.parse2(list.tokens.clone()),
        meta => Err(Error::new_spanned(meta, "write `#[rule(restores = parameter)]`")),
    };
    let pairs = match pairs {
        Ok(pairs) => pairs,
        Err(error) => {
            errors.push(error);
            return Vec::new();
        }
    };
    let mut names = Vec::new();
    for (key, value) in pairs {
        if !key.is_ident("restores") {
            errors.at(key, "unknown key: a field may say `#[rule(restores = parameter)]`");
            continue;
        }
        match &value {
            Expr::Path(path) if path.path.get_ident().is_some() => {
                names.extend(path.path.get_ident().cloned())
            }
            value => errors.at(value, "name one `&mut` parameter of the function, as in `restores = c`"),
        }
    }
    names
}

fn expand(rule: &Rule<'_>) -> TokenStream {
    let Rule { activation, vis, signature, parameters, restores } = rule;
    let function = &signature.ident;
    let private = quote!(::pullback::__private);
    let (impl_generics, type_generics, where_clause) = signature.generics.split_for_impl();
    let turbofish = type_generics.as_turbofish();
    let mut with_lifetime = signature.generics.clone();
    with_lifetime.params.insert(0, syn::parse_quote!('pullback));
    let pullback_generics = with_lifetime.split_for_impl().0;
    // Whatever rustc says about the author's `forward` and `pullback` is shown at the struct's name, not at the derive.
    let here = activation.span().resolved_at(Span::call_site());
    let owner = quote_spanned!(here=> #activation #turbofish);

    // A braced struct, because any other would take the function's name in the namespace of values.
    let phantoms = signature.generics.type_params().map(|p| &p.ident);
    let contents = match signature.generics.params.is_empty() {
        true => quote!({}),
        false => quote!({ generics: ::core::marker::PhantomData<fn() -> (#(#phantoms,)*)> }),
    };
    let doc = format!(
        "The type that goes with [`{function}`](fn@{function}), for `#[differentiable]` functions that call it."
    );

    let names: Vec<Ident> = parameters.iter().map(|p| internal("argument", &p.name)).collect();
    let public_names = parameters.iter().map(|p| &p.name);
    let types = parameters.iter().map(|Parameter { ty, mode, .. }| match mode {
        Mode::Ref | Mode::ConstRef => quote!(&'a #ty),
        Mode::Mut => quote!(&'a mut #ty),
        Mode::Val | Mode::InertVal | Mode::ConstVal => quote!(#ty),
    });
    let public_names_again = public_names.clone();
    let modes = parameters.iter().map(|Parameter { ty, mode, .. }| {
        let mode = Ident::new(
            match mode {
                Mode::Val | Mode::InertVal => "Val",
                Mode::ConstVal => "ConstVal",
                Mode::Ref => "Ref",
                Mode::ConstRef => "ConstRef",
                Mode::Mut => "Mut",
            },
            Span::mixed_site(),
        );
        quote_spanned!(ty.span()=> #private::#mode<#ty>)
    });
    let (output, has_output) = match &signature.output {
        ReturnType::Default => (quote!(()), false),
        ReturnType::Type(_, ty) => (ty.to_token_stream(), !is_unit(ty)),
    };
    let name = Literal::string(&unraw(function));
    let list = quote!((#(#names,)*));

    let shadows: Vec<Ident> = parameters.iter().map(|p| internal("shadow", &p.name)).collect();
    let duals = parameters.iter().zip(&names).zip(&shadows).map(|((p, name), shadow)| match p.mode {
        Mode::Ref => quote_spanned!(name.span()=> #private::Dual { value: #name, shadow: #shadow }),
        Mode::Mut => quote_spanned!(name.span()=> #private::DualMut { value: #name, shadow: #shadow }),
        _ => quote!(#name),
    });
    let mut passed: Vec<TokenStream> = duals.collect();
    if has_output {
        passed.push(quote!(seed));
    }
    let gradients: Vec<Ident> = parameters
        .iter()
        .filter(|p| matches!(p.mode, Mode::Val))
        .map(|p| internal("gradient", &p.name))
        .collect();
    let returned = match &gradients[..] {
        [] => quote_spanned!(here=> ()),
        [gradient] => quote!(#gradient),
        gradients => quote_spanned!(here=> (#(#gradients),*)),
    };
    let all_gradients = parameters.iter().map(|p| match p.mode {
        Mode::Val => internal("gradient", &p.name).into_token_stream(),
        Mode::InertVal => quote!(#private::zero()),
        _ => quote!(()),
    });

    let call_primal = quote_spanned!(function.span()=> #function #turbofish (#(#names),*));
    let call_forward = quote_spanned!(here=> #owner::forward(activation, #(#names),*));
    let call_pullback = quote_spanned!(here=> let #returned = #owner::pullback(activation, #(#passed),*););
    let forgo = (!restores.is_empty()).then(|| {
        let members = restores.iter().map(|(member, _)| member);
        let numbers = restores.iter().map(|(_, number)| Literal::usize_unsuffixed(*number));
        quote! {
            fn forgo(&mut self, parameter: usize) {
                #(if parameter == #numbers {
                    self.#members.forgo();
                })*
            }
        }
    });

    quote! {
        #[doc = #doc]
        #[allow(non_camel_case_types)]
        #vis struct #function #impl_generics #where_clause #contents

        const _: () = {
            #[automatically_derived]
            impl #impl_generics #private::Function for #function #type_generics #where_clause {
                type Parameters = (#(#modes,)*);
                type Output = #output;
                const NAME: &'static str = #name;

                #[inline]
                fn primal(#list: #private::Args<'_, Self>) -> #output {
                    #call_primal
                }
            }

            // Functions of their own, because inside of the `impl` below a `forward` or `pullback` that the author forgot would
            // be taken for the trait's.
            #[inline]
            fn forward #impl_generics (
                activation: &mut #activation #type_generics,
                #list: #private::Args<'_, #function #type_generics>,
            ) -> #output #where_clause {
                #call_forward
            }

            #[inline]
            #[allow(clippy::let_unit_value, clippy::unused_unit)]
            fn pullback #pullback_generics (
                activation: &mut #activation #type_generics,
                #list: #private::Args<'pullback, #function #type_generics>,
                (#(#shadows,)*): #private::Shadows<'pullback, #function #type_generics>,
                seed: #private::Cotangent<#function #type_generics>,
            ) -> #private::Gradients<#function #type_generics> #where_clause {
                let _ = (#(&#shadows,)* &seed);
                #call_pullback
                (#(#all_gradients,)*)
            }

            #[automatically_derived]
            impl #impl_generics #private::Activation for #activation #type_generics #where_clause {
                type Function = #function #type_generics;

                #[inline]
                fn forward(&mut self, arguments: #private::Args<'_, #function #type_generics>) -> #output {
                    forward(self, arguments)
                }

                #[inline]
                fn pullback<'a>(
                    &mut self,
                    arguments: #private::Args<'a, #function #type_generics>,
                    shadows: #private::Shadows<'a, #function #type_generics>,
                    seed: #private::Cotangent<#function #type_generics>,
                ) -> #private::Gradients<#function #type_generics> {
                    pullback(self, arguments, shadows, seed)
                }

                #forgo
            }

            #[automatically_derived]
            impl #impl_generics #function #type_generics #where_clause {
                /// The rule, with nothing pending.
                pub fn rule() -> impl #private::Rule<Function = Self, Residual = ()> {
                    <#private::Frames<#activation #type_generics> as ::core::default::Default>::default()
                }

                /// The arguments of a call as the rule takes them: this is where they coerce as in any call.
                #[doc(hidden)]
                #[inline(always)]
                #[allow(clippy::too_many_arguments, clippy::ptr_arg, clippy::type_complexity)]
                pub fn args<'a>(#(#public_names: #types),*) -> #private::Args<'a, Self> {
                    (#(#public_names_again,)*)
                }
            }
        };
    }
}

/// A name that cannot be confused with what the author wrote.
fn internal(role: &str, name: &Ident) -> Ident {
    format_ident!("{role}_{}", unraw(name), span = name.span().resolved_at(Span::mixed_site()))
}

fn unraw(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}

fn is_unit(ty: &Type) -> bool {
    let mut tokens = ty.to_token_stream().into_iter();
    let unit = |g: &Group| g.delimiter() == Delimiter::Parenthesis && g.stream().is_empty();
    matches!(tokens.next(), Some(TokenTree::Group(g)) if unit(&g)) && tokens.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            #[rule(async fn f<'a>((x, y): (f64, f64), z: &'a f64, w: impl Fn(), #[other] v: f64, u: ArrayView1<'_, f64>))]
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
