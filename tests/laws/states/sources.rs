//! The list of methods matches the sources.

use super::methods::METHODS;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[cfg(dim2)]
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../src");
#[cfg(not(dim2))]
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// Adds the public methods in all files of a folder.
fn collect(folder: &Path, methods: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, methods);
            continue;
        }
        let mut of = None;
        for line in fs::read_to_string(path).unwrap().lines() {
            match line {
                "impl Simulation {" => of = Some("Simulation"),
                "impl Physics {" => of = Some("Physics"),
                "}" => of = None,
                _ => (),
            }
            if let (Some(of), Some(rest)) = (of, line.strip_prefix("    pub fn ")) {
                let end = rest.find(['(', '<']).unwrap();
                methods.insert(format!("{of}::{}", &rest[..end]));
            }
        }
    }
}

#[test]
fn every_public_method_is_listed() {
    let mut methods = BTreeSet::new();
    collect(Path::new(SOURCES), &mut methods);
    let listed = METHODS.iter().map(|method| method.name.to_owned());
    let listed: BTreeSet<_> = listed.filter(|name| !name.starts_with('(')).collect();
    assert_eq!(methods, listed);
}
