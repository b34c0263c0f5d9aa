export { type WebhookRequests, webhookRequests } from "./webhooks.js";
