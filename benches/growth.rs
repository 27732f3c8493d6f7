//! Plots nanoseconds per moved body in a frame without a step, from a hundred bodies to a million:
//! docs/book/src/growth.svg.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "../tests/scenes/picture.rs"]
mod picture;
#[path = "../tests/scenes/mod.rs"]
mod scenes;

use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use evenstep::Simulation;
use evenstep::entities::Entities;
use evenstep::rapier::prelude::*;
use picture::{BLUE, FONT, GREY, RED};
use plotters::prelude::*;
use scenes::NO_STEP;

/// The bytes that a frame without a step reads or writes per body: four poses of 32 bytes, an entry of the list of 40,
/// a key and two marks.
const BYTES_A_BODY: f64 = 178.0;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/book/src/growth.svg");

/// A name, and nanoseconds per body by number of bodies.
type Line = (&'static str, Vec<(f64, f64)>);

/// Creates turning bodies between two states. They have no colliders: Rapier would be slow with a million of these, and
/// nothing here uses them.
fn between_states(count: usize) -> Simulation {
    let mut simulation = scenes::space(1);
    for _ in 0..count {
        let body = RigidBodyBuilder::dynamic()
            .additional_mass_properties(MassProperties::new(Vector::ZERO, 1.0, Vector::ONE))
            .angvel(Vector::new(1.0, 2.0, 0.5))
            .can_sleep(false);
        simulation.physics.insert_body(body);
    }
    scenes::to_between_states(&mut simulation);
    simulation
}

/// Runs `work` as often as criterion asks, and returns the median of its times in nanoseconds.
fn measure(c: &mut Criterion, name: &str, count: usize, mut work: impl FnMut()) -> Option<f64> {
    let mut times = Vec::new();
    c.benchmark_group("growth")
        .bench_function(BenchmarkId::new(name, count), |b| {
            b.iter_custom(|iterations| {
                let start = Instant::now();
                for _ in 0..iterations {
                    work();
                }
                let time = start.elapsed();
                times.push(time.as_secs_f64() * 1e9 / iterations as f64);
                time
            });
        });
    times.sort_by(f64::total_cmp);
    // The result is `None` if a filter on the command line excluded it.
    times.get(times.len() / 2).copied()
}

fn growth(c: &mut Criterion) {
    let mut lines: [Line; 2] = [
        ("a frame: all poses, the list of moved ones", vec![]),
        ("the same, and the write into hecs", vec![]),
    ];
    for count in [
        100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000,
    ] {
        let mut simulation = between_states(count);
        let mut world = hecs::World::new();
        let mut entities = Entities::default();
        let keys: Vec<_> = simulation.moved().iter().map(|(key, _)| *key).collect();
        assert_eq!(keys.len(), count);
        for key in keys {
            let entity = world.spawn(());
            let attached = entities.attach(&mut world, &mut simulation, entity, key);
            attached.unwrap();
        }
        let per_body = |nanos: f64| (count as f64, nanos / count as f64);
        let advance = measure(c, "advance", count, || {
            simulation.advance(NO_STEP, |_, _| ());
        });
        lines[0].1.extend(advance.map(per_body));
        let with_sync = measure(c, "advance and sync", count, || {
            simulation.advance(NO_STEP, |_, _| ());
            entities.sync(&mut world, &mut simulation);
        });
        lines[1].1.extend(with_sync.map(per_body));
    }
    if lines.iter().all(|line| line.1.len() > 1) {
        draw(&lines).expect("the book's folder is writable");
        println!("drawn: {FILE}");
    }
}

/// Returns the data caches of the first core as Linux reports them, or nothing on other systems.
fn caches() -> Vec<(String, f64)> {
    let read = |i: u8, what: &str| {
        let file = format!("/sys/devices/system/cpu/cpu0/cache/index{i}/{what}");
        fs::read_to_string(file)
            .map(|text| text.trim().to_owned())
            .ok()
    };
    let cache = |i: u8| {
        let size = read(i, "size")?;
        let kilobytes: f64 = size.strip_suffix('K')?.parse().ok()?;
        let name = format!("L{}, {size}", read(i, "level")?);
        (read(i, "type")? != "Instruction").then_some((name, kilobytes * 1024.0))
    };
    (0..5).filter_map(cache).collect()
}

fn draw(lines: &[Line; 2]) -> Result<(), Box<dyn Error>> {
    let most = lines
        .iter()
        .flat_map(|line| &line.1)
        .map(|point| point.1)
        .fold(0.0, f64::max);
    let names = lines.each_ref().map(|line| line.0);
    let legend = [(names[0], BLUE), (names[1], RED)];
    picture::write(FILE.as_ref(), &legend, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .margin_right(60)
            .x_label_area_size(60)
            .y_label_area_size(80)
            .build_cartesian_2d((100f64..1_000_000f64).log_scale(), 0.0..most * 1.6)?;
        chart
            .configure_mesh()
            .x_desc("bodies that move")
            .y_desc("nanoseconds a body")
            .x_label_formatter(&|count| format!("{count}"))
            .y_labels(6)
            .label_style(FONT)
            .light_line_style(WHITE)
            .draw()?;
        for (i, (name, bytes)) in caches().into_iter().enumerate() {
            let bodies = bytes / BYTES_A_BODY;
            let top = most * (1.5 - 0.14 * i as f64);
            let ends = [(bodies, 0.0), (bodies, top)];
            chart.draw_series([PathElement::new(ends, GREY.stroke_width(2))])?;
            chart.draw_series([Text::new(name, (bodies * 1.1, top), FONT)])?;
        }
        for ((_, points), (_, colour)) in lines.iter().zip(legend) {
            let line = LineSeries::new(points.iter().copied(), colour.stroke_width(3));
            chart.draw_series(line.point_size(4))?;
        }
        Ok(())
    })
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = growth
}
criterion_main!(benches);
