//! The summary and the picture of a run. They compare two renderers: one draws the latest step, one interpolated poses.

use std::error::Error;
use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use evenstep::entities::{Body, RenderPose};
use evenstep::rapier::math::Vector;
use evenstep::{Frame, Simulation};
use plotters::prelude::*;

use crate::game::{DRONE_SPEED, Game};

/// The number of frames in a strip of the summary, a character each.
pub const STRIP: usize = 60;

/// The number of frames in the picture: those after the longest one.
const IN_PICTURE: usize = 20;

/// The size in pixels. On a page that is 320 pixels wide, such as a phone's, the letters are still 11 pixels high.
const PICTURE_SIZE: (u32, u32) = (560, 380);
const FONT: (&str, u32) = ("sans-serif", 24);

/// Turns white into dark grey on a dark page, and keeps the hues.
const ON_DARK_PAGES: &str = "<style>@media (prefers-color-scheme: dark) \
    { svg { filter: invert(0.9) hue-rotate(180deg) } }</style>";

/// A renderer, given by the position at which it draws the drone.
type Renderer = fn(&DrawnFrame) -> Vector;

pub const RENDERERS: [(&str, RGBColor, Renderer); 2] = [
    ("latest step", RGBColor(200, 60, 40), |it| it.latest),
    ("interpolated", RGBColor(30, 100, 190), |it| it.interpolated),
];

/// Where the two renderers draw the drone in one frame.
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

    /// Returns the frame times in milliseconds, of each frame except the first.
    fn frame_times(&self) -> Vec<f32> {
        let frames = self.frames.iter().skip(1);
        frames.map(|frame| frame.time.as_secs_f32() * 1e3).collect()
    }

    /// Returns the index of the longest frame. The first frame does not count, as nothing has moved before it.
    fn longest(&self) -> usize {
        let indices = 1..self.frames.len();
        indices.max_by_key(|&i| self.frames[i].time).unwrap_or(0)
    }

    /// Returns the points of a curve: how far a renderer moves the drone after the longest frame, over time.
    fn distances(&self, renderer: Renderer) -> Vec<(f32, f32)> {
        let latest_start = self.frames.len().saturating_sub(IN_PICTURE);
        let frames = &self.frames[self.longest().min(latest_start)..];
        let points = frames.iter().take(IN_PICTURE).map(|frame| {
            let time = (frame.end - frames[0].end).as_secs_f32();
            (time, renderer(frame).distance(renderer(&frames[0])))
        });
        points.collect()
    }

    /// Draws these curves into an SVG file, and creates its folder if necessary.
    pub fn draw(&self, file: &Path) -> Result<(), Box<dyn Error>> {
        let lines =
            RENDERERS.map(|(name, colour, renderer)| (name, colour, self.distances(renderer)));
        let end = lines[0].2.last().map_or(0.0, |point| point.0);

        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, PICTURE_SIZE).into_drawing_area();
            area.fill(&WHITE)?;
            let mut chart = ChartBuilder::on(&area)
                .margin(12)
                .margin_right(24)
                .x_label_area_size(60)
                .y_label_area_size(80)
                .build_cartesian_2d(0.0..end, 0.0..1.1 * DRONE_SPEED * end)?;
            chart
                .configure_mesh()
                .x_desc("time, s")
                .y_desc("distance, m")
                .x_labels(6)
                .y_labels(6)
                .label_style(FONT)
                .light_line_style(WHITE)
                .draw()?;
            for (name, colour, points) in lines {
                let style = colour.stroke_width(3);
                let dots = points.iter();
                chart.draw_series(dots.map(|&dot| Circle::new(dot, 4, colour.filled())))?;
                chart
                    .draw_series(LineSeries::new(points, style))?
                    .label(name)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
            }
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperLeft)
                .label_font(FONT)
                .border_style(BLACK)
                .background_style(WHITE)
                .draw()?;
            area.present()?;
        }
        let content = svg.find('>').ok_or("the SVG is empty")? + 1;
        svg.insert_str(content, ON_DARK_PAGES);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(fs::write(file, svg)?)
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
            "{:14}{}",
            "frame time",
            strip(&times[range.clone()], usual)
        )?;
        for (name, _, renderer) in RENDERERS {
            let speeds = strip(&self.speeds(renderer)[range.clone()], DRONE_SPEED);
            writeln!(f, "{name:14}{speeds}")?;
        }
        writeln!(
            f,
            "\nThe drone flies at {DRONE_SPEED:.2} m/s. Its speed on the screen is off by"
        )?;
        for (name, _, renderer) in RENDERERS {
            let [median, largest] = self.errors(renderer);
            writeln!(
                f,
                "{name:14}{median:.2} m/s typically, {largest:.2} m/s at most"
            )?;
        }
        Ok(())
    }
}

/// Returns a character per value. `usual` has the fourth of eight heights. The highest also stands for larger values.
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
