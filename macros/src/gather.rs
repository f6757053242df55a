//! Contributions to one element of a shadow, gathered in a register.
//!
//! `v[i]` read three times is three additions to one cell, each of which waits for the store of the one before. Additions
//! commute, and nobody looks at the shadow between them: so one block adds to an element once, and a loop adds to an element that
//! stays the same once it is through.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::Ident;

use crate::distinct::Facts;
use crate::kept::Kept;
use crate::program::*;
use crate::rows::same_before;

/// The code of one block of the reverse pass.
#[derive(Default)]
pub(crate) struct Code(Vec<Piece>);

enum Piece {
    Tokens(TokenStream),
    Contribution(Contribution),
    /// Statements that read or empty this element of a shadow, and no other.
    Access(Place, At, TokenStream),
}

/// *ẋ[…] += d*
pub(crate) struct Contribution {
    /// The element, and what is known where it is mentioned.
    pub(crate) place: Place,
    pub(crate) at: At,
    /// The element of the shadow.
    pub(crate) shadow: Ident,
    pub(crate) projections: TokenStream,
    pub(crate) element: Element,
    pub(crate) d: TokenStream,
}

/// What is added to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    /// A cell of a view.
    View,
    /// A cell of a row of a local's shadow.
    Cell,
    /// A number in a local's shadow.
    Number,
}

/// Contributions of a loop that go to one element.
#[derive(Default)]
pub(crate) struct Hoisted {
    pub(crate) before: TokenStream,
    pub(crate) after: TokenStream,
}

impl Contribution {
    fn write(&self, d: &TokenStream) -> TokenStream {
        let Contribution { shadow, projections, .. } = self;
        let cells = Program::fresh("d");
        match self.element {
            Element::View => quote!(#shadow.accumulate(|#cells| &#cells #projections, #d);),
            Element::Cell => quote!(#shadow #projections.set(#shadow #projections.get() + #d);),
            Element::Number => quote!(#shadow #projections += #d;),
        }
    }

    fn same_element(&self, other: &Contribution) -> bool {
        self.shadow == other.shadow && self.projections.to_string() == other.projections.to_string()
    }
}

impl Code {
    pub(crate) fn extend(&mut self, tokens: TokenStream) {
        match self.0.last_mut() {
            Some(Piece::Tokens(last)) => last.extend(tokens),
            _ => self.0.push(Piece::Tokens(tokens)),
        }
    }

    /// A place for what is not known yet, see [`put`](Self::put).
    pub(crate) fn leave_place(&mut self) -> usize {
        self.0.push(Piece::Tokens(TokenStream::new()));
        self.0.len() - 1
    }

    /// Puts `tokens` at a place left for them.
    pub(crate) fn put(&mut self, place: usize, mut tokens: TokenStream) {
        let Piece::Tokens(behind) = &mut self.0[place] else { unreachable!("a place for tokens") };
        tokens.extend(std::mem::take(behind));
        *behind = tokens;
    }

    /// The shadow of `base` occurs in it.
    pub(crate) fn touches(&self, program: &Program, base: VarId) -> bool {
        self.0.iter().any(|piece| match piece {
            Piece::Tokens(tokens) | Piece::Access(_, _, tokens) => touches(program, base, tokens),
            Piece::Contribution(c) => touches(program, base, &c.write(&c.d)),
        })
    }

    /// The locals with whose shadows nothing happens but that numbers in them are added to.
    pub(crate) fn only_added_to(&self, program: &Program) -> Vec<VarId> {
        let other = |piece: &Piece, id: VarId| match piece {
            Piece::Tokens(tokens) | Piece::Access(_, _, tokens) => touches(program, id, tokens),
            Piece::Contribution(c) => touches(program, id, &c.d),
        };
        let numbers = self.0.iter().filter_map(|piece| match piece {
            Piece::Contribution(c) if c.element == Element::Number => Some(c.place.base),
            _ => None,
        });
        let mut found: Vec<VarId> =
            numbers.filter(|id| !self.0.iter().any(|piece| other(piece, *id))).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What is added to the shadow of `base`.
    pub(crate) fn contributions(&mut self, base: VarId) -> impl Iterator<Item = &mut Contribution> {
        self.0.iter_mut().filter_map(move |piece| match piece {
            Piece::Contribution(c) if c.place.base == base => Some(c),
            _ => None,
        })
    }

    pub(crate) fn contribute(&mut self, contribution: Contribution) {
        self.0.push(Piece::Contribution(contribution));
    }

    /// `tokens` read or empty the shadow of `place`.
    pub(crate) fn access(&mut self, place: &Place, at: &At, tokens: TokenStream) {
        self.0.push(Piece::Access(place.clone(), at.clone(), tokens));
    }

    /// The code, with one addition to an element instead of several wherever nothing comes between them.
    pub(crate) fn finish(mut self, program: &Program, kept: &mut Kept, facts: &Facts) -> TokenStream {
        let mut code = TokenStream::new();
        for i in 0..self.0.len() {
            let (piece, rest) = self.0[i..].split_first_mut().expect("within bounds");
            match piece {
                Piece::Tokens(tokens) | Piece::Access(_, _, tokens) => code.extend(std::mem::take(tokens)),
                Piece::Contribution(first) => match next(program, facts, first, rest) {
                    Some(next) => {
                        let (sum, d) = (kept.fresh("sum"), &first.d);
                        code.extend(quote!(let #sum = #d;));
                        let d = &next.d;
                        next.d = quote!(#sum + #d);
                    }
                    None => code.extend(first.write(&first.d)),
                },
            }
        }
        code
    }

    /// Takes out of the `body` of a loop, which stands at `before`, the additions to elements that are the same in each
    /// iteration, and are known without it.
    pub(crate) fn hoist(
        &mut self,
        program: &Program,
        kept: &mut Kept,
        facts: &Facts,
        (body, before): (BlockId, &At),
    ) -> Hoisted {
        let of_iteration: HashSet<_> = kept.items(body).iter().map(|(_, name)| name.to_string()).collect();
        let mut hoisted = Hoisted::default();
        let mut sums: Vec<(Ident, Contribution)> = Vec::new();
        let pieces = std::mem::take(&mut self.0);
        let touched = |c: &Contribution| {
            pieces.iter().any(|piece| match piece {
                Piece::Tokens(tokens) => touches(program, c.place.base, tokens),
                Piece::Access(place, at, tokens) => {
                    touches(program, c.place.base, tokens)
                        && !facts.apart(program, (&c.place, &c.at), (place, at))
                }
                Piece::Contribution(_) => false,
            })
        };
        let fixed: Vec<bool> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Contribution(c) if c.place.projections.is_empty() => false,
                Piece::Contribution(c) => {
                    c.place.indices().all(|e| same_before(program, e, &c.at, before))
                        && !mentions(&c.projections, &of_iteration)
                        && !touched(c)
                }
                _ => false,
            })
            .collect();
        for (piece, fixed) in pieces.into_iter().zip(fixed) {
            match piece {
                Piece::Contribution(c) if fixed => {
                    let d = c.d.clone();
                    let sum = match sums.iter().find(|(_, other)| other.same_element(&c)) {
                        Some((sum, _)) => sum.clone(),
                        None => {
                            let sum = kept.fresh("sum");
                            sums.push((sum.clone(), c));
                            sum
                        }
                    };
                    self.extend(quote!(#sum += #d;));
                }
                Piece::Tokens(tokens) => self.extend(tokens),
                piece => self.0.push(piece),
            }
        }
        let zero = program.zero();
        for (sum, contribution) in sums {
            hoisted.before.extend(quote!(let mut #sum = #zero;));
            let write = contribution.write(&quote!(#sum));
            // Without iterations there may be no such element.
            hoisted.after.extend(quote!(if #sum != #zero { #write }));
        }
        hoisted
    }
}

/// The contribution to the element of `first` that is the next thing to happen to this array's shadow, other contributions aside.
fn next<'a>(
    program: &Program,
    facts: &Facts,
    first: &Contribution,
    rest: &'a mut [Piece],
) -> Option<&'a mut Contribution> {
    for piece in rest {
        match piece {
            Piece::Contribution(other) if first.same_element(other) => return Some(other),
            Piece::Tokens(tokens)
                if touches(program, first.place.base, tokens) || rebinds(tokens, &first.projections) =>
            {
                return None;
            }
            Piece::Access(place, at, tokens)
                if touches(program, first.place.base, tokens)
                    && !facts.apart(program, (&first.place, &first.at), (place, at))
                    || rebinds(tokens, &first.projections) =>
            {
                return None;
            }
            _ => {}
        }
    }
    None
}

/// `tokens` mention the shadow of `base`. What it shares memory with at other times, before or after they change places, it does not
/// meanwhile.
pub(crate) fn touches(program: &Program, base: VarId, tokens: &TokenStream) -> bool {
    mentions(tokens, &HashSet::from([program.variables[base].shadow.to_string()]))
}

/// `tokens` give a new meaning to a name in `element`.
fn rebinds(tokens: &TokenStream, element: &TokenStream) -> bool {
    let mut bound = HashSet::new();
    let mut after_let = false;
    for token in tokens.clone() {
        match &token {
            TokenTree::Ident(ident) if ident == "let" => after_let = true,
            TokenTree::Punct(punct) if matches!(punct.as_char(), '=' | ';') => after_let = false,
            TokenTree::Ident(ident) if after_let => _ = bound.insert(ident.to_string()),
            TokenTree::Group(group) if after_let => idents(&group.stream(), &mut bound),
            _ => {}
        }
    }
    mentions(element, &bound)
}

pub(crate) fn mentions(tokens: &TokenStream, names: &HashSet<String>) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&ident.to_string()),
        TokenTree::Group(group) => mentions(&group.stream(), names),
        _ => false,
    })
}

/// Puts the names in `tokens` among those found.
pub(crate) fn idents(tokens: &TokenStream, found: &mut HashSet<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(ident) => _ = found.insert(ident.to_string()),
            TokenTree::Group(group) => idents(&group.stream(), found),
            _ => {}
        }
    }
}

impl Program {
    /// The element is the same whenever its indices are written: these are numbers that stay what they are.
    pub(crate) fn settled(&self, place: &Place) -> bool {
        let settled = |id: VarId, part: bool| {
            let variable = &self.variables[id];
            variable.origin == Origin::Shared || !part && !variable.memory && !variable.by_reference()
        };
        !place.indices().any(|index| self.frozen.contains_key(&index))
            && place.indices().flat_map(|index| self.tree(index)).all(|e| match &self.exprs[e].kind {
                ExprKind::Read(place) => settled(place.base, !place.projections.is_empty()),
                ExprKind::Constant(constant) => {
                    constant.pure
                        && constant.aliases.is_empty()
                        && constant.mentions.iter().all(|id| settled(*id, false))
                }
                ExprKind::Binary { .. } | ExprKind::Paren(_) | ExprKind::Cast(..) => true,
                _ => false,
            })
    }
}
