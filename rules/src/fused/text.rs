//! A kernel as text, for devices.

use super::Reduction;

/// A kernel of which there is a text.
pub trait DeviceKernel {
    /// The text.
    const TEXT: &'static Text;
}

/// What one kernel computes, in CUDA C: see the macro's module `cuda` for the names in it.
#[derive(Debug)]
pub struct Text {
    /// What it is called.
    pub name: &'static str,
    /// How many numbers of each row there are.
    pub slots: usize,
    /// Which operands are numbers.
    pub numbers: &'static [usize],
    /// What happens to each element, and then to the row. The first pass goes through nothing.
    pub passes: &'static [PassText],
    /// What each row adds to results that are numbers.
    pub totals: &'static [(usize, &'static str)],
}

impl Text {
    /// The number of the pass in which results are written, if there is one.
    #[cfg(feature = "cuda")]
    pub(crate) fn writing(&self) -> Option<usize> {
        self.passes.iter().position(|pass| pass.writes.contains(&true))
    }

    /// Whether an element of result `o` is written for each that is read.
    #[cfg(feature = "cuda")]
    pub(crate) fn writes(&self, o: usize) -> bool {
        self.writing().is_some_and(|pass| self.passes[pass].writes[o])
    }
}

/// One pass through a row.
#[derive(Debug)]
pub struct PassText {
    /// Which arrays are read,
    pub reads: &'static [bool],
    /// and which are written.
    pub writes: &'static [bool],
    /// What `s0`, `s1` … become, and where that is kept.
    pub reductions: &'static [(Reduction, usize)],
    /// Statements for each element.
    pub elements: &'static str,
    /// Statements for the row, afterwards.
    pub then: &'static str,
}
