import { type Command, Option } from "commander";
import { idHelp } from "../resolve-id.js";
import type { CompactOptions } from "../verbs/changing/compact.js";
import type { RmOptions } from "../verbs/changing/conversation.js";
import type { ForkOptions } from "../verbs/changing/fork.js";
import type { ExportOptions } from "../verbs/keeping/export.js";
import type { ImportOptions } from "../verbs/keeping/import.js";
import { type Act, conversation, effort, examples, json, model, whole } from "./arguments.js";

/** Verbs that change conversations. */
export function addChanging(program: Command, act: Act): void {
  const verbs = () => import("../verbs/changing/conversation.js");
  program
    .command("open")
    .description("ask every connected client to show a conversation")
    .addArgument(conversation())
    .addHelpText("after", examples("parley open @"))
    .action(
      act(async (context, word: string, options: object) => (await verbs()).open(word, options, context)),
    );
  program
    .command("close")
    .description("hide a conversation from lists, without deleting it")
    .addArgument(conversation())
    .addHelpText("after", examples("parley close @2"))
    .action(
      act(async (context, word: string, options: object) => (await verbs()).close(word, options, context)),
    );
  program
    .command("rename")
    .description("give a conversation a title")
    .addArgument(conversation())
    .argument("<title...>")
    .addHelpText("after", examples("parley rename @ Tomatoes on the balcony"))
    .action(
      act(async (context, word: string, words: readonly string[], options: object) =>
        (await verbs()).rename(word, words, options, context),
      ),
    );
  for (const [name, description, pinned] of [
    ["pin", "pin conversations: lists show them first", true],
    ["unpin", "remove the pins of conversations", false],
  ] as const)
    program
      .command(name)
      .description(description)
      .argument("<conversation...>", idHelp)
      .addHelpText("after", examples(`parley ${name} @`, `parley ${name} 0192f 0193a`))
      .action(act(async (context, words: readonly string[]) => (await verbs()).pin(words, pinned, context)));
  program
    .command("rm")
    .description("delete conversations permanently")
    .argument("<conversation...>", idHelp)
    .option("--cascade", "delete their forks too")
    .option("-y, --yes", "delete without confirmation")
    .addOption(json())
    .addHelpText("after", examples("parley rm 0192f", "parley rm @2 @3 --yes"))
    .action(
      act(async (context, words: readonly string[], options: RmOptions) =>
        (await verbs()).rm(words, options, context),
      ),
    );
  program
    .command("fork")
    .description("make a new conversation that shares the log up to an entry")
    .addArgument(conversation())
    .option(
      "--at <seq>",
      "the last entry to share: the end of a turn, or 0 (default: the end of the newest turn)",
      whole,
    )
    .option("--message <text>", "the first message in the fork")
    .addOption(model())
    .addOption(effort())
    .addOption(json())
    .addHelpText("after", examples("parley fork @", 'parley fork @ --at 6 --message "The other way round"'))
    .action(
      act(async (context, word: string, options: ForkOptions) =>
        (await import("../verbs/changing/fork.js")).fork(word, options, context),
      ),
    );
  program
    .command("compact")
    .description("replace older messages by a summary, for the model only")
    .addArgument(conversation())
    .option("--keep <count>", "number of newest messages to keep as they are (default: 10)", whole)
    .addOption(model())
    .option("--preview", "show what it would cover, and change nothing")
    .option("--undo", "undo the newest summary")
    .addOption(json())
    .addHelpText(
      "after",
      examples("parley compact @ --preview", "parley compact @ --keep 4", "parley compact @ --undo"),
    )
    .action(
      act(async (context, word: string, options: CompactOptions) =>
        (await import("../verbs/changing/compact.js")).compact(word, options, context),
      ),
    );
}

/** Verbs that export and import conversations. */
export function addMoving(program: Command, act: Act): void {
  program
    .command("export")
    .description("export conversations as text")
    .argument("[conversation...]", idHelp)
    .option("--all", "export all conversations")
    .addOption(
      new Option("--format <format>", "jsonl can be imported again, markdown is for reading")
        .choices(["jsonl", "markdown"])
        .default("jsonl"),
    )
    .option(
      "-o, --output <path>",
      "a file, or a folder with one file per conversation (default: standard output)",
    )
    .addHelpText(
      "after",
      examples(
        "parley export @ > talk.jsonl",
        "parley export @ --format markdown | less",
        "parley export --all -o backup/",
      ),
    )
    .action(
      act(async (context, words: readonly string[], options: ExportOptions) =>
        (await import("../verbs/keeping/export.js")).exportConversations(words, options, context),
      ),
    );
  program
    .command("import")
    .description("import exported conversations; refuses what cannot be stored exactly")
    .argument("[file...]", "JSONL files or folders of them; - or nothing is standard input")
    .option("--id <id>", "import under another id")
    .addOption(json())
    .addHelpText(
      "after",
      examples(
        "parley import talk.jsonl",
        "parley import backup/",
        "ssh host parley export --all | parley import",
      ),
    )
    .action(
      act(async (context, paths: readonly string[], options: ImportOptions) =>
        (await import("../verbs/keeping/import.js")).importConversations(paths, options, context),
      ),
    );
}
