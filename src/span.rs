//! Spans for profilers, with the feature `tracing`. Without the feature, the library contains no span code.

/// Enters a span of this name until the end of the block.
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)* $(,)?) => {
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!($name $(, $field = $value)*).entered();
    };
}

/// Enters the span of a step until the end of the block.
macro_rules! step_span {
    ($step:expr) => {
        span!(
            "step",
            tick = $step.tick,
            is_resimulated = $step.is_resimulated
        )
    };
}
