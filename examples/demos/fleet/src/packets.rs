//! The packets between a client and the server of its match, over UDP.

use evenstep_prediction::game::{Buttons, PLAYERS};
use evenstep_server::match_::Id;
use serde::{Deserialize, Serialize};

pub use evenstep_prediction::packets::{read, write};

/// The buttons that each player held down in a step.
pub type Row = [Buttons; PLAYERS];

/// The largest packet in bytes. No network splits a packet of this size.
pub const LARGEST: usize = 1_200;
/// The largest number of rows in a packet, four bytes each. The rest is sent with the next packet.
pub const MOST_ROWS: usize = 250;
/// The largest number of steps in a packet, up to fourteen bytes each.
pub const MOST_STEPS: usize = 60;

/// A packet from a client, sent after every packet from the server, and from time to time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromClient {
    /// The match.
    pub id: Id,
    /// The number of this player in the match.
    pub player: u8,
    /// The tick up to which the client has received steps from this server.
    pub have: u64,
    /// The tick up to which it has received steps from any server, which is the first unknown tick.
    pub seen: u64,
    /// The tick of the first of the rows.
    pub first: u64,
    /// Rows that servers have applied and that this server does not know.
    pub rows: Vec<Row>,
    /// The client's input from tick `seen` on.
    pub own: Vec<Buttons>,
}

/// A packet from a server to each player of a match, sent twenty times per second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromServer {
    /// The match.
    pub id: Id,
    /// The tick at which this server took the match up.
    pub base: u64,
    /// The tick of the first row that the server does not know.
    pub wants: u64,
    /// The tick of the first of the steps.
    pub first: u64,
    /// The row that was applied in each step, and the checksum after it.
    pub steps: Vec<(Row, u64)>,
    /// Whether the match has moved to another server, which the client must find.
    pub is_moved: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_packets_stay_within_the_size_limit() {
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
