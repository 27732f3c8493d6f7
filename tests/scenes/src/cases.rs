//! The number of cases of a random test.

/// Returns the number of cases of a random test. `PROPTEST_CASES` scales it: 256, its default, leaves it at `usual`.
pub fn scaled(usual: u32) -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    let asked = asked.and_then(|cases| cases.parse().ok()).unwrap_or(256u64);
    let scaled = asked.saturating_mul(usual.into()) / 256;
    u32::try_from(scaled.max(1)).unwrap_or(u32::MAX)
}
