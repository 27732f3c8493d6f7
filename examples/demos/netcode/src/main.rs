//! Plays a match of two over UDP on this machine, with a bad connection and an outage, and prints statistics of the
//! rollback.
//!
//! `cargo run --release --manifest-path examples/demos/netcode/Cargo.toml`

use std::cell::Cell;
use std::error::Error;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Parser;
use evenstep_netcode::game::{Arena, Buttons};
use evenstep_netcode::jumps::Jumps;
use evenstep_netcode::line::Quality;
use evenstep_netcode::packets::Packets;
use evenstep_netcode::rollback::Peer;
use evenstep_netcode::table::{self, Column};
use evenstep_netcode::udp::LoopbackSocket;

evenstep::portable_math!();

/// Plays a match of two over a bad connection.
#[derive(Parser)]
struct Args {
    /// The duration in seconds. The outage begins after a third of it
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u64).range(5..=15))]
    seconds: u64,
}

/// The outage is longer than GGRS predicts, and shorter than its timeout for a player who has left.
const OUTAGE: Duration = Duration::from_millis(600);
const DISCONNECT: Duration = Duration::from_secs(5);
/// The frame rates of both displays, in Hz.
const DISPLAYS: [u32; 2] = [60, 144];
/// The speeds of both players' clocks.
const CLOCKS: [f64; 2] = [1.0, 1.005];

/// A peer, its display, and what was displayed.
struct End {
    peer: Peer<Arena>,
    number: usize,
    next_frame: Duration,
    last_frame: Duration,
    outage_end: Duration,
    ticks_by_outage: u64,
    /// The jumps of each player's body.
    jumps: [Jumps; 2],
    /// The largest distance that a body moved in a frame beyond what its speed explains: displayed, and without
    /// correction.
    largest_jumps: [f32; 2],
    /// The largest visual error of a body.
    largest_error: f32,
    /// Simulated time and real time.
    speeds: [f64; 2],
}

impl End {
    fn new(peer: Peer<Arena>, number: usize, outage_end: Duration) -> Self {
        Self {
            peer,
            number,
            next_frame: Duration::ZERO,
            last_frame: Duration::ZERO,
            outage_end,
            ticks_by_outage: 0,
            jumps: Default::default(),
            largest_jumps: [0.0; 2],
            largest_error: 0.0,
            speeds: [0.0; 2],
        }
    }

    fn frame(&mut self, now: Duration) -> Result<(), Box<dyn Error>> {
        self.next_frame = now + Duration::from_secs(1) / DISPLAYS[self.number];
        let time = (now - self.last_frame).mul_f64(CLOCKS[self.number]);
        self.last_frame = now;
        let number = self.number;
        (self.peer).frame(time, |tick| Buttons::of_script(number, tick))?;
        if now < self.outage_end {
            self.ticks_by_outage = self.peer.player.simulation.physics.tick();
        }
        self.watch(time);
        Ok(())
    }

    fn watch(&mut self, time: Duration) {
        let player = &self.peer.player;
        let seconds = time.as_secs_f64();
        self.speeds[0] += player.simulation.clock().settings().speed() * seconds;
        self.speeds[1] += seconds;
        for (key, jumps) in player.game().players.into_iter().zip(&mut self.jumps) {
            let error = player.simulation.visual_error(key).unwrap_or_default();
            self.largest_error = self.largest_error.max(error.translation.length());
            let jumps = jumps.frame(&player.simulation, key, time);
            self.largest_jumps = [0, 1].map(|i| jumps[i].max(self.largest_jumps[i]));
        }
    }

    fn report(&self) -> Column<15> {
        let (player, counts) = (&self.peer.player, &self.peer.player.counts);
        let [new, confirmed, retracted] = counts.events;
        let speed = self.speeds[0] / self.speeds[1];
        let [jump, uncorrected] = self.largest_jumps;
        let metres = |length: f32| format!("{length:.3}");
        [
            ("frames per second", DISPLAYS[self.number].to_string()),
            ("ticks", player.simulation.physics.tick().to_string()),
            (
                "ticks before the end of the outage",
                self.ticks_by_outage.to_string(),
            ),
            ("rollbacks", counts.rollbacks.to_string()),
            ("longest, ticks", counts.longest.to_string()),
            ("resimulated steps", counts.again.to_string()),
            ("steps waited for the other peer", counts.waited.to_string()),
            ("desyncs", self.peer.desyncs.to_string()),
            ("events of resimulated steps: new", new.to_string()),
            (
                "events of resimulated steps: confirmed",
                confirmed.to_string(),
            ),
            (
                "events of resimulated steps: retracted",
                retracted.to_string(),
            ),
            ("mean speed", format!("{speed:.4}")),
            ("largest visual error, m", metres(self.largest_error)),
            ("largest jump in a frame, m", metres(jump)),
            ("the same without correction, m", metres(uncorrected)),
        ]
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "GGRS uses the wall clock, so the demo does, too"
)]
fn play(ends: &mut [End; 2], now: &Cell<Duration>, length: Duration) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    while now.get() < length {
        now.set(start.elapsed());
        for end in ends.iter_mut() {
            if end.next_frame <= now.get() {
                end.frame(now.get())?;
            }
        }
        let next = ends.iter().map(|end| end.next_frame).min();
        std::thread::sleep(next.unwrap_or_default().saturating_sub(start.elapsed()));
    }
    Ok(())
}

/// Returns the last tick whose state no input can change any more on either side, and both checksums.
fn last_confirmed([here, there]: &[End; 2]) -> Option<(u64, [u64; 2])> {
    let mut ticks = (0..=here.peer.player.simulation.physics.tick()).rev();
    ticks.find_map(|tick| {
        let sums = [here, there].map(|end| end.peer.confirmed_checksum(tick));
        Some((tick, [sums[0]?, sums[1]?]))
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let length = Duration::from_secs(Args::parse().seconds);
    let quality = Quality {
        delay: Duration::from_millis(70),
        jitter: Duration::from_millis(30),
        loss: 50,
        outage: length / 3..length / 3 + OUTAGE,
    };
    let now = Rc::new(Cell::new(Duration::ZERO));
    let [one, other] = LoopbackSocket::pair(&quality, &now)?;
    let end = |number, socket| {
        let packets = Packets::new(socket, evenstep::saving::fingerprint());
        let peer = Peer::new(Arena::start(), number, packets, DISCONNECT)?;
        Ok::<_, Box<dyn Error>>(End::new(peer, number, quality.outage.end))
    };
    let mut ends = [end(0, one)?, end(1, other)?];
    play(&mut ends, &now, length)?;
    table::print(&ends.each_ref().map(End::report));

    let (tick, [here, there]) = last_confirmed(&ends).ok_or("the peers never connected")?;
    println!("state before step {tick}: {here:016x} and {there:016x}");
    let desyncs: usize = ends.iter().map(|end| end.peer.desyncs).sum();
    if here != there || desyncs > 0 {
        return Err("the peers differ".into());
    }
    if ends.iter().any(|end| tick <= end.ticks_by_outage) {
        return Err("the match did not continue after the outage".into());
    }
    Ok(())
}
