//! What the two formats in XML share. Many tools leave namespaces out, so only local
//! names are compared.

use crate::network::{Builder, Node};
use crate::read::ReadError;

pub(super) type Element<'a> = roxmltree::Node<'a, 'a>;

/// A document whose root has the expected name.
pub(super) struct Document<'a>(roxmltree::Document<'a>);

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str, root: &str) -> Result<Document<'a>, ReadError> {
        let tree = roxmltree::Document::parse(text).map_err(|error| {
            ReadError::at(
                error.pos().row as usize,
                format!("not well-formed XML: {error}"),
            )
        })?;
        let document = Document(tree);
        let found = document.0.root_element().tag_name().name();
        if found != root {
            let message = format!("expected <{root}>, found <{found}>");
            return Err(document.wrong(document.0.root_element(), message));
        }
        if document.elements("graph").next().is_none() {
            let message = "there is no <graph> in this file";
            return Err(document.wrong(document.0.root_element(), message));
        }
        Ok(document)
    }

    /// All elements of that name.
    pub(super) fn elements<'d>(&'d self, name: &str) -> impl Iterator<Item = Element<'d>> {
        let all = self.0.descendants();
        all.filter(move |element| is(*element, name))
    }

    /// The graph that an edge belongs to.
    pub(super) fn graph_of<'d>(&'d self, edge: Element<'d>) -> Result<Element<'d>, ReadError> {
        edge.ancestors()
            .find(|ancestor| is(*ancestor, "graph"))
            .ok_or_else(|| self.wrong(edge, "this <edge> is outside of the <graph>"))
    }

    /// The nodes that an edge joins, which must be there.
    pub(super) fn ends(
        &self,
        edge: Element<'_>,
        nodes: &Builder,
    ) -> Result<(Node, Node), ReadError> {
        let end = |name| nodes.known(name, self.required(edge, name)?, self.line(edge));
        Ok((end("source")?, end("target")?))
    }

    pub(super) fn required<'d>(
        &self,
        element: Element<'d>,
        name: &str,
    ) -> Result<&'d str, ReadError> {
        element.attribute(name).ok_or_else(|| {
            let message = format!("this <{}> has no {name}", element.tag_name().name());
            self.wrong(element, message)
        })
    }

    pub(super) fn line(&self, element: Element<'_>) -> usize {
        self.0.text_pos_at(element.range().start).row as usize
    }

    pub(super) fn wrong(&self, element: Element<'_>, message: impl Into<String>) -> ReadError {
        ReadError::at(self.line(element), message)
    }
}

fn is(element: Element<'_>, name: &str) -> bool {
    element.is_element() && element.tag_name().name() == name
}

/// The first element of that name within an element.
pub(super) fn child<'a>(element: Element<'a>, name: &str) -> Option<Element<'a>> {
    element.children().find(|child| is(*child, name))
}
