//! The window, or an offscreen surface: both stages, and the interface over them.

use futures_util::join;
use kiss3d::egui::TextureId;
use kiss3d::glamx::Vec2;
use kiss3d::window::{CanvasSetup, NumSamples, Window};

use crate::app::App;
use crate::ui;
use crate::view::Stage;

/// A window with the pictures of both halves.
pub struct Desk {
    /// The window, or the offscreen surface.
    pub window: Window,
    stages: [Stage; 2],
    textures: [TextureId; 2],
}

impl Desk {
    /// Opens a window.
    pub async fn open(app: &mut App, width: u32, height: u32) -> Self {
        let title = "evenstep: one scene, two strategies";
        let window = Window::new_with_setup(title, width, height, setup()).await;
        Self::with_window(app, window).await
    }

    /// Opens an offscreen surface.
    pub async fn open_offscreen(app: &mut App, width: u32, height: u32) -> Self {
        let window = Window::new_headless_with_setup(width, height, setup()).await;
        Self::with_window(app, window).await
    }

    async fn with_window(app: &mut App, mut window: Window) -> Self {
        fit(app, &window);
        let [left, right] = app.layout().halves;
        let mut stages = [Stage::new(left).await, Stage::new(right).await];
        let textures = [0, 1].map(|side| register(&mut window, &mut stages[side]));
        Self {
            window,
            stages,
            textures,
        }
    }

    /// Draws everything. Returns whether the window is still open.
    pub async fn draw(&mut self, app: &mut App) -> bool {
        self.fit(app);
        // The interface is first, because the scrubber decides what the stages display.
        let textures = self.textures;
        self.window
            .draw_ui(|context| ui::draw(context, app, textures));
        let [left, right] = &mut self.stages;
        let window = self.window.render(None, None, None, None, None, None);
        // In a browser, each of them waits for the display's next frame after drawing. So they wait for the same one
        // together.
        join!(left.draw(app, 0), right.draw(app, 1), window).2
    }

    fn fit(&mut self, app: &mut App) {
        fit(app, &self.window);
        let areas = app.layout().halves;
        for (side, area) in areas.into_iter().enumerate() {
            if self.stages[side].resize(area) {
                self.window.unregister_egui_texture(self.textures[side]);
                self.textures[side] = register(&mut self.window, &mut self.stages[side]);
            }
        }
    }
}

fn register(window: &mut Window, stage: &mut Stage) -> TextureId {
    window.register_egui_texture(&stage.texture(), wgpu::FilterMode::Nearest)
}

fn setup() -> CanvasSetup {
    CanvasSetup {
        // Only egui and the pictures of the stages are drawn here.
        samples: NumSamples::One,
        ..CanvasSetup::default()
    }
}

fn fit(app: &mut App, window: &Window) {
    let size = window.size();
    let size = Vec2::new(size.x as f32, size.y as f32);
    app.set_window(size, window.scale_factor() as f32);
}
