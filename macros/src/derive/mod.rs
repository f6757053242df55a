//! `#[derive(Differentiable)]`: the gradient of a struct or an enum is a struct with the same field names.
//!
//! [`parse`] reads the item. A *plain* one is a value made of numbers: [`plain`] gives it a tangent, of which there are
//! arrays, and cells. A *container* owns or borrows arrays, and is differentiated by reference: [`container`] gives a struct
//! storage for a gradient, and a shadow that consists of the fields' shadows; [`choice`] does so for an enum. Where such a one holds others of
//! its own type, see [`nested`].

mod blank;
mod by_value;
mod choice;
mod container;
mod dual;
mod elements;
mod nested;
mod output;
mod parse;
mod parts;
mod plain;
mod storage;

use nested::Nest;
pub(crate) use parse::in_optional_box;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{DeriveInput, Error, Generics, Member, Type, Visibility, WherePredicate};

/// The derive macro. Errors become `compile_error!`s at the tokens they are about.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let expanded = syn::parse2::<DeriveInput>(input).and_then(|input| {
        let item = parse::parse(&input)?;
        Ok(match &item.form {
            Form::Container(fields) => container::expand(&item, fields),
            Form::Plain(fields) => plain::expand_struct(&item, fields),
            Form::Enum(variants) => plain::expand_enum(&item, variants),
            Form::OwningEnum(variants) => choice::expand(&item, variants),
        })
    });
    expanded.unwrap_or_else(Error::into_compile_error)
}

/// What the derive is for.
struct Item<'a> {
    name: &'a Ident,
    vis: &'a Visibility,
    /// As written.
    generics: &'a Generics,
    /// Those of the generated types: without lifetimes, and without types that no gradient depends on.
    kept: Generics,
    form: Form,
}

enum Form {
    Plain(Fields),
    Container(Fields),
    Enum(Vec<(Ident, Fields)>),
    OwningEnum(Vec<(Ident, Fields)>),
}

impl Form {
    /// All fields.
    fn fields(&self) -> Vec<&Field> {
        match self {
            Form::Plain(fields) | Form::Container(fields) => fields.fields.iter().collect(),
            Form::Enum(variants) | Form::OwningEnum(variants) => {
                variants.iter().flat_map(|(_, fields)| &fields.fields).collect()
            }
        }
    }
}

struct Fields {
    style: Style,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Named,
    Tuple,
    Unit,
}

struct Field {
    member: Member,
    /// Without the reference or the `Box`, and with `'static` for each lifetime.
    ty: Type,
    role: Role,
    /// Behind a reference.
    borrowed: bool,
    /// In a `Box`, of which the gradient knows nothing.
    boxed: bool,
    /// In an `Option<Box<_>>`, taken for a slice of one or of none.
    perhaps: bool,
    /// Holds others of the type that it belongs to.
    nest: Option<Nest>,
    /// Mentions a type parameter.
    generic: bool,
    /// An `Option` of plain data.
    optional: bool,
}

impl Field {
    /// Visits the field, which `place` is a reference to, for testers.
    fn visit(&self, place: TokenStream) -> TokenStream {
        match self.optional {
            true => quote!(__pb::visit_optional(#place, _visitor);),
            false => quote!(__pb::Coordinates::visit(#place, _visitor);),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Has the gradient that its type has, which may be none.
    Active,
    /// Marked `#[constant]`, and a number: gradients that come to it are dropped.
    Constant,
    /// Of a type that carries no gradient, or marked `#[constant]`.
    Inert,
}

impl Style {
    /// A struct's body, from its fields `pub name: type,`.
    fn body(self, fields: &TokenStream, clause: Option<&syn::WhereClause>) -> TokenStream {
        match self {
            Style::Named => quote!(#clause { #fields }),
            Style::Tuple => quote!((#fields) #clause;),
            Style::Unit => quote!(#clause;),
        }
    }

    /// A field's declaration.
    fn declare(self, member: &Member, ty: &TokenStream) -> TokenStream {
        match self {
            Style::Tuple => quote!(pub #ty,),
            _ => quote!(pub #member: #ty,),
        }
    }
}

/// `generics` with more predicates.
fn with(generics: &Generics, predicates: impl IntoIterator<Item = WherePredicate>) -> Generics {
    let mut generics = generics.clone();
    generics.make_where_clause().predicates.extend(predicates);
    generics
}

/// What every generated item is allowed.
fn allow() -> TokenStream {
    quote!(#[allow(non_snake_case, private_interfaces, private_bounds, missing_docs, unreachable_pub, dead_code)])
}
