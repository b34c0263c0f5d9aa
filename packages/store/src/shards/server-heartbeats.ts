import type { StopRequest } from "@parley/core/ports";
import type { Statement } from "../database.js";
import { schemaStatements } from "../in-schema.js";
import { disownStatement, heartbeatStatements, stopRequestOf } from "../operations/turns/heartbeat.js";
import { askShards } from "./ask-shards.js";
import type { Shard, ShardServer } from "./shard.js";
import { readTokens } from "./sharded-wake.js";

interface Life {
  /** `lost`: the leases ran out, and the node has not been notified yet. `dropped`: it has been, and holds nothing. */
  state: "held" | "lost" | "dropped";
  /** Time of the monotonic clock of this process, counted from before the renewal was sent. */
  until: number;
}

interface ServerLives {
  readonly server: ShardServer;
  readonly translations: readonly ((statement: Statement) => Statement)[];
  /** Lives by name: a node that lost everything continues under another one. */
  readonly lives: Map<string, Life>;
  /** Time of the monotonic clock at which the oldest heartbeat was sent that has no answer yet. */
  sentAt: number | undefined;
  /** The last heartbeat has failed. */
  hasFailed: boolean;
  /** Stops that were requested, as heartbeats have found them, and that were not returned yet. */
  readonly stops: StopRequest[];
}

/** Time after which a server that owes the answer to a heartbeat counts as away. */
const silentMs = 1_000;

/** Time after which names that were given up are forgotten. */
const forgottenMs = 3_600_000;

/**
 * Keeps nodes alive on several servers: one round trip for each of them, regardless of its number of shards.
 *
 * A server that cannot be reached ends the node's leases in its own shards and nowhere else. When it answers again,
 * what the node held there is taken from it, because the node has dropped it or is about to. Its life continues with
 * the heartbeat after that one: in between, `holds` is false, and the caller of `beat` drops what it still runs.
 */
export class ServerHeartbeats {
  readonly #servers: readonly ServerLives[];

  constructor(servers: readonly ShardServer[]) {
    this.#servers = servers.map((server) => ({
      server,
      translations: server.shards.map(({ schema }) => schemaStatements(schema)),
      lives: new Map(),
      sentAt: undefined,
      hasFailed: false,
      stops: [],
    }));
  }

  async beat(node: string, ttlMs: number, presence: string | undefined): Promise<StopRequest[]> {
    const tokens = readTokens(presence);
    const all = this.#servers.map((lives, place) => ({ lives, token: tokens[place] ?? undefined }));
    const renewed = async ({ lives, token }: (typeof all)[number]) => {
      lives.sentAt ??= performance.now();
      try {
        lives.stops.push(...(await renew(lives, node, ttlMs, token)));
        lives.hasFailed = false;
      } catch (error) {
        lives.hasFailed = true;
        throw error;
      } finally {
        lives.sentAt = undefined;
      }
    };
    // If none answers, the node waits: a heartbeat that arrives late still counts.
    const areAllAway = this.#servers.every(isAway);
    await askShards(all, renewed, ({ lives }) => !areAllAway && isAway(lives));
    return this.#servers.flatMap(({ stops }) => stops.splice(0));
  }

  /** Returns true if the leases of a node in this shard hold. */
  holds(node: string, shard: Shard): boolean {
    const life = this.#of(shard)?.lives.get(node);
    return life === undefined || (life.state === "held" && performance.now() < life.until);
  }

  /** Returns true if the server of a shard did not answer the last heartbeat. */
  isAway(shard: Shard): boolean {
    const lives = this.#of(shard);
    return lives !== undefined && isAway(lives);
  }

  #of(shard: Shard): ServerLives | undefined {
    return this.#servers.find(({ server }) => server.shards.includes(shard));
  }
}

function isAway({ sentAt, hasFailed }: ServerLives): boolean {
  return hasFailed || (sentAt !== undefined && performance.now() - sentAt > silentMs);
}

async function renew(
  { server, translations, lives }: ServerLives,
  node: string,
  ttlMs: number,
  token: string | undefined,
): Promise<StopRequest[]> {
  const sentAt = performance.now();
  for (const [name, { until }] of lives) if (until + forgottenMs < sentAt) lives.delete(name);
  // It holds nothing if no heartbeat has arrived yet.
  const life = lives.get(node) ?? { state: "dropped", until: 0 };
  lives.set(node, life);
  if (life.state === "held" && sentAt >= life.until) life.state = "lost";
  const { state } = life;
  const statements = [
    ...(state === "held" ? [] : [disownStatement(node)]),
    ...(state === "lost" ? [] : heartbeatStatements(node, ttlMs, token)),
  ];
  const results = await server.database.batch(
    translations.flatMap((translated) =>
      statements.map((statement) => ({ budget: "brief" as const, ...translated(statement) })),
    ),
  );
  if (state === "lost") {
    life.state = "dropped";
    return [];
  }
  // A late answer does not apply to a life that was lost meanwhile.
  if (life.state === state) {
    life.until = Math.max(sentAt + ttlMs, state === "held" ? life.until : 0);
    life.state = "held";
  }
  const stopping = results.filter((_, place) => place % statements.length === statements.length - 1);
  return stopping.flatMap((rows) => rows.map(stopRequestOf));
}
