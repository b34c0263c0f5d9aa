export {
  ParleyChatTransport,
  type ParleyChatTransportOptions,
} from "./parley-chat-transport.js";
export type {
  ParleyDataParts,
  ParleyMessageMetadata,
  ParleySteering,
  ParleyUIMessage,
} from "./ui-message.js";
