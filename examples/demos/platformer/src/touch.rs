//! Touch controls. On the left, a finger walks in the direction away from where it came down. On the right, it turns
//! the view. A tap on the right jumps in the lower half, and shoots in the upper half.

use evenstep::rapier::glamx::Vec2;

use crate::controls::{Input, Way};
use crate::game::Game;

/// A finger left of this walks, as a fraction of the width.
const MIDDLE: f32 = 0.4;
/// How far a finger must move to walk, or to turn rather than tap, as a fraction of the width.
const NEAR: f32 = 0.02;
/// A drag over the whole width turns the view like this many pixels of a mouse.
const PIXELS: f32 = 1_200.0;
/// A component of a direction above this value counts as a pressed key. There are eight directions, as with keys.
const PART: f32 = 0.38;

/// The phase of a touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The finger comes down.
    Down,
    /// The finger moves.
    Move,
    /// The finger goes up.
    Up,
}

/// The fingers on the screen: one walks, and one looks. Others are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fingers {
    walk: Option<Finger>,
    look: Option<Finger>,
}

/// A finger. Positions are in screen widths.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Finger {
    id: u64,
    start: Vec2,
    last: Vec2,
    /// Whether the finger was ever away from its start.
    is_far: bool,
}

impl Finger {
    fn new(id: u64, at: Vec2) -> Self {
        Self {
            id,
            start: at,
            last: at,
            is_far: false,
        }
    }

    /// Moves the finger, and returns how far.
    fn move_to(&mut self, at: Vec2) -> Vec2 {
        let by = at - self.last;
        self.last = at;
        self.is_far |= at.distance(self.start) > NEAR;
        by
    }
}

impl Fingers {
    /// Applies a touch to the game. `screen` is the size of the screen, in the same units as `at`.
    pub fn take(&mut self, id: u64, phase: Phase, at: Vec2, screen: Vec2, game: &mut Game) {
        let at = at / screen.x;
        if phase == Phase::Down {
            let finger = if at.x < MIDDLE {
                &mut self.walk
            } else {
                &mut self.look
            };
            finger.get_or_insert(Finger::new(id, at));
        } else if let Some(finger) = self.walk.as_mut().filter(|finger| finger.id == id) {
            finger.move_to(at);
            let off = at - finger.start;
            let is_off = phase == Phase::Move && off.length() > NEAR;
            walk(game, if is_off { off.normalize() } else { Vec2::ZERO });
            self.walk = self.walk.filter(|_| phase == Phase::Move);
        } else if let Some(finger) = self.look.as_mut().filter(|finger| finger.id == id) {
            let by = finger.move_to(at) * PIXELS;
            if finger.is_far {
                game.turn(game.real_time(), by.x, by.y);
            } else if phase == Phase::Up {
                let is_low = at.y > screen.y / screen.x / 2.0;
                tap(game, if is_low { Input::Jump } else { Input::Shoot });
            }
            self.look = self.look.filter(|_| phase == Phase::Move);
        }
    }
}

fn walk(game: &mut Game, to: Vec2) {
    let now = game.real_time();
    game.input(now, Input::Walk(Way::Right, to.x > PART));
    game.input(now, Input::Walk(Way::Left, to.x < -PART));
    game.input(now, Input::Walk(Way::Back, to.y > PART));
    game.input(now, Input::Walk(Way::Forward, to.y < -PART));
}

fn tap(game: &mut Game, press: fn(bool) -> Input) {
    let now = game.real_time();
    game.input(now, press(true));
    game.input(now, press(false));
}
