//! The hero as a figure of whole pixels: it looks where it runs, its legs walk, and a landing squashes it.

use std::time::Duration;

use evenstep::rapier::math::Vector;

/// A walking figure lifts the other leg after this distance, in metres.
const STRIDE: f32 = 0.5;
/// A figure that moves sideways faster than this, in m/s, looks there, and walks.
const SLOWEST: f32 = 0.5;
/// A fall that takes less time squashes nothing.
const SHORT_FALL: Duration = Duration::from_millis(250);
/// The time for which a landing squashes.
const SQUASH: Duration = Duration::from_millis(120);

const RED: u32 = 0xd0_46_48;
const WHITE: u32 = 0xde_ee_d6;
const DARK: u32 = 0x14_0c_1c;
const BLUE: u32 = 0x30_34_6d;

/// A rectangle of one colour. Pixels are counted to the right and down from the centre of the figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The upper left corner.
    pub corner: [f32; 2],
    /// Width and height.
    pub size: [f32; 2],
    /// Red, green and blue, a byte each.
    pub color: u32,
}

/// The motion that the figure depends on.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    place: Vector,
    /// 1 if it looks right, and −1 if it looks left.
    side: f32,
    stance: Stance,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stance {
    Stands,
    Walks,
    /// It is in the air, for this time so far.
    Falls(Duration),
    /// It has landed, and stays squashed for this time.
    Squashed(Duration),
}

impl Figure {
    /// Creates a figure that stands at `place` and looks right.
    #[must_use]
    pub fn new(place: Vector) -> Self {
        Self {
            place,
            side: 1.0,
            stance: Stance::Stands,
        }
    }

    /// Moves the figure. Called after each frame, with the displayed position and the game time that passed. In a pause
    /// nothing changes.
    pub fn update(&mut self, place: Vector, is_on_ground: bool, passed: Duration) {
        if passed.is_zero() {
            return;
        }
        let speed = (place.x - self.place.x) / passed.as_secs_f32();
        let is_walking = speed.abs() > SLOWEST;
        if is_walking {
            self.side = speed.signum();
        }
        self.place = place;
        self.stance = match self.stance {
            Stance::Falls(time) if !is_on_ground => Stance::Falls(time + passed),
            _ if !is_on_ground => Stance::Falls(passed),
            Stance::Falls(time) if time >= SHORT_FALL => Stance::Squashed(SQUASH),
            Stance::Squashed(left) if left > passed => Stance::Squashed(left - passed),
            _ if is_walking => Stance::Walks,
            _ => Stance::Stands,
        };
    }

    /// Returns the rectangles to draw, from back to front.
    #[must_use]
    pub fn parts(&self) -> Vec<Part> {
        let part = |x, y, width, height, color| Part {
            corner: [x, y],
            size: [width, height],
            color,
        };
        // The squashed body is lower and wider.
        let (top, wider) = match self.stance {
            Stance::Squashed(_) => (-6.0, 1.0),
            _ => (-9.0, 0.0),
        };
        let legs = self.legs();
        let mut parts = vec![
            part(-4.0, 5.0, 3.0, legs[0], BLUE),
            part(1.0, 5.0, 3.0, legs[1], BLUE),
            // Two rectangles have round corners together.
            part(-4.0 - wider, top, 8.0 + 2.0 * wider, 5.0 - top, RED),
            part(-5.0 - wider, top + 1.0, 10.0 + 2.0 * wider, 3.0 - top, RED),
        ];
        // The eyes are in the half of the side, with the pupils at its edge.
        for middle in [1.0, 4.0] {
            let eye = self.side * middle;
            parts.push(part(eye - 1.0, top + 3.0, 2.0, 4.0, WHITE));
            let pupil = eye + 0.5 * self.side - 0.5;
            parts.push(part(pupil, top + 4.0, 1.0, 2.0, DARK));
        }
        parts
    }

    /// Returns the lengths of the legs.
    fn legs(&self) -> [f32; 2] {
        const LONG: f32 = 5.0;
        const SHORT: f32 = 3.0;
        match self.stance {
            Stance::Falls(_) => [SHORT; 2],
            Stance::Walks if (self.place.x / STRIDE).floor() % 2.0 == 0.0 => [SHORT, LONG],
            Stance::Walks => [LONG, SHORT],
            Stance::Stands | Stance::Squashed(_) => [LONG; 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Duration = Duration::from_millis(50);

    /// Returns the edges of a figure: left, upper, right and lower.
    fn edges(figure: &Figure) -> [f32; 4] {
        let parts = figure.parts();
        let least = |axis: usize| parts.iter().map(move |part| part.corner[axis]);
        let most = |axis: usize| {
            parts
                .iter()
                .map(move |part| part.corner[axis] + part.size[axis])
        };
        [
            least(0).fold(0.0, f32::min),
            least(1).fold(0.0, f32::min),
            most(0).fold(0.0, f32::max),
            most(1).fold(0.0, f32::max),
        ]
    }

    fn pupils(figure: &Figure) -> Vec<f32> {
        let parts = figure.parts().into_iter();
        let pupils = parts.filter(|part| part.color == DARK);
        pupils.map(|part| part.corner[0] + 0.5).collect()
    }

    #[test]
    fn a_running_figure_looks_ahead_and_alternates_its_legs() {
        let mut figure = Figure::new(Vector::ZERO);
        assert_eq!(figure.legs(), [5.0, 5.0]);
        for (side, places) in [(1.0, [0.3, 0.8, 1.3]), (-1.0, [0.8, 0.3, -0.2])] {
            let mut legs = Vec::new();
            for x in places {
                figure.update(Vector::X * x, true, FRAME);
                legs.push(figure.legs());
                assert_eq!(pupils(&figure), [1.5, 4.5].map(|x| x * side));
            }
            assert!(legs[0] != legs[1] && legs[1] != legs[2], "{legs:?}");
        }
        figure.update(Vector::X * -0.2, true, FRAME);
        assert_eq!(figure.legs(), [5.0, 5.0]);
        assert_eq!(pupils(&figure), [-1.5, -4.5]);
    }

    #[test]
    fn a_landing_squashes_the_figure_and_a_short_fall_does_not() {
        for (frames, upper) in [(4, -9.0), (5, -6.0)] {
            let mut figure = Figure::new(Vector::ZERO);
            for _ in 0..frames {
                figure.update(Vector::ZERO, false, FRAME);
                assert_eq!(edges(&figure), [-5.0, -9.0, 5.0, 8.0]);
            }
            figure.update(Vector::ZERO, true, FRAME);
            assert_eq!(edges(&figure)[1], upper);
            // A pause keeps the picture.
            figure.update(Vector::ZERO, true, Duration::ZERO);
            assert_eq!(edges(&figure)[1], upper);
            for _ in 0..3 {
                figure.update(Vector::ZERO, true, FRAME);
            }
            assert_eq!(edges(&figure), [-5.0, -9.0, 5.0, 10.0]);
        }
    }

    #[test]
    fn every_part_of_the_figure_lies_on_whole_pixels() {
        let mut figure = Figure::new(Vector::ZERO);
        for (x, is_on_ground) in [(0.2, true), (-0.4, true), (0.0, false), (0.0, true)] {
            figure.update(Vector::X * x, is_on_ground, SHORT_FALL);
            for part in figure.parts() {
                let numbers = part.corner.into_iter().chain(part.size);
                assert!(
                    numbers.into_iter().all(|number| number.fract() == 0.0),
                    "{part:?}"
                );
            }
        }
    }
}
