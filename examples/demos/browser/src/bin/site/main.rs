//! Builds the pages into a folder that any server of static files can serve, and serves it.

// The pages, and how each is built.
mod build;
// Compressed copies of the files.
mod compress;
// A server of files, for this machine.
mod serve;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Builds the pages for a browser, and serves them.
#[derive(Parser)]
struct Options {
    /// The folder for the pages
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../target/site"))]
    out: PathBuf,
    /// Builds without serving
    #[arg(long)]
    build_only: bool,
    /// Serves what was built before
    #[arg(long, conflicts_with_all = ["build_only", "page"])]
    serve_only: bool,
    /// Only `canvas`, which is the pages in 2D, `platformer` or `playground`
    #[arg(long, value_name = "NAME")]
    page: Option<String>,
    /// The port to serve at; 0 for a free one
    #[arg(long, default_value_t = 8080)]
    port: u16,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if !options.serve_only {
        build::build(&options.out, options.page.as_deref())?;
    }
    println!("the pages: {}", options.out.display());
    if options.build_only {
        return Ok(());
    }
    serve::serve(&options.out, options.port)
}
