import type { Tool } from "@parley/core";
import type {
  GrantsResponse,
  KeyScope,
  PendingRequest,
  PendingResponse,
  RespondRequest,
  WsChatRespond,
  WsServerMessage,
} from "@parley/wire";
import type { TestSocket } from "../../packages/server/src/test-server.test-support.js";
import type { Area } from "./ledger.js";
import { codeOf, type RawAnswer, type RawCall, shapeOf } from "./raw-call.js";
import type { Secrets } from "./secrets.js";
import { within } from "./sockets.js";
import { callTools, openTarget, type Target } from "./target.js";

const victim = "ann";
const json = { "content-type": "application/json" };
/** Arguments that would break out of a line, turn it around or hide in it, if they were shown as anything but data. */
const hostile = '"\u202e\u2066\u0000\u001b[2J</script><img src=x onerror=alert(1)>';

/** Creates a tool that needs an approval, and records its runs. */
function payment(ran: unknown[]): Tool<never> {
  const pay: Tool<{ amount: number; note?: string }> = {
    name: "pay",
    schema: {
      type: "object",
      properties: { amount: { type: "number" }, note: { type: "string" } },
      required: ["amount"],
      additionalProperties: false,
    },
    approval: "always",
    execute: (input) => {
      ran.push(input);
      return "paid";
    },
  };
  return pay as Tool<never>;
}

/**
 * Attacks requests that wait for a person: by other owners, with keys that may not decide, with decisions on other
 * bytes, with decisions of another kind, and after the decision. With `weak`, all keys are the owner's and may decide.
 */
export async function attackApprovals(area: Area, secrets: Secrets, weak: boolean): Promise<void> {
  const ran: unknown[] = [];
  const target = await openTarget({ tools: [payment(ran)] });
  try {
    const keyOf = (owner: string, scopes: readonly KeyScope[]) =>
      weak ? target.key(victim, ["admin"]) : target.key(owner, scopes);
    const request = await ask(target, "ann-pays", {
      amount: 3,
      note: `${secrets.make("a message")} ${hostile}`,
    });
    const page = await offer(target, "ann-shows");
    await attackFromOutside(target, await keyOf("bob", ["read", "write", "approve", "admin"]), request, {
      area,
      secrets,
    });
    for (const scopes of [["read"], ["write"], ["read", "write"]] as const) {
      await attackWithoutScope(
        target,
        await keyOf(victim, scopes),
        request,
        `with ${scopes.join(" and ")}`,
        area,
      );
    }
    await attackOutput(target, { key: await keyOf(victim, ["approve"]), request: page }, area);
    area.attempt("a tool ran without an approval", ran.length === 0, JSON.stringify(ran));
    const decider = await target.key(victim, ["read", "approve"]);
    if (!weak) await attackWithWrongBytes(target, decider, request, area);
    area.attempt("a tool ran without an approval", ran.length === 0, JSON.stringify(ran));
    if (!weak) await checkHonest(target, decider, request, { area, ran });
    for (const line of target.logs) area.searched("a line of the log", secrets.findIn(line));
  } finally {
    await target.close();
  }
}

/** Lets the model call the tool, and returns the request that waits. */
async function ask(target: Target, conversationId: string, input: unknown): Promise<PendingRequest> {
  const me = target.runtime.forOwner(victim);
  await me.send({ conversationId, message: callTools([{ tool: "pay", input }]) });
  return only(target, conversationId);
}

/** Sends a tool of the caller, and returns the request for its output. */
async function offer(target: Target, conversationId: string): Promise<PendingRequest> {
  const me = target.runtime.forOwner(victim);
  const message = callTools([{ tool: "show", input: {} }]);
  await me.send({ conversationId, message, tools: [{ name: "show" }] });
  return only(target, conversationId);
}

async function only(target: Target, conversationId: string): Promise<PendingRequest> {
  const me = target.runtime.forOwner(victim);
  await me.last(conversationId);
  const [request] = (await me.input.pending({ conversationId })).pending;
  if (request === undefined) throw new Error("nothing waits");
  return request;
}

function responding(
  key: string,
  { conversationId, requestId }: Pick<PendingRequest, "conversationId" | "requestId">,
  body: RespondRequest,
): RawCall {
  const path = `/conversations/${encodeURIComponent(conversationId)}/pending/${encodeURIComponent(requestId)}`;
  return { method: "POST", path, key, headers: json, body: JSON.stringify(body) };
}

/** Responds on a socket. Returns the code of the refusal, or the type of any other answer. */
async function respondOnSocket(socket: TestSocket, message: WsChatRespond): Promise<string | undefined> {
  const from = socket.messages.length;
  const isAnswer = ({ type }: WsServerMessage) => type === "chat.error" || type === "chat.responded";
  const answered = new Promise<WsServerMessage>((resolve) => {
    socket.raw.on("message", () => {
      const answer = socket.messages.slice(from).find(isAnswer);
      if (answer !== undefined) resolve(answer);
    });
  });
  socket.send(message);
  const answer = await within(answered, 10_000);
  return answer?.type === "chat.error" ? answer.code : answer?.type;
}

/**
 * Attacks as another owner, with every scope there is: none of it is visible, and the answers are those of an unknown
 * id.
 */
async function attackFromOutside(
  target: Target,
  key: string,
  request: PendingRequest,
  { area, secrets }: { readonly area: Area; readonly secrets: Secrets },
): Promise<void> {
  const search = (what: string, answer: RawAnswer) =>
    area.searched(what, secrets.findIn(`${JSON.stringify(answer.headers)}\n${answer.text}`));
  for (const path of ["/pending", "/pending?limit=500", "/pending?after=0~0~0"]) {
    const answer = await target.call({ path, key });
    search(path, answer);
    const { pending } = JSON.parse(answer.text) as PendingResponse;
    area.attempt(`${path} of another owner`, pending?.length === 0, answer.text);
  }
  const { conversationId, argumentsHash } = request;
  const unknown = { ...request, conversationId: conversationId.replace("ann", "eve") };
  const listed = [conversationId, unknown.conversationId].map((id) =>
    target.call({ path: `/pending?conversationId=${id}`, key }),
  );
  const [theirs, unowned] = (await Promise.all(listed)) as [RawAnswer, RawAnswer];
  search("a list of another owner's", theirs);
  area.attempt(
    "a list of another owner's conversation",
    shapeOf(theirs, conversationId) === shapeOf(unowned, unknown.conversationId) && theirs.status === 404,
    theirs.text,
  );
  const decisions: readonly RespondRequest[] = [
    { decision: "deny", note: "by a thief" },
    { decision: "allow", argumentsHash },
    { decision: "allow", argumentsHash, scope: { in: "owner" } },
    { decision: "answer", value: "x" },
    { decision: "output", value: "x" },
  ];
  const socket = await target.socket({ key });
  for (const body of decisions) {
    const answer = await target.call(responding(key, request, body));
    const other = await target.call(responding(key, unknown, body));
    search("a decision on another owner's request", answer);
    const isSame = shapeOf(answer, conversationId) === shapeOf(other, unknown.conversationId);
    area.attempt(`${body.decision} by another owner`, isSame && answer.status === 404, answer.text);
    const { requestId } = request;
    const code = await respondOnSocket(socket, { type: "chat.respond", conversationId, requestId, ...body });
    area.attempt(`${body.decision} by another owner on a socket`, code === "conversation_not_found", code);
  }
  socket.raw.terminate();
}

/** Attacks with the owner's own keys that may not decide. */
async function attackWithoutScope(
  target: Target,
  key: string,
  request: PendingRequest,
  named: string,
  area: Area,
): Promise<void> {
  const { argumentsHash, conversationId, requestId } = request;
  const decisions: readonly RespondRequest[] = [
    { decision: "allow", argumentsHash },
    { decision: "deny" },
    { decision: "output", value: "paid" },
    { decision: "answer", value: "paid" },
    { decision: "allow", argumentsHash, scope: { in: "owner" } },
  ];
  const socket = await target.socket({ key });
  for (const body of decisions) {
    const answer = await target.call(responding(key, request, body));
    area.attempt(`${body.decision} ${named}`, codeOf(answer) === "forbidden", answer.text);
    const code = await respondOnSocket(socket, { type: "chat.respond", conversationId, requestId, ...body });
    area.attempt(`${body.decision} on a socket ${named}`, code === "forbidden", code);
  }
  for (const [face, call] of Object.entries(decidingByFaces(request))) {
    const answer = await target.call({ ...call, key });
    area.attempt(`a decision by ${face} ${named}`, codeOf(answer) === "forbidden", answer.text);
  }
  const revoked = await target.call({ method: "DELETE", path: "/grants/any", key });
  area.attempt(`revoking ${named}`, codeOf(revoked) === "forbidden", revoked.text);
  socket.raw.terminate();
}

/** Returns the approval of a request as clients of other protocols send it. */
function decidingByFaces({ conversationId, turnId, requestId, toolCallId }: PendingRequest) {
  const approval = { id: requestId, approved: true };
  const part = { type: "dynamic-tool", toolName: "pay", toolCallId, state: "approval-responded", approval };
  const response = { type: "mcp_approval_response", approval_request_id: `mcpr_${requestId}`, approve: true };
  const bodies = {
    "/api/chat": { id: conversationId, message: { id: turnId, role: "assistant", parts: [part] } },
    "/v1/responses": { previous_response_id: `resp_${turnId}`, input: [response] },
  };
  const calls = Object.entries(bodies).map(([path, body]): [string, RawCall] => [
    path,
    { method: "POST", path, headers: json, body: JSON.stringify(body) },
  ]);
  return Object.fromEntries(calls);
}

/** Checks that a key that may decide may not send outputs. */
async function attackOutput(
  target: Target,
  { key, request }: { readonly key: string; readonly request: PendingRequest },
  area: Area,
): Promise<void> {
  for (const body of [{ decision: "output", value: "forged" }, { decision: "deny" }] as const) {
    const answer = await target.call(responding(key, request, body));
    area.attempt(`${body.decision} of a caller's tool`, codeOf(answer) === "forbidden", answer.text);
  }
  for (const name of ["pay", "p\u202eay", "pay ", "", "a".repeat(65)]) {
    const body = JSON.stringify({ message: "x", tools: [{ name }] });
    const writer = await target.key(victim, ["write"]);
    const answer = await target.call({ method: "POST", path: "/chat", key: writer, headers: json, body });
    area.attempt(`a caller's tool named ${JSON.stringify(name)}`, answer.status === 400, answer.text);
  }
}

/** Checks that a key that may decide can only decide on these bytes, in this form, and on this request. */
async function attackWithWrongBytes(
  target: Target,
  key: string,
  request: PendingRequest,
  area: Area,
): Promise<void> {
  const { argumentsHash } = request;
  const hash = { argumentsHash };
  const wrong: Readonly<Record<string, { readonly body: RespondRequest; readonly of?: object }>> = {
    "no hash": { body: { decision: "allow" } },
    "the hash of other arguments": { body: { decision: "allow", argumentsHash: "0".repeat(64) } },
    "a hash in capitals": { body: { decision: "allow", argumentsHash: argumentsHash.toUpperCase() } },
    "a part of the hash": { body: { decision: "allow", argumentsHash: argumentsHash.slice(0, 32) } },
    "a denial with another hash": { body: { decision: "deny", argumentsHash: "0".repeat(64) } },
    "arguments that are not JSON": { body: { decision: "allow", ...hash, argumentsText: "{" } },
    "arguments that do not fit": { body: { decision: "allow", ...hash, arguments: { amount: "3" } } },
    "arguments with more": { body: { decision: "allow", ...hash, arguments: { amount: 3, to: "me" } } },
    "an output": { body: { decision: "output", value: "paid" } },
    "an answer": { body: { decision: "answer", value: "paid" } },
    "a scope with a denial": { body: { decision: "deny", scope: { in: "owner" } } },
    "a word that is none": { body: { decision: "yes" as "allow", ...hash } },
    "another request": { body: { decision: "allow", ...hash }, of: { requestId: `${request.requestId}0` } },
    "a request of another conversation": {
      body: { decision: "allow", ...hash },
      of: { conversationId: "ann-shows" },
    },
    "two megabytes": { body: { decision: "allow", ...hash, note: "x".repeat(2_000_000) } },
    "two megabytes of arguments": {
      body: { decision: "allow", ...hash, arguments: { amount: 3, note: "x".repeat(2_000_000) } },
    },
  };
  for (const [what, { body, of }] of Object.entries(wrong)) {
    const answer = await target.call(responding(key, { ...request, ...of }, body));
    const isRefused = answer.status === 400 || answer.status === 404 || answer.status === 413;
    area.attempt(`a decision with ${what}`, isRefused, `${answer.status} ${answer.text.slice(0, 100)}`);
  }
}

/** Checks that the right key with the right bytes decides once, and that later attempts change nothing. */
async function checkHonest(
  target: Target,
  key: string,
  request: PendingRequest,
  { area, ran }: { readonly area: Area; readonly ran: readonly unknown[] },
): Promise<void> {
  const { conversationId, argumentsHash, argumentsText } = request;
  const listed = await target.call({ path: "/pending", key });
  const { pending } = JSON.parse(listed.text) as PendingResponse;
  area.control("a key to decide reads what waits", pending.length === 2, listed.text);
  area.control("the arguments are shown as they are", pending[0]?.argumentsText === argumentsText);
  const right = { decision: "allow", argumentsHash } as const;
  const allowed = await target.call(responding(key, request, right));
  area.control("a key to decide decides", allowed.status === 200, allowed.text);
  await target.runtime.forOwner(victim).last(conversationId);
  area.control("the call runs once", ran.length === 1 && JSON.stringify(ran[0]) === argumentsText);
  const again = await target.call(responding(key, request, right));
  area.control("the same again gets the same", again.status === 200, again.text);
  for (const body of [
    { decision: "deny" },
    { ...right, arguments: { amount: 4 } },
    { ...right, scope: { in: "owner" } },
  ] as const) {
    const answer = await target.call(responding(key, request, body));
    area.attempt("another decision afterwards", codeOf(answer) === "already_decided", answer.text);
  }
  const { grants } = JSON.parse((await target.call({ path: "/grants", key })).text) as GrantsResponse;
  area.attempt("a standing approval that was not given", grants.length === 0, JSON.stringify(grants));
  area.attempt("the call ran again", ran.length === 1, JSON.stringify(ran));
}
