//! A state as bytes: a header that says what it is, and the state in postcard's format.

use std::hash::Hasher;

use twox_hash::XxHash3_64;

use crate::key::ForceGeneratorKey;

use crate::simulation::Simulation;
use crate::step::ForceGenerator;
use rapier::dynamics::RigidBodyBuilder;
use rapier::geometry::ColliderBuilder;

/// The first bytes of every saved state.
const MAGIC: [u8; 8] = *b"evenstep";

/// Counted up when what follows the header changes its meaning.
const FORMAT: u32 = 1;

/// Magic, format, Rapier's version, layout, length, checksum.
const HEADER_LEN: usize = 8 + 4 + 6 + 8 + 8 + 8;

/// Why a state cannot be written to bytes. A clone can hold it anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// A frame is open: end it first.
    #[error("a simulation within a frame cannot be saved: call `end_frame` first")]
    WithinFrame,
    /// Since the last step, Rapier's world was borrowed mutably, a body with joints was removed, or the
    /// origin was shifted. Rapier does not write changes of joints and soft bodies before a step has processed them: save
    /// right after a frame that made a step, or make one.
    #[error("Rapier's world was changed since the last step: save after a frame that made a step")]
    ChangedSinceStep,
    /// A force generator with a function that has no name: see
    /// [`ForceGenerator::named`](crate::ForceGenerator::named).
    #[error("the custom force {0:?} has no name: make it with `ForceGenerator::named`")]
    UnnamedForce(ForceGeneratorKey),
    /// Rapier's world contains something that cannot be serialised.
    #[error(
        "a part of Rapier's world cannot be written, most likely a custom shape: \
         use Rapier's own shapes, or keep a clone"
    )]
    NotWritable,
}

/// Why bytes cannot be loaded as a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// They do not begin like a saved state.
    #[error("not a saved state: give `load` the bytes that `Simulation::save` returned")]
    NotAState,
    /// They are of another version of the format.
    #[error(
        "a saved state of format {found}, where {} is read: \
         load it with the version of evenstep that saved it",
        FORMAT
    )]
    Format {
        /// The version found.
        found: u32,
    },
    /// They were written with another version of Rapier, with which the run would continue differently.
    #[error(
        "a saved state of Rapier {}.{}.{}, not {}: load it with a build for that version",
        found[0], found[1], found[2], rapier::VERSION
    )]
    Rapier {
        /// Its major, minor and patch version.
        found: [u16; 3],
    },
    /// They were written by a build with other features, whose types have other fields.
    #[error(
        "a saved state of a build with other features of evenstep or Rapier: \
         load it with a build that has the same"
    )]
    Layout,
    /// There are fewer bytes than were written, or more.
    #[error(
        "a saved state of {expected} bytes has {found}: give `load` all of them, and nothing else"
    )]
    Length {
        /// How many bytes were written.
        expected: u64,
        /// How many there are.
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
/// For saved games, players who join late, and to move a running match to another process. With the feature `serde`.
///
/// ```
/// # use evenstep::rapier3d::prelude::*;
/// # use evenstep::Simulation;
/// # use std::time::Duration;
/// # let mut here = Simulation::default();
/// # let ball = here.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
/// here.advance(Duration::from_millis(20), |_, _| ());
/// let bytes = here.save()?;
/// let mut there = Simulation::load(&bytes)?;
/// for simulation in [&mut here, &mut there] {
///     simulation.advance(Duration::from_millis(70), |_, _| ());
/// }
/// assert_eq!(here.checksum(), there.checksum());
/// assert_eq!(here.pose(ball), there.pose(ball));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it holds
/// What a [clone](Simulation#the-state-as-a-value) holds, but for the events of the last frame: read them before.
/// [`Simulation`] also implements serde's traits, for a format of your own without the header.
///
/// # What holds
/// The run continues to the bit with the feature `enhanced-determinism`. Without it, Rapier has tables whose order
/// depends on their history: poses, velocities and keys are still the same, but the run may diverge later. That was
/// seen when many joints woke many sleeping bodies at once.
///
/// Rapier does not write everything of soft bodies: not where a cluster's
/// [shape-matching target](crate::rapier3d::dynamics::SoftBodyCluster::set_shape_matching_target) was in the step
/// before, and not the impulses between two meshes that
/// [overlap](crate::rapier3d::dynamics::SoftBody::volume_contacts). While there is either, a loaded run diverges in its
/// first step; a clone does not.
///
/// For any bytes the result is a state or a [`LoadError`]. The checksum detects accidents, not malice:
/// whoever can change a file can change its checksum, and Rapier does not check everything that it reads. Load states
/// of others only if they are signed by someone you trust.
impl Simulation {
    /// The state as bytes, to be read by [`load`](Self::load).
    ///
    /// ```
    /// # use evenstep::{SaveError, Simulation};
    /// # let mut simulation = Simulation::default();
    /// simulation.physics_mut().gravity.y = -1.6;
    /// // Rapier writes some changes only after a step has processed them.
    /// assert!(matches!(simulation.save(), Err(SaveError::ChangedSinceStep)));
    /// simulation.advance(std::time::Duration::from_millis(20), |_, _| ());
    /// assert!(simulation.save().is_ok());
    /// ```
    ///
    /// # Errors
    /// A [`SaveError`] if a part of it cannot be written.
    pub fn save(&self) -> Result<Vec<u8>, SaveError> {
        self.check_savable()?;
        let mut bytes = vec![0; HEADER_LEN];
        bytes = postcard::to_extend(self, bytes).map_err(|_| SaveError::NotWritable)?;
        let header = Header {
            format: FORMAT,
            rapier: rapier_version(),
            layout: layout(),
            len: bytes.len() as u64,
        };
        header.write(&mut bytes);
        Ok(bytes)
    }

    /// Reads a state that [`save`](Self::save) has written, by the same build.
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
    /// A [`LoadError`] if the bytes are not a state, or not one of this build.
    pub fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::load_with(bytes, |_| None)
    }

    /// [`load`](Self::load) of a state with [named](crate::ForceGenerator::named) forces: `force` returns the
    /// force generator of each name.
    ///
    /// If it returns `None`, as with `load`, that generator exerts no force until it is removed.
    ///
    /// ```
    /// # use evenstep::rapier3d::prelude::*;
    /// # use evenstep::{ForceGenerator, Simulation, Wrench};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let push = |_: &RigidBody, _| Wrench { force: Vector::X, ..Wrench::default() };
    /// simulation.insert_force_generator(ball, ForceGenerator::named("push", push))?;
    /// let bytes = simulation.save()?;
    ///
    /// let named = |name: &str| (name == "push").then(|| ForceGenerator::named(name, push));
    /// for (mut loaded, is_pushed) in
    ///     [(Simulation::load_with(&bytes, named)?, true), (Simulation::load(&bytes)?, false)]
    /// {
    ///     loaded.advance(Duration::from_millis(20), |_, _| ());
    ///     assert_eq!(loaded.body(ball).unwrap().linvel().x > 0.0, is_pushed);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with(
        bytes: &[u8],
        force: impl FnMut(&str) -> Option<ForceGenerator>,
    ) -> Result<Self, LoadError> {
        Header::check(bytes)?;
        let contents = postcard::take_from_bytes(&bytes[HEADER_LEN..]);
        let (mut simulation, rest): (Self, _) = contents.map_err(|_| LoadError::Contents)?;
        if !rest.is_empty() {
            return Err(LoadError::Contents);
        }
        simulation.bind_forces(force);
        Ok(simulation)
    }
}

pub(super) struct Header {
    format: u32,
    rapier: [u16; 3],
    layout: u64,
    len: u64,
}

impl Header {
    fn write(&self, bytes: &mut [u8]) {
        let parts = [
            &MAGIC[..],
            &self.format.to_le_bytes(),
            &self.rapier.map(u16::to_le_bytes).concat(),
            &self.layout.to_le_bytes(),
            &self.len.to_le_bytes(),
        ];
        let header = parts.concat();
        bytes[..header.len()].copy_from_slice(&header);
        let checksum = checksum(bytes).to_le_bytes();
        bytes[header.len()..HEADER_LEN].copy_from_slice(&checksum);
    }

    /// All that can be known before the contents are decoded.
    pub(super) fn check(bytes: &[u8]) -> Result<(), LoadError> {
        let found = bytes.len() as u64;
        let mut rest = bytes.strip_prefix(&MAGIC).ok_or(LoadError::NotAState)?;
        let too_short = LoadError::Length {
            expected: HEADER_LEN as u64,
            found,
        };
        let mut part = |len: usize| {
            let (part, after) = rest.split_at_checked(len).ok_or(too_short)?;
            rest = after;
            let mut number = [0; 8];
            number[..len].copy_from_slice(part);
            Ok(u64::from_le_bytes(number))
        };
        #[expect(clippy::cast_possible_truncation, reason = "of four bytes")]
        let format = part(4)? as u32;
        if format != FORMAT {
            return Err(LoadError::Format { found: format });
        }
        #[expect(clippy::cast_possible_truncation, reason = "of two bytes")]
        let rapier = [part(2)? as u16, part(2)? as u16, part(2)? as u16];
        let (their_layout, expected, sum) = (part(8)?, part(8)?, part(8)?);
        if expected != found {
            return Err(LoadError::Length { expected, found });
        }
        if sum != checksum(bytes) {
            return Err(LoadError::Checksum);
        }
        if rapier != rapier_version() {
            return Err(LoadError::Rapier { found: rapier });
        }
        if their_layout != layout() {
            return Err(LoadError::Layout);
        }
        Ok(())
    }
}

/// Of all bytes but those of the checksum itself.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = XxHash3_64::new();
    hasher.write(&bytes[..HEADER_LEN - 8]);
    hasher.write(&bytes[HEADER_LEN..]);
    hasher.finish()
}

fn rapier_version() -> [u16; 3] {
    let mut parts = rapier::VERSION.split(['.', '-', '+']);
    [(); 3].map(|()| parts.next().and_then(|part| part.parse().ok()).unwrap_or(0))
}

/// What a small state looks like in bytes. Features of Rapier that add fields to its types change it, and
/// nothing else shows which are turned on. After a step, in which two bodies touch, only its size: not every
/// platform computes the same bits.
fn layout() -> u64 {
    let mut sample = Simulation::default();
    for _ in 0..2 {
        sample.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    }
    let before = postcard::to_stdvec(&sample).unwrap_or_default();
    sample.advance(sample.clock().rate().period() * 2, |_, _| ());
    let after = postcard::to_stdvec(&sample).unwrap_or_default();
    XxHash3_64::oneshot(&before) ^ after.len() as u64
}
