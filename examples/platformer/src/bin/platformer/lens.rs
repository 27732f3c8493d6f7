//! The game's view as a kiss3d camera.

use evenstep::rapier::math::{Pose, Vector};
use evenstep_platformer::camera::View;
use kiss3d::camera::Camera3d;
use kiss3d::event::WindowEvent;
use kiss3d::glamx::Mat4;
use kiss3d::glamx::glam::camera::rh::proj::opengl;
use kiss3d::window::Canvas;

/// The vertical field of view, in radians.
const FIELD_OF_VIEW: f32 = 0.9;
/// The near and the far plane, in metres.
const PLANES: (f32, f32) = (0.2, 120.0);

/// A view, and the shape of the picture.
pub struct Lens {
    pub view: View,
    /// Width divided by height.
    pub aspect: f32,
}

impl Lens {
    fn projection(&self) -> Mat4 {
        opengl::perspective(FIELD_OF_VIEW, self.aspect, PLANES.0, PLANES.1)
    }
}

impl Camera3d for Lens {
    /// Does nothing, because the game moves the camera with the mouse.
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
