// Measures the contestants of one case: each in its own process, the server in another, rounds interleaved.
import { fork } from "node:child_process";
import { once } from "node:events";
import { withVersion } from "./package-version.mjs";
import { median, ratios } from "./summarise.mjs";

const ROUND_LIMIT_MS = 120_000;

/** Returns the figures of each contestant in the order of the scenario, and the result of each target. */
export async function measureCase(scenario, benchCase, { quick, log }) {
  const rounds = quick ? 3 : (benchCase.rounds ?? 9);
  const units = quick ? benchCase.quickUnits : benchCase.units;
  const server = scenario.startServer ? await startServer(scenario, benchCase) : undefined;
  const runners = [];
  try {
    for (const contestant of scenario.contestants) {
      log(`  ${benchCase.name}: warming up ${contestant.name}`);
      runners.push(await startContestant(scenario, benchCase, contestant, { url: server?.url, units }));
    }
    for (let round = 0; round < rounds; round++) {
      log(`  ${benchCase.name}: round ${round + 1} of ${rounds}`);
      for (const runner of shuffled(runners)) if (runner.child !== undefined) await measureRound(runner);
    }
  } finally {
    await Promise.all([...runners, server].map((each) => each?.child && dismiss(each.child)));
  }
  const results = runners.map(({ child: _, ...result }) => ({ ...result, median: median(result.samples) }));
  return {
    name: benchCase.name,
    unit: scenario.unit,
    units,
    rounds,
    results,
    targets: judge(scenario, results),
  };
}

/** Returns the values in random order, so that no contestant always follows the same one. */
function shuffled(values) {
  const order = [...values];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

async function startServer(scenario, benchCase) {
  const child = fork(new URL("./server-process.mjs", import.meta.url), [scenario.name, benchCase.name]);
  const { url } = await answer(child);
  return { child, url };
}

async function startContestant(scenario, benchCase, contestant, { url, units }) {
  const { name, kind, note, against } = contestant;
  const result = {
    name: contestant.package === undefined ? name : withVersion(name, contestant.package),
    key: name,
    kind,
    note,
    against,
    samples: [],
  };
  const child = fork(
    new URL("./contestant-process.mjs", import.meta.url),
    [scenario.name, benchCase.name, name, url ?? "", String(units)],
    { execArgv: [...process.execArgv, "--expose-gc"] },
  );
  const ready = await answer(child).catch((error) => ({ failed: error.message }));
  if (ready.ready) return { ...result, child };
  child.kill();
  // A peer may be absent; our contestants and the limit may not.
  if (ready.skipped && kind === "peer") return { ...result, skipped: ready.skipped };
  return { ...result, failed: ready.failed ?? ready.skipped };
}

async function measureRound(runner) {
  const reply = answer(runner.child);
  runner.child.send("round");
  const { cpuUsPerUnit, failed } = await reply.catch((error) => ({ failed: error.message }));
  if (failed === undefined) {
    runner.samples.push(cpuUsPerUnit);
    return;
  }
  runner.failed = failed;
  runner.child.kill();
  runner.child = undefined;
}

/** Lets a child exit by itself, which also writes its profile under `--cpu-prof`. */
async function dismiss(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  if (child.connected) child.disconnect();
  await ended;
  clearTimeout(timer);
}

/** Returns the next message of a child; rejects if it exits or stays silent instead. */
function answer(child) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => settle(reject, new Error(`no answer in ${ROUND_LIMIT_MS / 1000} s`)),
      ROUND_LIMIT_MS,
    );
    const onMessage = (message) => settle(resolve, message);
    const onExit = (code, signal) => settle(reject, new Error(`its process ended (${signal ?? code})`));
    function settle(how, value) {
      clearTimeout(timer);
      child.off("message", onMessage).off("exit", onExit);
      how(value);
    }
    child.on("message", onMessage).on("exit", onExit);
  });
}

function judge(scenario, results) {
  const find = (name) => results.find((result) => result.key === name);
  return (scenario.targets ?? []).map((target) => {
    const ours = find(target.ours);
    const against = find(target.against);
    const measured =
      ours && against && ours.samples.length > 0 && ours.samples.length === against.samples.length;
    const ratio = measured ? median(ratios(ours, against)) : undefined;
    return { ...target, ratio, pass: ratio === undefined ? undefined : ratio <= target.atMost };
  });
}
