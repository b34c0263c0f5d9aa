export { Assembly, type VisibleDelta } from "./answer/assemble.js";
export type { Approval, ApprovalContext, ApprovalRule, ApprovalVerdict } from "./approval/approval.js";
export { type AskUserInput, askUserName, askUserTool } from "./approval/ask-user.js";
export { matchesArguments, matchesGlob } from "./approval/match-arguments.js";
export { toolHash } from "./approval/tool-hash.js";
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Approve,
  AskedCall,
  InputRequest,
  TurnInputs,
} from "./approval/turn-inputs.js";
export { runTurn } from "./run-turn.js";
export {
  type JsonSchema,
  type StandardResult,
  type StandardSchema,
  type Tool,
  type ToolContext,
  type ToolOutput,
  toolDefinition,
  toolOutput,
} from "./tools/tool.js";
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
