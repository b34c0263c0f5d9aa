export {
  addCosts,
  type CachedCall,
  type CacheLoss,
  cacheLoss,
  costSum,
  noCost,
  sumCosts,
} from "@parley/fold";
export { formatAmounts, formatCost, formatMoney, totalOf } from "./format-cost.js";
export { readUsage } from "./read-usage.js";
