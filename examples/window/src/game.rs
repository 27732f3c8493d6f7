//! What a step of the playground depends on, beside the simulation: who is who, and what the player does.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use serde::{Deserialize, Serialize};

use crate::paint::Paint;
use crate::scenes::{Cast, Moment, Scene};

/// What the player does in a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Done once.
    pub deeds: Vec<Deed>,
    /// The body that is dragged.
    pub pull: Option<Pull>,
    /// Forward, and to the left, from -1 to 1.
    pub drive: [f32; 2],
}

/// Something that is done once, at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deed {
    /// A crate more, from above.
    Spawn,
    /// A fast ball with continuous collision detection.
    Fire,
    /// The body that is plotted goes to the other side, without its motion being shown.
    Teleport(BodyKey),
    /// The body that is plotted goes through a portal: its motion goes on, turned by half a turn.
    Portal(BodyKey),
    /// The origin of the simulation is moved; nothing of it is to be seen.
    ShiftOrigin,
}

/// A body, held at a point that is to be somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pull {
    /// Which body.
    pub key: BodyKey,
    /// Where it is held, in its own frame.
    pub held_at: Vector,
    /// Where that point is to be, in the scene.
    pub to: Vector,
}

/// By how much the origin is moved, in metres: whole, so that it is moved without rounding where it can be.
const SHIFT: Vector = Vector::new(64.0, 0.0, 32.0);
/// A spring's, per kilogram: stiff enough to follow the mouse, soft enough for 15 steps a second.
const STIFFNESS: f32 = 90.0;
const DAMPING: f32 = 14.0;

/// The game's part of the state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Game {
    scene: Scene,
    /// Who is who.
    pub cast: Cast,
    /// Since which tick the origin of the simulation is where in the scene.
    origins: Vec<(u64, Vector)>,
    spawned: u32,
}

impl Game {
    /// A scene from its beginning, and the simulation with it.
    #[must_use]
    pub fn new(scene: Scene, rate: Rate) -> (Simulation, Self) {
        let mut simulation = Simulation::new(rate);
        let cast = scene.build(&mut simulation.physics);
        let game = Self {
            scene,
            cast,
            origins: vec![(0, Vector::ZERO)],
            spawned: 0,
        };
        (simulation, game)
    }

    /// Where the origin of the simulation is in the scene.
    #[must_use]
    pub fn origin(&self) -> Vector {
        self.origins
            .last()
            .map_or(Vector::ZERO, |(_, origin)| *origin)
    }

    /// All of them, with the tick of the step in which each came: what is shown may be older than the simulation.
    #[must_use]
    pub fn origins(&self) -> &[(u64, Vector)] {
        &self.origins
    }

    /// The game's part of a step, before Rapier's.
    pub fn step(&mut self, physics: &mut Physics, step: Step, input: &Input) {
        for deed in &input.deeds {
            self.act(physics, step, *deed);
        }
        let moment = Moment {
            step,
            origin: self.origin(),
            drive: input.drive,
        };
        self.scene.step(physics, &mut self.cast, moment);
        if let Some(pull) = input.pull {
            self.pull(physics, step, pull);
        }
    }

    fn act(&mut self, physics: &mut Physics, step: Step, deed: Deed) {
        match deed {
            Deed::Spawn => self.spawn(physics),
            Deed::Fire => self.fire(physics, step),
            Deed::Teleport(key) => self.teleport(physics, key),
            Deed::Portal(key) => {
                // Half a turn about the middle of the scene.
                let turn = Pose::rotation(Vector::Y * std::f32::consts::PI);
                let middle = Pose::from_translation(-self.origin());
                // What cannot be moved, as a link of a multibody, stays.
                let _ = physics.teleport_by(key, middle * turn * middle.inverse());
            }
            Deed::ShiftOrigin => {
                let origin = self.origin() + SHIFT;
                physics.shift_origin(SHIFT).expect("it is finite");
                self.origins.push((step.tick, origin));
            }
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the runs that are compared are of one machine"
    )]
    fn spawn(&mut self, physics: &mut Physics) {
        // Around a circle, so that they do not all fall onto the same place.
        let angle = self.spawned as f32 * 2.4;
        let at = Vector::new(1.2 * angle.cos(), 6.0, 0.8 * angle.sin()) - self.origin();
        let paint = Paint::Piece((self.spawned % 4) as u8);
        self.spawned += 1;
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .rotation(Vector::new(0.4, angle, 0.2))
            .user_data(paint.into());
        physics.insert(body, ColliderBuilder::cuboid(0.4, 0.4, 0.4));
    }

    fn fire(&mut self, physics: &mut Physics, step: Step) {
        let at = Vector::new(-8.0, 1.6, 1.0) - self.origin();
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .linvel(Vector::new(40.0, 0.5, -4.5))
            .ccd_enabled(true)
            .user_data(Paint::Piece(4).into());
        let key = physics.insert(body, ColliderBuilder::ball(0.16).density(8.0));
        self.cast.passing.push((step.time, key));
    }

    fn teleport(&mut self, physics: &mut Physics, key: BodyKey) {
        let Some(mut pose) = physics.body(key).map(|body| *body.position()) else {
            return;
        };
        let place = pose.translation + self.origin();
        let other = Vector::new(-place.x, place.y + 0.5, -place.z);
        pose.translation = other - self.origin();
        let _ = physics.teleport(key, pose);
    }

    /// A spring to where the mouse is, computed ahead so that it does not overshoot at low rates.
    fn pull(&self, physics: &mut Physics, step: Step, pull: Pull) {
        let Some(body) = physics.body(pull.key).filter(|body| body.is_dynamic()) else {
            return;
        };
        let point = body.position() * pull.held_at;
        let way = (pull.to - self.origin() - point).clamp_length_max(3.0);
        let damped = 1.0 + step.dt * (DAMPING + STIFFNESS * step.dt);
        let spring = STIFFNESS * way - DAMPING * body.velocity_at_point(point);
        let force = spring * (body.mass() / damped);
        // Without this it would swing about the point for long.
        let brake = -body.angvel() * body.mass() * 0.3;
        let added = physics.add_force_at_point(pull.key, force, point);
        let braked = physics.add_torque(pull.key, brake);
        debug_assert!(added.is_ok() && braked.is_ok(), "it is dynamic and finite");
    }
}
