import {
  type OpenAiRoute,
  openAiRoutes,
} from "../../packages/server/src/faces/openai/openai-calls.test-support.js";
import type { Area } from "./ledger.js";
import { type Household, unknownLike } from "./owners.js";
import { openAiRawCall, type RawAnswer, type RawCall, shapeOf } from "./raw-call.js";
import type { Secrets } from "./secrets.js";
import type { Target } from "./target.js";

const json = { "content-type": "application/json" };

/** Routes of OpenAI's API that name something that exists: a conversation, a response, or an item. */
const ofSomething: readonly OpenAiRoute[] = openAiRoutes.filter(
  (name) => name === "POST /v1/responses" || (name.includes("{id}") && !name.includes("models")),
);

/** A name of the house, and an unused one of the same length. */
interface Named {
  readonly theirs: string;
  readonly unowned: string;
}

function named(theirs: string): Named {
  return { theirs, unowned: unknownLike(theirs) };
}

/**
 * Attacks as another owner through the protocols of other clients: every route of OpenAI's API on every conversation
 * and turn of the house, their turns by way of a conversation of its own, and requests that repeat those of the house.
 * Each answer has to be the one for an unused name.
 */
export async function attackFaces(
  target: Target,
  house: Household,
  thief: { readonly key: string; readonly ownConversation: string },
  area: Area,
  secrets: Secrets,
): Promise<void> {
  const before = await house.describe();
  const send = async (what: string, call: RawCall): Promise<RawAnswer> => {
    const answer = await target.call(call);
    const text = `${JSON.stringify(answer.headers)}\n${answer.text}`;
    area.searched(`the answer to ${what}`, secrets.findIn(text));
    return answer;
  };
  /** Makes a call with each name, and expects answers that differ in nothing else. */
  const compare = async (what: string, names: readonly Named[], callWith: (of: keyof Named) => RawCall) => {
    const shapes: string[] = [];
    let saw = "";
    for (const of of ["theirs", "unowned"] as const) {
      const answer = await send(`${what} (${of})`, { ...callWith(of), key: thief.key });
      // The longest first: unused shorter names are the beginnings of longer ones.
      const [first, ...others] = names
        .map((name) => name[of])
        .sort((left, right) => right.length - left.length);
      const shape = shapeOf(answer, first ?? thief.ownConversation);
      shapes.push(others.reduce((text, name) => text.replaceAll(name, "<id>"), shape));
      if (of === "theirs") saw = `${answer.status} ${answer.text}`;
    }
    area.attempt(what, shapes[0] === shapes[1], saw);
  };

  for (const [index, id] of house.ids.entries()) {
    const conversation = named(id);
    const turn = named(house.turnIds[index % house.turnIds.length] ?? "none");
    for (const name of ofSomething) {
      for (const method of name.startsWith("GET ") ? ["GET", "HEAD"] : [undefined]) {
        await compare(
          `${method === "HEAD" ? "HEAD of " : ""}${name} on ${id}`,
          [conversation, turn],
          (of) => ({
            ...openAiRawCall(name, conversation[of], undefined, turn[of]),
            ...(method === undefined ? {} : { method }),
          }),
        );
      }
    }
    await compare(`a response in ${id} by its bare name`, [conversation], (of) =>
      posted("/v1/responses", { input: "hello", conversation: { id: conversation[of] } }),
    );
    await compare(`regenerating in the chat ${id}`, [conversation], (of) =>
      posted("/api/chat", {
        id: conversation[of],
        trigger: "regenerate-message",
        message: { id: "m1", role: "assistant", parts: [] },
      }),
    );
  }
  for (const turnId of house.turnIds) await attackTurn(named(turnId), thief.ownConversation, compare);
  await repeatRequests(target, house, thief.key, area);

  const after = await house.describe().catch((error: unknown) => String(error));
  area.attempt("all of it together changes something of the house", after === before);
  const own = await target.call({ path: `/v1/conversations/${thief.ownConversation}`, key: thief.key });
  area.control("the thief reads a conversation of its own", own.status === 200, own.text);
  for (const id of house.ids) {
    const answer = await target.call({ path: `/v1/conversations/conv_${id}/items`, key: house.key });
    area.control(`the owner lists the items of ${id}`, answer.status === 200, answer.text);
  }
}

function posted(path: string, body: object, headers: Record<string, string> = {}): RawCall {
  return { method: "POST", path, headers: { ...json, ...headers }, body: JSON.stringify(body) };
}

type Compare = (
  what: string,
  names: readonly Named[],
  callWith: (of: keyof Named) => RawCall,
) => Promise<void>;

/** Attacks a turn through the routes that name only a turn. */
async function attackTurn(turn: Named, own: string, compare: Compare): Promise<void> {
  const ways: Readonly<Record<string, (id: string) => RawCall>> = {
    "the events of": (id) => ({ path: `/v1/responses/resp_${id}?stream=true&starting_after=0` }),
    "a later stretch of": (id) => ({ path: `/v1/responses/resp_${id}.1` }),
    "a response behind": (id) =>
      posted("/v1/responses", { input: "hello", previous_response_id: `resp_${id}` }),
    "an unkept response behind": (id) =>
      posted("/v1/responses", { input: "hello", previous_response_id: `resp_${id}`, store: false }),
    "outputs for": (id) =>
      posted("/v1/responses", {
        input: [{ type: "function_call_output", call_id: "call_1", output: "forged" }],
        previous_response_id: `resp_${id}`,
      }),
    "an approval in": (id) =>
      posted("/v1/responses", {
        input: [{ type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true }],
        previous_response_id: `resp_${id}`,
      }),
    "the stream, in a chat of its own, of": (id) => ({
      path: `/api/chat/${own}/stream?after=${encodeURIComponent(`${id}~0-0.0`)}`,
    }),
    "an answer, in a chat of its own, to": (id) =>
      posted("/api/chat", { id: own, message: { id, role: "assistant", parts: [] } }),
  };
  for (const [what, call] of Object.entries(ways)) {
    await compare(`${what} the turn ${turn.theirs}`, [turn], (of) => call(turn[of]));
  }
}

/** Sends requests of the house again, marked as repetitions: the answer has to be the thief's own. */
async function repeatRequests(target: Target, house: Household, key: string, area: Area): Promise<void> {
  for (const [what, headers] of [
    ["a repetition", { "x-stainless-retry-count": "1" }],
    ["the same idempotency key", { "idempotency-key": "order-1" }],
  ] as const) {
    const call = posted("/v1/responses", { input: `the same words, with ${what}` }, headers);
    const ids = [];
    for (const each of [house.key, house.key, key]) {
      const answer = await target.call({ ...call, key: each });
      ids.push((JSON.parse(answer.text) as { id?: string }).id);
    }
    const [first, again, thiefs] = ids;
    area.control(`${what} leads its owner back`, first !== undefined && first === again, `${ids}`);
    area.attempt(`${what} leads another owner there`, thiefs !== undefined && thiefs !== first, `${ids}`);
    for (const [each, id] of [
      [house.key, first],
      [key, thiefs],
    ]) {
      await target.call({ method: "DELETE", path: `/v1/responses/${id}`, key: each });
    }
  }
}
