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
    "calls that need approval: never denies them, ask asks at the terminal, all allows every one, which is dangerous " +
      "(default: ask at a terminal, otherwise never)",
  ).choices([...approveModes]);

const file = () =>
  new Option(
    "-f, --file <path>",
    "add a file (may be repeated): a short text becomes part of the message, anything else is attached",
  )
    .argParser(collect)
    .default([]);

const queue = () => new Option("--queue", "if a turn runs, wait for the next one");

const steer = () => new Option("--steer", "if a turn runs, add the message to it at its next step");

const temporary = () =>
  new Option(
    "--temporary",
    "use a new conversation that no list shows and that is deleted at the end",
  ).conflicts(["continue", "in"]);

/** Verbs that send messages to a model. */
export function addTalking(program: Command, act: Act): void {
  program
    .command("chat", { isDefault: false })
    .description("chat in this terminal")
    .argument("[conversation]", `conversation to continue: ${idHelp}`)
    .option("-c, --continue", "continue the newest conversation")
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
    .description("send one prompt; the answer goes to standard output, everything else to standard error")
    .argument("[prompt...]", "the prompt; standard input and files are added after it")
    .addOption(file())
    .option("-c, --continue", "continue the newest conversation")
    .option("--in <conversation>", "continue this conversation")
    .addOption(queue())
    .addOption(steer())
    .addOption(temporary())
    .addOption(model())
    .addOption(effort())
    .option("-s, --instructions <text>", "system instructions for this turn")
    .addOption(json().conflicts("jsonl"))
    .option("--jsonl", "print the events of the turn as one line of JSON each")
    .option("--no-stream", "print the answer when it is complete")
    .option("--raw", "print the answer as it is, also on a terminal")
    .addOption(approve())
    .option("--schema <file>", "ask for data that matches this JSON Schema, and print only the data")
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
    .description("send a message without waiting for the answer")
    .addArgument(conversation())
    .argument("[text...]", "the message (default: standard input)")
    .addOption(queue())
    .addOption(steer())
    .addOption(file())
    .option("--wait", "wait for the answer and print it")
    .addOption(approve())
    .option("--message-id <id>", "id of the message; the same id is never sent twice")
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
    .description("stop the running turn; its text so far is kept")
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
  const queue = program.command("queue").description("show and change the queue of a conversation");
  const verbs = () => import("../verbs/talking/queue.js");
  queue
    .command("ls", { isDefault: true })
    .description("list the queued messages")
    .addArgument(conversation())
    .addOption(json())
    .action(
      act(async (context, word: string, options: JsonOption) =>
        (await verbs()).listQueue(word, options, context),
      ),
    );
  queue
    .command("add")
    .description("queue a message for the next turn")
    .addArgument(conversation())
    .argument("<text...>")
    .option("--steer", "add it to the running turn instead")
    .addOption(model())
    .addOption(json())
    .action(
      act(async (context, word: string, words: readonly string[], options: QueueAddOptions) =>
        (await verbs()).addToQueue(word, words, options, context),
      ),
    );
  queue
    .command("edit")
    .description("change a queued message")
    .addArgument(conversation())
    .argument("<message>", "its id, or the beginning of it")
    .option("--text <text>")
    .addOption(new Option("--mode <mode>").choices(["steer", "queue"]))
    .addOption(model())
    .option("--before <message>", "move it before this message")
    .option("--last", "move it to the end")
    .addOption(json())
    .action(
      act(async (context, word: string, message: string, options: QueueEditOptions) =>
        (await verbs()).editQueue(word, message, options, context),
      ),
    );
  queue
    .command("rm")
    .description("remove a queued message")
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
    .description("resume the queue after a stop or an error")
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
