//! The displayed state: the looks of bodies, and their displayed poses.

use std::collections::BTreeMap;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

use crate::game::Game;
use crate::paint::Paint;

/// The look of a body: its colliders and its colour.
#[derive(Clone)]
pub struct Look {
    /// The shapes, each with its pose in the body's frame.
    pub parts: Vec<(Pose, SharedShape)>,
    /// The colour.
    pub paint: Paint,
    /// Whether it can be dragged.
    pub is_dynamic: bool,
}

impl Look {
    fn of(physics: &Physics, body: &RigidBody) -> Self {
        let colliders = &physics.rapier().colliders;
        let parts = body.colliders().iter().map(|handle| {
            let collider = &colliders[*handle];
            let place = collider.position_wrt_parent();
            (
                place.copied().unwrap_or(Pose::IDENTITY),
                collider.shared_shape().clone(),
            )
        });
        Self {
            parts: parts.collect(),
            paint: body.user_data.into(),
            is_dynamic: body.is_dynamic(),
        }
    }
}

/// The looks of all bodies of a simulation.
pub type Looks = BTreeMap<BodyKey, Look>;

/// Adds the looks of new bodies, and forgets removed ones.
pub fn look(physics: &Physics, looks: &mut Looks) {
    looks.retain(|key, _| physics.body(*key).is_some());
    for (key, body) in physics.bodies() {
        looks.entry(key).or_insert_with(|| Look::of(physics, body));
    }
}

/// The displayed poses of a frame.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The pose of each body.
    pub poses: BTreeMap<BodyKey, Pose>,
    /// The wheels of the car, each with its radius.
    pub wheels: Vec<(Pose, f32)>,
    /// The position of the simulation's origin in the scene.
    pub origin: Vector,
}

/// Returns the wheels of the car. They are no bodies, and follow the displayed pose of the chassis.
#[must_use]
pub fn wheels(game: &Game, chassis: Option<&Pose>) -> Vec<(Pose, f32)> {
    let (Some(car), Some(chassis)) = (&game.cast.car, chassis) else {
        return Vec::new();
    };
    let wheels = car.wheels().iter().map(|wheel| {
        let down = wheel.direction_cs * wheel.raycast_info().suspension_length;
        // Cylinders extend along y, and wheels turn about z.
        let turned = Pose::rotation(Vector::Y * wheel.steering)
            * Pose::rotation(Vector::X * std::f32::consts::FRAC_PI_2);
        let place = Pose::from_translation(wheel.chassis_connection_point_cs + down);
        (chassis * place * turned, wheel.radius)
    });
    wheels.collect()
}
