import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { jsonBody, takesGzip } from "./compressed-json.js";

const long = { text: "word ".repeat(2_000) };

it("compresses what is long, for callers that can read it", async () => {
  const { body, headers } = await jsonBody(long, "br, gzip;q=0.8");
  expect(headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
  expect(body.length).toBeLessThan(1_000);
  expect(JSON.parse(gunzipSync(body as Uint8Array).toString())).toEqual(long);
});

it.each([undefined, "", "br", "gzip;q=0", "gzip; q=0.0"])("leaves it as it is for %j", async (accepted) => {
  expect(takesGzip(accepted)).toBe(false);
  const { body, headers } = await jsonBody(long, accepted);
  expect(headers["content-encoding"]).toBeUndefined();
  expect(JSON.parse(body as string)).toEqual(long);
});

it("leaves short answers alone", async () => {
  expect((await jsonBody({ ok: true }, "gzip")).body).toBe('{"ok":true}');
});
