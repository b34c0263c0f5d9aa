export {
  baseCases,
  type ContractCase,
  type ContractReport,
  ContractViolation,
  check,
  checkEqual,
  checkRejects,
  deepEqual,
  runCases,
} from "./contract-case.js";
export { createCountingIds } from "./counting-ids.js";
export { checkEventOrder, type EventOrderOptions } from "./event-order.js";
export { type FoldedConversation, type FoldedMessage, FrameFold } from "./fold-frames.js";
export { type Gate, gate } from "./gate.js";
export {
  type LogStoreCase,
  type LogStoreFixture,
  logStoreContract,
} from "./log-store-contract/log-store-contract.js";
export { createManualClock, type ManualClock, type ManualClockOptions, settle } from "./manual-clock.js";
export { createMemoryDatabase, type MemoryDatabase } from "./memory-log/database.js";
export { createFaultyStore, type StoreFaults } from "./memory-log/faulty-store.js";
export {
  createMemoryLogStore,
  type MemoryLogStoreOptions,
  type StoreCall,
  type StoreFault,
} from "./memory-log/memory-log-store.js";
export { createMemoryPresence, type MemoryPresence } from "./memory-log/memory-presence.js";
export { createMemoryWake } from "./memory-log/memory-wake.js";
export { createPlainSecrets } from "./plain-secrets.js";
export {
  type ProviderContractOptions,
  type ProviderFixture,
  type ProviderScenario,
  providerContract,
} from "./provider/provider-contract.js";
export {
  crash,
  cut,
  delay,
  fail,
  finish,
  hang,
  part,
  pause,
  reasoning,
  refuse,
  type Said,
  type Script,
  type ScriptAction,
  type ScriptContext,
  type ScriptEntry,
  text,
  toolCall,
  usage,
} from "./provider/script.js";
export {
  createScriptedProvider,
  type ScriptedCall,
  type ScriptedProvider,
  type ScriptedProviderOptions,
  type ScriptSource,
} from "./provider/scripted-provider.js";
export {
  createRecordingWebhooks,
  type RecordedPost,
  type RecordingWebhooks,
} from "./recording-webhooks.js";
export { type RuntimeFixture, runtimeContract } from "./runtime-contract/runtime-contract.js";
export { checkLog, transcript } from "./runtime-contract/world.js";
export {
  type ConversationStoreFixture,
  conversationStoreContract,
} from "./store-contracts/conversation-store-contract.js";
export { type MemoryStoreFixture, memoryStoreContract } from "./store-contracts/memory-store-contract.js";
