//! What a panic says, for the page: WebAssembly itself says `unreachable`.

use std::panic::set_hook;

use js_sys::Reflect;

/// Has panics leave what they say in the global `panicMessage` of the page, which shows it.
pub fn report_panics() {
    set_hook(Box::new(|info| {
        // A page without a global object is none.
        let _ = Reflect::set(
            &js_sys::global(),
            &"panicMessage".into(),
            &info.to_string().into(),
        );
    }));
}
