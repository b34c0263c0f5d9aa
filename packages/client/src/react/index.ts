export {
  ParleyProvider,
  type ParleyProviderProps,
  useClient,
  useConnection,
  useConnectionState,
  useConversation,
  useConversationList,
  useConversationSelector,
  useInbox,
} from "./hooks.js";
