//! The measurements of the comparison of previews with extrapolation, in cases where the right figures are known.

use evenstep::{Rate, Smoothing};
use scenes::preview::{Figures, Way, latency, measure, scenes as all};
use std::time::Duration;

const EXTRAPOLATED: Way = Way::Smoothing(Smoothing::Extrapolate);
const INTERPOLATED: Way = Way::Smoothing(Smoothing::Interpolate);
const PARTIAL: Way = preview(0.0);
const FULL: Way = preview(1.0);

const HZ: u32 = 100;
/// a · dt² of free fall, in metres.
const FALL: f64 = 9.81e-4;
/// The fraction of a · dt² that Rapier adds to v · dt. Its step consists of four small ones, which add 1/16, 2/16, 3/16
/// and 4/16.
const ADDED: f64 = 0.625;

const fn preview(least: f32) -> Way {
    Way::Preview { least, plays: true }
}

fn figures(name: &str, way: Way) -> Figures {
    let scene = all().into_iter().find(|scene| scene.name == name).unwrap();
    let rate = Rate::hz(HZ);
    measure(&scene, way, rate, Duration::from_secs(2))
}

#[track_caller]
fn assert_between(low: f64, value: f64, high: f64) {
    assert!(
        (low..=high).contains(&value),
        "{value} is not from {low} to {high}"
    );
}

#[test]
fn errors_in_free_fall_match_the_formulas() {
    // At up to 20 m an f32 is off by a micrometre or two.
    let rounding = 4e-6;
    let worst = |way| {
        let figures = figures("free fall", way);
        (figures.off.worst, figures.off_curve.unwrap().worst)
    };
    // A straight line between two points of a parabola is off by a · dt² / 8. If it were shifted by a frame, it would
    // be off by the motion in that frame, which is centimetres.
    let (line, curve) = worst(FULL);
    assert_between(0.0, line, 0.0);
    assert_between(0.99 * FALL / 8.0 - rounding, curve, FALL / 8.0 + rounding);
    // A step of half the length adds a quarter of what a whole step adds to the fall.
    let (line, curve) = worst(PARTIAL);
    let high = ADDED * FALL / 4.0;
    assert_between(0.99 * high - rounding, line, high + rounding);
    let high = (ADDED - 0.5) * FALL / 4.0;
    assert_between(0.99 * high - rounding, curve, high + rounding);
    // Without acceleration, extrapolation falls short by the whole addition.
    let (line, curve) = worst(EXTRAPOLATED);
    let high = ADDED * FALL;
    assert_between(0.97 * high, line, high + rounding);
    assert_between(0.97 * high, curve, high + rounding);
    // Interpolation is a step late, at up to 19.6 m/s.
    let (line, _) = worst(INTERPOLATED);
    assert_between(0.19, line, 0.2);
}

#[test]
fn interpolation_never_jumps_and_a_full_preview_is_exact_without_input() {
    for name in ["elastic ball", "bullets in a box", "crates on a lift"] {
        let late = figures(name, INTERPOLATED);
        assert_between(0.0, late.jump.worst, 1e-5);
        let full = figures(name, FULL);
        assert_between(0.0, full.off.worst, 1e-5);
        assert_between(0.0, full.turned.worst, 1e-3);
        let extrapolated = figures(name, EXTRAPOLATED);
        assert_between(0.005, extrapolated.off.worst, 1.0);
        assert_between(0.005, extrapolated.jump.worst, 1.0);
    }
}

#[test]
fn a_preview_without_the_hook_misses_forces_of_the_game() {
    let without = Way::Preview {
        least: 1.0,
        plays: false,
    };
    assert_between(0.0, figures("force of the game", FULL).off.worst, 1e-6);
    // The acceleration is v² / r, 12.8 m/s².
    let high = ADDED * 12.8e-4;
    let worst = figures("force of the game", without).off.worst;
    assert_between(0.95 * high, worst, 1.02 * high);
}

#[test]
fn a_preview_displays_input_in_the_first_frame_after_it() {
    let rate = Rate::hz(30);
    let frame = 1.0 / 144.0;
    assert_between(0.3 * frame, latency(FULL, rate), frame);
    assert_between(0.3 * frame, latency(PARTIAL, rate), frame);
    // Extrapolation waits until the step has run, which takes another half step.
    let extrapolated = latency(EXTRAPOLATED, rate);
    assert_between(1.0 / 60.0, extrapolated, 1.0 / 60.0 + frame);
    // The player turns by a right angle at 6 m/s, and its new direction is not known before the turn.
    let player = figures("player who turns", FULL);
    assert_between(0.005, player.off.worst, 0.085);
}
