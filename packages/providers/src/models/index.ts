export { defaultModelLimits, type ModelLimits, modelLimits } from "./model-limits.js";
export { modelPrices, modelPricesDate, type PricedProvider } from "./model-prices.js";
