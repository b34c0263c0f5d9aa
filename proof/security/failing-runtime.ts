import type { OwnerRuntime } from "@parley/core/runtime";
import { openAiRoutes } from "../../packages/server/src/faces/openai/openai-calls.test-support.js";
import { routeNames } from "../../packages/server/src/routes/route-calls.test-support.js";
import type { Area } from "./ledger.js";
import { openAiRawCall, routeCall } from "./raw-call.js";
import type { Secrets } from "./secrets.js";
import { openTarget } from "./target.js";

/**
 * Searches the answers and the log of a server whose runtime fails in every call with an error that quotes its
 * arguments, as drivers of databases do. Neither may pass that on.
 */
export async function huntInFailures(area: Area, secrets: Secrets): Promise<void> {
  const target = await openTarget();
  try {
    const key = secrets.add("a Parley key", await target.key("unlucky", ["admin"]));
    const password = secrets.make("a password", "the password of the database");
    let broken = 0;
    const breakWith = (given: readonly unknown[]) => {
      broken += 1;
      return new Error(`Failed query at postgres://u:${password}@db: params ${JSON.stringify(given)}`);
    };
    const breakAll = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(of, name) {
          const value: unknown = Reflect.get(of, name);
          if (typeof value === "object" && value !== null) return breakAll(value);
          return (...given: unknown[]) => {
            throw breakWith(given);
          };
        },
      });
    const { runtime } = target;
    const real = runtime.forOwner.bind(runtime);
    runtime.forOwner = (owner): OwnerRuntime => breakAll(real(owner));
    const calls = [
      ...routeNames.map((name) => ({ name, call: routeCall(name, "unlucky-1", key) })),
      ...openAiRoutes.map((name) => ({ name, call: openAiRawCall(name, "unlucky-1", key) })),
    ];
    for (const { name, call } of calls) {
      const message = secrets.make("a message");
      const body = typeof call.body === "string" ? call.body.replace("hello", message) : undefined;
      const before = broken;
      const answer = await target.call({ ...call, body });
      area.searched(`the answer to ${name}, broken`, secrets.findIn(answer.text));
      if (broken > before) area.attempt(`${name}, broken`, answer.status >= 500, `${answer.status}`);
    }
    area.control("verbs broke", broken > 30, `${broken}`);
    area.searched("the log of what broke", secrets.findIn(target.logs.join("")));
    area.control(
      "what broke was logged",
      target.logs.some((line) => line.includes("unexpected failure")),
    );
  } finally {
    await target.close();
  }
}
