import { ParleyError } from "@parley/core/errors";
import { type ResilienceProfile, resilientFetch } from "@parley/http";
import type { ObjectPlace } from "./object-place.js";
import { signRequest } from "./sign-request.js";

/** A bucket with the S3 API. */
export interface S3Options {
  readonly bucket: string;
  /** Default: `us-east-1`. */
  readonly region?: string | undefined;
  /** The address of the API. Default: that of AWS in the region. */
  readonly endpoint?: string | undefined;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** Prefix of all keys, so that several stores can share a bucket. Default: `parley/`. */
  readonly prefix?: string | undefined;
  /** True: the bucket is the first part of the path, not of the host's name. Default: true if `endpoint` is given. */
  readonly pathStyle?: boolean | undefined;
}

const resilience: ResilienceProfile = {
  maxAttempts: 4,
  perAttemptTimeoutMs: 30_000,
  overallTimeoutMs: 60_000,
};

/** Opens a bucket as a place for objects. Nothing is sent yet. `invalid_request` if an option cannot be right. */
export function openS3(options: S3Options): ObjectPlace {
  const { bucket, region = "us-east-1", accessKeyId, secretAccessKey, sessionToken } = options;
  const { prefix = "parley/" } = options;
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) throw invalid("bucket", "is not a bucket's name");
  if (!/^[A-Za-z0-9._/-]*$/.test(prefix))
    throw invalid("prefix", "has other characters than A-Z a-z 0-9 / . _ -");
  const base = baseOf(options, region);
  const send = resilientFetch({ clientName: "s3" }, { operation: "s3", resilience });
  const key = { accessKeyId, secretAccessKey, sessionToken, region };

  async function request(
    method: "GET" | "PUT" | "DELETE",
    path: string,
    more: {
      readonly body?: Uint8Array;
      readonly headers?: Record<string, string>;
      readonly query?: string;
    } = {},
  ): Promise<Response> {
    const { body, headers = {}, query = "" } = more;
    const url = new URL(`${base}${path}${query}`);
    const signed = signRequest({ method, url, headers, body }, key, new Date());
    let response: Response;
    try {
      response = await send(url, {
        method,
        headers: signed,
        ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
      });
    } catch (cause) {
      throw new ParleyError("store_unavailable", "The object store cannot be reached", { cause });
    }
    if (response.ok || (response.status === 404 && method !== "PUT")) return response;
    // A range behind the end.
    if (response.status === 416 && method === "GET") return response;
    throw refusal(response.status, await response.text().catch(() => ""));
  }

  return {
    async put(name, bytes) {
      await drained(await request("PUT", `/${prefix}${name}`, { body: bytes }));
    },
    async get(name, offset, length) {
      const headers = { range: `bytes=${offset}-${offset + length - 1}` };
      const response = await request("GET", `/${prefix}${name}`, { headers });
      if (response.status === 404) {
        const text = await response.text();
        // A missing bucket says nothing about an object in it.
        if (text.includes("NoSuchBucket")) throw refusal(404, text);
        return null;
      }
      if (response.status === 416) {
        await drained(response);
        return null;
      }
      const bytes = new Uint8Array(await response.arrayBuffer());
      // A server may send the whole object.
      return response.status === 206 ? bytes : bytes.slice(offset, offset + length);
    },
    async remove(name) {
      await drained(await request("DELETE", `/${prefix}${name}`));
    },
    async *list(within) {
      for (let token: string | undefined = ""; token !== undefined; ) {
        const next: string = token === "" ? "" : `continuation-token=${encode(token)}&`;
        const query = `?${next}list-type=2&prefix=${encode(prefix + within)}`;
        const response = await request("GET", "", { query });
        const text = await response.text();
        if (response.status === 404) throw refusal(404, text);
        for (const [, found = ""] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) yield found.slice(prefix.length);
        const following = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(text)?.[1];
        token = following === undefined ? undefined : fromXml(following);
      }
    },
  };
}

function baseOf({ endpoint, bucket, pathStyle }: S3Options, region: string): string {
  const address = endpoint ?? `https://s3.${region}.amazonaws.com`;
  if (!URL.canParse(address) || !/^https?:/.test(address)) throw invalid("endpoint", "is no http address");
  const { protocol, host, pathname } = new URL(address);
  const path = pathname.replace(/\/+$/, "");
  return (pathStyle ?? endpoint !== undefined)
    ? `${protocol}//${host}${path}/${bucket}`
    : `${protocol}//${bucket}.${host}${path}`;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Decodes a text of XML, which escapes only these entities and character numbers. */
function fromXml(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text.replace(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? whole;
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal));
  });
}

async function drained(response: Response): Promise<void> {
  await response.arrayBuffer();
}

/** Creates the error with the code of the object store's refusal. The rest of its answer may hold what was sent. */
function refusal(status: number, text: string): ParleyError {
  const code = /<Code>([A-Za-z]{1,60})<\/Code>/.exec(text)?.[1] ?? `status ${status}`;
  const isFinal = status === 403 || status === 404 || status === 400 || status === 301;
  const advice = isFinal ? "; check bucket, region, endpoint and keys" : "";
  return new ParleyError("store_unavailable", `The object store refused: ${code}${advice}`, {
    retryable: !isFinal,
    details: { objectStore: code, status },
  });
}

function invalid(field: string, problem: string): ParleyError {
  return new ParleyError("invalid_request", `${field}: ${problem}`, { details: { field } });
}
