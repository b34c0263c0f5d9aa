import type { ClientRequest } from "node:http";

/** A body as `node:http` sends it. */
export interface NodeBody {
  readonly content?: string | Uint8Array | ReadableStream<Uint8Array>;
  /** In bytes; undefined for a stream, which is sent in chunks, and for no body at all. */
  readonly length?: number;
  /** The content type that `fetch` would send for such a body. */
  readonly type?: string;
}

/** Prepares a `BodyInit`. Only blobs and forms need a promise. */
export function toNodeBody(body: BodyInit | null | undefined): NodeBody | Promise<NodeBody> {
  if (body === undefined || body === null) return {};
  if (typeof body === "string") {
    return { content: body, length: Buffer.byteLength(body), type: "text/plain;charset=UTF-8" };
  }
  if (body instanceof ReadableStream) return { content: body };
  if (body instanceof ArrayBuffer) return ofBytes(new Uint8Array(body));
  if (ArrayBuffer.isView(body)) return ofBytes(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  return serialize(body);
}

function ofBytes(content: Uint8Array): NodeBody {
  return { content, length: content.byteLength };
}

async function serialize(body: BodyInit): Promise<NodeBody> {
  // A Response encodes forms the way the platform does.
  const response = new Response(body);
  const type = response.headers.get("content-type");
  const prepared = ofBytes(new Uint8Array(await response.arrayBuffer()));
  return type === null ? prepared : { ...prepared, type };
}

/** Sends a stream at the pace of the socket. If the stream fails, the request fails, and vice versa. */
export function writeStream(request: ClientRequest, stream: ReadableStream<Uint8Array>): void {
  const reader = stream.getReader();
  let closed = false;
  let proceed: (() => void) | undefined;
  request.on("drain", () => proceed?.());
  request.on("close", () => {
    closed = true;
    reader.cancel().catch(() => {});
  });
  const pump = async (): Promise<void> => {
    while (!closed) {
      const { done, value } = await reader.read();
      if (done || closed) break;
      if (request.write(value)) continue;
      await new Promise<void>((resume) => {
        proceed = resume;
      });
    }
    if (!closed) request.end();
  };
  pump().catch((error: unknown) => {
    request.destroy(error instanceof Error ? error : new Error("The request body failed", { cause: error }));
  });
}
