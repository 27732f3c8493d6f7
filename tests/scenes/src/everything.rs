//! A scene with everything in it, for tests that must not forget anything.

use super::testing::{ball_joint, cloth, cuboid, spaced, translation, vector};
use super::{MS, hash, pile, sleepers, with_floor};
use evenstep::events::Collision;
use evenstep::forces::ForceGenerator;
use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::time::Clock;
use evenstep::{BodyKey, Frame, Hooks, Physics, Rate, Simulation, Smoothing, Step};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

/// A scene with everything in it, and a game that uses every feature, by tick.
#[derive(Clone)]
pub struct Everything {
    pub simulation: Simulation,
    pub script: Script,
}

/// The game's data outside the simulation.
#[derive(Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Script {
    input: InputQueue<bool>,
    pub player: BodyKey,
    pub lift: BodyKey,
    bullet: BodyKey,
    /// A crate in gusts of wind.
    windy: BodyKey,
    guests: VecDeque<BodyKey>,
    /// Every key that has been issued.
    keys: Vec<BodyKey>,
    collisions: usize,
}

impl Default for Everything {
    fn default() -> Self {
        Self::new()
    }
}

impl Everything {
    pub fn new() -> Self {
        let mut simulation = with_floor(Rate::hz(60));
        simulation.keep(Kept {
            poses: 4,
            ..simulation.kept()
        });
        let listening = || ActiveEvents::COLLISION_EVENTS | ActiveEvents::CONTACT_FORCE_EVENTS;
        let crates = pile(&mut simulation, 30);
        let at = |x: f32, y: f32, z: f32| RigidBodyBuilder::dynamic().translation(vector(x, y, z));
        let ball = || ColliderBuilder::ball(0.4).active_events(listening());

        // Joints of both kinds: a hanging chain of each.
        for (z, is_multibody) in [(12.0, false), (15.0, true)] {
            let hook = RigidBodyBuilder::fixed().translation(spaced(0.0, 8.0, z));
            let mut last = simulation.physics.insert_body(hook);
            for i in 1..8u8 {
                let next = simulation.physics.insert(at(f32::from(i), 8.0, z), ball());
                let ends = [last, next].map(|key| simulation.physics.handle(key).unwrap());
                let joint = ball_joint(Vector::X * 0.5, Vector::X * -0.5);
                let physics = simulation.physics.rapier_mut_except_bodies();
                if is_multibody {
                    physics
                        .insert_multibody_joint(ends[0], ends[1], joint)
                        .unwrap();
                } else {
                    physics.insert_impulse_joint(ends[0], ends[1], joint);
                }
                last = next;
            }
        }
        let cloth = cloth(spaced(-15.0, 5.0, -15.0), 3.0, 5);
        simulation.physics.rapier_mut().insert_soft_body(cloth);

        let player = simulation.physics.insert(at(8.0, 1.0, 0.0), ball());
        let lift = RigidBodyBuilder::kinematic_position_based().translation(vector(-9.0, 0.5, 0.0));
        let lift = simulation.physics.insert(lift, cuboid(1.5, 0.1, 1.5));
        simulation.physics.insert(at(-9.0, 2.0, 0.0), ball());
        let bullet = simulation
            .physics
            .insert(at(20.0, 3.0, 5.0).ccd_enabled(true), ball());
        simulation.physics.insert(
            RigidBodyBuilder::fixed().translation(spaced(4.0, 1.0, -6.0)),
            cuboid(3.0, 1.0, 3.0)
                .sensor(true)
                .active_events(listening()),
        );
        // Sleeping bodies, one of which is hit later.
        sleepers(&mut simulation, 4);
        simulation
            .physics
            .set_body_smoothing(crates[3], Some(Smoothing::Hermite))
            .unwrap();
        simulation
            .physics
            .set_body_smoothing(player, Some(Smoothing::Extrapolate))
            .unwrap();
        let drag = ForceGenerator::Drag {
            linear: 0.3,
            angular: 0.1,
        };
        simulation
            .physics
            .insert_force_generator(player, drag)
            .unwrap();
        let script = Script {
            input: InputQueue::new(Delivery::ByTime),
            player,
            lift,
            bullet,
            windy: crates[20],
            guests: VecDeque::new(),
            keys: Vec::new(),
            collisions: 0,
        };
        Self { simulation, script }
    }

    /// Runs the frame of this number, which has its own length and actions.
    pub fn frame(&mut self, number: u64) {
        let frame_time = self.prepare(number);
        let Ok(_) = self.simulation.advance_with(frame_time, &mut self.script);
    }

    /// Performs the game's actions before that frame. Returns the frame time.
    pub fn prepare(&mut self, number: u64) -> Duration {
        let time = self.simulation.clock().real_time();
        let micros = 9_000 + number * 7_919 % 15_000;
        let stamp = time + Duration::from_micros(micros / 2);
        self.script.input.push(stamp, number.is_multiple_of(2));
        let frame_time = Duration::from_micros(micros);
        if number.is_multiple_of(40) {
            let height = 0.5 + (number % 3) as f32;
            let there = self.simulation.clock().time_after(MS(400));
            let pose = translation(-9.0, height, 0.0);
            self.simulation
                .physics
                .set_kinematic_target(self.script.lift, pose, there)
                .unwrap();
        }
        // Forces and edits that are pending between two frames.
        if number % 11 == 3 {
            let push = vector(0.0, 2.0, 1.0);
            self.simulation
                .physics
                .apply_impulse(self.script.player, push)
                .unwrap();
        }
        if number % 50 == 25 {
            self.simulation
                .physics
                .shift_origin(Vector::X * 8.0)
                .unwrap();
        } else if number % 50 == 49 {
            self.simulation
                .physics
                .shift_origin(Vector::X * -8.0)
                .unwrap();
        }
        frame_time
    }

    /// Returns everything that can be observed of the game.
    pub fn seen(&self) -> Seen {
        let simulation = &self.simulation;
        let events = simulation.events();
        let mut tears_and_quarantined = events.quarantined().count();
        tears_and_quarantined += events.soft_body_tears().count();
        Seen {
            hash: hash(simulation.physics.rapier()),
            particles: (simulation.physics.rapier().soft_bodies())
                .flat_map(|(_, body)| body.particle_positions().collect::<Vec<_>>())
                .collect(),
            frame: simulation.frame(),
            moved: simulation.moved().to_vec(),
            removed: simulation.removed().to_vec(),
            collisions: events.collisions().collect(),
            forces: events
                .contact_forces()
                .map(|force| (force.step, force.bodies, force.force.total_force_magnitude))
                .collect(),
            tears_and_quarantined,
            clock: simulation.clock().clone(),
            given: (self.script.keys.clone(), self.script.collisions),
        }
    }
}

/// Everything that can be observed of the game.
#[derive(Debug, PartialEq)]
pub struct Seen {
    pub hash: u64,
    pub particles: Vec<Vector>,
    pub frame: Frame,
    pub moved: Vec<(BodyKey, Pose)>,
    pub removed: Vec<BodyKey>,
    pub collisions: Vec<Collision>,
    pub forces: Vec<(u64, [Option<BodyKey>; 2], f32)>,
    pub tears_and_quarantined: usize,
    pub clock: Clock,
    pub given: (Vec<BodyKey>, usize),
}

impl Hooks for Script {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        let windy = physics.body(self.windy).unwrap();
        let gusts = Vector::X * (step.tick % 17) as f32 - windy.linvel();
        physics.add_force(self.windy, gusts).unwrap();
        for sample in self.input.drain(step) {
            let push = if sample.input {
                Vector::X
            } else {
                vector(0.0, 0.0, 1.0)
            };
            physics.add_force(self.player, push * 20.0).unwrap();
        }
        if step.tick.is_multiple_of(9) {
            let x = (step.tick % 13) as f32 - 6.0;
            let body = RigidBodyBuilder::dynamic().translation(vector(x, 9.0, 2.0));
            let ball = ColliderBuilder::ball(0.3).active_events(ActiveEvents::COLLISION_EVENTS);
            let key = physics.insert(body, ball);
            self.guests.push_back(key);
            self.keys.push(key);
        }
        if step.tick % 14 == 13
            && let Some(key) = self.guests.pop_front()
        {
            physics.remove(key).unwrap();
        }
        if step.tick.is_multiple_of(60) {
            let pose = translation(20.0, 3.0, 5.0);
            physics.teleport(self.bullet, pose).unwrap();
            let body = physics.body_mut(self.bullet).unwrap();
            body.set_linvel(vector(-150.0, 0.0, -25.0), true);
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.collisions += physics.events().in_step(step.tick).collisions().count();
        Ok(())
    }
}
