//! The screen of a client, below it the server at the same moment, and the packets between them.

use std::error::Error;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::shapes::{At, Drawn, arrow, dot, line, ring};
use pictures::style::{self, Area, BLUE, GREY, label, text};

/// The milliseconds that the client is ahead of the server, that a packet takes, and that the client waits before it
/// displays a snapshot, so that the next one has arrived by then. Players move to the right, a pixel per millisecond.
const AHEAD: i32 = 90;
const LATENCY: i32 = 60;
const BUFFER: i32 = 50;

/// The height of the picture, and the upper and lower edges of the screen and of the server, in pixels.
const HEIGHT: u32 = 320;
const SCREEN: [i32; 2] = [2, 128];
const SERVER: [i32; 2] = [206, 308];
/// The height of the players on each of them.
const ON_SCREEN: i32 = 72;
const ON_SERVER: i32 = 274;
/// Where the server has the other player and you, and the radius of a player.
const OTHER: i32 = 196;
const YOU: i32 = 388;
const RADIUS: u32 = 13;

const GREEN: RGBColor = RGBColor(60, 150, 80);

/// Draws both machines at the same moment. The same position is at the same distance from the left edge on both.
pub fn svg() -> Result<String, Box<dyn Error>> {
    let title = [
        "On your screen, you are ahead of the server,",
        "and the others are where they were before",
    ];
    style::svg(&title, HEIGHT, |area| {
        frame(area, SCREEN, "your screen")?;
        frame(area, SERVER, "server")?;
        draw_players(area)?;
        draw_packets(area)
    })
}

/// Draws the outline of a machine, with its name in the corner.
fn frame(area: &Area, [top, bottom]: [i32; 2], name: &str) -> Drawn {
    let corners = [(10, top), (550, bottom)];
    area.draw(&Rectangle::new(corners, GREY.stroke_width(2)))?;
    label(area, name, (22, top + 18), HPos::Left, BLACK)
}

/// Draws where the server has the players, and where the screen has them.
fn draw_players(area: &Area) -> Drawn {
    for x in [OTHER, YOU] {
        line(area, &[(x, ON_SCREEN - 26), (x, ON_SERVER)], GREY, 1)?;
    }
    let (behind, ahead) = (OTHER - LATENCY - BUFFER, YOU + AHEAD);
    for (x, on_screen, name, side, colour) in [
        (OTHER, behind, "other", "behind", GREEN),
        (YOU, ahead, "you", "ahead", BLUE),
    ] {
        dot(area, (x, ON_SERVER), RADIUS, colour)?;
        dot(area, (on_screen, ON_SCREEN), RADIUS, colour)?;
        text(area, side, (on_screen, ON_SCREEN + 34), HPos::Center, BLACK)?;
        label(area, name, (x + 22, ON_SERVER), HPos::Left, colour)?;
    }
    Ok(())
}

/// Draws your input, which reaches the server before its step, the snapshot, which is as old as it took to arrive, and
/// the steps from there.
fn draw_packets(area: &Area) -> Drawn {
    let (snapshot, you) = ((YOU - LATENCY, ON_SCREEN), (YOU + AHEAD, ON_SCREEN));
    let radius = RADIUS as i32;
    let below = |at: At| (at.0, at.1 + radius + 2);
    let middle = (SCREEN[1] + SERVER[0]) / 2;
    arrow(area, (you.0 + 44, SCREEN[1]), (you.0 + 44, SERVER[0]), BLUE)?;
    text(area, "1. input", (you.0 + 36, middle), HPos::Right, BLACK)?;
    arrow(area, (snapshot.0, SERVER[0]), below(snapshot), BLACK)?;
    let beside = (snapshot.0 - 10, middle);
    text(area, "2. snapshot", beside, HPos::Right, BLACK)?;
    ring(area, snapshot, RADIUS, BLUE)?;
    let (from, to) = (snapshot.0 + radius + 2, you.0 - radius - 2);
    arrow(area, (from, ON_SCREEN), (to, ON_SCREEN), BLUE)?;
    let above = ((from + to) / 2, ON_SCREEN - 44);
    text(area, "3. resimulate", above, HPos::Center, BLACK)
}
