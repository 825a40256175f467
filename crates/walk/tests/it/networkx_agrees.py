"""Reads every file in a folder with NetworkX and compares distances and walks.

    networkx_agrees.py read FOLDER    check what Headway wrote against FOLDER/distances.json
    networkx_agrees.py write FOLDER   write files for Headway to read, with distances.json
"""

import json
import pathlib
import sys

import networkx as nx


def distances(graph):
    return {
        str(a): {str(b): hops for b, hops in row.items()}
        for a, row in nx.all_pairs_shortest_path_length(graph)
    }


def read_dot(path):
    graph = nx.nx_pydot.read_dot(path)
    # pydot keeps the quotes of names.
    names = {node: node.strip('"').replace('\\"', '"') for node in graph}
    graph = nx.relabel_nodes(graph, names)
    return nx.DiGraph(graph) if graph.is_directed() else nx.Graph(graph)


def read_edges(path):
    directed = "# directed" in path.read_text().splitlines()
    return nx.read_edgelist(path, create_using=nx.DiGraph if directed else nx.Graph)


def node_link(value):
    return nx.node_link_graph(value, edges="edges")


READERS = {
    ".graphml": nx.read_graphml,
    ".dot": read_dot,
    ".edges": read_edges,
    ".json": lambda path: node_link(json.loads(path.read_text())),
}


def check_walk(path):
    file = json.loads(path.read_text())
    graph = node_link(file["network"])
    walk, tokens = file["walk"], file["tokens"]
    length = len(walk)
    assert length == file["length"], path
    for here, there in zip(walk, walk[1:] + walk[:1]):
        assert graph.has_edge(here, there), (path, here, there)
    assert set(walk) == set(graph), path
    for node in graph:
        assert walk.count(node) == file["visits_by_node"][node], (path, node)
    hops = distances(graph)
    apart = file["separation_on_walk"]
    assert apart == length // tokens
    play = length - tokens * apart
    offsets = {k * apart + more for k in range(1, tokens) for more in range(play + 1)}
    kept = min(
        min(hops[walk[i]][walk[(i + j) % length]] for i in range(length)) for j in offsets
    )
    assert kept == file["distance_kept"], (path, kept, file["distance_kept"])


def read(folder):
    wanted = json.loads((folder / "distances.json").read_text())
    checked = 0
    for path in sorted(folder.glob("network.*")):
        found = distances(READERS[path.suffix](path))
        assert found == wanted, path
        checked += 1
    for path in sorted(folder.glob("walk*.json")):
        check_walk(path)
        checked += 1
    print(checked)


NUMBERED = [".g6", ".s6", ".mtx"]


def write_mtx(graph, path):
    symmetry = "general" if graph.is_directed() else "symmetric"
    lines = [f"{max(a, b)} {min(a, b)}" if symmetry == "symmetric" else f"{a} {b}"
             for a, b in graph.edges()]
    path.write_text(
        f"%%MatrixMarket matrix coordinate pattern {symmetry}\n"
        f"{len(graph)} {len(graph)} {len(lines)}\n" + "\n".join(lines) + "\n"
    )


def as_json(data):
    return lambda graph, path: path.write_text(json.dumps(data(graph)))


def others(name, graph):
    """Formats that Headway only reads, where this graph can be written in them."""
    writers = {
        ".gml": nx.write_gml,
        ".gexf": nx.write_gexf,
        ".net": nx.write_pajek,
        ".mtx": write_mtx,
        ".cytoscape.json": as_json(nx.cytoscape_data),
        ".adjacency.json": as_json(nx.adjacency_data),
    }
    if not graph.is_directed():
        writers[".s6"] = nx.write_sparse6
        writers[".adjlist"] = nx.write_adjlist
        if not graph.is_multigraph():
            writers[".g6"] = nx.write_graph6
    return writers


def write(folder):
    graphs = {
        "grid": nx.grid_2d_graph(3, 4),
        "petersen": nx.petersen_graph(),
        "directed": nx.DiGraph([("a b", "ü"), ("ü", "c"), ("c", "a b"), ("c", "ü")]),
        "multi": nx.MultiGraph([(1, 2), (1, 2), (2, 3), (3, 3)]),
    }
    table = {}
    for name, graph in graphs.items():
        if name == "grid":
            # A tuple becomes a list in JSON, which Headway names by its text.
            table["grid-tuples.json"] = {
                json.dumps(list(a), separators=(",", ":")): {
                    json.dumps(list(b), separators=(",", ":")): hops for b, hops in row.items()
                }
                for a, row in nx.all_pairs_shortest_path_length(graph)
            }
            (folder / "grid-tuples.json").write_text(
                json.dumps(nx.node_link_data(graph, edges="links"))
            )
            graph = nx.relabel_nodes(graph, lambda node: f"{node[0]}-{node[1]}")
        plain = nx.relabel_nodes(graph, str)
        for suffix in [".graphml", ".dot", ".edges", ".json", ".old.json"]:
            path = folder / (name + suffix)
            if suffix == ".graphml":
                nx.write_graphml(plain, path)
            elif suffix == ".dot":
                quoted = nx.relabel_nodes(plain, lambda node: f'"{node}"')
                nx.nx_pydot.write_dot(quoted, path)
            elif suffix == ".edges":
                if name == "directed":
                    continue
                nx.write_edgelist(plain, path)
            else:
                key = "edges" if suffix == ".json" else "links"
                path.write_text(json.dumps(nx.node_link_data(plain, edges=key)))
            table[path.name] = distances(plain)
        for suffix, writer in others(name, plain).items():
            path = folder / (name + suffix)
            graph = plain
            if suffix in NUMBERED:
                first = 1 if suffix == ".mtx" else 0
                graph = nx.convert_node_labels_to_integers(plain, first)
            writer(graph, path)
            table[path.name] = distances(graph)
    (folder / "distances.json").write_text(json.dumps(table))


{"read": read, "write": write}[sys.argv[1]](pathlib.Path(sys.argv[2]))
