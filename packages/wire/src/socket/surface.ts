import type { QueuePayload } from "../queue.js";

/** A field that a client draws with a renderer of its own, found by `rendererId`. */
export interface CustomSurfaceField<RendererId extends string, Payload> {
  readonly kind: "custom";
  readonly rendererId: RendererId;
  readonly payload: Payload;
}

/** The queue of a conversation. */
export type MessageQueueField = CustomSurfaceField<"message-queue", QueuePayload>;

/** What a surface can hold. A client leaves out fields that it has no renderer for. */
export type SurfaceField = MessageQueueField;

/**
 * A piece of state that the server shows beside the transcript. It travels whole: each update replaces the
 * one before it, so that a missed one costs nothing.
 */
export interface SurfaceSpec {
  readonly id: string;
  /** Where a client should put it. */
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
