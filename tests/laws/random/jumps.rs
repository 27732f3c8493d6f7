//! The list of bodies that jumped: a body that it lacks has moved along its paths, apart from a visual error that
//! decays, and a body that it has was moved by the game or corrected.

use crate::random::game::action::{OnBody, OnWorld, Value};
use crate::random::game::log::State;
use crate::random::game::paths::{Known, Paths};
use crate::random::game::{Action, Effect, Entry, Picture};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, DecayCurve, Smoothing};
use scenes::testing::angle_between;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Why bodies may jump in the next picture.
#[derive(Default)]
struct Causes {
    /// Moved bodies, with the tick of the state in which they were moved. `None` stands for any body.
    moved: Vec<(Option<BodyKey>, u64)>,
    /// Bodies that the game displays from another pose, which is no jump.
    from: BTreeSet<BodyKey>,
    /// Bodies that were not alive before a step. Their keys may have become those of other bodies.
    gone: BTreeSet<BodyKey>,
    /// Whether bodies were inserted or removed. In a rollback, a key may become that of another body.
    has_other_keys: bool,
    has_gone_back: bool,
    /// Whether anything may have happened.
    any: bool,
}

#[derive(Default)]
struct Judge<'a> {
    last: Option<(&'a Picture, &'a State)>,
    /// How far each body may have moved on its paths: in the last step before the last picture, and since then.
    reach: BTreeMap<BodyKey, Reach>,
    causes: Causes,
    /// Whether the next frame renumbers the steps.
    is_renumbered: bool,
    /// Real time since the last picture, without pauses.
    passed: Duration,
}

pub fn check(log: &[Entry]) {
    let mut judge = Judge::default();
    for entry in log {
        match entry {
            Entry::Frame { time, speed } if *speed > 0.0 => judge.passed += *time,
            Entry::Acted {
                action,
                effects,
                tick,
                ..
            } => judge.act(*action, effects, *tick),
            Entry::HandedOver(_) => judge.last = None,
            Entry::Begin { bits, .. } => judge.note_gone(&bits.keys),
            Entry::Ran { paths, step, .. } => judge.run(paths, step.is_resimulated),
            Entry::Picture(picture) => judge.show(picture),
            _ => (),
        }
    }
}

impl<'a> Judge<'a> {
    fn act(&mut self, action: Action, effects: &[Effect], tick: u64) {
        let causes = &mut self.causes;
        match action {
            Action::Body(
                _,
                OnBody::Put(..)
                | OnBody::PutNowhere
                | OnBody::SetType(_)
                | OnBody::Toggle
                | OnBody::Weigh(_)
                | OnBody::Join(..),
            ) => causes.moved.push((None, tick)),
            Action::Body(
                _,
                OnBody::Remove
                | OnBody::RemoveThroughRapier(_)
                | OnBody::Despawn(_)
                | OnBody::Abandon,
            )
            | Action::World(
                OnWorld::Spawn(..)
                | OnWorld::Track(_)
                | OnWorld::Flash(_)
                | OnWorld::RemoveJoint(_),
            ) => {
                causes.has_other_keys = true;
            }
            Action::Body(..) | Action::World(_) => (),
            Action::Past(_) => (),
            // Another loop may have run the state.
            Action::Value(Value::Lend(_) | Value::Assign(_) | Value::Exchange(_)) => {
                self.last = None;
            }
            // Settings may have other effects.
            _ => causes.any = true,
        }
        for effect in effects {
            match *effect {
                Effect::Cut(key) | Effect::Turned(key, _) => causes.moved.push((Some(key), tick)),
                Effect::From(key, _) => drop(causes.from.insert(key)),
                Effect::LinksMoved => causes.moved.push((None, tick)),
                Effect::Back(back) => {
                    causes.has_gone_back = true;
                    causes.moved.retain(|(_, at)| *at <= back);
                }
                Effect::Renumbered => self.is_renumbered = true,
                Effect::Pushed(_) | Effect::Shifted(_) | Effect::Stayed => (),
                _ => self.last = None,
            }
        }
    }

    fn note_gone(&mut self, alive: &[BodyKey]) {
        if let Some((last, _)) = self.last {
            let gone = last.poses.keys().filter(|key| !alive.contains(key));
            self.causes.gone.extend(gone);
        }
    }

    fn run(&mut self, paths: &Paths, is_resimulated: bool) {
        for (key, reach) in reaches(paths) {
            let sum = self.reach.entry(key).or_default();
            sum.moved += reach.moved;
            // The picture continues from where it was before the rollback. A body that is extrapolated moves on with the
            // velocities of the last of these steps.
            sum.displayed = if is_resimulated {
                sum.displayed.max(reach.moved)
            } else {
                sum.displayed + reach.moved
            };
            sum.turned += reach.turned;
        }
    }

    fn show(&mut self, picture: &'a Picture) {
        let Some(state) = &picture.state else {
            self.last = None;
            return;
        };
        if state.steps_to_resimulate > 0 {
            return;
        }
        let causes = std::mem::take(&mut self.causes);
        // The next frame drops the steps of a rollback that begins before it.
        self.causes.any = std::mem::take(&mut self.is_renumbered);
        let passed = std::mem::take(&mut self.passed);
        // Another smoothing may display another part of the last step.
        self.run(&state.paths, false);
        // The next picture may display the rest of it.
        let reaches = std::mem::replace(&mut self.reach, reaches(&state.paths));
        if let (Some((last, before)), Some(jumped)) = (self.last, &picture.jumped) {
            for (key, then) in &last.poses {
                let Some(shown) = picture.poses.get(key) else {
                    continue;
                };
                let moved = Moved {
                    key: *key,
                    from: *then,
                    to: *shown,
                    off: (shown.translation - then.translation + picture.origin_shift).length(),
                    reach: reaches.get(key).copied().unwrap_or_default(),
                    passed,
                };
                // After a shift of the origin, equal coordinates may be another position in the world.
                if !moved.off.is_finite() || then == shown {
                    continue;
                }
                if jumped.contains(key) {
                    moved.check_cause(&causes, before, state);
                } else {
                    moved.check_path(&causes, before, state);
                }
            }
        }
        self.last = Some((picture, state));
    }
}

/// The motion of a body between two pictures.
struct Moved {
    key: BodyKey,
    from: Pose,
    to: Pose,
    /// The distance, without a shift of the origin.
    off: f32,
    reach: Reach,
    passed: Duration,
}

impl Moved {
    /// Checks that a rollback makes no body jump that it could correct smoothly.
    fn check_cause(&self, causes: &Causes, before: &State, state: &State) {
        let correction = state.corrections[&self.key];
        let most = correction.position.max.min(correction.rotation.max);
        // A rollback compares the poses before later steps of this picture.
        let turned = angle_between(self.to.rotation, self.from.rotation) + self.reach.turned;
        let is_smooth = most > 1.0
            && before.corrections.get(&self.key) == Some(&correction)
            && (self.off + self.reach.moved).max(turned) < 0.5 * most;
        let is_moved = (causes.moved.iter()).any(|(it, _)| it.is_none_or(|it| it == self.key));
        assert!(
            causes.any
                || causes.has_other_keys
                || causes.gone.contains(&self.key)
                || is_moved
                || !is_smooth
                || !causes.has_gone_back,
            "{:?} has jumped from {:?} to {:?}, and nothing has moved it",
            self.key,
            self.from,
            self.to
        );
    }

    /// Checks that the body has moved no farther than along its paths, while its visual error has decayed.
    fn check_path(&self, causes: &Causes, before: &State, state: &State) {
        if causes.from.contains(&self.key) || state.paths.moves_with_others(self.key) {
            return;
        }
        let error = |state: &State| {
            let error = state.errors.get(&self.key);
            error.map_or(0.0, |it| it.translation.length())
        };
        // A rollback adds errors, which have decayed in this picture.
        let curve = &state.corrections[&self.key].position.curve;
        let added = if !causes.has_gone_back {
            0.0
        } else if let left @ 0.01.. = fraction_left(curve, self.passed) {
            (1.0 / left - 1.0) * (error(before) + error(state))
        } else {
            f32::INFINITY
        };
        let scale = 1.0 + self.to.translation.length() + self.from.translation.length();
        let most = self.reach.displayed + error(before) + added + 2e-4 * scale;
        assert!(
            self.off <= most,
            "{:?} has moved from {:?} to {:?}, by more than {most} m",
            self.key,
            self.from,
            self.to
        );
    }
}

/// How far a body may have moved and turned on its path.
#[derive(Clone, Copy, Default)]
struct Reach {
    moved: f32,
    /// The same, but of all resimulated steps only the longest motion of one.
    displayed: f32,
    turned: f32,
}

/// Returns how far bodies move from pictures in which they are on these paths, or to such pictures.
fn reaches(paths: &Paths) -> BTreeMap<BodyKey, Reach> {
    let reach = |key: &BodyKey, known: &Known| {
        let way = &known.way;
        let turned = angle_between(way.previous.rotation, way.current.rotation);
        // The velocity before a step with a push is unknown.
        let is_pushed = known.is_pushed && way.smoothing == Smoothing::Hermite;
        let moved = if known.is_lost || is_pushed || paths.is_link(*key) {
            f32::INFINITY
        } else {
            let straight = (way.current.translation - way.previous.translation).length();
            let velocities = way.before.linear.length() + way.after.linear.length();
            let around = if turned > 0.0 {
                2.0 * way.center.length()
            } else {
                0.0
            };
            1.5 * straight + way.dt * velocities + around
        };
        Reach {
            moved,
            displayed: moved,
            turned,
        }
    };
    let bodies = paths.bodies.iter();
    bodies
        .map(|(key, known)| (*key, reach(key, known)))
        .collect()
}

/// Returns the fraction of an error that is left after `passed`, or zero if that is not known.
fn fraction_left(curve: &DecayCurve, passed: Duration) -> f32 {
    match curve {
        _ if passed.is_zero() => 1.0,
        DecayCurve::HalfLife(half) => libm::exp2f(-passed.as_secs_f32() / half.as_secs_f32()),
        // An error that has begun to decay has less time.
        _ => 0.0,
    }
}
