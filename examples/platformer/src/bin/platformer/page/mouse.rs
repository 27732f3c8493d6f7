//! How far the mouse has moved, while the browser locks the pointer: from a click on.

use evenstep_browser::clock::document;
use evenstep_browser::pointer::PointerLock;
use kiss3d::glamx::Vec2;
use kiss3d::window::Window;

/// The pointer: distances in pixels.
#[derive(Default)]
pub struct Mouse {
    lock: Option<PointerLock>,
}

impl Mouse {
    /// Has a click lock the pointer, or frees it.
    pub fn hold(&mut self, _: &Window, is_held: bool) {
        let canvas = || {
            document()
                .get_element_by_id("canvas")
                .expect("kiss3d has made it")
        };
        let lock = self.lock.get_or_insert_with(|| PointerLock::new(&canvas()));
        lock.allow(is_held);
    }

    /// How far it has moved since the last call, to the right and down.
    pub fn moved(&mut self, _: Vec2) -> Vec2 {
        let moved = self.lock.as_ref().map(PointerLock::moved);
        Vec2::from(moved.unwrap_or_default())
    }

    /// A locked pointer has no place.
    pub fn recentre(&mut self, _: &Window) {}
}
