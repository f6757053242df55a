//! The forward pass: the function as written, with calls replaced by their rules and with what the reverse pass asked for
//! kept on the way.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::Ident;

use crate::errors::Errors;
use crate::kept::Item;
use crate::latest::Noted;
use crate::leave::{Frame, Link};
use crate::program::*;
use crate::rename::Occurrences;
use crate::reverse::Reverse;

pub(crate) struct Forward<'p> {
    pub(crate) program: &'p Program,
    pub(crate) reverse: &'p Reverse<'p>,
    /// Declarations that stand before the current statement.
    pub(crate) before: TokenStream,
    /// The blocks around the current statement.
    pub(crate) frames: Vec<Frame>,
    /// Variables whose name a later one has taken.
    pub(crate) rescued: HashSet<VarId>,
    /// See [`Rescue::moves`].
    pub(crate) rescuing: TokenStream,
    /// The expressions that read rows of loops: the number of the row, and the index.
    pub(crate) of_rows: HashMap<ExprId, (usize, Ident)>,
    /// The function itself is being written: it returns its value alone.
    pub(crate) plain: bool,
    pub(crate) errors: Errors,
}

/// What keeps locals under other names when theirs are taken.
#[derive(Default)]
pub(crate) struct Rescue {
    pub(crate) before: TokenStream,
    /// Behind the new value, where that is made of the old one.
    pub(crate) moves: TokenStream,
    pub(crate) variables: Vec<VarId>,
}

/// `value`, and these `moves` behind it.
pub(crate) fn followed_by(moves: &TokenStream, value: TokenStream) -> TokenStream {
    if moves.is_empty() {
        return value;
    }
    let name = Program::fresh("value");
    quote!({ let #name = #value; #moves #name })
}

/// Writes the body of the forward closure.
pub(crate) fn forward(program: &Program, reverse: &Reverse) -> syn::Result<TokenStream> {
    let mut forward = Forward::new(program, reverse);
    let tokens = forward.whole(BODY);
    forward.errors.finish()?;
    Ok(tokens)
}

/// Writes the body of the function itself, without anything kept.
pub(crate) fn primal(program: &Program) -> syn::Result<TokenStream> {
    let nothing = Reverse::new(program, None);
    let mut forward = Forward { plain: true, ..Forward::new(program, &nothing) };
    let tokens = forward.whole(BODY);
    forward.errors.finish()?;
    Ok(tokens)
}

/// The operator of an assignment.
pub(crate) fn assignment(op: Option<Op>) -> TokenStream {
    match op {
        None => quote!(=),
        Some(Op::Add) => quote!(+=),
        Some(Op::Sub) => quote!(-=),
        Some(Op::Mul) => quote!(*=),
        Some(Op::Div) => quote!(/=),
        Some(Op::Rem) => quote!(%=),
    }
}

impl<'p> Forward<'p> {
    pub(crate) fn new(program: &'p Program, reverse: &'p Reverse<'p>) -> Self {
        Forward {
            program,
            reverse,
            before: TokenStream::new(),
            frames: vec![Frame { block: BODY, link: Link::Function }],
            rescued: HashSet::new(),
            rescuing: TokenStream::new(),
            of_rows: HashMap::new(),
            plain: false,
            errors: Errors::default(),
        }
    }

    /// What the function returns.
    pub(crate) fn returned(&self, value: impl ToTokens, residual: impl ToTokens) -> TokenStream {
        if self.plain { quote!(#value) } else { quote!((#value, #residual)) }
    }

    /// The body of the function, or of a closure: its value, and what it keeps.
    pub(crate) fn whole(&mut self, body: BlockId) -> TokenStream {
        let statements = self.statements(body);
        let tail = self.program.blocks[body].value.map(|value| self.tail(value, body));
        let residual = self.residual(body);
        let copy = self.copy_of_returned(body);
        match tail {
            _ if self.program.is_left(body) => {
                let before = tail.map(|(before, value)| quote!(#before #value));
                quote!(#statements #before)
            }
            Some((before, value)) if value.is_empty() => {
                let returned = self.returned(quote!(()), residual);
                quote!(#statements #before #returned)
            }
            Some((before, value)) => {
                if self.reverse.kept.is_empty(body) {
                    let returned = self.returned(value, quote!(()));
                    quote!(#statements #before #copy #returned)
                } else {
                    let name = Program::fresh("value");
                    let value = self.unmoved(body, value, &residual);
                    let bound = self.bound(body, &value);
                    quote!(#statements #before #copy #bound (#name, #residual))
                }
            }
            None => {
                let returned = self.returned(quote!(()), residual);
                quote!(#statements #returned)
            }
        }
    }

    /// `value` of the body; of a struct that is kept as well a copy, since it may be no more than `Clone`.
    fn unmoved(&self, body: BlockId, value: TokenStream, residual: &TokenStream) -> TokenStream {
        let Some(expr) = self.program.blocks[body].value else { return value };
        let ExprKind::Read(place) = &self.program.exprs[self.program.peel(expr)].kind else { return value };
        let variable = &self.program.variables[place.base];
        let plain = variable.of_user && !variable.heap && !variable.by_reference();
        let kept = || crate::rename::Occurrences::of(residual).count(&variable.name) > 0;
        if plain && place.projections.is_empty() && kept() {
            let span = self.program.exprs[expr].span;
            return quote_spanned!(span=> __pb::returned_copy(&#value, (&&__pb::Given(&#value)).given()));
        }
        value
    }

    /// One iteration of a loop.
    pub(crate) fn iteration(&mut self, body: BlockId) -> TokenStream {
        let statements = self.statements(body);
        let left = self.program.is_left(body);
        let tail = self.program.blocks[body].value.map(|value| {
            let (before, value) = self.tail(value, body);
            if left || value.is_empty() { quote!(#before #value) } else { quote!(#before #value;) }
        });
        quote!(#statements #tail)
    }

    /// The value of a block at the function's end under the name `value`.
    pub(crate) fn result(&mut self, block: BlockId) -> TokenStream {
        let name = Program::fresh("value");
        match self.program.blocks[block].value.map(|value| self.program.returned_value(value)) {
            Some(value) if self.reverse.has_calls_at_once(value) => quote!(let #name;),
            Some(value) => {
                let (before, value) = self.tail(value, block);
                let value = if value.is_empty() { quote!(()) } else { value };
                quote!(#before let #name = #value;)
            }
            None => quote!(let #name = ();),
        }
    }

    /// The statements of a block, with what it keeps.
    pub(crate) fn statements(&mut self, id: BlockId) -> TokenStream {
        let entries = self.entries(id);
        let statements = self.range(id, 0..self.program.blocks[id].statements.len());
        quote!(#entries #statements)
    }

    /// What a block keeps of what variables hold where it begins.
    pub(crate) fn entries(&self, id: BlockId) -> TokenStream {
        let entries = self.program.blocks[id].entries.iter();
        entries.map(|(variable, def)| self.capture(id, *variable, *def)).collect()
    }

    /// Some of the statements of a block, with what it keeps.
    pub(crate) fn range(&mut self, id: BlockId, range: Range<usize>) -> TokenStream {
        let mut out = TokenStream::new();
        for statement in &self.program.blocks[id].statements[range] {
            let rescue = self.rescue(id, statement);
            out.extend(rescue.before);
            self.rescuing = rescue.moves;
            let tokens = self.statement(statement);
            self.rescuing = TokenStream::new();
            self.rescued.extend(rescue.variables);
            out.extend(std::mem::take(&mut self.before));
            out.extend(tokens);
            for &def in &statement.defines {
                let (variable, block) = match &self.program.definitions[def] {
                    Definition::Merged { variable, block } => (*variable, *block),
                    Definition::Computed { variable, .. }
                    | Definition::Bound { variable, .. }
                    | Definition::Given { variable }
                    | Definition::Entry { variable, .. } => (*variable, id),
                };
                out.extend(self.capture(block, variable, def));
            }
        }
        out
    }

    /// Keeps a local under another name before a `let` takes its own.
    fn rescue(&self, block: BlockId, statement: &Statement) -> Rescue {
        let StatementKind::Let(l) = &statement.kind else { return Rescue::default() };
        let new: Vec<_> = l.variables.iter().flatten().copied().collect();
        self.rescue_from(block, &new, l.syntax.init.as_ref().map(|init| &init.expr))
    }

    /// Likewise for what takes these names in the scope of `block`, and has such a value.
    pub(crate) fn rescue_from(&self, block: BlockId, new: &[VarId], value: impl ToTokens) -> Rescue {
        let mut rescue = Rescue::default();
        let read = Occurrences::of(value);
        let scope = self.program.scope_of(block);
        for &new in new {
            let name = &self.program.variables[new].name;
            let same = |v: &Variable| v.name == *name && self.program.scope_of(v.block) == scope;
            let old = self.program.variables[..new].iter().rposition(same);
            if let Some(old) = old
                && self.reverse.kept.name(self.program.variables[old].block, Item::Final(old)).is_some()
                && !self.rescued.contains(&old)
            {
                let unique = &self.program.variables[old].unique;
                if read.count(name) > 0 {
                    rescue.before.extend(quote!(let #unique;));
                    rescue.moves.extend(quote!(#unique = #name;));
                } else {
                    rescue.before.extend(quote!(let #unique = #name;));
                }
                rescue.variables.push(old);
            }
        }
        rescue
    }

    fn capture(&self, block: BlockId, variable: VarId, def: DefId) -> TokenStream {
        let name = &self.program.variables[variable].name;
        match self.reverse.kept.name(block, Item::Definition(def)) {
            Some(kept) if self.program.variables[variable].refers => quote!(let #kept = *#name;),
            Some(kept) if self.program.stays(def).is_none() => {
                match self.program.is_kept_as_clone(variable) {
                    true => quote!(let #kept = ::core::clone::Clone::clone(&#name);),
                    false => quote!(let #kept = #name;),
                }
            }
            _ => TokenStream::new(),
        }
    }

    fn statement(&mut self, statement: &Statement) -> TokenStream {
        let block = statement.before.block;
        match &statement.kind {
            StatementKind::Let(l) => self.local(l, block),
            StatementKind::Assign(assign) if self.reverse.has_calls_at_once(assign.value) => {
                TokenStream::new()
            }
            StatementKind::Assign(assign) => {
                let noted = self.noted_extremum(assign, statement.id);
                let (before, after) = noted.unwrap_or_default();
                let assignment = self.assign(assign, statement);
                quote!(#before #assignment #after)
            }
            StatementKind::Expr(expr, semi) => self.expr_statement(*expr, *semi, block),
            StatementKind::For(For { strategy: Some(Strategy::Checkpoint(placement)), .. })
            | StatementKind::While(While { strategy: Some(Strategy::Checkpoint(placement)), .. })
                if self.reverse.checkpoints.contains_key(&statement.id) =>
            {
                self.segments(*placement, statement)
            }
            StatementKind::For(f) => {
                let (pattern, range) = (&f.pattern, self.expr(f.range, block));
                let rows = self.rows(f, &statement.before);
                let body = self.loop_body(f.body, statement.id);
                let label = self.program.labels.get(&f.body);
                let (start, count) = self.count(block, statement.id);
                let Noted { before, start: now } = self.note(f, statement.id);
                let (start, count) = (quote!(#start #before #rows), quote!(#count #now));
                let (keep, range) = match self.reverse.kept.name(block, Item::Range(statement.id)) {
                    Some(name) => (quote!(let #name = #range;), quote!(#name.clone())),
                    None => (self.reverse.keep_swept(f), range),
                };
                match self.reverse.stacks.get(&statement.id) {
                    Some(stack) => {
                        let indices = Program::fresh("indices");
                        quote! {
                            #keep
                            #start
                            {
                                let #indices = #range;
                                let mut #stack = #stack.room(&#indices);
                                #label for #pattern in #indices { #count #body }
                            }
                        }
                    }
                    None => quote!(#keep #start #label for #pattern in #range { #count #body }),
                }
            }
            StatementKind::While(w) => {
                let cond = self.expr(w.cond, block);
                let body = self.loop_body(w.body, statement.id);
                let label = self.program.labels.get(&w.body);
                let (start, count) = self.count(block, statement.id);
                quote!(#start #label while #cond { #count #body })
            }
            StatementKind::Opaque(opaque) => opaque.syntax.to_token_stream(),
        }
    }

    /// One iteration of a loop that is not left early, and its residual.
    pub(crate) fn closed(&mut self, body: BlockId, statement: StmtId) -> (TokenStream, TokenStream) {
        let outer = std::mem::take(&mut self.before);
        self.frames.push(Frame { block: body, link: Link::Iteration(statement) });
        let parts = (self.iteration(body), self.residual(body));
        self.frames.pop();
        self.before = outer;
        parts
    }

    pub(crate) fn loop_body(&mut self, body: BlockId, statement: StmtId) -> TokenStream {
        let outer = std::mem::take(&mut self.before);
        self.frames.push(Frame { block: body, link: Link::Iteration(statement) });
        let iteration = self.iteration(body);
        let push = self.push(body, statement).filter(|_| !self.program.is_left(body));
        self.frames.pop();
        self.before = outer;
        quote!(#iteration #push)
    }

    fn local(&mut self, l: &Let, block: BlockId) -> TokenStream {
        let moves = std::mem::take(&mut self.rescuing);
        if let ([(_, place), ..], Some(init)) = (&l.aliases[..], &l.syntax.init)
            && place.indices().any(|index| self.touched(index, block))
        {
            let (pattern, place) = (&l.syntax.pat, place.clone());
            let value = match &*init.expr {
                syn::Expr::MethodCall(call) => self.cut(call, &place.projections, block),
                // What holds the parts has a name.
                syn::Expr::Call(parts) => parts.to_token_stream(),
                // Each name stands for a part of it.
                whole if matches!(pattern, syn::Pat::Tuple(_)) => {
                    let part = place.projections.len() - 1;
                    self.place(whole, &place.projections[..part], block)
                }
                reference => self.place(reference, &place.projections, block),
            };
            let value = followed_by(&moves, value);
            return quote!(let #pattern = #value;);
        }
        let Some(init) = l.init else { return l.syntax.to_token_stream() };
        if !self.touched(init, block) {
            let mut syntax = l.syntax.clone();
            if let (Some(init), false) = (&mut syntax.init, moves.is_empty()) {
                *init.expr = syn::Expr::Verbatim(followed_by(&moves, init.expr.to_token_stream()));
            }
            return syntax.to_token_stream();
        }
        let pattern = &l.syntax.pat;
        let root = self.program.peel(init);
        match (self.rule_call(root, block), pattern) {
            (Some((call, residual)), syn::Pat::Type(typed)) => {
                let (pattern, ty, call) = (&typed.pat, &typed.ty, followed_by(&moves, call));
                quote!(let (#pattern, #residual): (#ty, _) = #call;)
            }
            (Some((call, residual)), pattern) => {
                let call = followed_by(&moves, call);
                quote!(let (#pattern, #residual) = #call;)
            }
            (None, pattern) => {
                let init = followed_by(&moves, self.root(init, block));
                quote!(let #pattern = #init;)
            }
        }
    }

    fn assign(&mut self, assign: &Assign, statement: &Statement) -> TokenStream {
        let block = statement.before.block;
        let left = match &assign.syntax {
            syn::Expr::Assign(a) => &a.left,
            syn::Expr::Binary(b) => &b.left,
            _ => unreachable!("parsed as an assignment"),
        };
        let old_name = self.reverse.kept.name(block, Item::Old(statement.id));
        if assign.place.indices().any(|index| self.touched(index, block)) {
            return self.assign_by_index(assign, left, old_name, block);
        }
        if let Some(old) = &old_name
            && assign.place.projections.is_empty()
            && self.program.variables[assign.place.base].heap
        {
            // A vector is moved, and may be what the value is computed from.
            let (value, name) = (self.root(assign.value, block), Program::fresh("value"));
            return quote!(let #name = #value; let #old = ::core::mem::replace(&mut #left, #name););
        }
        let cloned = assign.place.projections.is_empty() && self.program.is_kept_as_clone(assign.place.base);
        let old = old_name.map(|old| match cloned {
            true => quote!(let #old = ::core::clone::Clone::clone(&#left);),
            false => quote!(let #old = #left;),
        });
        let old = old.unwrap_or_default();
        let kept = self.kept_operands(assign.result, block);
        if let (Some(_), false) = (assign.op, kept.is_empty()) {
            let (name, value) = (Program::fresh("value"), self.followed(assign.value, block));
            let (keep, op) = (self.keep_operands(&kept, left, &name), assignment(assign.op));
            return quote!(#old let #name = #value; #keep #left #op #name;);
        }
        let ends_in_call = |e: ExprId| {
            let blocks = !self.program.blocks_of(self.program.peel(e)).is_empty();
            blocks && self.program.is_call(e)
        };
        if !old.is_empty() && assign.op.is_none() && (self.refers(assign.value) || ends_in_call(assign.value))
        {
            // The value may come from references into the place, or from what is moved out of it.
            let (value, name) = (self.root(assign.value, block), Program::fresh("value"));
            return quote!(let #name = #value; #old #left = #name;);
        }
        if self.program.dual && assign.op.is_some() && !assign.place.projections.is_empty() {
            // Unlike that of a float, the operator would borrow the place first.
            let (value, name, op) =
                (self.root(assign.value, block), Program::fresh("value"), assignment(assign.op));
            return quote!(#old let #name = #value; #left #op #name;);
        }
        if !self.touched(assign.value, block) {
            let syntax = &assign.syntax;
            return quote!(#old #syntax;);
        }
        let root = self.program.peel(assign.value);
        let call = if assign.op.is_none() { self.rule_call(root, block) } else { None };
        match call {
            // The call may write to the place as well.
            Some((call, residual)) if !old.is_empty() => {
                let value = Program::fresh("value");
                quote!(let (#value, #residual) = #call; #old #left = #value;)
            }
            Some((call, residual)) => quote!(let #residual; (#left, #residual) = #call;),
            None => {
                let value = self.root(assign.value, block);
                let op = assignment(assign.op);
                quote!(#old #left #op #value;)
            }
        }
    }

    /// The value of an operand that is kept: what a name from a pattern refers to rather than the reference.
    pub(crate) fn followed(&mut self, expr: ExprId, block: BlockId) -> TokenStream {
        let node = &self.program.exprs[self.program.peel(expr)];
        match (&node.kind, &node.syntax) {
            (ExprKind::Read(place), syn::Expr::Path(name)) if self.program.variables[place.base].refers => {
                quote!((*#name))
            }
            _ => self.root(expr, block),
        }
    }

    /// Names from patterns that are references occur in `expr`.
    fn refers(&self, expr: ExprId) -> bool {
        self.program.tree(expr).into_iter().any(|e| match &self.program.exprs[e].kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => {
                self.program.variables[place.base].refers
            }
            ExprKind::Constant(constant) => {
                constant.mentions.iter().any(|id| self.program.variables[*id].refers)
            }
            _ => false,
        })
    }

    /// An assignment to an element whose index cannot be evaluated twice. The value is evaluated first, as ever.
    fn assign_by_index(
        &mut self,
        assign: &Assign,
        left: &syn::Expr,
        old: Option<Ident>,
        block: BlockId,
    ) -> TokenStream {
        let value = self.root(assign.value, block);
        let before = std::mem::take(&mut self.before);
        let place = self.place(left, &assign.place.projections, block);
        let declared = std::mem::replace(&mut self.before, before);
        let (name, target) = (Program::fresh("value"), Program::fresh("target"));
        let old = old.map(|old| quote!(let #old = *#target;));
        let op = assignment(assign.op);
        let kept = self.kept_operands(assign.result, block);
        let keep = self.keep_operands(&kept, quote!(*#target), &name);
        quote!(let #name = #value; #declared let #target = &mut #place; #old #keep *#target #op #name;)
    }

    fn expr_statement(&mut self, expr: ExprId, semi: bool, block: BlockId) -> TokenStream {
        let root = self.program.peel(expr);
        if let Some((call, residual)) = self.rule_call(root, block) {
            return quote!(let (_, #residual) = #call;);
        }
        let tokens = self.root(expr, block);
        let semi = semi.then(|| quote!(;));
        quote!(#tokens #semi)
    }

    /// The value of a block, and what has to stand before it.
    pub(crate) fn tail(&mut self, value: ExprId, block: BlockId) -> (TokenStream, TokenStream) {
        if let Some(tokens) = self.ending(value, block) {
            return tokens;
        }
        let copy = self.program.ends_function(block).then(|| self.copy_of_returned(block));
        let outer = std::mem::replace(&mut self.before, copy.unwrap_or_default());
        let root = self.program.peel(value);
        let tokens = match self.rule_call(root, block) {
            Some((call, residual)) => {
                let name = Program::fresh("value");
                self.before.extend(quote!(let (#name, #residual) = #call;));
                quote!(#name)
            }
            None => self.root(value, block),
        };
        (std::mem::replace(&mut self.before, outer), tokens)
    }
}
