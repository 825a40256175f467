//! How a guide is read: commands and what stands under them.

/// One command of a guide.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) line: usize,
    /// What stands before the `$`: the machine that it is run on.
    pub(crate) machine: String,
    pub(crate) command: String,
    pub(crate) expected: Vec<String>,
    pub(crate) code: i32,
}

/// A fenced block of a guide.
pub(crate) enum Block {
    /// Commands, one after the other.
    Console(Vec<Step>),
    /// A file, or a part of one, by its kind.
    Text(String, Vec<String>),
}

/// All commands of a guide.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let blocks = blocks(text).into_iter();
    blocks
        .flat_map(|block| match block {
            Block::Console(steps) => steps,
            Block::Text(..) => Vec::new(),
        })
        .collect()
}

/// The fenced blocks of a guide, in order.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut inside = None;
    for (index, line) in text.lines().enumerate() {
        match (&mut inside, line.strip_prefix("```")) {
            (None, Some("console")) => inside = Some(Block::Console(Vec::new())),
            (None, Some(kind)) => inside = Some(Block::Text(kind.to_owned(), Vec::new())),
            (Some(_), Some(_)) => blocks.extend(inside.take()),
            (Some(Block::Text(_, lines)), None) => lines.push(line.to_owned()),
            (Some(Block::Console(steps)), None) => console_line(steps, index + 1, line),
            (None, None) => {}
        }
    }
    blocks
}

fn console_line(steps: &mut Vec<Step>, line: usize, text: &str) {
    if let Some(step) = steps.last_mut().filter(|step| step.command.ends_with('\\')) {
        step.command.pop();
        step.command += text.trim_start();
        return;
    }
    let prompt = text.split_once("$ ");
    let machine = |name: &str| name.chars().all(|c| c.is_ascii_lowercase()) && name.len() < 2;
    if let Some((name, command)) = prompt.filter(|(name, _)| machine(name)) {
        steps.push(Step {
            line,
            machine: name.to_owned(),
            command: command.to_owned(),
            expected: Vec::new(),
            code: 0,
        });
    } else if let Some(step) = steps.last_mut() {
        match text.strip_prefix("? ") {
            Some(code) => step.code = code.parse().expect("an exit code"),
            None => step.expected.push(text.to_owned()),
        }
    }
}

/// Whether lines are as expected, where `...` stands for anything.
pub(crate) fn fits(expected: &[String], lines: &[&str]) -> bool {
    let Some((first, rest)) = expected.split_first() else {
        return lines.is_empty();
    };
    if first == "..." {
        return (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..]));
    }
    let Some((line, others)) = lines.split_first() else {
        return false;
    };
    let same = match first.strip_suffix("...") {
        Some(start) => line.starts_with(start),
        None => line.trim_end() == first.trim_end(),
    };
    same && fits(rest, others)
}
