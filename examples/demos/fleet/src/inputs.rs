//! The input of a match, tick by tick.

use std::collections::{BTreeMap, VecDeque};

use evenstep_prediction::game::{Buttons, PLAYERS};
use serde::{Deserialize, Serialize};

use crate::packets::{FromClient, Row};

/// Input is accepted this far ahead, in ticks: ten seconds. Later input is ignored.
const AHEAD: u64 = 600;

/// The input that the players of a match have sent.
///
/// Missing input does not hold up a step. The player then keeps its last buttons, and all players learn which row was
/// applied. So the applied rows are the truth. A server that takes up an older state runs the later steps with the rows
/// that the clients received.
#[derive(Debug, Serialize, Deserialize)]
pub struct Inputs {
    players: usize,
    /// The tick of the next step.
    next: u64,
    /// The row of the previous step.
    last: Row,
    /// The number of inputs that were missing when their step was due.
    #[serde(skip)]
    pub missing: u64,
    /// The rows that an earlier server applied, from `next` on.
    #[serde(skip)]
    before: VecDeque<Row>,
    /// The tick up to which each player has received rows, or `None` if it has not joined.
    #[serde(skip)]
    seen: [Option<u64>; PLAYERS],
    #[serde(skip)]
    own: [BTreeMap<u64, Buttons>; PLAYERS],
}

impl Inputs {
    /// Creates the input for `players` players, before the first step.
    #[must_use]
    pub fn new(players: usize) -> Self {
        Self {
            players,
            next: 0,
            last: Row::default(),
            missing: 0,
            before: VecDeque::new(),
            seen: [None; PLAYERS],
            own: Default::default(),
        }
    }

    /// Returns the number of players.
    #[must_use]
    pub fn players(&self) -> usize {
        self.players
    }

    /// Returns the tick of the next step.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns the row of the previous step.
    #[must_use]
    pub fn last(&self) -> Row {
        self.last
    }

    /// Receives a packet from a player of this match.
    pub fn receive(&mut self, packet: &FromClient) {
        let player = usize::from(packet.player);
        let Some(seen) = self.seen[..self.players].get_mut(player) else {
            return;
        };
        *seen = Some(packet.seen.max(seen.unwrap_or(0)));
        for (tick, buttons) in (packet.seen..).zip(&packet.own) {
            if (self.next..self.next + AHEAD).contains(&tick) {
                self.own[player].entry(tick).or_insert(*buttons);
            }
        }
    }

    /// Receives rows that an earlier server applied, from the step of tick `first` on.
    pub fn receive_rows(&mut self, first: u64, rows: &[Row]) {
        // There must be no gap before the wanted row.
        if let Some(known) = self.wants().checked_sub(first) {
            self.before.extend(rows.iter().skip(known as usize));
        }
    }

    /// Returns the tick of the first unknown row.
    #[must_use]
    pub fn wants(&self) -> u64 {
        self.next + self.before.len() as u64
    }

    /// Returns whether all players have joined, and all rows that any of them received are known.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let mut seen = self.seen[..self.players].iter();
        seen.all(|seen| seen.is_some_and(|seen| seen <= self.wants()))
    }

    /// Returns whether the next step has run before, on another server.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.before.is_empty()
    }

    /// Returns the row of the next step.
    pub fn take(&mut self) -> Row {
        let own = (self.own.each_mut()).map(|own| own.remove(&self.next));
        let row = self.before.pop_front().unwrap_or_else(|| {
            let mut row = self.last;
            for (buttons, own) in row.iter_mut().zip(own).take(self.players) {
                self.missing += u64::from(own.is_none());
                *buttons = own.unwrap_or(*buttons);
            }
            row
        });
        self.next += 1;
        self.last = row;
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the input for `players` players from a tick on.
    fn from(next: u64, players: usize) -> Inputs {
        Inputs {
            next,
            ..Inputs::new(players)
        }
    }

    /// Returns the next row, and the number of missing inputs.
    fn take(inputs: &mut Inputs) -> (Row, u64) {
        (inputs.take(), std::mem::take(&mut inputs.missing))
    }

    /// Creates a packet of a player that has received the ticks before `seen`.
    fn packet(player: u8, seen: u64, (first, rows): (u64, &[u8]), own: &[u8]) -> FromClient {
        FromClient {
            id: 0,
            player,
            have: 0,
            seen,
            first,
            rows: self::rows(rows),
            own: own.iter().copied().map(Buttons).collect(),
        }
    }

    fn rows(rows: &[u8]) -> Vec<Row> {
        rows.iter().map(|row| [Buttons(*row); PLAYERS]).collect()
    }

    fn row(first: u8, second: u8) -> Row {
        [Buttons(first), Buttons(second), Buttons(0), Buttons(0)]
    }

    #[test]
    fn a_player_without_new_input_keeps_its_last_buttons() {
        let mut inputs = from(0, 2);
        inputs.receive(&packet(0, 0, (0, &[]), &[1, 2, 3]));
        inputs.receive(&packet(1, 1, (0, &[]), &[9]));
        assert_eq!(take(&mut inputs), (row(1, 0), 1));
        assert_eq!(take(&mut inputs), (row(2, 9), 0));
        assert_eq!(take(&mut inputs), (row(3, 9), 1));
        assert_eq!(take(&mut inputs), (row(3, 9), 2));
    }

    #[test]
    fn input_is_ignored_if_late_repeated_too_early_or_from_unknown_players() {
        let mut inputs = from(5, 2);
        inputs.receive(&packet(0, 4, (0, &[]), &[7, 1]));
        inputs.receive(&packet(0, 5, (0, &[]), &[8]));
        inputs.receive(&packet(2, 5, (0, &[]), &[8]));
        inputs.receive(&packet(1, u64::MAX, (0, &[]), &[8]));
        assert_eq!(take(&mut inputs), (row(1, 0), 1));
    }

    #[test]
    fn rows_applied_by_an_earlier_server_are_applied_again() {
        let mut inputs = from(60, 2);
        assert!(!inputs.is_complete());
        // One player has received 63 steps, the other 65.
        inputs.receive(&packet(0, 63, (60, &[]), &[8, 8, 8]));
        assert!(!inputs.is_complete());
        let second = packet(1, 65, (60, &[3, 4, 5, 6, 7]), &[9]);
        inputs.receive(&second);
        assert!(!inputs.is_complete());
        inputs.receive_rows(second.first, &second.rows);
        inputs.receive_rows(60, &rows(&[3, 4, 5]));
        assert!(inputs.is_complete() && inputs.wants() == 65);
        for known in 3..=7 {
            assert!(inputs.is_known());
            assert_eq!(take(&mut inputs), ([Buttons(known); PLAYERS], 0));
        }
        // The first player's own input for earlier ticks was ignored.
        assert!(!inputs.is_known());
        let (row, missing) = take(&mut inputs);
        assert_eq!((row[0], row[1], missing), (Buttons(8), Buttons(9), 0));
    }

    #[test]
    fn rows_after_a_gap_are_ignored() {
        let mut inputs = from(10, 1);
        inputs.receive_rows(11, &rows(&[1, 2]));
        assert_eq!(inputs.wants(), 10);
        inputs.receive_rows(8, &rows(&[1, 2, 3]));
        assert_eq!(inputs.wants(), 11);
    }
}
