//! Spans for profilers, with the feature `tracing`. Without the feature, the library contains no span code.

/// Enters a span of this name until the end of the block.
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)* $(,)?) => {
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!($name $(, $field = $value)*).entered();
    };
}

/// Enters the span of the next frame of a simulation, which lasts `$frame_time`, until the end of the block.
macro_rules! frame_span {
    ($simulation:expr, $frame_time:expr) => {
        span!(
            "frame",
            number = $simulation.frame().number.saturating_add(1),
            frame_time = $frame_time.as_secs_f64()
        )
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
