export { Assembly, type VisibleDelta } from "./answer/assemble.js";
export type { Approval, ApprovalContext, ApprovalRule, ApprovalVerdict } from "./approval/approval.js";
export { askUserTool } from "./approval/ask-user.js";
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Approve,
  TurnInputs,
} from "./approval/turn-inputs.js";
export { runTurn } from "./run-turn.js";
export {
  type JsonSchema,
  type StandardResult,
  type StandardSchema,
  type Tool,
  type ToolAnswer,
  type ToolContext,
  type ToolFile,
  type ToolOutput,
  type ToolQuestion,
  toolDefinition,
  toolOutput,
} from "./tools/tool.js";
export {
  type BegunLogin,
  type FinishLogin,
  type LoginReturn,
  storeCapability,
  type ToolLogins,
  type ToolSource,
} from "./tools/tool-source.js";
export {
  defaultTurnLimits,
  type StepCommit,
  type StepCommitted,
  type StepContext,
  type TurnLimits,
  type TurnListener,
  type TurnOutcome,
  type TurnResume,
  type TurnSetup,
  type TurnSink,
  type TurnStream,
} from "./turn.js";
