//! Convolutions of lines and planes, as products of matrices.

use std::ops::Range;

use ndarray::{
    Array1, Array3, Array4, ArrayRef, ArrayRef1, ArrayView3, ArrayViewMut2, ArrayViewMut3, Axis, Ix1, Ix3,
    Ix4, Zip, s,
};

use super::cases::{Case, LAYOUTS, Random};
use super::windows::{Images, Slide, fold, of_planes, unfold};
use crate::activation::{Dual, DualMut};
use crate::blas::{Trans, gemm};
use crate::heap::heap_size;
use crate::linalg::Number;
use crate::saved::Saved;
use crate::shadow::{Accumulate, ArrayCells};

/// How a kernel moves over an image with `N` axes: `N` numbers each, one for every axis, and the number of groups.
///
/// By default the kernel moves by 1, nothing is padded, the elements of the kernel are adjacent, and there is one group.
///
/// ```
/// use pullback_rules::nn::Convolution;
///
/// let same = Convolution { padding: [1, 1], ..Convolution::default() };
/// assert_eq!((same.stride, same.dilation, same.groups), ([1, 1], [1, 1], 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Convolution<const N: usize> {
    /// How far the kernel moves from one output to the next.
    pub stride: [usize; N],
    /// How many zeros are thought to stand at either end of the image.
    pub padding: [usize; N],
    /// How far apart in the image are what adjacent elements of the kernel meet.
    pub dilation: [usize; N],
    /// Into how many groups input and output channels are divided. Those of one group know nothing of the other groups.
    pub groups: usize,
}

impl<const N: usize> Default for Convolution<N> {
    fn default() -> Self {
        Convolution { stride: [1; N], padding: [0; N], dilation: [1; N], groups: 1 }
    }
}

/// The sizes of one convolution.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) slides: [Slide; 2],
    pub(super) groups: usize,
    /// Channels of the output in each group.
    pub(super) outputs: usize,
    /// Channels of the input in each group.
    pub(super) inputs: usize,
}

impl Sizes {
    /// # Panics
    /// If the shapes of output, input, kernel and bias do not fit.
    pub(super) fn new<const N: usize>(
        function: &str,
        y: &[usize],
        x: &[usize],
        k: &[usize],
        bias: usize,
        options: Convolution<N>,
    ) -> Self {
        let Convolution { stride, padding, dilation, groups } = options;
        let (stride, padding, dilation) =
            (of_planes(stride, 1), of_planes(padding, 0), of_planes(dilation, 1));
        let slides = [0, 1].map(|axis| Slide {
            input: x[2 + axis],
            window: k[2 + axis],
            stride: stride[axis],
            padding: padding[axis],
            dilation: dilation[axis],
        });
        slides.iter().for_each(|slide| slide.check(function));
        assert!(
            groups > 0 && k[0].is_multiple_of(groups) && x[1] == k[1] * groups,
            "{function}: a kernel from {} to {} channels in {groups} groups does not fit {} channels",
            k[1],
            k[0],
            x[1]
        );
        assert!(bias == 1 || bias == k[0], "{function}: {bias} numbers are no bias of {} channels", k[0]);
        let shape = [x[0], k[0], slides[0].places(), slides[1].places()];
        assert!(y == shape, "{function}: the result has the planes {shape:?}, what it is written to {y:?}");
        Sizes { slides, groups, outputs: k[0] / groups, inputs: k[1] }
    }

    /// How many elements meet an element of the output.
    pub(super) fn meeting(&self) -> usize {
        self.inputs * self.slides[0].window * self.slides[1].window
    }

    /// How many elements of the output there are in a channel.
    pub(super) fn places(&self) -> usize {
        self.slides[0].places() * self.slides[1].places()
    }

    /// The kernel as one matrix for each group.
    fn matrices(&self) -> (usize, usize, usize) {
        (self.groups, self.outputs, self.meeting())
    }

    /// The channels of an input that belong to a group.
    pub(super) fn input(&self, group: usize) -> Range<usize> {
        group * self.inputs..(group + 1) * self.inputs
    }

    /// The channels of an output that belong to a group.
    pub(super) fn output(&self, group: usize) -> Range<usize> {
        group * self.outputs..(group + 1) * self.outputs
    }
}

/// What a convolution works on: for each image and each group *Y = K·X*, where a row of *K* holds what leads to one channel, a column of
/// *X* what the kernel meets in one place, and a row of *Y* one channel.
#[derive(Default)]
struct Workspace<T> {
    kernel: Vec<T>,
    kernel_gradient: Vec<T>,
    /// *X*, or its gradient.
    unfolded: Vec<T>,
    /// *Y*, or its gradient.
    output: Vec<T>,
}

heap_size! { [T: Copy] Workspace<T> { kernel, kernel_gradient, unfolded, output } }

type ArrayRef4<T> = ArrayRef<T, Ix4>;

const ROOM: &str = "as many elements as the shape asks for";

impl<T: Number> Workspace<T> {
    /// Takes the kernel and makes room. Returns *K* for all groups, *X* and *Y*.
    fn begin(
        &mut self,
        sizes: &Sizes,
        kernel: &ArrayRef4<T>,
    ) -> (ArrayView3<'_, T>, ArrayViewMut2<'_, T>, ArrayViewMut2<'_, T>, &mut Vec<T>) {
        let Workspace { kernel: packed, kernel_gradient, unfolded, output } = self;
        packed.clear();
        packed.extend(kernel);
        let (meeting, places) = (sizes.meeting(), sizes.places());
        unfolded.resize(meeting * places, T::ZERO);
        output.resize(sizes.outputs * places, T::ZERO);
        (
            ArrayView3::from_shape(sizes.matrices(), packed).expect(ROOM),
            ArrayViewMut2::from_shape((meeting, places), unfolded).expect(ROOM),
            ArrayViewMut2::from_shape((sizes.outputs, places), output).expect(ROOM),
            kernel_gradient,
        )
    }

    fn forward(
        &mut self,
        sizes: &Sizes,
        y: &mut ArrayRef4<T>,
        x: &ArrayRef4<T>,
        kernel: &ArrayRef4<T>,
        bias: &ArrayRef1<T>,
    ) {
        let (kernels, mut unfolded, mut output, _) = self.begin(sizes, kernel);
        let bias = bias.broadcast(kernel.dim().0).expect("its length has been checked");
        for (mut y, x) in y.outer_iter_mut().zip(x.outer_iter()) {
            for (group, kernel) in kernels.outer_iter().enumerate() {
                unfold(x.slice(s![sizes.input(group), .., ..]), sizes.slides, &mut unfolded);
                gemm(Trans::No, Trans::No, T::ONE, &kernel, &unfolded, T::ZERO, &mut output);
                let mut y = y.slice_mut(s![sizes.output(group), .., ..]);
                let bias = bias.slice(s![sizes.output(group)]);
                Zip::from(y.outer_iter_mut()).and(output.rows()).and(&bias).for_each(
                    |mut y, output, &bias| {
                        y.iter_mut().zip(output).for_each(|(y, &output)| *y = output + bias);
                    },
                );
            }
        }
    }

    /// Makes the gradient of the output zero.
    fn pullback(
        &mut self,
        sizes: &Sizes,
        dy: ArrayCells<'_, T, Ix4>,
        (x, dx): (&ArrayRef4<T>, Option<ArrayCells<'_, T, Ix4>>),
        (kernel, dkernel): (&ArrayRef4<T>, Option<ArrayCells<'_, T, Ix4>>),
        dbias: Option<ArrayCells<'_, T, Ix1>>,
    ) {
        let (kernels, mut unfolded, mut output, gradients) = self.begin(sizes, kernel);
        // The shadow may have any layout, and be broadcast: all products are added up before.
        let mut dkernel = dkernel.map(|cells| {
            gradients.clear();
            gradients.resize(kernel.len(), T::ZERO);
            (cells, ArrayViewMut3::from_shape(sizes.matrices(), gradients).expect(ROOM))
        });
        let channels = kernel.dim().0;
        let dbias =
            dbias.as_ref().map(|d| d.broadcast(channels).expect("a shadow has the shape of its array"));
        for (i, (dy, x)) in dy.outer_iter().zip(x.outer_iter()).enumerate() {
            for (group, kernel) in kernels.outer_iter().enumerate() {
                let cells = dy.slice(s![sizes.output(group), .., ..]);
                output.iter_mut().zip(cells).for_each(|(d, cell)| *d = cell.replace(T::ZERO));
                if let Some(dbias) = &dbias {
                    let dbias = dbias.slice(s![sizes.output(group)]);
                    Zip::from(dbias).and(output.rows()).for_each(|cell, d| cell.accumulate(d.iter().sum()));
                }
                if let Some((_, gradients)) = &mut dkernel {
                    unfold(x.slice(s![sizes.input(group), .., ..]), sizes.slides, &mut unfolded);
                    let mut gradient = gradients.index_axis_mut(Axis(0), group);
                    gemm(Trans::No, Trans::Yes, T::ONE, &output, &unfolded, T::ONE, &mut gradient);
                }
                if let Some(dx) = &dx {
                    gemm(Trans::Yes, Trans::No, T::ONE, &kernel, &output, T::ZERO, &mut unfolded);
                    fold(dx.slice(s![i, sizes.input(group), .., ..]), sizes.slides, &unfolded);
                }
            }
        }
        if let Some((cells, gradients)) = dkernel {
            cells.iter().zip(gradients).for_each(|(cell, d)| cell.accumulate(*d));
        }
    }
}

macro_rules! convolution {
    ($(#[$doc:meta])* fn $name:ident = $Rule:ident; $N:literal, $D:ty) => {
        $(#[$doc])*
        pub fn $name<T: Number>(
            y: &mut ArrayRef<T, $D>,
            x: &ArrayRef<T, $D>,
            kernel: &ArrayRef<T, $D>,
            bias: &ArrayRef1<T>,
            options: Convolution<$N>,
        ) {
            let mut rule = $Rule::default();
            rule.old.forgo();
            rule.forward(y, x, kernel, bias, options);
        }

        #[derive(Default, pullback_macros::Rule)]
        #[rule(pub fn $name<T: Number>(
            y: &mut ArrayRef<T, $D>,
            x: &ArrayRef<T, $D>,
            kernel: &ArrayRef<T, $D>,
            bias: &ArrayRef1<T>,
            #[constant] options: Convolution<$N>,
        ))]
        struct $Rule<T: Number> {
            #[rule(restores = y)]
            old: Saved<T>,
            workspace: Workspace<T>,
        }

        impl<T: Number> $Rule<T> {
            fn forward(
                &mut self,
                y: &mut ArrayRef<T, $D>,
                x: &ArrayRef<T, $D>,
                kernel: &ArrayRef<T, $D>,
                bias: &ArrayRef1<T>,
                options: Convolution<$N>,
            ) {
                self.old.save_to_restore(y);
                let (mut y, x) = (Images::planes(y.view_mut()), Images::planes(x.view()));
                let kernel = Images::planes(kernel.view());
                let sizes = Sizes::new(stringify!($name), y.shape(), x.shape(), kernel.shape(), bias.len(), options);
                self.workspace.forward(&sizes, &mut y, &x, &kernel, bias);
            }

            fn pullback(
                &mut self,
                y: DualMut<'_, ArrayRef<T, $D>>,
                x: Dual<'_, ArrayRef<T, $D>>,
                kernel: Dual<'_, ArrayRef<T, $D>>,
                bias: Dual<'_, ArrayRef1<T>>,
                options: Convolution<$N>,
            ) {
                if let Some(dy) = y.shadow.get().map(Images::planes) {
                    let (dx, dkernel) = (x.shadow.get().map(Images::planes), kernel.shadow.get().map(Images::planes));
                    let (x, kernel) = (Images::planes(x.value.view()), Images::planes(kernel.value.view()));
                    let len = bias.value.len();
                    let sizes = Sizes::new(stringify!($name), dy.shape(), x.shape(), kernel.shape(), len, options);
                    self.workspace.pullback(&sizes, dy, (&x, dx), (&kernel, dkernel), bias.shadow.get());
                }
                self.old.restore(y.value);
            }
        }
    };
}

convolution! {
    /// The cross-correlation of lines with a kernel, which networks call convolution: *yₙ,ₒ,ᵢ = bₒ + Σ kₒ,꜀,ⱼ·xₙ,꜀,ₛᵢ₊ₔⱼ₋ₚ* over all channels *c* of the
    /// group of *o* and all elements *j* of the kernel, with stride *s*, dilation *d* and padding *p*; what lies outside *x* counts as zero.
    ///
    /// *x* is batch × channels × length, the kernel output channels × input channels of one group × window, *y* batch × output channels ×
    /// places, of which there are *⌊(length + 2p − d·(window − 1) − 1)/s⌋ + 1*. The bias has one number for each output channel, or one
    /// for all.
    ///
    /// ```
    /// use ndarray::{Array3, array};
    /// use pullback_rules::nn::{Convolution, conv1d};
    ///
    /// let (x, kernel) = (array![[[1.0, 2.0, 4.0, 7.0]]], array![[[-1.0, 1.0]]]);
    /// let mut y = Array3::zeros((1, 1, 3));
    /// conv1d(&mut y, &x, &kernel, &array![0.0], Convolution::default());
    /// assert_eq!(y, array![[[1.0, 2.0, 3.0]]]);
    /// ```
    ///
    /// # Gradient
    /// *ẋₙ,꜀,ₛᵢ₊ₔⱼ₋ₚ += kₒ,꜀,ⱼ·ẏₙ,ₒ,ᵢ*, *k̇ₒ,꜀,ⱼ += xₙ,꜀,ₛᵢ₊ₔⱼ₋ₚ·ẏₙ,ₒ,ᵢ*, *ḃₒ += ẏₙ,ₒ,ᵢ*, for all indices; then *ẏ ← 0* (LeCun et al., *Backpropagation
    /// applied to handwritten zip code recognition*, 1989). Each image becomes a matrix of what the kernel meets, for products with
    /// that of the kernel (Chellapilla, Puri and Simard, *High performance convolutional neural networks for document processing*,
    /// 2006); it is made again by the pullback, so that nothing is kept but what *y* held.
    ///
    /// # Panics
    /// If the shapes do not fit, the window is empty, or stride, dilation or the number of groups is 0.
    fn conv1d = Conv1d; 1, Ix3
}

convolution! {
    /// As [`conv1d`](fn@conv1d) for planes, with two numbers for each option: *x* is batch × channels × height × width, the kernel output
    /// channels × input channels of one group × height × width, *y* batch × output channels × height × width.
    ///
    /// ```
    /// use ndarray::{Array4, array};
    /// use pullback_rules::nn::{Convolution, conv2d};
    ///
    /// let x = array![[[[1.0, 2.0], [3.0, 4.0]]]];
    /// let kernel = array![[[[0.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]]];
    /// let mut y = Array4::zeros((1, 1, 2, 2));
    /// let same = Convolution { padding: [1, 1], ..Convolution::default() };
    /// conv2d(&mut y, &x, &kernel, &array![0.5], same);
    /// assert_eq!(y, array![[[[6.5, 7.5], [8.5, 9.5]]]]);
    /// ```
    ///
    /// # Gradient
    /// That of `conv1d`.
    ///
    /// # Panics
    /// If the shapes do not fit, the window is empty, or a stride, a dilation or the number of groups is 0.
    fn conv2d = Conv2d; 2, Ix4
}

/// Sizes that go up and down: batch, channels in each group in and out, groups, and height and width of image and kernel; and how the
/// kernel moves.
const VARIANTS: [([usize; 8], Convolution<2>); 8] = [
    ([2, 2, 3, 1, 4, 5, 2, 3], Convolution { stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1 }),
    ([1, 1, 1, 1, 1, 1, 1, 1], Convolution { stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1 }),
    ([2, 1, 2, 3, 6, 5, 3, 2], Convolution { stride: [2, 3], padding: [1, 2], dilation: [1, 2], groups: 3 }),
    ([0, 2, 1, 1, 3, 3, 2, 2], Convolution { stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1 }),
    ([1, 2, 1, 2, 3, 7, 2, 3], Convolution { stride: [1, 2], padding: [2, 3], dilation: [3, 1], groups: 2 }),
    // There is no place for the kernel; there are no channels, in the image or in the result.
    ([1, 1, 2, 1, 2, 2, 3, 3], Convolution { stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1 }),
    ([2, 0, 2, 1, 3, 3, 2, 2], Convolution { stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1 }),
    ([1, 2, 0, 1, 3, 3, 2, 2], Convolution { stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1 }),
];

/// How many places there are along an axis.
fn places(axis: usize, [input, window]: [usize; 2], of: Convolution<2>) -> usize {
    let (stride, padding, dilation) = (of.stride[axis], of.padding[axis], of.dilation[axis]);
    Slide { input, window, stride, padding, dilation }.places()
}

/// What `conv1d` is tested on.
#[allow(clippy::type_complexity, reason = "the arguments of conv1d")]
pub fn conv1d_case<T: Number>() -> Case<(Array3<T>, Array3<T>, Array3<T>, Array1<T>, Convolution<1>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for (variant, (sizes, options)) in VARIANTS.into_iter().enumerate() {
        let [batch, inward, outward, groups, _, length, _, window] = sizes;
        let layout = |i: usize| LAYOUTS[(variant + i) % 4];
        let len = places(1, [length, window], options);
        inputs.push((
            random.array(Ix3(batch, outward * groups, len), layout(1)),
            random.array(Ix3(batch, inward * groups, length), layout(2)),
            random.array(Ix3(outward * groups, inward, window), layout(3)),
            random.vector(if variant % 3 == 1 { 1 } else { outward * groups }, layout(variant)),
            Convolution {
                stride: [options.stride[1]],
                padding: [options.padding[1]],
                dilation: [options.dilation[1]],
                groups,
            },
        ));
    }
    let misfit = |y: [usize; 3], options: Convolution<1>| {
        let (x, kernel) = (Array3::from_elem((1, 2, 4), T::ONE), Array3::from_elem((2, 2, 2), T::ONE));
        (Array3::from_elem(y, T::ONE), x, kernel, Array1::from_elem(2, T::ONE), options)
    };
    let usual = Convolution::default();
    let panicking = vec![
        misfit([1, 2, 4], usual),
        misfit([2, 2, 3], usual),
        misfit([1, 2, 3], Convolution { stride: [0], ..usual }),
        misfit([1, 2, 3], Convolution { dilation: [0], ..usual }),
        misfit([1, 2, 3], Convolution { groups: 0, ..usual }),
        misfit([1, 2, 3], Convolution { groups: 2, ..usual }),
    ];
    Case { inputs, panicking }
}

/// What `conv2d` is tested on.
#[allow(clippy::type_complexity, reason = "the arguments of conv2d")]
pub fn conv2d_case<T: Number>() -> Case<(Array4<T>, Array4<T>, Array4<T>, Array1<T>, Convolution<2>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for (variant, (sizes, options)) in VARIANTS.into_iter().enumerate() {
        let [batch, inward, outward, groups, height, width, rows, columns] = sizes;
        let layout = |i: usize| LAYOUTS[(variant + i) % 4];
        let (high, wide) = (places(0, [height, rows], options), places(1, [width, columns], options));
        inputs.push((
            random.array(Ix4(batch, outward * groups, high, wide), layout(1)),
            random.array(Ix4(batch, inward * groups, height, width), layout(2)),
            random.array(Ix4(outward * groups, inward, rows, columns), layout(3)),
            random.vector(if variant % 3 == 1 { 1 } else { outward * groups }, layout(variant)),
            options,
        ));
    }
    let ones = |shape: [usize; 4]| Array4::from_elem(shape, T::ONE);
    let bias = |len| Array1::from_elem(len, T::ONE);
    let usual = Convolution::default();
    let panicking = vec![
        (ones([1, 2, 2, 3]), ones([1, 2, 3, 3]), ones([2, 2, 2, 2]), bias(2), usual),
        (ones([1, 2, 2, 2]), ones([1, 2, 3, 3]), ones([2, 2, 2, 2]), bias(3), usual),
        (ones([1, 2, 2, 2]), ones([1, 3, 3, 3]), ones([2, 2, 2, 2]), bias(2), usual),
        (ones([1, 2, 4, 4]), ones([1, 2, 3, 3]), ones([2, 2, 0, 0]), bias(2), usual),
    ];
    Case { inputs, panicking }
}
