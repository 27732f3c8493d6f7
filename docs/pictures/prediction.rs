//! The ticks of a client, of its server, and of the other players on its screen.

use std::error::Error;

use evenstep::Simulation;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::shapes::{At, Drawn, arrow, dot, line};
use pictures::style::{self, Area, BLUE, GREY, label, text};
use scenes::{MS, space};

/// The numbers of frames, of 10 ms each, that the client is ahead of the server, that a packet takes, and that the
/// client waits with a snapshot, so that the next one has arrived when it needs it.
const AHEAD: usize = 9;
const LATENCY: usize = 6;
const BUFFER: usize = 5;
/// The number of frames that the other players on the client's screen are behind the client.
const BEHIND: usize = AHEAD + LATENCY + BUFFER;

/// The number of ticks, at 60 Hz, between a snapshot and the frame that displays it.
const LATER: f64 = (LATENCY + BUFFER) as f64 * 0.6;

/// The frames in the picture, and the frame of the client whose input is followed.
const FRAMES: std::ops::Range<usize> = 30..66;
const FOLLOWED: usize = 38;
/// The ticks at the foot and at the top of the picture.
const TICKS: [f64; 2] = [15.0, 40.0];

/// The height, the position of the first frame at the lowest tick, and the size of a frame and a tick, in pixels.
const HEIGHT: u32 = 318;
const ORIGIN: At = (24, 276);
const FRAME: i32 = 11;
const TICK: f64 = 10.5;

const GREEN: RGBColor = RGBColor(60, 150, 80);

/// The time in ticks that a machine displays in each frame.
type Ticks = Vec<f64>;

/// Draws ticks against real time. A packet is about a tick, so it moves straight to the right.
pub fn svg() -> Result<String, Box<dyn Error>> {
    let title = [
        "The client runs ahead of the server. The",
        "others on its screen are in the past",
    ];
    let [client, server] = play();
    // The client has the server's ticks later.
    let others: Ticks = server.iter().map(|ticks| ticks - LATER).collect();
    style::svg(&title, HEIGHT, |area| {
        draw_axes(area)?;
        for (ticks, name, colour) in [
            (&client, "your player", BLUE),
            (&server, "server", BLACK),
            (&others, "others", GREEN),
        ] {
            let is_inside = |frame: &usize| ticks[*frame] >= TICKS[0];
            let points: Vec<_> = FRAMES
                .filter(is_inside)
                .map(|frame| at(frame, ticks[frame]))
                .collect();
            line(area, &points, colour, 4)?;
            let end = points.last().ok_or("no frames")?;
            label(area, name, (end.0 + 8, end.1), HPos::Left, colour)?;
        }
        draw_packets(area, &client)
    })
}

/// Runs a client and a server, which starts later. Returns the time that each displays, frame by frame.
fn play() -> [Ticks; 2] {
    let mut simulations = [space(60), space(60)];
    let mut ticks = [const { Vec::new() }; 2];
    for frame in 0..FRAMES.end {
        for (i, starts) in [0, AHEAD].into_iter().enumerate() {
            if frame >= starts {
                simulations[i].advance(MS(10), |_, _| ());
            }
            ticks[i].push(displayed(&simulations[i]));
        }
    }
    ticks
}

fn displayed(simulation: &Simulation) -> f64 {
    simulation.clock().displayed_time().as_secs_f64() * 60.0
}

fn draw_axes(area: &Area) -> Drawn {
    let right = at(FRAMES.end, TICKS[0]);
    arrow(
        area,
        at(FRAMES.start, TICKS[0]),
        (right.0 + 90, right.1),
        GREY,
    )?;
    arrow(
        area,
        at(FRAMES.start, TICKS[0]),
        at(FRAMES.start, TICKS[1]),
        GREY,
    )?;
    text(
        area,
        "real time",
        (right.0 + 90, right.1 + 22),
        HPos::Right,
        GREY,
    )?;
    let top = at(FRAMES.start, TICKS[1]);
    text(area, "tick", (top.0 + 12, top.1 + 6), HPos::Left, GREY)
}

/// Draws the input of a tick, which reaches the server before that tick, and the snapshot of the tick.
fn draw_packets(area: &Area, client: &Ticks) -> Drawn {
    let tick = client[FOLLOWED];
    let [sent, received] = [FOLLOWED, FOLLOWED + LATENCY].map(|frame| at(frame, tick));
    let [answered, corrected] = [AHEAD, AHEAD + LATENCY].map(|later| at(FOLLOWED + later, tick));
    let drawn = at(FOLLOWED + BEHIND, tick);
    line(area, &[sent, drawn], GREY, 1)?;
    arrow(area, sent, received, BLUE)?;
    arrow(area, answered, corrected, BLACK)?;
    let present = FOLLOWED + AHEAD + LATENCY;
    let present = at(present, client[present]);
    arrow(area, corrected, (present.0, present.1 + 4), BLUE)?;
    let middle = |a: At, b: At| ((a.0 + b.0) / 2, (a.1 + b.1) / 2);
    let packets = [
        (
            middle(sent, received),
            (0, 18),
            "1",
            "input, before its tick",
            BLUE,
        ),
        (middle(answered, corrected), (0, 18), "2", "snapshot", BLACK),
        (
            middle(corrected, present),
            (14, 26),
            "3",
            "resimulate",
            BLUE,
        ),
    ];
    for ((middle, aside, number, name, colour), i) in packets.into_iter().zip(0..) {
        let at = (middle.0 + aside.0, middle.1 + aside.1);
        label(area, number, at, HPos::Center, colour)?;
        let y = 44 + 27 * i;
        label(area, number, (ORIGIN.0 + 20, y), HPos::Left, colour)?;
        text(area, name, (ORIGIN.0 + 44, y), HPos::Left, BLACK)?;
    }
    for (dot_at, colour) in [(sent, BLUE), (answered, BLACK), (drawn, GREEN)] {
        dot(area, dot_at, 7, colour)?;
    }
    Ok(())
}

fn at(frame: usize, ticks: f64) -> At {
    let [right, up] = [
        frame as i32 - FRAMES.start as i32,
        ((ticks - TICKS[0]) * TICK).round() as i32,
    ];
    (ORIGIN.0 + FRAME * right, ORIGIN.1 - up)
}
