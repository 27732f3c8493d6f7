//! Input for the steps: each sample in exactly one step.
//!
//! # Which queue?
//! | input | type |
//! | --- | --- |
//! | with the time at which it happened: keys, mouse, pads | [`InputQueue`] with [`Delivery::ByTime`] |
//! | without a time: devices that are polled once per frame | [`InputQueue`] with [`Delivery::NextStep`] |
//! | for a tick: a server, lockstep, a replay, a rollback | [`TickQueue`], and [`TickSender`] on the sender |
//! | whether a button is down, was pressed or was released in a step | [`Button`] |
//!
//! A networked game needs two: in each step, it moves its samples from the `InputQueue` to the `TickQueue`, for a later
//! tick.

// A button's edges.
mod button;
// Input by time.
mod input_queue;
// Input by tick.
mod tick_queue;
// Samples for ticks, on the sender.
mod tick_sender;

pub use button::Button;
pub use input_queue::{Delivery, InputCounts, InputQueue, Sample};
pub use tick_queue::{TickCounts, TickError, TickQueue};
pub use tick_sender::TickSender;
