import type { UploadInfo } from "@parley/wire";
import type { ParleyClient } from "../client.js";
import { readJson } from "../requests/request.js";

/** A file to upload: a `File` of a browser, or anything else that has a name and can be read from its beginning. */
export interface UploadableFile {
  readonly name: string;
  /** Bytes, where they are known. */
  readonly size?: number | undefined;
  stream(): ReadableStream<Uint8Array>;
}

/** The options of an upload. */
export interface UploadFileOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called while it is sent, with the bytes that have left. */
  readonly onProgress?: ((sentBytes: number) => void) | undefined;
}

/**
 * Uploads a file in one attempt. Its bytes are read as they are sent and never held as a whole. Browsers report
 * progress through `XMLHttpRequest` only, so there the client's own `fetch` is not used.
 */
export async function uploadFile(
  client: Pick<ParleyClient, "call">,
  file: UploadableFile,
  { signal, onProgress = () => {} }: UploadFileOptions = {},
): Promise<UploadInfo> {
  const isBrowser = typeof XMLHttpRequest === "function" && file instanceof Blob;
  const response = await client.call("POST /files", {
    query: { name: file.name },
    headers: { "content-type": "application/octet-stream" },
    via: (ask) => (isBrowser ? sendByXhr(file, onProgress) : sendStream(ask, file, onProgress)),
    signal,
  });
  return (await readJson(response, signal)) as UploadInfo;
}

/** Returns a `fetch` that sends the file piece by piece. */
function sendStream(
  ask: typeof fetch,
  file: UploadableFile,
  onProgress: (sentBytes: number) => void,
): typeof fetch {
  return (url, init) => {
    let sent = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        controller.enqueue(piece);
        sent += piece.byteLength;
        onProgress(sent);
      },
    });
    // A canceled call stops reading the body, which does not end the reading of the file by itself.
    const signal = init?.signal ?? undefined;
    const body = file.stream().pipeThrough(counted, signal === undefined ? {} : { signal });
    // A body that is a stream needs `duplex`, which the types of the platform do not have yet.
    const more: RequestInit & { readonly duplex: "half" } = { ...init, body, duplex: "half" };
    return ask(url, more);
  };
}

/** Returns a `fetch` that reports the bytes sent, as a browser's own does not. */
function sendByXhr(body: Blob, onProgress: (sentBytes: number) => void): typeof fetch {
  return (url, init = {}) =>
    new Promise((resolve, reject) => {
      const xhr = new XMLHttpRequest();
      const { signal, headers = {}, method = "POST" } = init;
      const abort = () => xhr.abort();
      xhr.open(method, String(url));
      for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, String(value));
      xhr.upload.onprogress = ({ loaded }) => onProgress(loaded);
      xhr.onload = () => {
        const { status, statusText } = xhr;
        const type = xhr.getResponseHeader("content-type") ?? "text/plain";
        resolve(new Response(xhr.responseText, { status, statusText, headers: { "content-type": type } }));
      };
      xhr.onerror = () => reject(new TypeError("The upload broke off"));
      xhr.onabort = () => reject(signal?.reason ?? new DOMException("Aborted", "AbortError"));
      xhr.onloadend = () => signal?.removeEventListener("abort", abort);
      signal?.addEventListener("abort", abort);
      if (signal?.aborted === true) abort();
      if (signal?.aborted === true) reject(signal.reason);
      else xhr.send(body);
    });
}
