import type { z } from "@hono/zod-openapi";
import type { FieldProblem } from "@parley/wire";
import { invalidFields } from "./request-refusal.js";

/** Returns a value that matches a schema, or refuses it by naming the fields. */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidFields(result.error.issues.slice(0, 20).map(toFieldProblem));
}

function toFieldProblem(issue: z.core.$ZodIssue): FieldProblem {
  return { path: issue.path.map(String).join("."), message: describe(issue) };
}

function describe(issue: z.core.$ZodIssue): string {
  // Zod's own message without the prefix: the path beside it names the field.
  return issue.message.replace(/^Invalid input: /, "");
}
