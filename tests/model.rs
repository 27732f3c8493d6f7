//! Random games against a plain map that copies every body before and after every step.

mod scenes;

use evenstep::rapier3d::prelude::*;
use evenstep::{BodyKey, Hooks, Rate, Simulation, Step, interpolate};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

/// What a game may do between two frames, or in a hook.
#[derive(Clone, Debug)]
enum Action {
    Spawn { kind: u8, x: f32 },
    Remove(usize),
    RemoveThroughRapier(usize),
    Track { x: f32 },
    Teleport(usize, f32),
    TeleportBy(usize, f32),
    ShiftOrigin(f32),
    SetPosition(usize, f32),
    SetPositionThroughRapier(usize, f32),
    Push(usize),
    Sleep(usize),
    Toggle(usize),
    Nan(usize),
}

fn action() -> impl Strategy<Value = Action> {
    let (x, which) = (-20.0..20.0f32, 0..64usize);
    prop_oneof![
        6 => (0..4u8, x.clone()).prop_map(|(kind, x)| Action::Spawn { kind, x }),
        3 => which.clone().prop_map(Action::Remove),
        1 => which.clone().prop_map(Action::RemoveThroughRapier),
        1 => x.clone().prop_map(|x| Action::Track { x }),
        2 => (which.clone(), x.clone()).prop_map(|(i, x)| Action::Teleport(i, x)),
        1 => (which.clone(), x.clone()).prop_map(|(i, x)| Action::TeleportBy(i, x)),
        1 => x.clone().prop_map(Action::ShiftOrigin),
        2 => (which.clone(), x.clone()).prop_map(|(i, x)| Action::SetPosition(i, x)),
        1 => (which.clone(), x).prop_map(|(i, x)| Action::SetPositionThroughRapier(i, x)),
        2 => which.clone().prop_map(Action::Push),
        2 => which.clone().prop_map(Action::Sleep),
        1 => which.clone().prop_map(Action::Toggle),
        1 => which.prop_map(Action::Nan),
    ]
}

#[derive(Clone, Debug)]
struct FrameScript {
    millis: u64,
    between: Vec<Action>,
    before: Vec<(u64, Action)>,
    after: Vec<(u64, Action)>,
}

fn frame() -> impl Strategy<Value = FrameScript> {
    let in_step = || prop::collection::vec((0..6u64, action()), 0..4);
    (
        0..60u64,
        prop::collection::vec(action(), 0..4),
        in_step(),
        in_step(),
    )
        .prop_map(|(millis, between, before, after)| FrameScript {
            millis,
            between,
            before,
            after,
        })
}

/// The model: everything is copied, always.
#[derive(Default)]
struct Model {
    keys: Vec<BodyKey>,
    pairs: BTreeMap<BodyKey, (Pose, Pose)>,
    before: BTreeMap<BodyKey, Pose>,
    shown: BTreeMap<BodyKey, Pose>,
    dead: Vec<BodyKey>,
}

impl Model {
    fn pick(&self, index: usize) -> Option<BodyKey> {
        (!self.keys.is_empty()).then(|| self.keys[index % self.keys.len()])
    }

    fn born(&mut self, key: BodyKey, pose: Pose) {
        self.keys.push(key);
        self.pairs.insert(key, (pose, pose));
    }

    fn died(&mut self, key: BodyKey) {
        self.keys.retain(|other| *other != key);
        self.pairs.remove(&key);
        self.shown.remove(&key);
        self.dead.push(key);
    }

    fn act(&mut self, simulation: &mut Simulation, action: &Action) {
        let picked = match *action {
            Action::Spawn { kind, x } => {
                let at = Pose::translation(x, 1.0 + x.abs(), 0.3 * x);
                let body = match kind {
                    0 => RigidBodyBuilder::fixed(),
                    1 => RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::X),
                    2 => RigidBodyBuilder::dynamic().sleeping(true),
                    _ => RigidBodyBuilder::dynamic().angvel(Vector::new(9.0, x, 1.0)),
                };
                let key = simulation.insert(body.pose(at), ColliderBuilder::ball(0.4));
                return self.born(key, at);
            }
            Action::Track { x } => {
                let at = Pose::translation(x, 8.0, 0.0);
                let body = RigidBodyBuilder::dynamic().pose(at);
                let handle = simulation.world_mut().insert_body(body);
                let key = simulation.track(handle).unwrap();
                return self.born(key, at);
            }
            Action::ShiftOrigin(x) => {
                let origin = Vector::new(x, 3.0, -x);
                simulation.shift_origin(origin).unwrap();
                let by = Pose::from_translation(-origin);
                for pair in self.pairs.values_mut() {
                    *pair = (by * pair.0, by * pair.1);
                }
                return;
            }
            Action::Remove(i)
            | Action::TeleportBy(i, _)
            | Action::RemoveThroughRapier(i)
            | Action::Teleport(i, _)
            | Action::SetPosition(i, _)
            | Action::SetPositionThroughRapier(i, _)
            | Action::Push(i)
            | Action::Sleep(i)
            | Action::Toggle(i)
            | Action::Nan(i) => self.pick(i),
        };
        let Some(key) = picked else { return };
        let handle = simulation.handle(key).unwrap();
        let to = |x: f32| Pose::translation(x, 6.0, -x);
        match *action {
            Action::Remove(_) => {
                simulation.remove(key).unwrap();
                self.died(key);
            }
            Action::RemoveThroughRapier(_) => {
                simulation.world_mut().remove_body(handle).unwrap();
                self.died(key);
            }
            Action::Teleport(_, x) => simulation.teleport(key, to(x)).unwrap(),
            Action::TeleportBy(_, x) => {
                let by = Pose::new(Vector::new(x, 1.0, 0.0), Vector::Y * 0.1 * x);
                simulation.teleport_by(key, by).unwrap();
                let pair = self.pairs.get_mut(&key).unwrap();
                *pair = (by * pair.0, by * pair.1);
            }
            Action::SetPosition(_, x) => {
                // Half of them without waking the body: nothing but we will look at it then.
                simulation
                    .get_mut(key)
                    .unwrap()
                    .set_position(to(x), x > 0.0);
            }
            Action::SetPositionThroughRapier(_, x) => {
                simulation.world_mut().bodies[handle].set_position(to(x), x > 0.0);
            }
            Action::Push(_) => simulation
                .apply_impulse(key, Vector::new(1.0, 2.0, 0.5))
                .unwrap(),
            Action::Sleep(_) => simulation.get_mut(key).unwrap().sleep(),
            Action::Toggle(_) => {
                let body = simulation.get_mut(key).unwrap();
                body.set_enabled(!body.is_enabled());
            }
            Action::Nan(_) => simulation
                .get_mut(key)
                .unwrap()
                .set_linvel(Vector::NAN, true),
            Action::Spawn { .. } | Action::Track { .. } | Action::ShiftOrigin(_) => unreachable!(),
        }
        // Whoever was put elsewhere is there, without a way.
        if let (Some(position), Some(pair)) = (position(simulation, key), self.pairs.get_mut(&key))
            && matches!(
                action,
                Action::Teleport(..)
                    | Action::SetPosition(..)
                    | Action::SetPositionThroughRapier(..)
            )
        {
            *pair = (position, position);
        }
    }
}

fn position(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.get(key).map(|body| *body.position())
}

struct Game<'a> {
    model: &'a mut Model,
    script: &'a FrameScript,
    first: u64,
}

impl Hooks for Game<'_> {
    type Error = Infallible;

    fn before_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Infallible> {
        for (_, action) in self
            .script
            .before
            .iter()
            .filter(|(i, _)| *i == step.tick - self.first)
        {
            self.model.act(simulation, action);
        }
        let keys = self.model.keys.iter();
        self.model.before = keys
            .map(|key| (*key, position(simulation, *key).unwrap()))
            .collect();
        Ok(())
    }

    fn after_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Infallible> {
        for key in &self.model.keys {
            let pair = (self.model.before[key], position(simulation, *key).unwrap());
            self.model.pairs.insert(*key, pair);
        }
        for (_, action) in self
            .script
            .after
            .iter()
            .filter(|(i, _)| *i == step.tick - self.first)
        {
            self.model.act(simulation, action);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_frame_shows_what_the_plain_map_shows(
        script in prop::collection::vec(frame(), 1..60),
    ) {
        let mut simulation = scenes::with_floor(Rate::hz(100).unwrap());
        // With several CCD substeps a body may still move in the step in which it falls asleep.
        simulation.world_mut().integration_parameters.max_ccd_substeps = 4;
        let mut model = Model::default();
        for frame in &script {
            for action in &frame.between {
                model.act(&mut simulation, action);
            }
            let first = simulation.tick();
            let mut game = Game { model: &mut model, script: frame, first };
            let Ok(done) = simulation.advance_with(Duration::from_millis(frame.millis), &mut game);

            let mut moved = BTreeMap::new();
            for key in &model.keys {
                let (previous, current) = model.pairs[key];
                prop_assert_eq!(simulation.previous(*key), Some(previous));
                prop_assert_eq!(simulation.current(*key), Some(current));
                let pose = interpolate(&previous, &current, done.alpha);
                prop_assert_eq!(simulation.pose(*key), Some(pose));
                if model.shown.insert(*key, pose) != Some(pose) {
                    moved.insert(*key, pose);
                }
            }
            let told: BTreeMap<_, _> = simulation.moved().iter().copied().collect();
            prop_assert_eq!(told.len(), simulation.moved().len(), "each body once");
            // The floor has a key too, and is told in the first frame.
            let told: BTreeMap<_, _> =
                told.into_iter().filter(|(key, _)| model.pairs.contains_key(key)).collect();
            prop_assert_eq!(told, moved);

            let mut dead = std::mem::take(&mut model.dead);
            let mut removed = simulation.removed().to_vec();
            dead.sort();
            removed.sort();
            prop_assert_eq!(removed, dead);
        }
    }
}
