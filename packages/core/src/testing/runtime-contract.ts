import type { ContractCase } from "./contract-case.js";
import { automaticCompactionCases } from "./runtime-contract/automatic-compaction.js";
import { compactionCases } from "./runtime-contract/compaction.js";
import { durabilityCases } from "./runtime-contract/durability.js";
import { followingCases } from "./runtime-contract/following.js";
import { forkCases } from "./runtime-contract/forks.js";
import { leavingCases } from "./runtime-contract/leaving.js";
import { limitCases } from "./runtime-contract/limits.js";
import { modelCases } from "./runtime-contract/models.js";
import { nodeCases } from "./runtime-contract/nodes.js";
import { observingCases } from "./runtime-contract/observing.js";
import { queueCases } from "./runtime-contract/queue.js";
import { receiptCases } from "./runtime-contract/receipts.js";
import { refusedSealCases } from "./runtime-contract/refused-seals.js";
import { settingsCases } from "./runtime-contract/settings.js";
import { stoppingCases } from "./runtime-contract/stopping.js";
import { takeoverCases } from "./runtime-contract/takeover.js";
import { transferCases } from "./runtime-contract/transfer.js";
import { turnCases } from "./runtime-contract/turns.js";
import { windowCases } from "./runtime-contract/windows.js";
import { type RuntimeFixture, type RuntimeTopicCase, World } from "./runtime-contract/world.js";

export type { RuntimeFixture };

/**
 * What a runtime promises, from a client's send to what another client folds on another node: each promise as a
 * case of its own, on any store. Cases use fresh owners and ids, so that all may run on one database, one after
 * the other. They wait for what has to happen, never for time: time passes by the fixture's `advance`, which moves
 * a clock or waits.
 */
export function runtimeContract(make: () => RuntimeFixture | Promise<RuntimeFixture>): ContractCase[] {
  const topics: Record<string, readonly RuntimeTopicCase[]> = {
    turn: turnCases,
    receipt: receiptCases,
    queue: queueCases,
    durability: durabilityCases,
    following: followingCases,
    nodes: nodeCases,
    takeover: takeoverCases,
    "refused seal": refusedSealCases,
    leaving: leavingCases,
    stopping: stoppingCases,
    compaction: [...compactionCases, ...automaticCompactionCases],
    fork: forkCases,
    settings: settingsCases,
    model: modelCases,
    limits: limitCases,
    window: windowCases,
    transfer: transferCases,
    observing: observingCases,
  };
  return Object.entries(topics).flatMap(([topic, cases]) =>
    cases.map((each) => ({
      name: `${topic}: ${each.name}`,
      async run() {
        const fixture = await make();
        const world = new World(fixture);
        try {
          await each.run(world);
          await world.end();
        } catch (failure) {
          await world.abandon();
          throw failure;
        } finally {
          await fixture.close();
        }
      },
    })),
  );
}
