//! Averages and largest elements of windows.

use std::ops::Range;

use ndarray::{Array3, Array4, ArrayRef, Ix3, Ix4};

use super::cases::{Case, LAYOUTS, Random};
use super::windows::{Images, Slide, of_planes};
use crate::activation::{Dual, DualMut};
use crate::heap::heap_size;
use crate::linalg::Number;
use crate::saved::Saved;
use crate::shadow::{Accumulate, ArrayCells};

/// The window that is pooled, and how it moves over an image with `N` axes.
///
/// ```
/// use pullback_rules::nn::Pooling;
///
/// let overlapping = Pooling { stride: [1, 1], ..Pooling::new([3, 3]) };
/// assert_eq!((overlapping.window, overlapping.padding), ([3, 3], [0, 0]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pooling<const N: usize> {
    /// The size of the window.
    pub window: [usize; N],
    /// How far it moves from one output to the next.
    pub stride: [usize; N],
    /// How far it may stand out at either end of the image.
    pub padding: [usize; N],
}

impl<const N: usize> Pooling<N> {
    /// Windows that adjoin.
    pub const fn new(window: [usize; N]) -> Self {
        Pooling { window, stride: window, padding: [0; N] }
    }
}

/// # Panics
/// If the shapes of output and input do not fit.
pub(super) fn slides<const N: usize>(
    function: &str,
    y: &[usize],
    x: &[usize],
    options: Pooling<N>,
) -> [Slide; 2] {
    let Pooling { window, stride, padding } = options;
    let (window, stride, padding) = (of_planes(window, 1), of_planes(stride, 1), of_planes(padding, 0));
    let slides = [0, 1].map(|axis| Slide {
        input: x[2 + axis],
        window: window[axis],
        stride: stride[axis],
        padding: padding[axis],
        dilation: 1,
    });
    slides.iter().for_each(|slide| slide.check(function));
    let shape = [x[0], x[1], slides[0].places(), slides[1].places()];
    assert!(y == shape, "{function}: the result has the planes {shape:?}, what it is written to {y:?}");
    slides
}

/// Each place with the rows and columns that the window covers there.
fn windows([down, across]: [Slide; 2]) -> impl Iterator<Item = ([usize; 2], Range<usize>, Range<usize>)> {
    (0..down.places())
        .flat_map(move |i| (0..across.places()).map(move |j| ([i, j], down.covers(i), across.covers(j))))
}

type ArrayRef4<T> = ArrayRef<T, Ix4>;

#[derive(Default)]
struct Average;

heap_size! { [] Average {} }

impl Average {
    fn size<T: Number>([down, across]: [Slide; 2]) -> T {
        T::of((down.window * across.window) as f64)
    }

    fn forward<T: Number>(&mut self, _: &str, slides: [Slide; 2], y: &mut ArrayRef4<T>, x: &ArrayRef4<T>) {
        let size = Self::size::<T>(slides);
        for (mut y, x) in y.outer_iter_mut().zip(x.outer_iter()) {
            for (mut y, x) in y.outer_iter_mut().zip(x.outer_iter()) {
                for (place, rows, columns) in windows(slides) {
                    let row = |i: usize| columns.clone().map(|j| x[[i, j]]).sum::<T>();
                    y[place] = rows.map(row).sum::<T>() / size;
                }
            }
        }
    }

    fn pullback<T: Number>(
        &self,
        slides: [Slide; 2],
        dy: ArrayCells<'_, T, Ix4>,
        dx: Option<ArrayCells<'_, T, Ix4>>,
    ) {
        let Some(dx) = dx else { return };
        let size = Self::size::<T>(slides);
        for (dy, dx) in dy.outer_iter().zip(dx.outer_iter()) {
            for (dy, dx) in dy.outer_iter().zip(dx.outer_iter()) {
                for (place, rows, columns) in windows(slides) {
                    let d = dy[place].get() / size;
                    for i in rows {
                        columns.clone().for_each(|j| dx[[i, j]].accumulate(d));
                    }
                }
            }
        }
    }
}

#[derive(Default)]
struct Maximum {
    /// For each element of the output which element of the plane it is, row by row.
    indices: Vec<usize>,
}

heap_size! { [] Maximum { indices } }

impl Maximum {
    fn forward<T: Number>(
        &mut self,
        function: &str,
        slides: [Slide; 2],
        y: &mut ArrayRef4<T>,
        x: &ArrayRef4<T>,
    ) {
        self.indices.clear();
        self.indices.reserve(y.len());
        for (mut y, x) in y.outer_iter_mut().zip(x.outer_iter()) {
            for (mut y, x) in y.outer_iter_mut().zip(x.outer_iter()) {
                for (place, rows, columns) in windows(slides) {
                    assert!(
                        !rows.is_empty() && !columns.is_empty(),
                        "{function}: the window holds nothing but padding"
                    );
                    let (mut at, mut largest) = ([rows.start, columns.start], x[[rows.start, columns.start]]);
                    for i in rows {
                        for j in columns.clone() {
                            let x = x[[i, j]];
                            if x > largest || (x.is_nan() && !largest.is_nan()) {
                                (at, largest) = ([i, j], x);
                            }
                        }
                    }
                    y[place] = largest;
                    self.indices.push(at[0] * x.ncols() + at[1]);
                }
            }
        }
    }

    fn pullback<T: Number>(
        &self,
        _: [Slide; 2],
        dy: ArrayCells<'_, T, Ix4>,
        dx: Option<ArrayCells<'_, T, Ix4>>,
    ) {
        let Some(dx) = dx else { return };
        let mut indices = self.indices.iter();
        for (dy, dx) in dy.outer_iter().zip(dx.outer_iter()) {
            for (dy, dx) in dy.outer_iter().zip(dx.outer_iter()) {
                for (dy, index) in dy.iter().zip(&mut indices) {
                    dx[[index / dx.ncols(), index % dx.ncols()]].accumulate(dy.get());
                }
            }
        }
    }
}

macro_rules! pooling {
    ($(#[$doc:meta])* fn $name:ident = $Rule:ident; $kernel:ident, $N:literal, $D:ty) => {
        $(#[$doc])*
        pub fn $name<T: Number>(y: &mut ArrayRef<T, $D>, x: &ArrayRef<T, $D>, options: Pooling<$N>) {
            let mut rule = $Rule::default();
            rule.old.forgo();
            rule.forward(y, x, options);
        }

        #[derive(Default, pullback_macros::Rule)]
        #[rule(pub fn $name<T: Number>(
            y: &mut ArrayRef<T, $D>,
            x: &ArrayRef<T, $D>,
            #[constant] options: Pooling<$N>,
        ))]
        struct $Rule<T: Number> {
            #[rule(restores = y)]
            old: Saved<T>,
            kernel: $kernel,
        }

        impl<T: Number> $Rule<T> {
            fn forward(&mut self, y: &mut ArrayRef<T, $D>, x: &ArrayRef<T, $D>, options: Pooling<$N>) {
                self.old.save_to_restore(y);
                let (mut y, x) = (Images::planes(y.view_mut()), Images::planes(x.view()));
                let slides = slides(stringify!($name), y.shape(), x.shape(), options);
                self.kernel.forward(stringify!($name), slides, &mut y, &x);
            }

            fn pullback(
                &mut self,
                y: DualMut<'_, ArrayRef<T, $D>>,
                x: Dual<'_, ArrayRef<T, $D>>,
                options: Pooling<$N>,
            ) {
                if let Some(dy) = y.shadow.get().map(Images::planes) {
                    let (x, dx) = (Images::planes(x.value.view()), x.shadow.get().map(Images::planes));
                    let slides = slides(stringify!($name), dy.shape(), x.shape(), options);
                    self.kernel.pullback(slides, dy, dx);
                    dy.for_each(|cell| cell.set(T::ZERO));
                }
                self.old.restore(y.value);
            }
        }
    };
}

pooling! {
    /// The mean of what a window holds, for each channel of lines and for each of its places: *yₙ,꜀,ᵢ = (1/w)·Σⱼ xₙ,꜀,ₛᵢ₊ⱼ₋ₚ* over *j < w*, with
    /// the window *w*, stride *s* and padding *p*; what lies outside *x* counts as zero.
    ///
    /// *x* is batch × channels × length, *y* batch × channels × places, of which there are *⌊(length + 2p − w)/s⌋ + 1*.
    ///
    /// ```
    /// use ndarray::{Array3, array};
    /// use pullback_rules::nn::{Pooling, avg_pool1d};
    ///
    /// let mut y = Array3::zeros((1, 1, 2));
    /// avg_pool1d(&mut y, &array![[[1.0, 3.0, 5.0, 8.0]]], Pooling::new([2]));
    /// assert_eq!(y, array![[[2.0, 6.5]]]);
    /// ```
    ///
    /// # Gradient
    /// *ẋₙ,꜀,ₛᵢ₊ⱼ₋ₚ += ẏₙ,꜀,ᵢ/w* for all indices, then *ẏ ← 0* (LeCun et al., *Gradient-based learning applied to document recognition*, 1998).
    ///
    /// # Panics
    /// If the shapes do not fit, or the window is empty or does not move.
    fn avg_pool1d = AvgPool1d; Average, 1, Ix3
}

pooling! {
    /// As [`avg_pool1d`](fn@avg_pool1d) for planes: *x* and *y* are batch × channels × height × width.
    ///
    /// ```
    /// use ndarray::{Array4, array};
    /// use pullback_rules::nn::{Pooling, avg_pool2d};
    ///
    /// let mut y = Array4::zeros((1, 1, 1, 1));
    /// avg_pool2d(&mut y, &array![[[[1.0, 3.0], [4.0, 8.0]]]], Pooling::new([2, 2]));
    /// assert_eq!(y, array![[[[4.0]]]]);
    /// ```
    ///
    /// # Gradient
    /// *ẏ* over the size of the window, to each element in it; then *ẏ ← 0*.
    ///
    /// # Panics
    /// If the shapes do not fit, or the window is empty or does not move.
    fn avg_pool2d = AvgPool2d; Average, 2, Ix4
}

pooling! {
    /// The largest element of a window, for each channel of lines and for each of its places: *yₙ,꜀,ᵢ = maxⱼ xₙ,꜀,ₛᵢ₊ⱼ₋ₚ* over *j < w*, with
    /// the window *w*, stride *s* and padding *p*; what lies outside *x* does not count. NaN is larger than any number.
    ///
    /// *x* is batch × channels × length, *y* batch × channels × places, of which there are *⌊(length + 2p − w)/s⌋ + 1*.
    ///
    /// ```
    /// use ndarray::{Array3, array};
    /// use pullback_rules::nn::{Pooling, max_pool1d};
    ///
    /// let mut y = Array3::zeros((1, 1, 2));
    /// max_pool1d(&mut y, &array![[[1.0, 3.0, 8.0, 5.0]]], Pooling::new([2]));
    /// assert_eq!(y, array![[[3.0, 8.0]]]);
    /// ```
    ///
    /// # Gradient
    /// *ẏₙ,꜀,ᵢ* goes to the element that is the largest, the first one if there are several; then *ẏ ← 0*. The index of that element is kept
    /// (Zhou and Chellappa, *Computation of optical flow using a neural network*, 1988).
    ///
    /// # Panics
    /// If the shapes do not fit, the window is empty or does not move, or a window holds nothing but padding.
    fn max_pool1d = MaxPool1d; Maximum, 1, Ix3
}

pooling! {
    /// As [`max_pool1d`](fn@max_pool1d) for planes: *x* and *y* are batch × channels × height × width. The first one is that in the first row, and
    /// in this row the first.
    ///
    /// ```
    /// use ndarray::{Array4, array};
    /// use pullback_rules::nn::{Pooling, max_pool2d};
    ///
    /// let mut y = Array4::zeros((1, 1, 1, 1));
    /// max_pool2d(&mut y, &array![[[[1.0, 3.0], [8.0, 4.0]]]], Pooling::new([2, 2]));
    /// assert_eq!(y, array![[[[8.0]]]]);
    /// ```
    ///
    /// # Gradient
    /// That of `max_pool1d`.
    ///
    /// # Panics
    /// If the shapes do not fit, the window is empty or does not move, or a window holds nothing but padding.
    fn max_pool2d = MaxPool2d; Maximum, 2, Ix4
}

/// Batch, channels, height and width; and the window.
const VARIANTS: [([usize; 4], Pooling<2>); 7] = [
    ([2, 2, 4, 6], Pooling::new([2, 3])),
    ([1, 1, 1, 1], Pooling::new([1, 1])),
    ([2, 3, 7, 5], Pooling { window: [3, 2], stride: [2, 1], padding: [1, 1] }),
    ([0, 2, 3, 3], Pooling::new([2, 2])),
    // Windows that do not meet.
    ([1, 2, 9, 8], Pooling { window: [2, 2], stride: [4, 3], padding: [0, 1] }),
    // There is no place for the window, and there are no channels.
    ([1, 1, 2, 2], Pooling::new([3, 3])),
    ([3, 0, 4, 4], Pooling::new([2, 2])),
];

fn places(input: usize, axis: usize, Pooling { window, stride, padding }: Pooling<2>) -> usize {
    let (window, stride, padding) = (window[axis], stride[axis], padding[axis]);
    Slide { input, window, stride, padding, dilation: 1 }.places()
}

/// What the pooling of lines is tested on.
pub fn pool1d_case<T: Number>() -> Case<(Array3<T>, Array3<T>, Pooling<1>)> {
    let random = &mut Random::new();
    let of_lines = |Pooling { window: [_, window], stride: [_, stride], padding: [_, padding] }| Pooling {
        window: [window],
        stride: [stride],
        padding: [padding],
    };
    let inputs =
        VARIANTS.into_iter().enumerate().map(|(variant, ([batch, channels, _, length], options))| {
            let (shape, len) = (Ix3(batch, channels, length), places(length, 1, options));
            let y = random.array(Ix3(batch, channels, len), LAYOUTS[(variant + 1) % 4]);
            (y, random.array(shape, LAYOUTS[(variant + 2) % 4]), of_lines(options))
        });
    let inputs = inputs.collect();
    let ones = |shape: [usize; 3]| Array3::from_elem(shape, T::ONE);
    let panicking = vec![
        (ones([1, 1, 3]), ones([1, 1, 4]), Pooling::new([2])),
        (ones([2, 1, 2]), ones([1, 1, 4]), Pooling::new([2])),
        (ones([1, 1, 2]), ones([1, 1, 4]), Pooling::new([0])),
        (ones([1, 1, 2]), ones([1, 1, 4]), Pooling { stride: [0], ..Pooling::new([2]) }),
    ];
    Case { inputs, panicking }
}

/// What the pooling of planes is tested on.
pub fn pool2d_case<T: Number>() -> Case<(Array4<T>, Array4<T>, Pooling<2>)> {
    let random = &mut Random::new();
    let inputs =
        VARIANTS.into_iter().enumerate().map(|(variant, ([batch, channels, height, width], options))| {
            let (high, wide) = (places(height, 0, options), places(width, 1, options));
            let y = random.array(Ix4(batch, channels, high, wide), LAYOUTS[(variant + 1) % 4]);
            (y, random.array(Ix4(batch, channels, height, width), LAYOUTS[(variant + 2) % 4]), options)
        });
    let inputs = inputs.collect();
    let ones = |shape: [usize; 4]| Array4::from_elem(shape, T::ONE);
    let panicking = vec![
        (ones([1, 1, 2, 1]), ones([1, 1, 4, 4]), Pooling::new([2, 2])),
        (ones([1, 2, 2, 2]), ones([1, 1, 4, 4]), Pooling::new([2, 2])),
    ];
    Case { inputs, panicking }
}
