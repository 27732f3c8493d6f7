//! Checks that a peer does its work: it steps when a step is due, displays moving bodies between their last two states,
//! and lets resting bodies sleep.

use evenstep::rapier::math::Pose;

use crate::dim;
use crate::peer::{FRAME, FRAMES_PER_STEP, Peer};
use crate::scene::Scene;

/// The number of steps before the checks, one per frame. They take 3 s, in which all resting bodies fall asleep. Rapier
/// needs 2 s for this, and avian 0.5 s.
pub const SETTLING_STEPS: u32 = 180;

/// The tolerance of a displayed pose, as a fraction of the motion between two states. A frame is 0.25 of that motion,
/// and no displayed pose is nearer than 0.125 to a state.
const TOLERANCE: f32 = 0.01;

/// Advances a new peer to the beginning of the measurement: half a frame before a step.
pub fn settle(peer: &mut dyn Peer) {
    for _ in 0..SETTLING_STEPS {
        peer.frame(FRAME * FRAMES_PER_STEP);
    }
    peer.frame(FRAME * FRAMES_PER_STEP - FRAME / 2);
}

/// Runs a settled peer for three steps, and checks every body in every frame.
///
/// # Panics
/// If the peer does not behave as expected.
pub fn check(peer: &mut dyn Peer, scene: Scene) {
    for _ in 0..3 {
        let previous = states(peer, scene);
        for frame in 0..FRAMES_PER_STEP {
            peer.frame(FRAME);
            assert_eq!(peer.steps(), steps_due(frame), "steps in frame {frame}");
            let alpha = (frame as f32 + 0.5) / FRAMES_PER_STEP as f32;
            check_moving(peer, &previous[..scene.moving], alpha);
            check_sleep(peer, scene);
        }
    }
}

/// Returns the number of due steps. The first frame of [`FRAMES_PER_STEP`] has the step.
pub fn steps_due(frame: u32) -> u64 {
    u64::from(frame == 0)
}

fn states(peer: &dyn Peer, scene: Scene) -> Vec<Pose> {
    (0..scene.count()).map(|body| peer.state(body)).collect()
}

fn check_moving(peer: &dyn Peer, previous: &[Pose], alpha: f32) {
    for (body, previous) in previous.iter().enumerate() {
        for fraction in fractions(previous, &peer.shown(body), &peer.state(body)) {
            // The value is not a number if the body does not move at all.
            assert!(
                (fraction - alpha).abs() < TOLERANCE,
                "body {body} is displayed at {fraction} of its motion, not at {alpha}"
            );
        }
    }
}

/// Checks that all resting bodies are asleep at their start, and all moving ones are awake.
///
/// # Panics
/// If a body is in the wrong state.
pub fn check_sleep(peer: &dyn Peer, scene: Scene) {
    for (body, start) in scene.bodies().enumerate() {
        let is_asleep = peer.is_asleep(body);
        assert_eq!(is_asleep, !start.moves, "whether body {body} sleeps");
        let distance = peer.shown(body).translation.distance(start.at);
        assert_eq!(
            distance > TOLERANCE,
            start.moves,
            "whether body {body} moves"
        );
    }
}

/// Returns the fractions of its motion and of its turn that a body has completed.
fn fractions(previous: &Pose, shown: &Pose, current: &Pose) -> [f32; 2] {
    let motion = current.translation - previous.translation;
    let displayed = shown.translation - previous.translation;
    [
        displayed.dot(motion) / motion.length_squared(),
        dim::part_of_turn(previous.rotation, shown.rotation, current.rotation),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::{BARE, KINDS};
    use std::time::Duration;

    const SCENE: Scene = Scene {
        moving: 20,
        resting: 30,
    };

    #[test]
    fn every_peer_steps_interpolates_and_sleeps_as_expected() {
        for kind in KINDS {
            println!("{}", kind.name);
            let mut peer = (kind.build)(SCENE);
            settle(&mut *peer);
            check(&mut *peer, SCENE);
        }
    }

    /// A peer with wrong answers.
    struct Faulty {
        peer: Box<dyn Peer>,
        never_sleeps: bool,
        never_steps: bool,
    }

    impl Faulty {
        fn checked(fault: impl Fn(&mut Self)) {
            let mut peer = Self {
                peer: (KINDS[0].build)(SCENE),
                never_sleeps: false,
                never_steps: false,
            };
            settle(&mut peer);
            fault(&mut peer);
            check(&mut peer, SCENE);
        }
    }

    impl Peer for Faulty {
        fn frame(&mut self, time: Duration) {
            if !self.never_steps {
                self.peer.frame(time);
            }
        }

        fn steps(&self) -> u64 {
            self.peer.steps()
        }

        fn engine_time(&self) -> Option<Duration> {
            self.peer.engine_time()
        }

        fn shown(&self, body: usize) -> Pose {
            self.peer.shown(body)
        }

        fn state(&self, body: usize) -> Pose {
            self.peer.state(body)
        }

        fn is_asleep(&self, body: usize) -> bool {
            !self.never_sleeps && self.peer.is_asleep(body)
        }
    }

    #[test]
    fn a_correct_peer_passes_the_check() {
        Faulty::checked(|_| ());
    }

    #[test]
    #[should_panic(expected = "is displayed at 1 of its motion")]
    fn a_peer_that_displays_the_latest_state_fails_the_check() {
        let mut peer = (BARE.build)(SCENE);
        settle(&mut *peer);
        check_sleep(&*peer, SCENE);
        check(&mut *peer, SCENE);
    }

    #[test]
    #[should_panic(expected = "whether body 20 sleeps")]
    fn a_peer_whose_bodies_never_sleep_fails_the_check() {
        Faulty::checked(|peer| peer.never_sleeps = true);
    }

    #[test]
    #[should_panic(expected = "steps in frame 0")]
    fn a_peer_that_runs_no_step_fails_the_check() {
        Faulty::checked(|peer| peer.never_steps = true);
    }
}
