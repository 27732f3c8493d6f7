/// A random number generator with eight bytes of state: SplitMix64.
#[derive(Clone, Debug, Hash)]
pub struct Random(u64);

impl Random {
    /// Creates a generator. The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a whole number below `end`, which must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// Returns a number from -1 to 1, in steps of a thousandth.
    pub fn signed(&mut self) -> f32 {
        (self.below(2_001) as f32 - 1_000.0) / 1_000.0
    }
}
