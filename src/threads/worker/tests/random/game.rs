//! A random game with both threads, and the laws that it keeps.

use super::player::{Command, Entry, Player, Reading};
use super::renderer::Renderer;
use super::*;
use crate::simulation::Kept;

/// Speed of the flyer in metres per second.
pub const SPEED: f64 = 16.0;
/// Angular velocity of the spinner in radians per second.
pub const SPIN: f64 = 0.2;
/// Seconds: two simulated times that are closer count as equal.
pub const SAME: f64 = 1e-8;

#[derive(Clone, Copy, Debug)]
pub enum Action {
    Wait(Duration),
    Send(Command),
    Frame,
    /// The thread runs now, however long ago it last ran.
    Late,
    /// The thread ran whenever a step was due.
    InTime,
    Restart,
}

pub struct Game {
    pub both: Option<Both<Player>>,
    pub flyer: BodyKey,
    pub spinner: BodyKey,
    pub now: Duration,
    pub sent: Vec<Command>,
    pub waiting: Vec<Command>,
    /// The clock's time in thousandths of a nanosecond, because speeds have three decimals.
    pub time: u128,
    /// How far off that time may be, in nanoseconds, since another time was assigned.
    pub rounded: u128,
    pub dropped: Duration,
    pub displayed: BTreeMap<BodyKey, Pose>,
    pub last: (f64, Duration, f64),
    pub delay: Option<f64>,
    pub is_delay_unknown: bool,
    pub present: f64,
    pub single_steps: Duration,
    pub backward_jumps: u32,
    pub origin: f64,
    pub renderer: Renderer,
}

impl Game {
    pub fn new(seed: u64) -> Self {
        let simulation = start();
        let mut keys: Vec<_> = simulation.physics.bodies().map(|(key, _)| key).collect();
        keys.sort_unstable();
        let mut game = Self {
            both: Some(Both::new(simulation, Player::new(seed, true))),
            flyer: keys[0],
            spinner: keys[1],
            now: Duration::ZERO,
            sent: Vec::new(),
            waiting: Vec::new(),
            time: 0,
            rounded: 0,
            dropped: Duration::ZERO,
            displayed: BTreeMap::new(),
            last: (0.0, Duration::ZERO, 1.0),
            delay: None,
            is_delay_unknown: false,
            present: 0.0,
            single_steps: Duration::ZERO,
            backward_jumps: 0,
            origin: 0.0,
            renderer: Renderer::default(),
        };
        // A body that was never displayed has no path to the displayed pose.
        game.frame();
        game
    }

    pub fn both(&mut self) -> &mut Both<Player> {
        self.both.as_mut().expect("it runs")
    }

    pub fn simulation(&self) -> &Simulation {
        &self.both.as_ref().expect("it runs").physics.simulation
    }

    pub fn play(&mut self, action: Action) {
        match action {
            Action::Wait(time) => self.now += time,
            Action::Send(command) => self.send(command),
            Action::Frame => self.frame(),
            Action::Late => self.physics(false),
            Action::InTime => self.physics(true),
            Action::Restart => self.restart(),
        }
    }

    pub fn read(&mut self) {
        let read = |simulation: &mut Simulation, player: &mut Player| {
            player.readings.push(Reading::of(simulation));
        };
        self.both().call(read);
    }

    pub fn send(&mut self, command: Command) {
        if self.waiting.is_empty() {
            self.read();
        }
        self.both()
            .call(move |simulation, player| player.carry_out(command, simulation));
        self.sent.push(command);
        self.waiting.push(command);
    }

    /// Lets the thread run now, or lets it have run whenever a step was due.
    pub fn physics(&mut self, in_time: bool) {
        let now = self.now;
        let before = Reading::of(self.simulation());
        let commands = std::mem::take(&mut self.waiting);
        if !commands.is_empty() {
            self.read();
        }
        if in_time {
            self.both().in_time(now);
        } else {
            self.both().physics(now);
        }
        let readings = std::mem::take(&mut self.both().physics.hooks.readings);
        let after = Reading::of(self.simulation());
        if let [first, last] = readings[..] {
            self.check_elapsed(&before, &first, Duration::ZERO);
            // Commands come as late as they can before the next step.
            let is_due = first.until_next_step == Some(Duration::from_nanos(1));
            assert!(first.real_time == now || is_due, "{first:?} at {now:?}");
            self.check_commands(&first, &last, &commands);
            let dropped = if last.speed.to_bits() == first.speed.to_bits() {
                last.too_late(now)
            } else {
                now - last.real_time
            };
            self.check_elapsed(&last, &after, dropped);
        } else {
            assert!(readings.is_empty() && commands.is_empty());
            let dropped = if in_time {
                Duration::ZERO
            } else {
                before.too_late(now)
            };
            self.check_elapsed(&before, &after, dropped);
        }
        assert_eq!(after.single_steps, 0, "they have been run");
        let waiting = now - after.real_time;
        assert!(after.until_next_step.is_none_or(|until| until > waiting));
        self.last.2 = self.last.2.max(after.speed);
    }

    pub fn check_elapsed(&mut self, from: &Reading, to: &Reading, dropped: Duration) {
        let real = to.real_time - from.real_time;
        assert_eq!(to.dropped.frame_time - from.dropped.frame_time, dropped);
        self.dropped += dropped;
        let speed = (from.speed * 1_000.0).round() as u128;
        self.time += (real - dropped).as_nanos() * speed;
        let period = from.period.as_nanos() * 1_000;
        self.time += u128::from(from.single_steps) * period;
        self.single_steps += from.period * from.single_steps;
        // After going back in time, the previous time was rounded to nanoseconds.
        let aborted = u128::from(to.dropped.aborted - from.dropped.aborted) * period;
        self.time = self.time.saturating_sub(aborted);
        let off = (self.time / 1_000).abs_diff(to.time.as_nanos());
        assert!(
            off <= self.rounded,
            "{:?} is {off} ns off, from {from:?}",
            to.time
        );
    }

    pub fn check_commands(&mut self, from: &Reading, to: &Reading, commands: &[Command]) {
        let backward_jumps = std::mem::take(&mut self.both().physics.hooks.backward_jumps);
        self.backward_jumps += backward_jumps;
        if backward_jumps > 0 {
            self.time = to.time.as_nanos() * 1_000;
            self.rounded = 1;
            let off = to.time.abs_diff(to.of_state + to.overstep);
            assert!(to.is_redoing || off <= Duration::from_nanos(1));
        } else {
            assert_eq!((from.time, from.real_time), (to.time, to.real_time));
        }
        if !commands.contains(&Command::ReplaceAll) {
            assert_eq!((from.dropped, from.overstep), (to.dropped, to.overstep));
        }
    }

    pub fn frame(&mut self) {
        let now = self.now;
        let view = self.both().frame(now);
        let (time, shift) = (view.time().as_secs_f64(), view.origin_shift().x);
        let dropped = view.dropped();
        let (moved, removed) = (view.moved().to_vec(), view.removed().to_vec());
        self.origin += f64::from(shift);
        for key in removed {
            self.displayed.remove(&key);
        }
        self.displayed.extend(moved);
        assert_eq!(dropped, self.dropped);
        self.draw();
        self.check_poses(time);
        self.check_time(time);
        self.last = (time, now, Reading::of(self.simulation()).speed);
    }

    fn draw(&mut self) {
        let view = self.both.as_ref().expect("it runs").view();
        self.renderer
            .draw(view.render_data(), (view.moved(), view.removed()), |key| {
                view.pose(key)
            });
    }

    /// Checks that a map kept from the lists has the displayed poses, and the bodies of the displayed time.
    pub fn check_poses(&self, time: f64) {
        let both = self.both.as_ref().expect("it runs");
        let view = both.view();
        // Before the first state, bodies that were never displayed have a pose but are in no list.
        let bodies = (self.newest().into_iter()).flat_map(|_| self.simulation().physics.bodies());
        let bodies = bodies.map(|(key, _)| key);
        for key in bodies.chain(self.displayed.keys().copied()) {
            assert_eq!(view.pose(key), self.displayed.get(&key).copied(), "{key:?}");
        }
        for (key, (when, is_there)) in &both.physics.hooks.changes {
            if time > when + SAME && self.newest().is_some() {
                let is_displayed = view.pose(*key).is_some();
                assert_eq!(is_displayed, *is_there, "{key:?} of {when} s at {time} s");
            }
        }
        let flyer = view.pose(self.flyer).unwrap().translation.x;
        let off = f64::from(flyer) + self.origin - SPEED * time;
        assert!(off.abs() < 0.01, "flyer {off} m off at {time} s");
        let spinner = about_z(view.pose(self.spinner).unwrap().rotation);
        let turn = std::f64::consts::TAU;
        let off = (f64::from(spinner) - SPIN * time).rem_euclid(turn);
        assert!(off.min(turn - off) < 0.01, "spinner {off} off at {time} s");
    }

    pub fn check_time(&mut self, time: f64) {
        let (last, then, speed) = self.last;
        let backward_jumps = self.backward_jumps;
        let single_steps = std::mem::take(&mut self.single_steps);
        // Where another thread begins, rounding may move the time back.
        let is_later = time >= last - SAME;
        assert!(is_later || backward_jumps > 0, "{time} s after {last} s");
        let Some((end, dt)) = self.newest() else {
            // The view counts the time of this frame, too.
            self.is_delay_unknown = true;
            return;
        };
        self.backward_jumps = 0;
        let reading = Reading::of(self.simulation());
        let waiting = self.now.saturating_sub(reading.real_time).as_secs_f64();
        let present = reading.time.as_secs_f64() + waiting * reading.speed;
        let passed = present - std::mem::replace(&mut self.present, present);
        if backward_jumps > 0 {
            self.is_delay_unknown = true;
            return;
        }
        // After a faster rate, the picture catches up at one and a half times its speed.
        let target = 1.5 * dt;
        if self.is_delay_unknown {
            // A picture at the end of the newest state, or one that catches up, does not tell its delay.
            let is_usual = (present - time - target).abs() < SAME && time + SAME < end;
            self.is_delay_unknown = !is_usual;
            self.delay = Some(target);
            return;
        }
        let delay = self.delay.unwrap_or(target) - passed.max(0.0) / 2.0;
        let is_behind = delay > target;
        let due = present - *self.delay.insert(delay.max(target));
        assert!(
            time + SAME > due.min(end) && time < end + SAME,
            "{time} s, not {due} s or {end} s"
        );
        let elapsed = (self.now - then).as_secs_f64();
        let fastest = speed * if is_behind { 1.5 } else { 1.0 };
        let soonest = last + elapsed * fastest.max(1.0) + single_steps.as_secs_f64();
        // The time is at the beginning of a step whose earlier states are unknown.
        let is_first_known = self
            .both
            .as_ref()
            .is_some_and(|it| it.view().alpha() == 0.0);
        assert!(
            time < due.max(soonest) + SAME || is_first_known,
            "{time} s after {last} s, not {due} s"
        );
    }

    /// Returns the time and the last step's length of the newest state, unless its replacement is waiting for its first
    /// step.
    pub fn newest(&self) -> Option<(f64, f64)> {
        let simulation = self.simulation();
        let newest = self.both.as_ref()?.physics.publisher.sent.last()?;
        let is_known = newest.run == simulation.timeline()
            && newest.time == simulation.physics.time()
            && !simulation.is_redoing();
        is_known.then(|| (newest.time.as_secs_f64(), newest.dt))
    }

    pub fn restart(&mut self) {
        self.delay = None;
        self.physics(false);
        let before = Reading::of(self.simulation());
        let both = self.both.take().expect("it runs");
        let (simulation, player) = both.stop(self.now);
        let after = Reading::of(&simulation);
        self.both = Some(Both::new(simulation, player));
        self.check_elapsed(&before, &after, Duration::ZERO);
        assert!(self.now - after.real_time <= Duration::from_nanos(1));
        self.now = after.real_time;
        self.last.1 = self.last.1.min(self.now);
        self.dropped = Duration::ZERO;
    }

    pub fn end(&mut self) {
        for command in [
            Command::Resume,
            Command::Speed(1.0),
            Command::LetFail(false),
        ] {
            self.send(command);
        }
        self.both()
            .call(|simulation, _| simulation.correction = Correction::OFF);
        for _ in 0..40 {
            self.now += MS(7);
            self.physics(true);
            self.frame();
        }
        self.send(Command::Pause);
        self.send(Command::StepOnce);
        for _ in 0..40 {
            self.now += MS(7);
            self.physics(true);
            self.frame();
        }
        let physics = &self.simulation().physics;
        assert_eq!(physics.bodies().count(), self.displayed.len());
        for (key, body) in physics.bodies() {
            let off = self.displayed[&key].translation - body.translation();
            assert!(off.length() < 1e-3, "{key:?} is {off} off");
        }
        let time = self.last.0;
        self.now += MS(700);
        self.frame();
        assert_eq!(self.last.0, time);
    }

    pub fn check_against_one_thread(mut self) {
        let player = &mut self.both().physics.hooks;
        let log = std::mem::take(&mut player.log);
        let mut alone = Player::new(player.seed, false);
        let mut simulation = start();
        let mut done = Vec::new();
        // Frames in which a command resimulates steps belong to the command.
        for entry in &log {
            match entry {
                Entry::Command(command, _) => {
                    alone.carry_out(*command, &mut simulation);
                    done.push(*command);
                }
                Entry::Frame(steps, stands_still) => {
                    let mut frame_time = Duration::ZERO;
                    if *stands_still {
                        simulation.pause();
                        (0..*steps).for_each(|_| simulation.step_once());
                    } else {
                        simulation.resume();
                        frame_time = simulation.clock().settings().rate().period() * *steps as u32;
                    }
                    let _ = simulation.advance_with(frame_time, &mut alone);
                }
                _ => (),
            }
        }
        assert_eq!(done, self.sent);
        let differs = log.iter().zip(&alone.log).position(|(a, b)| a != b);
        if let Some(at) = differs {
            let from = at.saturating_sub(3);
            panic!("{:?}\n{:?}", &log[from..=at], &alone.log[from..=at]);
        }
        assert_eq!(log.len(), alone.log.len());
    }
}

/// Returns a flyer and a spinner that nothing touches, a wall, and guests.
pub fn start() -> Simulation {
    let mut simulation = Simulation::new(Rate::hz(100));
    simulation.keep(Kept {
        ticks: 30,
        ..simulation.kept()
    });
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    let untouched = || ColliderBuilder::ball(0.1).sensor(true);
    let flyer = RigidBodyBuilder::dynamic().linvel(Vector::X * SPEED as f32);
    simulation.physics.insert(flyer, untouched());
    let spinner = RigidBodyBuilder::dynamic().angvel(spin(0.0, 0.0, SPIN as f32));
    (simulation.physics).insert(spinner.can_sleep(false), untouched());
    simulation.physics.insert_body(RigidBodyBuilder::fixed());
    let mut guests = Player::new(0, true);
    (0..4).for_each(|i| guests.insert(&mut simulation.physics, 9 * i));
    simulation
}
