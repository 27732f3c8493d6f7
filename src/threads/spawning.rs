//! Entities for bodies that were sent to a runner.

use hecs::{DynamicBundle, Entity, World};

use crate::ecs::Spawned;
use crate::ecs::hecs::Entities;
use crate::physics::Colliders;
use crate::simulation::Hooks;
use rapier::dynamics::RigidBody;
use rapier::math::Pose;

use super::failure::SendError;
use super::message::Call;
use super::runner::Runner;

impl Entities {
    /// Spawns like [`spawn`](Self::spawn), for a [`Runner`], whose queue of calls may be full.
    ///
    /// The body is inserted between two steps. The entity has its [`Body`](crate::ecs::hecs::Body) from the next
    /// [`sync`](Self::sync) on.
    ///
    /// # Errors
    /// The errors of [`Runner::spawn`]: the entity is not spawned, and its components are dropped.
    pub fn try_spawn<H>(
        &mut self,
        world: &mut World,
        runner: &Runner<H>,
        body: impl Into<RigidBody>,
        colliders: impl Colliders,
        components: impl DynamicBundle,
    ) -> Result<(Entity, Spawned), SendError<Call<H>>>
    where
        H: Hooks + Send + 'static,
        H::Error: Send + 'static,
    {
        let body = body.into();
        // Displayed poses are finite, so a body at another pose is displayed at the origin.
        let pose = Some(*body.position()).filter(Pose::is_finite);
        let spawned = runner.spawn(body, colliders)?;
        let entity = self.spawn_sent(world, pose.unwrap_or_default(), &spawned, components);
        Ok((entity, spawned))
    }
}
