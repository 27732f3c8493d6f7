//! The findings of the comparison of strategies, which are the same in every run.

use scenes::strategies::{Outcome, Reference, SCENES, STRATEGIES, Scene, latency, run, traces};
use std::time::Duration;

const LENGTH: Duration = Duration::from_secs(4);

fn scene(name: &str) -> &'static Scene {
    static ALL: [Scene; 9] = SCENES;
    ALL.iter().find(|scene| scene.name == name).unwrap()
}

/// Returns the outcomes of a strategy over all traces.
fn outcomes(scene: &Scene, strategy: &str) -> Vec<Outcome> {
    let strategy = STRATEGIES.iter().find(|s| s.name == strategy).unwrap();
    let traces = traces(7, LENGTH, &[]);
    traces
        .iter()
        .map(|trace| run(scene, strategy, trace, None))
        .collect()
}

fn distinct_ends(scene: &Scene, strategy: &str) -> usize {
    let mut ends: Vec<u64> = outcomes(scene, strategy).iter().map(|o| o.end).collect();
    ends.sort_unstable();
    ends.dedup();
    ends.len()
}

fn worst(scene: &Scene, strategy: &str) -> f64 {
    let figures = outcomes(scene, strategy).into_iter().map(|o| o.figure);
    figures.fold(f64::MIN, f64::max)
}

#[test]
fn all_traces_have_the_same_length() {
    for trace in traces(3, LENGTH, &[("short", &[Duration::from_millis(7)])]) {
        assert_eq!(
            trace.times.iter().sum::<Duration>(),
            LENGTH,
            "{}",
            trace.name
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    let traces = || traces(42, LENGTH, &[]);
    let reference = Reference::of(scene("curve"), LENGTH);
    for strategy in &STRATEGIES {
        for (one, other) in traces().iter().zip(&traces()) {
            let run = |trace| {
                let mut outcome = run(scene("curve"), strategy, trace, reference.as_ref());
                outcome.cost = 0.0;
                format!("{outcome:?} {}", latency(strategy, trace, 42))
            };
            assert_eq!(run(one), run(other), "{} {}", strategy.name, one.name);
        }
    }
}

#[test]
fn a_stiff_spring_is_stable_with_fixed_steps_but_not_variable_ones() {
    let spring = scene("spring");
    assert!(worst(spring, "fixed, interpolated") < 1.3);
    assert!(worst(spring, "variable") > 5.0);
}

#[test]
fn every_trace_ends_in_the_same_state_only_with_fixed_steps() {
    for name in ["stack of 25", "chain of 20"] {
        assert_eq!(
            distinct_ends(scene(name), "fixed, interpolated"),
            1,
            "{name}"
        );
        assert_eq!(distinct_ends(scene(name), "variable"), 7, "{name}");
    }
}

#[test]
fn a_chain_gains_no_energy_with_fixed_steps() {
    let chain = scene("chain of 20");
    assert!(worst(chain, "fixed, interpolated") < 0.1);
    assert!(worst(chain, "variable") > 100.0);
    // The length changes from step to step, but no step is very short.
    assert!(worst(chain, "semi-fixed") < 100.0);
}

/// Shorter steps topple it, in frames that are a little longer than a step.
#[test]
fn a_stack_stands_with_semi_fixed_steps_of_at_least_a_quarter() {
    let stack = scene("stack of 25");
    assert!(worst(stack, "semi-fixed") <= worst(stack, "fixed, interpolated") + 0.1);
}

#[test]
fn interpolation_stutters_ten_times_less_than_displaying_the_latest_step() {
    let stutter = |strategy| outcomes(scene("curve"), strategy)[3].stutter;
    assert!(stutter("fixed, interpolated") * 10.0 < stutter("fixed, latest"));
}
