//! Makes a runner a host of entities' bodies, and a view a picture of them.

use std::time::Duration;

use crate::ecs::{Bodies, Host, Picture};
use crate::events::Events;
use crate::key::BodyKey;
use crate::simulation::Hooks;

use super::overlap::Overlap;
use super::runner::Runner;
use rapier::math::{Pose, Vector};

/// The methods of the view.
macro_rules! displayed_by_view {
    () => {
        fn pose(&self, key: BodyKey) -> Option<Pose> {
            self.view().pose(key)
        }

        fn moved(&self) -> &[(BodyKey, Pose)] {
            self.view().moved()
        }

        fn removed(&self) -> &[BodyKey] {
            self.view().removed()
        }

        fn events(&self) -> Events {
            self.view().events()
        }

        fn tick(&self) -> u64 {
            self.view().tick()
        }

        fn alpha(&self) -> f32 {
            self.view().alpha()
        }

        fn time(&self) -> Duration {
            self.view().time()
        }

        fn origin_shift(&self) -> Vector {
            self.view().origin_shift()
        }
    };
}

impl<H> Bodies for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    fn bodies_for_entities(&self) -> Picture<'_> {
        self.picture_for_entities()
    }

    fn remove_for_entities(&mut self, key: BodyKey) {
        self.remove_body(key);
    }
}

impl<H> Host for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    displayed_by_view!();

    fn picture_for_entities(&self) -> Picture<'_> {
        self.view().picture(self.newest_state(), None)
    }

    fn remove_all_for_entities(&mut self, keys: &[BodyKey]) -> bool {
        for key in keys {
            // The physics thread receives a message to remove the body.
            self.remove_body(*key);
        }
        // With `false`, the caller would leave the removal to the game's hooks.
        true
    }
}

impl Host for Overlap {
    displayed_by_view!();

    fn picture_for_entities(&self) -> Picture<'_> {
        self.view().picture(self.newest_state(), self.present())
    }

    fn remove_all_for_entities(&mut self, _: &[BodyKey]) -> bool {
        // The bodies may be on the thread, so a hook removes them.
        false
    }
}
