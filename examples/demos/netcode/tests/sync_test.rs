//! GGRS's sync test runs every step several times, and compares the whole state each time. It tests three games: the
//! arena, and two games with a typical bug.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use evenstep::{Physics, Simulation, Step};
use evenstep_netcode::Random;
use evenstep_netcode::game::{Arena, Buttons, Rules};
use evenstep_netcode::rollback::{MAX_PREDICTION, MatchError, Netcode, Player};
use ggrs::{GgrsError, SessionBuilder};

/// Goes back by `distance` ticks before every step, in frames of uneven length.
fn sync_test<G: Rules>(
    start: (Simulation, G),
    distance: usize,
    ticks: u64,
) -> Result<Player<G>, MatchError> {
    let mut session = SessionBuilder::<Netcode<G>>::new()
        .with_max_prediction_window(MAX_PREDICTION)
        .with_check_distance(distance)
        .start_synctest_session()?;
    let mut player = Player::new(start);
    let mut random = Random::new(3);
    while player.simulation.physics.tick() < ticks {
        let time = Duration::from_micros(random.below(45_000));
        player.frame(time, |tick| {
            for number in 0..2 {
                session.add_local_input(number, Buttons::of_script(number, tick))?;
            }
            session.advance_frame()
        })?;
    }
    Ok(player)
}

/// Returns whether the test failed because of a checksum mismatch.
fn is_mismatch<G>(result: &Result<Player<G>, MatchError>) -> bool {
    let error = result.as_ref().err();
    error.is_some_and(|error| {
        matches!(
            error,
            MatchError::Session(GgrsError::MismatchedChecksum { .. })
        )
    })
}

#[test]
fn resimulated_steps_give_the_same_state() {
    for distance in [2, 7] {
        let player = sync_test(Arena::start(), distance, 600).unwrap();
        let (counts, game) = (&player.counts, player.game());
        assert!(counts.rollbacks > 590 - distance as u64, "{counts:?}");
        assert_eq!(counts.longest, distance as u64);
        // The input is the same, so no event changes.
        let [new, confirmed, retracted] = counts.events;
        assert!(confirmed > 100 && (new, retracted) == (0, 0), "{counts:?}");
        // The game covered the difficult cases: balls were dropped and removed, and forces depend on both scores.
        assert!(player.simulation.physics.tick() > 45 * 9 && game.balls.len() == 8);
        assert!(game.scores.iter().all(|score| *score > 5), "{game:?}");
    }
}

/// GGRS hardly ever compares resimulated steps with their first run.
#[test]
fn a_run_without_rollbacks_gives_the_same_state() {
    let again = sync_test(Arena::start(), 7, 400).unwrap();
    let (mut simulation, mut game) = Arena::start();
    let last = again.simulation.physics.tick() - 1;
    while simulation.physics.tick() < last {
        simulation.begin_frame(Duration::from_micros(16_667));
        while let Some(step) = simulation.next_step() {
            let buttons = [0, 1].map(|number| Buttons::of_script(number, step.tick));
            game.before_step(&mut simulation.physics, step, buttons);
            simulation.run_step();
            game.after_step(&mut simulation.physics, step);
        }
        simulation.end_frame();
    }
    let sum = evenstep_netcode::game::checksum(&simulation.physics, &game);
    assert_eq!(again.checksum(last), Some(sum));
}

/// This generator is not part of the saved state, because all copies share it.
#[derive(Clone)]
struct RandomLeftOut {
    arena: Arena,
    random: Arc<AtomicU64>,
}

impl Hash for RandomLeftOut {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.arena.scores, &self.arena.balls).hash(hasher);
    }
}

impl Rules for RandomLeftOut {
    fn before_step(&mut self, physics: &mut Physics, step: Step, buttons: [Buttons; 2]) {
        let seed = self.random.fetch_add(1, Ordering::Relaxed);
        self.arena.random = Random::new(seed);
        self.arena.before_step(physics, step, buttons);
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) {
        self.arena.after_step(physics, step);
    }
}

/// Balls are dropped by a count of calls, which does not go back, instead of by tick.
#[derive(Clone)]
struct SpawnsByCount {
    arena: Arena,
    calls: Arc<AtomicU64>,
}

impl Hash for SpawnsByCount {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.arena.hash(hasher);
    }
}

impl Rules for SpawnsByCount {
    fn before_step(&mut self, physics: &mut Physics, _: Step, buttons: [Buttons; 2]) {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        if calls.is_multiple_of(45) {
            self.arena.drop_ball(physics);
        }
        self.arena.push(physics, buttons);
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) {
        self.arena.after_step(physics, step);
    }
}

#[test]
fn sync_test_detects_state_missing_from_the_snapshot() {
    let (simulation, arena) = Arena::start();
    let random = Arc::default();
    let result = sync_test((simulation, RandomLeftOut { arena, random }), 7, 600);
    assert!(is_mismatch(&result), "{:?}", result.err());
}

#[test]
fn sync_test_detects_spawns_that_do_not_depend_on_the_tick() {
    let (simulation, arena) = Arena::start();
    let calls = Arc::default();
    // The distance is not 2. With three calls per frame, every 45th call would be a first run, and a rollback removes its
    // entity before GGRS saves the state.
    let result = sync_test((simulation, SpawnsByCount { arena, calls }), 7, 600);
    assert!(is_mismatch(&result), "{:?}", result.err());
}
