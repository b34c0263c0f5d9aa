// `npm start`: sets up, then serves the page, the API and the socket. Arguments are passed to `parley serve`.
import { runParley } from "./command-line.mjs";
import { explain, setup } from "./setup.mjs";

try {
  await setup();
  await runParley(["serve", ...process.argv.slice(2)]);
} catch (error) {
  process.exitCode = explain(error);
}
