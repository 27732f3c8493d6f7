//! How far a displayed body jumps.

use std::time::Duration;

use evenstep::rapier::prelude::Vector;
use evenstep::{BodyKey, Simulation};

/// Measures how far a displayed body moves beyond what its speed explains.
#[derive(Clone, Debug, Default)]
pub struct Jumps {
    /// The displayed position in the last frame, and the position without correction.
    last: Option<[Vector; 2]>,
    /// The speeds in the last frames. The displayed pose is up to a step behind.
    speeds: [f32; 4],
}

impl Jumps {
    /// Returns the unexplained motion in a frame of this duration, in metres: as displayed, and without correction.
    ///
    /// # Panics
    /// If there is no such body.
    pub fn frame(&mut self, simulation: &Simulation, key: BodyKey, time: Duration) -> [f32; 2] {
        let error = simulation.visual_error(key).unwrap_or_default().translation;
        let shown = simulation.pose(key).unwrap().translation;
        self.speeds.rotate_right(1);
        self.speeds[0] = simulation.physics.body(key).unwrap().linvel().length();
        let explained = self.speeds.into_iter().fold(0.0, f32::max) * time.as_secs_f32();
        let places = [shown, shown - error];
        let last = self.last.replace(places).unwrap_or(places);
        [0, 1].map(|i| places[i].distance(last[i]) - explained)
    }
}
