import { Argument, type Command, Option } from "commander";
import { CliError, exitCodes } from "../cli-error.js";
import { idHelp } from "../resolve-id.js";
import type { ConnectOptions } from "../verbs/changing/tool-login.js";
import type { ContextOptions } from "../verbs/reading/context.js";
import type { LsOptions } from "../verbs/reading/ls.js";
import type { MetricsOptions } from "../verbs/reading/metrics.js";
import type { SearchOptions } from "../verbs/reading/search.js";
import type { ShowOptions } from "../verbs/reading/show.js";
import type { TailOptions } from "../verbs/reading/tail.js";
import type { UsageOptions } from "../verbs/reading/usage.js";
import { type Act, conversation, count, examples, type JsonOption, json, limit, port } from "./arguments.js";

/** Verbs that read conversations and settings. */
export function addReading(program: Command, act: Act): void {
  program
    .command("ls")
    .description("list conversations, pinned ones first, newest activity first")
    .argument("[query]", "the beginning of an id, or a part of a title")
    .addOption(limit("maximum number of conversations", 20))
    .option("--all", "list all conversations")
    .addOption(
      new Option("--status <status>", "only those with this status").choices(["active", "idle", "closed"]),
    )
    .option("-m, --model <name>", "only those that would use this model")
    .addOption(json())
    .addHelpText(
      "after",
      examples(
        "parley ls",
        "parley ls tomatoes",
        "parley ls --model anthropic/claude-sonnet-4-5",
        "parley ls --status active --json",
      ),
    )
    .action(
      act(async (context, query: string | undefined, options: LsOptions) =>
        (await import("../verbs/reading/ls.js")).ls(query, options, context),
      ),
    );
  program
    .command("show")
    .description("show a conversation")
    .addArgument(conversation())
    .option("-n, --limit <count>", "only this number of newest entries", count)
    .option("--results <lines>", "maximum lines of each tool's result", count)
    .option("--no-reasoning", "without the model's reasoning")
    .addOption(json())
    .addHelpText(
      "after",
      examples("parley show @", "parley show 0192f -n 20", "parley show @ --json | jq '.chunks | length'"),
    )
    .action(
      act(async (context, word: string, options: ShowOptions) =>
        (await import("../verbs/reading/show.js")).show(word, options, context),
      ),
    );
  program
    .command("tail")
    .description("show the newest entries; with -f follow the conversation")
    .addArgument(conversation())
    .option("-f, --follow", "show new entries until interrupted")
    .addOption(limit("number of newest entries to start with", 10))
    .option("--no-reasoning", "without the model's reasoning")
    .option("--jsonl", "print chunks, then events, as one line of JSON each")
    .addHelpText(
      "after",
      examples("parley tail @", "parley tail -f 0192f", "parley tail -f @ --jsonl | jq .event.type"),
    )
    .action(
      act(async (context, word: string, options: TailOptions) =>
        (await import("../verbs/reading/tail.js")).tail(word, options, context),
      ),
    );
  program
    .command("search")
    .description("search the messages and titles of all conversations, or the messages of one")
    .argument("<words...>")
    .option("--in <conversation>", `only this conversation: ${idHelp}`)
    .addOption(limit("maximum number of results", 20))
    .addOption(json())
    .addHelpText(
      "after",
      examples(
        "parley search tomatoes balc",
        'parley search "balcony " -n 5',
        "parley search --in @ tomatoes",
      ),
    )
    .action(
      act(async (context, words: readonly string[], options: SearchOptions) =>
        (await import("../verbs/reading/search.js")).search(words, options, context),
      ),
    );
  program
    .command("metrics")
    .description(
      "show latency, tokens, cache and cost of a conversation's turns; with --cost, totals per day",
    )
    .addArgument(conversation().argOptional())
    .addOption(limit("number of newest turns; with --cost, maximum number of lines", 20))
    .option("--no-chart", "only the table")
    .option("--cost", "cost of calls to models, over all conversations")
    .addOption(
      new Option("--by <group>", "with --cost: group the totals by this (default: day)").choices([
        "day",
        "model",
        "conversation",
        "owner",
      ]),
    )
    .option(
      "--from <day>",
      "with --cost: the first day, as YYYY-MM-DD in UTC (default: 29 days before the last)",
    )
    .option("--to <day>", "with --cost: the last day (default: today)")
    .option("--owner <owner>", "with --cost: the cost of another owner; needs an admin key")
    .option("--all-owners", "with --cost: the cost of all owners; needs an admin key")
    .addOption(json())
    .addHelpText(
      "after",
      examples("parley metrics @", "parley metrics @ --json", "parley metrics --cost --by model"),
    )
    .action(
      act(async (context, word: string | undefined, options: MetricsOptions & UsageOptions) => {
        if (word !== undefined) {
          return (await import("../verbs/reading/metrics.js")).metrics(word, options, context);
        }
        if (options.cost) return (await import("../verbs/reading/usage.js")).usage(options, context);
        throw new CliError("No conversation is named.", {
          advice: "Name one (`@` is the newest), or add `--cost` for sums over all of them.",
          exitCode: exitCodes.usage,
        });
      }),
    );
  program
    .command("context")
    .description("show what the model was shown, call by call, and what changed in between")
    .addArgument(conversation())
    .option(
      "-t, --turn <turn>",
      "the turn's id or number; negative counts from the end (default: the newest)",
    )
    .option("--call <number>", "only this call of the turn", count)
    .addOption(json())
    .addHelpText(
      "after",
      examples("parley context @", "parley context @ --turn 1", "parley context @ --turn -2 --call 1 --json"),
    )
    .action(
      act(async (context, word: string, options: ContextOptions) =>
        (await import("../verbs/reading/context.js")).context(word, options, context),
      ),
    );
  program
    .command("models")
    .description("list the available models")
    .addOption(json())
    .addHelpText("after", examples("parley models"))
    .action(
      act(async (context, options: JsonOption) =>
        (await import("../verbs/reading/models.js")).models(options, context),
      ),
    );
  addTools(program, act);
}

function addTools(program: Command, act: Act): void {
  const tools = program.command("tools").description("list tools, and log in to servers of tools");
  const server = () => new Argument("<server>", "its name in `mcpServers`");
  const verbs = () => import("../verbs/changing/tool-login.js");
  tools
    .command("ls", { isDefault: true })
    .description("list the tools that every turn is offered, and which of them need approval")
    .addOption(json())
    .action(
      act(async (context, options: JsonOption) =>
        (await import("../verbs/reading/tools.js")).tools(options, context),
      ),
    );
  tools
    .command("connect")
    .description("log in to a server of tools, in a browser on this machine or another one")
    .addArgument(server())
    .addOption(
      new Option("--port <port>", "port on which to wait for the browser (default: a free one)").argParser(
        port,
      ),
    )
    .option("--no-browser", "print the address, and do not open a browser")
    .action(
      act(async (context, name: string, options: ConnectOptions) =>
        (await verbs()).connectServer(name, options, context),
      ),
    );
  tools
    .command("disconnect")
    .description("log out of a server of tools")
    .addArgument(server())
    .action(act(async (context, name: string) => (await verbs()).disconnectServer(name, context)));
  tools.addHelpText("after", examples("parley tools", "parley tools connect tracker"));
}
