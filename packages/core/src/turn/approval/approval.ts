import { omitUndefined } from "@parley/fold";
import type { JsonValue } from "@parley/wire";
import { matchesArguments, matchesGlob } from "./match-arguments.js";

/**
 * Rule for a person's approval of a tool's calls. `never`: a call runs immediately. `once`: the first one in a
 * conversation needs approval. `always`: each one does.
 */
export type Approval = "never" | "once" | "always";

/** The call that an approval rule decides on. */
export interface ApprovalContext {
  readonly conversationId: string;
  readonly turnId: string;
  readonly stepId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** The tenant, if the host has one. */
  readonly owner?: string;
}

/** The result of an approval rule, with a reason for the person who decides. */
export type ApprovalVerdict = Approval | { readonly approval: Approval; readonly reason?: string };

/** A rule of the host. It can only be stricter than the tool's own. */
export interface ApprovalRule {
  /** The tools, by name; `*` matches any characters. */
  readonly tool: string;
  /** Only for calls whose arguments match: by path, a text in which `*` matches any characters, or an equal value. */
  readonly where?: Readonly<Record<string, JsonValue>>;
  /** Only for these owners; `*` matches any characters. */
  readonly owner?: string;
  /** With `always` each call asks, regardless of earlier approvals. */
  readonly approval: Approval;
  /** For the person who decides. */
  readonly reason?: string;
}

/** Need for a person's approval of a call. */
export interface ApprovalNeed {
  readonly approval: "once" | "always";
  readonly reason?: string;
  /** True if a standing approval may replace it. */
  readonly isGrantable: boolean;
}

const strictness: Readonly<Record<Approval, number>> = { never: 0, once: 1, always: 2 };

/**
 * Returns the approval that a call needs: by the tool's own rule, and by those rules of the host that are stricter. A
 * rule that throws, or returns an invalid value, asks.
 */
export async function approvalNeed(
  tool: {
    readonly approval?:
      | Approval
      | ((input: never, context: ApprovalContext) => ApprovalVerdict | Promise<ApprovalVerdict>);
  },
  input: unknown,
  context: ApprovalContext,
  rules: readonly ApprovalRule[],
): Promise<ApprovalNeed | undefined> {
  let need = needOf(await ownVerdict(tool, input, context));
  for (const rule of rules) {
    if (!applies(rule, input, context)) continue;
    const { approval, reason } = rule;
    const isStricter = strictness[approval] > strictness[need?.approval ?? "never"];
    // A host rule that asks each time is not overruled by an earlier approval.
    if (approval === "always") {
      need = { approval, isGrantable: false, ...omitUndefined({ reason: reason ?? need?.reason }) };
    } else if (approval === "once" && isStricter) {
      need = { approval, isGrantable: true, ...omitUndefined({ reason }) };
    }
  }
  return need;
}

/** Returns true if calls of a tool may need approval, so that each has to be checked. */
export function mayNeedApproval(
  tool: { readonly name: string; readonly approval?: unknown },
  rules: readonly ApprovalRule[],
): boolean {
  if (tool.approval !== undefined && tool.approval !== "never") return true;
  return rules.some((rule) => rule.approval !== "never" && matchesGlob(rule.tool, tool.name));
}

function applies(rule: ApprovalRule, input: unknown, { toolName, owner }: ApprovalContext): boolean {
  if (!matchesGlob(rule.tool, toolName)) return false;
  if (rule.owner !== undefined && !matchesGlob(rule.owner, owner ?? "")) return false;
  return matchesArguments(rule.where, input);
}

async function ownVerdict(
  tool: Parameters<typeof approvalNeed>[0],
  input: unknown,
  context: ApprovalContext,
): Promise<unknown> {
  if (typeof tool.approval !== "function") return tool.approval ?? "never";
  try {
    return await tool.approval(input as never, context);
  } catch {
    return undefined;
  }
}

function needOf(verdict: unknown): ApprovalNeed | undefined {
  const { approval, reason } =
    typeof verdict === "object" && verdict !== null
      ? (verdict as { readonly approval?: unknown; readonly reason?: unknown })
      : { approval: verdict, reason: undefined };
  if (approval === "never") return undefined;
  if (approval !== "once" && approval !== "always") {
    return { approval: "always", isGrantable: false, reason: "The tool's approval rule failed" };
  }
  return { approval, isGrantable: true, ...(typeof reason === "string" ? { reason } : {}) };
}
