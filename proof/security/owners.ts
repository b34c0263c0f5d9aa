import { type CalledRoute, routeNames } from "../../packages/server/src/routes/route-calls.test-support.js";
import type { Area } from "./ledger.js";
import { type RawCall, routeCall, shapeOf } from "./raw-call.js";
import type { Secrets } from "./secrets.js";
import type { Target } from "./target.js";

/** A victim's conversations, in every state that one can be in. */
export interface Household {
  readonly owner: string;
  readonly key: string;
  readonly ids: readonly string[];
  readonly turnIds: readonly string[];
  readonly queuedIds: readonly string[];
  readonly cursors: readonly string[];
  /** Returns everything about them, to be compared. */
  describe(): Promise<string>;
}

/**
 * Fills an owner's house: idle, busy with a queue, closed, compacted with its archive, and a fork. Secrets everywhere.
 */
export async function moveIn(target: Target, owner: string, secrets: Secrets): Promise<Household> {
  const me = target.runtime.forOwner(owner);
  const say = async (conversationId: string, count = 1) => {
    for (let turn = 0; turn < count; turn += 1) {
      await me.send({ conversationId, message: secrets.make("a message") });
      await me.last(conversationId);
    }
  };
  const id = (state: string) => `${owner}-${state}`;
  await me.create({
    id: id("idle"),
    title: secrets.make("a title"),
    instructions: secrets.make("instructions"),
    metadata: { note: secrets.make("metadata") },
  });
  await say(id("idle"), 2);
  await say(id("closed"));
  await me.close(id("closed"));
  await say(id("compacted"), 3);
  const { newConversationId: archive } = await me.compact(id("compacted"), { keepLastN: 1 });
  await me.fork({ conversationId: id("idle"), atSeq: 2, id: id("fork") });
  await me.send({ conversationId: id("busy"), message: `wait ${secrets.make("a message")}` });
  const queuedIds = [`${owner}-queued-1`, `${owner}-queued-2`];
  for (const messageId of queuedIds) {
    const message = secrets.make("a message");
    await me.queue.add({ conversationId: id("busy"), messageId, message, mode: "queue" });
  }
  await addWebhook(target, owner, secrets);
  const ids = ["idle", "closed", "compacted", "fork", "busy"].map(id);
  const details = await Promise.all(ids.map((each) => me.meta(each)));
  const active = details.flatMap(({ activeTurn }) => (activeTurn === undefined ? [] : [activeTurn.turnId]));
  const metrics = await me.metrics(id("idle"));
  return {
    owner,
    key: await target.key(owner),
    ids: [...ids, archive],
    turnIds: [...active, ...metrics.map(({ turnId }) => turnId)],
    queuedIds,
    cursors: details.map(({ cursor }) => cursor),
    async describe() {
      const all = await Promise.all(
        ids.map(async (each) => {
          const lines: unknown[] = [];
          for await (const line of me.exportLines(each)) lines.push(line);
          return [await me.meta(each), await me.queue.list(each), lines];
        }),
      );
      const webhooks = (await me.webhooks.list()).map(({ id: webhook, url, enabled }) => [
        webhook,
        url,
        enabled,
      ]);
      return JSON.stringify([all, await me.list({}), webhooks]);
    },
  };
}

/** Registers the endpoint that the calls of all routes name, with an address that holds a token. */
export async function addWebhook(target: Target, owner: string, secrets: Secrets): Promise<void> {
  const token = secrets.make("a webhook's address");
  const { secret = "" } = await target.runtime
    .forOwner(owner)
    .webhooks.add({ id: "w1", url: `https://hooks.example/${token}` });
  secrets.add("a webhook's secret", secret);
}

/** Routes on which an unknown id creates a conversation: an id that another owner uses must do the same. */
const making = new Set<CalledRoute>([
  "POST /chat",
  "POST /api/chat",
  "POST /conversations",
  "POST /conversations/:id/queue",
  "POST /import",
  "PUT /conversations/:id/title",
  "PUT /conversations/:id/model",
  "PUT /conversations/:id/reasoning-effort",
  "PUT /conversations/:id/instructions",
  "PUT /conversations/:id/compact-threshold",
]);
/** The operator's, for all owners together. */
const operators = new Set<CalledRoute>([
  "GET /keys",
  "POST /keys",
  "DELETE /keys/:id",
  "GET /webhooks",
  "POST /webhooks",
  "GET /doctor",
  "POST /doctor",
]);

/**
 * Tries every route on every conversation of the house as another owner: each answer has to be the one for an unused
 * id, to the byte, and nothing of the house may be in any answer.
 */
export async function attackByHttp(
  target: Target,
  house: Household,
  thief: { readonly key: string; readonly ownConversation: string },
  area: Area,
  secrets: Secrets,
): Promise<void> {
  const before = await house.describe();
  const send = async (what: string, call: RawCall) => {
    const answer = await target.call(call);
    area.searched(
      `the answer to ${what}`,
      secrets.findIn(`${JSON.stringify(answer.headers)}\n${answer.text}`),
    );
    return answer;
  };

  // An endpoint of another owner is as unknown as any, even to an admin.
  const admin = await target.key("another-admin", ["admin"]);
  for (const name of routeNames.filter((each) => each.includes(" /webhooks"))) {
    const call = routeCall(name, "none", admin);
    const own = await send(`${name} on another's webhook`, call);
    const other = { ...call, path: call.path.replace("/w1", "/w9") };
    const unknown = await send(`${name} on an unknown webhook`, other);
    const isSame = shapeOf(own, "w1") === shapeOf(unknown, "w9");
    area.attempt(`${name} on another's webhook`, isSame || name === "POST /webhooks", `${own.status}`);
  }

  const ofConversations = routeNames.filter(
    (name) => /\/(conversations|api\/chat)\/:id/.test(name) && !making.has(name),
  );
  for (const victim of house.ids) {
    const unknown = unknownLike(victim);
    for (const name of ofConversations) {
      for (const method of name.startsWith("GET ") ? ["GET", "HEAD"] : [undefined]) {
        const change = method === undefined ? {} : { method };
        const what = `${method ?? ""} ${name} on ${victim}`;
        const [theirs, unowned] = [
          await send(what, { ...routeCall(name, victim, thief.key), ...change }),
          await send(`${name} on an unknown id`, { ...routeCall(name, unknown, thief.key), ...change }),
        ];
        const isSame = shapeOf(theirs, victim) === shapeOf(unowned, unknown);
        area.attempt(what, isSame, `${theirs.status} ${theirs.text}`);
      }
    }
    for (const name of making) {
      const [theirs, unowned] = [
        await send(`${name} with ${victim}`, routeCall(name, victim, thief.key)),
        await send(`${name} with an unknown id`, routeCall(name, unknown, thief.key)),
      ];
      // A conversation of the thief's own, created again in both cases.
      const isSame = theirs.status === unowned.status && isMade(theirs.text) === isMade(unowned.text);
      area.attempt(`${name} with ${victim}`, isSame, `${theirs.status} ${theirs.text}`);
      for (const id of [victim, unknown]) {
        await target.call({ method: "DELETE", path: `/conversations/${id}`, key: thief.key });
      }
    }
  }

  for (const [what, call, isRefused, madeId] of sideDoors(house, thief.ownConversation)) {
    const answer = await send(what, { ...call, key: thief.key });
    area.attempt(what, isRefused(answer.text, answer.status), `${answer.status} ${answer.text}`);
    if (madeId === undefined) continue;
    await target.call({ method: "DELETE", path: `/conversations/${madeId}`, key: thief.key });
  }
  for (const name of routeNames.filter((each) => !each.includes("/:id") && !making.has(each))) {
    const answer = await send(name, routeCall(name, unknownLike(house.ids[0] ?? ""), thief.key));
    if (operators.has(name)) area.attempt(name, answer.status === 403, `${answer.status} ${answer.text}`);
  }

  // After a deletion the house cannot be described any more.
  const after = await house.describe().catch((error: unknown) => String(error));
  area.attempt(
    "all of it together changes something of the house",
    after === before,
    "the house is not as it was",
  );
  const own = await target.call({ path: `/conversations/${thief.ownConversation}/meta`, key: thief.key });
  area.control("the thief reads a conversation of its own", own.status === 200, own.text);
  for (const id of house.ids) {
    const answer = await target.call({ path: `/conversations/${id}/meta`, key: house.key });
    area.control(`the owner reads ${id}`, answer.status === 200, answer.text);
  }
}

type SideDoor = readonly [
  what: string,
  call: RawCall,
  isRefused: (text: string, status: number) => boolean,
  /** The id of a conversation of the thief's own that it creates, to be removed after it. */
  madeId?: string,
];

/**
 * Returns ways around the id in the path: names inside a conversation of one's own, lists, and claims to be another
 * owner.
 */
function sideDoors(house: Household, own: string): readonly SideDoor[] {
  const json = { "content-type": "application/json" };
  const isError = (_: string, status: number) => status >= 400;
  /** Checks that no name of the house is in a text. Its own words are searched for in every answer anyway. */
  const namesNoVictim = (text: string) =>
    ![...house.ids, ...house.queuedIds].some((name) => text.includes(`"${name}"`));
  const doors: SideDoor[] = [];
  for (const turnId of house.turnIds) {
    doors.push([
      `the turn ${turnId} by way of ${own}`,
      { path: `/conversations/${own}/turns/${turnId}` },
      isError,
    ]);
  }
  for (const queued of house.queuedIds) {
    const path = `/conversations/${own}/queue/${queued}`;
    const body = JSON.stringify({ text: "taken", before: queued });
    doors.push([`PATCH ${path}`, { method: "PATCH", path, headers: json, body }, isError]);
    doors.push([`DELETE ${path}`, { method: "DELETE", path }, (text) => !text.includes(queued)]);
    doors.push([
      `a message under the id ${queued}`,
      {
        method: "POST",
        path: "/chat",
        headers: json,
        body: JSON.stringify({ messageId: queued, message: "mine" }),
      },
      (text, status) => status === 200 && text.includes("You said: mine"),
    ]);
  }
  for (const cursor of house.cursors) {
    const path = `/conversations/${own}/events?cursor=${encodeURIComponent(cursor)}`;
    doors.push([`the cursor ${cursor} on ${own}`, { path, patienceMs: 1_500 }, namesNoVictim]);
  }
  for (const id of house.ids) {
    doors.push([`list by ${id}`, { path: `/conversations?q=${id}` }, namesNoVictim]);
    doors.push([`list before ${id}`, { path: `/conversations?before=${id}` }, namesNoVictim]);
    const fork = { atSeq: 0, id };
    doors.push([
      `fork to ${id}`,
      { method: "POST", path: `/conversations/${own}/fork`, headers: json, body: JSON.stringify(fork) },
      // A fork of the thief's own conversation, as under an unused id.
      (text, status) => status === 200 && text.includes(`"parentId":"${own}"`),
      id,
    ]);
    for (const path of [
      `/conversations/${own}/../${id}/meta`,
      `/conversations/${own}/%2e%2e/${id}/meta`,
      `/conversations/${own}%2f..%2f${id}/meta`,
      `/conversations//${id}/meta`,
      `/conversations/${id}%00/meta`,
      `/conversations/${id};owner=${house.owner}/meta`,
      `/conversations/${id}/meta?owner=${house.owner}&resourceId=${house.owner}`,
    ]) {
      doors.push([`GET ${path}`, { path }, isError]);
    }
    for (const header of ["x-owner", "x-parley-owner", "x-forwarded-user", "x-resource-id", "x-user"]) {
      const path = `/conversations/${id}/export`;
      doors.push([`${header} with ${id}`, { path, headers: { [header]: house.owner } }, isError]);
    }
    const body = JSON.stringify({ conversationId: id, owner: house.owner, message: "hello" });
    doors.push([
      `owner in the body with ${id}`,
      { method: "POST", path: "/chat", headers: json, body },
      (text, status) => status >= 400 || text.includes("You said: hello"),
      id,
    ]);
  }
  doors.push(["usage by conversation", { path: "/usage?by=conversation" }, namesNoVictim]);
  doors.push([
    "usage of another owner",
    { path: `/usage?by=conversation&owner=${encodeURIComponent(house.owner)}` },
    isError,
  ]);
  doors.push(["usage of all owners", { path: "/usage?by=conversation&owners=all" }, isError]);
  doors.push(["search for what they said", { path: "/search?q=You%20said" }, namesNoVictim]);
  return doors;
}

/** Returns true if an answer reports that it created a conversation; undefined if it does not report it. */
function isMade(text: string): boolean | undefined {
  const [, said] = /"created":(true|false)/.exec(text) ?? [];
  return said === undefined ? undefined : said === "true";
}

/** Returns an unused id, as long as the other, so that nothing but the name differs. */
export function unknownLike(id: string): string {
  return `${"unknown".repeat(20).slice(0, id.length - 1)}0`;
}
