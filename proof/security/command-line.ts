import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Workplace } from "../../test/cli/parley-process.js";
import type { EvilProvider } from "./evil-provider.js";
import type { Area } from "./ledger.js";
import type { Secrets } from "./secrets.js";

interface Run {
  readonly what: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Files of its working folder. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Runs `parley` with secrets in its environment and configuration: good ones, wrong ones, and ones in the wrong place. */
export async function huntOnCommandLine(evil: EvilProvider, area: Area, secrets: Secrets): Promise<void> {
  const providerKey = (name: string) => secrets.make("a provider's key", `the provider's key of ${name}`);
  const config = (name: string, more: object = {}) => ({
    models: {
      evil: {
        kind: "compatible",
        baseUrl: `${evil.url}/v1`,
        apiKey: providerKey(name),
        headers: { "x-planted": secrets.make("a provider's header", `the header of ${name}`) },
        models: ["m"],
      },
    },
    ...more,
  });
  const json = (value: object) => JSON.stringify(value, null, 2);
  const database = (name: string) =>
    `postgres://parley:${secrets.make("a password", `the password of ${name}`)}@127.0.0.1:1/parley`;
  const debug = { PARLEY_DEBUG: "1" };
  const runs: Run[] = [
    { what: "models", args: ["models"], files: { "parley.config.json": json(config("models")) } },
    { what: "doctor", args: ["doctor"], files: { "parley.config.json": json(config("doctor")) } },
    {
      what: "doctor --json, keys from the environment",
      args: ["doctor", "--json"],
      env: {
        OPENAI_API_KEY: providerKey("the environment"),
        OPENAI_BASE_URL: `${evil.url}/v1`,
        ANTHROPIC_API_KEY: providerKey("the environment too"),
      },
    },
    {
      what: "a key of the wrong type",
      args: ["ls"],
      env: debug,
      files: {
        "parley.config.json": json(config("a wrong type", { defaultModel: [providerKey("a list")] })),
      },
    },
    {
      what: "a key in the wrong place",
      args: ["ls"],
      env: debug,
      files: {
        "parley.config.json": json({
          apiKey: providerKey("the top"),
          models: { openai: providerKey("a text") },
        }),
      },
    },
    {
      what: "broken JSON beside a key",
      args: ["ls"],
      env: debug,
      files: {
        "parley.config.json": `{ "models": { "a": { "apiKey": "${providerKey("broken JSON")}" oops } } }`,
      },
    },
    {
      what: "a broken module beside a key",
      args: ["ls"],
      env: debug,
      files: {
        "parley.config.mjs": `export default { models: { a: { apiKey: "${providerKey("a module")}" }`,
      },
    },
    {
      what: "a provider that refuses",
      args: ["run", "fail-401 hello"],
      env: debug,
      files: { "parley.config.json": json(config("a refusal")) },
    },
    {
      what: "a database that is not there",
      args: ["ls"],
      env: { ...debug, DATABASE_URL: database("a database") },
    },
    {
      what: "doctor on a database that is not there",
      args: ["doctor", "--json"],
      files: { "parley.config.json": json({ store: { url: database("doctor") } }) },
    },
    {
      what: "a wrong key for a server",
      args: ["ls"],
      env: {
        ...debug,
        PARLEY_URL: evil.url,
        PARLEY_API_KEY: secrets.make("a Parley key", "the key for a server"),
      },
    },
    {
      what: "a server's address with a password",
      args: [
        "ls",
        "--url",
        `http://me:${secrets.make("a password", "the password of an address")}@127.0.0.1:1`,
      ],
      env: debug,
    },
  ];
  const waiting = [...runs];
  const work = async () => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) await check(run, area, secrets);
  };
  await Promise.all([work(), work(), checkKeys(area, secrets)]);
}

async function check({ what, args, env, files = {} }: Run, area: Area, secrets: Secrets): Promise<void> {
  const needsStore = args[0] === "run";
  const place = new Workplace({}, { withStore: needsStore });
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(place.folder, name), text);
    mkdirSync(join(place.folder, "home"), { recursive: true });
    const { stdout, stderr } = await place.parley(args, env === undefined ? {} : { env });
    area.searched(`what parley printed: ${what}`, secrets.findIn(`${stdout}\n${stderr}`));
    area.control(`parley said something: ${what}`, stdout.length + stderr.length > 0);
  } finally {
    await place.remove();
  }
}

/** Checks that a key is printed once, when it is created; a server that runs with it writes it nowhere. */
async function checkKeys(area: Area, secrets: Secrets): Promise<void> {
  const place = new Workplace();
  try {
    const made = await place.ok(["keys", "create", "--scopes", "admin"]);
    const secret = /pk_[A-Za-z0-9_-]{43}/.exec(made)?.[0] ?? "";
    area.control("a key is shown when it is made", secret !== "", made);
    if (secret !== "") secrets.add("a Parley key", secret, "the key that the command line made");
    const server = await place.serve(["--port", "0"], { PARLEY_API_KEY: secret });
    try {
      const env = { PARLEY_API_KEY: secret };
      for (const args of [["keys", "ls"], ["keys", "ls", "--json"], ["doctor"], ["run", "hello"]]) {
        const { stdout, stderr } = await place.parley(args, { env });
        area.searched(`what parley ${args.join(" ")} printed`, secrets.findIn(`${stdout}\n${stderr}`));
      }
      const answer = await fetch(`${server.url}/me?key=${secret}`);
      area.attempt("a key in the URL", answer.status === 401, `${answer.status}`);
      const login = await fetch(`${server.url}/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ key: secret }),
      });
      area.control("a login at the server", login.status === 200);
    } finally {
      await server.end();
    }
    const { stdout, stderr } = server.output();
    area.control("the server kept a log", stdout.includes('"route":"POST /login"'));
    area.searched("the log of the server", secrets.findIn(`${stdout}\n${stderr}`));
  } finally {
    await place.remove();
  }
}
