//! Logs of what the server had and of what a client displayed, and statistics of them.

use std::time::Duration;

use evenstep::rapier::prelude::Vector;
use serde::{Deserialize, Serialize};

use crate::client::{Client, Counts};
use crate::game::PLAYERS;
use crate::server::Server;

/// The server's states, frame by frame.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ServerLog(Vec<Had>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Had {
    time: Duration,
    tick: u64,
    places: Vec<[f32; 3]>,
    /// The number of steps without each player's input.
    missed: [u64; PLAYERS],
}

/// What a client displayed, frame by frame, and how much was sent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ClientLog {
    player: usize,
    down: usize,
    up: usize,
    frames: Vec<Shown>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shown {
    time: Duration,
    /// The server's tick at which bodies that are not predicted are displayed.
    tick: f64,
    speed: f64,
    counts: Counts,
    /// The client's own body: its displayed position, its visual error, and its velocity.
    own: [[f32; 3]; 3],
    /// The bodies that are not predicted.
    others: Vec<(usize, [f32; 3])>,
}

impl ServerLog {
    /// Adds a frame.
    pub fn frame(&mut self, time: Duration, server: &Server) {
        let bodies = server
            .bodies
            .iter()
            .filter_map(|key| server.simulation.physics.body(*key));
        self.0.push(Had {
            time,
            tick: server.simulation.physics.tick(),
            places: bodies.map(|body| body.translation().to_array()).collect(),
            missed: std::array::from_fn(|player| server.missed(player)),
        });
    }

    /// Returns the last frame with this tick or an earlier one, and the next frame.
    fn at(&self, tick: f64) -> Option<[&Had; 2]> {
        let next = self.0.partition_point(|had| had.tick as f64 <= tick);
        Some([self.0.get(next.checked_sub(1)?)?, self.0.get(next)?])
    }

    fn at_time(&self, time: Duration) -> Option<&Had> {
        let next = self.0.partition_point(|had| had.time <= time);
        self.0.get(next.checked_sub(1)?)
    }
}

impl ClientLog {
    /// Adds a packet from the server.
    pub fn received(&mut self, packet: &[u8]) {
        self.down += packet.len();
    }

    /// Adds a packet to the server.
    pub fn sent(&mut self, packet: &[u8]) {
        self.up += packet.len();
    }

    /// Adds a frame.
    pub fn frame(&mut self, time: Duration, client: &Client) {
        let Some(player) = client.player() else {
            return;
        };
        self.player = player;
        let simulation = &client.simulation;
        let shown = |place: usize| simulation.pose(client.bodies[place]).expect("bodies stay");
        let key = client.bodies[player];
        let error = simulation.visual_error(key).unwrap_or_default();
        let velocity = simulation.physics.body(key).expect("bodies stay").linvel();
        let own = [shown(player).translation, error.translation, velocity];
        let others = (0..client.bodies.len()).filter(|place| !client.is_predicted(*place));
        self.frames.push(Shown {
            time,
            tick: client.shown_tick(),
            speed: simulation.clock().settings().speed(),
            counts: client.counts,
            own: own.map(|it| it.to_array()),
            others: others
                .map(|place| (place, shown(place).translation.to_array()))
                .collect(),
        });
    }
}

/// The quality of a match for one client. Lengths are in metres.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// Data from the server in kB/s, without the 28 bytes of each packet's headers.
    pub down: f64,
    /// Data to the server in kB/s.
    pub up: f64,
    /// The distance from the displayed position of bodies that are not predicted to the server's position at that tick:
    /// the mean over moving bodies.
    pub error_mean: f32,
    /// The largest of these distances.
    pub error_worst: f32,
    /// How long ago that tick was, in ms.
    pub delay: f64,
    /// The largest motion of the client's own body in a frame, beyond what its speed explains.
    pub jump: f32,
    /// The same if corrections were not smoothed.
    pub jump_uncorrected: f32,
    /// Steps that the server ran without the player's input.
    pub missed: u64,
    /// Rollbacks per second.
    pub rollbacks: f64,
    /// Steps per rollback.
    pub steps: f64,
    /// The mean speed of the client's clock.
    pub speed: f64,
}

impl Figures {
    /// Computes statistics of everything later than `after` after the client's first frame. Returns `None` if there is
    /// nothing.
    #[must_use]
    pub fn new(server: &ServerLog, client: &ClientLog, after: Duration) -> Option<Self> {
        let start = client.frames.first()?;
        let first = client
            .frames
            .partition_point(|shown| shown.time < start.time + after);
        let frames = &client.frames[first..];
        let (begin, end) = (frames.first()?, frames.last()?);
        let [all, measured] = [start, begin].map(|it| (end.time - it.time).as_secs_f64());
        let mut figures = Self {
            down: client.down as f64 / all / 1e3,
            up: client.up as f64 / all / 1e3,
            rollbacks: (end.counts.rollbacks - begin.counts.rollbacks) as f64 / measured,
            speed: frames.iter().map(|shown| shown.speed).sum::<f64>() / frames.len() as f64,
            ..Self::default()
        };
        let steps = end.counts.resimulated - begin.counts.resimulated;
        figures.steps = steps as f64 / (figures.rollbacks * measured).max(1.0);
        let missed = [begin, end].map(|it| {
            server
                .at_time(it.time)
                .map_or(0, |had| had.missed[client.player])
        });
        figures.missed = missed[1] - missed[0];
        figures.compare(server, frames);
        figures.measure_jumps(frames);
        Some(figures)
    }

    fn compare(&mut self, server: &ServerLog, frames: &[Shown]) {
        let (mut sum, mut moving, mut delays, mut compared) = (0.0, 0, 0.0, 0);
        for shown in frames {
            let Some([before, after]) = server.at(shown.tick) else {
                continue;
            };
            let part = (shown.tick - before.tick as f64) / (after.tick - before.tick) as f64;
            let then = before.time + (after.time - before.time).mul_f64(part);
            delays += shown.time.saturating_sub(then).as_secs_f64() * 1e3;
            compared += 1;
            for (place, at) in &shown.others {
                let [a, b] = [before, after].map(|had| Vector::from_array(had.places[*place]));
                let off = a.lerp(b, part as f32).distance(Vector::from_array(*at));
                self.error_worst = self.error_worst.max(off);
                // The body moves faster than 6 cm/s.
                if a.distance(b) > 0.001 {
                    sum += off;
                    moving += 1;
                }
            }
        }
        self.error_mean = sum / moving.max(1) as f32;
        self.delay = delays / f64::from(compared.max(1));
    }

    fn measure_jumps(&mut self, frames: &[Shown]) {
        for four in frames.windows(4) {
            // The displayed pose is up to a step behind.
            let speeds = four
                .iter()
                .map(|shown| Vector::from_array(shown.own[2]).length());
            let time = (four[3].time - four[2].time).as_secs_f32();
            let explained = speeds.fold(0.0, f32::max) * time;
            let [before, after] = [&four[2], &four[3]].map(|shown| {
                let [at, error, _] = shown.own.map(Vector::from_array);
                [at, at - error]
            });
            self.jump = self.jump.max(after[0].distance(before[0]) - explained);
            self.jump_uncorrected = self
                .jump_uncorrected
                .max(after[1].distance(before[1]) - explained);
        }
    }
}

/// Prints statistics side by side.
pub fn print(columns: &[(String, Figures)]) {
    let row = |name: &str, value: &dyn Fn(&(String, Figures)) -> String| {
        let values: Vec<_> = columns
            .iter()
            .map(|it| format!("{:>16}", value(it)))
            .collect();
        println!("{name:<52}{}", values.concat());
    };
    row("", &|it| it.0.clone());
    row("from the server, kB/s", &|it| format!("{:.1}", it.1.down));
    row("to the server, kB/s", &|it| format!("{:.1}", it.1.up));
    row("others: shown behind the server, ms", &|it| {
        format!("{:.0}", it.1.delay)
    });
    row("others: off the server's path, mean of moving, mm", &|it| {
        format!("{:.1}", 1e3 * it.1.error_mean)
    });
    row("others: off the server's path, most, m", &|it| {
        format!("{:.2}", it.1.error_worst)
    });
    row("own body: largest jump in a frame, m", &|it| {
        format!("{:.3}", it.1.jump)
    });
    row("own body: the same without correction, m", &|it| {
        format!("{:.3}", it.1.jump_uncorrected)
    });
    row("steps of the server without input", &|it| {
        it.1.missed.to_string()
    });
    row("rollbacks per second", &|it| {
        format!("{:.1}", it.1.rollbacks)
    });
    row("steps in a rollback", &|it| format!("{:.1}", it.1.steps));
    row("speed, mean", &|it| format!("{:.4}", it.1.speed));
}
