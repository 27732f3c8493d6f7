//! The clock of a page: frame times by the stamps of `requestAnimationFrame`, and real time for the stamps of events.
//!
//! A browser's stamps of frames and of events are of one clock, in milliseconds since the page was opened. It rounds
//! them: to 0.1 ms in Chrome, those of frames to 0.02 ms in Firefox, and to more where fingerprinting is resisted. A
//! [`FrameFilter`] evens that out.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use evenstep::{FrameFilter, FrameTimer};
use wasm_bindgen::convert::FromWasmAbi;
use wasm_bindgen::prelude::*;
use web_sys::{Document, Event, EventTarget, Window};

/// A [`FrameTimer`] by the page's clock, and a filter for its frames. The time for which the page was hidden is left
/// out: the game stands still.
pub struct PageClock {
    timer: FrameTimer,
    filter: FrameFilter,
    was_hidden: Rc<Cell<bool>>,
}

impl PageClock {
    /// From now on.
    #[must_use]
    pub fn new() -> Self {
        let was_hidden = Rc::new(Cell::new(false));
        let hidden = Rc::clone(&was_hidden);
        on(&document(), "visibilitychange", move |_: Event| {
            hidden.set(true);
        });
        Self {
            timer: FrameTimer::new(time(frame_stamp())),
            filter: FrameFilter::automatic(),
            was_hidden,
        }
    }

    /// The time of the frame that begins at a stamp of `requestAnimationFrame`.
    pub fn frame(&mut self, stamp: f64) -> Duration {
        let now = time(stamp);
        // Firefox asks for a frame now and then while the page is hidden.
        if self.was_hidden.replace(document().hidden()) {
            self.timer.resume(now);
        }
        self.filter.filter(self.timer.frame(now))
    }

    /// When an event happened, in real time: for an [`InputQueue`](evenstep::InputQueue).
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

/// The stamp that `requestAnimationFrame` gave the frame that is being made, for a loop that is not given it.
#[must_use]
pub fn frame_stamp() -> f64 {
    document().timeline().current_time().unwrap_or(0.0)
}

/// What the browser calls for a frame, with its stamp.
type FrameCall = Closure<dyn FnMut(f64)>;

/// Calls a function with the stamp of each frame that the display shows, as long as the page is open.
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
    let frame = frame.expect("it was set before the first frame");
    let request = window().request_animation_frame(frame.as_ref().unchecked_ref());
    request.expect("a function was given");
}

/// Calls a function for each event of that name, as long as the page is open.
pub fn on<E: FromWasmAbi + 'static>(
    target: &EventTarget,
    name: &str,
    call: impl FnMut(E) + 'static,
) {
    let call = Closure::<dyn FnMut(E)>::new(call).into_js_value();
    let added = target.add_event_listener_with_callback(name, call.unchecked_ref());
    added.expect("a function was given");
}

fn window() -> Window {
    web_sys::window().expect("this runs in a page")
}

/// The page.
///
/// # Panics
/// In a worker, which has none.
#[must_use]
pub fn document() -> Document {
    window().document().expect("a window has a page")
}

/// A stamp of the page: milliseconds.
fn time(stamp: f64) -> Duration {
    Duration::from_secs_f64(stamp.max(0.0) / 1000.0)
}
