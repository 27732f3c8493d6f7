//! What goes over UDP between a client and the server of its match.

use serde::{Deserialize, Serialize};

use crate::game::{Buttons, PLAYERS};

pub use crate::wire::{read, write};

/// A match's number in the whole fleet.
pub type Id = u64;

/// What each player held down in a step.
pub type Row = [Buttons; PLAYERS];

/// Bytes: a packet of this size is not split on the way, whatever the way.
pub const LARGEST: usize = 1_200;
/// Of rows in a packet, four bytes each: what has no room is sent with the next.
pub const MOST_ROWS: usize = 250;
/// Of steps in a packet, up to fourteen bytes each.
pub const MOST_STEPS: usize = 60;

/// What a client sends whenever something came from the server, and now and then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromClient {
    /// The match.
    pub id: Id,
    /// Which of its players this is.
    pub player: u8,
    /// The tick up to which it has heard from this server.
    pub have: u64,
    /// The tick up to which it has heard from any: the next is the first that it knows nothing of.
    pub seen: u64,
    /// The tick of the first of the rows.
    pub first: u64,
    /// What servers said they had applied, as far as this one does not know it.
    pub rows: Vec<Row>,
    /// Its own input from tick `seen` on.
    pub own: Vec<Buttons>,
}

/// What a server sends to each player of a match, twenty times a second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromServer {
    /// The match.
    pub id: Id,
    /// The tick at which this server took the match up.
    pub base: u64,
    /// The tick of the first row that it does not know.
    pub wants: u64,
    /// The tick of the first of the steps.
    pub first: u64,
    /// What was applied in each step, and the checksum after it.
    pub steps: Vec<(Row, u64)>,
    /// It is no longer here: look for it elsewhere.
    pub is_moved: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_packets_are_not_split() {
        let client = FromClient {
            id: u64::MAX,
            player: u8::MAX,
            have: u64::MAX,
            seen: u64::MAX,
            first: u64::MAX,
            rows: vec![[Buttons(u8::MAX); PLAYERS]; MOST_ROWS],
            own: vec![Buttons(u8::MAX); 20],
        };
        let server = FromServer {
            id: u64::MAX,
            base: u64::MAX,
            wants: u64::MAX,
            first: u64::MAX,
            steps: vec![([Buttons(u8::MAX); PLAYERS], u64::MAX); MOST_STEPS],
            is_moved: true,
        };
        let (from_client, from_server) = (write(&client), write(&server));
        assert!(from_client.len() <= LARGEST && from_server.len() <= LARGEST);
        assert_eq!(read(&from_client), Some(client));
        assert_eq!(read(&from_server), Some(server));
    }
}
