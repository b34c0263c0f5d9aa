export {
  ParleyProvider,
  type ParleyProviderProps,
  useClient,
  useConnection,
  useConnectionState,
  useConversation,
  useConversationList,
  useConversationSelector,
} from "./hooks.js";
