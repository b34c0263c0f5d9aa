import { sayLoudly } from "../harness/say-loudly.js";

/** Runs once per run: several suites need a Citus cluster. */
export function setup(): void {
  if (process.env.PARLEY_TEST_CITUS_URL === undefined) {
    sayLoudly("no Citus cluster is given; suites that need one are SKIPPED", [
      "set PARLEY_TEST_CITUS_URL to the address of its coordinator",
    ]);
  }
}
