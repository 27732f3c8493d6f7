//! Prints how the game ends at each frame rate.
//!
//! `cargo run --release --manifest-path examples/components/Cargo.toml`

use evenstep::BodyError;
use evenstep::ecs::hecs::RenderPose;
use evenstep_components::components::Transform;
use evenstep_components::frames::{LENGTH, RATES, frames};
use evenstep_components::game::Game;

fn main() -> Result<(), BodyError> {
    println!("frames/s  frames  steps  coins  ball, m    drawn speed of the cart, m/s");
    for fps in RATES {
        let (mut game, mut speeds) = (Game::default(), Vec::new());
        let frames = frames(fps, LENGTH);
        let mut last = None;
        for time in &frames {
            game.frame(*time)?;
            let cart = game.world.query_one_mut::<&RenderPose>(game.cast.cart);
            let x = cart.map_or(0.0, |pose| pose.0.translation.x);
            if let Some(last) = last.replace(x).filter(|last| *last > 0.0) {
                speeds.push((x - last) / time.as_secs_f32());
            }
        }
        let ball = game.world.query_one_mut::<&Transform>(game.cast.ball);
        let ball = ball.map_or(0.0, |transform| transform.0.translation.x);
        let tick = game.layer.simulation.physics.tick();
        let [slowest, fastest] = [f32::min, f32::max].map(|f| speeds.iter().copied().reduce(f));
        println!(
            "{fps:>8} {:>7} {tick:>6} {:>6} {ball:>10} {:>11.3} to {:.3}",
            frames.len(),
            game.coins,
            slowest.unwrap_or_default(),
            fastest.unwrap_or_default(),
        );
    }
    Ok(())
}
