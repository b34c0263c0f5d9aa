import type { InputStore } from "../../ports/log-store.js";
import type { ApprovalRule } from "../../turn/approval/approval.js";
import { matchesArguments } from "../../turn/approval/match-arguments.js";
import type { TurnInputs } from "../../turn/approval/turn-inputs.js";
import type { DecisionFeed } from "./decision-feed.js";

/** Options for requests to people. */
export interface ApprovalOptions {
  /** Rules beside those of the tools. They can only be stricter. */
  readonly rules?: readonly ApprovalRule[];
  /** Time that a request waits before it is denied. Absent: forever. */
  readonly expiresMs?: number;
  /** Offers the tool `ask_user`, by which the model asks the user a question. Default false. */
  readonly askUser?: boolean;
}

/** Makes what a turn of the runtime needs to request input from people and to wait for it. */
export function createTurnInputs(
  options: ApprovalOptions,
  turn: {
    readonly conversationId: string;
    readonly turnId: string;
    readonly fence: number;
    readonly store: InputStore;
    readonly feed: DecisionFeed;
    /** Repeats a call until its outcome is known, or the turn is lost. */
    readonly insist: <T>(call: () => Promise<T>) => Promise<T>;
    /** Publishes that the requests of the conversation have changed. */
    readonly changed: () => void;
  },
): TurnInputs {
  const { conversationId, turnId, fence, store, feed, insist, changed } = turn;
  const { rules, expiresMs } = options;
  return {
    ...(rules === undefined ? {} : { rules }),
    ...(expiresMs === undefined ? {} : { expiresMs }),
    async isGranted({ toolName, toolHash, arguments: given }) {
      const grants = await store.grants({ toolName, conversationId });
      return grants.some(
        (grant) => grant.toolHash === toolHash && matchesArguments(grant.scope.where, given),
      );
    },
    responses: () => store.readResponses({ conversationId, turnId }),
    async ask(request) {
      await insist(() => store.addInputs({ conversationId, turnId, fence, inputs: [request] }));
      changed();
    },
    async endQuestion(response) {
      const { requestId } = response;
      const ended = await store.respond({ conversationId, requestId, node: "", response, grantId: "" });
      changed();
      return ended.response;
    },
    listen: (onResponse) => feed.listen(onResponse),
  };
}
