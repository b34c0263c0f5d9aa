import { invalidField } from "@parley/core/errors";
import type { OwnerRuntime } from "@parley/core/runtime";
import type { QueuePayload, SurfaceCatalog, SurfaceSpec, WsServerMessage } from "@parley/wire";

const queueSurface = {
  id: "message-queue",
  region: "composer",
  title: "Queue",
  scope: "conversation",
} as const;

/** The surfaces of a server. */
export const surfaceCatalog: SurfaceCatalog = [queueSurface];

function queueSpec(payload: QueuePayload): SurfaceSpec {
  const { id, region, title } = queueSurface;
  return { id, region, title, fields: [{ kind: "custom", rendererId: "message-queue", payload }] };
}

/** The surfaces that one socket follows. */
export class Surfaces {
  readonly #me: OwnerRuntime;
  readonly #send: (message: WsServerMessage) => void;
  /** By conversation; while the first state is being read, the newest one received meanwhile. */
  readonly #queues = new Map<string, { isShown: boolean; received: QueuePayload | undefined }>();

  constructor(me: OwnerRuntime, send: (message: WsServerMessage) => void) {
    this.#me = me;
    this.#send = send;
  }

  get size(): number {
    return this.#queues.size;
  }

  /** Returns true if the queue of this conversation is followed. */
  has(conversationId: string | undefined): boolean {
    return conversationId !== undefined && this.#queues.has(conversationId);
  }

  /** Sends the current surface, and then every change of it. */
  async subscribe(surfaceId: string, conversationId: string | undefined): Promise<void> {
    const id = checkSurface(surfaceId, conversationId);
    const state = { isShown: false, received: undefined as QueuePayload | undefined };
    this.#queues.set(id, state);
    try {
      const read = await this.#me.queue.list(id);
      if (this.#queues.get(id) !== state) return;
      // A state received during the read is at least as new, or is published again.
      this.#send({ type: "surface", conversationId: id, spec: queueSpec(state.received ?? read) });
      state.isShown = true;
    } catch (error) {
      if (this.#queues.get(id) === state) this.#queues.delete(id);
      throw error;
    }
  }

  unsubscribe(surfaceId: string, conversationId: string | undefined): void {
    this.#queues.delete(checkSurface(surfaceId, conversationId));
  }

  queueChanged(conversationId: string, queue: QueuePayload): void {
    const state = this.#queues.get(conversationId);
    if (state === undefined) return;
    if (!state.isShown) {
      state.received = queue;
      return;
    }
    const spec = queueSpec(queue);
    const update = { surfaceId: spec.id, conversationId, spec };
    this.#send({ type: "update", conversationId, spec, update });
  }

  removed(conversationId: string): void {
    this.#queues.delete(conversationId);
  }

  clear(): void {
    this.#queues.clear();
  }
}

function checkSurface(surfaceId: string, conversationId: string | undefined): string {
  if (surfaceId !== queueSurface.id) {
    throw invalidField("surfaceId", `there is only "${queueSurface.id}"`);
  }
  if (conversationId === undefined) {
    throw invalidField("conversationId", "this surface exists per conversation");
  }
  return conversationId;
}
