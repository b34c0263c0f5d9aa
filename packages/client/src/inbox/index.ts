export { createInbox, type Inbox, type InboxState } from "./inbox.js";
