//! The components. A level file or an editor may write them. None of them knows evenstep.

use evenstep::hecs::Entity;
use evenstep::rapier::dynamics::RigidBodyType;
use evenstep::rapier::math::{Pose, Vector};

/// The order in which bodies are inserted. No two entities have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order(pub u64);

/// The entity has a body of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(pub RigidBodyType);

/// The pose after the last step, in world space. The book's chapter on components says who may write it.
///
/// It is the pose for rules and sensors. Draw the entity at its `RenderPose`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform(pub Pose);

/// The velocity in metres per second, after the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity(pub Vector);

/// The shapes of the body, each at a pose relative to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hull {
    pub parts: Vec<(Pose, Shape)>,
    /// Whether the hull only detects other bodies, and does not push them.
    pub is_sensor: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A ball with this radius, in metres.
    Ball(f32),
    /// A box with these half extents, in metres.
    Cuboid(Vector),
}

/// The entity keeps a pose relative to another one. It must not be its own ancestor.
///
/// If it has a body, make it a fixed one: before each step it is moved to where its parent is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parent {
    pub entity: Entity,
    pub local: Pose,
}
