//! A hecs world that goes back in time together with its bodies: a shot that arrives ten steps late.
//!
//! `cargo run --example rollback_world --features hecs`

use evenstep::ecs::hecs::{Body, RollbackWorld};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{Physics, Simulation, Step};
use std::time::Duration;

#[derive(Clone)]
struct Shot {
    steps_left: u32,
}

/// The systems of a step. `shoots_at` is the tick of the player's input.
fn step(physics: &mut Physics, step: Step, shoots_at: u64) {
    let systems = |physics: &mut Physics, game: &mut RollbackWorld| {
        if step.tick == shoots_at {
            let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 30.0);
            let shot = (Shot { steps_left: 60 },);
            (game.entities).spawn(
                &mut game.world,
                physics,
                body,
                ColliderBuilder::ball(0.1),
                shot,
            );
        }
        // hecs despawns the entities, and `remove_dropped` removes their bodies.
        let mut ended = hecs::CommandBuffer::new();
        for (entity, shot) in game.world.query_mut::<(hecs::Entity, &mut Shot)>() {
            shot.steps_left -= 1;
            if shot.steps_left == 0 {
                ended.despawn(entity);
            }
        }
        ended.run_on(&mut game.world);
        game.entities.remove_dropped(&mut game.world, physics);
    };
    physics.resource_scope(systems).unwrap();
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut simulation = Simulation::default();
    simulation.keep(Kept {
        ticks: 20,
        ..Kept::default()
    });
    let world = RollbackWorld::default().with::<Shot>(); // register each type of component
    simulation.physics.resources_mut().insert(world);
    for frame in 0..90 {
        // The input of tick 30 arrives when step 40 has run. Until then, nobody has shot.
        let shoots_at = if frame < 40 { u64::MAX } else { 30 };
        if frame == 40 {
            simulation.roll_back(30)?;
        }
        simulation.advance(Duration::from_nanos(16_666_667), |physics, it| {
            step(physics, it, shoots_at);
        });
        let sync = |simulation: &mut Simulation, game: &mut RollbackWorld| {
            game.entities.sync(&mut game.world, simulation);
            let bodies = game.world.query_mut::<&Body>().into_iter().count();
            println!("frame {frame}: {bodies} shots");
            bodies
        };
        let shots = simulation.resource_scope(sync).unwrap();
        assert_eq!(
            shots,
            usize::from((40..90).contains(&frame) && simulation.physics.tick() < 90)
        );
    }
    Ok(())
}
