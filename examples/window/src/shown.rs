//! What a picture is made of: what bodies look like, and where they are shown.

use std::collections::BTreeMap;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

use crate::game::Game;
use crate::paint::Paint;

/// What a body looks like: its colliders, and its colour.
#[derive(Clone)]
pub struct Look {
    /// Each with its place in the body's frame.
    pub parts: Vec<(Pose, SharedShape)>,
    /// Its colour.
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

/// All bodies of a simulation as they look.
pub type Looks = BTreeMap<BodyKey, Look>;

/// Looks at the bodies that are not known yet, and forgets those that are gone.
pub fn look(physics: &Physics, looks: &mut Looks) {
    looks.retain(|key, _| physics.body(*key).is_some());
    for (key, body) in physics.bodies() {
        looks.entry(key).or_insert_with(|| Look::of(physics, body));
    }
}

/// Where everything is shown in a frame.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Of each body.
    pub poses: BTreeMap<BodyKey, Pose>,
    /// The wheels of the car, each with its radius.
    pub wheels: Vec<(Pose, f32)>,
    /// Where the origin of the simulation is in the scene.
    pub origin: Vector,
}

/// The wheels of the car: they are no bodies, and go with the shown pose of the chassis.
#[must_use]
pub fn wheels(game: &Game, chassis: Option<&Pose>) -> Vec<(Pose, f32)> {
    let (Some(car), Some(chassis)) = (&game.cast.car, chassis) else {
        return Vec::new();
    };
    let wheels = car.wheels().iter().map(|wheel| {
        let down = wheel.direction_cs * wheel.raycast_info().suspension_length;
        // Cylinders stand along y, and wheels turn about z.
        let turned = Pose::rotation(Vector::Y * wheel.steering)
            * Pose::rotation(Vector::X * std::f32::consts::FRAC_PI_2);
        let place = Pose::from_translation(wheel.chassis_connection_point_cs + down);
        (chassis * place * turned, wheel.radius)
    });
    wheels.collect()
}
