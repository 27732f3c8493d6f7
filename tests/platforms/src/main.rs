//! The golden values as a program, and the start of threads: it panics if a bit differs, or a thread starts otherwise than it
//! should.

#[path = "../../golden.rs"]
mod golden;

use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{Hooks, Simulation};

struct Idle;

impl Hooks for Idle {
    type Error = std::convert::Infallible;
}

/// WebAssembly has neither threads nor a clock: that is an error, and no panic.
fn check_threads() {
    let has_threads = !cfg!(target_family = "wasm");
    let overlap = Overlap::new(Simulation::default());
    assert_eq!(overlap.is_ok(), has_threads);
    let runner = Runner::new(Simulation::default(), Idle, RunnerSettings::default());
    assert_eq!(runner.is_ok(), has_threads);
}

fn main() {
    golden::compare();
    check_threads();
    println!("all bits are those of the other platforms");
}
