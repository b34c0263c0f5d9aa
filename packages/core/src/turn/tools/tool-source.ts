import type { ToolServerInfo } from "@parley/wire";
import type { Tool } from "./tool.js";

/** A place that tools come from, whose list may change while a node runs. */
export interface ToolSource {
  /** The tools it offers now. The same list as long as nothing changes. */
  tools(): readonly Tool<never>[];
  /** The state of its servers. */
  servers(): readonly ToolServerInfo[];
  /** Ends its servers. What is under way fails. */
  close(): Promise<void>;
}
