//! Lays out the package `evenstep2d` for publication, in `target/evenstep2d`.
//!
//! It has the same sources as `evenstep`, which are outside its folder, but cargo packs only files inside. So this
//! program copies the package and the sources into one folder, from which cargo packs and publishes:
//!
//! ```sh
//! cargo run --manifest-path tools/stage2d/Cargo.toml
//! cargo publish --manifest-path target/evenstep2d/Cargo.toml --package evenstep2d
//! ```

use std::error::Error;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let stage = root.join("target/evenstep2d");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    let package = stage.join("evenstep2d");
    fs::create_dir_all(&package)?;

    // The settings that both packages share, such as versions.
    let mut workspace: Table = fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    workspace.retain(|key, _| key == "workspace");
    workspace["workspace"]["members"] = Value::Array(vec!["evenstep2d".into()]);
    fs::write(stage.join("Cargo.toml"), workspace.to_string())?;
    fs::copy(root.join("Cargo.lock"), stage.join("Cargo.lock"))?;

    let manifest: Table = fs::read_to_string(root.join("evenstep2d/Cargo.toml"))?.parse()?;
    fs::write(package.join("Cargo.toml"), published(manifest).to_string())?;

    for name in ["build.rs", "README.md"] {
        fs::copy(root.join("evenstep2d").join(name), package.join(name))?;
    }
    for name in ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root.join(name), package.join(name))?;
    }
    copy_folder(&root.join("src"), &package.join("src"))?;
    fs::remove_dir_all(package.join("src/dim/dim3"))?;
    println!("{}", stage.canonicalize()?.display());
    Ok(())
}

/// Returns the manifest without the tests and their dependencies, because the tests are not copied.
fn published(mut manifest: Table) -> Table {
    manifest.retain(|key, _| !["dev-dependencies", "test"].contains(&key));
    manifest["lib"]["path"] = "src/lib.rs".into();
    // A feature may enable features of the tests' dependencies, such as `scenes/serde`. Cargo refuses a feature of a
    // package that is not a dependency.
    let dependencies = manifest["dependencies"].clone();
    let is_published = |feature: &Value| {
        let package = feature.as_str().and_then(|name| name.split_once('/'));
        package.is_none_or(|(package, _)| dependencies.get(package.trim_end_matches('?')).is_some())
    };
    for (_, features) in manifest["features"].as_table_mut().into_iter().flatten() {
        if let Some(features) = features.as_array_mut() {
            features.retain(is_published);
        }
    }
    manifest
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &copy)?;
        } else {
            fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}
