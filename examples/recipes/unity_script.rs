//! A script from Unity in evenstep: a player that runs and jumps, a thud when it hits something, and a camera.

use std::time::Duration;

use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::{BodyError, BodyKey, Simulation, Step};

/// The game.
pub struct Game {
    /// The bodies and the clock.
    pub simulation: Simulation,
    /// The player's body, a capsule of 1.6 m.
    pub player: BodyKey,
    /// Presses that no step has read yet.
    pub presses: InputQueue<()>,
    /// The stick, from -1 to 1.
    pub stick: f32,
    /// The position of the camera.
    pub camera: Vector,
    /// The number of thuds that have been played.
    pub thuds: usize,
}

impl Game {
    /// Starts with a floor and a player.
    pub fn new() -> Self {
        let mut simulation = Simulation::default();
        let floor = RigidBodyBuilder::fixed().translation(Vector::Y * -0.5);
        let ground = ColliderBuilder::cuboid(50.0, 0.5, 50.0);
        simulation.physics.insert(floor, ground);
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::Y * 0.8)
            .lock_rotations();
        let capsule = ColliderBuilder::capsule_y(0.5, 0.3)
            .friction(0.0)
            .friction_combine_rule(CoefficientCombineRule::Min)
            .active_events(ActiveEvents::COLLISION_EVENTS);
        Self {
            player: simulation.physics.insert(body, capsule),
            presses: InputQueue::new(Delivery::NextStep),
            stick: 0.0,
            camera: Vector::ZERO,
            thuds: 0,
            simulation,
        }
    }

    /// Reads the devices, once per frame.
    pub fn update(&mut self, stick: f32, is_pressed: bool) {
        self.stick = stick;
        if is_pressed {
            self.presses.push(self.simulation.clock().real_time(), ());
        }
    }

    /// Runs a frame, after `update`.
    pub fn frame(&mut self, frame_time: Duration) {
        self.simulation.begin_frame(frame_time);
        while let Some(step) = self.simulation.next_step() {
            self.fixed_update(step).unwrap();
            self.simulation.run_step();
        }
        self.simulation.end_frame();
        self.late_update();
    }

    fn fixed_update(&mut self, step: Step) -> Result<(), BodyError> {
        let physics = &mut self.simulation.physics;
        let body = physics.body(self.player).unwrap();
        let (mass, position) = (body.mass(), body.translation());
        let missing = self.stick * 4.0 - body.linvel().x;
        physics.add_force(self.player, Vector::X * missing * mass * 10.0)?;

        let own = physics.handle(self.player).unwrap();
        let others = QueryFilter::new().exclude_rigid_body(own);
        let down = Ray::new(position, Vector::NEG_Y);
        let ground = physics.rapier().cast_ray(&down, 0.85, true, others);
        if self.presses.drain(step).count() > 0 && ground.is_some() {
            physics.apply_impulse(self.player, Vector::Y * mass * 5.0)?;
        }
        Ok(())
    }

    fn late_update(&mut self) {
        let player = self.simulation.pose(self.player).unwrap().translation;
        self.camera = player + Vector::new(0.0, 2.0, 8.0);
        let hits = self.simulation.events();
        self.thuds += hits.collisions().filter(|hit| hit.started).count();
    }
}

impl Default for Game {
    fn default() -> Self {
        Self::new()
    }
}
