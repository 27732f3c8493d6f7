//! The game's view as a camera of kiss3d.

use evenstep::rapier::math::{Pose, Vector};
use evenstep_platformer::camera::View;
use kiss3d::camera::Camera3d;
use kiss3d::event::WindowEvent;
use kiss3d::glamx::Mat4;
use kiss3d::glamx::glam::camera::rh::proj::opengl;
use kiss3d::window::Canvas;

/// Vertical, in radians.
const FIELD_OF_VIEW: f32 = 0.9;
/// Metres.
const PLANES: (f32, f32) = (0.2, 120.0);

/// From where a picture of that shape is seen.
pub struct Lens {
    pub view: View,
    /// Width by height.
    pub aspect: f32,
}

impl Lens {
    fn projection(&self) -> Mat4 {
        opengl::perspective(FIELD_OF_VIEW, self.aspect, PLANES.0, PLANES.1)
    }
}

impl Camera3d for Lens {
    /// The game moves it, by the mouse.
    fn handle_event(&mut self, _: &Canvas, _: &WindowEvent) {}

    fn eye(&self) -> Vector {
        self.view.eye
    }

    fn view_transform(&self) -> Pose {
        Pose::look_at_rh(self.view.eye, self.view.at, Vector::Y)
    }

    fn transformation(&self) -> Mat4 {
        self.projection() * self.view_transform().to_mat4()
    }

    fn inverse_transformation(&self) -> Mat4 {
        self.transformation().inverse()
    }

    fn clip_planes(&self) -> (f32, f32) {
        PLANES
    }

    fn update(&mut self, _: &Canvas) {}

    fn view_transform_pair(&self, _: usize) -> (Pose, Mat4) {
        (self.view_transform(), self.projection())
    }
}
