//! Tests the pages in headless Chromium and Firefox, each through its driver. The browsers and drivers must be
//! installed, and the pages built:
//!
//! `cargo run --manifest-path examples/demos/browser/Cargo.toml -- --build-only`
//!
//! `cargo test --manifest-path examples/demos/browser/Cargo.toml chromium` runs the tests of one browser.

// The pages, the drivers and the browsers.
mod browser;
// The page of the ball.
mod ball;
// The match in one tab.
mod duel;
// The playground and the platformer.
mod games;
// The match with the desktop.
mod pair;
// What every page has: no part covers another, progress, and a message.
mod page;
// The moving picture of the match, which is no test.
mod recording;

/// Runs each test in both browsers.
macro_rules! in_browsers {
    ($($file:ident::$test:ident,)*) => {
        mod chromium {
            $(#[test] fn $test() { crate::$file::$test(crate::browser::Kind::Chromium); })*
        }
        mod firefox {
            $(#[test] fn $test() { crate::$file::$test(crate::browser::Kind::Firefox); })*
        }
    };
}

in_browsers! {
    ball::it_moves_in_every_frame_of_a_minute_and_stays_in_the_picture,
    ball::a_press_and_the_space_bar_make_it_jump,
    ball::it_pauses_while_it_is_hidden,
    ball::a_recording_is_replayed_on_the_desktop,
    duel::both_machines_have_the_same_bits_after_a_minute,
    duel::a_key_moves_a_player_on_both_machines,
    games::both_halves_of_the_playground_move_until_a_pause,
    games::steps_go_by_the_clock_keys_walk_and_a_hidden_page_stands_still,
    page::no_part_covers_another_or_is_cut_off,
    page::each_half_has_its_name,
    page::the_bar_counts_what_arrives,
    page::without_webgpu_games_show_a_picture_and_a_link,
    page::a_page_that_cannot_run_names_the_command,
    pair::a_page_waits_for_the_desktop_and_has_the_same_bits,
}
