import {
  createMemoryLogStore,
  createMemoryWake,
  createPlainSecrets,
  createScriptedProvider,
} from "@parley/testing";
import type { ConnectionModel } from "@parley/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { ParleyError } from "../../errors.js";
import type { SecretName, Secrets } from "../../ports/secret-store.js";
import type { ModelBinding } from "../models.js";
import { type ConnectionProviders, connectionLimits } from "./connection-providers.js";
import { type ConnectionOptions, type ModelConnections, openModelConnections } from "./model-connections.js";

const bindingOf = (credential: string, model: string): ModelBinding => ({
  name: `${credential}/${model}`,
  provider: createScriptedProvider([]),
  providerName: credential,
  model,
  contextWindow: 1_000,
});

/** Returns a provider that has these models for the key "right". */
function providersWith(models: ConnectionModel[]): ConnectionProviders & { bound: number } {
  return {
    bound: 0,
    kinds: [{ kind: "vendor", title: "Vendor", key: "optional", baseUrl: "optional" }],
    check() {},
    discover: async ({ apiKey, baseUrl }) => {
      if (baseUrl === "unlisted:") return { problem: "there is no list (404)", code: "provider_rejected" };
      return apiKey === "right"
        ? { models }
        : { problem: "the key was refused (401)", code: "provider_auth" };
    },
    async bind(name, _, listed) {
      this.bound += 1;
      return listed.map((model) => bindingOf(name, model.name));
    },
  };
}

interface World {
  readonly secrets: Secrets;
  readonly providers: ReturnType<typeof providersWith>;
  readonly models: ConnectionModel[];
  open(options?: Partial<ConnectionOptions>): Promise<ModelConnections>;
}

function createWorld(): World {
  const models: ConnectionModel[] = [{ name: "one", contextWindow: 8_000 }, { name: "two" }];
  const { secrets: store } = createMemoryLogStore({ clock: Date });
  const [secrets, wake, providers] = [createPlainSecrets(store), createMemoryWake(), providersWith(models)];
  const demo = bindingOf("demo", "demo");
  const info = { name: "demo", kind: "demo", source: "built-in", hasKey: false, models: [{ name: "demo" }] };
  return {
    secrets,
    providers,
    models,
    async open(options = {}) {
      const builtIn = { info, bindings: [demo] };
      const opened = await openModelConnections({
        secrets,
        providers,
        wake,
        configured: [],
        builtIn,
        pollMs: 0,
        ...options,
      });
      onTestFinished(() => opened.close());
      return opened;
    },
  };
}

/** Waits until what was published in this process has been processed. */
const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

const configured = {
  info: { name: "file", kind: "vendor", source: "file", hasKey: true, models: [{ name: "set" }] },
  bindings: [bindingOf("file", "set")],
};

describe("connections of a node", () => {
  it("serve at once and on other nodes; the built-in model serves while there is none", async () => {
    const world = createWorld();
    const [here, there] = [await world.open(), await world.open()];
    expect(here.catalog.list()).toMatchObject({ models: ["demo/demo"], defaultModel: "demo/demo" });
    expect(here.isBuiltInOnly()).toBe(true);
    const added = await here.add({ name: "mine", kind: "vendor", apiKey: "right" });
    expect(added).toMatchObject({ name: "mine", hasKey: true, models: world.models });
    await settled();
    for (const { catalog } of [here, there]) {
      expect(catalog.list()).toMatchObject({ models: ["mine/one", "mine/two"], defaultModel: "mine/one" });
      expect(() => catalog.resolve("demo/demo")).toThrow("is not configured");
    }
    expect((await there.list()).connections.map(({ name, source }) => [name, source])).toEqual([
      ["mine", "stored"],
    ]);
    expect(await there.remove("mine")).toBe(true);
    expect(await there.remove("mine")).toBe(false);
    await settled();
    expect(here.catalog.list().models).toEqual(["demo/demo"]);
  });

  it("leave the model of a turn that runs as it is, and are bound again only where they changed", async () => {
    const world = createWorld();
    const connections = await world.open();
    await connections.add({ name: "kept", kind: "vendor", apiKey: "right" });
    const binding = connections.catalog.resolve("kept/one");
    await connections.add({ name: "other", kind: "vendor", apiKey: "right" });
    expect(connections.catalog.resolve("kept/one")).toBe(binding);
    expect(world.providers.bound).toBe(2);
    expect(connections.catalog.defaultModel).toBe("kept/one");
    await connections.remove("kept");
    expect(binding.model).toBe("one");
    expect(() => connections.catalog.resolve("kept/one")).toThrow(
      expect.objectContaining({ code: "model_unavailable" }),
    );
  });

  it("are not stored where the provider refuses the key or the name is taken, unknown or wrong", async () => {
    const connections = await createWorld().open({
      configured: [configured],
      configuredIn: "the file x.json",
    });
    const add = (given: object) =>
      connections.add({ name: "mine", kind: "vendor", apiKey: "right", ...given });
    await expect(add({ apiKey: "wrong" })).rejects.toMatchObject({ code: "provider_auth" });
    await expect(add({ kind: "vndor" })).rejects.toMatchObject({
      message: expect.stringContaining("vendor") as unknown,
    });
    await expect(add({ name: "a/b" })).rejects.toMatchObject({ details: { field: "name" } });
    expect(connections.stored()).toEqual([]);
    await add({});
    await expect(add({})).rejects.toMatchObject({ message: expect.stringContaining("already") as unknown });
    for (const call of [
      add({ name: "file" }),
      connections.remove("file"),
      connections.change("file", { apiKey: "x" }),
    ]) {
      await expect(call).rejects.toMatchObject({
        code: "invalid_request",
        message: 'name: "file" is set in the file x.json, which wins. Change it there',
        details: { reason: "configured" },
      });
    }
    await expect(connections.change("nosuch", { name: "x" })).rejects.toMatchObject({
      code: "conversation_not_found",
    });
  });

  it("are renamed, and keep their key and their models", async () => {
    const world = createWorld();
    const connections = await world.open();
    await connections.add({ name: "mine", kind: "vendor", apiKey: "right", models: ["two", "three"] });
    await connections.add({ name: "other", kind: "vendor", apiKey: "right" });
    await expect(connections.change("mine", { name: "other" })).rejects.toMatchObject({
      message: expect.stringContaining("already") as unknown,
    });
    expect(await connections.change("mine", { name: "changed" })).toMatchObject({
      name: "changed",
      hasKey: true,
    });
    expect(connections.catalog.list().models).toEqual([
      "changed/two",
      "changed/three",
      "other/one",
      "other/two",
    ]);
    expect(await connections.test("changed")).toMatchObject({ ok: true });
    expect(await connections.change("changed", { models: null })).toMatchObject({ models: world.models });
  });

  it("take over what the provider lists when they are tested, unless their models were chosen", async () => {
    const world = createWorld();
    const connections = await world.open();
    await connections.add({ name: "all", kind: "vendor", apiKey: "right" });
    await connections.add({ name: "some", kind: "vendor", apiKey: "right", models: ["one"] });
    world.models.push({ name: "new" });
    expect(await connections.test("all")).toMatchObject({ ok: true, models: world.models });
    expect(await connections.test("some")).toMatchObject({ ok: true });
    expect(connections.catalog.list().models).toEqual(["all/one", "all/two", "all/new", "some/one"]);
    expect(await connections.test({ kind: "vendor", apiKey: "wrong" })).toMatchObject({
      ok: false,
      error: "the key was refused (401)",
    });
  });

  it("take models that were named from a provider that lists none", async () => {
    const connections = await createWorld().open();
    const given = { kind: "vendor", apiKey: "right", baseUrl: "unlisted:" };
    await expect(connections.add(given)).rejects.toMatchObject({ code: "provider_rejected" });
    await connections.add({ ...given, models: ["named"] });
    expect(connections.catalog.list().models).toEqual(["vendor/named"]);
  });

  it("hold no more models and no longer names than they may", async () => {
    const world = createWorld();
    world.models.unshift({ name: "x".repeat(connectionLimits.modelName + 1) });
    for (let index = 0; index < 1_000; index += 1) world.models.push({ name: `model-${index}` });
    const connections = await world.open();
    const { models } = await connections.add({ name: "many", kind: "vendor", apiKey: "right" });
    expect(models).toHaveLength(connectionLimits.models);
    expect(models[0]?.name).toBe("one");
  });

  it("of which one cannot be read leave the others as they are, and say which", async () => {
    const world = createWorld();
    const first = await world.open();
    await first.add({ name: "broken", kind: "vendor", apiKey: "right" });
    await first.add({ name: "fine", kind: "vendor", apiKey: "right" });
    const unreadable = new ParleyError("store_unavailable", "it was encrypted with another key", {
      retryable: false,
    });
    const secrets: Secrets = {
      ...world.secrets,
      get: (name: SecretName) =>
        name.name === "broken" ? Promise.reject(unreadable) : world.secrets.get(name),
    };
    const connections = await world.open({ secrets });
    expect(connections.catalog.list().models).toEqual(["fine/one", "fine/two"]);
    expect(connections.problems()).toEqual([
      { name: "broken", problem: "it was encrypted with another key" },
    ]);
    expect((await connections.list()).connections).toMatchObject([
      { name: "broken", problem: unreadable.message },
      { name: "fine" },
    ]);
    expect(await connections.remove("broken")).toBe(true);
  });

  it("of the configuration come first and win over a stored one of the same name", async () => {
    const world = createWorld();
    await (await world.open()).add({ name: "file", kind: "vendor", apiKey: "right" });
    const connections = await world.open({ configured: [configured] });
    expect(connections.catalog.list().models).toEqual(["file/set"]);
    expect(connections.problems()).toMatchObject([{ name: "file" }]);
  });

  it("a new address needs the key again", async () => {
    const connections = await createWorld().open();
    await connections.add({ name: "mine", kind: "vendor", apiKey: "right", baseUrl: "https://one.example" });
    await expect(connections.change("mine", { baseUrl: "https://two.example" })).rejects.toMatchObject({
      details: { field: "apiKey" },
    });
    await connections.change("mine", { baseUrl: "https://two.example", apiKey: "right" });
    expect((await connections.list()).connections).toMatchObject([{ baseUrl: "https://two.example" }]);
  });
});
