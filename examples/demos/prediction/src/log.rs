//! Logs of what the server had and of what a client displayed, and statistics of them.

use std::time::Duration;

use evenstep::rapier::prelude::Vector;

use crate::client::{Client, Counts};
use crate::game::PLAYERS;
use crate::server::Server;
use evenstep_arena::jumps::Jumps;
use evenstep_arena::table::Column;

/// The server's states, frame by frame.
#[derive(Clone, Debug, Default)]
pub struct ServerLog(Vec<Had>);

#[derive(Clone, Debug)]
struct Had {
    time: Duration,
    tick: u64,
    places: Vec<[f32; 3]>,
    /// The number of steps without each player's input.
    missed: [u64; PLAYERS],
}

/// What a client displayed, frame by frame, and how much was sent.
#[derive(Clone, Debug, Default)]
pub struct ClientLog {
    player: usize,
    down: usize,
    up: usize,
    frames: Vec<Shown>,
    /// The motions of all bodies.
    jumps: Vec<Jumps>,
}

#[derive(Clone, Debug)]
struct Shown {
    time: Duration,
    /// The server's tick at which bodies that are not predicted are displayed.
    tick: f64,
    speed: f64,
    counts: Counts,
    /// The jumps of the client's own body: as displayed, and without correction.
    jumps: [f32; 2],
    /// The largest jumps of crates, likewise.
    crate_jumps: [f32; 2],
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
        let last = self.frames.last().map_or(time, |last| last.time);
        (self.jumps).resize_with(client.bodies.len(), Jumps::default);
        let jumps = self.jumps.iter_mut().zip(&client.bodies);
        let jumps = jumps.map(|(jumps, key)| jumps.frame(simulation, *key, time - last));
        let jumps: Vec<_> = jumps.collect();
        let crates = jumps[PLAYERS..].iter();
        let others = (0..client.bodies.len()).filter(|place| !client.is_predicted(*place));
        self.frames.push(Shown {
            time,
            tick: client.shown_tick(),
            speed: simulation.clock().settings().speed(),
            counts: client.counts,
            jumps: jumps[player],
            crate_jumps: crates.fold([0.0; 2], larger),
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
    /// The largest motion of any crate in a frame, beyond what its speed explains.
    pub crate_jump: f32,
    /// The same if neither corrections nor changes of hands were smoothed.
    pub crate_jump_uncorrected: f32,
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
        let jumps = frames.iter().map(|shown| &shown.jumps);
        [figures.jump, figures.jump_uncorrected] = jumps.fold([0.0; 2], larger);
        let jumps = frames.iter().map(|shown| &shown.crate_jumps);
        [figures.crate_jump, figures.crate_jump_uncorrected] = jumps.fold([0.0; 2], larger);
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

    /// Returns the statistics, under the name of a match.
    #[must_use]
    pub fn column(&self, name: String) -> Column<14> {
        let [whole, tenths] = [0, 1].map(|digits| move |it: f64| format!("{it:.digits$}"));
        [
            ("", name),
            ("from the server, kB/s", tenths(self.down)),
            ("to the server, kB/s", tenths(self.up)),
            ("others: shown behind the server, ms", whole(self.delay)),
            (
                "others: off the server's path, mean of moving, mm",
                format!("{:.1}", 1e3 * self.error_mean),
            ),
            (
                "others: off the server's path, most, m",
                format!("{:.2}", self.error_worst),
            ),
            (
                "own body: largest jump in a frame, m",
                format!("{:.3}", self.jump),
            ),
            (
                "own body: the same without correction, m",
                format!("{:.3}", self.jump_uncorrected),
            ),
            (
                "crates: largest jump in a frame, m",
                format!("{:.3}", self.crate_jump),
            ),
            (
                "crates: the same without correction, m",
                format!("{:.3}", self.crate_jump_uncorrected),
            ),
            ("steps of the server without input", self.missed.to_string()),
            ("rollbacks per second", tenths(self.rollbacks)),
            ("steps in a rollback", tenths(self.steps)),
            ("speed, mean", format!("{:.4}", self.speed)),
        ]
    }
}

/// Returns the larger of two jumps, as displayed and without correction.
fn larger(largest: [f32; 2], jumps: &[f32; 2]) -> [f32; 2] {
    [0, 1].map(|i| largest[i].max(jumps[i]))
}
