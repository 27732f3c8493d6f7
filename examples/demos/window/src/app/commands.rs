//! The effects of keys, buttons and scripts on the playground.

use crate::app::App;
use crate::bones::DebugLines;
use crate::controls::{Command, FRAME_RATES, RATES, SLOW, Settings};
use crate::game::Deed;
use crate::half::Half;
use crate::scenes::Scene;
use crate::screening::Screening;

impl App {
    /// Carries out the command of a key or a button.
    pub fn command(&mut self, command: Command) {
        let settings = &mut self.settings;
        match command {
            Command::Strategy(side, strategy) => settings.halves[side].strategy = strategy,
            Command::NextScene => settings.scene = next(&Scene::ALL, settings.scene),
            Command::Restart => self.restart(),
            Command::Pause => self.pause(),
            Command::StepOnce => self.step_once(),
            Command::StepBack => self.step_back(),
            Command::Slow => settings.speed = if settings.speed < 1.0 { 1.0 } else { SLOW },
            Command::Rate(up) => settings.change_rates(up),
            Command::NextFrameRate => {
                settings.pacing.rate = next(&FRAME_RATES, settings.pacing.rate);
            }
            Command::Jitter => {
                let jitter = &mut settings.pacing.jitter;
                *jitter = if *jitter > 0.0 { 0.0 } else { 0.5 };
            }
            Command::Hitch => self.pacing.hitch(),
            Command::Spawn => self.deeds.push(Deed::Spawn),
            Command::Fire => self.deeds.push(Deed::Fire),
            Command::Teleport => self.deeds.push(Deed::Teleport(self.followed)),
            Command::Portal => self.deeds.push(Deed::Portal(self.followed)),
            Command::ShiftOrigin => self.deeds.push(Deed::ShiftOrigin),
            Command::Lines => settings.lines = next(&DebugLines::ALL, settings.lines),
            Command::Keys => settings.has_keys = !settings.has_keys,
            Command::Overlay => settings.has_overlay = !settings.has_overlay,
            Command::Panel => {
                settings.has_panel = !settings.has_panel;
                self.fit_lens();
            }
            Command::Record => self.record(),
            Command::Live => self.screening = None,
        }
    }

    fn pause(&mut self) {
        match &mut self.screening {
            Some(screening) => screening.pause(),
            None => self.settings.is_paused = !self.settings.is_paused,
        }
    }

    fn step_once(&mut self) {
        if let Some(screening) = &mut self.screening {
            screening.go_to(screening.frame + 1);
            return;
        }
        self.settings.is_paused = true;
        self.apply();
        for half in &mut self.halves {
            half.order(|simulation, _| simulation.step_once());
        }
    }

    fn step_back(&mut self) {
        if let Some(screening) = &mut self.screening {
            screening.go_to(screening.frame.saturating_sub(1));
            return;
        }
        self.settings.is_paused = true;
        self.apply();
        for half in &mut self.halves {
            half.order(|simulation, player| {
                player.step_back(simulation);
            });
        }
    }

    /// Begins a recording, or ends it and replays it.
    fn record(&mut self) {
        self.screening = None;
        self.message = None;
        self.is_recording = !self.is_recording;
        if self.is_recording {
            self.halves.iter_mut().for_each(Half::record);
            return;
        }
        let tapes = self.halves.each_mut().map(Half::take_tape);
        match Screening::new(tapes) {
            Ok(screening) => self.screening = Some(screening),
            Err(error) => self.message = Some(error.to_string()),
        }
    }
}

impl Settings {
    fn change_rates(&mut self, up: bool) {
        for half in &mut self.halves {
            let place = RATES.iter().position(|rate| *rate == half.rate);
            let place = place
                .unwrap_or(0)
                .saturating_add_signed(if up { 1 } else { -1 });
            half.rate = RATES[place.min(RATES.len() - 1)];
        }
    }
}

/// Returns the next element, or the first after the last.
fn next<T: Copy + PartialEq>(all: &[T], one: T) -> T {
    let place = all.iter().position(|other| *other == one);
    all[place.map_or(0, |place| place + 1) % all.len()]
}
