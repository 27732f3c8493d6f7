//! The mouse of a game with mouse look: no cursor, and no edge that stops it.

use std::cell::Cell;
use std::rc::Rc;

use web_sys::{Element, PointerEvent};

use crate::clock::{document, on};

/// Returns whether the main pointing device is a finger.
#[must_use]
pub fn is_touch() -> bool {
    let query = web_sys::window().map(|window| window.match_media("(pointer: coarse)"));
    matches!(query, Some(Ok(Some(list))) if list.matches())
}

/// Counts how far the mouse moves while the browser locks the pointer to an element. Browsers lock it after a click,
/// and the Escape key releases it.
#[derive(Debug)]
pub struct PointerLock {
    is_allowed: Rc<Cell<bool>>,
    moved: Rc<Cell<[f32; 2]>>,
}

impl PointerLock {
    /// Creates a lock that starts with the next click on an element.
    #[must_use]
    pub fn new(element: &Element) -> Self {
        let (is_allowed, moved) = (Rc::new(Cell::new(true)), Rc::new(Cell::new([0.0; 2])));
        let (allowed, locked) = (Rc::clone(&is_allowed), element.clone());
        on(element, "pointerdown", move |event: PointerEvent| {
            if allowed.get() && event.pointer_type() == "mouse" {
                locked.request_pointer_lock();
            }
        });
        let sum = Rc::clone(&moved);
        on(element, "pointermove", move |event: PointerEvent| {
            if document().pointer_lock_element().is_some() {
                let [x, y] = sum.get();
                sum.set([x + event.movement_x() as f32, y + event.movement_y() as f32]);
            }
        });
        Self { is_allowed, moved }
    }

    /// Lets clicks lock the pointer, or stops that and releases it at once.
    pub fn allow(&self, is_allowed: bool) {
        if self.is_allowed.replace(is_allowed) && !is_allowed {
            document().exit_pointer_lock();
        }
    }

    /// Returns how far the mouse has moved since the last call, in pixels, to the right and down.
    #[must_use]
    pub fn moved(&self) -> [f32; 2] {
        self.moved.take()
    }
}
