import { homedir } from "node:os";
import type { ReasoningEffort } from "@parley/wire";
import { CliError } from "../cli-error.js";
import { suggest } from "../config/suggest.js";
import { effortNote } from "../effort-note.js";
import { describeFile } from "../files/describe-file.js";
import { resolveAmong, resolveConversation, shortIds } from "../resolve-id.js";
import { ago, counted, tokens } from "../terminal/figures.js";
import { safeLine } from "../terminal/safe-text.js";
import type { Style } from "../terminal/style.js";
import { table } from "../terminal/table.js";
import type { VerbContext } from "../verb-context.js";
import type { ChatController } from "./chat-controller.js";

/** The environment of a chat command. */
export interface CommandContext {
  readonly controller: ChatController;
  readonly style: Style;
  /** Lines for the scrollback. */
  print(lines: readonly string[]): void;
  /** Another verb's work, with its output shown here. */
  verb(): VerbContext;
  /** Asks again about open requests. Returns false if there are none. */
  askAgain(): boolean;
  quit(): void;
}

interface ChatCommand {
  readonly name: string;
  readonly takes?: string;
  readonly about: string;
  run(context: CommandContext, rest: string): void | Promise<void>;
}

const efforts: readonly ReasoningEffort[] = ["low", "medium", "high", "xhigh", "max"];

/** Everything that begins with a slash. */
export const chatCommands: readonly ChatCommand[] = [
  { name: "help", about: "list the commands", run: help },
  {
    name: "model",
    takes: "[name]",
    about: "choose the model of the next turns; without a name, list them",
    run: model,
  },
  { name: "effort", takes: "[level]", about: `how much to reason: ${efforts.join(", ")}`, run: effort },
  { name: "new", about: "begin a new conversation", run: ({ controller }) => controller.enter(undefined) },
  { name: "ls", takes: "[words]", about: "list conversations", run: list },
  {
    name: "open",
    takes: "<id>",
    about: "go to a conversation",
    run: async ({ controller }, rest) =>
      controller.enter(await resolveConversation(controller.client, needed(rest, "Which conversation?"))),
  },
  {
    name: "steer",
    takes: "<text>",
    about: "send a message to the running turn, at its next step (also !text, or Alt-Enter)",
    run: async ({ controller }, rest) => void (await controller.say(needed(rest, "Which message?"), "steer")),
  },
  {
    name: "attach",
    takes: "[file | clear]",
    about: "attach a file to the next message; without a name, list what is attached",
    run: attach,
  },
  {
    name: "queue",
    takes: "[rm <id> | resume]",
    about: "list the queue; remove a message; resume after a stop",
    run: queue,
  },
  { name: "pending", about: "ask again about open requests of this conversation (also Tab)", run: pending },
  { name: "stop", about: "stop the running turn (also Ctrl-C)", run: stop },
  { name: "fork", takes: "[seq]", about: "go on in a copy, from here or from an earlier entry", run: fork },
  {
    name: "compact",
    takes: "[keep]",
    about: "let the model see a summary in place of older messages",
    run: compact,
  },
  { name: "undo", about: "take the newest summary back", run: undo },
  {
    name: "context",
    about: "what the model was shown in the newest turn",
    run: async (context) =>
      (await import("../verbs/reading/context.js")).context(await known(context), {}, context.verb()),
  },
  {
    name: "metrics",
    about: "time, tokens and cache of the turns",
    run: async (context) =>
      (await import("../verbs/reading/metrics.js")).metrics(
        await known(context),
        { limit: 10, chart: true },
        context.verb(),
      ),
  },
  {
    name: "export",
    takes: "<file>",
    about: "write the conversation to a file: .jsonl or .md",
    run: exportTo,
  },
  {
    name: "title",
    takes: "<words>",
    about: "give the conversation a title",
    run: async (context, rest) =>
      void (await (
        await import("../verbs/changing/conversation.js")
      ).rename(await known(context), [needed(rest, "Which title?")], {}, context.verb())),
  },
  { name: "keep", about: "keep a temporary conversation", run: keep },
  {
    name: "quit",
    about: "leave; the conversation stays, unless it is temporary (also Ctrl-D)",
    run: ({ quit }) => quit(),
  },
];

/** Runs a line that begins with a slash. */
export async function runCommand(line: string, context: CommandContext): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const found = chatCommands.filter((command) => command.name.startsWith(name));
  const exact = found.find((command) => command.name === name) ?? (found.length === 1 ? found[0] : undefined);
  if (exact !== undefined) return exact.run(context, rest.trim());
  const meant =
    found.length > 1
      ? found.map((command) => `/${command.name}`).join(", ")
      : suggest(
          name,
          chatCommands.map((command) => command.name),
        );
  throw new CliError(
    found.length > 1
      ? `/${name} could be ${meant}.`
      : `There is no /${name}.${meant === undefined ? "" : ` Did you mean /${meant}?`} /help lists what there is.`,
  );
}

function help({ print, style }: CommandContext): void {
  const heads = chatCommands.map(({ name, takes = "" }) => `/${name} ${takes}`.trimEnd());
  const width = Math.max(...heads.map((head) => head.length));
  print([
    "",
    ...chatCommands.map(
      ({ about }, index) => `  ${style.cyan((heads[index] ?? "").padEnd(width))}  ${about}`,
    ),
    "",
    style.dim("  While a turn runs: Enter queues what you typed, Alt-Enter or !text steers, Ctrl-C stops."),
    style.dim(
      "  When a call asks first: type a letter and Enter. Esc or l puts it off, Ctrl-C leaves it waiting.",
    ),
    style.dim("  Ctrl-J makes a new line. Up and down go through earlier lines. Tab completes commands."),
    "",
  ]);
}

async function model({ controller, print, verb }: CommandContext, name: string): Promise<void> {
  if (name === "") return (await import("../verbs/reading/models.js")).models({}, verb());
  const { models } = await controller.client.request("GET /models");
  const chosen = resolveAmong(models.find((each) => each.endsWith(`/${name}`)) ?? name, models, "model");
  await controller.chooseModel(chosen);
  print([`The next turns ask ${chosen}.`]);
}

async function effort({ controller, print }: CommandContext, level: string): Promise<void> {
  if (level === "") {
    print([`Effort: ${controller.effort ?? "the server's default"}.`]);
    return;
  }
  const chosen = efforts.find((each) => each === level);
  if (chosen === undefined)
    throw new CliError(`"${level}" is not an effort.`, { advice: `Use one of ${efforts.join(", ")}.` });
  const conversationId = (await controller.exists()) ? controller.id : undefined;
  const note = await effortNote(controller.client, {
    effort: chosen,
    model: controller.choices.model,
    conversationId,
  });
  if (note !== undefined) throw new CliError(note);
  await controller.chooseEffort(chosen);
  print([`Effort of the next turns: ${chosen}.`]);
}

async function list({ controller, print, style, verb }: CommandContext, words: string): Promise<void> {
  const { conversations } = await controller.client.request("GET /conversations", {
    query: { limit: 15, q: words === "" ? undefined : words },
  });
  if (conversations.length === 0) return print(["There is none."]);
  const short = shortIds(conversations.map(({ id }) => id));
  const now = Date.now();
  print(
    table(
      conversations,
      [
        { title: "id", text: ({ id }) => short.get(id) ?? id, paint: (text) => style.cyan(text) },
        { title: "title", text: ({ title }) => title || "(no title)", shrink: true },
        {
          title: "",
          text: ({ lastActivityAt }) => ago(lastActivityAt, now),
          paint: (text) => style.dim(text),
        },
      ],
      { columns: verb().io.columns },
    ),
  );
}

async function attach(context: CommandContext, rest: string): Promise<void> {
  const { controller, print, style } = context;
  if (rest === "clear") controller.attached = [];
  else if (rest !== "") {
    const { uploadFiles } = await import("../files/attached-files.js");
    const path = rest.replace(/^(["'])(.*)\1$/, "$2").replace(/^~(?=\/)/, homedir());
    const uploads = await uploadFiles(controller.client, [path], context.verb(), controller.attached);
    controller.attached = [...controller.attached, ...uploads];
  }
  if (controller.attached.length === 0) return print(["Nothing is attached."]);
  print([
    ...controller.attached.map((file) => `${style.cyan("+")} ${safeLine(describeFile(file))}`),
    style.dim("Goes with the next message. /attach clear takes everything off."),
  ]);
}

async function queue({ controller, print, style }: CommandContext, rest: string): Promise<void> {
  const { messages, paused } = controller.state.queue;
  const [word, id] = rest.split(/\s+/);
  if (word === "resume") {
    await controller.resumeQueue();
    return;
  }
  if (word === "rm") {
    await controller.removeQueued(
      resolveAmong(
        needed(id ?? "", "Which message?"),
        messages.map((message) => message.id),
        "queued message",
      ),
    );
    return;
  }
  if (messages.length === 0) return print(["Nothing waits."]);
  const short = shortIds(messages.map((message) => message.id));
  print(
    messages.map(
      (message) =>
        `${style.cyan(short.get(message.id) ?? "")} ${message.mode ?? "steer"}  ${safeLine(message.text)}`,
    ),
  );
  if (paused) print([style.yellow("Paused: /queue resume goes on.")]);
}

function pending({ askAgain, print }: CommandContext): void {
  if (!askAgain()) print(["Nothing waits for you in this conversation."]);
}

async function stop({ controller, print }: CommandContext): Promise<void> {
  const { abortedTurn } = await controller.stop();
  if (!abortedTurn) print(["No turn runs."]);
}

async function fork(context: CommandContext, rest: string): Promise<void> {
  const { controller, print } = context;
  const id = await known(context);
  if (rest !== "" && !/^\d+$/.test(rest))
    throw new CliError(`"${rest}" is not a number.`, {
      advice: "Give the number of the last entry to share, such as /fork 6, or none for the newest.",
    });
  const { lastSealedSeq, requestFork } = await import("../verbs/changing/fork.js");
  const atSeq = rest === "" ? await lastSealedSeq(controller.client, id) : Number(rest);
  const { conversation } = await requestFork(controller.client, id, { atSeq });
  controller.enterFork(conversation);
  print([`A fork at entry ${atSeq}: ${conversation.id}`]);
}

async function compact(context: CommandContext, rest: string): Promise<void> {
  const { controller, print } = context;
  const keepLastN = rest === "" ? undefined : Number(rest);
  if (keepLastN !== undefined && !Number.isInteger(keepLastN))
    throw new CliError(`"${rest}" is not a number.`, {
      advice: "Give the number of newest messages to keep as they are, such as /compact 4.",
    });
  const result = await controller.client.request("POST /conversations/:id/compact", {
    params: { id: await known(context) },
    body: { keepLastN },
  });
  print([
    `The model now sees a summary of ${counted(result.messagesSummarized, "message")}; ${counted(result.messagesKept, "message")} stay. /undo takes it back.`,
  ]);
}

async function undo(context: CommandContext): Promise<void> {
  await context.controller.client.request("POST /conversations/:id/compact/undo", {
    params: { id: await known(context) },
  });
  context.print(["The model sees again what the newest summary replaced."]);
}

async function keep(context: CommandContext): Promise<void> {
  await known(context);
  await context.controller.keep();
  context.print(["This conversation is kept."]);
}

async function exportTo(context: CommandContext, rest: string): Promise<void> {
  const output = needed(rest, "To which file?");
  const format = /\.(md|markdown)$/i.test(output) ? "markdown" : "jsonl";
  await (await import("../verbs/keeping/export.js")).exportConversations(
    [await known(context)],
    { format, output },
    context.verb(),
  );
}

/** The conversation's id, once there is one. */
async function known({ controller }: CommandContext): Promise<string> {
  const { id } = controller;
  if (!(await controller.exists()))
    throw new CliError("This conversation has no messages yet. Send one first.");
  return id;
}

function needed(rest: string, question: string): string {
  if (rest === "") throw new CliError(question);
  return rest;
}

/** Describes how full the context is. */
export function contextGauge(controller: ChatController): string {
  const { contextSize, contextWindow } = controller.state;
  if (contextSize === undefined) return "";
  return contextWindow === undefined
    ? tokens(contextSize)
    : `${tokens(contextSize)} of ${tokens(contextWindow)}`;
}
