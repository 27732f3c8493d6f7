//! Games that differ only in what must not matter are alike: bits at every frame rate and in a replay, and pictures
//! whatever is kept, and whoever looks.

use crate::random::game::action::{Action, Joint, OnBody, OnWorld, Reach, Setting, Shelf, act};
use crate::random::game::hosts::{self, play_touched};
use crate::random::game::log::Bits;
use crate::random::game::player::{Player, begin_step};
use crate::random::game::script::{FrameScript, PLAIN, Scene, When, script};
use crate::random::game::{Entry, Kind, Picture, Run, Script, play};
use evenstep::{Hooks, Physics, Simulation, Smoothing, Step};
use proptest::prelude::*;
use scenes::testing::{pose, spin, vector};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// How many steps a game at a frame rate has.
const STEPS: u64 = 40;

/// Hooks that do in each step what a script does in the steps of the frame of that number.
struct ByTick<'a> {
    frames: &'a [FrameScript],
    shelf: Shelf,
    bits: BTreeMap<u64, Bits>,
}

impl<'a> ByTick<'a> {
    fn new(script: &'a Script) -> Self {
        Self {
            frames: &script.frames,
            shelf: Shelf::default(),
            bits: BTreeMap::new(),
        }
    }

    fn act(&mut self, physics: &mut Physics, tick: u64, is_after: bool) {
        let Some(frame) = self.frames.get(tick as usize) else {
            return;
        };
        for (when, action) in &frame.acts {
            let is_now = match when {
                When::Before(_) => !is_after,
                When::After(_) => is_after,
                _ => false,
            };
            if is_now && action.is_edit() {
                let mut reach = Reach::Physics(physics);
                act(*action, &mut reach, &mut self.shelf, &mut Player::default());
            }
        }
    }
}

impl Hooks for ByTick<'_> {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.bits.insert(step.tick, Bits::of(physics));
        self.act(physics, step.tick, false);
        begin_step(physics, Smoothing::default());
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.act(physics, step.tick, true);
        Ok(())
    }
}

/// Returns the bits before each step, at a frame rate, or `None` if Rapier panics.
fn at_fps(script: &Script, fps: u32) -> Option<BTreeMap<u64, Bits>> {
    let mut simulation = hosts::start(&script.setup);
    let mut hooks = ByTick::new(script);
    let play = || {
        while simulation.physics.tick() < STEPS {
            let Ok(_) = simulation.advance_with(Duration::from_secs(1) / fps, &mut hooks);
        }
    };
    catch_unwind(AssertUnwindSafe(play)).ok()?;
    hooks.bits.split_off(&STEPS);
    Some(hooks.bits)
}

/// How a simulation continues from the state of another one.
#[derive(Clone, Copy, Debug)]
enum Joins {
    Assigned,
    /// It goes ahead to the state.
    Ahead,
    /// It has played the same game up to the tick of the state.
    Corrected,
}

/// Teleports the floor and all platforms by so little that Rapier would recycle their contacts.
fn nudge_ground(physics: &mut Physics) {
    let keys: Vec<_> = physics.bodies().map(|(key, _)| key).collect();
    let by = pose(vector(0.0, -1e-3, 0.0), spin(0.0, 0.0, 1e-3));
    for key in keys {
        let body = physics.body(key).expect("it is listed");
        if !body.is_dynamic() && body.position().is_finite() {
            let _ = physics.teleport(key, *body.position() * by);
        }
    }
}

/// Returns the bits before each step of a simulation that continues from the state of another one in the middle of a
/// game, or `None` if Rapier panics.
fn joined(script: &Script, joins: Joins) -> Option<BTreeMap<u64, Bits>> {
    let play_to = |simulation: &mut Simulation, hooks: &mut ByTick<'_>, end| {
        while simulation.physics.tick() < end {
            let Ok(_) = simulation.advance_with(Duration::from_secs(1) / 60, hooks);
        }
    };
    let play = || {
        let [mut server, mut client] = [0; 2].map(|_| hosts::start(&script.setup));
        play_to(&mut server, &mut ByTick::new(script), STEPS / 2);
        let mut state = server.physics.clone();
        nudge_ground(&mut state);
        match joins {
            Joins::Assigned => client.physics = state,
            Joins::Ahead => client.correct(state).expect("the client is behind"),
            Joins::Corrected => {
                play_to(&mut client, &mut ByTick::new(script), STEPS / 2);
                client.correct(state).expect("the client has the same tick");
            }
        }
        let mut hooks = ByTick::new(script);
        play_to(&mut client, &mut hooks, STEPS);
        hooks.bits.split_off(&STEPS);
        hooks.bits
    };
    catch_unwind(AssertUnwindSafe(play)).ok()
}

/// Records a game, and plays the recording. Returns the bits before each step of both, or `None` if Rapier panics.
#[cfg(feature = "enhanced-determinism")]
fn replayed(script: &Script) -> Option<[BTreeMap<u64, Bits>; 2]> {
    use evenstep::recording::{Recorder, RecorderSettings, Recording};

    let mut simulation = hosts::start(&script.setup);
    let (mut player, mut again) = (ByTick::new(script), ByTick::new(script));
    // Joints that no step has seen cannot be saved.
    simulation.pause();
    simulation.step_once();
    simulation.advance(Duration::ZERO, |_, _| ());
    simulation.resume();
    let mut recorder = Recorder::new(Vec::new(), RecorderSettings::default()).expect("memory");
    let mut record = || {
        for micros in script.frames.iter().map(|frame| frame.micros).cycle() {
            let time = Duration::from_micros(micros.clamp(1_000, 40_000).into());
            let begun = recorder.begin_frame(&mut simulation, &(), time);
            begun.expect("the state can be saved");
            simulation.begin_frame(time);
            while let Some(step) = simulation.next_step() {
                recorder.input(step, &step.tick).expect("memory");
                let Ok(()) = player.before_step(&mut simulation.physics, step);
                simulation.run_step();
                let Ok(()) = player.after_step(&mut simulation.physics, step);
                recorder.end_step(&simulation.physics).expect("memory");
            }
            simulation.end_frame();
            if simulation.physics.tick() >= STEPS {
                break;
            }
        }
    };
    catch_unwind(AssertUnwindSafe(&mut record)).ok()?;
    let recording = Recording::read(recorder.finish().expect("memory")).expect("it is whole");
    let mut replay = recording.replay();
    while let Some((mut simulation, ())) = replay.next_run().expect("it is whole") {
        while let Some(time) = replay.begin_frame(&mut simulation).expect("it is whole") {
            simulation.begin_frame(time);
            while let Some(step) = simulation.next_step() {
                let input = replay.input(step).expect("it is whole");
                assert_eq!(input, Some(step.tick));
                let Ok(()) = again.before_step(&mut simulation.physics, step);
                simulation.run_step();
                let Ok(()) = again.after_step(&mut simulation.physics, step);
                replay
                    .end_step(&mut simulation.physics)
                    .expect("it is whole");
            }
            simulation.end_frame();
        }
    }
    assert_eq!(replay.differences(), []);
    let mut runs = [player.bits, again.bits];
    // The game's values are not saved.
    let bits = runs.iter_mut().flat_map(BTreeMap::values_mut);
    bits.for_each(|bits| bits.score = Default::default());
    Some(runs)
}

fn pictures(run: Run) -> Vec<Picture> {
    let pictures = run.log.into_iter();
    let pictures = pictures.filter_map(|entry| match entry {
        Entry::Picture(picture) => Some(*picture),
        _ => None,
    });
    pictures.collect()
}

/// Returns the script with another number of kept states, at another interval.
fn keeping(script: &Script, keep: u8, interval: u8) -> Script {
    let mut script = script.clone();
    (script.setup.keep, script.setup.interval) = (keep, interval);
    for frame in &mut script.frames {
        let is_other = |action: &Action| {
            // If states are kept, another pose may have been read before a position is not finite.
            !matches!(
                action,
                Action::Setting(Setting::Keep(_) | Setting::Interval(_) | Setting::KeepPoses(_))
                    | Action::Body(_, OnBody::PutNowhere)
            )
        };
        frame.acts.retain(|(_, action)| is_other(action));
    }
    script
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(64)))]

    #[test]
    fn bits_are_equal_at_every_frame_rate(script in script(PLAIN)) {
        let at_60 = at_fps(&script, 60);
        for fps in [7, 15, 144, 1000] {
            prop_assert_eq!(&at_fps(&script, fps), &at_60, "at {} frames per second", fps);
        }
    }

    #[test]
    fn a_corrected_simulation_continues_like_one_with_the_state_assigned(script in script(PLAIN)) {
        let assigned = joined(&script, Joins::Assigned);
        for joins in [Joins::Ahead, Joins::Corrected] {
            prop_assert_eq!(&joined(&script, joins), &assigned, "{:?}", joins);
        }
    }

    #[cfg(feature = "enhanced-determinism")]
    #[test]
    fn a_replay_repeats_every_step(script in script(PLAIN)) {
        if let Some([played, again]) = replayed(&script) {
            prop_assert!(again.len() >= STEPS as usize - 1);
            for (tick, played) in &played {
                prop_assert_eq!(again.get(tick), Some(played), "before tick {}", tick);
            }
        }
    }

    #[test]
    fn pictures_are_equal_whatever_is_kept(script in script(PLAIN), kind in Kind::any()) {
        check_kept(&script, kind);
    }

    #[test]
    fn mutable_access_that_changes_nothing_changes_no_picture(
        script in script(PLAIN), kind in Kind::any(),
    ) {
        check_touched(&script, kind);
    }
}

/// Checks that a game displays the same, whatever it keeps.
fn check_kept(script: &Script, kind: Kind) {
    let nothing = pictures(play(&keeping(script, 0, 0), kind));
    for (keep, interval) in [(3, 1), (30, 1), (30, 4)] {
        check_equal(
            &pictures(play(&keeping(script, keep, interval), kind)),
            &nothing,
        );
    }
}

/// Checks that a game displays the same if it also gets mutable access to all bodies in each hook.
fn check_touched(script: &Script, kind: Kind) {
    let mut script = script.clone();
    let has = |is_it: fn(&Action) -> bool| {
        let mut acts = script.frames.iter().flat_map(|frame| &frame.acts);
        acts.any(|(_, action)| is_it(action))
    };
    let has_links = script.setup.scene == Scene::Chain
        || has(|it| matches!(it, Action::Body(_, OnBody::Join(_, Joint::Link))));
    // With the access, another pose may have been read before a position is not finite, before Rapier places the links
    // of a root whose type was changed, or while a body that is no link any more was held by the others. After a shift of
    // the origin, it wakes what sleeps.
    let is_read = |action: &Action| match action {
        Action::Body(_, OnBody::PutNowhere | OnBody::SetType(_)) => true,
        Action::World(OnWorld::ShiftOrigin(_)) => true,
        Action::Body(_, OnBody::Remove | OnBody::RemoveThroughRapier(_))
        | Action::Body(_, OnBody::Despawn(_) | OnBody::Abandon)
        | Action::World(OnWorld::RemoveJoint(_)) => has_links,
        _ => false,
    };
    for frame in &mut script.frames {
        frame.acts.retain(|(_, action)| !is_read(action));
    }
    let [plain, touched] =
        [false, true].map(|touches| pictures(play_touched(&script, kind, touches)));
    check_equal(&touched, &plain);
}

fn check_equal(ones: &[Picture], others: &[Picture]) {
    assert_eq!(ones.len(), others.len());
    let mut last = BTreeMap::new();
    for (one, other) in ones.iter().zip(others) {
        // Edits and removals are found earlier in one of them, so the lists may have another order. From 0 to −0 is no
        // motion.
        let moved = |it: &Picture| {
            let moved = it.moved.iter().copied();
            let moved = moved.filter(|(key, pose)| last.get(key) != Some(pose));
            moved.collect::<BTreeMap<_, _>>()
        };
        assert_eq!(moved(one), moved(other));
        let removed = |it: &Picture| it.removed.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(removed(one), removed(other));
        assert_eq!(&one.poses, &other.poses);
        assert_eq!(&one.events, &other.events);
        assert_eq!((one.time, one.alpha), (other.time, other.alpha));
        last.clone_from(&one.poses);
    }
}

#[test]
fn a_platform_that_is_led_from_rest_is_displayed_alike() {
    use crate::random::game::names::*;
    let script = Script {
        setup: Setup {
            scene: Yard,
            hz: 100,
            smoothing: Hermite,
            correction: Off,
            keep: 0,
            interval: 0,
            slack: 0,
        },
        frames: vec![
            frame(70_001, []),
            frame(
                10_000,
                [
                    (Between, Body(0, SetVelocity(0, PhysicsMut))),
                    (Between, Body(2, Target(0, 0))),
                ],
            ),
        ],
    };
    check_kept(&script, Kind::Closure);
}

#[test]
fn a_smoothing_that_is_set_in_a_pause_does_not_depend_on_an_access_before_it() {
    use crate::random::game::names::*;
    let script = Script {
        setup: Setup {
            scene: Yard,
            hz: 100,
            smoothing: Interpolate,
            correction: Off,
            keep: 0,
            interval: 0,
            slack: 0,
        },
        frames: vec![
            frame(10_000, []),
            frame(
                3_867,
                [
                    (Between, Setting(Pause)),
                    (BeforeFrame, Setting(Smoothing(Extrapolate))),
                ],
            ),
        ],
    };
    for kind in Kind::ALL {
        check_touched(&script, kind);
    }
}
