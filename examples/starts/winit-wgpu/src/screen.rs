//! Draws rectangles in a window with wgpu.

use std::sync::Arc;

use pollster::block_on;
use wgpu::CurrentSurfaceTexture::{Suboptimal, Success};
use winit::dpi::PhysicalSize;
use winit::event_loop::ActiveEventLoop;
use winit::window::Window;

pub struct Screen {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    device: wgpu::Device,
    queue: wgpu::Queue,
    config: wgpu::SurfaceConfiguration,
    pipeline: wgpu::RenderPipeline,
}

impl Screen {
    pub fn open(event_loop: &ActiveEventLoop) -> Self {
        let attributes = Window::default_attributes().with_title("evenstep, winit and wgpu");
        let window = Arc::new(event_loop.create_window(attributes).unwrap());
        let instance = wgpu::Instance::default();
        let surface = instance.create_surface(window.clone()).unwrap();
        let options = wgpu::RequestAdapterOptions {
            compatible_surface: Some(&surface),
            ..Default::default()
        };
        let adapter = block_on(instance.request_adapter(&options)).unwrap();
        let device = block_on(adapter.request_device(&Default::default()));
        let (device, queue) = device.unwrap();
        let config = surface.get_default_config(&adapter, 1, 1);
        let config = config.expect("the adapter supports the surface");
        let pipeline = pipeline(&device, config.format);
        let size = window.inner_size();
        let mut screen = Self {
            window,
            surface,
            device,
            queue,
            config,
            pipeline,
        };
        screen.resize(size);
        screen
    }

    pub fn resize(&mut self, size: PhysicalSize<u32>) {
        (self.config.width, self.config.height) = (size.width.max(1), size.height.max(1));
        self.surface.configure(&self.device, &self.config);
    }

    /// Draws rectangles. Each is a centre and a size, in metres, with y up.
    pub fn draw(&self, rectangles: &[[f32; 4]]) {
        let (Success(picture) | Suboptimal(picture)) = self.surface.get_current_texture() else {
            return self.surface.configure(&self.device, &self.config);
        };
        let view = picture.texture.create_view(&Default::default());
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: Default::default(), // black
            })],
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        // The window is 6 m high.
        let [wide, high] = [self.config.width as f32, self.config.height as f32];
        let metre = high / 6.0;
        for rectangle in rectangles {
            let [x, y, width, height] = rectangle.map(|metres| metres * metre);
            let (left, top) = (0.5 * (wide - width) + x, high - metre - y - 0.5 * height);
            pass.set_viewport(left, top, width, height, 0.0, 1.0);
            pass.draw(0..3, 0..1);
        }
        drop(pass);
        self.queue.submit([encoder.finish()]);
        self.window.pre_present_notify();
        self.queue.present(picture);
    }

    /// Requests the next frame. On Wayland it waits for the compositor, because `draw` has announced the present.
    pub fn request_redraw(&self) {
        self.window.request_redraw();
    }
}

fn pipeline(device: &wgpu::Device, format: wgpu::TextureFormat) -> wgpu::RenderPipeline {
    let shader = device.create_shader_module(wgpu::include_wgsl!("rectangle.wgsl"));
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: None,
        vertex: wgpu::VertexState {
            module: &shader,
            entry_point: None,
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &shader,
            entry_point: None,
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        depth_stencil: None,
        multisample: Default::default(),
        multiview_mask: None,
        cache: None,
    })
}
