//! What layers do beside products and fused functions: windows over images, and random numbers, on a device.

use ndarray::{Ix3, Ix4};

use super::array::{Backup, DeviceArray, DeviceRef};
use super::device::{Device, State};
use super::driver::{Convolution, PlannedConvolution};
use super::planning::Planning;
use super::source::THREADS;
use super::{Error, convolution, run, source};
use crate::MatrixScalar;
use crate::fused::Real;
use crate::fused::operand::{MOST_AXES, Owner, Place};
use crate::heap::heap_size;
use crate::nn::generic::{Images, LayerMemory};
use crate::nn::windows::Slide;
use crate::nn::{Convolving, Pool, Task};

/// A thread goes from element to element; the value of the element at `n, c, i, j` is `value`.
struct ElementKernel {
    name: &'static str,
    body: &'static str,
}

const ARGUMENTS: &str = "struct Arguments {
    T *to;
    const T *from, *other;
    long long lengths[6], to_strides[6], from_strides[6], other_strides[6];
    long long window[2], stride[2], padding[2], dilation[2], places[2], input[2];
    alignas(8) T factor, rate;
    unsigned long long seed, draw;
};
";

const BEGIN: &str = "const long long count = a.lengths[0] * a.lengths[1] * a.lengths[2] * a.lengths[3] * a.lengths[4] * a.lengths[5];
for (long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x; e < count; e += (long long)gridDim.x * blockDim.x) {
long long at[6], rest = e, to = 0;
for (int axis = 5; axis >= 0; --axis) {
    at[axis] = rest % a.lengths[axis];
    rest /= a.lengths[axis];
    to += at[axis] * a.to_strides[axis];
}
const long long n = at[0], c = at[1], i = at[2], j = at[3];
T value = 0;
";

static UNFOLD: ElementKernel = ElementKernel {
    name: "unfold",
    body: "const long long down = j / a.places[1] * a.stride[0] + i / a.window[1] * a.dilation[0] - a.padding[0];
const long long across = j % a.places[1] * a.stride[1] + i % a.window[1] * a.dilation[1] - a.padding[1];
if (down >= 0 && down < a.input[0] && across >= 0 && across < a.input[1])
    value = a.from[n * a.from_strides[0] + c * a.from_strides[1] + down * a.from_strides[2] + across * a.from_strides[3]];
",
};

static FOLD: ElementKernel = ElementKernel {
    name: "fold",
    body: "for (long long u = 0; u < a.window[0]; ++u) {
    const long long down = i + a.padding[0] - u * a.dilation[0];
    if (down < 0 || down % a.stride[0] != 0 || down / a.stride[0] >= a.places[0]) continue;
    for (long long v = 0; v < a.window[1]; ++v) {
        const long long across = j + a.padding[1] - v * a.dilation[1];
        if (across < 0 || across % a.stride[1] != 0 || across / a.stride[1] >= a.places[1]) continue;
        value += a.from[n * a.from_strides[0] + c * a.from_strides[1] + (u * a.window[1] + v) * a.from_strides[2]
            + (down / a.stride[0] * a.places[1] + across / a.stride[1]) * a.from_strides[3]];
    }
}
",
};

static MEAN: ElementKernel = ElementKernel {
    name: "mean_pool",
    body: "const long long first_down = i * a.stride[0] - a.padding[0], first_across = j * a.stride[1] - a.padding[1];
for (long long u = 0; u < a.window[0]; ++u) {
    const long long down = first_down + u;
    if (down < 0 || down >= a.input[0]) continue;
    for (long long v = 0; v < a.window[1]; ++v) {
        const long long across = first_across + v;
        if (across < 0 || across >= a.input[1]) continue;
        value += a.from[n * a.from_strides[0] + c * a.from_strides[1] + down * a.from_strides[2] + across * a.from_strides[3]];
    }
}
value /= (T)(a.window[0] * a.window[1]);
",
};

static PULL_MEAN: ElementKernel = ElementKernel {
    name: "pull_mean_pool",
    body: "for (long long u = 0; u < a.window[0]; ++u) {
    const long long down = i + a.padding[0] - u;
    if (down < 0 || down % a.stride[0] != 0 || down / a.stride[0] >= a.places[0]) continue;
    for (long long v = 0; v < a.window[1]; ++v) {
        const long long across = j + a.padding[1] - v;
        if (across < 0 || across % a.stride[1] != 0 || across / a.stride[1] >= a.places[1]) continue;
        value += a.from[n * a.from_strides[0] + c * a.from_strides[1] + down / a.stride[0] * a.from_strides[2]
            + across / a.stride[1] * a.from_strides[3]] / (T)(a.window[0] * a.window[1]);
    }
}
",
};

/// The first one of those that are largest, or the first NaN: `best_down`, `best_across`.
const LARGEST: &str = "long long best_down = -1, best_across = -1;
T largest = 0;
for (long long u = 0; u < a.window[0]; ++u) {
    const long long row = place_down * a.stride[0] - a.padding[0] + u;
    if (row < 0 || row >= a.input[0]) continue;
    for (long long v = 0; v < a.window[1]; ++v) {
        const long long column = place_across * a.stride[1] - a.padding[1] + v;
        if (column < 0 || column >= a.input[1]) continue;
        const T x = X[n * X_STRIDES[0] + c * X_STRIDES[1] + row * X_STRIDES[2] + column * X_STRIDES[3]];
        if (best_down < 0 || x > largest || (x != x && largest == largest)) {
            largest = x;
            best_down = row;
            best_across = column;
        }
    }
}
";

/// The number that belongs to element `e`, row by row: of its words of Philox's, each block of which has four.
static DROP: ElementKernel = ElementKernel {
    name: "drop",
    body: "T u;
if (sizeof(T) == 4) {
    u = (T)(pb_random(a.seed, a.draw, (unsigned long long)e) >> 8) * (T)(1.0 / 16777216);
} else {
    const unsigned long long low = pb_random(a.seed, a.draw, 2 * (unsigned long long)e);
    const unsigned long long high = pb_random(a.seed, a.draw, 2 * (unsigned long long)e + 1);
    u = (T)((high << 32 | low) >> 11) * (T)(1.0 / 9007199254740992);
}
if (!(u < a.rate)) {
    long long from = 0;
    for (int axis = 0; axis < 6; ++axis) from += at[axis] * a.from_strides[axis];
    value = a.from[from] * a.factor;
}
",
};

static CAUSAL: ElementKernel = ElementKernel {
    name: "causal",
    body: "if (c + a.lengths[0] > n + a.lengths[1]) value = -(T)PB_INFINITY;\n",
};

/// Philox-4×32-10, as [`crate::random`] describes it.
const RANDOM: &str = "__device__ inline unsigned pb_random(unsigned long long seed, unsigned long long draw, unsigned long long word) {
    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
    const unsigned long long block = word / 4;
    unsigned x0 = (unsigned)block, x1 = (unsigned)(block >> 32), x2 = (unsigned)draw, x3 = (unsigned)(draw >> 32);
    for (int round = 0; round < 10; ++round) {
        const unsigned high0 = __umulhi(0xd2511f53u, x0), low0 = 0xd2511f53u * x0;
        const unsigned high1 = __umulhi(0xcd9e8d57u, x2), low1 = 0xcd9e8d57u * x2;
        x0 = high1 ^ x1 ^ k0;
        x1 = low1;
        x2 = high0 ^ x3 ^ k1;
        x3 = low0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    const unsigned which = (unsigned)(word % 4);
    return which == 0 ? x0 : which == 1 ? x1 : which == 2 ? x2 : x3;
}
";

/// The text of a kernel for the largest element of a window, which is at `x` with the strides `strides`.
fn largest(x: &str, strides: &str, before: &str, after: &str) -> String {
    [before, &LARGEST.replace("X_STRIDES", strides).replace('X', x), after].concat()
}

fn body<T>(task: &Task<T>) -> (&'static str, String) {
    let kernel = match task {
        Task::Unfold(..) => &UNFOLD,
        Task::Fold(..) => &FOLD,
        Task::Pool(Pool::Mean, ..) => &MEAN,
        Task::PullPool(Pool::Mean, ..) => &PULL_MEAN,
        Task::Drop { .. } => &DROP,
        Task::Causal => &CAUSAL,
        Task::Pool(Pool::Max, ..) => {
            let begin = "const long long place_down = i, place_across = j;\n";
            return ("max_pool", largest("a.from", "a.from_strides", begin, "value = largest;\n"));
        }
        Task::PullPool(Pool::Max, ..) => {
            let begin = "for (long long w = 0; w < a.window[0]; ++w) {
    const long long down = i + a.padding[0] - w, place_down = down / a.stride[0];
    if (down < 0 || down % a.stride[0] != 0 || place_down >= a.places[0]) continue;
    for (long long z = 0; z < a.window[1]; ++z) {
        const long long across = j + a.padding[1] - z, place_across = across / a.stride[1];
        if (across < 0 || across % a.stride[1] != 0 || place_across >= a.places[1]) continue;
";
            let end = "if (best_down == i && best_across == j)
            value += a.from[n * a.from_strides[0] + c * a.from_strides[1] + place_down * a.from_strides[2] + place_across * a.from_strides[3]];
    }
}
";
            return ("pull_max_pool", largest("a.other", "a.other_strides", begin, end));
        }
    };
    (kernel.name, kernel.body.to_owned())
}

/// As many blocks keep a device busy.
const MOST_BLOCKS: usize = 1 << 16;

fn start<T: Real>(device: &Device, to: Place<T>, adds: bool, task: Task<T>) -> Result<(), Error> {
    let count: usize = to.lengths().iter().product();
    if count == 0 {
        return Ok(());
    }
    let nothing = [Slide { input: 1, window: 1, stride: 1, padding: 0, dilation: 1 }; 2];
    let (from, other, slides) = match task {
        Task::Unfold(from, slides) | Task::Fold(from, slides) | Task::Pool(_, from, slides) => {
            (Some(from), None, slides)
        }
        Task::PullPool(_, from, other, slides) => (Some(from), Some(other), slides),
        Task::Drop { from, .. } => (Some(from), None, nothing),
        Task::Causal => (None, None, nothing),
    };
    let elsewhere = |place: &Place<T>| {
        place.lengths().iter().all(|n| *n > 0) && place.owner != Owner::Device(device.identity())
    };
    if [Some(to), from, other].iter().flatten().any(elsewhere) {
        return Err(Error::OtherDevice);
    }
    let (kernel, text) = body(&task);
    let ty = if size_of::<T>() == 4 { "float" } else { "double" };
    let name = format!("pb_{kernel}_{}{ty}", if adds { "adding_" } else { "" });
    let mut state = device.state();
    let State { kernels, words, .. } = &mut *state;
    let compiled = run::kernel(device, kernels, &name, || {
        let end = if adds { "a.to[to] = a.to[to] + value;\n}\n" } else { "a.to[to] = value;\n}\n" };
        let declarations = format!("typedef {ty} T;\n{ARGUMENTS}{RANDOM}");
        source::kernel(&name, &declarations, &[BEGIN, &text, end].concat())
    })?;
    words.clear();
    let address = |place: Option<Place<T>>| place.map_or(0, |place| place.start.addr() as u64);
    words.extend([address(Some(to)), address(from), address(other)]);
    words.extend(to.lengths.map(|n| n as u64));
    for place in [Some(to), from, other] {
        words.extend(place.map_or([0; MOST_AXES], |place| place.strides).map(|stride| stride as u64));
    }
    for number in [
        |slide: Slide| slide.window,
        |slide: Slide| slide.stride,
        |slide: Slide| slide.padding,
        |slide: Slide| slide.dilation,
        |slide: Slide| slide.places(),
        |slide: Slide| slide.input,
    ] {
        words.extend(slides.map(|slide| number(slide) as u64));
    }
    words.extend(match task {
        Task::Drop { factor, rate, seed, draw, .. } => [run::bits(factor), run::bits(rate), seed, draw],
        _ => [0; 4],
    });
    let blocks = count.div_ceil(THREADS).min(MOST_BLOCKS) as u32;
    device.after_all()?.launch(compiled, (blocks, 1), (THREADS as u32, 1), words)
}

macro_rules! images {
    ($($array:ident)*) => {$(
        impl<T: Real + MatrixScalar> Images<T, 1> for $array<T, Ix3> {}
        impl<T: Real + MatrixScalar> Images<T, 2> for $array<T, Ix4> {}
    )*};
}
images! { DeviceRef DeviceArray }

/// What convolutions of one shape keep.
#[derive(Default)]
pub struct ConvolutionPlan {
    workspace: Backup,
    plans: Planning<Convolution, dyn PlannedConvolution>,
}

heap_size! { [] ConvolutionPlan { workspace } }

impl LayerMemory for Device {
    type Plan = ConvolutionPlan;

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn convolve<T: Real + MatrixScalar>(
        &self,
        plan: &mut ConvolutionPlan,
        asked: &Convolving<T>,
    ) -> bool {
        let Some(request) = convolution::request(asked) else { return false };
        let find = || self.driver().plan_convolution(&request);
        let Some(planned) = plan.plans.of(self, request.kind(), find) else { return false };
        self.check([asked.x, asked.kernel, asked.y]);
        let workspace = plan.workspace.room(self, planned.workspace());
        let _turn = self.after_all().unwrap_or_else(run::failed);
        planned.run(&request, workspace).unwrap_or_else(run::failed);
        true
    }

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn each<T: Real + MatrixScalar>(&self, to: Place<T>, adds: bool, task: Task<T>) {
        start(self, to, adds, task).unwrap_or_else(run::failed);
    }
}
