// One contestant in its own process: loads it, warms it up, then measures one round per message.
const [scenarioName, caseName, contestantName, url, unitsText] = process.argv.slice(2);
const units = Number(unitsText);
const { scenario } = await import(`./scenarios/${scenarioName}.mjs`);
const benchCase = scenario.cases.find((each) => each.name === caseName);
const contestant = scenario.contestants.find((each) => each.name === contestantName);

process.on("disconnect", () => process.exit());
const opened = await open();
if (opened !== undefined) {
  process.on("message", async () => process.send(await attempt(round)));
  process.send({ ready: true });
}

async function open() {
  let lib;
  try {
    lib = await contestant.load?.();
  } catch (error) {
    process.send({ skipped: `cannot be loaded: ${String(error.message).split("\n")[0]}` });
    return undefined;
  }
  const ready = await attempt(async () => {
    const run = await contestant.open({ lib, url, options: benchCase.options ?? {} });
    for (let i = 0; i < (benchCase.warmUpRounds ?? 3); i++) scenario.check?.(await run(units), units);
    return { run };
  });
  if (ready.failed === undefined) return ready;
  process.send(ready);
  return undefined;
}

async function round() {
  // The young generation only: a full collection, at a moment when no work is in progress, also drops the
  // code that was compiled for the work, and a short round would then measure the compiler.
  globalThis.gc?.({ type: "minor" });
  const before = process.cpuUsage();
  const result = await opened.run(units);
  const { user, system } = process.cpuUsage(before);
  scenario.check?.(result, units);
  return { cpuUsPerUnit: (user + system) / units };
}

async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    return { failed: error?.stack ?? String(error) };
  }
}
