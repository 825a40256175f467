//! `headway petri export`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use headway_petri::{dot, svg, tina};

use super::input::{Plant, Purpose, is_json, of_flags, read_net, write_pnml, write_svg};
use crate::failure::{Answer, Failure, expect_endings, read_bytes, write_to};
use crate::flags::RingFlags;

/// Flags of `headway petri export`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway petri export --processes 12 --tokens 3 --separation 4 --to pnml -o ring.pnml
  headway petri export state.json --to tina -o ring.net
  headway petri export plant.pnml --to dot | neato -n -Tsvg > plant.svg

PNML carries the holding times in toolspecific elements. TINA's format puts them
on transitions as intervals [1,1]; it needs all of them to be 1. An untimed tool
that reads PNML plays the net in any order and will rightly find two tokens on
one place: separation is a matter of time.")]
pub(super) struct Args {
    /// A state file of a ring in JSON, or a net in PNML; without it, the ring flags
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// The id of the net, if the file has several
    #[arg(long, value_name = "ID", requires = "file")]
    net: Option<String>,

    #[command(flatten)]
    ring: RingFlags,

    /// In which format
    #[arg(long, value_enum, default_value_t)]
    to: Target,

    /// Write to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also draw the net
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Target {
    /// ISO/IEC 15909-2, place/transition net
    #[default]
    Pnml,
    /// The .net format of TINA, a time Petri net
    Tina,
    /// Graphviz
    Dot,
}

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    expect_endings(args.svg.as_deref(), None)?;
    let Plant { net, marking } = match &args.file {
        None => of_flags(&args.ring)?,
        Some(path) => {
            let bytes = read_bytes(path)?;
            if is_json(&bytes) && args.net.is_none() {
                of_flags(&args.ring.with_state_file(path)?)?
            } else if let Some(flag) = args.ring.first_given() {
                return Err(Failure::new(format!(
                    "--{flag} contradicts {}, which is a whole net",
                    path.display()
                ))
                .help(format!("drop --{flag}, or drop the file")));
            } else {
                // The other formats have no looks to lose.
                let purpose = match args.to {
                    Target::Pnml => Purpose::WriteAgain,
                    Target::Tina | Target::Dot => Purpose::Use,
                };
                read_net(path, args.net.as_deref(), purpose)?
            }
        }
    };
    let output = args.output.as_deref();
    match args.to {
        Target::Pnml => write_pnml(output, &net, &marking)?,
        Target::Tina => {
            let text = tina::to_string(&net, &marking)
                .map_err(|error| Failure::new(error).help("use --to pnml, which keeps them"))?;
            write_to(output, |out| out.write_all(text.as_bytes()))?;
        }
        Target::Dot => {
            write_to(output, |out| {
                out.write_all(dot::to_string(&net, &marking).as_bytes())
            })?;
        }
    }
    write_svg(
        args.svg.as_deref(),
        &net,
        &marking,
        &svg::Highlight::default(),
    )?;
    Ok(Answer::Yes)
}
