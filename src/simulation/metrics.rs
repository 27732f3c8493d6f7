//! What a frame did, by name, for whatever counts it.

use super::Frame;

/// # As metrics
///
/// Every number of a frame with a name, by Prometheus' conventions. A monitor that loops over these also gets what later
/// versions add.
///
/// ```
/// use evenstep::Simulation;
/// use std::collections::BTreeMap;
/// use std::time::Duration;
///
/// let mut simulation = Simulation::default();
/// let mut totals = BTreeMap::<&str, f64>::new();
/// for millis in [40, 16, 1_000] {
///     let frame = simulation.advance(Duration::from_millis(millis), |_, _| ());
///     for (name, amount) in frame.counters() {
///         *totals.entry(name).or_default() += amount;
///     }
/// }
/// assert_eq!(totals["steps_total"], 18.0);
/// assert_eq!(totals["dropped_frame_time_seconds_total"], 0.75);
/// ```
#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to 2^53, in which a game at 1,000 steps a second runs for 285,000 years"
)]
impl Frame {
    /// What this frame adds to running totals: counts, or seconds where the name says so.
    pub fn counters(&self) -> impl Iterator<Item = (&'static str, f64)> + use<> {
        let (dropped, poses) = (self.dropped, self.poses);
        let frame_time = dropped.frame_time.as_secs_f64();
        [
            ("steps_total", self.steps as f64),
            ("steps_resimulated_total", self.resimulated as f64),
            ("dropped_frame_time_seconds_total", frame_time),
            ("dropped_steps_total", dropped.steps as f64),
            ("dropped_over_budget_total", dropped.over_budget as f64),
            ("dropped_aborted_total", dropped.aborted as f64),
            ("rejected_forces_total", self.rejected_forces as f64),
            ("forgotten_forces_total", self.forgotten_forces as f64),
            ("bodies_settled_total", poses.settled as f64),
            ("bodies_teleported_total", poses.teleported as f64),
            (
                "bodies_set_from_velocity_total",
                poses.set_from_velocity as f64,
            ),
        ]
        .into_iter()
    }

    /// The values of this frame, which do not add up over frames: counts, or the unit in the name.
    pub fn gauges(&self) -> impl Iterator<Item = (&'static str, f64)> + use<> {
        let poses = self.poses;
        [
            ("frame_number", self.number as f64),
            ("tick", self.tick as f64),
            ("step_seconds", f64::from(self.dt)),
            ("alpha", f64::from(self.alpha)),
            ("bodies_awake", self.awake as f64),
            ("bodies_moving", poses.movers as f64),
            ("bodies_extrapolated", poses.extrapolated as f64),
            ("bodies_corrected", poses.corrected as f64),
        ]
        .into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::PoseCounts;
    use crate::time::Dropped;
    use rapier::math::Vector;
    use std::collections::BTreeSet;
    use std::time::Duration;

    /// Another number in each field: a new one does not compile here until it has its number, and its name.
    #[test]
    fn every_field_has_a_name() {
        let frame = Frame {
            number: 1,
            steps: 2,
            resimulated: 3,
            tick: 4,
            dt: 5.0,
            alpha: 6.0,
            dropped: Dropped {
                frame_time: Duration::from_secs(7),
                steps: 8,
                over_budget: 9,
                aborted: 10,
            },
            awake: 11,
            rejected_forces: 12,
            forgotten_forces: 13,
            poses: PoseCounts {
                movers: 14,
                settled: 15,
                teleported: 16,
                set_from_velocity: 17,
                extrapolated: 18,
                corrected: 19,
            },
            // No number.
            origin_shift: Vector::ZERO,
        };
        let all: Vec<_> = frame.counters().chain(frame.gauges()).collect();
        let mut values: Vec<f64> = all.iter().map(|(_, value)| *value).collect();
        values.sort_by(f64::total_cmp);
        assert_eq!(values, (1..=19).map(f64::from).collect::<Vec<_>>());
        let names: BTreeSet<_> = all.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), all.len());
    }
}
