#!/usr/bin/env node
import { runCommandLine } from "./run-command-line.js";

await runCommandLine(process.argv);
