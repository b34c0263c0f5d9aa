export { type DeriveLimits, defaultDeriveLimits } from "./derive-limits.js";
export { createFileDeriver } from "./file-deriver.js";
