//! The mouse of a game that looks about: no cursor, and no edge where it ends.

use std::cell::Cell;
use std::rc::Rc;

use web_sys::{Element, PointerEvent};

use crate::clock::{document, on};

/// Counts how far the mouse moves while the browser locks the pointer to an element. Browsers allow that after a click,
/// and the Escape key ends it.
#[derive(Debug)]
pub struct PointerLock {
    is_allowed: Rc<Cell<bool>>,
    moved: Rc<Cell<[f32; 2]>>,
}

impl PointerLock {
    /// From the next click on an element on.
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

    /// Has clicks lock the pointer, or no more: then it is free at once.
    pub fn allow(&self, is_allowed: bool) {
        if self.is_allowed.replace(is_allowed) && !is_allowed {
            document().exit_pointer_lock();
        }
    }

    /// How far the mouse has moved since the last call, in pixels: to the right, and down.
    #[must_use]
    pub fn moved(&self) -> [f32; 2] {
        self.moved.take()
    }
}
