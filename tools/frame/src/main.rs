//! Makes one call of the loop, so that `.ci/frame` can count the functions that it enters, and its instructions.

use clap::{Parser, ValueEnum};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{Physics, Simulation, Step};
use std::hint::black_box;
use std::time::Duration;

/// A frame of one step, at the default rate.
const FRAME: Duration = Duration::from_micros(16_667);

#[derive(Parser)]
struct Args {
    call: Call,
    /// The number of bodies.
    #[arg(default_value_t = 1)]
    bodies: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Call {
    /// A frame with one step.
    Step,
    /// A frame without a step.
    NoStep,
    /// A frame with one step, in which all bodies sleep.
    Asleep,
    /// A frame with one step, before which a state is kept.
    Keep,
    /// A rollback of eight steps.
    Rollback,
}

fn main() {
    let Args { call, bodies } = Args::parse();
    let mut simulation = world(call, bodies);
    for _ in 0..12 {
        simulation.advance(FRAME, before_step);
    }
    measured(&mut simulation, call);
    // A rollback is outside of a frame.
    let steps = u64::from(call != Call::NoStep);
    assert_eq!(simulation.frame().steps, steps);
    let awake = if call == Call::Asleep {
        0
    } else {
        bodies.into()
    };
    assert_eq!(
        simulation.physics.rapier().islands.num_active_bodies(),
        awake
    );
}

/// Makes the call. Callgrind collects nothing else.
#[inline(never)]
fn measured(simulation: &mut Simulation, call: Call) {
    match call {
        Call::Step | Call::Asleep | Call::Keep => {
            simulation.advance(FRAME, before_step);
        }
        Call::NoStep => {
            simulation.advance(Duration::from_millis(1), before_step);
        }
        Call::Rollback => {
            let tick = simulation.physics.tick() - 8;
            let rollback = simulation.resimulate(tick, before_step);
            rollback.expect("the states of 20 ticks are kept");
        }
    }
}

/// The game's code for a step.
fn before_step(physics: &mut Physics, step: Step) {
    black_box((physics.tick(), step.tick));
}

/// Creates bodies that fly, or sleep, and touch nothing.
fn world(call: Call, bodies: u16) -> Simulation {
    let mut simulation = Simulation::default();
    for i in 0..bodies {
        let at = Vector::X * 3.0 * f32::from(i);
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .linvel(Vector::Y);
        let body = body
            .sleeping(call == Call::Asleep)
            .can_sleep(call == Call::Asleep);
        simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    }
    if matches!(call, Call::Keep | Call::Rollback) {
        simulation.keep(Kept {
            ticks: 20,
            ..Kept::default()
        });
    }
    simulation
}
