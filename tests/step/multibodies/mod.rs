//! Multibodies that are cut, or whose root becomes another type of body, and that are moved before the next step.
//! Rapier carries out the change only in that step.

mod cases;
mod joints;

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{BodyError, BodyKey, Hooks, Physics, Simulation, Step};
use scenes::testing::{ball_joint, of_root, pose, spin, vector};
use scenes::{MS, advance, ball, in_time, space};
use std::convert::Infallible;

/// The tick of the step before or after which the rope is cut and moved.
const CUT: u64 = 20;

const END: u64 = 50;

/// A change that Rapier carries out in the next step.
#[derive(Clone, Copy, Debug)]
enum Change {
    RemoveBody,
    RemoveJoint,
    SetRootType(RigidBodyType),
}

/// A call that moves the multibody before the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Move {
    None,
    Teleport,
    TeleportBy,
    ShiftOrigin,
    BodyMut,
    KinematicTarget,
}

/// The position of both calls in the game's loop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    BetweenFrames,
    InPause,
    BeforeStep,
    AfterStep,
    InResimulation,
}

#[derive(Clone, Copy, Debug)]
struct Scene {
    /// The number of bodies of the rope.
    length: u8,
    root: RigidBodyType,
    change: Change,
    what: Move,
    when: When,
}

const CUTS: [Change; 2] = [Change::RemoveBody, Change::RemoveJoint];

/// In the shorter rope, the joints of the detached part have fewer coordinates than a free body, and in the longer one
/// more.
const LENGTHS: [u8; 2] = [5, 8];

const MOVES: [Move; 4] = [
    Move::Teleport,
    Move::TeleportBy,
    Move::ShiftOrigin,
    Move::BodyMut,
];

const WHENS: [When; 5] = [
    When::BetweenFrames,
    When::InPause,
    When::BeforeStep,
    When::AfterStep,
    When::InResimulation,
];

/// A rope that moves in free space, and its scene.
#[derive(Clone)]
struct Game {
    scene: Scene,
    keys: Vec<BodyKey>,
}

impl Game {
    fn start(scene: Scene) -> (Simulation, Self) {
        let mut simulation = space(100);
        let keys: Vec<_> = (0..scene.length)
            .map(|i| {
                let kind = if i == 0 {
                    scene.root
                } else {
                    RigidBodyType::Dynamic
                };
                let body = RigidBodyBuilder::new(kind).translation(Vector::X * f32::from(i));
                simulation.physics.insert(body, ball().mass(0.004))
            })
            .collect();
        for ends in keys.windows(2) {
            let [one, other] =
                [ends[0], ends[1]].map(|key| simulation.physics.handle(key).unwrap());
            let joint = ball_joint(Vector::X * 0.5, Vector::X * -0.5);
            let physics = simulation.physics.rapier_mut_except_bodies();
            physics.insert_multibody_joint(one, other, joint).unwrap();
        }
        simulation.keep(Kept {
            ticks: END,
            ..simulation.kept()
        });
        (simulation, Self { scene, keys })
    }

    /// Returns the bodies of the part that is moved, its root first.
    fn part(&self) -> &[BodyKey] {
        match self.scene.change {
            Change::RemoveBody | Change::RemoveJoint => &self.keys[3..],
            Change::SetRootType(_) => &self.keys,
        }
    }

    /// Returns the isometry by which the part is moved.
    fn by(&self) -> Pose {
        let far = vector(4.0, -3.0, 8.0);
        match self.scene.what {
            Move::None | Move::KinematicTarget => Pose::IDENTITY,
            // Rapier does not apply a rotation of a detached part: docs/upstream/multibody-cut.md.
            Move::TeleportBy if matches!(self.scene.change, Change::SetRootType(_)) => {
                pose(far, of_root(spin(0.3, 1.2, -0.4)))
            }
            Move::TeleportBy | Move::Teleport | Move::ShiftOrigin | Move::BodyMut => {
                Pose::from_translation(far)
            }
        }
    }

    fn act(&self, physics: &mut Physics) {
        let root = physics.handle(self.part()[0]).unwrap();
        match self.scene.change {
            Change::RemoveBody => drop(physics.remove(self.keys[2])),
            Change::RemoveJoint => {
                let rapier = physics.rapier_mut_except_bodies();
                let joints = rapier.multibody_joints.attached_joints(root);
                let (.., joint) = joints
                    .into_iter()
                    .find(|(_, link, _)| *link == root)
                    .unwrap();
                rapier.remove_multibody_joint(joint);
            }
            Change::SetRootType(kind) => {
                let root = physics.body_mut(self.keys[0]).unwrap();
                root.set_body_type(kind, true);
            }
        }
        self.move_part(physics);
    }

    fn move_part(&self, physics: &mut Physics) {
        let root = self.part()[0];
        let by = self.by();
        let before = *physics.body(root).unwrap().position();
        match self.scene.what {
            Move::None => (),
            Move::Teleport => physics.teleport(root, by * before).unwrap(),
            Move::TeleportBy => physics.teleport_by(root, by).unwrap(),
            Move::ShiftOrigin => physics.shift_origin(-by.translation).unwrap(),
            Move::BodyMut => {
                let body = physics.body_mut(root).unwrap();
                body.set_position(by * before, true);
            }
            Move::KinematicTarget => {
                let to = before * Pose::from_translation(Vector::Y);
                let time = physics.time() + MS(100);
                let result = physics.set_kinematic_target(root, to, time);
                let body = physics.body(root).unwrap();
                let is_kinematic = body.body_type() == RigidBodyType::KinematicPositionBased;
                let refused = Err(BodyError::NotKinematic(root));
                assert_eq!(result, if is_kinematic { Ok(()) } else { refused });
            }
        }
    }

    fn is_due(&self, step: Step, hook: When) -> bool {
        let is_in_hook = self.scene.when == hook
            || hook == When::BeforeStep
                && self.scene.when == When::InResimulation
                && step.is_resimulated;
        is_in_hook && step.tick == CUT
    }

    /// Returns the poses of the part's bodies after the last step.
    fn poses(&self, simulation: &Simulation) -> Vec<Pose> {
        let poses = self
            .part()
            .iter()
            .map(|key| simulation.physics.body(*key).unwrap().position());
        poses.copied().collect()
    }
}

impl Hooks for Game {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        if self.is_due(step, When::BeforeStep) {
            self.act(physics);
        }
        if step.tick < 10 {
            // Rapier gives links no velocity except that of their joints, so only forces set them in motion.
            let pushes = [
                vector(0.0, 0.5, 1.0),
                -Vector::Y,
                Vector::Y,
                vector(0.0, -0.5, 1.0),
            ];
            for (key, push) in self.keys.iter().zip(pushes.into_iter().cycle()) {
                physics.add_force(*key, push * 0.3).unwrap();
            }
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        if self.is_due(step, When::AfterStep) {
            self.act(physics);
        }
        Ok(())
    }
}

/// Returns the poses after each step from the move on, and the largest distance between a body's displayed positions in
/// two consecutive frames after the move.
fn run(scene: Scene) -> (Vec<Pose>, f32) {
    let (mut simulation, mut game) = Game::start(scene);
    let (mut poses, mut way) = (Vec::new(), 0.0f32);
    let mut shown: Vec<Pose> = Vec::new();
    while simulation.physics.tick() < END {
        let is_due = simulation.physics.tick() == CUT;
        match scene.when {
            When::BetweenFrames if is_due => game.act(&mut simulation.physics),
            When::InPause if is_due => {
                simulation.pause();
                advance(&mut simulation, 10);
                game.act(&mut simulation.physics);
                advance(&mut simulation, 10);
                simulation.resume();
            }
            When::InResimulation if simulation.physics.tick() == CUT + 5 => {
                simulation.resimulate_with(CUT - 5, &mut game).unwrap();
            }
            _ => (),
        }
        simulation.advance_with(MS(10), &mut game).unwrap();
        if simulation.physics.tick() > CUT + 6 {
            let now: Vec<_> = game
                .part()
                .iter()
                .map(|key| simulation.pose(*key).unwrap())
                .collect();
            let ways = now
                .iter()
                .zip(&shown)
                .map(|(a, b)| a.translation.distance(b.translation));
            way = ways.fold(way, f32::max);
            shown = now;
        }
        if simulation.physics.tick() > CUT + 5 {
            poses.extend(game.poses(&simulation));
        }
    }
    (poses, way)
}

/// Checks for each kind of move that the rope moves on as if it had not been moved.
#[track_caller]
fn check(still: Scene) {
    let (stayed, _) = run(still);
    for what in MOVES {
        let scene = Scene { what, ..still };
        let (moved, way) = run(scene);
        assert!(way < 0.2, "{way} m in a frame: {scene:?}");
        assert_same(&Game::start(scene).1, &moved, &stayed);
    }
}

#[track_caller]
fn assert_same(game: &Game, moved: &[Pose], stayed: &[Pose]) {
    assert_eq!(moved.len(), stayed.len());
    assert!(!moved.is_empty());
    for (moved, stayed) in moved.iter().zip(stayed) {
        let off = moved.translation.distance((game.by() * stayed).translation);
        assert!(off < 2e-3, "{off} m: {:?}", game.scene);
    }
}

/// Rapier moves a disabled link with the others. It is displayed where it is, before and after the others sleep.
#[test]
fn a_disabled_link_is_displayed_where_its_multibody_moves_it() {
    for bodies in [2, 3] {
        check_disabled_link(bodies);
    }
}

fn check_disabled_link(bodies: u8) {
    let mut simulation = space(60);
    simulation
        .physics
        .set_gravity(Vector::NEG_Y * 9.81)
        .unwrap();
    let keys: Vec<_> = (0..bodies)
        .map(|i| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::X * f32::from(i));
            simulation.physics.insert(body, ball())
        })
        .collect();
    let handles: Vec<_> = (keys.iter())
        .map(|key| simulation.physics.handle(*key).unwrap())
        .collect();
    for pair in handles.windows(2) {
        let joint = ball_joint(Vector::X * 0.5, Vector::X * -0.5);
        let world = simulation.physics.rapier_mut_except_bodies();
        world
            .insert_multibody_joint(pair[0], pair[1], joint)
            .unwrap();
    }
    let disabled = keys[1];
    let state = |simulation: &Simulation| *simulation.physics.body(disabled).unwrap().position();
    for step in 0..120u8 {
        simulation.advance(
            std::time::Duration::from_nanos(16_666_667),
            |physics, step| {
                if step.tick == 2 {
                    physics.body_mut(disabled).unwrap().set_enabled(false);
                }
                if step.tick == 60 {
                    for key in keys.iter().filter(|key| **key != disabled) {
                        physics.body_mut(*key).unwrap().sleep();
                    }
                }
                if step.tick == 90 {
                    physics.apply_impulse(keys[0], Vector::Y).unwrap();
                }
            },
        );
        let tick = simulation.frame().tick;
        let displayed = simulation.pose_at(disabled, tick, 1.0).unwrap();
        assert_eq!(
            displayed,
            state(&simulation),
            "step {step} of {bodies} bodies"
        );
    }
}
