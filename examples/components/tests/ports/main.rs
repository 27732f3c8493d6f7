//! The layers between entities and Rapier of four public projects, reduced and retyped from descriptions: on plain
//! Rapier as the project uses it, and on evenstep.
//!
//! Each folder has the components and the rules of a small game in `mod.rs`, and two layers. In `plain.rs` the rules run
//! once per frame, as they do in the project. In `even.rs` they run in each step.

// A 2D engine: one transform, written by the game and drawn.
mod emerald;
// A VR engine: a system that makes bodies, writes components, steps and reads back.
mod hotham;
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
    sources: [&'static str; 2],
}

const PORTS: [Port; 4] = [
    Port {
        name: "emerald",
        plain: emerald::plain::run,
        even: emerald::even::run,
        sources: [
            include_str!("emerald/plain.rs"),
            include_str!("emerald/even.rs"),
        ],
    },
    Port {
        name: "hotham",
        plain: hotham::plain::run,
        even: hotham::even::run,
        sources: [
            include_str!("hotham/plain.rs"),
            include_str!("hotham/even.rs"),
        ],
    },
    Port {
        name: "shock2quest",
        plain: shock2quest::plain::run,
        even: shock2quest::even::run,
        sources: [
            include_str!("shock2quest/plain.rs"),
            include_str!("shock2quest/even.rs"),
        ],
    },
    Port {
        name: "soldank",
        plain: soldank::plain::run,
        even: soldank::even::run,
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
fn a_game_on_evenstep_ends_with_the_same_bits_at_every_frame_rate_and_a_plain_one_does_not() {
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
            for other in &plain[..i] {
                assert_ne!(bits(one), bits(other), "{}", port.name);
            }
        }
    }
}
