import { conversationStoreContract, logStoreContract, runtimeContract } from "@parley/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { createWait } from "../../packages/store/src/create-wait.test-support.js";
import type { OpenedShards } from "../../packages/store/src/shards/open-shards.js";
import {
  citusUrl,
  createCitusShards,
  createNumberedShards,
  createTestShards,
  type TestShards,
} from "../../packages/store/src/shards/shards.test-support.js";
import { describeOnPostgres } from "../harness/postgres.js";

/** However busy the machine is, nothing is partial. */
const patient = { searchMs: 60_000, waitMs: 60_000 };

interface Opened {
  readonly shards: TestShards;
  readonly first: OpenedShards;
  readonly second: OpenedShards;
}

/** Cases leave turns and deliveries behind, which nodes of other cases would take: each contract has its own databases. */
function describeOnShards(name: string, body: (opened: () => Opened) => void): void {
  const suite = (create: () => Promise<TestShards>) => {
    let opened: Opened | undefined;
    beforeAll(async () => {
      const shards = await create();
      opened = { shards, first: shards.open({ search: patient }), second: shards.open({ search: patient }) };
      await opened.first.store.migrate();
      await opened.second.store.migrate();
    }, 60_000);
    afterAll(async () => {
      for (const { store, wake } of opened === undefined ? [] : [opened.first, opened.second]) {
        await wake.close?.();
        await store.close();
      }
      await opened?.shards.drop();
    });
    body(() => {
      if (opened === undefined) throw new Error("the store is not open");
      return opened;
    });
  };
  describeOnPostgres(name, (postgres) => suite(() => createTestShards(postgres)), "preferred");
  describeOnPostgres(
    `${name}, in one database`,
    (postgres) => suite(() => createNumberedShards(postgres)),
    "preferred",
  );
  describe.skipIf(citusUrl === undefined)(`${name}, on Citus`, () =>
    suite(() => createCitusShards(citusUrl ?? "")),
  );
}

/** A process begins when it listens, and ends when it is cut off. */
async function beginPresence(shards: TestShards) {
  const { wake, store } = shards.open();
  const token = await new Promise<string>((resolve) => {
    // It is whole when each server has its part.
    const look = () => {
      const now = wake.presence?.token();
      if (now !== undefined && !now.includes("null")) resolve(now);
    };
    wake.presence?.onChange(look);
    look();
  });
  const end = async () => {
    await wake.close?.();
    await store.close();
  };
  return { token, end };
}

describeOnShards("four shards keep the contract of the runtime's store", (opened) => {
  const cases = logStoreContract(() => {
    const { shards, first, second } = opened();
    return {
      root: first.store,
      second: second.store,
      advance: createWait(),
      beginPresence: () => beginPresence(shards),
    };
  });
  for (const { name, run } of cases) it(name, run);
});

describeOnShards("four shards keep the contract of the engine's store", (opened) => {
  const cases = conversationStoreContract(() => ({ store: opened().first.store.forOwner("engine") }));
  for (const { name, run } of cases) it(name, run);
});

describeOnShards("four shards keep the contract of the runtime", (opened) => {
  const cases = runtimeContract(() => {
    const { first, second } = opened();
    return {
      store: first.store,
      wake: first.wake,
      openSecond: async () => second,
      advance: createWait(),
      lease: { ttlMs: 1_500, renewMs: 400, claimMs: 250, presenceMs: 250, pollMs: 250, stopMs: 500 },
      journal: { intervalMs: 1, retryMs: 100 },
      close: async () => {},
    };
  });
  for (const { name, run } of cases) it(name, run, 30_000);
});
