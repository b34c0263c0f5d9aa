// A separate stream for each reader: CPU per delta of the server's process by each face, compared with
// Parley's own socket and the AI SDK's `toUIMessageStreamResponse`.
import { cpus } from "node:os";
import { packageVersion } from "../package-version.mjs";
import { median } from "../summarise.mjs";
import { startChild } from "../whole-path/child.mjs";

const contestants = [
  { name: "Parley, socket", kind: "limit", server: "parley", way: "socket" },
  { name: "Parley, AI SDK UI face", kind: "ours", server: "parley", way: "post" },
  { name: "Parley, OpenAI face, responses", kind: "ours", server: "parley", way: "responses" },
  {
    name: "Parley, OpenAI face, chat completions (nothing stored)",
    kind: "ours",
    server: "parley",
    way: "completions",
  },
  {
    name: `AI SDK ${packageVersion("ai-6")}, toUIMessageStreamResponse (nothing stored)`,
    kind: "peer",
    server: "aiSdk",
    way: "post",
  },
  {
    name: `AI SDK ${packageVersion("ai")}, toUIMessageStreamResponse (nothing stored)`,
    kind: "peer",
    server: "aiSdk7",
    way: "post",
  },
];

/** Starts fresh processes: a server and its readers; once to warm up, once measured. */
async function stretch({ server: name, way }, { streams, deltas, perSecond }) {
  const server = await startChild("./face-servers.mjs", name, { deltas, perSecond });
  const readers = await startChild("./face-clients.mjs", "read", { url: server.url, way, streams });
  try {
    await readers.figures("read");
    const before = await server.figures("gc");
    const { deltas: received } = await readers.figures("read");
    const after = await server.figures();
    const made = streams * deltas;
    // Deltas from before a reader joined arrive as one.
    if (received < 0.9 * made || received > made) throw new Error(`${received} deltas instead of ${made}`);
    return (after.cpuUs - before.cpuUs) / made;
  } finally {
    await readers.stop();
    await server.stop();
  }
}

async function compare(shape, rounds, log) {
  const samples = contestants.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    log(`  ${shape.title}: round ${round + 1} of ${rounds}`);
    const order = contestants.map((_, index) => index);
    for (const index of round % 2 === 0 ? order : order.toReversed()) {
      samples[index].push(await stretch(contestants[index], shape));
    }
  }
  const ratioOf = (index) => median(samples[index].map((us, round) => us / samples[0][round]));
  return {
    title: `${shape.streams} streams of ${shape.deltas} deltas, ${shape.title}: CPU per delta of the server's process (${cpus().length} cores, median of ${rounds})`,
    columns: ["", "kind", "CPU", "ratio to the socket"],
    rows: contestants.map(({ name, kind }, index) => [
      name,
      kind,
      `${median(samples[index]).toFixed(2)} us`,
      `${ratioOf(index).toFixed(2)}x`,
    ]),
    statements: contestants.flatMap(({ name, kind }, index) => {
      if (kind !== "ours") return [];
      const ratio = ratioOf(index);
      return [
        `${ratio <= 1.3 ? "PASS" : "MISS"}  ${name}: ${ratio.toFixed(2)}x of the socket, target at most 1.3x`,
      ];
    }),
  };
}

export const scenario = {
  name: "faces",
  title: "a stream by each face, beside the socket and the AI SDK's own answer",
  async run({ quick, log }) {
    const rounds = quick ? 2 : 5;
    const paced = { title: "50 a second", streams: 100, deltas: quick ? 100 : 250, perSecond: 50 };
    const fast = { title: "as fast as they come", streams: 20, deltas: quick ? 2_000 : 5_000 };
    return [await compare(paced, rounds, log), await compare(fast, rounds, log)];
  },
};
