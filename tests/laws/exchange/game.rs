//! The loops and values of a game, and the player: hooks that carry out the planned actions.

use std::collections::VecDeque;
use std::panic::resume_unwind;

use evenstep::rapier::prelude::*;
use evenstep::time::FrameTime;
use evenstep::{BodyKey, Correction, Hooks, Physics, Rate, Simulation, Smoothing, Step};

use super::MS;
use super::hosts::{Host, caught, start};
use super::picture::{Memory, Picture};
use super::script::{Action, Edit, Kind, Move, Setting, When};
use super::testing::{cuboid, spin, translation, vector};

/// A loop, and everything that stays with it if its state is exchanged.
struct Loop {
    host: Box<dyn Host>,
    desk: Desk,
}

#[derive(Default)]
pub struct Desk {
    pub picture: Picture,
    /// The number of the last frame in one thread.
    pub frame: u64,
    before_frame: VecDeque<Action>,
    before_step: VecDeque<Action>,
    after_step: VecDeque<Action>,
}

impl Desk {
    /// Takes all plans, or puts them back.
    pub fn exchange_plans(&mut self, plans: &mut [VecDeque<Action>; 3]) {
        let [before_frame, before_step, after_step] = plans;
        std::mem::swap(&mut self.before_frame, before_frame);
        std::mem::swap(&mut self.before_step, before_step);
        std::mem::swap(&mut self.after_step, after_step);
    }
}

/// All loops and values.
#[derive(Default)]
pub struct World {
    /// A loop that is running is not here.
    loops: Vec<Option<Loop>>,
    shelf: VecDeque<Physics>,
    kept: VecDeque<Simulation>,
}

/// The player at work with one loop.
#[derive(Default)]
pub struct Player {
    world: World,
    pub desk: Desk,
}

/// The error and the panic of a planned failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned;

/// Plays a game of a loop that `first` starts and loops of these kinds, and checks all laws in it.
pub fn play(first: fn(Simulation) -> Box<dyn Host>, (others, moves): &(Vec<Kind>, Vec<Move>)) {
    let others = others.iter().zip(1..);
    let others = others.map(|(kind, number)| start(*kind, beginning(number)));
    let hosts = std::iter::once(first(beginning(0))).chain(others);
    let loops = hosts.map(|host| {
        let desk = Desk::default();
        Some(Loop { host, desk })
    });
    let mut world = World {
        loops: loops.collect(),
        ..World::default()
    };
    for one in moves {
        match *one {
            Move::Frame(of, ms) => world.with(of, |host, player| host.frame(ms, player)),
            Move::Part(of, part) => world.with(of, |host, player| host.part(part, player)),
            Move::Act(of, action) => world.with(of, |host, player| host.act(action, player)),
            Move::Rest(of) => world.with(of, |host, player| host.rest(player)),
            Move::Plan(of, when, action) => world.with(of, |_, player| {
                let desk = &mut player.desk;
                let planned = match when {
                    When::BeforeFrame => &mut desk.before_frame,
                    When::BeforeStep => &mut desk.before_step,
                    When::AfterStep => &mut desk.after_step,
                };
                planned.push_back(action);
            }),
        }
    }
    // Every loop comes to rest, and continues in one thread.
    for of in 0..world.loops.len() {
        let mut player = Player::default();
        if let Some(mut last) = world.loops[of].take() {
            (player.world, player.desk) = (std::mem::take(&mut world), last.desk);
            last.host.rest(&mut player);
            let mut host = start(Kind::Hooks, last.host.stop(&mut player));
            for ms in [25, 0, 25] {
                host.frame(ms, &mut player);
            }
            world = player.world;
        }
    }
}

/// Returns the simulation of a loop at the beginning. Equal keys of two loops belong to different bodies.
fn beginning(number: u8) -> Simulation {
    let mut simulation = Simulation::new(Rate::hz(100));
    let floor = RigidBodyBuilder::fixed().translation(vector(0.0, -1.0, 0.0));
    simulation.physics.insert(floor, cuboid(50.0, 0.5, 50.0));
    for i in 0..4 {
        insert(&mut simulation.physics, number + i);
    }
    simulation
        .physics
        .set_gravity(Vector::Y * -9.81)
        .expect("it is finite");
    set(Setting::Keep(30), &mut simulation);
    simulation
}

fn insert(physics: &mut Physics, number: u8) -> BodyKey {
    let body = match number % 4 {
        0 => RigidBodyBuilder::fixed(),
        1 => RigidBodyBuilder::dynamic().sleeping(true),
        2 => RigidBodyBuilder::dynamic().angvel(spin(0.0, 0.0, 3.0)),
        _ => RigidBodyBuilder::dynamic().linvel(vector(1.5, 0.5, 0.0)),
    };
    let at = vector(2.0 * f32::from(number) - 8.0, 4.0, 0.0);
    let ball = ColliderBuilder::ball(0.4).active_events(ActiveEvents::COLLISION_EVENTS);
    physics.insert(body.translation(at), ball)
}

fn edit(edit: Edit, physics: &mut Physics) {
    let mut keys: Vec<_> = physics.bodies().map(|(key, _)| key).collect();
    keys.sort_unstable();
    let any = |number: u8| {
        keys.get(usize::from(number).checked_rem(keys.len())?)
            .copied()
    };
    match edit {
        Edit::Insert(number) => {
            insert(physics, number);
        }
        Edit::ShiftOrigin(x) => {
            let by = vector(x.into(), 1.0, 0.0);
            physics.shift_origin(by).expect("it is finite");
            Memory::of(physics).shift_origin(by);
        }
        Edit::Remove(number)
        | Edit::RemoveThroughRapier(number)
        | Edit::Teleport(number)
        | Edit::ShowFrom(number)
        | Edit::Latest(number, _)
        | Edit::Push(number) => {
            let Some(key) = any(number) else {
                return;
            };
            match edit {
                Edit::Remove(_) => {
                    physics.remove(key).expect("it is alive");
                }
                Edit::RemoveThroughRapier(_) => {
                    let handle = physics.handle(key).expect("it is alive");
                    physics.rapier_mut().remove_body(handle);
                }
                Edit::Teleport(number) => {
                    let to = translation(f32::from(number) - 8.0, 3.0, 0.0);
                    physics.teleport(key, to).expect("it is alive");
                    Memory::of(physics).forget(key);
                }
                Edit::ShowFrom(number) => {
                    let from = translation(2.0, f32::from(number) - 8.0, 0.0);
                    physics.show_from(key, from).expect("it is alive");
                }
                Edit::Latest(_, is_latest) => {
                    let smoothing = is_latest.then_some(Smoothing::Latest);
                    physics
                        .set_body_smoothing(key, smoothing)
                        .expect("it is alive");
                    Memory::of(physics).smooth(key);
                }
                _ => {
                    let by = vector(0.1, 0.3, 0.0);
                    physics.apply_impulse(key, by).expect("it is alive");
                }
            }
        }
    }
}

fn set(setting: Setting, simulation: &mut Simulation) {
    let settings = simulation.clock_settings_mut();
    match setting {
        Setting::Pause => simulation.pause(),
        Setting::Resume => simulation.resume(),
        Setting::StepOnce => simulation.step_once(),
        Setting::Hz(hz) => settings.set_rate(Rate::hz(hz)),
        Setting::Speed(twice) => settings
            .set_speed(f64::from(twice) / 2.0)
            .expect("it is valid"),
        Setting::Stepping(stepping) => settings.set_stepping(stepping),
        Setting::Smooth(true) => simulation.correction = Correction::default(),
        Setting::Smooth(false) => simulation.correction = Correction::OFF,
        Setting::Linear(ms) => simulation.correction = Correction::linear(MS(ms.into())),
        Setting::Tick(tick) => simulation.set_tick(tick.into()),
        Setting::Overstep(ms) => simulation.set_overstep(MS(ms.into())),
        Setting::MaxSteps(most) => settings.set_max_steps_per_frame(most),
        Setting::Keep(ticks) => {
            let kept = simulation.kept();
            simulation.keep(evenstep::rewind::Kept { ticks, ..kept });
        }
    }
}

/// Adds a value to the few that are kept.
fn add<T>(values: &mut VecDeque<T>, value: T) {
    values.truncate(2);
    values.push_front(value);
}

fn pick<T>(values: &mut VecDeque<T>, number: u8) -> Option<&mut T> {
    let index = usize::from(number).checked_rem(values.len())?;
    values.get_mut(index)
}

impl World {
    /// Uses a loop, unless it is running.
    fn with(&mut self, of: u8, work: impl FnOnce(&mut dyn Host, &mut Player)) {
        let index = usize::from(of) % self.loops.len();
        let Some(Loop { mut host, desk }) = self.loops[index].take() else {
            return;
        };
        let world = std::mem::take(self);
        let mut player = Player { world, desk };
        work(&mut *host, &mut player);
        let desk = player.desk;
        *self = player.world;
        self.loops[index] = Some(Loop { host, desk });
    }

    fn frame(&mut self, of: u8, ms: u8) {
        self.with(of, |host, player| host.frame(ms, player));
    }

    /// Exchanges a state for that of another loop, if it is not running.
    fn swap(&mut self, other: u8, physics: &mut Physics) {
        let shelf = std::mem::take(&mut self.shelf);
        self.shelf.push_back(std::mem::take(physics));
        self.with(other, |host, player| host.act(Action::Exchange(0), player));
        *physics = self.shelf.pop_front().expect("it was exchanged");
        self.shelf = shelf;
    }

    /// Exchanges a simulation for that of another loop, if it is not running.
    fn swap_all(&mut self, other: u8, simulation: &mut Simulation) {
        let kept = std::mem::take(&mut self.kept);
        self.kept.push_back(std::mem::take(simulation));
        self.with(other, |host, player| {
            host.act(Action::ExchangeAll(0), player)
        });
        *simulation = self.kept.pop_front().expect("it was exchanged");
        self.kept = kept;
    }
}

/// # Actions
impl Player {
    /// Carries out an action on the simulation, or on its state.
    pub fn act(&mut self, action: Action, simulation: &mut Simulation) -> Result<(), Planned> {
        let picture = &mut self.desk.picture;
        let tick = |back: u8, simulation: &Simulation| {
            simulation.physics.tick().saturating_sub(back.into())
        };
        match action {
            Action::Set(setting) => {
                if matches!(setting, Setting::Tick(_) | Setting::Overstep(_)) {
                    picture.jump_next();
                }
                set(setting, simulation);
            }
            Action::RollBack(back) => {
                picture.go_back();
                let _ = simulation.roll_back(tick(back, simulation));
            }
            Action::Resimulate(back) => {
                picture.go_back();
                let result = simulation.resimulate_with(tick(back, simulation), self);
                if result.is_ok() {
                    assert_eq!(simulation.steps_to_resimulate(), 0);
                    assert_eq!(simulation.clock().tick(), simulation.physics.tick());
                }
            }
            Action::Rewind(back) => {
                picture.jump();
                let _ = simulation.rewind(tick(back, simulation));
            }
            Action::Correct(number) => {
                if let Some(state) = pick(&mut self.world.shelf, number) {
                    picture.jump();
                    let _ = simulation.roll_back(state.tick());
                    let _ = simulation.correct(state.clone());
                }
            }
            Action::CopyAll => {
                Picture::check_copy(simulation.clone());
                add(&mut self.world.kept, simulation.clone());
            }
            Action::SaveAll => {
                if let Some(loaded) = saved_and_loaded(simulation) {
                    add(&mut self.world.kept, loaded);
                }
            }
            Action::SwapAll(other) => {
                picture.replace();
                self.world.swap_all(other, simulation);
            }
            Action::ExchangeAll(number) => {
                if let Some(kept) = pick(&mut self.world.kept, number) {
                    picture.replace();
                    std::mem::swap(simulation, kept);
                }
            }
            Action::TakeAndReturn(edit) => {
                let past = |it: &Simulation| (it.steps_to_resimulate(), it.rewindable());
                let before = past(simulation);
                let has_shifted = matches!(edit, Edit::ShiftOrigin(_));
                self.on_state(action, &mut simulation.physics)?;
                assert!(has_shifted || past(simulation) == before);
            }
            _ => return self.on_state(action, &mut simulation.physics),
        }
        Ok(())
    }

    /// Carries out an action on the state.
    fn on_state(&mut self, action: Action, physics: &mut Physics) -> Result<(), Planned> {
        let (picture, world) = (&mut self.desk.picture, &mut self.world);
        match action {
            Action::Edit(it) => edit(it, physics),
            Action::TakeAndReturn(it) => {
                let mut taken = std::mem::take(physics);
                edit(it, &mut taken);
                *physics = taken;
            }
            Action::Lend(other, ms) => {
                picture.jump();
                world.swap(other, physics);
                world.frame(other, ms);
                world.swap(other, physics);
            }
            Action::Swap(other) => {
                picture.jump();
                world.swap(other, physics);
            }
            Action::Copy => {
                let mut copy = Simulation::default();
                copy.physics = physics.clone();
                Picture::check_copy(copy);
                add(&mut world.shelf, physics.clone());
            }
            Action::Save => {
                if let Some(loaded) = saved_and_loaded_state(physics) {
                    add(&mut world.shelf, loaded);
                }
            }
            Action::Exchange(number) => {
                if let Some(other) = pick(&mut world.shelf, number) {
                    picture.jump();
                    std::mem::swap(physics, other);
                }
            }
            Action::Assign(number) => {
                if let Some(other) = pick(&mut world.shelf, number) {
                    picture.jump();
                    *physics = other.clone();
                }
            }
            Action::Frame(other, ms) => world.frame(other, ms),
            Action::PauseAfterStep => physics.pause_after_step(),
            Action::Fail => return Err(Planned),
            Action::Panic => resume_unwind(Box::new(Planned)),
            _ => unreachable!("it needs the simulation"),
        }
        Ok(())
    }
}

/// Saves a state. Checks that the loaded one continues as a copy does, and returns it.
fn saved_and_loaded_state(physics: &Physics) -> Option<Physics> {
    let mut loaded = Physics::load(&physics.save().ok()?).expect("it was saved here");
    let [mut copy, mut again] = [physics.clone(), loaded.clone()].map(|state| {
        let mut simulation = Simulation::default();
        simulation.physics = state;
        simulation
    });
    for ms in [0, 25, 40] {
        let frame = copy.advance(MS(ms), |_, _| ());
        assert_eq!(again.advance(MS(ms), |_, _| ()), frame);
        assert_eq!(again.physics.checksum(), copy.physics.checksum());
    }
    *Memory::of(&mut loaded) = physics
        .resources()
        .get::<Memory>()
        .cloned()
        .unwrap_or_default();
    Some(loaded)
}

/// Saves a simulation. Checks that the loaded one continues as a copy does, and returns it.
fn saved_and_loaded(simulation: &Simulation) -> Option<Simulation> {
    let bytes = simulation.save().ok()?;
    let load = || Simulation::load(&bytes).expect("it was saved here");
    let [mut loaded, mut again] = [load(), load()];
    let mut copy = simulation.clone();
    let mut has_errors = false;
    for ms in [0, 7, 25] {
        let frame = copy.advance(MS(ms), |_, _| ());
        assert_eq!(again.advance(MS(ms), |_, _| ()), frame);
        assert_eq!(again.physics.checksum(), copy.physics.checksum());
        let mut bodies = copy.physics.bodies();
        has_errors |= bodies.any(|(key, _)| copy.visual_error(key).is_some());
        let mut bodies = again.physics.bodies();
        assert!(bodies.all(|(key, _)| again.visual_error(key).is_none()));
        let picture = |it: &Simulation| {
            let (mut moved, mut removed) = (it.moved().to_vec(), it.removed().to_vec());
            moved.sort_unstable_by_key(|(key, _)| *key);
            removed.sort_unstable();
            (moved, removed)
        };
        if ms == 0 {
            let bodies = again.physics.bodies().count();
            assert_eq!(again.moved().len(), bodies, "the first frame lists all");
        } else if !has_errors {
            assert_eq!(picture(&again), picture(&copy));
        }
        assert_eq!(again.clock().time(), copy.clock().time());
    }
    let memory = simulation.physics.resources().get::<Memory>();
    *Memory::of(&mut loaded.physics) = memory.cloned().unwrap_or_default();
    loaded.keep(simulation.kept());
    Some(loaded)
}

impl Hooks for Player {
    type Error = Planned;

    fn before_frame(&mut self, simulation: &mut Simulation, _: FrameTime) -> Result<(), Planned> {
        let action = self.desk.before_frame.pop_front();
        let result = action.map_or(Ok(()), |action| self.act(action, simulation));
        self.desk.frame = simulation.frame().number;
        result
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Planned> {
        assert_eq!(physics.current_step(), Some(step));
        assert_eq!(
            (step.tick, step.start_time),
            (physics.tick(), physics.time())
        );
        Memory::begin_step(physics);
        let action = self.desk.before_step.pop_front();
        let result = action.map_or(Ok(()), |action| self.on_state(action, physics));
        if physics.current_step() == Some(step) {
            // The action may have changed poses.
            Memory::begin_step(physics);
        }
        result
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Planned> {
        assert_eq!(
            (step.tick + 1, step.end_time),
            (physics.tick(), physics.time())
        );
        match self.desk.after_step.pop_front() {
            Some(action) => self.on_state(action, physics),
            None => Ok(()),
        }
    }
}

/// Calls the player outside of a loop's call, where a failure is ignored.
pub fn act(player: &mut Player, action: Action, simulation: &mut Simulation) {
    caught(|| player.act(action, simulation));
}
