//! Detects calls that a game's loop forgets, and reports them in debug builds.

/// So many omissions in a row are no accident. A frame may stay open because a system panicked, and a step may not run
/// because the game waits for input, but neither happens every time for a whole second at 60 Hz.
const MANY: u32 = 60;

/// Counts calls in a row that were not followed by the call that completes them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Forgotten {
    frames: u32,
    steps: u32,
}

impl Forgotten {
    /// Records that the game begins a frame.
    pub fn begin_frame(&mut self, is_one_open: bool) {
        self.frames = if is_one_open {
            self.frames.saturating_add(1)
        } else {
            0
        };
        if self.frames == MANY {
            tell(
                "frames",
                "begun but not ended, so none was displayed: call `end_frame` in each frame",
            );
        }
    }

    /// Records that the game asks for the same step again, or ends its frame without running the step.
    pub fn leave_step(&mut self) {
        self.steps = self.steps.saturating_add(1);
        if self.steps == MANY {
            tell(
                "steps",
                "returned by `next_step` but not run: call `make_step` after each `next_step`",
            );
        }
    }

    /// Records that a step has run.
    pub fn make_step(&mut self) {
        self.steps = 0;
    }
}

/// Prints to the terminal, because a program that forgets such a call has probably not set up logging yet.
fn tell(what: &str, is: &str) {
    if cfg!(debug_assertions) {
        eprintln!("evenstep: {MANY} {what} in a row were {is}");
    }
}
