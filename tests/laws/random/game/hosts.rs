//! The loops that play a game.

use super::action::{Action, Body, Joint, OnBody, Past, Reach, keys, score, spawn};
use super::log::{Entry, Picture, State, ids};
use super::paths::Paths;
use super::player::{Planned, Player};
use super::script::{self, FrameScript, Scene, Script, Setup, When};
use evenstep::ecs::Host as Bodies;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::{Overlap, Runner, RunnerSettings, View, Worker};
use evenstep::{BodyKey, Rate, Simulation};
use proptest::prelude::*;
use scenes::MS;
use scenes::testing::{cuboid, spin, translation, vector};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

/// A kind of loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `advance`, with a closure.
    Closure,
    /// `advance_with`.
    Hooks,
    /// `begin_frame`, `next_step`, `run_step` and `end_frame`.
    Pull,
    Overlap,
    /// A runner whose thread runs each step when it is due.
    InTime,
    /// A runner whose thread runs when the game asks for a frame.
    Late,
}

impl Kind {
    pub const ALL: [Self; 6] = [
        Self::Closure,
        Self::Hooks,
        Self::Pull,
        Self::Overlap,
        Self::InTime,
        Self::Late,
    ];

    pub fn any() -> impl Strategy<Value = Self> {
        prop::sample::select(Self::ALL.to_vec())
    }

    /// Returns whether the game displays the state right after its frame.
    pub fn is_one_thread(self) -> bool {
        matches!(self, Self::Closure | Self::Hooks | Self::Pull)
    }
}

/// The log of a game, and its presses.
pub struct Run {
    pub log: Vec<Entry>,
    /// How many presses were pushed, and how many still wait for their step.
    pub pushed: u64,
    pub waiting: usize,
}

/// Plays a script in a host.
pub fn play(script: &Script, kind: Kind) -> Run {
    play_touched(script, kind, false)
}

/// Plays a script in a host. With `touches`, the game also gets mutable access to all bodies in each hook, and changes
/// nothing.
pub fn play_touched(script: &Script, kind: Kind, touches: bool) -> Run {
    let simulation = start(&script.setup);
    let mut game = Game::new(simulation, kind, &script.setup);
    game.player.parts().touches = touches;
    for frame in &script.frames {
        if game.play(frame).is_none() {
            break;
        }
    }
    let (pushed, waiting) = game.player.presses();
    Run {
        log: game.player.take_log(),
        pushed,
        waiting,
    }
}

/// Makes a call in which the game may panic as planned. Returns `None` if it did.
fn caught<T>(call: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => Some(result),
        Err(payload) if payload.is::<Planned>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

struct Game {
    host: Host,
    player: Player,
    setup: Setup,
    /// All bodies that were ever alive.
    seen: BTreeSet<BodyKey>,
    /// Those that have no entity yet.
    unmapped: Vec<BodyKey>,
    /// Where entities were written to.
    written: BTreeMap<BodyKey, Pose>,
}

enum Host {
    One(Box<Simulation>, Kind),
    Overlap(Box<Overlap>),
    Runner(Box<Thread>),
}

/// A runner, and its worker on the same thread.
struct Thread {
    runner: Runner<Player>,
    worker: Worker<Player>,
    now: Duration,
    next: Option<Duration>,
    is_late: bool,
}

impl Host {
    fn new(simulation: Simulation, kind: Kind, player: &Player, setup: &Setup) -> Self {
        let slack = f32::from(setup.slack) / 4.0;
        match kind {
            Kind::Closure | Kind::Hooks | Kind::Pull => Self::One(simulation.into(), kind),
            Kind::Overlap => {
                let mut overlap = Overlap::new(simulation).expect("a thread starts");
                overlap.set_slack(slack);
                Self::Overlap(overlap.into())
            }
            Kind::InTime | Kind::Late => {
                let now = simulation.clock().real_time();
                let mut settings = RunnerSettings::default();
                settings.slack = slack;
                // No event is dropped while the game asks for no frame.
                settings.events = usize::MAX;
                let (runner, worker) = Runner::without_thread(simulation, player.clone(), settings);
                let is_late = kind == Kind::Late;
                Self::Runner(Box::new(Thread {
                    runner,
                    worker,
                    now,
                    next: Some(now),
                    is_late,
                }))
            }
        }
    }

    fn stop(self, player: &mut Player) -> Simulation {
        match self {
            Self::One(simulation, _) => *simulation,
            Self::Overlap(mut overlap) => {
                finish(&mut overlap, player);
                player.parts().is_stopping = true;
                let simulation = overlap.stop(player).0;
                player.parts().is_stopping = false;
                simulation
            }
            Self::Runner(thread) => thread.worker.stop(thread.runner, thread.now).0,
        }
    }
}

/// Waits for the step under way. Each call may fail in another hook.
fn finish<'a>(overlap: &'a mut Overlap, player: &mut Player) -> &'a mut Simulation {
    while caught(|| overlap.simulation(player).is_ok()) != Some(true) {}
    overlap.simulation(player).expect("nothing is left to fail")
}

impl Thread {
    /// Lets the thread work up to this time.
    fn work(&mut self, now: Duration) {
        self.now = now;
        if !self.is_late {
            while let Some(next) = self.next.filter(|next| *next < now) {
                self.next = self.worker.run_until(next);
            }
        }
        loop {
            self.next = self.worker.run_until(now);
            if self.next.is_none_or(|next| next > now) {
                break;
            }
        }
        if self.runner.failures().iter().any(is_panic) {
            self.runner.recover().expect("the queue has room");
            self.runner
                .call(move |simulation, player| {
                    // Without a kept state it continues from the present one.
                    let stays = player.is_marked(&simulation.physics);
                    let stays = stays.then_some(super::Effect::Stayed);
                    player.log(Entry::Acted {
                        action: Action::Past(Past::Rewind(0)),
                        effects: [super::Effect::Other].into_iter().chain(stays).collect(),
                        tick: simulation.physics.tick(),
                        rollback: None,
                    });
                    // The recovered state may have had bodies that the game has removed since.
                    player.notice_removals(&mut simulation.physics);
                    player.match_entities(&mut simulation.physics);
                })
                .expect("the queue has room");
        }
    }
}

fn is_panic<E: std::fmt::Debug>(failure: &evenstep::threads::Failure<E>) -> bool {
    use evenstep::threads::Failure;
    match failure {
        Failure::Panic { payload, .. } => {
            assert!(payload.is::<Planned>(), "the thread panics: {failure:?}");
            true
        }
        _ => false,
    }
}

impl Game {
    fn new(mut simulation: Simulation, kind: Kind, setup: &Setup) -> Self {
        let mut player = Player::default();
        let seen: BTreeSet<_> = keys(&simulation.physics).into_iter().collect();
        for key in &seen {
            player.parts().entities.insert(*key, *key);
        }
        {
            let physics = &mut simulation.physics;
            (player.parts().owners).adopt(physics, seen.iter().copied());
        }
        player.see(&mut simulation, Duration::ZERO);
        Paths::observe(&mut simulation.physics, &[]);
        Self {
            host: Host::new(simulation, kind, &player, setup),
            player,
            setup: *setup,
            seen,
            unmapped: Vec::new(),
            written: BTreeMap::new(),
        }
    }

    /// Plays a frame. Returns `None` if Rapier has panicked, so that the game is over.
    fn play(&mut self, script: &FrameScript) -> Option<()> {
        let play = || {
            for action in script.acts(When::Between) {
                let displayed = match &self.host {
                    Host::One(simulation, _) if !self.player.parts().has_panicked => {
                        Some(&**simulation)
                    }
                    _ => None,
                };
                if !(action.is_push() && script.hides_forces(displayed)) {
                    self.act(action);
                }
            }
            self.frame(script);
        };
        match catch_unwind(AssertUnwindSafe(play)) {
            Ok(()) => Some(()),
            Err(_) if self.is_poisoned() => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    fn is_poisoned(&mut self) -> bool {
        match &mut self.host {
            Host::One(simulation, _) => is_poisoned(simulation),
            Host::Runner(thread) => is_poisoned(thread.worker.simulation()),
            Host::Overlap(overlap) => is_poisoned(finish(overlap, &mut self.player)),
        }
    }

    /// Acts between two frames.
    fn act(&mut self, action: Action) {
        match action {
            Action::HandOver(kind) => return self.hand_over(kind),
            Action::Hide(tenths) => return self.hide(tenths),
            _ => (),
        }
        let player = &mut self.player;
        match &mut self.host {
            Host::One(simulation, _) => {
                player.perform(action, &mut Reach::Simulation(simulation));
            }
            Host::Overlap(overlap) => {
                let simulation = finish(overlap, player);
                player.perform(action, &mut Reach::Simulation(simulation));
            }
            Host::Runner(thread) => {
                let call = move |simulation: &mut Simulation, player: &mut Player| {
                    player.perform(action, &mut Reach::Simulation(simulation));
                };
                thread.runner.call(call).expect("the queue has room");
            }
        }
    }

    fn hand_over(&mut self, kind: Kind) {
        let between = Host::One(Box::default(), Kind::Hooks);
        let last = std::mem::replace(&mut self.host, between);
        let simulation = last.stop(&mut self.player);
        self.host = Host::new(simulation, kind, &self.player, &self.setup);
        self.player.log(Entry::HandedOver(kind));
    }

    /// Lets a thread run while the game asks for no frame.
    fn hide(&mut self, tenths: u8) {
        if let Host::Runner(thread) = &mut self.host {
            for _ in 0..tenths {
                thread.work(thread.now + self.player.plan(&script::frame(100_000, []), thread.now));
            }
        }
    }

    fn frame(&mut self, script: &FrameScript) {
        let player = &mut self.player;
        {
            let mut parts = player.parts();
            parts.is_closure = matches!(self.host, Host::One(_, Kind::Closure));
            parts.is_view = !matches!(self.host, Host::One(..));
        }
        match &mut self.host {
            Host::One(simulation, kind) => {
                let time = player.plan(script, simulation.clock().real_time());
                let simulation = &mut **simulation;
                let has_ended = match kind {
                    Kind::Hooks => {
                        caught(|| simulation.advance_with(time, player).is_ok()).is_some()
                    }
                    Kind::Closure => caught(|| {
                        player.begin(simulation, time);
                        simulation.advance(time, |physics, step| {
                            let _ = player.before(&mut Reach::Physics(physics), step);
                        });
                    })
                    .is_some(),
                    _ => pull(simulation, player, time),
                };
                self.player.end_step(&mut simulation.physics);
                self.see();
                // A panic leaves the frame open.
                if has_ended {
                    self.draw_one();
                }
            }
            Host::Overlap(overlap) => {
                let time = player.plan(script, overlap.now());
                // A frame that panics displays nothing.
                if caught(|| overlap.frame(time, player).is_ok()).is_some() {
                    self.draw_view();
                }
            }
            Host::Runner(thread) => {
                let now = thread.now + player.plan(script, thread.now);
                thread.work(now);
                thread.runner.frame_at(now);
                self.draw_view();
            }
        }
    }

    fn see(&mut self) {
        self.unmapped.extend(self.player.take_born());
        self.seen.extend(&self.unmapped);
        // A body may have the slot of another one that a view still displays, so its entity waits for its first picture.
        let is_displayed = |key: &BodyKey| match &self.host {
            // Another state may have removed it already.
            Host::One(simulation, _) => simulation.physics.handle(*key).is_some(),
            Host::Overlap(overlap) => overlap.view().pose(*key).is_some(),
            Host::Runner(thread) => thread.runner.view().pose(*key).is_some(),
        };
        for key in self.unmapped.extract_if(.., |key| is_displayed(key)) {
            self.player.parts().entities.insert(key, key);
        }
    }

    fn draw_one(&mut self) {
        let Host::One(simulation, _) = &mut self.host else {
            return;
        };
        let simulation = &mut **simulation;
        let is_sure = self.player.take_smoothings() <= 1;
        Paths::retime(&mut simulation.physics, simulation.smoothing, is_sure);
        let paths = Paths::of(&mut simulation.physics).clone();
        let (frame, clock) = (simulation.frame(), simulation.clock());
        let settings = clock.settings();
        let seen = self.seen.iter().copied();
        let state = State {
            tick: simulation.physics.tick(),
            time: simulation.physics.time(),
            now: clock.time(),
            stands_still: settings.is_paused() || settings.speed() == 0.0,
            steps_to_resimulate: simulation.steps_to_resimulate(),
            keys: keys(&simulation.physics),
            errors: (seen.clone())
                .filter_map(|key| Some((key, simulation.visual_error(key)?)))
                .collect(),
            corrections: (seen.clone())
                .map(|key| {
                    let own = simulation.physics.body_correction(key);
                    (key, own.unwrap_or(simulation.correction))
                })
                .collect(),
            paths,
            kept: simulation.kept().ticks.max(simulation.kept().poses),
            earlier: earlier(simulation),
            since: since(simulation),
        };
        let poses = seen
            .filter_map(|key| Some((key, simulation.pose(key)?)))
            .collect();
        let mut picture = Picture {
            frame: Some(frame),
            tick: frame.tick,
            alpha: frame.alpha,
            time: frame.time,
            origin_shift: frame.origin_shift,
            moved: simulation.moved().to_vec(),
            removed: simulation.removed().to_vec(),
            jumped: simulation.render_data().map(|it| it.jumped().to_vec()),
            events: ids(&simulation.events()),
            entities: BTreeMap::new(),
            rendered: None,
            left: None,
            poses,
            state: Some(state),
        };
        sync(&self.player, &mut self.written, simulation, &mut picture);
        self.player.log(Entry::Picture(picture.into()));
        self.player.notice_removals(&mut simulation.physics);
    }

    fn draw_view(&mut self) {
        self.see();
        let (player, written) = (&self.player, &mut self.written);
        let picture = match &mut self.host {
            Host::Overlap(overlap) => {
                let mut picture = of_view(overlap.view(), &self.seen);
                sync(player, written, &mut **overlap, &mut picture);
                picture
            }
            Host::Runner(thread) => {
                let mut picture = of_view(thread.runner.view(), &self.seen);
                sync(player, written, &mut thread.runner, &mut picture);
                picture
            }
            Host::One(..) => return,
        };
        player.log(Entry::Picture(picture.into()));
    }
}

fn of_view<E>(view: &View<E>, seen: &BTreeSet<BodyKey>) -> Picture {
    let poses = seen.iter().filter_map(|key| Some((*key, view.pose(*key)?)));
    Picture {
        frame: None,
        tick: view.tick(),
        alpha: view.alpha(),
        time: view.time(),
        origin_shift: view.origin_shift(),
        moved: view.moved().to_vec(),
        removed: view.removed().to_vec(),
        poses: poses.collect(),
        jumped: view.render_data().map(|it| it.jumped().to_vec()),
        events: ids(&view.events()),
        entities: BTreeMap::new(),
        rendered: None,
        left: None,
        state: None,
    }
}

/// Asks for poses at some earlier moments, others in each frame.
fn earlier(simulation: &Simulation) -> Vec<(BodyKey, u64, f32, Option<Pose>)> {
    let (number, now) = (simulation.frame().number, simulation.physics.tick());
    let alpha = [0.0, 0.3, 0.9, 1.0][number as usize % 4];
    let ticks = [0, 1, 2 + number % 9].map(|ago| now.checked_sub(ago));
    let keys = keys(&simulation.physics);
    let moments = ticks.into_iter().flatten();
    let asked = moments.flat_map(|tick| keys.iter().map(move |key| (*key, tick)));
    asked
        .map(|(key, tick)| (key, tick, alpha, simulation.pose_at(key, tick, alpha)))
        .collect()
}

/// Asks for the changes since some earlier frames.
fn since(simulation: &Simulation) -> Vec<(u64, Option<super::log::Changes>)> {
    let last = simulation.frame();
    let frames = [0, 1, 2, 5, last.number / 2].map(|ago| last.number.saturating_sub(ago));
    let asked = frames.into_iter().map(|from| {
        let mut frame = last;
        frame.number = from;
        let changes = simulation.changes_since(&frame);
        let changes = changes.map(|it| (it.moved.to_vec(), it.removed.to_vec()));
        (from, changes)
    });
    asked.collect()
}

/// Syncs both kinds of entities with a picture.
fn sync(
    player: &Player,
    written: &mut BTreeMap<BodyKey, Pose>,
    host: &mut impl Bodies,
    picture: &mut Picture,
) {
    picture.entities = write(player, written, host, &picture.poses);
    let mut parts = player.parts();
    picture.left = parts.left;
    picture.rendered = parts.owners.sync(host);
}

/// Writes the poses of bodies to their entities, as a game does in each frame.
fn write(
    player: &Player,
    written: &mut BTreeMap<BodyKey, Pose>,
    host: &impl Bodies,
    displayed: &BTreeMap<BodyKey, Pose>,
) -> BTreeMap<BodyKey, Pose> {
    let mut parts = player.parts();
    for entity in std::mem::take(&mut parts.despawned) {
        written.remove(&entity);
    }
    let entities = &mut parts.entities;
    for entity in entities.take_removed(host) {
        written.remove(&entity);
    }
    // A rollback may bring a body back.
    for key in displayed.keys() {
        if entities.entity(*key).is_none() {
            entities.insert(*key, *key);
        }
    }
    written.extend(entities.moved(host));
    written.clone()
}

fn is_poisoned(simulation: &Simulation) -> bool {
    let mut copy = simulation.clone();
    catch_unwind(AssertUnwindSafe(|| copy.begin_frame(Duration::ZERO))).is_err()
}

/// Returns whether the frame has ended.
fn pull(simulation: &mut Simulation, player: &mut Player, time: Duration) -> bool {
    player.begin(simulation, time);
    simulation.begin_frame(time);
    let mut leaves = false;
    while let Some(step) = simulation.next_step() {
        let before = caught(|| player.before(&mut Reach::Simulation(simulation), step));
        if !matches!(before, Some(Ok(()))) {
            break;
        }
        if !simulation.run_step() {
            continue;
        }
        let after = caught(|| player.after(&mut Reach::Simulation(simulation), step));
        leaves |= player.leaves();
        if let Some(ms) = player.begins_again() {
            player.see(simulation, MS(ms.into()));
            simulation.begin_frame(MS(ms.into()));
        }
        if !matches!(after, Some(Ok(()))) || leaves {
            break;
        }
    }
    if !leaves {
        simulation.end_frame();
    }
    !leaves
}

/// Returns the simulation with which a game starts.
pub fn start(setup: &Setup) -> Simulation {
    let mut simulation = Simulation::new(Rate::hz(setup.hz));
    simulation.smoothing = setup.smoothing;
    simulation.correction = setup.correction.correction();
    simulation.keep(Kept {
        ticks: setup.keep.into(),
        interval: setup.interval.into(),
        ..simulation.kept()
    });
    let physics = &mut simulation.physics;
    score(physics);
    if setup.scene == Scene::Space {
        physics.set_gravity(Vector::ZERO).expect("it is finite");
    } else {
        let floor = RigidBodyBuilder::fixed().translation(Vector::Y * -0.5);
        physics.insert(floor, cuboid(50.0, 0.5, 50.0));
    }
    match setup.scene {
        Scene::Yard => {
            for (i, kind) in [Body::Ball, Body::Platform, Body::Spinner, Body::Hammer]
                .iter()
                .enumerate()
            {
                spawn(physics, *kind, 6 * i as i8);
            }
        }
        Scene::Space => {
            for i in 0..5u8 {
                let body = RigidBodyBuilder::dynamic()
                    .translation(vector(0.0, f32::from(i), 0.0))
                    .linvel(Vector::X * (0.5 + f32::from(i * i) * 4.0))
                    .can_sleep(false);
                physics.insert(body, ColliderBuilder::ball(0.1).sensor(true));
            }
        }
        Scene::Chain => {
            for i in 0..5u8 {
                let body = RigidBodyBuilder::dynamic().pose(translation(f32::from(i), 5.0, 0.0));
                physics.insert(body, ColliderBuilder::ball(0.3));
            }
            let mut shelf = Default::default();
            let mut player = Player::default();
            for i in 1..5 {
                let joint = if i < 3 { Joint::Link } else { Joint::Socket };
                let join = Action::Body(i, OnBody::Join(i + 1, joint));
                super::action::act(join, &mut Reach::Physics(physics), &mut shelf, &mut player);
            }
        }
        Scene::Crowd => {
            // A row of sensors, which turns among those below.
            let row = RigidBodyBuilder::dynamic().gravity_scale(0.0);
            let row = row.translation(Vector::Y).angvel(spin(0.0, 0.0, 8.0));
            let row = physics.insert(
                row.can_sleep(false),
                ColliderBuilder::ball(0.1).sensor(true),
            );
            for i in 1..20u8 {
                let at = Vector::X * 0.2 * f32::from(i);
                let sensor = ColliderBuilder::ball(0.05).sensor(true).translation(at);
                physics.insert_collider(row, sensor).expect("it is alive");
            }
            for i in 0..24i8 {
                spawn(physics, Body::Ball, 2 * i - 24);
            }
            // Sensors without bodies, so that a step has many events and few bodies.
            for i in 0..200u8 {
                let (x, y) = (f32::from(i % 40), f32::from(i / 40));
                let at = vector(0.25 * x - 5.0, 0.5 * y + 0.2, 0.0);
                let sensor = cuboid(0.1, 0.2, 3.0).translation(at).sensor(true);
                let sensor = sensor.active_events(ActiveEvents::COLLISION_EVENTS);
                physics.rapier_mut().insert_collider(sensor, None);
            }
        }
    }
    simulation
}
