//! The paths of all bodies in the last step, as a game can know them: a resource of the state, so it is copied, saved,
//! exchanged and rolled back with the state.

use super::action::Effect;
use crate::random::reference::{Velocity, Way};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Smoothing};
use std::collections::{BTreeMap, BTreeSet};

/// The known path of a body.
#[derive(Clone, Debug)]
pub struct Known {
    pub way: Way,
    /// The pose and velocity before the next step, once it has begun.
    begun: Option<(Pose, Velocity)>,
    /// Whether the velocity before the step is uncertain: the body slept, so that waking may have set it in motion, or a
    /// kinematic body was moved.
    is_unsure: bool,
    /// Whether the velocity before the last step, and before the next one, is unknown because of a push.
    pub is_pushed: bool,
    pushes: bool,
    /// Whether the body's position was not finite since its last whole step, so that only the displayed pose is known.
    pub is_lost: bool,
    /// Whether the game has moved the body since the last step.
    is_put: bool,
    /// Whether a pose of the path needed arithmetic.
    pub is_rounded: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Paths {
    pub bodies: BTreeMap<BodyKey, Known>,
    /// How far the origin has moved.
    pub origin: Vector,
    /// The tick of the state that they lead to.
    tick: u64,
    /// Whether a step has begun after that state.
    has_begun: bool,
    /// The length of the step that has begun, and the smoothing of bodies that have none themselves.
    dt: f32,
    smoothing: Smoothing,
    /// The links of multibodies, and whether one of them was moved since the last step, and all others with it.
    links: Vec<BodyKey>,
    are_links_moved: bool,
    /// Whether that was so before the last step, so that nobody knows where its paths begin.
    were_links_moved: bool,
    /// Bodies that were links since the last step, and since the one before.
    former_links: BTreeSet<BodyKey>,
    earlier_links: BTreeSet<BodyKey>,
}

impl Paths {
    /// Returns the paths of this state, brought up to date with it.
    pub fn of(physics: &mut Physics) -> &mut Self {
        let resources = physics.resources_mut();
        if resources.get::<Self>().is_none() {
            resources.insert(Self::default());
        }
        resources.get_mut().expect("it was inserted")
    }

    /// Reads the state before the next step, after all that the game has done.
    pub fn begin_step(physics: &mut Physics, smoothing: Smoothing) {
        Self::observe(physics, &[]);
        let dt = physics.current_step().map_or(0.0, |step| step.dt);
        let begun = physics.bodies().map(|(key, body)| {
            let velocity = Velocity::capped(body, physics, dt);
            // Rapier still moves a body that was put to sleep in the last step, and keeps its velocity.
            let is_unsure = body.is_sleeping() && !body.vels().is_zero();
            (
                key,
                *body.position(),
                velocity,
                (body.is_sleeping(), is_unsure),
            )
        });
        let begun: Vec<_> = begun.collect();
        let is_root_apart = is_root_apart(physics);
        let paths = Self::of(physics);
        paths.are_links_moved |= is_root_apart;
        (paths.dt, paths.smoothing, paths.has_begun) = (dt, smoothing, true);
        for (key, pose, velocity, (is_sleeping, is_unsure)) in begun {
            if let Some(known) = paths.bodies.get_mut(&key) {
                known.begun = Some((pose, velocity));
                known.is_unsure |= is_sleeping;
                known.pushes |= is_unsure;
            }
        }
    }

    /// Follows a picture, which displays bodies at the time of their smoothing at once. `is_sure` is whether the smoothing
    /// of no body can have changed twice.
    pub fn retime(physics: &mut Physics, smoothing: Smoothing, is_sure: bool) {
        let mut paths = std::mem::take(Self::of(physics));
        for (key, body) in physics.bodies() {
            if let Some(known) = paths.bodies.get_mut(&key) {
                let own = physics.body_smoothing(key);
                known.retime(body, own.unwrap_or(smoothing));
                known.is_lost |= !is_sure;
            }
        }
        *Self::of(physics) = paths;
    }

    /// Follows the state after a step or an action with these effects.
    pub fn observe(physics: &mut Physics, effects: &[Effect]) {
        let mut paths = std::mem::take(Self::of(physics));
        if paths.has_begun
            && physics.tick() > paths.tick
            && physics.current_step().is_none_or(|it| it.tick > paths.tick)
        {
            paths.end_step(physics);
        }
        paths.tick = physics.tick();
        paths.follow(physics, effects);
        *Self::of(physics) = paths;
    }

    fn end_step(&mut self, physics: &Physics) {
        let dt = self.dt;
        self.has_begun = false;
        self.were_links_moved = std::mem::take(&mut self.are_links_moved);
        let links = self.links.iter().copied().collect();
        self.earlier_links = std::mem::replace(&mut self.former_links, links);
        for (key, body) in physics.bodies() {
            let Some(known) = self.bodies.get_mut(&key) else {
                continue;
            };
            let Some((previous, before)) = known.begun.take() else {
                continue;
            };
            let current = *body.position();
            let smoothing = physics.body_smoothing(key).unwrap_or(self.smoothing);
            // A kinematic body that stays is at rest, regardless of rounding.
            let has_stayed = is_led(body) && previous == current;
            let after = if has_stayed {
                Velocity::default()
            } else {
                Velocity::of(body)
            };
            // A body that comes to rest does not swing past its pose.
            let rests = body.is_sleeping() || !body.is_enabled() || has_stayed;
            let before = if rests { after } else { before };
            known.way = Way {
                previous,
                current,
                before,
                before_waking: known.is_unsure.then_some(after),
                after,
                center: center(body, smoothing),
                smoothing,
                dt,
            };
            known.is_unsure = body.is_sleeping();
            known.is_pushed = std::mem::take(&mut known.pushes);
            known.is_rounded = false;
            known.is_put = false;
            known.is_lost = !(previous.is_finite() && current.is_finite());
        }
    }

    /// Returns whether the body is a link, whose pose evenstep computes from other links.
    pub fn is_link(&self, key: BodyKey) -> bool {
        self.links.contains(&key)
    }

    /// Returns whether the body may have moved with other links, outside of a step.
    pub fn moves_with_others(&self, key: BodyKey) -> bool {
        let was_link = super::A_FORMER_LINK_STAYS_WHERE_THE_OTHERS_HELD_IT
            && (self.former_links.contains(&key) || self.earlier_links.contains(&key));
        (self.are_links_moved || self.were_links_moved) && (was_link || self.links.contains(&key))
    }

    fn follow(&mut self, physics: &Physics, effects: &[Effect]) {
        let is_link = |key: &BodyKey| {
            let handle = physics.handle(*key).expect("it is alive");
            super::action::is_link(physics, handle)
        };
        let links = super::action::keys(physics)
            .into_iter()
            .filter(is_link)
            .collect();
        self.are_links_moved |= self.links != links;
        self.links = links;
        self.former_links.extend(&self.links);
        for effect in effects {
            match *effect {
                Effect::Shifted(by) => {
                    self.are_links_moved |= super::A_SHIFTED_LINK_LOSES_ITS_ERROR;
                    self.origin -= by;
                    let by = Pose::from_translation(by);
                    self.bodies.values_mut().for_each(|it| it.transform(&by));
                }
                Effect::LinksMoved => self.are_links_moved = true,
                Effect::Pushed(key) => {
                    if let Some(known) = self.bodies.get_mut(&key) {
                        known.pushes = true;
                    }
                }
                Effect::Turned(key, by) => {
                    self.are_links_moved |= self.links.contains(&key);
                    if let Some(known) = self.bodies.get_mut(&key) {
                        known.transform(&by);
                        known.is_unsure = true;
                    }
                }
                _ => (),
            }
        }
        self.bodies.retain(|key, _| physics.handle(*key).is_some());
        for (key, body) in physics.bodies() {
            let pose = *body.position();
            let known = self
                .bodies
                .entry(key)
                .or_insert_with(|| Known::at_rest(pose));
            known.is_lost |= !pose.is_finite();
            let any_between_steps = effects.contains(&Effect::Cut(key));
            if any_between_steps || pose != known.way.current {
                self.are_links_moved |= self.links.contains(&key);
            }
            if any_between_steps {
                let smoothing = known.way.smoothing;
                *known = Known {
                    begun: known.begun,
                    pushes: known.pushes,
                    is_unsure: true,
                    ..Known::at_rest(pose)
                };
                known.way.smoothing = smoothing;
            } else if pose.is_finite() && pose != known.way.current {
                known.is_rounded |= known.way.put(pose);
                // The library may see both edits at once.
                known.is_lost |= std::mem::replace(&mut known.is_put, true);
                known.is_unsure = true;
            }
        }
    }
}

impl Known {
    fn at_rest(pose: Pose) -> Self {
        Self {
            way: Way::at_rest(pose),
            begun: None,
            is_unsure: true,
            is_pushed: false,
            pushes: false,
            is_lost: !pose.is_finite(),
            is_put: false,
            is_rounded: false,
        }
    }

    fn transform(&mut self, by: &Pose) {
        self.way.transform(by);
        self.is_rounded = true;
    }

    /// A change between two smoothings that display the same time waits for the next step.
    fn retime(&mut self, body: &RigidBody, smoothing: Smoothing) {
        let way = &mut self.way;
        let is_between = |it| matches!(it, Smoothing::Interpolate | Smoothing::Hermite);
        let has_same_time =
            way.smoothing == smoothing || (is_between(way.smoothing) && is_between(smoothing));
        if way.previous == way.current || has_same_time {
            return;
        }
        // The velocities of a straight path were not read.
        let is_straight = way.smoothing == Smoothing::Interpolate;
        self.is_pushed |= is_straight;
        // A blend of the poses continues about the origin of the body.
        let is_blend = is_straight && way.center == Vector::ZERO;
        if !is_blend && is_led(body) {
            way.center = center(body, smoothing);
        }
        way.smoothing = smoothing;
    }
}

/// Returns whether the last step left the root of a multibody beside its links, because continuous collision detection
/// stopped the root alone. The next step moves the links to it, and after an edit of the root, they are displayed there.
fn is_root_apart(physics: &Physics) -> bool {
    let PhysicsWorld {
        bodies,
        multibody_joints,
        ..
    } = physics.rapier();
    multibody_joints.multibodies().any(|multibody| {
        let root = multibody.root();
        let body = bodies.get(root.rigid_body_handle());
        body.is_some_and(|body| body.position() != root.local_to_world())
    })
}

fn is_led(body: &RigidBody) -> bool {
    body.body_type() == RigidBodyType::KinematicPositionBased
}

fn center(body: &RigidBody, smoothing: Smoothing) -> Vector {
    if is_led(body) && smoothing == Smoothing::Interpolate {
        Vector::ZERO
    } else {
        body.mass_properties().local_mprops.local_com
    }
}
