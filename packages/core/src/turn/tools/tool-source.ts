import type { ToolServerInfo } from "@parley/wire";
import type { Tool } from "./tool.js";

/**
 * The experimental capability by which Parley, as a server of tools, says which store its conversations are in:
 * `{ id }`. A Parley that would be offered tools of its own conversations can refuse them.
 */
export const storeCapability = "parley/store";

/** A place that tools come from, whose list may change while a node runs. */
export interface ToolSource {
  /** The tools it offers now. The same list as long as nothing changes. */
  tools(): readonly Tool<never>[];
  /** The state of its servers. */
  servers(): readonly ToolServerInfo[];
  /** Ends its servers. What is under way fails. */
  close(): Promise<void>;
}
