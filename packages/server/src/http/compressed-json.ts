import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

/** A smaller text fits into one packet either way. */
const leastCompressed = 1_000;

const compress = promisify(gzip);

/** Returns true if an `accept-encoding` header allows gzip. */
export function takesGzip(accepted = ""): boolean {
  return accepted.split(",").some((each) => {
    const [name = "", weight = ""] = each.split(";");
    return name.trim().toLowerCase() === "gzip" && !/^\s*q\s*=\s*0(\.0*)?\s*$/i.test(weight);
  });
}

/** Returns the body and the headers of a JSON answer, compressed if that pays and the caller can read it. */
export async function jsonBody(
  value: unknown,
  acceptEncoding: string | undefined,
): Promise<{ readonly body: string | Uint8Array<ArrayBuffer>; readonly headers: Record<string, string> }> {
  const text = JSON.stringify(value);
  const headers: Record<string, string> = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
  };
  if (text.length < leastCompressed || !takesGzip(acceptEncoding)) return { body: text, headers };
  // The fastest level: a level that halves the rest would take longer than the network saves.
  const body = await compress(text, { level: constants.Z_BEST_SPEED });
  headers["content-encoding"] = "gzip";
  headers.vary = "accept-encoding";
  return { body, headers };
}
