//! Places that functions of the user's select, `m[(i, j)]` and `m.row(i)`: see [`crate::projections`] for those functions.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Expr as Syn, Ident};

use crate::kind::inert;
use crate::parse::Parser;
use crate::program::*;
use crate::projections::beside;
use crate::reverse::Reverse;

impl Parser<'_> {
    /// The place is of a type that may have an `Index` of the user's, as its name or the index tells.
    pub(crate) fn indexes_by_itself(&self, base: &Syn, place: &Place, index: &Syn) -> bool {
        if self.program.kind_of_place(place) != Kind::Unknown || self.shape_of(base).is_some() {
            return false;
        }
        let variable = &self.program.variables[place.base];
        let whole = place.projections.iter().all(|p| matches!(p, Projection::Deref));
        let ty = self.types.get(&place.base).filter(|_| whole);
        let ours = |ty: &syn::Type| match ty {
            syn::Type::Path(path) => path
                .path
                .segments
                .last()
                .is_some_and(|last| crate::matrices::on_stack(&last.ident.to_string())),
            _ => true,
        };
        if ty.is_some_and(ours) {
            return false;
        }
        matches!(index, Syn::Tuple(_)) || whole && variable.of_user && variable.general.is_none()
    }
}

/// Our own methods by which [`crate::contents`] refers to what is inside of an `Option`.
pub(crate) const INSIDE: &str = "inside_of_option";
pub(crate) const INSIDE_MUT: &str = "inside_of_option_mut";
/// The same of an `Option` of a reference.
pub(crate) const REFERRED: &str = "referred_by_option";

/// The method is one of these two.
fn is_of_option(method: &Ident) -> bool {
    method == INSIDE || method == INSIDE_MUT
}

/// The call is one of these, or of those by which [`crate::variants`] refers to what a variant holds.
pub(crate) fn is_inside(call: &syn::ExprMethodCall) -> bool {
    [INSIDE, INSIDE_MUT, REFERRED].iter().any(|name| call.method == name)
        || crate::variants::is_part(&call.method)
}

/// Methods of the standard library's and ndarray's types that return what is written through.
const KNOWN: &[&str] = &[
    "as_mut",
    "as_mut_slice",
    "as_slice_mut",
    "axis_iter_mut",
    "borrow_mut",
    "cell_view_mut",
    "chunk_by_mut",
    "chunks_exact_mut",
    "chunks_mut",
    "columns_mut",
    "deref_mut",
    "exact_chunks_mut",
    "first_mut",
    "get_mut",
    "indexed_iter_mut",
    "iter_mut",
    "lanes_mut",
    "last_mut",
    "outer_iter_mut",
    "rchunks_mut",
    "rows_mut",
    "split_at_mut",
    "split_first_mut",
    "split_last_mut",
    "view_mut",
];

impl Parser<'_> {
    /// The part of its receiver that a method of the user's returns a reference to.
    pub(crate) fn selected_by(&mut self, call: &syn::ExprMethodCall, kind: Kind) -> Option<Place> {
        if !self.suspects.any(&call.receiver) || self.viewed(call).is_some() {
            return None;
        }
        let mut place = self.place(&call.receiver)?;
        let array = !is_inside(call) && self.shape_of(&call.receiver).is_some();
        if self.program.kind_of_place(&place) != Kind::Unknown || array {
            return None;
        }
        self.program.variables[place.base].parted = true;
        let args = call.args.iter().map(|arg| self.inert_expr(arg)).collect();
        place.projections.push(Projection::Selected(call.method.clone(), args, kind));
        Some(place)
    }

    /// The method returns a reference, as the `impl` tells in which it is called: what is known of the part.
    pub(crate) fn known_to_select(&self, call: &syn::ExprMethodCall) -> Option<Kind> {
        if is_inside(call) {
            return Some(Kind::Unknown);
        }
        let of_self = matches!(&*call.receiver, Syn::Path(path) if path.path.is_ident("self_"));
        let beside = self.selecting.iter().find(|(known, _)| of_self && *known == call.method);
        beside.map(|(_, kind)| kind.clone())
    }

    /// Likewise where something is done with a part of what it returns: then its name may tell.
    pub(crate) fn selects_within(&self, call: &syn::ExprMethodCall) -> Option<Kind> {
        let name = call.method.to_string();
        let by_name = || (name.ends_with("_mut") && !KNOWN.contains(&&*name)).then_some(Kind::Unknown);
        self.known_to_select(call).or_else(by_name)
    }

    /// Such a method returns `&mut`, as its name tells.
    pub(crate) fn selects_uniquely(&self, call: &syn::ExprMethodCall) -> bool {
        self.known_to_select(call).is_some() && call.method.to_string().ends_with("_mut")
    }

    /// What `let part: &T = m.part();` and `let part: &T = &m[i];` refer to, if that is what a function of the user's selects.
    pub(crate) fn referred_part(&mut self, init: &Syn, ty: &syn::Type) -> Option<Place> {
        let kind = self.program.kind_of_type(ty);
        match init {
            _ if inert(&kind) => None,
            Syn::MethodCall(call) => self.selected_by(call, kind),
            Syn::Reference(reference) => {
                let mut place = self.place(&reference.expr)?;
                let Some(Projection::Indexed(_, known)) = place.projections.last_mut() else { return None };
                *known = kind;
                Some(place)
            }
            _ => None,
        }
    }

    /// A declaration tells what an index selects.
    pub(crate) fn tell_selected(&mut self, init: ExprId, kind: Kind) {
        if let ExprKind::Read(place) = &mut self.program.exprs[init].kind
            && let Some(Projection::Indexed(_, known)) = place.projections.last_mut()
        {
            *known = kind;
        }
    }
}

impl Place {
    /// A method that takes `&mut self` leads to it, as its name tells.
    pub(crate) fn is_selected_mut(&self) -> bool {
        self.projections
            .iter()
            .any(|p| matches!(p, Projection::Selected(method, ..) if method.to_string().ends_with("_mut")))
    }

    /// A part of the part that an index selects: that is no number.
    pub(crate) fn settle_part(&mut self) {
        if let Some(Projection::Indexed(_, kind)) = self.projections.last_mut() {
            *kind = Kind::Unknown;
        }
    }
}

impl Program {
    /// What a variable is written to are parts of it that a user's function selects: its other fields stay as they are.
    fn only_parts_written(&self, id: VarId) -> bool {
        let selects = |place: &Place| {
            let first = place.projections.iter().find(|p| !matches!(p, Projection::Deref));
            place.base != id || first.is_some_and(Projection::is_of_user)
        };
        let assigns = self.blocks.iter().flat_map(|block| &block.statements).all(|s| match &s.kind {
            StatementKind::Assign(assign) => selects(&assign.place),
            StatementKind::Opaque(opaque) => !self.disturbed(opaque).any(|other| other == id),
            _ => true,
        });
        assigns
            && self.exprs.iter().all(|e| match &e.kind {
                ExprKind::Borrow { place, unique: true } => selects(place),
                _ => true,
            })
    }
}

impl Reverse<'_> {
    /// The shadow of a variable as a view.
    pub(crate) fn view_of(&mut self, id: VarId, at: &At) -> Ident {
        if let Some(view) = self.view(id) {
            return view;
        }
        let (whole, name) = (self.local_shadow(id, at), self.kept.fresh("cells"));
        self.emit(quote!(let #name = #whole;));
        name
    }

    /// The shadow of what the projection `last` of a place selects, out of that of the part which those before `first` lead to.
    pub(crate) fn selected(
        &mut self,
        shadow: &Ident,
        place: &Place,
        (first, last): (usize, usize),
        unique: bool,
        at: &At,
    ) -> Ident {
        let level = self.top();
        let value = self.selected_from(place, last, at);
        let path = self.projections(&place.projections[first..last], at, level);
        let (part, d) = (self.kept.fresh("cells"), Program::fresh("d"));
        let whole = match path.is_empty() {
            true => shadow.clone(),
            false => {
                let (whole, before) = (self.kept.fresh("cells"), quote!(#shadow.part(|#d| &#d #path).into()));
                // An `Option` of a box, which may be defined elsewhere, has no shadow by itself.
                self.emit(match &place.projections[last] {
                    Projection::Selected(method, ..) if is_of_option(method) => {
                        quote!(let #whole = #value.shadow_of_option(#before);)
                    }
                    _ => quote!(let #whole = __pb::shadow_for(&#value, #before);),
                });
                whole
            }
        };
        let selected = match &place.projections[last] {
            Projection::Indexed(index, kind) => {
                let (position, span) = (self.position(*index, at, level), self.program.exprs[*index].span);
                let at = Ident::new(if unique { "at_mut" } else { "at" }, span);
                let selected = quote_spanned!(span=> (&&&__pb::Whole::new(&#value, #d)).#at(#position));
                if *kind == Kind::Float { quote_spanned!(span=> __pb::number(#selected)) } else { selected }
            }
            Projection::Selected(method, args, _) => {
                let args: Vec<_> = args.iter().map(|arg| self.position(*arg, at, level)).collect();
                let method = beside(method);
                quote!(#value.#method(#d, #(#args),*))
            }
            _ => unreachable!("a user's function"),
        };
        self.emit(quote!(let #part = #whole.select(|#d| #selected);));
        part
    }

    /// What a user's function selects a part of: nothing but its constants are read.
    fn selected_from(&mut self, place: &Place, last: usize, at: &At) -> TokenStream {
        let level = self.top();
        let before = Place { base: place.base, projections: place.projections[..last].to_vec() };
        let variable = &self.program.variables[place.base];
        let whole = before.projections.iter().all(|p| matches!(p, Projection::Deref));
        if whole && variable.memory && self.program.only_parts_written(place.base) {
            self.present(place.base);
            let name = &variable.unique;
            return if variable.by_reference() { quote!((*#name)) } else { quote!(#name) };
        }
        let text = self.place(&before, at, level);
        let follows = before.projections.is_empty() && variable.by_reference();
        if follows { quote!((*#text)) } else { text }
    }
}
