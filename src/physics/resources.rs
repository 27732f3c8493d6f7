//! The game's values that are part of the state.

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Physics;

/// Your game's values in a simulation's state, such as a whole ECS world, at most one of each type.
///
/// Resources go with the bodies: [back in time](crate::Simulation#back-in-time), into a
/// [copy](crate::Physics#the-state-as-a-value), to the physics thread. Saved states, recordings and checksums do not
/// include them.
///
/// ```
/// # use evenstep::{Physics, Simulation, rewind::Kept};
/// # use std::time::Duration;
/// #[derive(Clone)]
/// struct Score(u64);
///
/// let mut simulation = Simulation::default();
/// simulation.keep(Kept { ticks: 60, ..Kept::default() });
/// simulation.physics.resources_mut().insert(Score(0));
/// let add = |physics: &mut Physics, points| physics.resources_mut().get_mut::<Score>().unwrap().0 += points;
/// simulation.advance(Duration::from_millis(100), |physics, _| add(physics, 1)); // six steps
///
/// // Late input: each step from tick 2 on was worth ten points.
/// simulation.resimulate(2, |physics, _| add(physics, 10))?;
/// assert_eq!(simulation.physics.resources().get::<Score>().unwrap().0, 2 + 4 * 10);
/// # Ok::<(), evenstep::rewind::RewindError>(())
/// ```
///
/// To use a value together with the physics, call [`Physics::resource_scope`](crate::Physics::resource_scope).
///
/// Each kept state clones all values. Share a large value that seldom changes in an `Arc`.
#[derive(Clone, Default)]
pub struct Resources(BTreeMap<TypeId, Resource>);

struct Resource {
    name: &'static str,
    /// `None` while the value is in a scope.
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
        self.assert_not_in_scope();
        Self {
            name: self.name,
            value: self.value.as_deref().map(AnyClone::clone_boxed),
        }
    }
}

impl Resources {
    /// Inserts a value. Returns the previous value of that type.
    pub fn insert<T: Any + Clone + Send + Sync>(&mut self, value: T) -> Option<T> {
        let resource = Resource {
            name: type_name::<T>(),
            value: Some(Box::new(value)),
        };
        let before = self.0.insert(TypeId::of::<T>(), resource);
        before.and_then(Resource::into_value)
    }

    /// Returns the value of that type, or `None` if none exists or it is in a [scope](crate::Physics::resource_scope).
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        let value: &dyn Any = self.0.get(&TypeId::of::<T>())?.value.as_deref()?;
        value.downcast_ref()
    }

    /// Returns a mutable reference to the value of that type, like [`get`](Self::get).
    #[must_use]
    pub fn get_mut<T: Any>(&mut self) -> Option<&mut T> {
        let value: &mut dyn Any = (self.0.get_mut(&TypeId::of::<T>())?.value).as_deref_mut()?;
        value.downcast_mut()
    }

    /// Removes and returns the value of that type.
    pub fn remove<T: Any>(&mut self) -> Option<T> {
        self.0.remove(&TypeId::of::<T>())?.into_value()
    }

    fn lend<T: Any>(&mut self) -> Option<Box<T>> {
        let value: Box<dyn Any> = self.0.get_mut(&TypeId::of::<T>())?.value.take()?;
        value.downcast().ok()
    }

    fn put_back<T: Any + Clone + Send + Sync>(&mut self, value: Box<T>) {
        if let Some(resource) = self.0.get_mut(&TypeId::of::<T>()) {
            resource.value.get_or_insert(value);
        }
    }

    /// Calls `f` with the host and its resource of type `T`, and puts the resource back, even after a panic. `of`
    /// returns the host's resources. Returns `None` if there is no such resource.
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

    /// Adds the values whose types are missing here.
    pub(crate) fn add_missing(&mut self, others: Self) {
        for (id, value) in others.0 {
            self.0.entry(id).or_insert(value);
        }
    }

    /// Panics if a value is in a scope.
    pub(crate) fn assert_no_scope(&self) {
        self.0.values().for_each(Resource::assert_not_in_scope);
    }
}

impl Resource {
    /// Panics if the value is in a scope, which has taken it out: a copy would lack it.
    fn assert_not_in_scope(&self) {
        assert!(
            self.value.is_some(),
            "`{}` is in `resource_scope`: copy the state, run steps and go back in time outside of it",
            self.name
        );
    }

    fn into_value<T: Any>(self) -> Option<T> {
        let value: Box<dyn Any> = self.value?;
        value.downcast().ok().map(|value| *value)
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.values().map(|resource| resource.name);
        f.debug_list().entries(names).finish()
    }
}

/// # Resources
impl Physics {
    /// Returns your game's values in the state.
    #[must_use]
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Returns a mutable reference to these values.
    pub fn resources_mut(&mut self) -> &mut Resources {
        &mut self.resources
    }

    /// Calls `f` with the physics and the resource of type `T`, which is taken out until `f` returns or unwinds.
    /// Returns the result of `f`, or `None` if there is no such resource.
    ///
    /// # Panics
    /// In `f`, cloning the physics panics. If `f` assigns to the physics, inserts or removes such a value, the one that
    /// was taken out is dropped.
    #[must_use = "`None` means that there is no such resource"]
    pub fn resource_scope<T: Any + Clone + Send + Sync, R>(
        &mut self,
        f: impl FnOnce(&mut Self, &mut T) -> R,
    ) -> Option<R> {
        Resources::scope(self, Self::resources_mut, f)
    }
}
