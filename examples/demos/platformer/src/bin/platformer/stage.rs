//! The drawn scene: sky, light, bodies and overlay.

use evenstep::rapier::math::Vector;
use evenstep_platformer::game::Game;
use kiss3d::camera::FirstPersonCamera3d;
use kiss3d::color::Color;
use kiss3d::light::Light;
use kiss3d::prelude::Fog;
use kiss3d::scene::SceneNode3d;
use kiss3d::window::{CanvasSetup, NumSamples, Window};

use crate::draw::{Nodes, color};
use crate::overlay::Overlay;

const SKY: [f32; 3] = [0.68, 0.83, 0.95];

/// A window with the game's scene.
pub struct Stage {
    pub window: Window,
    scene: SceneNode3d,
    nodes: Nodes,
    camera: FirstPersonCamera3d,
    pub overlay: Overlay,
}

impl Stage {
    pub async fn open((width, height): (u32, u32)) -> Self {
        let window = Window::new_with_setup("evenstep: a platformer", width, height, setup());
        Self::new(window.await)
    }

    /// Creates the scene in a window that was created with [`setup`].
    pub fn new(mut window: Window) -> Self {
        let sky = color(SKY);
        window.set_background_color(sky);
        window.set_ambient(0.4);
        window.set_shadow_resolution(2048);
        window.set_shadow_distance(40.0);
        window.set_fog(Fog::linear(sky, 35.0, 90.0));
        let mut scene = SceneNode3d::empty();
        add_lights(&mut scene);
        let nodes = Nodes::new(scene.add_group());
        Self {
            window,
            scene,
            nodes,
            camera: camera(),
            overlay: Overlay::default(),
        }
    }

    /// Draws the present frame of the game. Returns whether the window is still open.
    pub async fn draw(&mut self, game: &Game) -> bool {
        self.nodes.update(game.simulation());
        self.overlay.lines.draw(&mut self.window, game.simulation());
        self.overlay.draw(&mut self.window, game);
        let view = game.view();
        self.camera.look_at(view.eye, view.at);
        let scene = &mut self.scene;
        self.window.render_3d(scene, &mut self.camera).await
    }
}

/// Returns the settings of the canvas.
pub fn setup() -> CanvasSetup {
    CanvasSetup {
        samples: NumSamples::Four,
        ..CanvasSetup::default()
    }
}

/// Returns a camera that ignores the mouse and the keys, because the game moves it.
fn camera() -> FirstPersonCamera3d {
    // The vertical field of view in radians, the near and the far plane in metres. Each frame sets the rest.
    let (eye, at) = (Vector::ZERO, Vector::NEG_Z);
    let mut camera = FirstPersonCamera3d::new_with_frustum(0.9, 0.2, 120.0, eye, at);
    camera.rebind_rotate_button(None);
    camera.rebind_drag_button(None);
    camera.unbind_movement_keys();
    // The mouse wheel.
    camera.set_move_step(0.0);
    camera
}

/// Adds the sun, with shadows, and the light of the sky from the other side.
fn add_lights(scene: &mut SceneNode3d) {
    let sun = Light::directional(Vector::new(-0.5, -1.0, -0.35))
        .with_color(Color::new(1.0, 0.96, 0.86, 1.0))
        .with_intensity(2.6);
    scene.add_light(sun);
    let sky = Light::directional(Vector::new(0.6, -0.5, 0.5))
        .with_color(Color::new(0.75, 0.85, 1.0, 1.0))
        .with_intensity(0.7)
        .with_casts_shadows(false);
    scene.add_light(sky);
}
