//! What cuDNN is asked for: convolutions of images, and their gradients.

use super::driver::{Convolution, Pass, Planes};
use super::run;
use crate::fused::Real;
use crate::fused::operand::Place;
use crate::nn::{Convolving, Wanted};

/// What cuDNN is asked for, or `None` if it cannot count what there is, or there is nothing to do.
///
/// It calls convolution what is called that, and cross-correlation what networks call convolution. Padding is the same at both ends, and the kernel
/// has no gaps.
pub(super) fn request<T: Real>(asked: &Convolving<T>) -> Option<Convolution> {
    let Convolving { wanted, x, kernel, y, slides, groups } = *asked;
    let int = |n: usize| i32::try_from(n).ok();
    let both = |number: [usize; 2]| Some([int(number[0])?, int(number[1])?]);
    let planes = |place: Place<T>| {
        let mut of = Planes { address: place.start.addr() as u64, lengths: [0; 4], strides: [0; 4] };
        for axis in 0..4 {
            of.lengths[axis] = int(place.lengths[axis]).filter(|n| *n > 0)?;
            // No distance where there is nothing to be apart.
            let stride = if place.lengths[axis] == 1 { 1 } else { place.strides[axis] };
            of.strides[axis] = i32::try_from(stride).ok().filter(|n| *n > 0)?;
        }
        Some(of)
    };
    let (pass, beta) = match wanted {
        Wanted::Output => (Pass::Forward, 0.0),
        Wanted::InputGradient => (Pass::BackwardData, 1.0),
        Wanted::KernelGradient => (Pass::BackwardFilter, 0.0),
    };
    Some(Convolution {
        double: size_of::<T>() == 8,
        pass,
        x: planes(x)?,
        kernel: planes(kernel)?,
        y: planes(y)?,
        padding: both(slides.map(|slide| slide.padding))?,
        stride: both(slides.map(|slide| slide.stride))?,
        dilation: both(slides.map(|slide| slide.dilation))?,
        groups: int(groups)?,
        alpha: run::bits(T::of(1.0)),
        beta: run::bits(T::of(beta)),
    })
}

impl Convolution {
    /// Of which a plan is made once: all but the addresses.
    pub(super) fn kind(self) -> Convolution {
        let [x, kernel, y] = [self.x, self.kernel, self.y].map(|planes| Planes { address: 0, ..planes });
        Convolution { x, kernel, y, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::request;
    use crate::cuda::driver::{Convolution, Pass, Planes};
    use crate::fused::operand::Place;
    use crate::nn::windows::Slide;
    use crate::nn::{Convolving, Wanted};

    /// What the documentation of `cudnnConvolutionForward` and of its gradients says about cross-correlation, where addresses are indices of elements.
    fn interpret(asked: &Convolution, memory: &mut [f64]) {
        let Convolution { pass, x, kernel, y, padding, stride, dilation, groups, .. } = *asked;
        assert_eq!(
            (f64::from_bits(asked.alpha), f64::from_bits(asked.beta)),
            (1.0, f64::from(pass == Pass::BackwardData))
        );
        let at = |planes: Planes, index: [i32; 4]| {
            let offset: i32 = index.iter().zip(planes.strides).map(|(i, stride)| i * stride).sum();
            planes.address as usize / 8 + offset as usize
        };
        let written = match pass {
            Pass::Forward => y,
            Pass::BackwardData => x,
            Pass::BackwardFilter => kernel,
        };
        let all = |lengths: [i32; 4]| {
            let [a, b, c, d] = lengths;
            (0..a * b * c * d).map(move |i| [i / (b * c * d), i / (c * d) % b, i / d % c, i % d])
        };
        if pass != Pass::BackwardData {
            all(written.lengths).for_each(|index| memory[at(written, index)] = 0.0);
        }
        let [channels_out, channels_in, ..] = kernel.lengths;
        assert_eq!(channels_in * groups, x.lengths[1]);
        for [n, k, p, q] in all(y.lengths) {
            for [c, r, s] in
                all([1, channels_in, kernel.lengths[2], kernel.lengths[3]]).map(|[_, c, r, s]| [c, r, s])
            {
                let i = p * stride[0] + r * dilation[0] - padding[0];
                let j = q * stride[1] + s * dilation[1] - padding[1];
                if i < 0 || j < 0 || i >= x.lengths[2] || j >= x.lengths[3] {
                    continue;
                }
                let group = k / (channels_out / groups);
                let of_x = at(x, [n, group * channels_in + c, i, j]);
                let (of_kernel, of_y) = (at(kernel, [k, c, r, s]), at(y, [n, k, p, q]));
                match pass {
                    Pass::Forward => memory[of_y] += memory[of_x] * memory[of_kernel],
                    Pass::BackwardData => memory[of_x] += memory[of_y] * memory[of_kernel],
                    Pass::BackwardFilter => memory[of_kernel] += memory[of_x] * memory[of_y],
                }
            }
        }
    }

    /// Images with these strides behind what is in memory, filled with numbers.
    fn place(memory: &mut Vec<f64>, lengths: [usize; 4], strides: [isize; 4]) -> Place<f64> {
        let start = memory.len();
        let reach: isize = lengths.iter().zip(strides).map(|(n, stride)| (*n as isize - 1) * stride).sum();
        memory.extend((0..=reach).map(|i| ((7 * i + 3 * start as isize) % 11) as f64 - 5.0));
        Place::new(std::ptr::without_provenance_mut(8 * start), &lengths, &strides)
    }

    fn packed([_, b, c, d]: [usize; 4]) -> [isize; 4] {
        [b * c * d, c * d, d, 1].map(|stride| stride as isize)
    }

    fn slide(input: usize, window: usize, stride: usize, padding: usize, dilation: usize) -> Slide {
        Slide { input, window, stride, padding, dilation }
    }

    #[test]
    fn what_cudnn_is_asked_for_is_the_convolution() {
        let variants = [
            ([slide(5, 3, 1, 0, 1), slide(6, 2, 1, 0, 1)], 1),
            ([slide(6, 3, 2, 1, 1), slide(5, 2, 3, 2, 2)], 3),
            ([slide(3, 2, 1, 2, 3), slide(7, 3, 2, 3, 1)], 2),
        ];
        for (variant, (slides, groups)) in variants.into_iter().enumerate() {
            let (images, inward, outward) = (2, 2, 3);
            let [down, across] = slides;
            let mut memory = Vec::new();
            let of_x = [images, inward * groups, down.input, across.input];
            let of_kernel = [outward * groups, inward, down.window, across.window];
            let of_y = [images, outward * groups, down.places(), across.places()];
            // Channels innermost in one of them.
            let [_, c, h, w] = of_x.map(|n| n as isize);
            let strides = if variant == 1 { [c * h * w, 1, w * c, c] } else { packed(of_x) };
            let x = place(&mut memory, of_x, strides);
            let (kernel, y) =
                (place(&mut memory, of_kernel, packed(of_kernel)), place(&mut memory, of_y, packed(of_y)));
            for wanted in [Wanted::Output, Wanted::InputGradient, Wanted::KernelGradient] {
                let asked = request(&Convolving { wanted, x, kernel, y, slides, groups }).expect("images");
                let (mut found, mut expected) = (memory.clone(), memory.clone());
                interpret(&asked, &mut found);
                let at = |place: Place<f64>, index: [usize; 4]| {
                    let offset: isize =
                        index.iter().zip(place.strides).map(|(i, stride)| *i as isize * stride).sum();
                    place.start.addr() / 8 + offset as usize
                };
                let zeroed = match wanted {
                    Wanted::Output => Some((y, of_y)),
                    Wanted::KernelGradient => Some((kernel, of_kernel)),
                    Wanted::InputGradient => None,
                };
                if let Some((place, [a, b, c, d])) = zeroed {
                    ndarray::indices((a, b, c, d))
                        .into_iter()
                        .for_each(|(i, j, k, l)| expected[at(place, [i, j, k, l])] = 0.0);
                }
                for (n, o, (p, q)) in
                    ndarray::indices((images, outward * groups, down.places() * across.places()))
                        .into_iter()
                        .map(|(n, o, place)| (n, o, (place / across.places(), place % across.places())))
                {
                    for (c, i, j) in ndarray::indices((inward, down.window, across.window)) {
                        let (Some(row), Some(column)) = (down.meets(p, i), across.meets(q, j)) else {
                            continue;
                        };
                        let of_x = at(x, [n, o / outward * inward + c, row, column]);
                        let (of_kernel, of_y) = (at(kernel, [o, c, i, j]), at(y, [n, o, p, q]));
                        match wanted {
                            Wanted::Output => expected[of_y] += memory[of_x] * memory[of_kernel],
                            Wanted::InputGradient => expected[of_x] += memory[of_y] * memory[of_kernel],
                            Wanted::KernelGradient => expected[of_kernel] += memory[of_x] * memory[of_y],
                        }
                    }
                }
                assert!(found == expected, "variant {variant}, {wanted:?}");
            }
        }
    }

    #[test]
    fn what_cudnn_is_not_asked_for() {
        let slides = [slide(3, 2, 1, 0, 1); 2];
        let at = |lengths: [usize; 4], strides: [isize; 4]| {
            Place::<f32>::new(std::ptr::null_mut(), &lengths, &strides)
        };
        let (kernel, y) = (at([1, 1, 2, 2], [4, 4, 2, 1]), at([2, 1, 2, 2], [4, 4, 2, 1]));
        let asked =
            |x| request(&Convolving { wanted: Wanted::Output, x, kernel, y, slides, groups: 1 }).is_some();
        assert!(asked(at([2, 1, 3, 3], [9, 9, 3, 1])));
        // No images, one again and again, and more than it can count.
        assert!(!asked(at([0, 1, 3, 3], [9, 9, 3, 1])));
        assert!(!asked(at([2, 1, 3, 3], [0, 9, 3, 1])));
        assert!(!asked(at([2, 1, 3, 3], [1 << 40, 9, 3, 1])));
    }
}
