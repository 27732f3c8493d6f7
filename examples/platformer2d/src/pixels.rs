//! Whole pixels: one rule for the camera and for all that it sees.

use evenstep::rapier::math::Vector;

/// Of the picture, per metre of the world.
pub const PIXELS_PER_METRE: f32 = 16.0;

/// Its size in pixels. It is drawn at that size, and then enlarged.
pub const PICTURE: [u16; 2] = [320, 180];

/// How far a layer follows the camera: 0 is the world itself, 1 stays where it is in the picture.
pub const LAYERS: [f32; 2] = [0.8, 0.5];

/// The camera and the rounding of what it sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    place: Vector,
}

impl Camera {
    /// That looks at a place, from the nearest whole pixel.
    #[must_use]
    pub fn at(place: Vector) -> Self {
        Self {
            place: (place * PIXELS_PER_METRE).round() / PIXELS_PER_METRE,
        }
    }

    /// The pixel of a place, from the top left corner. Rounded after it is taken relative to the camera, and so for all by the
    /// same rule: what stands still to each other stays so in the picture.
    #[must_use]
    pub fn pixel(&self, place: Vector) -> [f32; 2] {
        let off = ((place - self.place) * PIXELS_PER_METRE).round();
        [
            f32::from(PICTURE[0] / 2) + off.x,
            f32::from(PICTURE[1] / 2) - off.y,
        ]
    }

    /// The pixel of a place in a layer behind the world.
    #[must_use]
    pub fn pixel_behind(&self, place: Vector, follows: f32) -> [f32; 2] {
        self.pixel(place + self.place * follows)
    }
}
