import {
  createCountingIds,
  createFaultyStore,
  createManualClock,
  createMemoryDatabase,
  createMemoryLogStore,
  createMemoryWake,
  createScriptedProvider,
  FrameFold,
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
import type { AgentEvent } from "@parley/wire";
import type { ProviderCallParams } from "../ports.js";
import type { Tool } from "../turn/tools/tool.js";
import type { OwnerRuntime, Runtime, RuntimeLimits } from "./index.js";
import { createModelCatalog, createRuntime } from "./index.js";

/** A model's output in one step: pieces of text and reasoning, and tools that it calls. */
export interface StepPlan {
  readonly pieces: readonly ("text" | "reasoning")[];
  readonly tools: readonly ("again" | "once")[];
}

/** Lets models and tools continue one piece at a time, controlled by the test. */
class Stepper {
  readonly #waiting: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Lets one of the waiting models or tools continue. */
  step(choice = 0): void {
    const [next] = this.#waiting.splice(choice % Math.max(1, this.#waiting.length), 1);
    next?.();
  }

  get count(): number {
    return this.#waiting.length;
  }
}

export interface ClusterNode {
  readonly runtime: Runtime;
  readonly me: OwnerRuntime;
  readonly faults: StoreFaults;
  readonly errors: string[];
}

/** Nodes on one memory database with one clock, ids that count, and models that continue step by step. */
export class Cluster {
  readonly clock: ManualClock = createManualClock();
  readonly database: MemoryDatabase = createMemoryDatabase(this.clock);
  readonly stepper = new Stepper();
  readonly nodes: ClusterNode[] = [];
  readonly #ids = createCountingIds("id");
  readonly #wake = createMemoryWake();
  readonly #plans: readonly StepPlan[];
  readonly #limits: Partial<RuntimeLimits>;
  #calls = 0;
  #words = 0;
  /** The answers of tools: one for each time that a tool ran. */
  readonly answers: string[] = [];

  constructor(plans: readonly StepPlan[], limits: Partial<RuntimeLimits> = {}) {
    this.#plans = plans;
    this.#limits = { maxSteps: 4, ...limits };
  }

  async node(options: { withoutWake?: boolean } = {}): Promise<ClusterNode> {
    const root = createMemoryLogStore({ clock: this.clock, database: this.database });
    const { store, faults } = createFaultyStore(root);
    const errors: string[] = [];
    const provider = createScriptedProvider((params) => this.#script(params), { ids: this.#ids });
    const started = createRuntime({
      store,
      ...(options.withoutWake ? {} : { wake: this.#wake }),
      clock: this.clock,
      ids: this.#ids,
      node: `n${this.nodes.length}`,
      limits: this.#limits,
      tools: [this.#tool("again", "retry"), this.#tool("once", "fail")] as Tool<never>[],
      hooks: { onError: ({ code }, { where }) => errors.push(`${where}: ${code}`) },
      models: createModelCatalog([
        { name: "test/one", provider, providerName: "test", model: "one", contextWindow: 100_000 },
      ]),
    });
    await this.clock.advance(0);
    const runtime = await started;
    const node = { runtime, me: runtime.forOwner("owner"), faults, errors };
    this.nodes.push(node);
    return node;
  }

  /** Lets everything that runs finish. */
  async finish(): Promise<void> {
    for (const { faults } of this.nodes) faults.heal();
    for (let round = 0; round < 400; round += 1) {
      while (this.stepper.count > 0) this.stepper.step();
      await this.clock.advance(round < 40 ? 25 : 500);
      const isBusy = [...this.database.leased].some((log) => this.database.logs.get(log.number) === log);
      if (!isBusy && this.stepper.count === 0 && round > 10) break;
    }
    // A last read of every follower.
    await this.clock.advance(3_000);
  }

  async close(): Promise<void> {
    for (const { runtime, faults } of this.nodes) {
      faults.heal();
      const closed = runtime.close();
      await this.clock.advance(100);
      await this.clock.advance(30_000);
      await closed;
    }
  }

  #script({ messages }: ProviderCallParams): ScriptEntry[] {
    const wait: ScriptAction = (context) => context.wait(this.stepper.wait());
    const isSummary = messages[0]?.role === "system";
    if (isSummary) return [wait, text(`Summary ${++this.#words}.`)];
    const plan = this.#plans[this.#calls++ % this.#plans.length];
    const entries: ScriptEntry[] = [];
    for (const piece of plan?.pieces ?? []) {
      const word = `w${++this.#words} `;
      entries.push(piece === "text" ? text(word) : reasoning(word), wait);
    }
    for (const name of plan?.tools ?? []) entries.push(toolCall(name, { call: ++this.#words }));
    return [...entries, usage(10, 5)];
  }

  #tool(name: string, recovery: "retry" | "fail"): Tool<{ call: number }> {
    return {
      name,
      recovery,
      execute: async ({ call }, { signal, output }) => {
        output(`working on ${call}`);
        const aborted = new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
        await Promise.race([this.stepper.wait(), aborted]);
        const answer = `answer ${call}.${this.answers.length}`;
        this.answers.push(answer);
        return answer;
      },
    };
  }
}

/** A client that keeps its folded state through any number of cuts. */
export class Client {
  readonly fold = new FrameFold();
  readonly #conversationId: string;
  #leave: (() => void) | undefined;
  #left = 0;
  /** The node that it is connected to. */
  node: ClusterNode | undefined;
  /** True once it has received its position since it connected. */
  isJoined = false;
  ended: string | undefined;
  /** Called with every event that it receives. */
  onEvent: ((event: AgentEvent) => void) | undefined;

  constructor(conversationId: string) {
    this.#conversationId = conversationId;
  }

  /** Connects with its cursor; the connection breaks after a number of frames. */
  attach(node: ClusterNode, frames = Number.POSITIVE_INFINITY): void {
    this.detach();
    this.node = node;
    this.isJoined = false;
    this.#left = frames;
    let isOpen = true;
    const leave = node.me.attach(this.#conversationId, this.fold.state.cursor ?? "0", {
      onFrame: (frame) => {
        if (!isOpen) return;
        this.fold.apply(frame);
        if (frame.type === "chat.delta") this.onEvent?.(frame.event);
        this.isJoined = true;
        this.#left -= 1;
        if (this.#left <= 0) this.detach();
      },
      onEnd: (error) => {
        this.ended = error?.code ?? "ended";
        this.node = undefined;
      },
    });
    this.#leave = () => {
      isOpen = false;
      leave();
    };
    // The very first frame may have been the last.
    if (this.node === undefined) leave();
  }

  detach(): void {
    this.node = undefined;
    this.#leave?.();
    this.#leave = undefined;
  }

  /** Returns what it shows, without the order in which it received provisional messages. */
  get shown(): string {
    const { messages, status } = this.fold.state;
    return JSON.stringify([messages, status]);
  }
}
