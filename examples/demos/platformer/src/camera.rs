//! The camera. It follows the character smoothly from behind, and stays in front of walls.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{Physics, Simulation};

use crate::look::Look;

/// How fast the distance to the character shrinks, per second. At 5 m/s the camera trails by 0.4 m.
const RATE: f32 = 12.0;
/// The distance from the point that the camera looks at, in metres.
const DISTANCE: f32 = 5.5;
/// The height of that point above the character's centre, in metres.
const ABOVE: f32 = 0.75;
/// How far that point is to the character's right, in metres, so that the character does not hide the aim. A picture
/// that is narrower than high has less room, so the distance shrinks with its width.
const BESIDE: f32 = 0.8;
/// A character that moves further than this in a frame, in metres, has been teleported.
const LEAP: f32 = 3.0;

/// The position of the camera, and the point that it looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The position of the camera, in world space.
    pub eye: Vector,
    /// The point that the camera looks at, in world space.
    pub at: Vector,
}

/// A camera that follows a target.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    place: Vector,
    target: Vector,
    beside: f32,
}

impl Camera {
    /// Creates a camera at a target.
    #[must_use]
    pub fn new(target: Vector) -> Self {
        Self {
            place: target,
            target,
            beside: BESIDE,
        }
    }

    /// Sets the width of the picture as a multiple of its height.
    pub fn set_aspect(&mut self, aspect: f32) {
        self.beside = BESIDE * aspect.clamp(0.0, 1.0);
    }

    /// Follows the target. Called after each frame, with the displayed position of the target and the game time that
    /// passed.
    ///
    /// The camera assumes that the target has moved evenly since the last frame, and solves the motion exactly. So
    /// behind a target of constant speed it trails by the same distance in every frame, however uneven the frames are.
    #[expect(clippy::disallowed_methods, reason = "no step depends on the camera")]
    pub fn follow(&mut self, target: Vector, time: Duration) {
        let time = time.as_secs_f32();
        if self.target.distance(target) > LEAP {
            self.place = target;
        } else if time > 0.0 {
            let lag = (target - self.target) / (time * RATE);
            let excess = self.place - (self.target - lag);
            self.place = target - lag + excess * (-RATE * time).exp();
        }
        self.target = target;
    }

    /// Returns the view. The look is that of the present frame, so turning has no delay.
    #[must_use]
    pub fn view(&self, simulation: &Simulation, look: Look) -> View {
        let at = self.place + Vector::Y * ABOVE + look.heading() * Vector::X * self.beside;
        let back = -look.direction();
        View {
            eye: at + back * free_distance(&simulation.physics, at, back),
            at,
        }
    }
}

/// Returns how far the camera can move back. Walls do not move, so Rapier's query is right for them.
fn free_distance(physics: &Physics, at: Vector, back: Vector) -> f32 {
    const RADIUS: f32 = 0.3; // metres that it keeps from walls
    let ray = Ray::new(at, back);
    let walls = QueryFilter::only_fixed();
    let hit = physics
        .rapier()
        .cast_ray(&ray, DISTANCE + RADIUS, true, walls);
    hit.map_or(DISTANCE, |(_, distance)| (distance - RADIUS).max(0.0))
}
