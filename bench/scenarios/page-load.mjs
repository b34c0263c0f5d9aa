// A page in a real browser with an empty cache: until one can type, and from Enter until an answer is drawn.
import { besidePeer, peerName, textOf, within, withPages } from "../page-load/pages.mjs";
import { median } from "../summarise.mjs";

const limits = { usable: 150_000, answer: 350_000 };
/** Time between the field and Enter, for a user who types. */
const pauseMs = 1_500;

/**
 * Contestants, one per line of the table. `words` (all words of the answer are readable) and `answered` (they are drawn as
 * markdown, too) are evaluated in the page whenever it has changed.
 */
const contestants = [
  { name: "a field and a <pre>", kind: "limit", words: hasAll("#answers"), answered: hasAll("#answers") },
  {
    name: "the page",
    kind: "ours",
    words: hasAll("main[aria-busy], [role=log]"),
    answered: `document.querySelector("[role=log] strong") && ${hasAll("[role=log]")}`,
  },
  {
    name: peerName,
    kind: "peer",
    note: "no list, no history, no store",
    words: hasAll("#answers"),
    answered: `document.querySelector("#answers [data-streamdown=strong], #answers strong") && ${hasAll("#answers")}`,
  },
];

function hasAll(selector) {
  return `${textOf(selector)}.includes("That is all.")`;
}

const slow = { latency: 150, downloadThroughput: 200_000, uploadThroughput: 94_000 };
const ways = [
  { name: "as fast as this machine is, Enter as soon as there is a field" },
  { name: "as fast as this machine is, Enter after 1.5 s", pauseMs },
  { name: "1.6 Mbit/s, 150 ms there and back, Enter as soon as there is a field", emulated: slow },
  { name: "1.6 Mbit/s, 150 ms there and back, Enter after 1.5 s", emulated: slow, pauseMs },
];

/** Returns the script that records when the field appeared, when Enter was pressed and when the answer was drawn. */
const probe = ({ words, answered }) => `(() => {
  const seen = { waiting: {} };
  const mark = (name) => { seen[name] ??= performance.now(); seen.waiting[name]?.(); };
  window.__when = (name) => seen[name] ? seen[name] : new Promise((resolve) => {
    seen.waiting[name] = () => resolve(seen[name]);
  });
  addEventListener("keydown", () => mark("asked"), true);
  new MutationObserver(() => {
    if (document.querySelector("textarea")) mark("usable");
    if (!seen.asked) return;
    if (${words}) mark("words");
    if (${answered}) mark("answer");
  }).observe(document, { childList: true, subtree: true, characterData: true });
})()`;

async function load(browser, contestant, way) {
  const page = await browser.open(probe(contestant), way.emulated);
  try {
    await page.goto(contestant.url);
    const usableMs = await within(page.evaluate(`__when("usable")`), "there was no field to type into");
    await page.evaluate(`document.querySelector("textarea").focus()`);
    await page.type("A short answer, please", way.pauseMs);
    const askedMs = await page.evaluate(`__when("asked")`);
    const answerMs = await within(page.evaluate(`__when("answer")`), "no answer was drawn");
    const wordsMs = await page.evaluate(`__when("words")`);
    // What was asked for before has to be there to be counted.
    await page.evaluate(`new Promise((resolve) => requestIdleCallback(resolve))`);
    return {
      usableMs,
      wordsMs: wordsMs - askedMs,
      answerMs: answerMs - askedMs,
      // Without the moment in which the browser was asked to type.
      bothMs: usableMs + answerMs - askedMs,
      usableBytes: page.bytesWithin(usableMs),
      answerBytes: page.bytesWithin(answerMs),
    };
  } finally {
    await page.close();
  }
}

const kilobytes = (bytes) => `${(bytes / 1_000).toFixed(1)} KB`;
const milliseconds = (ms) => `${Math.round(ms)} ms`;

function tableOf(way, measured, rounds) {
  const samplesOf = (wanted) => measured.find(({ kind }) => kind === wanted)?.samples;
  const ratioTo = (kind, key, samples) =>
    median(samples.map((sample, round) => sample[key] / samplesOf(kind)[round][key]));
  const rows = measured.map(({ name, note, kind, samples }) => {
    const figure = (key) => median(samples.map((sample) => sample[key]));
    const time = (key) => [
      milliseconds(figure(key)),
      `${ratioTo("limit", key, samples).toFixed(2)}x`,
      samplesOf("peer") === undefined ? "-" : `${ratioTo("peer", key, samples).toFixed(2)}x`,
    ];
    return [
      note ? `${name}, ${note}` : name,
      kind,
      kilobytes(figure("usableBytes")),
      kilobytes(figure("answerBytes")),
      ...["usableMs", "wordsMs", "answerMs", "bothMs"].flatMap(time),
    ];
  });
  const ratios = ["limit", "peer"];
  const columns = ["to usable", "Enter to words", "Enter to answer", "usable and answer"];
  const ours = samplesOf("ours");
  const beside = [
    ["wordsMs", "from Enter to the words of the answer"],
    ["answerMs", "from Enter to the answer as it is drawn"],
    ["bothMs", "to usable, and from Enter to the answer, together"],
  ];
  return {
    title: `${way.name} (median of ${rounds})`,
    columns: [
      "",
      "kind",
      "until usable",
      "until an answer",
      ...columns.flatMap((column) => [column, ...ratios]),
    ],
    rows,
    statements:
      samplesOf("peer") === undefined
        ? []
        : beside.map(([key, what]) => besidePeer(what, ratioTo("peer", key, ours))),
  };
}

function budgetLines({ samples }) {
  const most = (key) => Math.max(...samples.map((sample) => sample[key]));
  const line = (bytes, limit, what) =>
    `${bytes <= limit ? "PASS" : "MISS"}  ${what} takes ${kilobytes(bytes)} as sent (at most ${kilobytes(limit)})`;
  return [
    line(most("usableBytes"), limits.usable, "what is there when one can type"),
    line(most("answerBytes"), limits.answer, "everything until the first answer is drawn"),
  ];
}

export const scenario = {
  name: "page-load",
  title: "a page in Chromium, from an empty cache to the first answer",
  run: ({ quick, log }) =>
    withPages({ log }, async ({ browser, urls, skipped }) => {
      const rounds = quick ? 3 : 5;
      const runners = contestants
        .map((each) => ({ ...each, url: urls[each.kind] }))
        .filter(({ url }) => url !== undefined);
      const tables = [];
      for (const way of ways) {
        const measured = runners.map((each) => ({ ...each, samples: [] }));
        // The first load of each warms up its server and the browser's own caches of code.
        for (const each of measured) await load(browser, each, way);
        for (let round = 0; round < rounds; round++) {
          log(`  ${way.name}: ${round + 1} of ${rounds}`);
          const order = measured.map((_, index) => measured[(index + round) % measured.length]);
          for (const each of order) each.samples.push(await load(browser, each, way));
        }
        const table = tableOf(way, measured, rounds);
        // Where a network is slow, what is there when one can type is what was needed for that.
        const budget = way === ways[2] ? budgetLines(measured.find(({ kind }) => kind === "ours")) : [];
        const first = tables.length === 0 ? skipped : [];
        tables.push({ ...table, statements: [...first, ...table.statements, ...budget] });
      }
      return tables;
    }),
};
