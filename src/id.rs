//! Numbers that distinguish values that may otherwise be equal.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that is unique in the process. A copy gets a new one.
#[derive(Debug, PartialEq, Eq)]
pub struct Id(u64);

impl Id {
    /// Returns the number, which is never 0.
    pub fn number(&self) -> u64 {
        self.0
    }
}

impl Default for Id {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clone for Id {
    fn clone(&self) -> Self {
        Self::default()
    }
}
