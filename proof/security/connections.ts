import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Secrets as SecretsPort } from "@parley/core/ports";
import { createKey, createLogger, serve } from "@parley/server";
import { openEmbedded } from "@parley/store/embedded";
import { openSecrets } from "@parley/store/secrets";
import { createPlainSecrets } from "@parley/testing";
import { chatChunks } from "@parley/testing/openai";
import type { KeyScope } from "@parley/wire";
import { type LocalNode, startNode } from "../../apps/cli/src/compose/node.js";
import { loadConfig } from "../../apps/cli/src/config/load-config.js";
import { Workplace } from "../../test/cli/parley-process.js";
import { tablesIn } from "../../test/kill/tables.js";
import { closedHosts, openAddress, otherUrls } from "./addresses.js";
import type { Area } from "./ledger.js";
import type { Secrets } from "./secrets.js";

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Attacked {
  readonly folder: string;
  readonly logs: string[];
  call(method: string, path: string, key: string, body?: object): Promise<Answer>;
  key(scopes: readonly KeyScope[]): Promise<string>;
  close(): Promise<void>;
}

/** Opens a server that other machines reach, whose connections may lead to `allowed` beside public addresses. */
async function openAttacked(place: Workplace, allowed: readonly string[]): Promise<Attacked> {
  const folder = place.store;
  const config = await loadConfig({
    env: { PARLEY_STORE: folder, PARLEY_HOST: "0.0.0.0", XDG_CONFIG_HOME: "/nonexistent" },
    workingFolder: "/nonexistent",
  });
  const node: LocalNode = await startNode({ ...config, connections: { privateAddresses: [...allowed] } });
  const logs: string[] = [];
  const logger = createLogger({ level: "trace" }, { write: (line) => void logs.push(line) });
  const server = await serve(node.runtime, { port: 0, auth: "keys", pace: { keyMs: 0 }, logger });
  return {
    folder,
    logs,
    async call(method, path, key, body) {
      const response = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const headers = JSON.stringify([...response.headers]);
      return { status: response.status, text: headers + (await response.text()) };
    },
    async key(scopes) {
      const { secret, record } = createKey({ owner: "admin", scopes });
      await node.runtime.keys.add(record);
      return secret;
    },
    async close() {
      await server.close({ deadlineMs: 0 });
      await node.close();
    },
  };
}

/** Starts a provider of models: it lists one, answers, and repeats the key to callers that have another one. */
async function openProvider(
  host: string,
  key?: string,
): Promise<{ port: number; hits: number; server: Server }> {
  const provider = { port: 0, hits: 0, server: createServer() };
  provider.server.on("request", async (request, response) => {
    provider.hits += 1;
    for await (const _ of request) {
      // Read to its end.
    }
    if (request.url?.startsWith("/away/") === true) {
      response.writeHead(307, { location: "http://127.0.0.1:9/v1/models" }).end();
    } else if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) {
      response.writeHead(401).end(`Not ${key}, but ${request.headers.authorization}`);
    } else if (request.method === "GET") {
      response.setHeader("content-type", "application/json").end('{"data":[{"id":"one"}]}');
    } else {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const chunk of chatChunks({ text: "An answer." }))
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      response.end("data: [DONE]\n\n");
    }
  });
  await new Promise<void>((resolve) => provider.server.listen(0, host, resolve));
  provider.port = (provider.server.address() as AddressInfo).port;
  return provider;
}

/**
 * Tries as an administrator to make the server call addresses that only it can reach. Weak: every address is allowed.
 */
export async function attackConnections(area: Area, secrets: Secrets, weak: boolean): Promise<void> {
  const place = new Workplace();
  const inside = await openProvider("127.0.0.1");
  const outside = await openProvider(openAddress);
  const attacked = await openAttacked(place, weak ? ["0.0.0.0/0", "::/0"] : [openAddress]);
  try {
    const admin = await attacked.key(["admin"]);
    const apiKey = secrets.make("a provider's key");
    // Weakened, only this machine is called: nothing answers at the other addresses.
    const hosts = weak ? closedHosts.slice(0, 10) : closedHosts;
    const urls = [
      ...hosts.map((host) => `http://${host}:${inside.port}/v1`),
      ...(weak ? [] : otherUrls(inside.port)),
    ];
    for (const baseUrl of urls) {
      for (const path of ["/connections/test", "/connections"]) {
        const { status, text } = await attacked.call("POST", path, admin, {
          kind: "compatible",
          baseUrl,
          apiKey,
        });
        const isRefused = status === 400 || (status === 200 && /"ok":false.*not (a )?public/.test(text));
        area.attempt(`${path} ${JSON.stringify(baseUrl)}`, isRefused, `${status} ${text}`);
        area.searched(`the answer to ${baseUrl}`, secrets.findIn(text));
      }
    }
    area.attempt("something inside was asked", inside.hits === 0, `${inside.hits} times`);
    const open = `http://${openAddress}:${outside.port}`;
    const away = await attacked.call("POST", "/connections/test", admin, {
      kind: "compatible",
      baseUrl: `${open}/away/v1`,
      apiKey,
    });
    area.attempt("a redirect inside is followed", away.text.includes("it answered 307"), away.text);
    const honest = { name: "honest", kind: "compatible", baseUrl: `${open}/v1`, apiKey };
    const added = await attacked.call("POST", "/connections", admin, honest);
    area.control("a provider outside is connected to", added.status === 200, added.text);
    const moved = await attacked.call("PATCH", "/connections/honest", admin, { baseUrl: `${open}/other` });
    area.attempt("a stored key is sent to another address", moved.status === 400, moved.text);
    const narrow = await attacked.key(["read", "write", "approve"]);
    for (const [method, path, body] of [
      ["GET", "/connections"],
      ["POST", "/connections", honest],
      ["PATCH", "/connections/honest", { name: "mine" }],
      ["DELETE", "/connections/honest"],
      ["POST", "/connections/test", honest],
      ["POST", "/connections/honest/test"],
    ] as const) {
      const { status, text } = await attacked.call(method, path, narrow, body);
      area.attempt(`${method} ${path} with a narrow key`, status === 403, `${status} ${text}`);
    }
  } finally {
    await attacked.close();
    for (const { server } of [inside, outside]) server.close();
    await place.remove();
  }
}

/** Searches for keys of providers wherever they must not be. Weak: encryption does nothing. */
export async function huntStoredSecrets(area: Area, secrets: Secrets, weak: boolean): Promise<void> {
  const place = new Workplace();
  const { store: folder } = place;
  const apiKey = secrets.make("a provider's key", "the key of a connection");
  const provider = await openProvider(openAddress, apiKey);
  const baseUrl = `http://${openAddress}:${provider.port}/v1`;
  const search = (where: string, text: string | Buffer) =>
    area.searched(where, secrets.findIn(text, ["a provider's key"]));
  try {
    const attacked = await openAttacked(place, [openAddress]);
    try {
      const admin = await attacked.key(["admin", "read", "write"]);
      const wrong = secrets.make("a provider's key", "a key that is refused");
      const settings = { kind: "compatible", baseUrl, apiKey };
      for (const [method, path, body, status] of [
        ["POST", "/connections", { ...settings, name: "planted" }, 200],
        [
          "POST",
          "/chat",
          { conversationId: "c1", message: "Hello", messageId: "m1", model: "planted/one" },
          200,
        ],
        ["GET", "/conversations/c1/last", undefined, 200],
        ["POST", "/connections", { ...settings, name: "refused", apiKey: wrong }, 502],
        ["POST", "/connections/test", { ...settings, apiKey: wrong }, 200],
        ["PATCH", "/connections/planted", { apiKey: wrong }, 502],
        ["PATCH", "/connections/planted", { name: "renamed" }, 200],
        ["POST", "/connections/renamed/test", undefined, 200],
        ["GET", "/connections", undefined, 200],
        ["GET", "/models", undefined, 200],
        ["GET", "/doctor", undefined, 200],
        ["GET", "/metrics", undefined, 200],
        ["GET", "/conversations/c1/export", undefined, 200],
      ] as const) {
        const answer = await attacked.call(method, path, admin, body);
        area.control(`${method} ${path}`, answer.status === status, `${answer.status} ${answer.text}`);
        if (path.endsWith("/last")) {
          area.control("the model answers", answer.text.includes("An answer."), answer.text);
        }
        search(`the answer to ${method} ${path}`, answer.text);
      }
      search("the log", attacked.logs.join(""));
    } finally {
      await attacked.close();
    }
    await copyToAnotherOwner(folder, area, { weak, value: JSON.stringify({ apiKey }) });
    const [rows = []] = await tablesIn(folder)(["SELECT * FROM parley.secret"]);
    area.control("there are secrets in the table", rows.length > 0);
    for (const row of rows) search("the table of secrets", JSON.stringify(row));
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (file.isFile()) search(`the file ${file.name}`, readFileSync(join(file.parentPath, file.name)));
    }
  } finally {
    provider.server.close();
    await place.remove();
  }
}

/** Copies a secret to another owner, as an attacker could who can write the tables. */
async function copyToAnotherOwner(
  folder: string,
  area: Area,
  { weak, value }: { readonly weak: boolean; readonly value: string },
): Promise<void> {
  const { store } = await openEmbedded({ folder, durable: false });
  try {
    const secrets: SecretsPort = weak
      ? createPlainSecrets(store.secrets)
      : openSecrets(store.secrets, { folder });
    const name = { owner: "ann", kind: "token", name: "server" };
    await secrets.put({ ...name, value, replaces: null });
    area.control("the owner reads it", (await secrets.get(name))?.value === value);
    const { sealed = "" } = (await store.secrets.get(name)) ?? {};
    const thief = { ...name, owner: "bob" };
    await store.secrets.put({ ...thief, sealed, facts: {}, replaces: null });
    const read = await secrets.get(thief).catch(() => null);
    area.attempt("a row that was copied to another owner", read?.value !== value);
  } finally {
    await store.close();
  }
}
