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
    /// The panel, to the right of the rest. It has no width if it is hidden.
    pub panel: Area,
}

/// The width of the panel, at a display scale of 1.
const PANEL: f32 = 272.0;
const PLOT: f32 = 150.0;
/// The gap between the halves.
const GAP: f32 = 2.0;

impl Layout {
    /// Creates the layout of a window of this size, on a display with this scale.
    #[must_use]
    pub fn new(window: Vec2, scale: f32, has_panel: bool) -> Self {
        let panel = if has_panel {
            (PANEL * scale).min(window.x / 2.0)
        } else {
            0.0
        };
        let width = window.x - panel;
        let half = Vec2::new(
            ((width - GAP) / 2.0).floor(),
            (window.y - PLOT * scale).max(50.0).floor(),
        );
        let area = |x: f32, y: f32, size: Vec2| Area {
            from: Vec2::new(x, y),
            size,
        };
        Self {
            halves: [area(0.0, 0.0, half), area(half.x + GAP, 0.0, half)],
            plot: area(0.0, half.y, Vec2::new(width, window.y - half.y)),
            panel: area(width, 0.0, Vec2::new(panel, window.y)),
        }
    }

    /// Returns the half that contains a point, and the position in its picture.
    #[must_use]
    pub fn half_at(&self, point: Vec2) -> Option<(usize, Vec2)> {
        let side = self.halves.iter().position(|half| half.contains(point))?;
        Some((side, point - self.halves[side].from))
    }
}
