//! Measures the cost of writing the poses into a hecs world, compared with the minimum.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod compare;

use std::cell::RefCell;
use std::time::Duration;

use compare::{compare, compare_after};
use criterion::{Criterion, criterion_group, criterion_main};
use evenstep::Simulation;
use evenstep::ecs::hecs::{Entities, RenderPose};
use scenes::NO_STEP;

struct Game {
    world: hecs::World,
    simulation: Simulation,
    entities: Entities,
}

impl Game {
    /// Creates entities of two archetypes, between two states.
    fn new(spinning: usize, asleep: usize) -> Self {
        let mut game = Self {
            world: hecs::World::new(),
            simulation: scenes::space(1),
            entities: Entities::default(),
        };
        let Self {
            world,
            simulation,
            entities,
        } = &mut game;
        let mut keys = scenes::spinners(simulation, spinning);
        scenes::keep_awake(simulation, &keys);
        keys.extend(scenes::sleepers(simulation, asleep));
        for (i, key) in keys.into_iter().enumerate() {
            let entity = if i % 3 == 0 {
                world.spawn((i,))
            } else {
                world.spawn(())
            };
            let attached = entities.attach(world, simulation, entity, key);
            attached.unwrap();
        }
        scenes::to_between_states(simulation);
        game.frame(Duration::from_secs(1));
        game.frame(NO_STEP);
        let moved = game.simulation.moved().len();
        assert!(moved > spinning / 10 * 9 && moved <= spinning);
        game
    }

    fn frame(&mut self, frame_time: Duration) {
        self.simulation.advance(frame_time, |_, _| ());
        self.entities.sync(&mut self.world, &mut self.simulation);
    }
}

/// Compares the poses of a frame with a loop that writes as many components, in memory order.
fn write(c: &mut Criterion) {
    for count in [1_000, 10_000, 100_000] {
        let game = RefCell::new(Game::new(count, 0));
        compare_after(
            c,
            &format!("sync of {count}"),
            // A second sync of the same frame writes nothing.
            || {
                game.borrow_mut().simulation.advance(NO_STEP, |_, _| ());
            },
            ("sync", || {
                let Game {
                    world,
                    simulation,
                    entities,
                } = &mut *game.borrow_mut();
                entities.sync(world, simulation);
            }),
            ("bare write", || {
                let Game {
                    world, simulation, ..
                } = &mut *game.borrow_mut();
                let poses = simulation.moved().iter();
                let components = world.query_mut::<&mut RenderPose>();
                for (component, (_, pose)) in components.into_iter().zip(poses) {
                    *component = RenderPose(*pose);
                }
            }),
        );
    }
}

/// Measures whole frames of a thousand spinning bodies, alone and among a hundred thousand sleeping ones.
fn movement(c: &mut Criterion) {
    let (mut among, mut alone) = (Game::new(1_000, 100_000), Game::new(1_000, 0));
    compare(
        c,
        "frame and sync, 1000 awake",
        ("among 100000 asleep", || among.frame(NO_STEP)),
        ("alone", || alone.frame(NO_STEP)),
    );
}

criterion_group! {
    name = benches;
    config = compare::config();
    targets = write, movement
}
criterion_main!(benches);
