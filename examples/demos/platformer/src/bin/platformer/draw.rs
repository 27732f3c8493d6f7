//! Bodies as nodes of kiss3d's scene. Only nodes of moved bodies are updated.

use std::collections::BTreeMap;
use std::f32::consts::FRAC_PI_2;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation};
use evenstep_platformer::level::Paint;
use evenstep_platformer::{crates, hero};
use kiss3d::color::Color;
use kiss3d::scene::SceneNode3d;

/// The node of each body.
pub struct Nodes {
    group: SceneNode3d,
    bodies: BTreeMap<BodyKey, SceneNode3d>,
}

impl Nodes {
    pub fn new(group: SceneNode3d) -> Self {
        Self {
            group,
            bodies: BTreeMap::new(),
        }
    }

    /// Updates the nodes after each frame. The moved bodies include new ones, and those that a rewind restored.
    pub fn update(&mut self, simulation: &Simulation) {
        for key in simulation.removed() {
            if let Some(mut node) = self.bodies.remove(key) {
                node.detach();
            }
        }
        for (key, pose) in simulation.moved() {
            let group = &mut self.group;
            let node = self
                .bodies
                .entry(*key)
                .or_insert_with(|| add_body(group, &simulation.physics, *key));
            node.set_pose(*pose);
        }
    }
}

fn add_body(group: &mut SceneNode3d, physics: &Physics, key: BodyKey) -> SceneNode3d {
    let mut node = group.add_group();
    let body = physics.body(key).unwrap();
    for collider in body.colliders() {
        let collider = &physics.rapier().colliders[*collider];
        let mut part = node.add_group();
        add_part(&mut part, Paint::of(body), collider);
        part.set_pose(collider.position_wrt_parent().copied().unwrap_or_default());
    }
    node
}

fn add_part(node: &mut SceneNode3d, paint: Option<Paint>, collider: &Collider) {
    let half = collider.shape().compute_local_aabb().half_extents();
    match paint {
        Some(Paint::Ground) => add_ground(node, half),
        Some(Paint::Platform) => add_platform(node, half),
        Some(Paint::Crate) => add_crate(node),
        Some(Paint::Coin) => add_coin(node, half.x),
        Some(Paint::Shot) => add_shot(node, half.x),
        Some(Paint::Hero) => add_hero(node),
        None => (),
    }
}

/// Adds a block whose top has squares of one metre, against which motion is visible.
fn add_ground(node: &mut SceneNode3d, half: Vector) {
    add_box(node, Vector::ZERO, half, [0.36, 0.33, 0.38]);
    let (columns, rows) = ((half.x * 2.0) as u32, (half.z * 2.0) as u32);
    for parity in 0..2 {
        let (mut vertices, mut faces) = (Vec::new(), Vec::new());
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)))
        {
            if (row + column) % 2 == parity {
                let corner =
                    Vector::new(column as f32 - half.x, half.y + 0.004, row as f32 - half.z);
                add_square(&mut vertices, &mut faces, corner);
            }
        }
        let mut squares = SceneNode3d::trimesh(vertices, faces, Vector::ONE, true);
        let shade = [1.0, 0.87][parity as usize];
        squares.set_color(color([0.48, 0.66, 0.42].map(|part| part * shade)));
        squares.set_roughness(0.95);
        node.add_child(squares);
    }
}

fn add_square(vertices: &mut Vec<Vector>, faces: &mut Vec<[u32; 3]>, corner: Vector) {
    let first = vertices.len() as u32;
    for (x, z) in [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)] {
        vertices.push(corner + Vector::new(x, 0.0, z));
    }
    faces.push([first, first + 1, first + 2]);
    faces.push([first, first + 2, first + 3]);
}

fn add_platform(node: &mut SceneNode3d, half: Vector) {
    add_box(node, Vector::ZERO, half, [0.24, 0.44, 0.66]);
    let inner = Vector::new(half.x - 0.15, 0.01, half.z - 0.15);
    add_box(node, Vector::Y * half.y, inner, [0.42, 0.66, 0.86]);
}

fn add_crate(node: &mut SceneNode3d) {
    let half = crates::HALF;
    add_box(node, Vector::ZERO, Vector::splat(half), [0.72, 0.50, 0.28]);
    for side in [-1.0, 1.0] {
        let band = Vector::new(half + 0.01, 0.07, half + 0.01);
        let at = Vector::Y * side * (half - 0.06);
        add_box(node, at, band, [0.48, 0.31, 0.16]);
    }
}

fn add_coin(node: &mut SceneNode3d, radius: f32) {
    let mut coin = node.add_cylinder(radius, 0.08);
    coin.set_pose(Pose::from_parts(
        Vector::ZERO,
        Rotation::from_rotation_x(FRAC_PI_2),
    ));
    coin.set_color(color([0.98, 0.76, 0.18]));
    coin.set_roughness(0.35);
}

fn add_shot(node: &mut SceneNode3d, radius: f32) {
    let mut shot = node.add_sphere(radius * 1.3);
    shot.set_color(color([1.0, 0.35, 0.15]));
    shot.set_emissive(Color::new(1.0, 0.35, 0.1, 1.0));
}

/// Adds a capsule on two legs. It looks along −z.
fn add_hero(node: &mut SceneNode3d) {
    let mut body = node.add_capsule(hero::RADIUS, 2.0 * hero::HALF_HEIGHT);
    body.set_color(color([0.86, 0.28, 0.24]));
    body.set_roughness(0.5);
    for side in [-1.0, 1.0] {
        // The legs reach up into the capsule.
        let leg = Vector::new(0.08, hero::LEGS, 0.09);
        let at = Vector::new(side * 0.13, leg.y - hero::STANDING, 0.0);
        add_box(node, at, leg, [0.22, 0.26, 0.36]);
    }
    let visor = Vector::new(0.2, 0.09, 0.12);
    add_box(
        node,
        Vector::new(0.0, 0.35, -0.2),
        visor,
        [0.10, 0.12, 0.16],
    );
    let pack = Vector::new(0.18, 0.24, 0.1);
    add_box(node, Vector::new(0.0, 0.0, 0.32), pack, [0.94, 0.90, 0.82]);
}

fn add_box(node: &mut SceneNode3d, at: Vector, half: Vector, rgb: [f32; 3]) {
    let mut part = node.add_cube(half.x * 2.0, half.y * 2.0, half.z * 2.0);
    part.set_pose(Pose::from_translation(at));
    part.set_color(color(rgb));
    part.set_roughness(0.7);
}

pub fn color([red, green, blue]: [f32; 3]) -> Color {
    Color::new(red, green, blue, 1.0)
}
