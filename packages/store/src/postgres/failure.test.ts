import { describe, expect, it } from "vitest";
import { failureOf } from "./failure.js";

const violated = (message: string, table?: string) =>
  Object.assign(new Error(message), { code: "23503", severity: "ERROR", ...(table && { table }) });

describe("a constraint that a statement violated", () => {
  it.each([
    ["as the server names it", violated("any language", "blob_ref")],
    [
      "as the coordinator of a Citus cluster passes it on",
      violated(
        'insert or update on table "blob_ref_102008" violates foreign key constraint "blob_ref_blob_blob_number_fk_102008"',
      ),
    ],
  ])("says that a file is missing, %s", (_, error) => {
    expect(failureOf(error)).toMatchObject({ code: "invalid_request", details: { reason: "file_missing" } });
  });

  it("is a fault of ours otherwise", () => {
    for (const table of ["receipt", "blob_refs"]) {
      expect(failureOf(violated(`table "${table}_102008" violates`, table))).toMatchObject({
        code: "internal",
      });
    }
  });
});
