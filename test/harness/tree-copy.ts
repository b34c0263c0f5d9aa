import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A copy of the working tree in which a test may break things, with the dependencies of the original. */
export interface TreeCopy {
  readonly path: string;
  read(file: string): string;
  /** Puts `text` into `file` until `restore` is called. */
  plant(file: string, text: string): void;
  /** Reverts every planted change. */
  restore(): void;
  remove(): void;
}

/** Copies sources and built files; links installed packages, with the packages' own names leading into the copy. */
export function copyTree(): TreeCopy {
  // A folder of its own: two test files may hold a copy at the same time.
  const path = mkdtempSync(join(tmpdir(), "tree-copy-"));
  const left = ["node_modules", ".git", ".cache", ".parley"];
  cpSync(root, path, {
    recursive: true,
    preserveTimestamps: true,
    filter: (file) =>
      !relative(root, file)
        .split("/")
        .some((part) => left.includes(part)),
  });
  linkInstalled(path);
  const planted = new Map<string, string | undefined>();
  const read = (file: string): string => readFileSync(join(path, file), "utf8");
  return {
    path,
    read,
    plant(file, text) {
      if (!planted.has(file)) planted.set(file, readIfThere(join(path, file)));
      writeFileSync(join(path, file), text);
    },
    restore() {
      for (const [file, text] of planted) {
        if (text === undefined) rmSync(join(path, file));
        else writeFileSync(join(path, file), text);
      }
      planted.clear();
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function linkInstalled(copy: string): void {
  const installed = join(copy, "node_modules");
  mkdirSync(join(installed, "@parley"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name === "@parley") continue;
    if (name.startsWith(".parley") || name === ".package-lock.json")
      cpSync(join(root, "node_modules", name), join(installed, name));
    else symlinkSync(join(root, "node_modules", name), join(installed, name));
  }
  for (const folder of ["packages", "apps"].flatMap((group) =>
    readdirSync(join(copy, group)).map((name) => join(group, name)),
  )) {
    symlinkSync(join(copy, folder), join(installed, "@parley", basename(folder)));
    // Dependencies that npm could not share are in the package's own folder.
    const own = join(root, folder, "node_modules");
    if (existsSync(own)) symlinkSync(own, join(copy, folder, "node_modules"));
  }
  symlinkSync(join(root, "test", "node_modules"), join(copy, "test", "node_modules"));
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
