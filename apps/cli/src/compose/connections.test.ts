import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ConnectionApi } from "@parley/core/runtime";
import { chatChunks, type OpenAIHttpServer, startOpenAIHttpServer } from "@parley/testing/openai";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { describeOnPostgres } from "../../../../test/harness/postgres.js";
import type { Config } from "../config/config.js";
import { loadConfig } from "../config/load-config.js";
import { connectionAddresses } from "./connection-addresses.js";
import { type LocalNode, startNode } from "./node.js";

const key = "sk-planted-5151525252";
const secret = "a text that both nodes have been given";

/** A server that speaks the chat protocol to callers with the key. */
async function startProvider(options: { readonly anyKey?: boolean } = {}): Promise<OpenAIHttpServer> {
  const provider = await startOpenAIHttpServer(async (answer, { method, headers }) => {
    if (!options.anyKey && headers.authorization !== `Bearer ${key}`) {
      return answer.json(401, { error: { message: `Incorrect API key: ${headers.authorization}` } });
    }
    if (method === "GET") return answer.json(200, { object: "list", data: [{ id: "example" }] });
    await answer.send([...chatChunks({ text: "A real answer." }), "[DONE]"]);
    return answer.end();
  });
  onTestFinished(() => provider.close());
  return provider;
}

async function configOf(env: Record<string, string>, given: Partial<Config> = {}): Promise<Config> {
  const config = await loadConfig({
    env: { XDG_CONFIG_HOME: "/nonexistent", ...env },
    workingFolder: "/nonexistent",
  });
  return { ...config, ...given };
}

function connectionsOf({ runtime }: LocalNode): ConnectionApi {
  if (runtime.connections === undefined) throw new Error("the node has no connections");
  return runtime.connections;
}

async function answerOf({ runtime }: LocalNode, conversationId: string): Promise<string> {
  const me = runtime.forOwner("me");
  await me.send({ conversationId, message: "Hello" });
  return JSON.stringify(await me.last(conversationId));
}

describeOnPostgres(
  "connections of two nodes",
  (postgres) => {
    async function startNodes(env: Record<string, string>): Promise<[LocalNode, LocalNode]> {
      const database = await postgres.createDatabase();
      onTestFinished(() => database.drop());
      const start = async () => {
        const node = await startNode(await configOf({ PARLEY_STORE: database.url, ...env }));
        onTestFinished(() => node.close());
        return node;
      };
      return [await start(), await start()];
    }

    it("serve on both as soon as one of them is notified, and are gone from both", async () => {
      const provider = await startProvider();
      const [one, two] = await startNodes({ PARLEY_SECRET: secret });
      expect(two.runtime.models()).toMatchObject({ models: ["demo/demo"], defaultModel: "demo/demo" });
      const added = await connectionsOf(one).add({
        name: "mine",
        kind: "compatible",
        baseUrl: provider.url,
        apiKey: key,
      });
      expect(added).toMatchObject({ name: "mine", source: "stored", hasKey: true });
      expect(JSON.stringify([added, await connectionsOf(two).list()])).not.toContain(key);
      await vi.waitFor(() => expect(two.runtime.models().defaultModel).toBe("mine/example"), 20_000);
      expect(await answerOf(two, "c-two")).toContain("A real answer.");
      expect(await answerOf(one, "c-one")).toContain("A real answer.");

      await connectionsOf(two).change("mine", { name: "renamed" });
      await vi.waitFor(() => expect(one.runtime.models().models).toEqual(["renamed/example"]), 20_000);
      expect(await connectionsOf(one).remove("renamed")).toBe(true);
      await vi.waitFor(() => expect(two.runtime.models().models).toEqual(["demo/demo"]), 20_000);
      const late = two.runtime.forOwner("me").send({
        conversationId: "c-two",
        message: "Hello?",
        model: "renamed/example",
      });
      await expect(late).rejects.toMatchObject({ code: "model_unavailable" });
    }, 60_000);

    it("cannot be added without a key of the installation, and nothing else is affected", async () => {
      const provider = await startProvider();
      const [one] = await startNodes({});
      const add = connectionsOf(one).add({ kind: "compatible", baseUrl: provider.url, apiKey: key });
      await expect(add).rejects.toMatchObject({
        message: expect.stringContaining("PARLEY_SECRET") as unknown,
      });
      expect((await connectionsOf(one).list()).cannotAdd).toContain("PARLEY_SECRET");
      expect(provider.seen).toEqual([]);
      expect(await answerOf(one, "c-demo")).toContain("I am the demo model");
      const { findings } = await one.runtime.examine({ fix: false });
      expect(findings.find(({ area }) => area === "secrets")).toMatchObject({ level: "ok" });
    }, 60_000);
  },
  "preferred",
);

describe("where connections may lead", () => {
  const local = { listen: { host: "127.0.0.1", port: 0 }, hosts: [] as string[] };
  const addresses = [
    "8.8.8.8",
    "127.0.0.1",
    "::1",
    "192.168.1.5",
    "10.1.1.1",
    "169.254.169.254",
    "fe80::1",
    "0.0.0.0",
  ];
  const metadata = [
    "169.254.169.254",
    "100.100.100.200",
    "fd00:ec2::254",
    "::ffff:169.254.169.254",
    "fe80::1",
  ];

  it("is everywhere but to metadata of clouds, for a server that only this machine reaches", () => {
    expect(addresses.filter(connectionAddresses(local))).toEqual([
      "8.8.8.8",
      "127.0.0.1",
      "::1",
      "192.168.1.5",
      "10.1.1.1",
    ]);
    expect(metadata.filter(connectionAddresses(local))).toEqual([]);
  });

  it.each([
    ["on another address", { ...local, listen: { host: "0.0.0.0", port: 0 } }],
    ["behind a proxy", { ...local, hosts: ["parley.example.org"] }],
    ["that forbids it", { ...local, connections: { privateAddresses: false } }],
  ])("is the open internet alone for a server %s", (_, config) => {
    expect([...addresses, ...metadata].filter(connectionAddresses(config))).toEqual(["8.8.8.8"]);
  });

  it("is also what the configuration lists", () => {
    const config = {
      ...local,
      hosts: ["parley.example.org"],
      connections: { privateAddresses: ["192.168.0.0/16"] },
    };
    expect(addresses.filter(connectionAddresses(config))).toEqual(["8.8.8.8", "192.168.1.5"]);
    const wrong = { ...local, connections: { privateAddresses: ["home"] } };
    expect(() => connectionAddresses(wrong)).toThrow("connections.privateAddresses");
  });
});

describeOnPostgres(
  "a provider's address",
  (postgres) => {
    /** A node that other machines reach. */
    async function startOpenNode(given: Partial<Config>): Promise<ConnectionApi> {
      const database = await postgres.createDatabase();
      onTestFinished(() => database.drop());
      const node = await startNode(
        await configOf({ PARLEY_STORE: database.url, PARLEY_SECRET: secret }, given),
      );
      onTestFinished(() => node.close());
      return connectionsOf(node);
    }

    it("is refused where it leads inside, by number and by name, before anything is sent", async () => {
      let asked = 0;
      const inside = createServer((_, response) => {
        asked += 1;
        response.end('{"data":[{"id":"inside"}]}');
      });
      await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void inside.close());
      const { port } = inside.address() as AddressInfo;
      const connections = await startOpenNode({ listen: { host: "0.0.0.0", port: 0 } });
      const hosts = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "169.254.169.254"];
      for (const host of hosts) {
        const settings = { kind: "compatible", baseUrl: `http://${host}:${port}/v1`, apiKey: key };
        const failures = await Promise.all(
          [connections.add(settings), connections.test(settings)].map((call) =>
            call.then(
              (answer) => ("error" in answer ? answer.error : "accepted"),
              (error: unknown) => String(error),
            ),
          ),
        );
        for (const failure of failures) {
          expect(failure, host).toMatch(/not (a )?public/);
          expect(failure).not.toContain(key);
        }
      }
      expect(asked).toBe(0);
    }, 60_000);

    it("that answers with a redirect is not followed, with or without the key", async () => {
      const seen: (string | undefined)[] = [];
      const elsewhere = createServer((request, response) => {
        seen.push(request.headers.authorization);
        response.end('{"data":[{"id":"elsewhere"}]}');
      });
      const redirecting = createServer((_, response) => {
        const { port } = elsewhere.address() as AddressInfo;
        response.writeHead(307, { location: `http://127.0.0.1:${port}/v1/models` }).end();
      });
      for (const server of [elsewhere, redirecting]) {
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        onTestFinished(() => void server.close());
      }
      const connections = await startOpenNode({});
      const baseUrl = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/v1`;
      const answer = await connections.test({ kind: "compatible", baseUrl, apiKey: key });
      expect(answer).toMatchObject({ ok: false, error: "it answered 307" });
      expect(seen).toEqual([]);
    }, 60_000);

    it("cannot be changed without the key, which could be read by having it sent elsewhere", async () => {
      const [provider, thief] = [await startProvider(), await startProvider({ anyKey: true })];
      const connections = await startOpenNode({});
      await connections.add({ name: "mine", kind: "compatible", baseUrl: provider.url, apiKey: key });
      await expect(connections.change("mine", { baseUrl: thief.url })).rejects.toMatchObject({
        code: "invalid_request",
        message: "apiKey: a new address needs the key again",
      });
      const wrong = connections.change("mine", { apiKey: "sk-wrong" });
      await expect(wrong).rejects.toMatchObject({ code: "provider_auth" });
      expect(await connections.test("mine")).toMatchObject({ ok: true });
      expect(thief.seen).toEqual([]);
    }, 60_000);
  },
  "preferred",
);
