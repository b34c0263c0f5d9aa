export { defaultModelLimits, type ModelLimits, modelLimits } from "./model-limits.js";
