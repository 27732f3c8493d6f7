//! The README, the book and the examples are right: links lead somewhere, listings equal the files they quote, and commands
//! name existing programs and features.
//!
//! Runs in 3D. To run one case: `cargo test --all-features --test book pages::`.

// Files of the repository.
mod files;
// Links, excerpts and programs.
mod pages;
// The program for Rapier's guide.
mod guide;
// The promises of the book's recipes.
mod recipes;
// The files of the recipes, which readers copy.
mod copies;
// Figures that are quoted from benches and reports.
mod figures;
// Commands, which must name existing examples and features.
mod commands;
// The oldest Rust that the dependencies support.
mod minimum_rust;
