import { setTimeout as sleep } from "node:timers/promises";
import { context, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { Tool } from "@parley/core";
import type { Random } from "../../test/kill/random.js";
import { type EvilProvider, failures } from "./evil-provider.js";
import type { Area } from "./ledger.js";
import { addWebhook } from "./owners.js";
import { type RawCall, routeCall } from "./raw-call.js";
import type { SecretKind, Secrets } from "./secrets.js";
import { callTools, type Target } from "./target.js";

const credentials: readonly SecretKind[] = [
  "a Parley key",
  "a provider's key",
  "a provider's header",
  "a request's header",
  "a password",
  "a webhook's secret",
  "a webhook's address",
];

/** Keeps the spans of all turns until it is closed. */
export function collectSpans(): { text(): string; close(): void } {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  return {
    text: () =>
      exporter
        .getFinishedSpans()
        .map(({ name, attributes, status, events }) => JSON.stringify({ name, attributes, status, events }))
        .join("\n"),
    close() {
      trace.disable();
      context.disable();
    },
  };
}

/** Creates a tool that receives secrets, prints some, and fails. */
export function indiscreetTool(secrets: Secrets): Tool<{ note: string; breaks?: boolean }> {
  const answer = secrets.make("a tool's output");
  return {
    name: "indiscreet",
    description: "Knows too much",
    execute({ note, breaks }, { output }) {
      output(answer);
      if (breaks) throw new Error(`I received ${note} and answer ${answer}`);
      return answer;
    },
  };
}

/** Plants secrets wherever a client can put one, and searches for them wherever they must not be. */
export async function huntLeaks(
  target: Target,
  evil: EvilProvider,
  parts: { readonly spans: { text(): string }; readonly random: Random },
  area: Area,
  secrets: Secrets,
): Promise<void> {
  const key = secrets.add("a Parley key", await target.key("gossip", ["admin"]), "the caller's key");
  const other = secrets.add("a Parley key", await target.key("stranger"), "a stranger's key");
  const stranger = await target.socket({ key: other });
  await stranger.next("catalog");
  const owner = await target.socket({ key });
  await owner.next("catalog");
  const search = (where: string, text: string, kinds?: readonly SecretKind[]) =>
    area.searched(where, secrets.findIn(text, kinds));

  await addWebhook(target, "gossip", secrets);
  const conversations = await talkToEvil(target, evil, key, area, secrets);
  await useTools(target, key, secrets);
  for (const [what, call] of clumsyRequests(secrets, key)) {
    const answer = await target.call(call);
    area.attempt(what, answer.status >= 400, `${answer.status}`);
    // A caller may be shown what it typed by mistake, but not its credentials.
    search(`the answer to ${what}`, `${JSON.stringify(answer.headers)}${answer.text}`, credentials);
  }
  for (const frame of clumsyFrames(secrets)) owner.send(frame);
  owner.send({ type: "ping" });
  await owner.next("pong");

  for (const path of [
    "/metrics",
    "/openapi.json",
    "/models",
    "/doctor",
    "/keys",
    "/health",
    "/ready",
    "/me",
  ]) {
    const answer = await target.call({ path, key });
    area.control(`GET ${path}`, answer.status === 200, `${answer.status}`);
    search(path, answer.text);
  }
  for (const path of ["/webhooks", "/webhooks/w1/deliveries"]) {
    // The caller that registered it is shown its address, and no signing secret.
    const answer = await target.call({ path, key });
    area.control(`GET ${path}`, answer.status === 200, `${answer.status}`);
    search(
      path,
      answer.text,
      credentials.filter((kind) => kind !== "a webhook's address"),
    );
  }
  for (const id of conversations) {
    for (const path of [
      `/conversations/${id}/export`,
      `/conversations/${id}/export?format=markdown`,
      `/conversations/${id}`,
      `/conversations/${id}/meta`,
      `/conversations/${id}/metrics`,
      `/conversations/${id}/last`,
    ]) {
      search(path, (await target.call({ path, key })).text, credentials);
    }
    for (const { turnId } of await target.runtime.forOwner("gossip").metrics(id)) {
      const path = `/conversations/${id}/turns/${turnId}`;
      search(path, (await target.call({ path, key })).text, credentials);
    }
  }
  stranger.send({ type: "ping" });
  await stranger.next("pong");
  search("what a stranger's socket received", JSON.stringify(stranger.messages));
  search("what the owner's socket received", JSON.stringify(owner.messages), credentials);
  search("the traces", parts.spans.text());
  area.control("there are traces", parts.spans.text().includes("invoke_agent"));
  // Lines of streams are logged when these are over.
  await sleep(50);
  search("the log", target.logs.join(""));
  area.control("there is a log", target.logs.length > 100, `${target.logs.length} lines`);
  for (const socket of [stranger, owner]) socket.raw.terminate();
}

/** Runs turns that fail in every way, at a provider that repeats everything it was sent. */
async function talkToEvil(
  target: Target,
  evil: EvilProvider,
  key: string,
  area: Area,
  secrets: Secrets,
): Promise<string[]> {
  const ids: string[] = [];
  for (const { name } of evil.models) {
    const id = `gossip-${name.replace("/", "-")}`;
    ids.push(id);
    await target.call({
      method: "POST",
      path: "/conversations",
      key,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id, model: name, instructions: secrets.make("instructions") }),
    });
    for (const failure of failures) {
      const answer = await target.call({
        method: "POST",
        path: "/chat",
        key,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ conversationId: id, message: `fail-${failure} ${secrets.make("a message")}` }),
        patienceMs: 10_000,
      });
      area.attempt(`${name} answers fail-${failure}`, /"type":"error"/.test(answer.text), answer.text);
      area.searched(`the events of ${name}, fail-${failure}`, secrets.findIn(answer.text, credentials));
    }
  }
  const sent = evil.received.join("");
  area.control(
    "the provider was sent its keys and headers",
    secrets.findIn(sent, ["a provider's key", "a provider's header"]).length === 2 * evil.models.length,
  );
  return ids;
}

async function useTools(target: Target, key: string, secrets: Secrets): Promise<void> {
  for (const breaks of [false, true]) {
    const note = secrets.make("a tool's input");
    await target.call({
      method: "POST",
      path: "/chat",
      key,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        conversationId: "gossip-tools",
        message: callTools([
          { tool: "indiscreet", input: { note, breaks } },
          { tool: "indiscreet", input: { note: [note] } },
        ]),
      }),
      patienceMs: 10_000,
    });
  }
}

/** Returns requests that fail, each with secrets where people put them by mistake. */
function clumsyRequests(secrets: Secrets, key: string): readonly (readonly [string, RawCall])[] {
  const header = () => secrets.make("a request's header");
  const json = { "content-type": "application/json" };
  const post = (path: string, body: string, headers: Record<string, string> = json): RawCall => ({
    method: "POST",
    path,
    key,
    headers,
    body,
  });
  const secret = () => secrets.make("a message");
  return [
    ["a wrong key", { path: "/me", key: header() }],
    ["a wrong cookie", { path: "/me", headers: { cookie: `parley_login=${header()}; other=${header()}` } }],
    ["a key in the URL", { path: `/conversations/none/meta?key=${header()}`, key }],
    ["a secret for a path", { path: `/${header()}`, key }],
    [
      "headers full of secrets",
      { path: "/nowhere", key, headers: { "x-a": header(), "user-agent": header() } },
    ],
    ["a referer", { path: "/nowhere", key, headers: { referer: `http://h/?t=${header()}` } }],
    ["a forwarded address", { path: "/nowhere", key, headers: { "x-forwarded-for": header() } }],
    ["an impossible request id", { path: "/nowhere", key, headers: { "x-request-id": `${header()} !` } }],
    [
      "a foreign origin",
      { path: "/me", headers: { origin: `https://${header()}.example`, cookie: header() } },
    ],
    ["a foreign host", { path: "/me", headers: { host: `${header()}.example` } }],
    ["broken JSON", post("/chat", `{"message":"${secret()}`)],
    [
      "a wrong field",
      post("/chat", JSON.stringify({ message: [secret()], conversationId: `${secret()} !` })),
    ],
    ["an unknown model", post("/chat", JSON.stringify({ message: secret(), model: secret() }))],
    ["a wrong effort", post("/chat", JSON.stringify({ message: secret(), reasoningEffort: secret() }))],
    ["another content type", post("/chat", secret(), { "content-type": `text/${header()}` })],
    ["a login with a wrong key", post("/login", JSON.stringify({ key: header() }))],
    ["a login with a wrong field", post("/login", JSON.stringify({ key: [header()] }))],
    [
      "a wrong import",
      post("/import", `{"type":"${secret()}"}\n`, { "content-type": "application/x-ndjson" }),
    ],
    ["a broken import", post("/import", `{${secret()}`, { "content-type": "application/x-ndjson" })],
    ["a wrong scope", post("/keys", JSON.stringify({ owner: "x", scopes: [header()] }))],
    ["a wrong cursor", { path: `/conversations/gossip-tools/events?cursor=${secret()}`, key }],
    [
      "a wrong last event",
      {
        ...routeCall("GET /conversations/:id/events", "gossip-tools", key),
        headers: { "last-event-id": header() },
      },
    ],
    ["a wrong method", { method: "PATCH", path: "/chat", key, headers: json, body: `"${secret()}"` }],
  ];
}

function clumsyFrames(secrets: Secrets): string[] {
  const secret = () => secrets.make("a message");
  return [
    `{"type":"${secret()}"}`,
    `{${secret()}`,
    JSON.stringify({ type: "chat.send", message: secret(), model: secret() }),
    JSON.stringify({ type: "chat.send", message: [secret()] }),
    JSON.stringify({ type: "subscribe", surfaceId: secret() }),
  ];
}
