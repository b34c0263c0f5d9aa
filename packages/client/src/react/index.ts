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
  useUploads,
} from "./hooks.js";
