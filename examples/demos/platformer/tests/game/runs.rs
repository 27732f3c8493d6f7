//! Frame times, scripted players, and runs of them.

use std::time::Duration;

use evenstep::input::Delivery;
use evenstep::rapier::math::Vector;
use evenstep_platformer::controls::{Input, Way};
use evenstep_platformer::game::Game;
use evenstep_platformer::level::Level;
use evenstep_platformer::script::{Act, Script};

/// A pattern of frame times, the same in every run.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// This many frames per second.
    Hz(u32),
    /// Between 2 and 40 ms, from a generator with this seed.
    Jitter(u64),
}

/// Two slow patterns, a fast one, one without a common measure, and two uneven ones.
pub const PACES: [Pace; 6] = [
    Pace::Hz(30),
    Pace::Hz(60),
    Pace::Hz(144),
    Pace::Hz(59),
    Pace::Jitter(7),
    Pace::Jitter(0x5eed),
];

impl Pace {
    /// Returns frame times whose sum is exactly `total`.
    pub fn frames(self, total: Duration) -> Vec<Duration> {
        let (mut frames, mut sum) = (Vec::new(), Duration::ZERO);
        let mut random = if let Self::Jitter(seed) = self {
            seed
        } else {
            0
        };
        while sum < total {
            let frame = match self {
                Self::Hz(hz) => {
                    let end = (frames.len() as u64 + 1) * 1_000_000_000 / u64::from(hz);
                    Duration::from_nanos(end) - sum
                }
                Self::Jitter(_) => {
                    // Knuth's generator, whose upper bits are good.
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    Duration::from_micros(2_000 + (random >> 33) % 38_000)
                }
            };
            let frame = frame.min(total - sum);
            frames.push(frame);
            sum += frame;
        }
        frames
    }
}

/// Creates a game whose input events have their own times.
pub fn game(level: &Level) -> Game {
    Game::new(level, Delivery::ByTime)
}

/// Plays a script, and calls a closure with the game after each frame.
pub fn play(
    game: &mut Game,
    script: &mut Script,
    frames: &[Duration],
    mut look: impl FnMut(&Game),
) {
    for frame_time in frames {
        script.frame(game, *frame_time);
        look(game);
    }
}

/// Plays a script with a pattern of frame times.
pub fn run(level: &Level, mut script: Script, pace: Pace, seconds: f64) -> Game {
    let mut game = game(level);
    let frames = pace.frames(Duration::from_secs_f64(seconds));
    play(&mut game, &mut script, &frames, |_| ());
    game
}

/// Returns an event of a walking key.
pub fn walk(way: Way, down: bool) -> Act {
    Act::Input(Input::Walk(way, down))
}

/// Returns an event of the jump key.
pub fn jump(down: bool) -> Act {
    Act::Input(Input::Jump(down))
}

/// Returns an event of the shoot button.
pub fn shoot(down: bool) -> Act {
    Act::Input(Input::Shoot(down))
}

/// Returns a level of flat ground, 60 m wide, without anything on it.
pub fn plain() -> Level {
    Level {
        ground: vec![(Vector::NEG_Y, Vector::new(30.0, 1.0, 30.0))],
        ..Level::default()
    }
}
