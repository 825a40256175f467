//! `headway completions` and `headway man`.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Cli;
use crate::failure::{Answer, Failure};

/// Flags of `headway completions`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  headway completions bash > ~/.local/share/bash-completion/completions/headway
  headway completions zsh > ~/.zfunc/_headway
  headway completions fish > ~/.config/fish/completions/headway.fish")]
pub(crate) struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

/// Prints a completion script.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "headway", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Answer::Yes)
}

/// Prints the manual page, subcommands included.
pub(crate) fn man() -> Result<Answer, Failure> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|c| c.get_name() != "help") {
        clap_mangen::Man::new(subcommand.clone())
            .title(format!("headway-{}", subcommand.get_name()))
            .render(&mut page)?;
    }
    std::io::stdout().write_all(&page)?;
    Ok(Answer::Yes)
}
