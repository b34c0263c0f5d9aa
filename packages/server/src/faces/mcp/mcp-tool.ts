import { z } from "@hono/zod-openapi";
import type { KeyScope } from "@parley/wire";
import type { ServerScope } from "./create-server.js";

/** Whom a tool runs for. */
export interface ToolScope extends ServerScope {
  /** Reports how far a call is. Absent where the caller does not want to know. */
  readonly onProgress: ((progress: number, message: string) => Promise<void>) | undefined;
}

/** The result of a tool: for a model to read, and the same as data. */
export interface McpResult<Output> {
  readonly text: string;
  readonly structured: Output;
}

/** A tool that other programs are offered. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** What a key needs. */
  readonly access: KeyScope;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint?: boolean;
  };
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  run(input: unknown, scope: ToolScope): Promise<McpResult<Record<string, unknown>>>;
}

/** Defines a tool. What it takes and returns follows from its schemas. */
export function mcpTool<Input extends object, Output extends object>(
  definition: Omit<McpTool, "input" | "output" | "run"> & {
    readonly input: z.ZodType<Input>;
    readonly output: z.ZodType<Output>;
    run(input: Input, scope: ToolScope): Promise<McpResult<Output>>;
  },
): McpTool {
  // The names of the types are erased here: what is passed was checked by the same schema.
  return definition as unknown as McpTool;
}

interface ObjectSchema {
  readonly type: "object";
  [keyword: string]: unknown;
}

/** A schema as clients are shown it. */
export function jsonSchemaOf(schema: z.ZodType, io: "input" | "output"): ObjectSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return { ...rest, type: "object" };
}
