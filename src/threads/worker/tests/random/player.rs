//! The commands of a random game, and the hooks that carry them out.

use super::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
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
    pub fn goes_back(self) -> bool {
        matches!(
            self,
            Self::Rewind(_) | Self::ReplaceState | Self::ReplaceAll
        )
    }

    /// Returns whether bodies that came and went may exist or be removed again.
    pub fn changes_the_past(self) -> bool {
        self.goes_back() || matches!(self, Self::RollBack(_) | Self::Resimulate(_))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    Command(Command, bool),
    /// A frame, with the number of new steps that are due, and whether time is stopped.
    Frame(u64, bool),
    BeforeStep(Step, u64),
    AfterStep(u64, u64),
    Failed,
}

pub struct Player {
    pub seed: u64,
    /// The number of decisions. A resimulated step makes new decisions.
    pub decisions: u64,
    pub may_fail: bool,
    pub has_clock: bool,
    pub kept: Vec<Simulation>,
    pub log: Vec<Entry>,
    pub readings: Vec<Reading>,
    /// How often simulated time has gone back since the thread last ran.
    pub backward_jumps: u32,
    pub changes: BTreeMap<BodyKey, (f64, bool)>,
}

impl Player {
    pub fn new(seed: u64, has_clock: bool) -> Self {
        Self {
            seed,
            decisions: 0,
            may_fail: true,
            has_clock,
            kept: Vec::new(),
            log: Vec::new(),
            readings: Vec::new(),
            backward_jumps: 0,
            changes: BTreeMap::new(),
        }
    }

    pub fn chance(&mut self) -> u64 {
        self.decisions += 1;
        mixed(self.seed << 32 ^ self.decisions)
    }

    pub fn fail(&mut self, chance: u64) -> Result<(), &'static str> {
        if self.may_fail && chance.is_multiple_of(32) {
            self.log.push(Entry::Failed);
            return Err("injected");
        }
        Ok(())
    }

    pub fn insert(&mut self, physics: &mut Physics, chance: u64) {
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

    pub fn remove(&mut self, physics: &mut Physics, chance: u64) {
        if let Some(key) = guest(physics, chance) {
            physics.remove(key).unwrap();
            self.note(physics, key, false);
        }
    }

    pub fn note(&mut self, physics: &Physics, key: BodyKey, is_there: bool) {
        let time = physics.time().as_secs_f64();
        self.changes.insert(key, (time, is_there));
    }

    pub fn carry_out(&mut self, command: Command, simulation: &mut Simulation) {
        let is_redoing = simulation.is_redoing();
        let is_done = self.try_command(command, simulation);
        simulation.take_over_physics();
        self.log.push(Entry::Command(command, is_done));
        self.backward_jumps += u32::from(is_done && command.goes_back());
        if is_redoing || command.changes_the_past() {
            self.changes.clear();
        }
    }

    pub fn try_command(&mut self, command: Command, simulation: &mut Simulation) -> bool {
        let tick = simulation.physics.tick();
        let is_redoing = simulation.is_redoing();
        let is_renumbered = simulation.clock().requests().tick.is_some();
        let physics = &mut simulation.physics;
        match command {
            Command::Rate(hz) => {
                let rate = Rate::hz(hz);
                simulation.clock_settings_mut().set_rate(rate);
            }
            // This command drops steps that are to be resimulated.
            Command::Tick(_) if is_redoing => return false,
            Command::Tick(tick) => simulation.set_tick(tick),
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
            _ if self.has_clock => set_clock(command, simulation),
            _ => (),
        }
        true
    }
}

pub fn guest(physics: &Physics, chance: u64) -> Option<BodyKey> {
    let mut keys: Vec<_> = physics.bodies().map(|(key, _)| key).collect();
    keys.sort_unstable();
    let guests = keys.get(3..).filter(|guests| !guests.is_empty())?;
    Some(guests[(chance / 64) as usize % guests.len()])
}

pub fn set_clock(command: Command, simulation: &mut Simulation) {
    match command {
        Command::Pause => simulation.pause(),
        Command::Resume => simulation.resume(),
        Command::StepOnce => simulation.step_once(),
        Command::Speed(speed) => simulation.clock_settings_mut().set_speed(speed).unwrap(),
        Command::SetStepping(stepping) => {
            simulation.clock_settings_mut().set_stepping(stepping);
        }
        _ => unreachable!("clock commands are handled elsewhere"),
    }
}

pub fn hash(physics: &Physics) -> u64 {
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
        frame_time: FrameTime,
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
            start_time: physics.time(),
            end_time: Duration::ZERO,
            real_start: Duration::ZERO,
            real_end: Duration::ZERO,
            real_frame_end: Duration::ZERO,
            ..step
        };
        self.log.push(Entry::BeforeStep(step_alone, hash(physics)));
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
        self.log.push(Entry::AfterStep(step.tick, hash(physics)));
        let chance = self.chance();
        self.fail(chance / 2)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub time: Duration,
    pub real_time: Duration,
    pub dropped: Dropped,
    pub speed: f64,
    pub period: Duration,
    pub single_steps: u32,
    pub until_next_step: Option<Duration>,
    pub overstep: Duration,
    pub of_state: Duration,
    pub is_redoing: bool,
}

impl Reading {
    pub fn of(simulation: &Simulation) -> Self {
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
            single_steps: clock.requests().single_steps,
            until_next_step: clock.until_next_step(),
            overstep: clock.overstep(),
            of_state: simulation.physics.time(),
            is_redoing: simulation.is_redoing(),
        }
    }

    /// Returns the real time that is dropped if the thread runs only at `now`.
    pub fn too_late(&self, now: Duration) -> Duration {
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
