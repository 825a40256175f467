//! `headway serve`: the web page and its server.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use clap::Args as ClapArgs;
use headway_dashboard::fleet::{MAX_NODES, NodeUrl, Powers};
use headway_dashboard::{Embedder, Options, Secret, Server};

use crate::failure::{Answer, Failure, plain, read_text};
use crate::flags::whole_number;
use crate::interrupt;

/// Flags of `headway serve`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway serve                            the page at http://127.0.0.1:7007/
  headway serve --open                     the same, in a browser
  headway serve --port 0                   at any free port; the address is printed
  headway serve --listen 0.0.0.0:7007 --secret-file secret
                                           for others too; they need the secret
  headway serve --fleet http://10.0.0.1:7020,http://10.0.0.2:7020
                                           watch real nodes

Ctrl-C stops it. The page is in this program and fetches nothing from elsewhere.
The HTTP interface that the page uses is described at /api/docs.")]
pub(crate) struct Args {
    /// Port on this machine (127.0.0.1); 0 for any free one
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 7007,
        value_parser = whole_number::<u16>,
        conflicts_with = "listen"
    )]
    port: u16,

    /// Address to listen at for other machines; needs --secret-file
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    listen: Option<SocketAddr>,

    /// Name under which others reach this server, such as ring.example; may be repeated
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,

    /// Site that may show the page in a frame, such as `https://school.example`; may be
    /// repeated
    #[arg(long = "embed", value_name = "SITE")]
    embedders: Vec<Embedder>,

    /// File holding the secret; readable by its owner only
    #[arg(long, value_name = "FILE", alias = "token-file")]
    secret_file: Option<PathBuf>,

    /// Watch these nodes: their HTTP addresses, separated by commas
    #[arg(long, value_name = "URL,...", value_delimiter = ',')]
    fleet: Vec<NodeUrl>,

    /// Unix socket of a node of this machine, so that the page can pause, resume and abort
    /// rollouts; needs --secret-file
    #[arg(
        long,
        value_name = "SOCKET",
        requires = "fleet",
        requires = "secret_file"
    )]
    node_socket: Option<PathBuf>,

    /// Print what the page wants to be done to the nodes of a demonstration
    #[arg(long, hide = true)]
    demonstration: bool,

    /// Open a browser
    #[arg(long)]
    open: bool,

    /// Take the page from this folder, at every request anew, to work on it
    #[arg(long, value_name = "FOLDER", hide = true)]
    page: Option<PathBuf>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected an address and a port, such as 0.0.0.0:7007 or [::]:7007";
    text.parse().map_err(|_| expected.to_owned())
}

/// Serves until it is interrupted.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let listen = args.listen.unwrap_or(local);
    let secret = args.secret_file.as_deref().map(read_secret).transpose()?;
    if secret.is_none() && !listen.ip().is_loopback() {
        return Err(Failure::new(format!(
            "--listen {listen}: others could reach this address, so a secret is needed"
        ))
        .help("give --secret-file FILE, or use --port to serve this machine only"));
    }
    if args.fleet.len() > MAX_NODES {
        return Err(Failure::new(format!(
            "--fleet: {} nodes are more than can be watched (at most {MAX_NODES})",
            args.fleet.len()
        ))
        .help("watch some of them: each tells of its neighbours"));
    }
    let options = Options {
        listen,
        secret,
        names: args.hosts.clone(),
        embedders: args.embedders.clone(),
        page: args.page.clone(),
        fleet: args.fleet.clone(),
        powers: Powers {
            node_socket: args.node_socket.clone(),
            demonstration: args.demonstration.then(printer),
        },
        ..Options::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(args, options))
}

/// Prints what it is sent, line by line, for who has started this program.
fn printer() -> Sender<String> {
    let (sender, orders) = channel();
    std::thread::spawn(move || {
        for order in orders {
            if crate::failure::say(order).is_err() {
                return;
            }
        }
    });
    sender
}

async fn serve(args: &Args, options: Options) -> Result<Answer, Failure> {
    let (listen, needs_secret) = (options.listen, options.secret.is_some());
    let server = Server::bind(options).map_err(|error| no_listener(listen, &error))?;
    let url = format!("http://{}/", server.address()?);
    let mut out = anstream::stdout();
    writeln!(out, "Headway is at {url}")?;
    if needs_secret {
        writeln!(
            out,
            "Open it once as {url}?secret=SECRET with the secret from the file."
        )?;
    }
    writeln!(out, "Ctrl-C stops it.")?;
    out.flush()?;
    if args.open {
        open(&url);
    }
    // Asked of a handler that is there before the page is, and not made by the server when it
    // finds time to.
    let interrupted = async {
        while !interrupt::is_stopped() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    server.serve(interrupted).await;
    Ok(Answer::Interrupted)
}

fn no_listener(listen: SocketAddr, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("cannot listen at {listen}: {}", plain(error)));
    match error.kind() {
        io::ErrorKind::AddrInUse => failure.help(
            "another program, perhaps another `headway serve`, has this port; \
             give --port 0 for any free one",
        ),
        io::ErrorKind::AddrNotAvailable => failure.help("give an address of this machine"),
        io::ErrorKind::PermissionDenied => failure.help("give a port above 1023"),
        _ => failure.help("give another --port or --listen"),
    }
}

fn read_secret(path: &Path) -> Result<Secret, Failure> {
    check_permissions(path)?;
    let text = read_text(path)?;
    Secret::parse(&text).map_err(|problem| {
        Failure::new(format!("the secret in {} {problem}", path.display())).help(format!(
            "make one: (umask 077; head -c 24 /dev/urandom | base64 | tr '+/' '-_' > {})",
            path.display()
        ))
    })
}

#[cfg(unix)]
fn check_permissions(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(path).map_err(|error| Failure::reading(path, &error))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{} can be read by others (its mode is {mode:o})",
        path.display()
    ))
    .help(format!("chmod 600 {}", path.display())))
}

#[cfg(not(unix))]
fn check_permissions(_: &Path) -> Result<(), Failure> {
    Ok(())
}

/// Asks the desktop to show the page; the address has been printed anyway.
fn open(url: &str) {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/c", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let started = std::process::Command::new(program)
        .args(arguments)
        .arg(url)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    if let Err(error) = started {
        crate::failure::warn(format!(
            "cannot open a browser ({program}: {error}); open {url} yourself"
        ));
    }
}
