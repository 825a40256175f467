//! The models on the command line: a subcommand each, with the flags that its settings are.

use clap::builder::ValueParser;
use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, Subcommand};
use headway_check::settings::{Given, Setting};
use headway_check::{MODELS, NamedModel};

/// A model and its flags.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) name: String,
    pub(super) given: Given,
}

impl Subcommand for Model {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(MODELS.iter().map(|model| {
            Command::new(model.name)
                .about(model.help)
                .args(model.settings().into_iter().map(flag))
        }))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Model::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        NamedModel::of(name).is_ok()
    }
}

impl FromArgMatches for Model {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Model, Error> {
        let (name, matches) = matches
            .subcommand()
            .ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
        let model = NamedModel::of(name).map_err(|_| Error::new(ErrorKind::InvalidSubcommand))?;
        Ok(Model {
            name: name.to_owned(),
            given: given(&model.settings(), matches),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Model::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What is given of some settings.
pub(crate) fn given(settings: &[Setting], matches: &ArgMatches) -> Given {
    let values = settings.iter().filter_map(|setting| {
        let name = setting.name;
        let text = if setting.value.is_empty() {
            matches.get_flag(name).then(|| "true".to_owned())?
        } else {
            let all: Vec<&str> = matches
                .get_many::<String>(name)?
                .map(String::as_str)
                .collect();
            all.join(",")
        };
        Some((name.to_owned(), text))
    });
    values.collect()
}

/// The flag of a setting. What is said once of it stands in its model's file.
pub(crate) fn flag(setting: Setting) -> Arg {
    // Kept for as long as the program runs, as all names of flags are.
    let long: &'static str = setting.name.replace('_', "-").leak();
    let arg = Arg::new(setting.name)
        .long(long)
        .help(setting.help)
        .conflicts_with_all(setting.excludes);
    let arg = match setting.name {
        "processes" => arg.short('n'),
        "tokens" => arg.short('m'),
        "separation" => arg.short('d'),
        _ => arg,
    };
    if setting.value.is_empty() {
        return arg.action(ArgAction::SetTrue);
    }
    let accepts = setting.accepts;
    let parser = move |text: &str| accepts(text).map(|()| text.to_owned());
    let arg = arg
        .value_name(setting.value)
        .value_parser(ValueParser::new(parser));
    match setting.is_list {
        true => arg.action(ArgAction::Append).value_delimiter(','),
        false => arg,
    }
}
