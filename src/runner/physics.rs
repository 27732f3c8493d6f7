//! What the physics' thread does, without the thread and the clock.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::simulation::{Hooks, Simulation};
use crate::time::StepSettings;

use super::command::Command;
use super::mailbox::{Mail, Mailbox, Pace, State};
use super::orders::Orders;
use super::{Failure, Query, RunnerSettings, Starved};

/// The most steps that are made one after the other before the clock is read again.
const MOST_STEPS_AT_ONCE: u32 = 5;

/// The most keys that are reserved for bodies that are still to come.
const MOST_KEYS: usize = 1_024;

pub(super) struct Physics<H: Hooks> {
    simulation: Simulation,
    hooks: H,
    settings: RunnerSettings,
    pub orders: Orders<Order<H>>,
    /// Queries whose commands are part of the step at hand.
    asked: Vec<Query>,
    mailbox: Arc<Mailbox<H::Error>>,
    /// How many bodies there were at first and have been spawned since.
    spawned: u64,
    outgoing: Mail<H::Error>,
    /// When it was called last.
    now: Duration,
    /// How often another simulation was put in place of the one there was.
    replaced: u64,
    /// What was handed over, to be filled again once nobody else has it.
    sent: Vec<Arc<State>>,
    /// The step that has panicked.
    broken: Option<u64>,
}

/// What comes from the other thread.
pub(super) enum Order<H: Hooks> {
    Command(Command<H>),
    Query(Query),
    /// After a panic: go on from the state before.
    Recover,
}

impl<H: Hooks> Physics<H> {
    pub fn new(
        mut simulation: Simulation,
        hooks: H,
        settings: RunnerSettings,
        mailbox: Arc<Mailbox<H::Error>>,
        orders: Orders<Order<H>>,
    ) -> Self {
        let spawned: VecDeque<_> = simulation.bodies().map(|(key, _)| key).collect();
        let count = spawned.len() as u64;
        let outgoing = Mail {
            spawned,
            // One for each that can wait, so that there is always one to give out.
            keys: (0..settings.commands.min(MOST_KEYS))
                .map(|_| simulation.reserve_key())
                .collect(),
            ..Mail::default()
        };
        let mut physics = Self {
            simulation,
            hooks,
            settings,
            orders,
            asked: Vec::new(),
            mailbox,
            spawned: count,
            outgoing,
            now: Duration::ZERO,
            replaced: 0,
            sent: Vec::new(),
            broken: None,
        };
        physics.publish();
        // Nobody else is at the box yet.
        physics.hand_over();
        physics
    }

    /// What is left of it at the end.
    pub fn into_parts(mut self) -> (Simulation, H) {
        self.simulation.free_reserved_keys();
        (self.simulation, self.hooks)
    }

    /// Makes the steps that are due by `now`, in the real time of the simulation's clock. Gives when to call it
    /// again, if no order comes before that; `None`: only then.
    pub fn run_until(&mut self, now: Duration) -> Option<Duration> {
        self.now = now;
        for _ in 0..MOST_STEPS_AT_ONCE {
            if self.until_next_step().is_none() {
                self.stand_still();
            }
            if self.deadline().is_none_or(|next| next > now) {
                break;
            }
            self.make_due_step();
        }
        let again = self.hand_over();
        let next = self.deadline();
        next.into_iter().chain(again).min()
    }

    /// How much real time after the last frame the next step is due; `None` in a pause.
    fn until_next_step(&self) -> Option<Duration> {
        let until = self.simulation.clock().until_next_step();
        until.filter(|_| self.broken.is_none())
    }

    fn deadline(&self) -> Option<Duration> {
        Some(self.simulation.clock().real_time() + self.until_next_step()?)
    }

    fn make_due_step(&mut self) {
        let Some(due) = self.deadline() else {
            return;
        };
        // So far behind that it is not made up for: the steps are due later from now on.
        let lag = self.now.saturating_sub(due);
        if lag > self.settings.max_lag {
            self.simulation.skip_real_time(lag);
            self.outgoing.dropped += lag;
        }
        let due = self.deadline();
        self.run_orders();
        // Not if there was a pause among them, another speed, or another simulation.
        if let Some(until) = self.until_next_step().filter(|_| self.deadline() == due) {
            self.make_step(until);
        }
    }

    /// In a pause what waits is done at once, and shown.
    fn stand_still(&mut self) {
        if self.broken.is_none() {
            let passed = self.now.saturating_sub(self.simulation.clock().real_time());
            self.simulation.begin_frame(passed);
            self.simulation.end_frame();
        }
        // Only another thread changes anything in a pause.
        let waits = !self.orders.is_empty() || !self.asked.is_empty();
        let is_known = self.outgoing.pace.speed == 0.0 && !waits;
        self.run_orders();
        if self.broken.is_none() && !is_known {
            self.answer_in_a_pause();
            if self.until_next_step().is_none() {
                self.simulation.begin_frame(Duration::ZERO);
                self.simulation.end_frame();
            }
            self.publish();
        }
    }

    fn run_orders(&mut self) {
        while let Some(order) = self.orders.pop() {
            match order {
                Order::Command(command) => self.run(command),
                Order::Query(query) => self.asked.push(query),
                Order::Recover => self.recover(),
            }
        }
    }

    fn run(&mut self, command: Command<H>) {
        if let Command::Spawn { key, .. } = command {
            self.outgoing.spawned.push_back(key);
            self.spawned += 1;
            let key = self.simulation.reserve_key();
            self.outgoing.keys.push(key);
        }
        if self.broken.is_some() {
            return;
        }
        let before = at(&self.simulation);
        let (simulation, hooks) = (&mut self.simulation, &mut self.hooks);
        match catch_unwind(AssertUnwindSafe(|| command.run(simulation, hooks))) {
            Ok(is_done) => self.outgoing.lost_spawns += u64::from(!is_done),
            Err(payload) => self.fail(self.simulation.tick(), payload),
        }
        if at(&self.simulation) != before {
            self.replaced += 1;
            self.sent.clear();
            self.simulation.set_real_time(self.now);
        }
    }

    fn make_step(&mut self, until: Duration) {
        span!(
            "frame",
            number = self.simulation.frame().number + 1,
            frame_time = until.as_secs_f64()
        );
        let tick = self.simulation.tick();
        let (simulation, hooks) = (&mut self.simulation, &mut self.hooks);
        let make = || {
            begin_frame(simulation, hooks, until)?;
            simulation.make_steps(hooks)
        };
        match catch_unwind(AssertUnwindSafe(make)) {
            Ok(Ok(())) => (),
            Ok(Err(error)) => self
                .outgoing
                .failures
                .push_back(Failure::Hook { tick, error }),
            Err(payload) => return self.fail(tick, payload),
        }
        self.simulation.end_frame();
        let events = self.simulation.events();
        if !events.is_empty() {
            self.outgoing.events.push_back((tick, events.clone()));
        }
        self.publish();
        for query in self.asked.drain(..) {
            answer(query, &self.simulation, &mut self.outgoing.failures);
        }
    }

    /// In the step of that tick, or in the hook after it.
    fn fail(&mut self, tick: u64, payload: Box<dyn Any + Send>) {
        self.broken = Some(tick);
        // It is a pause: no state is on its way.
        self.outgoing.pace.speed = 0.0;
        self.outgoing
            .failures
            .push_back(Failure::Panic { tick, payload });
        // Nobody would answer them.
        self.asked.clear();
    }

    fn recover(&mut self) {
        if let Some(tick) = self.broken {
            // A hook's panic leaves the frame open, Rapier's the world broken.
            self.simulation.end_frame();
            // Of a step that a command has panicked before, there is only the state of the one before that.
            let newest = self.simulation.rewindable().rfind(|kept| *kept <= tick);
            if newest.is_some_and(|newest| self.simulation.rewind(newest).is_ok()) {
                self.broken = None;
            }
        }
    }

    /// Queries see what was done in the pause: on a copy, as the world itself learns of it in the next step.
    fn answer_in_a_pause(&mut self) {
        if !self.asked.is_empty() {
            let copy = self.simulation.with_fresh_queries();
            for query in self.asked.drain(..) {
                answer(query, &copy, &mut self.outgoing.failures);
            }
        }
    }

    fn publish(&mut self) {
        self.outgoing.pace = Pace::of(&self.simulation);
        let mut state = self.free_state();
        let filled = Arc::get_mut(&mut state).expect("nobody else has it");
        filled.fill(&self.simulation, self.settings.starved);
        (filled.replaced, filled.spawned) = (self.replaced, self.spawned);
        self.sent.push(Arc::clone(&state));
        self.outgoing.states.push_back(state);
    }

    /// One that nobody has: there are never many more than wait and are shown.
    fn free_state(&mut self) -> Arc<State> {
        let free = self
            .sent
            .iter_mut()
            .position(|state| Arc::get_mut(state).is_some());
        free.map_or_else(Arc::default, |free| self.sent.swap_remove(free))
    }

    /// Gives when to come again, if the mailbox is being read in this moment.
    fn hand_over(&mut self) -> Option<Duration> {
        (self.mailbox).put(&mut self.outgoing, &self.settings, self.now)
    }
}

/// The number of a simulation's last frame, and its real time. Only its runner makes frames: what is at another one is
/// another simulation.
pub(super) fn at(simulation: &Simulation) -> (u64, Duration) {
    (simulation.frame().number, simulation.clock().real_time())
}

/// Begins a frame for the one step that is due after `until`, whatever limits the game has set. They stay set: a saved
/// state has them.
pub(super) fn begin_frame<H: Hooks>(
    simulation: &mut Simulation,
    hooks: &mut H,
    until: Duration,
) -> Result<(), H::Error> {
    let settings = simulation.replace_step_settings(StepSettings::UNLIMITED);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let result = hooks.before_frame(simulation, until);
        simulation.begin_frame(until);
        result
    }));
    simulation.replace_step_settings(settings);
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

impl State {
    /// Of a simulation's last frame.
    pub fn of(simulation: &Simulation) -> Self {
        let mut state = Self::default();
        state.fill(simulation, Starved::Hold);
        state
    }

    /// That of a simulation's last frame in place of an earlier one.
    fn fill(&mut self, simulation: &Simulation, starved: Starved) {
        let clock = simulation.clock();
        self.frame = simulation.frame();
        self.time = clock.time().saturating_sub(clock.overstep());
        let (frame_dt, rate) = (self.frame.dt, clock.rate());
        // Of the step that has led to it: the rate may have been changed since.
        let is_other_rate = frame_dt > 0.0 && frame_dt.to_bits() != rate.dt().to_bits();
        self.dt = if is_other_rate {
            frame_dt.into()
        } else {
            rate.dt_f64()
        };
        self.poses.copy_shown(simulation.poses(), self.frame.number);
        if matches!(starved, Starved::Extrapolate { .. }) {
            let bodies = &simulation.physics().bodies;
            simulation.poses().onward(bodies, &mut self.onward);
        }
    }
}

impl Pace {
    /// After a frame.
    pub fn of(simulation: &Simulation) -> Self {
        let clock = simulation.clock();
        let stands = clock.until_next_step().is_none() || clock.is_paused();
        Self {
            real: clock.real_time(),
            time: clock.time(),
            speed: if stands { 0.0 } else { clock.speed() },
        }
    }
}

/// A question that panics has changed nothing: the game goes on.
fn answer<E>(query: Query, simulation: &Simulation, failures: &mut VecDeque<Failure<E>>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| query(simulation))) {
        let tick = simulation.tick();
        failures.push_back(Failure::Question { tick, payload });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::{Moment, Poses, Screen};
    use crate::rapier::prelude::*;
    use crate::runner::View;
    use crate::runner::mailbox::SOON;
    use crate::runner::orders::{OrderSender, orders};
    use crate::{BodyKey, Rate, Smoothing, Step};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Both threads, with a clock of our own.
    struct Both<H: Hooks> {
        physics: Physics<H>,
        view: View<H::Error>,
        mailbox: Arc<Mailbox<H::Error>>,
        orders: OrderSender<Order<H>>,
    }

    impl<H: Hooks> Both<H> {
        fn new(simulation: Simulation, hooks: H) -> Self {
            Self::with(simulation, hooks, Starved::Hold)
        }

        fn with(simulation: Simulation, hooks: H, starved: Starved) -> Self {
            let mailbox = Arc::new(Mailbox::default());
            let settings = RunnerSettings {
                starved,
                ..RunnerSettings::default()
            };
            let (sender, orders) = orders(settings.commands);
            let to_read = Arc::clone(&mailbox);
            Self {
                physics: Physics::new(simulation, hooks, settings, mailbox, orders),
                view: View::new(settings, 0),
                mailbox: to_read,
                orders: sender,
            }
        }

        /// All that is due.
        fn physics(&mut self, now: Duration) -> Option<Duration> {
            loop {
                let next = self.physics.run_until(now);
                if next.is_none_or(|next| next > now) {
                    return next;
                }
            }
        }

        fn frame(&mut self, now: Duration) -> &View<H::Error> {
            self.view.update(&self.mailbox, now);
            &self.view
        }

        fn order(&mut self, order: Order<H>) {
            self.orders.send(order).unwrap();
            assert!(self.physics.orders.fetch());
        }

        fn command(&mut self, command: Command<H>) {
            self.order(Order::Command(command));
        }

        fn call(&mut self, call: impl FnOnce(&mut Simulation, &mut H) + Send + 'static) {
            self.command(Command::Call(Box::new(call)));
        }

        fn key(&mut self) -> BodyKey {
            self.view.take_key(&self.mailbox).unwrap()
        }

        fn tick(&self) -> u64 {
            self.physics.simulation.tick()
        }
    }

    struct Idle;

    impl Hooks for Idle {
        type Error = &'static str;
    }

    /// A metre in each of 100 steps a second.
    fn flyer() -> (Simulation, BodyKey) {
        let mut simulation = Simulation::new(Rate::hz(100).unwrap());
        simulation.physics_mut().gravity = Vector::ZERO;
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0);
        let key = simulation.insert(body, ColliderBuilder::ball(0.1));
        (simulation, key)
    }

    #[test]
    fn a_frame_shows_one_step_and_a_half_ago() {
        let (simulation, key) = flyer();
        let mut both = Both::new(simulation, Idle);
        let mut next = both.physics(MS(0));
        assert_eq!(next, Some(MS(10)));
        for micros in (0..2_000_000).step_by(6_944) {
            let now = Duration::from_micros(micros);
            while next.is_some_and(|next| next <= now) {
                next = both.physics(next.unwrap());
            }
            let view = both.frame(now);
            let expected = (100.0 * now.as_secs_f32() - 1.5).max(0.0);
            let x = view.pose(key).unwrap().translation.x;
            assert!(
                (x - expected).abs() < 1e-3,
                "{x} at {now:?}, not {expected}"
            );
            assert!(!view.is_starved());
            assert!(view.moved().len() <= 1);
        }
        assert_eq!(both.tick(), 199);
    }

    #[test]
    fn a_late_step_starves_frames_and_is_made_up_for() {
        let (simulation, key) = flyer();
        let mut both = Both::new(simulation, Idle);
        both.physics(MS(100));
        let mut shown = 0.0;
        let mut starved = 0;
        // The step of 110 ms is made at 123 ms, with two more.
        for ms in 100..140 {
            if ms == 123 || ms > 123 && ms % 10 == 0 {
                both.physics(MS(ms));
            }
            let view = both.frame(MS(ms));
            let x = view.pose(key).unwrap().translation.x;
            assert!(x >= shown, "{x} after {shown}");
            shown = x;
            starved += u32::from(view.is_starved());
        }
        // From 115 ms on, half a step after it was due.
        assert_eq!(starved, 7);
        assert!((shown - 12.4).abs() < 1e-3, "{shown}");
    }

    /// A flyer whose view has gone on beyond the tenth step, by half a step.
    fn beyond(most: f32) -> (Both<Idle>, BodyKey) {
        let (mut simulation, key) = flyer();
        simulation.set_rewind_limits(50, usize::MAX);
        let mut both = Both::with(simulation, Idle, Starved::Extrapolate { most });
        both.physics(MS(100));
        let x = both.frame(MS(120)).pose(key).unwrap().translation.x;
        assert!(both.view.is_starved());
        assert!((x - 10.5).abs() < 1e-4, "{x}");
        (both, key)
    }

    fn x(both: &mut Both<Idle>, key: BodyKey, now: Duration) -> f32 {
        both.frame(now).pose(key).unwrap().translation.x
    }

    #[test]
    fn a_starved_frame_goes_on_as_far_as_it_may_and_no_time_goes_back() {
        for (most, farthest) in [(2.0, 10.7), (0.3, 10.3), (0.0, 10.0), (f32::NAN, 10.0)] {
            let (simulation, key) = flyer();
            let mut both = Both::with(simulation, Idle, Starved::Extrapolate { most });
            both.physics(MS(100));
            let mut starved = 0;
            for ms in 100..160u16 {
                if ms == 123 || ms > 123 && ms % 10 == 0 {
                    both.physics(MS(ms.into()));
                }
                let due = f32::from(ms) / 10.0 - 1.5;
                let expected = if ms < 123 { due.min(farthest) } else { due };
                let x = x(&mut both, key, MS(ms.into()));
                assert!(
                    (x - expected).abs() < 1e-3,
                    "{x}, not {expected}, at {ms} ms"
                );
                starved += u32::from(both.view.is_starved());
            }
            assert_eq!(starved, 7);
        }
    }

    #[test]
    fn what_was_shown_too_far_goes_to_where_it_truly_is() {
        let (mut both, key) = beyond(2.0);
        let there = Pose::translation(50.0, 5.0, 0.0);
        both.command(Command::Teleport(key, there));
        both.physics(MS(125));
        for (now, expected) in [(125, 51.0), (126, 51.1), (130, 51.5)] {
            let at = both.frame(MS(now)).pose(key).unwrap().translation;
            assert!(
                (at - Vector::new(expected, 5.0, 0.0)).length() < 1e-3,
                "{at}"
            );
        }
        let (mut both, key) = beyond(2.0);
        both.command(Command::Remove(key));
        both.physics(MS(125));
        let view = both.frame(MS(125));
        assert_eq!((view.pose(key), view.removed()), (None, &[key][..]));
        // Back to the fifth step, of which two more come before the frame.
        let (mut both, key) = beyond(60.0);
        both.call(|simulation, _| simulation.rewind(5).unwrap());
        both.physics(MS(125));
        let mut last = x(&mut both, key, MS(125));
        assert!((5.0..=7.0).contains(&last), "{last}");
        for ms in 126..200 {
            both.physics(MS(ms));
            let x = x(&mut both, key, MS(ms));
            assert!(x >= last && x - last < 0.2, "{x} after {last}");
            last = x;
        }
        assert!(!both.view.is_starved());
        let (mut both, key) = beyond(60.0);
        let (other, same) = flyer();
        assert_eq!(same, key);
        both.call(move |simulation, _| *simulation = other);
        both.physics(MS(125));
        both.physics(MS(135));
        assert!((0.0..=1.0).contains(&x(&mut both, key, MS(135))));
    }

    #[test]
    fn nothing_is_made_up_in_a_pause() {
        let (mut both, key) = beyond(60.0);
        both.command(Command::Pause);
        both.physics(MS(125));
        for ms in [125, 126, 500, 50_000] {
            assert!((x(&mut both, key, MS(ms)) - 10.0).abs() < 1e-5);
            assert!(!both.view.is_starved());
        }
        both.command(Command::Resume);
        let mut next = both.physics(MS(50_000));
        let mut last = 10.0;
        for ms in 50_000..50_050 {
            while next.is_some_and(|next| next <= MS(ms)) {
                next = both.physics(MS(ms));
            }
            let x = x(&mut both, key, MS(ms));
            assert!(x >= last - 1e-5 && x - last < 0.2, "{x} after {last}");
            last = x;
        }
        assert!(last > 12.0);
        // Nor after a panic, as no state is on its way.
        let (mut both, key) = beyond(60.0);
        both.call(|_, _| panic!("of no use"));
        both.physics(MS(125));
        for ms in [125, 5_000] {
            assert!((x(&mut both, key, MS(ms)) - 10.0).abs() < 1e-5);
            assert!(!both.view.is_starved());
        }
    }

    /// One that stands, each for another reason, where it is in Rapier.
    #[test]
    fn only_what_moves_goes_on() {
        let mut simulation = Simulation::new(Rate::hz(100).unwrap());
        simulation.physics_mut().gravity = Vector::ZERO;
        let moving = || {
            RigidBodyBuilder::dynamic()
                .linvel(Vector::X)
                .angvel(Vector::Y)
        };
        let led = RigidBodyBuilder::kinematic_position_based();
        let stand = [
            RigidBodyBuilder::fixed(),
            moving().sleeping(true),
            moving().enabled(false),
            RigidBodyBuilder::kinematic_velocity_based(),
            led.clone(),
            moving(),
        ];
        let stand = stand.map(|body| simulation.insert_body(body));
        let there = Pose::translation(3.0, 0.0, 0.0);
        (simulation.set_kinematic_target(stand[4], there, MS(50))).unwrap();
        simulation
            .set_body_smoothing(stand[5], Some(Smoothing::Latest))
            .unwrap();
        let go = [
            moving(),
            RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::X),
            led,
            moving().linvel(Vector::X * 1e30),
        ];
        let go = go.map(|body| simulation.insert_body(body));
        let far = Pose::translation(100.0, 0.0, 0.0);
        (simulation.set_kinematic_target(go[2], far, MS(1_000))).unwrap();
        let most = f32::INFINITY;
        let mut both = Both::with(simulation, Idle, Starved::Extrapolate { most });
        both.physics(MS(100));
        let now = MS(140);
        both.frame(now);
        assert!(both.view.is_starved());
        let simulated = |key| *both.physics.simulation.body(key).unwrap().position();
        for key in stand {
            assert_eq!(both.view.pose(key), Some(simulated(key)));
        }
        for (key, ahead) in go.into_iter().zip([0.025, 0.025, 2.5]) {
            let shown = both.view.pose(key).unwrap().translation - simulated(key).translation;
            assert!((shown.x - ahead).abs() < 1e-3, "{shown}");
        }
        for ms in 0..200 {
            both.frame(now + MS(100 * ms));
            assert!(both.view.moved().iter().all(|(_, pose)| pose.is_finite()));
        }
        let x = both.view.pose(go[0]).unwrap().translation.x;
        assert!((x - 0.7).abs() < 1e-3, "{x}: a tenth, and 60 steps");
    }

    #[test]
    fn what_is_shown_ahead_stays_ahead_also_at_a_state() {
        let (mut simulation, key) = flyer();
        simulation.set_smoothing(Smoothing::Extrapolate);
        let mut both = Both::new(simulation, Idle);
        let mut last = 0.0;
        for ms in 0..2_000u16 {
            // Some steps are late.
            if ms % 10 == 0 && ms % 70 != 0 {
                both.physics(MS(ms.into()));
            }
            let x = x(&mut both, key, MS(ms.into()));
            assert!(x >= last, "{x} after {last} at {ms} ms");
            last = x;
        }
        assert!(last > 195.0);
    }

    #[test]
    fn failures_are_bounded_and_those_lost_are_counted() {
        struct Never;
        impl Hooks for Never {
            type Error = ();
            fn before_step(&mut self, _: &mut Simulation, _: Step) -> Result<(), ()> {
                Err(())
            }
        }
        let mut both = Both::new(flyer().0, Never);
        for ms in 1..=1_500 {
            both.physics(MS(10 * ms));
            if ms % 400 == 0 {
                both.frame(MS(10 * ms));
            }
        }
        assert_eq!(both.view.take_failures(&both.mailbox).len(), 1_000);
        assert_eq!(both.view.lost_failures(), 500);
    }

    #[test]
    fn states_are_filled_again_once_nobody_has_them() {
        let (simulation, key) = flyer();
        let mut both = Both::new(simulation, Idle);
        let mut most = 0;
        for ms in 0..300 {
            both.physics(MS(10 * ms));
            // One that does not come for long.
            if !(100..=200).contains(&ms) {
                both.frame(MS(10 * ms));
                most = most.max(both.physics.sent.len());
            }
        }
        assert!(most <= 10, "{most}");
        assert!(both.view.pose(key).is_some());
    }

    #[test]
    fn a_pause_copies_nothing_that_nobody_has_changed() {
        let mut both = Both::new(flyer().0, Idle);
        let copies = |both: &Both<Idle>| {
            let mut copies = 0;
            both.mailbox
                .try_with(|mail| copies = mail.states.drain(..).count());
            copies
        };
        both.physics(MS(5));
        both.command(Command::Pause);
        both.physics(MS(10));
        assert!(copies(&both) > 0);
        both.physics(MS(20));
        assert_eq!(copies(&both), 0);
        both.command(Command::SetSpeed(2.0));
        both.physics(MS(30));
        assert_eq!(copies(&both), 1);
    }

    #[test]
    fn what_is_done_in_a_pause_is_shown_in_it() {
        let (mut simulation, flyer) = flyer();
        let wall = simulation.insert_body(RigidBodyBuilder::fixed());
        let gone = simulation.insert_body(RigidBodyBuilder::fixed());
        let mut both = Both::new(simulation, Idle);
        both.physics(MS(100));
        both.frame(MS(104));
        both.command(Command::Pause);
        both.physics(MS(110));
        // To where it stands, and no farther.
        for (now, expected) in [(110, 9.5), (114, 9.9), (115, 10.0), (119, 10.0)] {
            let x = x(&mut both, flyer, MS(now));
            assert!((x - expected).abs() < 1e-3, "{x} at {now} ms");
        }
        let there = Pose::translation(0.0, 7.0, 0.0);
        both.command(Command::Teleport(wall, there));
        both.command(Command::Remove(gone));
        both.physics(MS(120));
        let view = both.frame(MS(121));
        assert_eq!(view.pose(wall), Some(there));
        assert_eq!((view.pose(gone), view.removed()), (None, &[gone][..]));
        assert_eq!(view.pose(flyer).unwrap().translation.x, 10.0);
    }

    #[test]
    fn a_simulation_that_is_paused_from_the_start_is_shown() {
        let (mut simulation, key) = flyer();
        simulation.pause();
        let most = f32::INFINITY;
        let mut both = Both::with(simulation, Idle, Starved::Extrapolate { most });
        for ms in [0, 10, 1_000_000] {
            both.physics(MS(ms));
            assert_eq!(x(&mut both, key, MS(ms)), 0.0);
            assert!(!both.view.is_starved());
        }
    }

    #[test]
    fn a_view_without_a_state_shows_nothing() {
        let settings = RunnerSettings {
            slack: f32::NAN,
            ..RunnerSettings::default()
        };
        let mut view = View::<()>::new(settings, 0);
        view.update(&Mailbox::default(), MS(u64::MAX / 2));
        assert!(view.moved().is_empty() && view.removed().is_empty() && !view.is_starved());
    }

    #[test]
    fn what_is_too_late_is_dropped_and_counted() {
        let (simulation, _) = flyer();
        let mut both = Both::new(simulation, Idle);
        both.physics(MS(100));
        // Five steps at once, and the rest right after.
        assert_eq!(both.physics.run_until(MS(300)), Some(MS(160)));
        assert_eq!(both.tick(), 15);
        both.physics(MS(300));
        assert_eq!(both.tick(), 30);
        // More than 250 ms behind: the clock goes on from now.
        assert_eq!(both.physics(MS(800)), Some(MS(810)));
        assert_eq!(both.tick(), 31);
        both.frame(MS(800));
        assert_eq!(both.view.dropped(), MS(490));
        assert_eq!(
            both.physics.simulation.clock().dropped().frame_time,
            MS(490)
        );
        assert_eq!(both.physics.simulation.clock().real_time(), MS(800));
    }

    #[test]
    fn commands_run_at_the_start_of_the_next_step_in_the_order_sent() {
        let (simulation, _) = flyer();
        let mut both = Both::new(simulation, Idle);
        both.physics(MS(0));
        let (one, other) = (both.key(), both.key());
        let body = |x: f32| {
            Box::new(
                RigidBodyBuilder::dynamic()
                    .translation(Vector::X * x)
                    .build(),
            )
        };
        for (key, x) in [(other, 5.0), (one, 9.0)] {
            both.command(Command::Spawn {
                key,
                body: body(x),
                colliders: vec![ColliderBuilder::ball(0.1).mass(1.0).build()],
            });
        }
        both.command(Command::ApplyImpulse(one, Vector::Y));
        both.command(Command::Teleport(other, Pose::translation(7.0, 0.0, 0.0)));
        both.call(move |simulation, _| {
            assert_eq!(simulation.body(other).unwrap().translation().x, 7.0);
            simulation
                .body_mut(other)
                .unwrap()
                .set_linvel(Vector::Z, true);
        });
        both.physics(MS(9));
        assert_eq!(both.physics.simulation.bodies().count(), 1, "not yet");
        both.physics(MS(10));
        let at = |key| both.physics.simulation.body(key).unwrap().translation();
        assert_eq!(at(one), Vector::new(9.0, 0.01, 0.0));
        assert_eq!(at(other), Vector::new(7.0, 0.0, 0.01));
        assert!(both.frame(MS(20)).pose(one).is_some());
        both.command(Command::Remove(one));
        both.physics(MS(20));
        both.physics(MS(30));
        let view = both.frame(MS(40));
        assert_eq!((view.pose(one), view.removed()), (None, &[one][..]));
        // Keys of what is gone do nothing, and there is a key for each that was used.
        both.command(Command::AddForce(one, Vector::X));
        both.physics(MS(40));
        let (simulation, _) = both.physics.into_parts();
        assert_eq!(simulation.bodies().count(), 2);
    }

    #[test]
    fn a_state_put_back_by_a_call_is_shown_whole() {
        let (simulation, flyer) = flyer();
        let mut both = Both::new(simulation, Idle);
        let sleeper = RigidBodyBuilder::dynamic().sleeping(true);
        let sleeper = both.physics.simulation.insert_body(sleeper);
        both.physics(MS(10));
        let saved = both.physics.simulation.clone();
        let late = both
            .physics
            .simulation
            .insert_body(RigidBodyBuilder::fixed());
        let there = Pose::translation(0.0, 7.0, 0.0);
        (both.physics.simulation.teleport(sleeper, there)).unwrap();
        both.physics(MS(50));
        let view = both.frame(MS(60));
        assert_eq!(view.pose(sleeper), Some(there));
        assert!(view.pose(late).is_some());
        both.call(move |simulation, _| *simulation = saved);
        for ms in [60, 70, 80, 90] {
            both.physics(MS(ms));
        }
        let view = both.frame(MS(95));
        assert_eq!(view.pose(sleeper), Some(Pose::IDENTITY));
        assert_eq!((view.pose(late), view.removed()), (None, &[late][..]));
        // It goes on from now, whatever its clock has said.
        let x = view.pose(flyer).unwrap().translation.x;
        assert!((x - 3.0).abs() < 1e-3, "{x}");
    }

    #[test]
    fn questions_see_every_command_before_them_also_in_a_pause() {
        let (mut simulation, _) = flyer();
        let wall = RigidBodyBuilder::fixed().translation(Vector::Y * 50.0);
        let wall = simulation.insert(wall, ColliderBuilder::ball(1.0));
        let mut both = Both::new(simulation, Idle);
        both.physics(MS(0));
        let (answer, answers) = std::sync::mpsc::channel();
        for (paused, x) in [(false, 20.0f32), (true, 30.0)] {
            if paused {
                both.command(Command::Pause);
                both.physics(MS(20));
                both.physics(MS(21));
            }
            both.command(Command::Teleport(wall, Pose::translation(x, 9.0, 0.0)));
            let answer = answer.clone();
            let query = Order::Query(Box::new(move |simulation: &Simulation| {
                let pipeline = simulation.physics().query_pipeline();
                let ray = Ray::new(Vector::new(x, 20.0, 0.0), -Vector::Y);
                let hit = pipeline.cast_ray(&ray, 100.0, true).map(|(_, at)| at);
                answer.send((simulation.tick(), hit)).unwrap();
            }));
            both.order(query);
            both.physics(MS(if paused { 25 } else { 10 }));
            let (tick, hit) = answers.try_recv().expect("answered in this step");
            assert_eq!(tick, both.tick());
            assert!((hit.unwrap() - 10.0).abs() < 1e-3, "{hit:?}");
        }
        assert_eq!(both.tick(), 1, "the pause came before the second step");
    }

    #[test]
    fn pause_speed_and_single_steps_stop_and_scale_what_is_shown() {
        let (simulation, key) = flyer();
        let mut both = Both::new(simulation, Idle);
        let x = |both: &mut Both<Idle>, now| both.frame(now).pose(key).unwrap().translation.x;
        for ms in 0..=10 {
            both.physics(MS(10 * ms));
        }
        both.command(Command::Pause);
        assert_eq!(both.physics(MS(110)), None);
        let stood = x(&mut both, MS(115));
        for ms in [120, 200, 5_000] {
            assert_eq!(both.physics(MS(ms)), None);
            assert_eq!(x(&mut both, MS(ms)), stood);
        }
        both.command(Command::StepOnce);
        assert_eq!(both.physics(MS(5_010)), None);
        assert_eq!(both.tick(), 11);
        both.command(Command::Resume);
        both.command(Command::SetSpeed(0.5));
        // Twice as long, from now on.
        let next = both.physics(MS(6_000)).unwrap();
        assert_eq!(next, MS(6_020));
        both.physics(next);
        both.physics(next + MS(20));
        let one = x(&mut both, next + MS(30));
        both.physics(next + MS(40));
        let two = x(&mut both, next + MS(40));
        assert!((two - one - 0.5).abs() < 1e-3, "{one} {two}");
        assert_eq!(both.tick(), 14);
        // Two seconds a step, at half the speed.
        both.command(Command::SetRate(Rate::hz(1).unwrap()));
        let next = both.physics(next + MS(60)).unwrap();
        let tick = both.tick();
        assert_eq!(both.physics(next), Some(next + MS(2_000)));
        assert_eq!(both.physics(next + MS(2_000)), Some(next + MS(4_000)));
        assert_eq!(both.tick(), tick + 2);
    }

    #[test]
    fn what_finds_the_mailbox_taken_comes_again_soon() {
        let (simulation, key) = flyer();
        let mut both = Both::new(simulation, Idle);
        both.physics(MS(0));
        both.command(Command::Pause);
        let mailbox = Arc::clone(&both.mailbox);
        let mut next = None;
        mailbox.try_with(|_| next = both.physics.run_until(MS(10)));
        assert_eq!(next, Some(MS(10) + SOON), "also in a pause");
        assert_eq!(both.physics.run_until(MS(11)), None);
        // And who reads shows what there is.
        let shown = both.frame(MS(30)).pose(key);
        mailbox.try_with(|_| assert_eq!(both.frame(MS(31)).pose(key), shown));
    }

    #[test]
    fn another_simulation_is_shown_from_its_first_state_on() {
        let (simulation, key) = flyer();
        let mut both = Both::new(simulation, Idle);
        both.physics(MS(0));
        both.call(|simulation, _| simulation.set_rewind_limits(50, usize::MAX));
        for ms in 0..=40 {
            both.physics(MS(10 * ms));
        }
        assert_eq!(both.frame(MS(405)).time(), 0.39);
        // Back in time: what comes is shown as it is then.
        both.call(|simulation, _| simulation.rewind(20).unwrap());
        both.physics(MS(410));
        let x = both.frame(MS(410)).pose(key).unwrap().translation.x;
        assert!((20.0..=21.0).contains(&x), "{x}");
        // Another one, with bodies that rest: they are there, and the others are not.
        let mut other = Simulation::new(Rate::hz(100).unwrap());
        let rock = other.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(1.0));
        let stone = other.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(1.0));
        for _ in 0..9 {
            other.advance(MS(10), |_, _| ());
        }
        both.call(|simulation, _| *simulation = other);
        for ms in 42..48 {
            both.physics(MS(10 * ms));
        }
        // By its own clock it is another time; it goes on from now.
        assert_eq!(both.tick(), 9 + 5);
        let view = both.frame(MS(480));
        assert_eq!(view.dropped(), Duration::ZERO);
        assert_eq!(view.pose(stone), Some(Pose::IDENTITY));
        assert_eq!((rock, view.pose(rock)), (key, Some(Pose::IDENTITY)));
        assert_eq!(view.moved().len(), 2);
    }

    #[test]
    fn another_simulation_in_its_place_is_shown_as_it_is() {
        for (age, pauses) in [(10, false), (10, true), (90, false), (90, true)] {
            let (mut simulation, key) = flyer();
            let ball = || ColliderBuilder::ball(1.0);
            let wall = simulation.insert(RigidBodyBuilder::fixed(), ball());
            let only_here = simulation.insert(RigidBodyBuilder::fixed(), ball());
            let mut saved = simulation.clone();
            saved.remove(only_here).unwrap();
            for _ in 0..age {
                saved.advance(MS(10), |_, _| ());
            }
            let mut both = Both::new(simulation, Idle);
            let first = Pose::translation(0.0, 7.0, 0.0);
            both.command(Command::Teleport(wall, first));
            for ms in 0..50 {
                both.physics(MS(10 * ms));
                both.frame(MS(10 * ms));
            }
            assert_eq!(both.view.pose(wall), Some(first));
            if pauses {
                both.command(Command::Pause);
            }
            both.call(move |simulation, _| {
                let is_paused = simulation.clock().is_paused();
                *simulation = saved;
                if is_paused {
                    simulation.pause();
                }
            });
            both.physics(MS(500));
            both.physics(MS(510));
            let view = both.frame(MS(512));
            assert_eq!(view.pose(wall), Some(Pose::IDENTITY));
            assert_eq!(view.pose(only_here), None);
            assert_eq!(view.removed(), [only_here]);
            let x = view.pose(key).unwrap().translation.x;
            assert!((x - age as f32).abs() <= 3.0, "{x} after {age} steps");
        }
    }

    #[test]
    fn a_question_that_panics_is_reported_and_the_game_goes_on() {
        let (simulation, _) = flyer();
        let mut both = Both::new(simulation, Idle);
        both.order(Order::Query(Box::new(|_| panic!("of no use"))));
        both.physics(MS(10));
        both.command(Command::Pause);
        both.order(Order::Query(Box::new(|_| panic!("of no use"))));
        both.physics(MS(20));
        both.command(Command::Resume);
        both.physics(MS(30));
        let next = both.physics(MS(40));
        assert!(next.is_some() && both.tick() > 1);
        let failures = both.view.take_failures(&both.mailbox);
        assert_eq!(
            format!("{failures:?}"),
            "[Question { tick: 1, .. }, Question { tick: 1, .. }]"
        );
    }

    struct Fails(Option<&'static str>);

    impl Hooks for Fails {
        type Error = &'static str;

        fn before_step(&mut self, _: &mut Simulation, step: Step) -> Result<(), Self::Error> {
            assert_ne!(step.tick, 6, "no sixth step");
            match self.0.take_if(|_| step.tick == 3) {
                Some(error) => Err(error),
                None => Ok(()),
            }
        }
    }

    #[test]
    fn a_panic_is_reported_and_what_was_shown_stays_until_it_recovers() {
        for keeps_states in [false, true] {
            let (mut simulation, key) = flyer();
            simulation.set_rewind_limits(u64::from(keeps_states) * 4, usize::MAX);
            let mut both = Both::new(simulation, Fails(Some("no third step")));
            for ms in 0..=10 {
                both.physics(MS(10 * ms));
            }
            let shown = both.frame(MS(100)).pose(key).unwrap();
            let failures = both.view.take_failures(&both.mailbox);
            assert_eq!(
                format!("{failures:?}"),
                r#"[Hook { tick: 3, error: "no third step" }, Panic { tick: 6, .. }]"#
            );
            assert_eq!(both.physics(MS(110)), None);
            both.command(Command::Teleport(key, Pose::IDENTITY));
            assert_eq!(both.physics(MS(120)), None);
            assert_eq!(both.frame(MS(120)).pose(key), Some(shown));
            both.call(|simulation, _| simulation.set_tick(100));
            both.order(Order::Recover);
            // It panics again, as it is the same step.
            assert_eq!(both.physics(MS(130)), None);
            both.frame(MS(130));
            let failures = both.view.take_failures(&both.mailbox);
            assert_eq!(failures.len(), usize::from(keeps_states));
            let (simulation, _) = both.physics.into_parts();
            assert_eq!(simulation.tick(), 6);
        }
    }

    /// Spawns, removes and pushes by tick.
    struct ByTick(Vec<BodyKey>);

    impl Hooks for ByTick {
        type Error = &'static str;

        fn before_step(
            &mut self,
            simulation: &mut Simulation,
            step: Step,
        ) -> Result<(), Self::Error> {
            let x = (step.tick % 7) as f32;
            if step.tick.is_multiple_of(5) {
                let body = RigidBodyBuilder::dynamic().translation(Vector::new(x, 4.0, 0.3 * x));
                let ball = ColliderBuilder::ball(0.4).active_events(ActiveEvents::COLLISION_EVENTS);
                self.0.push(simulation.insert(body, ball));
            }
            if step.tick % 11 == 10 {
                simulation.remove(self.0.remove(0));
            }
            for key in &self.0 {
                let _ = simulation.add_force(*key, Vector::X * (x - 3.0));
            }
            Ok(())
        }
    }

    fn floor() -> Simulation {
        let mut simulation = Simulation::new(Rate::hz(60).unwrap());
        let floor = ColliderBuilder::cuboid(20.0, 0.5, 20.0);
        simulation.insert(RigidBodyBuilder::fixed(), floor);
        simulation
    }

    fn bits(simulation: &Simulation) -> Vec<(RigidBodyHandle, Pose, Vector, AngVector)> {
        let bodies = simulation.physics().bodies.iter();
        bodies
            .map(|(handle, body)| (handle, *body.position(), body.linvel(), body.angvel()))
            .collect()
    }

    /// Whether a screen shows of what was handed over what it would show of the simulation's own poses.
    fn copies_are_whole<H: Hooks>(physics: &Physics<H>, alpha: f32) -> bool {
        let moment = Moment {
            simulation: 0,
            frame: physics.simulation.frame().number,
            alpha,
            beyond: 0.0,
        };
        let shown = |poses: &Poses| {
            let mut screen = Screen::default();
            screen.show(poses, &[], moment);
            screen.moved().iter().copied().collect::<BTreeMap<_, _>>()
        };
        let copy = physics.sent.last().expect("it was just handed over");
        shown(&copy.poses) == shown(physics.simulation.poses())
    }

    #[test]
    fn smoothings_and_errors_are_handed_over_too() {
        let (mut simulation, flyer) = flyer();
        simulation.set_rewind_limits(50, usize::MAX);
        let turning = RigidBodyBuilder::dynamic().angvel(Vector::Y * 9.0);
        let off_centre = || ColliderBuilder::ball(1.0).translation(Vector::X * 5.0);
        let [off, curved] = [(); 2].map(|()| simulation.insert(turning.clone(), off_centre()));
        let hermite = Some(Smoothing::Hermite);
        simulation.set_body_smoothing(curved, hermite).unwrap();
        let mut both = Both::new(simulation, Idle);
        let mut corrected = 0;
        for ms in (0..8_000).step_by(10) {
            if ms % 1_000 == 500 {
                both.call(move |simulation, _| {
                    simulation.roll_back(simulation.tick() - 5).unwrap();
                    simulation.apply_impulse(flyer, Vector::Y).unwrap();
                });
            }
            // Now one alone, now all.
            if ms == 4_000 {
                both.command(Command::RemoveAll(vec![off, curved]));
            }
            both.physics(MS(ms));
            if ms % 30 == 0 {
                both.frame(MS(ms));
            }
            corrected += usize::from(both.physics.simulation.visual_error(flyer).is_some());
            for alpha in [0.0, 0.4, 1.0] {
                assert!(copies_are_whole(&both.physics, alpha), "at {ms} ms");
            }
        }
        assert!((10..700).contains(&corrected), "{corrected}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        /// Whatever each thread is late: the steps are those of one thread, each event comes once, and a map kept
        /// from the lists is what is shown.
        #[test]
        fn stalls_of_either_side_change_no_bit_and_lose_nothing(
            stalls in prop::collection::vec((0..60u64, any::<bool>()), 50..200),
            most in 0.0..5.0f32,
        ) {
            let starved = Starved::Extrapolate { most };
            let mut both = Both::with(floor(), ByTick(Vec::new()), starved);
            let mut map = BTreeMap::<BodyKey, Pose>::new();
            let (mut now, mut last) = (Duration::ZERO, 0.0);
            let mut ticks = Vec::new();
            let mut events = 0;
            for (stall, is_frame) in stalls {
                now += MS(stall);
                if !is_frame {
                    both.physics(now);
                    prop_assert!(copies_are_whole(&both.physics, (stall % 8) as f32 / 7.0));
                    continue;
                }
                let view = both.frame(now);
                prop_assert!(view.time() >= last);
                last = view.time();
                for key in view.removed() {
                    prop_assert!(map.remove(key).is_some());
                }
                map.extend(view.moved().iter().copied());
                for (key, pose) in &map {
                    prop_assert_eq!(view.pose(*key), Some(*pose));
                }
                let come = both.view.take_events(&both.mailbox, Some(both.view.tick()));
                prop_assert!(come.iter().all(|(tick, _)| *tick < both.view.tick()));
                events += come.iter().map(|(_, events)| events.len()).sum::<usize>();
                ticks.extend(come.into_iter().map(|(tick, _)| tick));
            }
            both.physics(now);
            let rest = both.view.take_events(&both.mailbox, None);
            events += rest.iter().map(|(_, events)| events.len()).sum::<usize>();
            ticks.extend(rest.into_iter().map(|(tick, _)| tick));
            prop_assert!(ticks.is_sorted_by(|a, b| a < b), "each step once, in order");

            let (mut alone, mut hooks) = (floor(), ByTick(Vec::new()));
            let mut expected = 0;
            while alone.tick() < both.tick() {
                alone.advance_with(MS(5), &mut hooks).unwrap();
                expected += alone.events().len();
            }
            prop_assert_eq!(bits(&alone), bits(&both.physics.simulation));
            prop_assert_eq!(events, expected);
            prop_assert_eq!(both.view.lost_events(), 0);
        }
    }
}
