//! A character whose state belongs to the game.

use RigidBodyType::{Fixed, KinematicPositionBased};
use evenstep::rapier::control::{CharacterAutostep, CharacterLength, KinematicCharacterController};
use evenstep::rapier::prelude::*;
use serde::{Deserialize, Serialize};

use super::dim::ASIDE;
use super::game::Scene;
use super::parts::{at, floor, wave};
use super::world::World;
use scenes::testing::{cuboid, spin, vector};

/// A character that walks down a slope, against boxes and up stairs to a lift.
#[derive(Clone, Serialize, Deserialize)]
pub struct Walk {
    character: RigidBodyHandle,
    lift: RigidBodyHandle,
    /// The upward velocity in metres per second.
    rise: f32,
}

impl Scene for Walk {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        for i in 1..6u8 {
            let i = f32::from(i);
            let stair = cuboid(0.25, 0.1 * i, 2.0);
            world.insert(at(Fixed, 0.5 * i, 0.1 * i, 0.0), stair);
            let box_at = vector(-1.0, 0.15, 0.0) + ASIDE * (0.4 * i - 1.2);
            let body = RigidBodyBuilder::dynamic().translation(box_at);
            world.insert(body, cuboid(0.15, 0.15, 0.15));
        }
        let slope = at(Fixed, -3.0, 0.0, 0.0).rotation(-spin(0.0, 0.0, 0.6));
        world.insert(slope, cuboid(2.0, 0.1, 3.0));
        let lift = at(KinematicPositionBased, 3.6, 1.0, 0.0);
        let character = at(KinematicPositionBased, -4.2, 1.6, 0.0);
        Self {
            character: world.insert(character, ColliderBuilder::capsule_y(0.3, 0.2)),
            lift: world.insert(lift, cuboid(0.6, 0.1, 1.5)),
            rise: 0.0,
        }
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        let place = vector(3.6, 1.0 + 0.5 * wave(tick, 90), 0.0);
        world.body(self.lift).set_next_kinematic_translation(place);
        let height = CharacterLength::Absolute(0.4);
        let controller = KinematicCharacterController {
            autostep: Some(CharacterAutostep {
                max_height: height,
                min_width: CharacterLength::Absolute(0.1),
                include_dynamic_bodies: true,
            }),
            snap_to_ground: Some(height),
            ..KinematicCharacterController::default()
        };
        let dt = world.physics().integration_parameters.dt;
        self.rise = if tick % 37 == 30 {
            2.0
        } else {
            self.rise - 9.81 * dt
        };
        let velocity = vector(3.0 + 3.0 * input, self.rise, wave(tick, 60));
        let pose = *world.physics().bodies[self.character].position();
        let capsule = Capsule::new_y(0.3, 0.2);
        let others = QueryFilter::new().exclude_rigid_body(self.character);
        let mut queries = world.queries(others);
        let mut hits = Vec::new();
        let hit = |hit| hits.push(hit);
        let (seen, way) = (queries.as_ref(), velocity * dt);
        let made = controller.move_shape(dt, &seen, &capsule, &pose, way, hit);
        controller.solve_character_collision_impulses(dt, &mut queries, &capsule, 60.0, &hits);
        if made.grounded {
            self.rise = 0.0;
        }
        let next = pose.translation + made.translation;
        world
            .body(self.character)
            .set_next_kinematic_translation(next);
    }

    fn check(&self, physics: &PhysicsWorld) {
        let place = physics.bodies[self.character].translation();
        assert!(
            place.x > 2.0 && place.y > 1.0,
            "{place}: it has not climbed up"
        );
    }
}
