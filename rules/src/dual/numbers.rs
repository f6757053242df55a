//! The canonical form of arguments and gradients: their numbers, one after the other.

use ndarray::{ArrayBase, ArrayRef, DataMut, Dimension};

use crate::float::Scalar;
use crate::function::for_tuples;
use crate::rows::Rows;
use crate::shadow::Differentiable;

/// Something that numbers of type `S` can be counted off: an argument, a direction or a gradient. A value and its gradient have the
/// same coordinates, in the same order: that of fields and elements, rows of matrices one after the other.
pub trait Numbers<S> {
    /// Visits every coordinate once, those that lie side by side in memory together.
    fn visit_runs<F: FnMut(&mut [S])>(&mut self, visitor: &mut F);
    /// The same for several things that lie side by side.
    #[inline]
    fn visit_runs_of_all<F: FnMut(&mut [S])>(all: &mut [Self], visitor: &mut F)
    where
        Self: Sized,
    {
        for one in all {
            one.visit_runs(visitor);
        }
    }
    /// Visits zeros in the place of the coordinates of what is not there, as its derivative has them: what owns memory has none then.
    #[inline]
    fn visit_missing<F: FnMut(&mut [S])>(_visitor: &mut F) {}
    /// Visits every coordinate once, one by one.
    #[inline]
    fn visit<F: FnMut(&mut S)>(&mut self, visitor: &mut F) {
        self.visit_runs(&mut |run: &mut [S]| run.iter_mut().for_each(&mut *visitor));
    }
}

impl<S: Scalar> Numbers<S> for S {
    #[inline(always)]
    fn visit_runs<F: FnMut(&mut [S])>(&mut self, visitor: &mut F) {
        visitor(std::slice::from_mut(self));
    }
    #[inline(always)]
    fn visit_runs_of_all<F: FnMut(&mut [S])>(all: &mut [S], visitor: &mut F) {
        visitor(all);
    }
    #[inline]
    fn visit_missing<F: FnMut(&mut [S])>(visitor: &mut F) {
        visitor(&mut [S::default()]);
    }
}

macro_rules! none {
    ($($t:ty),*) => {$(
        impl<S: Scalar> Numbers<S> for $t {
            #[inline(always)]
            fn visit_runs<F: FnMut(&mut [S])>(&mut self, _visitor: &mut F) {}
        }
    )*};
}
none!(bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl<S: Scalar, A: Numbers<S>> Numbers<S> for [A] {
    #[inline]
    fn visit_runs<F: FnMut(&mut [S])>(&mut self, visitor: &mut F) {
        A::visit_runs_of_all(self, visitor);
    }
}

impl<S: Scalar, A: Numbers<S>, const M: usize> Numbers<S> for [A; M] {
    #[inline]
    fn visit_runs<F: FnMut(&mut [S])>(&mut self, visitor: &mut F) {
        A::visit_runs_of_all(self, visitor);
    }
    #[inline]
    fn visit_runs_of_all<F: FnMut(&mut [S])>(all: &mut [Self], visitor: &mut F) {
        A::visit_runs_of_all(all.as_flattened_mut(), visitor);
    }
    #[inline]
    fn visit_missing<F: FnMut(&mut [S])>(visitor: &mut F) {
        (0..M).for_each(|_| A::visit_missing(visitor));
    }
}

impl<S: Scalar, A: Numbers<S>> Numbers<S> for Vec<A> {
    #[inline]
    fn visit_runs<F: FnMut(&mut [S])>(&mut self, visitor: &mut F) {
        A::visit_runs_of_all(self, visitor);
    }
}

impl<S: Scalar, A: Numbers<S>> Numbers<S> for Option<A> {
    #[inline]
    fn visit_runs<F: FnMut(&mut [S])>(&mut self, visitor: &mut F) {
        match self {
            Some(value) => value.visit_runs(visitor),
            None => A::visit_missing(visitor),
        }
    }
    #[inline]
    fn visit_missing<F: FnMut(&mut [S])>(visitor: &mut F) {
        A::visit_missing(visitor);
    }
}

impl<S: Scalar, A: Numbers<S>, E> Numbers<S> for Result<A, E> {
    #[inline]
    fn visit_runs<F: FnMut(&mut [S])>(&mut self, visitor: &mut F) {
        match self {
            Ok(value) => value.visit_runs(visitor),
            Err(_) => A::visit_missing(visitor),
        }
    }
    #[inline]
    fn visit_missing<F: FnMut(&mut [S])>(visitor: &mut F) {
        A::visit_missing(visitor);
    }
}

impl<S: Scalar, A: Differentiable<Gradient: Numbers<S>>> Numbers<S> for Rows<A> {
    #[inline]
    fn visit_runs<F: FnMut(&mut [S])>(&mut self, visitor: &mut F) {
        self[..].visit_runs(visitor);
    }
}

impl<S: Scalar, A: Numbers<S>, B: DataMut<Elem = A>, D: Dimension> Numbers<S> for ArrayBase<B, D> {
    #[inline]
    fn visit_runs<F: FnMut(&mut [S])>(&mut self, visitor: &mut F) {
        (**self).visit_runs(visitor);
    }
}

/// In logical order, whatever the strides.
impl<S: Scalar, A: Numbers<S>, D: Dimension> Numbers<S> for ArrayRef<A, D> {
    #[inline]
    fn visit_runs<F: FnMut(&mut [S])>(&mut self, visitor: &mut F) {
        match self.as_slice_mut() {
            Some(elements) => elements.visit_runs(visitor),
            None => self.iter_mut().for_each(|element| element.visit_runs(visitor)),
        }
    }
}

macro_rules! tuple {
    ($($T:ident $i:tt),*) => {
        impl<S: Scalar, $($T: Numbers<S>),*> Numbers<S> for ($($T,)*) {
            #[inline]
            fn visit_runs<Visitor: FnMut(&mut [S])>(&mut self, _visitor: &mut Visitor) {
                $(self.$i.visit_runs(_visitor);)*
            }
            #[inline]
            fn visit_missing<Visitor: FnMut(&mut [S])>(_visitor: &mut Visitor) {
                $($T::visit_missing(_visitor);)*
            }
        }
    };
}
for_tuples!(tuple);
