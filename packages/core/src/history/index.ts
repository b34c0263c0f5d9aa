export { BudgetedHistoryBuilder, type BudgetedHistoryBuilderOptions } from "./budgeted-history-builder.js";
export type { WindowSelection } from "./choose-window.js";
export type { ContextCost } from "./context-cost.js";
export type {
  HistoryBudget,
  HistoryBuilder,
  HistoryBuildRequest,
  HistoryBuildResult,
  HistoryDropped,
  PreviousCall,
} from "./history-builder.js";
export {
  buildManifest,
  comparePrefix,
  type ManifestInput,
  type PrefixComparison,
  type RequestLink,
  windowStart,
} from "./manifest.js";
export {
  createMessageMeter,
  type MessageMeter,
  measureInstructions,
  measureMessage,
  measureTools,
  type TextCounter,
} from "./message-tokens.js";
export { RecentNTurnsHistoryBuilder, type RecentNTurnsHistoryBuilderOptions } from "./recent-n-turns.js";
export {
  createWindowSelector,
  selectWindow,
  type WindowOptions,
  type WindowSelector,
} from "./select-window.js";
export type { WindowPiece } from "./window-piece.js";
