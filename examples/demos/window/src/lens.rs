//! The camera of both halves. It orbits a point, and converts between points of the picture and of the scene.

#![expect(clippy::disallowed_methods, reason = "no step depends on the camera")]

use evenstep::rapier::math::{Pose, Vector};
use kiss3d::camera::Camera3d;
use kiss3d::event::WindowEvent;
use kiss3d::glamx::glam::camera::rh::proj::opengl;
use kiss3d::glamx::{Mat4, Vec2};
use kiss3d::window::Canvas;

/// The vertical field of view, in radians.
const FIELD_OF_VIEW: f32 = 0.72;
/// The near and the far plane, in metres.
const PLANES: (f32, f32) = (0.3, 80.0);

/// The camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lens {
    /// The point that the camera looks at.
    at: Vector,
    distance: f32,
    /// The angles about the vertical axis and above the horizon, in radians.
    yaw: f32,
    pitch: f32,
    /// The width and the height of the picture, in pixels.
    size: Vec2,
}

impl Lens {
    /// Creates a camera at `eye` that looks at `at`.
    #[must_use]
    pub fn new(eye: Vector, at: Vector) -> Self {
        let way = eye - at;
        let distance = way.length();
        Self {
            at,
            distance,
            yaw: way.x.atan2(way.z),
            pitch: (way.y / distance).asin(),
            size: Vec2::new(1.0, 1.0),
        }
    }

    /// Orbits the point that the camera looks at.
    pub fn turn(&mut self, yaw: f32, pitch: f32) {
        self.yaw += yaw;
        self.pitch = (self.pitch + pitch).clamp(0.02, 1.5);
    }

    /// Zooms in, or out if the factor is greater than 1.
    pub fn zoom(&mut self, factor: f32) {
        self.distance = (self.distance * factor).clamp(3.0, 40.0);
    }

    /// Sets the size of the picture, in pixels.
    pub fn set_size(&mut self, width: f32, height: f32) {
        self.size = Vec2::new(width.max(1.0), height.max(1.0));
    }

    /// Returns the same camera for a simulation whose origin is at another point of the scene.
    #[must_use]
    pub fn with_origin(self, origin: Vector) -> Self {
        Self {
            at: self.at - origin,
            ..self
        }
    }

    /// Returns the position of the camera.
    #[must_use]
    pub fn eye(&self) -> Vector {
        let (sin, cos) = self.pitch.sin_cos();
        let way = Vector::new(self.yaw.sin() * cos, sin, self.yaw.cos() * cos);
        self.at + way * self.distance
    }

    /// Returns the ray through a point of the picture, in pixels from its upper left corner: start and direction.
    #[must_use]
    pub fn ray(&self, point: Vec2) -> (Vector, Vector) {
        self.unproject(point, self.size)
    }

    /// Returns the position of a point in the picture, in pixels from its upper left corner, or `None` if it is behind
    /// the camera.
    #[must_use]
    pub fn picture(&self, point: Vector) -> Option<Vec2> {
        let clip = self.transformation() * point.extend(1.0);
        let x = 0.5 + 0.5 * clip.x / clip.w;
        let y = 0.5 - 0.5 * clip.y / clip.w;
        (clip.w > 0.0).then(|| Vec2::new(x, y) * self.size)
    }

    fn projection(&self) -> Mat4 {
        let aspect = self.size.x / self.size.y;
        // A narrow picture shows as much of the width as a square one.
        let narrow = (0.5 * FIELD_OF_VIEW).tan() / aspect.min(1.0);
        opengl::perspective(2.0 * narrow.atan(), aspect, PLANES.0, PLANES.1)
    }
}

impl Camera3d for Lens {
    /// Does nothing, because only [`Lens::turn`] and [`Lens::zoom`] move the camera.
    fn handle_event(&mut self, _: &Canvas, _: &WindowEvent) {}

    fn eye(&self) -> Vector {
        Self::eye(self)
    }

    fn view_transform(&self) -> Pose {
        Pose::look_at_rh(Self::eye(self), self.at, Vector::Y)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_goes_through_what_it_shows() {
        let mut lens = Lens::new(Vector::new(3.0, 4.0, 9.0), Vector::Y);
        lens.turn(0.3, -0.1);
        for size in [(500.0, 600.0), (900.0, 400.0)] {
            lens.set_size(size.0, size.1);
            for point in [
                Vector::ZERO,
                Vector::new(1.0, 2.0, -3.0),
                Vector::new(-2.0, 0.5, 1.0),
            ] {
                let shown = lens.picture(point).unwrap();
                let (from, direction) = lens.ray(shown);
                let off = (point - from).cross(direction).length();
                assert!(off < 1e-3, "{off} m");
            }
        }
        let behind = lens.eye() * 2.0;
        assert_eq!(lens.picture(behind), None);
    }

    #[test]
    fn the_picture_does_not_depend_on_the_origin() {
        let mut lens = Lens::new(Vector::new(3.0, 4.0, 9.0), Vector::Y);
        lens.set_size(500.0, 600.0);
        let origin = Vector::new(64.0, 0.0, 32.0);
        let point = Vector::new(1.0, 2.0, -3.0);
        let shifted = lens.with_origin(origin).picture(point - origin);
        assert!((shifted.unwrap() - lens.picture(point).unwrap()).length() < 0.01);
    }
}
