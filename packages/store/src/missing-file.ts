import { ParleyError } from "@parley/core/errors";

/** Creates the error of a file of this package that is not beside its code, as in a bundle. */
export function missingFile(path: string): ParleyError {
  return new ParleyError(
    "store_unavailable",
    `The file ${path} of @parley/store is missing. A bundle does not contain it: mark @parley/store and ` +
      "@electric-sql/pglite as external, and install them where the bundle runs.",
    { retryable: false },
  );
}
