//! The input of a match, tick by tick.

use std::collections::{BTreeMap, VecDeque};

use crate::game::{Buttons, PLAYERS};
use crate::packets::{FromClient, Row};

/// How far ahead input is taken, in ticks: ten seconds. What a client sends beyond is none.
const AHEAD: u64 = 600;

/// What the players of a match have sent.
///
/// Input that is not there when its step is due does not hold up the step: the player is taken to hold down what it
/// held before, and everybody is told which row was applied. So the rows that were applied are the truth, and a server
/// that takes the match up from an older state makes the steps after it by the rows that the clients were told.
#[derive(Debug)]
pub struct Inputs {
    /// The tick of the next step.
    next: u64,
    /// Applied in the step before it.
    last: Row,
    /// Applied by a server before this one, from `next` on.
    before: VecDeque<Row>,
    /// Up to which tick each player was told what was applied; `None` for who has not joined.
    seen: Vec<Option<u64>>,
    own: [BTreeMap<u64, Buttons>; PLAYERS],
}

impl Inputs {
    /// For so many players, from the step of tick `next` on.
    #[must_use]
    pub fn new(players: usize, next: u64, last: Row) -> Self {
        Self {
            next,
            last,
            before: VecDeque::new(),
            seen: vec![None; players],
            own: Default::default(),
        }
    }

    /// Takes a packet of a player of this match.
    pub fn receive(&mut self, packet: &FromClient) {
        let player = usize::from(packet.player);
        let Some(seen) = self.seen.get_mut(player) else {
            return;
        };
        *seen = Some(packet.seen.max(seen.unwrap_or(0)));
        for (tick, buttons) in (packet.seen..).zip(&packet.own) {
            if (self.next..self.next + AHEAD).contains(&tick) {
                self.own[player].entry(tick).or_insert(*buttons);
            }
        }
    }

    /// Takes those rows of a packet that are not known yet: what a server before this one applied.
    pub fn receive_rows(&mut self, packet: &FromClient) {
        let wanted = self.wants();
        let rows = (packet.first..).zip(&packet.rows);
        // Without a gap: the first is wanted, or one before it.
        if packet.first <= wanted {
            (self.before).extend(rows.filter(|(tick, _)| *tick >= wanted).map(|(_, row)| row));
        }
    }

    /// The tick of the first row that is not known.
    #[must_use]
    pub fn wants(&self) -> u64 {
        self.next + self.before.len() as u64
    }

    /// Whether everybody is here, and all rows that anybody was told.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        (self.seen.iter()).all(|seen| seen.is_some_and(|seen| seen <= self.wants()))
    }

    /// Whether the next step was made before.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.before.is_empty()
    }

    /// The row of the next step, and of how many players it was not there.
    pub fn take(&mut self) -> (Row, u64) {
        let own = (self.own.each_mut()).map(|own| own.remove(&self.next));
        let mut missing = 0;
        let row = self.before.pop_front().unwrap_or_else(|| {
            let mut row = self.last;
            for (buttons, own) in row.iter_mut().zip(own).take(self.seen.len()) {
                missing += u64::from(own.is_none());
                *buttons = own.unwrap_or(*buttons);
            }
            row
        });
        self.next += 1;
        self.last = row;
        (row, missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Row = [Buttons(0); PLAYERS];

    /// A packet of a player that has heard of the ticks before `seen`.
    fn packet(player: u8, seen: u64, (first, rows): (u64, &[u8]), own: &[u8]) -> FromClient {
        FromClient {
            id: 0,
            player,
            have: 0,
            seen,
            first,
            rows: rows.iter().map(|row| [Buttons(*row); PLAYERS]).collect(),
            own: own.iter().copied().map(Buttons).collect(),
        }
    }

    fn row(first: u8, second: u8) -> Row {
        [Buttons(first), Buttons(second), Buttons(0), Buttons(0)]
    }

    #[test]
    fn each_player_has_its_own_and_keeps_it_where_nothing_came() {
        let mut inputs = Inputs::new(2, 0, NONE);
        inputs.receive(&packet(0, 0, (0, &[]), &[1, 2, 3]));
        inputs.receive(&packet(1, 1, (0, &[]), &[9]));
        assert_eq!(inputs.take(), (row(1, 0), 1));
        assert_eq!(inputs.take(), (row(2, 9), 0));
        assert_eq!(inputs.take(), (row(3, 9), 1));
        assert_eq!(inputs.take(), (row(3, 9), 2));
    }

    #[test]
    fn what_comes_too_late_twice_or_from_nobody_is_none() {
        let mut inputs = Inputs::new(2, 5, NONE);
        inputs.receive(&packet(0, 4, (0, &[]), &[7, 1]));
        inputs.receive(&packet(0, 5, (0, &[]), &[8]));
        inputs.receive(&packet(2, 5, (0, &[]), &[8]));
        inputs.receive(&packet(1, u64::MAX, (0, &[]), &[8]));
        assert_eq!(inputs.take(), (row(1, 0), 1));
    }

    #[test]
    fn what_was_applied_before_is_applied_again() {
        let mut inputs = Inputs::new(2, 60, row(1, 2));
        assert!(!inputs.is_complete());
        // One was told of 63 steps, the other of 65.
        inputs.receive(&packet(0, 63, (60, &[]), &[8, 8, 8]));
        assert!(!inputs.is_complete());
        let second = packet(1, 65, (60, &[3, 4, 5, 6, 7]), &[9]);
        inputs.receive(&second);
        assert!(!inputs.is_complete());
        inputs.receive_rows(&second);
        inputs.receive_rows(&packet(0, 63, (60, &[3, 4, 5]), &[]));
        assert!(inputs.is_complete() && inputs.wants() == 65);
        for known in 3..=7 {
            assert!(inputs.is_known());
            assert_eq!(inputs.take(), ([Buttons(known); PLAYERS], 0));
        }
        // Its own input of the ticks before is none, whatever it was.
        assert!(!inputs.is_known());
        let (row, missing) = inputs.take();
        assert_eq!((row[0], row[1], missing), (Buttons(8), Buttons(9), 0));
    }

    #[test]
    fn rows_with_a_gap_are_not_taken() {
        let mut inputs = Inputs::new(1, 10, NONE);
        inputs.receive_rows(&packet(0, 20, (11, &[1, 2]), &[]));
        assert_eq!(inputs.wants(), 10);
        inputs.receive_rows(&packet(0, 20, (8, &[1, 2, 3]), &[]));
        assert_eq!(inputs.wants(), 11);
    }
}
