//! When Rapier's queries find a change: the table in the documentation of `Physics`.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation};
use scenes::testing::{cuboid, translation};
use scenes::{advance, space};

/// Where a change moves something to.
const THERE: f32 = 10.0;

/// A change of the scene.
type Change = fn(&mut Physics, &Scene);

/// What queries find around the origin before and after the step that follows a change.
type Row = (&'static str, Change, &'static [f32], &'static [f32]);

/// Cubes with a side of 1 m: a collider without a body at −10 m, a body at 0 m, a disabled body at 20 m, and a body
/// with a disabled collider at 30 m.
struct Scene {
    free: ColliderHandle,
    body: BodyKey,
    disabled: BodyKey,
    without: BodyKey,
}

/// The scene as queries find it. The collider at the origin is found in its middle and near its edge.
const AS_BEFORE: &[f32] = &[-10.0, 0.0, 0.4];

fn cube() -> ColliderBuilder {
    cuboid(0.5, 0.5, 0.5)
}

fn there() -> Pose {
    translation(THERE, 0.0, 0.0)
}

fn scene() -> (Simulation, Scene) {
    let mut simulation = space(100);
    let physics = &mut simulation.physics;
    let free = cube().translation(Vector::X * -10.0);
    let free = physics.rapier_mut().insert_collider(free, None);
    let mut insert = |x: f32, is_enabled: bool, collider: ColliderBuilder| {
        let body = RigidBodyBuilder::kinematic_position_based().enabled(is_enabled);
        physics.insert(body.translation(Vector::X * x), collider)
    };
    let scene = Scene {
        free,
        body: insert(0.0, true, cube()),
        disabled: insert(20.0, false, cube()),
        without: insert(30.0, true, cube().enabled(false)),
    };
    advance(&mut simulation, 10);
    (simulation, scene)
}

fn collider(physics: &mut Physics, key: BodyKey) -> &mut Collider {
    let handle = physics.body(key).unwrap().colliders()[0];
    physics.rapier_mut().colliders.get_mut(handle).unwrap()
}

/// Returns whether a ray from above finds a collider at this x. Shared and mutable access give the same result.
fn is_found(physics: &mut Physics, x: f32) -> bool {
    let ray = Ray::new(Vector::X * x + Vector::Y * 9.0, Vector::NEG_Y);
    let filter = QueryFilter::new()
        .exclude_sensors()
        .groups(InteractionGroups::all());
    let shared = physics.rapier().cast_ray(&ray, 100.0, true, filter);
    let queries = physics.query_pipeline_mut(filter);
    assert_eq!(queries.as_ref().cast_ray(&ray, 100.0, true), shared);
    shared.is_some()
}

/// Returns where rays find a collider.
fn found(physics: &mut Physics) -> Vec<f32> {
    let mut all = vec![-10.0, -9.2, 0.0, 0.4, THERE, 20.0, 30.0];
    all.retain(|x| is_found(physics, *x));
    all
}

/// Checks a row: for a change between two frames, and for one in a hook.
fn check((name, change, before, after): &Row) {
    for in_hook in [false, true] {
        let (mut simulation, scene) = scene();
        assert_eq!(found(&mut simulation.physics), AS_BEFORE);
        if !in_hook {
            change(&mut simulation.physics, &scene);
            advance(&mut simulation, 0);
            assert_eq!(found(&mut simulation.physics), *before, "{name}");
        }
        simulation.begin_frame(scenes::MS(10));
        assert!(simulation.next_step().is_some());
        if in_hook {
            change(&mut simulation.physics, &scene);
        }
        assert_eq!(found(&mut simulation.physics), *before, "{name}");
        simulation.run_step();
        assert_eq!(found(&mut simulation.physics), *after, "{name}");
        simulation.end_frame();
        advance(&mut simulation, 10);
        assert_eq!(found(&mut simulation.physics), *after, "{name}");
    }
}

#[test]
fn queries_find_each_change_when_the_documentation_says() {
    let moved = &[-10.0, THERE];
    let rows: &[Row] = &[
        (
            "a step moves a body",
            |physics, scene| {
                (physics.set_kinematic_target(scene.body, there(), physics.time())).unwrap();
            },
            AS_BEFORE,
            moved,
        ),
        (
            "a body is inserted",
            |physics, _| {
                physics.insert(RigidBodyBuilder::fixed().pose(there()), cube());
            },
            AS_BEFORE,
            &[-10.0, 0.0, 0.4, THERE],
        ),
        (
            "a collider is attached",
            |physics, scene| {
                let collider = cube().position(there());
                physics.insert_collider(scene.body, collider).unwrap();
            },
            AS_BEFORE,
            &[-10.0, 0.0, 0.4, THERE],
        ),
        (
            "a collider is inserted without a body",
            |physics, _| {
                let collider = cube().position(there());
                physics.rapier_mut().insert_collider(collider, None);
            },
            AS_BEFORE,
            &[-10.0, 0.0, 0.4, THERE],
        ),
        (
            "a body is removed",
            |physics, scene| drop(physics.remove(scene.body)),
            &[-10.0],
            &[-10.0],
        ),
        (
            "a collider is removed",
            |physics, scene| drop(physics.remove_collider(scene.free)),
            &[0.0, 0.4],
            &[0.0, 0.4],
        ),
        (
            "a body is replaced in the same place",
            |physics, scene| {
                physics.remove(scene.body);
                physics.insert(RigidBodyBuilder::fixed(), cube());
            },
            AS_BEFORE,
            AS_BEFORE,
        ),
        (
            "a body is teleported",
            |physics, scene| physics.teleport(scene.body, there()).unwrap(),
            AS_BEFORE,
            moved,
        ),
        (
            "a body goes through a portal",
            |physics, scene| physics.teleport_by(scene.body, there()).unwrap(),
            AS_BEFORE,
            moved,
        ),
        (
            "a body is moved through Rapier",
            |physics, scene| {
                let body = physics.body_mut(scene.body).unwrap();
                body.set_position(there(), true);
            },
            AS_BEFORE,
            moved,
        ),
        (
            "a collider is moved relative to its body",
            |physics, scene| collider(physics, scene.body).set_position_wrt_parent(there()),
            AS_BEFORE,
            moved,
        ),
        (
            "a collider without a body is moved",
            |physics, scene| {
                physics.rapier_mut().colliders[scene.free].set_position(there());
            },
            &[0.0, 0.4],
            &[0.0, 0.4, THERE],
        ),
        (
            "a collider without a body is moved within its bounding box",
            |physics, scene| {
                let at = translation(-9.6, 0.0, 0.0);
                physics.rapier_mut().colliders[scene.free].set_position(at);
            },
            AS_BEFORE,
            &[-10.0, -9.2, 0.0, 0.4],
        ),
        (
            "a larger shape",
            |physics, scene| {
                let shape = cuboid(THERE, 0.5, 0.5).build().shared_shape().clone();
                collider(physics, scene.body).set_shape(shape);
            },
            AS_BEFORE,
            &[-10.0, -9.2, 0.0, 0.4, THERE],
        ),
        (
            "a smaller shape",
            |physics, scene| collider(physics, scene.body).set_shape(SharedShape::ball(0.1)),
            &[-10.0, 0.0],
            &[-10.0, 0.0],
        ),
        (
            "a body is disabled",
            |physics, scene| physics.body_mut(scene.body).unwrap().set_enabled(false),
            AS_BEFORE,
            &[-10.0],
        ),
        (
            "a body is enabled",
            |physics, scene| physics.body_mut(scene.disabled).unwrap().set_enabled(true),
            AS_BEFORE,
            &[-10.0, 0.0, 0.4, 20.0],
        ),
        (
            "a collider is disabled",
            |physics, scene| collider(physics, scene.body).set_enabled(false),
            AS_BEFORE,
            &[-10.0],
        ),
        (
            "a collider is enabled",
            |physics, scene| collider(physics, scene.without).set_enabled(true),
            AS_BEFORE,
            &[-10.0, 0.0, 0.4, 30.0],
        ),
        (
            "a collider becomes a sensor",
            |physics, scene| collider(physics, scene.body).set_sensor(true),
            &[-10.0],
            &[-10.0],
        ),
        (
            "a collider gets other groups",
            |physics, scene| {
                collider(physics, scene.body).set_collision_groups(InteractionGroups::none());
            },
            &[-10.0],
            &[-10.0],
        ),
        (
            "the origin is shifted",
            |physics, _| physics.shift_origin(Vector::X * -THERE).unwrap(),
            &[0.0, 0.4, THERE],
            &[0.0, 0.4, THERE],
        ),
        (
            "a copy is assigned",
            |physics, scene| {
                let mut copy = physics.clone();
                copy.teleport(scene.body, there()).unwrap();
                *physics = copy.preview(1, |_, _| ());
            },
            moved,
            moved,
        ),
    ];
    for row in rows {
        check(row);
    }
}

/// No query finds the collider of a disabled body, even one that it gets later.
#[test]
fn a_collider_of_a_disabled_body_is_found_by_no_query() {
    let (mut simulation, scene) = scene();
    advance(&mut simulation, 20);
    let other = cube().translation(Vector::X * 5.0);
    simulation
        .physics
        .insert_collider(scene.disabled, other)
        .unwrap();
    assert!(
        !simulation
            .physics
            .body(scene.disabled)
            .unwrap()
            .is_enabled()
    );
    let found = |simulation: &Simulation| {
        let world = simulation.displayed_world();
        let filter = QueryFilter::default();
        let query = world.query_pipeline(filter);
        query.intersect_point(Vector::X * 25.0).count()
    };
    for _ in 0..4 {
        advance(&mut simulation, 10);
        assert_eq!(found(&simulation), 0);
    }
    // It is enabled with its body.
    simulation
        .physics
        .body_mut(scene.disabled)
        .unwrap()
        .set_enabled(true);
    advance(&mut simulation, 10);
    assert_eq!(found(&simulation), 1);
}

/// A shift of the origin refreshes all that queries read.
#[test]
fn a_body_that_is_inserted_disabled_is_found_by_no_query_before_its_first_step() {
    let found = |simulation: &Simulation| {
        let displayed = simulation.displayed_world();
        let queries = [
            displayed.query_pipeline(QueryFilter::default()),
            simulation.physics.rapier().query_pipeline(),
        ];
        queries.map(|query| query.intersect_point(Vector::ZERO).count())
    };
    for shifts in [false, true] {
        let mut simulation = space(100);
        advance(&mut simulation, 20);
        let body = RigidBodyBuilder::dynamic().enabled(false);
        simulation.physics.insert(body, cube());
        if shifts {
            simulation.physics.shift_origin(Vector::ZERO).unwrap();
        }
        for ms in [0, 10, 10] {
            advance(&mut simulation, ms);
            assert_eq!(found(&simulation), [0, 0], "{shifts} {ms}");
        }
    }
}

/// A body that was disabled after its last step is found where it is displayed until the next one.
#[test]
fn a_moving_body_that_is_disabled_between_frames_is_found_where_it_is_displayed() {
    let mut simulation = space(100);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 1000.0);
    let key = simulation.physics.insert(body, cube());
    advance(&mut simulation, 35);
    simulation.physics.body_mut(key).unwrap().set_enabled(false);
    let displayed = simulation.pose(key).unwrap().translation;
    let state = simulation.physics.body(key).unwrap().translation();
    let world = simulation.displayed_world();
    let query = world.query_pipeline(QueryFilter::default());
    let found = [displayed, state].map(|at| query.intersect_point(at).count());
    assert_eq!(found, [1, 0]);
}

/// A body that no frame has displayed has its own pose, and a query finds it from its first step on.
#[test]
fn a_new_body_that_is_moved_at_once_has_its_pose_and_is_found_by_no_query() {
    let mut simulation = space(100);
    advance(&mut simulation, 20);
    let [put, teleported] = [(); 2].map(|()| {
        simulation
            .physics
            .insert(RigidBodyBuilder::dynamic(), cube())
    });
    let body = simulation.physics.body_mut(put).unwrap();
    body.set_translation(Vector::X * 5.0, true);
    let at = translation(9.0, 0.0, 0.0);
    simulation.physics.teleport(teleported, at).unwrap();
    assert_eq!(simulation.pose(put).unwrap().translation, Vector::X * 5.0);
    assert_eq!(simulation.pose(teleported), Some(at));
    let found = |simulation: &Simulation, x: f32| {
        let world = simulation.displayed_world();
        let query = world.query_pipeline(QueryFilter::default());
        query.intersect_point(Vector::X * x).count()
    };
    assert_eq!([0.0, 5.0, 9.0].map(|x| found(&simulation, x)), [0; 3]);
    advance(&mut simulation, 10);
    assert_eq!([0.0, 5.0, 9.0].map(|x| found(&simulation, x)), [0, 1, 1]);
}

/// In a pause, an editor inserts bodies and colliders, and picks them as they are drawn.
#[test]
fn a_displayed_body_or_collider_is_found_in_the_displayed_world_before_its_first_step() {
    let found = |simulation: &Simulation, x: f32| {
        let world = simulation.displayed_world();
        let query = world.query_pipeline(QueryFilter::default());
        query.intersect_point(Vector::X * x).count()
    };
    for steps in [0, 3] {
        let mut simulation = space(100);
        for _ in 0..steps {
            advance(&mut simulation, 10);
        }
        simulation.pause();
        let [one, two] = [5.0, 10.0].map(|x| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
            simulation.physics.insert(body, cube())
        });
        advance(&mut simulation, 10);
        assert_eq!([5.0, 10.0].map(|x| found(&simulation, x)), [1, 1]);
        (simulation.physics)
            .teleport(two, translation(12.0, 0.0, 0.0))
            .unwrap();
        let collider = cube().translation(Vector::X * 2.0);
        simulation.physics.insert_collider(one, collider).unwrap();
        advance(&mut simulation, 10);
        assert_eq!(
            [5.0, 7.0, 10.0, 12.0].map(|x| found(&simulation, x)),
            [1, 1, 0, 1]
        );
    }
    // It is inserted after the step of the frame that displays it.
    let mut simulation = space(100);
    simulation.begin_frame(scenes::MS(10));
    while simulation.next_step().is_some() {
        simulation.run_step();
        simulation
            .physics
            .insert(RigidBodyBuilder::dynamic(), cube());
    }
    simulation.end_frame();
    assert_eq!(found(&simulation, 0.0), 1);
}
