//! Bodies of numbered entities, in maps. One step of 1/60 s per frame, forces that a list clears, and sensors around the
//! player.

pub mod even;
pub mod plain;

use evenstep::rapier::prelude::*;

/// The number of an entity.
pub type Id = u32;

/// The physics of the engine, as a game calls it.
pub trait Engine {
    fn insert(&mut self, id: Id, body: RigidBodyBuilder, collider: ColliderBuilder);
    fn remove(&mut self, id: Id);
    fn add_force(&mut self, id: Id, force: Vector);
    fn walk_to(&mut self, id: Id, position: Vector);
    fn position(&self, id: Id) -> Option<Vector>;
    /// Returns the sensors that `id` has entered (`true`) or left since the last step.
    fn crossed(&mut self, id: Id) -> Vec<(Id, bool)>;
}

const PLAYER: Id = 1;
const CRATE: Id = 2;
const ZONES: [Id; 2] = [3, 4];
const SHOTS: Id = 100;

/// The player walks over a ledge and through two zones, a crate is pushed, and shots fly over 20 m.
#[derive(Default)]
pub struct Game {
    time: f32,
    entered: f32,
    left: f32,
    shots: u32,
    hits: f32,
    /// The time of the first hit.
    first_hit: f32,
}

/// Returns the corners and triangles of the level: a floor.
pub fn level() -> (Vec<Vector>, Vec<[u32; 3]>) {
    let corners = [(-50.0, -50.0), (50.0, -50.0), (50.0, 50.0), (-50.0, 50.0)];
    (
        corners.map(|(x, z)| Vector::new(x, 0.0, z)).to_vec(),
        vec![[0, 2, 1], [0, 3, 2]],
    )
}

impl Game {
    pub fn start(&mut self, engine: &mut impl Engine) {
        let player = RigidBodyBuilder::kinematic_position_based().translation(Vector::Y * 8.0);
        engine.insert(PLAYER, player, ColliderBuilder::ball(0.5));
        let body = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.5, 10.0));
        engine.insert(
            CRATE,
            body,
            ColliderBuilder::cuboid(0.5, 0.5, 0.5)
                .mass(20.0)
                .friction(0.0),
        );
        for (id, x) in ZONES.into_iter().zip([4.0, 7.0]) {
            let zone = ColliderBuilder::cuboid(1.0, 10.0, 1.0)
                .sensor(true)
                .active_collision_types(ActiveCollisionTypes::all())
                .active_events(ActiveEvents::COLLISION_EVENTS);
            engine.insert(
                id,
                RigidBodyBuilder::fixed().translation(Vector::X * x),
                zone,
            );
        }
    }

    pub fn rules(&mut self, engine: &mut impl Engine, dt: f32) {
        self.time += dt;
        let mut player = engine.position(PLAYER).unwrap();
        player.x += 2.0 * dt;
        player.y -= if player.x > 2.0 && player.y > 0.6 {
            0.2
        } else {
            0.0
        }; // in each call, as the original does
        engine.walk_to(PLAYER, player);
        if self.time < 1.0 {
            engine.add_force(CRATE, Vector::X * 100.0);
        }
        if self.time > self.shots as f32 * 0.5 {
            let body = RigidBodyBuilder::dynamic().translation(Vector::new(-10.0, 1.0, -10.0));
            let body = body.linvel(Vector::X * 10.0).gravity_scale(0.0);
            engine.insert(SHOTS + self.shots, body, ColliderBuilder::ball(0.1));
            self.shots += 1;
        }
        for id in SHOTS..SHOTS + self.shots {
            if engine
                .position(id)
                .is_some_and(|position| position.x > 10.0)
            {
                engine.remove(id);
                self.hits += 1.0;
                self.first_hit = if self.hits == 1.0 {
                    self.time
                } else {
                    self.first_hit
                };
            }
        }
        for (_, entered) in engine.crossed(PLAYER) {
            *if entered {
                &mut self.entered
            } else {
                &mut self.left
            } += 1.0;
        }
    }

    pub fn end(&self, engine: &impl Engine) -> Vec<f32> {
        let positions = [PLAYER, CRATE].map(|id| engine.position(id).unwrap());
        let mut end = vec![self.entered, self.left, self.hits, self.first_hit];
        end.extend(positions.iter().flat_map(|it| it.to_array()));
        end
    }
}
