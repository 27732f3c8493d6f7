//! The scene: a camera, the floor, and a box.

use fyrox::core::algebra::{Matrix4, Vector3};
use fyrox::core::pool::Handle;
use fyrox::scene::mesh::surface::{SurfaceBuilder, SurfaceData, SurfaceResource};
use fyrox::scene::mesh::{Mesh, MeshBuilder};
use fyrox::scene::{Scene, base::BaseBuilder, camera::CameraBuilder, transform::TransformBuilder};

/// Returns the scene, and the mesh of the box.
pub fn new() -> (Scene, Handle<Mesh>) {
    let mut scene = Scene::new();
    let back = TransformBuilder::new().with_local_position(Vector3::new(0.0, 2.0, -8.0));
    let camera = BaseBuilder::new().with_local_transform(back.build());
    CameraBuilder::new(camera).build(&mut scene.graph);
    add_box(&mut scene, Vector3::new(8.0, 1.0, 8.0));
    let mesh = add_box(&mut scene, Vector3::new(1.0, 1.0, 1.0));
    (scene, mesh)
}

fn add_box(scene: &mut Scene, size: Vector3<f32>) -> Handle<Mesh> {
    let data = SurfaceData::make_cube(Matrix4::new_nonuniform_scaling(&size));
    let surface = SurfaceBuilder::new(SurfaceResource::new_embedded(data)).build();
    let mesh = MeshBuilder::new(BaseBuilder::new()).with_surfaces(vec![surface]);
    mesh.build(&mut scene.graph)
}
