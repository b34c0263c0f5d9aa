import { expect, it } from "vitest";
import { signRequest } from "./sign-request.js";

/** Example from the documentation of Signature Version 4 for S3. */
const key = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
};
const now = new Date("2013-05-24T00:00:00Z");
const host = "https://examplebucket.s3.amazonaws.com";

it.each([
  {
    what: "a read of a range",
    request: { method: "GET", url: new URL(`${host}/test.txt`), headers: { range: "bytes=0-9" } },
    signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  },
  {
    what: "a write",
    request: {
      method: "PUT",
      url: new URL(`${host}/test%24file.text`),
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      body: new TextEncoder().encode("Welcome to Amazon S3."),
    },
    signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  },
  {
    what: "a list",
    request: { method: "GET", url: new URL(`${host}/?prefix=J&max-keys=2`) },
    signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  },
])("signs $what as the vendor's example", ({ request, signature }) => {
  expect(signRequest(request, key, now).authorization).toContain(`Signature=${signature}`);
});

it("signs the token of credentials that are valid for a time", () => {
  const headers = signRequest({ method: "GET", url: new URL(host) }, { ...key, sessionToken: "t" }, now);
  expect(headers["x-amz-security-token"]).toBe("t");
  expect(headers.authorization).toContain("x-amz-security-token");
});
