//! Forgotten calls: a debug build reports each once.

use super::*;

/// Runs a test of this program alone. Returns the lines that the library prints to standard error in it.
fn messages_of(test: &str) -> Vec<String> {
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
        let messages = messages_of(test);
        assert_eq!(
            messages.len(),
            usize::from(cfg!(debug_assertions)),
            "{messages:?}"
        );
        assert!(
            messages.iter().all(|line| line.contains(advice)),
            "{messages:?}"
        );
    }
    assert_eq!(
        messages_of("pull::told::loops_skip_no_call_by_mistake"),
        [""; 0]
    );
}
