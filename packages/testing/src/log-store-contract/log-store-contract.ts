import type { ContractCase } from "../contract-case.js";
import { conversationCases } from "./conversations/conversations.js";
import { forkCases } from "./conversations/forks.js";
import { importCases } from "./conversations/imports.js";
import { listCases } from "./conversations/lists.js";
import { modelCases } from "./conversations/models.js";
import { ownerCases } from "./conversations/owners.js";
import { removalCases } from "./conversations/removal.js";
import { settingsCases } from "./conversations/settings.js";
import { temporaryCases } from "./conversations/temporary.js";
import { referenceCases } from "./files/references.js";
import { uploadCases } from "./files/uploads.js";
import { keyCases } from "./keys.js";
import { addedCases } from "./reads/added.js";
import { engineCases } from "./reads/engine.js";
import { examinationCases } from "./reads/examination.js";
import { fidelityCases } from "./reads/fidelity.js";
import { readCases } from "./reads/reads.js";
import { searchCases } from "./reads/search.js";
import { type LogStoreFixture, Scenario } from "./scenario.js";
import { secretCases } from "./secrets.js";
import { admissionCases } from "./turns/admission.js";
import { choiceCases } from "./turns/choices.js";
import { compactionCases } from "./turns/compaction.js";
import { inputEndingCases } from "./turns/input-endings.js";
import { inputQuestionCases } from "./turns/input-questions.js";
import { inputCases } from "./turns/inputs.js";
import { journalCases } from "./turns/journal.js";
import { leaseCases } from "./turns/leases.js";
import { noticeCases } from "./turns/notices.js";
import { queueCases } from "./turns/queue.js";
import { turnCases } from "./turns/turns.js";
import { usageCases } from "./turns/usage.js";
import { endpointCases } from "./webhooks/endpoints.js";
import { outboxCases } from "./webhooks/outbox.js";
import { reportCases } from "./webhooks/reports.js";

export type { LogStoreFixture };

export interface LogStoreCase extends ContractCase {
  /**
   * True if two handles on one database compete. If the fixture has no `second`, the case still runs, with one handle
   * for both.
   */
  readonly twoHandles: boolean;
}

/**
 * Returns the guarantees that the runtime expects of a `LogStore`, each as a case of its own. Cases use fresh owners
 * and ids, so that all may run on one database, one after the other; time passes only by the fixture's `advance`.
 */
export function logStoreContract(make: () => LogStoreFixture | Promise<LogStoreFixture>): LogStoreCase[] {
  const topics = {
    admission: admissionCases,
    turn: turnCases,
    usage: usageCases,
    choice: choiceCases,
    model: modelCases,
    journal: journalCases,
    lease: leaseCases,
    input: [...inputCases, ...inputEndingCases, ...inputQuestionCases],
    queue: queueCases,
    read: readCases,
    added: addedCases,
    fork: forkCases,
    settings: settingsCases,
    temporary: temporaryCases,
    removal: removalCases,
    compaction: compactionCases,
    conversation: conversationCases,
    list: listCases,
    notice: noticeCases,
    search: searchCases,
    owner: ownerCases,
    fidelity: fidelityCases,
    engine: engineCases,
    import: importCases,
    key: keyCases,
    secret: secretCases,
    webhook: [...endpointCases, ...reportCases, ...outboxCases],
    file: [...uploadCases, ...referenceCases],
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
