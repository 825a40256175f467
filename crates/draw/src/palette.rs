//! The colours.
//!
//! Eight hues were moved about in CIELAB until the closest two of them were as far
//! apart as possible (CIEDE2000) for people without red or green cones (Machado,
//! Oliveira and Fernandes 2009), each with a contrast of 3 to 1 or more to the
//! ground. `tests/it/palette.rs` measures them.

use std::fmt::Write as _;

use strum::{Display, EnumMessage, EnumString, VariantArray};

/// How many colours there are for tokens; further tokens start over.
pub const TOKEN_COLOURS: usize = 8;

macro_rules! palettes {
    ($($field:ident $name:literal $light:literal $dark:literal $about:literal)*) => {
        /// Colours by what they are for, as `#rrggbb`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Palette {
            $(#[doc = $about] pub $field: &'static str,)*
            /// One for each token.
            pub tokens: [&'static str; TOKEN_COLOURS],
        }

        /// On a light ground.
        pub const LIGHT: Palette = Palette {
            $($field: $light,)*
            tokens: [
                "#b48a07", "#1192fa", "#478b6d", "#7c466a", "#215bc5", "#865e00", "#1a9ca0", "#753537",
            ],
        };

        /// On a dark ground.
        pub const DARK: Palette = Palette {
            $($field: $dark,)*
            tokens: [
                "#ba9115", "#28baff", "#90c69d", "#c3789b", "#3373e0", "#fcd357", "#84e7e8", "#ac645f",
            ],
        };

        impl Palette {
            fn named(&self) -> Vec<(String, &'static str)> {
                let named = [$(($name, self.$field)),*].map(|(name, colour)| (name.to_owned(), colour));
                let tokens = (0..).map(|token| format!("token-{token}")).zip(self.tokens);
                named.into_iter().chain(tokens).collect()
            }
        }
    };
}

palettes! {
    ground "ground" "#fcfcfa" "#14171b" "Behind everything."
    raised "raised" "#ffffff" "#1b1f24" "Behind what stands out a little."
    ink "ink" "#1d2127" "#e6e8eb" "Text and what matters."
    muted "muted" "#5d6570" "#a0a8b2" "Text that matters less."
    faint "faint" "#959da8" "#6c7580" "Barely there."
    line "line" "#dcdfe4" "#30363d" "Axes, borders, links."
    accent "accent" "#2457c5" "#82aaff" "What can be clicked, what was chosen."
    good "good" "#00706f" "#4cc7bf" "All is well."
    bad "bad" "#c8321f" "#ff7563" "Something is wrong; a token rests."
    good_wash "good-wash" "#e2f2f1" "#12292a" "Behind what is well."
    bad_wash "bad-wash" "#fbeae7" "#331b18" "Behind what is wrong."
    relay "relay" "#8b939e" "#7c8590" "A process that relays."
    delay "delay" "#2b3038" "#d5d9de" "A process that delays."
    shade "shade" "#69b4eb" "#0069a5" "The far end of a scale that starts at the ground; text can be read on it."
    counter "counter" "#57647a" "#93a4bf" "A counter."
}

impl Palette {
    /// The colour of a token.
    pub fn token(&self, number: usize) -> &'static str {
        self.tokens[number % TOKEN_COLOURS]
    }

    /// A style sheet in which `$ink`, `$token-3` and so on stand for colours. A name
    /// that no colour has stays as it is.
    pub fn fill_in(&self, rules: &str) -> String {
        let colours = self.named();
        let mut parts = rules.split('$');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            let (name, rest) = part.split_at(part.find(|c| !is_name(c)).unwrap_or(part.len()));
            match colours.iter().find(|(known, _)| known == name) {
                Some((_, colour)) => text.push_str(colour),
                None => text.extend(["$", name]),
            }
            text.push_str(rest);
        }
        text
    }
}

/// A light or a dark ground.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumMessage, EnumString, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Theme {
    /// As the viewer prefers.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// A style sheet for this ground. `rules` has a rule on each line, with colours as
    /// in [`Palette::fill_in`]; only rules with colours come again for a dark ground.
    pub fn style(self, rules: &str) -> String {
        match self {
            Theme::Light => LIGHT.fill_in(rules),
            Theme::Dark => DARK.fill_in(rules),
            Theme::Auto => {
                let coloured = rules.lines().filter(|rule| rule.contains('$'));
                let dark: String = coloured.flat_map(|rule| [rule, "\n"]).collect();
                let (light, dark) = (LIGHT.fill_in(rules), DARK.fill_in(&dark));
                // Plain rules first, for viewers that know no media queries.
                format!("{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n")
            }
        }
    }
}

/// Rules for the classes `prefix0`, `prefix1`, …: a property in the colour of each
/// token, for [`Theme::style`].
pub fn token_rules(prefix: &str, property: &str) -> String {
    let rule = |token| format!(".{prefix}{token} {{ {property}: $token-{token} }}\n");
    (0..TOKEN_COLOURS).map(rule).collect()
}

/// The colours as variables of a web page that follows the viewer unless the root
/// element has `data-theme="light"` or `data-theme="dark"`.
pub fn page_css() -> String {
    let block = |selector: &str, scheme: &str, palette: &Palette| {
        let mut text = format!("{selector} {{\n  color-scheme: {scheme};\n");
        for (name, colour) in palette.named() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  --{name}: {colour};");
        }
        text + "}\n"
    };
    let auto = block(":root:not([data-theme=\"light\"])", "dark", &DARK);
    format!(
        "/* Written by headway-draw: change the colours in its palette.rs. */\n\n{}\n\
         @media (prefers-color-scheme: dark) {{\n{auto}}}\n\n{}",
        block(":root", "light", &LIGHT),
        block(":root[data-theme=\"dark\"]", "dark", &DARK)
    )
}
