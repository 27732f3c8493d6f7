//! Tests the touch controls.

use std::time::Duration;

use crate::runs::{game, plain};
use evenstep::rapier::glamx::Vec2;
use evenstep::rapier::math::Vector;
use evenstep_platformer::game::Game;
use evenstep_platformer::hero::STANDING;
use evenstep_platformer::touch::{Fingers, Phase};

const SCREEN: Vec2 = Vec2::new(800.0, 400.0);

/// A game, and the fingers on it.
struct Hands {
    game: Game,
    fingers: Fingers,
}

impl Hands {
    fn new() -> Self {
        Self {
            game: game(&plain()),
            fingers: Fingers::default(),
        }
    }

    fn touch(&mut self, id: u64, phase: Phase, x: f32, y: f32) {
        let at = Vec2::new(x, y);
        self.fingers.take(id, phase, at, SCREEN, &mut self.game);
    }

    /// Plays half a second, and returns how far the hero moved.
    fn play(&mut self) -> Vector {
        let start = self.game.hero();
        for _ in 0..30 {
            self.game.frame(Duration::from_secs(1) / 60);
        }
        self.game.hero() - start
    }
}

#[test]
fn a_drag_on_the_left_walks_until_the_finger_is_lifted() {
    let mut hands = Hands::new();
    hands.touch(7, Phase::Down, 100.0, 200.0);
    assert!(hands.play().length() < 1e-3, "the hero has not moved");
    // Up on the screen is forward. There are eight directions.
    for (x, y, way) in [
        (100.0, 100.0, Vector::NEG_Z),
        (200.0, 205.0, Vector::X),
        (160.0, 260.0, (Vector::X + Vector::Z).normalize()),
    ] {
        hands.touch(7, Phase::Move, x, y);
        hands.play();
        let gone = hands.play();
        assert!(
            gone.length() > 1.0 && gone.normalize().dot(way) > 0.999,
            "{gone}"
        );
    }
    hands.touch(7, Phase::Up, 160.0, 260.0);
    hands.play();
    assert!(hands.play().length() < 1e-3);
}

#[test]
fn a_tap_on_the_right_jumps_or_shoots_and_a_drag_turns() {
    let mut hands = Hands::new();
    hands.touch(1, Phase::Down, 600.0, 300.0);
    hands.touch(1, Phase::Up, 603.0, 301.0);
    let mut highest = 0.0f32;
    for _ in 0..40 {
        hands.game.frame(Duration::from_secs(1) / 60);
        highest = highest.max(hands.game.hero().y);
    }
    assert!(highest > STANDING + 0.5, "{highest}");

    hands.touch(2, Phase::Down, 600.0, 50.0);
    hands.touch(2, Phase::Up, 600.0, 50.0);
    hands.game.frame(Duration::from_millis(50));
    assert_eq!(hands.game.state().shots.count(), 1);

    let before = hands.game.view();
    hands.touch(3, Phase::Down, 500.0, 300.0);
    hands.touch(3, Phase::Move, 700.0, 300.0);
    hands.touch(3, Phase::Up, 700.0, 300.0);
    hands.game.frame(Duration::from_millis(50));
    let after = hands.game.view();
    let [from, to] = [before, after].map(|view| (view.at - view.eye).normalize());
    assert!(to.x > from.x + 0.3, "from {from} to {to}");
    hands.play();
    assert_eq!(hands.game.state().shots.count(), 1, "a drag is no tap");
}

#[test]
fn a_second_finger_on_the_same_side_is_ignored() {
    let mut hands = Hands::new();
    hands.touch(1, Phase::Down, 100.0, 200.0);
    hands.touch(1, Phase::Move, 100.0, 100.0);
    hands.touch(2, Phase::Down, 200.0, 200.0);
    hands.touch(2, Phase::Move, 200.0, 300.0);
    hands.touch(2, Phase::Up, 200.0, 300.0);
    hands.play();
    assert!(hands.play().z < -1.0, "the first finger still walks");
    // An unknown finger.
    hands.touch(9, Phase::Up, 0.0, 0.0);
    assert!(hands.play().z < -1.0);
}

/// Returns how far the hero is drawn from the middle of the picture, as a fraction of half its width.
fn off_middle(game: &Game, aspect: f32) -> f32 {
    const HALF_HEIGHT: f32 = 0.483; // at a distance of 1, with a vertical field of view of 0.9
    let view = game.view();
    let forward = (view.at - view.eye).normalize();
    let right = forward.cross(Vector::Y).normalize();
    let hero = game.hero() - view.eye;
    (hero.dot(right) / hero.dot(forward) / (HALF_HEIGHT * aspect)).abs()
}

#[test]
fn a_phone_held_upright_shows_the_hero_near_the_middle() {
    let mut hands = Hands::new();
    hands.play();
    for (aspect, most) in [(16.0 / 9.0, 0.2), (390.0 / 844.0, 0.35)] {
        hands.game.set_aspect(aspect);
        hands.play();
        let off = off_middle(&hands.game, aspect);
        assert!((0.05..most).contains(&off), "{off} at {aspect}");
    }
}
