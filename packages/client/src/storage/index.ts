export { type BrowserStorageOptions, browserStorage } from "./browser-storage.js";
