// Starts the parts of a whole path, each in its own process.
import { fork } from "node:child_process";
import { once } from "node:events";

/** Runs `name` of a file of this folder in a child; resolves when it listens. */
export async function startChild(file, name, options = {}) {
  const child = fork(
    new URL("./process.mjs", import.meta.url),
    [new URL(file, import.meta.url).href, name, JSON.stringify(options)],
    { execArgv: [...process.execArgv, "--expose-gc"] },
  );
  const { started } = await message(child, name);
  return {
    url: started.url ?? started,
    /** The message it sent when it was ready. */
    started,
    /**
     * Returns CPU time so far, and memory; `gc` and `young-gc` collect garbage first, all of it or the young
     * generation's.
     */
    async figures(ask = "figures") {
      const reply = message(child, name);
      child.send({ ask });
      return reply;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      if (child.connected) child.disconnect();
      await ended;
      clearTimeout(timer);
    },
  };
}

function message(child, name) {
  return new Promise((resolve, reject) => {
    const onExit = (code, signal) => reject(new Error(`${name}: its process ended (${signal ?? code})`));
    child.once("exit", onExit);
    child.once("message", (value) => {
      child.off("exit", onExit);
      resolve(value);
    });
  });
}
