// The error of token estimates, kind by kind, on texts that nothing was tuned on; the effect of calibration;
// and their speed.
import { readTexts } from "../token-fit/read-texts.mjs";

const largestError = 0.08;
const largestCalibratedError = 0.03;
const leastMegabytesPerSecond = 60;

export const scenario = {
  name: "token-estimate",
  title: "error and speed of token estimates, against o200k",
  async run({ quick, log }) {
    const { encode } = await import("gpt-tokenizer/encoding/o200k_base");
    const countExactly = (text) => encode(text).length;
    const texts = readTexts("held-out", countExactly);
    const estimators = await loadEstimators();
    log("  errors on held-out texts");
    const errors = errorTable(texts, estimators);
    log("  calibration");
    const calibration = await calibrationTable(texts);
    log("  speed");
    const speed = speedTable(
      texts,
      [...estimators, { name: "exact (gpt-tokenizer)", count: countExactly }],
      quick,
    );
    return [errors, calibration, speed];
  },
};

async function loadEstimators() {
  const { countTextTokens, estimateTranscriptTokens } = await import("@parley/core/messages");
  const { estimateTokenCount } = await import("tokenx");
  const messageTokens = estimateTranscriptTokens({ content: "" }) - 1;
  return [
    { name: "ours", count: countTextTokens },
    { name: "bytes/3.3", count: (text) => estimateTranscriptTokens({ content: text }) - messageTokens },
    { name: "chars/4", count: (text) => Math.ceil(text.length / 4) },
    { name: "tokenx", count: estimateTokenCount },
  ];
}

function errorTable(texts, estimators) {
  const kinds = [...new Set(texts.map(({ kind }) => kind))];
  const byKind = kinds.map((kind) => {
    const own = texts.filter((text) => text.kind === kind);
    const errors = estimators.map(({ count }) => own.map(({ text, exact }) => count(text) / exact - 1));
    return { kind, own, errors };
  });
  const rows = byKind.map(({ kind, own, errors }) => [
    kind,
    own.length,
    own.reduce((sum, { exact }) => sum + exact, 0),
    ...errors.map((list) => percent(meanSize(list))),
    percent(mean(errors[0])),
    percent(Math.max(...errors[0].map(Math.abs))),
  ]);
  const overall = estimators.map((_, i) => percent(mean(byKind.map(({ errors }) => meanSize(errors[i])))));
  rows.push(["mean", "", "", ...overall, "", ""]);
  const misses = byKind.filter(({ errors }) => meanSize(errors[0]) > largestError).map(({ kind }) => kind);
  return {
    title: "mean error by kind of text, uncalibrated",
    columns: ["kind", "texts", "tokens", ...estimators.map(({ name }) => name), "our bias", "our largest"],
    rows,
    statements: [verdict(misses, `ours is off by at most ${percent(largestError)} on average in each kind`)],
  };
}

/**
 * Sends whole requests of one mix to a model: the estimate learns from ten, and is then judged on the next.
 */
async function calibrationTable(texts) {
  const { createTokenCounter } = await import("@parley/core/messages");
  const models = {
    o200k: (await import("gpt-tokenizer/encoding/o200k_base")).encode,
    cl100k: (await import("gpt-tokenizer/encoding/cl100k_base")).encode,
  };
  const mixes = mixesOf(texts);
  const rows = [];
  const misses = [];
  for (const [mix, own] of mixes) {
    const row = [mix];
    const messages = own.flatMap(({ text }) => paragraphs(text));
    for (const [model, encode] of Object.entries(models)) {
      const { before, after } = learn(
        createTokenCounter(),
        model,
        requestsOf(messages),
        (text) => encode(text).length,
      );
      row.push(percent(before), percent(after));
      if (after > largestCalibratedError) misses.push(`${mix} (${model})`);
    }
    rows.push(row);
  }
  return {
    title: "mean error on whole requests of one mix, before and after ten observations",
    columns: ["mix", "o200k: before", "after", "cl100k: before", "after"],
    rows,
    statements: [
      verdict(misses, `calibrated estimates are off by at most ${percent(largestCalibratedError)}`),
    ],
  };
}

/** Returns the mixes: one per kind, one per European language, and two of several kinds. */
function mixesOf(texts) {
  const named = ({ kind, name }) => (kind === "european" ? name.slice(0, name.indexOf("-")) : kind);
  const of = (...kinds) => texts.filter(({ kind }) => kinds.includes(kind));
  const single = [...new Set(texts.map(named))].map((mix) => [
    mix,
    texts.filter((text) => named(text) === mix),
  ]);
  return [
    ["agent's work", of("code", "json", "markdown", "prose")],
    ["chat", of("prose", "emoji")],
    ...single,
  ];
}

const messageTokens = 4;
const observations = 10;
const judged = 20;

function learn(counter, model, requests, countExactly) {
  const before = [];
  const after = [];
  for (const [index, messages] of requests.entries()) {
    const tokens = (count) => messages.reduce((sum, text) => sum + count(text) + messageTokens, 0);
    const estimated = tokens((text) => counter.countText(text, model));
    const actual = tokens(countExactly);
    (index < observations ? before : after).push(estimated / actual - 1);
    counter.observe(model, { estimated, actual });
  }
  return { before: meanSize(before.slice(0, 1)), after: meanSize(after) };
}

/** Creates requests like those of conversations of 6 to 40 messages, the same in every run. */
function requestsOf(messages) {
  let state = 7;
  const next = (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: observations + judged }, () =>
    Array.from({ length: 6 + next(35) }, () => messages[next(messages.length)]),
  );
}

function paragraphs(text) {
  return text.split(/(?<=\n)\n+/).filter((paragraph) => paragraph.trim() !== "");
}

function speedTable(texts, estimators, quick) {
  const bytes = texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  const repeats = quick ? 10 : 40;
  const rounds = quick ? 3 : 9;
  const speeds = new Map(estimators.map(({ name }) => [name, []]));
  // The first two rounds warm up. Each round runs all estimators, so that a slow period of the machine
  // affects each.
  for (let round = -2; round < rounds; round++) {
    for (const { name, count } of estimators) {
      const seconds = cpuSeconds(() => {
        for (let i = 0; i < repeats; i++) for (const { text } of texts) count(text);
      });
      if (round >= 0) speeds.get(name).push((bytes * repeats) / seconds / 1e6);
    }
  }
  const rows = [...speeds].map(([name, list]) => {
    const sorted = list.toSorted((a, b) => a - b);
    return [
      name,
      megabytes(sorted[Math.floor(sorted.length / 2)]),
      `${megabytes(sorted[0])} .. ${megabytes(sorted.at(-1))}`,
    ];
  });
  const ours = speeds.get("ours").toSorted((a, b) => a - b)[Math.floor(rounds / 2)];
  const misses = ours < leastMegabytesPerSecond ? [`${megabytes(ours)} MB/s`] : [];
  return {
    title: `speed on all held-out texts (${(bytes / 1e3).toFixed(0)} KB of UTF-8, MB per second of CPU, median of ${rounds} rounds)`,
    columns: ["estimate", "MB/s", "min .. max"],
    rows,
    statements: [
      verdict(misses, `ours counts ${leastMegabytesPerSecond} MB/s or more`),
      "The exact counter remembers pieces that it has merged before, so repeating texts flatters it.",
    ],
  };
}

function cpuSeconds(work) {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}

function verdict(misses, claim) {
  return misses.length === 0 ? `PASS  ${claim}` : `MISS  ${claim}: not ${misses.join(", ")}`;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function meanSize(values) {
  return mean(values.map(Math.abs));
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`;
}

function megabytes(value) {
  return value < 10 ? value.toFixed(1) : value.toFixed(0);
}
