//! Random games: commands, hooks that fail, frames at any time, and physics that is late.

use super::*;
use crate::dim::testing::{about_z, rotation_numbers, spin, spin_numbers, translation, vector};
use crate::{Dropped, Stepping};

/// Metres per second of the flyer.
const SPEED: f64 = 16.0;
/// Radians per second of the spinner.
const SPIN: f64 = 0.2;
/// Seconds: two simulated times that are closer are the same.
const SAME: f64 = 1e-8;

/// What a game sends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Command {
    Pause,
    Resume,
    StepOnce,
    Speed(f64),
    Rate(u32),
    Tick(u64),
    SetStepping(Stepping),
    LetFail(bool),
    Push(u64),
    Velocity(u64),
    Teleport(u64),
    Insert(u64),
    Remove(u64),
    ShiftOrigin(f32),
    Rewind(u64),
    RollBack(u64),
    Resimulate(u64),
    Correct,
    Keep,
    ReplaceState,
    ReplaceAll,
}

impl Command {
    /// Whether simulated time may go back.
    fn goes_back(self) -> bool {
        matches!(
            self,
            Self::Rewind(_) | Self::ReplaceState | Self::ReplaceAll
        )
    }

    /// Whether bodies that came and went may be there or gone again.
    fn changes_the_past(self) -> bool {
        self.goes_back() || matches!(self, Self::RollBack(_) | Self::Resimulate(_))
    }
}

/// What the physics did, in its order.
#[derive(Clone, Debug, PartialEq)]
enum Entry {
    /// With the result of those that can fail.
    Command(Command, bool),
    /// A frame of the simulation, with so many new steps that are due, and whether time stands still.
    Frame(u64, bool),
    /// All bits before a step.
    Begun(Step, u64),
    /// All bits after it.
    Made(u64, u64),
    Failed,
}

/// The hooks of a game, which also carry out its commands.
struct Player {
    seed: u64,
    /// How many decisions were made: a step that is made again is another one.
    decisions: u64,
    may_fail: bool,
    /// Whether the commands for the clock are carried out, too.
    has_clock: bool,
    kept: Vec<Simulation>,
    log: Vec<Entry>,
    readings: Vec<Reading>,
    /// How often simulated time has gone back since the thread came last.
    ways_back: u32,
    /// When bodies came, or went, in simulated time.
    changes: BTreeMap<BodyKey, (f64, bool)>,
}

impl Player {
    fn new(seed: u64, has_clock: bool) -> Self {
        Self {
            seed,
            decisions: 0,
            may_fail: true,
            has_clock,
            kept: Vec::new(),
            log: Vec::new(),
            readings: Vec::new(),
            ways_back: 0,
            changes: BTreeMap::new(),
        }
    }

    fn chance(&mut self) -> u64 {
        self.decisions += 1;
        mixed(self.seed << 32 ^ self.decisions)
    }

    fn fail(&mut self, chance: u64) -> Result<(), &'static str> {
        if self.may_fail && chance.is_multiple_of(32) {
            self.log.push(Entry::Failed);
            return Err("as it was told");
        }
        Ok(())
    }

    fn insert(&mut self, physics: &mut Physics, chance: u64) {
        let at = vector((chance % 8) as f32, 20.0, 0.0);
        let body = match chance / 8 % 4 {
            0 => RigidBodyBuilder::fixed(),
            1 => RigidBodyBuilder::dynamic().sleeping(true),
            2 => RigidBodyBuilder::dynamic().angvel(spin(0.0, 0.0, 3.0)),
            _ => RigidBodyBuilder::dynamic().linvel(vector(3.0, 0.5, 0.0)),
        };
        let key = physics.insert(body.translation(at), ColliderBuilder::ball(0.4));
        self.note(physics, key, true);
    }

    fn remove(&mut self, physics: &mut Physics, chance: u64) {
        if let Some(key) = guest(physics, chance) {
            physics.remove(key).unwrap();
            self.note(physics, key, false);
        }
    }

    fn note(&mut self, physics: &Physics, key: BodyKey, is_there: bool) {
        let time = physics.time().as_secs_f64();
        self.changes.insert(key, (time, is_there));
    }

    fn carry_out(&mut self, command: Command, simulation: &mut Simulation) {
        let is_redoing = simulation.is_redoing();
        let is_done = self.try_command(command, simulation);
        simulation.notice_physics();
        self.log.push(Entry::Command(command, is_done));
        self.ways_back += u32::from(is_done && command.goes_back());
        if is_redoing || command.changes_the_past() {
            self.changes.clear();
        }
    }

    /// Gives whether it was possible.
    fn try_command(&mut self, command: Command, simulation: &mut Simulation) -> bool {
        let tick = simulation.physics.tick();
        let is_redoing = simulation.is_redoing();
        let is_renumbered = simulation.clock().settings().new_tick().is_some();
        let physics = &mut simulation.physics;
        match command {
            Command::Rate(hz) => {
                let rate = Rate::hz(hz).unwrap();
                simulation.clock_settings_mut().set_rate(rate);
            }
            // It drops steps that are to be resimulated.
            Command::Tick(_) if is_redoing => return false,
            Command::Tick(tick) => simulation.clock_settings_mut().set_tick(tick),
            Command::LetFail(may_fail) => self.may_fail = may_fail,
            Command::Push(chance) => {
                if let Some(key) = guest(physics, chance) {
                    physics.apply_impulse(key, Vector::X * 0.2).unwrap();
                }
            }
            Command::Velocity(chance) => {
                if let Some(key) = guest(physics, chance) {
                    let body = physics.body_mut(key).unwrap();
                    body.set_linvel(vector(0.0, 0.3, 0.0), true);
                }
            }
            Command::Teleport(chance) => {
                if let Some(key) = guest(physics, chance) {
                    let to = translation((chance % 16) as f32, 22.0, 0.0);
                    physics.teleport(key, to).unwrap();
                }
            }
            Command::Insert(chance) => self.insert(physics, chance),
            Command::Remove(chance) => self.remove(physics, chance),
            Command::ShiftOrigin(x) => physics.shift_origin(Vector::X * x).unwrap(),
            Command::Rewind(back) => return simulation.rewind(tick.saturating_sub(back)).is_ok(),
            Command::RollBack(_) | Command::Resimulate(_) if is_renumbered => return false,
            Command::RollBack(back) => {
                return simulation.roll_back(tick.saturating_sub(back)).is_ok();
            }
            Command::Resimulate(back) => {
                let first = tick.saturating_sub(back);
                return simulation.resimulate_with(first, self).is_ok();
            }
            Command::Correct => simulation.correct(simulation.physics.clone()).unwrap(),
            Command::Keep => {
                self.kept.truncate(2);
                self.kept.push(simulation.clone());
            }
            Command::ReplaceState => match self.kept.pop() {
                Some(kept) => simulation.physics = kept.physics,
                None => return false,
            },
            Command::ReplaceAll => match self.kept.pop() {
                Some(kept) => *simulation = kept,
                None => return false,
            },
            _ if self.has_clock => set_clock(command, simulation.clock_settings_mut()),
            _ => (),
        }
        true
    }
}

/// Of the bodies but the flyer, the spinner and the wall, any.
fn guest(physics: &Physics, chance: u64) -> Option<BodyKey> {
    let mut keys: Vec<_> = physics.bodies().map(|(key, _)| key).collect();
    keys.sort_unstable();
    let guests = keys.get(3..).filter(|guests| !guests.is_empty())?;
    Some(guests[(chance / 64) as usize % guests.len()])
}

fn set_clock(command: Command, settings: &mut ClockSettings) {
    match command {
        Command::Pause => settings.pause(),
        Command::Resume => settings.resume(),
        Command::StepOnce => settings.step_once(),
        Command::Speed(speed) => settings.set_speed(speed).unwrap(),
        Command::SetStepping(stepping) => settings.set_stepping(stepping),
        _ => unreachable!("it is none for the clock"),
    }
}

fn hash(physics: &Physics) -> u64 {
    let mut hash = physics.tick();
    for (handle, body) in physics.rapier().bodies.iter() {
        let (index, generation) = handle.into_raw_parts();
        hash = mixed(hash ^ u64::from(index) << 32 ^ u64::from(generation));
        let pose = body.position();
        let numbers = (pose.translation.to_array().into_iter())
            .chain(rotation_numbers(pose.rotation))
            .chain(body.linvel().to_array())
            .chain(spin_numbers(body.angvel()))
            .chain([body.activation().time_since_can_sleep]);
        for number in numbers {
            hash = mixed(hash ^ u64::from(number.to_bits()) << 8);
        }
    }
    hash
}

impl Hooks for Player {
    type Error = &'static str;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: Duration,
    ) -> Result<(), Self::Error> {
        let mut clock = simulation.clock().clone();
        clock.begin_frame(frame_time);
        let stands_still = simulation.clock().settings().stands_still();
        self.log.push(Entry::Frame(clock.due(), stands_still));
        let chance = self.chance();
        self.fail(chance / 4)
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let step_alone = Step {
            time: physics.time(),
            end_time: Duration::ZERO,
            real_start: Duration::ZERO,
            real_end: Duration::ZERO,
            real_frame_end: Duration::ZERO,
            ..step
        };
        self.log.push(Entry::Begun(step_alone, hash(physics)));
        let chance = self.chance();
        match chance % 8 {
            0 => self.insert(physics, chance / 8),
            1 => self.remove(physics, chance / 8),
            2 | 3 => {
                if let Some(key) = guest(physics, chance) {
                    physics.add_force(key, Vector::Y).unwrap();
                }
            }
            _ => (),
        }
        if step.is_resimulated {
            self.changes.clear();
        }
        self.fail(chance / 4096)
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        self.log.push(Entry::Made(step.tick, hash(physics)));
        let chance = self.chance();
        self.fail(chance / 2)
    }
}

/// What the clock says, and what is asked of it.
#[derive(Clone, Copy, Debug)]
struct Reading {
    time: Duration,
    real_time: Duration,
    dropped: Dropped,
    /// 0 while time stands still.
    speed: f64,
    period: Duration,
    single_steps: u32,
    until_next_step: Option<Duration>,
    overstep: Duration,
    of_state: Duration,
    is_redoing: bool,
}

impl Reading {
    fn of(simulation: &Simulation) -> Self {
        let clock = simulation.clock();
        let settings = clock.settings();
        Self {
            time: clock.time(),
            real_time: clock.real_time(),
            dropped: clock.dropped(),
            speed: if settings.stands_still() {
                0.0
            } else {
                settings.speed()
            },
            period: settings.rate().period(),
            single_steps: settings.single_steps(),
            until_next_step: clock.until_next_step(),
            overstep: clock.overstep(),
            of_state: simulation.physics.time(),
            is_redoing: simulation.is_redoing(),
        }
    }

    /// The real time that is dropped if the thread comes at `now`, as it is too late.
    fn too_late(&self, now: Duration) -> Duration {
        let Some(until) = self.until_next_step else {
            return Duration::ZERO;
        };
        let lag = now.saturating_sub(self.real_time + until);
        if lag > RunnerSettings::default().max_lag {
            lag
        } else {
            Duration::ZERO
        }
    }
}

/// A game, what is known of it, and what its frames must be.
struct Game {
    both: Option<Both<Player>>,
    flyer: BodyKey,
    spinner: BodyKey,
    now: Duration,
    sent: Vec<Command>,
    /// Commands that no thread has carried out yet.
    waiting: Vec<Command>,
    /// The clock's time in thousandths of a nanosecond: speeds have three decimals.
    time: u128,
    /// How far off that may be, in nanoseconds, since another time was assigned.
    rounded: u128,
    /// What this thread has dropped.
    dropped: Duration,
    /// The poses by the lists of the frames.
    displayed: BTreeMap<BodyKey, Pose>,
    /// The displayed time, the real time of that frame, and the largest speed since.
    last: (f64, Duration, f64),
    /// The length of single steps since the last frame.
    single_steps: Duration,
    /// How often simulated time may have gone back unseen.
    ways_back: u32,
    /// The sum of the displayed shifts of the origin.
    origin: f64,
}

impl Game {
    fn new(seed: u64) -> Self {
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
            single_steps: Duration::ZERO,
            ways_back: 0,
            origin: 0.0,
        };
        // What was never displayed has no path to what is.
        game.frame();
        game
    }

    fn both(&mut self) -> &mut Both<Player> {
        self.both.as_mut().expect("it runs")
    }

    fn simulation(&self) -> &Simulation {
        &self.both.as_ref().expect("it runs").physics.simulation
    }

    fn play(&mut self, action: Action) {
        match action {
            Action::Wait(time) => self.now += time,
            Action::Send(command) => self.send(command),
            Action::Frame => self.frame(),
            Action::Late => self.physics(false),
            Action::InTime => self.physics(true),
            Action::Restart => self.restart(),
        }
    }

    fn read(&mut self) {
        let read = |simulation: &mut Simulation, player: &mut Player| {
            player.readings.push(Reading::of(simulation));
        };
        self.both().call(read);
    }

    fn send(&mut self, command: Command) {
        if self.waiting.is_empty() {
            self.read();
        }
        self.both()
            .call(move |simulation, player| player.carry_out(command, simulation));
        self.sent.push(command);
        self.waiting.push(command);
    }

    /// The thread comes at this time, or came whenever a step was due.
    fn physics(&mut self, in_time: bool) {
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
        let late = |reading: &Reading| {
            if in_time {
                Duration::ZERO
            } else {
                reading.too_late(now)
            }
        };
        if let [first, last] = readings[..] {
            self.passes(&before, &first, Duration::ZERO);
            self.is_set(&first, &last, &commands);
            let dropped = if last.speed.to_bits() == first.speed.to_bits() {
                last.too_late(now)
            } else {
                now - last.real_time
            };
            self.passes(&last, &after, dropped);
        } else {
            assert!(readings.is_empty() && commands.is_empty());
            self.passes(&before, &after, late(&before));
        }
        assert_eq!(after.single_steps, 0, "they are made");
        let waiting = now - after.real_time;
        assert!(after.until_next_step.is_none_or(|until| until > waiting));
        self.last.2 = self.last.2.max(after.speed);
    }

    /// Time passes at one speed: what is simulated and what is dropped is all of it.
    fn passes(&mut self, from: &Reading, to: &Reading, dropped: Duration) {
        let real = to.real_time - from.real_time;
        assert_eq!(to.dropped.frame_time - from.dropped.frame_time, dropped);
        self.dropped += dropped;
        let speed = (from.speed * 1_000.0).round() as u128;
        self.time += (real - dropped).as_nanos() * speed;
        let period = from.period.as_nanos() * 1_000;
        self.time += u128::from(from.single_steps) * period;
        self.single_steps += from.period * from.single_steps;
        self.time -= u128::from(to.dropped.aborted - from.dropped.aborted) * period;
        let off = (self.time / 1_000).abs_diff(to.time.as_nanos());
        assert!(
            off <= self.rounded,
            "{:?} is {off} ns off, from {from:?}",
            to.time
        );
    }

    /// No time passes while commands are carried out. Some lead to another one.
    fn is_set(&mut self, from: &Reading, to: &Reading, commands: &[Command]) {
        let ways_back = std::mem::take(&mut self.both().physics.hooks.ways_back);
        self.ways_back += ways_back;
        if ways_back > 0 {
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

    fn frame(&mut self) {
        let now = self.now;
        let view = self.both().frame(now);
        let (time, shift) = (view.time(), view.origin_shift().x);
        let dropped = view.dropped();
        let (moved, removed) = (view.moved().to_vec(), view.removed().to_vec());
        self.origin += f64::from(shift);
        for key in removed {
            self.displayed.remove(&key);
        }
        self.displayed.extend(moved);
        assert_eq!(dropped, self.dropped);
        self.check_poses(time);
        self.check_time(time);
        self.last = (time, now, Reading::of(self.simulation()).speed);
    }

    /// A map kept from the lists has the displayed poses, and the bodies of the displayed time.
    fn check_poses(&self, time: f64) {
        let both = self.both.as_ref().expect("it runs");
        let view = both.view();
        let bodies = self.simulation().physics.bodies().map(|(key, _)| key);
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

    /// The picture is as late as it should be, and time goes back only with the simulation.
    fn check_time(&mut self, time: f64) {
        let (last, then, speed) = self.last;
        let ways_back = self.ways_back;
        let single_steps = std::mem::take(&mut self.single_steps);
        assert!(time >= last || ways_back > 0, "{time} s after {last} s");
        let Some((end, dt)) = self.newest() else {
            return;
        };
        self.ways_back = 0;
        if ways_back > 0 {
            return;
        }
        let reading = Reading::of(self.simulation());
        let waiting = self.now.saturating_sub(reading.real_time).as_secs_f64();
        let present = reading.time.as_secs_f64() + waiting * reading.speed;
        let due = present - 1.5 * dt;
        assert!(
            time + SAME > due.min(end) && time < end + SAME,
            "{time} s, not {due} s or {end} s"
        );
        let elapsed = (self.now - then).as_secs_f64();
        let soonest = last + elapsed * speed.max(1.0) + single_steps.as_secs_f64();
        // At the beginning of a step of which the states before are not known.
        let is_first_known = self
            .both
            .as_ref()
            .is_some_and(|it| it.view().alpha() == 0.0);
        assert!(
            time < due.max(soonest) + SAME || is_first_known,
            "{time} s after {last} s, not {due} s"
        );
    }

    /// The time and the last step's length of the newest state, unless what has replaced it waits for its first step.
    fn newest(&self) -> Option<(f64, f64)> {
        let simulation = self.simulation();
        let newest = self.both.as_ref()?.physics.publisher.sent.last()?;
        let is_known = newest.run == simulation.id()
            && newest.time == simulation.clock().simulated()
            && !simulation.is_redoing();
        is_known.then(|| (newest.time.as_secs_f64(), newest.dt))
    }

    /// The thread ends, and another one goes on.
    fn restart(&mut self) {
        self.physics(false);
        let before = Reading::of(self.simulation());
        let both = self.both.take().expect("it runs");
        let (simulation, player) = both.stop(self.now);
        let after = Reading::of(&simulation);
        self.both = Some(Both::new(simulation, player));
        self.passes(&before, &after, Duration::ZERO);
        assert!(self.now - after.real_time <= Duration::from_nanos(1));
        self.now = after.real_time;
        self.last.1 = self.last.1.min(self.now);
        self.dropped = Duration::ZERO;
    }

    /// Everything comes to rest, and is displayed where it is.
    fn end(&mut self) {
        for command in [
            Command::Resume,
            Command::Speed(1.0),
            Command::LetFail(false),
        ] {
            self.send(command);
        }
        self.both()
            .call(|simulation, _| simulation.set_correction(Correction::OFF));
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

    /// The same commands before the same steps, in one thread.
    fn equals_one_thread(mut self) {
        let player = &mut self.both().physics.hooks;
        let log = std::mem::take(&mut player.log);
        let mut alone = Player::new(player.seed, false);
        let mut simulation = start();
        let mut done = Vec::new();
        // The frames in which a command resimulates steps are its own.
        for entry in &log {
            match entry {
                Entry::Command(command, _) => {
                    alone.carry_out(*command, &mut simulation);
                    done.push(*command);
                }
                Entry::Frame(steps, stands_still) => {
                    let settings = simulation.clock_settings_mut();
                    let mut frame_time = Duration::ZERO;
                    if *stands_still {
                        settings.pause();
                        (0..*steps).for_each(|_| settings.step_once());
                    } else {
                        settings.resume();
                        frame_time = settings.rate().period() * *steps as u32;
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

/// A flyer and a spinner that nobody touches, a wall, and guests.
fn start() -> Simulation {
    let mut simulation = Simulation::new(Rate::hz(100).unwrap());
    simulation.set_rewind_limits(30, usize::MAX);
    simulation.physics.rapier_mut().gravity = Vector::ZERO;
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

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Action {
    Wait(Duration),
    Send(Command),
    Frame,
    /// The thread comes now, whenever it came last.
    Late,
    /// It came whenever a step was due.
    InTime,
    Restart,
}

fn wait() -> impl Strategy<Value = Action> {
    let micros = prop_oneof![
        8 => 0..40_000u64,
        4 => (0..5u64).prop_map(|steps| 10_000 * steps),
        1 => 100_000..500_000u64,
    ];
    micros.prop_map(|micros| Action::Wait(Duration::from_micros(micros)))
}

fn clock_command() -> impl Strategy<Value = Command> {
    const SPEEDS: &[f64] = &[0.0, 0.001, 0.1, 0.3, 0.5, 1.0, 1.0, 1.7, 4.0];
    const STEPPINGS: &[Stepping] = &[
        Stepping::Fixed,
        Stepping::Variable,
        Stepping::SemiFixed,
        Stepping::FrameLocked,
    ];
    prop_oneof![
        1 => Just(Command::Pause),
        2 => Just(Command::Resume),
        1 => Just(Command::StepOnce),
        2 => prop::sample::select(SPEEDS).prop_map(Command::Speed),
        1 => prop::sample::select(&[50, 100, 100, 125][..]).prop_map(Command::Rate),
        1 => (0..200u64).prop_map(Command::Tick),
        1 => prop::sample::select(STEPPINGS).prop_map(Command::SetStepping),
        1 => any::<bool>().prop_map(Command::LetFail),
    ]
}

fn body_command() -> impl Strategy<Value = Command> {
    let any_body = any::<u32>().prop_map(u64::from);
    prop_oneof![
        any_body.clone().prop_map(Command::Push),
        any_body.clone().prop_map(Command::Velocity),
        any_body.clone().prop_map(Command::Teleport),
        any_body.clone().prop_map(Command::Insert),
        any_body.prop_map(Command::Remove),
        (-20..20i8).prop_map(|x| Command::ShiftOrigin(x.into())),
    ]
}

fn past_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        1 => (0..12u64).prop_map(Command::Rewind),
        1 => (0..12u64).prop_map(Command::RollBack),
        1 => (0..12u64).prop_map(Command::Resimulate),
        1 => Just(Command::Correct),
        2 => Just(Command::Keep),
        1 => Just(Command::ReplaceState),
        1 => Just(Command::ReplaceAll),
    ]
}

fn actions(
    commands: impl Strategy<Value = Command> + 'static,
) -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        8 => wait(),
        6 => commands.prop_map(Action::Send),
        8 => Just(Action::Frame),
        3 => Just(Action::Late),
        4 => Just(Action::InTime),
        1 => Just(Action::Restart),
    ];
    prop::collection::vec(action, 20..150)
}

/// All laws, in each frame and at the end.
fn plays(seed: u64, actions: Vec<Action>) {
    let mut game = Game::new(seed);
    for action in actions {
        game.play(action);
    }
    game.end();
    game.equals_one_thread();
}

/// The number of cases, unless the environment asks for another one.
fn config(usual: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: asked.and_then(|cases| cases.parse().ok()).unwrap_or(usual),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(20))]

    #[test]
    fn speeds_and_pauses_in_lag_keep_every_law(
        seed in any::<u16>(),
        actions in actions(clock_command()),
    ) {
        plays(seed.into(), actions);
    }

    #[test]
    fn bodies_that_come_and_go_in_lag_keep_every_law(
        seed in any::<u16>(),
        actions in actions(prop_oneof![3 => body_command(), 1 => clock_command()]),
    ) {
        plays(seed.into(), actions);
    }

    #[test]
    fn ways_back_in_lag_keep_every_law(
        seed in any::<u16>(),
        actions in actions(prop_oneof![past_command(), past_command(), body_command(), clock_command()]),
    ) {
        plays(seed.into(), actions);
    }
}
