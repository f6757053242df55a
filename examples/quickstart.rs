//! Teaches a small network to read handwritten digits: `cargo run --release --example quickstart`.
//!
//! The network is a handful of ordinary functions that work in place, in buffers of the caller's. `#[differentiable]`
//! derives their gradient, which asks the heap for nothing either, once it has been called for the first time.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use ndarray::{Array, Array1, Array2, Dimension, Zip};
use plotters::prelude::*;
use pullback::prelude::*;
use pullback::testing::{CountingAllocator, allocations_in};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const PIXELS: usize = 64;
const HIDDEN: usize = 64;
const CLASSES: usize = 10;

const TRAINING: usize = 1437;
const BATCH: usize = 64;
const EPOCHS: usize = 60;

// ---------------------------------------------------------------------------------------------------------------------
// The network: the only part that knows of derivatives is the attribute.

/// H ← tanh(H + b), row by row.
#[differentiable]
fn add_bias_tanh(h: &mut Array2<f64>, bias: &Array1<f64>) {
    for row in 0..h.nrows() {
        for unit in 0..h.ncols() {
            h[[row, unit]] = (h[[row, unit]] + bias[unit]).tanh();
        }
    }
}

/// Z ← Z + b, row by row.
#[differentiable]
fn add_bias(z: &mut Array2<f64>, bias: &Array1<f64>) {
    for row in 0..z.nrows() {
        for class in 0..z.ncols() {
            z[[row, class]] += bias[class];
        }
    }
}

/// −ln softmax(z)\[label\] for one row of the scores.
#[differentiable]
fn cross_entropy(z: &Array2<f64>, row: usize, label: usize) -> f64 {
    let mut largest = z[[row, 0]];
    for class in 1..z.ncols() {
        largest = largest.max(z[[row, class]]);
    }
    let mut total = 0.0;
    for class in 0..z.ncols() {
        total += (z[[row, class]] - largest).exp();
    }
    largest + total.ln() - z[[row, label]]
}

/// The mean loss of the images `x`, one a row. `h` and `z` are room for the hidden units and for the scores.
#[differentiable]
#[allow(clippy::too_many_arguments)]
fn loss(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    h: &mut Array2<f64>,
    z: &mut Array2<f64>,
    #[constant] x: &Array2<f64>,
    #[constant] labels: &[usize],
) -> f64 {
    mul_into(h, x, w1);
    add_bias_tanh(h, b1);
    mul_into(z, h, w2);
    add_bias(z, b2);
    let mut total = 0.0;
    for row in 0..labels.len() {
        total += cross_entropy(z, row, labels[row]);
    }
    total / labels.len() as f64
}

// ---------------------------------------------------------------------------------------------------------------------
// The training.

fn main() -> Result<(), Box<dyn Error>> {
    let mut random = Random(2026);
    let (training, test) = Digits::read(include_str!("data/digits.csv"))?.split(TRAINING, &mut random);

    let mut net = Network::new(&mut random);
    println!("{} handwritten digits to learn from, {} to be tested on", training.len(), test.len());
    println!("{PIXELS} pixels → {HIDDEN} tanh → {CLASSES} classes: {} parameters\n", net.len());

    let mut gradient = loss::gradient();
    let (mut w1, mut b1) = (Adam::new(&net.w1), Adam::new(&net.b1));
    let (mut w2, mut b2) = (Adam::new(&net.w2), Adam::new(&net.b2));
    let mut room = Room::new(BATCH);
    let mut batch = Digits::zeros(BATCH);
    let mut order: Vec<usize> = (0..training.len()).collect();
    let mut history = Vec::with_capacity(EPOCHS);

    let bar = progress_bar()?;
    let start = Instant::now();
    for epoch in 1..=EPOCHS {
        random.shuffle(&mut order);
        for indices in order.chunks_exact(BATCH) {
            batch.gather(&training, indices);
            let (_, d) = gradient.value_and_gradient(
                &net.w1,
                &net.b1,
                &net.w2,
                &net.b2,
                &mut room.h,
                &mut room.z,
                &batch.images,
                &batch.labels,
            );
            w1.update(&mut net.w1, d.w1);
            b1.update(&mut net.b1, d.b1);
            w2.update(&mut net.w2, d.w2);
            b2.update(&mut net.b2, d.b2);
        }
        let point = Point { training: net.evaluate(&training), test: net.evaluate(&test) };
        if bar.is_hidden() && epoch % 10 == 0 {
            println!("  epoch {epoch:2}   {point}");
        }
        bar.set_message(point.to_string());
        bar.inc(1);
        history.push(point);
    }
    let trained_in = start.elapsed();
    bar.finish();

    // What a step costs, once it has settled.
    let mut primal = Vec::new();
    let mut reverse = Vec::new();
    let mut allocations = 0;
    for _ in 0..200 {
        let start = Instant::now();
        black_box(net.loss(&batch, &mut room));
        primal.push(start.elapsed());

        let start = Instant::now();
        (_, allocations) = allocations_in(|| {
            black_box(gradient.value_and_gradient(
                &net.w1,
                &net.b1,
                &net.w2,
                &net.b2,
                &mut room.h,
                &mut room.z,
                &batch.images,
                &batch.labels,
            ))
            .0
        });
        reverse.push(start.elapsed());
    }
    let (primal, reverse) = (median_ms(primal), median_ms(reverse));
    let last = history.last().expect("at least one epoch");
    let plot = concat!(env!("CARGO_MANIFEST_DIR"), "/target/quickstart.svg");
    draw(&history, Path::new(plot))?;

    println!("\n  trained in       {:7.2} s", trained_in.as_secs_f64());
    println!("  right, training  {:7.2} %", 100.0 * last.training.accuracy);
    println!("  right, test      {:7.2} %\n", 100.0 * last.test.accuracy);
    println!("  loss             {primal:7.3} ms for a batch of {BATCH}");
    println!("  with gradient    {reverse:7.3} ms, {:.2} times as long", reverse / primal);
    println!("  heap allocations {allocations:7} in a step with gradient\n");
    println!("  curves           {plot}");
    Ok(())
}

struct Network {
    w1: Array2<f64>,
    b1: Array1<f64>,
    w2: Array2<f64>,
    b2: Array1<f64>,
}

impl Network {
    fn new(random: &mut Random) -> Self {
        let mut weights = |inputs: usize, outputs: usize| {
            let range = (6.0 / (inputs + outputs) as f64).sqrt();
            Array2::from_shape_simple_fn((inputs, outputs), || range * (2.0 * random.unit() - 1.0))
        };
        Network {
            w1: weights(PIXELS, HIDDEN),
            b1: Array1::zeros(HIDDEN),
            w2: weights(HIDDEN, CLASSES),
            b2: Array1::zeros(CLASSES),
        }
    }

    fn len(&self) -> usize {
        self.w1.len() + self.b1.len() + self.w2.len() + self.b2.len()
    }

    fn loss(&self, digits: &Digits, room: &mut Room) -> f64 {
        loss(&self.w1, &self.b1, &self.w2, &self.b2, &mut room.h, &mut room.z, &digits.images, &digits.labels)
    }

    fn evaluate(&self, digits: &Digits) -> Score {
        let mut room = Room::new(digits.len());
        let loss = self.loss(digits, &mut room);
        let right = room.z.outer_iter().zip(&digits.labels).filter(|(scores, label)| {
            let largest = (0..CLASSES).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            largest == Some(**label)
        });
        Score { loss, accuracy: right.count() as f64 / digits.len() as f64 }
    }
}

/// Room for what the network computes on the way.
struct Room {
    h: Array2<f64>,
    z: Array2<f64>,
}

impl Room {
    fn new(images: usize) -> Self {
        Room { h: Array2::zeros((images, HIDDEN)), z: Array2::zeros((images, CLASSES)) }
    }
}

/// Adam with weight decay, in place, for one array of parameters.
struct Adam<D> {
    steps: i32,
    mean: Array<f64, D>,
    square: Array<f64, D>,
}

impl<D: Dimension> Adam<D> {
    const RATE: f64 = 2e-3;
    const WEIGHT_DECAY: f64 = 0.1;
    const MEMORY: (f64, f64) = (0.9, 0.999);

    fn new(parameter: &Array<f64, D>) -> Self {
        let zeros = Array::zeros(parameter.raw_dim());
        Adam { steps: 0, mean: zeros.clone(), square: zeros }
    }

    fn update(&mut self, parameter: &mut Array<f64, D>, gradient: &Array<f64, D>) {
        self.steps += 1;
        let (short, long) = Self::MEMORY;
        let (of_mean, of_square) = (1.0 - short.powi(self.steps), 1.0 - long.powi(self.steps));
        Zip::from(parameter).and(gradient).and(&mut self.mean).and(&mut self.square).for_each(
            |p, &g, mean, square| {
                *mean += (1.0 - short) * (g - *mean);
                *square += (1.0 - long) * (g * g - *square);
                let direction = *mean / of_mean / ((*square / of_square).sqrt() + 1e-8);
                *p -= Self::RATE * (direction + Self::WEIGHT_DECAY * *p);
            },
        );
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The data.

/// Images, one a row, with pixels from 0 to 1, and the digits they show.
struct Digits {
    images: Array2<f64>,
    labels: Vec<usize>,
}

impl Digits {
    fn zeros(len: usize) -> Self {
        Digits { images: Array2::zeros((len, PIXELS)), labels: vec![0; len] }
    }

    fn read(csv: &str) -> Result<Self, Box<dyn Error>> {
        let mut digits = Digits::zeros(csv.lines().count());
        for (line, (mut image, label)) in
            csv.lines().zip(digits.images.outer_iter_mut().zip(&mut digits.labels))
        {
            let (pixels, digit) = line.rsplit_once(',').ok_or("a line without a comma")?;
            for (to, pixel) in image.iter_mut().zip(pixels.split(',')) {
                *to = pixel.parse::<f64>()? / 16.0;
            }
            *label = digit.parse()?;
        }
        Ok(digits)
    }

    fn len(&self) -> usize {
        self.labels.len()
    }

    /// Takes the images number `indices` of `from`.
    fn gather(&mut self, from: &Digits, indices: &[usize]) {
        for (to, &index) in indices.iter().enumerate() {
            self.images.row_mut(to).assign(&from.images.row(index));
            self.labels[to] = from.labels[index];
        }
    }

    /// Draws `first` images at random, and the others.
    fn split(&self, first: usize, random: &mut Random) -> (Digits, Digits) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        random.shuffle(&mut order);
        let part = |indices: &[usize]| {
            let mut digits = Digits::zeros(indices.len());
            digits.gather(self, indices);
            digits
        };
        (part(&order[..first]), part(&order[first..]))
    }
}

/// SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for last in (1..items.len()).rev() {
            items.swap(last, (self.unit() * (last + 1) as f64) as usize);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// What there is to see.

#[derive(Clone, Copy)]
struct Score {
    loss: f64,
    accuracy: f64,
}

/// The scores after one epoch.
struct Point {
    training: Score,
    test: Score,
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "loss {:.4}   test {:5.2} %", self.training.loss, 100.0 * self.test.accuracy)
    }
}

/// Shown on a terminal, hidden elsewhere.
fn progress_bar() -> Result<ProgressBar, Box<dyn Error>> {
    let style = ProgressStyle::with_template("  {bar:40.cyan/blue} epoch {pos:>2}/{len}   {msg}")?;
    Ok(ProgressBar::new(EPOCHS as u64).with_style(style.progress_chars("━╸─")))
}

fn median_ms(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    1e3 * times[times.len() / 2].as_secs_f64()
}

/// Draws loss and error rate against the epoch.
fn draw(history: &[Point], path: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(path.parent().ok_or("no folder to draw into")?)?;
    let area = SVGBackend::new(path, (960, 400)).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, right) = area.split_horizontally(480);
    let loss = |score: Score| score.loss;
    let error = |score: Score| 100.0 * (1.0 - score.accuracy);
    panel(&left, "mean cross-entropy", history, loss)?;
    panel(&right, "wrong answers, %", history, error)?;
    area.present()?;
    Ok(())
}

type Canvas<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn panel(
    canvas: &Canvas<'_>,
    title: &str,
    history: &[Point],
    height: fn(Score) -> f64,
) -> Result<(), Box<dyn Error>> {
    const BLUE: RGBColor = RGBColor(31, 119, 180);
    const ORANGE: RGBColor = RGBColor(255, 127, 14);

    let training: Vec<f64> = history.iter().map(|point| height(point.training)).collect();
    let test: Vec<f64> = history.iter().map(|point| height(point.test)).collect();
    let top = training.iter().chain(&test).fold(0.0, |top: f64, &height| top.max(height));
    let mut chart = ChartBuilder::on(canvas)
        .caption(title, ("sans-serif", 18))
        .margin(16)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(1..history.len(), 0.0..1.05 * top)?;
    chart.configure_mesh().disable_x_mesh().light_line_style(TRANSPARENT).x_desc("epoch").draw()?;
    for (name, colour, heights) in [("training", BLUE, training), ("test", ORANGE, test)] {
        let line = heights.into_iter().enumerate().map(|(i, height)| (i + 1, height));
        chart
            .draw_series(LineSeries::new(line, colour.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    chart.configure_series_labels().border_style(BLACK.mix(0.2)).background_style(WHITE).draw()?;
    Ok(())
}
