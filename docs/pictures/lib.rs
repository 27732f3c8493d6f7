//! The style of the book's pictures, and the picture that a bench draws.

/// Nanoseconds per body, from few bodies to many.
pub mod growth;
/// Colours, fonts and lines.
pub mod style;
