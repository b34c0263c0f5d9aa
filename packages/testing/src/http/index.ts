export {
  json,
  type MisbehavingServer,
  refusedUrl,
  reset,
  type Script,
  type SeenRequest,
  startServer,
  writeForever,
} from "./misbehaving-server.js";
export { counted, transports } from "./transports.js";
export { VirtualClock } from "./virtual-clock.js";
