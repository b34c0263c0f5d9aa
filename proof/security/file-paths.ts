import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import type { Random } from "../../test/kill/random.js";

/** A folder that is shared, in one that is not. */
export interface SharedFolder {
  readonly base: string;
  readonly root: string;
  close(): Promise<void>;
}

/** A name that exists only outside. */
export const outsideName = "only-outside.txt";

/** Creates a folder to share, with every kind of trap in it, and a secret beside it. */
export async function layOut(base: string, secret: string): Promise<SharedFolder> {
  const root = join(base, "shared");
  mkdirSync(join(root, "notes", "deep"), { recursive: true });
  mkdirSync(join(base, "shared-too"));
  writeFileSync(join(base, "secret.txt"), secret);
  writeFileSync(join(base, "shared-too", "secret.txt"), secret);
  writeFileSync(join(base, "shared-too", outsideName), secret);
  writeFileSync(join(root, "notes", "a.md"), "an open note");
  const links: Readonly<Record<string, string>> = {
    "link.txt": join(base, "secret.txt"),
    "relative.txt": "../secret.txt",
    up: "..",
    absolute: base,
    chain: "link.txt",
    "notes/deep/out": "../../../secret.txt",
    environ: "/proc/self/environ",
    memory: "/proc/self/maps",
    zero: "/dev/zero",
    stdin: "/dev/stdin",
    loop: "loop",
    inside: "notes",
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
  execFileSync("mkfifo", [join(root, "pipe")]);
  const server: Server = createServer();
  // A path to a socket may not be long, and this one only has to exist.
  await new Promise<void>((resolve) => server.listen(join(root, "s"), resolve));
  return {
    base,
    root,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const climbs = [
  "..",
  "%2e%2e",
  "%252e%252e",
  "..%00",
  "..;",
  "．．",
  "..%c0%af",
  "....",
  ".. ",
  "..\\",
  "․․",
];
const joints = ["/", "//", "/./", "\\", "%2f", "%5c", "∕"];

/** Returns paths that must not lead outside. */
export function pathsOut({ base }: SharedFolder, random: Random, count: number): string[] {
  const fixed = [
    ...["../secret.txt", "./../secret.txt", "notes/../../secret.txt", "notes/deep/../../../secret.txt"],
    ...[
      "../shared-too/secret.txt",
      "../shared/../secret.txt",
      "inside/../../secret.txt",
      "..",
      "../",
      "../.",
    ],
    ...[join(base, "secret.txt"), `/${join(base, "secret.txt")}`, `file://${join(base, "secret.txt")}`],
    ...["/etc/passwd", "//etc/passwd", "/proc/self/environ", "/proc/self/cwd/package.json", "/dev/zero"],
    ...["link.txt", "relative.txt", "chain", "up/secret.txt", "absolute/secret.txt", "notes/deep/out"],
    ...["up/shared/../secret.txt", "environ", "memory", "zero", "stdin", "loop", "pipe", "s"],
    ...[
      "secret.txt\0",
      "notes/a.md\0../../secret.txt",
      "\0../secret.txt",
      "~/secret.txt",
      "$HOME/.ssh/id_rsa",
    ],
    ...["..\\secret.txt", "C:\\secret.txt", "\\\\host\\share", "notes/a.md/../../../secret.txt"],
    `${"a".repeat(5_000)}`,
    `${"a/".repeat(3_000)}secret.txt`,
    `${"../".repeat(500)}etc/passwd`,
    `${"notes/../".repeat(400)}../secret.txt`,
  ];
  const made = Array.from({ length: count }, () => {
    const steps = Array.from({ length: random.between(1, 6) }, () =>
      random.pick([...climbs, "..", "..", "notes", "inside", ".", "up", ""]),
    );
    const joint = random.pick(joints);
    return [...steps, "..", random.pick(["secret.txt", "shared-too/secret.txt", "etc/passwd"])].join(joint);
  });
  return [...new Set([...fixed, ...made])];
}
