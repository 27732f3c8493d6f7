//! Rapier's debug lines of the colliders: where the bodies are displayed, or where the last step left them.

use evenstep::Simulation;
use evenstep::rapier::prelude::*;
use kiss3d::window::Window;

use crate::draw::color;

/// The poses of the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// No lines.
    #[default]
    Off,
    /// The poses that the frame displays. The lines stay on the models.
    Displayed,
    /// The poses after the last step. The lines are ahead of interpolated models, by up to a step.
    True,
}

impl Lines {
    /// Returns the next choice.
    pub fn next(self) -> Self {
        match self {
            Self::Off => Self::Displayed,
            Self::Displayed => Self::True,
            Self::True => Self::Off,
        }
    }

    /// Adds the lines to the next picture of a window.
    pub fn draw(self, window: &mut Window, simulation: &Simulation) {
        let world = simulation.physics.rapier();
        let displayed;
        let (colliders, rgb) = match self {
            Self::Off => return,
            Self::Displayed => {
                displayed = simulation.displayed_world();
                (displayed.colliders(), [1.0, 0.95, 0.3])
            }
            Self::True => (&world.colliders, [1.0, 0.1, 0.75]),
        };
        let mut pen = Pen { window, rgb };
        let style = DebugRenderStyle::default();
        // Rapier reads only colours from the bodies, and the pen has its own.
        DebugRenderPipeline::new(style, DebugRenderMode::COLLIDER_SHAPES).render_colliders(
            &mut pen,
            &world.bodies,
            colliders,
        );
    }
}

/// Draws all lines in one colour.
struct Pen<'w> {
    window: &'w mut Window,
    rgb: [f32; 3],
}

impl DebugRenderBackend for Pen<'_> {
    fn draw_line(&mut self, _: DebugRenderObject, from: Vector, to: Vector, _: DebugColor) {
        self.window.draw_line(from, to, color(self.rgb), 2.0, false);
    }
}
