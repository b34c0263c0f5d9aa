// Builds the packages, installs the peers of bench/ when needed, and runs the benchmark with the given arguments.
import { join } from "node:path";
import { install, root, runNode } from "./install.mjs";
import { explain, setup } from "./setup.mjs";

async function bench(args) {
  const onlyPrints = args.some((arg) => ["--help", "-h", "--list"].includes(arg));
  if (!onlyPrints) {
    const quiet = args.includes("--json");
    await setup({ quiet });
    await install(join(root, "bench"), { quiet });
  }
  return runNode([join(root, "bench", "run.mjs"), ...args]);
}

process.exitCode = await bench(process.argv.slice(2)).catch(explain);
