import { type Command, Option } from "commander";
import { approveModes } from "../input/approve-mode.js";
import { idHelp } from "../resolve-id.js";
import type { ChatOptions } from "../verbs/talking/chat.js";
import type { QueueAddOptions, QueueEditOptions } from "../verbs/talking/queue.js";
import type { RunOptions } from "../verbs/talking/run.js";
import type { SendOptions } from "../verbs/talking/send.js";
import {
  type Act,
  collect,
  conversation,
  effort,
  examples,
  type JsonOption,
  json,
  model,
} from "./arguments.js";

const approve = () =>
  new Option(
    "--approve <mode>",
    "calls that ask first: never allows none, ask asks at the terminal, all allows every one, which is dangerous " +
      "(default: ask at a terminal, else never)",
  ).choices([...approveModes]);

const file = () =>
  new Option(
    "-f, --file <path>",
    "add a file (may be repeated): a short text becomes part of the message, anything else is attached",
  )
    .argParser(collect)
    .default([]);

const queue = () => new Option("--queue", "if a turn runs, wait for the next one");

const steer = () => new Option("--steer", "if a turn runs, reach it at its next step");

const temporary = () =>
  new Option(
    "--temporary",
    "in a new conversation that no list shows and that is deleted at the end",
  ).conflicts(["continue", "in"]);

/** Verbs that talk to a model. */
export function addTalking(program: Command, act: Act): void {
  program
    .command("chat", { isDefault: false })
    .description("talk in this terminal")
    .argument("[conversation]", `where to go on: ${idHelp}`)
    .option("-c, --continue", "go on with the newest conversation")
    .addOption(model())
    .addOption(effort())
    .addOption(temporary())
    .option("--no-reasoning", "do not show the model's reasoning")
    .addHelpText(
      "after",
      examples(
        "parley chat",
        "parley chat -c",
        "parley chat --temporary",
        "parley chat 0192f -m anthropic/claude-sonnet-4-5",
        'printf "hello\\nwhat is 6*7?\\n" | parley chat',
      ),
    )
    .action(
      act(async (context, word: string | undefined, options: ChatOptions) =>
        (await import("../verbs/talking/chat.js")).chat(word, options, context),
      ),
    );
  program
    .command("run")
    .description("ask once; the answer goes to standard output, all else to standard error")
    .argument("[prompt...]", "the prompt; what is piped in and files are added behind it")
    .addOption(file())
    .option("-c, --continue", "in the newest conversation")
    .option("--in <conversation>", "in this conversation")
    .addOption(queue())
    .addOption(steer())
    .addOption(temporary())
    .addOption(model())
    .addOption(effort())
    .option("-s, --instructions <text>", "system instructions for this turn")
    .addOption(json().conflicts("jsonl"))
    .option("--jsonl", "the events of the turn, one a line")
    .option("--no-stream", "print the answer when it is whole")
    .option("--raw", "the answer as it is, also on a terminal")
    .addOption(approve())
    .option("--schema <file>", "answer with data that matches this JSON Schema; prints the value alone")
    .addHelpText(
      "after",
      examples(
        'parley run "What is (3 + 4) * 12?"',
        "git diff | parley run Review this change",
        'parley run -c "And in French?"',
        'parley run -c --queue "And when that is done?"',
        "parley run -f notes.md Summarise > summary.md",
        'parley run -f photo.png -f report.pdf "Does the picture fit the report?"',
        "parley run --json Hello | jq -r .text",
        'parley run --approve all "Ask me before you water the plants"',
        "parley run --schema city.json Which is the capital of Switzerland? | jq .people",
      ),
    )
    .action(
      act(async (context, words: readonly string[], options: RunOptions) =>
        (await import("../verbs/talking/run.js")).run(words, options, context),
      ),
    );
  program
    .command("send")
    .description("send a message and come back at once")
    .addArgument(conversation())
    .argument("[text...]", "the message; or pipe it in")
    .addOption(queue())
    .addOption(steer())
    .addOption(file())
    .option("--wait", "wait for the answer and print it")
    .addOption(approve())
    .option("--message-id <id>", "sending the same id again sends nothing twice")
    .addOption(model())
    .addOption(effort())
    .addOption(json())
    .addHelpText(
      "after",
      examples(
        "parley send @ Go on",
        'parley send 0192f --steer "Only the first three"',
        "parley send @ --wait What came of it?",
      ),
    )
    .action(
      act(async (context, word: string, words: readonly string[], options: SendOptions) =>
        (await import("../verbs/talking/send.js")).send(word, words, options, context),
      ),
    );
  addQueue(program, act);
  program
    .command("stop")
    .description("stop the running turn; what it has said is kept")
    .addArgument(conversation())
    .addOption(json())
    .addHelpText("after", examples("parley stop @"))
    .action(
      act(async (context, word: string, options: JsonOption) =>
        (await import("../verbs/changing/conversation.js")).stop(word, options, context),
      ),
    );
}

function addQueue(program: Command, act: Act): void {
  const queue = program
    .command("queue")
    .description("what waits in a conversation: show, add, change, remove, go on");
  const verbs = () => import("../verbs/talking/queue.js");
  queue
    .command("ls", { isDefault: true })
    .description("show what waits")
    .addArgument(conversation())
    .addOption(json())
    .action(
      act(async (context, word: string, options: JsonOption) =>
        (await verbs()).listQueue(word, options, context),
      ),
    );
  queue
    .command("add")
    .description("add a message for the next turn")
    .addArgument(conversation())
    .argument("<text...>")
    .option("--steer", "for the running turn instead")
    .addOption(model())
    .addOption(json())
    .action(
      act(async (context, word: string, words: readonly string[], options: QueueAddOptions) =>
        (await verbs()).addToQueue(word, words, options, context),
      ),
    );
  queue
    .command("edit")
    .description("change a message that waits")
    .addArgument(conversation())
    .argument("<message>", "its id, or the beginning of it")
    .option("--text <text>")
    .addOption(new Option("--mode <mode>").choices(["steer", "queue"]))
    .addOption(model())
    .option("--before <message>", "move it before this one")
    .option("--last", "move it to the end")
    .addOption(json())
    .action(
      act(async (context, word: string, message: string, options: QueueEditOptions) =>
        (await verbs()).editQueue(word, message, options, context),
      ),
    );
  queue
    .command("rm")
    .description("take a message out")
    .addArgument(conversation())
    .argument("<message>", "its id, or the beginning of it")
    .addOption(json())
    .action(
      act(async (context, word: string, message: string, options: JsonOption) =>
        (await verbs()).removeFromQueue(word, message, options, context),
      ),
    );
  queue
    .command("resume")
    .description("go on after a stop or an error")
    .addArgument(conversation())
    .addOption(json())
    .action(
      act(async (context, word: string, options: JsonOption) =>
        (await verbs()).resumeQueue(word, options, context),
      ),
    );
  queue.addHelpText(
    "after",
    examples(
      "parley queue @",
      'parley queue add @ "And then the second half"',
      "parley queue edit @ 8f3a --mode steer",
      "parley queue resume @",
    ),
  );
}
