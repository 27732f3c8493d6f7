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
            Self::Latest => "not interpolated",
            Self::Interpolated => "interpolated",
            Self::Hermite => "Hermite curve",
            Self::Extrapolated => "extrapolated",
            Self::Threaded => "on a thread",
        }
    }

    /// Returns the label of a half. It says which motion needs evenstep, and which a loop of a few lines has as well.
    #[must_use]
    pub fn label(self) -> String {
        let name = self.name();
        match self {
            Self::Variable | Self::SemiFixed | Self::FrameLocked | Self::Latest => {
                format!("without evenstep: {name}")
            }
            _ => format!("evenstep: {name}"),
        }
    }

    /// Says what happens at this rate.
    #[must_use]
    pub fn description(self, rate: u32) -> String {
        let steps = format!("{rate} steps per second");
        let ms = 1_000 / rate.max(1);
        match self {
            Self::Variable => "each frame is one step, as long as the frame".into(),
            Self::SemiFixed => format!("steps of {ms} ms, and a shorter one for the rest"),
            Self::FrameLocked => format!("one step of {ms} ms in each frame"),
            Self::DisplayCounted => format!("{steps}, counted in frames of the display"),
            Self::Latest => format!("{steps}, each drawn until the next"),
            Self::Interpolated => format!("{steps}, and every frame in between"),
            Self::Hermite => format!("{steps}, and every frame on a curve in between"),
            Self::Extrapolated => format!("{steps}, and every frame ahead of the last one"),
            Self::Threaded => format!("{steps} on a thread, and every frame in between"),
        }
    }

    /// Returns whether all steps have the length that the rate gives them.
    #[must_use]
    pub fn has_even_steps(self) -> bool {
        !matches!(self, Self::Variable | Self::SemiFixed)
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
