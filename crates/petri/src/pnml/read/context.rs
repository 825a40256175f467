//! Which element may be where, and what it means there.

/// Where in the document the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    Document,
    Pnml,
    Net,
    Page,
    Place,
    Transition,
    Reference,
    Arc,
    /// `name`, `initialMarking` or `inscription`.
    Label(Label),
    /// The `text` of a label.
    Text,
    /// `graphics` of a place or transition.
    Graphics,
    /// A `toolspecific` element of this tool.
    Own,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Name,
    InitialMarking,
    Inscription,
}

impl Context {
    pub(super) fn expected(self) -> &'static str {
        match self {
            Context::Document => "<pnml>",
            Context::Pnml => "<net>",
            Context::Net => "<page>, <name>, <toolspecific>",
            Context::Page => {
                "<place>, <transition>, <arc>, <page>, <referencePlace>, <referenceTransition>, \
                 <name>, <graphics>, <toolspecific>"
            }
            Context::Place => "<initialMarking>, <name>, <graphics>, <toolspecific>",
            Context::Transition | Context::Reference => "<name>, <graphics>, <toolspecific>",
            Context::Arc => "<inscription>, <name>, <graphics>, <toolspecific>",
            Context::Label(_) => "<text>, <graphics>, <toolspecific>",
            Context::Graphics => "<position>, <dimension>, <fill>, <line>",
            Context::Text | Context::Own => "text",
        }
    }

    /// What an element means here; `None` when it has no place here.
    pub(super) fn next(self, element: &str) -> Option<(Context, &'static str)> {
        use Context as C;
        let node = |context| {
            matches!(
                context,
                C::Place | C::Transition | C::Reference | C::Arc | C::Page
            )
        };
        Some(match (self, element) {
            (C::Document, "pnml") => (C::Pnml, "pnml"),
            (C::Pnml, "net") => (C::Net, "net"),
            (C::Net | C::Page, "page") => (C::Page, "page"),
            (C::Page, "place") => (C::Place, "place"),
            (C::Page, "transition") => (C::Transition, "transition"),
            (C::Page, "referencePlace") => (C::Reference, "referencePlace"),
            (C::Page, "referenceTransition") => (C::Reference, "referenceTransition"),
            (C::Page, "arc") => (C::Arc, "arc"),
            (context, "name") if node(context) || context == C::Net => {
                (C::Label(Label::Name), "name")
            }
            (C::Place, "initialMarking") => (C::Label(Label::InitialMarking), "initialMarking"),
            (C::Arc, "inscription") => (C::Label(Label::Inscription), "inscription"),
            (C::Label(_), "text") => (C::Text, "text"),
            (context, "graphics") if node(context) || matches!(context, C::Label(_)) => {
                (C::Graphics, "graphics")
            }
            (context, "toolspecific")
                if node(context) || matches!(context, C::Label(_) | C::Net) =>
            {
                (C::Own, "toolspecific")
            }
            _ => return None,
        })
    }
}
