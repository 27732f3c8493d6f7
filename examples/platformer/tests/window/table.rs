//! The game's own log.

use evenstep::rapier::math::Vector;

/// What a frame showed.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Seconds of the game.
    pub time: f64,
    /// How many steps there were.
    pub tick: u64,
    /// Where the character is.
    pub hero: Vector,
    /// Where the camera is.
    pub camera: Vector,
    /// Where the ferry is.
    pub ferry: Vector,
    /// Seconds of all frames.
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
            hero: place(4),
            camera: place(7),
            ferry: place(10),
            real_time: cells[13],
            score: cells[14] as u32,
            shots: cells[15] as u32,
        }
    }

    /// Which way the camera looks, while the character stands: radians to the left of −z. It is behind the character, and
    /// 0.8 m to the right.
    #[expect(
        clippy::disallowed_methods,
        reason = "a test's own measure, with room for rounding"
    )]
    pub fn yaw(&self) -> f32 {
        let way = self.camera - self.hero;
        way.x.atan2(way.z) - 0.8f32.atan2(5.5)
    }
}
