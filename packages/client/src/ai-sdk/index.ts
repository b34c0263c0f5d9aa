export {
  ParleyChatTransport,
  type ParleyChatTransportOptions,
} from "./parley-chat-transport.js";
export type {
  ParleyDataParts,
  ParleyMessageMetadata,
  ParleyQuestion,
  ParleySteering,
  ParleyUIMessage,
} from "./ui-message.js";
