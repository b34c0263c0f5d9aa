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
export { type ConversationStoreFixture, conversationStoreContract } from "./conversation-store-contract.js";
export { checkEventOrder, type EventOrderOptions } from "./event-order.js";
export { createFaultyStore, type StoreFaults } from "./faulty-store.js";
export { type FoldedConversation, type FoldedMessage, FrameFold } from "./fold-frames.js";
export { type Gate, gate } from "./gate.js";
export { type LogStoreCase, type LogStoreFixture, logStoreContract } from "./log-store-contract.js";
export { createManualClock, type ManualClock, type ManualClockOptions, settle } from "./manual-clock.js";
export { createMemoryDatabase, type MemoryDatabase } from "./memory-log/database.js";
export {
  createMemoryLogStore,
  type MemoryLogStoreOptions,
  type StoreCall,
  type StoreFault,
} from "./memory-log-store.js";
export { type MemoryStoreFixture, memoryStoreContract } from "./memory-store-contract.js";
export { createMemoryWake } from "./memory-wake.js";
export {
  type ProviderContractOptions,
  type ProviderFixture,
  type ProviderScenario,
  providerContract,
} from "./provider-contract.js";
export { type RuntimeFixture, runtimeContract } from "./runtime-contract.js";
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
  type ScriptEntry,
  type ScriptStage,
  text,
  toolCall,
  usage,
} from "./script.js";
export {
  createScriptedProvider,
  type ScriptedCall,
  type ScriptedProvider,
  type ScriptedProviderOptions,
  type ScriptSource,
} from "./scripted-provider.js";
