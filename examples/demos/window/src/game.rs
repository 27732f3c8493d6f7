//! The state that a step of the playground depends on, beside the simulation: the cast of the scene, and the player's
//! actions.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use serde::{Deserialize, Serialize};

use crate::paint::Paint;
use crate::scenes::{Cast, Moment, Scene};

/// The player's actions in a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Actions to carry out once.
    pub deeds: Vec<Deed>,
    /// The dragged body.
    pub pull: Option<Pull>,
    /// Driving: forward, and to the left, from -1 to 1.
    pub drive: [f32; 2],
}

/// An action that is carried out once, at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deed {
    /// A crate falls from above.
    Spawn,
    /// A fast ball with continuous collision detection.
    Fire,
    /// The plotted body is teleported to the other side. Its motion is not interpolated.
    Teleport(BodyKey),
    /// The plotted body goes through a portal. Its motion continues, turned by 180°.
    Portal(BodyKey),
    /// The origin of the simulation is shifted, which must be invisible.
    ShiftOrigin,
}

/// A body that is pulled by one of its points towards a target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pull {
    /// The body.
    pub key: BodyKey,
    /// The held point, in the body's frame.
    pub held_at: Vector,
    /// The target of that point, in the scene.
    pub to: Vector,
}

/// The shift of the origin in metres. The numbers are whole, so that the shift causes no rounding where possible.
const SHIFT: Vector = Vector::new(64.0, 0.0, 32.0);
/// The stiffness of a spring, per kilogram: enough to follow the mouse, and stable at 15 Hz.
const STIFFNESS: f32 = 90.0;
const DAMPING: f32 = 14.0;

/// The game's part of the state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Game {
    scene: Scene,
    /// The bodies with a role.
    pub cast: Cast,
    /// The origins of the simulation in the scene, each with the tick from which it holds.
    origins: Vec<(u64, Vector)>,
    spawned: u32,
}

impl Game {
    /// Creates a scene at its beginning, with its simulation.
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

    /// Returns the position of the simulation's origin in the scene.
    #[must_use]
    pub fn origin(&self) -> Vector {
        self.origins
            .last()
            .map_or(Vector::ZERO, |(_, origin)| *origin)
    }

    /// Returns all origins, each with the tick of its first step, because the displayed state may be older than the
    /// simulation.
    #[must_use]
    pub fn origins(&self) -> &[(u64, Vector)] {
        &self.origins
    }

    /// Runs the game's part of a step, before Rapier's.
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
                // A rotation by 180° about the middle of the scene.
                let turn = Pose::rotation(Vector::Y * std::f32::consts::PI);
                let middle = Pose::from_translation(-self.origin());
                // A body that cannot be teleported, such as a link of a multibody, stays.
                let _ = physics.teleport_by(key, middle * turn * middle.inverse());
            }
            Deed::ShiftOrigin => {
                let origin = self.origin() + SHIFT;
                physics.shift_origin(SHIFT).expect("the shift is finite");
                self.origins.push((step.tick, origin));
            }
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "only runs on one machine are compared"
    )]
    fn spawn(&mut self, physics: &mut Physics) {
        // Crates fall around a circle, so that they do not all land at the same position.
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
        self.cast.passing.push((step.start_time, key));
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

    /// Pulls with a spring to the mouse. The spring is computed ahead, so that it does not overshoot at low rates.
    fn pull(&self, physics: &mut Physics, step: Step, pull: Pull) {
        let Some(body) = physics.body(pull.key).filter(|body| body.is_dynamic()) else {
            return;
        };
        let point = body.position() * pull.held_at;
        let way = (pull.to - self.origin() - point).clamp_length_max(3.0);
        let damped = 1.0 + step.dt * (DAMPING + STIFFNESS * step.dt);
        let spring = STIFFNESS * way - DAMPING * body.velocity_at_point(point);
        let force = spring * (body.mass() / damped);
        // Without this brake the body would swing about the point for a long time.
        let brake = -body.angvel() * body.mass() * 0.3;
        let added = physics.add_force_at_point(pull.key, force, point);
        let braked = physics.add_torque(pull.key, brake);
        debug_assert!(added.is_ok() && braked.is_ok(), "it is dynamic and finite");
    }
}
