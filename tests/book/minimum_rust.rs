//! The `rust-version` of `Cargo.toml`, compared with the versions that the locked dependencies declare.

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Returns `1.89` or `1.89.0` as numbers.
fn version(text: &str) -> Vec<u32> {
    let mut parts: Vec<u32> = text.split('.').map(|part| part.parse().unwrap()).collect();
    parts.resize(3, 0);
    parts
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns cargo's metadata of all packages for this platform, with all features.
fn metadata() -> Value {
    let about = output(Command::new("rustc").arg("-vV"));
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--all-features",
        ])
        .args(["--filter-platform", host.unwrap()])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&output(&mut cargo)).unwrap()
}

fn by_id<'a>(list: &'a Value, id: &str) -> BTreeMap<&'a str, &'a Value> {
    let list = list.as_array().unwrap().iter();
    list.map(|item| (item[id].as_str().unwrap(), item))
        .collect()
}

#[test]
fn no_dependency_needs_a_newer_rust_than_promised() {
    let metadata = metadata();
    let packages = by_id(&metadata["packages"], "id");
    let nodes = by_id(&metadata["resolve"]["nodes"], "id");
    let root = metadata["resolve"]["root"].as_str().unwrap();
    let promised = packages[root]["rust_version"].as_str().unwrap();

    let mut to_visit = vec![root];
    let mut visited = BTreeMap::new();
    while let Some(id) = to_visit.pop() {
        let needed = packages[id]["rust_version"].as_str();
        if visited.insert(id, needed).is_some() {
            continue;
        }
        for dependency in nodes[id]["deps"].as_array().unwrap() {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            // Users do not build the dependencies of tests and examples.
            if kinds.iter().any(|kind| kind["kind"] != "dev") {
                to_visit.push(dependency["pkg"].as_str().unwrap());
            }
        }
    }
    assert!(visited.len() > 20, "{visited:?}");
    for (id, needed) in visited {
        let Some(needed) = needed else { continue };
        assert!(
            version(needed) <= version(promised),
            "{id} needs Rust {needed}, and Cargo.toml promises {promised}"
        );
    }
}
