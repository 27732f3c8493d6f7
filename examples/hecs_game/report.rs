//! The summary and the picture of a run. They compare two renderers. One draws the latest step, as a game without
//! evenstep would, the other interpolated poses.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use evenstep::ecs::hecs::{Body, RenderPose};
use evenstep::rapier::math::Vector;
use evenstep::{Frame, Simulation};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use crate::game::{DRONE_SPEED, Game};
use crate::picture::{self, Area, EVENSTEP, FONT, GREY, HEIGHT, WITHOUT, name};

/// The number of frames in a strip of the summary. Each frame is one character.
pub const STRIP: usize = 60;

/// The number of frames in the picture: the last frames of a run.
const IN_PICTURE: usize = 16;

/// The width of the numbers beside the left panel, in pixels.
const POSITIONS: u32 = 80;

/// A renderer, represented by the position at which it draws the drone.
type Renderer = fn(&DrawnFrame) -> Vector;
/// The name and the colour of a side.
type Side = (&'static str, RGBColor);

pub const RENDERERS: [(Side, Renderer); 2] =
    [(WITHOUT, |it| it.latest), (EVENSTEP, |it| it.interpolated)];

/// The number of columns of a name in the summary.
pub const NAMES: usize = 18;

/// The positions at which the two renderers draw the drone in one frame.
pub struct DrawnFrame {
    /// Real time at the end of the frame.
    end: Duration,
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
            end: simulation.clock().real_time(),
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

    /// Returns the points of a curve: the distance that a renderer has moved the drone, in metres, against the time in
    /// milliseconds. The curve covers the last frames of the run.
    fn distances(&self, renderer: Renderer) -> Vec<(f32, f32)> {
        let frames = &self.frames[self.frames.len().saturating_sub(IN_PICTURE)..];
        let points = frames.iter().map(|frame| {
            let time = (frame.end - frames[0].end).as_secs_f32() * 1e3;
            (time, renderer(frame).distance(renderer(&frames[0])))
        });
        points.collect()
    }

    /// Returns an SVG with a panel for each renderer. A panel shows the drone's position in each frame, and a line for
    /// even motion.
    pub fn picture(&self) -> Result<String, Box<dyn Error>> {
        let title = [
            "Without evenstep a body stops and jumps,",
            "with evenstep it moves evenly",
        ];
        picture::svg(&title, HEIGHT, |area| {
            let (width, _) = area.dim_in_pixel();
            let panels = area.split_horizontally((width + POSITIONS) / 2);
            let [latest, interpolated] = &RENDERERS;
            self.panel(&panels.0, latest, POSITIONS)?;
            self.panel(&panels.1, interpolated, 0)
        })
    }

    fn panel(
        &self,
        area: &Area,
        &((side, colour), renderer): &(Side, Renderer),
        positions: u32,
    ) -> Result<(), Box<dyn Error>> {
        let points = self.distances(renderer);
        let end = points.last().ok_or("no frames")?.0;
        let speed = DRONE_SPEED / 1e3;
        // The line has the same mean as the points.
        let ahead = points
            .iter()
            .map(|(time, distance)| distance - speed * time);
        let ahead = ahead.sum::<f32>() / points.len() as f32;
        let even = [-0.04 * end, 1.04 * end].map(|time| (time, speed * time + ahead));

        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(60)
            .y_label_area_size(positions)
            .build_cartesian_2d(even[0].0..even[1].0, -0.1 * speed * end..1.22 * speed * end)?;
        chart
            .configure_mesh()
            .x_desc("time, ms")
            .y_desc("distance, m")
            .x_label_formatter(&|time| format!("{time}"))
            .x_labels(3)
            .y_labels(5)
            .label_style(FONT)
            .light_line_style(WHITE)
            .draw()?;
        let above = (0.0, 1.13 * speed * end);
        chart.draw_series([name(side, above, HPos::Left, colour)])?;
        chart.draw_series(LineSeries::new(even, GREY.stroke_width(2)))?;
        let dots = points.into_iter();
        chart.draw_series(dots.map(|dot| Circle::new(dot, 5, colour.filled())))?;
        Ok(())
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
        for ((name, _), renderer) in RENDERERS {
            let speeds = strip(&self.speeds(renderer)[range.clone()], DRONE_SPEED);
            writeln!(f, "{name:NAMES$}{speeds}")?;
        }
        writeln!(
            f,
            "\nThe drone flies at {DRONE_SPEED:.2} m/s. Its speed on the screen is off by"
        )?;
        for ((name, _), renderer) in RENDERERS {
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
