//! Scenes that tests, benches and reports share.
#![allow(missing_docs, reason = "read where they are used")]

pub mod cases;
pub mod everything;
pub mod frame_times;
mod hash;
pub mod mirror;
pub mod preview;
pub mod renderer;
pub mod strategies;
// Vectors, rotations and shapes in two and in three dimensions.
#[cfg(dim2)]
mod dim2;
#[cfg(not(dim2))]
mod dim3;

use evenstep::forces::ForceGenerator;
use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Frame, Hooks, Physics, Rate, Simulation, Step, Stepping};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::mpsc::channel;
use std::time::Duration;
use testing::{FLOOR, cuboid, in_layers, on_ground, spin, vector};

pub use hash::hash;

pub mod testing {
    #[cfg(dim2)]
    pub use super::dim2::*;
    #[cfg(not(dim2))]
    pub use super::dim3::*;
}

pub const MS: fn(u64) -> Duration = Duration::from_millis;

/// A timeout, after which a test that waits for another thread has hung. Such a test takes seconds, but minutes on a
/// machine that many builds share, because each of its thousands of wakeups waits for a core.
pub const PATIENCE: Duration = Duration::from_secs(600);

pub const STEPPINGS: [Stepping; 5] = [
    Stepping::Fixed,
    Stepping::FrameLocked,
    Stepping::Variable,
    Stepping::SemiFixed,
    Stepping::DisplayCounted,
];

/// Creates a world with a wide floor whose top is at height 0.
pub fn with_floor(rate: Rate) -> Simulation {
    let mut simulation = Simulation::new(rate);
    simulation.physics.insert(
        RigidBodyBuilder::fixed().translation(Vector::Y * -0.5),
        cuboid(FLOOR, 0.5, FLOOR),
    );
    simulation
}

/// Creates free space, without gravity and without bodies.
pub fn space(hz: u32) -> Simulation {
    let mut simulation = Simulation::new(Rate::hz(hz));
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    simulation
}

/// Returns a ball with a radius of 10 cm.
pub fn ball() -> ColliderBuilder {
    ColliderBuilder::ball(0.1)
}

/// Returns a body that flies along x, 1 m per step at 100 Hz.
pub fn flyer() -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0)
}

/// Creates free space at 100 Hz, with a flyer of 1 kg.
pub fn flyer_in_space() -> (Simulation, BodyKey) {
    let mut simulation = space(100);
    let key = simulation.physics.insert(flyer(), ball().mass(1.0));
    (simulation, key)
}

/// Returns a body's x coordinate after the last step.
pub fn stepped_x(physics: &Physics, key: BodyKey) -> f32 {
    physics.body(key).unwrap().translation().x
}

/// Returns a body's x coordinate as this frame displays it.
pub fn shown_x(simulation: &Simulation, key: BodyKey) -> f32 {
    simulation.pose(key).unwrap().translation.x
}

/// Returns the keys that [`Simulation::moved`] names.
pub fn moved_keys(simulation: &Simulation) -> Vec<BodyKey> {
    simulation.moved().iter().map(|(key, _)| *key).collect()
}

#[track_caller]
pub fn assert_near(a: f32, b: f32) {
    assert!((a - b).abs() < 1e-5, "{a} is not {b}");
}

/// Calls `frame` until `tick` steps have run. Fails if that takes too many frames.
#[track_caller]
pub fn until_tick(tick: u64, mut frame: impl FnMut() -> u64) {
    for _ in 0..100_000 {
        if frame() >= tick {
            return;
        }
    }
    panic!("tick {tick} is never reached");
}

/// Runs a closure on another thread, so that a defect that hangs is detected.
pub fn in_time<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = channel();
    std::thread::spawn(move || done.send(run()));
    result
        .recv_timeout(PATIENCE)
        .expect("it ends in time and without a panic")
}

/// Returns numbers that look random.
pub fn mixed(number: u64) -> u64 {
    let mixed = (number.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

/// Runs a frame of `ms` milliseconds in which the game does nothing.
pub fn advance(simulation: &mut Simulation, ms: u64) -> Frame {
    simulation.advance(Duration::from_millis(ms), |_, _| ())
}

/// Makes Rapier panic in the next step: inserts a joint to a removed body.
pub fn break_rapier(physics: &mut Physics) {
    let rapier = physics.rapier_mut();
    let ends = [(); 2].map(|()| rapier.insert_body(RigidBodyBuilder::dynamic()));
    rapier.remove_body(ends[1]);
    rapier.insert_impulse_joint(ends[0], ends[1], FixedJointBuilder::new());
}

/// Keeps all bodies from falling asleep. A pile that fell asleep halfway through a measurement would be two scenes in
/// one.
pub fn keep_awake(simulation: &mut Simulation, keys: &[BodyKey]) {
    for key in keys {
        let body = simulation.physics.body_mut(*key).expect("just inserted");
        *body.activation_mut() = RigidBodyActivation::cannot_sleep();
    }
}

/// The time of a frame without a step after [`to_between_states`]. A million of them fit before the next step, and yet
/// each displays every spinning body a little further turned.
pub const NO_STEP: Duration = Duration::from_micros(1);

/// Brings a simulation at 1 Hz to a tenth of the path between two states.
pub fn to_between_states(simulation: &mut Simulation) {
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    simulation.advance(Duration::from_millis(2_100), |_, _| ());
}

/// Creates `count` crates of 1 m in stacks of ten, standing on the floor.
pub fn pile(simulation: &mut Simulation, count: usize) -> Vec<BodyKey> {
    let stacks = count.div_ceil(10);
    let side = (stacks as f32).sqrt().ceil() as usize;
    (0..count)
        .map(|i| {
            let (stack, level) = (i / 10, i % 10);
            let [x, z] = on_ground(stack, side).map(|n| 1.5 * n - 0.75 * side as f32);
            let at = vector(x, 0.5 + level as f32, z);
            simulation.physics.insert(
                RigidBodyBuilder::dynamic().translation(at),
                cuboid(0.5, 0.5, 0.5),
            )
        })
        .collect()
}

/// Creates `count` crates of 1 m that have fallen onto one heap, where each touches several others.
pub fn heap(simulation: &mut Simulation, count: usize) -> Vec<BodyKey> {
    (0..count)
        .map(|i| {
            let [x, y, z] = in_layers(i, 8);
            let at = vector(1.01 * x + 0.3 * (y % 2.0), 0.6 + 1.05 * y, 1.01 * z);
            simulation.physics.insert(
                RigidBodyBuilder::dynamic().translation(at),
                cuboid(0.5, 0.5, 0.5),
            )
        })
        .collect()
}

/// Creates `count` bodies that spin in free space and never meet: without gravity or contacts, all above 3 m.
pub fn spinners(simulation: &mut Simulation, count: usize) -> Vec<BodyKey> {
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    let side = (1..).find(|side| side * side * side >= count).unwrap_or(1);
    (0..count)
        .map(|i| {
            let [x, y, z] = in_layers(i, side).map(|n| 4.0 * n);
            simulation.physics.insert(
                RigidBodyBuilder::dynamic()
                    .translation(vector(x, y + 4.0, z))
                    .angvel(spin(1.0, 2.0 + (i % 7) as f32, 0.5)),
                cuboid(0.5, 0.3, 0.2),
            )
        })
        .collect()
}

/// Creates `count` balls asleep on the floor, each at a separate position.
pub fn sleepers(simulation: &mut Simulation, count: usize) -> Vec<BodyKey> {
    let side = (count as f32).sqrt().ceil() as usize;
    (0..count)
        .map(|i| {
            let [x, z] = on_ground(i, side);
            let at = vector(2.0 * x, 0.5, 2.0 * z);
            simulation.physics.insert(
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

/// A scene with a pile, forces of one step, lasting forces, input, and bodies that are spawned and removed by tick.
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
    /// The inputs that each step got.
    pub delivered: Vec<(u64, Key)>,
}

impl Yard {
    pub fn new(rate: Rate) -> Self {
        let mut simulation = with_floor(rate);
        let crates = pile(&mut simulation, 40);
        let player = simulation.physics.insert(
            RigidBodyBuilder::dynamic().translation(vector(8.0, 1.0, 0.0)),
            ColliderBuilder::capsule_y(0.5, 0.3).active_events(ActiveEvents::COLLISION_EVENTS),
        );
        let wind = ForceGenerator::Wind {
            velocity: Vector::X * 6.0,
            drag: 40.0,
        };
        let thrust = ForceGenerator::Thrust {
            force: Vector::Y * 12.0,
            point: Vector::X * 0.4,
        };
        let spring = ForceGenerator::Spring {
            anchor: vector(0.0, 14.0, 0.0),
            point: Vector::Y * 0.5,
            rest_length: 3.0,
            stiffness: 60.0,
            damping: 2.0,
        };
        let drag = ForceGenerator::Drag {
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
            simulation
                .physics
                .insert_force_generator(body, generator)
                .unwrap();
        }
        let game = Game {
            queue: InputQueue::new(Delivery::ByTime),
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

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        for sample in self.queue.drain(step) {
            self.delivered.push((step.tick, sample.input));
            match sample.input {
                Key::Left(down) => self.left = down,
                Key::Jump => physics.apply_impulse(self.player, Vector::Y * 1.5).unwrap(),
            }
        }
        if self.left {
            physics.add_force(self.player, Vector::X * -8.0).unwrap();
        }
        if step.tick.is_multiple_of(7) {
            let at = vector((step.tick % 11) as f32 - 5.0, 12.0, (step.tick % 5) as f32);
            self.guests.push_back(
                physics.insert(
                    RigidBodyBuilder::dynamic()
                        .translation(at)
                        .angvel(spin(1.0, 1.0, 1.0)),
                    ColliderBuilder::ball(0.4).active_events(ActiveEvents::COLLISION_EVENTS),
                ),
            );
        }
        if step.tick % 13 == 12
            && let Some(guest) = self.guests.pop_front()
        {
            physics.remove(guest).unwrap();
        }
        Ok(())
    }
}

/// Returns the pose at which to draw a collider, or `None` if it was removed or its body has no key.
pub fn collider_pose(simulation: &Simulation, handle: ColliderHandle) -> Option<Pose> {
    let collider = simulation.physics.rapier().colliders.get(handle)?;
    let Some(parent) = collider.parent() else {
        return Some(*collider.position());
    };
    let pose = simulation.pose(simulation.physics.key(parent)?)?;
    Some(pose * collider.position_wrt_parent()?)
}
