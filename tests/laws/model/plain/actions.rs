//! How the actions of a script change the plain map.

use super::*;
use evenstep::rewind::Kept;

/// # Actions
impl Model {
    pub(super) fn born(&mut self, physics: &Physics, key: BodyKey, pose: Pose) {
        self.keys.push(key);
        // For a body that is born in a hook before a step, the first known state is the one after that step.
        let is_before_step = physics.current_step().is_some();
        let body = Body {
            way: Way::at_rest(pose),
            stepped: None,
            begun: None,
            ways: BTreeMap::new(),
            since: physics.tick() + u64::from(is_before_step),
            is_since_known: self.history > 2,
            smoothing: None,
            left_at: pose,
            was_teleported: false,
            was_turned: false,
            is_new: true,
            start: (pose, None),
            may_be_unseen: false,
            is_lost: false,
            lost_until: None,
            is_rounded: false,
            is_altered: false,
            begins_at: None,
        };
        self.bodies.insert(key, body);
    }

    pub(super) fn died(&mut self, key: BodyKey) {
        self.keys.retain(|other| *other != key);
        self.bodies.remove(&key);
        self.dead.push(key);
        self.forget_all(key);
    }

    pub fn act(&mut self, game: &mut impl Reach, action: &Action) {
        let physics = game.physics();
        match action {
            Action::Spawn { kind, x } => self.spawn(physics, *kind, *x),
            Action::Track { x } => {
                let at = translation(*x, 8.0, 0.0);
                let body = RigidBodyBuilder::dynamic().pose(at);
                let handle = physics.rapier_mut().insert_body(body);
                let key = physics.track(handle).unwrap();
                self.born(physics, key, at);
            }
            Action::ShiftOrigin(x) => self.shift_origin(physics, vector(*x, 3.0, -*x)),
            Action::SetGravity(x) => physics.set_gravity(vector(*x, -9.81, 0.0)).unwrap(),
            Action::WakeAll => physics.wake_up_all(),
            Action::Set(setting) => {
                if let Some(simulation) = game.simulation() {
                    self.set(simulation, setting);
                }
            }
            Action::To(i, deed) => {
                if let Some(key) = self.keys.get(i % self.keys.len().max(1)) {
                    let key = *key;
                    self.act_on(physics, key, deed);
                    if let Some(body) = self.bodies.get_mut(&key) {
                        body.may_be_unseen |= physics.body(key).unwrap().is_sleeping();
                    }
                }
            }
        }
    }

    pub(super) fn spawn(&mut self, physics: &mut Physics, kind: Kind, x: f32) {
        let at = translation(x, 1.0 + x.abs(), 0.3 * x);
        let spin = spin(9.0, x, 1.0);
        let body = match kind {
            Kind::Fixed => RigidBodyBuilder::fixed(),
            Kind::Asleep => RigidBodyBuilder::dynamic().sleeping(true),
            Kind::Spinner | Kind::Hammer => RigidBodyBuilder::dynamic().angvel(spin),
            Kind::Bullet => RigidBodyBuilder::dynamic()
                .ccd_enabled(true)
                .linvel(Vector::Y * -600.0),
            Kind::Conveyor => RigidBodyBuilder::kinematic_velocity_based()
                .linvel(Vector::X)
                .angvel(spin),
            Kind::Platform | Kind::Door => RigidBodyBuilder::kinematic_position_based(),
        };
        let off = match kind {
            Kind::Hammer | Kind::Door | Kind::Conveyor => vector(0.5, 0.0, 0.2),
            _ => Vector::ZERO,
        };
        let ball = ColliderBuilder::ball(0.4).translation(off);
        let key = physics.insert(body.pose(at), ball);
        // A body that slows down falls asleep after a few steps. It never wakes and falls asleep again within one step.
        let body = physics.body_mut(key).unwrap();
        body.activation_mut().time_until_sleep = 0.06;
        body.activation_mut().normalized_linear_threshold = 0.5;
        self.born(physics, key, at);
    }

    pub(super) fn shift_origin(&mut self, physics: &mut Physics, origin: Vector) {
        self.detect_edits(physics);
        physics.shift_origin(origin).unwrap();
        let tick = physics.tick();
        let is_before_step = physics.current_step().is_some();
        let is_within_step = is_before_step || self.is_after_step;
        let by = Pose::from_translation(-origin);
        if is_before_step {
            self.shifted = Some(by * self.shifted.unwrap_or(Pose::IDENTITY));
        }
        for key in self.alive() {
            let body = self.bodies.get_mut(&key).unwrap();
            if let Some(stepped) = &mut body.stepped {
                stepped.transform(&by);
            }
            if !is_within_step {
                body.begin_at(tick);
            }
            if let Some(way) = body.ways.get_mut(&tick).filter(|_| !is_before_step) {
                way.transform(&by);
            }
            self.transform(key, &by, tick);
            if !is_within_step {
                self.forget_all(key);
            }
        }
    }

    /// The body was moved together with its motion. Earlier motions stay unchanged.
    pub(super) fn transform(&mut self, key: BodyKey, by: &Pose, tick: u64) {
        let body = self.bodies.get_mut(&key).unwrap();
        body.way.transform(by);
        body.left_at = by * body.left_at;
        body.begins_at = body.begins_at.map(|pose| by * pose);
        self.forget_current(key, tick);
    }

    pub(super) fn set(&mut self, simulation: &mut Simulation, setting: &Setting) {
        match *setting {
            Setting::Smoothing(smoothing) => {
                simulation.smoothing = smoothing;
                // The loop passes the setting on in its next call. This call does nothing else, because that tick is
                // not kept.
                let _ = simulation.rewind(u64::MAX);
                self.smoothing = smoothing;
                self.expect_dt(simulation);
            }
            Setting::History(states) => {
                simulation.keep(Kept {
                    poses: states,
                    ..simulation.kept()
                });
                self.set_history(states, simulation.physics.tick());
            }
            Setting::Tick(tick) => {
                simulation.set_tick(tick);
                self.new_tick = Some(tick);
            }
            Setting::Hz(hz) => simulation.clock_settings_mut().set_rate(Rate::hz(hz)),
            Setting::Pause => simulation.pause(),
            Setting::Resume => {
                simulation.resume();
                self.asks_for_step = false;
            }
            Setting::StepOnce => {
                simulation.step_once();
                self.asks_for_step = simulation.clock().settings().is_paused();
            }
            Setting::Speed(speed) => simulation.clock_settings_mut().set_speed(speed).unwrap(),
            Setting::Stepping(i) => simulation.clock_settings_mut().set_stepping(STEPPINGS[i]),
            Setting::MaxSteps(most) => simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(most),
        }
    }

    /// States that were discarded or never kept do not become known again.
    pub(super) fn set_history(&mut self, states: u64, tick: u64) {
        let kept = self.history.max(2) - 1;
        self.history = states;
        for body in self.bodies.values_mut() {
            body.is_since_known = false;
            if states <= 2 {
                body.ways.clear();
            } else {
                body.since = body.since.max((tick + 1).saturating_sub(kept));
                if !body.is_new {
                    let way = body.begun.or(body.stepped).unwrap_or(body.way);
                    body.ways.entry(tick).or_insert(way);
                }
            }
        }
    }

    pub(super) fn act_on(&mut self, physics: &mut Physics, key: BodyKey, deed: &Deed) {
        let handle = physics.handle(key).unwrap();
        let rapiers = &physics.rapier().bodies[handle];
        let (position, collider) = (*rapiers.position(), rapiers.colliders().first().copied());
        let to = |x: f32| pose(vector(x, 6.0, -x), spin(0.1 * x, 0.2, 0.0));
        match *deed {
            Deed::Remove => {
                physics.remove(key).unwrap();
                self.died(key);
            }
            Deed::RemoveThroughRapier => {
                physics.rapier_mut().remove_body(handle).unwrap();
                self.died(key);
            }
            Deed::Teleport(x) => {
                physics.teleport(key, to(x)).unwrap();
                let body = self.bodies.get_mut(&key).unwrap();
                body.stepped.get_or_insert(body.way);
                body.way.put(to(x));
                body.way.previous = to(x);
                body.way.before = Velocity::default();
                body.way.before_waking = None;
                body.way.after = Velocity::default();
                body.was_teleported = true;
                body.begins_at = None;
                self.forget_current(key, physics.tick());
            }
            Deed::TeleportBy(x) => {
                let by = pose(vector(x, 1.0, 0.0), spin(0.0, 0.1 * x, 0.0));
                let result = physics.teleport_by(key, by);
                if position.is_finite() {
                    assert_eq!(result, Ok(()));
                    let body = self.bodies.get_mut(&key).unwrap();
                    body.stepped.get_or_insert(body.way);
                    self.transform(key, &by, physics.tick());
                    self.bodies.get_mut(&key).unwrap().was_turned = true;
                } else {
                    assert_eq!(result, Err(BodyError::NotFinite(key)));
                }
            }
            Deed::Put(part, x, how) => {
                self.bodies.get_mut(&key).unwrap().begins_at = None;
                let body = access(physics, key, how);
                // Half of these edits do not wake the body, so only the loop's own check can detect them.
                match part {
                    Part::Whole => body.set_position(to(x), x > 0.0),
                    Part::Translation => body.set_translation(to(x).translation, x > 0.0),
                    Part::Rotation => body.set_rotation(to(x).rotation, x > 0.0),
                }
            }
            Deed::Push => {
                physics.apply_impulse(key, PUSH).unwrap();
                self.pushes.push((key, PUSH));
            }
            Deed::SetVelocity(x, how) => {
                let body = access(physics, key, how);
                body.set_linvel(vector(0.1 * x, 2.0, 0.5), true);
                body.set_angvel(spin(0.5, x, 3.0), true);
            }
            Deed::Sleep(how) => access(physics, key, how).sleep(),
            Deed::Toggle => {
                let body = physics.body_mut(key).unwrap();
                body.set_enabled(!body.is_enabled());
            }
            Deed::NanVelocity => physics.body_mut(key).unwrap().set_linvel(Vector::NAN, true),
            Deed::NanPosition => {
                let body = physics.body_mut(key).unwrap();
                body.set_position(Pose::from_translation(Vector::NAN), true);
                let body = self.bodies.get_mut(&key).unwrap();
                (body.is_lost, body.begins_at) = (true, None);
            }
            Deed::SetType(i) => {
                let types = [
                    RigidBodyType::Dynamic,
                    RigidBodyType::Fixed,
                    RigidBodyType::KinematicPositionBased,
                    RigidBodyType::KinematicVelocityBased,
                ];
                let body = physics.body_mut(key).unwrap();
                body.set_body_type(types[usize::from(i)], true);
            }
            Deed::Target { x, ms } => {
                let is_led = is_led(&physics.rapier().bodies[handle]);
                let time = physics.time() + Duration::from_millis(ms);
                let result = physics.set_kinematic_target(key, to(x), time);
                assert_eq!(
                    result,
                    is_led.then_some(()).ok_or(BodyError::NotKinematic(key))
                );
            }
            Deed::SetNext(x) => {
                let body = physics.body_mut(key).unwrap();
                body.set_next_kinematic_position(to(x));
            }
            Deed::SetSmoothing(smoothing) => {
                physics.set_body_smoothing(key, smoothing).unwrap();
                self.bodies.get_mut(&key).unwrap().smoothing = smoothing;
                assert_eq!(physics.body_smoothing(key), smoothing);
            }
            Deed::ShowFrom(x) => {
                self.detect_edits(physics);
                physics.show_from(key, to(x)).unwrap();
                self.bodies.get_mut(&key).unwrap().begins_at = Some(to(x));
            }
            Deed::AddCollider(x) => {
                let ball = ColliderBuilder::ball(0.2).translation(vector(0.0, 0.0, 0.1 * x));
                physics.insert_collider(key, ball).unwrap();
            }
            Deed::RemoveCollider => {
                if let Some(collider) = collider {
                    physics.remove_collider(collider).unwrap();
                }
            }
        }
    }
}
