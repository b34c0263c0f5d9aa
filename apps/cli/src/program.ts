import { Command } from "commander";
import type { Act } from "./program/arguments.js";
import { addChanging, addMoving } from "./program/changing.js";
import { addConnections } from "./program/connections.js";
import { addDeciding } from "./program/deciding.js";
import { addCompletion, addKeeping, addMcp, addServer } from "./program/keeping.js";
import { addReading } from "./program/reading.js";
import { addTalking } from "./program/talking.js";
import { addWebhooks } from "./program/webhooks.js";
import type { GlobalOptions, VerbContext, VerbResult } from "./verb-context.js";

/** Runs a verb with its context, and records its exit code. */
export type Runner = (globals: GlobalOptions, verb: (context: VerbContext) => VerbResult) => Promise<void>;

/** The whole command line. A verb's code is loaded when it is called. */
export function createProgram(version: string, run: Runner): Command {
  const program = new Command("parley")
    .description(
      "Conversations with language models that survive crashes: server, chat and tools in one command.",
    )
    .version(version, "-V, --version", "print the version")
    .option(
      "--url <url>",
      "address of the server (PARLEY_URL; default: the server that runs on the store, or the store itself)",
    )
    .option("--config <file>", "the configuration file (PARLEY_CONFIG)")
    .option("--store <place>", "the store: a folder, or postgres://... (PARLEY_STORE)")
    .option("--owner <name>", "owner of the conversations, if no key determines it (PARLEY_OWNER)")
    .option("-q, --quiet", "print only results and errors")
    .option("--no-color", "no colours (NO_COLOR)")
    .helpCommand("help [command]", "show help")
    .showSuggestionAfterError(true)
    .showHelpAfterError("(add --help for usage)")
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true })
    .addHelpText("after", rootHelp);
  const act: Act =
    (verb) =>
    async (...args) => {
      const command = args.at(-1) as Command;
      await run(command.optsWithGlobals<GlobalOptions>(), (context) => verb(context, ...(args as never)));
    };
  addServer(program, act);
  addMcp(program, act);
  addTalking(program, act);
  addDeciding(program, act);
  addReading(program, act);
  addChanging(program, act);
  addMoving(program, act);
  addKeeping(program, act);
  addConnections(program, act);
  addWebhooks(program, act);
  addCompletion(program, act);
  return program;
}

const rootHelp = `
Without a command, parley starts a chat if it runs on a terminal.

A conversation is named by its id, by the beginning of its id, or by its place in the list: @ is the newest, @2 the one
before. Verbs ask the server that runs on the store; when none runs they open the store themselves.

Exit codes: 0 done; 1 failed; 2 invalid usage; 3 the answer does not match --schema; 130 interrupted.
Environment: PARLEY_URL, PARLEY_API_KEY, PARLEY_CONFIG, PARLEY_STORE, PARLEY_OWNER, PARLEY_HOST, PARLEY_PORT, PARLEY_MODEL,
PARLEY_MODELS, PARLEY_LOG_LEVEL, PARLEY_SECRET, PARLEY_SECRET_PREVIOUS, OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY, NO_COLOR, FORCE_COLOR.

Examples:
  parley serve
  parley chat
  parley run "What time is it in Tokyo?"
  git log -5 | parley run Explain these commits`;
