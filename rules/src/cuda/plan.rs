//! Which kernels a call of a fused function takes, on what grid, with which arguments.
//!
//! A plan depends on shapes and strides alone, not on what is where: it is made on the first call and serves as long as these stay.

use super::source::{Across, Known, Seed, Space, Sums, THREADS, Writer, kind, line, offset_of};
use crate::fused::{Reduction, Text};

/// An argument of a kernel: its name, its type in C, and where its value comes from. Each takes eight bytes.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ty: &'static str,
    pub(super) word: Word,
}

/// Where the value of an argument comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Word {
    /// It is this.
    Value(u64),
    /// The start of an array.
    Array(usize),
    /// An operand that is a number.
    Number(usize),
    /// The gradient with respect to a result that is a number.
    Seed,
    /// What the forward leaves for the pullback, see [`Plan::kept`].
    Kept,
    /// Parts of the scratch memory, see [`Plan::scratch`].
    Counters,
    Rows,
    Partials,
    /// The result that is a number.
    Total(usize),
}

/// One launch.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) source: String,
    pub(super) name: String,
    pub(super) grid: (u32, u32),
    pub(super) block: (u32, u32),
    pub(super) words: Vec<Word>,
}

/// All launches of a call.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) launches: Vec<Launch>,
    /// How many numbers the forward leaves for the pullback.
    pub(super) kept: usize,
    /// How many counters there are; they are zero between launches.
    pub(super) counters: usize,
    /// How many numbers of rows are handed from launch to launch,
    pub(super) rows: usize,
    /// and how many parts of sums.
    pub(super) partials: usize,
}

/// What is to be planned.
pub(super) struct Request<'a> {
    pub(super) text: &'static Text,
    pub(super) space: &'a Space,
    pub(super) double: bool,
    /// All arrays begin where vectors may.
    pub(super) aligned: bool,
    /// Results have elements in common, and not all of them.
    pub(super) overlapping: bool,
    /// Which results somebody wants, and which of them are added to what is there.
    pub(super) wanted: &'a [bool],
    pub(super) adds: &'a [bool],
    pub(super) kept: usize,
    pub(super) keeps: bool,
    pub(super) pulls: bool,
    /// [`Space::result`] is written, as a number if it has no array.
    pub(super) results: bool,
    pub(super) seed: Option<Seed>,
    /// The array along whose axes it is best to go.
    pub(super) like: usize,
}

/// The longest row that one block goes through, if there are few of them.
const LONG_ROW: usize = 1 << 14;
/// So many rows keep a device busy.
const MANY_ROWS: usize = 256;
/// So many blocks do.
const BLOCKS: usize = 1024;
/// As many parts a sum has at most.
const MOST_PARTS: usize = 512;
const MOST_BLOCKS: usize = 1 << 20;

impl Plan {
    pub(super) fn new(request: Request<'_>) -> Plan {
        let space = request.space;
        let (outer, inner) = request.groups();
        let (rows, length) = (space.count(&outer), space.count(&inner));
        let text = request.text;
        let mut plan = Plan::default();
        if request.keeps || request.pulls {
            plan.kept = rows * request.kept;
        }
        if rows == 0 {
            return plan;
        }
        let mut outputs = request.outputs();
        let reduces = text.passes.iter().any(|pass| !pass.reductions.is_empty());
        let by_rows = reduces || request.results || request.keeps && request.kept > 0;
        let mut known = Known::Given;
        if by_rows {
            let alone =
                text.totals.is_empty() && outputs.len() <= 1 && outputs.iter().all(|o| o.summed.is_empty());
            if length <= LONG_ROW || rows >= MANY_ROWS || !reduces {
                let direct = if alone { outputs.pop().map_or(Vec::new(), |o| o.direct) } else { Vec::new() };
                let later = !text.totals.is_empty() || !outputs.is_empty();
                plan.rows(&request, &direct, later);
            } else {
                plan.passes(&request);
            }
            known = Known::Kept;
        }
        if !text.totals.is_empty() {
            plan.totals(&request, known);
        }
        if length > 0 {
            for output in &outputs {
                plan.elements(&request, output, known);
            }
        }
        plan
    }

    fn writer<'a>(request: &Request<'a>) -> Writer<'a> {
        Writer {
            text: request.text,
            space: request.space,
            double: request.double,
            wide: request.wide(),
            kept: request.kept,
            pulls: request.pulls,
            seed: request.seed,
            adds: request.adds.to_vec(),
            fields: Vec::new(),
            body: String::new(),
        }
    }

    fn push(&mut self, writer: Writer<'_>, grid: (usize, usize), block: (u32, u32)) {
        let (source, name, words) = writer.finish();
        self.launches.push(Launch { source, name, grid: (grid.0 as u32, grid.1 as u32), block, words });
    }

    /// One kernel that goes through each row as often as need be.
    fn rows(&mut self, request: &Request<'_>, direct: &[usize], later: bool) {
        let (space, text) = (request.space, request.text);
        let (outer, inner) = request.groups();
        let (rows, length) = (space.count(&outer), space.count(&inner));
        let across = request.across(&outer, &inner);
        let vector = if across == Across::Columns { 1 } else { request.vector(&inner, direct, false) };
        let mut writer = Plan::writer(request);
        writer.scalars(length);
        writer.position(across);
        let (rows_, steps) = (
            writer.integer("rows_".to_owned(), rows as i64),
            writer.integer("steps_".to_owned(), (length / vector) as i64),
        );
        let places = across.places();
        // Threads that share a block go on together: there are barriers.
        line!(
            writer,
            "for (index tile = (index)blockIdx.x * {places}; tile < {rows_}; tile += (index)gridDim.x * {places}) {{"
        );
        line!(
            writer,
            "const bool active = tile + place < {rows_};\nconst index row = active ? tile + place : {rows_} - 1;"
        );
        writer.offsets(&outer, "row", "g", 1);
        writer.numbers(Known::Given, "g");
        for (number, pass) in text.passes.iter().enumerate() {
            let written: Vec<usize> = direct.iter().copied().filter(|o| pass.writes[*o]).collect();
            if !(pass.reductions.is_empty() && written.is_empty()) {
                line!(writer, "{{");
                let parts = pass
                    .reductions
                    .iter()
                    .enumerate()
                    .map(|(i, (reduction, _))| (format!("s{i}"), *reduction));
                let sums = Sums { parts: parts.collect() };
                writer.neutral(&sums);
                line!(
                    writer,
                    "for (index j = active ? lane : {steps}; j < {steps}; j += {}) {{",
                    across.lanes()
                );
                writer.offsets(&inner, "j", "j", vector);
                writer.elements(number, vector, inner.last().copied(), "g j", &written, &sums);
                line!(writer, "}}");
                writer.across(across, &sums);
                for (i, (_, slot)) in pass.reductions.iter().enumerate() {
                    line!(writer, "r[{slot}] = sum{i};");
                }
                line!(writer, "}}");
            }
            // The first has been computed with what is given.
            if number > 0 {
                writer.body.push_str(pass.then);
            }
        }
        line!(writer, "if (active && lane == 0) {{");
        self.keep(&mut writer, request, "g", later);
        line!(writer, "}}\n}}");
        self.push(writer, (rows.div_ceil(places).min(MOST_BLOCKS), 1), across.block());
    }

    /// What is kept of a row that is done with.
    fn keep(&mut self, writer: &mut Writer<'_>, request: &Request<'_>, at: &str, later: bool) {
        let (kept, slots) = (request.kept, request.text.slots);
        let row = offset_of(request.space.row(), at);
        if request.keeps && kept > 0 {
            let target = writer.pointer("kept", Word::Kept);
            line!(writer, "for (int i = 0; i < {kept}; ++i) {target}[(index)({row}) * {kept} + i] = r[i];");
        }
        if request.results {
            let z = writer.array(request.space.result());
            line!(writer, "{z}[{}] = r[{kept}];", offset_of(request.space.result(), at));
        }
        if later && slots > 0 {
            let (outer, _) = request.groups();
            self.rows = request.space.count(&outer) * slots;
            let target = writer.pointer("rows", Word::Rows);
            line!(writer, "for (int i = 0; i < {slots}; ++i) {target}[(index)({row}) * {slots} + i] = r[i];");
        }
    }

    /// A kernel for each pass, as rows are long and few.
    fn passes(&mut self, request: &Request<'_>) {
        let text = request.text;
        let (outer, inner) = request.groups();
        let reducing: Vec<usize> =
            (0..text.passes.len()).filter(|pass| !text.passes[*pass].reductions.is_empty()).collect();
        for (i, number) in reducing.iter().copied().enumerate() {
            let pass = &text.passes[number];
            let last = i + 1 == reducing.len();
            let parts =
                pass.reductions.iter().enumerate().map(|(i, (reduction, _))| (format!("s{i}"), *reduction));
            let known = if i == 0 { Known::Given } else { Known::Kept };
            let sums = Sums { parts: parts.collect() };
            self.reduce(request, known, (&outer, &inner), Some(number), &[], &sums, |plan, writer, at| {
                for (i, (_, slot)) in pass.reductions.iter().enumerate() {
                    line!(writer, "r[{slot}] = sum{i};");
                }
                writer.body.push_str(pass.then);
                let mut request = request.copy();
                // What there is to keep is known at the end.
                request.keeps &= last;
                request.results &= last;
                plan.keep(writer, &request, at, true);
            });
        }
    }

    /// The results that are numbers.
    fn totals(&mut self, request: &Request<'_>, known: Known) {
        let text = request.text;
        let (outer, _) = request.groups();
        let sums = Sums {
            parts: text.totals.iter().map(|(_, value)| ((*value).to_owned(), Reduction::Sum)).collect(),
        };
        self.reduce(request, known, (&[], &outer), None, &[], &sums, |_, writer, _| {
            for (i, (port, _)) in text.totals.iter().enumerate() {
                let target = writer.pointer(&format!("total{port}"), Word::Total(*port));
                line!(writer, "{target}[0] = sum{i};");
            }
        });
    }

    /// Results that are written in one pass through everything.
    fn elements(&mut self, request: &Request<'_>, output: &Output, known: Known) {
        let space = request.space;
        let Output { direct, summed, over } = output;
        let number = request.writing();
        let kept: Vec<usize> = (0..space.lengths.len()).filter(|axis| !over.contains(axis)).collect();
        if !summed.is_empty() {
            let sums = Sums { parts: summed.iter().map(|o| (format!("y{o}"), Reduction::Sum)).collect() };
            return self.reduce(
                request,
                known,
                (&kept, over),
                Some(number),
                direct,
                &sums,
                |_, writer, at| {
                    for (i, o) in summed.iter().enumerate() {
                        let d = writer.array(space.inputs + o);
                        let place = offset_of(space.inputs + o, at);
                        line!(writer, "{d}[{place}] = {d}[{place}] + sum{i};");
                    }
                },
            );
        }
        let (_, inner) = request.groups();
        let vector = request.vector(&kept, direct, true);
        let all = space.count(&kept);
        let mut writer = Plan::writer(request);
        writer.scalars(space.count(&inner));
        let none = Sums { parts: Vec::new() };
        line!(writer, "const index first = (index)blockIdx.x * {THREADS} + threadIdx.x;");
        line!(writer, "const index threads = (index)gridDim.x * {THREADS};");
        let steps = writer.integer("steps_".to_owned(), (all / vector) as i64);
        line!(writer, "for (index j = first; j < {steps}; j += threads) {{");
        writer.offsets(&kept, "j", "j", vector);
        writer.numbers(known, "j");
        writer.elements(number, vector, kept.last().copied(), "j", direct, &none);
        line!(writer, "}}");
        if vector > 1 && kept.len() == 1 {
            // What no vector is left for.
            let all = writer.integer("all_".to_owned(), all as i64);
            line!(writer, "for (index j = {steps} * {vector} + first; j < {all}; j += threads) {{");
            writer.offsets(&kept, "j", "j", 1);
            writer.numbers(known, "j");
            writer.elements(number, 1, None, "j", direct, &none);
            line!(writer, "}}");
        }
        self.push(writer, ((all / vector).div_ceil(THREADS).clamp(1, MOST_BLOCKS), 1), (THREADS as u32, 1));
    }

    /// A kernel that sums up over the axes `over` for each place along the axes `kept`; `then` has the sums. Without a `pass` what is
    /// summed up are numbers of rows.
    #[allow(clippy::too_many_arguments)]
    fn reduce(
        &mut self,
        request: &Request<'_>,
        known: Known,
        (kept, over): (&[usize], &[usize]),
        pass: Option<usize>,
        direct: &[usize],
        sums: &Sums,
        then: impl FnOnce(&mut Plan, &mut Writer<'_>, &str),
    ) {
        let space = request.space;
        let (places, length) = (space.count(kept), space.count(over));
        let across = request.across(kept, over);
        let vector = match pass {
            Some(_) if across != Across::Columns => request.vector(over, direct, false),
            _ => 1,
        };
        let steps = length / vector;
        let tiles = places.div_ceil(across.places());
        // Each thread has some steps to go, or else the parts take longer than the whole.
        let parts = BLOCKS.div_ceil(tiles).min(steps.div_ceil(4 * across.lanes())).clamp(1, MOST_PARTS);
        let chunk = steps.div_ceil(parts);
        let parts = steps.div_ceil(chunk.max(1)).max(1);

        let (_, inner) = request.groups();
        let mut writer = Plan::writer(request);
        writer.scalars(space.count(&inner));
        writer.position(across);
        let places_ = writer.integer("places_".to_owned(), places as i64);
        let steps_ = writer.integer("steps_".to_owned(), steps as i64);
        let chunk_ = writer.integer("chunk_".to_owned(), chunk as i64);
        line!(writer, "const index tile = (index)blockIdx.x * {} + place;", across.places());
        line!(
            writer,
            "const bool active = tile < {places_};\nconst index at = active ? tile : {places_} - 1;"
        );
        line!(writer, "const index begin = active ? (index)blockIdx.y * {chunk_} : {steps_};");
        line!(writer, "const index end = begin + {chunk_} < {steps_} ? begin + {chunk_} : {steps_};");
        writer.offsets(kept, "at", "g", 1);
        writer.neutral(sums);
        // The numbers of the row are the same for all that is summed up, or else others for each element.
        let one_row = over.iter().all(|axis| space.strides[space.row()][*axis] == 0);
        line!(writer, "{{");
        if one_row {
            writer.numbers(known, "g");
        }
        line!(writer, "for (index j = begin + lane; j < end; j += {}) {{", across.lanes());
        writer.offsets(over, "j", "j", vector);
        if !one_row {
            writer.numbers(known, "g j");
        }
        match pass {
            Some(pass) => {
                writer.elements(pass, vector, over.last().copied(), "g j", direct, sums);
            }
            None => {
                for (i, (part, reduction)) in sums.parts.iter().enumerate() {
                    line!(writer, "sum{i} = pb_combine<{}>(sum{i}, (T)({part}));", kind(*reduction));
                }
            }
        }
        line!(writer, "}}\n}}");
        writer.across(across, sums);
        if parts > 1 {
            self.counters = self.counters.max(tiles);
            self.partials = self.partials.max(parts * sums.parts.len() * places);
            self.last_block(&mut writer, across, sums);
        }
        line!(writer, "if (active && lane == 0) {{");
        if one_row {
            writer.numbers(known, "g");
        }
        then(self, &mut writer, "g");
        line!(writer, "}}");
        self.push(writer, (tiles, parts), across.block());
    }

    /// Has the last of the blocks that share a place add up what all of them have found, always in the same order.
    fn last_block(&mut self, writer: &mut Writer<'_>, across: Across, sums: &Sums) {
        let (partials, counters) = (writer.pointer("partials", Word::Partials), writer.counters());
        let count = sums.parts.len();
        line!(writer, "__shared__ bool last;");
        for i in 0..count {
            line!(
                writer,
                "if (active && lane == 0) {partials}[((index)blockIdx.y * {count} + {i}) * places_ + at] = sum{i};"
            );
        }
        line!(writer, "__threadfence();\n__syncthreads();");
        line!(writer, "if (threadIdx.x == 0 && threadIdx.y == 0) {{");
        line!(writer, "last = atomicAdd(&{counters}[blockIdx.x], 1u) == gridDim.y - 1;");
        line!(writer, "if (last) {counters}[blockIdx.x] = 0;");
        line!(writer, "}}\n__syncthreads();\nif (!last) return;\n__threadfence();");
        for (i, (_, reduction)) in sums.parts.iter().enumerate() {
            line!(writer, "sum{i} = pb_neutral<{}, T>();", kind(*reduction));
        }
        line!(writer, "for (int part = lane; part < gridDim.y; part += {}) {{", across.lanes());
        for (i, (_, reduction)) in sums.parts.iter().enumerate() {
            line!(
                writer,
                "sum{i} = pb_combine<{}>(sum{i}, ((const volatile T *){partials})[((index)part * {count} + {i}) * places_ + at]);",
                kind(*reduction)
            );
        }
        line!(writer, "}}");
        writer.across(across, sums);
    }
}

/// Results that one launch writes.
struct Output {
    /// Those with an element for each step,
    direct: Vec<usize>,
    /// and those that are sums over these axes.
    summed: Vec<usize>,
    over: Vec<usize>,
}

impl Request<'_> {
    fn copy(&self) -> Request<'_> {
        Request { ..*self }
    }

    /// The axes across rows, and those along them.
    fn groups(&self) -> (Vec<usize>, Vec<usize>) {
        let outer = self.space.outer;
        ((0..outer).collect(), (outer..self.space.lengths.len()).collect())
    }

    /// The pass in which results are written.
    fn writing(&self) -> usize {
        self.text.writing().unwrap_or(0)
    }

    /// The results by launches. What is overwritten may be read by all of them, and hence comes in the last one.
    fn outputs(&self) -> Vec<Output> {
        let space = self.space;
        let writing = self.writing();
        let Some(pass) = self.text.passes.get(writing) else { return Vec::new() };
        let mut groups: Vec<Output> = Vec::new();
        let (mut direct, mut overwritten) = (Vec::new(), Vec::new());
        for o in (0..space.outputs).filter(|o| self.wanted[*o] && pass.writes[*o]) {
            let strides = &space.strides[space.inputs + o];
            let over: Vec<usize> = (0..space.lengths.len()).filter(|axis| strides[*axis] == 0).collect();
            if !self.adds[o] {
                overwritten.push(o);
            } else if over.is_empty() {
                direct.push(o);
            } else if let Some(group) = groups.iter_mut().find(|g| g.over == over && !self.overlapping) {
                group.summed.push(o);
            } else {
                groups.push(Output { direct: Vec::new(), summed: vec![o], over });
            }
        }
        let single = |direct| Output { direct, summed: Vec::new(), over: Vec::new() };
        if self.overlapping {
            groups.extend(direct.into_iter().map(|o| single(vec![o])));
            if !overwritten.is_empty() {
                groups.push(single(overwritten));
            }
            return groups;
        }
        direct.extend(overwritten);
        match groups.last_mut() {
            Some(last) => last.direct = direct,
            None if direct.is_empty() => {}
            None => groups.push(single(direct)),
        }
        groups
    }

    /// Whether there is more than 32 bits can count.
    fn wide(&self) -> bool {
        let space = self.space;
        let most = 1 << 30;
        let elements = space.lengths.iter().fold(1, |all: usize, n| all.saturating_mul(*n));
        let numbers = elements.saturating_mul(self.text.slots.max(1));
        let far = |strides: &Vec<isize>| {
            let reach = strides
                .iter()
                .zip(&space.lengths)
                .map(|(stride, n)| stride.unsigned_abs() * n.saturating_sub(1));
            reach.sum::<usize>() > most
        };
        numbers > most || space.strides.iter().any(far)
    }

    /// How threads share `places` along the axes `kept`, each of which has something for each step along `over`.
    fn across(&self, kept: &[usize], over: &[usize]) -> Across {
        let strides = &self.space.strides[self.like];
        let innermost =
            |axes: &[usize]| axes.iter().rev().map(|axis| strides[*axis].unsigned_abs()).find(|s| *s > 0);
        match (innermost(kept), innermost(over)) {
            (Some(kept), Some(over)) if kept < over => return Across::Columns,
            _ => {}
        }
        if self.space.count(over) <= 1024 && self.space.count(kept) > 1 {
            Across::Warp
        } else {
            Across::Block
        }
    }

    /// How many elements can be loaded at a time along `axes`; with `rest` an end that does not fill a vector is taken care of.
    fn vector(&self, axes: &[usize], direct: &[usize], rest: bool) -> usize {
        let space = self.space;
        let vector = if self.double { 2 } else { 4 };
        let Some(innermost) = axes.last().copied() else { return 1 };
        // A vector has the numbers of one row.
        if self.text.slots > 0 && space.strides[space.row()][innermost] != 0 {
            return 1;
        }
        let pass = |array: usize| {
            let read = |i: usize| self.text.passes.iter().any(|pass| pass.reads[i]);
            if array < space.inputs { read(array) } else { direct.contains(&(array - space.inputs)) }
        };
        let used: Vec<usize> = (0..space.result()).filter(|array| pass(*array)).collect();
        let fits = |array: &usize| {
            let strides = &space.strides[*array];
            match strides[innermost] {
                0 => true,
                1 => (0..strides.len()).all(|axis| axis == innermost || strides[axis] % vector as isize == 0),
                _ => false,
            }
        };
        let packed = used.iter().any(|array| space.strides[*array][innermost] == 1);
        let whole = space.lengths[innermost].is_multiple_of(vector)
            || rest && space.lengths.len() == 1 && space.lengths[innermost] >= vector;
        if self.aligned && packed && whole && used.iter().all(fits) { vector } else { 1 }
    }
}
