import { z } from "@hono/zod-openapi";
import type { KeyScope } from "@parley/wire";
import type { ServerScope } from "./create-server.js";

/** Caller and context of a tool's run. */
export interface ToolScope extends ServerScope {
  /** Reports the progress of a call. Absent if the caller does not request it. */
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
  /** Scope that a key needs. */
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

/** Defines a tool. The types of its arguments and results follow from its schemas. */
export function mcpTool<Input extends object, Output extends object>(
  definition: Omit<McpTool, "input" | "output" | "run"> & {
    readonly input: z.ZodType<Input>;
    readonly output: z.ZodType<Output>;
    run(input: Input, scope: ToolScope): Promise<McpResult<Output>>;
  },
): McpTool {
  // The names of the types are erased here: the same schema has checked the values.
  return definition as unknown as McpTool;
}

interface ObjectSchema {
  readonly type: "object";
  [keyword: string]: unknown;
}

/** Returns a schema as clients are shown it. */
export function jsonSchemaOf(schema: z.ZodType, io: "input" | "output"): ObjectSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return { ...rest, type: "object" };
}
