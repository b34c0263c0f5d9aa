import { createHash, createHmac } from "node:crypto";

/** The key and the place of a signature. */
export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Token of temporary credentials. */
  readonly sessionToken?: string | undefined;
  readonly region: string;
}

const algorithm = "AWS4-HMAC-SHA256";
const service = "s3";

/**
 * Signs a request by Signature Version 4, with its headers, and returns all headers to send. The path and the query of the
 * address have to be written as they are sent: RFC 3986, each character but `A-Z a-z 0-9 - . _ ~` in its percent form.
 */
export function signRequest(
  request: {
    readonly method: string;
    readonly url: URL;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Uint8Array | undefined;
  },
  key: SigningKey,
  now: Date,
): Record<string, string> {
  const { method, url, body = new Uint8Array(0) } = request;
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const bodyHash = sha256(body);
  const sent: Record<string, string> = {
    ...request.headers,
    "x-amz-content-sha256": bodyHash,
    "x-amz-date": time,
    ...(key.sessionToken === undefined ? {} : { "x-amz-security-token": key.sessionToken }),
  };
  const signed = Object.entries({ ...sent, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method,
    url.pathname,
    [...url.search.slice(1).split("&")].sort().join("&"),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    "",
    names,
    bodyHash,
  ].join("\n");
  const scope = `${day}/${key.region}/${service}/aws4_request`;
  const toSign = [algorithm, time, scope, sha256(canonical)].join("\n");
  let secret: Buffer = hmac(`AWS4${key.secretAccessKey}`, day);
  for (const part of [key.region, service, "aws4_request"]) secret = hmac(secret, part);
  const signature = hmac(secret, toSign).toString("hex");
  const credential = `${key.accessKeyId}/${scope}`;
  return {
    ...sent,
    authorization: `${algorithm} Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function hmac(key: string | Buffer, content: string): Buffer {
  return createHmac("sha256", key).update(content).digest();
}
