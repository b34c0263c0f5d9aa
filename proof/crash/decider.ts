import type { PendingRequest, RespondRequest, RespondResponse } from "@parley/wire";
import type { ClientRecord } from "../../test/kill/client-record.js";
import { call } from "./call.js";
import { lookAgain } from "./http-log.js";
import type { Nodes } from "./nodes.js";
import { isRefusedWith, stuckMs, untilAnswered } from "./until-answered.js";

/**
 * People who decide on requests of a conversation, through any node, repeatedly with the same decision until they are
 * answered. The decision follows from the call, so that two runs decide alike.
 */
export class Decider {
  readonly #nodes: Nodes;
  readonly #record: ClientRecord;
  readonly #conversationId: string;
  readonly #onAcknowledged: () => void;

  constructor(nodes: Nodes, record: ClientRecord, conversationId: string, onAcknowledged: () => void) {
    this.#nodes = nodes;
    this.#record = record;
    this.#conversationId = conversationId;
    this.#onAcknowledged = onAcknowledged;
  }

  /** Decides on every request until it is over. */
  async decideUntil(isOver: () => boolean): Promise<void> {
    const limitAt = performance.now() + stuckMs;
    while (!isOver()) {
      for (const request of await this.#pending()) await this.#decide(request);
      if (performance.now() > limitAt) throw new Error(`${this.#conversationId} waits and does not go on`);
      await lookAgain();
    }
  }

  /** Decides on the first request, and leaves the others alone; on none if it is over before. */
  async decideOnce(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const [request] = await this.#pending();
      if (request !== undefined) return this.#decide(request);
      await lookAgain();
    }
  }

  async #pending(): Promise<readonly PendingRequest[]> {
    const query = { conversationId: this.#conversationId };
    const { pending } = await untilAnswered(this.#nodes, `pending in ${this.#conversationId}`, (place) =>
      call(place, "GET /pending", { query }),
    );
    return pending;
  }

  async #decide(request: PendingRequest): Promise<void> {
    const [first, second] = decisionsOn(request);
    this.#record.decided.add(request.toolCallId);
    const answers = await Promise.all([
      this.#respond(request, first, false),
      ...(second === undefined ? [] : [this.#respond(request, second, true)]),
    ]);
    const taken = answers.filter((answer) => answer !== undefined);
    for (const { response } of taken) this.#record.decide(this.#conversationId, response);
    if (taken.length > 0) this.#onAcknowledged();
  }

  /** Returns undefined if another decision is in force. */
  async #respond(
    { requestId }: PendingRequest,
    body: RespondRequest,
    away: boolean,
  ): Promise<RespondResponse | undefined> {
    const params = { id: this.#conversationId, requestId };
    try {
      return await untilAnswered(
        this.#nodes,
        `respond to ${requestId}`,
        (place) => call(place, "POST /conversations/:id/pending/:requestId", { params, body }),
        { away },
      );
    } catch (error) {
      if (isRefusedWith(error, "already_decided")) return undefined;
      throw error;
    }
  }
}

/** Returns the decision on a request; and another one that a second person makes at the same time, if there is one. */
function decisionsOn(request: PendingRequest): readonly [RespondRequest, RespondRequest?] {
  const { kind, toolName, argumentsHash, argumentsText, toolCallId } = request;
  if (kind === "question") return [{ decision: "answer", value: `blue for ${toolCallId}` }];
  const allow: RespondRequest = { decision: "allow", argumentsHash };
  if (toolName === "refund") return [allow];
  switch (toolCallId.split(".").at(-1)) {
    case "0":
      return [allow, { decision: "deny", note: "not that one" }];
    case "2":
      return [{ decision: "deny", note: "too much" }];
    default:
      return [{ ...allow, argumentsText: argumentsText.replace("}", ', "edited": "\u00fc \u2028" }') }];
  }
}
