//! The level, drawn as a map of characters, one per metre.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

use crate::one_way::platform;
use crate::sprites::Look;

/// `#` is rock, `=` a one-way platform, `C` a crate, `o` a coin, `L` the lift, `@` the hero.
const MAP: &str = "\
#                                      #
#                                      #
#                                      #
#                    o                 #
#                                   o  #
#     o      o                         #
#                  =====               #
#          =====                   ### #
#   =====         C                ### #
# @            o  C     o      L   ### #
########################################
########################################";

/// The height of the lift's travel in metres, and its duration.
pub const LIFT: (f32, Duration) = (3.0, Duration::from_secs(2));

/// The bodies that the game refers to, and the looks of all bodies.
#[derive(Clone, Debug)]
pub struct Level {
    /// The body of the player.
    pub hero: BodyKey,
    /// A platform that goes up and down.
    pub lift: BodyKey,
    /// The lower end of the lift.
    pub lift_at: Vector,
    /// The coins, which are sensors.
    pub coins: Vec<BodyKey>,
    /// Every body, with its look.
    pub looks: Vec<(BodyKey, Look)>,
}

/// Builds the level.
///
/// # Panics
/// If the map has no hero or no lift.
#[must_use]
pub fn build(physics: &mut Physics) -> Level {
    let (mut hero, mut lift) = (None, None);
    let (mut coins, mut looks) = (Vec::new(), Vec::new());
    for (at, width, tile) in tiles() {
        let body = |body: RigidBodyBuilder| body.translation(at);
        let half = 0.5 * width;
        let (body, collider, look) = match tile {
            '#' => (
                body(RigidBodyBuilder::fixed()),
                ColliderBuilder::cuboid(half, 0.5),
                Look::Rock(width),
            ),
            '=' => (
                body(RigidBodyBuilder::fixed()),
                platform(width),
                Look::Platform(width),
            ),
            'C' => (
                body(RigidBodyBuilder::dynamic()),
                ColliderBuilder::round_cuboid(0.42, 0.42, 0.03).density(0.5),
                Look::Crate,
            ),
            'o' => (
                body(RigidBodyBuilder::fixed()),
                ColliderBuilder::ball(0.25)
                    .sensor(true)
                    .active_events(ActiveEvents::COLLISION_EVENTS),
                Look::Coin,
            ),
            'L' => (
                body(RigidBodyBuilder::kinematic_position_based()),
                platform(3.0),
                Look::Platform(3.0),
            ),
            '@' => (
                // The hero never turns, and has no friction, so walls neither hold it in the air nor tow it.
                body(
                    RigidBodyBuilder::dynamic()
                        .lock_rotations()
                        .can_sleep(false),
                ),
                ColliderBuilder::capsule_y(0.3, 0.3)
                    .friction(0.0)
                    .friction_combine_rule(CoefficientCombineRule::Min),
                Look::Hero,
            ),
            _ => continue,
        };
        let key = physics.insert(body, collider);
        looks.push((key, look));
        match tile {
            '@' => hero = Some(key),
            'L' => lift = Some((key, at)),
            'o' => coins.push(key),
            _ => (),
        }
    }
    let (lift, lift_at) = lift.unwrap();
    Level {
        hero: hero.unwrap(),
        lift,
        lift_at,
        coins,
        looks,
    }
}

/// Returns the width and the height of the level, in metres. Its lower left corner is at zero.
#[must_use]
pub fn size() -> Vector {
    let width = MAP.lines().map(str::len).max().unwrap_or(0);
    Vector::new(width as f32, MAP.lines().count() as f32)
}

/// Returns the centre, the width and the character of each tile. Adjacent rocks or platforms in a row become one tile,
/// so that nothing catches on the seams.
fn tiles() -> impl Iterator<Item = (Vector, f32, char)> {
    let height = MAP.lines().count();
    MAP.lines().enumerate().flat_map(move |(row, line)| {
        let tiles: Vec<char> = line.chars().collect();
        let runs = tiles.chunk_by(|a, b| a == b && "#=".contains(*a));
        let mut column = 0;
        let mut placed = Vec::new();
        for run in runs {
            let width = run.len() as f32;
            let at = Vector::new(column as f32 + 0.5 * width, (height - row) as f32 - 0.5);
            placed.push((at, width, run[0]));
            column += run.len();
        }
        placed
    })
}
