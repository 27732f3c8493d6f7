//! Measures how far the mouse has moved. A click makes the browser lock the pointer.

use evenstep_browser::clock::document;
use evenstep_browser::pointer::PointerLock;
use kiss3d::glamx::Vec2;
use kiss3d::window::Window;

/// The pointer, with distances in pixels.
#[derive(Default)]
pub struct Mouse {
    lock: Option<PointerLock>,
}

impl Mouse {
    /// Lets a click lock the pointer, or frees it.
    pub fn hold(&mut self, _: &Window, is_held: bool) {
        let canvas = || document().get_element_by_id("canvas").unwrap();
        let lock = self.lock.get_or_insert_with(|| PointerLock::new(&canvas()));
        lock.allow(is_held);
    }

    /// Returns how far the pointer has moved to the right and down since the last call.
    pub fn moved(&mut self, _: Vec2) -> Vec2 {
        let moved = self.lock.as_ref().map(PointerLock::moved);
        Vec2::from(moved.unwrap_or_default())
    }

    /// Does nothing: a locked pointer has no position.
    pub fn recentre(&mut self, _: &Window) {}
}
