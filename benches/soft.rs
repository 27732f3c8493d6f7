//! Measures the cost of blending a soft body between its last two states, as in the book's chapter on poses. Compares
//! a frame with a step, and one without, with Rapier's step of the same body.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod compare;

use std::cell::RefCell;
use std::hint::black_box;

use compare::compare;
use criterion::{Criterion, criterion_group, criterion_main};
use evenstep::Rate;
use evenstep::rapier::prelude::*;
use evenstep::render::Interpolated;

/// Returns bodies that fall onto a floor.
fn bodies() -> [(&'static str, SoftBodyBuilder); 4] {
    let cloth = |side| {
        let (along, across) = (Vector::X * 0.1, Vector::Z * 0.1);
        SoftBodyBuilder::cloth(Vector::Y * 2.0, along, across, side, side)
    };
    let cube = |side| {
        let half = Vector::splat(0.05 * side as f32);
        SoftBodyBuilder::cuboid(Vector::Y * 3.0, half, side, side, side)
    };
    [
        ("cloth of 1,024", cloth(32)),
        ("cloth of 10,000", cloth(100)),
        ("cube of 1,000", cube(10)),
        ("cube of 10,648", cube(22)),
    ]
}

fn positions(world: &PhysicsWorld, body: SoftBodyHandle) -> Vec<Vector> {
    world.soft_bodies[body].particle_positions().collect()
}

fn vertices(particles: &Interpolated<Vec<Vector>>, tick: u64) -> Vec<Vector> {
    particles.at(tick, black_box(0.3), |a, b, t| {
        a.iter().zip(b).map(|(a, b)| a.lerp(*b, t)).collect()
    })
}

fn soft(c: &mut Criterion) {
    for (name, body) in bodies() {
        let mut simulation = scenes::with_floor(Rate::default());
        let mut world = std::mem::take(simulation.physics.rapier_mut());
        let body = world.insert_soft_body(body.can_sleep(false));
        let mut particles = Interpolated::new(positions(&world, body));
        let world = RefCell::new(world);
        let mut tick = 0;
        compare(
            c,
            &format!("{name}, a frame with a step"),
            ("blended", || {
                particles.set(tick, positions(&world.borrow(), body));
                tick += 1;
                black_box(vertices(&particles, tick));
            }),
            ("bare step", || world.borrow_mut().step()),
        );
        compare(
            c,
            &format!("{name}, a frame without a step"),
            ("blended", || drop(black_box(vertices(&particles, tick)))),
            ("bare step", || world.borrow_mut().step()),
        );
    }
}

criterion_group! {
    name = benches;
    config = compare::config();
    targets = soft
}
criterion_main!(benches);
