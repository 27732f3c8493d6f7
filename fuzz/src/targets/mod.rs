//! What inputs are, and how they are run.

// States.
mod saved;
// Plain types.
mod json;
// Runs as files.
mod recordings;
// Programs of calls.
mod calls;
// Captures.
mod frame_times;

use mutatis::Session;

use crate::tally::Tally;

/// What is fuzzed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// Saved states: their bytes, with a right checksum, and what serde makes of them.
    Saved,
    /// The plain types, and a simulation, as JSON.
    Json,
    /// Recordings, and what a flight recorder keeps.
    Recordings,
    /// Calls in any order, on every loop, against a model.
    Calls,
    /// Captures of frame times.
    FrameTimes,
}

impl Target {
    /// What other inputs are made of.
    #[must_use]
    pub fn seeds(self) -> Vec<Vec<u8>> {
        match self {
            Self::Saved => saved::seeds(),
            Self::Json => json::seeds(),
            Self::Recordings => recordings::seeds(),
            Self::Calls => vec![vec![0; 8]],
            Self::FrameTimes => frame_times::seeds(),
        }
    }

    /// Whether an input may hold states for Rapier.
    #[must_use]
    pub fn has_states(self) -> bool {
        matches!(self, Self::Saved | Self::Json | Self::Recordings)
    }

    /// Makes an input another one.
    pub fn mutate(self, input: &mut Vec<u8>, session: &mut Session) {
        // A mutator that finds nothing to change leaves the input as it is.
        let _ = match self {
            Self::Saved => saved::mutate(input, session),
            Self::Json => json::mutate(input, session),
            Self::Recordings => recordings::mutate(input, session),
            Self::Calls => session.mutate(input),
            Self::FrameTimes => frame_times::mutate(input, session),
        };
    }

    /// Runs an input.
    pub fn run(self, input: &[u8], tally: &mut Tally) {
        tally.runs += 1;
        tally.operations += 1;
        tally.guard(|tally| match self {
            Self::Saved => saved::run(input, tally),
            Self::Json => json::run(input, tally),
            Self::Recordings => recordings::run(input, tally),
            Self::Calls => calls::run(input, tally),
            Self::FrameTimes => frame_times::run(input, tally),
        });
    }
}
