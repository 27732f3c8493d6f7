//! Commands in the headers of the examples and reports, in the READMEs, in the book and in the documentation of the API.
//! Each names an existing program or bench, and existing features. `.ci/commands` runs the commands of the headers.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files::{files_below, read, root};

/// Returns the packages of this workspace as cargo describes them.
fn packages() -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["metadata", "--format-version=1", "--no-deps", "--locked"])
        .current_dir(root());
    let output = cargo.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    let list = list.as_array().into_iter().flatten();
    list.map(|item| item.as_str().unwrap())
}

/// Returns the targets of a package that are examples, benches or the like.
fn targets<'a>(package: &'a Value, kind: &str) -> impl Iterator<Item = &'a Value> {
    let targets = package["targets"].as_array().unwrap().iter();
    targets.filter(move |target| strings(&target["kind"]).any(|it| it == kind))
}

/// Returns the commands of a document that run a program or a bench of this workspace. A command is a line of a listing,
/// or text between backticks.
fn commands(text: &str) -> Vec<String> {
    let mut listed = Vec::new();
    let mut prose = String::new();
    let mut is_listing = false;
    for line in text.lines().map(str::trim_start) {
        let line = ["//!", "///"]
            .into_iter()
            .find_map(|comment| line.strip_prefix(comment))
            .unwrap_or(line)
            .trim_start();
        if line.starts_with("```") {
            is_listing = !is_listing;
        } else if is_listing {
            listed.push(line.split(" #").next().unwrap());
        } else {
            prose += line;
            prose.push(' ');
        }
    }
    let between_backticks = prose.split('`').skip(1).step_by(2);
    let all = listed.into_iter().chain(between_backticks);
    // Variables may be set before the command.
    let commands = all.filter_map(|line| {
        let mut starts = ["cargo bench ", "cargo run "].into_iter();
        starts.find_map(|start| line.find(start).map(|at| line[at..].trim()))
    });
    let here = commands.filter(|line| !line.contains("--manifest-path"));
    here.map(str::to_owned).collect()
}

/// Returns the commands of a program's header.
fn header(source: &str) -> Vec<String> {
    let end = source.find("\n\n").unwrap_or(source.len());
    commands(&source[..end])
}

/// Compares a command with the packages, and returns the name of its program or bench. It is empty for all benches.
fn check<'a>(command: &'a str, packages: &'a [Value]) -> Result<&'a str, String> {
    let arguments = command.split(" -- ").next().unwrap();
    let mut words = arguments.split_whitespace().skip(1);
    let is_bench = words.next() == Some("bench");
    let mut package = env!("CARGO_PKG_NAME");
    let mut target = None;
    let mut has_all_features = false;
    let mut to_enable: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_default();
        match word {
            "--release" => {}
            "--profile" => drop(value()),
            "--all-features" => has_all_features = true,
            "--bench" | "--bin" | "--example" => target = Some((&word[2..], value())),
            "--features" => to_enable.extend(value().split(',')),
            "-p" => package = value(),
            word => return Err(format!("unknown argument `{word}`")),
        }
    }
    let package = packages.iter().find(|it| it["name"] == package);
    let package = package.ok_or("there is no such package")?;
    let features = package["features"].as_object().unwrap();
    if has_all_features {
        to_enable.extend(features.keys().map(String::as_str));
    }
    let mut enabled = BTreeSet::new();
    while let Some(feature) = to_enable.pop() {
        let implied = features.get(feature);
        let implied = implied.ok_or_else(|| format!("there is no feature `{feature}`"))?;
        enabled.insert(feature);
        to_enable.extend(strings(implied).filter(|other| features.contains_key(*other)));
    }
    let target = match target {
        Some((kind, name)) => targets(package, kind)
            .find(|target| target["name"] == name)
            .ok_or_else(|| format!("there is no {kind} `{name}`"))?,
        None if is_bench => {
            return targets(package, "bench")
                .next()
                .map(|_| "")
                .ok_or("there are no benches".into());
        }
        None => targets(package, "bin")
            .next()
            .ok_or("the command names no program")?,
    };
    let name = target["name"].as_str().unwrap();
    let mut required = strings(&target["required-features"]);
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
fn every_program_header_states_a_valid_run_command() {
    let packages = packages();
    let mut count = 0;
    let kinds = ["bin", "example"];
    let programs = packages
        .iter()
        .flat_map(|package| kinds.into_iter().flat_map(|kind| targets(package, kind)));
    for program in programs {
        let name = program["name"].as_str().unwrap();
        let source = read(Path::new(program["src_path"].as_str().unwrap()));
        let commands = header(&source);
        assert!(!commands.is_empty(), "{name}: no `cargo run` in its header");
        for command in commands {
            assert_eq!(check(&command, &packages), Ok(name), "{name}: {command}");
        }
        count += 1;
    }
    assert!(count > 10, "{count} programs");
}

#[test]
fn commands_in_documents_name_existing_programs_benches_and_features() {
    let packages = packages();
    let mut files = ["README.md", "CONTRIBUTING.md", "benches/README.md"]
        .map(|file| root().join(file))
        .to_vec();
    files.extend(documents("docs/book/src"));
    files.extend(documents("examples"));
    files.extend(documents("benches/reports"));
    let mut counts = [0; 2];
    for file in &files {
        for command in commands(&read(file)) {
            let result = check(&command, &packages);
            assert!(result.is_ok(), "{}: {command}: {result:?}", file.display());
            counts[usize::from(command.starts_with("cargo bench"))] += 1;
        }
    }
    // The documentation of the API names benches beside figures.
    for file in files_below(&root().join("src"), "rs") {
        let source = read(&file);
        let comments = source
            .lines()
            .filter(|line| line.trim_start().starts_with("//"));
        for command in commands(&comments.collect::<Vec<_>>().join("\n")) {
            let result = check(&command, &packages);
            assert!(result.is_ok(), "{}: {command}: {result:?}", file.display());
            counts[usize::from(command.starts_with("cargo bench"))] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > 5), "{counts:?}");
}

#[test]
fn a_wrong_command_is_refused() {
    let packages = packages();
    let error = |command| check(command, &packages).unwrap_err();
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
    assert_eq!(error("cargo run --release"), "the command names no program");
    assert_eq!(
        error("cargo run -p evenstep-benches --example profile"),
        "`profile` requires the feature `tracing`"
    );
    assert_eq!(
        error("cargo bench --bench frame"),
        "there is no bench `frame`"
    );
    assert_eq!(
        error("cargo bench -p evenstep-bench"),
        "there is no such package"
    );
}

#[test]
fn commands_are_found_in_listings_and_between_backticks() {
    let found = commands(
        "Run `A=1 cargo bench\n--bench frame` and `cargo test`, not\n`cargo run --manifest-path P`:\n\n```sh\n\
         cargo bench -p benches    # all\n```\n\n/// In a comment (`cargo run\n/// --example replay`).\n",
    );
    assert_eq!(
        found,
        [
            "cargo bench -p benches",
            "cargo bench --bench frame",
            "cargo run --example replay",
        ]
    );
}
