//! The forward pass of expressions: as written, with calls replaced by their rules, and with what of an expression the reverse pass asked for.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::Ident;

use crate::calls::Callee;
use crate::forward::Forward;
use crate::kept::Item;
use crate::methods::unwraps;
use crate::only_read::only_read;
use crate::program::*;
use crate::statements::referent;

impl Forward<'_> {
    /// The argument of this number of the rule of `function`.
    fn given(&mut self, function: &Callee, (number, arg): (usize, ExprId), block: BlockId) -> TokenStream {
        let value = self.expr(arg, block);
        let given = self.program.given.contains(&arg);
        match given {
            _ if self.program.hands(function, arg, number) => {
                let reference = if given { value } else { quote!(&(#value)) };
                quote!(__pb::Given(#reference).hand())
            }
            true => quote!((&&__pb::Given(#value)).given()),
            false if self.program.copies(arg) => quote!(::core::clone::Clone::clone(&#value)),
            false => self.program.made_optional(arg, value),
        }
    }

    /// An argument of what is no rule.
    fn copied(&mut self, arg: ExprId, block: BlockId) -> TokenStream {
        let value = self.expr(arg, block);
        match &self.program.exprs[arg].kind {
            _ if let Some(items) = self.program.streamed.get(&arg) => items.to_token_stream(),
            _ if self.program.given.contains(&arg) => quote!((#value).clone()),
            ExprKind::Borrow { unique: true, .. } if self.program.viewed.contains(&arg) => {
                quote!((#value).view_mut())
            }
            _ if self.program.viewed.contains(&arg) => quote!((#value).view()),
            _ => self.program.made_optional(arg, value),
        }
    }

    /// The call of a rule, and the name of its residual, if `expr` is a differentiated call.
    pub(crate) fn rule_call(&mut self, expr: ExprId, block: BlockId) -> Option<(TokenStream, Ident)> {
        let rule = self.reverse.rules.get(&expr)?;
        let residual = self.reverse.kept.name(block, Item::Residual(expr)).expect("kept with the rule");
        let ExprKind::Call { function, args } = &self.program.exprs[expr].kind else {
            unreachable!("a call")
        };
        let span = self.program.exprs[expr].span;
        let reads = args
            .first()
            .is_some_and(|a| matches!(self.program.exprs[*a].kind, ExprKind::Borrow { unique: false, .. }));
        let with_closures = self.program.with_closures(args);
        let recomputed = self.program.recomputed.contains(&expr);
        let shared = self.program.shared(args);
        let calls_within = args.iter().any(|a| self.touched(*a, block));
        let passes_functions = self.program.passes_functions(args);
        let mut before = TokenStream::new();
        let arguments = args;
        let args: Vec<_> = args
            .iter()
            .enumerate()
            .map(|(i, a)| match &self.program.exprs[*a].kind {
                // The rule asks for no derivative yet.
                ExprKind::Callback(_) if recomputed => {
                    referent(&self.program.exprs[*a].syntax).to_token_stream()
                }
                ExprKind::Callback(callback) => self.callback(*a, callback, with_closures, &shared),
                // It may call a function that is lent to the call.
                _ if passes_functions && self.touched(*a, block) => {
                    let (name, value) =
                        (Program::fresh(&format!("argument_{i}")), self.given(function, (i, *a), block));
                    before.extend(quote!(let #name = #value;));
                    quote!(#name)
                }
                _ => self.given(function, (i, *a), block),
            })
            .collect();
        let reads = reads && function.is_method();
        if let (Callee::Parameter(id, _), true) = (function, calls_within) {
            // They may call the same function.
            let (modes, name) = (&self.program.functions[id].modes, Program::fresh("args"));
            let call = quote_spanned!(span=> #rule.forward(#name));
            let args = quote!(let #name: <#modes as __pb::Parameters>::Args<'_> = (#(#args,)*););
            return Some((quote!({ #args #call }), residual));
        }
        let call = match with_closures {
            true => {
                let call = function.forward_with(rule, &args, recomputed, span);
                self.program.sharing(&shared, call)
            }
            false => {
                let within = self.program.may_call_itself(expr, function, arguments);
                function.forward(rule, &args, (within, reads), span)
            }
        };
        let call = if before.is_empty() { call } else { quote!({ #before #call }) };
        Some((call, residual))
    }

    /// `expr` at the root of a statement, where the condition of an `if` can be kept by a statement before it.
    pub(crate) fn root(&mut self, expr: ExprId, block: BlockId) -> TokenStream {
        if let ExprKind::If { cond, .. } = self.program.exprs[expr].kind
            && let Some(taken) = self.reverse.kept.name(block, Item::Value(cond))
        {
            let syntax = &self.program.exprs[cond].syntax;
            self.before.extend(quote!(let #taken = #syntax;));
            return self.branch(expr, quote!(#taken), block);
        }
        self.expr(expr, block)
    }

    /// Differs from what the user wrote.
    pub(crate) fn touched(&self, expr: ExprId, block: BlockId) -> bool {
        let exits = |e: ExprId| {
            matches!(self.program.exprs[e].kind, ExprKind::Exit { .. } | ExprKind::Rest(_) | ExprKind::Try(_))
        };
        let changed =
            |e: ExprId| exits(e) || self.program.lifted.contains(&e) || self.program.rewritten.contains(&e);
        if self.program.tree(expr).into_iter().any(changed) {
            return true;
        }
        let kept = &self.reverse.kept;
        self.program.tree(expr).into_iter().any(|e| {
            // A closure that has a name stands where that is passed on.
            matches!(self.program.exprs[e].kind, ExprKind::Callback(Callback::Closure { .. }))
                || self.of_rows.contains_key(&e)
                || self.reverse.rules.contains_key(&e)
                || self.reads_only(e)
                || self.program.looks_into(e)
                || kept.name(block, Item::Value(e)).is_some()
                || kept.name(block, Item::Branch(e)).is_some()
                || kept.name(block, Item::Left(e)).is_some()
                || kept.name(block, Item::Right(e)).is_some()
                || (0..4).any(|i| kept.name(block, Item::Slope(e, i)).is_some())
                || kept.name(block, Item::Undo(e)).is_some()
                || self.reverse.removed.contains_key(&e)
                || self.noted_by(e).is_some()
                || self.program.blocks_of(e).into_iter().flat_map(|b| self.program.nested(b)).any(|b| {
                    self.program.blocks[b].rewritten
                        || !kept.is_empty(b)
                        || self.reverse.sweeps_in(b)
                        || self.program.roots(b).into_iter().any(|root| self.touched(root, b))
                })
        })
    }

    /// The call has no pullback that would undo what it does to its receiver.
    fn reads_only(&self, expr: ExprId) -> bool {
        let ruled = self.plain || self.reverse.rules.contains_key(&expr);
        !ruled && self.program.may_change_receiver(expr).is_some_and(|variable| variable.active)
    }

    pub(crate) fn expr(&mut self, expr: ExprId, block: BlockId) -> TokenStream {
        let tokens = self.unkept(expr, block);
        match self.reverse.kept.name(block, Item::Value(expr)) {
            Some(name) => {
                self.before.extend(quote!(let #name;));
                // A range is not `Copy`.
                let range = matches!(self.program.exprs[expr].syntax, syn::Expr::Range(_));
                let clone = range.then(|| quote!(.clone()));
                let tokens = match self.is_named_part(expr) {
                    true => quote!((#tokens).number_behind()),
                    false => tokens,
                };
                quote!({ #name = #tokens; #name #clone })
            }
            None => tokens,
        }
    }

    /// A number that is read by a name for a place, which may be that of a reference, or of a reference to one.
    fn is_named_part(&self, expr: ExprId) -> bool {
        let node = &self.program.exprs[expr];
        let ExprKind::Read(place) = &node.kind else { return false };
        let name = match &node.syntax {
            syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => &*unary.expr,
            name => name,
        };
        let syn::Expr::Path(name) = name else { return false };
        let own =
            place.projections.is_empty() && name.path.is_ident(&self.program.variables[place.base].name);
        !own && self.program.kind_of(expr) == Kind::Float
    }

    fn unkept(&mut self, expr: ExprId, block: BlockId) -> TokenStream {
        let tokens = self.as_written(expr, block);
        self.program.lifted(expr, tokens)
    }

    fn as_written(&mut self, expr: ExprId, block: BlockId) -> TokenStream {
        let program = self.program;
        let node = &program.exprs[expr];
        if !self.touched(expr, block) || matches!(node.kind, ExprKind::Constant(_)) {
            return node.syntax.to_token_stream();
        }
        if let Some((call, residual)) = self.rule_call(expr, block) {
            let (value, inner) = (Program::fresh("value"), Program::fresh("pending"));
            self.before.extend(quote!(let #residual;));
            return quote!({ let (#value, #inner) = #call; #residual = #inner; #value });
        }
        match &node.kind {
            ExprKind::Callback(Callback::Closure { parameters, body })
                if program.rewritten.contains(&expr) =>
            {
                self.as_called(expr, parameters, *body)
            }
            ExprKind::Constant(_) | ExprKind::Callback(_) => node.syntax.to_token_stream(),
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => {
                let place = self.place(&node.syntax, &place.projections, block);
                self.of_row(expr, place)
            }
            ExprKind::Neg(e) => match &self.kept_operands(expr, block)[..] {
                [] => {
                    let e = self.expr(*e, block);
                    quote!(-#e)
                }
                kept => {
                    let operand = *e;
                    let e = self.followed(operand, block);
                    let referred = (self.is_borrow(operand), false);
                    self.operator(kept, None, (e, TokenStream::new()), referred)
                }
            },
            ExprKind::Paren(e) => {
                let e = self.expr(*e, block);
                quote!((#e))
            }
            ExprKind::Binary { op, left, right } => match &self.kept_operands(expr, block)[..] {
                [] => {
                    let block_like = matches!(
                        program.exprs[*left].kind,
                        ExprKind::Block(_) | ExprKind::If { .. } | ExprKind::Match(_)
                    );
                    let (left, right) = (self.expr(*left, block), self.expr(*right, block));
                    // At the start of a statement it would be one by itself.
                    if block_like { quote!((#left) #op #right) } else { quote!(#left #op #right) }
                }
                kept => {
                    let referred = (self.is_borrow(*left), self.is_borrow(*right));
                    let operands = (self.followed(*left, block), self.followed(*right, block));
                    self.operator(kept, Some(*op), operands, referred)
                }
            },
            ExprKind::Cast(e, ty) => {
                let e = self.expr(*e, block);
                program.cast(expr, quote!((#e)), ty)
            }
            ExprKind::Method { receiver, name, args } => {
                let passes_on = program.passes_on(*receiver, name);
                let receiver = self.expr(*receiver, block);
                let receiver = if passes_on { quote!(__pb::checked(#receiver)) } else { receiver };
                let args: Vec<_> = args.iter().map(|a| self.copied(*a, block)).collect();
                match self.slopes(expr, args.len(), block) {
                    Some(slopes) => self.sloped(name, receiver, args, slopes),
                    None => program.method_call(expr, receiver, &args),
                }
            }
            ExprKind::Call { function, args } => {
                let mut tokens: Vec<_> = args.iter().map(|a| self.copied(*a, block)).collect();
                if self.reads_only(expr) {
                    tokens[0] = only_read(&tokens[0], node.span);
                }
                // Nobody reads the operand again: there is no pullback.
                if let Callee::Function(path) = function
                    && let (true, true, Some((path, operand))) =
                        (self.plain, node.active, crate::arrays::consuming(path))
                    && let syn::Expr::Reference(reference) = &program.exprs[args[operand]].syntax
                {
                    tokens[operand] = reference.expr.to_token_stream();
                    return Callee::Function(path).primal(&tokens);
                }
                function.primal(&tokens)
            }
            ExprKind::If { cond, .. } => {
                let cond = self.expr(*cond, block);
                self.branch(expr, cond, block)
            }
            ExprKind::Block(inner) => {
                let name = self.reverse.kept.name(block, Item::Branch(expr));
                if let (Some(name), false) = (&name, program.leaves(expr)) {
                    self.before.extend(quote!(let #name;));
                }
                let body = self.arm(*inner, (expr, block, 0, 1));
                let label = self.program.labels.get(inner);
                quote!(#label { #body })
            }
            ExprKind::Match(m) => self.matched(expr, m, block),
            ExprKind::Loop { body, id } => {
                let (start, count) = self.count(block, *id);
                self.before.extend(start);
                let iteration = self.loop_body(*body, *id);
                let label = self.program.labels.get(body);
                quote!(#label loop { #count #iteration })
            }
            ExprKind::Try(e) => self.tried(*e, block),
            ExprKind::Wrap(path, args) => {
                if let (Some(filled), Some(outcome)) =
                    (self.reverse.kept.name(block, Item::Undo(expr)), args.get(1))
                {
                    let outcome = self.expr(*outcome, block);
                    self.before.extend(quote!(let #filled = __pb::is_filled(&#outcome);));
                }
                let args: Vec<_> = args.iter().map(|arg| self.expr(*arg, block)).collect();
                quote!(#path(#(#args),*))
            }
            ExprKind::Split(e) => {
                let e = self.expr(*e, block);
                let function = match &program.exprs[expr].syntax {
                    syn::Expr::Call(call) => &call.func,
                    _ => unreachable!("the call of a function of ours"),
                };
                quote!(#function(#e))
            }
            ExprKind::Rest(_) | ExprKind::Exit { .. } => unreachable!("at the end of a block"),
            ExprKind::Tuple(elements) => {
                let elements: Vec<_> = elements.iter().map(|e| self.expr(*e, block)).collect();
                quote!((#(#elements,)*))
            }
            ExprKind::Struct(literal) => {
                let values: Vec<_> = literal.fields.iter().map(|(_, e)| self.expr(*e, block)).collect();
                let rest = literal.rest.map(|rest| self.expr(rest, block));
                literal.tokens(&values, rest)
            }
            ExprKind::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(|e| self.expr(*e, block)).collect();
                quote!([#(#elements),*])
            }
            ExprKind::Vector { elements, len } => self.vector(elements, *len, block),
            ExprKind::Mutation { action, args } => self.mutation(expr, *action, args, block),
            ExprKind::Repeat(element, len) => {
                let element = self.expr(*element, block);
                quote!([#element; #len])
            }
        }
    }

    /// The derivatives of a method that are kept, with respect to each operand.
    fn slopes(&self, expr: ExprId, args: usize, block: BlockId) -> Option<Vec<Option<Ident>>> {
        let slope = |i| self.reverse.kept.name(block, Item::Slope(expr, i));
        let slopes: Vec<_> = (0..=args).map(slope).collect();
        slopes.iter().any(Option::is_some).then_some(slopes)
    }

    /// The method, and the derivatives that are kept of it: its pullback for a gradient of one.
    fn sloped(
        &mut self,
        name: &Ident,
        receiver: TokenStream,
        args: Vec<TokenStream>,
        slopes: Vec<Option<Ident>>,
    ) -> TokenStream {
        let kept = slopes.iter().flatten();
        self.before.extend(quote!(#(let #kept;)*));
        let names: Vec<_> = (0..args.len()).map(|i| Program::fresh(&format!("arg_{i}"))).collect();
        let (x, value) = (Program::fresh("arg"), Program::fresh("value"));
        let pullback = quote::format_ident!("{name}_pullback", span = name.span());
        let one = match !self.program.generic() {
            true => quote!(1.0),
            false => quote!(__pb::Scalar::gradient_seed()),
        };
        let slopes = slopes.iter().map(|slope| slope.as_ref().map_or(quote!(_), |slope| quote!(#slope)));
        let pattern = if args.is_empty() { quote!(#(#slopes)*) } else { quote!((#(#slopes),*)) };
        let bound = quote!(let (#x, #(#names),*) = (#receiver.clone(), #(#args),*););
        if unwraps(&name.to_string()) {
            return quote!({ #bound #pattern = #x.#pullback(#(#names,)* #one); #x.#name(#(#names),*) });
        }
        quote!({
            #bound
            let #value = #x.#name(#(#names),*);
            #pattern = #x.#pullback(#(#names,)* || #value, #one);
            #value
        })
    }

    /// A place as written, with indices that are kept on the way.
    pub(crate) fn place(
        &mut self,
        syntax: &syn::Expr,
        projections: &[Projection],
        block: BlockId,
    ) -> TokenStream {
        let (last, rest) = match projections.split_last() {
            Some((last, rest)) => (Some(last), rest),
            None => (None, projections),
        };
        match (syntax, last) {
            (syn::Expr::Index(place), Some(Projection::Index(index) | Projection::Indexed(index, _))) => {
                let base = self.place(&place.expr, rest, block);
                let index = self.expr(*index, block);
                quote!(#base[#index])
            }
            (syn::Expr::Field(place), Some(Projection::Field(member))) => {
                let base = self.place(&place.base, rest, block);
                quote!(#base.#member)
            }
            (
                syn::Expr::MethodCall(call),
                Some(Projection::View(_, args) | Projection::Selected(_, args, _)),
            ) => {
                let base = self.place(&call.receiver, rest, block);
                let args: Vec<_> = args.iter().map(|arg| self.expr(*arg, block)).collect();
                let view = &call.method;
                quote!(#base.#view(#(#args),*))
            }
            (syn::Expr::Unary(place), _) => {
                let rest = if matches!(last, Some(Projection::Deref)) { rest } else { projections };
                let base = self.place(&place.expr, rest, block);
                quote!(*#base)
            }
            (syn::Expr::Paren(place), _) => {
                let base = self.place(&place.expr, projections, block);
                quote!((#base))
            }
            (syn::Expr::Reference(place), _) => {
                let mutability = &place.mutability;
                let base = self.place(&place.expr, projections, block);
                quote!(&#mutability #base)
            }
            // A name, or what stands before the part that another name stands for.
            (name, _) => name.to_token_stream(),
        }
    }

    fn branch(&mut self, expr: ExprId, cond: TokenStream, block: BlockId) -> TokenStream {
        let ExprKind::If { then, otherwise, .. } = self.program.exprs[expr].kind else {
            unreachable!("called for branches")
        };
        let name = self.reverse.kept.name(block, Item::Branch(expr));
        // Where each way leaves the block nobody gives it a value.
        if let (Some(name), false) = (&name, self.program.leaves(expr)) {
            self.before.extend(quote!(let #name;));
        }
        let (noted, then) = (self.noted_by(expr), self.arm(then, (expr, block, 0, 2)));
        let otherwise = match (otherwise, &name) {
            (Some(otherwise), _) => {
                let body = self.arm(otherwise, (expr, block, 1, 2));
                Some(quote!(else { #body }))
            }
            (None, Some(name)) => Some(quote!(else { #name = __pb::Branch::Else(()); })),
            (None, None) => None,
        };
        quote!(if #cond { #noted #then } #otherwise)
    }
}

impl Program {
    /// `r.unwrap()` of a local that may be a `Result`: its error need not be `Copy`, and both passes may look into it.
    fn looks_into(&self, call: ExprId) -> bool {
        let ExprKind::Method { receiver, name, .. } = &self.exprs[call].kind else { return false };
        let ExprKind::Read(place) = &self.exprs[self.peel(*receiver)].kind else { return false };
        let variable = &self.variables[place.base];
        unwraps(&name.to_string())
            && place.projections.is_empty()
            && variable.active
            && variable.origin == Origin::Local
            && variable.kind == Kind::Unknown
    }

    /// The call of a method of floats. What is constant need not tell its type otherwise than by the path that it is called by, `f64::powi(c, n)`.
    pub(crate) fn method_call(
        &self,
        call: ExprId,
        receiver: TokenStream,
        args: &[TokenStream],
    ) -> TokenStream {
        let ExprKind::Method { receiver: of, name, .. } = &self.exprs[call].kind else {
            unreachable!("as asked before")
        };
        let receiver = match self.looks_into(call) {
            true => quote!((&#receiver).looked_into()),
            false => receiver,
        };
        match &self.exprs[call].syntax {
            syn::Expr::Call(written) if !self.dual && !self.exprs[*of].active => {
                let function = &written.func;
                quote!(#function(#receiver, #(#args),*))
            }
            // `parse::<usize>()`
            syn::Expr::MethodCall(written) if written.method == *name => {
                let turbofish = &written.turbofish;
                quote!(#receiver.#name #turbofish (#(#args),*))
            }
            _ => quote!(#receiver.#name(#(#args),*)),
        }
    }
}
