//! A size of pictures on the command line.

/// Reads a size such as `1280x720`.
pub fn size(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('x');
    let size = parts.and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let is_sensible =
        |size: &(u32, u32)| (320..8_000).contains(&size.0) && (240..8_000).contains(&size.1);
    size.filter(is_sensible)
        .ok_or_else(|| "a size looks like 1280x720".into())
}
