//! Spans for profilers, with the feature `tracing`; without it there is nothing of them in the library.

/// Enters a span of this name until the end of the block.
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)* $(,)?) => {
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!($name $(, $field = $value)*).entered();
    };
}
