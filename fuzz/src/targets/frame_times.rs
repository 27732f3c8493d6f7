//! Captures of frame times, as the examples read them.

use std::time::Duration;

use evenstep::Rate;
use evenstep::time::{Clock, FrameFilter};
use mutatis::{Result, Session};

use crate::mutate::{Bytes, TEXT};
use crate::tally::Tally;
use scenes::frame_times as reader;

pub fn seeds() -> Vec<Vec<u8>> {
    let shipped = include_str!("../../../examples/hecs_game/frame-times.csv");
    let shipped: Vec<&str> = shipped.lines().take(60).collect();
    [
        &shipped.join("\n"),
        "Application,TimeInSeconds,MsBetweenPresents\nGame.exe,0.1,16.5\nGame.exe,0.2,7.25\n",
        "os,cpu,gpu\nLinux,Some CPU,Some GPU\nfps,frametime,cpu_load\n60.6,16500,10\n137.9,7250,10\n",
        "# milliseconds\n16.5\n\n 7.25 \n0\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

pub fn mutate(input: &mut Vec<u8>, session: &mut Session) -> Result<()> {
    session.mutate_with(
        &mut Bytes {
            from: 0,
            words: TEXT,
        },
        input,
    )
}

/// Checks that the steps and the remainder of a clock add up to the time of the frames.
pub fn run(input: &[u8], tally: &mut Tally) {
    let Some(times) = tally.load(input.len(), || reader::read(input)) else {
        return;
    };
    let rate = Rate::hz(1_000);
    let mut clock = Clock::new(rate);
    clock.settings_mut().set_max_frame_time(Duration::MAX);
    let filters = [
        FrameFilter::snapping(rate.period(), Duration::from_micros(200)),
        FrameFilter::averaging(8),
    ];
    let mut filters = filters.map(|filter| filter.expect("the settings are valid"));
    let mut sum = Duration::ZERO;
    for time in times {
        clock.begin_frame(time);
        for filter in &mut filters {
            let _ = filter.filter(time);
        }
        sum = sum.saturating_add(time);
        tally.operations += 3;
        // More steps than this are not counted one by one.
        if clock.due() > 1_000 {
            break;
        }
        while clock.next_step().is_some() {
            tally.operations += 1;
        }
        assert_eq!(clock.real_time(), sum);
        assert_eq!(
            u128::from(clock.tick()),
            sum.as_nanos() / 1_000_000,
            "{sum:?}"
        );
    }
}
