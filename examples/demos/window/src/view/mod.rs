//! The picture of a half: a separate surface and camera.

// Shapes and colours.
mod nodes;

use evenstep::rapier::math::Vector;
use kiss3d::color::Color;
use kiss3d::light::Light;
use kiss3d::prelude::Fog;
use kiss3d::scene::SceneNode3d;
use kiss3d::window::{CanvasSetup, NumSamples, OffscreenSurface};

use crate::app::App;
use crate::bones::Line;
use crate::layout::Area;
use nodes::Nodes;

/// The sRGB colour of the sky.
const SKY: [f32; 3] = [0.80, 0.86, 0.92];

/// The direction of the sunlight.
pub const SUN: Vector = Vector::new(-0.75, -1.0, 0.1);

/// The picture of a half.
pub struct Stage {
    surface: OffscreenSurface,
    scene: SceneNode3d,
    nodes: Nodes,
    /// The generation of the displayed world.
    generation: (u64, bool),
}

impl Stage {
    /// Creates a stage of the size of an area.
    pub async fn new(area: Area) -> Self {
        let setup = CanvasSetup {
            samples: NumSamples::Four,
            ..CanvasSetup::default()
        };
        let [width, height] = pixels(area);
        let mut surface = OffscreenSurface::with_setup(width, height, setup).await;
        set_mood(&mut surface);
        let mut scene = SceneNode3d::empty();
        add_lights(&mut scene);
        let nodes = Nodes::new(scene.add_group());
        Self {
            surface,
            scene,
            nodes,
            generation: (0, false),
        }
    }

    /// Resizes the surface. Returns whether its size changed, in which case its texture is a new one.
    pub fn resize(&mut self, area: Area) -> bool {
        let [width, height] = pixels(area);
        let is_new = (self.surface.width(), self.surface.height()) != (width, height);
        if is_new {
            self.surface.resize(width, height);
        }
        is_new
    }

    /// Draws a half.
    pub async fn draw(&mut self, app: &App, side: usize) {
        if self.generation != app.generation() {
            self.generation = app.generation();
            self.nodes.clear();
        }
        let (looks, shown) = app.picture(side);
        self.nodes.put(looks, shown);
        self.draw_lines(&app.lines(side));
        let mut lens = app.lens.with_origin(shown.origin);
        self.surface.render_3d(&mut self.scene, &mut lens).await;
    }

    fn draw_lines(&mut self, lines: &[Line]) {
        for line in lines {
            let [red, green, blue] = line.rgb;
            let color = Color::new(red, green, blue, 1.0);
            let window = self.surface.window_mut();
            window.draw_line(line.from, line.to, color, 1.5, false);
        }
    }

    /// Returns the texture, for egui to draw.
    pub fn texture(&mut self) -> wgpu::TextureView {
        self.surface.output_view()
    }
}

fn pixels(area: Area) -> [u32; 2] {
    [area.size.x, area.size.y].map(|size| size.max(1.0) as u32)
}

fn set_mood(surface: &mut OffscreenSurface) {
    let [red, green, blue] = SKY;
    let sky = Color::new(red, green, blue, 1.0);
    surface.set_background_color(sky);
    surface.set_ambient(0.35);
    surface.set_shadow_resolution(1024);
    surface.set_shadow_distance(30.0);
    surface.window_mut().set_fog(Fog::linear(sky, 18.0, 34.0));
}

/// Adds a low sun with a shadow, and the light of the sky from the other side.
fn add_lights(scene: &mut SceneNode3d) {
    let sun = Light::directional(SUN)
        .with_color(Color::new(1.0, 0.96, 0.88, 1.0))
        .with_intensity(2.6);
    scene.add_light(sun);
    let sky = Light::directional(Vector::new(0.3, -0.5, -0.8))
        .with_color(Color::new(0.75, 0.85, 1.0, 1.0))
        .with_intensity(0.9)
        .with_casts_shadows(false);
    scene.add_light(sky);
}
