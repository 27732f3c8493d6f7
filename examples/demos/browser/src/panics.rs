//! Shows panic messages in the page. WebAssembly alone reports only `unreachable`.

use std::panic::set_hook;

use js_sys::Reflect;

/// Makes panics store their message in the page's global `panicMessage`, which the page displays.
pub fn report_panics() {
    set_hook(Box::new(|info| {
        // Every page has a global object.
        let _ = Reflect::set(
            &js_sys::global(),
            &"panicMessage".into(),
            &info.to_string().into(),
        );
    }));
}
