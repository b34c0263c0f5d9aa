import { omitUndefined } from "@parley/fold";
import type { JsonObject, JsonValue } from "@parley/wire";
import type { ProviderToolDefinition } from "../../ports.js";
import type { Approval, ApprovalContext, ApprovalVerdict } from "../approval/approval.js";

/** The part of Standard Schema that Parley uses: any validator that implements it can describe a tool's arguments. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Optional: the schema as JSON Schema, which the model is shown. */
    readonly jsonSchema?: {
      readonly input: (options: { target: "draft-07" | "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/** A JSON Schema as a plain object. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Context of a running tool, with its output. */
export interface ToolContext {
  readonly conversationId: string;
  readonly turnId: string;
  readonly stepId: string;
  readonly toolCallId: string;
  /** The tenant, if the host has one. */
  readonly owner?: string;
  /** Aborted by stop, timeout and shutdown. A tool that obeys it ends a stopped turn immediately. */
  readonly signal: AbortSignal;
  /** Streams output to subscribers. It is not part of the log. */
  output(data: string, stream?: "stdout" | "stderr"): void;
  /**
   * Asks the user while the call runs: at most for the call's timeout, and not beyond the life of this process.
   * Absent if there is no one to ask.
   */
  ask?(question: ToolQuestion): Promise<ToolAnswer>;
}

/** A question that a tool asks while its call runs. */
export interface ToolQuestion {
  readonly message: string;
  /** JSON Schema of the answer. Default: a text. */
  readonly schema?: JsonObject;
}

/**
 * The answer to a tool's question. `declined`: the user did not want to answer. `canceled`: there was no answer
 * before the call timed out, was stopped or ended.
 */
export type ToolAnswer =
  | { readonly status: "answered"; readonly value: JsonValue; readonly note?: string }
  | { readonly status: "declined"; readonly note?: string }
  | { readonly status: "canceled" };

/** A result with more than a value. */
export interface ToolOutput {
  readonly content: unknown;
  readonly isError?: boolean;
  readonly files?: readonly ToolFile[];
}

/** A file that a tool returns. It is stored, and shown to a model that takes such files. */
export interface ToolFile {
  readonly mediaType: string;
  readonly data: Uint8Array;
  readonly name?: string;
}

/** Marks a returned object as a `ToolOutput`, which a plain result with a field `content` is not. */
export function toolOutput(content: unknown, isError = false, files: readonly ToolFile[] = []): ToolOutput {
  return Object.assign(Object.create(toolOutputPrototype) as object, { content, isError, files });
}

const toolOutputPrototype = Object.freeze({ [Symbol.for("parley.tool-output")]: true });

/** Returns true for a value that `toolOutput` made, also in another copy of this package. */
export function isToolOutput(value: unknown): value is ToolOutput {
  return typeof value === "object" && value !== null && Symbol.for("parley.tool-output") in value;
}

/** A tool that the model may call. */
export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description?: string;
  /** Describes and validates the arguments. Without it, any arguments reach `execute`. */
  readonly schema?: StandardSchema | JsonSchema;
  /**
   * Returns a text or any JSON value, or `toolOutput(...)`. A throw becomes an error result for the model;
   * it never ends the turn.
   */
  execute(input: Input, context: ToolContext): unknown;
  /** Recovery of a call that a crash interrupted: `retry` if it may be made again. Default `fail`. */
  readonly recovery?: "fail" | "retry";
  /** Overrides the limit of the host. */
  readonly timeoutMs?: number;
  /**
   * Rule for a person's approval of a call before it runs; or a function that returns one for each call, from the
   * valid arguments. If it throws, the call asks. Default `never`.
   */
  readonly approval?:
    | Approval
    | ((input: Input, context: ApprovalContext) => ApprovalVerdict | Promise<ApprovalVerdict>);
  /** Set on a tool whose result comes from outside: a person answers, or the caller runs it. `execute` is not called. */
  readonly answeredBy?: "person" | "caller";
  /**
   * Returns the question for the person, and the JSON Schema of the answer; for a tool that is `answeredBy` a person.
   */
  ask?(input: Input): { readonly reason?: string; readonly schema?: JsonObject };
  /** Origin of the tool, for lists. Default `host`. */
  readonly origin?: "builtin" | "host" | "mcp" | "caller";
}

/** Returns the tool as a provider sees it. */
export function toolDefinition(tool: Tool<never>): ProviderToolDefinition {
  const schema = tool.schema === undefined ? undefined : jsonSchemaOf(tool.schema);
  return {
    name: tool.name,
    ...omitUndefined({ description: tool.description, schema }),
  };
}

/** Returns a schema as JSON Schema; undefined for a validator that has none. */
export function jsonSchemaOf(schema: StandardSchema | JsonSchema): JsonSchema | undefined {
  if (!isStandardSchema(schema)) return schema;
  const json = schema["~standard"].jsonSchema?.input({ target: "draft-07" });
  if (json === undefined) return undefined;
  const { $schema: _, ...rest } = json;
  return rest;
}

/** Distinguishes the two kinds of schema. */
export function isStandardSchema(schema: StandardSchema | JsonSchema): schema is StandardSchema {
  return "~standard" in schema;
}
