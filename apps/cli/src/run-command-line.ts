import { type Command, CommanderError } from "commander";
import { asCalled } from "./called-as.js";
import { exitCodes } from "./cli-error.js";
import type { Connected } from "./connect.js";
import { createIo, type Io } from "./io.js";
import { createProgram, type Runner } from "./program.js";
import { safeText } from "./terminal/safe-text.js";
import type { GlobalOptions, VerbContext } from "./verb-context.js";
import { packageVersion } from "./version.js";

/** Runs `parley` with the arguments of a process, and sets its exit code. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  let io = createIo();
  endQuietlyWithReader();
  process.once("uncaughtException", (error) => {
    void fail(error, io).finally(() => process.exit(exitCodes.failure));
  });
  const runner: Runner = async (globals, verb) => {
    io = createIo(globals);
    const interrupts = listenForInterrupts();
    const { context, close } = createContext(globals, io, interrupts);
    try {
      const code = await verb(context);
      if (typeof code === "number") process.exitCode = code;
    } finally {
      await close();
      interrupts.stop();
    }
  };
  const program = createProgram(packageVersion(), runner).exitOverride();
  // What was typed wrong is repeated, and it may have been pasted from anywhere.
  const output = {
    writeOut: (text: string) => io.write(text),
    writeErr: (text: string) => io.warn(safeText(text.replace(/\n$/, ""))),
  };
  program.configureOutput(output);
  for (const command of program.commands) {
    for (const each of [command, ...command.commands]) each.exitOverride().configureOutput(output);
  }
  try {
    await program.parseAsync(withDefaultVerb(argv, program));
  } catch (error) {
    await fail(error, io);
  }
  await endForSure();
}

/** Ends the process even if a verb left handles open, after its output is flushed. */
async function endForSure(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => {
      stream.write("", () => resolve());
    });
  }
  setTimeout(() => process.exit(), 500).unref();
}

/** Without a verb: chat, where somebody sits at the terminal, else help. */
function withDefaultVerb(argv: readonly string[], { options }: Command): string[] {
  const [node = "", script = "", ...words] = argv;
  const valued = ["--url", "--config", "--store", "--owner"];
  const hasVerb = words.some(
    (word, index) => !word.startsWith("-") && !valued.includes(words[index - 1] ?? ""),
  );
  const asks = words.some((word) => ["-h", "--help", "-V", "--version"].includes(word));
  // Help would hide that an option is none.
  const known = options.flatMap(({ short, long }) => [short, long]);
  const unknown = words.some((word) => word.startsWith("-") && !known.includes(word.replace(/=.*$/s, "")));
  if (hasVerb || asks || unknown) return [...argv];
  const interactive = process.stdin.isTTY === true && process.stdout.isTTY === true;
  return [node, script, ...words, interactive ? "chat" : "--help"];
}

async function fail(error: unknown, io: Io): Promise<void> {
  if (error instanceof CommanderError) {
    // Help and version end this way too. What was wrong with the call has been said.
    process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    return;
  }
  const { explain } = await import("./explain.js");
  const { message, advice, exitCode } = explain(error);
  const { errorStyle } = io;
  io.warn(`${errorStyle.red("parley:")} ${safeText(message)}`);
  if (advice !== undefined) io.warn(errorStyle.dim(safeText(asCalled(advice))));
  if (process.env.PARLEY_DEBUG === "1" && error instanceof Error) io.warn(error.stack ?? "");
  process.exitCode = exitCode;
}

interface Interrupts {
  readonly signal: AbortSignal;
  onInterrupt(handler: () => void): () => void;
  stop(): void;
}

/** The first interrupt is the verb's to handle, the second ends the process. */
function listenForInterrupts(): Interrupts {
  const abort = new AbortController();
  const handlers: (() => void)[] = [];
  let count = 0;
  const interrupt = () => {
    count += 1;
    if (count > 1) process.exit(exitCodes.interrupted);
    const handler = handlers.at(-1);
    if (handler === undefined) abort.abort();
    else handler();
  };
  const listen = () => process.on("SIGINT", interrupt);
  listen();
  return {
    signal: abort.signal,
    onInterrupt(handler) {
      handlers.push(handler);
      return () => {
        const at = handlers.lastIndexOf(handler);
        if (at >= 0) handlers.splice(at, 1);
      };
    },
    stop: () => {
      process.off("SIGINT", interrupt);
    },
  };
}

function createContext(
  globals: GlobalOptions,
  io: Io,
  interrupts: Interrupts,
): { context: VerbContext; close(): Promise<void> } {
  const opened: Promise<Connected>[] = [];
  const connect: VerbContext["connect"] = (options = {}) => {
    const [first] = opened;
    if (first !== undefined) return first;
    const connecting = import("./connect.js").then((module) =>
      module.connect({ ...globals, ...options, onWait: (what) => io.note(what) }),
    );
    opened.push(connecting);
    return connecting;
  };
  return {
    context: {
      io,
      globals,
      signal: interrupts.signal,
      onInterrupt: interrupts.onInterrupt,
      connect,
      client: async () => (await connect()).client,
      connectToServer: async () => (await import("./connect.js")).connectToServer(globals),
    },
    async close() {
      for (const connecting of opened) {
        const connected = await connecting.catch(() => undefined);
        await connected?.close();
      }
    },
  };
}

/** A reader that has had enough, such as `head`, is no failure; a disk that is full is one. */
function endQuietlyWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.ok);
    const why = error.code === "ENOSPC" ? "the disk is full" : (error.code ?? "it failed");
    process.stderr.write(`parley: The output cannot be written: ${why}.\n`);
    process.exit(exitCodes.failure);
  });
}
