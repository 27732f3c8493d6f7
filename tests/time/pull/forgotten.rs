//! Forgotten calls: a debug build reports each once.

use super::*;

/// Returns what the library prints to standard error in a test of this program that is run alone.
fn told_by(test: &str) -> Vec<String> {
    let program = std::env::current_exe().unwrap();
    let arguments = [test, "--exact", "--ignored", "--nocapture"];
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{test}: {output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    let lines = said.lines().filter(|line| line.starts_with("evenstep:"));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_call_that_is_forgotten_is_told_once_in_debug_builds() {
    let cases = [
        ("pull::told::frames_that_are_not_ended", "call `end_frame`"),
        ("pull::told::steps_that_are_not_made", "call `make_step`"),
        (
            "pull::told::a_step_that_is_taken_for_ever",
            "call `make_step`",
        ),
    ];
    for (test, advice) in cases {
        let told = told_by(test);
        assert_eq!(told.len(), usize::from(cfg!(debug_assertions)), "{told:?}");
        assert!(told.iter().all(|line| line.contains(advice)), "{told:?}");
    }
    assert_eq!(told_by("pull::told::loops_that_forget_nothing"), [""; 0]);
}
