// A long answer that streams into a page in a real browser: frames, work of the main thread, and when it is all there.
import { besidePeer, peerName, textOf, within, withPages } from "../page-load/pages.mjs";
import { median } from "../summarise.mjs";

/** Words of the answer, the second half of them in one block of code, and how many come each second. */
const words = 3_000;
const perSecond = 500;

const contestants = [
  { name: "a field and a <pre>", kind: "limit", selector: "#answers" },
  { name: "the page", kind: "ours", selector: "[role=log]" },
  { name: peerName, kind: "peer", selector: "#answers" },
];

/** Runs in the page: frames from the first word of the answer to its last, and when those were there. */
const probe = (selector) => `(() => {
  let isDone;
  window.__done = new Promise((resolve) => { isDone = resolve; });
  let askedAt, firstAt, lastFrame;
  addEventListener("keydown", () => { askedAt ??= performance.now(); }, true);
  const frames = [];
  const look = () => {
    const now = performance.now();
    const text = ${textOf(selector)};
    if (firstAt === undefined && text.includes("Part 0")) firstAt = now;
    else if (firstAt !== undefined) frames.push(now - lastFrame);
    lastFrame = now;
    if (text.includes("That is all.")) isDone({ ms: now - firstAt, sinceEnterMs: now - askedAt, frames });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

async function stream(browser, { url, selector }) {
  const page = await browser.open(probe(selector));
  try {
    await page.goto(url);
    await within(
      page.evaluate(
        `new Promise((resolve) => { const look = () => document.querySelector("textarea") ? resolve() : requestAnimationFrame(look); look(); })`,
      ),
      "there was no field to type into",
    );
    await page.evaluate(`document.querySelector("textarea").focus()`);
    // Everything that the answer needs has come.
    await page.type("A long answer, please", 1_500);
    const before = await page.busySeconds();
    const { ms, sinceEnterMs, frames } = await within(
      page.evaluate("__done"),
      "the answer did not come to its end",
      120,
    );
    const busy = (await page.busySeconds()) - before;
    return {
      sinceEnterMs,
      frames: (frames.length / ms) * 1_000,
      longestMs: Math.max(...frames),
      busyPart: (busy * 1_000) / ms,
    };
  } finally {
    await page.close();
  }
}

export const scenario = {
  name: "page-stream",
  title: `an answer of ${words} deltas at ${perSecond} a second, streamed into a page in Chromium`,
  run: ({ quick, log }) =>
    withPages({ log, model: { words, perSecond } }, async ({ browser, urls, skipped }) => {
      const rounds = quick ? 1 : 3;
      const measured = contestants
        .map((each) => ({ ...each, url: urls[each.kind], samples: [] }))
        .filter(({ url }) => url !== undefined);
      for (let round = 0; round < rounds; round += 1) {
        log(`  ${round + 1} of ${rounds}`);
        for (const each of measured) each.samples.push(await stream(browser, each));
      }
      const figure = (kind, key) => {
        const samples = measured.find((each) => each.kind === kind)?.samples ?? [];
        return median(samples.map((sample) => sample[key]));
      };
      const rows = measured.map(({ name, kind }) => [
        name,
        kind,
        figure(kind, "frames").toFixed(0),
        `${figure(kind, "longestMs").toFixed(0)} ms`,
        `${(figure(kind, "busyPart") * 100).toFixed(0)} %`,
        `${figure(kind, "sinceEnterMs").toFixed(0)} ms`,
      ]);
      const beside = [
        ["busyPart", "work of the main thread"],
        ["longestMs", "the longest frame"],
        ["sinceEnterMs", "from Enter to the end of the answer", 1.05],
      ];
      const hasPeer = measured.some(({ kind }) => kind === "peer");
      return [
        {
          title: `from the first word to the last (median of ${rounds})`,
          columns: ["", "kind", "frames a second", "longest frame", "main thread", "Enter to end"],
          rows,
          statements: [
            ...skipped,
            ...(hasPeer
              ? beside.map(([key, what, most]) =>
                  besidePeer(what, figure("ours", key) / figure("peer", key), most),
                )
              : []),
          ],
        },
      ];
    }),
};
