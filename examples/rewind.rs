//! Uses rewind as a debugger does, and as a player does. The program finds the tick in which something went wrong,
//! inspects the tick before it, and then tries again from an earlier tick.
//!
//! `cargo run --example rewind`

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use std::time::Duration;

const FRAME: Duration = Duration::from_millis(16);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut simulation = Simulation::new(Rate::hz(60));
    // Keeps five seconds, in at most 64 MiB.
    simulation.keep(Kept {
        ticks: 300,
        bytes: 64 << 20,
        ..Kept::default()
    });
    let ball = table_with_ball(&mut simulation.physics);

    while height(&simulation.physics, ball) > -1.0 {
        simulation.advance(FRAME, |_, _| ());
    }
    simulation.pause();
    println!(
        "the ball fell off by tick {}; rewindable ticks {:?}, {} bytes each",
        simulation.physics.tick(),
        simulation.rewindable(),
        simulation.rewind_bytes() as u64
            / (simulation.rewindable().end - simulation.rewindable().start),
    );

    // Bisect for the last tick in which the ball was still on the table. Every tick of the range can be displayed, but
    // the search skips most of them.
    let mut range = simulation.rewindable();
    while range.start + 1 < range.end {
        let middle = range.start.midpoint(range.end);
        show(&mut simulation, ball, middle)?;
        if height(&simulation.physics, ball) < 0.49 {
            range.end = middle;
        } else {
            range.start = middle;
        }
    }
    // Step back once, then forwards again.
    let edge = range.start;
    for tick in [edge, edge - 1, edge, edge + 1] {
        show(&mut simulation, ball, tick)?;
    }

    // Try again from one second earlier, with a brake.
    show(&mut simulation, ball, edge - 60)?;
    let brake = |physics: &mut Physics, _: Step| {
        let velocity = physics.body(ball).map_or(Vector::ZERO, RigidBody::linvel);
        // This fails only if the ball was removed, and then it needs no brake.
        let _ = physics.add_force(ball, velocity * -2.0);
    };
    simulation.resume();
    for _ in 0..300 {
        simulation.advance(FRAME, brake);
    }
    println!(
        "with a brake: {:.2} m high after {} ticks",
        height(&simulation.physics, ball),
        simulation.physics.tick()
    );
    assert!(height(&simulation.physics, ball) > 0.4);
    Ok(())
}

/// Goes to a tick and displays it, as a paused game does.
fn show(
    simulation: &mut Simulation,
    ball: BodyKey,
    tick: u64,
) -> Result<(), evenstep::rewind::RewindError> {
    simulation.rewind(tick)?;
    simulation.advance(Duration::ZERO, |_, _| ());
    let at = simulation.pose(ball).unwrap_or_default().translation;
    println!("tick {tick:3}: ball at {:5.2} m, {:5.2} m high", at.x, at.y);
    Ok(())
}

fn height(physics: &Physics, ball: BodyKey) -> f32 {
    physics.body(ball).map_or(0.0, |ball| ball.translation().y)
}

fn table_with_ball(physics: &mut Physics) -> BodyKey {
    physics.insert(
        RigidBodyBuilder::fixed().translation(Vector::Y * -0.5),
        ColliderBuilder::cuboid(4.0, 0.5, 2.0),
    );
    physics.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vector::new(-3.0, 0.5, 0.0))
            .linvel(Vector::X * 2.5),
        ColliderBuilder::ball(0.5),
    )
}
