// `npm test`: sets up, installs the test dependencies, runs Vitest, and ends with one plain line: N passed, N
// failed. Arguments are passed to Vitest: `npm test -- packages/http`.
import { join } from "node:path";
import { install, root } from "./install.mjs";
import { setup } from "./setup.mjs";
import { summaryLine } from "./summary.mjs";
import { Counts, runVitest } from "./vitest.mjs";

const counts = new Counts();

// Tests read the sources, so they run even if the build fails; that counts as one more failure.
await setup({ quiet: true }).catch(counts.failOnce);
try {
  await install(join(root, "test"), { quiet: true });
  await runVitest(process.argv.slice(2), counts);
} catch (error) {
  counts.failOnce(error);
}
console.log(`\n${summaryLine(counts)}`);
process.exitCode = counts.failed > 0 ? 1 : 0;
