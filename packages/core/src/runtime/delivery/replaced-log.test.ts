import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Client, Cluster, type ClusterNode } from "../cluster.test-support.js";

const conversationId = "c";
let cluster: Cluster;
let here: ClusterNode;
let there: ClusterNode;
let client: Client;

beforeEach(async () => {
  cluster = new Cluster([{ pieces: ["text"], tools: [] }]);
  here = await cluster.node();
  there = await cluster.node();
  await turn();
  client = new Client(conversationId);
  client.attach(there);
  await cluster.clock.advance(2_000);
});

afterEach(async () => {
  client.detach();
  await cluster.close();
});

/** Runs one turn on the first node. */
async function turn(node = here): Promise<void> {
  const sent = node.me.send({ conversationId, message: "Hello" });
  await cluster.clock.advance(0);
  await sent;
  await cluster.finish();
}

/** Copies the store; the returned function restores the copy, under the nodes that run on it. */
function dump(): () => void {
  const { clock: _, leases, ...maps } = cluster.database;
  const kept = structuredClone(maps);
  return () => {
    const target = cluster.database;
    target.leases = leases;
    for (const name of ["logs", "owners", "nodes", "keys"] as const) {
      const map = target[name] as Map<unknown, unknown>;
      map.clear();
      for (const [key, value] of kept[name]) map.set(key, value);
    }
    target.leased.clear();
    for (const log of kept.leased) target.leased.add(log);
  };
}

/** Checks that the client was ended with an error that it may retry, and holds the log after reconnecting. */
async function expectStartedOver(): Promise<void> {
  expect(client.ended).toBe("store_unavailable");
  client.ended = undefined;
  client.attach(there);
  await cluster.clock.advance(100);
  const { chunks } = await there.me.history({ conversationId });
  expect(JSON.stringify(client.fold.state.chunks)).toBe(JSON.stringify(chunks));
  expect(client.ended).toBeUndefined();
}

describe("a log that is set back under a running node", () => {
  it("and has grown past what was published here sends subscribers away, to start over by cursor", async () => {
    const restore = dump();
    await turn();
    expect(client.fold.state.chunks).toHaveLength(4);
    restore();
    await turn();
    await turn();
    await expectStartedOver();
    expect(client.fold.state.chunks).toHaveLength(6);
  });

  it("and is shorter does so with the next look", async () => {
    const restore = dump();
    await turn();
    await turn();
    restore();
    await turn();
    await expectStartedOver();
    expect(client.fold.state.chunks).toHaveLength(4);
  });

  it("does so for subscribers of the node that runs the next turn", async () => {
    const restore = dump();
    await turn();
    restore();
    await turn(there);
    await expectStartedOver();
    expect(client.fold.state.chunks).toHaveLength(4);
  });

  it("and back to the same rows disturbs no subscriber", async () => {
    dump()();
    await turn();
    await turn(there);
    expect(client.ended).toBeUndefined();
    expect(client.fold.state.chunks).toHaveLength(6);
  });
});
