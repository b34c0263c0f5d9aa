// A process of a scenario that answers one question at a time.
import { fork } from "node:child_process";
import { once } from "node:events";

const ANSWER_LIMIT_MS = 180_000;

/** Starts a file of this folder; resolves once it has said that it is ready, with what it said. */
export async function startChild(file, args = [], { execArgv = process.execArgv } = {}) {
  const child = fork(new URL(file, import.meta.url), args.map(String), { execArgv });
  const next = () =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => settle(reject, new Error(`${file}: no answer in ${ANSWER_LIMIT_MS / 1_000} s`)),
        ANSWER_LIMIT_MS,
      );
      const onMessage = (message) =>
        message.failed === undefined
          ? settle(resolve, message)
          : settle(reject, new Error(`${file}: ${message.failed}`));
      const onExit = (code, signal) => settle(reject, new Error(`${file} ended (${signal ?? code})`));
      function settle(how, value) {
        clearTimeout(timer);
        child.off("message", onMessage).off("exit", onExit);
        how(value);
      }
      child.on("message", onMessage).on("exit", onExit);
    });
  const ready = await next();
  return {
    ...ready,
    ask(question) {
      const reply = next();
      child.send(question);
      return reply;
    },
    /** Lets it end by itself, which also writes its profile under `--cpu-prof`. */
    async dismiss() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      if (child.connected) child.disconnect();
      await ended;
      clearTimeout(timer);
    },
  };
}

/** The other side: answers each question with what `handlers[question.type]` resolves with. */
export function answerQuestions(handlers, ready = {}) {
  process.on("disconnect", () => process.exit());
  process.on("message", async (question) => {
    try {
      process.send((await handlers[question.type](question)) ?? {});
    } catch (error) {
      process.send({ failed: error.stack ?? String(error) });
    }
  });
  process.send(ready);
}

/** CPU that this process took since `before`, in microseconds. */
export function cpuSince(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
