import type { Face } from "../face.js";
import { mcpEndpoints } from "./endpoints.js";
import { describeFailure, failureContent } from "./failure.js";

/**
 * The Model Context Protocol, as a server without sessions: programs that take tools search, read and continue the
 * caller's conversations.
 */
export const mcp: Face = {
  name: "mcp",
  path: "/mcp",
  endpoints: mcpEndpoints,
  describeFailure,
  failureContent,
};
