//! Compiles and runs the programs of the README and of the book's chapters as tests.

#[doc = include_str!("../README.md")]
struct Readme;

#[doc = include_str!("../docs/book/src/loop.md")]
struct Loop;

#[doc = include_str!("../docs/book/src/poses.md")]
struct Poses;

#[doc = include_str!("../docs/book/src/input.md")]
struct Input;

#[cfg(all(feature = "hecs", feature = "serde"))]
#[doc = include_str!("../docs/book/src/ecs.md")]
struct Ecs;

#[cfg(feature = "hecs")]
#[doc = include_str!("../docs/book/src/components.md")]
struct Components;

#[doc = include_str!("../docs/book/src/camera.md")]
struct Camera;

#[doc = include_str!("../docs/book/src/forces.md")]
struct Forces;

#[doc = include_str!("../docs/book/src/moving.md")]
struct Moving;

#[doc = include_str!("../docs/book/src/events.md")]
struct Events;

#[doc = include_str!("../docs/book/src/characters.md")]
struct Characters;

#[doc = include_str!("../docs/book/src/recipes.md")]
struct Recipes;

#[doc = include_str!("../docs/book/src/vehicles.md")]
struct Vehicles;

#[doc = include_str!("../docs/book/src/joints.md")]
struct Joints;

#[doc = include_str!("../docs/book/src/rapier.md")]
struct Rapier;

#[doc = include_str!("../docs/book/src/netcode.md")]
struct Netcode;

#[doc = include_str!("../docs/book/src/prediction.md")]
struct Prediction;

#[doc = include_str!("../docs/book/src/preview.md")]
struct Preview;

#[doc = include_str!("../docs/book/src/from-rapier.md")]
struct FromRapier;

#[doc = include_str!("../docs/book/src/answers.md")]
struct Answers;

#[doc = include_str!("../docs/book/src/threads.md")]
struct Threads;

#[doc = include_str!("../docs/book/src/browser.md")]
struct Browser;

#[cfg(feature = "serde")]
#[doc = include_str!("../docs/book/src/states.md")]
struct States;

#[cfg(feature = "checksum")]
#[doc = include_str!("../docs/book/src/determinism.md")]
struct Determinism;

#[doc = include_str!("../docs/book/src/problem.md")]
struct Problem;

#[cfg(feature = "mint")]
#[doc = include_str!("../docs/book/src/interop.md")]
struct Interop;
