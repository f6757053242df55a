//! Loops whose first or last iteration is another: `let left = if i == 0 { n - 1 } else { i - 1 };`.
//!
//! Those that write elements are taken apart. Between the ends no iteration has to ask, so that both passes run in vectors, and
//! neighbouring elements are known to be neighbours.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, Ident, Lit, Pat, Stmt, UnOp, parse_quote};

use crate::kind::numeric_method;
use crate::parse::{Parser, is_assignment};

/// The longest body, in tokens, that is written once more for each end.
const LONGEST: usize = 400;

impl Parser<'_> {
    /// The parts of a loop over a range, if `stmt` is one whose iterations ask whether they are the first or the last.
    pub(crate) fn ends_apart(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let Stmt::Expr(Expr::ForLoop(f), _) = stmt else { return None };
        let of = Loop::of(f)?;
        let (body, asked) = Resolve::within(&of, Part::MIDDLE, &f.body);
        let formula = self.suspects.any(&f.body) && plain(f, &of);
        if asked == Part::default() || !formula || length(f.body.to_token_stream()) > LONGEST {
            return None;
        }
        let Loop { index, start, end } = of;
        let (mut out, mut begin): (Vec<Stmt>, _) = (Vec::new(), literal(start));
        if asked.first.is_some() {
            let Block { stmts, .. } = Resolve::within(&of, Part::FIRST, &f.body).0;
            // A method of a literal would be one of any integer.
            let ty = is_index(index, &f.body).then(|| quote!(: usize));
            out.push(parse_quote!(if #end > #begin { let #index #ty = #begin; #(#stmts)* }));
            begin = literal(start + 1);
        }
        out.push(match asked.last {
            Some(_) => {
                let Block { stmts, .. } = Resolve::within(&of, Part::LAST, &f.body).0;
                parse_quote!(if #end > #begin {
                    for #index in #begin..#end - 1 #body
                    let #index = #end - 1;
                    #(#stmts)*
                })
            }
            None => parse_quote!(for #index in #begin..#end #body),
        });
        Some(out)
    }
}

/// `for index in start..end`
#[derive(Clone, Copy)]
struct Loop<'a> {
    index: &'a Ident,
    start: u64,
    end: &'a Expr,
}

impl<'a> Loop<'a> {
    fn of(f: &'a syn::ExprForLoop) -> Option<Self> {
        let (Pat::Ident(index), Expr::Range(range)) = (&*f.pat, &*f.expr) else { return None };
        let bare = index.by_ref.is_none() && index.mutability.is_none() && index.subpat.is_none();
        let (Some(start), Some(end), syn::RangeLimits::HalfOpen(_)) =
            (&range.start, &range.end, &range.limits)
        else {
            return None;
        };
        let known = array_of(end).is_some();
        (bare && known && f.label.is_none() && f.attrs.is_empty()).then_some(())?;
        Some(Loop { index: &index.ident, start: number(start)?, end })
    }
}

/// The variable in `n` or `x.len()`.
fn array_of(end: &Expr) -> Option<&Ident> {
    match end {
        Expr::Path(path) => path.path.get_ident(),
        Expr::MethodCall(call) if call.method == "len" && call.args.is_empty() => match &*call.receiver {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        },
        _ => None,
    }
}

/// `index * i + end * n + constant`
#[derive(Clone, Copy, PartialEq, Eq)]
struct Linear {
    index: i64,
    end: i64,
    constant: i64,
}

const END: Linear = Linear { index: 0, end: 1, constant: 0 };
const INDEX: Linear = Linear { index: 1, end: 0, constant: 0 };
const NEXT: Linear = Linear { index: 1, end: 0, constant: 1 };
const FINAL: Linear = Linear { index: 0, end: 1, constant: -1 };
/// The one before on a ring, but for a remainder.
const AROUND: Linear = Linear { index: 1, end: 1, constant: -1 };

impl Loop<'_> {
    /// What a number is, if no part of it is below zero in any iteration.
    fn linear(&self, expr: &Expr) -> Option<Linear> {
        let linear = match expr {
            Expr::Paren(paren) => self.linear(&paren.expr)?,
            Expr::Path(path) if path.path.is_ident(self.index) => INDEX,
            Expr::Lit(_) => Linear { index: 0, end: 0, constant: number(expr)?.try_into().ok()? },
            Expr::Binary(binary) => {
                let (left, right) = (self.linear(&binary.left), self.linear(&binary.right));
                match binary.op {
                    BinOp::Add(_) => left?.plus(right?, 1),
                    BinOp::Sub(_) => left?.plus(right?, -1),
                    _ => return None,
                }
            }
            expr if expr.to_token_stream().to_string() == self.end.to_token_stream().to_string() => END,
            _ => return None,
        };
        let Linear { index, end, constant } = linear;
        (index >= 0 && end >= 0 && constant >= -end.min(1)).then_some(linear)
    }
}

impl Linear {
    fn plus(self, other: Linear, sign: i64) -> Linear {
        Linear {
            index: self.index + sign * other.index,
            end: self.end + sign * other.end,
            constant: self.constant.saturating_add(sign * other.constant),
        }
    }
}

/// What is known of an iteration: whether it is the first, and whether it is the last.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Part {
    first: Option<bool>,
    last: Option<bool>,
}

impl Part {
    /// It may be the last as well.
    const FIRST: Part = Part { first: Some(true), last: None };
    const MIDDLE: Part = Part { first: Some(false), last: Some(false) };
    const LAST: Part = Part { first: Some(false), last: Some(true) };
}

/// Answers what iterations ask, in one part of the loop.
struct Resolve<'a> {
    of: &'a Loop<'a>,
    part: Part,
    /// What has been asked: what is `Some` here.
    asked: Part,
}

impl<'a> Resolve<'a> {
    fn within(of: &'a Loop<'a>, part: Part, body: &Block) -> (Block, Part) {
        let (mut resolve, mut body) = (Resolve { of, part, asked: Part::default() }, body.clone());
        resolve.visit_block_mut(&mut body);
        (body, resolve.asked)
    }
}

impl Resolve<'_> {
    fn is_first(&mut self) -> Option<bool> {
        self.asked.first = Some(true);
        self.part.first
    }

    fn is_last(&mut self) -> Option<bool> {
        self.asked.last = Some(true);
        self.part.last
    }

    /// Whether a condition holds.
    fn decide(&mut self, cond: &Expr) -> Option<bool> {
        match cond {
            Expr::Paren(paren) => self.decide(&paren.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                self.decide(&unary.expr).map(|holds| !holds)
            }
            Expr::Binary(binary) => {
                let (left, right) = (&*binary.left, &*binary.right);
                let settles = match binary.op {
                    BinOp::And(_) => false,
                    BinOp::Or(_) => true,
                    op => return self.compare(left, op, right),
                };
                match (self.decide(left), self.decide(right)) {
                    (Some(one), _) | (_, Some(one)) if one == settles => Some(settles),
                    (Some(_), Some(_)) => Some(!settles),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn compare(&mut self, left: &Expr, op: BinOp, right: &Expr) -> Option<bool> {
        let (left, right) = (self.of.linear(left)?, self.of.linear(right)?);
        let start = i64::try_from(self.of.start).ok()?;
        // As a distance from one of the ends, and what is added to that.
        match left.plus(right, -1) {
            Linear { index: 1, end: 0, constant } => self.at_first(start + constant, op),
            Linear { index: -1, end: 0, constant } => self.at_first(start - constant, mirrored(op)?),
            Linear { index: -1, end: 1, constant } => self.at_last(1 + constant, op),
            Linear { index: 1, end: -1, constant } => self.at_last(1 - constant, mirrored(op)?),
            _ => None,
        }
    }

    /// Whether the number of iterations before this one, plus `constant`, compares with zero.
    fn at_first(&mut self, constant: i64, op: BinOp) -> Option<bool> {
        at_least(constant + 1, op)?;
        self.is_first().and_then(|first| if first { holds(constant, op) } else { at_least(constant + 1, op) })
    }

    /// Likewise, of those behind it.
    fn at_last(&mut self, constant: i64, op: BinOp) -> Option<bool> {
        at_least(constant + 1, op)?;
        self.is_last().and_then(|last| if last { holds(constant, op) } else { at_least(constant + 1, op) })
    }

    /// The neighbour on a ring, `(i + 1) % n` or `(i + n - 1) % n`, or the nearest there is, `i.saturating_sub(1)` or
    /// `(i + 1).min(n - 1)`.
    fn neighbour(&mut self, expr: &Expr) -> Option<Expr> {
        let &Loop { index, end, start } = self.of;
        let (of, other, what) = match expr {
            Expr::Binary(binary) if matches!(binary.op, BinOp::Rem(_)) => {
                (&*binary.left, &*binary.right, "%")
            }
            Expr::MethodCall(call) if call.args.len() == 1 && call.method == "min" => {
                (&*call.receiver, &call.args[0], "min")
            }
            Expr::MethodCall(call) if call.args.len() == 1 && call.method == "saturating_sub" => {
                (&*call.receiver, &call.args[0], "-")
            }
            _ => return None,
        };
        let ring = start == 0 && what == "%" && self.of.linear(other)? == END;
        match (self.of.linear(of)?, what) {
            (NEXT, "%") if ring => {
                self.is_last().map(|last| if last { parse_quote!(0) } else { parse_quote!((#index + 1)) })
            }
            (AROUND, "%") if ring => self
                .is_first()
                .map(|first| if first { parse_quote!((#end - 1)) } else { parse_quote!((#index - 1)) }),
            (NEXT, "min") if self.of.linear(other)? == FINAL => self
                .is_last()
                .map(|last| if last { parse_quote!(#index) } else { parse_quote!((#index + 1)) }),
            // Of a number with a sign it is -1 in the first iteration.
            (INDEX, "-") if start == 0 && number(other) == Some(1) => {
                (self.is_first() == Some(false)).then(|| parse_quote!((#index - 1)))
            }
            _ => None,
        }
    }
}

/// Whether `number op 0`.
fn holds(number: i64, op: BinOp) -> Option<bool> {
    Some(match op {
        BinOp::Eq(_) => number == 0,
        BinOp::Ne(_) => number != 0,
        BinOp::Lt(_) => number < 0,
        BinOp::Le(_) => number <= 0,
        BinOp::Gt(_) => number > 0,
        BinOp::Ge(_) => number >= 0,
        _ => return None,
    })
}

/// Whether `number op 0` for all numbers from `least` on, or for none.
fn at_least(least: i64, op: BinOp) -> Option<bool> {
    let settled = match op {
        BinOp::Lt(_) | BinOp::Ge(_) => least >= 0,
        _ => least > 0,
    };
    settled.then(|| holds(least, op))?
}

impl VisitMut for Resolve<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some(neighbour) = self.neighbour(expr) {
            *expr = neighbour;
            return;
        }
        if let Expr::If(branch) = expr
            && let Some(holds) = self.decide(&branch.cond)
        {
            *expr = match (holds, branch.else_branch.take()) {
                (true, _) => in_place(&branch.then_branch),
                (false, Some((_, otherwise))) => match *otherwise {
                    Expr::Block(block) if block.label.is_none() => in_place(&block.block),
                    otherwise => otherwise,
                },
                (false, None) => parse_quote!({}),
            };
            return self.visit_expr_mut(expr);
        }
        if let Some(holds) = self.decide(expr) {
            *expr = parse_quote!(#holds);
            return;
        }
        if let Expr::Binary(binary) = expr
            && let BinOp::And(_) | BinOp::Or(_) = binary.op
        {
            // What is left of it has no such answer.
            let neutral = Some(matches!(binary.op, BinOp::And(_)));
            let left = if self.decide(&binary.left) == neutral { Some(&binary.right) } else { None };
            if let Some(other) =
                left.or_else(|| (self.decide(&binary.right) == neutral).then_some(&binary.left))
            {
                *expr = (**other).clone();
                return self.visit_expr_mut(expr);
            }
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}

/// A block, or the value that is all there is in it.
fn in_place(block: &Block) -> Expr {
    match &block.stmts[..] {
        [Stmt::Expr(value, None)] if !is_assignment(value) => parse_quote!((#value)),
        _ => parse_quote!(#block),
    }
}

/// The body is arithmetic on numbers and elements, and names stay what they are: it may be written several times.
fn plain(f: &syn::ExprForLoop, of: &Loop) -> bool {
    struct Plain<'a> {
        index: &'a Ident,
        end: &'a Ident,
        plain: bool,
        /// It writes elements. Sums alone run forward and backward at once, in one loop.
        writes: bool,
    }
    impl Plain<'_> {
        fn assignment(&mut self, expr: &Expr) -> bool {
            let (Expr::Assign(syn::ExprAssign { left, .. }) | Expr::Binary(syn::ExprBinary { left, .. })) =
                expr
            else {
                return false;
            };
            self.writes |= matches!(**left, Expr::Index(_));
            !matches!(&**left, Expr::Path(path) if path.path.is_ident(self.end))
        }
    }
    impl<'ast> Visit<'ast> for Plain<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.plain &= match expr {
                expr if is_assignment(expr) => self.assignment(expr),
                Expr::MethodCall(call) => {
                    let name = call.method.to_string();
                    call.turbofish.is_none()
                        && (numeric_method(&name) || name == "len" || name == "saturating_sub")
                }
                Expr::Binary(_)
                | Expr::Block(_)
                | Expr::Cast(_)
                | Expr::Field(_)
                | Expr::If(_)
                | Expr::Index(_)
                | Expr::Lit(_)
                | Expr::Paren(_)
                | Expr::Path(_)
                | Expr::Unary(_) => true,
                _ => false,
            };
            syn::visit::visit_expr(self, expr);
        }
        fn visit_pat(&mut self, pat: &'ast Pat) {
            self.plain &= match pat {
                Pat::Ident(name) => {
                    name.ident != *self.index && name.ident != *self.end && name.subpat.is_none()
                }
                Pat::Type(_) | Pat::Wild(_) => true,
                _ => false,
            };
            syn::visit::visit_pat(self, pat);
        }
        fn visit_stmt(&mut self, stmt: &'ast Stmt) {
            self.plain &= match stmt {
                Stmt::Local(local) => {
                    local.attrs.is_empty() && local.init.as_ref().is_some_and(|init| init.diverge.is_none())
                }
                Stmt::Expr(..) => true,
                _ => false,
            };
            syn::visit::visit_stmt(self, stmt);
        }
    }
    let Some(end) = array_of(of.end) else { return false };
    let mut plain = Plain { index: of.index, end, plain: true, writes: false };
    plain.visit_block(&f.body);
    plain.plain && plain.writes
}

fn mirrored(op: BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::Eq(_) | BinOp::Ne(_) => op,
        BinOp::Lt(_) => parse_quote!(>),
        BinOp::Gt(_) => parse_quote!(<),
        BinOp::Le(_) => parse_quote!(>=),
        BinOp::Ge(_) => parse_quote!(<=),
        _ => return None,
    })
}

fn peel(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => peel(&paren.expr),
        expr => expr,
    }
}

fn number(expr: &Expr) -> Option<u64> {
    match peel(expr) {
        Expr::Lit(syn::ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        _ => None,
    }
}

/// Something is indexed with the variable.
fn is_index(variable: &Ident, body: &Block) -> bool {
    struct Indices<'v>(&'v Ident, bool);
    impl<'ast> syn::visit::Visit<'ast> for Indices<'_> {
        fn visit_expr_index(&mut self, index: &'ast syn::ExprIndex) {
            let mut within = Within(self.0, false);
            syn::visit::Visit::visit_expr(&mut within, &index.index);
            self.1 |= within.1;
            syn::visit::visit_expr_index(self, index);
        }
    }
    /// The variable, but for what is cast.
    struct Within<'v>(&'v Ident, bool);
    impl<'ast> syn::visit::Visit<'ast> for Within<'_> {
        fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
            self.1 |= path.path.is_ident(self.0);
        }
        fn visit_expr_cast(&mut self, _: &'ast syn::ExprCast) {}
    }
    let mut indices = Indices(variable, false);
    syn::visit::Visit::visit_block(&mut indices, body);
    indices.1
}

fn literal(number: u64) -> TokenStream {
    let number = proc_macro2::Literal::u64_unsuffixed(number);
    quote!(#number)
}

fn length(tokens: TokenStream) -> usize {
    let length = |token| match token {
        TokenTree::Group(group) => 2 + length(group.stream()),
        _ => 1,
    };
    tokens.into_iter().map(length).sum()
}
