//! Reads the attributes of the struct and of its fields.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Field, FnArg, GenericParam, Member, Pat, Path, ReturnType,
    Signature, Token, Type, Visibility,
};

use super::{Forgoing, Key, Mode, Parameter, Rule};
use crate::callable::Callable;
use crate::errors::Errors;
use crate::generics::Generics;

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

/// Reads the item.
pub(super) fn parse(input: &DeriveInput) -> syn::Result<Rule<'_>> {
    let mut errors = Errors::default();
    let fields: Vec<&Field> = match &input.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => {
            errors
                .push(data.enum_token, "a rule is a struct whose fields hold one activation: write `struct`");
            Vec::new()
        }
        Data::Union(data) => {
            errors.push(
                data.union_token,
                "a rule is a struct whose fields hold one activation: write `struct`",
            );
            Vec::new()
        }
    };

    let mut registrations = input.attrs.iter().filter(|a| a.path().is_ident("rule"));
    let registration = match registrations.next() {
        Some(attribute) => attribute.parse_args::<Registration>().map_err(|e| errors.add(e)).ok(),
        None => {
            let message =
                "which function is this a rule for? Add its signature: `#[rule(fn name(x: &T) -> U)]`";
            errors.push(&input.ident, message);
            None
        }
    };
    let mut at_once = false;
    for attribute in registrations {
        match attribute.parse_args::<Ident>() {
            Ok(key) if key == "at_once" => at_once = true,
            _ => errors.push(attribute, "a rule is for one function: remove this attribute"),
        }
    }

    let mut parameters = Vec::new();
    let mut forgoing = Vec::new();
    let registration = registration.map(|Registration { vis, mut signature }| {
        check_signature(&signature, input, &mut errors);
        let mut names: Vec<String> = Vec::new();
        let generics = signature.generics.clone();
        for argument in &mut signature.inputs {
            let parameter = parse_parameter(argument, &generics, &mut errors);
            // Parameters that are not understood count, too: the others keep their numbers.
            names.push(parameter.as_ref().map(|p| p.name.to_string()).unwrap_or_default());
            parameters.extend(parameter);
        }
        if parameters.len() == names.len() {
            for (index, field) in fields.iter().enumerate() {
                parse_field(index, field, &parameters, &mut forgoing, &mut errors);
            }
        }
        (vis, signature)
    });

    errors.finish()?;
    let Some((vis, signature)) = registration else { unreachable!("a missing registration is an error") };
    let members = match &input.data {
        Data::Struct(data) => data.fields.members().collect(),
        _ => Vec::new(),
    };
    Ok(Rule { activation: &input.ident, vis, signature, parameters, forgoing, members, at_once })
}

/// What no signature may have, and whether the struct has the function's generic parameters.
fn check_signature(signature: &Signature, input: &DeriveInput, errors: &mut Errors) {
    if let Some(token) = &signature.constness {
        errors.push(token, "write the signature without `const`: a rule runs at run time");
    }
    if let Some(token) = &signature.asyncness {
        errors.push(token, "an async function has no rule: give one to the synchronous part of it");
    }
    if !matches!(signature.safety, syn::Safety::Default) {
        errors.push(
            &signature.safety,
            "a rule is for a safe function: wrap the unsafe one in a function that checks",
        );
    }
    if let Some(abi) = &signature.abi {
        errors.push(abi, "write the signature without `extern`: wrap a foreign function in a Rust one");
    }
    if let Some(variadic) = &signature.variadic {
        errors.push(variadic, "a rule has a fixed number of parameters: take a slice instead");
    }
    if signature.inputs.len() > 16 {
        let message = "a rule has at most 16 parameters: group some in a tuple, an array or a struct";
        errors.push(signature.inputs.iter().nth(16), message);
    }
    for parameter in signature.generics.params.iter().chain(&input.generics.params) {
        if let GenericParam::Lifetime(lifetime) = parameter {
            errors.push(lifetime, "leave lifetimes out: a rule outlives the references it is called with");
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
        errors.push(&input.ident, message);
    }
}

/// Reads one parameter and takes `#[constant]` off it.
fn parse_parameter(argument: &mut FnArg, generics: &syn::Generics, errors: &mut Errors) -> Option<Parameter> {
    let argument = match argument {
        FnArg::Typed(argument) => argument,
        FnArg::Receiver(receiver) => {
            let message =
                "a rule is for a free function: write the receiver as a parameter with a name and a type";
            errors.push(receiver, message);
            return None;
        }
    };
    let mut constant = false;
    for attribute in std::mem::take(&mut argument.attrs) {
        if attribute.path().is_ident("constant") && matches!(attribute.meta, syn::Meta::Path(_)) {
            constant = true;
        } else {
            errors.push(attribute, "unknown attribute: a parameter may be marked `#[constant]`");
        }
    }
    let name = match &*argument.pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none() => {
            Some(p.ident.clone())
        }
        pattern => {
            errors
                .push(pattern, "give the parameter a plain name: take it apart in `forward` and `pullback`");
            None
        }
    };
    let function = Callable::parse(name.as_ref(), &argument.ty, generics, &Generics::new(generics), errors);
    if let Some(function) = function {
        if function.changing {
            errors.push(&argument.ty, "a rule takes functions that change nothing: `impl Fn(…) -> …`");
        }
        if function.is_named() {
            errors.push(
                &argument.ty,
                "a function of a type parameter is not supported here: write `impl Fn(…) -> …`",
            );
        }
        if constant {
            errors.push(&argument.ty, "no function is `#[constant]`: what it captures may carry gradients");
        }
        let ty = (*argument.ty).clone();
        return name.map(|name| Parameter { name, ty, mode: Mode::Function, function: Some(function) });
    }
    let (ty, mode) = match &*argument.ty {
        Type::Reference(reference) => {
            if let Some(lifetime) = &reference.lifetime {
                errors
                    .push(lifetime, "leave lifetimes out: a rule outlives the references it is called with");
            }
            let mode = match (reference.mutability, constant) {
                (None, false) => Mode::Ref,
                (None, true) => Mode::ConstRef,
                (Some(_), false) => Mode::Mut,
                (Some(token), true) => {
                    errors.push(token, "a `&mut` parameter is active: take `&T`, or remove `#[constant]`");
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
    name.map(|name| Parameter { name, ty, mode, function: None })
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
                        errors
                            .push(quote!(#token #lifetime), format!("a rule cannot hold a borrow: {remedy}"));
                    }
                }
                TokenTree::Punct(p) if p.as_char() == '&' => {
                    errors.push(&token, format!("a reference is not supported here: {remedy}"));
                }
                TokenTree::Ident(name) if name == "impl" => {
                    errors.push(&token, "name the type: `impl Trait` cannot be part of a rule's signature; use a generic parameter");
                }
                _ => {}
            }
        }
    }
    walk(ty.to_token_stream(), remedy, errors);
}

/// Reads `#[rule(restores = c)]`, `#[rule(constant = x)]` and `#[rule(overwrites = a)]`.
fn parse_field(
    index: usize,
    field: &Field,
    parameters: &[Parameter],
    forgoing: &mut Vec<Forgoing>,
    errors: &mut Errors,
) {
    for attribute in field.attrs.iter().filter(|a| a.path().is_ident("rule")) {
        for (key, name) in keys(attribute, errors) {
            match parameters.iter().position(|p| name == p.name) {
                Some(parameter) if key.fits(parameters[parameter].mode) => {
                    let field = match &field.ident {
                        Some(name) => Member::Named(name.clone()),
                        None => Member::Unnamed(syn::Index { index: index as u32, span: field.ty.span() }),
                    };
                    forgoing.push(Forgoing { field, parameter, key });
                }
                Some(_) => errors.push(
                    &name,
                    match key {
                        Key::Restores => {
                            format!("only a `&mut` parameter is restored, which `{name}` is not: remove this")
                        }
                        Key::Constant => format!(
                            "only an active parameter by value has a gradient to leave out, which `{name}` is not: remove this"
                        ),
                        Key::Overwrites => format!(
                            "only an active parameter by reference is overwritten, which `{name}` is not: remove this"
                        ),
                    },
                ),
                None => {
                    let kind = match key {
                        Key::Restores => ["`&mut` parameter", "`&mut` parameters"],
                        Key::Constant => ["active parameter by value", "active parameters by value"],
                        Key::Overwrites => ["active parameter by reference", "active parameters by reference"],
                    };
                    let fitting = parameters.iter().filter(|p| key.fits(p.mode)).map(|p| format!("`{}`", p.name));
                    let fitting = fitting.collect::<Vec<_>>().join(", ");
                    let remedy = if fitting.is_empty() {
                        format!("remove this: it has no {}", kind[0])
                    } else {
                        format!("its {} are {fitting}", kind[1])
                    };
                    errors.push(&name, format!("the function has no parameter `{name}`: {remedy}"));
                }
            }
        }
    }
}

impl Key {
    fn fits(self, mode: Mode) -> bool {
        match self {
            Key::Restores => matches!(mode, Mode::Mut),
            Key::Constant => matches!(mode, Mode::Val),
            Key::Overwrites => matches!(mode, Mode::Ref | Mode::Mut),
        }
    }
}

/// The keys in `#[rule(restores = c)]` and the parameters that they name.
fn keys(attribute: &Attribute, errors: &mut Errors) -> Vec<(Key, Ident)> {
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
            errors.add(error);
            return Vec::new();
        }
    };
    let mut names = Vec::new();
    for (path, value) in pairs {
        let key = if path.is_ident("restores") {
            Key::Restores
        } else if path.is_ident("constant") {
            Key::Constant
        } else if path.is_ident("overwrites") {
            Key::Overwrites
        } else {
            errors.push(path, "unknown key: a field may say `#[rule(restores = parameter)]`, `#[rule(constant = parameter)]` or `#[rule(overwrites = parameter)]`");
            continue;
        };
        match &value {
            Expr::Path(path) if path.path.get_ident().is_some() => {
                names.extend(path.path.get_ident().map(|name| (key, name.clone())))
            }
            value => errors.push(
                value,
                match key {
                    Key::Restores => "name one `&mut` parameter of the function, as in `restores = c`",
                    Key::Constant => {
                        "name one parameter of the function that is passed by value, as in `constant = x`"
                    }
                    Key::Overwrites => "name one parameter of the function that is passed by reference, as in `overwrites = a`",
                },
            ),
        }
    }
    names
}
