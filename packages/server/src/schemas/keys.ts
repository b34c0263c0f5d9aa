import { z } from "@hono/zod-openapi";
import type {
  ApiKeyInfo,
  CreateKeyRequest,
  CreateKeyResponse,
  DeleteKeyResponse,
  EndLoginsResponse,
  KeyParams,
  KeysResponse,
  LoginRequest,
  LogoutRequest,
  LogoutResponse,
  MeResponse,
} from "@parley/wire";
import { agree } from "./agree.js";
import { count, id, instant, keyScope } from "./scalars.js";

const apiKeyInfo = agree<ApiKeyInfo>()(
  z
    .object({
      id,
      owner: z.string(),
      prefix: z.string(),
      scopes: z.array(keyScope),
      createdAt: instant,
      lastUsedAt: instant.optional(),
    })
    .openapi("ApiKeyInfo"),
);

export const keyParams = agree<KeyParams>()(z.object({ id }));
export const keysResponse = agree<KeysResponse>()(z.object({ keys: z.array(apiKeyInfo) }));

export const createKeyRequest = agree<CreateKeyRequest>()(
  z
    .object({
      owner: z
        .string()
        .regex(/^[\x21-\x7e]{1,128}$/, "1 to 128 printable characters of ASCII, without spaces")
        .optional(),
      scopes: z.array(keyScope).min(1).max(4).optional(),
    })
    .openapi("CreateKeyRequest"),
);
export const createKeyResponse = agree<CreateKeyResponse>()(
  z.object({ key: apiKeyInfo, secret: z.string() }),
);
export const deleteKeyResponse = agree<DeleteKeyResponse>()(z.object({ id, removed: z.boolean() }));

export const loginRequest = agree<LoginRequest>()(z.object({ key: z.string().min(1).max(256) }));
export const logoutRequest = agree<LogoutRequest>()(z.object({ everywhere: z.boolean().optional() }));
export const endLoginsResponse = agree<EndLoginsResponse>()(z.object({ id, ended: count }));
export const logoutResponse = agree<LogoutResponse>()(z.object({ loggedOut: z.literal(true) }));
export const meResponse = agree<MeResponse>()(
  z.object({
    owner: z.string(),
    scopes: z.array(keyScope),
    auth: z.enum(["open", "keys"]),
    files: z
      .object({ fileBytes: count, messageFiles: count, messageFileBytes: count })
      .optional()
      .openapi({ description: "Bounds of files" }),
    starters: z.array(z.string()).optional().openapi({ description: "Messages to begin with" }),
  }),
);
