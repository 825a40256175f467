//! Where conflicts come from: six kinds of files.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use strum::{Display, EnumMessage, EnumString, VariantArray};

use super::{Conflicts, ReadError};

/// What a file is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumMessage, EnumString, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Input {
    /// A group a line, its members separated by commas; # begins a comment
    Groups,
    /// CSV with a header and two columns: a pair that may not be down together
    Pairs,
    /// CSV with a header and two columns: a member and its rack or zone
    Racks,
    /// Kafka's partition assignment in JSON, also as kafka-reassign-partitions prints it
    Kafka,
    /// What `nodetool describering KEYSPACE` prints
    Cassandra,
    /// What `ceph pg dump --format json` prints
    Ceph,
}

type Groups = Vec<(String, Vec<String>)>;

/// Headers by which files of two columns are known; anything else is a group of two.
const PAIRS: &[(&str, &str)] = &[
    ("from", "to"),
    ("source", "target"),
    ("one", "other"),
    ("first", "second"),
    ("member", "conflicts_with"),
    ("member", "other"),
];
const MEMBERS: &[&str] = &["member", "node", "host", "machine", "broker", "osd", "name"];
const RACKS: &[&str] = &["rack", "zone", "place", "group", "datacenter", "host"];

impl Input {
    /// What a text seems to be. Every text seems to be something: what is wrong with it,
    /// reading it says.
    ///
    /// ```
    /// use headway_walk::plan::conflicts::Input;
    /// assert_eq!(Input::of_text("a,b\n"), Input::Groups);
    /// assert_eq!(Input::of_text("member,rack\na,r1\n"), Input::Racks);
    /// assert_eq!(Input::of_text("{\"partitions\": []}"), Input::Kafka);
    /// ```
    pub fn of_text(text: &str) -> Input {
        let start = text.trim_start_matches('\u{feff}').trim_start();
        if start.starts_with(['{', '[']) {
            // The first of the names that only one of them has.
            let first = |name: &str| text.find(name).unwrap_or(usize::MAX);
            return match first("\"partitions\"") < first("\"pg_stats\"").min(first("\"acting\"")) {
                true => Input::Kafka,
                false if first("\"acting\"") < usize::MAX => Input::Ceph,
                false if first("\"pg_stats\"") < usize::MAX => Input::Ceph,
                false => Input::Kafka,
            };
        }
        if start.starts_with(CURRENT) {
            return Input::Kafka;
        }
        if text.contains("TokenRange(") {
            return Input::Cassandra;
        }
        let header = rows(text).next().map(|(_, line)| line.to_ascii_lowercase());
        let fields: Vec<&str> = header.as_deref().map_or(vec![], |line| {
            line.split(',')
                .map(|field| field.trim().trim_matches('"'))
                .collect()
        });
        match fields[..] {
            [one, other] if PAIRS.contains(&(one, other)) => Input::Pairs,
            [member, rack] if MEMBERS.contains(&member) && RACKS.contains(&rack) => Input::Racks,
            _ => Input::Groups,
        }
    }

    /// Conflicts from a text.
    ///
    /// # Errors
    ///
    /// What is wrong, and where.
    pub fn read(self, text: &str) -> Result<Conflicts, ReadError> {
        Ok(Conflicts::new(self.groups(text)?)?)
    }

    /// Who goes together, from a file of racks.
    ///
    /// # Errors
    ///
    /// What is wrong, and where.
    pub fn racks(text: &str) -> Result<BTreeMap<String, Vec<String>>, ReadError> {
        is_text(text)?;
        let mut known = HashMap::new();
        for (line, [member, rack]) in table(text)? {
            if let Some((before, other)) = known.insert(member.clone(), (line, rack.clone())) {
                return Err(ReadError::at(
                    line,
                    format!(
                        "{member} is of {rack}, but of {other} in line {before}: expected one place \
                         for each member"
                    ),
                ));
            }
        }
        by_rack(text)
    }

    fn groups(self, text: &str) -> Result<Groups, ReadError> {
        is_text(text)?;
        match self {
            Input::Groups => rows(text)
                .map(|(line, row)| Ok((format!("line {line}"), fields(line, row)?)))
                .collect(),
            Input::Pairs => {
                let pairs = table(text)?.into_iter();
                Ok(pairs
                    .map(|(line, pair)| (format!("line {line}"), pair.into()))
                    .collect())
            }
            Input::Racks => Ok(by_rack(text)?.into_iter().collect()),
            Input::Kafka => kafka(text),
            Input::Cassandra => cassandra(text),
            Input::Ceph => ceph(text),
        }
    }
}

/// The members of every rack.
fn by_rack(text: &str) -> Result<BTreeMap<String, Vec<String>>, ReadError> {
    let mut racks = BTreeMap::<String, Vec<String>>::new();
    for (_, [member, rack]) in table(text)? {
        racks.entry(rack).or_default().push(member);
    }
    Ok(racks)
}

/// Refuses what has a NUL byte in it, which no text has.
fn is_text(text: &str) -> Result<(), ReadError> {
    let nul = text.lines().position(|line| line.contains('\0'));
    nul.map_or(Ok(()), |line| {
        Err(ReadError::at(
            line + 1,
            "a NUL byte: this is not a text file",
        ))
    })
}

/// Lines that say something, from 1.
fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let line = |line: &'_ str| -> usize { line.find('#').unwrap_or(line.len()) };
    let text = text.trim_start_matches('\u{feff}');
    (1..)
        .zip(text.lines())
        .map(move |(number, text)| (number, text[..line(text)].trim()))
        .filter(|(_, text)| !text.is_empty())
}

fn fields(line: usize, row: &str) -> Result<Vec<String>, ReadError> {
    row.split(',')
        .map(|field| {
            let field = field.trim();
            let inner = field
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            let name = inner.unwrap_or(field).trim();
            let message = match name {
                "" => "a member without a name: expected names with commas between them",
                _ if name.contains('"') => "a quote within a name, or a comma within quotes",
                _ => return Ok(name.to_owned()),
            };
            Err(ReadError::at(line, message))
        })
        .collect()
}

/// The rows of a table of two columns, below its header.
fn table(text: &str) -> Result<Vec<(usize, [String; 2])>, ReadError> {
    let table = rows(text).skip(1).map(|(line, row)| {
        let fields = <[String; 2]>::try_from(fields(line, row)?);
        let fields = fields.map_err(|fields| {
            ReadError::at(line, format!("expected 2 columns, found {}", fields.len()))
        })?;
        Ok((line, fields))
    });
    let table: Vec<_> = table.collect::<Result<_, ReadError>>()?;
    match table.is_empty() {
        true => Err(ReadError::Other(
            "expected a header and rows of 2 columns below it".to_owned(),
        )),
        false => Ok(table),
    }
}

/// What kafka-reassign-partitions prints above the JSON.
const CURRENT: &str = "Current partition replica assignment";

fn kafka(text: &str) -> Result<Groups, ReadError> {
    let before = text.find(CURRENT).map_or(0, |at| at + CURRENT.len());
    let value = json(text, before)?;
    let partitions = list(&value, "partitions", "partitions")?;
    let group = |(index, partition): (usize, &Value)| {
        let field = format!("partitions[{index}].replicas");
        let brokers = ids(list(partition, "replicas", &field)?, &field, "")?;
        let topic = partition["topic"].as_str().unwrap_or("?");
        Ok((
            format!("partition {topic}-{}", partition["partition"]),
            brokers,
        ))
    };
    partitions.iter().enumerate().map(group).collect()
}

/// A missing replica in an erasure-coded pool.
const NO_OSD: u64 = 0x7fff_ffff;

fn ceph(text: &str) -> Result<Groups, ReadError> {
    let value = json(text, 0)?;
    let (map, name) = match value.get("pg_map") {
        Some(map) => (map, "pg_map.pg_stats"),
        None => (&value, "pg_stats"),
    };
    let stats = match map {
        Value::Array(stats) => stats,
        _ => list(map, "pg_stats", name)?,
    };
    let mut groups = Groups::new();
    for (index, stat) in stats.iter().enumerate() {
        for set in ["up", "acting"] {
            let field = format!("{name}[{index}].{set}");
            let osds = list(stat, set, &field)?;
            let osds = osds.iter().filter(|osd| osd.as_u64() != Some(NO_OSD));
            let label = format!("{set} set of {}", stat["pgid"].as_str().unwrap_or("?"));
            groups.push((label, ids(osds, &field, "osd.")?));
        }
    }
    Ok(groups)
}

fn cassandra(text: &str) -> Result<Groups, ReadError> {
    let mut groups = Groups::new();
    for (index, line) in text.lines().enumerate() {
        let Some((_, range)) = line.split_once("TokenRange(") else {
            continue;
        };
        let wrong = |message| ReadError::at(index + 1, message);
        let (start, rest) = range
            .split_once(", endpoints:[")
            .ok_or_else(|| wrong("expected endpoints:[…] in this range"))?;
        let (endpoints, _) = rest
            .split_once(']')
            .ok_or_else(|| wrong("expected ] after the endpoints"))?;
        let label = start.split(',').next().unwrap_or_default();
        let members = fields(index + 1, endpoints)?;
        let members = members
            .iter()
            .map(|member| member.trim_start_matches('/').to_owned());
        groups.push((format!("range {label}"), members.collect()));
    }
    match groups.is_empty() {
        true => Err(ReadError::Other(
            "no TokenRange(…): expected what nodetool describering KEYSPACE prints".to_owned(),
        )),
        false => Ok(groups),
    }
}

/// The first JSON value from a place on; lines are those of the whole text.
fn json(text: &str, from: usize) -> Result<Value, ReadError> {
    let before = text[..from].matches('\n').count();
    let text = text[from..].trim_start_matches('\u{feff}');
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    let wrong = |line: usize, message: &str| ReadError::at(before + line, message);
    match values.next() {
        Some(Ok(value)) if from > 0 => Ok(value),
        Some(Ok(value)) => match values.next() {
            None => Ok(value),
            Some(_) => Err(wrong(
                text[..values.byte_offset()].matches('\n').count() + 1,
                "expected nothing after the JSON",
            )),
        },
        Some(Err(error)) => Err(wrong(error.line(), &format!("not JSON: {error}"))),
        None => Err(wrong(1, "expected JSON, found nothing")),
    }
}

fn list<'a>(value: &'a Value, key: &str, field: &str) -> Result<&'a [Value], ReadError> {
    match value.get(key).and_then(Value::as_array) {
        Some(list) => Ok(list),
        None => {
            let message = match value.get(key) {
                None => "missing: expected a list".to_owned(),
                Some(other) => format!("expected a list, found {}", brief(other)),
            };
            Err(ReadError::field(field, message))
        }
    }
}

fn ids<'a>(
    values: impl IntoIterator<Item = &'a Value>,
    field: &str,
    prefix: &str,
) -> Result<Vec<String>, ReadError> {
    let id = |(index, value): (usize, &Value)| match value.as_u64() {
        Some(id) => Ok(format!("{prefix}{id}")),
        None => Err(ReadError::field(
            format!("{field}[{index}]"),
            format!("expected a number, found {}", brief(value)),
        )),
    };
    values.into_iter().enumerate().map(id).collect()
}

fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
