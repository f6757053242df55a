//! Constants that change on the way: behind a shared reference, since they have a cell inside, and where no name stands for what is written to.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pullback::prelude::*;
use pullback::testing::check_rule;

/// A generator of random numbers that may be shared.
struct Shared(Cell<u64>);

impl Shared {
    fn seeded(seed: u64) -> Self {
        Shared(Cell::new(seed))
    }
    fn below(&self, n: usize) -> usize {
        self.0.set((self.0.get() * 1_103_515_245 + 12_345) % (1 << 31));
        (self.0.get() >> 8) as usize % n
    }
    fn heads(&self) -> bool {
        self.below(2) == 0
    }
}

#[differentiable]
fn walked(x: &[f64], n: usize) -> f64 {
    let random = Shared::seeded(7);
    let mut at = x[0];
    for _ in 0..random.below(3) + n {
        if random.heads() {
            at = at * x[random.below(x.len())] + x[1];
        }
        match random.below(3) {
            0 => at = at.sin(),
            1 => at += x[1] * at,
            _ => at *= (random.below(5) + 1) as f64,
        }
    }
    at
}

#[differentiable]
fn counted(x: f64, n: usize) -> f64 {
    let (steps, weight) = (Cell::new(1), Cell::new(0.5));
    let mut y = x;
    for _ in 0..n {
        steps.set(steps.get() + 2);
        y = y * x * steps.get() as f64;
        let before = steps.replace(steps.get() * 2);
        weight.set(weight.get() * 1.5);
        if weight.get() > 1.0 {
            y += x * y * weight.get();
        }
        y *= (steps.get() - before) as f64 + x;
    }
    y
}

/// All calls of a function see it.
static CALLS: AtomicUsize = AtomicUsize::new(0);

#[differentiable]
fn counted_for_all(x: f64, n: usize) -> f64 {
    CALLS.store(0, Ordering::SeqCst);
    let mut y = x;
    for _ in 0..n {
        if CALLS.fetch_add(1, Ordering::SeqCst) % 2 == 0 {
            y = y * x + x;
        }
        y *= CALLS.load(Ordering::SeqCst) as f64 * x;
    }
    y
}

#[differentiable]
fn behind_guards(x: f64, n: usize) -> f64 {
    let (count, log) = (Mutex::new(1), RefCell::new(vec![1]));
    let shared = Rc::new(Cell::new(3));
    let (first, other) = (OnceCell::new(), Rc::clone(&shared));
    let mut y = x;
    for i in 0..n {
        *count.lock().unwrap() += 1;
        log.borrow_mut().push(i);
        log.borrow_mut()[0] += 2;
        other.set(other.get() + 1);
        let begun = first.get().is_some();
        let start = *first.get_or_init(|| i + 2);
        if *count.lock().unwrap() % 2 == 0 && shared.get() > 4 || begun {
            y = y * x;
        }
        y = y * x + (*count.lock().unwrap() * log.borrow()[0] * log.borrow().len() * start) as f64 * x;
        let mut entry = log.borrow_mut();
        entry[0] += 1;
        y *= entry[0] as f64 * shared.get() as f64;
    }
    y
}

#[test]
fn cells() {
    check_rule(walked::rule, [(vec![0.7, 0.4, 1.2], 3), (vec![-0.3, 0.8], 6)]);
    check_rule(counted::rule, [(1.25, 1), (0.5, 3)]);
    check_rule(counted_for_all::rule, [(1.25, 1), (0.5, 4)]);
    check_rule(behind_guards::rule, [(1.25, 1), (0.5, 4)]);
}

/// How much of each kind is left.
#[derive(Default)]
struct Stock {
    left: BTreeMap<&'static str, usize>,
    order: Vec<usize>,
    last: Option<usize>,
}

#[differentiable]
fn sold(prices: &[f64], #[constant] names: &[&'static str]) -> f64 {
    let mut stock = Stock::default();
    let mut takings = 0.0;
    for (i, (price, name)) in prices.iter().zip(names).enumerate() {
        *stock.left.entry(name).or_insert(1) += 2;
        if let Some(left) = stock.left.get_mut(name) {
            *left *= 2;
        }
        takings = takings * price + price * stock.left[name] as f64;
        stock.order.push(i);
        *stock.order.last_mut().unwrap() += 3;
        match stock.last.as_mut() {
            Some(last) => *last += stock.order[i],
            None => stock.last = Some(1),
        }
        *stock.last.get_or_insert(0) += 1;
        takings *= stock.last.unwrap_or(0) as f64 + price * stock.order[0] as f64;
    }
    takings
}

#[differentiable]
fn through_references(x: f64, n: usize) -> f64 {
    let mut counts = [1, 2, 3];
    let (mut rows, mut held) = (vec![Some(2), None], Box::new(1));
    let mut y = x;
    for i in 0..n {
        let [first, _, last] = &mut counts;
        *first += *last;
        *last += 1;
        let row = rows[i % 2].get_or_insert(4);
        *row += 1;
        y = y * x * *row as f64;
        *row += 3;
        *held += 1;
        y = y * *held as f64 + x * counts[0] as f64 * counts[2] as f64;
        y *= rows[0].unwrap() as f64;
    }
    y
}

#[test]
fn in_place() {
    check_rule(sold::rule, [(vec![0.5, 1.5, 0.25], vec!["tea", "rice", "tea"])]);
    check_rule(through_references::rule, [(1.25, 1), (0.5, 3)]);
}

#[differentiable]
fn looked_at_before(x: f64, n: usize) -> f64 {
    let weights = [2.0, 3.0, 4.0, 5.0];
    let mut next = weights.iter().cycle();
    let (mut heap, mut set) = (BinaryHeap::from([3]), BTreeSet::from([3, 5]));
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut y = x;
    for i in 0..n {
        y = y * x * next.next().unwrap();
        let weight = next.nth(1).unwrap();
        y = y * y * weight;
        heap.push(2 * i);
        y = y * x * *heap.peek().unwrap() as f64;
        heap.push(9);
        y *= *set.iter().next().unwrap_or(&1) as f64 * x;
        set.insert(i);
        let seen = names.entry(format!("n{}", i % 2)).or_default();
        *seen += 1;
        y *= *seen as f64;
    }
    y
}

#[test]
fn what_is_found_is_kept_before_it_changes() {
    check_rule(looked_at_before::rule, [(1.25, 1), (0.75, 3)]);
}

#[differentiable]
fn rotated(x: f64, n: usize) -> f64 {
    let mut state = [x, x * x, 2.0];
    let mut pair = [[x, 1.0], [0.5, x]];
    for _ in 0..n {
        let [a, _, c] = &mut state;
        *a += *c * x;
        *c = *a * *c;
        std::mem::swap(a, c);
        let [row, other] = &mut pair;
        row[0] += other[1] * x;
        other[0] *= row[0];
    }
    state[0] * state[2] + pair[1][0]
}

#[differentiable]
fn pushed(stack: &mut Vec<f64>, x: f64) -> usize {
    stack.push(x * x);
    stack.len()
}

#[differentiable]
fn sums_of_integers(x: f64) -> f64 {
    let mut stack = vec![x];
    let n: usize = (0..2).map(|_| pushed(&mut stack, x)).sum();
    let m = (0..2).map(|i| pushed(&mut stack, x) + i).product::<usize>();
    stack.iter().sum::<f64>() * x * (n * m) as f64
}

#[test]
fn elements_have_names() {
    check_rule(rotated::rule, [(1.25, 1), (0.5, 3)]);
    check_rule(sums_of_integers::rule, [(1.25,)]);
}

thread_local! {
    static DRAWN: Cell<usize> = const { Cell::new(0) };
}

/// Another number with each call.
fn drawn() -> f64 {
    DRAWN.set(DRAWN.get() + 1);
    (DRAWN.get() % 5) as f64
}

#[differentiable]
fn held(x: f64, n: usize) -> f64 {
    DRAWN.set(0);
    let random = Shared::seeded(3);
    let mut y = x;
    for _ in 0..n {
        y = y * x * constant(drawn()) + constant(random.below(4) as f64 + 0.5) * y;
        y *= x + constant(drawn().sqrt());
    }
    y
}

#[test]
fn held_as_constants() {
    check_rule(held::rule, [(1.25, 1), (0.5, 4)]);
}

struct Draws(usize);

impl Draws {
    fn next(&mut self) -> usize {
        self.0 = (self.0 * 5 + 3) % 16;
        self.0 % 6
    }
}

/// Draws happen in the order in which they are written.
#[differentiable]
#[allow(unused_parens, reason = "they have made a difference")]
fn drawn_in_order(x: f64, weights: &[f64]) -> (f64, f64) {
    let mut draws = Draws(0);
    let table = [0.5, 0.2, 0.9];
    let y = (x - ((draws.next()) % 7) as f64) * weights[draws.next() % weights.len()];
    (x * y - ((draws.next()) % 5) as f64, table[draws.next() % 3])
}

#[test]
fn draws_happen_in_order() {
    check_rule(drawn_in_order::rule, [(0.3, vec![0.3, 0.7]), (-0.7, vec![0.5, 0.4, 1.1])]);
}

/// What a loop takes out is gone when it ends.
#[differentiable]
fn drained(x: &[f64], rounds: usize) -> f64 {
    let (mut queue, mut next) = (vec![0], Vec::new());
    let mut sum = 0.0;
    for k in 0..rounds {
        'items: for i in queue.drain(..) {
            sum += x[i] * x[k % x.len()];
            for j in 0..3 {
                if i + j == 2 {
                    continue 'items;
                }
                next.push((i + j) % x.len());
            }
        }
        queue.append(&mut next);
    }
    let last: f64 = queue.drain(1..).map(|i| x[i]).sum();
    sum * x[queue[0]] + last * queue.len() as f64
}

#[test]
fn loops_let_go_of_what_they_drain() {
    check_rule(drained::rule, [(vec![0.3, 0.7, 0.4], 3), (vec![0.5, 0.9], 1)]);
}
