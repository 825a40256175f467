//! The page in a real browser: Chromium opens what `headway serve` serves, and a
//! mouse and a keyboard do what a person would do. A few journeys are made in Firefox, too;
//! with HEADWAY_BROWSER=firefox (`make soak`) all of them are.
//!
//! This test has its own `main`, because a test that is skipped must not be counted
//! as passed, and because tests share browsers and servers. `scripts/install-tools`
//! installs both browsers. Pictures are kept below
//! target/screenshots; a few numbers are measured and printed, none is judged.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use headway_dashboard::Options;

mod cdp;
#[path = "../common/mod.rs"]
mod common;
mod files;
mod hands;
mod looks;
mod mended;
mod modules;
mod page;
mod shared;
mod tabs;
mod time;

use cdp::{Browser, Kind};

/// The server's address.
type Base<'a> = &'a str;
type Test = (
    &'static str,
    fn(&mut Browser, Base<'_>) -> Result<(), String>,
);

/// Journeys by module, in the order in which they are made.
macro_rules! journeys {
    ($($module:ident: $($name:ident)+;)+) => {
        &[$($((stringify!($name), $module::$name),)+)+]
    };
}

const TESTS: &[Test] = journeys! {
    time:
        a_pile_spaces_itself
        a_film_agrees_with_the_server
        a_measuring_film_agrees_with_the_server
        a_moving_block_is_on_the_ring
        any_round_can_be_sought
        stepping_and_speed
        a_jam_says_why;
    hands:
        a_dragged_token_is_a_fault_that_heals
        clicks_change_programs_and_counters
        a_selection_is_scrambled
        everything_works_by_keys
        space_and_time_zooms_pans_and_names;
    files:
        a_link_shows_the_same
        a_bad_link_is_explained
        a_state_file_is_dropped
        a_run_is_stepped_through
        a_broken_file_changes_nothing
        pictures_states_and_films_are_saved;
    tabs:
        lessons_are_walked_through
        explore_draws_what_the_sliders_say
        a_network_has_its_ring
        a_fleet_that_is_not_there
        a_fleet_is_watched;
    time:
        a_run_is_watched_together
        a_server_that_is_away_comes_back;
    mended:
        a_view_that_fails_to_load_is_asked_for_again
        links_tell_what_is_on_show
        a_shared_run_survives_another_ring
        not_yet_is_not_no
        no_picture_of_other_numbers
        beads_have_letters
        the_ring_is_seen_whole
        keys_are_told_what_came_of_them
        back_is_undo
        wrong_input_says_what_is_right
        long_waits_can_be_skipped
        a_recording_knows_how_long_it_is
        nothing_moves_by_itself_when_asked
        the_first_ten_seconds_tell_a_story
        every_strike_is_a_dot_before_the_wall;
    shared:
        the_program_is_beside_the_ring
        a_class_follows_and_guesses
        codes_can_be_read
        exercises_have_the_right_answers
        the_page_needs_no_server;
    looks:
        light_and_dark
        a_phone_shows_everything
        axe_has_nothing_to_say
        less_motion_when_asked
        a_screen_reader_is_told
        the_page_is_light
        large_rings_are_drawn;
    modules:
        modules_keep_their_promises;
};

/// What the test command also does in Firefox: playing, keys and hands, links, lessons, views.
const IN_FIREFOX: [&str; 7] = [
    "a_pile_spaces_itself",
    "a_dragged_token_is_a_fault_that_heals",
    "everything_works_by_keys",
    "a_link_shows_the_same",
    "a_state_file_is_dropped",
    "links_tell_what_is_on_show",
    "the_program_is_beside_the_ring",
];

/// A browser and what is left to do in it.
type Work = (Kind, Vec<&'static Test>, AtomicUsize);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        TESTS.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let wanted = |name: &str| {
        filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
    };
    let tests = || TESTS.iter().filter(|(name, _)| wanted(name));
    let firefox = std::env::var_os("HEADWAY_BROWSER").is_some_and(|name| name == "firefox");
    let work: Vec<Work> = if firefox {
        vec![(Kind::Firefox, tests().collect(), AtomicUsize::new(0))]
    } else {
        let few = tests().filter(|(name, _)| IN_FIREFOX.contains(name));
        vec![
            (Kind::Chromium, tests().collect(), AtomicUsize::new(0)),
            (Kind::Firefox, few.collect(), AtomicUsize::new(0)),
        ]
    };
    let all: usize = work.iter().map(|(_, tests, _)| tests.len()).sum();
    println!("\nrunning {all} tests");
    let (passed, failed) = run(&work);
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    let out = TESTS.len() - tests().count();
    println!(
        "\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored; 0 measured; {out} filtered out\n"
    );
    ExitCode::from(u8::from(failed > 0))
}

/// Two browsers at a time, each with a server of its own: a test mostly waits for its page.
/// Each takes what is next, in Chromium as long as there is something to do there.
fn run(work: &[Work]) -> (usize, usize) {
    let counts = (AtomicUsize::new(0), AtomicUsize::new(0));
    let worker = || {
        for (kind, tests, next) in work {
            run_in(*kind, tests, next, &counts);
        }
    };
    thread::scope(|scope| {
        for worker in [(); 2].map(|()| scope.spawn(worker)) {
            worker.join().expect("a browser that starts");
        }
    });
    (counts.0.into_inner(), counts.1.into_inner())
}

fn run_in(
    kind: Kind,
    tests: &[&Test],
    next: &AtomicUsize,
    (passed, failed): &(AtomicUsize, AtomicUsize),
) {
    let take = || tests.get(next.fetch_add(1, Ordering::Relaxed));
    let Some(mut test) = take() else { return };
    let place = match kind {
        Kind::Chromium => "",
        Kind::Firefox => "_in_firefox",
    };
    let skipped = kind.command().err();
    let base = format!("http://{}", serve(Options::default()));
    let folder = tempfile::tempdir().expect("a folder for the browser's profile");
    let mut browser = match skipped {
        Some(_) => None,
        None => Some(Browser::start(kind, folder.path()).unwrap_or_else(|why| panic!("{why}"))),
    };
    loop {
        let (name, journey) = test;
        match browser.as_mut().map(|browser| journey(browser, &base)) {
            None => println!(
                "skipped: {name}{place}: {}",
                skipped.as_deref().unwrap_or("")
            ),
            Some(Ok(())) => {
                passed.fetch_add(1, Ordering::Relaxed);
                println!("test {name}{place} ... ok");
            }
            Some(Err(why)) => {
                failed.fetch_add(1, Ordering::Relaxed);
                println!("test {name}{place} ... FAILED\n{why}");
            }
        }
        let Some(more) = take() else { return };
        test = more;
    }
}

/// A server of its own for as long as the tests run. With HEADWAY_PAGE the page is taken from
/// that folder, to work on it.
pub(crate) fn serve(options: Options) -> SocketAddr {
    common::serve(Options {
        page: std::env::var_os("HEADWAY_PAGE").map(PathBuf::from),
        ..options
    })
}
