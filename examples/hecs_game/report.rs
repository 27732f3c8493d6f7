//! The summary of a run. It compares two renderers. One draws the latest step, as a game without interpolation would, the other
//! interpolated poses.

use std::fmt;
use std::time::Duration;

use evenstep::ecs::hecs::{Body, RenderPose};
use evenstep::rapier::math::Vector;
use evenstep::{Frame, Simulation};

use crate::game::{DRONE_SPEED, Game};

/// The number of frames in a strip of the summary. Each frame is one character.
pub const STRIP: usize = 60;

/// A renderer, represented by the position at which it draws the drone.
type Renderer = fn(&DrawnFrame) -> Vector;

pub const RENDERERS: [(&str, Renderer); 2] = [
    ("latest step", |it| it.latest),
    ("evenstep", |it| it.interpolated),
];

/// The number of columns of a name in the summary.
pub const NAMES: usize = 18;

/// The positions at which the two renderers draw the drone in one frame.
pub struct DrawnFrame {
    time: Duration,
    /// The frame time without the part that evenstep dropped.
    simulated_time: Duration,
    interpolated: Vector,
    latest: Vector,
}

impl DrawnFrame {
    pub fn new(time: Duration, frame: Frame, simulation: &Simulation, game: &Game) -> Self {
        let drone = game.world.entity(game.drone).unwrap();
        let key = drone.get::<&Body>().unwrap().key();
        Self {
            time,
            simulated_time: time - frame.dropped.frame_time,
            interpolated: drone.get::<&RenderPose>().unwrap().0.translation,
            latest: simulation.physics.body(key).unwrap().translation(),
        }
    }
}

/// A finished run.
pub struct Run {
    pub simulation: Simulation,
    pub game: Game,
    /// The frames since the first step.
    pub frames: Vec<DrawnFrame>,
}

impl Run {
    /// Returns the median and the largest difference between the drone's speed on the screen and its true speed, in m/s.
    pub fn errors(&self, renderer: Renderer) -> [f32; 2] {
        let speeds = self.speeds(renderer);
        median_and_largest(speeds.iter().map(|speed| (speed - DRONE_SPEED).abs()))
    }

    /// Returns the drone's speed on the screen in m/s, in each frame except the first.
    fn speeds(&self, renderer: Renderer) -> Vec<f32> {
        let pairs = self.frames.windows(2);
        let speeds = pairs.map(|pair| {
            let distance = renderer(&pair[1]).distance(renderer(&pair[0]));
            distance / pair[1].simulated_time.as_secs_f32()
        });
        speeds.collect()
    }

    /// Returns the time of each frame except the first, in milliseconds.
    fn frame_times(&self) -> Vec<f32> {
        let frames = self.frames.iter().skip(1);
        frames.map(|frame| frame.time.as_secs_f32() * 1e3).collect()
    }

    /// Returns the index of the longest frame. The first frame does not count, because a speed needs two frames.
    fn longest(&self) -> usize {
        let indices = 1..self.frames.len();
        indices.max_by_key(|&i| self.frames[i].time).unwrap_or(0)
    }
}

/// Writes the summary, narrow enough for a terminal of 80 columns.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = self.simulation.clock();
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let times = self.frame_times();
        let [usual, longest] = median_and_largest(times.iter().copied());
        writeln!(
            f,
            "{} frames in {:.3} s: typically {usual:.1} ms, at most {longest:.1} ms\n\
             {} steps of {:.1} ms, {:.1} ms left for the next step, {:.1} ms dropped\n\
             {} bodies, {} jumps of the player, {} collisions of balls\n",
            self.simulation.frame().number,
            clock.real_time().as_secs_f64(),
            clock.tick(),
            clock.settings().rate().dt_f64() * 1e3,
            milliseconds(clock.overstep()),
            milliseconds(clock.dropped().frame_time),
            self.simulation.physics.bodies().count(),
            self.game.jumps,
            self.game.collisions,
        )?;

        // The longest frame is in the middle of the strips, if there are enough frames on both sides.
        let end = (self.longest() + STRIP / 2).max(STRIP).min(times.len());
        let range = end.saturating_sub(STRIP)..end;
        writeln!(
            f,
            "{} frames around the longest one, and the speed of the drone on the screen:",
            range.len()
        )?;
        writeln!(
            f,
            "{:NAMES$}{}",
            "frame time",
            strip(&times[range.clone()], usual)
        )?;
        for (name, renderer) in RENDERERS {
            let speeds = strip(&self.speeds(renderer)[range.clone()], DRONE_SPEED);
            writeln!(f, "{name:NAMES$}{speeds}")?;
        }
        writeln!(
            f,
            "\nThe drone flies at {DRONE_SPEED:.2} m/s. Its speed on the screen is off by"
        )?;
        for (name, renderer) in RENDERERS {
            let [median, largest] = self.errors(renderer);
            writeln!(
                f,
                "{name:NAMES$}{median:.2} m/s typically, {largest:.2} m/s at most"
            )?;
        }
        Ok(())
    }
}

/// Returns one character per value, in eight heights. The value `usual` has the fourth height. Values too large for the
/// scale get the eighth.
fn strip(values: &[f32], usual: f32) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let height = |value: &f32| (value / usual * 3.0).round() as usize;
    let characters = values.iter().map(|value| HEIGHTS[height(value).min(7)]);
    characters.collect()
}

fn median_and_largest(values: impl Iterator<Item = f32>) -> [f32; 2] {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f32::total_cmp);
    [values[values.len() / 2], values[values.len() - 1]]
}
