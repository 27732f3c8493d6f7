//! Compares the times of two functions that run in turn.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use criterion::Criterion;

/// Returns a configuration with few samples. The scenes are large, and the ratio of two interleaved sides is steady.
pub fn config() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}

/// Does the same as [`compare_after`], with nothing before each run.
pub fn compare(
    c: &mut Criterion,
    name: &str,
    ours: (&str, impl FnMut()),
    theirs: (&str, impl FnMut()),
) -> Option<(Duration, f64)> {
    compare_after(c, name, || (), ours, theirs)
}

/// Runs `ours` and `theirs` in turn, after `before`, which is not measured. Reports both to `criterion` and prints the
/// ratio of their times. Returns the medians of our time and of the ratio, or `None` if a filter on the command line
/// excluded this pair.
pub fn compare_after(
    c: &mut Criterion,
    name: &str,
    mut before: impl FnMut(),
    (our_name, mut ours): (&str, impl FnMut()),
    (their_name, mut theirs): (&str, impl FnMut()),
) -> Option<(Duration, f64)> {
    let ratios = RefCell::new(Vec::new());
    let times = RefCell::new(Vec::new());
    let mut both = |iterations: u64| {
        let (mut our_time, mut their_time) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..iterations {
            before();
            let start = Instant::now();
            ours();
            let middle = Instant::now();
            theirs();
            our_time += middle - start;
            their_time += middle.elapsed();
        }
        times.borrow_mut().push(our_time / iterations.max(1) as u32);
        ratios
            .borrow_mut()
            .push(our_time.as_secs_f64() / their_time.as_secs_f64());
        (our_time, their_time)
    };
    let mut group = c.benchmark_group(name);
    group.bench_function(our_name, |b| b.iter_custom(|iterations| both(iterations).0));
    group.bench_function(their_name, |b| {
        b.iter_custom(|iterations| both(iterations).1)
    });
    group.finish();

    let (mut ratios, mut times) = (ratios.into_inner(), times.into_inner());
    ratios.sort_by(f64::total_cmp);
    times.sort_unstable();
    let middle = ratios.len() / 2;
    let (time, ratio) = (*times.get(middle)?, *ratios.get(middle)?);
    println!("ratio {name}: {our_name} / {their_name} = {ratio:.3}\n");
    Some((time, ratio))
}
