//! Tests rewind and the play after it: bodies, score, and drawing.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::runs::{PACES, Pace, game, jump, play, walk};
use evenstep::BodyKey;
use evenstep::rapier::math::Pose;
use evenstep_platformer::controls::Way;
use evenstep_platformer::game::{Game, State};
use evenstep_platformer::level::Level;
use evenstep_platformer::script::Script;
use evenstep_platformer::time::TimeKeys;

const MS: fn(u64) -> Duration = Duration::from_millis;

const BACK: TimeKeys = TimeKeys {
    is_paused: false,
    is_slow: false,
    is_rewinding: true,
};

/// Each state, indexed by the tick of the next step.
type Seen = BTreeMap<u64, (u64, State)>;

fn see(game: &Game, seen: &mut Seen) {
    let simulation = game.simulation();
    let now = (checksum(game), game.state().clone());
    seen.insert(simulation.physics.tick(), now);
}

/// Returns the checksum of the bodies alone, because the clock's real time continues in a rewind.
fn checksum(game: &Game) -> u64 {
    let mut sum = 0u64;
    for (_, body) in game.simulation().physics.bodies() {
        let pose = body.position();
        let parts = [pose.translation, body.linvel(), body.angvel()];
        let rotation = pose.rotation.to_array();
        let parts = parts
            .into_iter()
            .flat_map(|part| part.to_array())
            .chain(rotation);
        for part in parts {
            sum =
                sum.rotate_left(5) ^ u64::from(part.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
    sum
}

#[test]
fn rewinding_five_seconds_restores_every_state_bit_for_bit() {
    for pace in PACES {
        let mut game = game(&Level::islands());
        let mut script = Script::tour();
        let mut seen = Seen::new();
        play(&mut game, &mut script, &pace.frames(MS(6_000)), |game| {
            see(game, &mut seen)
        });
        let before = game.state().clone();
        assert_eq!(game.simulation().physics.tick(), 360);
        game.time = BACK;
        let mut compared = 0;
        play(&mut game, &mut script, &pace.frames(MS(5_500)), |game| {
            if let Some(then) = seen.get(&game.simulation().physics.tick()) {
                assert_eq!((checksum(game), game.state().clone()), *then, "{pace:?}");
                compared += 1;
            }
        });
        assert!(compared > 100, "{compared} states");
        // The rewind stops after five seconds.
        assert_eq!(game.simulation().physics.tick(), 60);
        assert!(before.pickups.score() > game.state().pickups.score());
    }
}

#[test]
fn the_same_input_after_a_rewind_gives_the_same_states() {
    // The keys stay down, so the steps get the same input again.
    let script = Script::new([(0, walk(Way::Forward, true))]);
    for pace in PACES {
        let mut game = game(&Level::islands());
        let mut script = script.clone();
        let mut seen = Seen::new();
        play(&mut game, &mut script, &pace.frames(MS(3_000)), |game| {
            see(game, &mut seen)
        });
        game.time = BACK;
        play(&mut game, &mut script, &pace.frames(MS(2_500)), |_| ());
        let tick = game.simulation().physics.tick();
        assert!((29..=31).contains(&tick), "tick {tick}");
        assert_eq!(game.state().pickups.score(), 0);
        game.time = TimeKeys::default();
        let mut compared = 0;
        play(&mut game, &mut script, &pace.frames(MS(2_400)), |game| {
            if let Some(then) = seen.get(&game.simulation().physics.tick()) {
                assert_eq!((checksum(game), game.state().clone()), *then, "{pace:?}");
                compared += 1;
            }
        });
        assert!(compared > 30, "{compared} states");
        assert!(game.state().pickups.score() >= 2);
    }
}

/// A renderer that only follows moved and removed bodies.
#[derive(Default)]
struct Drawn(BTreeMap<BodyKey, Pose>);

impl Drawn {
    fn listen(&mut self, game: &Game) {
        for key in game.simulation().removed() {
            self.0.remove(key);
        }
        self.0.extend(game.simulation().moved().iter().copied());
    }
}

#[test]
fn moved_and_removed_keep_a_renderer_up_to_date_through_a_rewind() {
    for pace in PACES {
        let mut game = game(&Level::islands());
        let mut script = Script::tour();
        let mut drawn = Drawn::default();
        let mut check = |game: &Game| {
            drawn.listen(game);
            let simulation = game.simulation();
            let there = simulation.physics.bodies().map(|(key, _)| key);
            let there: BTreeMap<_, _> = there
                .map(|key| (key, simulation.pose(key).unwrap()))
                .collect();
            assert_eq!(drawn.0, there, "frame {}", simulation.frame().number);
        };
        // Play, rewind past coins and shots, and play again.
        for (keys, ms) in [
            (TimeKeys::default(), 4_000),
            (BACK, 3_000),
            (TimeKeys::default(), 2_000),
        ] {
            game.time = keys;
            play(&mut game, &mut script, &pace.frames(MS(ms)), &mut check);
        }
    }
}

#[test]
fn a_pause_freezes_the_view_and_the_game_continues_from_there() {
    for pace in PACES {
        let mut game = game(&Level::islands());
        let mut script = Script::tour();
        play(&mut game, &mut script, &pace.frames(MS(1_700)), |_| ());
        let view = game.view();
        game.time.is_paused = true;
        let mut keys = Script::default();
        play(&mut game, &mut keys, &pace.frames(MS(500)), |game| {
            assert!(game.simulation().moved().is_empty());
            assert_eq!(game.view(), view);
        });
        // Then the game continues from there.
        game.time.is_paused = false;
        let hero = game.hero();
        game.frame(MS(5));
        assert!(game.hero().distance(hero) < 0.1);
        assert_ne!(game.hero(), hero);
    }
}

#[test]
fn a_jump_in_a_pause_is_ignored_but_key_releases_count() {
    let mut game = game(&Level::islands());
    let frames = Pace::Hz(60).frames(MS(500));
    let mut script = Script::new([
        (0, walk(Way::Forward, true)),
        (700, walk(Way::Forward, false)),
        (800, jump(true)),
        (850, jump(false)),
    ]);
    play(&mut game, &mut script, &frames, |_| ());
    game.time.is_paused = true;
    play(&mut game, &mut script, &frames, |_| ());
    game.time.is_paused = false;
    let height = game.hero().y;
    play(&mut game, &mut script, &frames, |game| {
        assert!((game.hero().y - height).abs() < 1e-3, "the hero jumps");
    });
    let stopped = game.hero();
    play(&mut game, &mut script, &frames, |_| ());
    assert_eq!(game.hero(), stopped);
}
