//! Bodies with `Extrapolate`, as a view displays them.

use super::*;
use evenstep::{Correction, Smoothing};

/// An event in the flight of a body at 10 m/s.
#[derive(Clone, Copy)]
enum Deed {
    /// In the hook after step 20, the game pauses.
    HitStop,
    /// In the hook before a frame after step 20, late input turns the flyer three steps ago.
    LateInput,
}

struct Game {
    flyer: BodyKey,
    deed: Deed,
    is_done: bool,
}

impl Hooks for Game {
    type Error = Infallible;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: FrameTime,
    ) -> Result<(), Infallible> {
        let tick = simulation.physics.tick();
        if matches!(self.deed, Deed::LateInput) && tick >= 20 && !self.is_done {
            self.is_done = true;
            let turned = |physics: &mut Physics, _: Step| {
                let body = physics.body_mut(self.flyer).unwrap();
                body.set_linvel(Vector::X * -10.0, true);
            };
            simulation.resimulate(tick - 3, turned).unwrap();
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        if matches!(self.deed, Deed::HitStop) && step.tick == 20 {
            physics.pause_after_step();
        }
        Ok(())
    }
}

/// Returns where each frame of a host displays the flyer, and where it is at the end.
fn play(host: u8, deed: Deed, smoothing: Smoothing, ms: u64) -> (Vec<f32>, f32) {
    let (mut simulation, flyer) = scenes::flyer_in_space();
    let body = simulation.physics.body_mut(flyer).unwrap();
    body.set_linvel(Vector::X * 10.0, true);
    simulation.smoothing = smoothing;
    simulation.correction = Correction::half_life(Duration::from_secs(1_000_000));
    simulation.keep(Kept {
        ticks: 9,
        ..Kept::default()
    });
    let mut game = Game {
        flyer,
        deed,
        is_done: false,
    };
    let mut shown = Vec::new();
    let frames = 1..400 / ms;
    let x = |pose: Option<Pose>| pose.unwrap().translation.x;
    let physics = match host {
        0 => {
            for _ in frames {
                let Ok(_) = simulation.advance_with(MS(ms), &mut game);
                shown.push(x(simulation.pose(flyer)));
            }
            simulation.physics
        }
        1 => {
            let mut overlap = Overlap::new(simulation).unwrap();
            for _ in frames {
                let Ok(view) = overlap.frame(MS(ms), &mut game);
                shown.push(x(view.pose(flyer)));
            }
            let Ok(simulation) = overlap.simulation(&mut game);
            simulation.physics.clone()
        }
        _ => {
            let settings = RunnerSettings::default();
            let (mut runner, mut worker) = Runner::without_thread(simulation, game, settings);
            for now in frames.map(|frame| MS(frame * ms)) {
                let view = run_frame(&mut runner, &mut worker, now);
                shown.push(x(view.pose(flyer)));
            }
            worker.simulation().physics.clone()
        }
    };
    (shown, x(physics.body(flyer).map(|body| *body.position())))
}

#[test]
fn a_hit_stop_displays_the_state_of_its_step() {
    for host in 0..3 {
        for ms in [3, 7, 16] {
            let (shown, state) = play(host, Deed::HitStop, Smoothing::Extrapolate, ms);
            assert!((state - 2.1).abs() < 1e-5);
            let last = shown[shown.len() - 1];
            assert!((last - state).abs() < 1e-5, "{last} in host {host}");
        }
    }
}

#[test]
fn a_rollback_is_displayed_smoothly_with_every_smoothing() {
    for smoothing in [
        Smoothing::Interpolate,
        Smoothing::Hermite,
        Smoothing::Extrapolate,
    ] {
        for (host, ms) in (0..3).flat_map(|host| [3, 4, 7, 9].map(|ms| (host, ms))) {
            let (shown, _) = play(host, Deed::LateInput, smoothing, ms);
            // A view begins in the first frames.
            let frames = shown[60 / ms as usize..].windows(2);
            let most = frames.map(|pair| (pair[1] - pair[0]).abs());
            let most = most.fold(0.0, f32::max);
            let usual = 0.01 * ms as f32;
            assert!(
                most < 1.6 * usual,
                "{most} in host {host} with {smoothing:?}, {ms} ms"
            );
        }
    }
}
