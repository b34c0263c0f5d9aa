// The memory of a page in a real browser: with a conversation of 10,000 messages open, and after many were opened.
import { besidePeer, peerName, textOf, within, withPages } from "../page-load/pages.mjs";
import { messageText } from "../page-load/servers.mjs";

const longCount = 10_000;
const shortCount = 100;
const opened = 20;
/** Time for which a conversation is still followed after it was left. */
const lingerMs = 6_000;

/** Contestants, with the scripts that show the conversation `id` with `count` messages, and leave it. */
const contestants = {
  ours: {
    name: "the page",
    note: "loads by pages, draws what is near the view",
    selector: "[role=log]",
    show: (id) => `history.pushState(null, "", "/c/${id}"); dispatchEvent(new PopStateEvent("popstate"))`,
    leave: `history.pushState(null, "", "/"); dispatchEvent(new PopStateEvent("popstate"))`,
  },
  peer: {
    name: peerName,
    note: "as its documentation has it",
    selector: "#answers",
    show: (id, count) => `location.hash = "#${id}/${count}"`,
    leave: `location.hash = ""`,
  },
};

/** Puts a conversation into our server. */
async function importConversation(url, id, count) {
  const at = Date.now() - 60_000;
  const lines = [
    {
      type: "conversation",
      format: "parley.conversation.1",
      conversation: { id, title: `Conversation ${id}`, status: "idle", createdAt: at, lastActivityAt: at },
      lastSeq: count,
    },
    ...Array.from({ length: count }, (_, n) => ({
      type: "chunk",
      seq: n + 1,
      role: n % 2 === 0 ? "user" : "assistant",
      chunk: { type: "text", text: messageText(n + 1) },
      messageId: `${id}-${n + 1}`,
      createdAt: at,
      partIndex: 0,
      partCount: 1,
    })),
  ];
  const response = await fetch(`${url}/import`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  });
  if (!response.ok) throw new Error(`POST /import: ${response.status} ${await response.text()}`);
}

const untilShown = (selector, text) => `new Promise((resolve) => {
  const look = () => ${textOf(selector)}.includes(${JSON.stringify(text)}) ? resolve(performance.now()) : setTimeout(look, 20);
  look();
})`;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function measure(browser, url, { selector, show, leave }, log) {
  const page = await browser.open("0");
  try {
    await page.goto(url);
    await page.evaluate(
      `new Promise((resolve) => { const look = () => document.querySelector("textarea") ? resolve() : setTimeout(look, 20); look(); })`,
    );
    await pause(1_500);
    const empty = await page.memory();
    const go = async (id, count) => {
      await page.evaluate(show(id, count));
      const shown = page.evaluate(untilShown(selector, `Message ${count} has`));
      await within(shown, `conversation ${id} was not shown`, 600);
    };
    const openMany = async () => {
      for (let n = 0; n < opened; n += 1) {
        await go(`short-${n}`, shortCount);
        await page.evaluate(leave);
      }
      await pause(lingerMs);
      return page.memory();
    };
    log("    20 conversations, twice");
    const first = await openMany();
    const second = await openMany();
    log("    10,000 messages");
    const from = await page.evaluate("performance.now()");
    await go("long", longCount);
    const openMs = (await page.evaluate("performance.now()")) - from;
    const long = await page.memory();
    return { empty, first, second, long, openMs };
  } finally {
    await page.close();
  }
}

const megabytes = (bytes) => `${(bytes / 1_000_000).toFixed(1)} MB`;

export const scenario = {
  name: "page-memory",
  title: "the heap of a page in Chromium: a conversation of 10,000 messages, and what many leave behind",
  run: ({ log }) =>
    withPages({ log }, async ({ browser, urls, skipped }) => {
      log("  importing the conversations");
      await importConversation(urls.ours, "long", longCount);
      for (let n = 0; n < opened; n += 1) await importConversation(urls.ours, `short-${n}`, shortCount);
      const figures = {};
      for (const kind of ["ours", "peer"]) {
        if (urls[kind] === undefined) continue;
        log(`  ${contestants[kind].name}`);
        figures[kind] = await measure(browser, urls[kind], contestants[kind], log);
      }
      const left = ({ first, second }) => second.heapBytes - first.heapBytes;
      const rows = Object.entries(figures).map(([kind, each]) => [
        `${contestants[kind].name}, ${contestants[kind].note}`,
        kind,
        megabytes(each.empty.heapBytes),
        megabytes(each.long.heapBytes),
        String(each.long.nodes),
        `${Math.round(each.openMs)} ms`,
        megabytes(each.first.heapBytes),
        `${(left(each) / 1_000).toFixed(0)} KB`,
      ]);
      const { ours, peer } = figures;
      const perConversation = left(ours) / opened / 1_000;
      const leak = `${perConversation <= 20 ? "PASS" : "MISS"}  each conversation that was opened and left keeps ${perConversation.toFixed(1)} KB (at most 20)`;
      return [
        {
          title: "heap after all garbage is collected",
          columns: [
            "",
            "kind",
            "empty",
            `${longCount} messages`,
            "nodes then",
            "until shown",
            `${opened} opened and left`,
            `${opened} more leave`,
          ],
          rows,
          statements: [
            ...skipped,
            ...(peer === undefined
              ? []
              : [
                  besidePeer(
                    `the heap with ${longCount} messages open`,
                    ours.long.heapBytes / peer.long.heapBytes,
                  ),
                  besidePeer(`until ${longCount} messages are open`, ours.openMs / peer.openMs),
                ]),
            leak,
          ],
        },
      ];
    }),
};
