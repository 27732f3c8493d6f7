//! Measures a frame of each peer, side by side, and prints the tables of the README.

use evenstep_peers::{Scene, measure, with_a_step, without_a_step};

/// The scenes, and the number of rounds. Each round has two frames with a step, and six without.
const RUNS: [(Scene, usize); 3] = [
    (scene(10_000, 0), 100),
    (scene(0, 20_000), 100),
    (scene(1_000, 20_000), 100),
];

const fn scene(moving: usize, resting: usize) -> Scene {
    Scene { moving, resting }
}

fn main() {
    for (scene, rounds) in RUNS {
        let run = measure(scene, rounds);
        println!("\n{}\n{}", without_a_step(&run), with_a_step(&run));
    }
}
