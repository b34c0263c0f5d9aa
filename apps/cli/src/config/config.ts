import type { EmbeddedEngine } from "@parley/store/embedded";
import type { S3Options } from "@parley/store/objects";
import type { ShardOptions } from "@parley/store/postgres";
import type { McpServerConfig } from "@parley/tools/mcp";
import type { ReasoningEffort } from "@parley/wire";
import type {
  ApprovalSettings,
  ConfigFile,
  ConnectionSettings,
  Credential,
  FileSettings,
  ToolSettings,
  WebhookSettings,
} from "./config-schema.js";

/** The place of the log, and the bucket for the bytes of its files. Without one they are kept with the log. */
export type StoreConfig = { readonly s3?: S3Options } & (
  | {
      readonly kind: "folder";
      readonly folder: string;
      readonly durable: boolean;
      readonly engine?: EmbeddedEngine;
      readonly schema?: string;
    }
  | {
      readonly kind: "postgres";
      /** With several shards: that of the first one. */
      readonly url: string;
      readonly shards?: readonly ShardOptions[];
      /** Number of schemas that the database is divided into. */
      readonly schemas?: number;
      readonly schema?: string;
      readonly listenUrl?: string | false;
      readonly maxConnections?: number;
      readonly transactionPooler?: boolean;
      readonly connectTimeoutMs?: number;
      readonly statementTimeoutMs?: number;
      readonly longStatementTimeoutMs?: number;
      readonly answerGraceMs?: number;
    }
);

/** A credential whose secrets have been looked up. */
export type ResolvedCredential = Resolved<Credential>;

type Resolved<Kind> = Kind extends Credential
  ? Omit<Kind, "apiKey" | "baseUrl"> & { readonly apiKey?: string; readonly baseUrl?: string }
  : never;

/** The whole configuration, from file, environment and flags, with every default filled in. */
export interface Config {
  /** The file it came from. Absent: there is none. */
  readonly file?: string;
  readonly store: StoreConfig;
  /** The texts that the keys of stored secrets are derived from. Only the environment has them. */
  readonly secret?: string;
  readonly previousSecret?: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly origins: readonly string[];
  readonly hosts: readonly string[];
  readonly auth: "auto" | "open" | "keys";
  readonly owner: string;
  readonly defaultModel?: string;
  /** By credential name, in the order in which they are shown. */
  readonly credentials: ReadonlyMap<string, ResolvedCredential>;
  readonly credentialsFrom: "file" | "environment" | "nowhere";
  readonly instructions?: string;
  readonly reasoningEffort?: ReasoningEffort;
  readonly titleModel?: string;
  readonly compactAt?: number;
  readonly keepRawResponses: boolean;
  readonly responseRetentionDays?: number;
  readonly temporaryHours?: number;
  readonly tools: ToolSettings;
  /** By name, with their secrets looked up. */
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  readonly approvals?: ApprovalSettings;
  readonly webhooks?: WebhookSettings;
  readonly connections?: ConnectionSettings;
  readonly files?: FileSettings;
  readonly limits: NonNullable<ConfigFile["limits"]>;
  readonly starters?: readonly string[];
  /** The folder of a page of one's own. Absent: the page of Parley. */
  readonly page?: string;
}

/** Configuration from command-line flags. It takes precedence over environment and file. */
export interface ConfigFlags {
  readonly config?: string | undefined;
  readonly store?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly owner?: string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const defaultPort = 4141;
/** The store of a folder. It is used where it exists; otherwise the user's own store is. */
export const folderStore = ".parley";
