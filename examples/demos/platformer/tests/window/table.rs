//! The game's log.

use evenstep::rapier::math::Vector;

/// A line of the log: what a frame displayed.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The game's time in seconds.
    pub time: f64,
    /// The number of steps.
    pub tick: u64,
    /// The displayed fraction of the way to the last state.
    pub alpha: f32,
    /// The character's position.
    pub hero: Vector,
    /// The camera's position.
    pub camera: Vector,
    /// The ferry's position.
    pub ferry: Vector,
    /// Real time in seconds, the sum of all frame times.
    pub real_time: f64,
    pub score: u32,
    pub shots: u32,
}

impl Row {
    pub fn read(line: &str) -> Self {
        let cells: Vec<f64> = line
            .trim()
            .split(',')
            .map(|cell| cell.parse().unwrap())
            .collect();
        let place = |at: usize| {
            Vector::from_slice(&[cells[at], cells[at + 1], cells[at + 2]].map(|m| m as f32))
        };
        Self {
            time: cells[1],
            tick: cells[2] as u64,
            alpha: cells[3] as f32,
            hero: place(4),
            camera: place(7),
            ferry: place(10),
            real_time: cells[13],
            score: cells[14] as u32,
            shots: cells[15] as u32,
        }
    }

    /// Returns the direction of the camera while the character stands, in radians to the left of −z. The camera is
    /// behind the character, and 0.8 m to its right.
    #[expect(
        clippy::disallowed_methods,
        reason = "a measure in a test, with room for rounding"
    )]
    pub fn yaw(&self) -> f32 {
        let way = self.camera - self.hero;
        way.x.atan2(way.z) - 0.8f32.atan2(5.5)
    }
}
