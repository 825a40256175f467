"""A second reader of PNML in all its dialects, and a second judge of XML: Python's own.

Standard input: JSON {"files": [path, ...], "texts": [text, ...]}.
Standard output: JSON with, for each file, places with tokens, transitions and arcs with
weights; and the numbers of the texts that are not well-formed.
"""

import json
import sys
import xml.etree.ElementTree as tree
from xml.parsers import expat


def local(element):
    return element.tag.rpartition("}")[2]


def objects(parent):
    """Nodes and arcs on all pages; a net inside a page is another net."""
    for child in parent:
        if local(child) == "page":
            yield from objects(child)
        elif local(child) != "net":
            yield child


def number(element, label, attribute, default):
    if attribute in element.attrib:
        return int(element.attrib[attribute])
    for child in element:
        if local(child) == label:
            for text in child:
                if local(text) == "multiset":
                    return sum(int(times.text) for times in text.iter("multiplicity"))
                if local(text) in ("text", "value"):
                    return int("".join(text.itertext()).split(",")[-1] or default)
    return default


def read(path):
    net = next(child for child in tree.parse(path).getroot() if local(child) == "net")
    places, transitions, arcs, references = {}, [], [], {}
    for element in objects(net):
        kind, name = local(element), element.get("id")
        if kind == "place":
            places[name] = number(element, "initialMarking", "initialMarking", 0)
        elif kind == "transition":
            transitions.append(name)
        elif kind.startswith("reference"):
            references[name] = element.get("ref")
        elif kind == "arc":
            weight = number(element, "inscription", "weight", 1)
            arcs.append([element.get("source"), element.get("target"), weight])

    def node(name):
        while name in references:
            name = references[name]
        return name

    arcs = sorted([node(source), node(target), weight] for source, target, weight in arcs)
    return {"places": places, "transitions": sorted(transitions), "arcs": arcs}


def well_formed(text):
    try:
        expat.ParserCreate(namespace_separator=" ").Parse(text.encode(), True)
        return True
    except expat.ExpatError:
        return False


task = json.load(sys.stdin)
json.dump(
    {
        "files": [read(path) for path in task["files"]],
        "not_well_formed": [i for i, text in enumerate(task["texts"]) if not well_formed(text)],
    },
    sys.stdout,
)
