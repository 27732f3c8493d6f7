//! A look back at what earlier frames showed.

mod scenes;

use crate::scenes::testing::{spin, translation, vector};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Frame, Hooks, Rate, Simulation, Smoothing, Step};
use proptest::prelude::*;
use scenes::{MS, advance, ball, space};
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;

/// A pile with bodies that come and go, spinners off their centre, and a simulation-wide smoothing.
fn scene(smoothing: Smoothing, states: usize) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = scenes::with_floor(Rate::hz(60).unwrap());
    simulation.set_smoothing(smoothing);
    simulation.set_history(states);
    let mut keys = scenes::pile(&mut simulation, 20);
    for i in 0..5u8 {
        let body = RigidBodyBuilder::dynamic()
            .translation(vector(-6.0, 2.0 + 2.0 * f32::from(i), 0.0))
            .angvel(spin(0.0, 0.0, 4.0));
        keys.push(simulation.insert(body, ball().translation(Vector::X)));
    }
    (simulation, keys)
}

/// All that a frame showed.
type Shown = (Frame, Vec<(BodyKey, Pose)>);

#[test]
fn every_kept_frame_can_be_asked_for_again_to_the_bit() {
    for smoothing in [
        Smoothing::Interpolate,
        Smoothing::Hermite,
        Smoothing::Extrapolate,
    ] {
        for states in [2, 3, 10] {
            let (mut simulation, mut keys) = scene(smoothing, states);
            let mut frames: VecDeque<Shown> = VecDeque::new();
            let mut checked = 0;
            for i in 0..400u64 {
                // Frames of none to four steps.
                let frame = advance(&mut simulation, 1 + 13 * i % 67);
                if i % 50 == 49 {
                    simulation.remove(keys.remove(3)).unwrap();
                }
                let poses = keys
                    .iter()
                    .map(|key| (*key, simulation.pose(*key).unwrap()));
                frames.push_back((frame, poses.collect()));
                let oldest = frame.tick.saturating_sub(states as u64 - 2);
                for (old, poses) in &frames {
                    for (key, pose) in poses.iter().filter(|(key, _)| keys.contains(key)) {
                        let again = simulation.pose_at(*key, old.tick, old.alpha);
                        let expected = (old.tick >= oldest).then_some(*pose);
                        assert_eq!(again, expected, "{smoothing:?} {i}");
                        checked += u32::from(old.tick < frame.tick && again.is_some());
                    }
                }
                frames.retain(|(old, _)| old.tick + 2 >= oldest);
            }
            assert!(simulation.body(keys[0]).unwrap().is_sleeping());
            assert_eq!(checked > 1_000, states > 2, "{checked} looks back");
        }
    }
}

#[test]
fn times_that_are_not_kept_are_none() {
    let mut simulation = space(100);
    let fly = || RigidBodyBuilder::dynamic().linvel(Vector::X);
    let key = simulation.insert(fly(), ball());
    advance(&mut simulation, 100);
    simulation.set_history(5);
    advance(&mut simulation, 20);
    let young = simulation.insert(fly(), ball());
    advance(&mut simulation, 20);
    assert_eq!(simulation.tick(), 14);
    let known = |key, tick| simulation.pose_at(key, tick, 0.5).is_some();
    // Kept since tick 10.
    let ticks: Vec<u64> = (0..20).filter(|tick| known(key, *tick)).collect();
    assert_eq!(ticks, [11, 12, 13, 14]);
    let ticks: Vec<u64> = (0..20).filter(|tick| known(young, *tick)).collect();
    assert_eq!(ticks, [12, 13, 14]);
    for _ in 0..3 {
        advance(&mut simulation, 20);
    }
    let known = |key, tick| simulation.pose_at(key, tick, 0.5).is_some();
    let ticks: Vec<u64> = (0..30).filter(|tick| known(young, *tick)).collect();
    assert_eq!(ticks, [17, 18, 19, 20], "five states are four ways");
    // Fewer again, and none but the last.
    simulation.set_history(3);
    assert!(simulation.pose_at(key, 19, 0.5).is_some());
    assert_eq!(simulation.pose_at(key, 18, 0.5), None);
    simulation.set_history(0);
    assert!(simulation.pose_at(key, 20, 0.5).is_some());
    assert_eq!(simulation.pose_at(key, 19, 0.5), None);
    simulation.remove(key);
    assert_eq!(simulation.pose_at(key, 20, 0.5), None);
}

#[test]
fn a_body_that_rests_or_is_teleported_was_where_it_was() {
    let mut simulation = space(100);
    simulation.set_history(100);
    let key = simulation.insert(RigidBodyBuilder::dynamic().sleeping(true), ball());
    let x = |simulation: &Simulation, tick: u64, alpha: f32| {
        simulation.pose_at(key, tick, alpha).unwrap().translation.x
    };
    for _ in 0..10 {
        advance(&mut simulation, 10);
    }
    assert_eq!(x(&simulation, 3, 0.5), 0.0);
    // Teleported after ten steps, it is at rest for ten more, and then moves.
    let there = translation(5.0, 0.0, 0.0);
    simulation.teleport(key, there).unwrap();
    simulation.body_mut(key).unwrap().sleep();
    for _ in 0..10 {
        advance(&mut simulation, 10);
    }
    simulation
        .body_mut(key)
        .unwrap()
        .set_linvel(Vector::X * 100.0, true);
    for _ in 0..10 {
        advance(&mut simulation, 10);
    }
    for (tick, alpha, expected) in [
        (3, 0.5, 0.0),
        (10, 0.9, 0.0),
        (11, 0.1, 5.0),
        (15, 0.5, 5.0),
        (20, 1.0, 5.0),
        (21, 0.5, 5.5),
        (30, 0.0, 14.0),
        (30, 1.0, 15.0),
    ] {
        let x = x(&simulation, tick, alpha);
        assert!(
            (x - expected).abs() < 1e-4,
            "{x} at {tick} + {alpha}, not {expected}"
        );
    }
}

#[test]
fn a_click_hits_what_the_player_saw() {
    // A target that crosses the screen at 20 m/s; the click comes five frames late.
    let mut simulation = space(60);
    simulation.set_history(8);
    let key = simulation.insert(RigidBodyBuilder::dynamic().linvel(Vector::X * 20.0), ball());
    let mut screen = VecDeque::new();
    for i in 0..200 {
        let frame = advance(&mut simulation, 7);
        screen.push_back((frame, (simulation.pose(key).unwrap() * Vector::ZERO)));
        if screen.len() > 5 {
            let (frame, aimed_at) = screen.pop_front().unwrap();
            let ray = Ray::new(aimed_at + vector(0.0, 0.0, 10.0), -vector(0.0, 0.0, 1.0));
            let hits = |pose: Pose| SharedShape::ball(0.1).intersects_ray(&pose, &ray, 20.0);
            assert!(
                i < 8 || !hits(simulation.pose(key).unwrap()),
                "it is gone by now"
            );
            let seen = simulation.pose_at(key, frame.tick, frame.alpha);
            assert!(hits(seen.unwrap()));
        }
    }
}

#[test]
fn what_was_put_elsewhere_in_a_frame_without_a_step_was_there_since() {
    let mut simulation = space(100);
    simulation.set_history(20);
    let key = simulation.insert(RigidBodyBuilder::fixed(), ball());
    advance(&mut simulation, 100);
    let there = translation(5.0, 0.0, 0.0);
    simulation.teleport(key, there).unwrap();
    advance(&mut simulation, 4);
    advance(&mut simulation, 36);
    for tick in 11..=14 {
        assert_eq!(simulation.pose_at(key, tick, 0.5), Some(there), "{tick}");
    }
    assert_eq!(simulation.pose_at(key, 9, 0.5), Some(Pose::IDENTITY));
}

#[test]
fn a_longer_history_does_not_know_what_a_shorter_one_let_go() {
    let mut simulation = space(100);
    simulation.set_history(3);
    let key = simulation.insert(RigidBodyBuilder::dynamic().linvel(Vector::X), ball());
    for _ in 0..10 {
        advance(&mut simulation, 100);
    }
    simulation.set_history(20);
    let known: Vec<u64> = (0..=100)
        .filter(|tick| simulation.pose_at(key, *tick, 1.0).is_some())
        .collect();
    assert_eq!(known, [99, 100]);
    advance(&mut simulation, 10);
    for tick in [99, 100, 101u64] {
        let x = simulation.pose_at(key, tick, 1.0).unwrap().translation.x;
        assert!((x - 0.01 * tick as f32).abs() < 1e-5, "{x} after {tick}");
    }
}

#[test]
fn a_history_that_begins_in_a_hook_knows_the_steps_from_there_on() {
    let mut simulation = space(100);
    let key = simulation.insert(RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0), ball());
    advance(&mut simulation, 10);
    simulation.advance(MS(50), |simulation, step| {
        if step.tick == 3 {
            simulation.set_history(10);
        }
    });
    assert_eq!(simulation.tick(), 6);
    for tick in 4..=6u64 {
        let x = simulation.pose_at(key, tick, 1.0).unwrap().translation.x;
        assert!((x - 0.1 * tick as f32).abs() < 1e-5, "{x} after {tick}");
    }
    assert_eq!(simulation.pose_at(key, 2, 1.0), None);
}

#[test]
fn a_body_that_is_born_in_the_hook_in_which_a_history_begins_was_not_there_before() {
    let mut simulation = space(100);
    let mut born = None;
    simulation.advance(MS(50), |simulation, step| {
        if step.tick == 2 {
            simulation.set_history(10);
            born = Some(simulation.insert(RigidBodyBuilder::fixed(), ball()));
        }
    });
    let known: Vec<u64> = (0..=5)
        .filter(|tick| simulation.pose_at(born.unwrap(), *tick, 0.5).is_some())
        .collect();
    assert_eq!(known, [3, 4, 5]);
}

/// Also where it differs from the first step that is resimulated on, and if that is the only one.
#[test]
fn steps_made_again_take_the_place_of_what_they_were() {
    let (mut simulation, key) = scenes::flyer_in_space();
    simulation.set_rewind_limits(20, usize::MAX);
    simulation.set_history(20);
    let put = |simulation: &mut Simulation, key, y| {
        simulation.teleport(key, translation(0.0, y, 0.0)).unwrap();
    };
    advance(&mut simulation, 50);
    let again = |simulation: &mut Simulation, _| put(simulation, key, 1.0);
    simulation.resimulate(4, again).unwrap();
    advance(&mut simulation, 10);
    let shown = simulation.pose_at(key, 5, 1.0).unwrap();
    assert_eq!(shown.translation.y, 1.0);

    let (mut simulation, _) = scenes::flyer_in_space();
    simulation.set_rewind_limits(20, usize::MAX);
    simulation.set_history(20);
    let wall = simulation.insert(RigidBodyBuilder::fixed(), ball());
    simulation.advance(MS(60), |simulation, step| {
        if step.tick == 4 {
            put(simulation, wall, 4.0);
        }
    });
    let again = |simulation: &mut Simulation, step: Step| {
        if step.tick == 2 {
            put(simulation, wall, 2.0);
        }
    };
    simulation.resimulate(2, again).unwrap();
    for (tick, y) in [(1, 0.0), (2, 0.0), (3, 2.0), (5, 2.0)] {
        let shown = simulation.pose_at(wall, tick, 1.0).unwrap();
        assert_eq!(shown.translation.y, y, "{tick}");
    }
}

#[test]
fn a_body_that_comes_back_has_its_history_though_another_had_its_slot() {
    let mut simulation = space(100);
    simulation.set_history(20);
    simulation.set_rewind_limits(20, usize::MAX);
    let moving = |at: f32| {
        let body = RigidBodyBuilder::dynamic().translation(vector(at, 0.0, 0.0));
        body.linvel(Vector::X * 100.0)
    };
    let old = simulation.insert(moving(0.0), ball());
    advance(&mut simulation, 60);
    simulation.remove(old);
    let new = simulation.insert(moving(50.0), ball());
    advance(&mut simulation, 40);
    let x_of = |simulation: &Simulation, key, tick| {
        let pose: Option<Pose> = simulation.pose_at(key, tick, 1.0);
        pose.map(|pose| pose.translation.x.round())
    };
    let present = (x_of(&simulation, old, 3), x_of(&simulation, new, 8));
    assert_eq!(present, (None, Some(52.0)));
    for _ in 0..2 {
        simulation.rewind(5).unwrap();
        let there = (x_of(&simulation, old, 3), x_of(&simulation, new, 8));
        assert_eq!(there, (Some(3.0), None));
        simulation.rewind(10).unwrap();
        assert_eq!(
            present,
            (x_of(&simulation, old, 3), x_of(&simulation, new, 8))
        );
    }
    // Another run from there on, in which nothing is removed.
    simulation.rewind(5).unwrap();
    advance(&mut simulation, 50);
    let ticks = [3, 5, 6, 10].map(|tick| x_of(&simulation, old, tick));
    assert_eq!(ticks, [3.0, 5.0, 6.0, 10.0].map(Some));
}

/// A flyer at 100 steps a second, 1 m in each, with so many states kept, of the last 100 ticks.
fn flyer(states: usize) -> (Simulation, BodyKey) {
    let (mut simulation, key) = scenes::flyer_in_space();
    simulation.set_rewind_limits(100, usize::MAX);
    simulation.set_history(states);
    (simulation, key)
}

fn x_at(simulation: &Simulation, key: BodyKey, tick: u64) -> Option<f32> {
    let pose = simulation.pose_at(key, tick, 1.0)?;
    Some(pose.translation.x.round())
}

#[test]
fn what_was_let_go_before_going_back_is_not_made_up() {
    let (mut simulation, key) = flyer(5);
    advance(&mut simulation, 200);
    let mut seen = Vec::new();
    let look = |simulation: &mut Simulation, step: Step| {
        let ticks = (step.tick.saturating_sub(6)..=step.tick).filter(|tick| *tick > 0);
        seen.extend(ticks.map(|tick| (step.tick, tick, x_at(simulation, key, tick))));
    };
    simulation.resimulate(10, look).unwrap();
    for (now, tick, x) in seen {
        // Since the state that was gone back to, and as many as are kept.
        let is_known = tick >= 10 && tick + 4 > now;
        assert_eq!(x, is_known.then_some(tick as f32), "{tick} at {now}");
    }
    simulation.rewind(12).unwrap();
    assert_eq!([8, 9].map(|tick| x_at(&simulation, key, tick)), [None; 2]);
    assert_eq!(x_at(&simulation, key, 12), Some(12.0));
    advance(&mut simulation, 20);
    let ticks = [11, 12, 13, 14].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [None, Some(12.0), Some(13.0), Some(14.0)]);
}

#[test]
fn a_state_of_a_later_tick_has_no_history_before_it() {
    let (mut simulation, key) = flyer(20);
    let mut theirs = simulation.clone();
    advance(&mut simulation, 100);
    advance(&mut theirs, 200);
    simulation.replace_state(theirs).unwrap();
    assert_eq!([5, 15].map(|tick| x_at(&simulation, key, tick)), [None; 2]);
    advance(&mut simulation, 20);
    let ticks = [20, 21, 22].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [20.0, 21.0, 22.0].map(Some));
}

#[test]
fn a_body_that_a_state_brings_has_a_history_from_there_on() {
    // One that only the other machine has had.
    let (mut simulation, _) = flyer(20);
    let mut theirs = simulation.clone();
    let key = theirs.insert(scenes::flyer(), ball());
    advance(&mut simulation, 50);
    advance(&mut theirs, 50);
    simulation.replace_state(theirs).unwrap();
    advance(&mut simulation, 50);
    let ticks = [4, 6, 8].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [None, Some(6.0), Some(8.0)]);
    // One that was removed for longer than the history goes back.
    let (mut simulation, key) = flyer(3);
    advance(&mut simulation, 50);
    simulation.remove(key).unwrap();
    advance(&mut simulation, 100);
    simulation.rewind(4).unwrap();
    advance(&mut simulation, 50);
    let ticks = [7, 8, 9].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [None, Some(8.0), Some(9.0)]);
}

#[test]
fn a_way_back_and_forwards_again_keeps_the_portals() {
    let (mut simulation, key) = flyer(20);
    advance(&mut simulation, 50);
    simulation
        .teleport_by(key, translation(100.0, 0.0, 0.0))
        .unwrap();
    advance(&mut simulation, 50);
    assert_eq!(x_at(&simulation, key, 3), Some(103.0));
    simulation.rewind(4).unwrap();
    assert_eq!(x_at(&simulation, key, 3), Some(3.0));
    simulation.rewind(10).unwrap();
    assert_eq!(x_at(&simulation, key, 3), Some(103.0));
    // Another run, with another portal.
    simulation.rewind(4).unwrap();
    simulation
        .teleport_by(key, translation(0.0, 7.0, 0.0))
        .unwrap();
    advance(&mut simulation, 20);
    let pose = simulation.pose_at(key, 3, 1.0).unwrap();
    assert_eq!((pose.translation.x.round(), pose.translation.y), (3.0, 7.0));
}

#[test]
fn a_length_that_is_set_in_a_rollback_that_is_given_up_holds() {
    let (mut simulation, key) = flyer(20);
    advance(&mut simulation, 100);
    simulation.roll_back(4).unwrap();
    simulation.set_history(6);
    simulation.begin_frame(MS(0));
    simulation.end_frame();
    assert_eq!(simulation.history(), 6);
    let ticks = [5, 6, 9].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [None, Some(6.0), Some(9.0)]);
}

/// What frames showed, by tick and body, of the run that the simulation is in.
#[derive(Default)]
struct Run {
    poses: BTreeMap<u64, BTreeMap<BodyKey, [Pose; 2]>>,
    /// Of one body, or of all by a shifted origin.
    portals: Vec<(u64, Option<BodyKey>, Pose)>,
    keys: Vec<BodyKey>,
    seed: u64,
}

/// Two states of a step.
const ENDS: [f32; 2] = [0.0, 1.0];

impl Run {
    /// Something that depends on the step, and on the run.
    fn deed(&mut self, simulation: &mut Simulation, tick: u64) {
        let number = (tick + self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let at = vector((number % 50) as f32, (number % 7) as f32, 0.0);
        let key = self.keys[number as usize / 50 % self.keys.len()];
        let is_there = simulation.body(key).is_some();
        match number % 11 {
            0 => self
                .keys
                .push(simulation.insert(scenes::flyer().translation(at), ball())),
            1 => drop(simulation.remove(key)),
            2 if is_there => {
                let pose = Pose::from_translation(at);
                simulation.teleport(key, pose).unwrap();
            }
            3 if is_there => {
                let by = Pose::from_translation(at);
                simulation.teleport_by(key, by).unwrap();
                self.portals.push((tick, Some(key), by));
            }
            4 if is_there => {
                let body = simulation.body_mut(key).unwrap();
                body.set_linvel(at, true);
            }
            5 if is_there => simulation.body_mut(key).unwrap().sleep(),
            6 => {
                simulation.shift_origin(at).unwrap();
                self.portals.push((tick, None, Pose::from_translation(-at)));
            }
            _ => (),
        }
    }

    fn check(&self, simulation: &Simulation, since: u64) {
        let now = simulation.tick();
        let len = simulation.history() as u64 - 1;
        for (tick, poses) in self.poses.range(..=now) {
            for (key, shown) in poses {
                if simulation.body(*key).is_none() {
                    continue;
                }
                let by = self.portals.iter();
                let by = by.filter(|(at, of, _)| {
                    of.is_none_or(|of| of == *key) && (*tick..now).contains(at)
                });
                let by = by.fold(Pose::IDENTITY, |sum, (_, _, by)| by * sum);
                for (alpha, shown) in ENDS.into_iter().zip(shown) {
                    let again = simulation.pose_at(*key, *tick, alpha);
                    let is_kept = *tick > since && tick + len > now;
                    assert!(again.is_some() || !is_kept, "{key:?} at {tick} of {now}");
                    if let Some(again) = again {
                        let expected = by * *shown;
                        let off = (again.translation - expected.translation).length();
                        assert!(
                            off < 1e-2,
                            "{key:?} at {tick} of {now}: {again:?} {expected:?}"
                        );
                    }
                }
            }
        }
    }
}

impl Hooks for Run {
    type Error = Infallible;

    fn before_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Infallible> {
        // Later ones are of another run.
        self.poses.split_off(&(step.tick + 1));
        self.portals.retain(|(tick, ..)| *tick < step.tick);
        self.deed(simulation, step.tick);
        Ok(())
    }

    fn after_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Infallible> {
        let tick = step.tick + 1;
        let poses = self.keys.iter().filter_map(|key| {
            let pose = |alpha| simulation.pose_at(*key, tick, alpha).unwrap();
            simulation.body(*key)?;
            Some((*key, ENDS.map(pose)))
        });
        let poses = poses.collect();
        self.poses.insert(tick, poses);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Frame(u64),
    Rewind(u64),
    Resimulate(u64, u64),
    SetHistory(usize),
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![
        4 => (0..60u64).prop_map(Way::Frame),
        1 => (0..30u64).prop_map(Way::Rewind),
        1 => (0..30u64, any::<u64>()).prop_map(|(back, seed)| Way::Resimulate(back, seed)),
        1 => (2..25usize).prop_map(Way::SetHistory),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn whatever_way_is_gone_what_is_known_was_shown(
        ways in prop::collection::vec(way(), 1..40),
        states in 2..25usize,
        seed in any::<u64>(),
    ) {
        let (mut simulation, key) = flyer(states);
        let wall = simulation.insert_body(RigidBodyBuilder::fixed());
        let mut shown = Run { keys: vec![key, wall], seed: seed >> 8, ..Run::default() };
        // What was before it is not known for sure.
        let mut since = 0;
        for way in ways {
            match way {
                Way::Frame(ms) => {
                    let Ok(_) = simulation.advance_with(MS(ms), &mut shown);
                }
                Way::Rewind(tick) => {
                    let kept = simulation.rewindable();
                    let tick = kept.start + tick % (kept.end - kept.start).max(1);
                    if simulation.rewind(tick).is_ok() {
                        since = simulation.tick();
                    }
                }
                Way::Resimulate(back, seed) => {
                    let tick = simulation.tick().saturating_sub(back);
                    shown.seed = seed >> 8;
                    if simulation.resimulate_with(tick, &mut shown).is_ok() {
                        since = tick;
                    }
                }
                Way::SetHistory(states) => {
                    simulation.set_history(states);
                    since = simulation.tick();
                }
            }
            shown.check(&simulation, since);
        }
    }
}
