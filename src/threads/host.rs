//! Makes a runner a host of entities' bodies, and a view a picture of them.

use crate::key::BodyKey;
use crate::owners::{Bodies, BodyStore, Host, Picture, Poses, Spawned};
use crate::pose::Screen;
use crate::simulation::Hooks;
use rapier::math::Pose;

use super::runner::Runner;
use super::view::View;

impl<H> Bodies for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
}

impl<H> Host for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
}

impl<H> Poses for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.view().pose(key)
    }
}

impl<H> BodyStore for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    fn remove(&mut self, _: BodyKey) -> bool {
        // One order per body would fill the queue when a level is cleared.
        false
    }

    fn remove_all(&mut self, keys: Vec<BodyKey>) -> Vec<BodyKey> {
        Self::remove_all(self, keys)
    }
}

impl<H> Picture for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    fn run(&self) -> Option<u64> {
        self.view().run()
    }

    fn screen(&self) -> Option<&Screen> {
        Picture::screen(self.view())
    }

    fn is_after(&self, spawned: &Spawned) -> bool {
        self.view().is_after(spawned)
    }
}

impl<E> Poses for View<E> {
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.pose(key)
    }
}

impl<E> Picture for View<E> {
    fn run(&self) -> Option<u64> {
        None
    }

    fn screen(&self) -> Option<&Screen> {
        Some(self.screen())
    }

    fn is_after(&self, spawned: &Spawned) -> bool {
        self.is_after(spawned)
    }
}
