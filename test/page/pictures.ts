import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, it } from "vitest";
import { answered, asked, exportOf } from "./prepared-conversation.js";
import { shrinkPng } from "./shrink-png.js";
import { describePage, type Site } from "./site.js";
import { desktop, phone, type Tab } from "./tab.js";
import { type Piece, Upstream } from "./upstream.js";

const images = fileURLToPath(new URL("../../docs/images/", import.meta.url));

const source = `export async function retry<T>(work: () => Promise<T>, attempts = 3): Promise<T> {
  let delayMs = 100;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attempts) throw error;
      await pause(delayMs);
      delayMs = Math.min(delayMs * 2, 0);
    }
  }
}
`;
const tests = `it("gives up after three attempts", async () => { ... });\n`;

const answer = `The third attempt does not wait because of the **cap**: \`Math.min(delayMs * 2, 0)\` is always \`0\`, so only the first pause is one.

| attempt | waits before it | should wait |
| --- | --- | --- |
| 2 | 100 ms | 100 ms |
| 3 | 0 ms | 200 ms |

The cap has to be an upper bound:

\`\`\`ts
const longestMs = 5_000;

await pause(delayMs);
delayMs = Math.min(delayMs * 2, longestMs); // 100, 200, 400, ...
\`\`\`

Nothing else in \`retry.ts\` needs to change.`;

const testAnswer = `It fails before the fix, because two pauses are expected and one is \`0\`:

\`\`\`ts
it("waits twice as long before each attempt", async () => {
  const paused: number[] = [];
  await retry(failsTwice, { pause: (ms) => paused.push(ms) });
  expect(paused).toEqual([100, 200]);
});
\`\`\``;

let upstream: Upstream | undefined;
/** Lets an answer finish. */
let letGo: () => void = () => undefined;
afterAll(() => upstream?.end());

/** Answers the first question at once, and holds the second one before its end. */
async function* answerOf(question: string, results: number): AsyncIterable<Piece> {
  const isFirst = question.includes("why");
  if (results === 0) {
    yield* slowly(
      isFirst
        ? "The cap looks suspicious. Before I say so, I read the file."
        : "First the tests that exist, and then what they leave out.",
      true,
    );
    yield { call: "list_files", input: { path: "src" } };
    yield { call: "read_file", input: { path: "src/retry.ts" } };
    if (isFirst) yield { call: "read_file", input: { path: "src/retry.test.ts" } };
    return;
  }
  yield* slowly(isFirst ? answer : testAnswer);
  if (isFirst) return;
  await new Promise<void>((resolve) => {
    letGo = resolve;
  });
}

async function* slowly(text: string, isThought = false): AsyncIterable<Piece> {
  for (const piece of text.match(/\s*\S+|\s+$/g) ?? []) {
    await pause(isThought ? 240 : 6);
    yield { text: piece, thought: isThought };
  }
}

async function config(): Promise<object> {
  upstream = await Upstream.start(answerOf);
  return {
    models: { local: upstream.credential },
    tools: { time: true, calculator: true, files: { root: "./project" } },
    instructions: "You are a careful programmer.",
  };
}

const minute = 60_000;
const others: readonly (readonly [title: string, minutesAgo: number])[] = [
  ["Names for the new metrics", 26],
  ["A query plan that ignores its index", 3 * 60],
  ["Release notes for 2.4", 7 * 60],
  ["Why the build is slow on Mondays", 26 * 60],
  ["Reading list: consensus", 3 * 24 * 60],
  ["Regular expressions for dates", 5 * 24 * 60],
];

async function fill(site: Site): Promise<void> {
  for (const [place, [title, ago]] of others.entries()) {
    const turn = [asked(title), answered({ type: "text", text: "Let me see." })];
    await site.import(exportOf({ id: `other-${place}`, title, endedAt: Date.now() - ago * minute }, [turn]));
  }
}

const question = "Please look at retry.ts: why does the third attempt never wait?";

async function take(tab: Tab, name: string): Promise<void> {
  await tab.page.mouse.move(0, 0);
  await tab.page.evaluate(() => document.fonts.ready);
  await tab.page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
  const picture = await tab.page.screenshot({ animations: "disabled", caret: "hide" });
  mkdirSync(images, { recursive: true });
  writeFileSync(join(images, name), shrinkPng(picture));
}

const sharp = { deviceScaleFactor: 2 };

describePage(
  "pictures of the page",
  config,
  (site) => {
    it("are taken", async () => {
      await fill(site());
      const light = await site().open("/", { ...desktop, ...sharp });
      const id = await light.begin(question);
      await light.ended(1);
      await site().ask("PUT", `/conversations/${id}/title`, { title: "Retries that do not wait" });
      const coloured = (tab: Tab) => tab.log.locator("figure span[style]").first().waitFor();

      const dark = await site().open(`/c/${id}`, { ...desktop, ...sharp, colorScheme: "dark" });
      await coloured(dark);
      await take(dark, "page-dark.png");

      const small = await site().open(`/c/${id}`, phone);
      await coloured(small);
      await take(small, "page-phone.png");

      const inspected = await site().open(`/c/${id}`, { ...desktop, ...sharp });
      await coloured(inspected);
      await inspected.button("Open the inspector").click();
      const inspector = inspected.page.getByRole("complementary", { name: "Inspector" });
      await inspector.getByRole("button", { name: /^Step 2/ }).click();
      await inspector.getByText("Sent, in order").waitFor();
      await inspector.getByRole("heading", { name: "Time" }).evaluate((heading) => {
        const panel = heading.closest('[role="tabpanel"]');
        const { top } = heading.getBoundingClientRect();
        panel?.scrollBy(0, top - panel.getBoundingClientRect().top - 16);
      });
      await take(inspected, "page-inspector.png");

      await light.send("Now write a test that fails without the fix");
      await light.log.getByText("toEqual([").waitFor();
      await light.send("Then open a pull request");
      await light.page.getByText("1 message waits").waitFor();
      await light.log.locator("figure").last().locator("span[style]").first().waitFor();
      await take(light, "page-light.png");
      letGo();
    }, 300_000);
  },
  async (workplace) => {
    const folder = join(workplace.folder, "project", "src");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "retry.ts"), source);
    writeFileSync(join(folder, "retry.test.ts"), tests);
  },
);
