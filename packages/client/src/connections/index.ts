export { type ConnectionRequests, connectionRequests } from "./connections.js";
