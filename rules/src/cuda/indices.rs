//! Indices of rows on a device.

use super::device::{Buffer, Device, State};
use super::source::THREADS;
use super::{Arguments, Error, run, source};
use crate::fused::Real;
use crate::fused::operand::{Owner, Place};
use crate::nn::generic::Indices;

/// Indices of rows on a device, for [`embedding`](fn@crate::nn::generic::embedding).
///
/// They are below a number of rows that is given once for all, so that not even a gradient that is one graph ever reads what is not there. Beside the
/// indices their order is kept, the positions of each index next to each other: what comes to the same row is added up in that order, in parts.
///
/// ```
/// use pullback_rules::cuda::{Device, DeviceIndices};
///
/// # fn run() -> Result<(), pullback_rules::cuda::Error> {
/// let device = Device::new(0)?;
/// let mut indices = DeviceIndices::new(&device, &[2, 0, 2], 5)?;
/// indices.copy_from(&[4, 4, 1])?;
/// assert!(indices.copy_from(&[4, 4, 5]).is_err());
/// # Ok(())
/// # }
/// # let _ = run();
/// ```
#[derive(Debug)]
pub struct DeviceIndices {
    buffer: Buffer,
    rows: usize,
    count: usize,
    /// Memory that is used again: the order, and what is sent to the device.
    order: Vec<usize>,
    words: Vec<u8>,
}

impl DeviceIndices {
    /// The `indices` on `device`, all of them less than `rows`.
    ///
    /// # Errors
    /// [`Error::Index`] if one is not, [`Error::Driver`] if the device fails.
    pub fn new(device: &Device, indices: &[usize], rows: usize) -> Result<Self, Error> {
        let count = indices.len();
        let buffer = Buffer::new(device, 2 * count * size_of::<u64>())?;
        let mut this = DeviceIndices { buffer, rows, count, order: Vec::new(), words: Vec::new() };
        this.copy_from(indices)?;
        Ok(this)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Other indices in their place, as many and below the same number.
    ///
    /// # Errors
    /// [`Error::Index`] if one is not, [`Error::Shape`] if there are more or fewer, [`Error::Driver`] if the device fails.
    pub fn copy_from(&mut self, indices: &[usize]) -> Result<(), Error> {
        let DeviceIndices { buffer, rows, count, order, words } = self;
        if indices.len() != *count {
            return Err(Error::Shape { expected: vec![*count], found: vec![indices.len()] });
        }
        if let Some(index) = indices.iter().copied().find(|index| index >= rows) {
            return Err(Error::Index { index, rows: *rows });
        }
        order.clear();
        order.extend(0..*count);
        order.sort_unstable_by_key(|i| (indices[*i], *i));
        words.clear();
        words.extend(indices.iter().chain(&*order).flat_map(|word| (*word as u64).to_le_bytes()));
        if *count > 0 {
            buffer.device().upload(buffer.address(), words)?;
        }
        Ok(())
    }

    /// A thread for each column of each of so many rows of *y* at a time, 32 next to each other.
    fn start<T: Real>(
        &self,
        kernels: &[&RowKernel],
        at_a_time: usize,
        y: Place<T>,
        table: Place<T>,
    ) -> Result<(), Error> {
        let device = self.buffer.device();
        let [rows, columns, ..] = y.lengths;
        if rows == 0 || columns == 0 {
            return Ok(());
        }
        if [y, table].iter().any(|place| place.owner != Owner::Device(device.identity())) {
            return Err(Error::OtherDevice);
        }
        let (ty, precision) = if size_of::<T>() == 4 { ("float", 0) } else { ("double", 1) };
        let mut state = device.state();
        let State { kernels: compiled, words, scratch, .. } = &mut *state;
        let parts = rows.div_ceil(at_a_time);
        // What parts leave: two sums each, of which there are none if each row is one.
        let sums = if at_a_time == 1 { 0 } else { 2 * parts * columns * size_of::<T>() };
        let sums = scratch.places(device, [0, 0, 0, sums])?.partials;
        words.clear();
        words.extend([y, table].map(|place| place.start.addr() as u64));
        words.extend([self.buffer.address(), sums, rows as u64, columns as u64]);
        words.extend([y, table].iter().flat_map(|place| &place.strides[..2]).map(|stride| *stride as u64));
        let block = (32, THREADS as u32 / 32);
        let blocks = |length: usize, threads: u32| length.div_ceil(threads as usize);
        let down = u32::try_from(blocks(parts, block.1)).expect("fewer rows than memory has room for");
        // The device takes no more along this axis: threads go on to further columns.
        let along = blocks(columns, block.0).min(65535) as u32;
        for kernel in kernels {
            let name = kernel.names[precision];
            let compiled = run::kernel(device, compiled, name, || {
                let declarations = format!("typedef {ty} T;\nenum {{ PART = {PART} }};\n{ARGUMENTS}");
                source::kernel(name, &declarations, kernel.body)
            })?;
            device.after_all()?.launch(compiled, (down, along), block, words)?;
        }
        Ok(())
    }
}

/// A kernel for single and double precision.
struct RowKernel {
    names: [&'static str; 2],
    body: &'static str,
}

const ARGUMENTS: &str = "struct Arguments {
    T *y;
    T *table;
    const unsigned long long *indices;
    T *sums;
    long long rows, columns, y_down, y_along, table_down, table_along;
};
";

static GATHER: RowKernel = RowKernel {
    names: ["pb_gather_float", "pb_gather_double"],
    body: "const long long i = (long long)blockIdx.x * blockDim.y + threadIdx.y;
if (i >= a.rows) return;
const T *const row = a.table + (long long)a.indices[i] * a.table_down;
for (long long j = (long long)blockIdx.y * 32 + threadIdx.x; j < a.columns; j += (long long)gridDim.y * 32)
    a.y[i * a.y_down + j * a.y_along] = row[j * a.table_along];
",
};

/// Behind the indices stands their order, which is gone through in parts. What comes to a row of the table within one part is added there; of a row
/// that goes on into other parts each part leaves a sum, for [`JOIN`].
static SCATTER: RowKernel = RowKernel {
    names: ["pb_scatter_float", "pb_scatter_double"],
    body: "const unsigned long long *const order = a.indices + a.rows;
const long long part = (long long)blockIdx.x * blockDim.y + threadIdx.y, first = part * PART;
if (first >= a.rows) return;
const long long end = first + PART < a.rows ? first + PART : a.rows;
for (long long j = (long long)blockIdx.y * 32 + threadIdx.x; j < a.columns; j += (long long)gridDim.y * 32) {
    for (long long k = first; k < end;) {
        const unsigned long long index = a.indices[order[k]];
        const bool before = k == first && k > 0 && a.indices[order[k - 1]] == index;
        const bool after = end < a.rows && a.indices[order[end]] == index;
        T *const row = a.table + (long long)index * a.table_down + j * a.table_along;
        T total = before || after ? (T)0 : *row;
        for (; k < end && a.indices[order[k]] == index; ++k) total += a.y[(long long)order[k] * a.y_down + j * a.y_along];
        if (before) a.sums[2 * part * a.columns + j] = total;
        else if (after) a.sums[(2 * part + 1) * a.columns + j] = total;
        else *row = total;
    }
}
",
};

/// Where a row of the table begins that goes on into other parts, the threads add up what these have left.
static JOIN: RowKernel = RowKernel {
    names: ["pb_join_float", "pb_join_double"],
    body: "const unsigned long long *const order = a.indices + a.rows;
const long long part = (long long)blockIdx.x * blockDim.y + threadIdx.y, first = part * PART;
long long end = first + PART;
if (end >= a.rows || a.indices[order[end]] != a.indices[order[end - 1]]) return;
const unsigned long long index = a.indices[order[end]];
if (first > 0 && a.indices[order[first - 1]] == index) return;
T *const row = a.table + (long long)index * a.table_down;
for (long long j = (long long)blockIdx.y * 32 + threadIdx.x; j < a.columns; j += (long long)gridDim.y * 32) {
    T total = row[j * a.table_along] + a.sums[(2 * part + 1) * a.columns + j];
    for (long long next = part + 1; next * PART < a.rows && a.indices[order[next * PART]] == index; ++next)
        total += a.sums[2 * next * a.columns + j];
    row[j * a.table_along] = total;
}
",
};

/// How many indices make a part: what one thread adds up in turn, before another one adds up the parts.
const PART: usize = 32;

impl Indices for DeviceIndices {
    type Memory = Device;

    fn count(&self) -> usize {
        self.count
    }
    fn check(&self, rows: usize) {
        let below = self.rows;
        assert!(below <= rows, "embedding: the indices are among {below} rows, and the table has {rows}");
    }
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn gather<T: Real>(&self, y: Place<T>, table: Place<T>) {
        self.start(&[&GATHER], 1, y, table).unwrap_or_else(run::failed);
    }
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn scatter<T: Real>(&self, table: Place<T>, y: Place<T>) {
        self.start(&[&SCATTER, &JOIN], PART, y, table).unwrap_or_else(run::failed);
    }
}

/// Not what they are: recorded work takes whatever is there.
impl Arguments for DeviceIndices {
    fn describe(&self, words: &mut Vec<u64>) {
        words.extend([self.buffer.address(), self.count as u64, self.rows as u64]);
    }
}
