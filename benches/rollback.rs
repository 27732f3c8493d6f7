//! Measures the cost of going back and resimulating, compared with as many bare steps of the same scene, which are
//! neither saved nor displayed. Also measures the extra cost of an ordinary frame while snapshots are kept, and prints
//! a table. Then measures a second simulation that predicts only the bodies near the player.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod compare;

use evenstep::rewind::Kept;
use std::time::Duration;

use compare::compare;
use criterion::{Criterion, criterion_group, criterion_main};
use evenstep::{BodyKey, Rate, Simulation};

/// Clones of a state are mostly allocations: see benches/README.md.
#[cfg(mimalloc)]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const FRAME: Duration = Duration::from_millis(16);

/// Slightly more than a step, so every such frame has one step.
const STEP: Duration = Duration::from_nanos(16_666_667);

type Fill = fn(&mut Simulation, usize) -> Vec<BodyKey>;

const FILLS: [(&str, Fill); 3] = [
    ("free", scenes::spinners),
    ("stacks", scenes::pile),
    ("heap", scenes::heap),
];

fn scene(fill: Fill, bodies: usize) -> Simulation {
    let mut simulation = scenes::with_floor(Rate::default());
    let keys = fill(&mut simulation, bodies);
    scenes::keep_awake(&mut simulation, &keys);
    for _ in 0..120 {
        simulation.advance(FRAME, |_, _| ());
    }
    simulation
}

/// Measures a rollback and an ordinary frame, as a line of the table.
fn rollback(
    c: &mut Criterion,
    name: &str,
    simulation: &Simulation,
    (bodies, steps, interval): (usize, u64, u64),
) -> Option<String> {
    let what = format!("{name}, {bodies} bodies, {steps} steps, interval {interval}");
    let mut running = simulation.clone();
    running.keep(Kept {
        ticks: steps,
        interval,
        ..Kept::default()
    });
    let mut without = simulation.clone();
    let (_, ordinary) = compare(
        c,
        &format!("frame: {what}"),
        ("with states", || {
            running.advance(FRAME, |_, _| ());
        }),
        ("without", || {
            without.advance(FRAME, |_, _| ());
        }),
    )?;
    // An average rollback goes to a tick halfway between two snapshots.
    while running.physics.tick() < 2 * steps
        || (running.physics.tick() - steps) % interval != interval / 2
    {
        running.advance(FRAME, |_, _| ());
    }
    let present = running.physics.tick();
    let mut bare = std::mem::take(running.clone().physics.rapier_mut());
    let (time, ratio) = compare(
        c,
        &what,
        ("rollback", || {
            running.resimulate(present - steps, |_, _| ()).unwrap();
        }),
        ("bare steps", || (0..steps).for_each(|_| bare.step())),
    )?;
    let bytes = running.rewind_bytes() / usize::try_from(steps).expect("few") / bodies;
    let fits = |limit: u64| {
        if time <= Duration::from_micros(limit) {
            "yes"
        } else {
            "no"
        }
    };
    Some(format!(
        "| {name} | {bodies} | {steps} | {interval} | {:.2} ms | {ratio:.2} | {ordinary:.2} | {bytes} | {} | {} |",
        1e3 * time.as_secs_f64(),
        fits(4_000),
        fits(16_667),
    ))
}

fn rollbacks(c: &mut Criterion) {
    let mut lines = Vec::new();
    for (name, fill) in FILLS {
        for bodies in [50, 200, 1_000] {
            let simulation = scene(fill, bodies);
            for (steps, interval) in [(8, 1), (8, 4), (8, 8), (20, 1)] {
                lines.extend(rollback(c, name, &simulation, (bodies, steps, interval)));
            }
        }
    }
    println!(
        "| scene | bodies | steps | interval | time | × bare steps | frame × without | bytes per body and step | in 4 ms | in 16.7 ms |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for line in lines {
        println!("{line}");
    }
}

/// Measures what a game with rollback netcode does in each frame, when input is always eight ticks late: one step, and a
/// rollback of eight, compared with nine bare steps.
fn netcode(c: &mut Criterion) {
    const STEPS: u64 = 8;
    let mut lines = Vec::new();
    for (name, fill) in FILLS {
        let simulation = scene(fill, 200);
        let mut bare = std::mem::take(simulation.clone().physics.rapier_mut());
        for interval in [1, 4, 8] {
            let mut running = simulation.clone();
            running.keep(Kept {
                ticks: STEPS + 1,
                interval,
                ..Kept::default()
            });
            for _ in 0..4 * STEPS {
                running.advance(STEP, |_, _| ());
            }
            let frame = || {
                running.advance(STEP, |_, _| ());
                let tick = running.physics.tick() - STEPS;
                running.confirm(tick + 1);
                running.resimulate(tick, |_, _| ()).expect("it is kept");
            };
            let result = compare(
                c,
                &format!("netcode: {name}, interval {interval}"),
                ("step and rollback", frame),
                ("bare steps", || (0..=STEPS).for_each(|_| bare.step())),
            );
            lines.extend(result.map(|(time, ratio)| {
                let time = 1e3 * time.as_secs_f64();
                format!("| {name} | {interval} | {time:.2} ms | {ratio:.2} |")
            }));
        }
    }
    println!("| scene | interval | frame | × nine bare steps |");
    println!("| --- | --- | --- | --- |");
    for line in lines {
        println!("{line}");
    }
}

/// Compares two frames that predict eight steps. One predicts a few bodies in a second simulation, and runs one step of
/// all bodies. The other predicts all bodies.
fn partial(c: &mut Criterion) {
    const STEPS: u64 = 8;
    const NEAR: usize = 14;
    let resimulate = |simulation: &mut Simulation| {
        let tick = simulation.physics.tick() - STEPS;
        simulation
            .resimulate(tick, |_, _| ())
            .expect("the tick is kept");
    };
    for bodies in [40, 200, 1_000] {
        let mut whole = scene(scenes::heap, bodies);
        let mut near = scene(scenes::heap, NEAR);
        let mut full = whole.clone();
        for predicted in [&mut near, &mut full] {
            predicted.keep(Kept {
                ticks: STEPS,
                ..Kept::default()
            });
            predicted.advance(Duration::from_millis(200), |_, _| ());
        }
        compare(
            c,
            &format!("prediction of {STEPS} steps, {bodies} bodies"),
            (&format!("of {NEAR} of them"), || {
                whole.advance(Duration::from_nanos(16_666_667), |_, _| ());
                resimulate(&mut near);
            }),
            ("of all", || resimulate(&mut full)),
        );
    }
}

criterion_group! {
    name = benches;
    config = compare::config();
    targets = rollbacks, netcode, partial
}
criterion_main!(benches);
