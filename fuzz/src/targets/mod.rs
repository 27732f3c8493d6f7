//! The kinds of inputs. Each creates, mutates and runs its inputs.

// States.
mod saved;
// Plain types.
mod json;
// Recordings.
mod recordings;
// Programs of calls.
mod calls;
// Captures.
mod frame_times;

use mutatis::Session;

use crate::tally::Tally;

/// A target of the fuzzer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// Saved states: their bytes with a valid checksum, and their documents in serde.
    Saved,
    /// The plain types, and a simulation, as JSON.
    Json,
    /// Recordings, and the bytes that a flight recorder keeps.
    Recordings,
    /// Calls in any order, in every loop, compared with a model.
    Calls,
    /// Captures of frame times.
    FrameTimes,
}

impl Target {
    /// Returns the inputs from which others are made.
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

    /// Returns whether an input may hold states for Rapier.
    #[must_use]
    pub fn has_states(self) -> bool {
        matches!(self, Self::Saved | Self::Json | Self::Recordings)
    }

    /// Mutates an input into another one.
    pub fn mutate(self, input: &mut Vec<u8>, session: &mut Session) {
        // A mutation that finds nothing to change leaves the input as it is.
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
