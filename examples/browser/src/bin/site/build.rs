//! Builds the pages. Each is a package that is compiled and bound to JavaScript.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use wasm_bindgen_cli_support::Bindgen;

/// A page's WebAssembly.
struct Page {
    name: &'static str,
    /// The package, relative to the folder of examples.
    package: &'static str,
    /// The file that cargo builds.
    wasm: &'static str,
    /// The parts of the package to build.
    arguments: &'static [&'static str],
}

const PAGES: [Page; 4] = [
    Page {
        name: "ball",
        package: "browser",
        wasm: "evenstep_browser.wasm",
        arguments: &["--lib", "--features", "ball,record"],
    },
    Page {
        name: "pair",
        package: "browser",
        wasm: "evenstep_browser.wasm",
        arguments: &["--lib", "--features", "pair"],
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
const PROFILE: [&str; 9] = [
    "profile.page.inherits='dev'",
    "profile.page.codegen-units=1",
    "profile.page.debug=false",
    "profile.page.debug-assertions=false",
    "profile.page.incremental=false",
    "profile.page.lto=true",
    "profile.page.opt-level='z'",
    "profile.page.panic='abort'",
    "profile.page.strip='debuginfo'",
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
    for file in fs::read_dir(root.join("pages"))? {
        let file = file?;
        fs::copy(file.path(), out.join(file.file_name()))?;
    }
    for page in pages {
        let wasm = page.compile(root)?;
        (Bindgen::new().input_path(wasm).out_name(page.name))
            .web(true)?
            .typescript(false)
            .omit_default_module_path(false)
            .remove_name_section(true)
            .remove_producers_section(true)
            .generate(out)?;
        let wasm = out.join(format!("{}_bg.wasm", page.name));
        page.report(&wasm)?;
    }
    Ok(())
}

impl Page {
    fn compile(&self, root: &Path) -> Result<PathBuf, Box<dyn Error>> {
        let package = root.join("..").join(self.package);
        let target = root.join("../../target/pages");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["build", "--locked", "--profile", "page", "--target", TARGET]);
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

    /// Prints the sizes. Static hosts compress with gzip at least.
    fn report(&self, wasm: &Path) -> Result<(), Box<dyn Error>> {
        let bytes = fs::read(wasm)?;
        let mut compressed = GzEncoder::new(Vec::new(), Compression::best());
        compressed.write_all(&bytes)?;
        let [whole, small] = [bytes.len(), compressed.finish()?.len()].map(|size| size / 1000);
        println!("{}: {whole} kB, compressed {small} kB", self.name);
        Ok(())
    }
}
