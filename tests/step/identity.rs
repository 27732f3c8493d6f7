//! Copies of a simulation: their contents, and the effects of replacing a simulation with a copy.

use evenstep::ecs::EntityMap;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::Overlap;
use evenstep::{BodyKey, Hooks, Physics, Simulation, Step};
use scenes::{MS, advance, ball, flyer, flyer_in_space, hash, in_time, moved_keys};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Pushes the flyer in each step, and inserts a body in some steps.
fn play(physics: &mut Physics, key: BodyKey, tick: u64) {
    let push = scenes::testing::vector(0.0, (tick % 5) as f32, 0.1);
    physics.apply_impulse(key, push).unwrap();
    if tick % 4 == 1 {
        physics.insert(flyer(), ball());
    }
}

/// Plays, and copies the state in the hook before or after one step.
struct Copies {
    key: BodyKey,
    tick: u64,
    is_after: bool,
    copy: Option<Physics>,
    /// The tick and the bits of the state at the start of each step.
    begun: Vec<(u64, u64)>,
}

impl Copies {
    fn new(key: BodyKey, tick: u64, is_after: bool) -> Self {
        Self {
            key,
            tick,
            is_after,
            copy: None,
            begun: Vec::new(),
        }
    }

    fn copy(&mut self, physics: &Physics, step: Step, is_after: bool) {
        if (step.tick, is_after) == (self.tick, self.is_after) && self.copy.is_none() {
            self.copy = Some(physics.clone());
        }
    }
}

impl Hooks for Copies {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.begun.push((step.tick, hash(physics.rapier())));
        play(physics, self.key, step.tick);
        self.copy(physics, step, false);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.copy(physics, step, true);
        Ok(())
    }
}

/// The current step is not part of the copy. It begins again, without the forces that were added for it.
#[test]
fn assigning_a_copy_made_in_a_hook_continues_from_its_tick() {
    for is_after in [false, true] {
        for frame in [10, 40] {
            let (mut simulation, key) = flyer_in_space();
            simulation.keep(Kept {
                ticks: 50,
                ..simulation.kept()
            });
            let mut game = Copies::new(key, 6, is_after);
            let mut reference = Copies::new(key, u64::MAX, false);
            simulation
                .clone()
                .advance_with(MS(200), &mut reference)
                .unwrap();
            while simulation.physics.tick() < 16 {
                simulation.advance_with(MS(frame), &mut game).unwrap();
            }
            simulation.physics = game.copy.take().unwrap();
            let tick = 6 + u64::from(is_after);
            assert_eq!(
                (simulation.physics.tick(), simulation.physics.current_step()),
                (tick, None)
            );
            let mut again = Copies::new(key, u64::MAX, false);
            simulation.advance_with(MS(40), &mut again).unwrap();
            let tick = tick as usize;
            assert_eq!(again.begun, reference.begun[tick..tick + 4]);
        }
    }
}

#[test]
fn assigning_a_copy_of_another_tick_discards_the_rewind_states() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    advance(&mut simulation, 40);
    let copy = simulation.physics.clone();
    simulation.physics.teleport(key, Pose::IDENTITY).unwrap();
    advance(&mut simulation, 50);
    simulation.physics = copy;
    assert!(simulation.physics.tick() == 4 && simulation.rewindable().is_empty());
    advance(&mut simulation, 30);
    assert_eq!(simulation.rewindable(), 4..7);
    for tick in 0..4 {
        assert!(simulation.roll_back(tick).is_err() && simulation.rewind(tick).is_err());
    }
    simulation.rewind(4).unwrap();
    assert_eq!(scenes::stepped_x(&simulation.physics, key).round(), 4.0);
}

/// A level is a value: the game restarts by assigning it in a hook.
struct Restarts<'a> {
    level: &'a Simulation,
    key: BodyKey,
    at: u64,
    always: bool,
    begun: BTreeMap<u64, u64>,
}

impl Hooks for Restarts<'_> {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        if self.always || step.tick == self.at {
            self.at = u64::MAX;
            *physics = self.level.clone().physics;
            self.begun.clear();
            return Ok(());
        }
        play(physics, self.key, step.tick);
        self.begun.insert(step.tick, hash(physics.rapier()));
        Ok(())
    }
}

fn level() -> (Simulation, BodyKey) {
    let (mut level, key) = flyer_in_space();
    level.physics.insert(
        RigidBodyBuilder::fixed().translation(Vector::X * 9.0),
        ball(),
    );
    (level, key)
}

#[test]
fn restarting_a_level_in_a_hook_gives_equal_states_at_every_frame_rate() {
    let (level, key) = level();
    let restarts = |at| Restarts {
        level: &level,
        key,
        at,
        always: false,
        begun: BTreeMap::new(),
    };
    let mut reference = restarts(u64::MAX);
    level.clone().advance_with(MS(200), &mut reference).unwrap();
    for frame in [3, 10, 33, 70] {
        for at in [4, 5, 11] {
            let (mut simulation, mut game) = (level.clone(), restarts(at));
            let mut overlap = Overlap::new(level.clone()).unwrap();
            let mut beside = restarts(at);
            while game.begun.len() < 12 || game.at == at {
                simulation.advance_with(MS(frame), &mut game).unwrap();
            }
            while beside.begun.len() < 12 || beside.at == at {
                overlap.frame(MS(frame), &mut beside).unwrap();
            }
            for (tick, bits) in game
                .begun
                .iter()
                .chain(&beside.begun)
                .filter(|(tick, _)| **tick < 20)
            {
                assert_eq!(
                    *bits, reference.begun[tick],
                    "tick {tick}, frames of {frame} ms"
                );
            }
        }
    }
}

#[test]
fn restarting_a_level_in_every_step_does_not_hang() {
    for frame in [10, 95] {
        let tick = in_time(move || {
            let (level, key) = level();
            let mut simulation = level.clone();
            let mut game = Restarts {
                level: &level,
                key,
                at: 0,
                always: true,
                begun: BTreeMap::new(),
            };
            for _ in 0..5 {
                simulation.advance_with(MS(frame), &mut game).unwrap();
                // The pull form does not hang either.
                simulation.begin_frame(MS(frame));
                while simulation.next_step().is_some() {
                    simulation = level.clone();
                    simulation.run_step();
                }
                simulation.end_frame();
            }
            simulation.physics.tick()
        });
        assert_eq!(tick, 0);
    }
}

#[test]
fn rolling_back_to_the_current_tick_between_frames_changes_nothing() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    advance(&mut simulation, 55);
    let new = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    let before = hash(simulation.physics.rapier());
    simulation.roll_back(5).unwrap();
    assert_eq!(simulation.steps_to_resimulate(), 0);
    assert_eq!(hash(simulation.physics.rapier()), before);
    // The force still waits.
    advance(&mut simulation, 10);
    assert_eq!(simulation.physics.body(key).unwrap().linvel().y, 1.0);
    assert_eq!(simulation.pose(new), Some(Pose::IDENTITY));
    assert_eq!(
        (simulation.physics.tick(), simulation.rewindable()),
        (6, 0..6)
    );
}

/// A key that the copy issues again belongs to the new body, if the game asks for unmatched entities right after the
/// restore.
#[test]
fn a_key_reissued_after_a_restore_belongs_to_the_new_entity() {
    for is_in_hook in [false, true] {
        let (mut simulation, flyer) = flyer_in_space();
        let mut map = EntityMap::default();
        map.insert(flyer, 1);
        let saved = simulation.clone();
        let old = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        map.insert(old, 2);
        advance(&mut simulation, 30);
        let mut new = None;
        let mut restore = |physics: &mut Physics| {
            *physics = saved.clone().physics;
            assert_eq!(map.unmatched(physics).entities, [2]);
            let key = physics.insert(RigidBodyBuilder::fixed(), ball());
            map.insert(key, 3);
            new = Some(key);
        };
        if is_in_hook {
            let mut is_done = false;
            simulation.advance(MS(10), |physics, _| {
                if !std::mem::replace(&mut is_done, true) {
                    restore(physics);
                }
            });
        } else {
            restore(&mut simulation.physics);
        }
        assert_eq!(new, Some(old), "the key is reissued");
        advance(&mut simulation, 10);
        assert_eq!(map.take_removed(&simulation), []);
        assert_eq!(map.entity(old), Some(3));
        assert!(map.moved(&simulation).any(|(entity, _)| entity == 3));
    }
}

/// Late input was applied, and no frame has displayed it. The copy has the same visual error to smooth away.
#[test]
fn a_clone_made_right_after_a_resimulation_displays_the_originals_poses() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    advance(&mut simulation, 105);
    simulation
        .resimulate(4, |physics, step| play(physics, key, step.tick))
        .unwrap();
    let mut copy = simulation.clone();
    for ms in [0, 3, 10, 40] {
        advance(&mut simulation, ms);
        advance(&mut copy, ms);
        assert!(simulation.visual_error(key).is_some());
        assert_eq!(copy.pose(key), simulation.pose(key));
        assert_eq!(copy.visual_error(key), simulation.visual_error(key));
        assert_eq!(moved_keys(&copy), moved_keys(&simulation));
        assert_eq!(copy.removed(), simulation.removed());
    }
}

#[test]
fn assigning_a_sound_clone_repairs_a_broken_simulation_and_its_clone() {
    let (mut simulation, key) = flyer_in_space();
    let sound = simulation.clone();
    scenes::break_rapier(&mut simulation.physics);
    let is_broken = |simulation: &mut Simulation| {
        catch_unwind(AssertUnwindSafe(|| advance(simulation, 10))).is_err()
    };
    assert!(is_broken(&mut simulation));
    let mut copy = simulation.clone();
    assert!(is_broken(&mut copy) && is_broken(&mut simulation));
    for broken in [&mut simulation, &mut copy] {
        *broken = sound.clone();
        assert_eq!(advance(broken, 30).steps, 3);
        assert_eq!(
            broken.physics.body(key).unwrap().translation().x.round(),
            3.0
        );
    }
}
