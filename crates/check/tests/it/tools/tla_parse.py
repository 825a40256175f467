"""Whether texts are TLA+, by the grammar of the TLA+ community: a line for each file."""

import sys

import tree_sitter_tlaplus
from tree_sitter import Language, Parser

parser = Parser(Language(tree_sitter_tlaplus.language()))
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        print("no" if parser.parse(file.read()).root_node.has_error else "yes")
