//! Forces on bodies: for one step, or until they are removed.

// Forces that last.
mod generators;

use slotmap::SlotMap;

use crate::key::{BodyKey, Keys};
#[cfg(feature = "serde")]
use crate::slots::Slots;
use rapier::dynamics::{RigidBody, RigidBodyHandle, RigidBodySet};
use rapier::geometry::{Collider, ColliderSet};
use rapier::math::{Rotation, Vector};
use rapier::pipeline::PhysicsWorld;
use rapier::utils::CrossProduct;

pub use crate::key::ForceGeneratorKey;
pub use generators::ForceGenerator;
pub(crate) use generators::Wrench;

/// A force or an impulse on a body in one step.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Push {
    /// Rapier keeps it as a user force, which has to be reset after the step.
    Force(Wrench),
    Impulse(Wrench),
}

impl Push {
    pub fn is_finite(&self) -> bool {
        let (Self::Force(wrench) | Self::Impulse(wrench)) = self;
        wrench.is_finite()
    }

    fn wrench_mut(&mut self) -> &mut Wrench {
        let (Self::Force(wrench) | Self::Impulse(wrench)) = self;
        wrench
    }

    /// Adds it to the body, and wakes the body.
    fn add_to(self, body: &mut RigidBody) {
        match self {
            Self::Force(Wrench { force, torque }) => {
                body.add_force(force, true);
                body.add_torque(torque, true);
            }
            Self::Impulse(Wrench { force, torque }) => {
                body.apply_impulse(force, true);
                body.apply_torque_impulse(torque, true);
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Pushed {
    pub key: BodyKey,
    pub push: Push,
    /// The body at the call, if the push acts at a point.
    pub at_call: Option<AtCall>,
}

/// The body at the call that adds a force at a point: its lever arm depends on these.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct AtCall {
    /// In local axes.
    pub center_of_mass: Vector,
    pub rotation: Rotation,
}

impl Pushed {
    /// Returns a push that acts at the centre of mass, wherever that is in the step.
    pub fn new(key: BodyKey, push: Push) -> Self {
        Self {
            key,
            push,
            at_call: None,
        }
    }

    /// Turns it with its body, which went through a portal.
    pub fn turn(&mut self, by: Rotation) {
        let wrench = self.push.wrench_mut();
        *wrench = wrench.turned(by);
        if let Some(at_call) = &mut self.at_call {
            at_call.rotation = by * at_call.rotation;
        }
    }

    /// Returns whether it acts in another way if the body's mass or its centre of mass changes.
    fn depends_on_mass(&self) -> bool {
        self.at_call.is_some() || matches!(self.push, Push::Impulse(_))
    }

    /// Returns the push about the centre of mass that the body has in the step. A push at a point was computed about
    /// the centre at the call, which an edit may have moved since.
    fn about_center(&self, body: &RigidBody) -> Push {
        let mut push = self.push;
        let wrench = push.wrench_mut();
        let center = body.local_center_of_mass();
        if let Some(at_call) = self.at_call.filter(|it| it.center_of_mass != center) {
            // The force acts at the old centre, so it has a torque about the new one.
            let lever_arm = at_call.rotation * (at_call.center_of_mass - center);
            let torque = lever_arm.gcross(wrench.force);
            // Rapier would disable a body with an infinite torque.
            if torque.is_finite() {
                wrench.torque += torque;
            }
        }
        push
    }
}

#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "SavedForces", try_from = "SavedForces")
)]
pub(crate) struct Forces {
    /// Forces for the next step.
    pending: Vec<Pushed>,
    /// How many of these, at the front, wait for that step even while time is stopped.
    kept_while_stopped: usize,
    /// The generators, stored densely: a step visits only those that exist, however many existed before.
    generators: SlotMap<ForceGeneratorKey, (BodyKey, ForceGenerator)>,
    /// The previous user forces, to be restored after the step. Rapier's user forces last until they are reset, and
    /// Rapier adds ours to them.
    user_forces_before: Vec<(RigidBodyHandle, Wrench)>,
}

#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct SavedForces {
    pending: Vec<Pushed>,
    kept_while_stopped: usize,
    generators: Slots<(BodyKey, ForceGenerator)>,
}

/// Returns a generator with an arbitrary value. `Slots` fills the vacant slots of a slotmap with it, to read or restore
/// the order in which they are reused.
#[cfg(feature = "serde")]
fn placeholder() -> (BodyKey, ForceGenerator) {
    let none = ForceGenerator::Drag {
        linear: 0.0,
        angular: 0.0,
    };
    (BodyKey::default(), none)
}

#[cfg(feature = "serde")]
impl From<Forces> for SavedForces {
    fn from(forces: Forces) -> Self {
        // `user_forces_before` is empty, because no step is running.
        Self {
            generators: Slots::of(&forces.generators, &placeholder()),
            pending: forces.pending,
            kept_while_stopped: forces.kept_while_stopped,
        }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<SavedForces> for Forces {
    type Error = &'static str;

    fn try_from(written: SavedForces) -> Result<Self, Self::Error> {
        let generators = written.generators.into_map(&placeholder());
        Ok(Self {
            pending: written.pending,
            kept_while_stopped: written.kept_while_stopped,
            generators: generators.ok_or("force generators in impossible slots")?,
            // `user_forces_before` is empty, because no step is running.
            ..Self::default()
        })
    }
}

impl Forces {
    pub fn push(&mut self, pushed: Pushed) {
        self.pending.push(pushed);
    }

    /// Returns the forces that wait for the next step.
    pub fn pending_mut(&mut self) -> impl Iterator<Item = &mut Pushed> {
        self.pending.iter_mut()
    }

    /// Moves the anchors of springs, which are the only points in world space, because the origin was shifted.
    pub fn translate(&mut self, by: Vector) {
        for (_, generator) in self.generators.values_mut() {
            if let ForceGenerator::Spring { anchor, .. } = generator {
                *anchor += by;
            }
        }
    }

    /// Lets the forces that are pending now wait for the next step, however long time stops before it.
    pub fn keep_pending(&mut self) {
        self.kept_while_stopped = self.pending.len();
    }

    /// Discards the forces since the last frame, because time was stopped. Returns their number.
    pub fn discard_since_frame(&mut self) -> u64 {
        // A loaded state may claim to keep more forces than it has.
        self.pending
            .drain(self.kept_while_stopped.min(self.pending.len())..)
            .count() as u64
    }

    pub fn insert_generator(
        &mut self,
        key: BodyKey,
        generator: ForceGenerator,
    ) -> ForceGeneratorKey {
        self.generators.insert((key, generator))
    }

    pub fn remove_generator(
        &mut self,
        key: ForceGeneratorKey,
    ) -> Option<(BodyKey, ForceGenerator)> {
        self.generators.remove(key)
    }

    /// Adds all forces to the bodies: of generators, then the pending ones, then those `of_step`, which the game added
    /// in this step. Drops the generators of removed bodies. Adds the bodies that they wake to `woken`. Returns how
    /// many generators gave a force that is not finite, which is ignored.
    ///
    /// Rapier recomputes the masses and centres of mass of bodies that `may_be_changed` only in its step. This method
    /// recomputes them before, because impulses are divided by the mass at once, and lever arms begin at the centre.
    pub fn apply(
        &mut self,
        of_step: &mut Vec<Pushed>,
        (bodies, colliders): (&mut RigidBodySet, &mut ColliderSet),
        keys: &Keys,
        may_be_changed: impl Fn(&BodyKey) -> bool,
        woken: &mut Vec<BodyKey>,
    ) -> u64 {
        span!("forces");
        let Self {
            pending,
            generators,
            user_forces_before,
            kept_while_stopped,
        } = self;
        pending.append(of_step);
        // All pending forces act in this step, so none is kept for a later one.
        *kept_while_stopped = 0;
        let pushed = pending.iter().filter(|it| it.depends_on_mass());
        let pushed = pushed.map(|it| &it.key);
        let keys_of_all = generators.values().map(|(key, _)| key).chain(pushed);
        for key in keys_of_all.filter(|key| may_be_changed(key)) {
            if let Some(body) = keys.handle(*key).and_then(|it| movable_mut(bodies, it)) {
                recompute_mass(body, colliders);
            }
        }
        let mut add = |bodies: &mut RigidBodySet, handle, pushed: Pushed| {
            let Some(body) = movable_mut(bodies, handle) else {
                return;
            };
            let push = pushed.about_center(body);
            // Rapier would keep the force for later steps, so `end_step` restores the previous one.
            if let Push::Force(_) = push {
                user_forces_before.push((handle, user_force(body)));
            }
            let was_asleep = body.is_sleeping();
            push.add_to(body);
            woken.extend((was_asleep && !body.is_sleeping()).then_some(pushed.key));
        };
        let mut rejected = 0;
        generators.retain(|_, (key, generator)| {
            let Some((handle, body)) = body_of(bodies, keys, *key) else {
                return false;
            };
            let wrench = generator.wrench(body);
            if !wrench.is_finite() {
                rejected += 1;
            } else if wrench != Wrench::default() {
                // A force keeps the body awake, so one of zero is not added.
                add(bodies, handle, Pushed::new(*key, Push::Force(wrench)));
            }
            true
        });
        for pushed in pending.drain(..) {
            if let Some(handle) = keys.handle(pushed.key) {
                add(bodies, handle, pushed);
            }
        }
        rejected
    }

    /// Ends the step: restores the user forces from before [`apply`](Self::apply), except for bodies that Rapier has
    /// just quarantined, whose forces it has zeroed on purpose.
    pub fn end_step(&mut self, world: &mut PhysicsWorld) {
        span!("forces");
        let PhysicsWorld {
            bodies,
            physics_pipeline,
            ..
        } = world;
        self.restore(bodies);
        // `restore` may have given quarantined bodies their forces back.
        for handle in physics_pipeline.quarantine().bodies() {
            if let Some(body) = bodies.get_mut(*handle) {
                reset(body);
            }
        }
    }

    /// Gives each body the user force and torque that it had before this step.
    fn restore(&mut self, bodies: &mut RigidBodySet) {
        // Goes from newest to oldest, so that the first entry of a body, from before all of our forces, is restored
        // last.
        for (handle, user) in self.user_forces_before.drain(..).rev() {
            if let Some(body) = bodies.get_mut(handle) {
                reset(body);
                body.add_force(user.force, false);
                body.add_torque(user.torque, false);
            }
        }
    }
}

/// Returns the body of a key with its handle, or `None` if it was removed.
fn body_of<'a>(
    bodies: &'a RigidBodySet,
    keys: &Keys,
    key: BodyKey,
) -> Option<(RigidBodyHandle, &'a RigidBody)> {
    let handle = keys.handle(key)?;
    Some((handle, bodies.get(handle)?))
}

/// Recomputes the mass of an enabled body from its present colliders, as Rapier's next step does. If the body was
/// disabled until now, this enables its colliders, which that step would do, too.
fn recompute_mass(body: &mut RigidBody, colliders: &mut ColliderSet) {
    for handle in body.colliders() {
        if colliders.get(*handle).is_some_and(is_disabled_with_body)
            && let Some(collider) = colliders.get_mut(*handle)
        {
            // Rapier enables only a collider that was disabled by itself.
            collider.set_enabled(false);
            collider.set_enabled(true);
        }
    }
    body.recompute_mass_properties_from_colliders(colliders);
}

/// Returns whether Rapier has disabled the collider together with its body. Such a collider cannot be enabled alone.
fn is_disabled_with_body(collider: &Collider) -> bool {
    if collider.is_enabled() {
        return false;
    }
    let mut copy = collider.clone();
    copy.set_enabled(true);
    !copy.is_enabled()
}

/// Returns the body if a force acts on it in the next step. For a body that is not dynamic or not enabled, Rapier would
/// keep an impulse or a force until it is.
fn movable_mut(bodies: &mut RigidBodySet, handle: RigidBodyHandle) -> Option<&mut RigidBody> {
    // `get_mut` marks a body as changed, so it is read without it first.
    let body = bodies.get(handle)?;
    if !(body.is_dynamic() && body.is_enabled()) {
        return None;
    }
    bodies.get_mut(handle)
}

/// Removes the user force and torque.
fn reset(body: &mut RigidBody) {
    body.reset_forces(false);
    body.reset_torques(false);
}

/// Returns the force and torque that act in every step until they are reset.
fn user_force(body: &RigidBody) -> Wrench {
    Wrench {
        force: body.user_force(),
        torque: body.user_torque(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rapier::dynamics::RigidBodyBuilder;
    use scenes::testing::spin;

    fn body_with_user_forces() -> (RigidBodySet, Keys, BodyKey) {
        let mut bodies = RigidBodySet::new();
        let handle = bodies.insert(RigidBodyBuilder::dynamic().additional_mass(1.0));
        let body = &mut bodies[handle];
        body.add_force(Vector::X, true);
        body.add_torque(spin(0.0, 2.0, 0.0), true);
        let mut keys = Keys::default();
        let key = keys.insert(handle, 0).0;
        (bodies, keys, key)
    }

    #[test]
    fn user_forces_are_backed_up_only_for_added_forces_and_torques() {
        let (mut bodies, keys, key) = body_with_user_forces();
        let wrench = Wrench {
            force: Vector::Y,
            torque: spin(0.0, 0.0, 1.0),
        };
        let pushes = [(Push::Impulse(wrench), 0), (Push::Force(wrench), 1)];
        for (push, kept) in pushes {
            let mut forces = Forces::default();
            let sets = (&mut bodies, &mut ColliderSet::new());
            let mut pushed = vec![Pushed::new(key, push)];
            forces.apply(&mut pushed, sets, &keys, |_| true, &mut Vec::new());
            assert_eq!(forces.user_forces_before.len(), kept, "{push:?}");
            forces.restore(&mut bodies);
            let (_, body) = body_of(&bodies, &keys, key).unwrap();
            let user = user_force(body);
            assert_eq!((user.force, user.torque), (Vector::X, spin(0.0, 2.0, 0.0)));
        }
    }
}
