//! Convolutions as products of matrices, in any memory.

use std::marker::PhantomData;

use super::Images;
use super::memory::{Convolving, LayerMemory, Task, Wanted};
use super::places::{add, copy, given, of_channels, planes, read, reshaped, shadow, target, written};
use crate::fused::operand::Place;
use crate::fused::{Along, Array, Old, Real};
use crate::heap::heap_size;
use crate::matrices::{Multiply, Stack};
use crate::nn::Convolution;
use crate::nn::convolution::Sizes;
use crate::{Dual, DualMut, MatrixScalar, Rule};

pullback_macros::fused! {
    fn biased<M>(z, b) { z + b }
}

/// What a convolution works on: of each group *Yᵢ = K·Xᵢ* for all images *i* at once, as [`nn::conv2d`](fn@crate::nn::conv2d) has them one by one.
struct Workspace<T: Real + MatrixScalar, M: Multiply<T> + LayerMemory> {
    kernel: M::Kept<T>,
    kernel_gradient: M::Kept<T>,
    unfolded: M::Kept<T>,
    output: M::Kept<T>,
    /// Of the products that give *Y*, and the gradients of *K* and *X*.
    rooms: [M::Room; 3],
    plans: [M::Plan; 3],
}

heap_size! {
    [T: Real + MatrixScalar, M: Multiply<T> + LayerMemory] Workspace<T, M> {
        kernel, kernel_gradient, unfolded, output, rooms, plans
    }
}

impl<T: Real + MatrixScalar, M: Multiply<T> + LayerMemory> Default for Workspace<T, M> {
    fn default() -> Self {
        Workspace {
            kernel: Default::default(),
            kernel_gradient: Default::default(),
            unfolded: Default::default(),
            output: Default::default(),
            rooms: Default::default(),
            plans: Default::default(),
        }
    }
}

/// Places of what a workspace holds.
#[derive(Clone, Copy)]
struct Rooms<T> {
    kernel: Place<T>,
    unfolded: Place<T>,
    output: Place<T>,
}

impl<T: Real> Rooms<T> {
    /// *K* of a group.
    fn kernel<'a>(&self, sizes: &Sizes, group: usize) -> Stack<'a, T> {
        of_group(self.kernel, sizes, group)
    }

    /// *X* of all images.
    fn unfolded<'a>(&self, sizes: &Sizes) -> Stack<'a, T> {
        matrices(self.unfolded, sizes.meeting(), sizes.places())
    }

    /// *Y* of all images.
    fn output<'a>(&self, sizes: &Sizes) -> Stack<'a, T> {
        matrices(self.output, sizes.outputs, sizes.places())
    }
}

/// What is packed at a place, as matrices.
fn matrices<'a, T: Real>(place: Place<T>, rows: usize, columns: usize) -> Stack<'a, T> {
    let strides = [rows * columns, columns, 1].map(|stride| stride as isize);
    Stack::new(reshaped(place, &[place.lengths[0], rows, columns], &strides))
}

fn of_group<'a, T: Real>(kernels: Place<T>, sizes: &Sizes, group: usize) -> Stack<'a, T> {
    let (outputs, meeting) = (sizes.outputs, sizes.meeting());
    let start = kernels.start.wrapping_add(group * outputs * meeting);
    let place = Place { start, ..kernels };
    Stack::new(reshaped(place, &[outputs, meeting], &[meeting as isize, 1]))
}

/// Some channels of images.
fn channels<T>(images: Place<T>, range: std::ops::Range<usize>) -> Place<T> {
    let mut part = images;
    part.start = part.start.wrapping_offset(range.start as isize * part.strides[1]);
    part.lengths[1] = range.len();
    part
}

impl<T: Real + MatrixScalar, M: Multiply<T> + LayerMemory> Workspace<T, M> {
    /// The kernel without gaps.
    fn packed(&mut self, memory: &M, kernel: Place<T>) -> Place<T> {
        let packed = memory.room(&mut self.kernel, kernel.lengths());
        copy(memory, packed, kernel);
        packed
    }

    /// Room for products with a packed kernel.
    fn rooms(&mut self, memory: &M, sizes: &Sizes, images: usize, kernel: Place<T>) -> Rooms<T> {
        let [down, across] = sizes.slides;
        let unfolded = [images, sizes.inputs, down.window * across.window, sizes.places()];
        let output = [images, sizes.outputs, down.places(), across.places()];
        Rooms {
            kernel,
            unfolded: memory.room(&mut self.unfolded, &unfolded),
            output: memory.room(&mut self.output, &output),
        }
    }

    /// # Safety
    /// As for [`Multiply`].
    unsafe fn forward(
        &mut self,
        memory: &M,
        sizes: &Sizes,
        y: Place<T>,
        x: Place<T>,
        kernel: Place<T>,
        bias: Place<T>,
    ) {
        let (kernel, bias) = (self.packed(memory, kernel), of_channels(bias, 4));
        let Sizes { slides, groups, .. } = *sizes;
        let asked = Convolving { wanted: Wanted::Output, x, kernel, y, slides, groups };
        // SAFETY: as the caller guarantees.
        if unsafe { memory.convolve(&mut self.plans[0], &asked) } {
            return biased::forward(memory, Along::All, written(y), [read(y), read(bias)], None);
        }
        let rooms = self.rooms(memory, sizes, x.lengths[0], kernel);
        for group in 0..sizes.groups {
            let range = sizes.output(group);
            let bias = if bias.lengths[1] == 1 { bias } else { channels(bias, range.clone()) };
            // SAFETY: as the caller guarantees; what is kept is nobody else's.
            unsafe {
                let image = channels(x, sizes.input(group));
                memory.each(rooms.unfolded, false, Task::Unfold(image, sizes.slides));
                let (k, unfolded, output) =
                    (rooms.kernel(sizes, group), rooms.unfolded(sizes), rooms.output(sizes));
                memory.multiply(&mut self.rooms[0], T::ONE, k, unfolded, T::ZERO, output);
            }
            let y = written(channels(y, range));
            biased::forward(memory, Along::All, y, [read(rooms.output), read(bias)], None);
        }
    }

    /// # Safety
    /// As for [`Multiply`].
    unsafe fn pullback(
        &mut self,
        memory: &M,
        sizes: &Sizes,
        dy: Place<T>,
        (x, dx): (Place<T>, Option<Place<T>>),
        (kernel, dkernel): (Place<T>, Option<Place<T>>),
        dbias: Option<Place<T>>,
    ) {
        if let Some(dbias) = dbias {
            add(memory, of_channels(dbias, 4), dy);
        }
        let kernel = self.packed(memory, kernel);
        // The shadow may have any layout: products are added up before.
        let gradients = dkernel.map(|_| memory.room(&mut self.kernel_gradient, kernel.lengths()));
        let Sizes { slides, groups, .. } = *sizes;
        let [_, plan_of_kernel, plan_of_x] = &mut self.plans;
        // What is left for products.
        let of_kernel = gradients.filter(|kernel| {
            let asked =
                Convolving { wanted: Wanted::KernelGradient, x, kernel: *kernel, y: dy, slides, groups };
            // SAFETY: as the caller guarantees; what is kept is nobody else's.
            !unsafe { memory.convolve(plan_of_kernel, &asked) }
        });
        let dx = dx.filter(|dx| {
            let asked = Convolving { wanted: Wanted::InputGradient, x: *dx, kernel, y: dy, slides, groups };
            // SAFETY: as above.
            !unsafe { memory.convolve(plan_of_x, &asked) }
        });
        let left = if of_kernel.is_some() || dx.is_some() { groups } else { 0 };
        let rooms = (left > 0).then(|| self.rooms(memory, sizes, x.lengths[0], kernel));
        let [_, for_kernel, for_x] = &mut self.rooms;
        for (group, rooms) in (0..left).zip(rooms.iter().cycle()) {
            let (k, unfolded, output) =
                (rooms.kernel(sizes, group), rooms.unfolded(sizes), rooms.output(sizes));
            copy(memory, rooms.output, channels(dy, sizes.output(group)));
            // SAFETY: as the caller guarantees; what is kept is nobody else's.
            unsafe {
                if let Some(gradients) = of_kernel {
                    let image = channels(x, sizes.input(group));
                    memory.each(rooms.unfolded, false, Task::Unfold(image, sizes.slides));
                    let gradient = of_group(gradients, sizes, group);
                    memory.multiply(for_kernel, T::ONE, output, unfolded.t(), T::ZERO, gradient);
                }
                if let Some(dx) = dx {
                    memory.multiply(for_x, T::ONE, k.t(), output, T::ZERO, unfolded);
                    let image = channels(dx, sizes.input(group));
                    memory.each(image, true, Task::Fold(rooms.unfolded, sizes.slides));
                }
            }
        }
        if let Some((dkernel, gradients)) = dkernel.zip(gradients) {
            add(memory, dkernel, gradients);
        }
    }
}

macro_rules! convolution {
    ($($name:ident = $Rule:ident: $N:literal;)*) => {$(
        #[doc = concat!("[`nn::", stringify!($name), "`](fn@crate::nn::", stringify!($name), ") for arrays in any memory.")]
        ///
        /// On a device it is cuDNN's, where that is found. Otherwise what the kernel meets in all images is there at once: for each place as many elements as the
        /// kernel of one channel has.
        ///
        /// # Gradient
        #[doc = concat!("That of [`nn::", stringify!($name), "`](fn@crate::nn::", stringify!($name), ").")]
        ///
        /// # Panics
        /// As that function, or if a device fails.
        pub fn $name<T, A, V>(y: &mut A, x: &A, kernel: &A, bias: &V, options: Convolution<$N>)
        where
            T: Real + MatrixScalar,
            A: Images<T, $N>,
            V: Array<T, Memory = A::Memory>,
        {
            let mut rule = $Rule::default();
            rule.old.forgo();
            rule.forward(y, x, kernel, bias, options);
        }

        #[derive(Rule)]
        #[rule(pub fn $name<T: Real + MatrixScalar, A: Images<T, $N>, V: Array<T, Memory = A::Memory>>(
            y: &mut A,
            x: &A,
            kernel: &A,
            bias: &V,
            #[constant] options: Convolution<$N>,
        ))]
        struct $Rule<T: Real + MatrixScalar, A: Images<T, $N>, V: Array<T, Memory = A::Memory>> {
            #[rule(restores = y)]
            old: Old<T, A>,
            workspace: Workspace<T, A::Memory>,
            vectors: PhantomData<fn(V)>,
        }

        impl<T: Real + MatrixScalar, A: Images<T, $N>, V: Array<T, Memory = A::Memory>> Default for $Rule<T, A, V> {
            fn default() -> Self {
                $Rule { old: Old::default(), workspace: Workspace::default(), vectors: PhantomData }
            }
        }

        impl<T: Real + MatrixScalar, A: Images<T, $N>, V: Array<T, Memory = A::Memory>> $Rule<T, A, V> {
            fn forward(&mut self, y: &mut A, x: &A, kernel: &A, bias: &V, options: Convolution<$N>) {
                self.old.save(y);
                let (memory, y) = (y.memory(), planes(target(y)));
                let (x, kernel) = (planes(x.source().place), planes(kernel.source().place));
                let bias = of_bias(stringify!($name), bias.source().place);
                let sizes = Sizes::new(
                    stringify!($name), y.lengths(), x.lengths(), kernel.lengths(), bias.lengths[0], options,
                );
                // SAFETY: `y` is borrowed uniquely, and the shapes fit.
                unsafe { self.workspace.forward(&memory, &sizes, y, x, kernel, bias) }
            }

            fn pullback(
                &mut self,
                y: DualMut<'_, A>,
                x: Dual<'_, A>,
                kernel: Dual<'_, A>,
                bias: Dual<'_, V>,
                options: Convolution<$N>,
            ) {
                self.old.restore(y.value);
                let Some(dy) = y.shadow.get() else { return };
                let of_dy = planes(shadow::<T, A>(&dy));
                let of = |array: &Dual<'_, A>| planes(array.value.source().place);
                let ((of_x, of_kernel), length) = ((of(&x), of(&kernel)), bias.value.lengths()[0]);
                let sizes = Sizes::new(
                    stringify!($name), of_dy.lengths(), of_x.lengths(), of_kernel.lengths(), length, options,
                );
                let (dx, dkernel) = (given::<T, A>(x.shadow).map(planes), given::<T, A>(kernel.shadow).map(planes));
                let dbias = given::<T, V>(bias.shadow);
                // SAFETY: no shadow overlaps a primal, and that of y none of the others.
                unsafe {
                    let (x, kernel) = ((of_x, dx), (of_kernel, dkernel));
                    self.workspace.pullback(&y.value.memory(), &sizes, of_dy, x, kernel, dbias);
                }
                A::clear_shadow(&dy);
            }
        }
    )*};
}
convolution! {
    conv1d = Conv1d: 1;
    conv2d = Conv2d: 2;
}

fn of_bias<T>(function: &str, bias: Place<T>) -> Place<T> {
    assert!(bias.axes == 1, "{function}: the bias is {:?} and no vector", bias.lengths());
    bias
}
