//! Effects that belong to a step happen once, in that step: forces, targets, input, hooks, events, edits and teleports.
//!
//! Runs the closure and the pull form in 3D and in 2D, and some cases with `Overlap` and `Runner`.
//! One case: `cargo test --all-features --test step forces::once::`.

// Forces, impulses, torques and force generators.
mod forces;
// Kinematic targets.
mod targets;
// Input by time and by tick.
mod input;
// Hooks, and what they may call.
mod hooks;
// Which colliders touch a body now.
mod touching;
// Collisions and contact forces, each with its tick.
mod events;
// Points of contact, and bodies that fall asleep or wake up.
mod hits;
// Bodies that the game puts to sleep, or takes out of the simulation for a while.
mod sleep;
// Starts and stops of each pair of colliders alternate.
mod alternation;
// Bodies edited through Rapier.
mod edits;
// Changes of gravity, and sleeping bodies.
mod gravity;
// Contacts of bodies that the game changes while they rest.
mod contacts;
// Teleports, portals and shifts of the origin.
mod placing;
// Multibodies: links, roots and cuts.
mod multibodies;
// Copies of a simulation, and levels that restart.
mod identity;
// Steps of a copy, for a preview.
mod preview;
// Your own values that belong to a simulation.
mod resources;
// No allocation in a steady frame.
mod allocations;
// Queries after a change.
mod queries;
// Facts about Rapier that the code relies on.
#[cfg(not(dim2))]
mod rapier_facts;
