//! What the renderer's thread asks of the physics.

use std::fmt;
use std::time::Duration;

use crate::key::BodyKey;
use crate::simulation::{Hooks, Simulation};
use crate::time::Rate;
use rapier::dynamics::RigidBody;
use rapier::geometry::Collider;
use rapier::math::{Pose, Vector};

/// A command to a [`Runner`](super::Runner), run at the start of a step, in the order sent.
///
/// All but [`Call`](Self::Call) are plain data, so that they can be recorded and played again. A command that fails,
/// for a removed body or with a value that is not finite, has no effect and is not reported.
#[non_exhaustive]
pub enum Command<H> {
    /// Inserts a body under a key that [`Runner::spawn`](super::Runner::spawn) has returned.
    Spawn {
        /// Its key.
        key: BodyKey,
        /// The body.
        body: Box<RigidBody>,
        /// Its colliders.
        colliders: Vec<Collider>,
    },
    /// [`Simulation::remove`].
    Remove(BodyKey),
    /// [`Simulation::remove`] of each: one command, however many they are.
    RemoveAll(Vec<BodyKey>),
    /// [`Simulation::teleport`].
    Teleport(BodyKey, Pose),
    /// [`Simulation::set_kinematic_target`].
    SetKinematicTarget(BodyKey, Pose, Duration),
    /// [`Simulation::add_force`], for this step.
    AddForce(BodyKey, Vector),
    /// [`Simulation::apply_impulse`].
    ApplyImpulse(BodyKey, Vector),
    /// [`Simulation::pause`].
    Pause,
    /// [`Simulation::resume`].
    Resume,
    /// [`ClockSettings::step_once`](crate::ClockSettings::step_once).
    StepOnce,
    /// [`Simulation::set_speed`]; an invalid speed is ignored.
    SetSpeed(f64),
    /// [`ClockSettings::set_rate`](crate::ClockSettings::set_rate).
    SetRate(Rate),
    /// Anything else: with the simulation and the game's hooks. It cannot be recorded.
    Call(Call<H>),
}

/// A function for [`Command::Call`].
pub type Call<H> = Box<dyn FnOnce(&mut Simulation, &mut H) + Send>;

impl<H> fmt::Debug for Command<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn { key, .. } => write!(f, "Spawn({key:?})"),
            Self::Remove(key) => write!(f, "Remove({key:?})"),
            Self::RemoveAll(keys) => write!(f, "RemoveAll({keys:?})"),
            Self::Teleport(key, pose) => write!(f, "Teleport({key:?}, {pose:?})"),
            Self::SetKinematicTarget(key, pose, time) => {
                write!(f, "SetKinematicTarget({key:?}, {pose:?}, {time:?})")
            }
            Self::AddForce(key, force) => write!(f, "AddForce({key:?}, {force:?})"),
            Self::ApplyImpulse(key, impulse) => write!(f, "ApplyImpulse({key:?}, {impulse:?})"),
            Self::Pause => f.write_str("Pause"),
            Self::Resume => f.write_str("Resume"),
            Self::StepOnce => f.write_str("StepOnce"),
            Self::SetSpeed(speed) => write!(f, "SetSpeed({speed})"),
            Self::SetRate(rate) => write!(f, "SetRate({rate:?})"),
            Self::Call(_) => f.write_str("Call(..)"),
        }
    }
}

impl<H: Hooks> Command<H> {
    /// Gives `false` for a body whose key is there no more.
    pub(super) fn run(self, simulation: &mut Simulation, hooks: &mut H) -> bool {
        match self {
            Self::Spawn {
                key,
                body,
                colliders,
            } => {
                if !simulation.insert_reserved(key, *body) {
                    return false;
                }
                for collider in colliders {
                    let _ = simulation.insert_collider(key, collider);
                }
            }
            Self::Remove(key) => drop(simulation.remove(key)),
            Self::RemoveAll(keys) => {
                for key in keys {
                    let _ = simulation.remove(key);
                }
            }
            Self::Teleport(key, pose) => {
                let _ = simulation.teleport(key, pose);
            }
            Self::SetKinematicTarget(key, pose, time) => {
                let _ = simulation.set_kinematic_target(key, pose, time);
            }
            Self::AddForce(key, force) => {
                let _ = simulation.add_force(key, force);
            }
            Self::ApplyImpulse(key, impulse) => {
                let _ = simulation.apply_impulse(key, impulse);
            }
            Self::Pause => simulation.pause(),
            Self::Resume => simulation.resume(),
            Self::StepOnce => simulation.clock_settings_mut().step_once(),
            Self::SetSpeed(speed) => {
                let _ = simulation.set_speed(speed);
            }
            Self::SetRate(rate) => simulation.clock_settings_mut().set_rate(rate),
            Self::Call(call) => call(simulation, hooks),
        }
        true
    }
}
