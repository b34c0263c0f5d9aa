import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Returns the main processes of servers on a folder: their working folder is its data, and their parent's is not. */
export function serversOn(folder: string): number[] {
  const data = join(folder, "postgres", "data");
  const on = (pid: string) => {
    try {
      const [name = "", rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
      const [state, parent = ""] = rest.split(" ");
      const isServer = name.endsWith("(postgres") && state !== "Z";
      return isServer && linkOf(pid) === data ? { pid, parent } : undefined;
    } catch {
      return undefined;
    }
  };
  const found = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => on(pid) ?? []);
  return found.filter(({ parent }) => !found.some(({ pid }) => pid === parent)).map(({ pid }) => Number(pid));
}

function linkOf(pid: string): string {
  return readlinkSync(`/proc/${pid}/cwd`);
}

/** Waits until a condition holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Returns an admission of a message, with what it needs. */
export function admissionOf(id: string) {
  const conversationId = `c-${id}`;
  return {
    node: "n1",
    conversationId,
    message: {
      id: `m-${id}`,
      conversationId,
      role: "user" as const,
      createdAt: new Date(1_000),
      content: [{ type: "text" as const, text: `Hello ${id}` }],
    },
    bodyHash: "h",
    ifBusy: "reject" as const,
    mode: "steer" as const,
    choices: {},
    turnId: `t-${id}`,
    queueLength: 5,
    title: "Hello",
  };
}
