import type { ParleyClient } from "@parley/client";
import { createUploads, type Uploads } from "@parley/client/files";
import type { UploadInfo } from "@parley/wire";
import { useAccess } from "../app/access/access.js";
import { readStored, writeStored } from "../app/stored.js";

const key = "parley.draft-files";
/** Files that expired longer ago are not mentioned any more. */
const forgottenAfterMs = 7 * 24 * 60 * 60_000;

/** The uploads of drafts. They continue while their conversation is not shown. */
const lists = new Map<string, Uploads>();

/** Returns the files of a draft: uploaded ones survive a reload, as long as the server keeps them. */
export function draftUploads(client: ParleyClient, draftKey: string): Uploads {
  const known = lists.get(draftKey);
  if (known !== undefined) return known;
  const uploads = createUploads({ client, bounds: fileBounds, restored: readAll()[draftKey] ?? [] });
  uploads.subscribe(() => {
    keep(
      draftKey,
      uploads.getState().flatMap(({ info }) => info ?? []),
    );
  });
  lists.set(draftKey, uploads);
  return uploads;
}

/** Returns the limits of files, as the server has reported them. */
export function fileBounds() {
  const access = useAccess.getState();
  return access.phase === "granted" ? access.me.files : undefined;
}

function keep(draftKey: string, files: readonly UploadInfo[]): void {
  const { [draftKey]: _, ...others } = readAll();
  const all = files.length === 0 ? others : { ...others, [draftKey]: files };
  writeStored(key, Object.keys(all).length === 0 ? null : JSON.stringify(all));
}

function readAll(): Readonly<Record<string, readonly UploadInfo[]>> {
  try {
    const stored: unknown = JSON.parse(readStored(key) ?? "{}");
    if (typeof stored !== "object" || stored === null) return {};
    const kept = Object.entries(stored).flatMap(([draftKey, files]) => {
      const usable = Array.isArray(files) ? files.filter(isUsable) : [];
      return usable.length === 0 ? [] : [[draftKey, usable] as const];
    });
    return Object.fromEntries(kept);
  } catch {
    return {};
  }
}

function isUsable(value: unknown): value is UploadInfo {
  if (typeof value !== "object" || value === null) return false;
  const { id, name, mediaType, size, expiresAt } = value as Partial<UploadInfo>;
  return (
    typeof id === "string" &&
    typeof name === "string" &&
    typeof mediaType === "string" &&
    typeof size === "number" &&
    typeof expiresAt === "number" &&
    expiresAt + forgottenAfterMs > Date.now()
  );
}
