//! Cut or damaged recordings, and files that are not recordings.

use super::*;

#[test]
fn a_truncated_recording_replays_up_to_the_cut() {
    let bytes = record_balls(10, settings(4));
    let whole = Recording::read(&bytes[..]).unwrap();
    assert!(whole.runs()[0].keyframes.len() > 1);
    let run = play(&whole);
    let (mut played_to, mut played) = (0, 0);
    for cut in 0..bytes.len() {
        let recording = match Recording::read(&bytes[..cut]) {
            Err(error) => {
                assert!(cut < 12, "{cut}: {error}");
                assert_eq!(error, ReplayError::NotARecording);
                continue;
            }
            Ok(recording) => recording,
        };
        let RecordingEnd::Cut { at } = recording.ending() else {
            panic!("{cut}: {recording:?}");
        };
        assert!(at <= cut as u64 && at >= played_to);
        if at == played_to {
            continue;
        }
        // One more chunk is readable.
        played_to = at;
        let frames = play(&recording);
        let (last, others) = frames.split_last().unwrap_or((&(0, 0), &[]));
        assert_eq!(others, &run[..others.len()]);
        let steps_made = last.0;
        assert!(frames.is_empty() || steps_made <= run[others.len()].0);
        assert!(frames.len() >= played);
        played = frames.len();
    }
    assert_eq!((played, played_to), (run.len(), bytes.len() as u64 - 9));
    // Without its end, the recording has all its frames but counts as cut.
    let cut = Recording::read(&bytes[..bytes.len() - 9]).unwrap();
    assert_eq!(play(&cut), run);
}

#[test]
fn a_flipped_bit_is_detected_and_earlier_frames_replay() {
    let bytes = record_balls(10, settings(4));
    let run = play(&Recording::read(&bytes[..]).unwrap());
    for at in (0..bytes.len()).step_by(3) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        let Ok(recording) = Recording::read(changed) else {
            continue;
        };
        let end = match recording.ending() {
            RecordingEnd::Cut { at } | RecordingEnd::Damaged { at } => at as usize,
            ending => panic!("{ending:?}"),
        };
        assert!(end <= at, "{end} of {at}");
        let frames = play(&recording);
        let whole = frames.len().saturating_sub(1);
        assert_eq!(frames[..whole], run[..whole]);
    }
}
