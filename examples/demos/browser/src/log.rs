//! Lines for the scripts of a page.

use std::io;

use js_sys::{Array, Reflect};
use wasm_bindgen::JsCast;

/// Writes lines into an array of the page. Each write is a line, so put a `LineWriter` in front.
#[derive(Debug)]
pub struct PageLog(Array);

impl PageLog {
    /// Returns a log into the global array with this name, or `None` if the page has none.
    #[must_use]
    pub fn of_page(name: &str) -> Option<Self> {
        let array = Reflect::get(&js_sys::global(), &name.into()).ok()?;
        array.dyn_into().ok().map(Self)
    }
}

impl io::Write for PageLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in String::from_utf8_lossy(bytes).lines() {
            self.0.push(&line.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
