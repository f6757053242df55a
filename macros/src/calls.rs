//! Who is called: how a call of a rule is written, in either pass.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Ident, PathArguments};

use crate::forward::assignment;
use crate::program::*;
use crate::unmarked::Access;

/// What a call names.
#[derive(Clone)]
pub(crate) enum Callee {
    /// A function, which a type of its name accompanies.
    Function(syn::Path),
    /// The same where active values are dual numbers.
    OnDuals(syn::Path),
    /// The gradient of a function, `f::grad`, or its derivative along a direction, `f::along`: the path of the function.
    Gradient(syn::Path, Ident),
    /// The function that is being differentiated.
    Itself(syn::Path),
    /// `Model::energy`
    Associated(syn::ExprPath),
    /// A parameter that is a function.
    Parameter(VarId, Ident),
    /// A method of the first argument, with its generic arguments.
    Method(Ident, Option<syn::AngleBracketedGenericArguments>),
    /// A method of a part of something, whose type may carry no gradient.
    OfPart(Ident, Access),
    /// An operator of what may own memory, with a name for it.
    Operator(Operator, Ident),
}

/// An operator as a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `-a`
    Negation,
    /// `a + b`
    Between(Op),
    /// `a += b`
    Onto(Op),
}

impl Operator {
    /// The operator as a type.
    fn marker(self) -> TokenStream {
        match self {
            Operator::Negation => quote!(__pb::operator::Neg),
            Operator::Between(op) => op.marker(),
            Operator::Onto(op) => {
                let marker = op.marker();
                quote!(__pb::operator::Onto<#marker>)
            }
        }
    }
}

/// The function that is being differentiated, as seen by itself.
pub(crate) struct Own {
    /// The type that bears its name.
    pub(crate) ty: TokenStream,
    /// If it is a method.
    pub(crate) method: Option<Ident>,
    /// What it returns.
    pub(crate) output: Kind,
    /// That is an `Option<Box<T>>`.
    pub(crate) boxed: bool,
}

/// The method beside the method `name` that brings the arguments together. The compiler's message about one that does not
/// exist shows its name, which therefore tells what to do.
pub(crate) fn sibling(name: &Ident) -> Ident {
    format_ident!("{}_has_no_rule_mark_its_impl_differentiable", name.unraw(), span = name.span())
}

/// The type of a function that is called with as many `functions`, `integrate::<Gauss, _>`: those that it takes as `f: impl Fn(f64) -> f64`
/// are type parameters which no call can write. Where one is written, as for `F: Fn(f64) -> f64`, it is a `_`, since no closure's type has
/// a name. Those that are added stand within an invisible group.
pub(crate) fn with_functions(path: &syn::Path, functions: usize) -> syn::Path {
    let mut path = path.clone();
    let inferred =
        |argument: &syn::GenericArgument| matches!(argument, syn::GenericArgument::Type(syn::Type::Infer(_)));
    if let Some(generics) = written(&mut path)
        && !generics.args.iter().any(inferred)
    {
        let added = syn::GenericArgument::Type(syn::Type::Group(syn::TypeGroup {
            attrs: Vec::new(),
            group_token: Default::default(),
            elem: syn::parse_quote!(_),
        }));
        generics.args.extend(std::iter::repeat_n(added, functions));
    }
    path
}

/// The path as it was written, without what [`with_functions`] has added.
fn without_functions(path: &syn::Path) -> syn::Path {
    let mut path = path.clone();
    if let Some(generics) = written(&mut path) {
        let own = |argument: &syn::GenericArgument| !matches!(argument, syn::GenericArgument::Type(syn::Type::Group(group)) if matches!(*group.elem, syn::Type::Infer(_)));
        generics.args = generics.args.iter().filter(|argument| own(argument)).cloned().collect();
    }
    path
}

/// The generic arguments that are written in a path.
fn written(path: &mut syn::Path) -> Option<&mut syn::AngleBracketedGenericArguments> {
    match &mut path.segments.last_mut()?.arguments {
        syn::PathArguments::AngleBracketed(generics) => Some(generics),
        _ => None,
    }
}

/// The function beside a function that takes functions which is called with closures. Its name shows where a function takes none.
pub(crate) fn forward_with(span: proc_macro2::Span) -> Ident {
    Ident::new("takes_no_function_put_constant_around_it", span)
}

/// The function beside a function whose rule calls what it is given in both passes. Its name shows where a rule does not.
pub(crate) fn forward_of_both(span: proc_macro2::Span) -> Ident {
    Ident::new("calls_functions_in_one_pass_remove_recompute", span)
}

/// What stands beside the method `method` in the place of the function `function` beside a function.
pub(crate) fn beside_method(method: &Ident, function: &Ident) -> Ident {
    format_ident!("{}_{function}", method.unraw(), span = method.span())
}

/// The function beside a function that is the same in dual numbers. Its name shows where there is none.
pub(crate) fn on_duals(span: proc_macro2::Span) -> Ident {
    Ident::new("takes_no_dual_numbers_mark_it_differentiable_dual", span)
}

impl Callee {
    /// The name of the function.
    pub(crate) fn name(&self) -> &Ident {
        match self {
            Callee::Function(path) | Callee::OnDuals(path) | Callee::Itself(path) => last(path),
            Callee::Associated(path) => last(&path.path),
            Callee::Gradient(_, name)
            | Callee::Parameter(_, name)
            | Callee::Method(name, _)
            | Callee::OfPart(name, _)
            | Callee::Operator(_, name) => name,
        }
    }

    /// The function as the user calls it.
    pub(crate) fn primal(&self, args: &[TokenStream]) -> TokenStream {
        match self {
            Callee::Function(path) if is_mutation(path) => quote!(#path::call(#(#args),*)),
            Callee::Function(path) => {
                let path = without_functions(path);
                quote!(#path(#(#args),*))
            }
            Callee::Itself(path) => quote!(#path(#(#args),*)),
            Callee::Gradient(path, name) => quote!(#path::#name(#(#args),*)),
            Callee::OnDuals(path) => {
                let (call, of_numbers) = (on_duals(self.name().span()), crate::dual::arguments());
                quote!(#path::#call::<#of_numbers>(#(#args),*))
            }
            Callee::Associated(path) => quote!(#path(#(#args),*)),
            Callee::Parameter(_, name) => quote!(#name(#(#args),*)),
            Callee::Operator(Operator::Between(op), _) => {
                let (left, right) = (&args[0], &args[1]);
                quote!((#left #op #right))
            }
            Callee::Operator(Operator::Onto(op), _) => {
                let (left, right, op) = (&args[0], &args[1], assignment(Some(*op)));
                quote!({ *#left #op #right; })
            }
            Callee::Operator(Operator::Negation, _) => quote!((-#(#args)*)),
            Callee::Method(name, generics) => {
                let (receiver, args) = args.split_first().expect("a method has a receiver");
                let turbofish = generics.as_ref().map(|g| quote!(#g));
                quote!(#receiver.#name #turbofish(#(#args),*))
            }
            Callee::OfPart(name, _) => {
                let (receiver, args) = args.split_first().expect("a method has a receiver");
                quote!(#receiver.#name(#(#args),*))
            }
        }
    }

    /// The arguments of its `rule`. What neither they nor the path tell the rule does: `N` of `powers(x) -> [f64; N]`.
    fn call(&self, rule: &Ident, args: &[TokenStream]) -> TokenStream {
        match self {
            Callee::Function(path) if !is_private(path) => quote!(#path::args_for(&*#rule, #(#args),*)),
            Callee::Function(path) | Callee::Itself(path) => quote!(#path::args(#(#args),*)),
            Callee::Gradient(path, name) => {
                let of = format_ident!("{name}_args", span = name.span());
                quote!(#path::#of(#(#args),*))
            }
            Callee::OnDuals(path) => {
                let of_numbers = crate::dual::arguments();
                quote!(#path::args_on_duals::<#of_numbers>(#(#args),*))
            }
            Callee::Parameter(..) => quote!((#(#args,)*)),
            Callee::Operator(operator, _) => {
                let marker = operator.marker();
                let right = args.get(1).cloned().unwrap_or_else(|| quote!(()));
                let left = &args[0];
                quote!(__pb::operator_call::<#marker, _, _, _>(#left, #right))
            }
            Callee::Associated(path) => {
                let mut path = path.clone();
                let last = path.path.segments.last_mut().expect("a path has a segment");
                last.ident = sibling(&last.ident);
                quote!(#path(#(#args),*))
            }
            Callee::Method(name, generics) => Callee::Method(sibling(name), generics.clone()).primal(args),
            Callee::OfPart(name, access) => crate::unmarked::call(name, *access, args),
        }
    }

    /// The first argument is the receiver.
    pub(crate) fn is_method(&self) -> bool {
        matches!(self, Callee::Method(..) | Callee::OfPart(..))
    }

    /// The function's type is told by the arguments.
    fn by_type(&self) -> bool {
        matches!(self, Callee::Associated(_) | Callee::Operator(..)) || self.is_method()
    }

    /// The forward of `rule`.
    pub(crate) fn forward(
        &self,
        rule: &Ident,
        args: &[TokenStream],
        (within, reads): (Option<&Own>, bool),
        span: proc_macro2::Span,
    ) -> TokenStream {
        let call = self.call(rule, args);
        match (self.by_type(), reads) {
            (false, _) => quote_spanned!(span=> #rule.forward(#call)),
            (true, reads) => made(rule, call, within, |call| match reads {
                true => quote_spanned!(span=> __pb::forward_reading(#rule, #call)),
                false => quote_spanned!(span=> __pb::forward(#rule, #call)),
            }),
        }
    }

    /// The forward of a rule that takes functions.
    pub(crate) fn forward_with(
        &self,
        rule: &Ident,
        args: &[TokenStream],
        recomputed: bool,
        span: proc_macro2::Span,
    ) -> TokenStream {
        let name = self.name().span();
        let forward = if recomputed { forward_of_both(name) } else { forward_with(name) };
        match self {
            Callee::Function(path) | Callee::Itself(path) => {
                quote_spanned!(span=> #path::#forward(#rule, #(#args),*))
            }
            _ => self.by_method(&forward, args, quote_spanned!(span=> #rule)),
        }
    }

    /// The function of this name beside a method, with arguments of its own `behind` those of the method.
    fn by_method(&self, function: &Ident, args: &[TokenStream], behind: TokenStream) -> TokenStream {
        let name = beside_method(self.name(), function);
        match self {
            Callee::Associated(path) => {
                let mut path = path.clone();
                path.path.segments.last_mut().expect("a path has a segment").ident = name;
                quote!(#path(#(#args,)* #behind))
            }
            Callee::Method(..) | Callee::OfPart(..) => {
                let (receiver, args) = args.split_first().expect("a method has a receiver");
                quote!(#receiver.#name(#(#args,)* #behind))
            }
            _ => unreachable!("neither gradients nor parameters take functions"),
        }
    }

    /// The pullback of a rule that takes functions; `room` is for vectors that these change, unless the rule calls them in both passes.
    pub(crate) fn pullback_with(
        &self,
        rule: &Ident,
        residual: &Ident,
        args: &[TokenStream],
        room: Option<TokenStream>,
        shadows: &[TokenStream],
        d: impl ToTokens,
    ) -> TokenStream {
        let span = self.name().span();
        let (function, room) = match room {
            Some(room) => ("pullback_with", quote!(#room,)),
            None => ("pullback_of_both", quote!()),
        };
        let pullback = Ident::new(function, span);
        match self {
            Callee::Function(path) | Callee::Itself(path) => {
                quote_spanned!(span=> #path::#pullback(#rule, #residual, #room #(#args,)* (#(#shadows,)*), #d))
            }
            _ => {
                let behind = quote_spanned!(span=> #rule, #residual, #room (#(#shadows,)*), #d);
                self.by_method(&pullback, args, behind)
            }
        }
    }

    /// Forward and pullback of `rule` at once.
    pub(crate) fn at_once(
        &self,
        rule: &Ident,
        args: &[TokenStream],
        shadows: &[TokenStream],
        d: impl ToTokens,
        within: Option<&Own>,
    ) -> TokenStream {
        let (call, span) = (self.call(rule, args), self.name().span());
        match self.by_type() {
            false => quote_spanned!(span=> #rule.value_and_pullback(#call, (#(#shadows,)*), #d)),
            true => made(
                rule,
                call,
                within,
                |call| quote_spanned!(span=> __pb::value_and_pullback(#rule, #call, (#(#shadows,)*), #d)),
            ),
        }
    }

    /// The pullback of `rule`.
    pub(crate) fn pullback(
        &self,
        rule: &Ident,
        residual: &Ident,
        args: &[TokenStream],
        shadows: &[TokenStream],
        d: impl ToTokens,
    ) -> TokenStream {
        let (call, span) = (self.call(rule, args), self.name().span());
        match self.by_type() {
            false => quote_spanned!(span=> #rule.pullback(#residual, #call, (#(#shadows,)*), #d)),
            true => quote_spanned!(span=> __pb::pullback(#rule, #residual, #call, (#(#shadows,)*), #d)),
        }
    }
}

/// What is done with a `call`, before which its `rule` is made if that depends on whether it is one of the function that it stands `within`.
fn made(
    rule: &Ident,
    call: TokenStream,
    within: Option<&Own>,
    then: impl FnOnce(&TokenStream) -> TokenStream,
) -> TokenStream {
    let Some(Own { ty, .. }) = within else { return then(&call) };
    let done = then(&quote!(call));
    quote!({
        let call = #call;
        (&__pb::Within::<#ty, _>::new(&call)).make(#rule, |called| __pb::rule_of_called(called));
        #done
    })
}

/// What a method, an operator or a macro has become: one of the functions that calls alone are made of.
fn is_private(path: &syn::Path) -> bool {
    path.segments.iter().take(2).map(|segment| &segment.ident).eq(["pullback", "__private"].iter())
}

/// What a method that writes to its receiver has become: one of the functions in `rules/src/mutation.rs`.
pub(crate) fn is_mutation(path: &syn::Path) -> bool {
    is_private(path) && path.segments.iter().nth(2).is_some_and(|segment| segment.ident == "mutation")
}

fn last(path: &syn::Path) -> &Ident {
    &path.segments.last().expect("a path has a segment").ident
}

/// `Model::energy` or `<T as Trait>::energy`: the path of an associated function, by the case of its letters.
pub(crate) fn is_associated(path: &syn::ExprPath) -> bool {
    if path.qself.is_some() {
        return true;
    }
    let segments = &path.path.segments;
    let owner = segments.len().checked_sub(2).map(|i| segments[i].ident.unraw().to_string());
    owner.is_some_and(|owner| owner.starts_with(char::is_uppercase))
}

/// `f::grad` and `f::along`: the path of `f`, and the name of its derivative.
pub(crate) fn gradient(path: &syn::Path) -> Option<(syn::Path, Ident)> {
    let mut function = path.clone();
    let last = function.segments.pop()?.ident;
    function.segments.pop_punct();
    ((last == "grad" || last == "along") && !function.segments.is_empty()).then_some((function, last))
}

impl Program {
    /// The number of a call of the function itself among those of one expression. Within an expression pullbacks do not run
    /// in reverse order, from statement to statement they do: calls of the same number can share a rule.
    pub(crate) fn number_of_call(&self, call: ExprId) -> usize {
        (0..self.blocks.len())
            .flat_map(|block| self.roots(block))
            .filter(|root| self.blocks_of(self.peel(*root)).is_empty())
            .map(|root| self.own_calls_in(root))
            .filter(|calls| calls.contains(&call))
            // A block within an expression is part of it.
            .max_by_key(Vec::len)
            .and_then(|calls| calls.iter().position(|e| *e == call))
            .unwrap_or(0)
    }

    fn own_calls_in(&self, root: ExprId) -> Vec<ExprId> {
        let mut found = Vec::new();
        for e in self.tree(root) {
            if let ExprKind::Call { function, args } = &self.exprs[e].kind
                && self.calls_itself(function, args)
            {
                found.push(e);
            }
            for block in self.blocks_of(e).into_iter().flat_map(|b| self.nested(b)) {
                found.extend(self.roots(block).into_iter().flat_map(|root| self.own_calls_in(root)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The local is what a literal has made of the type that the method belongs to.
    fn is_made_as_owner(&self, id: VarId) -> bool {
        self.blocks.iter().flat_map(|block| &block.statements).any(|statement| {
            let StatementKind::Let(Let { variables, init: Some(init), tuple: false, .. }) = &statement.kind
            else {
                return false;
            };
            let ExprKind::Struct(literal) = &self.exprs[self.peel(*init)].kind else { return false };
            variables[..] == [Some(id)]
                && literal.path.get_ident().is_some_and(|name| self.owners.are_of(name))
        })
    }

    /// The function itself, if types alone tell whether the call `expr` of `callee` is one of it: a method of its name.
    pub(crate) fn may_call_itself(&self, expr: ExprId, callee: &Callee, args: &[ExprId]) -> Option<&Own> {
        let own = self.own.as_ref()?;
        let named = match callee {
            Callee::Method(name, _) | Callee::OfPart(name, _) => own.method.as_ref() == Some(name),
            Callee::Associated(path) => {
                path.qself.is_none()
                    && path.path.segments.len() == 2
                    && own.method.as_ref() == Some(last(&path.path))
                    && self.owners.are_of(&path.path.segments[0].ident)
            }
            _ => false,
        };
        let excluded =
            self.calls_itself(callee, args) || self.with_closures(args) || self.checkpointed.contains(&expr);
        (named && !excluded).then_some(own)
    }

    /// The call of `callee` is one of the function itself, as its syntax tells.
    pub(crate) fn calls_itself(&self, callee: &Callee, args: &[ExprId]) -> bool {
        let own = |name: &Ident| self.own.as_ref().is_some_and(|own| own.method.as_ref() == Some(name));
        match callee {
            Callee::Function(_)
            | Callee::OnDuals(_)
            | Callee::Gradient(..)
            | Callee::Parameter(..)
            | Callee::Operator(..) => false,
            Callee::Itself(path) => path.segments.iter().all(|s| matches!(s.arguments, PathArguments::None)),
            Callee::Associated(path) => {
                own(last(&path.path)) && path.qself.is_none() && path.path.segments[0].ident == "Self"
            }
            Callee::OfPart(..) => false,
            Callee::Method(name, _) => {
                let receiver = args.first().map(|e| &self.exprs[*e].kind);
                own(name)
                    && matches!(receiver, Some(ExprKind::Borrow { place, .. }) if place.projections.is_empty()
                        && (self.parameters.first() == Some(&Some(place.base)) || self.is_made_as_owner(place.base)))
            }
        }
    }
}
