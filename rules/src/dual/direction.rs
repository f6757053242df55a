//! Directions in which functions are differentiated.

use ndarray::{Array, Dimension};

use crate::function::for_tuples;
use crate::rows::Rows;
use crate::shadow::Differentiable;

/// A direction: read, never written. Its components have the order of [`Numbers`](super::Numbers).
pub trait Direction {
    /// Appends its components.
    fn append_to(&self, flat: &mut Vec<f64>);
    /// Appends those of several directions that lie side by side.
    fn append_all_to(all: &[Self], flat: &mut Vec<f64>)
    where
        Self: Sized,
    {
        all.iter().for_each(|one| one.append_to(flat));
    }
    /// Its components, if they lie in one piece.
    #[inline]
    fn as_run(&self) -> Option<&[f64]> {
        None
    }
    /// The same of several directions that lie side by side.
    #[inline]
    fn all_as_run(_all: &[Self]) -> Option<&[f64]>
    where
        Self: Sized,
    {
        None
    }
}

impl Direction for f64 {
    #[inline]
    fn append_to(&self, flat: &mut Vec<f64>) {
        flat.push(*self);
    }
    fn append_all_to(all: &[f64], flat: &mut Vec<f64>) {
        flat.extend_from_slice(all);
    }
    #[inline]
    fn as_run(&self) -> Option<&[f64]> {
        Some(std::slice::from_ref(self))
    }
    #[inline]
    fn all_as_run(all: &[f64]) -> Option<&[f64]> {
        Some(all)
    }
}

impl Direction for () {
    #[inline]
    fn append_to(&self, _flat: &mut Vec<f64>) {}
    #[inline]
    fn as_run(&self) -> Option<&[f64]> {
        Some(&[])
    }
}

impl<A: Direction> Direction for [A] {
    fn append_to(&self, flat: &mut Vec<f64>) {
        A::append_all_to(self, flat);
    }
    #[inline]
    fn as_run(&self) -> Option<&[f64]> {
        A::all_as_run(self)
    }
}

impl<A: Direction, const M: usize> Direction for [A; M] {
    fn append_to(&self, flat: &mut Vec<f64>) {
        A::append_all_to(self, flat);
    }
    fn append_all_to(all: &[Self], flat: &mut Vec<f64>) {
        A::append_all_to(all.as_flattened(), flat);
    }
    #[inline]
    fn as_run(&self) -> Option<&[f64]> {
        A::all_as_run(self)
    }
    #[inline]
    fn all_as_run(all: &[Self]) -> Option<&[f64]> {
        A::all_as_run(all.as_flattened())
    }
}

impl<A: Direction> Direction for Vec<A> {
    fn append_to(&self, flat: &mut Vec<f64>) {
        self.as_slice().append_to(flat);
    }
    #[inline]
    fn as_run(&self) -> Option<&[f64]> {
        self.as_slice().as_run()
    }
}

impl<A: Direction + ?Sized> Direction for &A {
    fn append_to(&self, flat: &mut Vec<f64>) {
        (**self).append_to(flat);
    }
    #[inline]
    fn as_run(&self) -> Option<&[f64]> {
        (**self).as_run()
    }
}

impl<A: Differentiable<Gradient: Direction>> Direction for Rows<A> {
    fn append_to(&self, flat: &mut Vec<f64>) {
        self[..].append_to(flat);
    }
}

impl<A: Direction, D: Dimension> Direction for Array<A, D> {
    fn append_to(&self, flat: &mut Vec<f64>) {
        match self.as_slice() {
            Some(elements) => elements.append_to(flat),
            None => self.iter().for_each(|element| element.append_to(flat)),
        }
    }
    fn as_run(&self) -> Option<&[f64]> {
        self.as_slice()?.as_run()
    }
}

macro_rules! tuple {
    () => {};
    ($($T:ident $i:tt),+) => {
        impl<$($T: Direction),+> Direction for ($($T,)+) {
            fn append_to(&self, flat: &mut Vec<f64>) {
                $(self.$i.append_to(flat);)+
            }
        }
    };
}
for_tuples!(tuple);
