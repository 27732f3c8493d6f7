//! Builds the pages. Each is a package that is compiled and bound to JavaScript.

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use wasm_bindgen_cli_support::Bindgen;

use crate::compress::compress;

/// The WebAssembly of a page, or of all pages in 2D.
struct Page {
    name: &'static str,
    /// The package, relative to the folder of examples.
    package: &'static str,
    /// The file that cargo builds.
    wasm: &'static str,
    /// The parts of the package to build.
    arguments: &'static [&'static str],
}

const PAGES: [Page; 3] = [
    Page {
        name: "canvas",
        package: "browser",
        wasm: "evenstep_browser.wasm",
        arguments: &["--lib", "--crate-type", "cdylib", "--features", "canvas"],
    },
    Page {
        name: "platformer",
        package: "platformer",
        wasm: "platformer.wasm",
        arguments: &["--bin", "platformer"],
    },
    Page {
        name: "playground",
        package: "window",
        wasm: "evenstep-window.wasm",
        arguments: &["--bin", "evenstep-window"],
    },
];

/// The profile of all pages, in addition to the packages' own: small rather than fast, and without unwinding, which
/// pages do not have.
const PROFILE: [&str; 11] = [
    "profile.page.inherits='dev'",
    "profile.page.codegen-units=1",
    "profile.page.debug=false",
    "profile.page.debug-assertions=false",
    "profile.page.incremental=false",
    "profile.page.lto=true",
    "profile.page.opt-level='z'",
    "profile.page.overflow-checks=false",
    "profile.page.panic='abort'",
    "profile.page.strip='debuginfo'",
    // In the dev profile, this package is fast, because it compresses the pages.
    "profile.page.package.evenstep-browser.opt-level='z'",
];
const TARGET: &str = "wasm32-unknown-unknown";
/// All browsers have SIMD since 2023, and it makes the code smaller: one instruction handles four numbers.
const SIMD: &str = "target.wasm32-unknown-unknown.rustflags=['-Ctarget-feature=+simd128']";

/// Builds all pages, or only the named one.
pub fn build(out: &Path, only: Option<&str>) -> Result<(), Box<dyn Error>> {
    let chosen = |page: &&Page| only.is_none_or(|name| name == page.name);
    let pages: Vec<_> = PAGES.iter().filter(chosen).collect();
    if pages.is_empty() {
        return Err(format!("the pages are {}", PAGES.map(|page| page.name).join(", ")).into());
    }
    fs::create_dir_all(out)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    copy_static(&root.join("pages"), out)?;
    for page in pages {
        page.build(root, out)?;
    }
    Ok(())
}

/// Copies the HTML, scripts and pictures, each with its compressed copies.
fn copy_static(from: &Path, out: &Path) -> io::Result<()> {
    for file in fs::read_dir(from)? {
        let name = file?.file_name();
        let copy = out.join(&name);
        fs::copy(from.join(&name), &copy)?;
        compress(&copy)?;
    }
    Ok(())
}

impl Page {
    /// Builds the page, and prints the sizes of its WebAssembly and the time that it took.
    #[expect(clippy::disallowed_methods, reason = "people wait by the wall clock")]
    fn build(&self, root: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
        let start = Instant::now();
        let wasm = self.compile(root)?;
        (Bindgen::new().input_path(wasm).out_name(self.name))
            .web(true)?
            .typescript(false)
            .omit_default_module_path(false)
            .remove_name_section(true)
            .remove_producers_section(true)
            .generate(out)?;
        let wasm = out.join(format!("{}_bg.wasm", self.name));
        let script = out.join(format!("{}.js", self.name));
        let size = usize::try_from(fs::metadata(&wasm)?.len())?;
        // The page displays the progress of the download. A compressed response does not tell the size.
        let mut end = OpenOptions::new().append(true).open(&script)?;
        writeln!(end, "export const size = {size};")?;
        compress(&script)?;
        let [brotli, gzip] = compress(&wasm)?;
        let [size, gzip, brotli] = [size, gzip, brotli].map(|size| size / 1000);
        let (name, time) = (self.name, start.elapsed().as_secs());
        println!(
            "{name}: {size} kB, with gzip {gzip} kB, with brotli {brotli} kB; built in {time} s"
        );
        Ok(())
    }

    fn compile(&self, root: &Path) -> Result<PathBuf, Box<dyn Error>> {
        let package = root.join("..").join(self.package);
        let target = root.join("../../../target/pages");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["rustc", "--locked", "--profile", "page", "--target", TARGET]);
        for setting in PROFILE.into_iter().chain([SIMD]) {
            cargo.args(["--config", setting]);
        }
        cargo.arg("--manifest-path").arg(package.join("Cargo.toml"));
        cargo.arg("--target-dir").arg(&target);
        if !cargo.args(self.arguments).status()?.success() {
            let advice = "it needs the target: rustup target add wasm32-unknown-unknown";
            return Err(format!("{} could not be built; {advice}", self.name).into());
        }
        Ok(target.join(TARGET).join("page").join(self.wasm))
    }
}
