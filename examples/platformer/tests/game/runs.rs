//! Frame times, scripted players, and runs of them.

use std::time::Duration;

use evenstep::Delivery;
use evenstep::rapier::math::Vector;
use evenstep_platformer::controls::{Input, Way};
use evenstep_platformer::game::Game;
use evenstep_platformer::level::Level;
use evenstep_platformer::script::{Act, Script};

/// Of frames: the same in every run.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// So many a second.
    Hz(u32),
    /// Between 2 and 40 ms, by a generator with that seed.
    Jitter(u64),
}

/// Two slow ones, one fast one, one of no common measure, and two that are uneven.
pub const PACES: [Pace; 6] = [
    Pace::Hz(30),
    Pace::Hz(60),
    Pace::Hz(144),
    Pace::Hz(59),
    Pace::Jitter(7),
    Pace::Jitter(0x5eed),
];

impl Pace {
    /// Frame times whose sum is exactly `total`.
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
                    // Knuth's generator; its upper bits are good.
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

/// A game whose input has its own time.
pub fn game(level: &Level) -> Game {
    Game::new(level, Delivery::ByTime)
}

/// Plays a script, with a look at the game after each frame.
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

/// Plays a script in frames of that pace.
pub fn run(level: &Level, mut script: Script, pace: Pace, seconds: f64) -> Game {
    let mut game = game(level);
    let frames = pace.frames(Duration::from_secs_f64(seconds));
    play(&mut game, &mut script, &frames, |_| ());
    game
}

/// A key for walking.
pub fn walk(way: Way, down: bool) -> Act {
    Act::Input(Input::Walk(way, down))
}

/// The key for jumping.
pub fn jump(down: bool) -> Act {
    Act::Input(Input::Jump(down))
}

/// The button for shooting.
pub fn shoot(down: bool) -> Act {
    Act::Input(Input::Shoot(down))
}

/// Flat ground, 60 m wide, and nothing on it.
pub fn plain() -> Level {
    Level {
        ground: vec![(Vector::NEG_Y, Vector::new(30.0, 1.0, 30.0))],
        ..Level::default()
    }
}
