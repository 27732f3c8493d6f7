//! Queries against an earlier world return the same answers as those made when its frame was displayed.

use evenstep::rewind::Kept;
use std::collections::BTreeMap;

use evenstep::rapier::geometry::{ColliderHandle, Shape};
use evenstep::rapier::parry::query::ShapeCastOptions;
use evenstep::rapier::prelude::*;
use evenstep::rewind::RewindError;
use evenstep::{BodyKey, Frame, Simulation, Step};
use scenes::testing::{cuboid, spin, translation, vector};
use scenes::{MS, ball, collider_pose};

const KEPT: u64 = 40;

/// Answers of rays from above and from the side, shape casts with boxes, point queries, and filters.
#[derive(Clone, Debug, PartialEq)]
struct Answers {
    rays: Vec<Option<(ColliderHandle, f32)>>,
    casts: Vec<Option<(ColliderHandle, f32)>>,
    points: Vec<Option<(ColliderHandle, Vector)>>,
    inside: Vec<Vec<ColliderHandle>>,
}

fn places() -> impl Iterator<Item = f32> {
    (0..40u8).map(|i| 0.25 * f32::from(i) - 5.0)
}

fn ask(pipeline: &QueryPipeline<'_>) -> Answers {
    let down = |x: f32| Ray::new(vector(x, 30.0, 0.1), Vector::NEG_Y);
    let shape = cuboid(0.2, 0.2, 0.2).build();
    let shape: &dyn Shape = shape.shape();
    Answers {
        rays: places()
            .map(|x| pipeline.cast_ray(&down(x), 100.0, true))
            .collect(),
        casts: places()
            .map(|x| {
                let from = translation(x, 20.0, 0.1);
                let options = ShapeCastOptions::with_max_time_of_impact(100.0);
                let hit = pipeline.cast_shape(&from, Vector::NEG_Y, shape, options)?;
                Some((hit.0, hit.1.time_of_impact))
            })
            .collect(),
        points: places()
            .map(|x| {
                let projected = pipeline.project_point(vector(x, 1.3, 0.1), 100.0, true)?;
                Some((projected.0, projected.1.point))
            })
            .collect(),
        inside: places()
            .map(|x| {
                let hits = pipeline.intersect_shape(translation(x, 0.3, 0.1), shape);
                let mut hits: Vec<_> = hits.map(|(handle, _)| handle).collect();
                hits.sort_unstable_by_key(|handle| handle.into_raw_parts());
                hits
            })
            .collect(),
    }
}

fn filters() -> [QueryFilter<'static>; 3] {
    [
        QueryFilter::default(),
        QueryFilter::only_dynamic(),
        QueryFilter::exclude_dynamic().exclude_sensors(),
    ]
}

/// A pile into which bodies fall and from which others are removed, with a teleported body, a sensor that a target
/// moves, and a collider that is off its body's origin.
struct Game {
    simulation: Simulation,
    pile: Vec<BodyKey>,
    lift: BodyKey,
}

impl Game {
    fn new() -> Self {
        let mut simulation = scenes::with_floor(evenstep::Rate::hz(100));
        simulation.keep(Kept {
            ticks: KEPT,
            poses: KEPT + 2,
            ..simulation.kept()
        });
        let sensor = cuboid(0.5, 0.1, 0.5).sensor(true);
        let lift = simulation
            .physics
            .insert(RigidBodyBuilder::kinematic_position_based(), sensor);
        Self {
            simulation,
            pile: Vec::new(),
            lift,
        }
    }

    fn frame(&mut self, time: u64, mut after_step: impl FnMut(&Simulation)) -> Frame {
        self.simulation.begin_frame(MS(time));
        while let Some(step) = self.simulation.next_step() {
            self.before_step(step);
            self.simulation.run_step();
            after_step(&self.simulation);
        }
        self.simulation.end_frame()
    }

    fn before_step(&mut self, step: Step) {
        let Self {
            simulation,
            pile,
            lift,
        } = self;
        let tick = step.tick;
        let x = (tick * 7 % 19) as f32 * 0.4 - 4.0;
        if tick.is_multiple_of(3) {
            let body = RigidBodyBuilder::dynamic()
                .translation(vector(x, 4.0, 0.0))
                .angvel(spin(0.0, 0.0, 3.0));
            let collider = cuboid(0.3, 0.2, 0.3).position(translation(0.2, 0.1, 0.0));
            pile.push(simulation.physics.insert(body, collider));
        }
        if pile.len() > 25 {
            simulation.physics.remove(pile.remove(0));
        }
        if tick % 23 == 5 {
            let by = translation(0.5, 1.0, 0.0);
            simulation
                .physics
                .teleport_by(pile[pile.len() / 3], by)
                .unwrap();
        }
        if tick.is_multiple_of(11) {
            let place = translation(x, 3.0, 0.0);
            simulation
                .physics
                .teleport(pile[pile.len() / 2], place)
                .unwrap();
        }
        let height = 0.01 * (tick % 100) as f32;
        let target = translation(x * 0.1, height, 0.0);
        simulation
            .physics
            .set_kinematic_target(*lift, target, MS(10))
            .unwrap();
    }
}

/// All answers are equal bit for bit, regardless of bodies removed, inserted and teleported since.
#[test]
fn queries_at_alpha_1_equal_those_made_right_after_the_step() {
    let mut game = Game::new();
    let mut then = BTreeMap::new();
    for time in [10, 37, 3, 0, 25, 8].repeat(10) {
        game.frame(time, |simulation| {
            let answers = filters().map(|filter| {
                ask(&simulation
                    .physics
                    .rapier()
                    .query_pipeline_with_filter(filter))
            });
            then.insert(simulation.physics.tick(), answers);
        });
        let present = game.simulation.physics.tick();
        for tick in present.saturating_sub(KEPT)..=present {
            let past = game.simulation.world_at(tick, 1.0).unwrap();
            let answers = filters().map(|filter| ask(&past.query_pipeline(filter)));
            if let Some(then) = then.get(&tick) {
                assert!(answers == *then, "tick {tick} at {present}");
            }
        }
    }
    let hits = then.values().flat_map(|answers| &answers[1].rays);
    assert!(hits.flatten().count() > 1_000);
    let inside = then.values().flat_map(|answers| &answers[0].inside);
    let inside = inside.map(Vec::len).sum::<usize>();
    assert!(inside > 300, "{inside}");
}

/// This holds at any alpha, even for colliders of removed bodies.
#[test]
fn colliders_have_the_poses_that_the_frame_displayed() {
    let mut game = Game::new();
    let mut shown = Vec::new();
    let (mut checked, mut gone) = (0, 0);
    for time in [7, 16, 3, 33, 12].repeat(12) {
        if time == 33 {
            // Between two frames, poses of the previous frame do not change.
            let place = translation(0.0, 5.0, 0.0);
            (game.simulation)
                .physics
                .teleport(game.pile[0], place)
                .unwrap();
        }
        let frame = game.frame(time, |_| ());
        let simulation = &game.simulation;
        let colliders = simulation.physics.rapier().colliders.iter();
        let poses: Vec<_> = colliders
            .filter_map(|(handle, _)| {
                let key = simulation.physics.key_of_collider(handle)?;
                Some((handle, key, collider_pose(simulation, handle)?))
            })
            .collect();
        // Rapier's queries find colliders at their poses in the last step.
        if frame.tick > 0 {
            shown.push((frame, poses));
        }
        for (frame, poses) in &shown {
            let Ok(past) = simulation.world_at(frame.tick, frame.alpha) else {
                assert!(frame.tick + KEPT < simulation.physics.tick());
                continue;
            };
            let pipeline = past.query_pipeline(QueryFilter::default());
            assert_eq!(pipeline.colliders.len(), poses.len());
            for (handle, key, pose) in poses {
                assert_eq!(pipeline.colliders[*handle].position(), pose);
                assert_eq!(past.key_of_collider(*handle), Some(*key));
                if let Some(collider) = simulation.physics.rapier().colliders.get(*handle) {
                    // The pose of its body agrees.
                    let there = simulation.pose_at(*key, frame.tick, frame.alpha).unwrap();
                    assert_eq!(there * *collider.position_wrt_parent().unwrap(), *pose);
                }
                gone += usize::from(simulation.physics.body(*key).is_none());
                checked += 1;
            }
            // A ray hits at the same distance with the query tree as without it.
            for x in places() {
                let ray = Ray::new(vector(x, 30.0, 0.1), Vector::NEG_Y);
                let hit = pipeline.cast_ray(&ray, 100.0, true).map(|(_, at)| at);
                let all = pipeline.colliders.iter().filter_map(|(_, collider)| {
                    let shape = collider.shape();
                    shape.cast_ray(collider.position(), &ray, 100.0, true)
                });
                assert_eq!(hit, all.min_by(f32::total_cmp));
            }
        }
    }
    assert!(checked > 10_000 && gone > 300, "{checked}, {gone}");
}

/// Rapier moves a disabled link with its multibody, and leaves its collider behind.
#[test]
fn no_query_finds_the_collider_of_a_disabled_link() {
    let mut simulation = scenes::space(100);
    simulation.keep(Kept {
        ticks: KEPT,
        ..simulation.kept()
    });
    let insert = |simulation: &mut Simulation, body: RigidBodyBuilder| {
        simulation.physics.insert(body, scenes::ball())
    };
    let root = insert(&mut simulation, RigidBodyBuilder::fixed());
    let link = RigidBodyBuilder::dynamic().translation(Vector::X);
    let link = insert(&mut simulation, link);
    let ends = [root, link].map(|key| simulation.physics.handle(key).unwrap());
    let joint = scenes::testing::ball_joint(Vector::X * 0.5, Vector::X * -0.5);
    let physics = simulation.physics.rapier_mut_except_bodies();
    physics
        .insert_multibody_joint(ends[0], ends[1], joint)
        .unwrap();
    let collider = simulation.physics.body(link).unwrap().colliders()[0];
    let off = |simulation: &Simulation| {
        let (tick, alpha) = (simulation.frame().tick, simulation.frame().alpha);
        let past = simulation.world_at(tick, alpha).unwrap();
        let pipeline = past.query_pipeline(QueryFilter::default());
        let displayed = collider_pose(simulation, collider).unwrap().translation;
        let left = pipeline.colliders[collider].position().translation;
        let is_found = [displayed, left].map(|at| {
            let ray = Ray::new(at + Vector::Y * 3.0, Vector::NEG_Y);
            pipeline.cast_ray(&ray, 10.0, true).is_some()
        });
        (displayed.distance(left), is_found)
    };
    let enable = |simulation: &mut Simulation, is_enabled| {
        let link = simulation.physics.body_mut(link).unwrap();
        link.set_enabled(is_enabled);
    };
    scenes::advance(&mut simulation, 15);
    assert_eq!(off(&simulation), (0.0, [true; 2]));
    enable(&mut simulation, false);
    scenes::advance(&mut simulation, 15);
    let to = translation(0.0, 10.0, 0.0);
    simulation.physics.teleport(root, to).unwrap();
    for _ in 0..5 {
        scenes::advance(&mut simulation, 15);
    }
    let (distance, is_found) = off(&simulation);
    scenes::assert_near(distance, 10.0);
    assert_eq!(is_found, [false; 2]);
    enable(&mut simulation, true);
    scenes::advance(&mut simulation, 15);
    assert_eq!(off(&simulation), (0.0, [true; 2]));
}

/// The first of them is the one whose step ran before the call.
#[test]
fn all_ticks_kept_since_a_call_in_the_middle_of_a_frame_can_be_queried() {
    let (mut simulation, flyer) = scenes::flyer_in_space();
    let at_rest = RigidBodyBuilder::fixed().translation(Vector::Y * 9.0);
    let at_rest = simulation.physics.insert(at_rest, ball());
    simulation.begin_frame(MS(85));
    let mut poses = Vec::new();
    while let Some(step) = simulation.next_step() {
        let there = |key| *simulation.physics.body(key).unwrap().position();
        poses.push([flyer, at_rest].map(there));
        simulation.run_step();
        if step.tick == 3 {
            simulation.keep(Kept {
                ticks: 20,
                ..Kept::default()
            });
        }
    }
    simulation.end_frame();
    assert_eq!(simulation.rewindable(), 4..8);
    for tick in simulation.rewindable() {
        for (alpha, at) in [(0.0, tick - 1), (1.0, tick)] {
            let world = simulation.world_at(tick, alpha).unwrap();
            let pipeline = world.query_pipeline(QueryFilter::default());
            for (key, pose) in [flyer, at_rest].into_iter().zip(poses[at as usize]) {
                let collider = simulation.physics.body(key).unwrap().colliders()[0];
                let there = pipeline.colliders.get(collider).unwrap();
                assert_eq!(*there.position(), pose, "{tick} {alpha}");
            }
        }
    }
}

#[test]
fn ticks_out_of_range_are_refused_and_bad_alphas_are_clamped() {
    let mut game = Game::new();
    for _ in 0..60 {
        game.frame(10, |_| ());
    }
    let simulation = &game.simulation;
    assert_eq!(simulation.rewindable(), 20..60);
    for tick in [0, 19, 61, u64::MAX] {
        let error = simulation.world_at(tick, 0.5).unwrap_err();
        assert_eq!(error, RewindError::NotKept { tick, kept: 20..60 });
    }
    let ask_at = |alpha| {
        let past = simulation.world_at(30, alpha).unwrap();
        ask(&past.query_pipeline(QueryFilter::default()))
    };
    for (alpha, clamped) in [(f32::NAN, 0.0), (-1.0, 0.0), (f32::INFINITY, 1.0)] {
        assert_eq!(ask_at(alpha), ask_at(clamped));
    }
    assert_ne!(ask_at(0.0), ask_at(1.0));
    // Queries change nothing.
    let mut other = Game::new();
    for _ in 0..60 {
        other.frame(10, |_| ());
    }
    let worlds = [&other.simulation, simulation].map(|it| scenes::hash(it.physics.rapier()));
    assert_eq!(worlds[0], worlds[1]);
}

/// Without snapshots, only the present can be queried.
#[test]
fn the_present_can_be_queried_without_snapshots() {
    let mut game = Game::new();
    game.simulation.keep(Kept {
        ticks: 0,
        bytes: 0,
        ..game.simulation.kept()
    });
    let frame = game.frame(55, |_| ());
    let past = game.simulation.world_at(frame.tick, frame.alpha).unwrap();
    assert!(format!("{past:?}").contains("colliders"));
    assert!(game.simulation.world_at(frame.tick - 1, 1.0).is_err());
}

/// The present tick has other coordinates than its frame displayed, until the next frame.
#[test]
fn an_origin_shift_between_frames_discards_the_present_tick_until_the_next_frame() {
    for ticks in [0, KEPT] {
        let (mut simulation, key) = scenes::flyer_in_space();
        simulation.keep(Kept {
            ticks,
            poses: ticks,
            ..Kept::default()
        });
        scenes::advance(&mut simulation, 35);
        let displays = |simulation: &Simulation| {
            let frame = simulation.frame();
            let pose = simulation.pose_at(key, frame.tick, frame.alpha);
            let world = simulation.world_at(frame.tick, frame.alpha);
            (
                pose.map(|pose| Some(pose) == simulation.pose(key)),
                world.is_ok(),
            )
        };
        assert_eq!(displays(&simulation), (Some(true), true));
        simulation.physics.shift_origin(Vector::X * 100.0).unwrap();
        assert_eq!(displays(&simulation), (None, false), "{ticks}");
        scenes::advance(&mut simulation, 0);
        assert_eq!(displays(&simulation), (Some(true), true));
    }
}
