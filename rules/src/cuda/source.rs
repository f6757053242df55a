//! The text of kernels: what the macro wrote for an element, in loops for the shapes at hand.
//!
//! What the text depends on is the number of axes, which strides are 0 or 1, whether elements can be loaded several at a time, and
//! whether 32 bits suffice to count them. Lengths and other strides are arguments.

use std::fmt::Write;

use super::plan::{Field, Word};
use crate::fused::{Reduction, Text};

/// Number of threads in each block.
pub(super) const THREADS: usize = 256;
/// How many columns a block works on side by side.
const COLUMNS: usize = 32;

/// The arrays of a call, and the axes that they have together.
pub(super) struct Space {
    pub(super) lengths: Vec<usize>,
    /// Of each array: the operands, the results, [`Space::result`] and [`Space::row`].
    pub(super) strides: Vec<Vec<isize>>,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// How many axes run across rows. Those behind run along them.
    pub(super) outer: usize,
}

impl Space {
    /// The array with the value of each row.
    pub(super) fn result(&self) -> usize {
        self.inputs + self.outputs
    }

    /// The number of the row, as if it were an array.
    pub(super) fn row(&self) -> usize {
        self.result() + 1
    }

    pub(super) fn count(&self, axes: &[usize]) -> usize {
        axes.iter().map(|axis| self.lengths[*axis]).product()
    }
}

/// Where the threads are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Across {
    /// A warp for each place, eight in a block.
    Warp,
    /// A block for each place.
    Block,
    /// 32 places next to each other in a block, eight threads for each.
    Columns,
}

impl Across {
    pub(super) fn block(self) -> (u32, u32) {
        match self {
            Across::Warp | Across::Columns => (32, 8),
            Across::Block => (THREADS as u32, 1),
        }
    }

    /// How many places a block works on.
    pub(super) fn places(self) -> usize {
        match self {
            Across::Warp => THREADS / 32,
            Across::Block => 1,
            Across::Columns => COLUMNS,
        }
    }

    /// How many threads share a place.
    pub(super) fn lanes(self) -> usize {
        THREADS / self.places()
    }

    /// The number of this thread's place in the block, and the thread's among those that share it.
    fn position(self) -> (&'static str, &'static str) {
        match self {
            Across::Warp => ("threadIdx.y", "threadIdx.x"),
            Across::Block => ("0", "threadIdx.x"),
            Across::Columns => ("threadIdx.x", "threadIdx.y"),
        }
    }

    fn function(self) -> &'static str {
        match self {
            Across::Warp => "pb_warp",
            Across::Block => "pb_block",
            Across::Columns => "pb_column",
        }
    }
}

/// Where a kernel finds the numbers of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// What was given, out of which others are computed.
    Given,
    /// All of them in memory.
    Kept,
}

/// What a thread does with an element beside what it writes.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// How the sum is called, what is added and how.
    pub(super) parts: Vec<(String, Reduction)>,
}

/// The text of one kernel in the making.
pub(super) struct Writer<'a> {
    pub(super) text: &'static Text,
    pub(super) space: &'a Space,
    pub(super) double: bool,
    pub(super) wide: bool,
    /// How many numbers of each row are kept for the pullback,
    pub(super) kept: usize,
    /// which has them given.
    pub(super) pulls: bool,
    /// Where the gradient with respect to a row's value is, in a pullback.
    pub(super) seed: Option<Seed>,
    /// Whether what is computed for a result is added to what is there.
    pub(super) adds: Vec<bool>,
    pub(super) fields: Vec<Field>,
    pub(super) body: String,
}

/// How the gradient with respect to a row's value comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Seed {
    Array,
    Number,
}

macro_rules! line {
    ($writer:expr, $($format:tt)*) => {{
        let line = format!($($format)*);
        $writer.body.push_str(&line);
        $writer.body.push('\n');
    }};
}
pub(super) use line;

impl Writer<'_> {
    /// An argument: its name in the text.
    fn argument(&mut self, name: String, ty: &'static str, word: Word) -> String {
        if !self.fields.iter().any(|field| field.name == name) {
            self.fields.push(Field { name: name.clone(), ty, word });
        }
        format!("a.{name}")
    }

    /// An integer, which is a variable of the same name in the kernel.
    pub(super) fn integer(&mut self, name: String, value: i64) -> String {
        self.argument(name.clone(), "long long", Word::Value(value as u64));
        name
    }

    pub(super) fn pointer(&mut self, name: &str, word: Word) -> String {
        self.argument(name.to_owned(), "T *", word)
    }

    pub(super) fn counters(&mut self) -> String {
        self.argument("counters".to_owned(), "unsigned *", Word::Counters)
    }

    fn length(&mut self, axis: usize, divisor: usize) -> String {
        let length = self.space.lengths[axis] / divisor;
        self.integer(if divisor == 1 { format!("n{axis}_") } else { format!("n{axis}_v") }, length as i64)
    }

    /// The elements of `array`.
    pub(super) fn array(&mut self, array: usize) -> String {
        let space = self.space;
        let name = match array {
            _ if array < space.inputs => format!("x{array}"),
            _ if array < space.result() => format!("d{}", array - space.inputs),
            _ => "z".to_owned(),
        };
        self.pointer(&name, Word::Array(array))
    }

    /// Declares how far away step `variable` along `axes` is in each array, as `o{array}_{name}`. The innermost axis goes in steps of
    /// `step`.
    pub(super) fn offsets(&mut self, axes: &[usize], variable: &str, name: &str, step: usize) {
        let mut rest = variable.to_owned();
        for (i, axis) in axes.iter().enumerate().rev() {
            let step = if i + 1 == axes.len() { step } else { 1 };
            let scale = if step == 1 { String::new() } else { format!(" * {step}") };
            if i == 0 {
                line!(self, "const index c{axis} = ({rest}){scale};");
                break;
            }
            let length = self.length(*axis, step);
            let quotient = if self.wide {
                format!("{rest} / {length}")
            } else {
                let (m, s) = magic((self.space.lengths[*axis] / step) as u32);
                let m = self.integer(format!("{length}m"), i64::from(m));
                let s = self.integer(format!("{length}s"), i64::from(s));
                format!("pb_quotient({rest}, (unsigned){m}, (unsigned){s})")
            };
            line!(self, "const index q{axis} = {quotient};");
            line!(self, "const index c{axis} = ({rest} - q{axis} * {length}){scale};");
            rest = format!("q{axis}");
        }
        for array in 0..self.space.strides.len() {
            let mut terms = Vec::new();
            for axis in axes {
                match self.space.strides[array][*axis] {
                    0 => {}
                    1 => terms.push(format!("c{axis}")),
                    stride => {
                        let stride = self.integer(format!("t{array}_{axis}"), stride as i64);
                        terms.push(format!("c{axis} * {stride}"));
                    }
                }
            }
            let terms = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
            line!(self, "const index o{array}_{name} = {terms};");
        }
    }

    /// Declares the numbers of a row.
    pub(super) fn numbers(&mut self, known: Known, offset: &str) {
        let slots = self.text.slots;
        if slots == 0 {
            return;
        }
        let row = self.space.row();
        line!(self, "T r[{slots}];");
        match known {
            Known::Kept => {
                let rows = self.pointer("rows", Word::Rows);
                line!(
                    self,
                    "for (int i = 0; i < {slots}; ++i) r[i] = {rows}[(index)({}) * {slots} + i];",
                    offset_of(row, offset)
                );
            }
            Known::Given => {
                let count = self.kept;
                if self.pulls && count > 0 {
                    let kept = self.pointer("kept", Word::Kept);
                    line!(
                        self,
                        "for (int i = 0; i < {count}; ++i) r[i] = {kept}[(index)({}) * {count} + i];",
                        offset_of(row, offset)
                    );
                }
                self.seed(offset);
                self.body.push_str(self.text.passes.first().map_or("", |pass| pass.then));
            }
        }
    }

    fn seed(&mut self, offset: &str) {
        let slot = self.kept;
        match self.seed {
            Some(Seed::Array) => {
                let z = self.array(self.space.result());
                line!(self, "r[{slot}] = {z}[{}];", offset_of(self.space.result(), offset));
            }
            Some(Seed::Number) => {
                let z = self.argument("seed".to_owned(), "alignas(8) T", Word::Seed);
                line!(self, "r[{slot}] = {z};");
            }
            None => {}
        }
    }

    /// What happens to `vector` elements at the offsets `at`: `written` results are written, and `sums` go on.
    pub(super) fn elements(
        &mut self,
        pass: usize,
        vector: usize,
        innermost: Option<usize>,
        at: &str,
        written: &[usize],
        sums: &Sums,
    ) {
        let pass = &self.text.passes[pass];
        let space = self.space;
        let inputs: Vec<usize> = (0..space.inputs).filter(|i| pass.reads[*i]).collect();
        let packed =
            |array: usize| vector > 1 && innermost.is_some_and(|axis| space.strides[array][axis] == 1);
        for i in &inputs {
            let (x, place) = (self.array(*i), offset_of(*i, at));
            if packed(*i) {
                line!(
                    self,
                    "const pb_vector<T, {vector}> v{i} = *(const pb_vector<T, {vector}> *)({x} + {place});"
                );
            } else {
                line!(self, "const T v{i} = {x}[{place}];");
            }
        }
        for o in written {
            line!(self, "pb_vector<T, {vector}> w{o};");
        }
        if vector > 1 {
            line!(self, "#pragma unroll");
        }
        line!(self, "for (int l = 0; l < {vector}; ++l) {{");
        for i in &inputs {
            let lane = if packed(*i) { ".e[l]" } else { "" };
            line!(self, "const T x{i} = v{i}{lane};");
        }
        for o in (0..space.outputs).filter(|o| pass.writes[*o]) {
            line!(self, "T y{o};");
        }
        for i in 0..pass.reductions.len() {
            line!(self, "T s{i};");
        }
        self.body.push_str(pass.elements);
        for o in written {
            line!(self, "w{o}.e[l] = y{o};");
        }
        for (i, (part, reduction)) in sums.parts.iter().enumerate() {
            line!(self, "sum{i} = pb_combine<{}>(sum{i}, {part});", kind(*reduction));
        }
        line!(self, "}}");
        for o in written {
            let array = space.inputs + o;
            let (d, place) = (self.array(array), offset_of(array, at));
            // One after the other: two of them may be the same array.
            line!(self, "{{");
            if packed(array) {
                line!(self, "pb_vector<T, {vector}> *place = (pb_vector<T, {vector}> *)({d} + {place});");
                if self.adds[*o] {
                    line!(self, "const pb_vector<T, {vector}> old = *place;");
                    line!(self, "for (int l = 0; l < {vector}; ++l) w{o}.e[l] = old.e[l] + w{o}.e[l];");
                }
                line!(self, "*place = w{o};");
            } else {
                let old = if self.adds[*o] { format!("{d}[{place}] + ") } else { String::new() };
                line!(self, "{d}[{place}] = {old}w{o}.e[0];");
            }
            line!(self, "}}");
        }
    }

    /// Declares sums that hold nothing yet.
    pub(super) fn neutral(&mut self, sums: &Sums) {
        for (i, (_, reduction)) in sums.parts.iter().enumerate() {
            line!(self, "T sum{i} = pb_neutral<{}, T>();", kind(*reduction));
        }
    }

    /// Makes one of the sums of all threads that share a place.
    pub(super) fn across(&mut self, across: Across, sums: &Sums) {
        let shared = if across == Across::Warp { "" } else { ", shared" };
        for (i, (_, reduction)) in sums.parts.iter().enumerate() {
            line!(self, "sum{i} = {}<{}>(sum{i}{shared});", across.function(), kind(*reduction));
        }
    }

    /// The source of the kernel, and its name.
    pub(super) fn finish(self) -> (String, String, Vec<Word>) {
        let mut text = String::new();
        let (ty, index) =
            (if self.double { "double" } else { "float" }, if self.wide { "long long" } else { "int" });
        let mut fields = String::new();
        let mut locals = String::new();
        for Field { name, ty, .. } in &self.fields {
            writeln!(fields, "{ty} {name};").expect("a string");
            if *ty == "long long" {
                writeln!(locals, "const index {name} = (index)a.{name};").expect("a string");
            }
        }
        writeln!(text, "typedef {ty} T;\ntypedef {index} index;\nstruct Arguments {{\n{fields}}};")
            .expect("a string");
        let body = &self.body;
        let hash = super::cache::fingerprint(&[&text, &locals, body]);
        let name = format!("pb_{}_{hash:016x}", self.text.name);
        let source = kernel(&name, &text, &format!("{locals}{body}"));
        (source, name, self.fields.into_iter().map(|field| field.word).collect())
    }

    /// Declares what of the text are numbers of the call.
    pub(super) fn scalars(&mut self, count: usize) {
        for i in self.text.numbers {
            let n = self.argument(format!("number{i}"), "alignas(8) T", Word::Number(*i));
            line!(self, "const T n{i} = {n};");
        }
        let count = if self.double { (count as f64).to_bits() } else { u64::from((count as f32).to_bits()) };
        let count = self.argument("count".to_owned(), "alignas(8) T", Word::Value(count));
        line!(self, "const T count = {count};");
    }

    /// Where threads are, as `place` and `lane`.
    pub(super) fn position(&mut self, across: Across) {
        let (place, lane) = across.position();
        line!(self, "const int place = {place};\nconst int lane = {lane};");
        if across == Across::Block {
            line!(self, "__shared__ T shared[8];");
        } else if across == Across::Columns {
            line!(self, "__shared__ T shared[{THREADS}];");
        }
    }
}

/// The text of a kernel whose argument is a struct `Arguments a` among the `declarations`.
pub(super) fn kernel(name: &str, declarations: &str, body: &str) -> String {
    format!(
        "namespace {name}_space {{\n{declarations}extern \"C\" __global__ void __launch_bounds__({THREADS}) {name}(const Arguments a) \
         {{\n{body}}}\n}}\n"
    )
}

/// The offset of an array in which several groups of axes have a part.
pub(super) fn offset_of(array: usize, groups: &str) -> String {
    groups.split(' ').map(|name| format!("o{array}_{name}")).collect::<Vec<_>>().join(" + ")
}

pub(super) fn kind(reduction: Reduction) -> &'static str {
    match reduction {
        Reduction::Sum => "PB_SUM",
        Reduction::Max => "PB_MAX",
        Reduction::Min => "PB_MIN",
    }
}

/// What [`pb_quotient`](./prelude.cu) divides by `divisor` with.
fn magic(divisor: u32) -> (u32, u32) {
    let divisor = u64::from(divisor.max(1));
    let shift = divisor.next_power_of_two().trailing_zeros();
    let factor = (((1 << shift) - divisor) << 32) / divisor + 1;
    (factor as u32, shift)
}

#[cfg(test)]
mod tests {
    use super::magic;

    #[test]
    fn quotients() {
        for divisor in (1..200_u64).chain([1 << 16, (1 << 20) - 1, (1 << 30) + 1, (1 << 31) - 1]) {
            let (m, s) = magic(divisor as u32);
            let most = (1_u64 << 31) - 1;
            let multiples = (0..40).flat_map(|i| [i * divisor, (i * divisor).saturating_sub(1)]);
            for n in multiples.filter(|n| *n <= most).chain((0..30).map(|i| most - i * 977)) {
                let product = (n * u64::from(m)) >> 32;
                assert_eq!((product + n) >> s, n / divisor, "{n} / {divisor}");
                assert!(product + n < 1 << 32, "32 bits suffice");
            }
        }
    }
}
