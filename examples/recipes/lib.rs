//! The recipes of evenstep's book. To use one, copy its file into your game: none needs another. `tests/book/recipes` has
//! their tests.

// Players and characters.
pub mod coyote_time;
pub mod crouching;
pub mod hero;
pub mod input;
pub mod player;
pub mod throw_path;
pub mod unity_script;

// Objects.
pub mod along_path;
pub mod breakable_joints;
pub mod buoyancy;
pub mod cloth;
pub mod conveyor;
pub mod door;
pub mod dragging;
pub mod explosion;
pub mod grabbing;
pub mod magnets;
pub mod pick_ups;
pub mod pool;
pub mod ragdoll;
pub mod vehicle;

// Time.
pub mod hit_stop;
pub mod paused;
pub mod preview;
pub mod thinking;

// The world.
pub mod editor;
pub mod far_worlds;
pub mod ground;
pub mod hot_reload;
#[cfg(feature = "serde")]
pub mod last_seconds;
pub mod portal;
#[cfg(feature = "serde")]
pub mod progress;
#[cfg(feature = "serde")]
pub mod recorded;
pub mod waves;
pub mod worlds;

// Pictures and sounds.
pub mod corrected_sounds;
pub mod instances;
pub mod motion_vectors;
pub mod sound;
pub mod worker;

// Networks.
pub mod outage;
pub mod predicted_player;
pub mod remote_bodies;
pub mod shots;

// An ECS.
#[cfg(feature = "hecs")]
pub mod filters;
#[cfg(feature = "hecs")]
pub mod hits;
#[cfg(feature = "hecs")]
pub mod with_hecs;
