//! A second simulation that predicts only the bodies near the player.

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use scenes::testing::vector;
use scenes::with_floor;
use std::time::Duration;

/// The whole match up to the last tick whose inputs are all known, and the player's surroundings up to the present.
struct Match {
    whole: Simulation,
    near: Simulation,
    /// The bodies that both `whole` and `near` have, the player's first.
    pairs: Vec<[BodyKey; 2]>,
    /// The player's inputs, by tick.
    pushes: Vec<Vector>,
}

impl Match {
    /// Runs a frame of the present, in which the player's input takes effect at once.
    fn predict(&mut self, frame_time: Duration, push: Vector) {
        let (pairs, pushes) = (&self.pairs, &mut self.pushes);
        self.near.advance(frame_time, |physics, _| {
            pushes.push(push);
            physics.apply_impulse(pairs[0][1], push).unwrap();
        });
    }

    /// Runs the next tick of the whole match, whose inputs are all known. `hook` applies those of the other players.
    fn confirm(&mut self, hook: impl Fn(&mut Physics, Step)) {
        let (pairs, pushes) = (&self.pairs, &self.pushes);
        let period = self
            .whole
            .clock()
            .until_next_step()
            .expect("the clock runs");
        self.whole.advance(period, |physics, step| {
            let push = pushes[step.tick as usize];
            physics.apply_impulse(pairs[0][0], push).unwrap();
            hook(physics, step);
        });
        let (whole, tick) = (&self.whole, self.whole.physics.tick());
        let predict = |physics: &mut Physics, step: Step| {
            for [from, to] in pairs.iter().filter(|_| step.tick == tick) {
                let (from, to) = (
                    whole.physics.body(*from).unwrap(),
                    physics.body_mut(*to).unwrap(),
                );
                to.set_position(*from.position(), true);
                to.set_vels(*from.vels(), true);
            }
            let push = pushes[step.tick as usize];
            physics.apply_impulse(pairs[0][1], push).unwrap();
        };
        self.near
            .resimulate(tick, predict)
            .expect("the tick is kept");
    }

    fn x(&self, pair: usize) -> f32 {
        scenes::shown_x(&self.near, self.pairs[pair][1])
    }
}

/// The number of ticks until the inputs of the other players are known.
const DELAY: usize = 8;

/// Creates a match with the player, a crate, another player, and bodies that are out of sight.
fn start(out_of_sight: u16) -> Match {
    let [mut whole, mut near] = [(); 2].map(|()| with_floor(Rate::default()));
    let crates = |x| {
        let body = RigidBodyBuilder::dynamic().translation(vector(x, 0.5, 0.0));
        body.linear_damping(1.0).can_sleep(false)
    };
    let ball = || ColliderBuilder::ball(0.5).mass(0.5);
    let pairs = [0.0, 2.0, 12.0]
        .map(|x| [&mut whole, &mut near].map(|it| it.physics.insert(crates(x), ball())));
    for i in 0..out_of_sight {
        whole.physics.insert(crates(-2.0 - f32::from(i)), ball());
    }
    // In `near`, the other player moves at its last known velocity.
    let proxy = near.physics.body_mut(pairs[2][1]).unwrap();
    proxy.set_body_type(RigidBodyType::KinematicVelocityBased, true);
    near.keep(Kept {
        ticks: 20,
        ..near.kept()
    });
    Match {
        whole,
        near,
        pairs: pairs.into(),
        pushes: Vec::new(),
    }
}

#[test]
fn the_confirmed_run_matches_the_predictions_of_nearby_bodies() {
    let mut playing = start(30);
    let other = playing.pairs[2][0];
    let (mut predicted, mut jump): (Vec<[f32; 2]>, f32) = Default::default();
    for _ in 0..100 {
        playing.predict(Duration::from_nanos(16_666_667), Vector::X * 0.08);
        let body = |pair: usize| playing.near.physics.body(playing.pairs[pair][1]).unwrap();
        predicted.push([body(0), body(1)].map(|body| body.translation().x));
        if playing.pushes.len() <= DELAY {
            continue;
        }
        let before = playing.x(2);
        playing.confirm(|whole, _| whole.apply_impulse(other, Vector::NEG_X * 0.02).unwrap());
        jump = jump.max((playing.x(2) - before).abs());
        let tick = playing.whole.physics.tick() as usize;
        assert_eq!(playing.near.physics.tick() as usize, tick + DELAY);
        // The player and the crate that it pushes are not touched by anybody else.
        for pair in [0, 1] {
            let body = playing.whole.physics.body(playing.pairs[pair][0]).unwrap();
            let error = body.translation().x - predicted[tick - 1][pair];
            assert!(error.abs() < 1e-4, "tick {tick}, body {pair}: {error} m");
        }
    }
    assert!(playing.x(1) > 3.0, "the crate was pushed");
    let meeting = playing.x(2);
    assert!(
        (8.0..11.5).contains(&meeting),
        "{meeting}: the other player has arrived"
    );
    assert_eq!(jump, 0.0, "corrections are smooth");
}

#[test]
fn mispredicted_bodies_converge_to_the_confirmed_run() {
    let mut playing = start(0);
    let [other, crates] = [2, 1].map(|pair| playing.pairs[pair][0]);
    let mut error = 0.0_f32;
    for frame in 0..600 {
        playing.predict(Duration::from_nanos(16_666_667), Vector::ZERO);
        if playing.pushes.len() <= DELAY {
            continue;
        }
        let push = if frame < 100 { -0.1 } else { 0.0 };
        playing.confirm(|whole, _| whole.apply_impulse(other, Vector::X * push).unwrap());
        let body = playing.whole.physics.body(crates).unwrap();
        error = error.max((body.translation().x - playing.x(1)).abs());
    }
    assert!(
        error > 0.5,
        "the other player has pushed the crate: {error} m"
    );
    for [whole, near] in &playing.pairs {
        let whole = playing.whole.physics.body(*whole).unwrap().translation();
        let near = playing.near.physics.body(*near).unwrap().translation();
        assert!((whole - near).length() < 1e-2, "{whole} {near}");
    }
}
