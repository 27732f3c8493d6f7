//! The game: bodies, input and rules. Nothing here depends on the frame rate.

use std::convert::Infallible;
use std::time::Duration;

use evenstep::ecs::hecs::Entities;
use evenstep::input::{Button, Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Hooks, Physics, Step};
use hecs::{Entity, World};

/// The drone's speed in m/s, and the radius of its circle in metres.
pub const DRONE_SPEED: f32 = 7.0;
const DRONE_RADIUS: f32 = 8.0;

const CRATES: usize = 200;

/// A ball appears every `BALL_INTERVAL` steps, and disappears `BALL_LIFETIME` steps later.
const BALL_INTERVAL: u64 = 12;
const BALL_LIFETIME: u64 = 240;

const MOUSE_INTERVAL: Duration = Duration::from_millis(8);

/// Input from the player's devices.
enum Input {
    /// The mouse moved. This is the angle since its last report, in radians.
    Turn(f32),
    /// The jump button was pressed or released.
    Jump(bool),
}

/// A component with the tick at which its entity is despawned.
struct DiesAt(u64);

/// The game without its physics.
pub struct Game {
    pub world: World,
    pub entities: Entities,
    pub drone: Entity,
    drone_body: BodyKey,
    player: BodyKey,
    heading: f32,
    jump: Button,
    input: InputQueue<Input>,
    next_mouse_report: Duration,
    pub jumps: u32,
    pub collisions: usize,
}

impl Game {
    pub fn new(physics: &mut Physics) -> Self {
        let (mut world, mut entities) = (World::new(), Entities::default());
        let mut spawn = |body: RigidBodyBuilder, collider: ColliderBuilder| {
            entities.spawn(&mut world, physics, body, collider, ())
        };
        spawn(
            RigidBodyBuilder::fixed().translation(Vector::Y * -0.5),
            ColliderBuilder::cuboid(25.0, 0.5, 25.0),
        );
        for i in 0..CRATES {
            let crate_body = RigidBodyBuilder::dynamic().translation(position_in_pile(i));
            spawn(crate_body, ColliderBuilder::cuboid(0.4, 0.4, 0.4));
        }
        let (_, player) = spawn(
            RigidBodyBuilder::dynamic()
                .translation(Vector::new(-12.0, 1.0, 0.0))
                .linear_damping(1.0)
                .lock_rotations(),
            ColliderBuilder::capsule_y(0.5, 0.4)
                .mass(70.0)
                .friction(0.0),
        );
        let (drone, drone_body) = spawn(
            RigidBodyBuilder::kinematic_velocity_based().translation(Vector::new(
                DRONE_RADIUS,
                16.0,
                0.0,
            )),
            ColliderBuilder::cuboid(0.5, 0.2, 0.3),
        );
        Self {
            world,
            entities,
            drone,
            drone_body,
            player,
            heading: 0.0,
            jump: Button::default(),
            // Each input has a time stamp, and goes to the step that covers that time.
            input: InputQueue::new(Delivery::ByTime),
            next_mouse_report: Duration::ZERO,
            jumps: 0,
            collisions: 0,
        }
    }

    /// Collects the input up to `end`, the end of the frame. A game with a window would handle its events here. This
    /// one invents them: the player keeps turning, and jumps now and then.
    pub fn collect_input(&mut self, end: Duration) {
        while self.next_mouse_report < end {
            let time = self.next_mouse_report;
            self.input.push(time, Input::Turn(0.01));
            match time.as_millis() % 1280 {
                560 => self.input.push(time, Input::Jump(true)),
                600 => self.input.push(time, Input::Jump(false)),
                _ => (),
            }
            self.next_mouse_report += MOUSE_INTERVAL;
        }
    }

    fn move_player(&mut self, physics: &mut Physics, step: Step) {
        self.jump.start_step();
        for sample in self.input.drain(step) {
            match sample.input {
                Input::Turn(angle) => self.heading += angle,
                Input::Jump(is_down) => self.jump.set(is_down),
            }
        }
        let forwards = Rotation::from_rotation_y(self.heading) * Vector::X;
        physics.add_force(self.player, forwards * 350.0).unwrap();
        for _ in 0..self.jump.presses() {
            self.jumps += 1;
            let impulse = Vector::Y * 350.0;
            physics.apply_impulse(self.player, impulse).unwrap();
        }
    }

    fn fly_drone(&mut self, physics: &mut Physics, step: Step) {
        let angle = DRONE_SPEED / DRONE_RADIUS * step.start_time.as_secs_f32();
        let velocity = Rotation::from_rotation_y(-angle) * Vector::Z * DRONE_SPEED;
        let drone = physics.body_mut(self.drone_body).unwrap();
        drone.set_linvel(velocity, true);
    }

    fn despawn_old_balls(&mut self, physics: &mut Physics, step: Step) {
        let mut balls = self.world.query::<(Entity, &DiesAt)>();
        let old = balls.iter().filter(|(_, dies)| dies.0 <= step.tick);
        let old: Vec<_> = old.map(|(entity, _)| entity).collect();
        drop(balls);
        for ball in old {
            let despawned = self.entities.despawn(&mut self.world, physics, ball);
            despawned.unwrap();
        }
    }

    fn spawn_ball(&mut self, physics: &mut Physics, step: Step) {
        if !step.tick.is_multiple_of(BALL_INTERVAL) {
            return;
        }
        let x = (step.tick * 7 % 31) as f32 - 15.0;
        let z = (step.tick * 5 % 23) as f32 - 11.0;
        let body = RigidBodyBuilder::dynamic().translation(Vector::new(x, 9.0, z));
        let ball = ColliderBuilder::ball(0.35)
            .restitution(0.5)
            .active_events(ActiveEvents::COLLISION_EVENTS);
        let dies = DiesAt(step.tick + BALL_LIFETIME);
        self.entities
            .spawn(&mut self.world, physics, body, ball, (dies,));
    }
}

impl Hooks for Game {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.move_player(physics, step);
        self.fly_drone(physics, step);
        self.despawn_old_balls(physics, step);
        self.spawn_ball(physics, step);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Infallible> {
        let collisions = physics.events().collisions();
        self.collisions += collisions.filter(|collision| collision.started).count();
        Ok(())
    }
}

/// Returns a position in layers of five by five crates, each layer shifted a little from the one below.
fn position_in_pile(i: usize) -> Vector {
    let (layer, row, column) = (i / 25, i / 5 % 5, i % 5);
    let shift = 0.15 * (layer % 3) as f32;
    Vector::new(
        row as f32 * 0.95 - 2.0 + shift,
        0.45 + layer as f32 * 0.85,
        column as f32 * 0.95 - 2.0 - shift,
    )
}
