//! Makes a runner a host of entities' bodies, and a view a picture of them.

use crate::ecs::{Bodies, BodyStore, Host, Picture, Poses, Spawned};
use crate::key::BodyKey;
use crate::screen::Screen;
use crate::simulation::Hooks;
use rapier::math::Pose;

use super::overlap::Overlap;
use super::runner::Runner;

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
    fn remove(&mut self, key: BodyKey) {
        self.remove_body(key);
    }
}

impl<H> Picture for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    fn run(&self) -> Option<u64> {
        None
    }

    fn screen(&self) -> Option<&Screen> {
        Some(self.view().screen())
    }

    fn is_after(&self, spawned: &Spawned) -> bool {
        self.view().is_after(spawned)
    }

    fn bodies(&mut self) -> Option<&mut dyn BodyStore> {
        Some(self)
    }
}

impl Host for Overlap {}

impl Poses for Overlap {
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.view().pose(key)
    }
}

impl Picture for Overlap {
    fn run(&self) -> Option<u64> {
        None
    }

    fn screen(&self) -> Option<&Screen> {
        Some(self.view().screen())
    }

    fn is_after(&self, spawned: &Spawned) -> bool {
        self.view().is_after(spawned)
    }

    fn bodies(&mut self) -> Option<&mut dyn BodyStore> {
        None
    }
}
