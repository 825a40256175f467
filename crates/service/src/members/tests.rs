use super::*;

fn member(name: &str, address: &str) -> Member {
    Member {
        name: name.into(),
        address: address.into(),
        ..Member::default()
    }
}

#[test]
fn a_list_is_read_from_json_and_toml() {
    let wanted = vec![member("a", "192.0.2.1:7400"), member("b", "b.example:7401")];
    for text in [
        r#"[{"name": "a", "address": "192.0.2.1:7400"},
            {"name": "b", "address": "b.example:7401", "key": null}]"#,
        " [\n{\"name\":\"a\",\"address\":\"192.0.2.1:7400\"},{\"name\":\"b\",\"address\":\"b.example:7401\"}]\n",
        "# who is there\n[[ring.members]]\nname = \"a\"\naddress = \"192.0.2.1:7400\"\n\
         [[ring.members]]\nname = \"b\"\naddress = \"b.example:7401\"\n",
        "[ring]\nmembers = [{ name = \"a\", address = \"192.0.2.1:7400\" }, \
         { name = \"b\", address = \"b.example:7401\" }]\n",
    ] {
        assert_eq!(read(text).as_ref(), Ok(&wanted), "{text}");
    }
}

#[test]
fn a_mistake_in_a_list_has_a_place_and_a_field() {
    let b = r#"{"name": "b", "address": "192.0.2.2:7400"}"#;
    let table = "[[ring.members]]\nname = \"a\"\naddress = \"192.0.2.1:7400\"\n";
    for (text, line, expected) in [
        (String::new(), None, "nobody is listed: expected members"),
        ("[]".into(), Some(1), "nobody is listed: expected members"),
        ("{}".into(), Some(1), "expected a list of members"),
        (format!("[{b},"), Some(1), "EOF while parsing a value"),
        (format!("[{b}] {b}"), Some(1), "trailing characters"),
        (format!("[{b},\n{b}]"), Some(2), "name `b` is there twice"),
        (
            format!("[{b},\n{}]", b.replace("\"b\"", "\"c\"")),
            Some(2),
            "address `192.0.2.2:7400` is there twice",
        ),
        (
            format!("[{b},\n{{\"name\": \"c\"}}]"),
            Some(2),
            "[1]: missing field `address`",
        ),
        (
            format!("[{b},\n{{\"name\": \"c d\"}}]"),
            Some(2),
            "[1].name: `c d` is no name",
        ),
        (
            format!("[{b},\n{{\"name\": \"c\", \"address\": 7400}}]"),
            Some(2),
            "[1].address: invalid type: integer `7400`, expected a string",
        ),
        (
            format!("[{b},\n{{\"name\": \"c\", \"adress\": \"x:1\"}}]"),
            Some(2),
            "[1].adress: unknown field `adress`",
        ),
        ("oops".into(), Some(1), "key with no value"),
        (
            format!("[ring]\nname = \"web\"\n{table}"),
            Some(2),
            "ring.name: unknown field `name`",
        ),
        (
            table.replace("\"192.0.2.1:7400\"", "\"192.0.2.1\""),
            Some(3),
            "ring.members[0].address: `192.0.2.1` is no address: expected HOST:PORT",
        ),
        (
            format!("{table}{table}"),
            Some(1),
            "name `a` is there twice",
        ),
    ] {
        let mistake = read(&text).expect_err(expected);
        let told = mistake.to_string();
        assert!(told.contains(expected), "{text}\n{told}");
        let at = match mistake.place {
            Place::File { line, .. } => Some(line),
            _ => None,
        };
        assert_eq!(at, line, "{text}\n{told}");
    }
}

#[test]
fn a_list_without_half_of_the_members_changes_nothing() {
    let roster = ["a", "b", "c", "d"].map(|name| member(name, &format!("{name}:1")));
    assert_eq!(changes(&roster, &roster), Ok(Changes::default()));
    let mut wanted = roster.to_vec();
    wanted[1].address = "b:9".into();
    wanted[3] = member("e", "e:1");
    let told = "its address is b:1 on the ring, and b:9 in the list";
    assert_eq!(
        changes(&roster, &wanted),
        Ok(Changes {
            add: vec![member("e", "e:1")],
            remove: vec!["d".into()],
            differ: vec![("b".into(), told.into())],
        })
    );
    wanted.remove(0);
    assert_eq!(changes(&roster, &wanted), Err(TooFew { listed: 2, of: 4 }));
}
