// `npm run parley -- <verb>`: sets up, then calls the command line.
import { runParley } from "./command-line.mjs";
import { explain, setup } from "./setup.mjs";

try {
  await setup({ quiet: true });
  await runParley(process.argv.slice(2));
} catch (error) {
  process.exitCode = explain(error);
}
