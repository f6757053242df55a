//! A device for tests on machines without one: kernels are compiled for the CPU, from the text that a CUDA compiler would get, and run
//! by a process of their own under the address sanitiser, with the threads of a block in several orders.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::ops::Deref;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once};

use super::cache::fingerprint;
use super::driver::{Convolution, Driver, Gemm, Kernel, LtMatmul, Planned, PlannedConvolution, Recording};
use super::staging::Stage;
use super::{Device, Error, PRELUDE};

/// How often a scenario is run: with threads forwards, backwards, and in a random order.
const SCHEDULES: u64 = 3;

/// Runs `scenario` once to see which kernels it takes, compiles all of them at once, and runs it again under each schedule: those results
/// are returned. In the first run all that is downloaded is zero, so it should not look at it.
///
/// # Panics
/// If there is no `g++`, or something is wrong with a kernel: it is said on the standard error.
pub fn simulate<R>(scenario: impl Fn(&Device) -> R) -> Vec<R> {
    let sources = sources(&scenario);
    let program = compile(&sources);
    let kernels: Arc<BTreeMap<String, u64>> =
        Arc::new(sources.into_keys().enumerate().map(|(i, name)| (name, i as u64)).collect());
    (0..SCHEDULES)
        .map(|schedule| {
            let mut child = Command::new(&program)
                .env("ASAN_OPTIONS", "detect_stack_use_after_return=0:detect_leaks=0")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("the simulator starts");
            let pipes =
                Pipes { input: child.stdin.take(), output: child.stdout.take(), child, copies: Vec::new() };
            let (pipes, kernels) = (Arc::new(Mutex::new(pipes)), kernels.clone());
            let simulated = Simulated { channel: Channel { pipes, recorded: Arc::default() }, kernels };
            simulated.ask(&[b's'.into(), schedule], &[], &mut []);
            scenario(&Device::with(Box::new(simulated)))
        })
        .collect()
}

/// Runs `scenario` by [`simulate`], and twice on the CUDA device of this machine if it has one: of either the results, which have to be the
/// same to the bit. With the environment variable `PULLBACK_DEVICE_ONLY` nothing is simulated.
///
/// # Panics
/// As [`simulate`]; or if there is no device, and nothing is simulated.
pub fn machines<R>(scenario: impl Fn(&Device) -> R) -> Vec<Vec<R>> {
    let simulates = std::env::var_os("PULLBACK_DEVICE_ONLY").is_none();
    let simulated = simulates.then(|| simulate(&scenario));
    let on_device = match Device::new(0) {
        Ok(device) => Some([(); 2].map(|()| scenario(&device)).into()),
        Err(error) if simulates => {
            // Past what is captured of tests that pass.
            static SAID: Once = Once::new();
            SAID.call_once(|| {
                let _ = writeln!(std::io::stderr(), "SKIPPED, nothing is known about real devices: {error}");
            });
            None
        }
        Err(error) => panic!("{error}"),
    };
    simulated.into_iter().chain(on_device).collect()
}

/// All results of [`machines`].
pub fn everywhere<R>(scenario: impl Fn(&Device) -> R) -> Vec<R> {
    machines(scenario).into_iter().flatten().collect()
}

/// The sources of the kernels that `scenario` takes, by their names, without what they have in common.
pub fn sources<R>(scenario: impl Fn(&Device) -> R) -> BTreeMap<String, String> {
    let collector = Collector::default();
    let sources = collector.sources.clone();
    scenario(&Device::with(Box::new(collector)));
    let sources = sources.lock().expect("nobody panicked");
    sources.clone()
}

/// A device that does nothing, and yields what it has been asked for since the last time somebody wanted to know.
pub fn listening() -> (Device, impl Fn() -> Vec<String>) {
    let collector = Collector::default();
    let requests = collector.requests.clone();
    let asked = move || std::mem::take(&mut *requests.lock().expect("nobody panicked"));
    (Device::with(Box::new(collector)), asked)
}

/// All of them as one text for a CUDA compiler.
pub fn program(sources: &BTreeMap<String, String>) -> String {
    let mut text = PRELUDE.to_owned();
    sources.values().for_each(|source| text.push_str(source));
    text
}

/// Compiles kernels for the CPU, unless that has been done.
fn compile(sources: &BTreeMap<String, String>) -> PathBuf {
    let mut text = [include_str!("simulator/shim.h"), PRELUDE].concat();
    let (mut table, mut sizes) = (String::new(), String::new());
    for (name, source) in sources {
        text.push_str(source);
        let space = format!("{name}_space");
        text.push_str(&format!(
            "static void run_{name}(const void *words) {{\n    {space}::Arguments a;\n    memcpy((void *)&a, words, sizeof a);\n    \
             {space}::{name}(a);\n}}\n"
        ));
        table.push_str(&format!("run_{name}, "));
        sizes.push_str(&format!("sizeof({space}::Arguments) / 8, "));
    }
    text.push_str(&format!(
        "static void (*const kernels[])(const void *) = {{{table}nullptr}};\nstatic const size_t sizes[] = {{{sizes}0}};\n"
    ));
    text.push_str(include_str!("simulator/main.cpp"));
    let stem = std::env::temp_dir().join(format!("pullback-simulator-{:016x}", fingerprint(&[&text])));
    if !stem.exists() {
        // Tests run side by side, and some take the same kernels.
        static PARTS: AtomicUsize = AtomicUsize::new(0);
        let number = format!("{}-{}", std::process::id(), PARTS.fetch_add(1, Ordering::Relaxed));
        let (part, source) = (stem.with_extension(&number), stem.with_extension(number + ".cpp"));
        std::fs::write(&source, &text).expect("room for a temporary file");
        let flags = [
            "-std=c++17",
            "-O1",
            "-w",
            "-ffp-contract=off",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
        ];
        let done = Command::new("g++").args(flags).arg("-o").arg(&part).arg(&source).status();
        let done = done.expect("the simulator takes g++");
        assert!(done.success(), "the kernels in {} do not compile", source.display());
        std::fs::remove_file(&source).expect("it was there");
        std::fs::rename(&part, &stem).expect("a place in the same folder");
    }
    stem
}

/// Memory for a stage, whose event is its size.
fn stage(bytes: usize) -> Stage {
    let memory = NonNull::from(Box::leak(vec![0xff; bytes].into_boxed_slice()));
    Stage { memory: memory.cast(), event: bytes as u64 }
}

fn unstage(Stage { memory, event }: Stage) {
    let memory = NonNull::slice_from_raw_parts(memory, event as usize);
    // SAFETY: that is what `stage` has made.
    drop(unsafe { Box::from_raw(memory.as_ptr()) });
}

/// A device that does nothing but note what it is asked for.
#[derive(Default)]
struct Collector {
    sources: Arc<Mutex<BTreeMap<String, String>>>,
    allocated: Mutex<u64>,
    names: Mutex<Vec<String>>,
    requests: Arc<Mutex<Vec<String>>>,
}

fn product_of(kind: &str, beta: u64) -> String {
    format!("{kind}, {} 0", if beta == 0 { "β =" } else { "β ≠" })
}

impl Collector {
    fn note(&self, request: String) -> Result<(), Error> {
        self.requests.lock().expect("nobody panicked").push(request);
        Ok(())
    }
}

impl Driver for Collector {
    fn allocate(&self, bytes: usize) -> Result<u64, Error> {
        let mut allocated = self.allocated.lock().expect("nobody panicked");
        let address = (*allocated + 1).next_multiple_of(256);
        *allocated = address + bytes as u64;
        Ok(address)
    }
    fn free(&self, _: u64) {}
    fn zero(&self, _: u64, bytes: usize) -> Result<(), Error> {
        self.note(format!("zero {bytes}"))
    }
    fn stage(&self, bytes: usize) -> Result<Stage, Error> {
        Ok(stage(bytes))
    }
    fn unstage(&self, stage: Stage) {
        unstage(stage);
    }
    unsafe fn upload(&self, _: u64, _: &Stage, _: usize) -> Result<(), Error> {
        Ok(())
    }
    unsafe fn download(&self, to: &Stage, _: u64, bytes: usize) -> Result<(), Error> {
        // SAFETY: as the caller guarantees.
        unsafe { to.memory.write_bytes(0, bytes) };
        Ok(())
    }
    fn wait(&self, _: &Stage) -> Result<(), Error> {
        Ok(())
    }
    fn copy(&self, _: u64, _: u64, bytes: usize) -> Result<(), Error> {
        self.note(format!("copy {bytes}"))
    }
    fn synchronize(&self) -> Result<(), Error> {
        Ok(())
    }
    fn kernel(&self, source: &str, name: &str) -> Result<Kernel, Error> {
        let source = source.strip_prefix(PRELUDE).expect("all kernels begin with it").to_owned();
        self.sources.lock().expect("nobody panicked").insert(name.to_owned(), source);
        let mut names = self.names.lock().expect("nobody panicked");
        names.push(name.to_owned());
        Ok(Kernel(names.len() as u64 - 1))
    }
    fn launch(&self, kernel: Kernel, grid: (u32, u32), _: (u32, u32), _: &[u64]) -> Result<(), Error> {
        let name = self.names.lock().expect("nobody panicked")[kernel.0 as usize].clone();
        // Behind the name may be what tells sources apart.
        let hash = |end: &str| end.len() == 16 && end.bytes().all(|b| b.is_ascii_hexdigit());
        let name = name.rsplit_once('_').filter(|(_, end)| hash(end)).map_or(&*name, |(name, _)| name);
        self.note(format!("{name} {}x{}", grid.0, grid.1))
    }
    fn gemm(&self, gemm: &Gemm) -> Result<(), Error> {
        self.note(product_of("gemm", gemm.beta))
    }
    fn plan(&self, _: &LtMatmul) -> Result<Option<Box<dyn Planned>>, Error> {
        struct Noting(Arc<Mutex<Vec<String>>>);
        impl Planned for Noting {
            fn run(&mut self, product: &LtMatmul) -> Result<(), Error> {
                self.0.lock().expect("nobody panicked").push(product_of("epilogue", product.gemm.beta));
                Ok(())
            }
        }
        Ok(Some(Box::new(Noting(self.requests.clone()))))
    }
    fn plan_convolution(&self, _: &Convolution) -> Result<Option<Box<dyn PlannedConvolution>>, Error> {
        // So that kernels are asked for whether or not there is a way.
        Ok(None)
    }
    fn begin_capture(&self) -> Result<(), Error> {
        Ok(())
    }
    fn end_capture(&self) -> Result<Box<dyn Recording>, Error> {
        struct Nothing;
        impl Recording for Nothing {
            fn replay(&self) -> Result<(), Error> {
                Ok(())
            }
        }
        Ok(Box::new(Nothing))
    }
}

/// A copy to the device, or from there, of so many bytes.
struct Staged {
    to_device: bool,
    address: u64,
    memory: NonNull<u8>,
    bytes: usize,
}

// SAFETY: nobody else uses the memory as long as the copy is not done.
unsafe impl Send for Staged {}

/// The process, and how to talk to it.
struct Pipes {
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    child: Child,
    /// What was asked for last: it is done as late as may be.
    copies: Vec<Staged>,
}

impl Drop for Pipes {
    fn drop(&mut self) {
        // It ends with its input.
        self.input = None;
        let _ = self.child.wait();
    }
}

impl Pipes {
    fn send(&mut self, message: &[u8]) {
        let input = self.input.as_mut().expect("it is running");
        input.write_all(message).expect("the simulator has not stopped");
        input.flush().expect("the simulator has not stopped");
    }

    fn ask(&mut self, words: &[u64], bytes: &[u8], answer: &mut [u8]) {
        self.send(&message(words, bytes));
        if !answer.is_empty() {
            let output = self.output.as_mut().expect("it is running");
            output.read_exact(answer).expect("the simulator has not stopped");
        }
    }

    /// Does the copies that were put off,
    fn catch_up(&mut self) {
        self.catch_up_to(self.copies.len());
    }

    /// or the first of them.
    fn catch_up_to(&mut self, count: usize) {
        let later = self.copies.split_off(count);
        for Staged { to_device, address, memory, bytes } in std::mem::replace(&mut self.copies, later) {
            // SAFETY: who asked for the copy guarantees that so many are there, and that nobody else uses them.
            let memory = unsafe { std::slice::from_raw_parts_mut(memory.as_ptr(), bytes) };
            if to_device {
                self.ask(&[b'u'.into(), address, bytes as u64], memory, &mut []);
            } else {
                self.ask(&[b'd'.into(), address, bytes as u64], &[], memory);
            }
        }
    }
}

fn message(words: &[u64], bytes: &[u8]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).chain(bytes.iter().copied()).collect()
}

struct Simulated {
    channel: Channel,
    kernels: Arc<BTreeMap<String, u64>>,
}

/// Where to what is asked for goes.
#[derive(Clone)]
struct Channel {
    pipes: Arc<Mutex<Pipes>>,
    /// What was asked for since a recording began.
    recorded: Arc<Mutex<Option<Vec<u8>>>>,
}

struct Recorded {
    pipes: Arc<Mutex<Pipes>>,
    messages: Vec<u8>,
}

impl Recording for Recorded {
    fn replay(&self) -> Result<(), Error> {
        let mut pipes = self.pipes.lock().expect("nobody panicked");
        pipes.catch_up();
        pipes.send(&self.messages);
        Ok(())
    }
}

impl Channel {
    fn ask(&self, words: &[u64], bytes: &[u8], answer: &mut [u8]) {
        if let Some(recorded) = &mut *self.recorded.lock().expect("nobody panicked") {
            assert!(answer.is_empty(), "nothing is answered while a graph is recorded");
            recorded.extend(message(words, bytes));
            return;
        }
        let mut pipes = self.pipes();
        pipes.catch_up();
        pipes.ask(words, bytes, answer);
    }

    fn pipes(&self) -> MutexGuard<'_, Pipes> {
        self.pipes.lock().expect("nobody panicked")
    }
}

impl Deref for Simulated {
    type Target = Channel;
    fn deref(&self) -> &Channel {
        &self.channel
    }
}

impl Simulated {
    fn put_off(&self, to_device: bool, address: u64, stage: &Stage, bytes: usize) {
        self.pipes().copies.push(Staged { to_device, address, memory: stage.memory, bytes });
    }
}

/// The numbers of a product, as the process reads them.
fn words(product: &Gemm) -> [u64; 13] {
    let Gemm { transposed, m, n, k, alpha, beta, starts, leading, .. } = *product;
    let [ta, tb] = transposed.map(u64::from);
    let [a, b, c] = starts;
    let [lda, ldb, ldc] = leading.map(|n| n as u64);
    [ta, tb, m as u64, n as u64, k as u64, alpha, a, lda, b, ldb, beta, c, ldc]
}

/// For convolutions in single precision: in double precision there is none, so that tests see both ways.
struct ConvolutionPlan {
    channel: Channel,
    kind: Convolution,
}

impl PlannedConvolution for ConvolutionPlan {
    fn workspace(&self) -> usize {
        100
    }
    fn run(&mut self, convolution: &Convolution, workspace: u64) -> Result<(), Error> {
        assert_eq!(convolution.kind(), self.kind, "a plan is for convolutions of one kind");
        assert!(workspace != 0, "there is memory for it");
        let Convolution { pass, x, kernel, y, padding, stride, dilation, groups, beta, .. } = *convolution;
        let mut words = vec![b'v'.into(), pass as u64];
        for planes in [x, kernel, y] {
            words.push(planes.address);
            words.extend(planes.lengths.iter().chain(&planes.strides).map(|n| *n as u64));
        }
        words.extend([padding, stride, dilation].as_flattened().iter().map(|n| *n as u64));
        words.extend([groups as u64, beta]);
        self.channel.ask(&words, &[], &mut []);
        Ok(())
    }
}

/// The process needs no plan, but for nothing else than this.
struct Plan {
    channel: Channel,
    kind: LtMatmul,
}

impl Planned for Plan {
    fn run(&mut self, product: &LtMatmul) -> Result<(), Error> {
        assert_eq!(product.kind(), self.kind, "a plan is for products of one kind");
        let LtMatmul { gemm, result, leading, ending, vector, aux, aux_leading } = product;
        let rest = [*result, *leading as u64, *ending as u64, *vector, *aux, *aux_leading as u64];
        self.channel.ask(&[&[b'e'.into()], &words(gemm)[..], &rest].concat(), &[], &mut []);
        Ok(())
    }
}

impl Driver for Simulated {
    fn allocate(&self, bytes: usize) -> Result<u64, Error> {
        let mut address = [0; 8];
        self.ask(&[b'a'.into(), bytes as u64], &[], &mut address);
        Ok(u64::from_le_bytes(address))
    }
    fn free(&self, address: u64) {
        // A test that fails has stopped the process.
        if !std::thread::panicking() {
            self.ask(&[b'f'.into(), address], &[], &mut []);
        }
    }
    fn zero(&self, address: u64, bytes: usize) -> Result<(), Error> {
        self.ask(&[b'z'.into(), address, bytes as u64], &[], &mut []);
        Ok(())
    }
    fn stage(&self, bytes: usize) -> Result<Stage, Error> {
        Ok(stage(bytes))
    }
    fn unstage(&self, stage: Stage) {
        if !std::thread::panicking() {
            self.pipes().catch_up();
            unstage(stage);
        }
    }
    unsafe fn upload(&self, address: u64, from: &Stage, bytes: usize) -> Result<(), Error> {
        self.put_off(true, address, from, bytes);
        Ok(())
    }
    unsafe fn download(&self, to: &Stage, address: u64, bytes: usize) -> Result<(), Error> {
        self.put_off(false, address, to, bytes);
        Ok(())
    }
    fn wait(&self, stage: &Stage) -> Result<(), Error> {
        // No further than the last copy from or to there: others may be done later still.
        let mut pipes = self.pipes();
        if let Some(last) = pipes.copies.iter().rposition(|copy| copy.memory == stage.memory) {
            pipes.catch_up_to(last + 1);
        }
        Ok(())
    }
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.ask(&[b'c'.into(), to, from, bytes as u64], &[], &mut []);
        Ok(())
    }
    fn synchronize(&self) -> Result<(), Error> {
        self.pipes().catch_up();
        Ok(())
    }
    fn kernel(&self, _: &str, name: &str) -> Result<Kernel, Error> {
        Ok(Kernel(*self.kernels.get(name).expect("the scenario takes the same kernels each time")))
    }
    fn launch(
        &self,
        kernel: Kernel,
        grid: (u32, u32),
        block: (u32, u32),
        words: &[u64],
    ) -> Result<(), Error> {
        let (grid, block) = ((grid.0.into(), grid.1.into()), (block.0.into(), block.1.into()));
        let head = [b'l'.into(), kernel.0, grid.0, grid.1, block.0, block.1, words.len() as u64];
        self.ask(&[&head, words].concat(), &[], &mut []);
        Ok(())
    }
    fn gemm(&self, product: &Gemm) -> Result<(), Error> {
        let [to_a, to_b, to_c] = product.apart.map(|n| n as u64);
        let stack = [product.count as u64, to_a, to_b, to_c];
        self.ask(
            &[&[b'g'.into(), u64::from(product.double)], &words(product)[..], &stack].concat(),
            &[],
            &mut [],
        );
        Ok(())
    }
    fn plan(&self, product: &LtMatmul) -> Result<Option<Box<dyn Planned>>, Error> {
        Ok(Some(Box::new(Plan { channel: self.channel.clone(), kind: product.kind() })))
    }
    fn plan_convolution(&self, asked: &Convolution) -> Result<Option<Box<dyn PlannedConvolution>>, Error> {
        let plan = || -> Box<dyn PlannedConvolution> {
            Box::new(ConvolutionPlan { channel: self.channel.clone(), kind: asked.kind() })
        };
        Ok((!asked.double).then(plan))
    }
    fn begin_capture(&self) -> Result<(), Error> {
        self.pipes().catch_up();
        *self.recorded.lock().expect("nobody panicked") = Some(Vec::new());
        Ok(())
    }
    fn end_capture(&self) -> Result<Box<dyn Recording>, Error> {
        let recorded = self.recorded.lock().expect("nobody panicked").take();
        let messages = recorded.ok_or(Error::Capture { reason: "no recording has begun" })?;
        Ok(Box::new(Recorded { pipes: self.pipes.clone(), messages }))
    }
}

#[cfg(test)]
mod tests {
    use super::{PRELUDE, simulate};
    use crate::cuda::{Device, DeviceArray};
    use ndarray::{Array1, Ix1};

    /// What is in 256 numbers after one block of 256 threads has run a kernel with that body, of which `x` is where they are.
    fn after(body: &str) -> Vec<Array1<f32>> {
        let source = format!(
            "{PRELUDE}namespace faulty_space {{ struct Arguments {{ float *x; }};\nextern \"C\" __global__ void faulty(const Arguments a) {{\n\
             float *x = a.x; const int i = threadIdx.x; __shared__ float shared[256];\n{body}\n}} }}"
        );
        simulate(|device: &Device| {
            let x = DeviceArray::<f32, Ix1>::zeros(device, 256).expect("memory");
            let kernel = device.driver().kernel(&source, "faulty").expect("a kernel");
            let words = [x.place().start.addr() as u64];
            let driver = device.after_all().expect("a device");
            driver.launch(kernel, (1, 1), (256, 1), &words).expect("a device");
            drop(driver);
            x.to_array().expect("memory")
        })
    }

    #[test]
    fn what_is_right_is_the_same_in_every_order() {
        let results = after("shared[i] = i; __syncthreads(); x[i] = shared[255 - i];");
        assert_eq!(results.len(), 3);
        assert!(results.iter().all(|x| *x == Array1::from_shape_fn(256, |i| 255.0 - i as f32)));
    }

    /// Without the barrier it depends on who comes first.
    #[test]
    fn a_race_shows_up() {
        let results = after("shared[i] = i + 1; x[i] = shared[255 - i];");
        assert!(results[0] != results[1] && results[1] != results[2]);
    }

    #[test]
    #[should_panic(expected = "the simulator has not stopped")]
    fn what_is_beyond_an_array_stops_it() {
        after("x[i + 1] = i;");
    }

    #[test]
    #[should_panic(expected = "the simulator has not stopped")]
    fn a_barrier_that_some_threads_miss_stops_it() {
        after("if (i > 100) __syncthreads(); x[i] = i;");
    }
}
