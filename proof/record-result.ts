import { writeFileSync } from "node:fs";

/** What a proof found, as it is printed and written into docs/proof.md. */
export interface ProofResult {
  readonly title: string;
  /** What was done, in a sentence or two. */
  readonly about: string;
  readonly tables: readonly {
    readonly title?: string;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly (string | number)[])[];
  }[];
  /** One line per claim, beginning with PASS or MISS. */
  readonly statements: readonly string[];
}

/** Whether the longer form was asked for. */
export const long = process.env.PARLEY_PROOF_LONG === "1";

/** The cases follow from it, so that the same command does the same again. */
export const seed = Number(process.env.PARLEY_PROOF_SEED ?? "1");

/** Hands the result to the command. Call it also when claims were missed: they are written down as they are. */
export function recordResult(result: ProofResult): void {
  const file = process.env.PARLEY_PROOF_RESULT;
  if (file !== undefined) writeFileSync(file, JSON.stringify(result));
}
