import type { ContractCase } from "./contract-case.js";
import { admissionCases } from "./log-store-contract/admission.js";
import { compactionCases } from "./log-store-contract/compaction.js";
import { conversationCases } from "./log-store-contract/conversations.js";
import { engineCases } from "./log-store-contract/engine.js";
import { examinationCases } from "./log-store-contract/examination.js";
import { fidelityCases } from "./log-store-contract/fidelity.js";
import { forkCases } from "./log-store-contract/forks.js";
import { importCases } from "./log-store-contract/imports.js";
import { journalCases } from "./log-store-contract/journal.js";
import { keyCases } from "./log-store-contract/keys.js";
import { leaseCases } from "./log-store-contract/leases.js";
import { modelCases } from "./log-store-contract/models.js";
import { noticeCases } from "./log-store-contract/notices.js";
import { ownerCases } from "./log-store-contract/owners.js";
import { queueCases } from "./log-store-contract/queue.js";
import { readCases } from "./log-store-contract/reads.js";
import { removalCases } from "./log-store-contract/removal.js";
import { type LogStoreFixture, Scenario } from "./log-store-contract/scenario.js";
import { searchCases } from "./log-store-contract/search.js";
import { turnCases } from "./log-store-contract/turns.js";

export type { LogStoreFixture };

export interface LogStoreCase extends ContractCase {
  /**
   * Plays two handles on one database against each other. Where the fixture has no `second`, the case still runs,
   * with one handle for both.
   */
  readonly twoHandles: boolean;
}

/**
 * What the runtime expects of a `LogStore`: every guarantee of the port, each as a case of its own. Cases use
 * fresh owners and ids, so that all may run on one database, one after the other; time passes only by the
 * fixture's `advance`.
 */
export function logStoreContract(make: () => LogStoreFixture | Promise<LogStoreFixture>): LogStoreCase[] {
  const topics = {
    admission: admissionCases,
    turn: turnCases,
    model: modelCases,
    journal: journalCases,
    lease: leaseCases,
    queue: queueCases,
    read: readCases,
    fork: forkCases,
    removal: removalCases,
    compaction: compactionCases,
    conversation: conversationCases,
    notice: noticeCases,
    search: searchCases,
    owner: ownerCases,
    fidelity: fidelityCases,
    engine: engineCases,
    import: importCases,
    key: keyCases,
    examination: examinationCases,
  };
  return Object.entries(topics).flatMap(([topic, cases]) =>
    cases.map((each) => ({
      name: `${topic}: ${each.name}`,
      twoHandles: each.twoHandles === true,
      async run() {
        const fixture = await make();
        try {
          const scenario = await Scenario.begin(fixture);
          await each.run(scenario);
          await scenario.end();
        } finally {
          await fixture.close?.();
        }
      },
    })),
  );
}
