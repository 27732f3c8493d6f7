//! Poses that earlier frames displayed.

mod frames;
mod random;
mod ticks;
mod ways_back;

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::rewind::ResimulateError;
use evenstep::{BodyKey, Frame, Hooks, Physics, Rate, Simulation, Smoothing, Step};
use proptest::prelude::*;
use scenes::testing::{spin, translation, vector};
use scenes::{MS, advance, ball, space};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Creates a flyer at 100 Hz that moves 1 m per step, with a history of `states` states and snapshots of the last 100
/// ticks.
fn flyer(states: u64) -> (Simulation, BodyKey) {
    let (mut simulation, key) = scenes::flyer_in_space();
    simulation.keep(Kept {
        ticks: 100,
        poses: states,
        ..simulation.kept()
    });
    (simulation, key)
}

fn x_at(simulation: &Simulation, key: BodyKey, tick: u64) -> Option<f32> {
    let pose = simulation.pose_at(key, tick, 1.0)?;
    Some(pose.translation.x.round())
}

/// The poses of each body in one tick, at three times between the tick's two states.
type Poses = BTreeMap<BodyKey, [Pose; 3]>;

const ALPHAS: [f32; 3] = [0.0, 0.5, 1.0];

/// A plain model: the poses right after each step.
#[derive(Clone, Default)]
struct Run {
    poses: BTreeMap<u64, Poses>,
    /// The poses of ticks whose state is kept, as they are in that state.
    kept: BTreeMap<u64, Poses>,
    /// The earlier ticks whose poses must be known.
    known: BTreeSet<u64>,
    keys: Vec<BodyKey>,
    /// The number of ticks whose poses are kept.
    len: u64,
    seed: u64,
    /// The tick in which a hook fails.
    fails_at: Option<u64>,
    /// The tick of an aborted frame or a replaced state from which no step has run since.
    unstepped_at: Option<u64>,
    /// Whether the origin was shifted between two steps since the last frame, which discards the present tick until the
    /// next call of the loop.
    may_lack_present: bool,
}

/// The time of an edit, relative to a step.
#[derive(Clone, Copy, PartialEq)]
enum When {
    Before,
    After,
    Between,
}

impl Run {
    /// Returns a simulation with a clone of this state and without a past. No call of the loop has changed it yet.
    fn assigned(physics: &Physics) -> Simulation {
        let mut simulation = Simulation::default();
        simulation.physics = physics.clone();
        simulation
    }

    /// Returns the poses that such a simulation has for its tick.
    fn seen(physics: &Physics, keys: impl Iterator<Item = BodyKey>) -> Poses {
        let simulation = Self::assigned(physics);
        let keys = keys.filter(|key| physics.body(*key).is_some());
        let at = |key, alpha| simulation.pose_at(key, physics.tick(), alpha).unwrap();
        keys.map(|key| (key, ALPHAS.map(|alpha| at(key, alpha))))
            .collect()
    }

    fn see_all(&mut self, physics: &Physics) {
        let poses = Self::seen(physics, self.keys.iter().copied());
        self.poses.insert(physics.tick(), poses);
    }

    /// Makes an edit that depends on the step and the run.
    fn edit(&mut self, physics: &mut Physics, number: u64, when: When) {
        let number = (number + self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let at = vector((number % 50) as f32, (number % 7) as f32, 0.0);
        let key = self.keys[number as usize / 50 % self.keys.len()];
        let pose = Pose::from_translation(at);
        let is_there = physics.body(key).is_some();
        let tick = physics.tick();
        match number / 7 % 14 {
            kind @ (0 | 1) => {
                let body = [scenes::flyer(), RigidBodyBuilder::fixed()][kind as usize].clone();
                let key = physics.insert(body.translation(at), ball());
                self.keys.retain(|other| *other != key);
                self.keys.push(key);
                if when != When::Before {
                    self.poses.entry(tick).or_default().insert(key, [pose; 3]);
                }
            }
            2 => drop(physics.remove(key)),
            3 if is_there => {
                let handle = physics.handle(key).unwrap();
                physics.rapier_mut().remove_body(handle);
            }
            4 if is_there => physics.teleport(key, pose).unwrap(),
            5 if is_there => physics.teleport_by(key, pose).unwrap(),
            6 if is_there => physics.body_mut(key).unwrap().set_linvel(at, true),
            7 if is_there => physics.body_mut(key).unwrap().sleep(),
            8 | 9 if is_there => {
                let body = physics.body_mut(key).unwrap();
                body.set_position(pose, number.is_multiple_of(2));
            }
            11 => {
                physics.shift_origin(at).unwrap();
                let by = Pose::from_translation(-at);
                let poses = self.poses.entry(tick).or_default();
                if when != When::Before {
                    poses
                        .values_mut()
                        .flatten()
                        .for_each(|pose| *pose = by * *pose);
                }
                // An edit in a dropped step counts as one between two steps.
                if when == When::Between || when == When::Before && self.fails_at == Some(tick) {
                    self.poses.retain(|of, _| *of == tick);
                    self.kept.clear();
                    self.known.clear();
                }
                self.may_lack_present |= when == When::Between;
            }
            _ => (),
        }
    }

    /// Discards what new limits do not allow at this tick.
    fn cut(&mut self, simulation: &Simulation) {
        let first = (simulation.physics.tick() + 1).saturating_sub(self.len);
        self.known = self
            .known
            .split_off(&if self.len > 1 { first } else { u64::MAX });
    }

    fn rewind(&mut self, simulation: &mut Simulation, tick: u64) {
        let now = simulation.physics.tick();
        let kept = simulation.rewindable();
        let there = self.kept.get(&tick).cloned();
        let is_present = simulation.steps_to_resimulate() == 0;
        if tick != now && simulation.rewind(tick).is_ok() {
            if !is_present {
                // This abandons the rollback, together with the state that it had reached.
            } else if kept.end <= now + 1 {
                // The present, which the rewind leaves, is kept too.
                self.kept.insert(now, self.poses[&now].clone());
            } else if let Some(kept) = self.kept.get(&now) {
                // The edits at this tick are undone.
                self.poses.insert(now, kept.clone());
            }
            self.poses.insert(tick, there.unwrap());
        }
    }

    /// Replaces the state by another one of the same tick.
    fn replace(&mut self, simulation: &mut Simulation, number: u64) {
        let tick = simulation.physics.tick();
        let mut theirs = simulation.clone();
        let mut copy = self.clone();
        for number in number..number + 3 {
            copy.edit(&mut theirs.physics, number, When::Between);
            if number.is_multiple_of(2) && theirs.steps_to_resimulate() == 0 {
                advance(&mut theirs, 0);
            }
        }
        self.keys = copy.keys;
        simulation.correct(theirs.physics).unwrap();
        self.unstepped_at = Some(tick);
        self.see_all(&simulation.physics);
        // The path to the new state is its own. It stays as it is seen now.
        for key in self.keys.clone() {
            let path = ALPHAS.map(|alpha| simulation.pose_at(key, tick, alpha));
            if let [Some(start), Some(middle), Some(end)] = path {
                let poses = self.poses.entry(tick).or_default();
                poses.insert(key, [start, middle, end]);
            }
        }
        self.known.split_off(&tick);
        self.kept.clear();
    }

    fn check(&self, simulation: &Simulation) {
        let now = simulation.physics.tick();
        for (tick, poses) in self.poses.range(..=now) {
            let is_near = tick + self.len > now;
            let is_known = *tick == now || is_near && self.known.contains(tick);
            for key in self
                .keys
                .iter()
                .filter(|key| simulation.physics.body(**key).is_some())
            {
                let Some(seen) = poses.get(key) else {
                    let again = simulation.pose_at(*key, *tick, 0.5);
                    assert_eq!(again, None, "{key:?} at {tick} of {now} did not exist yet");
                    continue;
                };
                for (alpha, seen) in ALPHAS.into_iter().zip(seen) {
                    let again = simulation.pose_at(*key, *tick, alpha);
                    let may_lack = *tick == now && self.may_lack_present;
                    assert!(
                        again.is_some() == is_known || may_lack,
                        "{key:?} at {tick} of {now}"
                    );
                    if let Some(again) = again {
                        let off = (again.translation - seen.translation).length();
                        assert!(off < 1e-3, "{key:?} at {tick} of {now}: {again:?} {seen:?}");
                    }
                }
            }
        }
        self.check_worlds(simulation);
    }

    /// Checks that the kept states have the same poses.
    fn check_worlds(&self, simulation: &Simulation) {
        let now = simulation.physics.tick();
        let times = (0..=now).flat_map(|tick| ALPHAS.map(|alpha| (tick, alpha)));
        // In the present the game may have moved bodies. Their colliders follow in the next step.
        let is_unstepped = self.unstepped_at == Some(now);
        let times = times.filter(|(tick, alpha)| *tick < now || *alpha == 1.0 && !is_unstepped);
        for (tick, alpha) in times {
            let Ok(past) = simulation.world_at(tick, alpha) else {
                continue;
            };
            let pipeline = past.query_pipeline(QueryFilter::default());
            for (key, body) in simulation.physics.bodies() {
                let handle = body.colliders()[0];
                let there = pipeline.colliders.get(handle);
                let there = there.filter(|_| past.key_of_collider(handle) == Some(key));
                let pose = simulation.pose_at(key, tick, alpha);
                if let (Some(there), Some(pose)) = (there, pose) {
                    let off = (there.translation() - pose.translation).length();
                    assert!(
                        off < 1e-3,
                        "{key:?} at {tick}, {alpha} of {now}: {pose:?} {:?}",
                        there.position()
                    );
                }
            }
        }
    }
}

impl Hooks for Run {
    type Error = ();

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        let tick = step.tick;
        // Later states belong to another run.
        self.poses.split_off(&(tick + 1));
        self.kept.split_off(&tick);
        self.known.split_off(&tick);
        self.kept.insert(tick, self.poses[&tick].clone());
        if self.len > 1 {
            self.known.insert(tick);
        }
        self.edit(physics, tick, When::Before);
        self.edit(physics, tick + 500, When::Before);
        let fails = self.fails_at == Some(tick);
        self.unstepped_at = fails.then_some(tick);
        if fails { Err(()) } else { Ok(()) }
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        self.see_all(physics);
        let first = (physics.tick() + 1).saturating_sub(self.len);
        self.known = self.known.split_off(&first);
        self.edit(physics, step.tick + 1_000, When::After);
        self.edit(physics, step.tick + 1_500, When::After);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Frame(u64),
    Fail(u64),
    Pause,
    Edit(u64),
    Rewind(u64),
    Resimulate(u64, u64, bool),
    Replace(u64),
    Correct(u64, u64, bool),
    SetHistory(u64),
    SetInterval(u64),
    SetBytes(usize),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        8 => (0..60u64).prop_map(Action::Frame),
        1 => (20..40u64).prop_map(Action::Fail),
        1 => Just(Action::Pause),
        6 => any::<u64>().prop_map(Action::Edit),
        3 => (0..30u64).prop_map(Action::Rewind),
        2 => (0..30u64, any::<u64>(), any::<bool>())
            .prop_map(|(back, seed, fails)| Action::Resimulate(back, seed, fails)),
        1 => any::<u64>().prop_map(Action::Replace),
        2 => (0..30u64, any::<u64>(), any::<bool>()).prop_map(|(back, seed, ends)| Action::Correct(back, seed, ends)),
        1 => (2..25u64).prop_map(Action::SetHistory),
        1 => (0..5u64).prop_map(Action::SetInterval),
        1 => prop_oneof![Just(usize::MAX), 1_000..50_000usize].prop_map(Action::SetBytes),
    ]
}

/// Runs the steps that remain to be resimulated.
fn resimulate_rest(run: &mut Run, simulation: &mut Simulation) {
    while simulation.steps_to_resimulate() > 0 {
        let step = simulation.next_step().unwrap();
        let Ok(()) = run.before_step(&mut simulation.physics, step) else {
            unreachable!("no hook fails here");
        };
        simulation.run_step();
        let Ok(()) = run.after_step(&mut simulation.physics, step) else {
            unreachable!("no hook fails here");
        };
    }
    // The rollback has reached the present.
    simulation.next_step();
}

fn act(run: &mut Run, simulation: &mut Simulation, action: Action) {
    let now = simulation.physics.tick();
    match action {
        Action::Frame(ms) => {
            run.may_lack_present = false;
            simulation.advance_with(MS(ms), run).map(drop).unwrap();
        }
        Action::Fail(ms) => {
            run.fails_at = Some(now + 1);
            if simulation.advance_with(MS(ms), run).is_err() {
                run.see_all(&simulation.physics);
            }
            run.fails_at = None;
        }
        Action::Pause if simulation.clock().settings().is_paused() => simulation.resume(),
        Action::Pause => simulation.pause(),
        Action::Edit(number) => run.edit(&mut simulation.physics, number >> 8, When::Between),
        Action::Rewind(tick) => {
            let kept = simulation.rewindable();
            run.rewind(
                simulation,
                kept.start + tick % (kept.end - kept.start).max(1),
            );
        }
        Action::Resimulate(back, seed, fails) => {
            run.seed = seed >> 8;
            run.fails_at = (fails && now > 0).then(|| now - 1);
            let result = simulation.resimulate_with(now.saturating_sub(back), run);
            if let Err(ResimulateError::Hook(())) = result {
                // The failed step and those after it are still due.
                simulation.begin_frame(MS(0));
                simulation.end_frame();
                run.see_all(&simulation.physics);
            }
            run.fails_at = None;
        }
        Action::Replace(number) => run.replace(simulation, number >> 8),
        Action::Correct(back, seed, ends) => {
            let tick = now.saturating_sub(back);
            if simulation.roll_back(tick).is_err() || simulation.steps_to_resimulate() == 0 {
                return;
            }
            let tick = simulation.physics.tick();
            if tick < now {
                run.poses.insert(tick, run.kept[&tick].clone());
            }
            run.replace(simulation, seed >> 8);
            run.seed = seed >> 8;
            if ends {
                resimulate_rest(run, simulation);
            } else {
                simulation.begin_frame(MS(0));
                simulation.end_frame();
            }
        }
        Action::SetHistory(states) => {
            simulation.keep(Kept {
                poses: states,
                ..simulation.kept()
            });
            run.len = states - 1;
            run.cut(simulation);
        }
        Action::SetInterval(ticks) => simulation.keep(Kept {
            interval: ticks,
            ..simulation.kept()
        }),
        Action::SetBytes(bytes) => {
            simulation.keep(Kept {
                ticks: 100,
                bytes,
                ..simulation.kept()
            });
            run.cut(simulation);
        }
    }
}
