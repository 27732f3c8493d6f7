//! The game in a window. The picture lists the keys.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use evenstep::rapier::math::{Pose, Vector};
use evenstep::time::FrameTimer;
use evenstep_platformer2d::controls::Key;
use evenstep_platformer2d::figure::Figure;
use evenstep_platformer2d::game::Game;
use evenstep_platformer2d::level;
use evenstep_platformer2d::pixels::{Camera, LAYERS, PICTURE, PIXELS_PER_METRE};
use evenstep_platformer2d::sprites::{HecsStore, Look, OwnStore};
use macroquad::prelude::*;

/// A small game in two dimensions.
#[derive(Parser)]
struct Arguments {
    /// Physics steps per second.
    #[arg(long, default_value_t = 60)]
    rate: u32,
    /// Keep sprites in hecs instead of in a map.
    #[arg(long)]
    hecs: bool,
    /// Write a line per frame to this file.
    #[arg(long)]
    log: Option<PathBuf>,
}

/// The store of the sprites.
enum Store {
    Own(Box<OwnStore>),
    Hecs(Box<HecsStore>),
}

fn window() -> Conf {
    Conf {
        window_title: "evenstep: a platformer in two dimensions".to_owned(),
        window_width: 3 * i32::from(PICTURE[0]),
        window_height: 3 * i32::from(PICTURE[1]),
        ..Conf::default()
    }
}

#[macroquad::main(window)]
async fn main() {
    if let Err(error) = run(Arguments::parse()).await {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let mut game = Game::new(arguments.rate)?;
    let looks = game.level().looks.clone();
    let mut store = if arguments.hecs {
        Store::Hecs(Box::new(HecsStore::new(game.simulation_mut(), &looks)?))
    } else {
        Store::Own(Box::new(OwnStore::new(game.simulation(), &looks)))
    };
    let mut log = match arguments.log {
        Some(path) => Some(BufWriter::new(File::create(path)?)),
        None => None,
    };
    let picture = render_target(PICTURE[0].into(), PICTURE[1].into());
    picture.texture.set_filter(FilterMode::Nearest);
    let mut figure = Figure::new(game.hero());
    let mut first_key = None;
    let start = Duration::from_secs_f64(get_time());
    let mut timer = FrameTimer::new(start, game.simulation().clock().real_time());
    while !is_key_pressed(KeyCode::Escape) {
        for key in keys() {
            game.push(key);
        }
        if is_key_pressed(KeyCode::P) {
            if game.is_paused() {
                game.simulation_mut().resume()
            } else {
                game.simulation_mut().pause()
            }
        }
        if is_key_pressed(KeyCode::I) {
            game.switch_interpolation();
        }
        if get_last_key_pressed().is_some() {
            first_key.get_or_insert(get_time());
        }
        // macroquad's frame time is an `f32`. Summed for an hour, it would be lost in rounding.
        let frame_time = timer.frame(Duration::from_secs_f64(get_time()));
        let frame = game.advance(frame_time)?;
        let sprites = match &mut store {
            Store::Own(store) => {
                store.sync(game.simulation());
                store.sprites()
            }
            Store::Hecs(store) => {
                store.sync(game.simulation_mut());
                store.sprites()
            }
        };
        let passed = if game.is_paused() {
            Duration::ZERO
        } else {
            frame_time
        };
        figure.update(game.hero(), game.is_on_ground(), passed);
        // The hero is in the lower half, because it jumps.
        let camera = Camera::within(game.hero() + Vector::Y * 3.0, level::size());
        begin_picture(&picture);
        draw_scene(camera, &sprites, &figure);
        draw_overlay(&game, first_key.map(|first| get_time() - first));
        enlarge(&picture);
        if let Some(log) = &mut log {
            let (hero, score) = (game.hero(), game.score());
            let (number, time) = (frame.number, game.simulation().clock().real_time());
            writeln!(
                log,
                "{number},{:.6},{:.5},{:.5},{score}",
                time.as_secs_f64(),
                hero.x,
                hero.y
            )?;
            log.flush()?;
        }
        next_frame().await;
    }
    Ok(())
}

/// Returns the keys that went down or up since the last frame.
fn keys() -> impl Iterator<Item = Key> {
    const LEFT: [KeyCode; 2] = [KeyCode::Left, KeyCode::A];
    const RIGHT: [KeyCode; 2] = [KeyCode::Right, KeyCode::D];
    const JUMP: [KeyCode; 2] = [KeyCode::Space, KeyCode::Up];
    let all = [
        (Key::Left as fn(bool) -> Key, LEFT),
        (Key::Right, RIGHT),
        (Key::Jump, JUMP),
    ];
    all.into_iter().flat_map(|(key, codes)| {
        let pressed = codes.into_iter().any(is_key_pressed);
        let released = codes.into_iter().any(is_key_released);
        [pressed.then(|| key(true)), released.then(|| key(false))]
            .into_iter()
            .flatten()
    })
}

/// Lets the following calls draw in the picture, in whole pixels.
fn begin_picture(picture: &RenderTarget) {
    let [width, height] = PICTURE.map(f32::from);
    let mut pixels = Camera2D::from_display_rect(Rect::new(0.0, 0.0, width, height));
    pixels.render_target = Some(picture.clone());
    set_camera(&pixels);
}

fn draw_scene(camera: Camera, sprites: &[(Look, Pose)], figure: &Figure) {
    clear_background(Color::from_hex(0x8c_b4_d8));
    for (layer, follows) in LAYERS.into_iter().enumerate() {
        draw_hills(camera, layer, follows);
    }
    for (look, pose) in sprites {
        draw_sprite(camera, *look, pose, figure);
    }
}

/// Draws the score, the word 'paused', and the keys, which fade after the first one. They are back in a pause.
fn draw_overlay(game: &Game, since_first_key: Option<f64>) {
    const KEYS: [&str; 2] = [
        "A D or arrows: walk   space: jump",
        "I: interpolation on or off   P: pause",
    ];
    let [width, height] = PICTURE.map(f32::from);
    let (score, left) = (game.score(), game.level().coins.len());
    draw_coin(10.0, 10.0);
    write(&format!("{score} of {}", score + left), 18.0, 14.0, 1.0);
    if !game.is_interpolated() {
        write("without evenstep", 18.0, 28.0, 1.0);
    }
    let seconds = if game.is_paused() {
        write("paused", 0.5 * width - 20.0, 60.0, 1.0);
        0.0
    } else {
        since_first_key.unwrap_or(0.0)
    };
    // They stay for three seconds, and then fade in one.
    let opacity = (4.0 - seconds).clamp(0.0, 1.0);
    for (row, text) in [16.0, 4.0].into_iter().zip(KEYS) {
        write(text, 6.0, height - row, opacity as f32);
    }
}

/// Writes in white, with a shadow. The position is the left end of the line on which the letters stand.
fn write(text: &str, x: f32, y: f32, opacity: f32) {
    for (ink, shift) in [(BLACK, 1.0), (WHITE, 0.0)] {
        let ink = Color { a: opacity, ..ink };
        draw_text(text, x + shift, y + shift, 16.0, ink);
    }
}

/// Enlarges the picture to the window.
fn enlarge(picture: &RenderTarget) {
    let [width, height] = PICTURE.map(f32::from);
    set_default_camera();
    clear_background(BLACK);
    // The largest whole-number scale that fits.
    let scale = (screen_width() / width).min(screen_height() / height);
    let scale = if scale >= 1.0 { scale.floor() } else { scale };
    let size = vec2(width, height) * scale;
    let corner = (vec2(screen_width(), screen_height()) - size) * 0.5;
    let how = DrawTextureParams {
        dest_size: Some(size),
        flip_y: true,
        ..DrawTextureParams::default()
    };
    draw_texture_ex(&picture.texture, corner.x, corner.y, WHITE, how);
}

fn draw_hills(camera: Camera, layer: usize, follows: f32) {
    let color = Color::from_hex([0x7a_a2_c4, 0x5f_8a_a6][layer]);
    for i in 0..12u8 {
        let at = Vector::new(f32::from(i) * 5.0 - 4.0, 3.0);
        let [x, y] = camera.pixel_behind(at, follows);
        let size = 40.0 + 12.0 * f32::from(i % 3);
        draw_rectangle(x, y - size, 2.0 * PIXELS_PER_METRE, 400.0, color);
    }
}

fn draw_sprite(camera: Camera, look: Look, pose: &Pose, figure: &Figure) {
    let [x, y] = camera.pixel(pose.translation);
    let (size, color) = match look {
        Look::Hero => return draw_figure(x, y, figure),
        Look::Coin => return draw_coin(x, y),
        Look::Crate => ([0.9, 0.9], 0x85_4c_30),
        Look::Rock(width) => ([width, 1.0], 0x4e_4a_4e),
        Look::Platform(width) => ([width, 0.2], 0x34_65_24),
    };
    let [width, height] = size.map(|metres| (metres * PIXELS_PER_METRE).round());
    let how = DrawRectangleParams {
        offset: vec2(0.5, 0.5),
        // y points up in the world, and down in the picture.
        rotation: -pose.rotation.angle(),
        color: Color::from_hex(color),
    };
    draw_rectangle_ex(x, y, width, height, how);
}

fn draw_figure(x: f32, y: f32, figure: &Figure) {
    for part in figure.parts() {
        let ([right, down], [width, height]) = (part.corner, part.size);
        let color = Color::from_hex(part.color);
        draw_rectangle(x + right, y + down, width, height, color);
    }
}

/// Draws a coin: three rectangles, which are round together, and a shine.
fn draw_coin(x: f32, y: f32) {
    let gold = Color::from_hex(0xf7_d0_3c);
    for [right, down] in [[4.0, 2.0], [3.0, 3.0], [2.0, 4.0]] {
        draw_rectangle(x - right, y - down, 2.0 * right, 2.0 * down, gold);
    }
    draw_rectangle(x - 1.0, y - 2.0, 1.0, 4.0, WHITE);
}
