import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConfigFlags, Environment } from "./config.js";
import { loadsTypeScript } from "./find-config.js";
import { loadConfig } from "./load-config.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-config-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const load = (env: Environment = {}, flags: ConfigFlags = {}) =>
  loadConfig({
    env: { XDG_CONFIG_HOME: join(folder, "user"), XDG_DATA_HOME: join(folder, "data"), ...env },
    flags,
    workingFolder: folder,
  });
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const json = (value: unknown) => write("parley.config.json", JSON.stringify(value, null, 2));
const refusal = (env: Environment = {}, flags: ConfigFlags = {}) =>
  load(env, flags).then(
    () => {
      throw new Error("it was accepted");
    },
    (error: Error) => error.message,
  );

describe("the configuration without a file", () => {
  it("keeps the store with the user's data, listens on this machine and knows no credential", async () => {
    const config = await load();
    expect(config).toMatchObject({
      store: { kind: "folder", folder: join(folder, "data", "parley", "store"), durable: true },
      listen: { host: "127.0.0.1", port: 4141 },
      owner: "local",
      auth: "auto",
      credentialsFrom: "nowhere",
      tools: { time: true, calculator: true },
    });
    expect(config.credentials.size).toBe(0);
  });

  it("finds the keys of a bucket in the file or the environment, and says which are missing", async () => {
    json({ store: { s3: { bucket: "b", endpoint: "http://s3.local", secretAccessKey: { env: "KEY" } } } });
    const env = { KEY: "secret", AWS_ACCESS_KEY_ID: "id", AWS_REGION: "eu-central-1" };
    expect((await load(env)).store).toMatchObject({
      kind: "folder",
      s3: {
        bucket: "b",
        endpoint: "http://s3.local",
        region: "eu-central-1",
        accessKeyId: "id",
        secretAccessKey: "secret",
      },
    });
    const message = await refusal();
    expect(message).toContain("store.s3: has no accessKeyId; set AWS_ACCESS_KEY_ID");
    expect(message).toContain("store.s3.secretAccessKey: the environment variable KEY is not set");
    json({ store: { s3: { endpoint: "s3.local" } } });
    expect(await refusal()).toMatch(/bucket[\s\S]*endpoint/);
  });

  it("finds servers of tools, with their secrets from the environment", async () => {
    const shared = { tools: { deny: ["delete*"] }, approval: "always", trust: true };
    json({
      mcpServers: {
        files: {
          command: "npx",
          args: ["server"],
          env: { TOKEN: { env: "FILES_TOKEN" } },
          cwd: "work",
          ...shared,
        },
        web: { url: "https://mcp.example/mcp", headers: { authorization: { env: "WEB_TOKEN" } } },
      },
    });
    const { mcpServers } = await load({ FILES_TOKEN: "one", WEB_TOKEN: "Bearer two" });
    expect(mcpServers).toEqual({
      files: {
        command: "npx",
        args: ["server"],
        env: { TOKEN: "one" },
        cwd: join(folder, "work"),
        ...shared,
      },
      web: { url: "https://mcp.example/mcp", headers: { authorization: "Bearer two" } },
    });
    const login = { auth: "oauth", clientId: "parley", scopes: ["a"] };
    json({
      mcpServers: { tracker: { url: "https://t.example/mcp", ...login, clientSecret: { env: "SECRET" } } },
    });
    expect((await load({ SECRET: "three" })).mcpServers).toEqual({
      tracker: { url: "https://t.example/mcp", headers: {}, ...login, clientSecret: "three" },
    });
    expect(await refusal()).toContain("mcpServers.tracker.clientSecret");
    json({ mcpServers: { files: { command: "npx", env: { TOKEN: { env: "FILES_TOKEN" } } } } });
    expect(await refusal()).toContain(
      "mcpServers.files.env.TOKEN: the environment variable FILES_TOKEN is not set",
    );
    json({ mcpServers: { "a b": { command: "x" } } });
    expect(await refusal()).toContain("a server's name has letters, digits, - and single _");
    json({ mcpServers: { a: { url: "file:///etc/passwd" } } });
    expect(await refusal()).toContain("mcpServers.a");
  });

  it("uses the store of the working folder where there is one", async () => {
    mkdirSync(join(folder, ".parley"));
    expect((await load()).store).toMatchObject({ folder: join(folder, ".parley") });
    expect((await load({ PARLEY_STORE: "other" })).store).toMatchObject({ folder: join(folder, "other") });
  });

  it("takes credentials from the environment", async () => {
    const config = await load({ OPENAI_API_KEY: "sk-one", ANTHROPIC_API_KEY: "sk-two" });
    expect([...config.credentials.keys()]).toEqual(["openai", "anthropic"]);
    expect(config.credentialsFrom).toBe("environment");
  });

  it("gives the OpenAI key to the base URL alone when there is one", async () => {
    const config = await load({ OPENAI_API_KEY: "sk-one", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" });
    expect([...config.credentials]).toEqual([
      ["compatible", { kind: "compatible", baseUrl: "http://127.0.0.1:1/v1", apiKey: "sk-one" }],
    ]);
  });

  it("takes the names of models from the environment", async () => {
    const config = await load({
      OPENAI_API_KEY: "sk-one",
      PARLEY_MODELS: "openai/gpt-4.1, anthropic/x,openai/o3",
    });
    expect(config.credentials.get("openai")).toMatchObject({ models: ["gpt-4.1", "o3"] });
  });
});

describe("what wins", () => {
  it("is the flag, then the environment, then the file", async () => {
    json({ listen: { host: "127.0.0.2", port: 1 }, store: { folder: "from-file" } });
    expect((await load()).listen).toEqual({ host: "127.0.0.2", port: 1 });
    expect((await load({ PARLEY_PORT: "2" })).listen.port).toBe(2);
    expect((await load({ PARLEY_PORT: "2" }, { port: 3 })).listen.port).toBe(3);
    expect((await load({ PARLEY_STORE: "from-env" })).store).toMatchObject({
      folder: join(folder, "from-env"),
    });
    expect((await load({}, { store: "postgres://db/parley" })).store).toEqual({
      kind: "postgres",
      url: "postgres://db/parley",
    });
  });

  it("is the file for how a PostgreSQL server is reached", async () => {
    const store = {
      url: "postgres://db/parley",
      listenUrl: "postgres://direct/parley",
      maxConnections: 3,
      transactionPooler: true,
      connectTimeoutMs: 1,
      statementTimeoutMs: 2,
      longStatementTimeoutMs: 3,
      answerGraceMs: 4,
    };
    json({ store });
    expect((await load()).store).toEqual({ kind: "postgres", ...store });
  });

  it("divides the database of a server, also one that the environment names", async () => {
    json({ store: { url: "postgres://db/parley", schema: "chat", schemas: 8, maxConnections: 3 } });
    const divided = { kind: "postgres", schema: "chat", schemas: 8 };
    expect((await load()).store).toEqual({ ...divided, url: "postgres://db/parley", maxConnections: 3 });
    const other = "postgres://other/parley";
    expect((await load({ PARLEY_STORE: other })).store).toEqual({ ...divided, url: other });
  });

  it("is a project's file over the user's, whose paths start from the working folder", async () => {
    mkdirSync(join(folder, "user", "parley"), { recursive: true });
    write("user/parley/config.json", JSON.stringify({ owner: "user", store: { folder: "logs" } }));
    expect(await load()).toMatchObject({ owner: "user", store: { folder: join(folder, "logs") } });
    json({ owner: "project" });
    expect((await load()).owner).toBe("project");
  });
});

describe("a module", () => {
  it("may bring tools and providers of its own", async () => {
    write(
      "parley.config.mjs",
      `export default {
        models: { mine: { kind: "custom", provider: { completeStream() {} }, models: ["m"] } },
        tools: { custom: [{ name: "hello", execute: () => "hi" }], files: { root: "docs" } },
      };`,
    );
    const config = await load();
    expect(config.credentials.get("mine")).toMatchObject({ kind: "custom", models: ["m"] });
    expect(config.tools.custom).toHaveLength(1);
    expect(config.tools.files).toEqual({ root: join(folder, "docs") });
  });

  it("reports the path of a bad value, and never repeats the value", async () => {
    write(
      "parley.config.mjs",
      `export default { models: { openai: { kind: "openai", apiKey: "sk-secret", modles: ["sk-secret"], models: [7] } } };`,
    );
    const message = await refusal();
    expect(message).toContain('models.openai.modles: is not a setting; did you mean "models"?');
    expect(message).toContain("models.openai.models[0]: expected a text or an object");
    expect(message).not.toContain("sk-secret");
  });

  it("reports values that were meant to come from the environment", async () => {
    write(
      "parley.config.mjs",
      `export default { store: { url: undefined }, models: { work: { kind: "anthropic", apiKey: undefined } } };`,
    );
    const message = await refusal({ ANTHROPIC_API_KEY: "sk-other" });
    expect(message).toContain("store.url: is undefined");
    expect(message).toContain("models.work.apiKey: is undefined");
  });

  it("that throws is named with its line", async () => {
    write("parley.config.mjs", "\n\nnotDefined();\nexport default {};");
    expect(await refusal()).toMatch(/cannot be loaded: notDefined is not defined \(line 3\)/);
  });

  it("without a default export reports what to export", async () => {
    write("parley.config.mjs", "export const config = {};");
    expect(await refusal()).toContain("exports nothing");
  });
});

describe("a JSON file", () => {
  it("reports the line of a bad value", async () => {
    write("parley.config.json", '{\n  "listen": {\n    "port": "4141"\n  },\n  "lisen": {}\n}');
    const message = await refusal();
    expect(message).toContain("parley.config.json:3: listen.port: expected a number");
    expect(message).toContain('parley.config.json:5: lisen: is not a setting; did you mean "listen"?');
  });

  it("reports the line and column of a syntax error, without the text at that place", async () => {
    write("parley.config.json", '{\n  "models": {\n    "a": sk-secret\n  }\n}');
    const message = await refusal();
    expect(message).toMatch(/parley\.config\.json:3:10 is not valid JSON/);
    expect(message).not.toContain("sk-secret");
  });

  it("may name the variable that holds a key", async () => {
    json({ models: { work: { kind: "openai", apiKey: { env: "WORK_KEY" }, models: ["gpt-5.1"] } } });
    expect((await load({ WORK_KEY: "sk-work" })).credentials.get("work")).toMatchObject({
      apiKey: "sk-work",
    });
    expect(await refusal()).toContain(
      "parley.config.json:5: models.work.apiKey: the environment variable WORK_KEY is not set",
    );
  });

  it("that leaves the key out gets the usual variable's", async () => {
    json({ models: { openai: { kind: "openai" } } });
    expect((await load({ OPENAI_API_KEY: "sk-one" })).credentials.get("openai")).toMatchObject({
      apiKey: "sk-one",
    });
    expect(await refusal()).toContain("models.openai: has no apiKey; set OPENAI_API_KEY");
  });

  it("reports which kinds of credential there are", async () => {
    json({ models: { x: { kind: "openia" } } });
    expect(await refusal()).toContain(
      'models.x.kind: expected "openai", "anthropic", "compatible", "demo", "custom"',
    );
  });

  it("may not have both a folder and a server", async () => {
    json({ store: { folder: "a", url: "postgres://b/c" } });
    expect(await refusal()).toContain("store: has both `folder`");
  });
});

describe("a number of schemas", () => {
  const url = "postgres://b/c";
  it.each([
    ["store: has `schemas`", { schemas: 2, folder: "a" }],
    ["store: has `schemas`", { schemas: 2, url, engine: "pglite" }],
    ["store: has `schemas`", { schemas: 2, shards: [{ name: "a", url }] }],
    ["store.schemas: needs `url`", { schemas: 2 }],
    ["store.schemas: ", { url, schemas: 0 }],
    ["4096", { url, schemas: 4_097 }],
    ["store: has a `schema` whose name is too long", { url, schemas: 11, schema: "s".repeat(57) }],
  ])("is refused with %s", async (message, store) => {
    json({ store });
    expect(await refusal()).toContain(message);
  });
});

describe("a file that cannot be used", () => {
  it("is named when it is not there", async () => {
    expect(await refusal({}, { config: "nowhere.json" })).toContain(
      `${join(folder, "nowhere.json")} does not exist`,
    );
  });

  it("is not chosen among two", async () => {
    json({});
    write("parley.config.mjs", "export default {};");
    expect(await refusal()).toContain("two configuration files");
  });

  it("is refused when the port in the environment is none", async () => {
    expect(await refusal({ PARLEY_PORT: "http" })).toContain("PARLEY_PORT is not a port");
  });
});

describe("the kinds of configuration files", () => {
  it("are modules and JSON; another one is refused, not ignored", async () => {
    write("parley.config.yaml", "owner: me");
    expect(await refusal()).toMatch(/parley\.config\.yaml is of no known kind/);
  });

  it("may be JavaScript without a telling ending", async () => {
    write("package.json", '{ "type": "module" }');
    write("parley.config.js", 'export default { owner: "me" };');
    expect((await load()).owner).toBe("me");
  });

  it("leave the copies of editors and the schema alone", async () => {
    write("parley.config.mjs~", "");
    write("parley.config.schema.json", "{}");
    expect((await load()).file).toBeUndefined();
  });

  it("include TypeScript where Node loads it, and are refused with advice where it does not", async () => {
    write("parley.config.ts", 'const owner: string = "me";\nexport default { owner };\n');
    if (loadsTypeScript()) expect((await load()).owner).toBe("me");
    else expect(await refusal()).toMatch(/parley\.config\.ts is TypeScript, which Node [\d.]+ does not load/);
  });

  it("may name their schema, and a page", async () => {
    json({ $schema: "./parley.config.schema.json", page: "dist" });
    expect((await load()).page).toBe(join(folder, "dist"));
  });
});
