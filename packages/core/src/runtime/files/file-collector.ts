import type { Uses } from "../environment.js";
import { Sweep } from "../nodes/sweep.js";

/** Removes bytes that nothing refers to any more. Every node runs it; each file is removed by one of them. */
export function fileCollector(env: Uses<"root" | "clock" | "report" | "fileLimits">): Sweep {
  const { root, fileLimits } = env;
  return new Sweep(env, {
    where: "file collector",
    everyMs: fileLimits.sweepMs,
    atStart: false,
    async run(isStopped) {
      while (!isStopped()) {
        const { more } = await root.collectBlobs(fileLimits.sweepFiles);
        if (!more) return;
      }
    },
  });
}
