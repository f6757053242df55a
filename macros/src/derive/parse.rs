//! Reads the struct or enum, and tells plain ones from containers.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::visit_mut::VisitMut;
use syn::{
    Data, DeriveInput, Error, GenericParam, Generics, Ident, Index, Member, Result, Type, WherePredicate,
};

use super::{Field, Fields, Form, Item, Role, Style};
use crate::kind::{kind_of_type, of_standard_library};
use crate::outcome::inside_type;
use crate::program::Kind;

pub(super) fn parse(input: &DeriveInput) -> Result<Item<'_>> {
    let by_reference = by_reference(input)?;
    super::nested::refuse_others(input)?;
    let types: Vec<&Ident> = input.generics.type_params().map(|p| &p.ident).collect();
    let form = match &input.data {
        Data::Struct(data) => {
            let fields = read(input, &data.fields, &types)?;
            let holds = |field: &syn::Field| !is_constant(field) && is_container(&field.ty);
            if by_reference || data.fields.iter().any(holds) {
                Form::Container(fields)
            } else {
                Form::Plain(fields)
            }
        }
        Data::Enum(data) => {
            let (mut variants, mut owns) = (Vec::new(), by_reference);
            for variant in &data.variants {
                for field in
                    variant.fields.iter().filter(|field| !is_constant(field) && is_container(&field.ty))
                {
                    owns = true;
                    if has_lifetime(field.ty.to_token_stream()) {
                        return Err(Error::new_spanned(
                            &field.ty,
                            "an enum that holds references is not differentiable: make it a struct, let it own what it holds, or mark the \
                             field `#[constant]`",
                        ));
                    }
                }
                variants.push((variant.ident.clone(), read(input, &variant.fields, &types)?));
            }
            if owns { Form::OwningEnum(variants) } else { Form::Enum(variants) }
        }
        Data::Union(data) => {
            return Err(Error::new_spanned(
                data.union_token,
                "which field of a union is in use is not known, and so has no gradient: use an enum",
            ));
        }
    };
    let kept = keep(&input.generics, form.fields());
    Ok(Item { name: &input.ident, vis: &input.vis, generics: &input.generics, kept, form })
}

/// `#[pullback(by_reference)]`
fn by_reference(input: &DeriveInput) -> Result<bool> {
    let mut found = false;
    for attribute in input.attrs.iter().filter(|a| a.path().is_ident("pullback")) {
        let word: Ident = attribute.parse_args()?;
        if word != "by_reference" {
            return Err(Error::new_spanned(word, "the only option is `by_reference`"));
        }
        found = true;
    }
    Ok(found)
}

pub(super) fn is_constant(field: &syn::Field) -> bool {
    field.attrs.iter().any(|a| a.path().is_ident("constant"))
}

fn read(input: &DeriveInput, fields: &syn::Fields, types: &[&Ident]) -> Result<Fields> {
    let style = match fields {
        syn::Fields::Named(_) => Style::Named,
        syn::Fields::Unnamed(_) => Style::Tuple,
        syn::Fields::Unit => Style::Unit,
    };
    let fields = fields.iter().enumerate().map(|(i, field)| {
        if let Some(attribute) = field.attrs.iter().find(|a| a.path().is_ident("pullback")) {
            return Err(Error::new_spanned(attribute, "on a field only `#[constant]` means something"));
        }
        if !is_constant(field)
            && let Some(content) = inside_type(&field.ty).filter(|ty| is_container(ty) && !may_be_missing(ty) && in_optional_box(&field.ty).is_none())
        {
            return Err(Error::new_spanned(
                content,
                "an `Option` of numbers, of plain structs, of a `Vec`, of an `Array` or of a `Box<Struct>` carries a gradient: of anything else take the thing \
                 itself, empty where there is none, or mark the field `#[constant]`",
            ));
        }
        let member = match &field.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::Unnamed(Index::from(i)),
        };
        let nested = if is_constant(field) { None } else { super::nested::seen(&field.ty, input) };
        let nest = nested.as_ref().map(|(nest, _)| *nest);
        let optional_box = in_optional_box(&field.ty).filter(|inner| !is_constant(field) && !is_text(inner));
        let perhaps = optional_box.is_some();
        let (mut ty, borrowed, boxed) = match (&field.ty, nested) {
            (_, Some((_, seen))) => (seen, false, false),
            (Type::Reference(reference), _) => ((*reference.elem).clone(), true, false),
            (ty, _) => match (in_box(ty), optional_box) {
                (Some(inner), _) => (inner.clone(), false, true),
                (_, Some(inner)) => (syn::parse_quote!([#inner]), false, false),
                _ => (ty.clone(), false, false),
            },
        };
        Static.visit_type_mut(&mut ty);
        let role = match is_constant(field) {
            true if has_parts(&kind_of_type(&ty)) || is_matrix(&ty) => Role::Constant,
            true => Role::Inert,
            false if is_text(&ty) => Role::Inert,
            false => Role::Active,
        };
        // The type itself is differentiable where its other fields are.
        let generic = nest.is_none() && mentions(ty.to_token_stream(), types);
        let optional = !generic && inside_type(&ty).is_some_and(|inside| !is_container(&inside));
        Ok(Field { member, ty, role, borrowed, boxed, perhaps, nest, generic, optional })
    });
    Ok(Fields { style, fields: fields.collect::<Result<_>>()? })
}

/// A float, or an array of numbers.
fn has_parts(kind: &Kind) -> bool {
    match kind {
        Kind::Float => true,
        Kind::Sequence(element) | Kind::Matrix(element) => **element == Kind::Inert || has_parts(element),
        _ => false,
    }
}

/// A vector or matrix of nalgebra, as its name tells.
fn is_matrix(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|segment| crate::matrices::on_stack(&segment.ident.to_string()))
}

/// Types without gradient of which the library knows nothing.
fn is_text(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| {
            let known = ["String", "str", "Range", "RangeInclusive", "PhantomData"];
            known.iter().any(|name| segment.ident == name) && of_standard_library(&path.path)
                || ["Option", "Vec", "Box"].iter().any(|of| segment.ident == of)
                    && held(segment).is_some_and(is_text)
        }),
        Type::Paren(inner) => is_text(&inner.elem),
        Type::Group(inner) => is_text(&inner.elem),
        _ => false,
    }
}

/// The type is by its syntax one that owns or borrows arrays.
fn is_container(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => !is_text(&reference.elem),
        Type::Slice(_) => true,
        Type::Paren(inner) => is_container(&inner.elem),
        Type::Group(inner) => is_container(&inner.elem),
        Type::Array(array) => is_container(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().any(is_container),
        ty if is_text(ty) => false,
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| {
            let name = segment.ident.to_string();
            ["Vec", "Box"].contains(&&*name)
                || name.starts_with("Array")
                || crate::matrices::on_heap(&name)
                || inside_type(ty).is_some_and(|inside| is_container(&inside))
        }),
        _ => false,
    }
}

/// An `Option` of it carries a gradient.
fn may_be_missing(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let arrays = ["Vec", "Array", "Array0", "Array1", "Array2", "Array3", "Array4", "Array5", "Array6"];
    path.path.segments.last().is_some_and(|segment| arrays.iter().any(|name| segment.ident == name))
}

/// `T` of `Box<T>`.
pub(super) fn in_box(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    held(path.path.segments.last().filter(|segment| segment.ident == "Box")?)
}

/// `T` of `Option<Box<T>>`, if its size is known.
pub(crate) fn in_optional_box(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let inside = in_box(held(path.path.segments.last().filter(|segment| segment.ident == "Option")?)?);
    inside.filter(|inside| !matches!(inside, Type::Slice(_) | Type::TraitObject(_)))
}

/// `T` of `Vec<T>`.
pub(super) fn in_vec(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    held(path.path.segments.last().filter(|segment| segment.ident == "Vec")?)
}

/// The first type between the angle brackets.
fn held(segment: &syn::PathSegment) -> Option<&Type> {
    let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// One of `names` occurs in `tokens`.
fn mentions(tokens: TokenStream, names: &[&Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&&ident),
        TokenTree::Group(group) => mentions(group.stream(), names),
        _ => false,
    })
}

/// The parameters that gradients depend on, without defaults.
pub(super) fn keep<'f>(generics: &Generics, fields: impl IntoIterator<Item = &'f Field>) -> Generics {
    let types: Vec<TokenStream> =
        fields.into_iter().filter(|f| f.role != Role::Inert).map(|f| f.ty.to_token_stream()).collect();
    let used = |name: &Ident| types.iter().any(|ty| mentions(ty.clone(), &[name]));
    let mut kept = generics.clone();
    kept.params = std::mem::take(&mut kept.params)
        .into_iter()
        .filter_map(|param| match param {
            GenericParam::Lifetime(_) => None,
            GenericParam::Type(mut ty) => {
                ty.default = None;
                ty.bounds = ty.bounds.into_iter().filter(|b| !has_lifetime(b.to_token_stream())).collect();
                used(&ty.ident).then_some(GenericParam::Type(ty))
            }
            GenericParam::Const(mut constant) => {
                constant.default = None;
                Some(GenericParam::Const(constant))
            }
        })
        .collect();
    let dropped: Vec<&Ident> = generics.type_params().map(|p| &p.ident).filter(|name| !used(name)).collect();
    if let Some(clause) = &mut kept.where_clause {
        clause.predicates = std::mem::take(&mut clause.predicates)
            .into_iter()
            .filter(|p| !has_lifetime(p.to_token_stream()) && !mentions(p.to_token_stream(), &dropped))
            .collect();
    }
    let names: Vec<Ident> = kept.type_params().map(|p| p.ident.clone()).collect();
    let statics = names.iter().map(|name| -> WherePredicate { syn::parse_quote!(#name: 'static) });
    super::with(&kept, statics)
}

fn has_lifetime(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Punct(punct) => punct.as_char() == '\'',
        TokenTree::Group(group) => has_lifetime(group.stream()),
        _ => false,
    })
}

/// Gradients own what they hold: lifetimes do not matter to them.
struct Static;

impl VisitMut for Static {
    fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
        lifetime.ident = format_ident!("static", span = lifetime.ident.span());
    }
    fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
        reference.lifetime = Some(syn::parse_quote!('static));
        syn::visit_mut::visit_type_reference_mut(self, reference);
    }
}
