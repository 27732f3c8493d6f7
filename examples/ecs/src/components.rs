//! The components of the game are plain data. bevy_ecs and shipyard need derives, and specs needs a storage for each.
//! hecs and the hand-written ECS accept any type.

/// The number of entities that were created before this one. All entities have it.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Number(pub u32);

/// Marks the entity that the input drives.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Player;

/// Marks the platform, which moves to and fro.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Platform;

/// Marks an entity that is despawned when the player touches it.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Pickup;

/// Marks an entity that is despawned in the step of this tick.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Ball {
    pub dies_at: u64,
}

/// Marks the crate that loses its body.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Doomed;
