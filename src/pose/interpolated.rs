//! A value of the game, interpolated between two steps.

use std::collections::VecDeque;

/// The number of values that are kept: enough for a thread that is ahead, and for a rollback.
const KEPT: usize = 64;

/// A value of your game, interpolated between steps like a body.
///
/// ```
/// # use evenstep::Simulation;
/// # use evenstep::render::Interpolated;
/// # use std::time::Duration;
/// let mut simulation = Simulation::default();
/// let mut light = Interpolated::new(0.0_f32);
/// for _ in 0..10 {
///     // In each step, even if the value does not change:
///     let frame = simulation.advance(Duration::from_millis(7), |_, step| {
///         light.set(step.tick, step.tick as f32 * 0.1);
///     });
///     // In each frame, for the same time as the poses:
///     let displayed = light.at(frame.tick, frame.alpha, |a, b, t| a + (b - a) * t);
///     assert!(displayed <= *light.latest());
/// }
/// ```
///
/// With a [`Runner`](crate::threads::Runner), send each step's tick and value through a channel, and set all received
/// values before a frame.
///
/// After a [rollback](crate::Simulation::roll_back) each resimulated step sets its value again, which replaces that of
/// the step and all later ones. So keep the drawn value in a frame that ends in the middle of a rollback. After
/// [`set_tick`](crate::Simulation::set_tick), begin another `Interpolated`. The values of the last 64 steps that set one
/// are kept.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Interpolated<T> {
    first: T,
    /// The tick of the step that set `first`, or `None` for the value at the beginning. An earlier step cannot begin
    /// with `first`.
    first_tick: Option<u64>,
    later: VecDeque<After<T>>,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct After<T> {
    tick: u64,
    value: T,
    jumps: bool,
}

impl<T: Clone> Interpolated<T> {
    /// Creates a value, which applies until a step sets another one.
    pub const fn new(value: T) -> Self {
        Self {
            first: value,
            first_tick: None,
            later: VecDeque::new(),
        }
    }

    /// Sets the value at the end of the step with this [`tick`](crate::Step::tick). If a step sets it twice, the last
    /// value counts, after a [`jump`](Self::jump) without interpolation.
    pub fn set(&mut self, tick: u64, value: T) {
        self.push(tick, value, false);
    }

    /// Sets the value like [`set`](Self::set), without interpolation from the previous value, for a teleport. The whole
    /// step displays the value at its end. So [teleport](crate::Physics::teleport) its body after the step.
    ///
    /// A rollback of several steps forgets their jumps.
    pub fn jump(&mut self, tick: u64, value: T) {
        self.push(tick, value, true);
    }

    /// Returns the value that was set last.
    #[must_use]
    pub fn latest(&self) -> &T {
        self.later.back().map_or(&self.first, |after| &after.value)
    }

    /// Returns the value to draw. `tick` and `alpha` come from the [`Frame`](crate::Frame) or the
    /// [`View`](crate::threads::View). `lerp(a, b, t)` returns `a` at 0 and `b` at 1.
    pub fn at(&self, tick: u64, alpha: f32, lerp: impl FnOnce(&T, &T, f32) -> T) -> T {
        // The step of tick t leads to the state of tick t + 1, so `tick` is one more than that of the last step.
        let set_by_then = self.later.partition_point(|after| after.tick < tick);
        let Some(current) = set_by_then.checked_sub(1) else {
            // `first` is the value before all steps that are kept.
            return self.first.clone();
        };
        let previous = current.checked_sub(1);
        let previous = previous.map_or(&self.first, |i| &self.later[i].value);
        let current = &self.later[current];
        // If later steps have set no value, it does not change in them.
        if current.jumps || tick.saturating_sub(current.tick) > 1 {
            current.value.clone()
        } else {
            lerp(previous, &current.value, alpha)
        }
    }

    /// Sets the value after a step, and forgets the values of later ones. If it `jumps`, it is not interpolated from
    /// the previous value.
    fn push(&mut self, tick: u64, value: T, jumps: bool) {
        let earlier_count = self.later.partition_point(|after| after.tick < tick);
        // If the last value is of this step, the step sets it twice, and a jump remains one. After a rollback of
        // several steps, values of later steps follow, and the jump of this step is forgotten.
        let same_step = self.later.back().filter(|after| after.tick == tick);
        let jumps = jumps || same_step.is_some_and(|after| after.jumps);
        self.later.truncate(earlier_count);
        // A rollback has gone back to before the oldest kept value, so this one is now the oldest.
        if self.first_tick.is_some_and(|first| tick <= first) {
            (self.first, self.first_tick) = (value, Some(tick));
            return;
        }
        // The oldest value makes room. It remains as `first`, the value with which the next kept step begins.
        if earlier_count >= KEPT
            && let Some(oldest) = self.later.pop_front()
        {
            (self.first, self.first_tick) = (oldest.value, Some(oldest.tick));
        }
        self.later.push_back(After { tick, value, jumps });
    }
}
