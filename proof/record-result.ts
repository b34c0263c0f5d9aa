import { writeFileSync } from "node:fs";

/** Result of a proof, as it is printed and written into docs/proof.md. */
export interface ProofResult {
  readonly title: string;
  /** Description in a sentence or two. */
  readonly about: string;
  readonly tables: readonly {
    readonly title?: string;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly (string | number)[])[];
  }[];
  /** One line per claim, beginning with PASS or MISS. */
  readonly statements: readonly string[];
}

/** True if the longer form was requested. */
export const long = process.env.PARLEY_PROOF_LONG === "1";

/** Seed of the cases, so that the same command does the same again. */
export const seed = Number(process.env.PARLEY_PROOF_SEED ?? "1");

/** Passes the result to the command. To be called also when claims were missed: they are recorded as they are. */
export function recordResult(result: ProofResult): void {
  const file = process.env.PARLEY_PROOF_RESULT;
  if (file !== undefined) writeFileSync(file, JSON.stringify(result));
}
