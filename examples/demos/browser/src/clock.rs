//! The clock of a page: frame times from the timestamps of `requestAnimationFrame`, and real times of events.
//!
//! A browser's timestamps of frames and events come from one clock, in milliseconds since the page was opened. They are
//! rounded: to 0.1 ms in Chrome, those of frames to 0.02 ms in Firefox, and to more if fingerprinting is resisted. A
//! [`FrameFilter`] smooths them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use evenstep::time::{FrameFilter, FrameTimer};
use wasm_bindgen::convert::FromWasmAbi;
use wasm_bindgen::prelude::*;
use web_sys::{Document, Event, EventTarget, Window};

/// A [`FrameTimer`] on the page's clock, and a filter for its frames. It leaves out the time for which the page was
/// hidden, so the game pauses meanwhile.
pub struct PageClock {
    timer: FrameTimer,
    filter: FrameFilter,
    was_hidden: Rc<Cell<bool>>,
    has_started: bool,
}

impl PageClock {
    /// Creates a clock that starts now.
    #[must_use]
    pub fn new() -> Self {
        let was_hidden = Rc::new(Cell::new(false));
        let hidden = Rc::clone(&was_hidden);
        on(&document(), "visibilitychange", move |_: Event| {
            hidden.set(true);
        });
        Self {
            timer: FrameTimer::new(time(frame_stamp()), Duration::ZERO),
            filter: FrameFilter::automatic(),
            was_hidden,
            has_started: false,
        }
    }

    /// Returns the time of the frame that begins at a timestamp of `requestAnimationFrame`. In the first frame, the page
    /// receives the event `firstframe`.
    pub fn frame(&mut self, stamp: f64) -> Duration {
        if !std::mem::replace(&mut self.has_started, true) {
            let event = Event::new("firstframe").unwrap();
            document().dispatch_event(&event).unwrap();
        }
        let now = time(stamp);
        // Firefox requests a frame now and then while the page is hidden.
        if self.was_hidden.replace(document().hidden()) {
            self.timer.resume(now);
        }
        self.filter.filter(self.timer.frame(now))
    }

    /// Returns when an event happened, in real time, for an [`InputQueue`](evenstep::input::InputQueue).
    #[must_use]
    pub fn stamp(&self, event: &Event) -> Duration {
        self.timer.stamp(time(event.time_stamp()))
    }
}

impl Default for PageClock {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the timestamp that `requestAnimationFrame` gave the present frame, for a loop that does not receive it.
#[must_use]
pub fn frame_stamp() -> f64 {
    document().timeline().current_time().unwrap_or(0.0)
}

/// The callback that the browser calls for a frame, with its timestamp.
type FrameCall = Closure<dyn FnMut(f64)>;

/// Calls a function with the timestamp of each displayed frame, as long as the page is open.
pub fn each_frame(mut frame: impl FnMut(f64) + 'static) {
    let next: Rc<RefCell<Option<FrameCall>>> = Rc::default();
    let this = Rc::clone(&next);
    *next.borrow_mut() = Some(Closure::new(move |stamp| {
        frame(stamp);
        request_frame(this.borrow().as_ref());
    }));
    request_frame(next.borrow().as_ref());
}

fn request_frame(frame: Option<&FrameCall>) {
    let frame = frame.expect("the callback is set before the first frame");
    let request = window().request_animation_frame(frame.as_ref().unchecked_ref());
    request.unwrap();
}

/// Calls a function for each event of this name, as long as the page is open.
pub fn on<E: FromWasmAbi + 'static>(
    target: &EventTarget,
    name: &str,
    call: impl FnMut(E) + 'static,
) {
    let call = Closure::<dyn FnMut(E)>::new(call).into_js_value();
    let added = target.add_event_listener_with_callback(name, call.unchecked_ref());
    added.unwrap();
}

fn window() -> Window {
    web_sys::window().expect("this runs in a page")
}

/// Returns the page.
///
/// # Panics
/// In a worker, which has no page.
#[must_use]
pub fn document() -> Document {
    window().document().expect("a window has a page")
}

/// Converts a timestamp of the page, in milliseconds.
fn time(stamp: f64) -> Duration {
    Duration::from_secs_f64(stamp.max(0.0) / 1000.0)
}
