//! Shots that take health from the entities that they hit, with hecs.

use evenstep::Physics;
use evenstep::ecs::hecs::{Entities, EntityError};
use evenstep::hecs::World;

/// How many more shots an entity survives.
pub struct Health(pub u32);

/// Marks an entity as a shot.
pub struct Shot;

/// Handles the hits of a step. Call it after each step.
pub fn hit(
    world: &mut World,
    entities: &mut Entities,
    physics: &mut Physics,
) -> Result<(), EntityError> {
    for hit in physics.events().collisions().filter(|hit| hit.started) {
        let [a, b] = hit.bodies.map(|key| entities.entity(key?));
        let (Some(a), Some(b)) = (a, b) else { continue };
        for (shot, target) in [(a, b), (b, a)] {
            if world.satisfies::<&Shot>(shot) && world.satisfies::<&Health>(target) {
                entities.despawn(world, physics, shot)?;
                world.get::<&mut Health>(target).unwrap().0 -= 1;
            }
        }
    }
    Ok(())
}
