//! What a key of the configuration is, and the macro that makes everything from one list.

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Section and name: `timing.refresh`.
    pub path: &'static str,
    /// What it is for.
    pub help: &'static str,
    /// Its default or an example, in TOML.
    pub(super) example: &'static str,
    pub(super) presence: Presence,
}

/// What happens when nobody gives a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// That is a mistake.
    Required,
    /// The example is its value, and the example file shows it as a comment.
    Default,
    /// The example is its value, and the example file sets it.
    Shown,
    /// It has no value.
    Optional,
}

/// When a changed value takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// When the node starts.
    Restart,
    /// When the node reads its configuration again.
    Reload,
}

/// Keys that belong together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) name: &'static str,
    /// What it is about, line by line.
    pub(super) about: &'static [&'static str],
    pub(super) keys: &'static [Key],
}

impl Key {
    /// The environment variable that overrides the file.
    pub fn variable(&self) -> String {
        variable(self.path)
    }

    /// `timing` and `refresh` of `timing.refresh`.
    pub(super) fn names(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').unwrap_or((self.path, ""))
    }

    pub(super) const fn new(
        path: &'static str,
        help: &'static str,
        presence: Presence,
        example: &'static str,
    ) -> Key {
        Key {
            path,
            help: help.trim_ascii(),
            example,
            presence,
        }
    }
}

/// The environment variable of a key.
pub(super) fn variable(path: &str) -> String {
    format!("HEADWAY_{}", path.replace('.', "_").to_uppercase())
}

/// Makes the settings, their keys, and how they are read and compared from one list of
/// `key: type, presence example, change;`. The doc comment is the key's help.
macro_rules! settings {
    ($(
        $(#[doc = $about:literal])+
        $section:ident: $settings:ident {
            $(
                $(#[doc = $help:literal])+
                $key:ident: $type:ty, $presence:ident $example:tt, $change:ident;
            )+
        }
    )+) => {
        /// A configuration that makes sense.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $( $(#[doc = $about])+ pub $section: $settings, )+
        }

        $(
            $(#[doc = $about])+
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $settings {
                $( $(#[doc = $help])+ pub $key: $type, )+
            }
        )+

        pub(super) const SECTIONS: &[Section] = &[$(
            Section {
                name: stringify!($section),
                about: &[$($about),+],
                keys: &[$(
                    Key::new(
                        concat!(stringify!($section), ".", stringify!($key)),
                        concat!($($help),+),
                        Presence::$presence,
                        stringify!($example),
                    )
                ),+],
            }
        ),+];

        impl Settings {
            /// Takes every value before it gives up, so that every mistake is found.
            pub(super) fn take(reader: &mut Reader<'_>) -> Option<Settings> {
                $(
                    let $section = {
                        $( let $key = reader.take::<$type>(
                            concat!(stringify!($section), ".", stringify!($key)),
                        ); )+
                        move || Some($settings { $( $key: $key? ),+ })
                    };
                )+
                Some(Settings { $( $section: $section()? ),+ })
            }

            /// Keeps what takes effect at a start only, and says which keys that is about.
            pub(crate) fn keep_until_restart(&mut self, old: &Settings) -> Vec<&'static str> {
                let mut keys = Vec::new();
                $($(
                    if Change::$change == Change::Restart
                        && self.$section.$key != old.$section.$key
                    {
                        self.$section.$key.clone_from(&old.$section.$key);
                        keys.push(concat!(stringify!($section), ".", stringify!($key)));
                    }
                )+)+
                keys
            }
        }
    };
}
pub(super) use settings;
