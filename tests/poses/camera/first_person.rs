//! The first person: a look direction that is not part of the physics.

use std::time::Duration;

use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation, Step};

use super::{Evenness, SPEED, TOLERANCE, cruiser, over_the_capture, recorded};
use scenes::space;

/// Where the player looks, in radians.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Look {
    yaw: f32,
    pitch: f32,
}

impl Look {
    /// Call it for each mouse event, in the frame and not in the step.
    fn turn(&mut self, right: f32, down: f32) {
        const RADIANS_PER_COUNT: f32 = 0.002;
        const STEEPEST: f32 = 1.5;
        self.yaw -= right * RADIANS_PER_COUNT;
        self.pitch = (self.pitch - down * RADIANS_PER_COUNT).clamp(-STEEPEST, STEEPEST);
    }

    /// Returns the pose of the camera, with the displayed position of the body and the current look direction.
    fn eye(&self, simulation: &Simulation, player: BodyKey) -> Option<Pose> {
        const EYES: f32 = 0.7; // metres above the body's origin
        let position = simulation.pose(player)?.translation + Vector::Y * EYES;
        let turn = Rotation::from_rotation_y(self.yaw);
        let rotation = turn * Rotation::from_rotation_x(self.pitch);
        Some(Pose::from_parts(position, rotation))
    }
}

/// Walks where the player looked at that time. Call it in the hook before each step.
fn walk(
    physics: &mut Physics,
    player: BodyKey,
    looks: &mut InputQueue<f32>,
    yaw: &mut f32,
    step: Step,
) {
    if let Some(look) = looks.drain(step).last() {
        *yaw = look.input;
    }
    let velocity = Rotation::from_rotation_y(*yaw) * Vector::NEG_Z * SPEED;
    let body = physics.body_mut(player).unwrap();
    body.set_linvel(velocity, true);
}

/// Returns the camera's pose before step 300, after mouse events every 8 ms have turned the look.
fn turn_about(frames: impl Iterator<Item = Duration>) -> Pose {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().lock_rotations();
    let player = simulation
        .physics
        .insert(body, ColliderBuilder::capsule_y(0.5, 0.3));
    let mut looks = InputQueue::new(Delivery::ByTime);
    let (mut look, mut yaw, mut events) = (Look::default(), 0.0, 0);
    let mut place = None;
    for time in frames {
        let end = simulation.clock().real_time() + time;
        while Duration::from_millis(8) * (events + 1) < end {
            events += 1;
            look.turn(7.0, 0.0);
            looks.push(Duration::from_millis(8) * events, look.yaw);
        }
        simulation.advance(time, |physics, step| {
            if step.tick == 300 {
                place = Some(*physics.body(player).unwrap().position());
            }
            walk(physics, player, &mut looks, &mut yaw, step);
        });
        let eye = look.eye(&simulation, player).unwrap();
        // There is no latency: the camera has turned by all mouse events.
        assert!((look.yaw + 0.014 * events as f32).abs() < 1e-3);
        assert!(
            eye.rotation
                .angle_between(Rotation::from_rotation_y(look.yaw))
                < 1e-3
        );
    }
    place.unwrap()
}

#[test]
fn the_look_has_no_latency_and_walking_is_equal_at_every_frame_rate() {
    let recorded = turn_about(recorded().into_iter());
    for hz in [30, 144, 240] {
        let even = turn_about((0..hz * 6).map(|_| Duration::from_secs(1) / hz));
        assert_eq!(even, recorded, "{hz} frames per second");
    }
}

#[test]
fn the_first_person_camera_moves_evenly() {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().lock_rotations();
    let player = simulation
        .physics
        .insert(body.linvel(Vector::X * SPEED), ColliderBuilder::ball(0.3));
    let mut look = Look::default();
    let mut evenness = Evenness::default();
    over_the_capture(&mut simulation, |simulation, time| {
        look.turn(3.0, 1.0);
        evenness.add(look.eye(simulation, player).unwrap().translation, time);
    });
    assert!(evenness.worst < TOLERANCE, "{} m", evenness.worst);
}

/// Returns the pose of a weapon in the player's hands, which is attached to the camera and not to the body.
fn view_model(eye: Pose) -> Pose {
    eye * Pose::translation(0.2, -0.15, -0.5)
}

#[test]
fn a_weapon_keeps_its_position_relative_to_the_camera() {
    let (mut simulation, body) = cruiser();
    over_the_capture(&mut simulation, |simulation, _| {
        let eye = Look::default().eye(simulation, body).unwrap();
        let weapon = (eye.inverse() * view_model(eye)).translation;
        assert!(weapon.distance(Vector::new(0.2, -0.15, -0.5)) < TOLERANCE);
    });
}
