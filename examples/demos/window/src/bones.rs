//! Rapier's debug lines at displayed poses, or at true ones.
//!
//! A simulation on this thread has [`Simulation::displayed_world`](evenstep::Simulation::displayed_world) for lines at
//! displayed poses. The lines here are drawn in the same way for a half on another thread, from copies.

use evenstep::rapier::pipeline::{
    DebugColor, DebugRenderBackend, DebugRenderMode, DebugRenderObject, DebugRenderPipeline,
    DebugRenderStyle,
};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

use crate::shown::Shown;

/// The choice of debug lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugLines {
    /// No lines.
    Off,
    /// Lines at the displayed poses, which stay on the bodies.
    Displayed,
    /// Lines at the poses of the last step, which wobble beside interpolated bodies.
    True,
}

impl DebugLines {
    /// All choices, in the order of their key.
    pub const ALL: [Self; 3] = [Self::Off, Self::Displayed, Self::True];

    /// Returns the name in the panel.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Displayed => "displayed",
            Self::True => "true",
        }
    }
}

/// Copies of Rapier's sets.
#[derive(Clone)]
pub struct Bones {
    bodies: RigidBodySet,
    colliders: ColliderSet,
    joints: ImpulseJointSet,
    multibody_joints: MultibodyJointSet,
    keys: Vec<(RigidBodyHandle, BodyKey)>,
}

/// A line of the scene, with its colour.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// One end.
    pub from: Vector,
    /// The other end.
    pub to: Vector,
    /// Red, green and blue, from 0 to 1.
    pub rgb: [f32; 3],
}

impl Bones {
    /// Copies the bodies after the last step.
    #[must_use]
    pub fn of(physics: &Physics) -> Self {
        let world = physics.rapier();
        let keys = physics.bodies().map(|(key, _)| key);
        Self {
            bodies: world.bodies.clone(),
            colliders: world.colliders.clone(),
            joints: world.impulse_joints.clone(),
            multibody_joints: world.multibody_joints.clone(),
            keys: keys
                .filter_map(|key| Some((physics.handle(key)?, key)))
                .collect(),
        }
    }

    /// Moves the copies to the displayed poses. The simulation itself never is.
    #[must_use]
    pub fn displayed(mut self, shown: &Shown) -> Self {
        for (handle, key) in &self.keys {
            if let Some(pose) = shown.poses.get(key)
                && let Some(body) = self.bodies.get_mut(*handle)
            {
                body.set_position(*pose, false);
            }
        }
        let bodies = &mut self.bodies;
        bodies.propagate_modified_body_positions_to_colliders(&mut self.colliders);
        self
    }

    /// Returns the lines of shapes, axes and joints.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let mode = DebugRenderMode::COLLIDER_SHAPES
            | DebugRenderMode::RIGID_BODY_AXES
            | DebugRenderMode::IMPULSE_JOINTS;
        let mut pipeline = DebugRenderPipeline::new(DebugRenderStyle::default(), mode);
        let mut lines = Lines(Vec::new());
        pipeline.render_rigid_bodies(&mut lines, &self.bodies);
        pipeline.render_colliders(&mut lines, &self.bodies, &self.colliders);
        pipeline.render_joints(
            &mut lines,
            &self.bodies,
            &self.joints,
            &self.multibody_joints,
        );
        lines.0
    }
}

struct Lines(Vec<Line>);

impl DebugRenderBackend for Lines {
    /// The edges of the floor are omitted.
    fn filter_object(&self, object: DebugRenderObject) -> bool {
        !matches!(object, DebugRenderObject::RigidBody(_, body) if body.is_fixed())
    }

    fn draw_line(&mut self, _: DebugRenderObject, from: Vector, to: Vector, color: DebugColor) {
        let rgb = rgb(color);
        self.0.push(Line { from, to, rgb });
    }
}

/// Converts Rapier's colours, which are hue in degrees, saturation, lightness and opacity.
fn rgb([hue, saturation, lightness, _]: DebugColor) -> [f32; 3] {
    let chroma = saturation * lightness.min(1.0 - lightness);
    [0.0, 8.0, 4.0].map(|offset| {
        let sector = (offset + hue / 30.0).rem_euclid(12.0);
        lightness - chroma * (sector - 3.0).min(9.0 - sector).clamp(-1.0, 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hues_become_colours() {
        assert_eq!(rgb([0.0, 1.0, 0.5, 1.0]), [1.0, 0.0, 0.0]);
        assert_eq!(rgb([120.0, 1.0, 0.5, 1.0]), [0.0, 1.0, 0.0]);
        assert_eq!(rgb([240.0, 1.0, 0.5, 1.0]), [0.0, 0.0, 1.0]);
        assert_eq!(rgb([77.0, 0.0, 0.5, 1.0]), [0.5; 3]);
    }
}
