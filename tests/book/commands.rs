//! Commands in the headers of the examples, in the README and in the book. Each names an existing example and existing
//! features. `.ci/commands` runs the commands of the headers.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns this package as cargo describes it.
fn package() -> Value {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["metadata", "--format-version=1", "--no-deps", "--locked"])
        .current_dir(root());
    let output = cargo.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let package = packages.find(|package| package["name"] == env!("CARGO_PKG_NAME"));
    package.unwrap().clone()
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    let list = list.as_array().into_iter().flatten();
    list.map(|item| item.as_str().unwrap())
}

fn examples(package: &Value) -> impl Iterator<Item = &Value> {
    let targets = package["targets"].as_array().unwrap().iter();
    targets.filter(|target| strings(&target["kind"]).any(|kind| kind == "example"))
}

/// Returns the commands of a document that run an example of this package. A command is a whole line.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(|line| {
        let line = line.strip_prefix("//!").unwrap_or(line);
        line.trim().trim_matches('`')
    });
    lines.filter(|line| line.starts_with("cargo run") && !line.contains("--manifest-path"))
}

/// Returns the commands of a program's header.
fn header(source: &str) -> Vec<&str> {
    let end = source.find("\n\n").unwrap_or(source.len());
    commands(&source[..end]).collect()
}

/// Compares a command with the package, and returns the name of its example.
fn check<'a>(command: &'a str, package: &Value) -> Result<&'a str, String> {
    let arguments = command.split(" -- ").next().unwrap();
    let mut words = arguments.split_whitespace().skip(2);
    let mut name = None;
    let mut enabled = BTreeSet::new();
    let features = package["features"].as_object().unwrap();
    let mut to_enable: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--release" => {}
            "--all-features" => to_enable.extend(features.keys().map(String::as_str)),
            "--example" => name = words.next(),
            "--features" => to_enable.extend(words.next().unwrap_or_default().split(',')),
            word => return Err(format!("unknown argument `{word}`")),
        }
    }
    while let Some(feature) = to_enable.pop() {
        let implied = features.get(feature);
        let implied = implied.ok_or_else(|| format!("there is no feature `{feature}`"))?;
        enabled.insert(feature);
        to_enable.extend(strings(implied).filter(|other| features.contains_key(*other)));
    }
    let name = name.ok_or("the command names no example")?;
    let example = examples(package).find(|example| example["name"] == name);
    let example = example.ok_or_else(|| format!("there is no example `{name}`"))?;
    let mut required = strings(&example["required-features"]);
    match required.find(|feature| !enabled.contains(feature)) {
        Some(feature) => Err(format!("`{name}` requires the feature `{feature}`")),
        None => Ok(name),
    }
}

/// Returns the files in a folder and in the folders inside it that end in `.md`.
fn documents(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        let readme = path.join("README.md");
        if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        } else if readme.exists() {
            files.push(readme);
        }
    }
    files
}

#[test]
fn every_example_header_states_a_valid_run_command() {
    let package = package();
    let mut count = 0;
    for example in examples(&package) {
        let name = example["name"].as_str().unwrap();
        let source = read(Path::new(example["src_path"].as_str().unwrap()));
        let commands = header(&source);
        assert!(!commands.is_empty(), "{name}: no `cargo run` in its header");
        for command in commands {
            assert_eq!(check(command, &package), Ok(name), "{name}: {command}");
        }
        count += 1;
    }
    assert!(count > 10, "{count} examples");
}

#[test]
fn commands_in_documents_name_existing_examples_and_features() {
    let package = package();
    let mut files = vec![root().join("README.md")];
    files.extend(documents("docs/book/src"));
    files.extend(documents("examples"));
    files.extend(documents("benches/reports"));
    let mut count = 0;
    for file in files {
        for command in commands(&read(&file)) {
            let result = check(command, &package);
            assert!(result.is_ok(), "{}: {command}: {result:?}", file.display());
            count += 1;
        }
    }
    assert!(count > 5, "{count} commands");
}

#[test]
fn a_wrong_command_is_refused() {
    let package = package();
    let error = |command| check(command, &package).unwrap_err();
    assert_eq!(
        error("cargo run --release --example threaded --features hecs,threads"),
        "there is no feature `threads`"
    );
    assert_eq!(
        error("cargo run --example threaded"),
        "`threaded` requires the feature `hecs`"
    );
    assert_eq!(
        error("cargo run --example thread --all-features -- --seconds 3"),
        "there is no example `thread`"
    );
    assert_eq!(error("cargo run --relase"), "unknown argument `--relase`");
    assert_eq!(error("cargo run --release"), "the command names no example");
}
