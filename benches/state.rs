//! Measures the cost of saving and restoring a state compared with one step of the same scene, and the state's memory
//! and checksum.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod compare;

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use compare::compare;
use criterion::{Criterion, criterion_group, criterion_main};
use evenstep::{Rate, Simulation};

const FRAME: Duration = Duration::from_millis(16);

/// Returns a thousand crates in a heap that touch and roll, and a thousand that spin in free space.
fn scenes_of_1000() -> [(&'static str, Simulation); 3] {
    let mut heap = scenes::with_floor(Rate::default());
    let keys = scenes::heap(&mut heap, 1_000);
    scenes::keep_awake(&mut heap, &keys);
    let mut stacks = scenes::with_floor(Rate::default());
    let keys = scenes::pile(&mut stacks, 1_000);
    scenes::keep_awake(&mut stacks, &keys);
    let mut free = scenes::space(60);
    let keys = scenes::spinners(&mut free, 1_000);
    scenes::keep_awake(&mut free, &keys);
    let mut all = [("heap", heap), ("stacks", stacks), ("free", free)];
    for (_, simulation) in &mut all {
        for _ in 0..120 {
            simulation.advance(FRAME, |_, _| ());
        }
    }
    all
}

fn state(c: &mut Criterion) {
    for (name, simulation) in scenes_of_1000() {
        let memory = allocation_counter::measure(|| std::mem::forget(simulation.clone()));
        let pairs = simulation.physics.rapier().contact_pairs().count();
        println!(
            "{name}: {} bytes per state, {} per body, in {} allocations; {pairs} contact pairs",
            memory.bytes_current,
            memory.bytes_current / 1_000,
            memory.count_current,
        );
        let running = RefCell::new(simulation.clone());
        let mut step = simulation.clone();
        let mut run_step = || {
            step.begin_frame(step.clock().settings().rate().period() * 2);
            step.next_step();
            step.run_step();
            step.end_frame();
        };
        compare(
            c,
            &format!("save, {name}"),
            ("clone", || drop(black_box(running.borrow().clone()))),
            ("one step", &mut run_step),
        );
        let saved = simulation.clone();
        compare(
            c,
            &format!("checksum, {name}"),
            ("checksum", || {
                black_box(running.borrow().physics.checksum());
            }),
            ("clone", || drop(black_box(running.borrow().clone()))),
        );
        compare(
            c,
            &format!("restore, {name}"),
            ("clone_from", || running.borrow_mut().clone_from(&saved)),
            ("one step", run_step),
        );
    }
}

criterion_group! {
    name = benches;
    config = compare::config();
    targets = state
}
criterion_main!(benches);
