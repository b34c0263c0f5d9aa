export { defaultMcpLimits, type McpLimits } from "./mcp-limits.js";
export { createMcpTools, type McpToolsOptions } from "./mcp-tools.js";
export type { HttpServer, McpServerConfig, StdioServer } from "./server-config.js";
