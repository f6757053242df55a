//! The small program that a function body is parsed into: blocks of statements over resolved variables.
//!
//! Expressions and blocks live in arenas, since the reverse pass meets them in another order than the source.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Ident;
use syn::ext::IdentExt;

use crate::calls::{Callee, Own};
use crate::imported_variants::is_marked;
use crate::mutation::Action;
use crate::optional_references::Missing;
use crate::ownership::Owners;
use crate::rename::Occurrences;
pub(crate) use crate::variable::{Origin, Variable, Zero};

pub(crate) type VarId = usize;
pub(crate) type ExprId = usize;
pub(crate) type BlockId = usize;
pub(crate) type DefId = usize;
/// Statements are numbered throughout the function.
pub(crate) type StmtId = usize;

/// A function, parsed.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) variables: Vec<Variable>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) exprs: Vec<Expr>,
    pub(crate) blocks: Vec<Block>,
    /// The variable of each parameter; `None` for `_`.
    pub(crate) parameters: Vec<Option<VarId>>,
    /// Where the indices in names for places are evaluated: where the name is bound.
    pub(crate) frozen: HashMap<ExprId, At>,
    /// Where the function's results come together, if it returns an `Option` or a `Result` of a vector.
    pub(crate) landing: Option<Landing>,
    /// The names in the function as it was written: other variables are the macro's own.
    pub(crate) written: Occurrences,
    /// The type parameters that stand for a float.
    pub(crate) scalars: Vec<Ident>,
    /// The function itself.
    pub(crate) own: Option<Own>,
    /// The locals that the function returns and that own memory: they are the caller's afterwards.
    pub(crate) returned: Vec<Returned>,
    /// The number of statements.
    pub(crate) statements: usize,
    /// Blocks that go on where another stops: their statements stand in the other's scope.
    pub(crate) continues: HashMap<BlockId, BlockId>,
    /// The `if`s whose missing `else` is what follows them, since their branch leaves the block.
    pub(crate) guards: HashSet<ExprId>,
    /// The blocks in loops whose values are to be kept.
    pub(crate) stored: HashSet<BlockId>,
    /// The calls of which nothing is kept.
    pub(crate) checkpointed: HashSet<ExprId>,
    /// There is a loop whose strategy the user has chosen.
    pub(crate) annotated: bool,
    /// The labels of loops, by their bodies, and of blocks.
    pub(crate) labels: HashMap<BlockId, syn::Label>,
    /// The parameters that are functions.
    pub(crate) functions: HashMap<VarId, Function>,
    /// The names for places, `let row = &x[a..b];`, that loops and closures which are run again have from outside.
    pub(crate) names: HashMap<BlockId, Vec<(Ident, Place)>>,
    /// The calls of rules that call the functions they are given in the reverse pass as well.
    pub(crate) recomputed: HashSet<ExprId>,
    /// The blocks of closures that are passed on, with the bodies of the closures.
    pub(crate) closures: HashMap<BlockId, BlockId>,
    /// The ranges that select the two parts of a slice which `split_at_mut` has made.
    pub(crate) cuts: HashMap<ExprId, Cut>,
    /// The locals that are known to be a `Vec`, and those that are known to be a `Vec` of these.
    pub(crate) vectors: HashSet<VarId>,
    pub(crate) nested: HashSet<VarId>,
    /// The variables that are known to be a `Vec` of arrays.
    pub(crate) of_arrays: HashSet<VarId>,
    /// The locals that are copies of what may own memory, or not.
    pub(crate) copies: HashSet<VarId>,
    /// The types of the user's that own memory.
    pub(crate) owners: Owners,
    /// The parameters that are structs which own memory, and are passed by value.
    pub(crate) own_parameters: HashSet<VarId>,
    /// Constants by value that may own memory.
    pub(crate) cloned: HashSet<VarId>,
    /// The struct literals that own memory, as a variable tells to which they are assigned.
    pub(crate) owning: HashSet<ExprId>,
    /// The locals that hold what a call has returned, of which the syntax tells nothing else.
    pub(crate) results: HashSet<VarId>,
    /// Those that hold what a call has returned as well, where the syntax tells the name of a type, or there are several calls.
    pub(crate) called: HashSet<VarId>,
    /// The locals that hold what is inside an `Option` or a `Result`, as an `Option`.
    pub(crate) inside: HashSet<VarId>,
    /// The vectors that are moved out of an enclosing block, or that get one that leaves it.
    pub(crate) emptied: HashSet<VarId>,
    /// Likewise what calls have returned, whatever it is.
    pub(crate) departing: HashSet<VarId>,
    /// The vectors that rows are pushed to.
    pub(crate) grown: HashSet<VarId>,
    /// Active values are dual numbers.
    pub(crate) dual: bool,
    /// Constants that come to where dual numbers are.
    pub(crate) lifted: HashSet<ExprId>,
    /// The locals that hold what calls have returned, of whatever type, and that end as elements of vectors.
    pub(crate) pushed: HashSet<VarId>,
    /// The names of places that are written to: `let row = &mut x[i];`
    pub(crate) unique_names: HashSet<String>,
    /// Locals that hold what is in a box, if there is one: `Option<Box<T>>`.
    pub(crate) boxes: HashSet<VarId>,
    /// Calls for the sake of nothing: what they return is never looked at.
    pub(crate) unused: HashSet<ExprId>,
    /// Expressions that differ from what the user wrote.
    pub(crate) rewritten: HashSet<ExprId>,
    /// Copies that calls are given, by the part that is copied: a rule has it lent if it owns memory, as the compiler finds out.
    pub(crate) given: HashSet<ExprId>,
    /// Arguments that calls take by value, and their rules have lent: vectors by their names.
    pub(crate) taken: HashSet<ExprId>,
    /// Those that are views of arrays.
    pub(crate) viewed: HashSet<ExprId>,
    /// Those that are references which may be missing: what is borrowed, and how they are made of that.
    pub(crate) optional: HashMap<ExprId, Missing>,
    /// Arguments that are iterators where there is no rule, as written: a rule has what they go through.
    pub(crate) streamed: HashMap<ExprId, syn::Expr>,
}

/// The block that a function leaves instead of returning.
pub(crate) struct Landing {
    /// Its label.
    pub(crate) label: syn::Lifetime,
    /// The variable that tells how the function ended.
    pub(crate) outcome: Ident,
}

/// A local that the function returns, or a closure that is passed on.
pub(crate) struct Returned {
    pub(crate) id: VarId,
    /// The body of what returns it.
    pub(crate) body: BlockId,
    /// The field of the struct or the tuple that it becomes, `.x`; `None` if it is all there is.
    pub(crate) part: Option<TokenStream>,
    /// Its type, where that is written out.
    pub(crate) ty: Option<Box<syn::Type>>,
}

/// One part of a slice that is cut in two.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    /// Where it is cut; both parts have this in common, and no others do.
    pub(crate) middle: ExprId,
    pub(crate) left: bool,
}

/// A parameter that is a function.
pub(crate) struct Function {
    /// The type parameter that stands for it.
    pub(crate) generic: Ident,
    /// How it takes its arguments, as a type.
    pub(crate) modes: TokenStream,
    pub(crate) output: TokenStream,
    /// What the syntax tells about the output.
    pub(crate) kind: Kind,
    /// It is declared as one that may change something.
    pub(crate) changing: bool,
    /// It may change the lengths of vectors that it borrows.
    pub(crate) resizing: bool,
}

/// The function's body among [`Program::blocks`].
pub(crate) const BODY: BlockId = 0;

/// What the syntax alone tells about a type. It serves to write plainer code and to recognise what carries no gradient;
/// the types themselves are inferred by the compiler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Unknown,
    /// `f32` or `f64`
    Float,
    /// An integer, a `bool`, a range, …: without gradient.
    Inert,
    /// Something indexable, with elements of this kind.
    Sequence(Box<Kind>),
    /// A vector or matrix of nalgebra on the heap, with entries of this kind.
    Matrix(Box<Kind>),
}

/// Where the value of a variable comes from.
pub(crate) enum Definition {
    /// A parameter or loop index, there as long as its scope.
    Given { variable: VarId },
    /// `let` or assignment: can be evaluated again.
    Computed { variable: VarId, expr: ExprId, at: At },
    /// Bound by the pattern of an arm of a `match`, which stands at `at`.
    Bound { variable: VarId, expr: ExprId, arm: usize, at: At },
    /// What a variable holds at the start of an iteration.
    Entry { variable: VarId, block: BlockId },
    /// What a variable holds after a statement which leaves no way to evaluate it again.
    Merged { variable: VarId, block: BlockId },
}

/// Where in the program an expression stands: its block, and what the variables hold there.
#[derive(Clone, Default)]
pub(crate) struct At {
    pub(crate) block: BlockId,
    pub(crate) versions: Rc<Versions>,
}

/// For each variable the version of its contents (if it is memory) or its definition.
pub(crate) type Versions = HashMap<VarId, usize>;

#[derive(Default)]
pub(crate) struct Block {
    pub(crate) statements: Vec<Statement>,
    pub(crate) value: Option<ExprId>,
    /// Where `value` stands.
    pub(crate) tail: At,
    /// The variables that an iteration of this loop body passes on to the next, with their definitions at its start.
    pub(crate) entries: Vec<(VarId, DefId)>,
    /// When the block is through.
    pub(crate) end: At,
    /// Its statements differ from what the user wrote.
    pub(crate) rewritten: bool,
}

pub(crate) struct Statement {
    pub(crate) id: StmtId,
    pub(crate) kind: StatementKind,
    pub(crate) before: At,
    /// Definitions made by this statement, to be kept after it where needed.
    pub(crate) defines: Vec<DefId>,
}

pub(crate) enum StatementKind {
    Let(Let),
    Assign(Assign),
    /// With the semicolon, if there is one.
    Expr(ExprId, bool),
    For(For),
    While(While),
    /// Constant code, or a macro such as `assert!`: only the forward pass runs it.
    Opaque(Opaque),
}

pub(crate) struct Let {
    pub(crate) syntax: syn::Local,
    /// The variables bound; several for a tuple pattern. `None` for `_`.
    pub(crate) variables: Vec<Option<VarId>>,
    pub(crate) tuple: bool,
    pub(crate) init: Option<ExprId>,
    /// What the names stand for in `let row = &x[a..b]` and `let (left, right) = x.split_at_mut(k)`.
    pub(crate) aliases: Vec<(Ident, Place)>,
}

pub(crate) struct Assign {
    pub(crate) place: Place,
    /// `None` for `=`
    pub(crate) op: Option<Op>,
    pub(crate) value: ExprId,
    /// The new value of the place: `value`, or for `op=` the operation on its old value.
    pub(crate) result: ExprId,
    pub(crate) syntax: syn::Expr,
}

pub(crate) struct For {
    pub(crate) pattern: syn::Pat,
    pub(crate) index: Option<VarId>,
    pub(crate) range: ExprId,
    pub(crate) body: BlockId,
    pub(crate) strategy: Option<Strategy>,
}

pub(crate) struct While {
    pub(crate) cond: ExprId,
    pub(crate) body: BlockId,
    pub(crate) strategy: Option<Strategy>,
}

/// How the reverse pass of a loop comes by what it needs of each iteration, where the user says so.
#[derive(Clone, Copy)]
pub(crate) enum Strategy {
    /// It is kept, whatever function calls it takes to compute.
    Store,
    /// The loop is run again from checkpoints.
    Checkpoint(Placement),
}

/// Where a loop has its checkpoints.
#[derive(Clone, Copy)]
pub(crate) enum Placement {
    /// With so many iterations after each.
    Every(ExprId),
    /// At most so many, where they save most.
    Binomial(ExprId),
}

impl Strategy {
    pub(crate) fn operand(self) -> Option<ExprId> {
        match self {
            Strategy::Store => None,
            Strategy::Checkpoint(Placement::Every(n) | Placement::Binomial(n)) => Some(n),
        }
    }
}

pub(crate) struct Opaque {
    pub(crate) syntax: syn::Stmt,
    pub(crate) mentions: Vec<VarId>,
    /// Those among them of which more than the shape is read.
    pub(crate) reads: Vec<VarId>,
    /// Names of places in it, as bound by `let row = &x[a..b]`.
    pub(crate) aliases: Vec<(Ident, Place)>,
    /// Why active variables must not occur; `None` for macros that merely look at values.
    pub(crate) why: Option<String>,
}

/// A variable, or a part of it.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) base: VarId,
    pub(crate) projections: Vec<Projection>,
}

#[derive(Clone)]
pub(crate) enum Projection {
    Index(ExprId),
    Field(syn::Member),
    Deref,
    /// A view of an array: `x.row(i)`. Where it is written to, `x.row_mut(i)`.
    View(Ident, Vec<ExprId>),
    /// What a user's `Index` selects: `x[(i, j)]`, and what that is taken to be.
    Indexed(ExprId, Kind),
    /// What the reference refers to that a user's method returns: `x.weights()`, likewise.
    Selected(Ident, Vec<ExprId>, Kind),
}

pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) syntax: syn::Expr,
    pub(crate) active: bool,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl ToTokens for Op {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Op::Add => quote::quote!(+),
            Op::Sub => quote::quote!(-),
            Op::Mul => quote::quote!(*),
            Op::Div => quote::quote!(/),
            Op::Rem => quote::quote!(%),
        });
    }
}

pub(crate) enum ExprKind {
    /// A literal, or anything that may stay as it is because no active value is involved.
    Constant(Constant),
    /// The value of a place.
    Read(Place),
    /// `&place` or `&mut place`.
    Borrow {
        place: Place,
        unique: bool,
    },
    Neg(ExprId),
    Paren(ExprId),
    Binary {
        op: Op,
        left: ExprId,
        right: ExprId,
    },
    Cast(ExprId, Box<syn::Type>),
    Method {
        receiver: ExprId,
        name: Ident,
        args: Vec<ExprId>,
    },
    Call {
        function: Callee,
        args: Vec<ExprId>,
    },
    If {
        cond: ExprId,
        then: BlockId,
        otherwise: Option<BlockId>,
    },
    Block(BlockId),
    Match(Match),
    Loop {
        body: BlockId,
        id: StmtId,
    },
    /// What follows a statement that may leave the block: at the end of that block, and in its scope.
    Rest(BlockId),
    /// `return`, `break` and `continue`: at the end of a block.
    Exit {
        target: Target,
        value: Option<ExprId>,
    },
    /// `e?`
    Try(ExprId),
    /// `Some(e)`, `Ok(e)`: the gradient is that of what is inside, the first argument.
    Wrap(syn::Path, Vec<ExprId>),
    /// How an `Option` or a `Result` that may own memory ended, and what is inside, as a pair.
    Split(ExprId),
    Tuple(Vec<ExprId>),
    /// `Body { x: a, ..rest }`, `Vec2(a, b)`, `Shape::Disc { radius: a }`
    Struct(Box<StructLiteral>),
    Array(Vec<ExprId>),
    Repeat(ExprId, Box<syn::Expr>),
    /// `vec![a, b]`, or `vec![a; n]` with the length
    Vector {
        elements: Vec<ExprId>,
        len: Option<ExprId>,
    },
    /// A function as an argument.
    Callback(Callback),
    /// A method that changes the length of a vector, or a function that moves vectors: see [`Action`].
    Mutation {
        action: Action,
        args: Vec<ExprId>,
    },
}

/// A function as an argument.
pub(crate) enum Callback {
    Closure {
        parameters: Vec<Option<VarId>>,
        body: BlockId,
    },
    /// By its path.
    Function(syn::ExprPath),
    /// A parameter, passed on.
    Parameter(VarId),
}

impl ExprKind {
    /// It is evaluated once, in the forward pass: it calls a rule, owns memory, or goes several ways.
    pub(crate) fn happens_once(&self) -> bool {
        matches!(
            self,
            ExprKind::Call { .. }
                | ExprKind::Mutation { .. }
                | ExprKind::Vector { .. }
                | ExprKind::Match(_)
                | ExprKind::Loop { .. }
                | ExprKind::Rest(_)
                | ExprKind::Exit { .. }
                | ExprKind::Callback(_)
                | ExprKind::Try(_)
                | ExprKind::Split(_)
        )
    }
}

pub(crate) struct StructLiteral {
    pub(crate) path: syn::Path,
    pub(crate) fields: Vec<(syn::Member, ExprId)>,
    /// `..rest`
    pub(crate) rest: Option<ExprId>,
    /// Written as a call, `Vec2(a, b)`.
    pub(crate) called: bool,
}

impl StructLiteral {
    /// The variant of an enum: `Shape::Disc`, by the capital of what stands before it.
    pub(crate) fn variant(&self) -> Option<&Ident> {
        variant(&self.path)
    }

    /// It is what is in a box, `Box::new(x)` or `Some(Box::new(x))`: see [`crate::boxing`].
    pub(crate) fn is_box(&self) -> bool {
        crate::boxing::makes(&self.path)
    }

    /// Where the gradient with respect to a field stands in that with respect to the whole.
    pub(crate) fn part(&self, member: &syn::Member) -> TokenStream {
        match self.variant() {
            // A slice of one.
            _ if self.is_box() => quote::quote!([0]),
            Some(variant) => quote::quote!(.#variant.#member),
            None => quote::quote!(.#member),
        }
    }

    /// The literal with other expressions in it.
    pub(crate) fn tokens(&self, values: &[TokenStream], rest: Option<TokenStream>) -> TokenStream {
        let path = &self.path;
        if self.called {
            return quote::quote!(#path(#(#values),*));
        }
        let members = self.fields.iter().map(|(member, _)| member);
        let rest = rest.map(|rest| quote::quote!(..#rest));
        quote::quote!(#path { #(#members: #values,)* #rest })
    }
}

/// The variant that a path names, as `Shape::Disc` does by the capital of what stands before it, or `Disc` with a mark.
pub(crate) fn variant(path: &syn::Path) -> Option<&Ident> {
    if is_marked(path) {
        return path.segments.last().map(|last| &last.ident);
    }
    let mut segments = path.segments.iter().rev();
    let (last, before) = (segments.next()?, segments.next()?);
    before.ident.to_string().starts_with(char::is_uppercase).then_some(&last.ident)
}

/// A `match`, or what amounts to one.
pub(crate) struct Match {
    pub(crate) scrutinee: ExprId,
    pub(crate) arms: Vec<Arm>,
    pub(crate) style: Style,
    /// The `else` of a `let` that ends in a panic, from where nothing comes back.
    pub(crate) panic: Option<Box<syn::Expr>>,
}

/// How a `match` is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Match,
    /// `if let`, with an `else` or without.
    IfLet,
    /// `let … else`: the first arm is what follows.
    LetElse,
    /// `let` with a pattern: the only arm is what follows.
    Let,
}

pub(crate) struct Arm {
    pub(crate) pattern: syn::Pat,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) guard: Option<ExprId>,
    pub(crate) body: BlockId,
}

/// A name in a pattern.
pub(crate) struct Binding {
    pub(crate) variable: VarId,
    /// Which part of the scrutinee it is, if that can be told.
    pub(crate) part: Option<Vec<Projection>>,
    /// The same, to be read without matching again.
    pub(crate) read: Option<ExprId>,
}

/// What an exit leaves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Target {
    Function,
    /// A loop, by its body, or a block with a label.
    Break(BlockId),
    /// An iteration of a loop.
    Continue(BlockId),
}

pub(crate) struct Constant {
    pub(crate) mentions: Vec<VarId>,
    /// Those among them of which more than the shape is read.
    pub(crate) reads: Vec<VarId>,
    /// Names of places in it, as bound by `let row = &x[a..b]`.
    pub(crate) aliases: Vec<(Ident, Place)>,
    /// Evaluating it again gives the same value.
    pub(crate) pure: bool,
    /// Why active variables must not occur.
    pub(crate) why: Option<String>,
}

impl Program {
    /// A name for generated code, which cannot meet the user's.
    pub(crate) fn fresh(name: &str) -> Ident {
        Ident::new(name, Span::mixed_site())
    }

    /// A zero, for code that may be generic.
    pub(crate) fn zero(&self) -> TokenStream {
        match self.dual {
            // The compiler has to know the type before operators are applied.
            true => crate::dual::constant(&quote::quote!(0.0)),
            false if self.generic() => quote::quote!(__pb::zero()),
            false => quote::quote!(0.0),
        }
    }

    /// Rows are pushed to the vector `id`, or to one whose rows may change places with its own.
    pub(crate) fn takes_rows(&self, id: VarId) -> bool {
        self.grown.iter().any(|other| self.variables[*other].rows == self.variables[id].rows)
    }

    /// Rows are taken out of the vector `id` as well, or out of one whose rows may change places with its own.
    pub(crate) fn loses_rows(&self, id: VarId) -> bool {
        self.exprs.iter().any(|expr| match &expr.kind {
            ExprKind::Mutation { action, args } => match &self.exprs[args[0]].kind {
                ExprKind::Borrow { place, .. } => {
                    let loses = [Action::Pop, Action::Remove, Action::Truncate, Action::Clear];
                    loses.contains(action)
                        && self.of_rows(place)
                        && self.variables[place.base].rows == self.variables[id].rows
                }
                _ => false,
            },
            _ => false,
        })
    }

    /// The variable may have lost what it holds: its shadow owns memory only if there is something left.
    pub(crate) fn may_be_left(&self, id: VarId) -> bool {
        [&self.inside, &self.emptied, &self.departing].iter().any(|left| left.contains(&id))
    }

    /// The function returns the variable.
    /// What the function returns, or a closure with this `body`.
    pub(crate) fn returned_by(&self, body: BlockId) -> impl Iterator<Item = &Returned> {
        self.returned.iter().filter(move |returned| returned.body == body)
    }

    /// The block is a branch at the function's end, and returns a struct made of locals of its own.
    pub(crate) fn ends_function(&self, block: BlockId) -> bool {
        block != BODY && self.returned_by(block).any(|returned| returned.part.is_some())
    }

    pub(crate) fn is_returned(&self, id: VarId) -> bool {
        self.returned.iter().any(|returned| returned.id == id)
    }

    /// Numbers may be of other types than literals.
    pub(crate) fn generic(&self) -> bool {
        self.dual || !self.scalars.is_empty()
    }

    /// What the syntax tells about the type `ty`.
    pub(crate) fn kind_of_type(&self, ty: &syn::Type) -> Kind {
        crate::generics::kind_of(&self.scalars, ty)
    }

    /// `T::zero()`, `T::PI` or `T::from(2.0)`, where `T` stands for a float.
    pub(crate) fn of_scalar(&self, path: &syn::Path) -> bool {
        path.segments.len() == 2 && self.scalars.contains(&path.segments[0].ident)
    }

    /// Gives each variable a name of its own for the reverse pass, and for its shadow.
    pub(crate) fn name_variables(&mut self) {
        fn pick(taken: &mut HashSet<String>, name: &str, from: usize) -> String {
            let free = (from..).map(|n| format!("{name}_{n}")).find(|text| !taken.contains(text));
            let free = free.expect("there are enough numbers");
            taken.insert(free.clone());
            free
        }
        let mut taken: HashSet<_> = self.variables.iter().map(|v| v.name.unraw().to_string()).collect();
        let mut seen: HashSet<_> = crate::kept::RESERVED.map(String::from).into();
        for variable in &mut self.variables {
            let span = variable.name.span().resolved_at(Span::mixed_site());
            let name = variable.name.unraw().to_string();
            // Hygienic, so that code for the reverse pass can stand beside the user's. What the macro has named is so already.
            let users = variable.origin != Origin::Local || self.written.contains(&name);
            variable.unique = if users && seen.insert(name.clone()) {
                let mut unique = variable.name.clone();
                unique.set_span(span);
                unique
            } else {
                Ident::new(&pick(&mut taken, &name, 1), span)
            };
            let shadow = format!("d_{}", variable.unique.unraw());
            let shadow = if taken.insert(shadow.clone()) { shadow } else { pick(&mut taken, &shadow, 2) };
            variable.shadow = Ident::new(&shadow, span);
        }
    }
}

impl Program {
    /// The definition is the only one of a variable that keeps its name to the end of its block, where it can be moved out.
    pub(crate) fn stays(&self, def: DefId) -> Option<&Variable> {
        let (id, block) = match &self.definitions[def] {
            Definition::Computed { variable, at: At { block, .. }, .. }
            | Definition::Merged { variable, block } => (*variable, *block),
            // In the arm.
            Definition::Bound { variable, .. } => (*variable, self.variables[*variable].block),
            _ => return None,
        };
        let variable = &self.variables[id];
        let named = !self.shadowed(id) && !self.hidden(id);
        (named && !variable.mutable && !variable.refers && variable.block == block).then_some(variable)
    }

    /// A later variable of the same scope has taken the name of this one.
    pub(crate) fn shadowed(&self, id: VarId) -> bool {
        let variable = &self.variables[id];
        let scope = self.scope_of(variable.block);
        self.variables[id + 1..].iter().any(|v| v.name == variable.name && self.scope_of(v.block) == scope)
    }
}

impl Projection {
    /// What tells where it is in the shadow is a function of the user's.
    pub(crate) fn is_of_user(&self) -> bool {
        matches!(self, Projection::Indexed(..) | Projection::Selected(..))
    }
}
