import { randomUUID } from "node:crypto";
import { omitUndefined } from "@parley/fold";
import { calledAs } from "../../called-as.js";
import { CliError, exitCodes } from "../../cli-error.js";
import { isLoopbackHost } from "../../compose/loopback.js";
import type { LocalNode } from "../../compose/node.js";
import { findPage } from "../../compose/page.js";
import { describeEngine, describeStore } from "../../compose/store.js";
import type { Config } from "../../config/config.js";
import { loadConfig } from "../../config/load-config.js";
import type { Io } from "../../io.js";
import { announceServer, findServer } from "../../server-file.js";
import type { VerbContext } from "../../verb-context.js";
import { packageVersion } from "../../version.js";
import { prettyLogLine } from "./pretty-log.js";

/** Time beyond the drain deadline of turns, to seal them and to close the store. */
const closingSeconds = 5;

export interface ServeOptions {
  readonly host?: string;
  readonly port?: number;
  readonly insecure?: boolean;
  readonly page: boolean;
  readonly drain: number;
  readonly logLevel?: string;
}

/** Serves the store until it receives a signal to end. */
export async function serve(options: ServeOptions, context: VerbContext): Promise<void> {
  const { io, globals } = context;
  const config = await loadConfig({ flags: { ...globals, host: options.host, port: options.port } });
  const other = await findServer(config.store);
  if (other !== undefined && config.store.kind === "folder") {
    throw new CliError(`A server is already running on ${describeStore(config.store)}, at ${other}.`, {
      advice: "Use that one, or another store with --store.",
    });
  }
  const page = options.page ? findPage(config.page) : undefined;
  const [{ createEventLog, createLogger, createTelemetryHooks, serve: listen }, { startNode }] =
    await Promise.all([import("@parley/server"), import("../../compose/node.js")]);
  const logger = createLogger(
    { level: options.logLevel ?? (globals.quiet ? "warn" : "info") },
    { write: (line) => writeLog(line, io) },
  );
  const telemetry = createTelemetryHooks();
  const events = createEventLog(logger);
  const node = await startNode(config, {
    onCreate: () =>
      io.note(`Creating the store in ${describeStore(config.store)}, once; this takes a few seconds.`),
    onMigration: (progress) => logger.info({ ...progress }, "copying the rows of an older version"),
    onAway: (shards, { message }) =>
      logger.warn({ shards, message }, "a database server does not answer; its owners wait until it does"),
    onBusy: ({ message }) => io.note(`${message} Waiting for it ...`),
    isServed: async () => (await findServer(config.store)) !== undefined,
    onError: (error, where, conversationId) =>
      logger.warn(
        { where, code: error.code, ...omitUndefined({ conversationId }) },
        "something failed in the background",
      ),
    onSearchIndexed: ({ indexed, done }) =>
      logger.info({ indexed }, done ? "the search index has caught up" : "the search index is catching up"),
    onEvent(event, whose) {
      telemetry.onEvent(event, whose);
      events.onEvent(event, whose);
    },
    onCall: telemetry.onCall,
    onTakeover: events.onTakeover,
    onWindowChange: events.onWindowChange,
    onWebhookAttempt(attempt) {
      telemetry.onWebhookAttempt(attempt);
      if (attempt.outcome === "gone") logger.warn({ ...attempt }, "a webhook answered 410 and was disabled");
      if (attempt.outcome === "dead") logger.warn({ ...attempt }, "a delivery to a webhook was given up");
    },
  });
  // Before anyone can reach the server: a client that sees it listen may ask it to end.
  const asked = endAsked();
  try {
    const instance = randomUUID();
    const server = await listen(node.runtime, {
      host: config.listen.host,
      port: config.listen.port,
      insecure: options.insecure ?? false,
      auth: config.auth,
      owner: config.owner,
      origins: config.origins,
      hosts: config.hosts,
      limits: definedOnly(config.limits),
      logger,
      telemetry,
      version: packageVersion(),
      instance,
      ...(config.starters === undefined ? {} : { starters: config.starters }),
      ...(page === undefined ? {} : { page: { folder: page } }),
    });
    const withdraw = await announceServer(config.store, { url: server.url, instance });
    try {
      await printStart({ config, node, url: server.url, page }, context);
      const why = await asked;
      const limitSeconds = options.drain + closingSeconds;
      io.note(
        `\n${why}: letting the running turns finish their step (up to ${options.drain} s, ` +
          `${limitSeconds} s with everything; once more ends at once) ...`,
      );
      endAfter(limitSeconds, io);
      await server.close({ deadlineMs: options.drain * 1_000 });
    } finally {
      withdraw();
    }
  } finally {
    await node.close();
  }
  io.note("Ended. What was acknowledged is kept, and turns that were open go on with the next start.");
}

function writeLog(line: string, io: Io): void {
  if (io.isTerminal) io.line(prettyLogLine(line, io.style));
  else io.write(line);
}

interface Started {
  readonly config: Config;
  readonly node: LocalNode;
  readonly url: string;
  readonly page: string | undefined;
}

/** Prints the address, the store and the next steps: as text on a terminal, otherwise as one line of the log. */
async function printStart({ config, node, url, page }: Started, { io, globals }: VerbContext): Promise<void> {
  const { host } = config.listen;
  const { models: names, defaultModel } = node.runtime.models();
  const store = describeStore(config.store);
  if (!io.isTerminal) {
    io.jsonLine({
      level: 30,
      time: new Date().toISOString(),
      url,
      host,
      store,
      ...(node.engine === undefined ? {} : { engine: describeEngine(node.engine) }),
      models: names,
      page: page !== undefined,
      pid: process.pid,
      msg: "listening",
    });
  }
  for (const warning of node.warnings) io.warn(io.errorStyle.yellow(warning));
  if (globals.quiet || !io.isTerminal) return;
  const { style } = io;
  const keys = (await node.runtime.keys.list()).length;
  const shown =
    names.length > 6 ? `${names.slice(0, 6).join(", ")} and ${names.length - 6} more` : names.join(", ");
  const row = (name: string, text: string) => `  ${style.dim(name.padEnd(8))} ${text}`;
  const access =
    keys > 0
      ? `${keys} ${keys === 1 ? "key" : "keys"}; everyone needs one`
      : isLoopbackHost(host)
        ? "none: this machine only"
        : style.yellow("none, and reachable from other machines");
  io.lines([
    `${style.bold("Parley")} is listening on ${style.cyan(url)}`,
    ...(isLoopbackHost(host) ? [] : [row("host", `${host}: beyond this machine too`)]),
    row(
      "page",
      page === undefined ? "not there; the API works without it" : "open the address above in a browser",
    ),
    row("store", node.engine === undefined ? store : `${store} on ${describeEngine(node.engine)}`),
    row("models", `${shown}${names.length > 1 ? style.dim(` (default ${defaultModel})`) : ""}`),
    row("keys", access),
    row("config", config.file ?? "none; defaults and environment"),
    "",
  ]);
  if (names.length === 1 && names[0] === "demo/demo" && config.credentials.size === 0) {
    io.lines([
      "No API key found; using the demo model. Add a real one on the page, or in another",
      `terminal with ${calledAs()} connect; or set OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENAI_BASE_URL,`,
      `or write a configuration file: ${calledAs()} init.`,
      "",
    ]);
  }
  io.line(style.dim(`In another terminal: ${calledAs()} chat. Ctrl-C ends the server.`));
  io.line();
}

/** Resolves with the reason when the process is asked to end. A second request ends it at once. */
function endAsked(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false;
    const end = (signal: NodeJS.Signals) => {
      if (asked) process.exit(signal === "SIGINT" ? 130 : 143);
      asked = true;
      resolve(signal === "SIGINT" ? "Interrupted" : "Asked to end");
    };
    process.on("SIGINT", end);
    process.on("SIGTERM", end);
    process.on("SIGHUP", end);
    whenLauncherEnds(() => end("SIGTERM"));
  });
}

/** Interval at which a server that npm has started looks for the shell between them. */
const launcherLookMs = 500;

/**
 * Calls back when the shell through which npm or npx started this process has ended. npm forwards a signal to that
 * shell alone, which ends without forwarding it: without this, the server would go on running.
 */
function whenLauncherEnds(onEnd: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const launcher = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(look);
    onEnd();
  }, launcherLookMs);
  look.unref();
}

/** Ends the process when shutting down takes longer than announced, for instance because the store does not answer. */
function endAfter(seconds: number, io: Io): void {
  const limit = setTimeout(() => {
    io.warn(
      `Shutting down took longer than ${seconds} s, so the process ends without waiting for the rest. ` +
        "What was acknowledged is kept, and turns that were open go on with the next start.",
    );
    process.exit(exitCodes.failure);
  }, seconds * 1_000);
  limit.unref();
}

function definedOnly(limits: Config["limits"]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(limits).filter((entry): entry is [string, number] => entry[1] !== undefined),
  );
}
