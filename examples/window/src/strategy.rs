//! The strategies to choose from: how a world is stepped and displayed.

use evenstep::{Simulation, Smoothing, Stepping};

/// A strategy to step a world, and to display it between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Each frame is one step of the same length.
    Variable,
    /// Whole steps, and a shorter step for the rest of the frame.
    SemiFixed,
    /// One step in each frame, however long the frame took.
    FrameLocked,
    /// Whole steps, as many as the frame took periods of the rate.
    DisplayCounted,
    /// Whole steps with an accumulator. The latest state is displayed.
    Latest,
    /// The same, interpolated between the last two states.
    Interpolated,
    /// The same, interpolated along a curve.
    Hermite,
    /// The same, extrapolated from the last state.
    Extrapolated,
    /// Fixed and interpolated, on another thread and by the wall clock.
    Threaded,
}

impl Strategy {
    /// All strategies, in the order of their keys.
    pub const ALL: [Self; 9] = [
        Self::Variable,
        Self::SemiFixed,
        Self::FrameLocked,
        Self::DisplayCounted,
        Self::Latest,
        Self::Interpolated,
        Self::Hermite,
        Self::Extrapolated,
        Self::Threaded,
    ];

    /// Returns the name in the panel.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Variable => "variable",
            Self::SemiFixed => "semi-fixed",
            Self::FrameLocked => "frame-locked",
            Self::DisplayCounted => "display-counted",
            Self::Latest => "fixed, latest state",
            Self::Interpolated => "fixed, interpolated",
            Self::Hermite => "fixed, Hermite",
            Self::Extrapolated => "fixed, extrapolated",
            Self::Threaded => "on a thread",
        }
    }

    /// Returns how frames become steps.
    #[must_use]
    pub fn stepping(self) -> Stepping {
        match self {
            Self::Variable => Stepping::Variable,
            Self::SemiFixed => Stepping::SemiFixed,
            Self::FrameLocked => Stepping::FrameLocked,
            Self::DisplayCounted => Stepping::DisplayCounted,
            _ => Stepping::Fixed,
        }
    }

    /// Returns how poses are displayed between two steps.
    #[must_use]
    pub fn smoothing(self) -> Smoothing {
        match self {
            Self::Interpolated | Self::Threaded => Smoothing::Interpolate,
            Self::Hermite => Smoothing::Hermite,
            Self::Extrapolated => Smoothing::Extrapolate,
            _ => Smoothing::Latest,
        }
    }

    /// Makes a simulation use the strategy from the next frame on.
    pub fn apply(self, simulation: &mut Simulation) {
        simulation
            .clock_settings_mut()
            .set_stepping(self.stepping());
        simulation.smoothing = self.smoothing();
    }
}
