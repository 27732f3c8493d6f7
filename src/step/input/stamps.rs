//! Checks time stamps, and replaces those that are not credible.

use std::time::Duration;

use crate::time::Step;

use super::InputQueue;

impl<T> InputQueue<T> {
    /// Detects a restarted clock. A frame ends before the previous one only with a different clock. Stamps from the old
    /// clock are then meaningless.
    pub(super) fn notice_restart(&mut self, step: Step) {
        if step.real_frame_end < self.frame_end {
            self.counts.restarts = self.counts.restarts.saturating_add(1);
            self.checked = 0;
            self.newest = Duration::ZERO;
        }
        self.frame_end = step.real_frame_end;
    }

    /// Replaces stamps of new samples that are not credible or not in order.
    pub(super) fn check(&mut self, step: Step) {
        self.limit_checked();
        let latest = step.real_frame_end.saturating_add(lead(step));
        // It is unknown which of two stamps is wrong. A sample that comes early does less harm than one that is held
        // back.
        let mut next = latest;
        let new = self.waiting.range_mut(self.checked..).rev();
        for (time, _) in new.filter(|(time, _)| *time <= latest) {
            next = next.min(*time).max(self.newest);
            if *time > next {
                self.counts.reordered = self.counts.reordered.saturating_add(1);
                *time = next;
            }
        }
        for (time, _) in self.waiting.range_mut(self.checked..) {
            if *time > latest {
                self.counts.future = self.counts.future.saturating_add(1);
                *time = step.real_start.max(self.newest);
            }
            if *time < self.newest {
                self.counts.reordered = self.counts.reordered.saturating_add(1);
                *time = self.newest;
            }
            self.newest = *time;
        }
        self.checked = self.waiting.len();
    }

    /// Moves the samples with a time before `end` to the front, in the order in which they were pushed, and returns
    /// their number. They count as checked, because a late stamp is credible.
    pub(super) fn move_late_to_front(&mut self, end: Duration) -> usize {
        self.limit_checked();
        let is_late = |(time, _): &(Duration, T)| *time < end;
        let unchecked = self.waiting.range(self.checked..);
        self.checked += unchecked.filter(|sample| is_late(sample)).count();
        let (late, rest): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(is_late);
        let count = late.len();
        self.waiting.extend(late.into_iter().chain(rest));
        count
    }

    /// Limits `checked`: a deserialised queue may claim to have checked more samples than it holds.
    fn limit_checked(&mut self) {
        self.checked = self.checked.min(self.waiting.len());
    }
}

/// Returns how far past the end of the frame a stamp is credible: one step.
///
/// Stamps slightly ahead are valid, because the device was read after the frame's end. A longer lead would let a bad
/// stamp hold back all input behind it for that much longer.
///
/// In real time a step lasts longer than its length in slow motion and after a pause, and shorter at a high speed. The
/// shorter of the two bounds both the wait and the steps run meanwhile.
fn lead(step: Step) -> Duration {
    let simulated = step.end_time.saturating_sub(step.time);
    let real = step.real_end.saturating_sub(step.real_start);
    simulated.min(real)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{MS, clock, frame};
    use super::super::{Delivery, InputCounts};
    use super::*;
    use crate::time::{Clock, Rate};

    #[test]
    fn stamps_are_made_monotonic_and_future_stamps_are_limited() {
        let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::ByTime));
        queue.push(MS(8), 1); // later than the next stamp: counts as 3 ms
        queue.push(MS(3), 2);
        queue.push(Duration::MAX, 3); // future: counts as the step's start, and so as 3 ms
        queue.push(MS(9), 4); // not delayed by it
        queue.push(MS(18), 5); // a step ahead at most: accepted
        assert_eq!(frame(&mut clock, 10, &mut queue), [(0, vec![1, 2, 3, 4])]);
        assert_eq!(frame(&mut clock, 10, &mut queue), [(1, vec![5])]);
        let expected = InputCounts {
            reordered: 1,
            future: 1,
            ..InputCounts::default()
        };
        assert_eq!(queue.counts(), expected);
    }

    #[test]
    fn a_stamp_in_the_future_does_not_delay_later_samples() {
        // There are 144 steps per second, five in a frame. The first stamp is at the frame's end or after it.
        for ahead in [0, 6, 7, 1_000] {
            let mut clock = Clock::new(Rate::hz(144).unwrap());
            let mut queue = InputQueue::new(Delivery::ByTime);
            for start in [0, 35, 70] {
                queue.push(MS(start + 35 + ahead), 1);
                queue.push(MS(start + 3), 2);
                queue.push(MS(start + 17), 3);
                let steps = frame(&mut clock, 35, &mut queue);
                let inputs = steps.iter().filter(|(_, inputs)| !inputs.is_empty());
                let tick = |ms| ms * 144 / 1_000;
                let expected = [(tick(start + 3), vec![1, 2]), (tick(start + 17), vec![3])];
                assert!(inputs.eq(&expected), "{ahead}: {steps:?}");
            }
            let counts = queue.counts();
            assert_eq!(counts.reordered + counts.future, 3);
            assert_eq!(counts.late, 0);
        }
    }

    #[test]
    fn drain_all_returns_queued_samples_once_and_resets_the_newest_stamp() {
        let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::ByTime));
        queue.push(MS(2), 1);
        queue.push(MS(19), 2);
        assert_eq!(frame(&mut clock, 10, &mut queue), [(0, vec![1])]);
        queue.push(MS(12), 3);
        assert_eq!(queue.drain_all().collect::<Vec<_>>(), [2, 3]);
        assert!(queue.is_empty());
        queue.push(Duration::MAX, 4); // checked, although an earlier sample had this index
        queue.push(MS(11), 5);
        assert_eq!(frame(&mut clock, 10, &mut queue), [(1, vec![4, 5])]);
        let expected = InputCounts {
            future: 1,
            ..InputCounts::default()
        };
        assert_eq!(queue.counts(), expected);
    }

    #[test]
    fn samples_queued_before_a_clock_restart_go_to_its_first_step() {
        let (mut old, mut queue) = (clock(), InputQueue::new(Delivery::ByTime));
        frame(&mut old, 200, &mut queue);
        queue.push(MS(215), 1);
        assert_eq!(frame(&mut old, 10, &mut queue), [(20, vec![])]);
        assert_eq!(frame(&mut clock(), 10, &mut queue), [(0, vec![1])]);
        assert_eq!(queue.counts().restarts, 1);
    }

    #[test]
    fn slow_motion_does_not_extend_how_far_ahead_stamps_are_accepted() {
        let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::ByTime));
        clock.settings_mut().set_speed(0.1).unwrap();
        queue.push(MS(150), 1); // half a step of 100 ms ahead, and five of 10 ms
        queue.push(MS(105), 2);
        assert_eq!(frame(&mut clock, 100, &mut queue), [(0, vec![1])]);
        assert_eq!(frame(&mut clock, 100, &mut queue), [(1, vec![2])]);
        assert_eq!(queue.counts().future, 1);
    }
}
