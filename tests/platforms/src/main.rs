//! The golden values and the start of threads as a program. It panics if a bit differs, or if a thread starts on a
//! platform without threads.

// The test itself, for platforms without a test runner.
#[path = "../../laws/golden/mod.rs"]
mod golden;

use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{Hooks, Simulation};

struct Idle;

impl Hooks for Idle {
    type Error = std::convert::Infallible;
}

/// Checks that WebAssembly, which has neither threads nor a clock, returns an error and does not panic.
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
    println!("all bits equal those of the other platforms");
}
