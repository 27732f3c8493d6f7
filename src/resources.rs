//! Values of the game's own that are part of the state.

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Values of the game's own that are part of a simulation's state, at most one of each type: scores, timers, a random
/// generator, a whole world of an ECS.
///
/// They go wherever the bodies go: [back in time](crate::Simulation#back-in-time), into a
/// [copy](crate::Physics#the-state-as-a-value), to the physics' thread. So a game that keeps here all that its steps
/// depend on has nothing to save or restore for a rollback. Works in every loop.
///
/// ```
/// # use evenstep::{Physics, Simulation};
/// # use std::time::Duration;
/// #[derive(Clone)]
/// struct Score(u64);
///
/// let mut simulation = Simulation::default();
/// simulation.set_rewind_limits(60, usize::MAX);
/// simulation.physics.resources_mut().insert(Score(0));
/// let points = |physics: &mut Physics, points| {
///     physics.resources_mut().get_mut::<Score>().unwrap().0 += points;
/// };
/// simulation.advance(Duration::from_millis(100), |physics, _| points(physics, 1));
/// assert_eq!(simulation.physics.resources().get::<Score>().unwrap().0, 6);
///
/// // Late input: from tick 2 on, each step gave ten.
/// simulation.resimulate(2, |physics, _| points(physics, 10))?;
/// assert_eq!(simulation.physics.resources().get::<Score>().unwrap().0, 2 + 4 * 10);
/// # Ok::<(), evenstep::RewindError>(())
/// ```
///
/// To use a value and the physics at the same time: [`Physics::resource_scope`](crate::Physics::resource_scope). With the
/// whole simulation, outside of hooks: [`Simulation::resource_scope`](crate::Simulation::resource_scope).
///
/// # Cost
/// While states are kept, each step clones all values once. Share what is large and seldom changed: in an `Arc`, changed by
/// [`Arc::make_mut`](std::sync::Arc::make_mut).
///
/// # Limits
/// A saved state, a recording and a checksum do not include them: save, record and hash them beside it. A state that was
/// loaded has none: insert them before it is used. [`correct`](crate::Simulation::correct) keeps those that the new state
/// lacks.
#[derive(Clone, Default)]
pub struct Resources(BTreeMap<TypeId, Resource>);

struct Resource {
    name: &'static str,
    /// `None` while it is in a scope.
    value: Option<Box<dyn AnyClone>>,
}

trait AnyClone: Any + Send + Sync {
    fn clone_boxed(&self) -> Box<dyn AnyClone>;
}

impl<T: Any + Clone + Send + Sync> AnyClone for T {
    fn clone_boxed(&self) -> Box<dyn AnyClone> {
        Box::new(self.clone())
    }
}

impl Clone for Resource {
    fn clone(&self) -> Self {
        self.check_there();
        Self {
            name: self.name,
            value: self.value.as_deref().map(AnyClone::clone_boxed),
        }
    }
}

impl Resources {
    /// Inserts a value. Returns the one of that type that was there.
    pub fn insert<T: Any + Clone + Send + Sync>(&mut self, value: T) -> Option<T> {
        let resource = Resource {
            name: type_name::<T>(),
            value: Some(Box::new(value)),
        };
        let before = self.0.insert(TypeId::of::<T>(), resource);
        before.and_then(Resource::into_value)
    }

    /// The value of that type; `None` if there is none, and within its
    /// [scope](crate::Physics::resource_scope).
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        let value: &dyn Any = self.0.get(&TypeId::of::<T>())?.value.as_deref()?;
        value.downcast_ref()
    }

    /// [`get`](Self::get), to change it.
    #[must_use]
    pub fn get_mut<T: Any>(&mut self) -> Option<&mut T> {
        let value: &mut dyn Any = (self.0.get_mut(&TypeId::of::<T>())?.value).as_deref_mut()?;
        value.downcast_mut()
    }

    /// Removes the value of that type, and returns it.
    pub fn remove<T: Any>(&mut self) -> Option<T> {
        self.0.remove(&TypeId::of::<T>())?.into_value()
    }

    /// Takes a value for a scope.
    fn lend<T: Any>(&mut self) -> Option<Box<T>> {
        let value: Box<dyn Any> = self.0.get_mut(&TypeId::of::<T>())?.value.take()?;
        value.downcast().ok()
    }

    /// Puts it back, unless the scope has removed it or put another one in its place.
    fn put_back<T: Any + Clone + Send + Sync>(&mut self, value: Box<T>) {
        if let Some(resource) = self.0.get_mut(&TypeId::of::<T>()) {
            resource.value.get_or_insert(value);
        }
    }

    /// Calls `f` with the host of resources and one of them, which is taken out until `f` returns, or unwinds.
    pub(crate) fn scope<H, T: Any + Clone + Send + Sync, R>(
        host: &mut H,
        of: fn(&mut H) -> &mut Self,
        f: impl FnOnce(&mut H, &mut T) -> R,
    ) -> Option<R> {
        let mut value = of(host).lend::<T>()?;
        let result = catch_unwind(AssertUnwindSafe(|| f(host, &mut value)));
        of(host).put_back(value);
        Some(result.unwrap_or_else(|payload| resume_unwind(payload)))
    }

    /// Adds the values of types that are not there.
    pub(crate) fn keep(&mut self, others: Self) {
        for (id, value) in others.0 {
            self.0.entry(id).or_insert(value);
        }
    }

    /// # Panics
    /// Within a scope.
    pub(crate) fn check_whole(&self) {
        self.0.values().for_each(Resource::check_there);
    }
}

impl Resource {
    fn check_there(&self) {
        assert!(
            self.value.is_some(),
            "`{}` is in `resource_scope`: copy the state, take steps and go back in time outside of it",
            self.name
        );
    }

    fn into_value<T: Any>(self) -> Option<T> {
        let value: Box<dyn Any> = self.value?;
        value.downcast().ok().map(|value| *value)
    }
}

impl fmt::Debug for Resources {
    /// The types.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.values().map(|resource| resource.name);
        f.debug_list().entries(names).finish()
    }
}
