//! What cuBLASLt is asked for: products with something done to their result before it is stored.

use super::driver::{Ending, Gemm, LtMatmul};
use super::matrix::{columns, operand};
use super::run;
use crate::MatrixScalar;
use crate::fused::Real;
use crate::fused::operand::Place;
use crate::matrices::{Activation, Epilogue, Fused};

/// Addresses of vectors, and of what is left for the pullback, are multiples of this.
const ALIGNMENT: usize = 16;

/// What cuBLASLt is asked for, or `None` where it has no such product: it computes with single precision here, and takes rows of the
/// result, to which a vector belongs, to be without gaps between their elements.
pub(super) fn request<T: Real + MatrixScalar>(product: &Fused<'_, T>) -> Option<LtMatmul> {
    let Fused { a, b, beta, c, d, epilogue } = *product;
    let single = [a, b, c, d].iter().all(|stack| stack.shape().0 == 1 && stack.len() > 0);
    if size_of::<T>() != 4 || !single {
        return None;
    }
    let (_, rows, width) = d.shape();
    // By columns, as it sees them, a result that is stored by rows is Dᵀ = e(Bᵀ·Aᵀ + β·Cᵀ).
    let by_rows = columns(d.t()).zip(columns(c.t()));
    let (swapped, (leading_d, leading_c)) = match (by_rows, epilogue) {
        (Some(leading), _) => (true, leading),
        // Sums of rows of B do not depend on how the result is stored.
        (None, Epilogue::Sums(_)) => (false, columns(d).zip(columns(c))?),
        (None, _) => return None,
    };
    let (first, second) = if swapped { (b.t(), a.t()) } else { (a, b) };
    let (transposed_first, leading_first) = operand(first)?;
    let (transposed_second, leading_second) = operand(second)?;
    let vector = |place: Place<T>| packed(place, width);
    let (ending, bias, aux) = match epilogue {
        Epilogue::Bias(bias) => (Ending::Bias, vector(bias)?, None),
        Epilogue::Activation(Activation::Relu, bias, aside) => {
            (Ending::ReluAuxBias, vector(bias)?, Some(aside))
        }
        Epilogue::Activation(Activation::GeluTanh, bias, aside) => {
            (Ending::GeluAuxBias, vector(bias)?, Some(aside))
        }
        Epilogue::Through(Activation::Relu, sums, aside) => (Ending::DreluBgrad, vector(sums)?, Some(aside)),
        Epilogue::Through(Activation::GeluTanh, sums, aside) => {
            (Ending::DgeluBgrad, vector(sums)?, Some(aside))
        }
        Epilogue::Sums(sums) => (if swapped { Ending::Bgrada } else { Ending::Bgradb }, vector(sums)?, None),
    };
    let (aux, aux_leading) = match aux {
        None => (0, 0),
        Some(place) => {
            let elements = place.strides[0] as usize;
            let (leading, least) = match ending {
                // Bits.
                Ending::ReluAuxBias | Ending::DreluBgrad => (elements * 8 * size_of::<T>(), 128),
                _ => (elements, 8),
            };
            let fits = leading.is_multiple_of(least) && leading >= width && place.lengths[0] >= rows;
            (Some(aligned(place)?).filter(|_| fits)?, leading)
        }
    };
    let (_, m, k) = first.shape();
    let (_, _, n) = second.shape();
    Some(LtMatmul {
        gemm: Gemm {
            double: false,
            transposed: [transposed_first, transposed_second],
            m,
            n,
            k,
            alpha: run::bits(T::ONE),
            beta: run::bits(beta),
            starts: [first, second, c].map(|stack| stack.start(0).addr() as u64),
            leading: [leading_first, leading_second, leading_c],
            count: 1,
            apart: [0; 3],
        },
        result: d.start(0).addr() as u64,
        leading: leading_d,
        ending,
        vector: bias,
        aux,
        aux_leading,
    })
}

/// The address of a vector of that length without gaps.
fn packed<T>(place: Place<T>, length: usize) -> Option<u64> {
    let is_vector = place.axes > 0 && place.lengths().iter().product::<usize>() == length;
    let last = place.axes.checked_sub(1)?;
    let packed = place.lengths[last] == length && (place.strides[last] == 1 || length == 1);
    if is_vector && packed { aligned(place) } else { None }
}

fn aligned<T>(place: Place<T>) -> Option<u64> {
    place.start.addr().is_multiple_of(ALIGNMENT).then_some(place.start.addr() as u64)
}

impl LtMatmul {
    /// Of which a plan is made once: all but the addresses, of which it matters how they are aligned.
    pub(super) fn kind(self) -> LtMatmul {
        let alignment =
            |address: u64| if address == 0 { 0 } else { (1 << address.trailing_zeros()).min(256) };
        let [a, b, c] = self.gemm.starts.map(alignment);
        LtMatmul {
            gemm: Gemm { starts: [a, b, c], ..self.gemm },
            result: alignment(self.result),
            vector: alignment(self.vector),
            aux: alignment(self.aux),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::request;
    use crate::cuda::driver::{Ending, LtMatmul};
    use crate::fused::operand::Place;
    use crate::matrices::{Activation, Epilogue, Fused, Stack};

    /// Memory in which addresses are indices of elements: matrices and vectors are parts of it.
    struct Memory(Vec<f32>);

    impl Memory {
        /// A matrix with these strides, at a multiple of 16 bytes.
        fn matrix(
            &mut self,
            rows: usize,
            columns: usize,
            strides: [isize; 2],
            value: f32,
        ) -> Stack<'static, f32> {
            let place = self.place(&[rows, columns], &strides);
            for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                let at = index(place, i, j);
                self.0[at] = value + ((7 * i + 3 * j) % 5) as f32 - 2.0;
            }
            Stack::new(place)
        }

        fn place(&mut self, lengths: &[usize], strides: &[isize]) -> Place<f32> {
            let start = self.0.len().next_multiple_of(4);
            let reach: isize =
                lengths.iter().zip(strides).map(|(n, stride)| (*n as isize - 1) * stride).sum();
            self.0.resize(start + reach as usize + 1, f32::NAN);
            Place::new(std::ptr::without_provenance_mut(4 * start), lengths, strides)
        }
    }

    fn index(place: Place<f32>, i: usize, j: usize) -> usize {
        place.start.addr() / 4 + i * place.strides[0] as usize + j * place.strides[1] as usize
    }

    fn element(memory: &[f32], matrix: Stack<'_, f32>, i: usize, j: usize) -> f32 {
        let [_, down, along, ..] = matrix.place.strides;
        memory[matrix.start(0).addr() / 4 + i * down as usize + j * along as usize]
    }

    /// What the documentation of `cublasLtMatmul` and `cublasLtEpilogue_t` says, all by columns. Without a function of elements: the
    /// simulator has those.
    fn interpret(request: &LtMatmul, memory: &mut [f32]) {
        let LtMatmul { gemm, result, leading, ending, vector, .. } = *request;
        let [ta, tb] = gemm.transposed;
        let (rows_a, rows_b) = (if ta { gemm.k } else { gemm.m }, if tb { gemm.n } else { gemm.k });
        assert!(gemm.leading[0] >= rows_a && gemm.leading[1] >= rows_b, "it refuses others");
        assert!(gemm.leading[2] >= gemm.m && leading >= gemm.m, "it refuses others");
        let at = |memory: &[f32], which: usize, transposed: bool, row: usize, column: usize| {
            let (row, column) = if transposed { (column, row) } else { (row, column) };
            memory[gemm.starts[which] as usize / 4 + row + column * gemm.leading[which]]
        };
        let (alpha, beta) = (f32::from_bits(gemm.alpha as u32), f32::from_bits(gemm.beta as u32));
        let place = |i: usize| vector as usize / 4 + i;
        let old = memory.to_vec();
        for (i, j) in (0..gemm.m).flat_map(|i| (0..gemm.n).map(move |j| (i, j))) {
            let product = (0..gemm.k).map(|l| at(&old, 0, ta, i, l) * at(&old, 1, tb, l, j)).sum::<f32>();
            let mut s = alpha * product;
            if beta != 0.0 {
                s += beta * at(&old, 2, false, i, j);
            }
            if ending == Ending::Bias {
                s += old[place(i)];
            }
            memory[result as usize / 4 + i + j * leading] = s;
        }
        match ending {
            Ending::Bgrada => {
                (0..gemm.m).for_each(|i| memory[place(i)] = (0..gemm.k).map(|l| at(&old, 0, ta, i, l)).sum());
            }
            Ending::Bgradb => {
                (0..gemm.n).for_each(|j| memory[place(j)] = (0..gemm.k).map(|l| at(&old, 1, tb, l, j)).sum());
            }
            _ => {}
        }
    }

    /// By rows and by columns, with gaps and without.
    fn layouts(rows: usize, columns: usize) -> [[isize; 2]; 4] {
        let (r, c) = (rows as isize, columns as isize);
        [[c, 1], [1, r], [c + 3, 1], [1, r + 1]]
    }

    #[test]
    fn what_cublaslt_is_asked_for_is_the_product() {
        let mut asked = [0; 3];
        for ([m, n, k], number) in [[2, 3, 4], [5, 1, 2], [1, 4, 3], [3, 2, 1]]
            .into_iter()
            .flat_map(|s| (0..256).map(move |i| (s, i)))
        {
            let [of_a, of_b, of_c, of_d] = [number % 4, number / 4 % 4, number / 16 % 4, number / 64];
            for (sums, beta) in [(false, 0.0), (false, 0.5), (true, 1.0)] {
                let mut memory = Memory(Vec::new());
                let a = memory.matrix(m, k, layouts(m, k)[of_a], 1.0);
                let b = memory.matrix(k, n, layouts(k, n)[of_b], 2.0);
                let c = memory.matrix(m, n, layouts(m, n)[of_c], 3.0);
                let d = memory.matrix(m, n, layouts(m, n)[of_d], 4.0);
                let vector = Stack::new(memory.matrix(1, n, [n as isize, 1], 5.0).place);
                let place = Place::new(vector.start(0), &[n], &[1]);
                let epilogue = if sums { Epilogue::Sums(place) } else { Epilogue::Bias(place) };
                let Some(request) = request(&Fused { a, b, beta, c, d, epilogue }) else { continue };
                let mut found = memory.0.clone();
                interpret(&request, &mut found);
                let mut expected = memory.0.clone();
                for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let product: f32 =
                        (0..k).map(|l| element(&memory.0, a, i, l) * element(&memory.0, b, l, j)).sum();
                    let bias = if sums { 0.0 } else { element(&memory.0, vector, 0, j) };
                    let [_, down, along, ..] = d.place.strides;
                    let at = d.start(0).addr() / 4 + i * down as usize + j * along as usize;
                    expected[at] = product + beta * element(&memory.0, c, i, j) + bias;
                }
                for j in (0..n).filter(|_| sums) {
                    expected[vector.start(0).addr() / 4 + j] =
                        (0..k).map(|l| element(&memory.0, b, l, j)).sum();
                }
                for (found, expected) in found.iter().zip(&expected) {
                    let same = found == expected || found.is_nan() && expected.is_nan();
                    assert!(same, "{m} {n} {k}, {number}, {sums}: {found} instead of {expected}");
                }
                asked[match request.ending {
                    Ending::Bias => 0,
                    Ending::Bgrada => 1,
                    _ => 2,
                }] += 1;
            }
        }
        assert!(asked.iter().all(|count| *count > 100), "{asked:?} have been asked for");
    }

    /// Matrices without gaps, Y by rows; and which of the epilogues there is.
    fn asked(
        rows: usize,
        columns: usize,
        change: impl Fn(&mut Fused<'static, f32>),
        of: Option<Activation>,
    ) -> Option<LtMatmul> {
        let mut memory = Memory(Vec::new());
        let (a, b) =
            (memory.matrix(rows, 4, [4, 1], 1.0), memory.matrix(4, columns, [columns as isize, 1], 2.0));
        let d = memory.matrix(rows, columns, [columns as isize, 1], 3.0);
        let vector = memory.place(&[columns], &[1]);
        let epilogue = match of {
            None => Epilogue::Bias(vector),
            Some(activation) => {
                let shape = Epilogue::<f32>::aside(activation, rows, columns);
                let aside = memory.place(&shape, &[shape[1] as isize, 1]);
                Epilogue::Activation(activation, vector, aside)
            }
        };
        let mut product = Fused { a, b, beta: 0.0, c: d, d, epilogue };
        change(&mut product);
        request(&product)
    }

    /// A bit for each element in columns of 128 at least, or numbers in columns of 8.
    #[test]
    fn what_is_left_for_the_gradient() {
        let relu = |rows, columns| {
            asked(rows, columns, |_| {}, Some(Activation::Relu)).expect("any number of columns")
        };
        assert_eq!((relu(3, 5).ending, relu(3, 5).aux_leading), (Ending::ReluAuxBias, 128));
        assert_eq!((relu(3, 128).aux_leading, relu(2, 129).aux_leading), (128, 256));
        let gelu = |columns| asked(3, columns, |_| {}, Some(Activation::GeluTanh));
        assert_eq!(
            gelu(16).map(|request| (request.ending, request.aux_leading)),
            Some((Ending::GeluAuxBias, 16))
        );
        assert_eq!(gelu(12), None);
    }

    #[test]
    fn what_there_is_no_epilogue_for() {
        let usual = |change: &dyn Fn(&mut Fused<'static, f32>)| asked(4, 8, change, None).is_some();
        assert!(usual(&|_| {}));
        let vector = |product: &Fused<'static, f32>| match product.epilogue {
            Epilogue::Bias(vector) => vector,
            _ => unreachable!("a bias was asked for"),
        };
        // One for all columns, one that begins in between, one with gaps.
        assert!(!usual(&|p| p.epilogue = Epilogue::Bias(Place { lengths: [1; 6], ..vector(p) })));
        assert!(!usual(
            &|p| p.epilogue = Epilogue::Bias(Place { start: vector(p).start.wrapping_add(1), ..vector(p) })
        ));
        assert!(!usual(&|p| p.epilogue = Epilogue::Bias(Place { strides: [2, 0, 0, 0, 0, 0], ..vector(p) })));
        // A result by columns, and operands with gaps along both axes.
        assert!(!usual(&|p| p.d.place.strides = [0, 1, 4, 0, 0, 0]));
        assert!(!usual(&|p| p.a.place.strides = [0, 16, 2, 0, 0, 0]));
        // Nothing to multiply, and more than one product.
        assert!(!usual(&|p| p.a.place.lengths[2] = 0));
        assert!(!usual(&|p| p.d.place.lengths[0] = 2));
    }

    /// A plan serves other places that are aligned as well as the first, and no others.
    #[test]
    fn kinds_of_products() {
        let request = asked(4, 8, |_| {}, None).expect("the usual");
        let moved = |by: u64| LtMatmul { result: request.result + by, ..request }.kind();
        let aligned = LtMatmul { result: 1 << 20, ..request };
        assert_eq!(aligned.kind(), LtMatmul { result: 3 << 20, ..request }.kind());
        assert!(moved(4) != aligned.kind() && moved(4) != request.kind());
    }
}
