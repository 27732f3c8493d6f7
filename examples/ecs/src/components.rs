//! The components of the game: plain data. bevy_ecs and shipyard want them derived, specs a storage for
//! each; hecs and the hand-made ECS take any type.

/// The number of entities that were made before it. All entities have one.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Number(pub u32);

/// The entity that the input drives.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Player;

/// Goes to and fro.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Platform;

/// Is despawned when the player touches it.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Pickup;

/// Is despawned in the step of this tick.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Ball {
    pub dies_at: u64,
}

/// Loses its body.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub struct Doomed;
