//! Tests the plugin without a window. Frame times are set by hand.

use std::time::Duration;

use crate::plugin::{AfterStep, BeforeStep, Body, EntityMap, PhysicsPlugin, Simulation};
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use evenstep::rapier::prelude::{ColliderBuilder, RigidBodyBuilder};
use evenstep::{BodyKey, Physics};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// The ticks that the systems before and after each step have seen.
#[derive(Resource, Default, Debug, PartialEq)]
struct Ticks {
    before: Vec<u64>,
    after: Vec<u64>,
}

fn count_before(simulation: Res<Simulation>, mut ticks: ResMut<Ticks>) {
    let step = simulation.physics.current_step().unwrap();
    ticks.before.push(step.tick);
}

fn count_after(simulation: Res<Simulation>, mut ticks: ResMut<Ticks>) {
    assert!(simulation.physics.current_step().is_none());
    ticks.after.push(simulation.physics.tick());
}

/// Creates a game at 100 Hz without gravity, so that a step is 10 ms, and distances can be computed by hand.
fn app() -> App {
    let rate = evenstep::Rate::hz(100);
    let mut simulation = evenstep::Simulation::new(rate);
    simulation.physics.set_gravity(Vec3::ZERO).unwrap();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, PhysicsPlugin))
        .insert_resource(Simulation(simulation))
        .init_resource::<Ticks>()
        .add_systems(BeforeStep, count_before)
        .add_systems(AfterStep, count_after);
    app.finish();
    app.cleanup();
    // Bevy's first frame takes no time.
    app.update();
    app
}

fn frame(app: &mut App, time: Duration) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(time));
    app.update();
}

fn simulation(app: &mut App) -> Mut<'_, Simulation> {
    app.world_mut().resource_mut()
}

fn physics(app: &App) -> &Physics {
    &app.world().resource::<Simulation>().physics
}

/// Inserts a ball that flies along x at 100 m/s: a metre per step.
fn insert(app: &mut App) -> BodyKey {
    let body = RigidBodyBuilder::dynamic().linvel(Vec3::X * 100.0);
    let collider = ColliderBuilder::ball(0.5);
    simulation(app).physics.insert(body, collider)
}

fn spawn(app: &mut App) -> (Entity, BodyKey) {
    let key = insert(app);
    (app.world_mut().spawn(Body(key)).id(), key)
}

/// Returns the displayed x that the renderer gets.
fn x(app: &App, entity: Entity) -> f32 {
    let transform = app.world().get::<GlobalTransform>(entity).unwrap();
    transform.translation().x
}

fn is_near(left: f32, right: f32) -> bool {
    (left - right).abs() < 1e-3
}

#[test]
fn transforms_are_interpolated() {
    let mut app = app();
    let (ball, key) = spawn(&mut app);
    // Each frame is displayed one step behind.
    for (time, displayed) in [(10, 0.0), (4, 0.4), (4, 0.8), (4, 1.2), (8, 2.0)] {
        frame(&mut app, MS(time));
        assert!(is_near(x(&app, ball), displayed), "{}", x(&app, ball));
    }
    let body = physics(&app).body(key).unwrap().translation();
    assert!(is_near(body.x, 3.0), "{body}");
}

#[test]
fn systems_run_once_per_step() {
    let mut app = app();
    frame(&mut app, MS(5));
    assert_eq!(*app.world().resource::<Ticks>(), Ticks::default());
    frame(&mut app, MS(100));
    let ticks = app.world().resource::<Ticks>();
    assert_eq!(ticks.before, Vec::from_iter(0..10));
    assert_eq!(ticks.after, Vec::from_iter(1..11));
}

#[test]
fn a_spawned_transform_gets_its_pose_at_once_and_keeps_its_scale() {
    let mut app = app();
    frame(&mut app, MS(10));
    let body = RigidBodyBuilder::fixed().translation(Vec3::X * 3.0);
    let key = simulation(&mut app)
        .physics
        .insert(body, ColliderBuilder::ball(0.5));
    let scale = Transform::from_scale(Vec3::splat(2.0));
    let wall = app.world_mut().spawn((Body(key), scale)).id();
    // No frame has run since then. An entity that is spawned in `Update` is in the same situation.
    assert_eq!(
        *app.world().get::<Transform>(wall).unwrap(),
        scale.with_translation(Vec3::X * 3.0)
    );
    frame(&mut app, MS(10));
    assert_eq!(
        *app.world().get::<Transform>(wall).unwrap(),
        scale.with_translation(Vec3::X * 3.0)
    );
}

#[test]
fn only_the_transforms_of_moving_bodies_change() {
    #[derive(Resource, Default)]
    struct Entities(Vec<Entity>);

    let mut app = app();
    app.init_resource::<Entities>();
    let list = |changed: Query<Entity, Changed<Transform>>, mut entities: ResMut<Entities>| {
        entities.0 = changed.iter().collect();
    };
    app.add_systems(Update, list);
    let wall = ColliderBuilder::cuboid(1.0, 1.0, 1.0);
    let wall = simulation(&mut app)
        .physics
        .insert(RigidBodyBuilder::fixed(), wall);
    let wall = app.world_mut().spawn(Body(wall)).id();
    let (ball, _) = spawn(&mut app);
    frame(&mut app, MS(10));
    assert_eq!(app.world().resource::<Entities>().0, [wall, ball]);
    frame(&mut app, MS(10));
    assert_eq!(app.world().resource::<Entities>().0, [ball]);
}

#[test]
fn the_body_of_a_despawned_entity_is_removed() {
    let mut app = app();
    let (ball, key) = spawn(&mut app);
    let (other, other_key) = spawn(&mut app);
    frame(&mut app, MS(10));
    app.world_mut().despawn(ball);
    app.world_mut().entity_mut(other).remove::<Body>();
    assert!(physics(&app).body(key).is_none());
    assert!(physics(&app).body(other_key).is_none());
    frame(&mut app, MS(10));
    assert!(app.world().get::<Transform>(other).is_some());
}

#[test]
fn a_despawn_before_a_step_takes_effect_in_that_step() {
    let mut app = app();
    let (ball, _) = spawn(&mut app);
    app.add_systems(
        BeforeStep,
        move |simulation: Res<Simulation>, mut commands: Commands| {
            let step = simulation.physics.current_step().unwrap();
            if step.tick == 3 {
                commands.entity(ball).despawn();
            }
        },
    );
    app.add_systems(AfterStep, |simulation: Res<Simulation>| {
        let is_alive = simulation.physics.tick() <= 3;
        assert_eq!(simulation.physics.bodies().count(), usize::from(is_alive));
    });
    frame(&mut app, MS(100));
    assert_eq!(physics(&app).tick(), 10);
    assert!(app.world().get_entity(ball).is_err());
}

#[test]
fn an_entity_whose_body_is_removed_loses_the_component() {
    let mut app = app();
    let (ball, key) = spawn(&mut app);
    frame(&mut app, MS(10));
    frame(&mut app, MS(5));
    simulation(&mut app).physics.remove(key);
    assert!(app.world().get::<Body>(ball).is_some());
    frame(&mut app, MS(5));
    assert!(app.world().get::<Body>(ball).is_none());
    assert_eq!(app.world().resource::<EntityMap>().entity(key), None);
    assert!(is_near(x(&app, ball), 0.5), "{}", x(&app, ball));
    // The entity can have another body.
    let key = insert(&mut app);
    app.world_mut().entity_mut(ball).insert(Body(key));
    frame(&mut app, MS(10));
    assert_eq!(app.world().resource::<EntityMap>().entity(key), Some(ball));
    assert!(is_near(x(&app, ball), 0.0), "{}", x(&app, ball));
}

#[test]
fn pause_and_speed_are_independent_of_bevy_time() {
    let mut app = app();
    let (ball, _) = spawn(&mut app);
    frame(&mut app, MS(10));
    frame(&mut app, MS(5));
    simulation(&mut app).pause();
    frame(&mut app, MS(50));
    assert!(is_near(x(&app, ball), 0.5), "{}", x(&app, ball));
    assert_eq!(physics(&app).tick(), 1);
    assert_eq!(app.world().resource::<Time<Virtual>>().elapsed(), MS(65));

    simulation(&mut app).resume();
    simulation(&mut app)
        .clock_settings_mut()
        .set_speed(0.5)
        .unwrap();
    frame(&mut app, MS(10));
    assert_eq!(physics(&app).tick(), 2);
    assert!(is_near(x(&app, ball), 1.0), "{}", x(&app, ball));

    // Bevy's pause and speed have no effect here.
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    frame(&mut app, MS(10));
    assert!(is_near(x(&app, ball), 1.5), "{}", x(&app, ball));
}

/// The new level reuses keys of the old one.
#[test]
fn a_new_level_can_replace_the_simulation_within_a_step() {
    let mut app = app();
    let (old, old_key) = spawn(&mut app);
    let restart = move |world: &mut World| {
        if world.resource::<Simulation>().physics.tick() != 1 || world.get_entity(old).is_err() {
            return;
        }
        let mut simulation = evenstep::Simulation::default();
        let key = simulation.physics.insert_body(RigidBodyBuilder::dynamic());
        assert_eq!(key, old_key);
        world.insert_resource(Simulation(simulation));
        world.insert_resource(EntityMap::default());
        world.spawn(Body(key));
        world.despawn(old);
    };
    app.add_systems(BeforeStep, restart.after(count_before));
    frame(&mut app, MS(40));
    assert_eq!(physics(&app).tick(), 0);
    assert_eq!(physics(&app).bodies().count(), 1);
    frame(&mut app, MS(40));
    assert_eq!(physics(&app).tick(), 2);
}
