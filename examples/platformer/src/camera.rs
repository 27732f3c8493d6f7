//! From where the game is seen: behind the character, which it follows smoothly, and in front of walls.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{Physics, Simulation};

use crate::look::Look;

/// How fast the distance to the character shrinks: per second. At 5 m/s the camera trails by 0.4 m.
const RATE: f32 = 12.0;
/// Metres, from the point that it looks at.
const DISTANCE: f32 = 5.5;
/// How far that point is above the character's middle: metres.
const ABOVE: f32 = 0.75;
/// How far that point is to the right of it, so that the character is not in the aim: metres.
const BESIDE: f32 = 0.8;
/// What moves further than this in a frame has not walked: metres.
const LEAP: f32 = 3.0;

/// Where the camera is, and what it looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// In world space.
    pub eye: Vector,
    /// In world space.
    pub at: Vector,
}

/// A camera that follows.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    place: Vector,
    target: Vector,
}

impl Camera {
    /// At a target.
    #[must_use]
    pub fn new(target: Vector) -> Self {
        Self {
            place: target,
            target,
        }
    }

    /// After each frame, with the place where the target is shown now, and the game's time that passed.
    ///
    /// It takes the target to have moved evenly since the last frame, and solves for that exactly: behind a target of
    /// constant speed it trails by the same distance in every frame, however uneven the frames are.
    #[expect(
        clippy::disallowed_methods,
        reason = "no step depends on where the camera is"
    )]
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

    /// The look is that of this frame: turning has no delay.
    #[must_use]
    pub fn view(&self, simulation: &Simulation, look: Look) -> View {
        let at = self.place + Vector::Y * ABOVE + look.heading() * Vector::X * BESIDE;
        let back = -look.direction();
        View {
            eye: at + back * free_distance(&simulation.physics, at, back),
            at,
        }
    }
}

/// How far the camera can go back. Walls do not move: Rapier's own query is right for them.
fn free_distance(physics: &Physics, at: Vector, back: Vector) -> f32 {
    const RADIUS: f32 = 0.3; // metres that it keeps from walls
    let ray = Ray::new(at, back);
    let walls = QueryFilter::only_fixed();
    let hit = physics
        .rapier()
        .cast_ray(&ray, DISTANCE + RADIUS, true, walls);
    hit.map_or(DISTANCE, |(_, distance)| (distance - RADIUS).max(0.0))
}
