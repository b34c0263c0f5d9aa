import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { describeOnPostgres, type SharedPostgres } from "../harness/postgres.js";
import { FreshProject, type RunningServer, tools } from "./fresh-project.js";
import { pages, type Sample, samplesOf } from "./samples.js";

const samples = pages.flatMap(samplesOf);
const programs = samples.filter(({ language }) => ["js", "ts", "tsx"].includes(language));
const isTyped = ({ language }: Sample) => language !== "js";
/** A page of a browser is compiled and not run; its parts run in the tests of the page. */
const isForBrowser = ({ language, code }: Sample) => language === "tsx" || /\blocation\b/.test(code);
const fileOf = ({ page, line, language }: Sample) =>
  `samples/${page.replace(/\W+/g, "-")}-${line}.${{ js: "mjs", ts: "mts", tsx: "tsx" }[language] ?? language}`;

const strict = [
  "--strict",
  "--skipLibCheck",
  "false",
  "--exactOptionalPropertyTypes",
  "--noUncheckedIndexedAccess",
];
/** For samples that import the AI SDK, whose own types do not compile under all of these. */
const lessStrict = ["--strict", "--skipLibCheck", "--noUncheckedIndexedAccess"];
const usesAiSdk = ({ code }: Sample) => /from "(ai|@ai-sdk\/\w+)"/.test(code);
const optionsWith = (checks: readonly string[]) => [
  ...[...checks, "--target", "es2022", "--module", "nodenext", "--jsx", "react-jsx", "--types", "node"],
  ...["--lib", "es2023,dom,dom.iterable,dom.asynciterable", "--rootDir", ".", "--outDir", "built"],
];
const compilerOptions = optionsWith(strict);

/** Lines of shell samples that cannot be run as they are, by their first words, with the reason. */
const notRun: readonly RegExp[] = [
  /^(npm|npx|node) |npm run/, // the clone's own commands, and what other tests here do
  /^parley serve/, // runs until it is ended; what it serves is tested by itself
  /parley keys rm/, // names a key of the reader's
  /^parley (approve|deny|answer) |; parley approve /, // names a request of the reader's; test/cli/deciding.test.ts has some
  /^parley connect (openai|anthropic|compatible)/, // to a provider of the reader's; test/cli/connect.test.ts has one
  /^parley tools (connect|disconnect) /, // names a server of the reader's; test/cli/tool-login.test.ts has one
  /^parley shard /, // needs several databases; test/cli/shard.test.ts has some
  /^ssh /, // another machine
  /^curl |^ {2}-d /, // to the reader's server; packages/server/src/routes/files.test.ts sends the same
  /^esbuild |^ {2}--/, // with a server of the reader's; bundles.test.ts has one
];

let project: FreshProject;
let server: RunningServer;
let openai: { readonly url: string; close(): void };

beforeAll(async () => {
  project = new FreshProject();
  const { typescript, nodeTypes, react, ws } = tools;
  const own = inject("packed").map(({ name }) => name);
  const faces = ["openai@6.49.0", "ai@6.0.326", "@ai-sdk/react@3.0.323"];
  await project.install(
    ...own,
    typescript,
    nodeTypes,
    ...react,
    ...ws,
    ...faces,
    "hono",
    "@hono/node-server",
  );
  for (const sample of programs) project.write(fileOf(sample), sample.code);
  await project.ok("git", ["init", "--quiet"]);
  for (const name of ["photo.png", "report.pdf", "figures.csv"]) project.write(name, "1,2\n");
  project.write("demo.json", JSON.stringify({ models: { demo: { kind: "demo", pace: "instant" } } }));
  const args = ["serve", "--port", "0", "--config", "demo.json", "--store", "served"];
  server = await project.serve("node_modules/.bin/parley", args);
  openai = await answeringServer();
});
afterAll(async () => {
  openai?.close();
  await project?.remove();
});

/** Answers every request as OpenAI's Responses API does: the least that a client accepts. */
async function answeringServer(): Promise<{ url: string; close(): void }> {
  const text = { type: "output_text", text: "1 + 2 = 3", annotations: [] };
  const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [text] };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const body = {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [message],
    usage,
  };
  const listening = createServer((_, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => listening.close() };
}

it("has samples on every page that should have some", () => {
  expect(programs.length).toBeGreaterThan(20);
  expect(programs.filter(({ page }) => page === "README.md").length).toBe(2);
});

describe("the samples in TypeScript", () => {
  it("compile", async () => {
    const typed = programs.filter(isTyped);
    const [ofSdk, others] = [typed.filter(usesAiSdk), typed.filter((sample) => !usesAiSdk(sample))];
    for (const [checks, some] of [
      [strict, others],
      [lessStrict, ofSdk],
    ] as const) {
      expect(some).not.toEqual([]);
      const args = [...optionsWith(checks), ...some.map(fileOf)];
      expect(await project.bin("tsc", args)).toEqual({ code: 0, output: "" });
    }
  });
});

/** Runs a sample to its end. One that serves is ended once it has printed its address. */
async function runSample(
  sample: Sample,
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; output: string }> {
  const file = fileOf(sample);
  const path = isTyped(sample) ? join("built", file.replace(/\.mts$/, ".mjs")) : file;
  const child = project.start(process.execPath, [path], env);
  child.stdin?.end();
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (sample.code.includes("SIGTERM") && /http:\/\/127\.0\.0\.1:\d+/.test(output)) child.kill("SIGTERM");
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}

describeOnPostgres(
  "the samples on",
  (postgres: SharedPostgres) => {
    const runnable = programs.filter((sample) => !isForBrowser(sample));

    it.each(runnable.map((sample) => [`${sample.page}:${sample.line}`, sample] as const))(
      "%s runs to its end",
      async (_, sample) => {
        const env = {
          PARLEY_URL: server.url,
          PORT: "0",
          OPENAI_API_KEY: "sk-test",
          OPENAI_BASE_URL: openai.url,
          DATABASE_URL: sample.code.includes("DATABASE_URL") ? (await postgres.createDatabase()).url : "",
        };
        const { code, output } = await runSample(sample, env);
        expect(code, output).toBe(0);
      },
    );
  },
  "preferred",
);

describe("the first sample of the README", () => {
  it("can be changed and run again", async () => {
    const [first] = programs;
    if (first === undefined) throw new Error("there is none");
    const changed = { ...first, line: 0, code: first.code.replace("Hello!", "What is 6 * 7?") };
    expect(changed.code).not.toBe(first.code);
    project.write(fileOf(changed), changed.code);
    expect(await project.bin("tsc", [...compilerOptions, fileOf(changed)])).toEqual({ code: 0, output: "" });
    for (const sample of [first, changed]) {
      const { code, output } = await runSample(sample, {});
      expect(code, output).toBe(0);
      expect(output).not.toBe("");
    }
    expect((await runSample(changed, {})).output).toContain("6 * 7");
  });
});

describe("the configuration of the guide", () => {
  it("is accepted", async () => {
    const sample = programs.find(({ page }) => page === "docs/guides/configuration.md");
    if (sample === undefined) throw new Error("there is none");
    const env = { OPENAI_API_KEY: "sk-test" };
    const { code, output } = await project.bin("parley", ["models", "--config", fileOf(sample)], env);
    expect(code, output).toBe(0);
    expect(output).toContain("openai/gpt-5.1");
  });
});

describe("the commands of", () => {
  const shell = samples.filter(({ language }) => language === "sh");

  it.each(shell.map((sample) => [`${sample.page}:${sample.line}`, sample] as const))(
    "%s are accepted",
    async (_, { code }) => {
      const lines = code
        .split("\n")
        .filter((line) => line.trim() !== "" && !notRun.some((no) => no.test(line)));
      const env = {
        PARLEY_CONFIG: join(project.folder, "demo.json"),
        PARLEY_STORE: join(project.folder, "of-the-shell"),
        PATH: `${join(project.folder, "node_modules", ".bin")}:${process.env.PATH}`,
      };
      // A conversation to work with.
      await project.ok("bash", ["-c", 'parley run -q "Hello"'], env);
      for (const line of lines) {
        const { code: exit, output } = await project.run("bash", ["-e", "-o", "pipefail", "-c", line], env);
        expect(exit, `${line}\n${output}`).toBe(0);
      }
    },
  );
});
