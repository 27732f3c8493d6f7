//! Sounds: once per hit, and where the body is drawn.

use super::*;
use std::collections::BTreeMap;

/// Stands for an audio library.
#[derive(Default)]
struct Mixer {
    started: Vec<(&'static str, Vector)>,
    engines: BTreeMap<BodyKey, Vector>,
}

impl Mixer {
    fn start(&mut self, name: &'static str, position: Vector) {
        self.started.push((name, position));
    }
}

/// Plays a frame. Call it after each `advance`.
fn play(simulation: &Simulation, sounds: &BTreeMap<BodyKey, &'static str>, mixer: &mut Mixer) {
    for hit in simulation.events().collisions().filter(|hit| hit.started) {
        for key in hit.bodies.into_iter().flatten() {
            if let (Some(name), Some(pose)) = (sounds.get(&key), simulation.pose(key)) {
                mixer.start(name, pose.translation);
            }
        }
    }
    for (key, position) in &mut mixer.engines {
        if let Some(pose) = simulation.pose(*key) {
            *position = pose.translation;
        }
    }
}

#[test]
fn each_hit_plays_once_where_the_body_is_drawn_at_every_frame_rate() {
    for frames_per_second in [20, 60, 144] {
        let mut simulation = with_floor(Rate::hz(60));
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0);
        let collider = ColliderBuilder::ball(0.5).active_events(ActiveEvents::COLLISION_EVENTS);
        let ball = simulation.physics.insert(body, collider);
        let sounds = BTreeMap::from([(ball, "thud")]); // the floor is silent
        let mut mixer = Mixer::default();
        mixer.engines.insert(ball, Vector::ZERO);
        for _ in 0..2 * frames_per_second {
            simulation.advance(SECOND / frames_per_second, |_, _| ());
            play(&simulation, &sounds, &mut mixer);
            let drawn = simulation.pose(ball).unwrap().translation;
            assert_eq!(mixer.engines[&ball], drawn);
        }
        let [(name, position)] = mixer.started[..] else {
            panic!("{} sounds", mixer.started.len());
        };
        assert_eq!(name, "thud");
        // Up to a step before the picture displays the hit, in which the ball falls by 9 cm.
        assert!((0.45..0.65).contains(&position.y), "{position}");
    }
}

#[test]
fn a_shell_that_is_removed_in_the_step_of_its_hit_has_a_sound_but_no_pose() {
    let mut simulation = space(60);
    let wall = RigidBodyBuilder::fixed().translation(Vector::X * 2.0);
    let cuboid = ColliderBuilder::cuboid(0.5, 1.0, 1.0);
    simulation.physics.insert(wall, cuboid);
    let collider = ColliderBuilder::ball(0.1).active_events(ActiveEvents::COLLISION_EVENTS);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 20.0);
    let shell = simulation.physics.insert(body, collider);
    let mut hits = Vec::new();
    for _ in 0..30 {
        simulation.begin_frame(SECOND / 60);
        while simulation.next_step().is_some() {
            simulation.run_step();
            if simulation.physics.events().collisions().next().is_some() {
                simulation.physics.remove(shell);
            }
        }
        simulation.end_frame();
        let started = simulation.events();
        let started = started.collisions().filter(|hit| hit.started);
        hits.extend(started.map(|_| simulation.pose(shell)));
    }
    assert_eq!(hits, [None]);
}
