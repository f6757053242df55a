//! Functions for rules that call them in both passes, `#[pullback(recompute)]`: the forward gets the function, the pullback gets it
//! once more, with a closure that runs its forward and its pullback at once.
//!
//! All that the function reads of its surroundings has to be there in the reverse pass, whether its pullback reads it or not.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;
use syn::visit_mut::VisitMut;

use crate::errors::Errors;
use crate::forward::Forward;
use crate::program::*;
use crate::rename::{Replace, Substitute};
use crate::reverse::Reverse;

/// Reports functions that are not to be had in both passes.
pub(crate) fn report(program: &Program, args: &[ExprId], errors: &mut Errors) {
    for arg in args {
        let lent = match &program.exprs[*arg].kind {
            ExprKind::Callback(Callback::Parameter(_)) => true,
            ExprKind::Callback(Callback::Closure { body, .. }) => {
                let function = |id: &VarId| program.variables[*id].origin == Origin::Function;
                !program.called_within(*body).is_empty() || program.mentioned(*body).iter().any(function)
            }
            _ => false,
        };
        if !lent && program.changes_something(*arg) {
            errors.push(
                &program.exprs[*arg].syntax,
                "this closure is called in the reverse pass as well, and would change what it captures there once more: let it return \
                 what it computes, or write to an argument that it is called with",
            );
        }
        if lent {
            errors.push(
                &program.exprs[*arg].syntax,
                "a parameter that is a function is lent for one pass at a time, and cannot be called again in the reverse pass: call \
                 this where the function itself is known",
            );
        }
    }
}

/// What a closure finds around it in the reverse pass.
struct Surroundings {
    /// Bindings of the names that it uses.
    bindings: TokenStream,
    /// Those that may own memory, each with the name that stands for it.
    owned: Vec<(Ident, Ident)>,
}

impl Surroundings {
    /// Closures among them.
    fn around<const N: usize>(&mut self, closures: [TokenStream; N]) -> [TokenStream; N] {
        if self.owned.is_empty() {
            return closures;
        }
        let mut closures = closures.map(|closure| syn::parse2::<syn::Expr>(closure).expect("a closure"));
        for (name, by) in &self.owned {
            let substitute = Substitute::Name(by.clone());
            let mut replace = Replace::new(name, &substitute);
            let mut replaced = closures.clone();
            replaced.iter_mut().for_each(|closure| replace.visit_expr_mut(closure));
            match replace.left {
                // What a format string names is a number, as a rule.
                true => self.bindings.extend(quote!(let #name = #by;)),
                false => closures = replaced,
            }
        }
        closures.map(ToTokens::into_token_stream)
    }
}

impl Reverse<'_> {
    /// A function as an argument of a pullback that calls it: itself, and both of its passes.
    pub(crate) fn callback_again(
        &mut self,
        arg: ExprId,
        callback: &Callback,
        local: &HashMap<VarId, Ident>,
        at: &At,
    ) -> TokenStream {
        // Names of the user's variables may occur next to these.
        let (again, args) = (self.kept.fresh("again"), self.kept.fresh("args"));
        match callback {
            Callback::Closure { parameters, body } => {
                let program = self.program;
                let outer = self.captured.clone();
                self.captured.extend(local.iter().map(|(id, cells)| (*id, cells.clone())));
                let pullback = self.closure(arg, parameters, *body, TokenStream::new());
                let wanted = program.captured(*body).into_iter().filter_map(|id| self.view(id));
                let wanted: TokenStream =
                    wanted.map(|view| quote!(let #view = #again.wanted(#view);)).collect();
                self.captured = outer;

                let mut surroundings = self.surroundings(*body, at);
                let mut forward = Forward::new(program, self);
                let both = forward.closure(parameters, *body, TokenStream::new());
                let mut errors = forward.errors;
                let nothing = Reverse::bare(program);
                let mut plain = Forward { plain: true, ..Forward::new(program, &nothing) };
                let primal = plain.closure(parameters, *body, TokenStream::new());
                let [both, primal] = surroundings.around([both, primal]);
                if let Err(error) = errors.finish() {
                    self.errors.add(error);
                }

                let bindings = &surroundings.bindings;
                let (value, residual) = (Program::fresh("value"), self.kept.fresh("residual"));
                let primal = within(bindings, primal);
                quote! {
                    #primal,
                    |mut #again| {
                        let (#value, #residual) = { #bindings #again.forward(#both) };
                        #wanted
                        (#value, #again.pullback(#residual, #pullback))
                    }
                }
            }
            Callback::Function(path) => {
                let rule = self.rule_of_callback(arg, path);
                let function = self.kept.fresh("function");
                self.emit(quote!(let #function = __pb::function_of(&*#rule);));
                quote!(|#args| __pb::call_of(#function, #args), |#again| #again.by_rule(&mut *#rule))
            }
            Callback::Parameter(id) => self.program.variables[*id].shadow.to_token_stream(),
        }
    }

    fn surroundings(&mut self, body: BlockId, at: &At) -> Surroundings {
        let (program, level) = (self.program, self.top());
        let (mut bindings, mut owned) = (TokenStream::new(), Vec::new());
        for id in program.mentioned(body) {
            let variable = &program.variables[id];
            let name = &variable.name;
            let value = if variable.memory || variable.by_reference() {
                self.reads_memory(id, at, level);
                variable.unique.clone()
            } else {
                match at.versions.get(&id) {
                    Some(def) => self.definition(*def),
                    None => continue,
                }
            };
            if variable.disturbed || variable.unrestored && !self.intact(id, at, level) {
                self.errors.push(
                    name,
                    "this variable is changed by code that cannot be undone, and a function that is called again reads it: copy it \
                     into a variable of its own before",
                );
            }
            match variable.origin {
                Origin::Unique => bindings.extend(quote!(let #name = &*#value;)),
                _ if !variable.by_reference() && !matches!(variable.kind, Kind::Float | Kind::Inert) => {
                    owned.push((name.clone(), value))
                }
                _ => bindings.extend(quote!(let #name = #value;)),
            }
        }
        for (name, place) in program.names_for_places(body) {
            let reference = place.projections.is_empty() && program.variables[place.base].by_reference();
            let place = self.place(place, at, level);
            bindings.extend(if reference {
                quote!(let #name = #place;)
            } else {
                quote!(let #name = &#place;)
            });
        }
        Surroundings { bindings, owned }
    }
}

/// A closure whose body begins with `bindings`.
fn within(bindings: &TokenStream, closure: TokenStream) -> TokenStream {
    if bindings.is_empty() {
        return closure;
    }
    let syn::Expr::Closure(mut syntax) = syn::parse2(closure).expect("a closure") else {
        unreachable!("a closure")
    };
    let body = &syntax.body;
    syntax.body = syn::parse2(quote!({ #bindings #body })).expect("a block");
    syntax.into_token_stream()
}
