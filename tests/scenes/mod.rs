//! Scenes that tests, benches and examples share.
#![allow(
    dead_code,
    missing_docs,
    reason = "each user takes the scenes that it needs"
)]

pub mod frame_times;
pub mod strategies;

use evenstep::rapier3d::prelude::*;
use evenstep::{BodyKey, Delivery, Frame, Generator, Hooks, InputQueue, Rate, Simulation, Step};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

/// A world with a floor that is 100 m wide and whose top is at 0.
pub fn with_floor(rate: Rate) -> Simulation {
    let mut simulation = Simulation::new(rate);
    simulation.insert(
        RigidBodyBuilder::fixed().translation(Vector::Y * -0.5),
        ColliderBuilder::cuboid(50.0, 0.5, 50.0),
    );
    simulation
}

/// Free space: no gravity, and nothing in it.
pub fn space(hz: u32) -> Simulation {
    let mut simulation = Simulation::new(Rate::hz(hz).unwrap());
    simulation.world_mut().gravity = Vector::ZERO;
    simulation
}

/// A ball of 10 cm.
pub fn ball() -> ColliderBuilder {
    ColliderBuilder::ball(0.1)
}

/// A frame of so many milliseconds in which the game does nothing.
pub fn advance(simulation: &mut Simulation, ms: u64) -> Frame {
    simulation.advance(Duration::from_millis(ms), |_, _| ())
}

/// Lets no body fall asleep: a pile that did half way through a measurement would be two scenes in one.
pub fn keep_awake(simulation: &mut Simulation, keys: &[BodyKey]) {
    for key in keys {
        let body = simulation.get_mut(*key).expect("just inserted");
        *body.activation_mut() = RigidBodyActivation::cannot_sleep();
    }
}

/// A frame without a step after [`to_between_states`]: a million of them until the next step, and yet
/// each shows every body that turns a little further.
pub const NO_STEP: Duration = Duration::from_micros(1);

/// Brings a simulation at one step a second to a tenth of the way between two states.
pub fn to_between_states(simulation: &mut Simulation) {
    simulation.clock_mut().set_max_frame_time(Duration::MAX);
    simulation.advance(Duration::from_millis(2_100), |_, _| ());
}

/// `count` crates of 1 m in stacks of ten, standing on the floor.
pub fn pile(simulation: &mut Simulation, count: usize) -> Vec<BodyKey> {
    let stacks = count.div_ceil(10);
    let side = (stacks as f32).sqrt().ceil() as usize;
    (0..count)
        .map(|i| {
            let (stack, level) = (i / 10, i % 10);
            let at = Vector::new(
                1.5 * (stack % side) as f32 - 0.75 * side as f32,
                0.5 + level as f32,
                1.5 * (stack / side) as f32 - 0.75 * side as f32,
            );
            simulation.insert(
                RigidBodyBuilder::dynamic().translation(at),
                ColliderBuilder::cuboid(0.5, 0.5, 0.5),
            )
        })
        .collect()
}

/// `count` bodies that spin in free space and never meet: no gravity, no contacts, all above 3 m.
pub fn spinners(simulation: &mut Simulation, count: usize) -> Vec<BodyKey> {
    simulation.world_mut().gravity = Vector::ZERO;
    let side = (count as f32).cbrt().ceil() as usize;
    (0..count)
        .map(|i| {
            let at = [i % side, i / side % side + 1, i / side / side].map(|n| 4.0 * n as f32);
            simulation.insert(
                RigidBodyBuilder::dynamic()
                    .translation(Vector::from(at))
                    .angvel(Vector::new(1.0, 2.0 + (i % 7) as f32, 0.5)),
                ColliderBuilder::cuboid(0.5, 0.3, 0.2),
            )
        })
        .collect()
}

/// `count` balls on the floor that are asleep, each on a place of its own.
pub fn sleepers(simulation: &mut Simulation, count: usize) -> Vec<BodyKey> {
    let side = (count as f32).sqrt().ceil() as usize;
    (0..count)
        .map(|i| {
            let at = Vector::new(2.0 * (i % side) as f32, 0.5, 2.0 * (i / side) as f32);
            simulation.insert(
                RigidBodyBuilder::dynamic().translation(at).sleeping(true),
                ColliderBuilder::ball(0.5),
            )
        })
        .collect()
}

/// The inputs of [`Yard`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Key {
    Left(bool),
    Jump,
}

/// A scene that has everything in it: a pile, one-step forces, lasting ones, input, and bodies
/// that come and go by tick.
pub struct Yard {
    pub simulation: Simulation,
    pub game: Game,
}

/// The game's part in the steps of [`Yard`].
pub struct Game {
    pub queue: InputQueue<Key>,
    player: BodyKey,
    left: bool,
    guests: VecDeque<BodyKey>,
    /// Which input each step got.
    pub delivered: Vec<(u64, Key)>,
}

impl Yard {
    pub fn new(rate: Rate) -> Self {
        let mut simulation = with_floor(rate);
        let crates = pile(&mut simulation, 40);
        let player = simulation.insert(
            RigidBodyBuilder::dynamic().translation(Vector::new(8.0, 1.0, 0.0)),
            ColliderBuilder::capsule_y(0.5, 0.3).active_events(ActiveEvents::COLLISION_EVENTS),
        );
        let wind = Generator::Wind {
            velocity: Vector::X * 6.0,
            drag: 40.0,
        };
        let thrust = Generator::Thrust {
            force: Vector::Y * 12.0,
            point: Vector::X * 0.4,
        };
        let spring = Generator::Spring {
            anchor: Vector::new(0.0, 14.0, 0.0),
            point: Vector::Y * 0.5,
            rest_length: 3.0,
            stiffness: 60.0,
            damping: 2.0,
        };
        let drag = Generator::Drag {
            linear: 0.3,
            angular: 0.1,
        };
        let lasting = [
            (crates[39], wind),
            (crates[29], thrust),
            (crates[19], spring),
            (player, drag),
        ];
        for (body, generator) in lasting {
            simulation.add_generator(body, generator).unwrap();
        }
        let game = Game {
            queue: InputQueue::new(Delivery::Covering),
            player,
            left: false,
            guests: VecDeque::new(),
            delivered: Vec::new(),
        };
        Self { simulation, game }
    }

    pub fn advance(&mut self, frame_time: Duration) -> Frame {
        let Ok(frame) = self.simulation.advance_with(frame_time, &mut self.game);
        frame
    }
}

impl Hooks for Game {
    type Error = Infallible;

    fn before_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Infallible> {
        for sample in self.queue.take(&step) {
            self.delivered.push((step.tick, sample.input));
            match sample.input {
                Key::Left(down) => self.left = down,
                Key::Jump => simulation
                    .apply_impulse(self.player, Vector::Y * 1.5)
                    .unwrap(),
            }
        }
        if self.left {
            simulation.add_force(self.player, Vector::X * -8.0).unwrap();
        }
        if step.tick.is_multiple_of(7) {
            let at = Vector::new((step.tick % 11) as f32 - 5.0, 12.0, (step.tick % 5) as f32);
            self.guests.push_back(
                simulation.insert(
                    RigidBodyBuilder::dynamic()
                        .translation(at)
                        .angvel(Vector::ONE),
                    ColliderBuilder::ball(0.4).active_events(ActiveEvents::COLLISION_EVENTS),
                ),
            );
        }
        if step.tick % 13 == 12
            && let Some(guest) = self.guests.pop_front()
        {
            simulation.remove(guest).unwrap();
        }
        Ok(())
    }
}

/// Every bit of the state of every body, in one number (FNV-1a).
pub fn hash(world: &PhysicsWorld) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (handle, body) in world.bodies.iter() {
        let pose = body.position();
        let numbers = pose
            .translation
            .to_array()
            .into_iter()
            .chain(pose.rotation.to_array())
            .chain(body.linvel().to_array())
            .chain(body.angvel().to_array());
        let (index, generation) = handle.into_raw_parts();
        let words = [index, generation, body.is_sleeping().into()];
        for word in words.into_iter().chain(numbers.map(f32::to_bits)) {
            hash = (hash ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
