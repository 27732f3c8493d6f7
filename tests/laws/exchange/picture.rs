//! The model: a renderer that knows only the lists of the frames, and a memory of the last step in each state.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use evenstep::ecs::{EntityMap, Host};
use evenstep::rapier::prelude::*;
use evenstep::threads::View;
use evenstep::{BodyKey, Physics, Simulation};

use super::MS;

/// The poses before the last step, and before the next one. It is a resource of the state, so it is copied, exchanged
/// and rolled back with the state.
#[derive(Clone, Default)]
pub struct Memory {
    last: BTreeMap<BodyKey, Pose>,
    next: BTreeMap<BodyKey, Pose>,
    /// The simulated time before the next step.
    time: Duration,
    /// The bodies whose smoothing has changed. They may be displayed at another time.
    smoothed: BTreeSet<BodyKey>,
}

impl Memory {
    pub fn of(physics: &mut Physics) -> &mut Self {
        let resources = physics.resources_mut();
        if resources.get::<Self>().is_none() {
            resources.insert(Self::default());
        }
        resources.get_mut().expect("it was inserted")
    }

    /// Stores the poses before a step.
    pub fn begin_step(physics: &mut Physics) {
        let now = physics.bodies();
        let now = now.map(|(key, body)| (key, *body.position())).collect();
        let time = physics.time();
        let memory = Self::of(physics);
        if time > memory.time {
            // The step that was to be the next one has run.
            memory.last = std::mem::take(&mut memory.next);
        }
        (memory.next, memory.time) = (now, time);
    }

    /// Forgets the poses of a body that is teleported.
    pub fn forget(&mut self, key: BodyKey) {
        self.last.remove(&key);
        self.next.remove(&key);
    }

    pub fn smooth(&mut self, key: BodyKey) {
        self.smoothed.insert(key);
    }

    pub fn shift_origin(&mut self, by: Vector) {
        for pose in self.last.values_mut().chain(self.next.values_mut()) {
            pose.translation -= by;
        }
    }

    /// Returns the pose of a body before the last step, unless it was teleported since.
    fn before(&self, physics: &Physics, key: BodyKey) -> Option<Pose> {
        let has_run = physics.time() > self.time;
        let poses = if has_run { &self.next } else { &self.last };
        poses.get(&key).copied()
    }
}

/// The picture of a loop, drawn from the lists of its frames, and the entities of its bodies.
#[derive(Default)]
pub struct Picture {
    drawn: BTreeMap<BodyKey, Pose>,
    entities: EntityMap<u64>,
    /// The poses of the entities.
    written: BTreeMap<u64, Pose>,
    entities_so_far: u64,
    /// The displayed time of the last picture.
    time: Duration,
    /// The simulated time of the state in the last picture.
    state_time: Duration,
    /// In how many of the next pictures the displayed time may go back, because the loop has got another state.
    jumps: u8,
    /// Whether the simulation was assigned, so the renderer has to write all poses once.
    is_other: bool,
    /// Whether the loop has run a step since it got the state.
    has_stepped: bool,
}

impl Picture {
    /// Expects another state, or another time.
    pub fn jump(&mut self) {
        (self.jumps, self.has_stepped) = (self.jumps.max(1), false);
    }

    /// Expects another time in the next frame, which may be the one after the present frame.
    pub fn jump_next(&mut self) {
        self.jump();
        self.jumps = 2;
    }

    /// Expects that steps run again.
    pub fn go_back(&mut self) {
        self.has_stepped = false;
    }

    /// Expects another simulation, while the last one exists. A copy of the map is not tied to the last one.
    pub fn replace(&mut self) {
        self.jump();
        self.entities = self.entities.clone();
        self.is_other = true;
    }

    /// Checks that a copy displays everything. The renderer of a copied simulation writes all poses once.
    pub fn check_copy(mut copy: Simulation) {
        let mut picture = Self {
            is_other: copy.frame().number > 0,
            ..Self::default()
        };
        for ms in [0, 25, 7] {
            copy.advance(MS(ms), |physics, _| Memory::begin_step(physics));
            picture.draw_simulation(&copy);
        }
    }

    /// Draws a picture from its lists, and syncs the entities with it.
    fn draw(
        &mut self,
        moved: &[(BodyKey, Pose)],
        removed: &[BodyKey],
        pose: &dyn Fn(BodyKey) -> Option<Pose>,
        host: &impl Host,
    ) {
        for key in removed {
            self.drawn.remove(key);
        }
        for (key, pose) in moved {
            assert!(pose.is_finite());
            self.drawn.insert(*key, *pose);
        }
        for (key, drawn) in &self.drawn {
            assert_eq!(Some(*drawn), pose(*key), "{key:?} is drawn");
        }
        for entity in self.entities.take_removed(host) {
            self.written.remove(&entity);
        }
        for key in self.drawn.keys() {
            if self.entities.entity(*key).is_none() {
                self.entities_so_far += 1;
                self.entities.insert(*key, self.entities_so_far);
            }
        }
        self.written.extend(self.entities.moved(host));
    }

    /// Checks that the entities are where their bodies are drawn. Bodies that were removed after the picture have none.
    fn check_entities(&self, is_alive: &dyn Fn(BodyKey) -> bool) {
        let alive = self.drawn.iter().filter(|(key, _)| is_alive(**key));
        let expected: BTreeMap<_, _> = alive
            .map(|(key, pose)| (self.entities.entity(*key).expect("it has an entity"), *pose))
            .collect();
        assert_eq!(self.written, expected);
    }

    fn check_time(&mut self, time: Duration) {
        let may_go_back = self.jumps > 0;
        self.jumps = self.jumps.saturating_sub(1);
        assert!(
            may_go_back || time >= self.time,
            "{time:?} after {:?}",
            self.time
        );
        self.time = time;
    }

    /// Draws and checks the frame of a loop in one thread that has just ended.
    pub fn draw_simulation(&mut self, simulation: &Simulation) {
        let (physics, frame, clock) = (&simulation.physics, simulation.frame(), simulation.clock());
        let pose = |key| simulation.pose(key);
        let is_held = simulation.steps_to_resimulate() > 0;
        if is_held {
            assert!(simulation.moved().is_empty() && simulation.removed().is_empty());
        }
        if self.is_other {
            if is_held {
                // The renderer waits for the first picture of the other simulation.
                return;
            }
            let all = self.drawn.keys().copied();
            let all = all.chain(physics.bodies().map(|(key, _)| key));
            self.drawn = all.filter_map(|key| Some((key, pose(key)?))).collect();
            self.is_other = false;
        }
        self.draw(simulation.moved(), simulation.removed(), &pose, simulation);
        self.check_entities(&|key| physics.handle(key).is_some());
        if is_held {
            return;
        }
        assert_eq!((frame.tick, clock.tick()), (physics.tick(), physics.tick()));
        assert!(clock.time() >= physics.time());
        assert!((0.0..=1.0).contains(&frame.alpha));
        let state_time = std::mem::replace(&mut self.state_time, physics.time());
        if frame.resimulated > 0 && physics.time() < state_time {
            // The rollback has undone a correction by a state of a later time.
            self.jump();
        }
        // Steps may have been resimulated before the jump.
        self.has_stepped |= frame.steps > 0 || (frame.resimulated > 0 && self.jumps == 0);
        self.check_time(frame.time);
        self.check_bodies(physics);
        for key in self.drawn.keys() {
            self.check_path(simulation, *key);
        }
    }

    /// Checks that exactly the bodies of this state are drawn.
    fn check_bodies(&self, physics: &Physics) {
        let alive: BTreeSet<_> = physics.bodies().map(|(key, _)| key).collect();
        assert_eq!(self.drawn.keys().copied().collect::<BTreeSet<_>>(), alive);
    }

    /// Checks that a body is displayed between its poses before and after the last step, at the fraction `alpha`.
    fn check_path(&self, simulation: &Simulation, key: BodyKey) {
        let physics = &simulation.physics;
        let memory = physics.resources().get::<Memory>();
        let memory = memory.filter(|memory| !memory.smoothed.contains(&key));
        let before = memory.and_then(|memory| memory.before(physics, key));
        let (Some(before), Some(body)) = (before, physics.body(key)) else {
            return;
        };
        let shown = simulation.pose(key).expect("it is drawn").translation;
        let error = simulation.visual_error(key);
        let shown = shown - error.map_or(Vector::ZERO, |error| error.translation);
        let (before, now) = (before.translation, body.translation());
        let expected = before + simulation.frame().alpha * (now - before);
        let off = (shown - expected).length();
        // A copy may hold only the last pose.
        let is_at_last = !self.has_stepped && (shown - now).length() < 1e-3;
        assert!(
            off < 1e-3 || is_at_last,
            "{key:?} is displayed at {shown}, not at {expected} between {before} and {now}, with the error {error:?}"
        );
    }

    /// Draws and checks a picture of a loop on another thread, which displays a jump later.
    pub fn draw_view<E>(&mut self, view: &View<E>, host: &impl Host) {
        self.is_other = false;
        self.draw(view.moved(), view.removed(), &|key| view.pose(key), host);
        self.check_entities(&|_| true);
        let jumps = self.jumps;
        self.check_time(view.time());
        self.jumps = jumps;
    }

    /// Checks that a loop on another thread, which is at rest, displays its state.
    pub fn check_rest(&mut self, physics: &Physics) {
        self.jumps = 0;
        self.check_bodies(physics);
        for (key, drawn) in &self.drawn {
            let body = physics.body(*key).expect("it is alive");
            let off = (drawn.translation - body.translation()).length();
            assert!(off < 1e-3, "{key:?} is {off} m off");
        }
    }
}
