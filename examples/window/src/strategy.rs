//! The ways to step a world and to show it, to choose from.

use evenstep::{Simulation, Smoothing, Stepping};

/// A way to step a world and to show it between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// One step as long as the frame.
    Variable,
    /// Whole steps, and a shorter one for the rest of the frame.
    SemiFixed,
    /// One step in each frame, however long the frame took.
    FrameLocked,
    /// Whole steps, as many as the frame took periods of the rate.
    DisplayCounted,
    /// Whole steps by the accumulator; the latest state is shown.
    Latest,
    /// The same, shown between the last two states.
    Interpolated,
    /// The same, along a curve.
    Hermite,
    /// The same, ahead of the last state.
    Extrapolated,
    /// Fixed and interpolated, on a thread of its own and by the wall clock.
    Threaded,
}

impl Strategy {
    /// All of them, in the order of their keys.
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

    /// What the panel calls it.
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

    /// How its frames become steps.
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

    /// What is shown between two steps.
    #[must_use]
    pub fn smoothing(self) -> Smoothing {
        match self {
            Self::Interpolated | Self::Threaded => Smoothing::Interpolate,
            Self::Hermite => Smoothing::Hermite,
            Self::Extrapolated => Smoothing::Extrapolate,
            _ => Smoothing::Latest,
        }
    }

    /// Has a simulation follow it from the next frame on.
    pub fn apply(self, simulation: &mut Simulation) {
        simulation
            .clock_settings_mut()
            .set_stepping(self.stepping());
        simulation.smoothing = self.smoothing();
    }
}
