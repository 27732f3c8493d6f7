//! The reader of captures, on good and bad files.

use scenes::frame_times::{TraceError, read};
use std::time::Duration;

fn micros(text: &str) -> Result<Vec<u128>, TraceError> {
    let times = read(text.as_bytes())?;
    Ok(times.iter().map(Duration::as_micros).collect())
}

#[test]
fn presentmon_1_and_2_mangohud_and_plain_lists_are_parsed() {
    let presentmon = "Application,TimeInSeconds,MsBetweenPresents\n\
                      Game.exe,0.1,16.5\nGame.exe,0.2,7.25\n";
    let presentmon_2 = "Application,ProcessID,FrameTime,CPUBusy\r\n\
                        Game.exe,1,16.5,3.0\r\nGame.exe,1,7.25,3.0\r\n";
    let mangohud = "os,cpu,gpu,ram,kernel,driver,cpuscheduler\n\
                    Linux,Some CPU,Some GPU,16,6.1,Mesa,schedutil\n\
                    fps,frametime,cpu_load,elapsed\n60.6,16.5,10,1\n137.9,7.25,10,2\n";
    let mangohud_in_micros = "v1\n0.6.8\n---SYSTEM INFO---\nos,cpu\nLinux,Some CPU\n\
                              ---FRAME METRICS---\nfps,frametime,elapsed\n\
                              60.606,16500,1\n137.931,7250,2\n";
    let plain = "# milliseconds\n16.5\n\n 7.25 \n";
    let with_mark = "\u{feff}MsBetweenPresents\n16.5\n7.25\n";
    for text in [
        presentmon,
        presentmon_2,
        mangohud,
        mangohud_in_micros,
        plain,
        with_mark,
    ] {
        assert_eq!(micros(text).unwrap(), [16_500, 7_250], "{text}");
    }
}

#[test]
fn a_frame_time_of_zero_is_accepted() {
    assert_eq!(micros("0\n16.5\n0.0\n").unwrap(), [0, 16_500, 0]);
}

#[test]
fn an_invalid_time_is_reported_with_its_line() {
    for bad in ["-1.0", "NaN", "inf", "", "sixteen", "1e300", "16,5"] {
        let quoted = format!("\"{bad}\"");
        let text = format!("# a comment\nMsBetweenPresents,x\n16.5,a\n\n{quoted},a\n");
        match micros(&text) {
            Err(TraceError::BadTime { line: 5, text }) => assert_eq!(text, bad),
            other => panic!("{bad}: {other:?}"),
        }
    }
    let error = micros("16.5\n7.25\nfast\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 3: \"fast\" is not a frame time in milliseconds"
    );
}

#[test]
fn a_line_that_ends_early_is_reported() {
    let error = micros("Application,MsBetweenPresents\nGame.exe,16.5\nGame.exe\n").unwrap_err();
    assert!(matches!(error, TraceError::Short { line: 3 }), "{error:?}");
}

#[test]
fn a_file_without_a_frame_time_column_is_refused() {
    let error = micros("# no times here\nName,Age\nAda,36\n").unwrap_err();
    assert!(
        matches!(error, TraceError::NoColumn { line: 2 }),
        "{error:?}"
    );
    let error = micros("fast\n16.5\n").unwrap_err();
    assert!(
        matches!(error, TraceError::NoColumn { line: 1 }),
        "{error:?}"
    );
    let error = micros("hello\n").unwrap_err();
    assert!(
        matches!(error, TraceError::NoColumn { line: 1 }),
        "{error:?}"
    );
}

#[test]
fn a_file_without_times_is_refused() {
    for text in ["", "# only a comment\n", "MsBetweenPresents\n"] {
        assert!(matches!(micros(text), Err(TraceError::Empty)), "{text:?}");
    }
}

#[test]
fn a_file_that_is_not_text_is_refused() {
    let error = read(&b"MsBetweenPresents\n\xff\xfe\n"[..]).unwrap_err();
    assert!(matches!(error, TraceError::Io { line: 2, .. }), "{error:?}");
}

#[test]
fn the_shipped_capture_is_parsed() {
    let capture = include_bytes!("../../examples/hecs_game/frame-times.csv");
    let times = read(&capture[..]).unwrap();
    let total: Duration = times.iter().sum();
    assert!(times.len() > 500 && total > Duration::from_secs(10));
}
