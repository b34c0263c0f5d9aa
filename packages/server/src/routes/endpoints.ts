import type { RouteName } from "@parley/wire";
import type { Endpoint } from "../http/endpoint.js";
import { chatEndpoints } from "./chat.js";
import { compactionEndpoints } from "./compaction.js";
import { connectionEndpoints } from "./connections.js";
import { conversationEndpoints } from "./conversations.js";
import { exportEndpoints } from "./exported.js";
import { fileEndpoints } from "./files.js";
import { inputEndpoints } from "./input.js";
import { keyEndpoints } from "./keys.js";
import { operationEndpoints } from "./operations.js";
import { queueEndpoints } from "./queue.js";
import { settingsEndpoints } from "./settings.js";
import { toolLoginEndpoints } from "./tool-logins.js";
import { usageEndpoints } from "./usage.js";
import { webhookEndpoints } from "./webhooks.js";

const all = [
  ...chatEndpoints,
  ...conversationEndpoints,
  ...queueEndpoints,
  ...inputEndpoints,
  ...toolLoginEndpoints,
  ...compactionEndpoints,
  ...settingsEndpoints,
  ...exportEndpoints,
  ...fileEndpoints,
  ...usageEndpoints,
  ...webhookEndpoints,
  ...connectionEndpoints,
  ...keyEndpoints,
  ...operationEndpoints,
];

type Missing = Exclude<RouteName, (typeof all)[number]["name"]>;

/** Every route of the wire. One that is missing does not compile. */
export const endpoints: readonly (Endpoint<RouteName> & ([Missing] extends [never] ? unknown : Missing))[] =
  all;
