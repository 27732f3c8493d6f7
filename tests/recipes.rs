//! What the book's recipes say beyond their own programs: what each is made to avoid, and frame rates compared.

mod scenes;

use evenstep::rapier::control::{
    DynamicRayCastVehicleController, KinematicCharacterController, WheelTuning,
};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use scenes::{space, with_floor};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn position(physics: &Physics, key: BodyKey) -> Pose {
    *physics.body(key).unwrap().position()
}

/// `state` of the simulation before step `tick`, at a number of frames a second.
fn at_tick<T>(
    tick: u64,
    frames_per_second: u32,
    mut simulation: Simulation,
    mut hook: impl FnMut(&mut Physics, Step),
    state: impl Fn(&Physics) -> T,
) -> T {
    let mut result = None;
    while result.is_none() {
        simulation.advance(SECOND / frames_per_second, |physics, step| {
            if step.tick == tick {
                result = Some(state(physics));
            }
            hook(physics, step);
        });
    }
    result.unwrap()
}

// A character.

/// The capsule: metres.
const HALF_HEIGHT: f32 = 0.4; // without its caps
const RADIUS: f32 = 0.3;
/// From the ground up to the capsule. It steps onto what is lower.
const LEGS: f32 = 0.3;
/// From the ground up to the body's middle.
const STANDING: f32 = LEGS + RADIUS + HALF_HEIGHT;
/// The mass with which it pushes: kilograms.
const MASS: f32 = 80.0;

struct Hero {
    key: BodyKey,
    /// Upwards, metres a second.
    rise: f32,
    on_ground: bool,
}

impl Hero {
    fn build(simulation: &mut Simulation, feet: Vector) -> Self {
        let place = feet + Vector::Y * STANDING;
        let body = RigidBodyBuilder::kinematic_position_based().translation(place);
        let collider = ColliderBuilder::capsule_y(HALF_HEIGHT, RADIUS);
        Self {
            key: simulation.physics.insert(body, collider),
            rise: 0.0,
            on_ground: false,
        }
    }

    /// In the hook, before each step. `velocity` is horizontal, metres a second.
    fn walk(&mut self, physics: &mut Physics, step: Step, velocity: Vector) {
        if !self.on_ground {
            self.rise += physics.rapier().gravity.y * step.dt;
        }
        let wanted = (velocity + Vector::Y * self.rise) * step.dt;
        let place = self.go(physics, step, wanted);
        let next = self.stand(physics, place);
        let body = physics.body_mut(self.key).unwrap();
        body.set_next_kinematic_translation(next);
    }

    /// Where the capsule gets to: it stops at walls, and pushes what is in the way.
    fn go(&mut self, physics: &mut Physics, step: Step, wanted: Vector) -> Vector {
        let controller = KinematicCharacterController::default();
        let capsule = Capsule::new_y(HALF_HEIGHT, RADIUS);
        let body = physics.body(self.key).unwrap();
        let pose = *body.position();
        let filter = self.filter(physics);
        let mut hits = Vec::new();
        let mut queries = physics.query_pipeline_mut(filter);
        let movement =
            controller.move_shape(step.dt, &queries.as_ref(), &capsule, &pose, wanted, |hit| {
                hits.push(hit)
            });
        controller.solve_character_collision_impulses(step.dt, &mut queries, &capsule, MASS, &hits);
        if movement.translation.y.abs() < 0.5 * wanted.y.abs() {
            self.rise = 0.0; // the ceiling, or an edge under the capsule
        }
        pose.translation + movement.translation
    }

    /// Where it is after the step, with its feet on what is under `place`.
    fn stand(&mut self, physics: &Physics, place: Vector) -> Vector {
        // On the ground its legs reach down a step, in the air they do not.
        let reach = if self.on_ground { LEGS } else { 0.0 };
        let down = Ray::new(place, Vector::NEG_Y);
        let filter = self.filter(physics);
        let rapier = physics.rapier();
        let ground = rapier
            .cast_ray_and_get_normal(&down, STANDING + reach, true, filter)
            .filter(|(_, hit)| self.rise <= 0.0 && hit.normal.y > 0.7); // no steeper than 45°
        self.on_ground = ground.is_some();
        let Some((collider, hit)) = ground else {
            return place;
        };
        self.rise = 0.0;
        let standing = place + Vector::Y * (STANDING - hit.time_of_impact);
        let parent = rapier.colliders[collider].parent();
        match parent.map(|body| &rapier.bodies[body]) {
            // Its target is set: it knows where it will be after this step.
            Some(platform) if platform.is_kinematic() => {
                platform.next_position() * (platform.position().inverse() * standing)
            }
            _ => standing,
        }
    }

    /// All that it can stand on or run into.
    fn filter(&self, physics: &Physics) -> QueryFilter<'static> {
        let own = physics.handle(self.key).unwrap();
        QueryFilter::new().exclude_rigid_body(own).exclude_sensors()
    }
}

#[test]
fn the_book_shows_the_hero_that_is_tested_here() {
    let trimmed = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let tested = include_str!("recipes.rs");
    let start = tested.find("/// The capsule").unwrap();
    let end = tested.find("\n#[test]").unwrap();
    let book = include_str!("../docs/book/src/characters.md");
    assert!(trimmed(book).contains(trimmed(&tested[start..end]).trim_end()));
}

fn box_floor(simulation: &mut Simulation) {
    let body = RigidBodyBuilder::fixed().translation(Vector::Y * -0.5);
    simulation
        .physics
        .insert(body, ColliderBuilder::cuboid(100.0, 0.5, 100.0));
}

/// Squares of 2 m, as a level from a file is.
fn mesh_floor(simulation: &mut Simulation) {
    let squares = (-50..50i16).flat_map(|x| (-50..50i16).map(move |z| (x, z)));
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for ((x, z), first) in squares.zip((0u32..).step_by(4)) {
        let corner = Vector::new(f32::from(x), 0.0, f32::from(z)) * 2.0;
        let edges = [Vector::ZERO, Vector::X, Vector::X + Vector::Z, Vector::Z];
        vertices.extend(edges.map(|edge| corner + edge * 2.0));
        triangles.push([first, first + 2, first + 1]);
        triangles.push([first, first + 3, first + 2]);
    }
    let mesh = ColliderBuilder::trimesh(vertices, triangles).unwrap();
    simulation.physics.insert(RigidBodyBuilder::fixed(), mesh);
}

/// A plane through the origin that rises along x by so many degrees.
fn slope(simulation: &mut Simulation, degrees: f32) {
    let rotation = Rotation::from_rotation_z(degrees.to_radians());
    let pose = Pose::from_parts(rotation * Vector::Y * -0.5, rotation);
    let body = RigidBodyBuilder::fixed().pose(pose);
    simulation
        .physics
        .insert(body, ColliderBuilder::cuboid(100.0, 0.5, 100.0));
}

/// From here on it stands: in the first step its ray finds nothing yet.
const STANDS: u64 = 10;

/// How a walk differs from an even one: metres.
#[derive(Debug, Default)]
struct Unevenness {
    /// The most in any step.
    step: f32,
    /// The most in any frame, as it is shown.
    frame: f32,
    /// At the end, beside the line and above or below it.
    aside: f32,
}

/// Ten seconds of a walk along a plane at `velocity`, at 144 frames a second, by `walk`.
fn uneven(
    simulation: &mut Simulation,
    key: BodyKey,
    velocity: Vector,
    mut walk: impl FnMut(&mut Physics, Step, Vector),
) -> Unevenness {
    let mut off = Unevenness::default();
    let (mut start, mut last, mut last_shown) = (None, None, None);
    let horizontal = Vector::new(velocity.x, 0.0, velocity.z);
    for _ in 0..144 * 10 {
        simulation.advance(SECOND / 144, |physics, step| {
            let now = position(physics, key).translation;
            if step.tick > STANDS {
                let way = now - *start.get_or_insert(now);
                off.aside = way.reject_from(velocity).length();
                let last = last.replace(now).unwrap_or(now - velocity * step.dt);
                off.step = off.step.max((now - last - velocity * step.dt).length());
            }
            let goes = step.tick >= STANDS;
            let wanted = if goes { horizontal } else { Vector::ZERO };
            walk(physics, step, wanted);
        });
        if simulation.physics.tick() > STANDS + 2 {
            let shown = simulation.pose(key).unwrap().translation;
            let last: Vector = last_shown
                .replace(shown)
                .unwrap_or(shown - velocity / 144.0);
            off.frame = off.frame.max((shown - last - velocity / 144.0).length());
        }
    }
    off
}

fn assert_walks_evenly(build: impl Fn(&mut Simulation), direction: Vector) {
    for speed in [2.0, 5.0, 8.0] {
        let mut simulation = Simulation::default();
        build(&mut simulation);
        let horizontal = Vector::new(direction.x, 0.0, direction.z).length();
        let velocity = direction * (speed / horizontal);
        let mut hero = Hero::build(&mut simulation, velocity * -5.0);
        let key = hero.key;
        let off = uneven(
            &mut simulation,
            key,
            velocity,
            |simulation, step, wanted| {
                hero.walk(simulation, step, wanted);
            },
        );
        assert!(off.step < 1e-4, "{off:?} at {speed} m/s");
        assert!(off.frame < 1e-4, "{off:?} at {speed} m/s");
        assert!(off.aside < 1e-4, "{off:?} at {speed} m/s");
    }
}

#[test]
fn a_character_walks_evenly_on_a_flat_floor() {
    for direction in [Vector::X, Vector::new(-0.8, 0.0, 0.6)] {
        assert_walks_evenly(box_floor, direction);
        assert_walks_evenly(mesh_floor, direction);
    }
}

#[test]
fn a_character_walks_evenly_up_and_down_a_slope() {
    for degrees in [-45.0f32, -20.0, 20.0, 42.0] {
        let direction = Rotation::from_rotation_z(degrees.to_radians()) * Vector::X;
        assert_walks_evenly(|simulation| slope(simulation, degrees), direction);
    }
}

/// By Rapier's controller alone, which slides over the ground.
fn slide(physics: &mut Physics, step: Step, key: BodyKey, velocity: Vector) {
    let handle = physics.handle(key).unwrap();
    let rapier = physics.rapier_mut_except_bodies();
    let pose = *rapier.bodies[handle].position();
    let filter = QueryFilter::new().exclude_rigid_body(handle);
    let movement = KinematicCharacterController::default().move_shape(
        step.dt,
        &rapier.query_pipeline_with_filter(filter),
        &Capsule::new_y(0.5, 0.3),
        &pose,
        velocity * step.dt,
        |_| (),
    );
    let next = pose.translation + movement.translation;
    rapier.bodies[handle].set_next_kinematic_translation(next);
}

/// A capsule of 1.6 m that stands on a ground at `height`.
fn sliding_capsule(simulation: &mut Simulation, height: f32) -> BodyKey {
    simulation.physics.insert(
        RigidBodyBuilder::kinematic_position_based().translation(Vector::Y * (height + 0.82)),
        ColliderBuilder::capsule_y(0.5, 0.3),
    )
}

/// Once these hold no longer, the recipe needs no legs.
#[test]
fn rapier_s_controller_alone_hops_on_a_flat_floor() {
    for speed in [2.0, 5.0, 8.0] {
        let mut simulation = Simulation::default();
        box_floor(&mut simulation);
        let key = sliding_capsule(&mut simulation, 0.0);
        let velocity = Vector::X * speed;
        let off = uneven(
            &mut simulation,
            key,
            velocity,
            |simulation, step, wanted| {
                slide(simulation, step, key, wanted);
            },
        );
        assert!(off.step > 5e-3, "{off:?} at {speed} m/s");
        assert!(off.aside > 1e-3, "{off:?} at {speed} m/s");
    }
}

/// Where it is after each step.
fn places(
    simulation: &mut Simulation,
    hero: &mut Hero,
    steps: u64,
    velocity: Vector,
) -> Vec<Vector> {
    let mut places = Vec::new();
    let end = simulation.physics.tick() + steps;
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    while simulation.physics.tick() < end {
        simulation.advance(SECOND / 60, |physics, step| {
            hero.walk(physics, step, velocity);
        });
        places.push(position(&simulation.physics, hero.key).translation);
    }
    places
}

#[test]
fn a_character_climbs_stairs_up_to_the_length_of_its_legs() {
    let end = |height: f32| {
        let mut simulation = with_floor(Rate::default());
        for i in 1..=5u8 {
            let top = f32::from(i) * height;
            let place = Vector::new(f32::from(i) * 0.5 + 10.0, top / 2.0, 0.0);
            let stair = ColliderBuilder::cuboid(10.0, top / 2.0, 2.0);
            simulation
                .physics
                .insert(RigidBodyBuilder::fixed().translation(place), stair);
        }
        let mut hero = Hero::build(&mut simulation, Vector::ZERO);
        let up = places(&mut simulation, &mut hero, 180, Vector::X * 2.0);
        let down = places(&mut simulation, &mut hero, 180, Vector::X * -2.0);
        [up, down].map(|way| *way.last().unwrap())
    };
    for height in [0.1, 0.28] {
        let [up, down] = end(height);
        let top = Vector::new(6.0, 5.0 * height + STANDING, 0.0);
        assert!((up - top).length() < 1e-4, "{up}");
        assert!((down - Vector::Y * STANDING).length() < 1e-4, "{down}");
    }
    let [up, _] = end(0.5);
    assert!(up.x < 0.5 && (up.y - STANDING).abs() < 1e-4, "{up}");
}

#[test]
fn a_character_stops_at_a_wall_that_is_one_collider_with_its_floor_and_at_no_sensor() {
    let parts = vec![
        (
            Pose::translation(0.0, -0.5, 0.0),
            SharedShape::cuboid(50.0, 0.5, 50.0),
        ),
        (
            Pose::translation(4.0, 1.0, 0.0),
            SharedShape::cuboid(1.0, 1.0, 50.0),
        ),
    ];
    let mut simulation = Simulation::default();
    simulation
        .physics
        .insert(RigidBodyBuilder::fixed(), ColliderBuilder::compound(parts));
    let sensor = ColliderBuilder::cuboid(0.5, 0.5, 0.5).sensor(true);
    let place = RigidBodyBuilder::fixed().translation(Vector::X * 2.2);
    simulation.physics.insert(place, sensor);
    let mut hero = Hero::build(&mut simulation, Vector::ZERO);
    let place = places(&mut simulation, &mut hero, 120, Vector::X * 5.0)[119];
    assert!((3.0 - RADIUS - place.x - 0.014).abs() < 1e-3, "{place}");
    assert!((place.y - STANDING).abs() < 1e-4, "{place}");
}

#[test]
fn a_character_that_lands_beside_an_edge_hangs_there_until_it_walks() {
    for (walk, height) in [(-1.0, 2.0), (1.0, 0.0)] {
        let mut simulation = with_floor(Rate::default());
        let body = RigidBodyBuilder::fixed().translation(Vector::new(-5.0, 1.0, 0.0));
        simulation
            .physics
            .insert(body, ColliderBuilder::cuboid(5.0, 1.0, 5.0));
        let mut hero = Hero::build(&mut simulation, Vector::new(0.1, 2.0, 0.0));
        let hangs = places(&mut simulation, &mut hero, 120, Vector::ZERO)[119];
        let sunk = 2.0 + STANDING - hangs.y;
        assert!((0.28..0.31).contains(&sunk), "{hangs}");
        let goes = places(&mut simulation, &mut hero, 120, Vector::X * walk)[119];
        assert!((goes.y - height - STANDING).abs() < 1e-4, "{goes}");
    }
}

#[test]
fn a_character_slides_down_what_is_steeper_than_45_degrees() {
    let mut simulation = Simulation::default();
    slope(&mut simulation, 50.0);
    let mut hero = Hero::build(&mut simulation, Vector::ZERO);
    let places = places(&mut simulation, &mut hero, 120, Vector::ZERO);
    assert!(places[119].y < -1.0, "{}", places[119]);
    assert!(!hero.on_ground);
}

#[test]
fn a_character_jumps_lands_and_stops_at_a_ceiling() {
    let highest = |ceiling: Option<f32>| {
        let mut simulation = with_floor(Rate::default());
        if let Some(height) = ceiling {
            let body = RigidBodyBuilder::fixed().translation(Vector::Y * (height + 0.5));
            simulation
                .physics
                .insert(body, ColliderBuilder::cuboid(5.0, 0.5, 5.0));
        }
        let mut hero = Hero::build(&mut simulation, Vector::ZERO);
        places(&mut simulation, &mut hero, 10, Vector::ZERO);
        assert!(hero.on_ground);
        hero.rise = 5.0;
        let places = places(&mut simulation, &mut hero, 80, Vector::X);
        assert_eq!((hero.on_ground, hero.rise), (true, 0.0));
        assert_eq!(places[79].y, STANDING);
        let head = STANDING + HALF_HEIGHT + RADIUS;
        places
            .iter()
            .map(|place| place.y - STANDING + head)
            .fold(0.0, f32::max)
    };
    let free = highest(None);
    assert!(
        (3.0..3.1).contains(&free),
        "{free} m: 1.7 m, and 1.3 m of v² / 2g"
    );
    let under = highest(Some(2.0));
    assert!((1.95..2.0).contains(&under), "{under} m");
}

#[test]
fn a_character_pushes_a_crate_the_same_way_at_every_frame_rate() {
    let run = |frames_per_second| {
        let mut simulation = with_floor(Rate::default());
        let mut hero = Hero::build(&mut simulation, Vector::ZERO);
        let key = hero.key;
        let cargo = RigidBodyBuilder::dynamic().translation(Vector::new(2.0, 0.5, 0.1));
        let cargo = simulation
            .physics
            .insert(cargo, ColliderBuilder::cuboid(0.5, 0.5, 0.5).mass(20.0));
        at_tick(
            240,
            frames_per_second,
            simulation,
            |simulation, step| hero.walk(simulation, step, Vector::X * 2.0),
            |simulation| [key, cargo].map(|key| position(simulation, key)),
        )
    };
    let reference = run(60);
    assert!(reference[1].translation.x > 3.0, "the crate was pushed");
    for frames_per_second in [15, 144, 240] {
        assert_eq!(run(frames_per_second), reference, "at {frames_per_second}");
    }
}

#[test]
fn a_character_on_crates_stands_at_their_height_of_the_step_before() {
    let mut simulation = with_floor(Rate::default());
    let crates = [0.5, 1.5, 2.5, 3.5, 4.5].map(|height| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * height);
        simulation
            .physics
            .insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5).mass(20.0))
    });
    let mut hero = Hero::build(&mut simulation, Vector::Y * 5.0);
    let (mut top, mut sunk) = (5.0, 0.0f32);
    for frame in 0..120 {
        let place = places(&mut simulation, &mut hero, 1, Vector::ZERO)[0];
        if frame > 10 {
            let off = place.y - top - STANDING;
            assert!(off.abs() < 1e-4, "{off} m in step {frame}");
        }
        top = position(&simulation.physics, crates[4]).translation.y + 0.5;
        sunk = sunk.max(5.0 - top);
    }
    assert!((0.002..0.01).contains(&sunk), "{sunk} m");
}

// On a platform.

/// How far a rider at first 1 m from the middle of a platform is, on it, from an even walk at `velocity`: at worst in
/// any frame of the last three of four seconds. The platform waits for one second.
fn drift(
    path: impl Fn(f32) -> Pose,
    build: impl Fn(&mut Simulation) -> BodyKey,
    velocity: Vector,
    mut walk: impl FnMut(&mut Physics, Step, BodyKey, Vector),
) -> f32 {
    let mut simulation = Simulation::default();
    let platform = simulation.physics.insert(
        RigidBodyBuilder::kinematic_position_based(),
        ColliderBuilder::cuboid(3.0, 0.1, 3.0),
    );
    let rider = build(&mut simulation);
    let mut place = None;
    let mut worst = 0.0f32;
    for frame in 0..4 * 144u16 {
        let frame_time = SECOND / 144;
        let time = simulation.clock().time_after(frame_time);
        let pose = path(time.saturating_sub(SECOND).as_secs_f32());
        simulation
            .physics
            .set_kinematic_target(platform, pose, time)
            .unwrap();
        simulation.advance(frame_time, |physics, step| {
            walk(physics, step, rider, velocity);
        });
        let shown = |key| simulation.pose(key).unwrap();
        let walked = velocity * (f32::from(frame) / 144.0);
        let now = shown(platform).inverse() * shown(rider).translation - walked;
        if frame >= 140 {
            worst = worst.max((now - *place.get_or_insert(now)).length());
        }
    }
    worst
}

fn hero_s_drift(path: impl Fn(f32) -> Pose, velocity: Vector) -> f32 {
    let mut hero = None;
    drift(
        path,
        |simulation| Hero::build(simulation, Vector::new(1.0, 0.1, 0.0)).key,
        velocity,
        |simulation, step, key, velocity| {
            let hero = hero.get_or_insert(Hero {
                key,
                rise: 0.0,
                on_ground: false,
            });
            hero.walk(simulation, step, velocity);
        },
    )
}

#[test]
fn a_character_goes_with_its_platform_in_every_frame() {
    let paths: [fn(f32) -> Pose; 4] = [
        |t| Pose::from_translation(Vector::X * 2.0 * t),
        |t| Pose::from_translation(Vector::Y * t),
        |t| Pose::from_translation(Vector::new(1.0, -2.0, 0.5) * t),
        |t| Pose::from_parts(Vector::X * t, Rotation::from_rotation_y(t)),
    ];
    for (i, path) in paths.into_iter().enumerate() {
        let drift = hero_s_drift(path, Vector::ZERO);
        assert!(drift < 1e-4, "{drift} m on path {i}");
    }
    for (i, path) in paths.into_iter().take(3).enumerate() {
        let drift = hero_s_drift(path, Vector::new(-0.6, 0.0, 0.4));
        assert!(drift < 1e-4, "{drift} m on path {i}, walking");
    }
}

#[test]
fn a_character_that_begins_on_a_moving_platform_misses_its_first_step() {
    let mut simulation = Simulation::default();
    let body = RigidBodyBuilder::kinematic_position_based();
    let platform = simulation
        .physics
        .insert(body, ColliderBuilder::cuboid(3.0, 0.1, 3.0));
    let target = Pose::from_translation(Vector::X * 2.0);
    simulation
        .physics
        .set_kinematic_target(platform, target, SECOND)
        .unwrap();
    let mut hero = Hero::build(&mut simulation, Vector::Y * 0.1);
    for _ in 0..30 {
        let place = places(&mut simulation, &mut hero, 1, Vector::ZERO)[0];
        let behind = position(&simulation.physics, platform).translation.x - place.x;
        assert!((behind - 2.0 / 60.0).abs() < 1e-4, "{behind} m");
    }
}

#[test]
fn rapier_s_controller_alone_loses_a_platform_that_moves_sideways() {
    let sideways = |t| Pose::from_translation(Vector::X * 2.0 * t);
    let drift = drift(
        sideways,
        |simulation| sliding_capsule(simulation, 0.1),
        Vector::ZERO,
        |simulation, step, key, _| slide(simulation, step, key, -Vector::Y),
    );
    assert!(drift > 0.5, "{drift} m"); // once it holds, the recipe can be shorter
}

// A vehicle.

fn car(simulation: &mut Simulation) -> (BodyKey, DynamicRayCastVehicleController) {
    let chassis = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.75);
    let key = simulation
        .physics
        .insert(chassis, ColliderBuilder::cuboid(1.0, 0.2, 0.5).mass(400.0));
    let mut car = DynamicRayCastVehicleController::new(simulation.physics.handle(key).unwrap());
    let tuning = WheelTuning {
        suspension_stiffness: 30.0,
        suspension_compression: 4.0,
        suspension_damping: 5.0,
        ..WheelTuning::default()
    };
    for (x, z) in [(0.8, 0.5), (0.8, -0.5), (-0.8, 0.5), (-0.8, -0.5)] {
        let place = Vector::new(x, -0.2, z);
        car.add_wheel(place, -Vector::Y, Vector::Z, 0.3, 0.25, &tuning);
    }
    (key, car)
}

fn drive(physics: &mut Physics, step: Step, car: &mut DynamicRayCastVehicleController, force: f32) {
    for wheel in car.wheels_mut() {
        wheel.engine_force = force;
    }
    let filter = QueryFilter::new().exclude_rigid_body(car.chassis);
    let queries = physics.query_pipeline_mut(filter);
    car.update_vehicle(step.dt, queries);
}

#[test]
fn a_car_drives_the_same_way_at_every_frame_rate() {
    let run = |frames_per_second| {
        let mut simulation = with_floor(Rate::default());
        let (key, mut car) = car(&mut simulation);
        at_tick(
            240,
            frames_per_second,
            simulation,
            |simulation, step| drive(simulation, step, &mut car, 200.0),
            |simulation| position(simulation, key),
        )
    };
    let reference = run(60);
    assert!(reference.translation.x > 10.0);
    for frames_per_second in [15, 144, 240] {
        assert_eq!(run(frames_per_second), reference, "at {frames_per_second}");
    }
}

#[test]
fn a_car_that_sleeps_is_woken_by_driving_forward_only() {
    let driven = |force: f32| {
        let mut simulation = with_floor(Rate::default());
        let (key, mut car) = car(&mut simulation);
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        simulation.advance(SECOND * 5, |physics, step| {
            drive(physics, step, &mut car, 0.0);
        });
        simulation.physics.body_mut(key).unwrap().sleep();
        simulation.advance(SECOND, |physics, step| {
            drive(physics, step, &mut car, force);
        });
        position(&simulation.physics, key).translation.x
    };
    assert!(driven(200.0) > 0.5);
    assert!(driven(-200.0).abs() < 0.01, "so the recipe wakes it");
}

// Pick-ups.

#[test]
fn pick_ups_are_taken_in_the_same_steps_at_every_frame_rate() {
    let run = |frames_per_second: u32| {
        let mut simulation = space(60);
        let player = RigidBodyBuilder::dynamic().linvel(Vector::X * 5.0);
        let player = simulation
            .physics
            .insert(player, ColliderBuilder::ball(0.5));
        for i in 1..=3u8 {
            let place = Vector::X * 2.0 * f32::from(i);
            simulation.physics.insert(
                RigidBodyBuilder::fixed().translation(place),
                ColliderBuilder::ball(0.2)
                    .sensor(true)
                    .active_events(ActiveEvents::COLLISION_EVENTS),
            );
        }
        let mut taken = Vec::new();
        scenes::until_tick(180, || {
            simulation.begin_frame(SECOND / frames_per_second);
            while let Some(step) = simulation.next_step() {
                simulation.make_step();
                let entered = simulation.events().in_tick(step.tick).collisions();
                let coins: Vec<BodyKey> = entered
                    .filter(|event| event.started)
                    .flat_map(|event| event.bodies)
                    .flatten()
                    .filter(|key| *key != player)
                    .collect();
                let removed = coins
                    .iter()
                    .filter_map(|coin| simulation.physics.remove(*coin));
                taken.extend(removed.map(|body| (step.tick, body.translation().x)));
            }
            simulation.end_frame();
            simulation.physics.tick()
        });
        taken
    };
    let reference = run(60);
    assert_eq!(reference.len(), 3);
    for frames_per_second in [15, 144, 240] {
        assert_eq!(run(frames_per_second), reference, "at {frames_per_second}");
    }
}

#[test]
fn a_kinematic_player_meets_fixed_sensors_only_if_asked_for() {
    let meets = |types| {
        let mut simulation = space(60);
        let player = RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::X * 5.0);
        simulation
            .physics
            .insert(player, ColliderBuilder::ball(0.5));
        simulation.physics.insert(
            RigidBodyBuilder::fixed().translation(Vector::X * 1.0),
            ColliderBuilder::ball(0.2)
                .sensor(true)
                .active_collision_types(types)
                .active_events(ActiveEvents::COLLISION_EVENTS),
        );
        scenes::advance(&mut simulation, 200);
        simulation.events().collisions().next().is_some()
    };
    let default = ActiveCollisionTypes::default();
    assert!(!meets(default));
    assert!(meets(default | ActiveCollisionTypes::KINEMATIC_FIXED));
}

// A server.

#[test]
fn a_frame_of_the_rounded_period_makes_the_step_of_the_frame_before() {
    let mut clock = evenstep::Clock::new(Rate::default());
    let period = clock.settings().rate().period();
    let mut steps = Vec::new();
    for _ in 0..10_000 {
        clock.begin_frame(period);
        steps.push(clock.due());
    }
    assert_eq!(steps[0], 0);
    assert!(steps[1..].iter().all(|due| *due == 1));
}

// Forces between bodies.

#[test]
fn additional_mass_counts_from_the_first_step_on() {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().additional_mass(2.0);
    let key = simulation
        .physics
        .insert(body, ColliderBuilder::ball(0.2).mass(3.0));
    assert_eq!(simulation.physics.body(key).unwrap().mass(), 3.0);
    scenes::advance(&mut simulation, 17);
    assert_eq!(simulation.physics.body(key).unwrap().mass(), 5.0);
}

// Moving by hand.

#[test]
fn what_lies_on_a_platform_goes_with_its_next_position_and_not_with_its_position() {
    let carried = |set: fn(&mut RigidBody, Vector)| {
        let mut simulation = Simulation::default();
        let platform = simulation.physics.insert(
            RigidBodyBuilder::kinematic_position_based(),
            ColliderBuilder::cuboid(5.0, 0.1, 5.0).friction(1.0),
        );
        let cargo = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.35);
        let cargo = simulation
            .physics
            .insert(cargo, ColliderBuilder::cuboid(0.25, 0.25, 0.25));
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        simulation.advance(SECOND * 2, |physics, step| {
            let way = Vector::X * step.end_time.as_secs_f32();
            set(physics.body_mut(platform).unwrap(), way);
        });
        position(&simulation.physics, cargo).translation.x
    };
    let led = carried(RigidBody::set_next_kinematic_translation);
    assert!(led > 1.8, "{led} m of 2");
    let put = carried(|body, way| body.set_translation(way, true));
    assert!(put.abs() < 0.1, "{put} m of 2");
}
