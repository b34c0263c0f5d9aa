import { describe, expect, it } from "vitest";
import { createFileSecret, isSigned, readClaim, signPlace } from "./signed-address.js";

const place = { conversationId: "c:1", seq: 7 };
const signed = { owner: "ömer|\u0000", place, expiresAt: 1_700_000_000 };

describe("a signed address", () => {
  it("says what it gives access to, and is proven by its secret alone", async () => {
    const secret = createFileSecret();
    const token = await signPlace(secret, signed);
    expect(token).toMatch(/^[A-Za-z0-9_.-]+$/);
    expect(readClaim(token)).toEqual(signed);
    expect(await isSigned(secret, token)).toBe(true);
    expect(await isSigned(createFileSecret(), token)).toBe(false);
    const ofUpload = { ...signed, place: { uploadId: "up_1" } };
    expect(readClaim(await signPlace(secret, ofUpload))).toEqual(ofUpload);
  });

  it("is worth nothing once a character of it has changed", async () => {
    const secret = createFileSecret();
    const token = await signPlace(secret, signed);
    for (let index = 0; index < token.length - 1; index += 1) {
      const other = token[index] === "A" ? "B" : "A";
      const changed = token.slice(0, index) + other + token.slice(index + 1);
      expect(await isSigned(secret, changed), `character ${index}`).toBe(false);
    }
    expect(await isSigned(secret, `${token}.`)).toBe(false);
    expect(await isSigned(secret, token.split(".")[0] ?? "")).toBe(false);
  });

  it("cannot be put together from two others", async () => {
    const secret = createFileSecret();
    const [payload] = (await signPlace(secret, { ...signed, place: { ...place, seq: 8 } })).split(".");
    const [, signature] = (await signPlace(secret, signed)).split(".");
    expect(await isSigned(secret, `${payload}.${signature}`)).toBe(false);
  });

  it.each([
    "",
    ".",
    "a.b",
    "!",
    btoa("[]"),
    btoa('["o",1]'),
    btoa('["o",1,"c",1.5]'),
    btoa('["o",1,"c",1,2]'),
  ])("of no meaning claims nothing: %s", (token) => {
    expect(readClaim(token)).toBeUndefined();
  });
});
