//! The game is the same at every frame rate, and its picture moves evenly.

// Who owns a transform: the paddle, the hand, and the first frame.
mod owners;
// Despawned entities, removed components, changed hulls and types.
mod changes;

use evenstep::ecs::hecs::{Body, RenderPose};
use evenstep::hecs::{Entity, World};
use evenstep::rapier::math::{Pose, Vector};
use evenstep_components::components::{Order, Transform, Velocity};
use evenstep_components::frames::{LENGTH, RATES, frames};
use evenstep_components::game::{Game, SPEED};
use std::time::Duration;

fn transform(world: &World, entity: Entity) -> Pose {
    world.get::<&Transform>(entity).unwrap().0
}

fn displayed(world: &World, entity: Entity) -> Pose {
    world.get::<&RenderPose>(entity).unwrap().0
}

/// Returns the bodies in their order.
fn state(game: &Game) -> Vec<(Order, Transform, Velocity)> {
    let mut query = game.world.query::<(&Order, &Transform, &Velocity)>();
    let mut state: Vec<_> = query.iter().map(|(a, b, c)| (*a, *b, *c)).collect();
    state.sort_unstable_by_key(|(order, ..)| *order);
    state
}

#[test]
fn states_and_score_are_equal_at_every_frame_rate() {
    let runs = RATES.map(|fps| {
        let mut game = Game::default();
        for time in frames(fps, LENGTH) {
            game.frame(time).unwrap();
        }
        game
    });
    let [reference, ..] = &runs;
    assert_eq!(reference.coins, 5);
    let bodies = reference.layer.simulation.physics.bodies().count();
    assert_eq!((state(reference).len(), bodies), (12, 12)); // six, and the pebbles of 100 steps
    for (game, fps) in runs.iter().zip(RATES) {
        assert_eq!(game.layer.simulation.physics.tick(), 300);
        assert_eq!(game.coins, reference.coins, "{fps} fps");
        assert!(state(game) == state(reference), "{fps} fps");
    }
}

#[test]
fn the_cart_is_drawn_at_its_speed_and_its_lamp_with_it() {
    for fps in RATES {
        let mut game = Game::default();
        let mut last = None;
        for time in frames(fps, LENGTH) {
            game.frame(time).unwrap();
            let [cart, lamp, scoop] = [game.cast.cart, game.cast.lamp, game.cast.scoop];
            let [drawn, lamp, drawn_scoop] =
                [cart, lamp, scoop].map(|it| displayed(&game.world, it));
            assert_eq!(lamp, drawn * Pose::from_translation(Vector::Y * 0.5));
            assert_eq!(drawn_scoop, drawn * Pose::from_translation(Vector::X * 0.6));
            // Sensors are at the true pose, which is up to a step ahead of the picture.
            let [cart, scoop] = [cart, scoop].map(|it| transform(&game.world, it));
            assert_eq!(scoop, cart * Pose::from_translation(Vector::X * 0.6));
            let ahead = cart.translation.x - drawn.translation.x;
            assert!((-1e-5..=SPEED / 60.0 + 1e-5).contains(&ahead), "{ahead} m");

            let x = drawn.translation.x;
            if let Some(last) = last
                .replace(x)
                .filter(|_| game.layer.simulation.physics.tick() > 2)
            {
                let off = x - last - SPEED * time.as_secs_f32();
                assert!(off.abs() < 1e-5, "{off} m at {fps} fps");
            }
        }
    }
}

#[test]
fn the_lift_moves_at_its_speed_and_the_crate_rides_on_it() {
    let mut game = Game::default();
    let mut fastest: f32 = 0.0;
    // The lift turns around after two seconds.
    for time in frames(144, Duration::from_millis(1_900)) {
        game.frame(time).unwrap();
        let [lift, load] = [game.cast.lift, game.cast.load];
        let lift_velocity = *game.world.get::<&Velocity>(lift).unwrap();
        fastest = fastest.max(lift_velocity.0.y.abs());
        let gap =
            transform(&game.world, load).translation.y - transform(&game.world, lift).translation.y;
        assert!((gap - 0.6).abs() < 0.05, "{gap} m");
    }
    assert!((fastest - SPEED).abs() < 1e-3, "{fastest} m/s");
}

#[test]
fn the_layer_has_at_most_150_lines() {
    let layer = include_str!("../../src/layer.rs").lines().map(str::trim);
    let code = layer.filter(|line| !line.is_empty() && !line.starts_with("//"));
    assert!(code.count() <= 150);
}

/// Bodies at rest fall asleep, because the layer sets their shapes only if the hull has changed.
#[test]
fn the_layer_lets_bodies_sleep() {
    let mut game = Game::default();
    let mut all = game.world.query_mut::<(Entity, &Order)>().into_iter();
    let (coin, _) = all.find(|(_, order)| order.0 == 14).unwrap();
    let mut slept = false;
    for time in frames(60, LENGTH) {
        game.frame(time).unwrap();
        if let Ok(body) = game.world.get::<&Body>(coin) {
            slept |= game
                .layer
                .simulation
                .physics
                .body(body.key())
                .unwrap()
                .is_sleeping();
        }
    }
    assert!(slept);
}
