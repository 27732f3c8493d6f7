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
fn a_forgotten_call_is_reported_once_in_debug_builds() {
    let cases = [
        ("pull::told::a_loop_skips_end_frame", "call `end_frame`"),
        ("pull::told::a_loop_skips_make_step", "call `make_step`"),
        (
            "pull::told::a_loop_repeats_next_step_without_make_step",
            "call `make_step`",
        ),
    ];
    for (test, advice) in cases {
        let told = told_by(test);
        assert_eq!(told.len(), usize::from(cfg!(debug_assertions)), "{told:?}");
        assert!(told.iter().all(|line| line.contains(advice)), "{told:?}");
    }
    assert_eq!(
        told_by("pull::told::loops_skip_no_call_by_mistake"),
        [""; 0]
    );
}
