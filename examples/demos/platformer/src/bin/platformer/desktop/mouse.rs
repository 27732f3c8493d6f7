//! Measures how far the mouse has moved. The cursor is hidden, kept in the window, and moved back to its centre.

use kiss3d::glamx::Vec2;
use kiss3d::window::Window;

/// The cursor, with positions in pixels.
#[derive(Default)]
pub struct Mouse {
    /// Whether the cursor is hidden and kept in the window. If not, the player may use it.
    is_held: bool,
    last: Option<Vec2>,
    /// The position to which the cursor is about to jump. That jump is no motion of the mouse.
    put: Option<Vec2>,
}

impl Mouse {
    /// Captures or frees the cursor.
    pub fn hold(&mut self, window: &Window, is_held: bool) {
        if self.is_held != is_held {
            window.set_cursor_grab(is_held);
            window.hide_cursor(is_held);
            let last = window.cursor_pos();
            *self = Self {
                is_held,
                last: last.map(|(x, y)| Vec2::new(x as f32, y as f32)),
                put: None,
            };
        }
    }

    /// Returns how far the cursor has moved to the right and down, given its present position.
    pub fn moved(&mut self, to: Vec2) -> Vec2 {
        if !self.is_held {
            return Vec2::ZERO;
        }
        let mut from = self.last.unwrap_or(to);
        // A hand does not move this far between two events.
        if let Some(put) = self.put
            && to.distance(put) < to.distance(from)
        {
            from = put;
            self.put = None;
        }
        self.last = Some(to);
        to - from
    }

    /// Moves the cursor back to the centre before it reaches the edge. Called after the events of a frame.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recentring_the_cursor_is_not_counted_as_mouse_motion() {
        let mut mouse = Mouse {
            is_held: true,
            ..Mouse::default()
        };
        let [right, middle] = [Vec2::new(900.0, 360.0), Vec2::new(640.0, 360.0)];
        assert_eq!(mouse.moved(right), Vec2::ZERO);
        assert_eq!(mouse.moved(right + Vec2::X * 30.0), Vec2::X * 30.0);
        mouse.put = Some(middle);
        // Events before the jump, with it, and after it.
        assert_eq!(mouse.moved(right + Vec2::X * 40.0), Vec2::X * 10.0);
        assert_eq!(mouse.moved(middle + Vec2::Y * 5.0), Vec2::Y * 5.0);
        assert_eq!(mouse.moved(middle - Vec2::Y), Vec2::Y * -6.0);
        assert_eq!(mouse.put, None);
    }
}
