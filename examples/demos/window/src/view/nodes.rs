//! Bodies as nodes of kiss3d's scene.

use std::collections::BTreeMap;

use evenstep::BodyKey;
use evenstep::rapier::parry::shape::{SharedShape, TypedShape};
use evenstep::rapier::prelude::*;
use kiss3d::color::Color;
use kiss3d::scene::SceneNode3d;

use crate::paint::Paint;
use crate::scenes::FLOOR;
use crate::shown::{Look, Looks, Shown};

/// The node of each body, and those of wheels.
pub struct Nodes {
    group: SceneNode3d,
    bodies: BTreeMap<BodyKey, SceneNode3d>,
    wheels: Vec<SceneNode3d>,
}

impl Nodes {
    pub fn new(group: SceneNode3d) -> Self {
        Self {
            group,
            bodies: BTreeMap::new(),
            wheels: Vec::new(),
        }
    }

    /// Moves every body to its displayed pose. evenstep and kiss3d use the same pose type.
    pub fn put(&mut self, looks: &Looks, shown: &Shown) {
        self.bodies.retain(|key, node| {
            let stays = shown.poses.contains_key(key);
            if !stays {
                node.detach();
            }
            stays
        });
        for (key, pose) in &shown.poses {
            let Some(look) = looks.get(key) else {
                continue;
            };
            let group = &mut self.group;
            let node = self
                .bodies
                .entry(*key)
                .or_insert_with(|| add_body(group, look));
            node.set_pose(*pose);
        }
        self.put_wheels(shown);
    }

    /// Removes all nodes, for another world whose keys are the same.
    pub fn clear(&mut self) {
        for (_, mut node) in std::mem::take(&mut self.bodies) {
            node.detach();
        }
    }

    fn put_wheels(&mut self, shown: &Shown) {
        while self.wheels.len() > shown.wheels.len() {
            self.wheels.pop().unwrap().detach();
        }
        for (number, (pose, radius)) in shown.wheels.iter().enumerate() {
            if number == self.wheels.len() {
                let mut wheel = self.group.add_cylinder(*radius, 0.22);
                wheel.set_color(Color::new(0.13, 0.14, 0.16, 1.0));
                self.wheels.push(wheel);
            }
            self.wheels[number].set_pose(*pose);
        }
    }
}

fn add_body(group: &mut SceneNode3d, look: &Look) -> SceneNode3d {
    let mut body = group.add_group();
    if look.paint == Paint::Floor {
        add_floor(&mut body);
        return body;
    }
    for (place, shape) in &look.parts {
        let Some(mut part) = add_part(&mut body, shape) else {
            continue;
        };
        part.set_pose(*place);
        part.set_color(color(look.paint.rgb()));
        part.set_roughness(0.55);
    }
    body
}

/// Adds a shape of the scenes. Other shapes are not drawn.
fn add_part(body: &mut SceneNode3d, shape: &SharedShape) -> Option<SceneNode3d> {
    Some(match shape.as_typed_shape() {
        TypedShape::Cuboid(cuboid) => {
            let size = cuboid.half_extents * 2.0;
            body.add_cube(size.x, size.y, size.z)
        }
        TypedShape::Ball(ball) => body.add_sphere(ball.radius),
        TypedShape::Cylinder(cylinder) => {
            body.add_cylinder(cylinder.radius, cylinder.half_height * 2.0)
        }
        _ => return None,
    })
}

/// The size of a square, in metres.
const SQUARE: f32 = 1.0;

/// Adds squares in two greys, against which motion is visible.
fn add_floor(body: &mut SceneNode3d) {
    let count = (2.0 * FLOOR / SQUARE) as usize;
    for parity in 0..2 {
        let mut vertices = Vec::new();
        let mut faces = Vec::new();
        for (row, column) in (0..count * count).map(|place| (place / count, place % count)) {
            if (row + column) % 2 == parity {
                add_square(&mut vertices, &mut faces, row as f32, column as f32);
            }
        }
        let mut squares = SceneNode3d::trimesh(vertices, faces, Vector::ONE, true);
        let shade = if parity == 0 { 1.0 } else { 0.88 };
        squares.set_color(color(Paint::Floor.rgb().map(|part| part * shade)));
        squares.set_roughness(0.9);
        body.add_child(squares);
    }
}

/// Adds a square in the frame of the floor, whose top is half a metre above its centre.
fn add_square(vertices: &mut Vec<Vector>, faces: &mut Vec<[u32; 3]>, row: f32, column: f32) {
    let first = vertices.len() as u32;
    let corner = Vector::new(column * SQUARE - FLOOR, 0.5, row * SQUARE - FLOOR);
    for (x, z) in [(0.0, 0.0), (0.0, SQUARE), (SQUARE, SQUARE), (SQUARE, 0.0)] {
        vertices.push(corner + Vector::new(x, 0.0, z));
    }
    faces.push([first, first + 1, first + 2]);
    faces.push([first, first + 2, first + 3]);
}

fn color([red, green, blue]: [f32; 3]) -> Color {
    Color::new(red, green, blue, 1.0)
}
