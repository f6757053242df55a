//! The parameters of a function with a rule: how each is passed, to the function and to its rule.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{FnArg, Ident, Pat, ReceiverKind, Type};

use crate::arrays::Shape;
use crate::arrays::shape::element;
use crate::callable::Callable;
use crate::derive::in_optional_box;
use crate::errors::Errors;
use crate::generics::{Generics, elide};
use crate::kind::{copied_type, inert, is_vector};
use crate::outcome::inside_type;
use crate::ownership::Owners;
use crate::parameters::lent_view;
use crate::program::Kind;
use crate::signature::resolve_self;
use crate::streams::Items;

/// How a parameter is passed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passing {
    Value,
    Shared,
    Unique,
}

/// What a function takes of which the rule has a reference.
#[derive(Clone)]
pub(crate) enum Handed {
    /// A view of an array.
    View,
    /// An iterator.
    Items(Box<Items>),
}

pub(crate) struct Parameter {
    /// `None` for `_`
    pub(crate) name: Option<Ident>,
    pub(crate) mutable: bool,
    pub(crate) passing: Passing,
    /// A vector or an array that is passed by value: to the rule it is lent.
    pub(crate) owned: bool,
    /// What the rule has another form of.
    pub(crate) handed: Option<Handed>,
    /// `Option<&T>`: a reference that may be missing.
    pub(crate) optional: bool,
    /// Without the reference.
    pub(crate) ty: Type,
    /// As written.
    pub(crate) syntax: Type,
    /// Marked `#[constant]`, or of a type that carries no gradient.
    pub(crate) constant: bool,
    /// For `&Data<'_>`: the type with `'a` for each lifetime.
    pub(crate) lent: Option<Type>,
    /// If it is a function.
    pub(crate) callable: Option<Callable>,
}

impl Parameter {
    /// Its name, or one for `_`.
    pub(crate) fn ident(&self, index: usize) -> Ident {
        self.name.clone().unwrap_or_else(|| format_ident!("_{index}"))
    }

    /// Its type, of which the body has the value.
    pub(crate) fn ty_in_body(&self) -> Type {
        let ty = &self.ty;
        if self.optional { syn::parse_quote!(Option<#ty>) } else { ty.clone() }
    }

    /// The type that has its gradient: what may be in a box is seen as a slice.
    pub(crate) fn seen(&self) -> Type {
        match in_optional_box(&self.ty) {
            Some(inside) => syn::parse_quote!([#inside]),
            None => self.ty.clone(),
        }
    }

    /// `x`, which the rule has, as what the function takes, if that is a view or an iterator.
    pub(crate) fn passed(&self, x: &Ident) -> Option<TokenStream> {
        Some(match (self.handed.as_ref()?, self.passing) {
            (Handed::View, Passing::Unique) => quote!(#x.view_mut()),
            (Handed::View, _) => quote!(#x.view()),
            (Handed::Items(items), _) => items.handing.chain(x).to_token_stream(),
        })
    }

    /// What its items are, if it is an iterator.
    pub(crate) fn items(&self) -> Option<&Items> {
        match &self.handed {
            Some(Handed::Items(items)) => Some(items),
            _ => None,
        }
    }

    /// Its type has lifetimes, and carries a gradient: `written` is a struct that borrows.
    fn lend(&mut self, written: &impl ToTokens, errors: &mut Errors) {
        if self.passing != Passing::Shared {
            errors
                .push(written, "a struct that borrows is taken by `&` differentiably, or as a `#[constant]`");
        }
        let syntax = at("'_", &self.ty);
        self.syntax = syn::parse_quote!(&#syntax);
        self.lent = Some(at("'a", &self.ty));
        self.ty = at("'static", &self.ty);
    }

    /// A constant by value of which nothing tells that it can be copied.
    pub(crate) fn is_cloned(&self, generics: &Generics) -> bool {
        self.passing == Passing::Value
            && self.constant
            && !self.optional
            && self.callable.is_none()
            && generics.kind_of(&self.ty) != Kind::Float
            && !copied_type(&self.ty)
    }

    /// The `Parameter` type of the rules crate.
    pub(crate) fn mode(&self, generics: &Generics) -> TokenStream {
        if let Some(callable) = &self.callable {
            return callable.mode(generics);
        }
        let ty = &self.ty;
        let span = ty.span();
        let kind = generics.kind_of(ty);
        match (self.passing, self.constant) {
            (_, true) if self.optional => quote_spanned!(span=> ::pullback::__private::ConstOptRef<#ty>),
            (Passing::Value, true) if self.is_cloned(generics) => {
                quote_spanned!(span=> ::pullback::__private::ConstCloned<#ty>)
            }
            (Passing::Value, true) if kind != Kind::Float => {
                quote_spanned!(span=> ::pullback::__private::ConstVal<#ty>)
            }
            // A float that is held constant has a gradient all the same: zero.
            (Passing::Value, true) => quote_spanned!(span=> ::pullback::__private::Held<#ty>),
            (Passing::Value, false) => quote_spanned!(span=> ::pullback::__private::Val<#ty>),
            (Passing::Shared, true) => quote_spanned!(span=> ::pullback::__private::ConstRef<#ty>),
            (Passing::Unique, true) => quote_spanned!(span=> ::pullback::__private::ConstMut<#ty>),
            (Passing::Shared, false) if self.optional => {
                quote_spanned!(span=> ::pullback::__private::OptRef<#ty>)
            }
            (Passing::Shared, false) if self.lent.is_some() => {
                quote_spanned!(span=> ::pullback::__private::RefLent<#ty>)
            }
            (Passing::Shared, false) if let Some(inside) = in_optional_box(ty) => {
                quote_spanned!(span=> ::pullback::__private::BoxRef<#inside>)
            }
            (Passing::Unique, false) if let Some(inside) = in_optional_box(ty) => {
                quote_spanned!(span=> ::pullback::__private::BoxMut<#inside>)
            }
            (Passing::Shared, false) => quote_spanned!(span=> ::pullback::__private::Ref<#ty>),
            (Passing::Unique, false) => quote_spanned!(span=> ::pullback::__private::Mut<#ty>),
        }
    }
}

/// A parameter that is no receiver, or one within an `impl`, whose type is `owner`.
pub(crate) fn parameter(
    input: &mut FnArg,
    syntax: &syn::Generics,
    generics: &Generics,
    (owner, owners): (Option<&Type>, &Owners),
    errors: &mut Errors,
) -> Parameter {
    if let (FnArg::Receiver(receiver), Some(owner)) = (&mut *input, owner) {
        return self_parameter(receiver, owner, owners, errors);
    }
    let FnArg::Typed(typed) = input else {
        errors.push(
            &*input,
            "a method is differentiable within an `impl` that is: put `#[differentiable]` on that",
        );
        let ty: Type = syn::parse_quote!(());
        let syntax = ty.clone();
        let (passing, lent) = (Passing::Value, None);
        return Parameter {
            name: None,
            mutable: false,
            passing,
            owned: false,
            handed: None,
            optional: false,
            ty,
            syntax,
            constant: true,
            lent,
            callable: None,
        };
    };
    let attributes = typed.attrs.len();
    typed.attrs.retain(|a| !a.path().is_ident("constant"));
    let marked = typed.attrs.len() < attributes;
    let (name, mutable) = match &*typed.pat {
        Pat::Ident(ident) => (Some(ident.ident.clone()), ident.mutability.is_some()),
        // `_`
        _ => (None, false),
    };
    let mut written = (*typed.ty).clone();
    let lent_view = lent_view(&written);
    let mut handed = lent_view.is_some().then_some(Handed::View);
    if let Some(lent) = lent_view {
        written = Type::Reference(lent);
    }
    if let Some(items) = Items::behind_reference(&written, syntax) {
        let why = "an iterator is taken by value differentiably, all of it: `impl Iterator<Item = f64>`; what goes on where the caller has it is a loop there";
        errors.push(&typed.ty, why);
        written = items.slice();
    }
    if let Some(items) = Items::of(&written, syntax) {
        items.check(marked, generics, &typed.ty, errors);
        written = items.slice();
        handed = Some(Handed::Items(Box::new(items)));
    }
    tell_lifetimes(&mut written);
    elide(syntax, &mut written);
    resolve_self(&mut written, owner);
    if !marked && let Some(callable) = Callable::parse(name.as_ref(), &written, syntax, generics, errors) {
        let (passing, ty, syntax) = (Passing::Value, written.clone(), (*typed.ty).clone());
        let (constant, callable) = (false, Some(callable));
        let (owned, optional, handed, lent) = (false, false, None, None);
        return Parameter {
            name,
            mutable,
            passing,
            owned,
            handed,
            optional,
            ty,
            syntax,
            constant,
            lent,
            callable,
        };
    }
    let constant = marked || inert(&generics.kind_of(&written));
    let refused = refused_array(&written, constant);
    if let Some(why) = &refused {
        errors.push(&typed.ty, why);
    }
    if let (false, Type::Tuple(tuple)) = (constant, &written)
        && let Some(reference) = tuple.elems.iter().find(|element| matches!(element, Type::Reference(_)))
    {
        let why =
            "a tuple of references is taken apart differentiably: make each of them a parameter of its own";
        errors.push(reference, why);
    }
    let referred = optional_reference(&written);
    let optional = referred.is_some();
    if let (false, false, Some(content @ Type::Reference(_))) = (constant, optional, &inside_type(&written)) {
        let why = "what is written to through a reference is not missing differentiably: take the `&mut` itself, and a `bool` beside it";
        errors.push(content, why);
    }
    if let (true, Type::Reference(reference)) = (constant, &mut written) {
        Lasting.visit_type_mut(&mut reference.elem);
    }
    let (passing, ty) = match &written {
        _ if let Some(ty) = referred => (if constant { Passing::Value } else { Passing::Shared }, ty),
        // It outlives all calls, as errors that hold it may ask for.
        Type::Reference(reference) if constant && lasts_for_ever(reference) => {
            (Passing::Value, written.clone())
        }
        Type::Reference(reference) => {
            let passing = if reference.mutability.is_some() { Passing::Unique } else { Passing::Shared };
            (passing, (*reference.elem).clone())
        }
        Type::ImplTrait(_) => {
            errors.push(&typed.ty, "an `impl Trait` parameter is differentiable if it is a function, `impl Fn(…) -> …`, without `#[constant]`, or an iterator that tells its items, `impl Iterator<Item = f64>`: otherwise write the type out");
            (Passing::Value, written.clone())
        }
        ty => (Passing::Value, ty.clone()),
    };
    if let (false, Some(element)) = (constant, generics.elements_of(&ty)) {
        let why = format!(
            "elements of any type are not differentiable: take one `&{element}` and call the function for each element where the \
             type is known, or write the type in the place of `{element}`; if it is a number, tell that by a bound, `{element}: Float`; \
             if it has sums and products name these, `{element}: Copy + Add<Output = {element}> + Mul<f64, Output = {element}>`; \
             without gradient mark the parameter `#[constant]`"
        );
        errors.push(&typed.ty, why);
    }
    if let (false, Some(element)) = (constant, joined_rows(&ty)) {
        let why = "slices and vectors within tuples and arrays that are elements carry no gradient: take a slice of a struct with \
            `#[derive(Differentiable)]` that has them as fields, or a slice for each; without gradient mark the parameter `#[constant]`";
        errors.push(element, why);
    }
    if constant || !has_lifetimes(&ty) {
        let owns = if constant { is_vector(&ty) } else { owners.own(&ty) };
        let owned = passing == Passing::Value && owns && !optional;
        return Parameter {
            name,
            mutable,
            passing: if owned { Passing::Shared } else { passing },
            owned,
            handed,
            optional,
            ty,
            syntax: written,
            constant,
            lent: None,
            callable: None,
        };
    }
    let mut parameter = Parameter {
        name,
        mutable,
        passing,
        owned: false,
        handed: None,
        optional: false,
        ty,
        syntax: written,
        constant,
        lent: None,
        callable: None,
    };
    if refused.is_none() {
        parameter.lend(&typed.ty, errors);
    }
    parameter
}

/// The last segment of the path of a type of ndarray's, behind a reference or not.
fn array_segment(ty: &mut Type) -> Option<&mut syn::PathSegment> {
    match ty {
        Type::Reference(reference) => array_segment(&mut reference.elem),
        Type::Path(path) => {
            path.path.segments.last_mut().filter(|segment| Shape::of_segment(segment).is_some())
        }
        _ => None,
    }
}

/// `&'static T`
fn lasts_for_ever(reference: &syn::TypeReference) -> bool {
    reference.mutability.is_none()
        && reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static")
}

/// `T` of `Option<&T>`.
fn optional_reference(ty: &Type) -> Option<Type> {
    let outcome = matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"));
    match inside_type(ty).filter(|_| outcome)? {
        Type::Reference(reference) if reference.mutability.is_none() => Some(*reference.elem),
        _ => None,
    }
}

fn is_view(segment: &syn::PathSegment) -> bool {
    segment.ident.to_string().starts_with("ArrayView")
}

/// `ArrayView1<f64>` is `ArrayView1<'_, f64>`.
fn tell_lifetimes(ty: &mut Type) {
    if let Some(segment) = array_segment(ty)
        && is_view(segment)
        && let syn::PathArguments::AngleBracketed(arguments) = &mut segment.arguments
        && !arguments.args.iter().any(|argument| matches!(argument, syn::GenericArgument::Lifetime(_)))
    {
        arguments.args.insert(0, syn::parse_quote!('_));
    }
}

/// Why an array is not taken in this way.
fn refused_array(written: &Type, constant: bool) -> Option<String> {
    let mut ty = written.clone();
    let shared = matches!(written, Type::Reference(reference) if reference.mutability.is_none());
    let segment = array_segment(&mut ty)?;
    let (name, arguments) = (segment.ident.to_string(), segment.arguments.to_token_stream().to_string());
    if !constant && (name.ends_with('D') || arguments.contains("IxDyn")) {
        let why = "how many dimensions an array has is part of its type differentiably: take `&Array2<f64>` or the like, which \
                   `x.into_dimensionality::<Ix2>()` makes of this one";
        return Some(why.into());
    }
    if !is_view(segment) || shared && !constant || !arguments.contains("'_") {
        return None;
    }
    let reference = name.replace("ArrayViewMut", "ArrayRef").replace("ArrayView", "ArrayRef");
    let arguments = arguments.replace(' ', "").replace("'_,", "").replace(',', ", ");
    let mutable = if name.contains("Mut") { "mut " } else { "" };
    Some(format!("a view is passed as `&{mutable}{reference}{arguments}`, to which `&{mutable}view` coerces"))
}

/// The elements of `[(&[f64], f64)]` and `Vec<[Vec<f64>; 2]>`, in which there are slices or vectors of their own.
fn joined_rows(ty: &Type) -> Option<Type> {
    let elements = element(ty).filter(|_| matches!(ty, Type::Slice(_)) || is_vector(ty))?;
    let is_row = |ty: &Type| matches!(ty, Type::Reference(_)) || is_vector(ty);
    let joined = match &elements {
        Type::Tuple(tuple) => tuple.elems.iter().any(is_row),
        Type::Array(array) => is_row(&array.elem),
        elements => return joined_rows(elements),
    };
    joined.then_some(elements)
}

/// The type is a path with lifetimes: `Data<'_>`.
fn has_lifetimes(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.iter().any(|segment| match &segment.arguments {
        syn::PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().any(|a| matches!(a, syn::GenericArgument::Lifetime(_)))
        }
        _ => false,
    })
}

/// The type, with `lifetime` in the place of all.
pub(crate) fn at(lifetime: &str, ty: &Type) -> Type {
    let mut ty = ty.clone();
    Lifetimes(lifetime).visit_type_mut(&mut ty);
    ty
}

/// The same for the types in a path.
pub(crate) fn path_at(lifetime: &str, path: &syn::Path) -> syn::Path {
    let mut path = path.clone();
    Lifetimes(lifetime).visit_path_mut(&mut path);
    path
}

/// References without a lifetime last for ever.
struct Lasting;

impl VisitMut for Lasting {
    fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
        reference.lifetime.get_or_insert_with(|| syn::Lifetime::new("'static", Span::call_site()));
        syn::visit_mut::visit_type_reference_mut(self, reference);
    }
    // What functions are called with need not.
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut syn::ParenthesizedGenericArguments) {}
    fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
}

/// Replaces all lifetimes.
struct Lifetimes<'t>(&'t str);

impl VisitMut for Lifetimes<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
        *lifetime = syn::Lifetime::new(self.0, lifetime.span());
    }
}

/// The parameter that stands for `self`.
fn self_parameter(
    receiver: &mut syn::Receiver,
    owner: &Type,
    owners: &Owners,
    errors: &mut Errors,
) -> Parameter {
    let attributes = receiver.attrs.len();
    receiver.attrs.retain(|a| !a.path().is_ident("constant"));
    let constant = receiver.attrs.len() < attributes;
    let (passing, written) = match &receiver.kind {
        ReceiverKind::Value => (Passing::Value, owner.clone()),
        ReceiverKind::Reference(_, _, None) => (Passing::Shared, syn::parse_quote!(&#owner)),
        ReceiverKind::Reference(_, _, Some(_)) => (Passing::Unique, syn::parse_quote!(&mut #owner)),
        _ => {
            errors.push(
                &*receiver,
                "the receiver of a differentiable method is `self`, `&self` or `&mut self`",
            );
            (Passing::Value, owner.clone())
        }
    };
    let name = Ident::new("self_", receiver.self_token.span());
    let owned = passing == Passing::Value && !constant && owners.own(owner);
    let mut parameter = Parameter {
        name: Some(name),
        mutable: receiver.mutability.is_some(),
        passing: if owned { Passing::Shared } else { passing },
        owned,
        handed: None,
        optional: false,
        ty: owner.clone(),
        syntax: written,
        constant,
        lent: None,
        callable: None,
    };
    if !constant && has_lifetimes(owner) {
        parameter.lend(receiver, errors);
    }
    parameter
}
