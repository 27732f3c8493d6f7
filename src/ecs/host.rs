//! Types that have the bodies of entities, and types that display them. A body that was sent to a thread.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::events::Events;
use crate::key::{BodyKey, Id};
use crate::physics::Physics;
use crate::screen::Screen;
use crate::simulation::Simulation;
use rapier::math::{Pose, Vector};

/// A type that has the bodies of entities: a [`Physics`] in hooks, or a [`Simulation`] or
/// [`Runner`](crate::threads::Runner). It cannot be implemented for other types.
pub trait Bodies {
    /// Returns the present bodies, or the displayed ones if there is a picture.
    #[doc(hidden)]
    fn bodies_for_entities(&self) -> Picture<'_>;

    /// Removes a body at once, or in the next frame.
    #[doc(hidden)]
    fn remove_for_entities(&mut self, key: BodyKey);
}

/// A type that displays the bodies: a [`Simulation`], a [`Runner`](crate::threads::Runner) or an
/// [`Overlap`](crate::threads::Overlap), as of its last frame. It cannot be implemented for other types. Use it for
/// code that draws and plays sounds with any loop.
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// use evenstep::ecs::Host;
///
/// fn draw(host: &impl Host) {
///     for (key, pose) in host.moved() {
///         println!("{key:?} is at {}", pose.translation);
///     }
///     for hit in host.events().collisions().filter_map(|it| it.hit) {
///         println!("a sound at {}, {} m/s", hit.point, hit.speed());
///     }
/// }
/// # let mut simulation = evenstep::Simulation::default();
/// # simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
/// # simulation.advance(std::time::Duration::from_millis(20), |_, _| ());
/// # draw(&simulation);
/// ```
pub trait Host {
    /// Returns the pose at which to draw a body in this frame, or `None` if there is no such body or a view has not
    /// displayed it yet.
    fn pose(&self, key: BodyKey) -> Option<Pose>;

    /// Returns the bodies whose displayed poses changed since the previous frame.
    fn moved(&self) -> &[(BodyKey, Pose)];

    /// Returns the bodies that were removed since the previous frame.
    fn removed(&self) -> &[BodyKey];

    /// Returns the events that this frame is the first to display.
    fn events(&self) -> Events;

    /// Returns the tick at the end of the displayed step.
    fn tick(&self) -> u64;

    /// Returns the displayed position in that step, from 0 to 1.
    fn alpha(&self) -> f32;

    /// Returns the simulated time that this frame displays.
    fn time(&self) -> Duration;

    /// Returns how far the origin was shifted since the previous frame, in metres.
    fn origin_shift(&self) -> Vector;

    /// Returns the displayed bodies.
    #[doc(hidden)]
    fn picture_for_entities(&self) -> Picture<'_>;

    /// Removes bodies, or returns `false` if only hooks have them.
    #[doc(hidden)]
    fn remove_all_for_entities(&mut self, keys: &[BodyKey]) -> bool;
}

/// The part of a host that an [`EntityMap`](super::EntityMap) reads. It has no public name, which seals both traits.
#[derive(Clone, Copy, Debug)]
pub enum Picture<'a> {
    /// The bodies alone, in a hook.
    Physics(&'a Physics),
    /// All bodies, with the poses that frames display.
    Simulation(&'a Simulation),
    /// The displayed bodies. A body that was inserted recently is not among them yet.
    View {
        screen: &'a Screen,
        displayed: Option<StateNumber>,
        /// Bodies that an entity map has by now are in every state later than this one, until they are removed. This is
        /// the last state that was sent, or the number before it while no hook runs.
        newest: StateNumber,
        /// The bodies that exist now, if no thread has them.
        present: Option<&'a Physics>,
    },
}

/// A place in the order of all states that are sent to views, and of all insertions of bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateNumber(u64);

impl StateNumber {
    /// Returns a number that is greater than all before.
    pub fn next() -> Self {
        Self(Id::default().number())
    }

    /// Returns a number after all earlier states, for which this state itself is a later one.
    pub fn just_before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl<'a> Picture<'a> {
    /// Returns the pose of a body: the displayed one, except for a bare `Physics`.
    pub(super) fn pose(&self, key: BodyKey) -> Option<Pose> {
        match self {
            Self::Physics(physics) => physics.finite_position(key),
            // A removed body stays in the picture until the next one, but nothing can be attached to it.
            Self::Simulation(simulation) => {
                simulation.physics.handle(key)?;
                simulation.pose(key)
            }
            Self::View { screen, .. } => screen.pose(key),
        }
    }

    /// Returns whether a frame has displayed the body. Without a picture, as in a hook, none has.
    pub(super) fn displays(&self, key: BodyKey) -> bool {
        self.screen()
            .is_some_and(|screen| screen.has_displayed_body(key))
    }

    /// Returns the displayed poses, or `None` in a hook, where there are only the bodies.
    pub(super) fn screen(&self) -> Option<&'a Screen> {
        match self {
            Self::Physics(_) => None,
            Self::Simulation(simulation) => Some(simulation.screen()),
            Self::View { screen, .. } => Some(screen),
        }
    }

    /// Returns the screen, if its lists of moved and removed bodies are complete: applied to the bodies of an earlier
    /// frame, they lead to the present ones.
    pub(super) fn screen_with_lists(&self) -> Option<&'a Screen> {
        self.screen().filter(|screen| match self {
            // The lists lead to the bodies of the last picture. The present bodies are in another state while steps are
            // resimulated, and after an assignment of a state that the simulation does not know yet. A simulation on a
            // thread, which a view displays, has no picture.
            Self::Simulation(it) => {
                it.steps_to_resimulate() == 0 && it.knows_physics() && screen.has_picture()
            }
            // The bodies of a view are those that it displays. A bare `Physics` has no screen.
            _ => true,
        })
    }
}

impl Bodies for Physics {
    fn bodies_for_entities(&self) -> Picture<'_> {
        Picture::Physics(self)
    }

    fn remove_for_entities(&mut self, key: BodyKey) {
        self.remove(key);
    }
}

impl Bodies for Simulation {
    fn bodies_for_entities(&self) -> Picture<'_> {
        Picture::Simulation(self)
    }

    fn remove_for_entities(&mut self, key: BodyKey) {
        self.physics.remove(key);
    }
}

impl Host for Simulation {
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.pose(key)
    }

    fn moved(&self) -> &[(BodyKey, Pose)] {
        self.moved()
    }

    fn removed(&self) -> &[BodyKey] {
        self.removed()
    }

    fn events(&self) -> Events {
        self.events()
    }

    fn tick(&self) -> u64 {
        self.last_frame().tick
    }

    fn alpha(&self) -> f32 {
        self.last_frame().alpha
    }

    fn time(&self) -> Duration {
        self.last_frame().time
    }

    fn origin_shift(&self) -> Vector {
        self.last_frame().origin_shift
    }

    fn picture_for_entities(&self) -> Picture<'_> {
        Picture::Simulation(self)
    }

    fn remove_all_for_entities(&mut self, keys: &[BodyKey]) -> bool {
        for key in keys {
            self.physics.remove(*key);
        }
        // All were removed, so no hook has to do it.
        true
    }
}

/// The future key of a body that was sent to the physics thread with [`Runner::spawn`](crate::threads::Runner::spawn).
/// It is known once the body is inserted, between two steps.
#[derive(Clone, Debug, Default)]
pub struct Spawned(Arc<OnceLock<Option<(BodyKey, StateNumber)>>>);

impl Spawned {
    /// Returns the key of the body, or `None` if it is not inserted yet or is [lost](Self::is_lost).
    #[must_use]
    pub fn key(&self) -> Option<BodyKey> {
        self.inserted().map(|(key, _)| key)
    }

    /// Returns whether the body will never be inserted, because the thread ended or panicked first.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self.0.get(), Some(None))
    }

    /// Returns a number that only clones of this one have.
    #[cfg(feature = "hecs")]
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Returns the key, and a number after all states before the insertion.
    pub(crate) fn inserted(&self) -> Option<(BodyKey, StateNumber)> {
        *self.0.get()?
    }
}

/// The other end of a [`Spawned`]. If it is dropped unset, the body is lost.
pub(crate) struct Inserter(Spawned);

impl Inserter {
    pub fn new(spawned: Spawned) -> Self {
        Self(spawned)
    }

    /// Sets the key of the body, which was just inserted.
    pub fn set(&self, key: BodyKey) {
        // This cannot fail: a call runs once.
        let _ = self.0.0.set(Some((key, StateNumber::next())));
    }
}

impl Drop for Inserter {
    fn drop(&mut self) {
        // This has no effect if the key was set.
        let _ = self.0.0.set(None);
    }
}
