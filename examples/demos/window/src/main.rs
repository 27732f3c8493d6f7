//! The playground: in a window, in a page in a browser, or as pictures without a display.

// Parts that depend on the system: command line and clock.
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
