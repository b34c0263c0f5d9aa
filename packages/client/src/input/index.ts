export { type InputRequests, inputRequests } from "./input.js";
