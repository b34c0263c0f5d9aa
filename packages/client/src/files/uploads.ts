import { sizeText } from "@parley/fold";
import type { FileBounds, UploadInfo } from "@parley/wire";
import type { ParleyClient } from "../client.js";
import { createStore, frameSchedule, type Schedule } from "../conversations/store.js";
import { newMessageId } from "../outbox/ids.js";
import { ParleyRequestError, toFailure } from "../requests/request-error.js";
import type { Failure } from "../state/conversation-state.js";
import { type UploadableFile, uploadFile } from "./upload-file.js";

/** Files that are uploaded at a time. */
const atOnce = 3;

/** One file of a message that is being written. */
export interface Upload {
  /** Identifies it in its list. */
  readonly key: string;
  readonly name: string;
  /** Bytes, where they are known. */
  readonly size?: number;
  /**
   * `waiting`: others go first. `uploading`: see `sentBytes`. `ready`: see `info`. `failed`: see `error`. `expired`: it was
   * uploaded too long ago, and has to be attached again.
   */
  readonly status: "waiting" | "uploading" | "ready" | "failed" | "expired";
  readonly sentBytes: number;
  readonly info?: UploadInfo;
  readonly error?: Failure;
  /** True if the same file can be uploaded again. */
  readonly retryable: boolean;
}

/** Options of a list of uploads. */
export interface UploadsOptions {
  readonly client: Pick<ParleyClient, "call" | "request">;
  /** Bounds of the server, as `GET /me` returns them: files beyond them are refused before they are sent. */
  readonly bounds?: (() => FileBounds | undefined) | undefined;
  /** Files that were uploaded before, such as those of a draft. */
  readonly restored?: readonly UploadInfo[] | undefined;
  readonly schedule?: Schedule | undefined;
  readonly now?: (() => number) | undefined;
}

/** The files of a message that is being written. */
export interface Uploads {
  getState(): readonly Upload[];
  subscribe(listener: () => void): () => void;
  /** Adds files at the end and begins to upload them. Those beyond the bounds are added as failed. */
  add(files: readonly UploadableFile[]): void;
  /** Uploads a failed file again. */
  retry(key: string): void;
  /** Cancels an upload, or removes a file that is there already; the server drops it. */
  remove(key: string): void;
  /** Puts files in front that were uploaded before, such as those of a message that is edited. */
  restore(files: readonly UploadInfo[]): void;
  /** Takes the files that are ready, for `send`, and empties the list. */
  take(): readonly UploadInfo[];
}

/** Creates a list of uploads. Three are uploaded at a time; each has an outcome of its own. */
export function createUploads(options: UploadsOptions): Uploads {
  const { client, bounds = () => undefined, schedule = frameSchedule, now = Date.now } = options;
  const sources = new Map<string, UploadableFile>();
  const running = new Map<string, AbortController>();
  const known = (info: UploadInfo): Upload => ({
    key: newMessageId(),
    name: info.name,
    size: info.size,
    sentBytes: info.size,
    info,
    status: info.expiresAt <= now() ? "expired" : "ready",
    retryable: false,
  });
  const store = createStore<readonly Upload[]>((options.restored ?? []).map(known), schedule);
  const change = (key: string, by: Partial<Upload>) =>
    store.set(store.get().map((upload) => (upload.key === key ? { ...upload, ...by } : upload)));

  const run = async (key: string, file: UploadableFile) => {
    const abort = new AbortController();
    running.set(key, abort);
    change(key, { status: "uploading", sentBytes: 0 });
    try {
      const { signal } = abort;
      const onProgress = (sentBytes: number) => change(key, { sentBytes });
      const info = await uploadFile(client, file, { signal, onProgress });
      if (signal.aborted) {
        drop(info);
        return;
      }
      sources.delete(key);
      const { name, size } = info;
      change(key, { status: "ready", name, size, sentBytes: size, info, retryable: false });
    } catch (thrown) {
      const error = toFailure(thrown);
      change(key, { status: "failed", error, retryable: error.code !== "too_large" });
    } finally {
      if (running.get(key) === abort) running.delete(key);
      runNext();
    }
  };
  const runNext = () => {
    for (const { key, status } of store.get()) {
      if (running.size >= atOnce) return;
      const file = sources.get(key);
      if (status === "waiting" && file !== undefined && !running.has(key)) void run(key, file);
    }
  };
  /** Not awaited: the server keeps unsent uploads for a day at most. */
  const drop = ({ id }: UploadInfo) => {
    client.request("DELETE /files/:id", { params: { id } }).catch(() => {});
  };

  return {
    getState: store.get,
    subscribe: store.subscribe,
    add(files) {
      for (const file of files) {
        const key = newMessageId();
        const { name, size } = file;
        const error = refusal(file, store.get(), bounds());
        const found = size === undefined ? { key, name } : { key, name, size };
        const upload: Upload =
          error === undefined
            ? { ...found, status: "waiting", sentBytes: 0, retryable: true }
            : { ...found, status: "failed", sentBytes: 0, retryable: false, error };
        if (error === undefined) sources.set(key, file);
        store.set([...store.get(), upload]);
      }
      runNext();
    },
    retry(key) {
      if (!sources.has(key) || running.has(key)) return;
      store.set(store.get().map((upload) => (upload.key === key ? withoutError(upload) : upload)));
      runNext();
    },
    remove(key) {
      const upload = store.get().find((each) => each.key === key);
      sources.delete(key);
      store.set(store.get().filter((each) => each.key !== key));
      running.get(key)?.abort(new ParleyRequestError("canceled", "The upload was canceled"));
      if (upload?.status === "ready" && upload.info !== undefined) drop(upload.info);
      runNext();
    },
    restore(files) {
      store.set([...files.map(known), ...store.get()]);
    },
    take() {
      const taken = store.get().flatMap(({ status, info }) => (status === "ready" && info ? [info] : []));
      for (const abort of running.values()) abort.abort();
      sources.clear();
      store.set([]);
      return taken;
    },
  };
}

function withoutError({ error: _, ...upload }: Upload): Upload {
  return { ...upload, status: "waiting", sentBytes: 0 };
}

/** Returns the reason why a file cannot be added. */
function refusal(
  { size = 0 }: UploadableFile,
  others: readonly Upload[],
  bounds: FileBounds | undefined,
): Failure | undefined {
  if (bounds === undefined) return undefined;
  const counted = others.filter(({ status }) => status !== "failed" && status !== "expired");
  const bytes = counted.reduce((sum, each) => sum + (each.size ?? 0), 0);
  const because = (message: string): Failure => ({ code: "too_large", message, retryable: false });
  if (size > bounds.fileBytes)
    return because(`The file is larger than ${sizeText(bounds.fileBytes)}, the limit per file`);
  if (counted.length >= bounds.messageFiles)
    return because(`The limit of files per message is ${bounds.messageFiles}`);
  if (bytes + size > bounds.messageFileBytes)
    return because(`The files of a message can have ${sizeText(bounds.messageFileBytes)} together`);
  return undefined;
}
