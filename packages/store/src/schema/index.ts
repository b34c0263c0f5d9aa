export * from "./access.js";
export { parley } from "./columns.js";
export * from "./conversations.js";
export * from "./files.js";
export * from "./input.js";
export * from "./installation.js";
export * from "./log.js";
export * from "./search.js";
export * from "./webhooks.js";
