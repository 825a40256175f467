//! Keys of nodes and operators: made, printed, changed.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use headway_service::identity::{Identities, Signer, create_operator, read_operator};
use headway_service::{client, operator};
use serde_json::{Value, json};

use super::{SocketArgs, ask, changed, text};
use crate::failure::{Answer, Failure, remark, say};

#[derive(ClapArgs, Debug)]
pub(super) struct IdentityArgs {
    /// Where the node's key pairs are, or are to be (node.identity_file)
    #[arg(default_value = "/var/lib/headway/identity")]
    file: PathBuf,
    /// The recovery key instead, in this file, which stays on the operator's own machine
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    recovery_key: Option<PathBuf>,
}

/// Prints a public key; the secret one is made if there is none.
pub(super) fn identity(args: &IdentityArgs) -> Result<Answer, Failure> {
    if let Some(path) = &args.recovery_key {
        if !path.exists() {
            create_operator(path).map_err(|error| Failure::writing(path, &error))?;
            remark(format_args!(
                "wrote a new key to {}: keep it to yourself",
                path.display()
            ));
        }
        say(signer(path)?.public())?;
        return Ok(Answer::Yes);
    }
    let new = !args.file.exists();
    let identities = Identities::open(&args.file).map_err(Failure::new)?;
    if new {
        let file = args.file.display();
        remark(format_args!(
            "wrote new key pairs to {file}: they stay on this machine"
        ));
    }
    say(identities.public())?;
    Ok(Answer::Yes)
}

#[derive(ClapArgs, Debug)]
pub(super) struct RotateArgs {
    /// The recovery key instead: the file with the old one
    #[arg(long, value_name = "FILE", requires = "new")]
    recovery_key: Option<PathBuf>,
    /// The file with the new one, from `headway node identity --recovery-key FILE`
    #[arg(long, value_name = "FILE", requires = "recovery_key")]
    new: Option<PathBuf>,
    #[command(flatten)]
    socket: SocketArgs,
}

/// Changes this node's key, or the recovery key.
pub(super) fn rotate(args: &RotateArgs) -> Result<Answer, Failure> {
    let socket = &args.socket.socket;
    let (Some(old), Some(new)) = (&args.recovery_key, &args.new) else {
        let answer = client::ask(socket, "POST", "/v1/rotate-key", None);
        return changed(answer, |_| "this node has another key".into());
    };
    let (old, new) = (signer(old)?, signer(new)?.public());
    let membership = ask(socket, "GET", "/v1/membership", None)?;
    let signature = operator::sign_key(text(&membership["ring"]), new, &old);
    let body = json!({ "key": new, "signature": signature });
    let answer = client::ask(socket, "POST", "/v1/recovery-key", Some(&body));
    changed(answer, |_| "the recovery key is another one".into())
}

fn signer(file: &Path) -> Result<Signer, Failure> {
    let help = "`headway node identity --recovery-key FILE` makes a recovery key";
    read_operator(file).map_err(|error| Failure::new(error).help(help))
}

/// Has an operator sign the membership that begins a new log.
pub(super) fn sign(socket: &Path, gone: &[String], file: &Path) -> Result<String, Failure> {
    let signer = signer(file)?;
    let membership = ask(socket, "GET", "/v1/membership", None)?;
    let body = json!({ "gone": gone, "unsigned": true });
    let next = ask(socket, "POST", "/v1/recover", Some(&body))?;
    let ring = text(&membership["ring"]);
    operator::sign_membership(text(&next["unsigned"]), ring, gone, &signer).ok_or_else(|| {
        Failure::new("the node wants something else signed than a membership without those members")
    })
}

/// The members as another node's file lists them.
pub(super) fn as_toml(members: &[Value]) -> String {
    let member = |member: &Value| {
        let (name, address) = (text(&member["name"]), text(&member["address"]));
        let key = member["key"].as_str();
        let key = key.map_or_else(String::new, |key| format!("key = {key:?}\n"));
        format!("[[ring.members]]\nname = {name:?}\naddress = {address:?}\n{key}")
    };
    members.iter().map(member).collect()
}
