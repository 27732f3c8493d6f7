//! The colours of bodies, kept in Rapier's user data.

/// The look of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Squares in two greys.
    Floor,
    /// Fixed bodies.
    Stone,
    /// The plotted body.
    Followed,
    /// One of the colours of crates and balls.
    Piece(u8),
}

/// The sRGB colours of the pieces.
const PIECES: [[f32; 3]; 5] = [
    [0.16, 0.50, 0.73],
    [0.93, 0.68, 0.20],
    [0.20, 0.62, 0.52],
    [0.55, 0.43, 0.72],
    [0.85, 0.87, 0.88],
];

impl Paint {
    /// Returns the sRGB colour.
    #[must_use]
    pub fn rgb(self) -> [f32; 3] {
        match self {
            Self::Floor => [0.62, 0.64, 0.66],
            Self::Stone => [0.42, 0.45, 0.50],
            Self::Followed => [0.86, 0.18, 0.13],
            Self::Piece(number) => PIECES[usize::from(number) % PIECES.len()],
        }
    }
}

impl From<Paint> for u128 {
    fn from(paint: Paint) -> Self {
        match paint {
            Paint::Floor => 1,
            Paint::Stone => 2,
            Paint::Followed => 3,
            Paint::Piece(number) => 4 + Self::from(number),
        }
    }
}

impl From<u128> for Paint {
    fn from(data: u128) -> Self {
        match data {
            1 => Self::Floor,
            0 | 2 => Self::Stone,
            3 => Self::Followed,
            number => Self::Piece(u8::try_from(number - 4).unwrap_or(u8::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paint_comes_back_from_user_data() {
        for paint in [
            Paint::Floor,
            Paint::Stone,
            Paint::Followed,
            Paint::Piece(0),
            Paint::Piece(255),
        ] {
            assert_eq!(Paint::from(u128::from(paint)), paint);
        }
    }
}
