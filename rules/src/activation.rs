//! Rules written by hand: the author writes one activation, the engine keeps the frames.

use crate::function::{Args, Cotangent, Function, Gradients, Parameters, Shadows};
use crate::lengths::Lengths;
use crate::rule::Rule;
use crate::shadow::{Differentiable, Shadow};
use crate::state::State;

/// One activation of a stateful rule; `#[derive(Rule)]` implements it by calling the author's `forward` and `pullback`.
pub trait Activation: Default + Send {
    /// The function's signature.
    type Function: Function;
    /// See [`Rule::forward`].
    fn forward(&mut self, args: Args<'_, Self::Function>) -> <Self::Function as Function>::Output;
    /// See [`Rule::pullback`].
    fn pullback<'a>(
        &mut self,
        args: Args<'a, Self::Function>,
        shadows: Shadows<'a, Self::Function>,
        seed: Cotangent<'_, Self::Function>,
    ) -> Gradients<Self::Function>;
    /// See [`Rule::value_and_pullback`].
    #[inline]
    fn value_and_pullback<'a>(
        &mut self,
        mut args: Args<'a, Self::Function>,
        shadows: Shadows<'a, Self::Function>,
        seed: Cotangent<'_, Self::Function>,
    ) -> (<Self::Function as Function>::Output, Gradients<Self::Function>) {
        let output =
            self.forward(<<Self::Function as Function>::Parameters as Parameters>::reborrow(&mut args));
        (output, self.pullback(args, shadows, seed))
    }
    /// See [`Rule::forgo`].
    fn forgo(&mut self, parameter: usize) {
        let _ = parameter;
    }
    /// See [`Rule::overwrite`].
    fn overwrite(&mut self, parameter: usize) -> bool {
        let _ = parameter;
        false
    }
    /// How much room shadows need at least after a forward with `args`, see [`State::least_room`].
    #[doc(hidden)]
    #[inline(always)]
    fn room_for(args: &Args<'_, Self::Function>) -> usize {
        let _ = args;
        0
    }
    /// See [`HeapSize`](crate::HeapSize).
    fn heap_size(&self) -> usize {
        0
    }
}

/// The rule made of activations: one frame for each forward that is pending, made when first needed and reused ever
/// after.
pub struct Frames<A> {
    frames: Vec<A>,
    room: usize,
    pending: usize,
    forgone: u32,
    overwritten: u32,
}

impl<A> Default for Frames<A> {
    fn default() -> Self {
        Frames { frames: Vec::new(), room: 0, pending: 0, forgone: 0, overwritten: 0 }
    }
}

impl<A: Activation> State for Frames<A> {
    const LENGTHS: Lengths = A::Function::LENGTHS;

    fn least_room(&self) -> usize {
        self.room
    }
    fn reset(&mut self) {
        self.pending = 0;
    }
    fn shrink(&mut self) {
        (self.pending, self.room) = (0, 0);
        self.frames = Vec::new();
    }
    fn pending(&self) -> usize {
        self.pending * size_of::<A>()
    }
    fn memory(&self) -> usize {
        self.frames.capacity() * size_of::<A>() + self.frames.iter().map(A::heap_size).sum::<usize>()
    }
}

impl<A: Activation> Frames<A> {
    fn make(&self) -> A {
        let mut frame = A::default();
        for parameter in (0..u32::BITS as usize).filter(|p| self.forgone >> p & 1 == 1) {
            frame.forgo(parameter);
        }
        for parameter in (0..u32::BITS as usize).filter(|p| self.overwritten >> p & 1 == 1) {
            frame.overwrite(parameter);
        }
        frame
    }

    /// The next activation.
    #[inline]
    fn next(&mut self) -> &mut A {
        if self.pending == self.frames.len() {
            let frame = self.make();
            self.frames.push(frame);
        }
        &mut self.frames[self.pending]
    }
}

impl<A: Activation> Rule for Frames<A> {
    type Function = A::Function;
    type Residual = ();
    const AT_ONCE: bool = <Self as State>::LENGTHS.are_kept();

    #[inline]
    fn forward(&mut self, args: Args<'_, A::Function>) -> (<A::Function as Function>::Output, ()) {
        if const { Self::LENGTHS.need_room() } {
            self.room = self.room.max(A::room_for(&args));
        }
        // Counted only once the forward is through: a panic in it leaves no activation behind.
        let output = self.next().forward(args);
        self.pending += 1;
        (output, ())
    }

    #[inline]
    fn pullback<'a>(
        &mut self,
        (): (),
        args: Args<'a, A::Function>,
        shadows: Shadows<'a, A::Function>,
        seed: Cotangent<'_, A::Function>,
    ) -> Gradients<A::Function> {
        self.pending = self.pending.checked_sub(1).expect("a pullback follows its forward");
        let shadows = match const { Self::LENGTHS.need_room() } {
            true => shadows,
            false => <A::Function as Function>::Parameters::align(&args, shadows),
        };
        self.frames[self.pending].pullback(args, shadows, seed)
    }

    #[inline]
    fn value_and_pullback<'a>(
        &mut self,
        args: Args<'a, A::Function>,
        shadows: Shadows<'a, A::Function>,
        seed: Cotangent<'_, A::Function>,
    ) -> (<A::Function as Function>::Output, Gradients<A::Function>) {
        self.next().value_and_pullback(args, shadows, seed)
    }

    fn forgo(&mut self, parameter: usize) {
        self.forgone |= 1 << parameter;
    }

    fn overwrite(&mut self, parameter: usize) -> bool {
        let does = A::default().overwrite(parameter);
        self.overwritten |= u32::from(does) << parameter;
        does
    }
}

/// A `&T` argument in a pullback.
pub struct Dual<'a, T: Differentiable + ?Sized> {
    /// What the forward got.
    pub value: &'a T,
    /// Where its gradient is added; nothing if it is constant.
    pub shadow: Shadow<T::Shadow<'a>>,
}

/// A `&mut T` argument in a pullback.
pub struct DualMut<'a, T: Differentiable + ?Sized> {
    /// What the forward left; the pullback brings back what it got.
    pub value: &'a mut T,
    /// On entry the gradient with respect to the value at the call's exit; the pullback replaces it with the gradient
    /// with respect to the value at its entry. Nothing if the argument is constant.
    pub shadow: Shadow<T::Shadow<'a>>,
}

#[cfg(test)]
mod tests {
    use super::{Dual, DualMut};
    use crate::{Ignored, Rule, Saved, Shadow, State, shadow};

    /// y ← a·y + x·weights[n], and the sum of it
    fn update(a: f64, y: &mut [f64], x: &[f64], weights: &[f64], n: usize, b: f64, c: f64) -> f64 {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = a * *y + x * weights[n]);
        y.iter().sum::<f64>() + b + c
    }

    #[derive(Rule, Default)]
    #[rule(fn update(a: f64, y: &mut [f64], x: &[f64], #[constant] weights: &[f64], n: usize, #[constant] b: f64, c: f64) -> f64)]
    struct Update {
        old_y: Saved<f64>,
        #[rule(restores = y)]
        unused: Saved<f64>,
    }

    impl Update {
        #[allow(clippy::too_many_arguments)]
        fn forward(
            &mut self,
            a: f64,
            y: &mut [f64],
            x: &[f64],
            weights: &[f64],
            n: usize,
            b: f64,
            c: f64,
        ) -> f64 {
            self.old_y.save(y);
            self.unused.save_to_restore(y);
            update(a, y, x, weights, n, b, c)
        }

        #[allow(clippy::too_many_arguments)]
        fn pullback(
            &mut self,
            a: f64,
            y: DualMut<'_, [f64]>,
            x: Dual<'_, [f64]>,
            weights: &[f64],
            n: usize,
            _b: f64,
            _c: f64,
            seed: f64,
        ) -> (f64, f64) {
            self.old_y.restore(y.value);
            let mut da = 0.0;
            for i in 0..y.value.len() {
                let dy = y.shadow.take(|dy| &dy[i]) + seed;
                da += dy * y.value[i];
                x.shadow.accumulate(|dx| &dx[i], dy * weights[n]);
                y.shadow.accumulate(|dy| &dy[i], a * dy);
            }
            (da, seed)
        }
    }

    #[test]
    fn a_derived_registration_calls_the_authors_methods_in_order() {
        let (x, weights) = ([0.5, 1.0], vec![0.0, 2.0]);
        let mut y = vec![1.0, 2.0];
        let (mut dy, mut dx) = ([0.0, 0.0], [100.0, 200.0]);
        let mut rule = update::rule();
        for _ in 0..2 {
            let mut args = update::args(3.0, &mut y, &x, &weights, 1, 10.0, 20.0);
            let value = rule.forward(args).0;
            assert_eq!((value, &y[..]), (4.0 + 8.0 + 30.0, &[4.0, 8.0][..]));
            args = update::args(2.0, &mut y, &x, &weights, 1, 10.0, 20.0);
            assert_eq!(rule.forward(args).0, 9.0 + 18.0 + 30.0);

            // From the second call, y's gradient is 2·½, to which the first call's own ½ comes.
            for (a, expected) in [(2.0, 0.5 * (4.0 + 8.0)), (3.0, 1.5 * (1.0 + 2.0))] {
                let dy = Shadow::new(shadow::slice_cells(&mut dy));
                let dx = Shadow::new(shadow::slice_cells(&mut dx));
                let shadows = (Ignored, dy, dx, Ignored, Ignored, Ignored, Ignored);
                let args = update::args(a, &mut y, &x, &weights, 1, 10.0, 20.0);
                let gradients = rule.pullback((), args, shadows, 0.5);
                assert_eq!(gradients, (expected, (), (), (), (), 0.0, 0.5));
            }
            assert_eq!(y, [1.0, 2.0]);
            assert_eq!(dy, [4.5, 4.5]);
            dy = [0.0, 0.0];
            rule.reset();
        }
        assert_eq!(dx, [100.0 + 2.0 * 2.0 * (0.5 + 1.5), 200.0 + 2.0 * 2.0 * (0.5 + 1.5)]);
    }
}
