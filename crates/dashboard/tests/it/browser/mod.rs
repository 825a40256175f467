//! The page in a real browser: Chromium opens what `headway serve` serves, and a mouse and a
//! keyboard do what a person would do. At night all journeys are made, in Firefox, too.
//!
//! `scripts/install-tools` installs both browsers. The night keeps pictures below
//! target/screenshots.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use headway_dashboard::Options;
use headway_testkit::tools;

mod cdp;
mod files;
mod hands;
mod looks;
mod mended;
mod page;
mod shared;
mod tabs;
mod time;

use cdp::{Browser, Kind};

/// What somebody does on the page, in a browser, at the server's address.
type Journey = fn(&mut Browser, &str) -> Result<(), String>;

/// A test for each journey and browser.
macro_rules! journeys {
    (always: $($module:ident::$name:ident)+; at_night: $($late_module:ident::$late:ident)+;) => {
        mod chromium {
            use super::{Kind::Chromium, make};
            $(#[test] fn $name() { make(Chromium, stringify!($name), super::$module::$name); })+
            $(#[test] #[ignore = "make test-all"] fn $late() { make(Chromium, stringify!($late), super::$late_module::$late); })+
        }
        mod firefox {
            use super::{Kind::Firefox, make};
            $(#[test] #[ignore = "make test-all"] fn $name() { make(Firefox, stringify!($name), super::$module::$name); })+
            $(#[test] #[ignore = "make test-all"] fn $late() { make(Firefox, stringify!($late), super::$late_module::$late); })+
        }
    };
}

// Every view and every module of the page is driven by a journey that is always made, but for
// those modules that only the page without a server has.
journeys! {
    always:
        time::a_pile_spaces_itself
        time::a_film_agrees_with_the_server
        time::a_moving_block_is_on_the_ring
        time::any_round_can_be_sought
        time::stepping_and_speed
        time::a_jam_says_why
        time::a_run_is_watched_together
        time::a_server_that_is_away_comes_back
        hands::a_dragged_token_is_a_fault_that_heals
        hands::clicks_change_programs_and_counters
        hands::a_selection_is_scrambled
        hands::everything_works_by_keys
        hands::space_and_time_zooms_pans_and_names
        files::a_link_shows_the_same
        files::a_state_file_is_dropped
        files::a_run_is_stepped_through
        files::pictures_states_and_films_are_saved
        tabs::lessons_are_walked_through
        tabs::explore_draws_what_the_sliders_say
        tabs::a_network_has_its_ring
        tabs::a_fleet_is_watched
        mended::a_view_that_fails_to_load_is_asked_for_again
        mended::links_tell_what_is_on_show
        mended::a_shared_run_survives_another_ring
        mended::back_is_undo
        mended::the_first_screen_is_a_dare
        shared::the_program_is_beside_the_ring
        shared::a_class_follows_and_guesses
        shared::a_server_dies_under_a_shared_run;
    at_night:
        time::a_measuring_film_agrees_with_the_server
        files::a_bad_link_is_explained
        files::a_broken_file_changes_nothing
        tabs::a_fleet_that_is_not_there
        mended::not_yet_is_not_no
        mended::no_picture_of_other_numbers
        mended::beads_have_letters
        mended::the_ring_is_seen_whole
        mended::keys_are_told_what_came_of_them
        mended::wrong_input_says_what_is_right
        mended::long_waits_can_be_skipped
        mended::nothing_moves_by_itself_when_asked
        mended::the_dare_fits_every_screen
        mended::every_strike_is_a_dot_before_the_wall
        shared::codes_can_be_read
        shared::exercises_have_the_right_answers
        shared::the_page_needs_no_server
        looks::light_and_dark
        looks::pictures_of_the_documents
        looks::a_phone_shows_everything
        looks::axe_has_nothing_to_say
        looks::less_motion_when_asked
        looks::a_screen_reader_is_told
        looks::large_rings_are_drawn;
}

/// A browser and the address of a server of its own: to start them takes longer than most
/// journeys.
struct Place(Browser, String);

/// Two of each kind at a time, because a journey mostly waits for its page.
static PLACES: [[Mutex<Option<Place>>; 2]; 2] = [const { [const { Mutex::new(None) }; 2] }; 2];
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Makes a journey.
fn make(kind: Kind, name: &str, journey: Journey) {
    let command = match kind.command() {
        Ok(command) => command,
        Err(why) => return tools::skip(name, &why),
    };
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let places = &PLACES[kind as usize];
    let free = places.iter().find_map(|place| place.try_lock().ok());
    let wait = || {
        places[next % 2]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    };
    let mut place = free.unwrap_or_else(wait);
    // A browser whose journey failed is not used again.
    let Place(mut browser, base) = place.take().unwrap_or_else(|| {
        let base = format!("http://{}", serve(Options::default()));
        let browser = Browser::start(kind, command);
        Place(browser.unwrap_or_else(|why| panic!("{why}")), base)
    });
    let done = journey(&mut browser, &base);
    if done.is_ok() {
        *place = Some(Place(browser, base));
    }
    drop(place);
    if let Err(why) = done {
        panic!("{why}");
    }
}

/// A server for as long as the tests run. With HEADWAY_PAGE the page is taken from that folder,
/// to work on it.
fn serve(options: Options) -> std::net::SocketAddr {
    super::serve(Options {
        page: std::env::var_os("HEADWAY_PAGE").map(PathBuf::from),
        ..options
    })
}
