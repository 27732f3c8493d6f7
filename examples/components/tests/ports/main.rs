//! The layers between entities and Rapier of six public projects, reduced and retyped from descriptions: on plain
//! Rapier as the project uses it, and on evenstep.
//!
//! Each folder has the components and the rules of a small game in `mod.rs`, and two layers. In `plain.rs` the rules run
//! as often as they do in the project, mostly once per frame. In `even.rs` they run in each step.

// A server whose world is a slotmap, and a client.
mod cse125;
// A 2D engine: one transform, written by the game and drawn.
mod emerald;
// A VR engine: a system that makes bodies, writes components, steps and reads back.
mod hotham;
// A shooter with six degrees of freedom: fixed ticks, forces that it resets, and poses that it blends.
mod megahulk;
// A VR game: bodies of entities without an ECS.
mod shock2quest;
// A 2D game: a contact filter, a map of triangles, and contacts that last.
mod soldank;

use evenstep_components::frames::{LENGTH, RATES, frames};
use std::time::Duration;

struct Port {
    name: &'static str,
    /// Plays the frames and returns what the game looks like at the end.
    plain: fn(&[Duration]) -> Vec<f32>,
    even: fn(&[Duration]) -> Vec<f32>,
    /// Whether a timer steps the plain game at a fixed rate, so that it ends with the same bits as on evenstep.
    has_timer: bool,
    sources: [&'static str; 2],
}

const PORTS: [Port; 6] = [
    Port {
        name: "cse125",
        plain: |frames| cse125::plain::run(frames).end,
        even: |frames| cse125::even::run(frames).end,
        has_timer: false,
        sources: [
            include_str!("cse125/plain.rs"),
            include_str!("cse125/even.rs"),
        ],
    },
    Port {
        name: "emerald",
        plain: emerald::plain::run,
        even: emerald::even::run,
        has_timer: false,
        sources: [
            include_str!("emerald/plain.rs"),
            include_str!("emerald/even.rs"),
        ],
    },
    Port {
        name: "hotham",
        plain: hotham::plain::run,
        even: hotham::even::run,
        has_timer: false,
        sources: [
            include_str!("hotham/plain.rs"),
            include_str!("hotham/even.rs"),
        ],
    },
    Port {
        name: "megahulk",
        plain: |frames| megahulk::plain::run(frames).end,
        even: |frames| megahulk::even::run(frames).end,
        has_timer: true,
        sources: [
            include_str!("megahulk/plain.rs"),
            include_str!("megahulk/even.rs"),
        ],
    },
    Port {
        name: "shock2quest",
        plain: shock2quest::plain::run,
        even: shock2quest::even::run,
        has_timer: false,
        sources: [
            include_str!("shock2quest/plain.rs"),
            include_str!("shock2quest/even.rs"),
        ],
    },
    Port {
        name: "soldank",
        plain: soldank::plain::run,
        even: soldank::even::run,
        has_timer: false,
        sources: [
            include_str!("soldank/plain.rs"),
            include_str!("soldank/even.rs"),
        ],
    },
];

/// Returns the number of lines of code, without and with the function `run`, which is the loop.
fn lines(source: &str) -> (usize, usize) {
    let code = source.lines().filter(|line| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with("//")
    });
    let (mut without, mut with, mut is_loop) = (0, 0, false);
    for line in code {
        is_loop |= line.starts_with("pub fn run(");
        with += 1;
        without += usize::from(!is_loop);
        is_loop &= line != "}";
    }
    (without, with)
}

fn bits(end: &[f32]) -> Vec<u32> {
    end.iter().map(|number| number.to_bits()).collect()
}

#[test]
fn a_layer_on_evenstep_has_no_more_lines_than_one_on_rapier_except_for_the_loop() {
    for port in PORTS {
        let [plain, even] = port.sources.map(lines);
        println!(
            "{}: {} and {} lines, with the loop {} and {}",
            port.name, plain.0, even.0, plain.1, even.1
        );
        assert!(
            plain.0 < plain.1 && even.0 < even.1,
            "{} has no loop",
            port.name
        );
        assert!(even.0 <= plain.0, "{}: {plain:?}, {even:?}", port.name);
    }
}

#[test]
fn a_game_ends_with_equal_bits_at_every_frame_rate_on_evenstep_or_with_a_timer() {
    for port in PORTS {
        let run = |run: fn(&[Duration]) -> Vec<f32>| RATES.map(|fps| run(&frames(fps, LENGTH)));
        let (plain, even) = (run(port.plain), run(port.even));
        for (i, fps) in RATES.into_iter().enumerate() {
            let [plain, even] = [&plain[i], &even[i]].map(|end| &end[..4]);
            println!("{} at {fps} fps: {plain:?} {even:?}", port.name);
        }
        for end in &even {
            assert_eq!(bits(end), bits(&even[0]), "{}", port.name);
        }
        for (i, one) in plain.iter().enumerate() {
            for other in plain[..i].iter().chain([&even[0]]) {
                let are_equal = bits(one) == bits(other);
                assert_eq!(are_equal, port.has_timer, "{}", port.name);
            }
        }
    }
}
