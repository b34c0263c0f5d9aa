import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient, type ParleyClient } from "@parley/client";
import { agentOptions, createAgentFetch } from "./agent-fetch.js";
import type { ServerAddress } from "./soak-client.js";

/** Duration and time of an operation. */
export interface Timing {
  readonly at: number;
  readonly ms: number;
}

const betweenMs = 120;
const conversationId = "probe";

/** A client that does the same two small things all the time, and records how long they take. */
export class Probe {
  /** A read of a conversation that never changes. */
  readonly reads: Timing[] = [];
  /** A whole turn in a new conversation, from the message to the seal. */
  readonly turns: Timing[] = [];
  readonly #agent = new Agent(agentOptions);
  readonly #client: ParleyClient;
  #sent = 0;

  constructor({ url, key }: ServerAddress) {
    this.#client = createClient({ url, apiKey: key, WebSocket: null, fetch: createAgentFetch(this.#agent) });
  }

  async measure(isOver: () => boolean): Promise<void> {
    await this.#client.request("POST /conversations", { body: { id: conversationId } });
    while (!isOver()) {
      const params = { id: conversationId };
      await this.#time(this.reads, () => this.#client.request("GET /conversations/:id/meta", { params }));
      this.#sent += 1;
      const id = `probe-${this.#sent}`;
      await this.#time(this.turns, async () => {
        for await (const _ of this.#client.chat({ conversationId: id, message: "quick" }));
      });
      await this.#client.request("DELETE /conversations/:id", { params: { id } });
      await sleep(betweenMs);
    }
  }

  async rest(): Promise<void> {
    await this.#client.request("DELETE /conversations/:id", { params: { id: conversationId } });
    this.#agent.destroy();
  }

  async #time(timings: Timing[], act: () => Promise<unknown>): Promise<void> {
    const from = performance.now();
    await act();
    timings.push({ at: from, ms: performance.now() - from });
  }
}
