//! Files that readers copy into their games. Each of `examples/recipes` compiles alone, as a reader compiles it.

use std::collections::BTreeSet;

use crate::files::{files_below, read, root};

#[test]
fn each_recipe_is_compiled_alone_and_says_what_it_is() {
    let folder = root().join("examples/recipes");
    let library = read(&folder.join("lib.rs"));
    let modules = library
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let modules: BTreeSet<_> = modules.map(str::to_owned).collect();
    let mut files = BTreeSet::new();
    for file in files_below(&folder, "rs") {
        let name = file.strip_prefix(&folder).unwrap().with_extension("");
        let name = name.to_str().unwrap().to_owned();
        if name == "lib" {
            continue;
        }
        let text = read(&file);
        assert!(text.starts_with("//! "), "{name}: no head");
        for other in ["super::", "crate::", "mod "] {
            let is_alone = text.lines().all(|line| !line.contains(other));
            assert!(is_alone, "{name}: `{other}` leads to another file");
        }
        files.insert(name);
    }
    assert_eq!(files, modules);
    assert!(files.len() > 40, "{} files", files.len());
}

#[test]
fn the_table_of_the_examples_lists_each_recipe() {
    let table = read(&root().join("examples/README.md"));
    for file in files_below(&root().join("examples/recipes"), "rs") {
        let name = file.file_name().unwrap().to_str().unwrap();
        let is_listed = table.contains(&format!("](recipes/{name})"));
        assert!(is_listed || name == "lib.rs", "{name}");
    }
}

#[test]
fn the_hecs_game_in_two_dimensions_differs_in_the_shape_of_the_ground_alone() {
    let game = read(&root().join("examples/coins.rs"));
    let flat = game.replace("cuboid(20.0, 0.5, 5.0)", "cuboid(20.0, 0.5)");
    let flat = flat.replace("cargo run --", "cargo run -p evenstep2d --");
    assert_eq!(read(&root().join("evenstep2d/examples/coins.rs")), flat);
}
