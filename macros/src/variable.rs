//! The variables of a [`Program`](crate::program::Program): where they come from, and what is known about them.

use proc_macro2::TokenStream;
use syn::Ident;

use crate::program::{BlockId, Kind, VarId};

/// How a variable was introduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// A parameter `x: T`.
    Value,
    /// A parameter `x: &T`.
    Shared,
    /// A parameter `x: &mut T`.
    Unique,
    /// A `let`.
    Local,
    /// The index of a `for`.
    Index,
    /// A parameter that is a function.
    Function,
    /// A parameter of a closure, by value or by reference, as its syntax does not tell.
    Either,
}

pub(crate) struct Variable {
    /// As written.
    pub(crate) name: Ident,
    /// Its name in the reverse pass, where all variables of a block are in scope at once.
    pub(crate) unique: Ident,
    /// The name of its shadow.
    pub(crate) shadow: Ident,
    pub(crate) origin: Origin,
    pub(crate) kind: Kind,
    /// Carries a gradient.
    pub(crate) active: bool,
    /// Marked `#[constant]`.
    pub(crate) constant: bool,
    /// A parameter that is an `Option` of a reference.
    pub(crate) optional: bool,
    /// Written through a projection or a `&mut`: what it holds is tracked by version instead of by definition.
    pub(crate) memory: bool,
    /// Declared `mut`, or a `&mut` parameter.
    pub(crate) mutable: bool,
    /// A parameter of a closure that is passed on.
    pub(crate) passed: bool,
    /// Changed by constant code that is not understood, and so cannot be undone.
    pub(crate) disturbed: bool,
    /// Written by a call without gradient, which is not undone.
    pub(crate) unrestored: bool,
    /// Bound by a pattern to a part of what a reference refers to; the reverse pass has that part itself.
    pub(crate) refers: bool,
    /// Likewise to a part of what is constant; it is a reference in both passes.
    pub(crate) referring: bool,
    /// Found in what is constant, or part of that: it may be a reference, and is none that could be kept.
    pub(crate) found: bool,
    /// A field of it is mentioned.
    pub(crate) parted: bool,
    /// That of a position, `t.0`: it may be a tuple.
    pub(crate) positional: bool,
    pub(crate) block: BlockId,
    /// As a parameter: a slice, an array or a vector.
    pub(crate) slice: bool,
    /// As a parameter: its length stays what it is.
    pub(crate) fixed: bool,
    /// Owns memory: it is moved, and never copied.
    pub(crate) heap: bool,
    /// Moved out of the function's sight, or into another variable.
    pub(crate) moved: bool,
    /// The variable whose pool its shadow comes from: one pool for all that a vector may be moved to.
    pub(crate) pool: VarId,
    /// Likewise for all that its contents may be moved to, or swapped with.
    pub(crate) storage: VarId,
    /// The variable that stands for all whose rows may change places with those of this one: the gradients of their rows
    /// share memory.
    pub(crate) rows: VarId,
    /// A vector that it becomes a row of, or may become one of.
    pub(crate) row_of: Option<VarId>,
    /// The zero of a local's shape, where the syntax of its initialiser tells that.
    pub(crate) zero: Option<Zero>,
    /// As annotated.
    pub(crate) ty: Option<Box<syn::Type>>,
    /// The type parameter that a parameter refers to.
    pub(crate) general: Option<Ident>,
    /// Of a type with a name that is none of the language's, as it is declared or as it is computed.
    pub(crate) of_user: bool,
}

impl Variable {
    /// A variable that a `let` in `block` introduces.
    pub(crate) fn local(name: Ident, block: BlockId, id: VarId) -> Self {
        Variable {
            // Both are chosen when all names are known.
            unique: name.clone(),
            shadow: name.clone(),
            name,
            origin: Origin::Local,
            kind: Kind::Unknown,
            active: false,
            constant: false,
            optional: false,
            memory: false,
            mutable: false,
            passed: false,
            disturbed: false,
            unrestored: false,
            refers: false,
            referring: false,
            found: false,
            parted: false,
            positional: false,
            slice: false,
            fixed: false,
            heap: false,
            moved: false,
            pool: id,
            storage: id,
            rows: id,
            row_of: None,
            block,
            zero: None,
            ty: None,
            general: None,
            of_user: false,
        }
    }

    /// Without gradient, and changed by code that nothing undoes: what is still there of it is there at the end only. As an
    /// argument it is copied on entry and brought back.
    pub(crate) fn is_copied(&self) -> bool {
        !self.active && (self.disturbed || self.unrestored)
    }

    /// Its name, as users call it.
    pub(crate) fn as_called(&self) -> String {
        if self.name == "self_" { "self".to_owned() } else { self.name.to_string() }
    }

    /// The shadow is a view given by the caller.
    pub(crate) fn by_reference(&self) -> bool {
        matches!(self.origin, Origin::Shared | Origin::Unique | Origin::Either)
    }
}

/// A zero of the shape of an initialiser.
#[derive(Clone)]
pub(crate) enum Zero {
    Scalar,
    Repeat(Box<Zero>, TokenStream),
    List(Vec<Zero>),
}
