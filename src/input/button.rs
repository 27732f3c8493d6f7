//! Counts a button's edges per step.

/// A button during one step: whether it is down, and how often it was pressed and released.
///
/// A press and its release within one step are both counted:
///
/// ```
/// use evenstep::input::Button;
///
/// let mut jump = Button::default();
/// jump.start_step();
/// for down in [true, true, false] { // pressed, key repeat, released
///     jump.set(down);
/// }
/// assert_eq!((jump.presses(), jump.releases(), jump.is_down()), (1, 1, false));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Button {
    down: bool,
    presses: u32,
    releases: u32,
}

impl Button {
    /// Resets the counts for a new step. A button that is down stays down.
    pub fn start_step(&mut self) {
        self.presses = 0;
        self.releases = 0;
    }

    /// Sets the button's state as a device reports it. Only changes count, so key repeat does not.
    pub fn set(&mut self, down: bool) {
        if down && !self.down {
            self.presses = self.presses.saturating_add(1);
        } else if !down && self.down {
            self.releases = self.releases.saturating_add(1);
        }
        self.down = down;
    }

    /// Returns whether the button is down at the end of the step.
    #[must_use]
    pub fn is_down(self) -> bool {
        self.down
    }

    /// Returns how often the button was pressed in this step.
    #[must_use]
    pub fn presses(self) -> u32 {
        self.presses
    }

    /// Returns how often the button was released in this step.
    #[must_use]
    pub fn releases(self) -> u32 {
        self.releases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_counts_edges_and_ignores_repeats() {
        let mut button = Button::default();
        for down in [true, true, false, true] {
            button.set(down);
        }
        assert_eq!((button.presses(), button.releases()), (2, 1));
        button.start_step();
        button.set(true);
        assert_eq!(
            (button.presses(), button.releases(), button.is_down()),
            (0, 0, true)
        );
    }
}
