//! Gradients of functions of whole arrays, beside those by hand and, if `PULLBACK_PEERS` names a Python that has them, beside
//! PyTorch and JAX.

mod by_hand;
mod cases;
mod models;
mod peers;
mod ratios;
#[path = "../support/rounds.rs"]
mod rounds;

use std::cell::RefCell;

use peers::Peers;
use rounds::{Contender, HAND_WRITTEN, PRIMAL, Times, contender, timed};

const ROUNDS: usize = 101;
const DERIVED: &str = "derived";

/// The table, and who takes part.
struct Contest {
    peers: Option<RefCell<Peers>>,
    /// Whether `cargo bench` runs this; otherwise everything is called once, to see that it works.
    measured: bool,
    /// What the cases that are wanted have in their names.
    filter: Option<String>,
}

impl cases::Contest for Contest {
    fn wants(&self, peer: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| peer.contains(filter.as_str()))
    }

    fn case<P, D, H>(
        &mut self,
        name: &str,
        peer: &str,
        primal: impl FnMut() -> P,
        derived: impl FnMut() -> D,
        by_hand: impl FnMut() -> H,
    ) {
        let mut contenders: Vec<Contender<'_>> =
            vec![contender(PRIMAL, primal), contender(DERIVED, derived), contender(HAND_WRITTEN, by_hand)];
        if let Some(peers) = &self.peers {
            for library in ["torch", "jax"] {
                let run = move |calls| peers.borrow_mut().sample(library, peer, calls);
                contenders.push(timed(library, run));
            }
        }
        if !self.measured {
            contenders.iter_mut().for_each(|contender| _ = contender.allocations());
            return;
        }
        let times = Times::of(&mut contenders, ROUNDS);
        let microseconds = |i: usize| {
            if i < contenders.len() { format!("{:.1}", times.median(i) / 1e3) } else { "–".to_string() }
        };
        let share = |i: usize| {
            if i < contenders.len() { format!("{:.2}", times.ratio(1, i)) } else { "–".to_string() }
        };
        println!(
            "| {name:30} | {:>9} | {:>9} | {:>12} | {:>9} | {:>9} | {:>8} | {:>14} | {:>9} | {:>6} | {:>11} |",
            microseconds(0),
            microseconds(1),
            microseconds(2),
            microseconds(3),
            microseconds(4),
            share(0),
            share(2),
            share(3),
            share(4),
            contenders[1].allocations(),
        );
    }
}

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let mut contest = Contest { peers: Peers::start().map(RefCell::new), measured, filter };
    if measured {
        println!("Microseconds; behind them the ratios of the derived gradient to each of the others.\n");
        println!(
            "| {:30} | {:>9} | {:>9} | {:>12} | {:>9} | {:>9} | {:>8} | {:>14} | {:>9} | {:>6} | {:>11} |",
            "value and gradient",
            "primal",
            "derived",
            "hand-written",
            "PyTorch",
            "JAX",
            "× primal",
            "× hand-written",
            "× PyTorch",
            "× JAX",
            "allocations"
        );
        println!(
            "|{:-<32}|{:->11}|{:->11}|{:->14}|{:->11}|{:->11}|{:->10}|{:->16}|{:->11}|{:->8}|{:->13}|",
            "", ":", ":", ":", ":", ":", ":", ":", ":", ":", ":"
        );
    }
    cases::all(&mut contest);
    ratios::all(measured, contest.filter.as_deref());
}
