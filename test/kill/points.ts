import type { Client, TurnKind } from "./client.js";
import type { SentMessage } from "./client-record.js";
import type { Random } from "./random.js";
import type { RunningNode } from "./running-node.js";
import { type KillPlan, NodeDied } from "./running-node.js";

/** Actions of a client until a node dies of them; may return the message whose turn it was about. */
export type Work = (
  client: Client,
  node: RunningNode,
  conversationId: string,
) => Promise<SentMessage | undefined>;

/** A moment at which a node dies. */
export interface NamedPoint {
  readonly name: string;
  readonly plan: KillPlan;
  readonly work: Work;
  /** Only for a thorough run: a variation of another one. */
  readonly isExtra?: boolean;
  /** The reasons with which the turn that was cut short may end. */
  readonly ends?: readonly string[];
  /** Number of turns it needs before it, whatever else there was. */
  readonly turnsBefore?: number;
}

/** One turn. */
export const say =
  (kind: TurnKind): Work =>
  (client, node, conversationId) =>
    client.say(node, conversationId, kind);

/** A turn of several steps, a message that steers it, and one that waits behind it. */
export const steered: Work = async (client, node, conversationId) => {
  const message = await client.say(node, conversationId, "long");
  await client.steer(node, conversationId);
  await client.say(node, conversationId, "talk");
  return message;
};

const stopped: Work = async (client, node, conversationId) => {
  const message = await client.say(node, conversationId, "long");
  await client.say(node, conversationId, "talk");
  await client.stop(node, conversationId);
  return message;
};

/** A compaction, and a message that has to wait for it. */
const compacted: Work = async (client, node, conversationId) => {
  const leased = node.next((report) => report.type === "store" && report.method === "lease");
  const compaction = client.compact(node, conversationId);
  const hasLease = await Promise.race([leased.then(() => true, ifDied), compaction.then(() => false)]);
  const message = hasLease ? await client.say(node, conversationId, "talk") : undefined;
  await compaction;
  leased.catch(ifDied);
  return message;
};

const forked: Work = async (client, node, conversationId) => {
  await client.fork(node, conversationId, "retry");
  return undefined;
};

function ifDied(error: unknown): false {
  if (error instanceof NodeDied) return false;
  throw error;
}

/**
 * The moments that every store has to survive. Inside a transaction: on PostgreSQL once a number of its messages went
 * to the server, on PGlite some time after it was started.
 */
export function namedPoints(
  store: "postgres" | "pglite",
  random: Random,
  options: { readonly thorough: boolean },
): NamedPoint[] {
  const during = (method: string, more: object = {}): KillPlan => ({
    point: {
      kind: "store",
      method,
      when: "during",
      ...more,
      ...(store === "postgres" ? { sends: random.between(1, 3) } : { delayMs: random.between(0, 6) }),
    },
  });
  const at = (method: string, when: "before" | "after", more: object = {}): KillPlan => ({
    point: { kind: "store", method, when, ...more },
  });
  const all: NamedPoint[] = [
    { name: "in the admission", isExtra: true, plan: during("admit"), work: say("talk"), ends: ["stop"] },
    {
      name: "after the admission, before its answer",
      isExtra: true,
      plan: at("admit", "after"),
      work: say("retry"),
      ends: ["stop"],
    },
    {
      name: "after the receipt",
      plan: { point: { kind: "receipt" } },
      work: say("talk"),
      ends: ["stop", "interrupted"],
    },
    {
      name: "in the middle of a text",
      plan: { point: { kind: "event", type: "text-delta", nth: 22 } },
      work: say("talk"),
      ends: ["interrupted", "stop"],
    },
    {
      name: "in the commit of an answer",
      isExtra: true,
      plan: during("commitStep", { phase: "answer" }),
      work: say("retry"),
      ends: ["interrupted", "stop"],
    },
    {
      name: "after the commit of an answer",
      plan: at("commitStep", "after", { phase: "answer" }),
      work: say("retry"),
      ends: ["stop"],
    },
    {
      name: "in a tool that may run again",
      isExtra: store === "pglite",
      plan: { point: { kind: "tool", name: "slow" } },
      work: say("retry"),
      ends: ["stop"],
    },
    {
      name: "in a tool that must not run again",
      plan: { point: { kind: "tool", name: "once" } },
      work: say("fail"),
      ends: ["interrupted"],
    },
    {
      name: "after a result is in the journal, before it is published",
      isExtra: true,
      plan: at("flushJournal", "after", { has: "once answers" }),
      work: say("fail"),
      ends: ["stop"],
    },
    {
      name: "in the commit of results, with a message that steers",
      plan: during("commitStep", { phase: "results" }),
      work: steered,
    },
    {
      name: "before the seal",
      plan: at("seal", "before"),
      work: say("retry"),
      ends: ["interrupted", "stop"],
    },
    { name: "in the seal, with a message that waits", plan: during("seal"), work: steered },
    { name: "after the seal, before anyone knows", isExtra: true, plan: at("seal", "after"), work: steered },
    {
      name: "while a compaction's summary is written, with a message that waits",
      isExtra: true,
      plan: { point: { kind: "summary", nth: 18 } },
      work: compacted,
      ends: ["stop"],
      turnsBefore: 1,
    },
    { name: "in a compaction's transaction", plan: during("compact"), work: compacted, turnsBefore: 1 },
    { name: "in a fork", plan: during("fork"), work: forked },
    { name: "after a fork, before anyone knows", isExtra: true, plan: at("fork", "after"), work: forked },
  ];
  return all.filter(({ isExtra }) => options.thorough || !isExtra);
}

/** Actions of the client while a node dies at no particular moment. */
export const anyWork: readonly Work[] = [
  say("talk"),
  say("retry"),
  say("fail"),
  say("long"),
  steered,
  steered,
  stopped,
  compacted,
  forked,
];
