export { readLines } from "../requests/read-lines.js";
export { conversationsIn } from "./conversations-in.js";
