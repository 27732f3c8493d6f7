//! A door with a motor.

use super::SECOND;
use evenstep::rapier::prelude::*;
use recipes::door;
use scenes::space;

#[test]
fn a_door_that_sleeps_opens_evenly_and_falls_asleep_again() {
    let mut simulation = space(60);
    let (door, hinge) = door::insert(&mut simulation.physics, Vector::ZERO);

    let mut angle = 0.0;
    for frame in 0..144 * 8 {
        if frame == 144 * 4 {
            assert_eq!(simulation.frame().awake, 0);
            door::turn(&mut simulation.physics, hinge, 1.5);
        }
        simulation.advance(SECOND / 144, |_, _| ());
        let rotation = simulation.pose(door).unwrap().rotation;
        let drawn = rotation.to_scaled_axis().y;
        assert!(drawn > angle - 1e-4, "it swings back in frame {frame}");
        assert!(drawn < angle + 0.03, "it jumps in frame {frame}");
        angle = drawn;
    }
    assert!((angle - 1.5).abs() < 0.01, "{angle} radians");
    assert_eq!(simulation.frame().awake, 0);
}
