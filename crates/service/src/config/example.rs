//! The configuration file to begin with, made from the table of keys.

use super::keys::{KEYS, Kind, SECTIONS};

/// What `headway node init` writes.
pub fn example() -> String {
    let mut text = String::from(
        "# A node of a Headway ring.\n\
         #\n\
         # Every key can also be given as an environment variable (timing.refresh is\n\
         # HEADWAY_TIMING_REFRESH) and as a flag (--timing-refresh); a flag wins over a\n\
         # variable, and a variable over this file. What is commented out shows the default\n\
         # or an example. Then: headway node check-config --config THIS_FILE\n",
    );
    for (section, about) in SECTIONS {
        text.push_str(&format!("\n# {about}\n[{section}]\n"));
        for key in KEYS.iter().filter(|key| key.section() == *section) {
            if key.kind == Kind::Members {
                continue;
            }
            let hash = if key.optional { "# " } else { "" };
            text.push_str(&format!(
                "# {}.\n{hash}{} = {}\n",
                key.about,
                key.name(),
                key.example
            ));
        }
        if *section == "ring" {
            text.push_str(
                "# The first roster, in the order of the ring. Only for the first start: later\n\
                 # `headway node add` and `remove` change it on any node, and it spreads.\n",
            );
            for (name, host) in [("a", 1), ("b", 2), ("c", 3)] {
                text.push_str(&format!(
                    "[[ring.members]]\nname = \"{name}\"\naddress = \"192.0.2.{host}:7400\"\n"
                ));
            }
        }
    }
    text
}
