//! Methods of features that are off, whose error message names the feature.

#[cfg(not(feature = "serde"))]
mod serde {
    use crate::{Physics, Simulation};

    #[diagnostic::on_unimplemented(
        message = "states are saved and loaded with the feature `serde`, which is off",
        label = "needs the feature `serde`",
        note = "in `Cargo.toml`: `evenstep = {{ ..., features = [\"serde\"] }}`"
    )]
    pub trait Serde {}

    /// The bounds name a lifetime, so that the compiler checks them only where a method is called.
    macro_rules! saved {
        ($($state:ty),*) => {$(
            #[doc(hidden)]
            impl $state {
                pub fn save(&self) -> Result<Vec<u8>, String>
                where
                    for<'a> Self: Serde,
                {
                    unreachable!("the bound does not hold")
                }

                pub fn load(_: &[u8]) -> Result<Self, String>
                where
                    for<'a> Self: Serde,
                {
                    unreachable!("the bound does not hold")
                }
            }
        )*};
    }

    saved!(Simulation, Physics);
}

#[cfg(not(feature = "checksum"))]
mod checksum {
    use crate::Physics;

    #[diagnostic::on_unimplemented(
        message = "checksums are computed with the feature `checksum`, which is off",
        label = "needs the feature `checksum`",
        note = "in `Cargo.toml`: `evenstep = {{ ..., features = [\"checksum\"] }}`"
    )]
    pub trait Checksum {}

    /// The bound names a lifetime, so that the compiler checks it only where the method is called.
    #[doc(hidden)]
    impl Physics {
        pub fn checksum(&self) -> u64
        where
            for<'a> Self: Checksum,
        {
            unreachable!("the bound does not hold")
        }
    }
}
