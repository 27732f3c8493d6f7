//! The README and the book: links lead somewhere, excerpts equal their files, and every program is run.

use std::collections::BTreeSet;
use std::fs;

use crate::files::{files_below, read, root};

const BOOK: &str = "docs/book/src";

/// Returns the names of the chapters, in alphabetical order.
fn chapters() -> Vec<String> {
    let files = fs::read_dir(root().join(BOOK)).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect();
    names.sort();
    names
}

/// Returns the lines of a document, each with whether it is part of a listing.
fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut is_listing = false;
    text.lines().map(move |line| {
        let is_fence = line.starts_with("```");
        is_listing ^= is_fence;
        (line, is_listing || is_fence)
    })
}

/// Returns the targets of a document's links.
fn links(text: &str) -> Vec<String> {
    let prose = lines(text).filter(|(_, is_listing)| !is_listing);
    let pieces = prose.flat_map(|(line, _)| line.split("](").skip(1));
    let targets = pieces.filter_map(|piece| Some(piece.split_once(')')?.0.to_owned()));
    targets
        .filter(|target| !target.is_empty() && !target.starts_with("http"))
        .collect()
}

/// Returns the anchors of a document's headings, in the form of code hosts and mdBook.
fn anchors(text: &str) -> BTreeSet<String> {
    let prose = lines(text).filter(|(_, is_listing)| !is_listing);
    let headings = prose.filter_map(|(line, _)| line.trim_start_matches('#').strip_prefix(' '));
    headings
        .map(|heading| {
            let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
            let kept = heading
                .to_lowercase()
                .chars()
                .filter(kept)
                .collect::<String>();
            kept.replace(' ', "-")
        })
        .collect()
}

#[test]
fn every_link_has_an_existing_target() {
    let documents = files_below(root(), "md");
    assert!(documents.contains(&root().join("README.md")));
    let mut broken = Vec::new();
    for file in documents {
        for link in links(&read(&file)) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let mut target = match path {
                "" => file.clone(),
                path => file.parent().unwrap().join(path),
            };
            if target.is_dir() && !anchor.is_empty() {
                target.push("README.md"); // which code hosts display below a folder's files
            }
            let leads =
                target.exists() && (anchor.is_empty() || anchors(&read(&target)).contains(anchor));
            if !leads {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_chapter_is_in_the_table_of_contents() {
    let summary = read(&root().join(BOOK).join("SUMMARY.md"));
    let mut listed = links(&summary);
    listed.sort();
    assert_eq!(listed, chapters());
}

#[test]
fn the_api_documentation_names_existing_pages_of_the_book() {
    for file in ["src/lib.rs", "src/pose/motion.rs"] {
        let text = read(&root().join(file));
        let pieces = text.split("`docs/").skip(1);
        let paths: Vec<_> = pieces.filter_map(|piece| piece.split('`').next()).collect();
        assert!(!paths.is_empty(), "{file}");
        for path in paths {
            assert!(root().join("docs").join(path).exists(), "{path}");
        }
    }
}

/// mdBook turns a link to another Markdown file into a link to a page, which exists for chapters only.
#[test]
fn chapters_link_to_no_markdown_outside_the_book() {
    for name in chapters() {
        for link in links(&read(&root().join(BOOK).join(&name))) {
            let is_beside = link.starts_with("..") && link.contains(".md");
            assert!(!is_beside, "{name}: {link}");
        }
    }
}

#[test]
fn chapters_with_programs_are_included_in_the_doctests() {
    let run = ["src/book.rs", "src/dim/dim2/book.rs"].map(|file| read(&root().join(file)));
    let run = run.concat();
    for name in chapters() {
        let has_programs = read(&root().join(BOOK).join(&name))
            .lines()
            .any(|line| line == "```rust");
        let is_run = run.contains(&format!("{BOOK}/{name}\""));
        assert_eq!(has_programs, is_run, "{name}");
    }
}

/// Checks that a listing that is not run follows a comment with the name of its file.
#[test]
fn excerpts_equal_their_source_files() {
    let trimmed = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let mut count = 0;
    let chapters = chapters();
    let chapters = chapters.iter().map(|name| format!("{BOOK}/{name}"));
    for name in chapters.chain(["README.md".to_owned()]) {
        let text = read(&root().join(&name));
        let mut pieces = text.split("\n```rust,ignore\n");
        let mut before = pieces.next().unwrap();
        for piece in pieces {
            let source = before.lines().next_back().unwrap();
            let source = source.strip_prefix("<!-- from ");
            let source = source.and_then(|source| source.strip_suffix(" -->"));
            let source = source.unwrap_or_else(|| panic!("{name}: a listing that names no file"));
            let listing = piece.split_once("\n```").unwrap().0;
            let is_there = trimmed(&read(&root().join(source))).contains(&trimmed(listing));
            assert!(is_there, "{name}: not in {source}:\n{listing}");
            before = piece;
            count += 1;
        }
    }
    assert!(count > 10, "{count} excerpts");
}

/// A picture has a background, which is dark on dark pages. Its letters are at least eleven pixels high on a phone.
#[test]
fn pictures_are_readable_on_dark_pages_and_on_phones() {
    const PHONE: f32 = 320.0; // the width of a page, without its margins
    let numbers = |svg: &str, name: &str| -> Vec<f32> {
        let values = svg
            .split(name)
            .skip(1)
            .filter_map(|rest| rest.split('"').next());
        values.map(|value| value.parse().unwrap()).collect()
    };
    let mut count = 0;
    for file in fs::read_dir(root().join(BOOK)).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "svg") {
            continue;
        }
        let svg = read(&path);
        let name = path.display();
        let [width, height] = [" width=\"", " height=\""].map(|size| numbers(&svg, size)[0]);
        let ground = format!(r##"width="{width}" height="{height}" opacity="1" fill="#FFFFFF""##);
        assert!(svg.contains(&ground), "{name}");
        assert!(svg.contains("prefers-color-scheme: dark"), "{name}");
        let letters = numbers(&svg, "font-size=\"");
        let smallest = letters.into_iter().fold(f32::MAX, f32::min) * PHONE / width;
        assert!(smallest >= 11.0, "{name}: {smallest} pixels");
        count += 1;
    }
    assert!(count > 5, "{count} pictures");
}

/// Checks that listings fit beside the table of contents, where a browser would give them a scroll bar.
#[test]
fn listings_are_at_most_86_columns_wide() {
    const COLUMNS: usize = 86;
    let readmes = ["README.md", "evenstep2d/README.md"].map(|file| root().join(file));
    let chapters = chapters()
        .into_iter()
        .map(|name| root().join(BOOK).join(name));
    let mut wide = Vec::new();
    for file in readmes.into_iter().chain(chapters) {
        for ((line, is_listing), number) in lines(&read(&file)).zip(1..) {
            let columns = line.chars().count();
            if is_listing && columns > COLUMNS {
                wide.push(format!("{}:{number}: {columns} columns", file.display()));
            }
        }
    }
    assert!(wide.is_empty(), "{wide:#?}");
}
