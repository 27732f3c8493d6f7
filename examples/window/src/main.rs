//! The playground: in a window, in a page of a browser, or as pictures without a display.

// What the system has: a command line, a clock.
#[cfg_attr(target_arch = "wasm32", path = "host/page.rs")]
#[cfg_attr(not(target_arch = "wasm32"), path = "host/desktop.rs")]
mod host;

#[kiss3d::main]
async fn main() {
    if let Err(error) = host::run().await {
        eprintln!("error: {error}");
        std::process::exit(2);
    }
}
