//! Compiles and runs the programs of the README and of the book's chapters as tests.

#[doc = include_str!("../README.md")]
struct Readme;

#[doc = include_str!("../docs/book/src/loop.md")]
struct Loop;

#[doc = include_str!("../docs/book/src/poses.md")]
struct Poses;

#[doc = include_str!("../docs/book/src/input.md")]
struct Input;

#[cfg(feature = "hecs")]
#[doc = include_str!("../docs/book/src/ecs.md")]
struct Ecs;

#[doc = include_str!("../docs/book/src/moving.md")]
struct Moving;

#[doc = include_str!("../docs/book/src/events.md")]
struct Events;

#[doc = include_str!("../docs/book/src/strategies.md")]
struct Strategies;

#[doc = include_str!("../docs/book/src/rapier.md")]
struct Rapier;

#[doc = include_str!("../docs/book/src/netcode.md")]
struct Netcode;

#[doc = include_str!("../docs/book/src/from-rapier.md")]
struct FromRapier;

#[doc = include_str!("../docs/book/src/threads.md")]
struct Threads;

#[doc = include_str!("../docs/book/src/states.md")]
struct States;

#[cfg(feature = "checksum")]
#[doc = include_str!("../docs/book/src/determinism.md")]
struct Determinism;
