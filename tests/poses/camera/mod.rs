//! The camera, and objects attached to bodies, at the frame times of a real capture. The functions are those of the
//! book's chapter docs/book/src/camera.md.
#![expect(
    clippy::disallowed_methods,
    reason = "a camera's smoothing is only drawn: no run depends on it"
)]

// Looking around in space.
#[cfg(not(dim2))]
mod first_person;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Rate, Simulation};
use scenes::testing::{cuboid, spin, vector};
use scenes::{frame_times, space, with_floor};
use std::time::Duration;

const SPEED: f32 = 7.0; // metres per second
const TOLERANCE: f32 = 1e-4; // metres

/// Frames of 10 to 45 ms, recorded from a game loop on a busy machine.
fn recorded() -> Vec<Duration> {
    let capture = include_bytes!("../../../examples/hecs_game/frame-times.csv");
    frame_times::read(&capture[..]).unwrap()
}

/// Creates a body in free space that moves along x and turns, both at constant speed. It flies from -80 m to 86 m:
/// further out, f32 rounds each step's motion.
fn cruiser() -> (Simulation, BodyKey) {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::X * -80.0)
        .linvel(Vector::X * SPEED)
        .angvel(spin(0.0, 3.0, 0.0));
    let key = simulation.physics.insert(body, cuboid(0.5, 0.5, 0.5));
    (simulation, key)
}

/// Calls `frame` for every frame of the capture, from the third step on.
fn over_the_capture(simulation: &mut Simulation, mut frame: impl FnMut(&Simulation, Duration)) {
    for time in recorded() {
        simulation.advance(time, |_, _| ());
        if simulation.physics.tick() > 2 {
            frame(simulation, time);
        }
    }
    assert!(simulation.physics.tick() > 1_000);
}

/// The largest deviation of a position from an even motion at [`SPEED`], from one frame to the next, in metres.
#[derive(Default)]
struct Evenness {
    last: Option<Vector>,
    worst: f32,
}

impl Evenness {
    fn add(&mut self, place: Vector, time: Duration) {
        if let Some(last) = self.last {
            let even = last + Vector::X * SPEED * time.as_secs_f32();
            self.worst = self.worst.max(place.distance(even));
        }
        self.last = Some(place);
    }
}

// Following.

/// Returns the position of the camera, at a fixed offset from the displayed target.
fn fixed_camera(simulation: &Simulation, target: BodyKey) -> Option<Vector> {
    let offset = Vector::X * -6.0 + Vector::Y * 2.5;
    Some(simulation.pose(target)?.translation + offset)
}

#[test]
fn a_camera_at_a_fixed_offset_moves_as_evenly_as_its_target() {
    let (mut simulation, target) = cruiser();
    let mut evenness = Evenness::default();
    over_the_capture(&mut simulation, |simulation, time| {
        evenness.add(fixed_camera(simulation, target).unwrap(), time);
    });
    assert!(evenness.worst < TOLERANCE, "{} m", evenness.worst);
}

#[test]
fn a_camera_placed_before_the_simulation_advances_jitters() {
    let (mut simulation, target) = cruiser();
    let mut distances = Vec::new();
    for time in recorded() {
        let camera = fixed_camera(&simulation, target).unwrap();
        simulation.advance(time, |_, _| ());
        distances.push(
            simulation
                .pose(target)
                .unwrap()
                .translation
                .distance(camera),
        );
    }
    let swing = swing(&distances[10..]);
    assert!((0.22..0.23).contains(&swing), "{swing} m");
}

#[test]
fn a_camera_at_the_latest_state_jitters() {
    let (mut simulation, target) = cruiser();
    let mut distances = Vec::new();
    over_the_capture(&mut simulation, |simulation, _| {
        let camera = simulation.physics.body(target).unwrap().translation();
        distances.push(simulation.pose(target).unwrap().translation.x - camera.x);
    });
    // The distance varies by up to the motion of a whole step.
    let swing = swing(&distances);
    assert!((0.95..1.0).contains(&(swing / (SPEED / 60.0))), "{swing} m");
}

/// Returns the difference between the largest and the smallest number.
fn swing(distances: &[f32]) -> f32 {
    let most = distances.iter().copied().fold(f32::MIN, f32::max);
    let least = distances.iter().copied().fold(f32::MAX, f32::min);
    most - least
}

/// A camera that follows smoothly.
struct SmoothCamera {
    /// From the target to the camera. Small numbers keep f32 exact far from the origin.
    offset: Vector,
    target: Vector,
}

impl SmoothCamera {
    /// Call it once per frame, with the displayed position of the target. Returns the position of the camera.
    /// `rate`, per second, is how fast the distance shrinks.
    fn follow(&mut self, target: Vector, frame_time: f32, rate: f32) -> Vector {
        if frame_time > 0.0 {
            // At this velocity, the camera trails by `lag`. The rest decays.
            let lag = (target - self.target) / (frame_time * rate);
            self.offset = (self.offset + lag) * (-rate * frame_time).exp() - lag;
        }
        self.target = target;
        target + self.offset
    }
}

/// The formula that is often used instead.
fn follow_as_often_written(place: &mut Vector, target: Vector, frame_time: f32, rate: f32) {
    *place = place.lerp(target, 1.0 - (-rate * frame_time).exp());
}

#[test]
fn a_smooth_camera_trails_by_the_same_distance_in_every_frame() {
    let (mut simulation, target) = cruiser();
    let start = vector(-1.0, 3.0, 2.0);
    let mut camera = SmoothCamera {
        offset: start,
        target: Vector::X * -80.0,
    };
    let mut usual = camera.target + start;
    let (mut lags, mut usual_lags) = (Vec::new(), Vec::new());
    over_the_capture(&mut simulation, |simulation, time| {
        let shown = simulation.pose(target).unwrap().translation;
        let place = camera.follow(shown, time.as_secs_f32(), 5.0);
        follow_as_often_written(&mut usual, shown, time.as_secs_f32(), 5.0);
        // After three seconds the initial offset has decayed.
        if simulation.physics.tick() > 180 {
            lags.push(shown.distance(place));
            usual_lags.push(shown.distance(usual));
        }
    });
    for lag in &lags {
        assert!((lag - SPEED / 5.0).abs() < TOLERANCE, "{lag} m");
    }
    // Here the target jumps to its position at the end of the frame, so the lag depends on the frame time.
    let swing = swing(&usual_lags);
    assert!((0.06..0.063).contains(&swing), "{swing} m");
}

#[test]
fn a_smooth_camera_reaches_the_same_position_at_every_frame_rate() {
    let path = |frames: u32| {
        let mut camera = SmoothCamera {
            offset: Vector::Y,
            target: Vector::ZERO,
        };
        let frame_time = 2.0 / frames as f32;
        let targets = (1..=frames).map(|frame| Vector::X * SPEED * frame as f32 * frame_time);
        let places = targets.map(|target| camera.follow(target, frame_time, 3.0));
        places.last().unwrap()
    };
    let [slow, fast] = [path(60), path(480)];
    assert!(slow.distance(fast) < TOLERANCE, "{slow} {fast}");
}

/// Returns the position of the camera, nearer to the target if a wall is in between.
fn in_front_of_walls(simulation: &Simulation, target: Vector, camera: Vector) -> Vector {
    const RADIUS: f32 = 0.2; // the distance to walls, in metres
    let offset = camera - target;
    let length = offset.length();
    let ray = Ray::new(target, offset / length);
    let walls = QueryFilter::only_fixed();
    let hit = simulation
        .physics
        .rapier()
        .cast_ray(&ray, length + RADIUS, true, walls);
    hit.map_or(camera, |(_, distance)| {
        ray.point_at((distance - RADIUS).max(0.0))
    })
}

#[test]
fn a_camera_stays_in_front_of_a_wall() {
    let mut simulation = Simulation::default();
    let wall = RigidBodyBuilder::fixed().translation(Vector::X * -3.1);
    simulation.physics.insert(wall, cuboid(0.1, 5.0, 5.0));
    simulation.advance(Duration::from_millis(17), |_, _| ());
    let far = in_front_of_walls(&simulation, Vector::ZERO, Vector::X * -6.0);
    assert!(far.distance(Vector::X * -2.8) < TOLERANCE, "{far}");
    let near = in_front_of_walls(&simulation, Vector::ZERO, Vector::X * -2.5);
    assert_eq!(near, Vector::X * -2.5);
}

// Attached to bodies.

/// Returns the position of a muzzle, a seat or a lamp, which moves and turns with its body.
fn muzzle(simulation: &Simulation, tank: BodyKey) -> Option<Vector> {
    let on_the_body = Vector::X * 2.0 + Vector::Y * 0.5; // in the body's frame
    Some(simulation.pose(tank)? * on_the_body)
}

/// Returns the position of a name above a body, which moves with it, but does not turn.
fn name_tag(simulation: &Simulation, player: BodyKey) -> Option<Vector> {
    Some(simulation.pose(player)?.translation + Vector::Y * 2.0)
}

#[test]
fn attached_objects_keep_their_offset_from_the_displayed_body() {
    let (mut simulation, body) = cruiser();
    let mut tag = Evenness::default();
    over_the_capture(&mut simulation, |simulation, time| {
        let pose = simulation.pose(body).unwrap();
        let seen = pose.inverse() * muzzle(simulation, body).unwrap();
        assert!(seen.distance(vector(2.0, 0.5, 0.0)) < TOLERANCE);
        tag.add(name_tag(simulation, body).unwrap(), time);
    });
    assert!(tag.worst < TOLERANCE, "{} m", tag.worst);
}

#[test]
fn objects_attached_to_the_latest_state_wobble() {
    let (mut simulation, body) = cruiser();
    let mut worst = 0.0_f32;
    over_the_capture(&mut simulation, |simulation, _| {
        let wrong = *simulation.physics.body(body).unwrap().position() * Vector::X;
        let right = simulation.pose(body).unwrap() * Vector::X;
        worst = worst.max(wrong.distance(right));
    });
    assert!((0.16..0.17).contains(&worst), "{worst} m");
}

// Picking.

/// Returns the body under a ray, where this frame displays it, and its distance.
fn pick(simulation: &Simulation, ray: &Ray, reach: f32) -> Option<(BodyKey, f32)> {
    let world = simulation.displayed_world();
    let queries = world.query_pipeline(QueryFilter::default());
    let (collider, distance) = queries.cast_ray(ray, reach, true)?;
    Some((world.key_of_collider(collider)?, distance))
}

#[test]
fn picking_hits_displayed_bodies_that_rapier_s_own_rays_often_miss() {
    let mut simulation = with_floor(Rate::default());
    let body = RigidBodyBuilder::dynamic()
        .gravity_scale(0.0)
        .linvel(Vector::X * 40.0);
    let target = simulation.physics.insert(
        body.translation(Vector::Y * 5.0),
        ColliderBuilder::ball(0.3),
    );
    let (mut frames, mut misses) = (0, 0);
    over_the_capture(&mut simulation, |simulation, _| {
        let shown = simulation.pose(target).unwrap().translation;
        let ray = Ray::new(shown + Vector::Y * 10.0, -Vector::Y);
        let (key, distance) = pick(simulation, &ray, 100.0).unwrap();
        assert_eq!(key, target);
        assert!((distance - 9.7).abs() < TOLERANCE, "{distance} m");
        let hit = simulation
            .physics
            .rapier()
            .cast_ray(&ray, 100.0, true, QueryFilter::default());
        let hit = hit.and_then(|(collider, _)| simulation.physics.key_of_collider(collider));
        frames += 1;
        misses += usize::from(hit != Some(target));
    });
    let share = misses as f32 / frames as f32;
    assert!((0.59..0.61).contains(&share), "{share}");
}
