#!/usr/bin/env node
import { nodeProblem } from "./node-version.js";

const problem = nodeProblem(process.versions.node);
if (problem === undefined) {
  // Loaded behind the check: an older Node fails at these modules with words that say nothing about its age.
  const { runCommandLine } = await import("./run-command-line.js");
  await runCommandLine(process.argv);
} else {
  console.error(problem);
  process.exitCode = 1;
}
