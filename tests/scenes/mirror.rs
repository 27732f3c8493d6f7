//! A host that knows nothing of the bodies, except what `moved` and `removed` list.

use evenstep::rapier::math::Pose;
use evenstep::{BodyKey, Simulation};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct Mirror(BTreeMap<BodyKey, Pose>);

impl Mirror {
    /// Follows a frame. Checks that it now has exactly the bodies of the simulation, at their displayed poses.
    #[track_caller]
    pub fn follow(&mut self, simulation: &Simulation) {
        for key in simulation.removed() {
            self.0.remove(key);
            assert_eq!(simulation.pose(*key), None, "a removed body has no pose");
        }
        self.0.extend(simulation.moved().iter().copied());
        let bodies = simulation.physics.bodies();
        let displayed = bodies.map(|(key, _)| (key, simulation.pose(key).unwrap()));
        assert_eq!(self.0, displayed.collect::<BTreeMap<_, _>>());
    }
}
