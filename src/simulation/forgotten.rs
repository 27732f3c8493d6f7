//! Calls that a game's own loop has forgotten, told in debug builds.

/// So many in a row are no accident. A frame may stay open because a system panicked, and a step may not be made because
/// the game waits for input, but not each time for a second at 60 Hz.
const MANY: u32 = 60;

/// The calls in a row that were not followed by the one that completes them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Forgotten {
    frames: u32,
    steps: u32,
}

impl Forgotten {
    /// The game begins a frame.
    pub fn begin_frame(&mut self, is_one_open: bool) {
        self.frames = if is_one_open {
            self.frames.saturating_add(1)
        } else {
            0
        };
        if self.frames == MANY {
            tell(
                "frames",
                "begun and not ended, so none is displayed: call `end_frame` in each frame",
            );
        }
    }

    /// The game takes the same step again, or ends its frame.
    pub fn leave_step(&mut self) {
        self.steps = self.steps.saturating_add(1);
        if self.steps == MANY {
            tell(
                "steps",
                "taken and not made: call `make_step` after each `next_step`",
            );
        }
    }

    /// A step was made.
    pub fn make_step(&mut self) {
        self.steps = 0;
    }
}

/// To the terminal, because whoever forgets such a call has set up no log yet.
fn tell(what: &str, is: &str) {
    if cfg!(debug_assertions) {
        eprintln!("evenstep: {MANY} {what} in a row were {is}");
    }
}
