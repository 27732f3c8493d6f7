//! The layout of the window, in pixels.

use kiss3d::glamx::Vec2;

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The upper left corner.
    pub from: Vec2,
    /// The width and the height.
    pub size: Vec2,
}

impl Area {
    /// Returns whether a point is in the rectangle.
    #[must_use]
    pub fn contains(&self, point: Vec2) -> bool {
        let to = self.from + self.size;
        point.cmpge(self.from).all() && point.cmplt(to).all()
    }
}

/// The layout of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// The pictures, left and right.
    pub halves: [Area; 2],
    /// The plot, or the scrubber of a replay, below both.
    pub plot: Area,
    /// The panel: to the right of the rest, or below it in a narrow window. It has no width if it is hidden.
    pub panel: Area,
}

/// The width of the panel, at a display scale of 1.
const PANEL: f32 = 272.0;
const PLOT: f32 = 150.0;
/// A window that is narrower than this, at a display scale of 1, has the panel below the pictures, as a phone does.
const NARROW: f32 = 600.0;
/// The panel's part of the height of a narrow window.
const LOW_PANEL: f32 = 0.4;
/// The gap between the halves.
const GAP: f32 = 2.0;

impl Layout {
    /// Creates the layout of a window of this size, on a display with this scale.
    #[must_use]
    pub fn new(window: Vec2, scale: f32, has_panel: bool) -> Self {
        let is_low = has_panel && window.x < NARROW * scale;
        let size = match has_panel {
            true if is_low => Vec2::new(window.x, (window.y * (1.0 - LOW_PANEL)).floor()),
            true => Vec2::new(window.x - PANEL * scale, window.y),
            false => window,
        };
        let half = Vec2::new(
            ((size.x - GAP) / 2.0).floor(),
            (size.y - PLOT * scale).max(50.0).floor(),
        );
        let area = |x: f32, y: f32, size: Vec2| Area {
            from: Vec2::new(x, y),
            size,
        };
        Self {
            halves: [area(0.0, 0.0, half), area(half.x + GAP, 0.0, half)],
            plot: area(0.0, half.y, Vec2::new(size.x, size.y - half.y)),
            panel: if is_low {
                area(0.0, size.y, window - Vec2::new(0.0, size.y))
            } else {
                area(size.x, 0.0, window - Vec2::new(size.x, 0.0))
            },
        }
    }

    /// Returns the half that contains a point, and the position in its picture.
    #[must_use]
    pub fn half_at(&self, point: Vec2) -> Option<(usize, Vec2)> {
        let side = self.halves.iter().position(|half| half.contains(point))?;
        Some((side, point - self.halves[side].from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(one: Area, other: Area) -> bool {
        let is_before = |one: Area, other: Area| (one.from + one.size).cmple(other.from).any();
        !is_before(one, other) && !is_before(other, one)
    }

    #[test]
    fn nothing_covers_another_thing_on_a_desktop_or_a_phone() {
        for (width, height, scale) in [
            (1280, 720, 1.0),
            (390, 844, 1.0),
            (1170, 2532, 3.0),
            (844, 390, 1.0),
        ] {
            let window = Vec2::new(width as f32, height as f32);
            for has_panel in [true, false] {
                let layout = Layout::new(window, scale, has_panel);
                let [left, right] = layout.halves;
                let areas = [left, right, layout.plot, layout.panel];
                let mut visible = areas.iter().take(if has_panel { 4 } else { 3 });
                assert!(
                    visible.all(|area| area.size.min_element() >= 140.0 * scale),
                    "{layout:?}"
                );
                for (number, one) in areas.iter().enumerate() {
                    assert!((one.from + one.size).cmple(window).all(), "{layout:?}");
                    let mut others = areas[number + 1..].iter();
                    assert!(!others.any(|other| overlap(*one, *other)), "{layout:?}");
                }
            }
        }
    }
}
