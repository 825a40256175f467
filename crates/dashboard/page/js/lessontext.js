// The words and states of the lessons.

const relay = { program: "relay", queued: 0, resting: 0 };
const measuring = (program, extra = {}) => ({ program, queued: 0, resting: 0, counter: 0, tokens: 2, ...extra });

/** Two tokens side by side on a ring of 6, one process that measures. */
const sideBySide = (program) => ({
  separation: 3,
  processes: [measuring(program), relay, relay, relay, { ...relay, resting: 1 }, { ...relay, queued: 1 }],
});

/** Two tokens resting at the predecessor of the process that measures. */
const behind = (program) => ({
  separation: 3,
  processes: [measuring(program), relay, relay, relay, relay, { ...relay, resting: 2 }],
});

/**
 * A step: what is to be predicted, and the answer with its reason. `plays` is the try that shows
 * it, by its round `see`.
 * @typedef {{label: string, settings?: any, fault?: string, speed?: number}} Try
 * @type {{title: string, kind: string, text: string[], ask: string, options: string[], right: number, reveal: string[], plays: number, see: number, tries: Try[], source: string}[]}
 */
export const STEPS = [
  {
    title: "A chain that spaces what it is given",
    kind: "chain",
    text: [
      "Tokens come in at the left whenever they like, and move on one process a round. Further down, no two of them are to be closer than *d*.",
    ],
    ask: "Six come in at once. What does it take to space them?",
    options: ["Each process asks the next one whether the way is free.", "One counter, at the first process.", "A clock that all processes share."],
    right: 1,
    reveal: [
      "When the first process has let a token go, its counter starts from *d* − 1 and runs down by one a round; while it runs, tokens rest. All other processes are `relay`: they pass on what they get.",
      "Nothing is coordinated, and it does not matter what the counter held at first: wrong once, right ever after.",
    ],
    plays: 0,
    see: 26,
    tries: [
      { label: "All at once", settings: { processes: 16, separation: 4, rounds: 60, arrivals: "burst:6" } },
      { label: "At random", settings: { processes: 16, separation: 4, rounds: 90, arrivals: "random:30%" } },
      { label: "Slowly", settings: { processes: 16, separation: 4, rounds: 60, arrivals: "every:6" } },
      { label: "From a bad state", settings: { processes: 16, separation: 4, rounds: 60, arrivals: "every:5", scrambled: 6 } },
    ],
    source: "The paper's motivating example, figure 2.",
  },
  {
    title: "Close the chain to a ring",
    kind: "ring",
    text: [
      "Now the end feeds the beginning. Nothing comes in, nothing goes out: *m* tokens circulate forever, and each process runs the same lines. A `delay` lets one token go every *d* rounds; the halo around a token is the room it wants, red while another is inside.",
    ],
    ask: "Five tokens rest in a pile on a ring of 30. After how many rounds do they keep 6 apart, for ever?",
    options: ["25", "60", "150: everybody has to go round a few times"],
    right: 0,
    reveal: [
      "The last of the five leaves the pile after four waits of 6 rounds. When the halos close to a full circle, no token ever waits again: the state is *legitimate*.",
      "Then strike it, and see it recover. That is what self-stabilizing means: from any state.",
    ],
    plays: 0,
    see: 25,
    tries: [
      { label: "A pile", settings: { processes: 30, tokens: 5, separation: 6, start: "piled" } },
      { label: "Any state", settings: { processes: 30, tokens: 5, separation: 6, start: "random", seed: 7 }, speed: 6 },
      { label: "Strike it now", fault: "scramble" },
    ],
    source: "Figure 3 and the theorem of section 5.3: D1 to D5.",
  },
  {
    title: "The slowest start of all",
    kind: "ring",
    text: [
      "How long can it take? The paper bounds it by O(*n*³) rounds and suspects less. It is linear, and known exactly: from no state does it take longer than from the one on show.",
    ],
    ask: "Here one process delays. What if every sixth did?",
    options: ["It takes longer: there are more waits.", "It takes half as long.", "It takes as long: the tokens are as many."],
    right: 1,
    reveal: [
      "With a single delay, 48 rounds: a token may have to go all the way round before it meets a process that can hold it back. With delays at most *d* apart the ring is as fast as if all delayed, 24 rounds: never more than about *m*·*d*, however large it is.",
    ],
    plays: 0,
    see: 48,
    tries: [
      { label: "One delay", settings: { processes: 30, tokens: 4, separation: 6, delays: "at:0", start: "worst" }, speed: 8 },
      { label: "Every sixth", settings: { processes: 30, tokens: 4, separation: 6, delays: "every:6", start: "worst" }, speed: 8 },
      { label: "All delay", settings: { processes: 30, tokens: 4, separation: 6, delays: "all", start: "worst" }, speed: 8 },
    ],
    source: "Section 5.3, convergence time; proved in docs/research/worst-case.md.",
  },
  {
    title: "One token too many",
    kind: "ring",
    text: [
      "The tokens fit while *m*·*d* ≤ *n*. Five do, 6 apart on a ring of 30. Now there are six.",
    ],
    ask: "Each process used to pass on a token every 6 rounds. And now?",
    options: ["More often: there are more tokens.", "As often as before.", "Never again: all is stuck."],
    right: 1,
    reveal: [
      "It is like a road at rush hour: every `delay` lets one token go every *d* rounds and not more, so the rest queue, forever.",
      "The change is sudden. Up to the threshold every further token adds to the flow and none waits; beyond it no token adds anything, and all of them wait.",
    ],
    plays: 1,
    see: 60,
    tries: [
      { label: "5 tokens fit", settings: { processes: 30, tokens: 5, separation: 6, start: "random", seed: 3 }, speed: 8 },
      { label: "6: a jam", settings: { processes: 30, tokens: 6, separation: 6, start: "random", seed: 3 }, speed: 8 },
      { label: "10: a worse one", settings: { processes: 30, tokens: 10, separation: 6, start: "random", seed: 3 }, speed: 8 },
    ],
    source: "Inequality (1) of section 5; Explore draws the flow.",
  },
  {
    title: "A ring that measures itself",
    kind: "ring",
    text: [
      "What if nobody knows *n*? One process can time a token on its way round, and from that set the separation to ⌊*n*/*m*⌋, the largest there is. This is the paper's second protocol, as it is printed.",
    ],
    ask: "Two tokens on a ring of six. How far apart do they settle?",
    options: ["3, half the ring", "2", "They never come to rest."],
    right: 1,
    reveal: [
      "The program as printed stops the clock one token early: 2 apart instead of 3. And it can set its counter to −1, which never runs down: then nothing moves again.",
      "With the test before the decrement, and the counter kept from going below 0, it does what the paper says. The same two starts, both programs:",
    ],
    plays: 0,
    see: 30,
    tries: [
      { label: "Too close, as printed", settings: { state: sideBySide("measure-as-printed") }, speed: 5 },
      { label: "Corrected", settings: { state: sideBySide("measure") }, speed: 5 },
      { label: "Stuck, as printed", settings: { state: behind("measure-as-printed") }, speed: 5 },
      { label: "Corrected", settings: { state: behind("measure") }, speed: 5 },
    ],
    source: "Figure 6; lines 3 and 4, and line 6. PAPER.md has the commands.",
  },
  {
    title: "Nobody knows the size",
    kind: "ring",
    text: [
      "Can *every* process measure? Let each time its tokens, and adopt every lap as the size of the ring.",
    ],
    ask: "Five processes, one token. Does the ring settle?",
    options: ["Yes, when each has seen a lap.", "Yes, but it takes very long.", "No, never."],
    right: 2,
    reveal: [
      "One that meets no rest of its own measures a lap that others have stretched, believes in too much, and so moves the jam on forever. The paper conjectures that no such program exists. It fails only for want of care.",
      "`shortest-lap` lowers its separation at once when a lap says so, and raises it only when two laps in a row took as long and tokens still came too close together. In a jam laps are long but tokens come evenly, so nobody raises, and one after the other learns better. This is proved for every start. There is a price: from a bad start it can take long.",
    ],
    plays: 0,
    see: 60,
    tries: [
      { label: "Adopting every lap", settings: { processes: 5, tokens: 1, program: "measure", delays: "all", start: "random", seed: 2 }, speed: 12 },
      { label: "The shortest lap", settings: { processes: 12, tokens: 3, program: "shortest-lap", delays: "all", start: "random", seed: 2 }, speed: 30 },
      { label: "A mix with relays", settings: { processes: 12, tokens: 3, program: "shortest-lap", delays: "at:0,1,6", start: "random", seed: 2 }, speed: 30 },
    ],
    source: "Section 7's open question; proved in docs/research/unknown-size.md.",
  },
  {
    title: "Tokens that count their hops",
    kind: "ring",
    text: [
      "If tokens may carry a number, all of this is easy.",
    ],
    ask: "Which number makes the size of the ring known after one lap?",
    options: ["The round in which it was released.", "The hops that it has made.", "The tokens that it has met."],
    right: 1,
    reveal: [
      "Let each token count its hops. Whoever releases one remembers its count; when the same token comes back, the difference is the size of the ring, however long it rested on the way.",
      "So `hop-count` never believes a lap that others have stretched: it does not look at the time at all. Every process can run it, and each knows better after one lap.",
    ],
    plays: 0,
    see: 30,
    tries: [
      { label: "Everybody counts", settings: { processes: 12, tokens: 3, program: "hop-count", delays: "all", start: "random", seed: 2 }, speed: 12 },
      { label: "Three count", settings: { processes: 12, tokens: 3, program: "hop-count", delays: "at:0,1,6", start: "random", seed: 2 }, speed: 12 },
      { label: "Strike it now", fault: "scramble" },
    ],
    source: "docs/research/unknown-size.md.",
  },
  {
    title: "Nobody in step",
    kind: "asynchrony",
    text: [
      "So far all processes took each round together. Real ones do not. Give every process a clock that may be ahead of its neighbours' by one tick and no more, and let it take a round when its clock ticks: the bars inside the ring show how far each is ahead.",
    ],
    ask: "The ring is set to 6 apart. How close can two tokens come in true time?",
    options: ["6: nothing changes.", "3", "0: they can meet."],
    right: 1,
    reveal: [
      "In rounds, nothing changes. In true time a token can come closer to the one in front than *d*, because the one behind may be early and the one in front late. How much closer is known: half the distance at full speed, one hop when the ring takes a round only every few ticks.",
    ],
    plays: 0,
    see: 60,
    tries: [
      { label: "Full speed", settings: { processes: 24, separation: 6, pace: 1, schedule: "random", steps: 240 } },
      { label: "A slow process", settings: { processes: 24, separation: 6, pace: 1, schedule: "straggler", steps: 240 } },
      { label: "A round every 6 ticks", settings: { processes: 24, separation: 6, pace: 6, schedule: "random", steps: 400 } },
    ],
    source: "Section 5.2 (iv), the phase clock.",
  },
  {
    title: "A moving block, and no rounds at all",
    kind: "ring",
    text: [
      "Railways need no rounds: a train moves on when the block ahead of it is free. Here every process tells the one behind it how far ahead the next token is, and a token goes when it is told *d* or more. In each round on show every process does everything once, in an order that is drawn anew.",
    ],
    ask: "Four tokens, 6 apart. Is a ring of 24 large enough?",
    options: ["Yes: 4·6 = 24.", "No: one more process is needed.", "No: twice as many are needed."],
    right: 1,
    reveal: [
      "Every token waits for the one ahead of it, all round the ring. One process of slack is needed: *n* > *m*·*d*. It travels backwards, as a gap does in a traffic jam.",
      "Nobody counts time, so nobody can count it wrong: the true distance is *d*, and a token that is held up stops only those that come up behind it. What is given up is that all tokens move all the time.",
    ],
    plays: 2,
    see: 8,
    tries: [
      { label: "A pile", settings: { processes: 25, tokens: 4, separation: 6, program: "moving-block", start: "piled" } },
      { label: "Any state, false news included", settings: { processes: 25, tokens: 4, separation: 6, program: "moving-block", start: "random", seed: 7 } },
      { label: "No slack: it stands", settings: { processes: 24, tokens: 4, separation: 6, program: "moving-block", start: "spaced" } },
    ],
    source: "docs/research/moving-block.md.",
  },
  {
    title: "Not a ring at all",
    kind: "network",
    text: [
      "A closed walk that visits every node of a network is a ring, if each of its positions is a process. A node may occur more than once; here such nodes have a heavier rim. Three tokens stay four apart on this walk of 12 steps.",
    ],
    ask: "How far apart do they stay in the network?",
    options: ["4", "2", "They may meet."],
    right: 1,
    reveal: [
      "Distance on the walk is not distance in the network: positions far apart may be neighbours, or the very same node. These stay two apart forever, and no walk keeps more.",
      "Which walk keeps the most tokens furthest apart, the paper leaves open; under Networks you can ask it for your own network.",
    ],
    plays: 0,
    see: 12,
    tries: [
      { label: "Figure 7", settings: { generator: "figure7", tokens: 3, seed: 2009 } },
      { label: "A grid", settings: { generator: "grid:4x4", tokens: 3, seed: 2009 } },
      { label: "A torus", settings: { generator: "torus:4x4", tokens: 4, seed: 2009 } },
    ],
    source: "Section 7, figure 7.",
  },
  {
    title: "Another ring that repairs itself",
    kind: "pair",
    text: [
      "In 1974 Dijkstra published the first self-stabilizing system: a ring of processes that copy a value from each other, with one token. It loses no token, and surplus ones disappear. At the left are four such rings on the same 24 processes, so four tokens; at the right, the delay ring.",
    ],
    ask: "Everything is scrambled in both, after round 12. Where are four tokens 6 apart in the end?",
    options: ["In both: both are self-stabilizing.", "In the delay ring only.", "In neither."],
    right: 1,
    reveal: [
      "Dijkstra's rings recover, each to its one token. But none knows of the others: wherever their tokens happen to be, they stay as close for ever. To keep apart is a property of its own, and the delay ring stabilizes to it.",
      "The price: tokens of the delay ring are never made or destroyed. Where they can get lost, let each be the token of a ring of Dijkstra's, and delay that.",
    ],
    plays: 0,
    see: 80,
    tries: [
      { label: "Scrambled after round 12", settings: { processes: 24, tokens: 4, separation: 6, fault: 12, seed: 2009 }, speed: 12 },
      { label: "Another fault", settings: { processes: 24, tokens: 4, separation: 6, fault: 12, seed: 7 }, speed: 12 },
    ],
    source: "Section 5.2, the definitional approach.",
  },
];
