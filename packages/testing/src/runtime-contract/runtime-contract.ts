import type { ContractCase } from "../contract-case.js";
import { automaticCompactionCases } from "./compaction/automatic-compaction.js";
import { compactionCases } from "./compaction/compaction.js";
import { keptHistoryCases } from "./compaction/kept-histories.js";
import { windowCases } from "./compaction/windows.js";
import { forkCases } from "./conversations/forks.js";
import { modelCases } from "./conversations/models.js";
import { settingsCases } from "./conversations/settings.js";
import { temporaryCases } from "./conversations/temporary.js";
import { transferCases } from "./conversations/transfer.js";
import { fileCases } from "./files.js";
import { followingCases } from "./following.js";
import { durabilityCases } from "./nodes/durability.js";
import { leavingCases } from "./nodes/leaving.js";
import { nodeCases } from "./nodes/nodes.js";
import { takeoverCases } from "./nodes/takeover.js";
import { observingCases } from "./observing.js";
import { limitCases } from "./turns/limits.js";
import { outputCases } from "./turns/output.js";
import { progressCases } from "./turns/progress.js";
import { queueCases } from "./turns/queue.js";
import { receiptCases } from "./turns/receipts.js";
import { refusedSealCases } from "./turns/refused-seals.js";
import { stoppingCases } from "./turns/stopping.js";
import { toolQuestionCases } from "./turns/tool-questions.js";
import { turnCases } from "./turns/turns.js";
import { waitingCases } from "./turns/waiting.js";
import { waitingEndCases } from "./turns/waiting-ends.js";
import { waitingNodeCases } from "./turns/waiting-nodes.js";
import { usageCases } from "./usage.js";
import { webhookCases } from "./webhooks.js";
import { type RuntimeFixture, type RuntimeTopicCase, World } from "./world.js";

export type { RuntimeFixture };

/**
 * Returns the guarantees of a runtime, from a client's send to what another client folds on another node: each
 * guarantee as a case of its own, on any store. Cases use fresh owners and ids, so that all may run on one database,
 * one after the other. They wait for events, never for time: time passes by the fixture's `advance`, which moves a
 * clock or waits.
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
    progress: progressCases,
    stopping: stoppingCases,
    waiting: [...waitingCases, ...waitingNodeCases, ...waitingEndCases, ...toolQuestionCases],
    output: outputCases,
    compaction: [...compactionCases, ...automaticCompactionCases],
    fork: forkCases,
    settings: settingsCases,
    temporary: temporaryCases,
    model: modelCases,
    limits: limitCases,
    window: windowCases,
    "kept history": keptHistoryCases,
    transfer: transferCases,
    observing: observingCases,
    usage: usageCases,
    webhook: webhookCases,
    file: fileCases,
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
