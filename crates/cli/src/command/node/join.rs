//! `headway node create`, `join` and `invite`: a machine lets the next one in by one line.

use std::fmt::Display;
use std::net::{IpAddr, UdpSocket};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args as ClapArgs;
use headway_service::config::{Settings, Sources, file_with};
use headway_service::identity::{Identities, SignerKey};
use headway_service::join::{JoinError, Member, Token, Word, ask, found};
use serde_json::json;

use super::configuration::{Given, mistaken, serve, variables};
use super::{SocketArgs, keys, text};
use crate::failure::{Answer, Failure, remark, say};
use crate::flags::duration;

const PORT: u16 = 7400;

/// Nobody is there; the system only says which own address it would use.
const ANYWHERE: &str = "192.0.2.1:9";

#[derive(ClapArgs, Debug)]
struct MachineArgs {
    /// This machine's name on the ring; its host name if left out
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Where others reach it: HOST:PORT; if left out, the address that it has, with port 7400
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// Folder for its keys and its state (node.state_dir)
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/headway")]
    state_dir: PathBuf,
    /// Where to write the configuration, which can be changed later
    #[arg(long, value_name = "FILE", default_value = "/etc/headway/node.toml")]
    config: PathBuf,
    /// Do not run the node: something else does, such as systemd
    #[arg(long)]
    no_run: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway node create web                       and then, on the next machine, the line it prints
  headway node create web --no-run && systemctl enable --now headway-node

It makes this machine's keys, writes its configuration, prints the line for the next machine and
runs the node. The line lets one machine in, within a day; `headway node invite` prints another.")]
pub(super) struct CreateArgs {
    /// The ring's name
    ring: String,
    #[command(flatten)]
    machine: MachineArgs,
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway node join hwj1…
  headway node join hwj1… --no-run && systemctl enable --now headway-node

It makes this machine's keys, exchanges them with the member that has made the token, writes the
configuration and runs the node, which is a member as soon as the others hear it. Exit code 1 if the
ring does not let it in.")]
pub(super) struct JoinArgs {
    /// What `headway node create` or `headway node invite` has printed
    token: Token,
    #[command(flatten)]
    machine: MachineArgs,
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway node invite                           prints a line for one more machine
  headway node invite --made
  headway node invite --revoke 3f0c2a51b76de894

Who may use a member's socket may invite: root, and the node's user. Only this member can list and
revoke what it has made, and has to run when it is used.")]
pub(super) struct InviteArgs {
    /// How long the token lets a machine in
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "24h")]
    lasts: Duration,
    /// Say what has become of the tokens of this node
    #[arg(long, conflicts_with_all = ["lasts", "revoke"])]
    made: bool,
    /// Let nobody in by this token any more
    #[arg(long, value_name = "ID", conflicts_with = "lasts")]
    revoke: Option<String>,
    #[command(flatten)]
    socket: SocketArgs,
}

/// The first machine of a ring.
pub(super) fn create(args: &CreateArgs) -> Result<Answer, Failure> {
    let machine = args.machine.here(ANYWHERE)?;
    let own = std::slice::from_ref(&machine.member);
    let ring = (&*args.ring, None);
    let (text, settings) = args.machine.configuration(&machine, ring, own)?;
    let lasts = Duration::from_secs(24 * 3600);
    let token = found(&settings, lasts).map_err(Failure::new)?;
    args.machine.write(&text)?;
    let Member { name, address, .. } = &machine.member;
    remark(format_args!(
        "{name} at {address} is the first member of {}; on the next machine, within 24h:",
        args.ring
    ));
    say(format_args!("headway node join {token}"))?;
    args.machine.run()
}

/// One more machine.
pub(super) fn join(args: &JoinArgs) -> Result<Answer, Failure> {
    let token = &args.token;
    let machine = args.machine.here(&token.by.address)?;
    let answer = ask(token, &machine.member, &machine.listen).map_err(|error| match error {
        JoinError::Refused { .. } | JoinError::Expired => Failure {
            exit_code: 1,
            ..Failure::new(error)
        },
        error => Failure::new(error),
    })?;
    let (voters, operator) = match answer {
        Word::Welcome { voters, operator } => (voters, operator),
        Word::Refused(why) => return Err(Failure::new(why)),
    };
    let ring = (&*token.ring, operator);
    let (text, _) = args.machine.configuration(&machine, ring, &voters)?;
    args.machine.write(&text)?;
    remark(format_args!(
        "{} lets {} in, which is a member as soon as its node runs and is heard",
        token.by.name, machine.member.name
    ));
    args.machine.run()
}

/// A token, or what has become of those that there are.
pub(super) fn invite(args: &InviteArgs) -> Result<Answer, Failure> {
    let socket = &args.socket.socket;
    let all = match &args.revoke {
        Some(id) => {
            let path = format!("/v1/invitations/{}", headway_service::client::segment(id));
            super::ask(socket, "DELETE", &path, None)?
        }
        None if args.made => super::ask(socket, "GET", "/v1/invitations", None)?,
        None => {
            let body = json!({ "lasts_s": args.lasts.as_secs() });
            let made = super::ask(socket, "POST", "/v1/invitations", Some(&body))?;
            remark(format_args!(
                "for one machine; `headway node invite --revoke {}` before that takes it back",
                text(&made["id"])
            ));
            say(format_args!("headway node join {}", text(&made["token"])))?;
            return Ok(Answer::Yes);
        }
    };
    for one in all["invitations"].as_array().into_iter().flatten() {
        let by = one["used_by"].as_str();
        let by = by.map_or_else(String::new, |name| format!(" by {name}"));
        say(format_args!(
            "{}  {}{by}",
            text(&one["id"]),
            text(&one["state"])
        ))?;
    }
    Ok(Answer::Yes)
}

/// This machine, as a member.
struct Machine {
    member: Member,
    listen: String,
}

impl MachineArgs {
    /// With keys, which are made if there are none. `other` is somebody whom it has to reach.
    fn here(&self, other: &str) -> Result<Machine, Failure> {
        if self.config.exists() {
            return Err(Failure::new(format!(
                "{} exists: this machine has a node already",
                self.config.display()
            ))
            .help(
                "run it with `headway node --config FILE`, or write another file with --config",
            ));
        }
        let name = match &self.name {
            Some(name) => name.clone(),
            None => {
                let host = std::fs::read_to_string("/proc/sys/kernel/hostname");
                host.unwrap_or_default().trim().to_owned()
            }
        };
        let address = match &self.address {
            Some(address) => address.clone(),
            None => own_address(other).ok_or_else(|| {
                Failure::new("this machine has no address that others could reach")
                    .help("say where they do: --address HOST:PORT")
            })?,
        };
        let file = self.state_dir.join("identity");
        let key = Identities::open(&file).map_err(Failure::new)?.public();
        let member = Member {
            name,
            address,
            key: Some(key),
            ..Member::default()
        };
        member.check().map_err(|error| {
            Failure::new(error)
                .help("--name and --address say what this machine is called, and where")
        })?;
        let listen = listen(&member.address);
        Ok(Machine { member, listen })
    }

    /// Its configuration on a ring, understood.
    fn configuration(
        &self,
        machine: &Machine,
        (ring, operator): (&str, Option<SignerKey>),
        members: &[Member],
    ) -> Result<(String, Settings), Failure> {
        let quoted = |text: &dyn Display| format!("{:?}", text.to_string());
        let Machine { member, listen } = machine;
        let mut values = vec![
            ("node.name", quoted(&member.name)),
            ("node.listen", quoted(listen)),
            ("node.advertise", quoted(&member.address)),
            (
                "node.state_dir",
                quoted(&absolute(&self.state_dir)?.display()),
            ),
            (
                "api.socket",
                quoted(&absolute(&self.socket.socket)?.display()),
            ),
            ("ring.name", quoted(&ring)),
        ];
        values.extend(operator.map(|key| ("ring.recovery_key", quoted(&key))));
        let members: Vec<_> = members.iter().map(|member| json!(member)).collect();
        let text = file_with(&values, &keys::as_toml(&members));
        let sources = Sources {
            file: Some(self.config.clone()),
            text,
            variables: variables(),
        };
        match Settings::read(&sources) {
            Ok(settings) => Ok((sources.text, settings)),
            Err(mistakes) => Err(mistaken(&sources, mistakes)),
        }
    }

    fn write(&self, text: &str) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::writing(&self.config, &error);
        if let Some(folder) = self.config.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        std::fs::write(&self.config, text).map_err(failed)
    }

    fn run(&self) -> Result<Answer, Failure> {
        let config = Some(self.config.clone());
        match self.no_run {
            true => Ok(Answer::Yes),
            false => serve(&Given { config }),
        }
    }
}

fn absolute(path: &std::path::Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// The address that this machine would send from.
fn own_address(other: &str) -> Option<String> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect(other).ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_unspecified()).then(|| format!("{own}:{PORT}"))
}

/// Where a node receives that others reach at this address: everywhere, unless nobody else does.
fn listen(address: &str) -> String {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "7400"));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(own) if own.is_loopback() => address.to_owned(),
        Ok(IpAddr::V6(_)) => format!("[::]:{port}"),
        _ => format!("0.0.0.0:{port}"),
    }
}
