import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import * as everything from "../../packages/client/src/index.js";
import * as hooks from "../../packages/client/src/react/index.js";
import { afterwards, liveServer } from "./live-server.js";

const pages = {
  "README.md": new URL("../../packages/client/README.md", import.meta.url),
  "docs/guides/client.md": new URL("../../docs/guides/client.md", import.meta.url),
};

/** Returns the code of a page that is marked as runnable. */
async function snippets(page: URL): Promise<string[]> {
  const text = await readFile(page, "utf8");
  return [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
}

async function run(code: string, url: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-snippet-"));
  afterwards(() => rm(folder, { recursive: true, force: true }));
  const build = await rolldown({
    input: "snippet",
    cwd: new URL("../../packages/client/", import.meta.url).pathname,
    platform: "node",
    resolve: { conditionNames: ["parley-source", "import", "node", "default"] },
    onLog: () => {},
    plugins: [
      {
        name: "snippet",
        resolveId: (id) => (id === "snippet" ? join(import.meta.dirname, "snippet.mjs") : null),
        load: (id) => (id.endsWith("snippet.mjs") ? code : null),
      },
    ],
  });
  const file = join(folder, "snippet.mjs");
  await build.write({ file, format: "esm" });
  await build.close();
  const env = { ...process.env, PARLEY_URL: url };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env, timeout: 60_000 });
  return stdout;
}

describe("the snippets of", () => {
  it.each(Object.keys(pages) as (keyof typeof pages)[])(
    "%s run as they are",
    async (page) => {
      const live = await liveServer();
      const all = await snippets(pages[page]);
      expect(all.length).toBeGreaterThan(0);
      const printed: string[] = [];
      for (const code of all) printed.push(await run(code, live.url));
      if (page === "README.md") expect(printed[0]).toContain("idle 2");
      else {
        expect(printed[0]).toContain("You said: Hello\n 2 chunks\nBetter notes");
        expect(printed[1]).toContain("404 false");
        expect(printed[2]).toContain("assistant You said: What is 6 times 7?\nstop");
        expect(printed[3]).toBe("true\n");
      }
    },
    60_000,
  );
});

describe("the README", () => {
  it("names every export", async () => {
    const readme = await readFile(pages["README.md"], "utf8");
    const source = await readFile(new URL("../../packages/client/src/index.ts", import.meta.url), "utf8");
    const types = [...source.matchAll(/\b(?:type )?([A-Z]\w+)\b/g)].map(([, name = ""]) => name);
    const names = [...Object.keys(everything), ...Object.keys(hooks), ...types];
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
  });
});
