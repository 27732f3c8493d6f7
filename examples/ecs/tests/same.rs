//! Checks that one game ends with the same bits in five ECSs and with several patterns of frames.

use std::time::Duration;

use evenstep_ecs::game::Game;
use evenstep_ecs::host::{ALL, Outcome, frames};

/// The length of a run: six hundred and a half steps.
const LENGTH: Duration = Duration::from_millis(10_008);

/// The part of the outcome that depends neither on the ECS nor on the frames.
type End = (u64, u64, Vec<(u32, Option<evenstep::BodyKey>)>);

fn end(outcome: &Outcome) -> End {
    (outcome.frame.tick, outcome.hash, outcome.entities.clone())
}

#[test]
fn every_ecs_and_frame_rate_ends_with_the_same_bits() {
    let expected = end(&ALL[0].play(&frames(60, LENGTH)));
    assert_eq!(expected.0, 600);
    for ecs in ALL {
        for fps in [60, 144] {
            let outcome = ecs.play(&frames(fps, LENGTH));
            assert!(end(&outcome) == expected, "{} at {fps}", ecs.name);
        }
    }
}

/// Checks every frame, including those with several steps and those without a step.
#[test]
fn every_entity_is_displayed_at_the_pose_of_its_body() {
    for ecs in ALL {
        for fps in [60, 144] {
            let mut host = (ecs.start)(Game::new(None));
            let mut steps = Vec::new();
            for time in frames(fps, Duration::from_secs(4)) {
                host.frame(time);
                let outcome = host.outcome();
                assert_eq!(outcome.render_poses, outcome.shown, "{}", ecs.name);
                steps.push(outcome.frame.steps);
            }
            assert!(fps == 60 || steps.contains(&0), "{}", ecs.name);
            assert!(steps.iter().any(|steps| *steps > 4), "{}", ecs.name);
        }
    }
}

/// Late input makes balls spawn too early. Resimulation with the right input corrects that.
#[test]
fn rollback_of_late_input_gives_the_same_game_as_timely_input() {
    for ecs in ALL {
        let mut late = (ecs.start)(Game::late());
        late.roll_back(10); // snapshots are kept from now on
        let mut in_time = (ecs.start)(Game::new(None));
        for time in frames(60, Duration::from_secs(5)) {
            late.frame(time);
            late.roll_back(10);
            late.frame(Duration::ZERO);
            in_time.frame(time);
            in_time.frame(Duration::ZERO);
            let [one, other] = [&late, &in_time].map(|host| host.outcome());
            assert!(end(&one) == end(&other), "{}: {:?}", ecs.name, one.frame);
            assert_eq!(one.render_poses, other.render_poses, "{}", ecs.name);
            assert_eq!(one.render_poses, one.shown, "{}", ecs.name);
        }
    }
}

/// The number of entities that the level begins with.
const LEVEL: u32 = 3 + CRATES + PICKUPS;
const CRATES: u32 = 24;
const PICKUPS: u32 = 4;

/// Checks that the scene spawns, despawns and removes as it is meant to.
#[test]
fn the_game_spawns_and_removes_the_expected_entities_and_bodies() {
    let outcome = ALL[0].play(&frames(60, LENGTH));
    let (with_body, without): (Vec<_>, Vec<_>) = (outcome.entities.iter())
        .map(|(number, body)| (*number, *body))
        .partition(|(_, body)| body.is_some());
    let [(blasted, None)] = without[..] else {
        panic!("only one crate lost its body: {without:?}");
    };
    assert!((3..3 + CRATES).contains(&blasted));
    let level = with_body.iter().filter(|(number, _)| *number < LEVEL);
    let left = LEVEL - PICKUPS - 1;
    assert_eq!(level.count(), left as usize, "all pickups are collected");
    // Every twelfth of 600 steps spawns two balls. The balls of the last ninety steps are alive.
    let balls = with_body.iter().map(|(number, _)| *number);
    let balls = balls.filter(|number| *number >= LEVEL);
    assert!(balls.eq(LEVEL + 2 * 43..LEVEL + 2 * 50));
}

/// Counts the lines of glue in each ECS.
#[test]
fn glue_code_has_at_most_sixty_lines_per_ecs() {
    for ecs in ALL {
        let lines = ecs.glue_lines();
        assert!((20..=60).contains(&lines), "{}: {lines}", ecs.name);
    }
}
