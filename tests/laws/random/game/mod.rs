//! Random games: bodies and joints of every kind, and actions by tick.

mod script;

use crate::scenes::testing::{ball_joint, cuboid, hinge, pose, spin, vector};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

pub use script::game;

use crate::scenes::hash;

/// The number of ticks that have actions.
pub const TICKS: u64 = 60;

#[derive(Clone, Debug)]
pub struct Game {
    has_floor: bool,
    bodies: Vec<Member>,
    joints: Vec<Joint>,
    deeds: Vec<(u64, Deed)>,
}

#[derive(Clone, Debug)]
struct Member {
    kind: RigidBodyType,
    at: Vector,
}

#[derive(Clone, Debug)]
struct Joint {
    ends: [usize; 2],
    kind: JointKind,
    is_multibody: bool,
}

#[derive(Clone, Copy, Debug)]
enum JointKind {
    Spherical,
    Revolute,
    Fixed,
    Rope,
}

/// How a game accesses a body.
#[derive(Clone, Copy, Debug)]
enum Way {
    Body,
    Physics,
    PhysicsFor,
}

/// A game's action on the body of this number.
#[derive(Clone, Debug)]
enum Deed {
    Sleep(usize),
    Wake(usize, bool),
    /// Wakes the body through Rapier's islands, without access to the body.
    WakeByIslands(usize, bool),
    WakeAll,
    SetGravity(Vector),
    Push(usize, Vector),
    Twist(usize, AngVector),
    Put(usize, Vector, Way),
    Teleport(usize, Vector),
    SetVelocity(usize, Vector),
    Enable(usize, bool),
    /// A target that is reached after this many milliseconds.
    Lead(usize, Vector, u64),
    SetKind(usize, RigidBodyType),
    Insert(Vector),
    Remove(usize, Way),
    RemoveJoint(usize),
    Connect(Joint),
    /// Cuts a multibody above the body of this number, by removing the joint or the body above. The loose end is moved
    /// before the next step.
    Cut(usize, Cut, Pose),
}

#[derive(Clone, Copy, Debug)]
enum Cut {
    Joint,
    Body,
}

/// The kinds of actions in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deeds {
    /// Much sleep.
    Sleep,
    /// Everything.
    All,
    /// Everything, with extreme torques.
    Wild,
}

/// The simulation of a game, and its bodies. The game's actions depend on the tick alone, so a copy continues in the
/// same way.
#[derive(Clone)]
pub struct Run {
    pub simulation: Simulation,
    game: Arc<Game>,
    /// The bodies, in order of insertion.
    pub keys: Vec<BodyKey>,
    /// All bits before each step.
    pub before: Vec<u64>,
}

/// Games that once broke a law.
impl Game {
    fn row(bodies: u8, is_multibody: bool, deeds: Vec<(u64, Deed)>) -> Self {
        let member = |i| Member {
            kind: RigidBodyType::Dynamic,
            at: vector(f32::from(i), 1.0, 0.1 * f32::from(i % 2)),
        };
        let joint = |i| Joint {
            ends: [i, i + 1],
            kind: JointKind::Spherical,
            is_multibody,
        };
        Self {
            has_floor: true,
            bodies: (0..bodies).map(member).collect(),
            joints: (0..usize::from(bodies) - 1).map(joint).collect(),
            deeds,
        }
    }

    /// A body with joints is put to sleep, and woken by a contact.
    pub fn with_a_body_put_to_sleep() -> Self {
        Self::row(3, false, vec![(20, Deed::Sleep(1))])
    }

    /// A body with joints becomes fixed in motion.
    pub fn with_a_body_that_becomes_fixed() -> Self {
        let push = Deed::Push(2, vector(-3.0, 9.0, 5.0));
        let stop = Deed::SetKind(0, RigidBodyType::Fixed);
        Self::row(3, false, vec![(3, push), (15, stop)])
    }

    /// The root of a multibody is teleported through Rapier.
    pub fn with_a_moved_root() -> Self {
        let put = Deed::Put(0, Vector::Y * 3.0, Way::Body);
        let mut game = Self::row(5, false, vec![(0, put)]);
        game.joints[0].is_multibody = true;
        game
    }

    /// A rope is cut, and its loose end goes through a portal.
    pub fn with_a_detached_link() -> Self {
        let by = pose(vector(3.0, 2.0, -1.0), spin(0.4, -1.0, 0.2));
        let cut = |tick, link, cut| (tick, Deed::Cut(link, cut, by));
        Self::row(8, true, vec![cut(4, 6, Cut::Joint), cut(9, 2, Cut::Body)])
    }

    /// A link gets a pose that is not finite, and its root is teleported.
    pub fn with_a_non_finite_link() -> Self {
        let twist = Deed::Twist(1, spin(1e30, -1e30, 1e30));
        Self::row(2, true, vec![(5, twist), (7, Deed::Teleport(0, Vector::Y))])
    }
}

impl Game {
    pub fn run(&self) -> Run {
        let mut simulation = Simulation::new(Rate::hz(60));
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        if self.has_floor {
            let floor = RigidBodyBuilder::fixed().translation(Vector::Y * -1.0);
            simulation.physics.insert(floor, cuboid(50.0, 0.5, 50.0));
        }
        let mut run = Run {
            simulation,
            game: Arc::new(self.clone()),
            keys: Vec::new(),
            before: Vec::new(),
        };
        for member in &self.bodies {
            run.insert(RigidBodyBuilder::new(member.kind).translation(member.at));
        }
        for joint in &self.joints {
            run.connect(joint);
        }
        run
    }
}

impl Run {
    /// Carries out the actions before the step, and records the bits before it.
    pub fn act(&mut self, step: Step) {
        let game = Arc::clone(&self.game);
        for (tick, deed) in &game.deeds {
            if *tick == step.tick {
                self.do_one(deed);
            }
        }
        self.before.push(hash(self.simulation.physics.rapier()));
    }

    /// Calls [`act`](Self::act) in a hook, where the caller has the physics.
    pub fn act_on(&mut self, physics: &mut Physics, step: Step) {
        std::mem::swap(physics, &mut self.simulation.physics);
        self.act(step);
        std::mem::swap(physics, &mut self.simulation.physics);
    }

    /// Pushes a body between two frames.
    pub fn push(&self, physics: &mut Physics, chance: u64) {
        let push = Vector::Y * (chance % 5) as f32;
        let _ = physics.apply_impulse(self.key(chance as usize), push);
        let twist = Vector::X * (chance % 3) as f32;
        if let Some(body) = physics.body_mut(self.key(chance as usize / 7)) {
            body.set_linvel(twist, true);
        }
    }

    /// Runs the next step. Returns `None` if Rapier panics in it.
    pub fn try_step(&mut self) -> Option<()> {
        let time = Duration::from_secs(1) / 60 + Duration::from_nanos(1);
        self.simulation.begin_frame(time);
        while let Some(step) = self.simulation.next_step() {
            // Only the step is Rapier's. A panic in an action is a defect.
            self.act(step);
            catch_unwind(AssertUnwindSafe(|| self.simulation.run_step())).ok()?;
        }
        self.simulation.end_frame();
        Some(())
    }

    /// Runs one step.
    pub fn step(&mut self) {
        self.frame(60);
    }

    /// Runs a frame at this many frames per second.
    pub fn frame(&mut self, fps: u32) {
        let time = Duration::from_secs(1) / fps + Duration::from_nanos(1);
        self.simulation.begin_frame(time);
        self.run_steps();
        self.simulation.end_frame();
    }

    /// Runs the due steps.
    pub fn run_steps(&mut self) {
        while let Some(step) = self.simulation.next_step() {
            self.act(step);
            self.simulation.run_step();
        }
    }

    fn insert(&mut self, body: RigidBodyBuilder) {
        let key = self
            .simulation
            .physics
            .insert(body, ColliderBuilder::ball(0.4));
        self.keys.push(key);
    }

    fn key(&self, index: usize) -> BodyKey {
        self.keys[index % self.keys.len()]
    }

    fn connect(&mut self, joint: &Joint) {
        let ends = joint
            .ends
            .map(|index| self.simulation.physics.handle(self.key(index)));
        let [Some(one), Some(other)] = ends else {
            return;
        };
        if one == other {
            return;
        }
        let data: GenericJoint = match joint.kind {
            JointKind::Spherical => ball_joint(Vector::X * 0.5, Vector::X * -0.5),
            JointKind::Revolute => hinge()
                .local_anchor1(Vector::X * 0.5)
                .local_anchor2(Vector::X * -0.5)
                .into(),
            JointKind::Fixed => FixedJointBuilder::new()
                .local_anchor1(Vector::X * 0.5)
                .local_anchor2(Vector::X * -0.5)
                .into(),
            JointKind::Rope => RopeJointBuilder::new(1.5).into(),
        };
        let physics = self.simulation.physics.rapier_mut_except_bodies();
        // Rapier panics for a link that is not dynamic, and for joints whose ends are disabled.
        let are_enabled = [one, other]
            .iter()
            .all(|end| physics.bodies[*end].is_enabled());
        let is_dynamic = are_enabled && physics.bodies[other].is_dynamic();
        if !joint.is_multibody {
            physics.insert_impulse_joint(one, other, data);
        } else if is_dynamic && physics.multibody_joints.rigid_body_link(other).is_none() {
            physics.insert_multibody_joint(one, other, data);
        }
    }

    /// Returns a body, with the game's kind of access.
    fn reach(&mut self, index: usize, way: Way) -> Option<&mut RigidBody> {
        let key = self.key(index);
        let handle = self.simulation.physics.handle(key)?;
        match way {
            Way::Body => self.simulation.physics.body_mut(key),
            Way::Physics => self.simulation.physics.rapier_mut().bodies.get_mut(handle),
            Way::PhysicsFor => self
                .simulation
                .physics
                .rapier_mut_for(&[key])
                .bodies
                .get_mut(handle),
        }
    }

    /// Returns whether the body is a link other than the root.
    fn is_dependent(&self, index: usize) -> bool {
        let joints = &self.simulation.physics.rapier().multibody_joints;
        let handle = self.simulation.physics.handle(self.key(index));
        let link = handle.and_then(|handle| joints.rigid_body_link(handle));
        link.is_some_and(|link| link.id != 0)
    }

    fn is_link(&self, index: usize) -> bool {
        let joints = &self.simulation.physics.rapier().multibody_joints;
        let handle = self.simulation.physics.handle(self.key(index));
        handle.is_some_and(|handle| joints.rigid_body_link(handle).is_some())
    }

    /// Cuts a multibody above one of its links. The link is then the root of a detached multibody.
    fn cut(&mut self, link: RigidBodyHandle, cut: Cut) {
        let physics = self.simulation.physics.rapier_mut_except_bodies();
        let mut joints = physics.multibody_joints.attached_joints(link);
        let Some((above, _, joint)) = joints.find(|(_, below, _)| *below == link) else {
            return;
        };
        drop(joints);
        let key = self.simulation.physics.key(above);
        match (cut, key) {
            (Cut::Body, Some(key)) => drop(self.simulation.physics.remove(key)),
            _ => {
                let physics = self.simulation.physics.rapier_mut_except_bodies();
                physics.remove_multibody_joint(joint);
            }
        }
    }

    fn do_one(&mut self, deed: &Deed) {
        match *deed {
            Deed::Sleep(index) => {
                if let Some(body) = self.reach(index, Way::Body) {
                    body.sleep();
                }
            }
            Deed::Wake(index, is_strong) => {
                if let Some(body) = self.reach(index, Way::Body) {
                    body.wake_up(is_strong);
                }
            }
            Deed::WakeByIslands(index, is_strong) => {
                if let Some(handle) = self.simulation.physics.handle(self.key(index)) {
                    self.simulation
                        .physics
                        .rapier_mut_except_bodies()
                        .wake_up(handle, is_strong);
                }
            }
            Deed::WakeAll => self.simulation.physics.wake_up_all(),
            Deed::SetGravity(gravity) => self.simulation.physics.set_gravity(gravity).unwrap(),
            Deed::Push(index, by) => {
                let _ = self.simulation.physics.apply_impulse(self.key(index), by);
            }
            Deed::Twist(index, by) => {
                let _ = self.simulation.physics.add_torque(self.key(index), by);
            }
            Deed::Put(index, to, way) => {
                if let Some(body) = self.reach(index, way) {
                    body.set_position(Pose::from_translation(to), true);
                }
            }
            Deed::Teleport(index, to) => {
                let _ = self
                    .simulation
                    .physics
                    .teleport(self.key(index), Pose::from_translation(to));
            }
            Deed::SetVelocity(index, velocity) => {
                if let Some(body) = self.reach(index, Way::Body) {
                    body.set_linvel(velocity, true);
                }
            }
            Deed::Enable(index, is_enabled) => {
                // Rapier panics in a joint of a link that is disabled.
                if !self.is_link(index)
                    && let Some(body) = self.reach(index, Way::Body)
                {
                    body.set_enabled(is_enabled);
                }
            }
            Deed::Lead(index, to, ms) => {
                let key = self.key(index);
                let physics = &mut self.simulation.physics;
                let time = physics.time() + Duration::from_millis(ms);
                let _ = physics.set_kinematic_target(key, Pose::from_translation(to), time);
            }
            Deed::SetKind(index, kind) => {
                // Rapier panics for a link that is not dynamic, unless it is the root.
                if !self.is_dependent(index)
                    && let Some(body) = self.reach(index, Way::Body)
                {
                    body.set_body_type(kind, true);
                }
            }
            Deed::Insert(at) => self.insert(RigidBodyBuilder::dynamic().translation(at)),
            Deed::Remove(index, way) => {
                let key = self.key(index);
                let Some(handle) = self.simulation.physics.handle(key) else {
                    return;
                };
                match way {
                    Way::Body => drop(self.simulation.physics.remove(key)),
                    Way::Physics => drop(self.simulation.physics.rapier_mut().remove_body(handle)),
                    Way::PhysicsFor => {
                        self.simulation
                            .physics
                            .rapier_mut_for(&[key])
                            .remove_body(handle);
                    }
                }
            }
            Deed::RemoveJoint(index) => {
                let physics = self.simulation.physics.rapier_mut_except_bodies();
                let joint = physics
                    .impulse_joints()
                    .map(|(handle, _)| handle)
                    .nth(index);
                if let Some(joint) = joint {
                    physics.remove_impulse_joint(joint);
                }
            }
            Deed::Connect(ref joint) => self.connect(joint),
            Deed::Cut(index, cut, by) => {
                if let Some(handle) = self.simulation.physics.handle(self.key(index)) {
                    self.cut(handle, cut);
                    let _ = self.simulation.physics.teleport_by(self.key(index), by);
                }
            }
        }
    }
}
