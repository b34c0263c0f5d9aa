import type { ProviderAdapter } from "@parley/core/ports";
import type { Tool } from "@parley/core/turn";
import { z } from "zod";

const positive = z.int().positive();
const notNegative = z.int().min(0);

/** A secret or an address, or the name of the environment variable that holds it: `{ "env": "OPENAI_API_KEY" }`. */
const fromEnvironment = z.strictObject({ env: z.string().min(1) });
const secret = z.union([z.string().min(1), fromEnvironment]);

const price = z.number().min(0).max(1_000_000);

/** For a million tokens. */
const prices = z.strictObject({
  input: price,
  cachedInput: price.optional(),
  cacheWrite: price.optional(),
  output: price,
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "a currency as ISO 4217 has it, such as USD")
    .optional(),
});

const reasoningEffort = z.enum(["low", "medium", "high", "xhigh", "max"]);

const model = z.union([
  z.string().min(1),
  z.strictObject({
    name: z.string().min(1),
    contextWindow: positive.optional(),
    maxOutputTokens: positive.optional(),
    prices: prices.optional(),
    /** The efforts that the model takes: all, none, or these. */
    efforts: z.union([z.boolean(), z.array(reasoningEffort)]).optional(),
    /** Fields that every request to this model carries beside Parley's own. */
    extraParams: z.record(z.string(), z.unknown()).optional(),
  }),
]);
const models = z.array(model).min(1);
const headers = z.record(z.string(), z.string());

const openai = z.strictObject({
  kind: z.literal("openai"),
  apiKey: secret.optional(),
  baseUrl: z.url().optional(),
  organizationId: z.string().optional(),
  projectId: z.string().optional(),
  headers: headers.optional(),
  models: models.optional(),
});

const anthropic = z.strictObject({
  kind: z.literal("anthropic"),
  apiKey: secret.optional(),
  baseUrl: z.url().optional(),
  version: z.string().optional(),
  betas: z.array(z.string()).optional(),
  promptCache: z.union([z.literal("5m"), z.literal("1h"), z.literal(false)]).optional(),
  headers: headers.optional(),
  models: models.optional(),
});

const compatible = z.strictObject({
  kind: z.literal("compatible"),
  baseUrl: z.union([z.url(), fromEnvironment]),
  apiKey: secret.optional(),
  headers: headers.optional(),
  /** Left out, the server is asked which ones it has. */
  models: models.optional(),
  includeUsage: z.boolean().optional(),
  maxTokensField: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
  replayReasoning: z.enum(["reasoning_content", "reasoning"]).optional(),
  sendsImages: z.boolean().optional(),
  sendsFiles: z.boolean().optional(),
  takesOutput: z.boolean().optional(),
  acceptUnmarkedEnd: z.boolean().optional(),
  thinkTags: z.union([z.boolean(), z.literal("opened")]).optional(),
});

const demo = z.strictObject({
  kind: z.literal("demo"),
  pace: z.enum(["human", "instant"]).optional(),
  /** Duration of each step of the demo's slow tool. */
  slowStepMs: notNegative.optional(),
});

/** A provider adapter made by the configuration itself: only a module can hold one. */
const custom = z.strictObject({
  kind: z.literal("custom"),
  provider: z.custom<ProviderAdapter>(
    (value) =>
      typeof value === "object" &&
      value !== null &&
      ["complete", "completeStream"].some((name) => typeof Reflect.get(value, name) === "function"),
    "expected a provider adapter: an object with `complete` or `completeStream`",
  ),
  models,
});

const credential = z.discriminatedUnion("kind", [openai, anthropic, compatible, demo, custom]);

const files = z.strictObject({
  root: z.string().min(1),
  maxBytes: positive.optional(),
  maxEntries: positive.optional(),
});

const httpGet = z.strictObject({
  allow: z.array(z.string().min(1)).min(1),
  maxBytes: positive.optional(),
  timeoutMs: positive.optional(),
  maxRedirects: notNegative.optional(),
});

/** A tool made by the configuration itself: only a module can hold one. */
const customTool = z.custom<Tool<never>>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    typeof Reflect.get(value, "name") === "string" &&
    typeof Reflect.get(value, "execute") === "function",
  "expected a tool: an object with a `name` and an `execute` function",
);

const tools = z.strictObject({
  time: z.boolean().optional(),
  calculator: z.boolean().optional(),
  files: z.union([files, z.literal(false)]).optional(),
  httpGet: z.union([httpGet, z.literal(false)]).optional(),
  custom: z.array(customTool).optional(),
});

/** Settings that every server of tools has, however it is reached. */
const mcpServer = {
  tools: z
    .strictObject({
      allow: z.array(z.string().min(1)).optional(),
      deny: z.array(z.string().min(1)).optional(),
    })
    .optional(),
  approval: z.enum(["never", "once", "always"]).optional(),
  timeoutMs: positive.max(600_000).optional(),
  trust: z.boolean().optional(),
};

/** Servers of tools that speak the Model Context Protocol, in the shape that other programs have. */
const mcpServers = z.record(
  z
    .string()
    .regex(
      /^(?=.{1,32}$)[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/,
      "a server's name has letters, digits, - and single _",
    ),
  z.union([
    z.strictObject({
      command: z.string().min(1),
      args: z.array(z.string()).optional(),
      env: z.record(z.string(), secret).optional(),
      cwd: z.string().min(1).optional(),
      ...mcpServer,
    }),
    z.strictObject({
      url: z.url({ protocol: /^https?$/ }),
      headers: z.record(z.string(), secret).optional(),
      auth: z.literal("oauth").optional(),
      clientId: z.string().min(1).optional(),
      clientSecret: secret.optional(),
      issuer: z.url({ protocol: /^https?$/ }).optional(),
      scopes: z.array(z.string().min(1)).optional(),
      ...mcpServer,
    }),
  ]),
);

/** When people are asked about calls. */
const approvals = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        tool: z.string().min(1),
        where: z.record(z.string(), z.json()).optional(),
        owner: z.string().min(1).optional(),
        approval: z.enum(["never", "once", "always"]),
        reason: z.string().optional(),
      }),
    )
    .optional(),
  expiresMs: positive.optional(),
  askUser: z.boolean().optional(),
});

/** Delivery of events to webhooks. */
const webhooks = z.strictObject({
  /** Addresses of this machine and of local networks that may be posted to. */
  privateAddresses: z.union([z.boolean(), z.array(z.string().min(1))]).optional(),
  perOwner: positive.optional(),
  attempts: positive.max(100).optional(),
  timeoutMs: positive.max(120_000).optional(),
  responseBytes: positive.optional(),
  concurrency: positive.max(1_000).optional(),
  perWebhook: positive.max(1_000).optional(),
  keepDeliveredDays: positive.max(3_650).optional(),
  keepDeadDays: positive.max(3_650).optional(),
});

/** Connections to providers that are made while the server runs. */
const connections = z.strictObject({
  /** Addresses of this machine and of local networks that may be connected to. */
  privateAddresses: z.union([z.boolean(), z.array(z.string().min(1))]).optional(),
});

/** The bounds of files that people send. */
const fileLimits = z.strictObject({
  fileBytes: positive.optional(),
  messageFiles: positive.max(1_000).optional(),
  messageFileBytes: positive.optional(),
  ownerBytes: positive.optional(),
  unsentHours: positive.max(24 * 365).optional(),
});

/** The bounds of the runtime, and behind them those of the server. */
const limits = z.strictObject({
  runningTurns: positive.optional(),
  runningTurnsPerOwner: positive.optional(),
  queueLength: positive.optional(),
  messageBytes: positive.optional(),
  toolOutputBytes: positive.optional(),
  answerBytes: positive.optional(),
  answerCalls: positive.max(10_000).optional(),
  answerParts: positive.max(100_000).optional(),
  firstContentMs: positive.optional(),
  betweenContentMs: positive.optional(),
  maxSteps: positive.optional(),
  turnDurationMs: positive.optional(),
  toolTimeoutMs: positive.optional(),
  toolConcurrency: positive.optional(),
  subscriberFrames: positive.optional(),
  bodyBytes: positive.optional(),
  faceBodyBytes: positive.optional(),
  importBytes: positive.optional(),
  frameBytes: positive.optional(),
  requestsPerSecond: positive.optional(),
  requestBurst: positive.optional(),
  failedLogins: positive.optional(),
  connectionsPerKey: positive.optional(),
  subscriptionsPerSocket: positive.optional(),
  bufferedBytes: positive.optional(),
  pageSize: positive.optional(),
});

/** A bucket for the bytes of files. */
const s3 = z.strictObject({
  bucket: z.string().min(1),
  region: z.string().min(1).optional(),
  endpoint: z.url({ protocol: /^https?$/ }).optional(),
  accessKeyId: secret.optional(),
  secretAccessKey: secret.optional(),
  sessionToken: secret.optional(),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9._/-]*$/, "expected letters, digits and / . _ -")
    .optional(),
  pathStyle: z.boolean().optional(),
});

/** Of the database: the one that holds Parley's tables. */
const schema = z
  .string()
  .regex(
    /^(?!pg_|public$|information_schema$)[a-z_][a-z0-9_]{0,58}$/,
    "expected a name of a-z 0-9 _ that is Parley's own, not `public`",
  );

/** A schema on one of several database servers. */
const shard = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "expected a name of a-z 0-9 _ -"),
  url: secret,
  schema: schema.optional(),
  listenUrl: z.union([secret, z.literal(false)]).optional(),
  transactionPooler: z.boolean().optional(),
});

/** Most shards of an installation: each of them has its own range of numbers. */
const mostShards = 4_096;

const store = z
  .strictObject({
    s3: s3.optional(),
    folder: z.string().min(1).optional(),
    schema: schema.optional(),
    schemas: positive.max(mostShards).optional(),
    shards: z.array(shard).min(1).max(mostShards).optional(),
    engine: z.enum(["postgres", "pglite"]).optional(),
    durable: z.boolean().optional(),
    url: secret.optional(),
    listenUrl: z.union([secret, z.literal(false)]).optional(),
    maxConnections: positive.optional(),
    transactionPooler: z.boolean().optional(),
    connectTimeoutMs: positive.optional(),
    statementTimeoutMs: positive.optional(),
    longStatementTimeoutMs: positive.optional(),
    answerGraceMs: positive.optional(),
  })
  .refine(
    ({ folder, url }) => folder === undefined || url === undefined,
    "has both `folder` (the embedded database) and `url` (a PostgreSQL server); keep one of them",
  )
  .refine(
    ({ engine, url }) => engine === undefined || url === undefined,
    "has both `engine` (of the embedded database) and `url` (a PostgreSQL server); keep one of them",
  )
  .refine(
    ({ shards, folder, engine, url, schema, listenUrl, transactionPooler }) =>
      shards === undefined ||
      [folder, engine, url, schema, listenUrl, transactionPooler].every((each) => each === undefined),
    "has `shards`: each of them has its own `url`, `schema`, `listenUrl` and `transactionPooler`; remove those beside them",
  )
  .refine(
    ({ schemas, shards, folder, engine }) =>
      schemas === undefined || [shards, folder, engine].every((each) => each === undefined),
    "has `schemas`, a number of schemas of the server at `url`; remove `shards`, `folder` and `engine`",
  )
  .refine(
    ({ schemas = 1, schema: name = "parley" }) =>
      schemas === 1 || schema.safeParse(`${name}_${schemas - 1}`).success,
    "has a `schema` whose name is too long to be followed by the numbers of `schemas`",
  );

/** The schema of a configuration file. Everything is optional, and nothing else is allowed. */
export const configSchema = z.strictObject({
  /** The address of the JSON schema, for editors. */
  $schema: z.string().optional(),
  store: store.optional(),
  listen: z
    .strictObject({ host: z.string().min(1).optional(), port: z.int().min(0).max(65_535).optional() })
    .optional(),
  /** Other pages that may call the API. */
  origins: z.array(z.string().min(1)).optional(),
  /** Further names under which the server is reached. */
  hosts: z.array(z.string().min(1)).optional(),
  auth: z.enum(["auto", "open", "keys"]).optional(),
  /** The owner of conversations when no key names one. */
  owner: z.string().min(1).max(128).optional(),
  defaultModel: z.string().min(1).optional(),
  models: z
    .record(
      z.string().regex(/^[A-Za-z0-9._-]+$/, "a credential's name has letters, digits and . _ -"),
      credential,
    )
    .optional(),
  instructions: z.string().optional(),
  reasoningEffort: reasoningEffort.optional(),
  /** Asked for the titles of new conversations. `none`: a title is the first message, shortened. */
  titleModel: z.string().min(1).optional(),
  /** The share of a window at which a conversation is compacted on its own; 0 never. */
  compactAt: z.number().min(0).max(1).optional(),
  /** Keep the providers' raw responses with each call. */
  keepRawResponses: z.boolean().optional(),
  /** Retention of conversations that hold a single response, after their last use. Absent: kept permanently. */
  responseRetentionDays: z.number().positive().max(36_500).optional(),
  /** Retention of temporary conversations after their last use. */
  temporaryHours: z.number().positive().max(876_000).optional(),
  tools: tools.optional(),
  mcpServers: mcpServers.optional(),
  approvals: approvals.optional(),
  webhooks: webhooks.optional(),
  connections: connections.optional(),
  files: fileLimits.optional(),
  limits: limits.optional(),
  /** Messages that the page offers to begin a conversation with. */
  starters: z.array(z.string().trim().min(1).max(500)).max(12).optional(),
  /** The folder of a built page that is served in the place of Parley's own. */
  page: z.string().min(1).optional(),
});

/** A configuration file's content. */
export type ConfigFile = z.infer<typeof configSchema>;

/** The configuration of one credential. */
export type Credential = z.infer<typeof credential>;

/** Which tools there are. */
export type ToolSettings = z.infer<typeof tools>;

/** When people are asked. */
export type ApprovalSettings = z.infer<typeof approvals>;

/** Delivery of webhooks. */
export type FileSettings = z.infer<typeof fileLimits>;

/** Delivery of events to webhooks. */
export type WebhookSettings = z.infer<typeof webhooks>;

/** Where connections may lead that are made while the server runs. */
export type ConnectionSettings = z.infer<typeof connections>;

/** A value, or the environment variable that holds it. */
export type Given = z.infer<typeof secret>;

/** One of a credential's models. */
export type ModelEntry = z.infer<typeof model>;
