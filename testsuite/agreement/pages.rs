//! The pages of documentation: `docs/SUMMARY.md` lists every one, and no link leads nowhere.
//! (The part `site` of the test command makes a website of them.)

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use headway_testsuite::documents::{read, root};

/// A link: its text is not looked at.
#[derive(Debug, PartialEq)]
struct Link<'a> {
    path: &'a str,
    anchor: &'a str,
}

/// Links to files within the repository, outside of code.
fn links(text: &str) -> Vec<Link<'_>> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        // A link may have code in its text, but nothing that looks like one is in code.
        for (start, _) in line.match_indices("](").filter(|_| !fenced) {
            let target = &line[start + 2..];
            let target = &target[..target.find(')').unwrap_or(target.len())];
            // Addresses elsewhere, and items as rustdoc names them, are not files.
            if !target.contains([':', ' ', '@']) {
                let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
                found.push(Link { path, anchor });
            }
        }
    }
    found
}

/// The anchor of a heading, as hosts and mdBook make it.
fn anchor(heading: &str) -> String {
    let mut slug = String::new();
    for c in heading.trim_start_matches('#').trim().chars() {
        match c {
            ' ' => slug.push('-'),
            '-' | '_' => slug.push(c),
            c if c.is_alphanumeric() => slug.extend(c.to_lowercase()),
            _ => {}
        }
    }
    slug
}

fn has_anchor(text: &str, wanted: &str) -> bool {
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    headings.any(|heading| anchor(heading) == wanted)
}

/// The first link of a page that leads nowhere.
fn dead_link(page: &Path, text: &str) -> Option<String> {
    let folder = page.parent().expect("a folder");
    links(text).into_iter().find_map(|link| {
        let to = if link.path.is_empty() {
            page.to_owned()
        } else {
            folder.join(link.path)
        };
        let is_page = to.extension().is_some_and(|extension| extension == "md");
        let right = to.exists()
            && (link.anchor.is_empty()
                || is_page
                    && has_anchor(&fs::read_to_string(&to).unwrap_or_default(), link.anchor));
        (!right).then(|| format!("{}: {link:?}", page.display()))
    })
}

/// All Markdown files below a folder, but for what tools make.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') && name != "node_modules" {
            pages(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

fn summary() -> Vec<PathBuf> {
    let text = read("docs/SUMMARY.md");
    let listed = links(&text).into_iter();
    listed
        .map(|link| root().join("docs").join(link.path))
        .collect()
}

#[test]
fn the_summary_lists_every_page_once() {
    let real = |path: &PathBuf| {
        path.canonicalize()
            .unwrap_or_else(|_| panic!("{}", path.display()))
    };
    let summary = summary();
    let listed: BTreeSet<PathBuf> = summary.iter().map(real).collect();
    assert_eq!(listed.len(), summary.len(), "a page is listed twice");
    let mut all = Vec::new();
    pages(&root().join("docs"), &mut all);
    assert!(all.len() > 25);
    for page in all.iter().filter(|page| !page.ends_with("SUMMARY.md")) {
        assert!(
            listed.contains(&real(page)),
            "docs/SUMMARY.md misses {}",
            page.display()
        );
    }
}

#[test]
fn no_link_leads_nowhere() {
    let mut all = Vec::new();
    pages(&root(), &mut all);
    let mut seen = 0;
    for page in &all {
        let text = fs::read_to_string(page).expect("a page");
        seen += links(&text).len();
        assert_eq!(dead_link(page, &text), None);
    }
    assert!(seen > 200, "{seen} links");
}

#[test]
fn counter_test_dead_links_are_found() {
    let page = root().join("docs/glossary.md");
    for dead in [
        "[x](nowhere.md)",
        "a [x](json.md#no-such-heading)",
        "![x](images/none.svg)",
        "[x](#nothing)",
    ] {
        assert!(dead_link(&page, dead).is_some(), "{dead}");
    }
    for fine in [
        "[x](json.md)",
        "[x](https://example.org/a)",
        "```\n[x](nowhere.md)\n```",
        "[x](#the-ring)",
    ] {
        let text = format!("{fine}\n## The ring\n");
        assert_eq!(dead_link(&page, &text), None, "{fine}");
    }
}
