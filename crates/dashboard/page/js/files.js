// Files that are dropped or opened: a state, a run, a network, a table of results. Which
// it is shows from the name and, for JSON, from what is inside.

import { byId, toast } from "./dom.js";
import { parseWitness, showWitness } from "./witness.js";

const NETWORKS = [".graphml", ".dot", ".gv", ".gml", ".gexf", ".net", ".g6", ".s6", ".mtx", ".adjlist", ".edges", ".txt"];
const TABLES = [".csv", ".parquet"];

/**
 * @param {{state: (text: string) => void, network: (name: string, text: string) => void, table: (name: string, bytes: ArrayBuffer) => void}} to
 */
export function files(to) {
  const drop = byId("drop");
  const input = byId("state-input");
  let inside = 0;

  byId("open-state").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    if (input.files[0]) open(input.files[0]);
    input.value = "";
  });

  addEventListener("dragenter", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    inside += 1;
    drop.hidden = false;
  });
  addEventListener("dragover", (event) => carriesFile(event) && event.preventDefault());
  addEventListener("dragleave", () => {
    inside = Math.max(0, inside - 1);
    drop.hidden = inside === 0;
  });
  addEventListener("drop", (event) => {
    inside = 0;
    drop.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    open(file);
  });

  async function open(file) {
    const lower = file.name.toLowerCase();
    if (file.size > 8e6) toast(`${file.name} is larger than the 8 MB that are taken here`, "error");
    else if (TABLES.some((end) => lower.endsWith(end))) to.table(file.name, await file.arrayBuffer());
    else if (NETWORKS.some((end) => lower.endsWith(end))) to.network(file.name, await file.text());
    else {
      const text = await file.text();
      const run = parseWitness(text);
      if (run) showWitness(run);
      else if (isNetwork(text)) to.network(file.name, text);
      else to.state(text);
    }
  }
}

function carriesFile(event) {
  return [...(event.dataTransfer?.types ?? [])].includes("Files");
}

/** JSON that has nodes or is a walk, not processes. */
function isNetwork(text) {
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) || (value !== null && typeof value === "object" && !("processes" in value) && ("nodes" in value || "walk" in value));
  } catch {
    // The server says where the mistake is.
    return false;
  }
}
