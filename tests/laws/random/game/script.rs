//! Random games.

use super::*;

fn vectors(reach: f32) -> impl Strategy<Value = Vector> {
    prop::array::uniform3(-reach..reach).prop_map(|[x, y, z]| vector(x, y, z))
}

fn spins(reach: f32) -> impl Strategy<Value = AngVector> {
    prop::array::uniform3(-reach..reach).prop_map(|[x, y, z]| spin(x, y, z))
}

fn joint() -> impl Strategy<Value = Joint> {
    let kind = prop_oneof![
        3 => Just(JointKind::Spherical),
        1 => Just(JointKind::Revolute),
        1 => Just(JointKind::Fixed),
        1 => Just(JointKind::Rope),
    ];
    let ends = prop::array::uniform2(0..12usize);
    (ends, kind, prop::bool::weighted(0.3)).prop_map(|(ends, kind, is_multibody)| Joint {
        ends,
        kind,
        is_multibody,
    })
}

/// Returns bodies in a row, so that each can be joined to the next one.
fn members() -> impl Strategy<Value = Vec<Member>> {
    let kind = prop_oneof![
        8 => Just(RigidBodyType::Dynamic),
        1 => Just(RigidBodyType::Fixed),
        1 => Just(RigidBodyType::KinematicPositionBased),
    ];
    prop::collection::vec((kind, vectors(0.3)), 2..9).prop_map(|members| {
        let place = |(i, (kind, off)): (usize, (RigidBodyType, Vector))| Member {
            kind,
            at: Vector::X * i as f32 + off + Vector::Y,
        };
        members.into_iter().enumerate().map(place).collect()
    })
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![Just(Way::Body), Just(Way::Physics), Just(Way::PhysicsFor)]
}

fn cut() -> impl Strategy<Value = Deed> {
    let by = (vectors(5.0), spins(1.0)).prop_map(|(by, spin)| pose(by, spin));
    let cut = prop_oneof![Just(Cut::Joint), Just(Cut::Body)];
    (0..12usize, cut, by).prop_map(|(i, cut, by)| Deed::Cut(i, cut, by))
}

fn deed(deeds: Deeds) -> impl Strategy<Value = Deed> {
    let body = || 0..12usize;
    let often = prop_oneof![
        6 => body().prop_map(Deed::Sleep),
        1 => (body(), any::<bool>()).prop_map(|(i, is)| Deed::Wake(i, is)),
        1 => (body(), any::<bool>()).prop_map(|(i, is)| Deed::WakeByIslands(i, is)),
        1 => (body(), vectors(10.0)).prop_map(|(i, by)| Deed::Push(i, by)),
        1 => Just(Deed::WakeAll),
        1 => vectors(10.0).prop_map(Deed::SetGravity),
    ];
    let rarely = prop_oneof![
        (body(), vectors(30.0)).prop_map(|(i, by)| Deed::Push(i, by)),
        (body(), spins(30.0)).prop_map(|(i, by)| Deed::Twist(i, by)),
        (body(), vectors(5.0), way()).prop_map(|(i, to, way)| Deed::Put(i, to, way)),
        (body(), vectors(5.0), way()).prop_map(|(i, to, way)| Deed::Put(i, to, way)),
        (body(), vectors(5.0)).prop_map(|(i, to)| Deed::Teleport(i, to)),
        (body(), vectors(20.0)).prop_map(|(i, v)| Deed::SetVelocity(i, v)),
        (body(), any::<bool>()).prop_map(|(i, is)| Deed::Enable(i, is)),
        (body(), vectors(5.0), 0..500u64).prop_map(|(i, to, ms)| Deed::Lead(i, to, ms)),
        (
            body(),
            prop_oneof![
                Just(RigidBodyType::Dynamic),
                Just(RigidBodyType::Fixed),
                Just(RigidBodyType::KinematicPositionBased)
            ]
        )
            .prop_map(|(i, kind)| Deed::SetKind(i, kind)),
        vectors(5.0).prop_map(Deed::Insert),
        (body(), way()).prop_map(|(i, way)| Deed::Remove(i, way)),
        (0..8usize).prop_map(Deed::RemoveJoint),
        joint().prop_map(Deed::Connect),
        cut(),
        cut(),
    ];
    let wild = (body(), spins(1e30)).prop_map(|(i, by)| Deed::Twist(i, by));
    let shares = match deeds {
        Deeds::Sleep => [4, 1, 0],
        Deeds::All => [4, 4, 0],
        Deeds::Wild => [4, 4, 1],
    };
    prop_oneof![shares[0] => often, shares[1] => rarely, shares[2] => wild]
}

pub fn game(deeds: Deeds) -> impl Strategy<Value = Game> {
    (
        any::<bool>(),
        members(),
        prop::collection::vec(joint(), 0..9),
        prop::bool::weighted(0.3),
        prop::collection::vec((0..TICKS, deed(deeds)), 0..25),
    )
        .prop_map(|(has_floor, bodies, mut joints, is_rope, deeds)| {
            // Most of the joints form a chain.
            for (i, joint) in joints.iter_mut().enumerate().take(6) {
                joint.ends = [i, i + 1];
                joint.is_multibody |= is_rope;
            }
            Game {
                has_floor,
                bodies,
                joints,
                deeds,
            }
        })
}
