import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { finished } from "node:stream/promises";

/**
 * Writes beside the place and moves it there when it is whole: a full disk leaves no half of a file. `check` may refuse
 * what was written before it is moved. Returns the number of bytes.
 */
export async function writeWhole(
  path: string,
  pieces: AsyncIterable<string | Uint8Array>,
  check: () => void = () => {},
): Promise<number> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.partial`;
  const file = createWriteStream(draft, { mode: 0o600 });
  let size = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      file.once("open", () => resolve());
      file.once("error", reject);
    });
    const failed = finished(file);
    failed.catch(() => undefined);
    for await (const piece of pieces) {
      size += Buffer.byteLength(piece);
      if (!file.write(piece)) {
        await Promise.race([new Promise<void>((resolve) => file.once("drain", () => resolve())), failed]);
      }
    }
    file.end();
    await failed;
    check();
    await rename(draft, path);
    return size;
  } catch (error) {
    file.destroy();
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
