//! Makes a runner a host of entities' bodies, and a view a picture of them.

use crate::ecs::{Bodies, Host, Picture};
use crate::key::BodyKey;
use crate::simulation::Hooks;

use super::overlap::Overlap;
use super::runner::Runner;

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
    fn picture_for_entities(&self) -> Picture<'_> {
        // The physics may have sent later states than the view has received.
        self.view().picture(None)
    }

    fn remove_all_for_entities(&mut self, keys: &[BodyKey]) -> bool {
        for key in keys {
            self.remove_body(*key);
        }
        true
    }
}

impl Host for Overlap {
    fn picture_for_entities(&self) -> Picture<'_> {
        self.view().picture(self.view().newest())
    }

    fn remove_all_for_entities(&mut self, _: &[BodyKey]) -> bool {
        false
    }
}
