import { access, constants, open, stat } from "node:fs/promises";
import type { ParleyClient } from "@parley/client";
import { type UploadableFile, uploadFile } from "@parley/client/files";
import { sizeText } from "@parley/fold";
import type { FileBounds, SentPart, UploadInfo } from "@parley/wire";
import { CliError } from "../cli-error.js";
import type { VerbContext } from "../verb-context.js";
import { localFile } from "./local-file.js";

/** Longer texts are attached: in the message they would be read with every turn that follows. */
const longestQuotedBytes = 100_000;

/** A file of this machine. */
interface LocalFile extends UploadableFile {
  readonly size: number;
}

/** Sorts files into those that are quoted in the message, which are short texts, and those that are attached. */
export async function sortFiles(
  paths: readonly string[],
): Promise<{ readonly quoted: readonly string[]; readonly attached: readonly string[] }> {
  const quoted: string[] = [];
  const attached: string[] = [];
  for (const path of paths) ((await isShortText(path)) ? quoted : attached).push(path);
  return { quoted, attached };
}

/** Uploads files one after the other. All of them are looked at before the first one is sent. */
export async function uploadFiles(
  client: ParleyClient,
  paths: readonly string[],
  { io, signal }: Pick<VerbContext, "io" | "signal">,
  others: readonly Pick<UploadInfo, "size">[] = [],
): Promise<readonly UploadInfo[]> {
  if (paths.length === 0) return [];
  const files = await Promise.all(paths.map(openFile));
  const { files: bounds } = await client.request("GET /me", { signal });
  checkBounds(files, others, bounds);
  const uploads: UploadInfo[] = [];
  try {
    for (const file of files) {
      const onProgress = (sent: number) =>
        io.progress(`Uploading ${file.name}: ${sizeText(sent)} of ${sizeText(file.size)}`);
      uploads.push(await uploadFile(client, file, { signal, onProgress }));
    }
  } finally {
    io.endProgress();
  }
  return uploads;
}

/** Uploads as parts of a message. */
export function fileParts(uploads: readonly UploadInfo[]): readonly SentPart[] {
  return uploads.map(({ id }) => ({ type: "file", uploadId: id }));
}

async function openFile(path: string): Promise<LocalFile> {
  const { size } = await stat(path).then((found) => {
    if (found.isFile()) return found;
    throw notAFile(path, found.isDirectory());
  });
  await access(path, constants.R_OK);
  return { ...localFile(path), size };
}

function notAFile(path: string, isFolder: boolean): CliError {
  return isFolder
    ? new CliError(`${path} is a folder.`, { advice: "Name the files in it." })
    : new CliError(`${path} is not a file.`, { advice: "Only files can be attached." });
}

/** Refuses what the server would refuse, before anything is sent. */
function checkBounds(
  files: readonly LocalFile[],
  others: readonly Pick<UploadInfo, "size">[],
  bounds: FileBounds | undefined,
): void {
  if (bounds === undefined) {
    throw new CliError("This server takes no files.", { advice: "Send the message without them." });
  }
  for (const { name, size } of files) {
    if (size <= bounds.fileBytes) continue;
    throw new CliError(
      `${name} has ${sizeText(size)}, and the server takes files of at most ${sizeText(bounds.fileBytes)}.`,
      { advice: "Attach a smaller file." },
    );
  }
  const all = [...others, ...files];
  if (all.length > bounds.messageFiles)
    throw new CliError(`The server takes at most ${bounds.messageFiles} files with a message.`, {
      advice: "Send the files in several messages.",
    });
  if (all.reduce((sum, { size }) => sum + size, 0) > bounds.messageFileBytes)
    throw new CliError(
      `The files of a message may have at most ${sizeText(bounds.messageFileBytes)} together.`,
      { advice: "Send the files in several messages." },
    );
}

/** Returns true for a file that is UTF-8 without null characters, and short. */
async function isShortText(path: string): Promise<boolean> {
  const found = await stat(path);
  if (!found.isFile()) throw notAFile(path, found.isDirectory());
  if (found.size > longestQuotedBytes) return false;
  const file = await open(path);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.readFile());
    return !text.includes("\0");
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  } finally {
    await file.close();
  }
}
