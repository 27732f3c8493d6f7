//! A game with hecs in one file: a ball rolls along, collects coins, and is saved and loaded on its way.
//!
//! `cargo run --example coins --features hecs,serde`

use std::error::Error;
use std::time::Duration;

use evenstep::ecs::hecs::{Body, Entities, EntityError, RenderPose};
use evenstep::hecs::World;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation};
use serde::{Deserialize, Serialize};

/// The kinds of entities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Thing {
    Ground,
    Player,
    Coin,
}

#[derive(Default)]
struct Game {
    simulation: Simulation,
    world: World,
    entities: Entities,
    score: u32,
}

impl Game {
    fn new() -> Self {
        let mut game = Self::default();
        let ground = ColliderBuilder::cuboid(20.0, 0.5, 5.0);
        game.spawn(RigidBodyBuilder::fixed(), ground, Thing::Ground);
        let player = RigidBodyBuilder::dynamic().translation(Vector::Y);
        game.spawn(player, ColliderBuilder::ball(0.5), Thing::Player);
        for i in 1..6u8 {
            let place = Vector::Y + Vector::X * 2.0 * f32::from(i);
            let coin = RigidBodyBuilder::fixed().translation(place);
            let shape = ColliderBuilder::ball(0.3).sensor(true);
            let shape = shape.active_events(ActiveEvents::COLLISION_EVENTS);
            game.spawn(coin, shape, Thing::Coin);
        }
        game
    }

    fn spawn(&mut self, body: RigidBodyBuilder, collider: ColliderBuilder, thing: Thing) {
        let physics = &mut self.simulation.physics;
        self.entities
            .spawn(&mut self.world, physics, body, collider, (thing,));
    }

    /// Runs a frame: the steps that are due, and then the picture.
    fn frame(&mut self, frame_time: Duration) {
        self.simulation.begin_frame(frame_time);
        while let Some(_step) = self.simulation.next_step() {
            push(&mut self.world, &mut self.simulation.physics);
            self.simulation.run_step();
            self.score += self.collect().unwrap();
        }
        self.simulation.end_frame();
        self.entities.sync(&mut self.world, &mut self.simulation);
    }

    /// Despawns the coins that were touched in the step. Returns their number.
    fn collect(&mut self) -> Result<u32, EntityError> {
        let (world, physics) = (&mut self.world, &mut self.simulation.physics);
        let collisions = physics.events().collisions().filter(|it| it.started);
        let touched = collisions.flat_map(|it| it.bodies).flatten();
        let touched: Vec<_> = touched
            .filter_map(|key| self.entities.entity(key))
            .collect();
        let mut score = 0;
        for entity in touched {
            let thing = world.get::<&Thing>(entity).map(|thing| *thing);
            if thing == Ok(Thing::Coin) {
                self.entities.despawn(world, physics, entity)?;
                score += 1;
            }
        }
        Ok(score)
    }

    /// Draws each entity at its displayed pose.
    fn draw(&mut self) {
        for (pose, thing) in self.world.query_mut::<(&RenderPose, &Thing)>() {
            if *thing == Thing::Player {
                println!(
                    "the player at {:.2} m, score {}",
                    pose.0.translation.x, self.score
                );
            }
        }
    }

    fn save(&mut self) -> Result<Vec<u8>, Box<dyn Error>> {
        let things = self.world.query_mut::<(&Body, &Thing)>().into_iter();
        let saved = Saved {
            state: self.simulation.save()?,
            things: things.map(|(body, thing)| (body.key(), *thing)).collect(),
            score: self.score,
        };
        Ok(serde_json::to_vec(&saved)?)
    }

    fn load(bytes: &[u8]) -> Result<Self, Box<dyn Error>> {
        let saved: Saved = serde_json::from_slice(bytes)?;
        let mut game = Self {
            simulation: Simulation::load(&saved.state)?,
            score: saved.score,
            ..Self::default()
        };
        for (key, thing) in saved.things {
            let (world, physics) = (&mut game.world, &mut game.simulation.physics);
            let entity = world.spawn((thing,));
            game.entities.attach(world, physics, entity, key)?;
        }
        Ok(game)
    }
}

/// The file: the simulation's bytes, and the component of each body's entity.
#[derive(Serialize, Deserialize)]
struct Saved {
    state: Vec<u8>,
    things: Vec<(BodyKey, Thing)>,
    score: u32,
}

/// Pushes the player to the right.
fn push(world: &mut World, physics: &mut Physics) {
    for (body, thing) in world.query_mut::<(&Body, &Thing)>() {
        if *thing == Thing::Player {
            physics.add_force(body.key(), Vector::X * 2.0).unwrap();
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut game = Game::new();
    for frame in 0..480 {
        // A save in any frame continues the game.
        if frame % 10 == 0 {
            game = Game::load(&game.save()?)?;
        }
        game.frame(Duration::from_secs(1) / 144);
        if frame % 24 == 0 {
            game.draw();
        }
    }
    assert_eq!(game.score, 5);
    Ok(())
}
