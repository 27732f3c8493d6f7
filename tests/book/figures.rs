//! Figures have one owner, the page that says how they were measured. Pages that quote one agree with it.

use crate::files::{read, root};

const BENCHES: &str = "benches/README.md";
const PEERS: &str = "benches/peers/README.md";
const SPEED: &str = "docs/book/src/speed.md";

/// A page, its text, the owner of the figures in it, and the owner's text. If this fails, one of the two has changed: let
/// the page say what the owner says, and change both texts here.
const QUOTES: [(&str, &str, &str, &str); 29] = [
    (
        "README.md",
        "at most 1.07 times",
        BENCHES,
        "a frame with a step takes at most 1.07 times as long",
    ),
    (
        SPEED,
        "at most 1.07 times as long",
        BENCHES,
        "a frame with a step takes at most 1.07 times as long",
    ),
    (
        SPEED,
        "rises to 12 to 18 %",
        BENCHES,
        "in each step | 10,000 | 82 to 153 | 609 to 678 | | 12 to 18 % |",
    ),
    (
        SPEED,
        "evenstep in hecs | **10.9** | **0.00** |",
        PEERS,
        "evenstep in hecs | **10.9** (10.8..11.0) | **0.00** (",
    ),
    (
        SPEED,
        "evenstep in Bevy | **27.5** (42 in 2D) | **2.69** |",
        PEERS,
        "evenstep in Bevy | **27.5** (27.0..28.1) | **2.69** (",
    ),
    (
        SPEED,
        "**27.5** (42 in 2D)",
        PEERS,
        "evenstep in Bevy | **42.2** and",
    ),
    (
        SPEED,
        "bevy_rapier | 209 | 160 |",
        PEERS,
        "bevy_rapier | 209 (202..215) | 160 (",
    ),
    (
        SPEED,
        "avian | 40.2 (43 in 2D) | 25.9 |",
        PEERS,
        "avian | 40.2 (40.1..40.6) | 25.9 (",
    ),
    (SPEED, "40.2 (43 in 2D)", PEERS, "avian | 43.0 and"),
    (
        SPEED,
        "takes 0.36 times as long as a step, and 11.1 kB",
        BENCHES,
        "heap | 2.4 ms | 0.36 | 4.9 ms | 0.41 | 11,100 |",
    ),
    (
        SPEED,
        "0.51 times as long, and 3.0 kB",
        BENCHES,
        "stacks | 0.47 ms | 0.51 | | | 3,000 |",
    ),
    (
        SPEED,
        "A rollback takes 1.5 to 2.0 times as long",
        BENCHES,
        "A rollback takes 1.5 to 2.0 times as long",
    ),
    (
        SPEED,
        "[1.2 to 1.3 times](../../../benches#rollback)",
        BENCHES,
        "or 1.2 to 1.3 times with an interval of 8",
    ),
    (
        SPEED,
        "12.4 ms, or 7.6 ms",
        BENCHES,
        "default | 0.85 | 12.4 |",
    ),
    (
        SPEED,
        "or 7.6 ms with the feature `parallel`",
        BENCHES,
        "`parallel` | 0.67 | 7.6 |",
    ),
    (
        SPEED,
        "or 10.6 ms with Rapier's `simd8`",
        BENCHES,
        "`simd8` | 0.62 | 10.6 |",
    ),
    (
        "docs/book/src/which.md",
        "[1.8 ms, and 77 ms for a heap of 1,000]",
        BENCHES,
        "stacks | 200 | 1.8 ms |",
    ),
    (
        "docs/book/src/which.md",
        "[1.8 ms, and 77 ms for a heap of 1,000]",
        BENCHES,
        "heap | 1,000 | 77 ms |",
    ),
    (
        "docs/book/src/servers.md",
        "fifty bodies takes a tenth of a millisecond",
        BENCHES,
        "200 of 50 | 17.9 ms |",
    ),
    (
        "docs/book/src/servers.md",
        "[80 to 100 matches]",
        "examples/demos/server/README.md",
        "50 | 80 to 100 |",
    ),
    (
        "docs/book/src/prediction.md",
        "2.6 kB | 359 kB",
        "examples/demos/prediction/README.md",
        "2.6 kB, and a whole state 359 kB",
    ),
    (
        "docs/book/src/threads.md",
        "steps of 6.5 ms, [a `Simulation`](../../../benches/reports/threads) drew 120 of 144",
        "benches/reports/threads/README.md",
        "one thread | 20.9 / 28.6 | 16 / 27 | 32 / 44 | **120** |",
    ),
    (
        "docs/book/src/recipes-players.md",
        "4.2 ms instead of 11.0 ms at 60 Hz",
        "benches/reports/stepping/README.md",
        "first effect after 11.0 ms at 60 Hz",
    ),
    (
        "README.md",
        "a pile of 9.5 m collapse to 0.7 m",
        "benches/reports/stepping/README.md",
        "variable | 8 | 18.2 m | 5.7 m | 931,849 J | 95 % | 0.7 m |",
    ),
    (
        "README.md",
        "hundreds of times slower",
        BENCHES,
        "took 206 ms instead of 0.49 ms",
    ),
    (
        "README.md",
        "A run takes 1.02 times as long",
        "benches/reports/stepping/README.md",
        "interpolated** | **1** | 1.2 m | 5.0 m | 0 J | 1.1 % | 9.5 m | 0.18 mm | 0.1 mm | 9.9 ms | 110 | 1.04 | 1.02 |",
    ),
    (
        "src/lib.rs",
        "takes 1.6 to 2.0 times as long while each state is kept, or 1.1 times",
        BENCHES,
        "takes 1.6 to 2.0 times as long, or 1.1 times with an interval of 8",
    ),
    (
        "src/pose/motion.rs",
        "2.3 times as long with `Interpolate`, 6.7 with `Hermite`, and 3.1 with `Extrapolate`",
        BENCHES,
        "the same with `Interpolate` | 2.3, 6.7, 3.1 |",
    ),
    (
        "src/physics/bodies.rs",
        "57 to 128 ns per body",
        BENCHES,
        "57 to 128 ns per body",
    ),
];

#[test]
fn quoted_figures_are_those_of_their_owners() {
    let words = |file: &str| {
        let text = read(&root().join(file)).replace("///", " ");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut missing = Vec::new();
    for (page, quote, owner, source) in QUOTES {
        for (file, text) in [(page, quote), (owner, source)] {
            if !words(file).contains(text) {
                missing.push(format!("{file}: {text}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
