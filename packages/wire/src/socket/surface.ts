import type { QueuePayload } from "../queue.js";

/** A field that a client draws with its own renderer, found by `rendererId`. */
export interface CustomSurfaceField<RendererId extends string, Payload> {
  readonly kind: "custom";
  readonly rendererId: RendererId;
  readonly payload: Payload;
}

/** The queue of a conversation. */
export type MessageQueueField = CustomSurfaceField<"message-queue", QueuePayload>;

/** Field of a surface. A client ignores fields without a renderer. */
export type SurfaceField = MessageQueueField;

/**
 * State that the server shows beside the conversation. It is always sent whole: each update replaces the
 * previous one, so that a missed one costs nothing.
 */
export interface SurfaceSpec {
  readonly id: string;
  /** Region where a client should place it. */
  readonly region: string;
  readonly title: string;
  readonly fields: readonly SurfaceField[];
}

/** A surface that can be subscribed to. */
export interface SurfaceCatalogEntry {
  readonly id: string;
  readonly region: string;
  readonly title: string;
  /** `conversation`: there is one per conversation, and subscribing names it. */
  readonly scope: "global" | "conversation";
}

/** All surfaces of a server. */
export type SurfaceCatalog = readonly SurfaceCatalogEntry[];
