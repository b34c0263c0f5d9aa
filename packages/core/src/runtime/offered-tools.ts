import type { ToolsResponse } from "@parley/wire";
import { untilAborted } from "../messages/abort.js";
import type { Uses } from "./environment.js";
import { toToolInfo } from "./input/input-verbs.js";

/** Used where there is no owner: it has no logins. */
const noOwner = "";

/**
 * Returns the tools that an owner's turns are offered, and the servers they come from. Without an owner: those that
 * all owners share.
 */
export function offeredTools(
  { toolSource, toolsOf }: Uses<"toolSource" | "toolsOf">,
  owner?: string,
): ToolsResponse {
  const servers = toolSource?.servers(owner) ?? [];
  return { tools: toolsOf(owner ?? noOwner).map(toToolInfo), ...(servers.length === 0 ? {} : { servers }) };
}

/** Maximum wait for servers that an owner has logged in at, whatever their source does. */
const readyMs = 5_000;

/** Waits for the servers that an owner has logged in to, until they are connected. Failures show in their state. */
export async function toolsReady(
  { toolSource }: Uses<"toolSource">,
  owner: string,
  signal?: AbortSignal,
): Promise<void> {
  if (toolSource?.ready === undefined) return;
  const late = AbortSignal.timeout(readyMs);
  const either = signal === undefined ? late : AbortSignal.any([signal, late]);
  await untilAborted(toolSource.ready(owner, either), either).catch(() => undefined);
}
