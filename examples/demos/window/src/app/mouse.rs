//! The mouse: it drags bodies, turns the view and zooms.

use evenstep::rapier::math::Vector;
use kiss3d::glamx::Vec2;

use crate::app::App;
use crate::game::Pull;
use crate::pick::pick;

/// A mouse event. Positions are in pixels from the upper left corner of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MouseEvent {
    /// The left button went down.
    Press(Vec2),
    /// The left button went up.
    Release,
    /// The right button went down.
    Turn(Vec2),
    /// The mouse moved.
    Move(Vec2),
    /// The wheel turned. Positive values zoom in.
    Scroll(f32),
}

/// The state of the mouse: what it drags.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mouse {
    hold: Hold,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Hold {
    #[default]
    Nothing,
    /// The view, with the last position of the mouse.
    View(Vec2),
    /// A body that was picked in a half, dragged on a plane through a point of the scene.
    Body {
        side: usize,
        plane: Vector,
        pull: Pull,
    },
}

/// Radians per pixel.
const TURN: f32 = 0.006;

impl Mouse {
    /// Returns the dragged body, for the next steps of both halves. A key is the same in both as long as both spawn the
    /// same bodies.
    #[must_use]
    pub fn pull(&self) -> Option<Pull> {
        match self.hold {
            Hold::Body { pull, .. } => Some(pull),
            _ => None,
        }
    }
}

impl App {
    /// Handles a mouse event.
    #[expect(clippy::disallowed_methods, reason = "no step depends on the camera")]
    pub fn mouse(&mut self, event: MouseEvent) {
        match event {
            MouseEvent::Press(at) => self.mouse.hold = self.hold(at),
            MouseEvent::Turn(at) if self.layout().half_at(at).is_some() => {
                self.mouse.hold = Hold::View(at);
            }
            MouseEvent::Turn(_) => (),
            MouseEvent::Release => self.mouse.hold = Hold::Nothing,
            MouseEvent::Move(to) => self.drag(to),
            MouseEvent::Scroll(by) => self.lens.zoom(0.9f32.powf(by)),
        }
    }

    /// Returns the draggable body at this position, or else the view.
    fn hold(&mut self, at: Vec2) -> Hold {
        let Some((side, place)) = self.layout().half_at(at) else {
            return Hold::Nothing;
        };
        let shown = self.halves[side].shown();
        let (from, direction) = self.lens.with_origin(shown.origin).ray(place);
        let looks = &self.halves[side].report().looks;
        let hit = pick(looks, shown, from, direction).filter(|hit| hit.is_dynamic);
        let Some(hit) = hit.filter(|_| self.screening.is_none()) else {
            return Hold::View(at);
        };
        let to = hit.point + shown.origin;
        if self.followed != hit.key {
            self.follow(hit.key);
        }
        let pull = Pull {
            key: hit.key,
            held_at: hit.local,
            to,
        };
        Hold::Body {
            side,
            plane: to,
            pull,
        }
    }

    fn drag(&mut self, to: Vec2) {
        match self.mouse.hold {
            Hold::Nothing => (),
            Hold::View(from) => {
                let by = (to - from) * TURN;
                self.lens.turn(-by.x, by.y);
                self.mouse.hold = Hold::View(to);
            }
            Hold::Body { side, plane, pull } => {
                let place = to - self.layout().halves[side].from;
                let to = self.on_plane(place, plane);
                let pull = Pull { to, ..pull };
                self.mouse.hold = Hold::Body { side, plane, pull };
            }
        }
    }

    /// Returns the position of the mouse on the plane through a point of the scene that faces the camera.
    fn on_plane(&self, place: Vec2, point: Vector) -> Vector {
        let (from, direction) = self.lens.ray(place);
        let facing = (point - self.lens.eye()).normalize();
        let way = (point - from).dot(facing) / direction.dot(facing).max(0.1);
        let place = from + direction * way;
        // The position stays above the floor.
        Vector::new(place.x, place.y.max(0.05), place.z)
    }
}
