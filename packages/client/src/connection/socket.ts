/** Event of a socket that has received something. */
export interface SocketMessageEvent {
  readonly data: unknown;
}

/** Event of a socket that has closed. */
export interface SocketCloseEvent {
  readonly code: number;
}

/** The part of a socket that the client uses: a browser's `WebSocket`, or the one of the package `ws`. */
export interface Socket {
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: SocketMessageEvent) => void): void;
  addEventListener(type: "close", listener: (event: SocketCloseEvent) => void): void;
}

/** Constructor of sockets. */
export type SocketConstructor = new (url: string, protocols?: string[]) => Socket;
