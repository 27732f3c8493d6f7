//! Spans for profilers, with the feature `tracing`. Without the feature, the library contains no span code.

/// Enters a span of this name until the end of the block.
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)* $(,)?) => {
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!($name $(, $field = $value)*).entered();
    };
}
