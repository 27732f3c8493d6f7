//! How far the mouse has moved, by a cursor that is hidden, kept in the window, and put back to its middle.

use kiss3d::glamx::Vec2;
use kiss3d::window::Window;

/// The hidden cursor: pixels.
#[derive(Default)]
pub struct Mouse {
    last: Option<Vec2>,
    /// It was put there, which is no motion of the hand.
    put: Option<Vec2>,
}

impl Mouse {
    pub fn grab(window: &Window) -> Self {
        window.set_cursor_grab(true);
        window.hide_cursor(true);
        Self::default()
    }

    /// How far it has moved, to the right and down, when it is now there.
    pub fn moved(&mut self, to: Vec2) -> Vec2 {
        let was_put = self.put.take_if(|put| put.distance(to) < 2.0).is_some();
        let by = self.last.map_or(Vec2::ZERO, |last| to - last);
        self.last = Some(to);
        if was_put { Vec2::ZERO } else { by }
    }

    /// After the events of a frame: back to the middle before it comes to the edge.
    pub fn recentre(&mut self, window: &Window) {
        let size = window.size().as_vec2();
        let middle = (size / 2.0).round();
        let is_far = self
            .last
            .is_some_and(|last| last.distance(middle) > 0.25 * size.min_element());
        if is_far && self.put.is_none() {
            window.set_cursor_position(f64::from(middle.x), f64::from(middle.y));
            self.put = Some(middle);
        }
    }
}
