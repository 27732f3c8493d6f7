//! The parts tell the states apart.

use super::*;

#[test]
fn every_state_has_its_listed_parts() {
    for (name, expected, build) in STATES {
        assert_eq!(parts(build().simulation), expected, "{name}");
    }
    let known = STATES[..KNOWN].iter().map(|(_, parts, _)| parts);
    for (i, parts) in known.clone().enumerate() {
        assert!(
            known.clone().skip(i + 1).all(|other| other != parts),
            "{parts:?} twice"
        );
    }
}
