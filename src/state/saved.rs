//! Writes and reads a state as bytes: a header that identifies it, and the state in postcard's format.

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::fingerprint::fingerprint;
use crate::simulation::{SaveError, Simulation};
use crate::step::ForceGenerator;
use rapier::dynamics::RigidBodyBuilder;
use rapier::geometry::ColliderBuilder;

use super::bytes::{self, NoStart, Start};

/// The format number is raised when the data after the header changes its meaning.
const START: Start = Start {
    magic: *b"evenstep",
    format: 3,
};

/// The fields after the start, in little-endian bytes.
#[derive(Serialize, Deserialize)]
struct Header {
    rapier: [[u8; 2]; 3],
    layout: [u8; 8],
    /// The fingerprint of the machine that saved it.
    fingerprint: [u8; 8],
    /// The length of the whole file.
    len: [u8; 8],
    /// The checksum, which is the last field.
    checksum: [u8; 8],
}

const HEADER_LEN: usize = Start::LEN + size_of::<Header>();

const SUM_AT: usize = HEADER_LEN - 8;

/// Why bytes cannot be loaded as a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The bytes do not begin like a saved state.
    #[error("not a saved state: give `load` the bytes that `Simulation::save` returned")]
    NotAState,
    /// The state has another version of the format.
    #[error(
        "a saved state of format {found}, not {}: \
         load it with the version of evenstep that saved it",
        START.format
    )]
    Format {
        /// The version in the bytes.
        found: u32,
    },
    /// The state comes from another version of Rapier, so the run would continue differently.
    #[error(
        "a saved state of Rapier {}.{}.{}, not {}: load it with a build for that version",
        found[0], found[1], found[2], rapier::VERSION
    )]
    Rapier {
        /// The major, minor and patch version in the bytes.
        found: [u16; 3],
    },
    /// The state comes from a build with other features, whose types have other fields.
    #[error(
        "a saved state of a build with other features of evenstep or Rapier: \
         load it with a build that has the same features"
    )]
    Layout,
    /// There are fewer or more bytes than were written.
    #[error(
        "a saved state of {expected} bytes has {found}: give `load` all of its bytes and nothing else"
    )]
    Length {
        /// The number of bytes that were written.
        expected: u64,
        /// The number of bytes that were given.
        found: u64,
    },
    /// The bytes were changed: the checksum is wrong.
    #[error("a saved state whose checksum is wrong: its bytes were changed, load another copy")]
    Checksum,
    /// The checksum is right, but the contents are not those of a state.
    #[error(
        "a saved state whose contents contradict each other: \
         it was not written by `Simulation::save`, load another one"
    )]
    Contents,
}

/// # States as bytes
///
/// Use bytes for saved games, for players who join late, and to move a running match to another process. They require
/// the feature `serde`.
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::Simulation;
/// # use std::time::Duration;
/// # let mut here = Simulation::default();
/// # let ball = here.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
/// here.advance(Duration::from_millis(20), |_, _| ());
/// let bytes = here.save()?;
/// let mut there = Simulation::load(&bytes)?;
/// for simulation in [&mut here, &mut there] {
///     simulation.advance(Duration::from_millis(70), |_, _| ());
/// }
/// assert_eq!(here.physics.checksum(), there.physics.checksum());
/// assert_eq!(here.pose(ball), there.pose(ball));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Contents of a saved state
/// A saved state has everything that a [clone](Simulation#a-copy) has, with these exceptions:
/// - the [`Resources`](crate::Resources);
/// - the events of the last frame, which you should read before saving;
/// - the limits of the past ([states](Simulation::set_rewind_limits), [poses](Simulation::set_history)), which you have
///   to set again.
///
/// [`Simulation`] also implements serde's traits, for your own format without the header.
///
/// # Guarantees
/// The run continues to the bit with the feature `enhanced-determinism`. Without it, Rapier has tables whose order
/// depends on their history. Poses, velocities and keys are still the same, but the run may diverge later. This
/// happened in tests when many joints woke many sleeping bodies at once.
///
/// # Soft bodies
/// Rapier does not write the complete state of soft bodies. With some of them a loaded run diverges, whatever the
/// features. Rapier omits
/// - for a cluster with a moving [shape-matching
///   target](crate::rapier::dynamics::SoftBodyCluster::set_shape_matching_target): where the target was in the previous
///   step;
/// - for a mesh that [overlaps](crate::rapier::dynamics::SoftBody::volume_contacts) with another mesh or a rigid
///   collider, or that crosses itself or another mesh: the impulses and the progress of pushing them apart;
/// - for vertices of a mesh that push against a convex collider: the impulses of the contacts that Rapier predicts for
///   them;
/// - for a closed mesh that is turned inside out: that it is inside out;
/// - for a body that is being permanently deformed by plastic flow: that it must not fall asleep, and that its shape at
///   rest has to be fitted.
///
/// Rapier does not reveal whether a state is affected, and many are not. Eight states that were saved while two cuboids
/// or two balls overlapped all continued to the bit. So no soft body is refused. A clone has the complete state.
///
/// # Untrusted files
/// Bytes that were damaged or belong to something else give a [`LoadError`]. evenstep checks its own data, and that
/// bodies, colliders and joints refer to each other consistently. The checksum detects accidents, not malice: anyone
/// who can change a file can change its checksum. Data that Rapier neither checks nor exposes is trusted: its trees of
/// bounding boxes, islands, contacts, coordinates of multibodies, meshes, and the lists in soft bodies. With these a
/// forged state can
/// - panic in later steps, or in another call into Rapier. In builds with overflow checks, the size of a matrix can
///   cause a panic even during loading;
/// - end the process, through a tree that contains itself and overflows the stack, or through a matrix whose size
///   differs from its stated size;
/// - take any amount of time and memory, through such a tree, or through the number of iterations that it requests.
///
/// So load other people's states only if someone you trust has signed them.
impl Simulation {
    /// Returns the state as bytes, to be read by [`load`](Self::load).
    ///
    /// ```
    /// # use evenstep::{SaveError, Simulation};
    /// # let mut simulation = Simulation::default();
    /// simulation.physics.rapier_mut().gravity.y = -1.6;
    /// // Rapier writes some changes only after a step has processed them.
    /// assert!(matches!(simulation.save(), Err(SaveError::ChangedSinceStep)));
    /// simulation.advance(std::time::Duration::from_millis(20), |_, _| ());
    /// assert!(simulation.save().is_ok());
    /// ```
    ///
    /// # Errors
    /// [`SaveError`] if the state cannot be written now, or at all.
    pub fn save(&self) -> Result<Vec<u8>, SaveError> {
        self.check_savable()?;
        let mut bytes = vec![0; HEADER_LEN];
        bytes = postcard::to_extend(self, bytes).map_err(|_| SaveError::NotWritable)?;
        let parts = [
            &START.bytes()[..],
            &rapier_version().concat(),
            &layout(),
            &fingerprint().to_le_bytes(),
            &(bytes.len() as u64).to_le_bytes(),
        ];
        bytes[..SUM_AT].copy_from_slice(&parts.concat());
        let sum: [u8; 8] = bytes::checksum(&bytes, SUM_AT);
        bytes[SUM_AT..HEADER_LEN].copy_from_slice(&sum);
        Ok(bytes)
    }

    /// Reads a state that was written by [`save`](Self::save) of the same build.
    ///
    /// ```
    /// # use evenstep::{LoadError, Simulation};
    /// let mut bytes = Simulation::default().save()?;
    /// *bytes.last_mut().unwrap() ^= 1;
    /// assert!(matches!(Simulation::load(&bytes), Err(LoadError::Checksum)));
    /// # Ok::<(), evenstep::SaveError>(())
    /// ```
    ///
    /// # Errors
    /// [`LoadError`] if the bytes are not a state, or not one of this build.
    pub fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::load_with(bytes, |_| None)
    }

    /// Reads a state with [named](crate::ForceGenerator::named) forces, as [`load`](Self::load) does. `force` returns
    /// the force generator of each name.
    ///
    /// If it returns `None`, as it does for `load`, that generator exerts no force until it is removed.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{ForceGenerator, Simulation, Wrench};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let push = |_: &RigidBody, _| Wrench { force: Vector::X, ..Wrench::default() };
    /// simulation.physics.insert_force_generator(ball, ForceGenerator::named("push", push))?;
    /// let bytes = simulation.save()?;
    ///
    /// let named = |name: &str| (name == "push").then(|| ForceGenerator::named(name, push));
    /// for (mut loaded, is_pushed) in
    ///     [(Simulation::load_with(&bytes, named)?, true), (Simulation::load(&bytes)?, false)]
    /// {
    ///     loaded.advance(Duration::from_millis(20), |_, _| ());
    ///     assert_eq!(loaded.physics.body(ball).unwrap().linvel().x > 0.0, is_pushed);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`load`](Self::load).
    pub fn load_with(
        bytes: &[u8],
        force: impl FnMut(&str) -> Option<ForceGenerator>,
    ) -> Result<Self, LoadError> {
        let mut simulation: Self = bytes::decode(open(bytes)?.1).ok_or(LoadError::Contents)?;
        simulation.bind_forces(force);
        Ok(simulation)
    }
}

/// Returns the [`fingerprint`](crate::fingerprint()) of the machine that [saved](Simulation::save) a state. Requires
/// the feature `serde`.
///
/// A state from another machine loads and continues to the bit, because its bytes contain rounded values, such as the
/// inertia of bodies. If the fingerprints differ, bodies that are added later may be rounded differently.
///
/// ```
/// # use evenstep::Simulation;
/// let bytes = Simulation::default().save()?;
/// assert_eq!(evenstep::fingerprint_of(&bytes)?, evenstep::fingerprint());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of [`Simulation::load`], except [`LoadError::Contents`], because the contents are not read.
pub fn fingerprint_of(bytes: &[u8]) -> Result<u64, LoadError> {
    let (header, _) = open(bytes)?;
    Ok(u64::from_le_bytes(header.fingerprint))
}

/// Returns the header and the contents, after every check that is possible before the contents are decoded.
fn open(bytes: &[u8]) -> Result<(Header, &[u8]), LoadError> {
    let found = bytes.len() as u64;
    let length = |expected| LoadError::Length { expected, found };
    let too_short = length(HEADER_LEN as u64);
    let rest = START.strip(bytes).map_err(|error| match error {
        NoStart::Magic => LoadError::NotAState,
        NoStart::Cut => too_short,
        NoStart::Format(found) => LoadError::Format { found },
    })?;
    let header = postcard::take_from_bytes(rest);
    let (header, contents): (Header, _) = header.map_err(|_| too_short)?;
    let expected = u64::from_le_bytes(header.len);
    if expected != found {
        return Err(length(expected));
    }
    if header.checksum != bytes::checksum(bytes, SUM_AT) {
        return Err(LoadError::Checksum);
    }
    if header.rapier != rapier_version() {
        let found = header.rapier.map(u16::from_le_bytes);
        return Err(LoadError::Rapier { found });
    }
    if header.layout != layout() {
        return Err(LoadError::Layout);
    }
    Ok((header, contents))
}

fn rapier_version() -> [[u8; 2]; 3] {
    let mut parts = rapier::VERSION.split(['.', '-', '+']);
    let parts = [(); 3].map(|()| parts.next().and_then(|part| part.parse().ok()));
    parts.map(|part: Option<u16>| part.unwrap_or(0).to_le_bytes())
}

/// Returns a hash of a small state's bytes. It changes with features of Rapier that add fields to its types, and
/// nothing else reveals which features are enabled. Two bodies touch in the step. Only the size of the state after it
/// is included, because not every platform computes the same bits.
fn layout() -> [u8; 8] {
    let mut sample = Simulation::default();
    for _ in 0..2 {
        sample
            .physics
            .insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    }
    let before = postcard::to_stdvec(&sample).unwrap_or_default();
    sample.advance(sample.clock().settings().rate().period() * 2, |_, _| ());
    let after = postcard::to_stdvec(&sample).unwrap_or_default();
    (XxHash3_64::oneshot(&before) ^ after.len() as u64).to_le_bytes()
}
