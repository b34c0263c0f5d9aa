// Loaded before everything else in a process (`node --require`): a file controls the disk of the embedded database.
// `full`: writes fail with ENOSPC. `stuck`: a write never returns, and its thread spins. `free <MiB>`: this much space
// is left. Anything else, and no file: the disk is as it is.
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const threads = require("node:worker_threads");

const file = process.env.PARLEY_TEST_DISK;
const { readFileSync, writeSync, statfsSync } = fs;

function state() {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}

if (!threads.isMainThread) {
  fs.writeSync = (...args) => {
    while (state() === "stuck");
    if (state() !== "full") return writeSync(...args);
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", errno: -28 });
  };
} else {
  // Threads are started without the options of their process.
  threads.Worker = class extends threads.Worker {
    constructor(script, options) {
      super(script, { ...options, execArgv: ["--require", __filename] });
    }
  };
}
fs.statfsSync = (...args) => {
  const free = /^free (\d+)$/.exec(state())?.[1];
  return free === undefined
    ? statfsSync(...args)
    : { ...statfsSync(...args), bsize: 2 ** 20, bavail: Number(free) };
};
syncBuiltinESMExports();
