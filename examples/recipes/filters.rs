//! A contact filter that reads components of hecs: members of a team pass through each other.

use std::collections::BTreeMap;

use evenstep::Physics;
use evenstep::ecs::hecs::{Entities, EntityError};
use evenstep::hecs::{Entity, World};
use evenstep::rapier::prelude::*;

/// The team of an entity.
#[derive(Clone, Copy, PartialEq)]
pub struct Team(pub u8);

/// Finds the team of an entity, by the user data of its body.
pub trait Teams: Sync + Send {
    /// Returns the team, if the entity has one.
    fn team(&self, user_data: u128) -> Option<Team>;
}

impl Teams for World {
    fn team(&self, user_data: u128) -> Option<Team> {
        let entity = Entity::from_bits(user_data as u64)?;
        self.get::<&Team>(entity).ok().map(|team| *team)
    }
}

/// A copy of the components, for a world that is inside the physics during the step.
impl Teams for BTreeMap<u128, Team> {
    fn team(&self, user_data: u128) -> Option<Team> {
        self.get(&user_data).copied()
    }
}

/// Returns a copy of the components.
pub fn copy(world: &mut World) -> BTreeMap<u128, Team> {
    let teams = world.query_mut::<(Entity, &Team)>().into_iter();
    teams
        .map(|(entity, team)| (entity.to_bits().get().into(), *team))
        .collect()
}

/// Members of a team pass through each other. Pass it to `run_step_with`.
pub struct Filter<'a>(pub &'a dyn Teams);

impl PhysicsHooks for Filter<'_> {
    fn filter_contact_pair(&self, pair: &PairFilterContext) -> Option<SolverFlags> {
        let team = |body: Option<RigidBodyHandle>| {
            let user_data = pair.bodies[body?].user_data;
            self.0.team(user_data)
        };
        let [one, other] = [pair.rigid_body1, pair.rigid_body2].map(team);
        (one.is_none() || one != other).then_some(SolverFlags::default())
    }
}

/// Spawns an entity with a team and a body, whose contacts are filtered.
pub fn spawn(
    world: &mut World,
    entities: &mut Entities,
    physics: &mut Physics,
    body: RigidBodyBuilder,
    collider: ColliderBuilder,
    team: Team,
) -> Result<Entity, EntityError> {
    let entity = world.spawn((team,));
    let body = body.user_data(entity.to_bits().get().into());
    let collider = collider.active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
    let key = physics.insert(body, collider);
    entities.attach(world, physics, entity, key)?;
    Ok(entity)
}
