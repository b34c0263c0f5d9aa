import { omitUndefined } from "@parley/fold";
import type {
  GrantInfo,
  PendingQuery,
  PendingRequest,
  PendingResponse,
  RespondResponse,
  ToolInfo,
} from "@parley/wire";
import { ParleyError } from "../../errors.js";
import type { GrantRecord, PendingInput } from "../../ports/log-store.js";
import { isStandardSchema, type Tool, toolDefinition } from "../../turn/tools/tool.js";
import type { OwnerScope } from "../api/owner-scope.js";
import { type InputAnswer, type InputSender, responseEntry } from "./respond.js";

const defaultListed = 100;
const mostListed = 500;

/** Operations of an owner on calls that wait for input. */
export interface InputApi {
  /** Lists unanswered requests, oldest first, in pages. */
  pending(query?: PendingQuery): Promise<PendingResponse>;
  /**
   * Answers a request. The first response wins; the same again gets the same result, another one `already_decided`
   * with the decision in force in `details.response`.
   */
  respond(
    conversationId: string,
    requestId: string,
    answer: InputAnswer,
    sender?: InputSender,
  ): Promise<RespondResponse>;
  /** Returns the kind of a request: it decides who may answer it. `conversation_not_found` for an unknown one. */
  kindOf(conversationId: string, requestId: string): Promise<string>;
  /** Lists standing approvals, newest first. */
  grants(): Promise<readonly GrantInfo[]>;
  /** Revokes a standing approval: the next call asks again. Returns false if there was none. */
  revoke(grantId: string): Promise<boolean>;
}

/** Creates one owner's operations on the requests of its conversations. */
export function inputVerbs(scope: OwnerScope): InputApi {
  const { store, find } = scope;
  const read = async (conversationId: string, requestId: string) => {
    const request = await store.readInput(conversationId, requestId);
    if (request !== null) return request;
    await find(conversationId);
    throw new ParleyError("conversation_not_found", "No such request in this conversation");
  };
  return {
    async pending({ conversationId, limit = defaultListed, after } = {}) {
      const { inputs, next: nextAfter } = await store.pendingInputs({
        limit: Math.min(mostListed, Math.max(1, limit)),
        ...omitUndefined({ conversationId, after }),
      });
      return { pending: inputs.map(toPendingRequest), ...omitUndefined({ nextAfter }) };
    },
    async kindOf(conversationId, requestId) {
      return (await read(conversationId, requestId)).kind;
    },
    async respond(conversationId, requestId, answer, sender = {}) {
      const request = await read(conversationId, requestId);
      return respond(scope, conversationId, request, answer, sender);
    },
    async grants() {
      return (await store.grants({})).map(toGrantInfo);
    },
    revoke: (grantId) => store.removeGrant(grantId),
  };
}

async function respond(
  scope: OwnerScope,
  conversationId: string,
  request: Parameters<typeof responseEntry>[0],
  answer: InputAnswer,
  sender: InputSender,
): Promise<RespondResponse> {
  const { env, owner, store, inbox, coordinator, recovery } = scope;
  if (!coordinator.alive(owner)) throw new ParleyError("store_unavailable");
  const limits = { tools: env.toolsOf(owner), bytes: env.limits.messageBytes, owner };
  const response = await responseEntry(request, answer, sender, limits);
  // A response is never refused for lack of capacity: then another node continues the turn.
  const node = coordinator.draining || !inbox.hasCapacity(owner) ? "" : env.identity.node;
  const { requestId, turnId } = request;
  const { argumentsHash } = answer;
  const result = await inbox.opening(owner, conversationId, turnId, () =>
    store.respond({
      conversationId,
      requestId,
      node,
      response,
      grantId: env.ids.next(),
      ...omitUndefined({ argumentsHash }),
    }),
  );
  const { outcome, lease, log } = result;
  // A response that came too late has reopened the turn for any node that claims it.
  if (lease !== undefined) recovery.reopened(lease, outcome === "recorded" ? node : "");
  else if (outcome === "recorded") {
    coordinator.decided(log);
    env.wake.notify([log], "input");
  }
  if (outcome !== "repeated") env.notifyChanged(owner, [log]);
  if (outcome === "decided") {
    throw new ParleyError("already_decided", undefined, { details: { response: result.response } });
  }
  return { conversationId, requestId, repeated: outcome === "repeated", response: result.response };
}

function toPendingRequest(input: PendingInput): PendingRequest {
  const { conversationId, title, turnId, stepId, requestId, kind, toolCallId, toolName } = input;
  const { argumentsText, argumentsHash, reason, schema, createdAt, expiresAt, remember } = input;
  return {
    conversationId,
    title,
    turnId,
    stepId: stepId as PendingRequest["stepId"],
    requestId,
    kind,
    toolCallId,
    toolName,
    argumentsText,
    argumentsHash,
    createdAt,
    ...omitUndefined({ reason, schema, expiresAt, remember }),
  };
}

function toGrantInfo({
  id,
  toolName,
  scope,
  conversationId,
  createdAt,
  requestId,
  by,
}: GrantRecord): GrantInfo {
  return { id, toolName, scope, createdAt, requestId, ...omitUndefined({ conversationId, by }) };
}

/** Returns a tool as lists show it. */
export function toToolInfo(tool: Tool<never>): ToolInfo {
  const { approval = "never", origin = "host", answeredBy } = tool;
  const { name, description, schema } = toolDefinition(tool);
  const isHidden = tool.schema !== undefined && isStandardSchema(tool.schema) && schema === undefined;
  return {
    name,
    origin,
    approval: typeof approval === "function" ? "policy" : approval,
    ...omitUndefined({ description, answeredBy }),
    ...(schema === undefined || isHidden ? {} : { schema: schema as NonNullable<ToolInfo["schema"]> }),
  };
}
