//! README, book and examples say what is so: links lead somewhere, listings equal the files they quote, commands run.
//!
//! Runs in 3D. One case: `cargo test --all-features --test book pages::`.

#[path = "../scenes/mod.rs"]
mod scenes;

// Links, excerpts and programs.
mod pages;
// The program for Rapier's guide.
mod guide;
// What the book's recipes promise.
mod recipes;
// Commands that name examples and features.
mod commands;
// The oldest Rust that the dependencies need.
mod minimum_rust;
