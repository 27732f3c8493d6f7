//! Whole pixels, with one rule for the camera and for everything that it sees.

use evenstep::rapier::math::Vector;

/// The scale of the picture.
pub const PIXELS_PER_METRE: f32 = 16.0;

/// The size of the picture in pixels. It is drawn at that size, and then enlarged.
pub const PICTURE: [u16; 2] = [320, 180];

/// How closely a layer follows the camera: 0 moves with the world, and 1 stays fixed in the picture.
pub const LAYERS: [f32; 2] = [0.8, 0.5];

/// The camera, and the rounding of what it sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    position: Vector,
}

impl Camera {
    /// Creates a camera that looks at `target`, rounded to the nearest whole pixel.
    #[must_use]
    pub fn at(target: Vector) -> Self {
        Self {
            position: (target * PIXELS_PER_METRE).round() / PIXELS_PER_METRE,
        }
    }

    /// Creates a camera that looks at `place`, or as near to it as it can without seeing anything outside of a level,
    /// which lies between zero and `size`.
    #[must_use]
    pub fn within(place: Vector, size: Vector) -> Self {
        let half = Vector::from(PICTURE.map(f32::from)) / (2.0 * PIXELS_PER_METRE);
        Self::at(place.min(size - half).max(half))
    }

    /// Returns the pixel of a position, counted from the top left corner. The position is rounded relative to the
    /// camera, by the same rule for everything, so bodies at rest relative to each other keep their distance in the
    /// picture.
    #[must_use]
    pub fn pixel(&self, position: Vector) -> [f32; 2] {
        let offset = ((position - self.position) * PIXELS_PER_METRE).round();
        [
            f32::from(PICTURE[0] / 2) + offset.x,
            f32::from(PICTURE[1] / 2) - offset.y,
        ]
    }

    /// Returns the pixel of a position in a background layer.
    #[must_use]
    pub fn pixel_behind(&self, position: Vector, follows: f32) -> [f32; 2] {
        self.pixel(position + self.position * follows)
    }
}
