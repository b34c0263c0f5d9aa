import type { ProviderCallParams } from "@parley/core/ports";
import { createModelCatalog, createRuntime, type OwnerRuntime, type Runtime } from "@parley/core/runtime";
import type { Tool } from "@parley/core/turn";
import {
  createCountingIds,
  createFaultyStore,
  createManualClock,
  createMemoryDatabase,
  createMemoryLogStore,
  createMemoryWake,
  createScriptedProvider,
  fail,
  type ManualClock,
  type MemoryDatabase,
  reasoning,
  type ScriptAction,
  type ScriptEntry,
  type StoreFaults,
  text,
  toolCall,
  usage,
} from "@parley/testing";

/** Actions of a model in one step. */
export interface StepPlan {
  readonly pieces: readonly ("text" | "reasoning")[];
  readonly tools: number;
  readonly fails: boolean;
  readonly reportsUsage: boolean;
}

export interface TestNode {
  readonly runtime: Runtime;
  readonly me: OwnerRuntime;
  readonly faults: StoreFaults;
}

/** Nodes of the real runtime on one memory store, whose models and tools continue one piece at a time. */
export class RealRuntime {
  readonly clock: ManualClock = createManualClock();
  readonly nodes: TestNode[] = [];
  #database: MemoryDatabase = createMemoryDatabase(this.clock);
  readonly #replaced: TestNode[] = [];
  readonly #ids = createCountingIds("id");
  readonly #wake = createMemoryWake();
  readonly #plans: readonly StepPlan[];
  readonly #waiting: (() => void)[] = [];
  #calls = 0;
  #words = 0;

  constructor(plans: readonly StepPlan[]) {
    this.#plans = plans;
  }

  async node(): Promise<TestNode> {
    const root = createMemoryLogStore({ clock: this.clock, database: this.#database });
    const { store, faults } = createFaultyStore(root);
    const provider = createScriptedProvider((params) => this.#script(params), { ids: this.#ids });
    const started = createRuntime({
      store,
      wake: this.#wake,
      clock: this.clock,
      ids: this.#ids,
      node: `n${this.#replaced.length + this.nodes.length}`,
      limits: { maxSteps: 4 },
      tools: [this.#tool()] as Tool<never>[],
      models: createModelCatalog([
        { name: "test/one", provider, providerName: "test", model: "one", contextWindow: 100_000 },
      ]),
    });
    await this.clock.advance(0);
    const runtime = await started;
    const node = { runtime, me: runtime.forOwner("owner"), faults };
    this.nodes.push(node);
    return node;
  }

  /** Copies the content of the store. */
  dump(): Omit<MemoryDatabase, "clock"> {
    const { clock: _, ...data } = this.#database;
    return structuredClone(data);
  }

  /** Restores the store from a dump. The nodes are gone; new ones start on it. */
  restore(dump: Omit<MemoryDatabase, "clock">): void {
    for (const node of this.nodes) node.faults.cutOff();
    this.#replaced.push(...this.nodes.splice(0));
    this.#database = { clock: this.clock, ...structuredClone(dump) };
  }

  /** Lets one of the waiting models or tools continue. */
  step(choice = 0): void {
    const [next] = this.#waiting.splice(choice % Math.max(1, this.#waiting.length), 1);
    next?.();
  }

  /** Lets everything that runs finish. */
  async finish(): Promise<void> {
    for (const { faults } of this.nodes) faults.heal();
    for (let round = 0; round < 400; round += 1) {
      while (this.#waiting.length > 0) this.step();
      await this.clock.advance(round < 40 ? 25 : 500);
      const isBusy = [...this.#database.leased].some((log) => this.#database.logs.get(log.number) === log);
      if (!isBusy && this.#waiting.length === 0 && round > 10) break;
    }
    await this.clock.advance(3_000);
  }

  async close(): Promise<void> {
    for (const { runtime, faults } of [...this.#replaced, ...this.nodes]) {
      faults.heal();
      const closed = runtime.close();
      await this.clock.advance(100);
      await this.clock.advance(30_000);
      await closed;
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #script({ messages }: ProviderCallParams): ScriptEntry[] {
    const wait: ScriptAction = (context) => context.wait(this.#wait());
    if (messages[0]?.role === "system") return [wait, text(`Summary ${++this.#words}.`)];
    const plan = this.#plans[this.#calls++ % this.#plans.length];
    const entries: ScriptEntry[] = [];
    for (const piece of plan?.pieces ?? []) {
      const word = `w${++this.#words} `;
      entries.push(piece === "text" ? text(word) : reasoning(word), wait);
    }
    if (plan?.fails) return [...entries, fail("provider_rejected", "No more of this")];
    for (let call = 0; call < (plan?.tools ?? 0); call += 1) {
      entries.push(toolCall("work", { call: ++this.#words }));
    }
    return plan?.reportsUsage ? [...entries, usage(10 + this.#words, 5)] : entries;
  }

  #tool(): Tool<{ call: number }> {
    return {
      name: "work",
      recovery: "retry",
      execute: async ({ call }, { signal, output }) => {
        const aborted = new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
        output(`working on ${call} `);
        await Promise.race([this.#wait(), aborted]);
        output("and done");
        await Promise.race([this.#wait(), aborted]);
        return `answer ${call}`;
      },
    };
  }
}
