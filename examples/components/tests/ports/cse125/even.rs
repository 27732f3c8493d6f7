//! On evenstep. Each entity has a body, so a `BodyKey` is the entity, and the keys of the `SecondaryMap`s.

use super::{Engine, Game, Played, inputs};
use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::render::{Interpolated, interpolate};
use evenstep::time::{Clock, ClockFollower};
use evenstep::{BodyKey, Rate, Simulation};
use slotmap::SecondaryMap;
use std::time::Duration;

pub fn run(frames: &[Duration]) -> Played {
    let (mut server, mut client) = (Simulation::default(), Client::new());
    server.physics.set_gravity(Vector::ZERO).unwrap();
    let mut game = Game::new(&mut server);
    let mut waiting = InputQueue::new(Delivery::ByTime);
    for time in frames {
        let now = server.clock().real_time();
        for (at, input) in inputs(now, now + *time) {
            waiting.push(at, input);
        }
        server.begin_frame(*time);
        while let Some(step) = server.next_step() {
            for sample in waiting.drain(step) {
                game.input(sample.input);
            }
            game.rules(&mut server);
            server.run_step();
            let bodies = server.physics.bodies();
            let poses = bodies.map(|(key, body)| (key, *body.position()));
            client.receive(step.tick, poses.collect());
        }
        server.end_frame();
        client.advance(*time);
        game.draw(|key| client.drawn(key));
    }
    game.end(&server, |key| *client.poses[key].latest())
}

impl Engine<BodyKey> for Simulation {
    fn spawn(&mut self, body: RigidBodyBuilder, collider: ColliderBuilder) -> BodyKey {
        self.physics.insert(body, collider)
    }

    fn despawn(&mut self, key: BodyKey) {
        self.physics.remove(key);
    }

    fn push(&mut self, key: BodyKey, impulse: Vector) {
        self.physics.apply_impulse(key, impulse).unwrap();
    }

    fn position(&self, key: BodyKey) -> Option<Vector> {
        Some(self.physics.body(key)?.translation())
    }

    fn shoot(&self, key: BodyKey, direction: Vector) -> Option<BodyKey> {
        let ray = Ray::new(self.position(key)?, direction);
        let filter = QueryFilter::default().exclude_rigid_body(self.physics.handle(key)?);
        let rapier = self.physics.rapier();
        let (hit, _) = rapier.cast_ray(&ray, f32::MAX, true, filter)?;
        self.physics.key_of_collider(hit)
    }
}

/// Draws the past, between the poses of two ticks, with a clock that follows the server's.
struct Client {
    clock: Clock,
    poses: SecondaryMap<BodyKey, Interpolated<Pose>>,
}

impl Client {
    /// How far the picture is behind the newest message, in seconds: three ticks, so that it can be late.
    const DELAY: f64 = 0.05;

    fn new() -> Self {
        Self {
            clock: Clock::new(Rate::hz(60)),
            poses: SecondaryMap::new(),
        }
    }

    fn receive(&mut self, tick: u64, poses: SecondaryMap<BodyKey, Pose>) {
        let target = (tick + 1) as f64 / 60.0 - Self::DELAY;
        let behind = target - self.clock.time().as_secs_f64();
        let speed = ClockFollower::default().speed(behind).unwrap();
        self.clock.settings_mut().set_speed(speed).unwrap();
        self.poses.retain(|key, _| poses.contains_key(key));
        for (key, pose) in poses {
            let known = self.poses.entry(key).unwrap();
            known.or_insert(Interpolated::new(pose)).set(tick, pose);
        }
    }

    fn advance(&mut self, time: Duration) {
        self.clock.begin_frame(time);
        while self.clock.next_step().is_some() {}
    }

    fn drawn(&self, key: BodyKey) -> Option<Pose> {
        let (tick, alpha) = (self.clock.tick(), self.clock.alpha());
        Some(self.poses.get(key)?.at(tick, alpha, interpolate))
    }
}
