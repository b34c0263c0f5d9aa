import type { WsChatChunks, WsChatDelta, WsChatReset, WsChatSnapshot } from "@parley/wire";

/** A frame of a subscription: the state around the log, committed chunks, a reset, or one event. */
export type SubscriptionFrame = WsChatSnapshot | WsChatChunks | WsChatReset | WsChatDelta;
