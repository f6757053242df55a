//! The elements of an array that a loop goes through in even steps: `a[i]`, `a[i * n + j]` in a loop over `j`, which is a part of a row,
//! or over `i`, which is a part of a column.

use quote::ToTokens;

use crate::program::*;
use crate::rows::same_before;

/// The elements at `start + stride * index`.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// Zero, if there is none.
    pub(crate) start: Option<ExprId>,
    /// One, if there is none.
    pub(crate) stride: Option<ExprId>,
}

impl Run {
    /// What it takes to find the elements.
    pub(crate) fn parts(&self) -> impl Iterator<Item = ExprId> {
        self.start.into_iter().chain(self.stride)
    }
}

impl Program {
    /// `position` in a loop over `index`.
    pub(crate) fn run(&self, position: ExprId, index: VarId) -> Option<Run> {
        if self.offset(position, index) == Some(0) {
            return Some(Run { start: None, stride: None });
        }
        if let Some(start) = self.start_of_row(position, index) {
            return Some(Run { start: Some(start), stride: None });
        }
        let start_and_stride = match self.exprs[self.peel(position)].kind {
            ExprKind::Binary { op: Op::Add, left, right } => {
                let on_the_left = self.stride(left, index).map(|stride| (Some(right), stride));
                on_the_left.or_else(|| Some((Some(left), self.stride(right, index)?)))
            }
            _ => self.stride(position, index).map(|stride| (None, stride)),
        };
        start_and_stride.map(|(start, stride)| Run { start, stride: Some(stride) })
    }

    /// `stride` in `index * stride`.
    fn stride(&self, product: ExprId, index: VarId) -> Option<ExprId> {
        let ExprKind::Binary { op: Op::Mul, left, right } = self.exprs[self.peel(product)].kind else {
            return None;
        };
        let is_index = |e: ExprId| self.offset(e, index) == Some(0);
        match (is_index(left), is_index(right)) {
            (true, false) => Some(right),
            (false, true) => Some(left),
            _ => None,
        }
    }

    /// Both runs have the same elements, `other` standing at `at` in a loop that stands at `before`, as does what finds `run`.
    pub(crate) fn same_run(&self, run: &Run, other: &Run, at: &At, before: &At) -> bool {
        let same = |run: Option<ExprId>, other: Option<ExprId>| match (run, other) {
            (None, None) => true,
            (Some(run), Some(other)) => self.same_text(run, other) && same_before(self, other, at, before),
            _ => false,
        };
        same(run.start, other.start) && same(run.stride, other.stride)
    }

    pub(crate) fn same_text(&self, a: ExprId, b: ExprId) -> bool {
        let text = |e: ExprId| self.exprs[e].syntax.to_token_stream().to_string();
        text(a) == text(b)
    }
}
