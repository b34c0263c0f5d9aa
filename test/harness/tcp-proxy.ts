import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** One connection through the proxy, and its frozen state. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  isFrozen: boolean;
}

/** Sees bytes on their way to the server and decides if the connection freezes: before they pass, or after. */
export type FreezePoint = (bytes: Buffer) => "before" | "after" | undefined;

/**
 * A TCP proxy that can hang like a stuck proxy or load balancer: the bytes of a frozen connection stop in both
 * directions, and nothing closes.
 */
export class TcpProxy {
  readonly #server: Server;
  #target: { readonly host: string; readonly port: number };
  readonly #pairs = new Set<Pair>();
  #freezesNew = false;
  #point: FreezePoint | undefined;
  #onFrozen: () => void = () => {};

  private constructor(target: URL) {
    this.#target = { host: target.hostname, port: Number(target.port) };
    this.#server = createServer({ pauseOnConnect: true }, (near) => this.#join(near));
  }

  /** Listens on a free port of 127.0.0.1 and leads to the host and port of `url`. */
  static async start(url: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(url));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** Leads connections that come from now on to another server, as an address does that follows the primary. */
  leadTo(url: string): void {
    const { hostname: host, port } = new URL(url);
    this.#target = { host, port: Number(port) };
  }

  /** Returns the number of open connections. */
  get size(): number {
    return this.#pairs.size;
  }

  /** Returns the same address, through the proxy. */
  through(url: string): string {
    const address = new URL(url);
    address.hostname = "127.0.0.1";
    address.port = String((this.#server.address() as AddressInfo).port);
    return address.href;
  }

  /** Freezes all open connections; with `andNew` later ones, too: accepted, and never served. */
  freeze({ andNew = false }: { readonly andNew?: boolean } = {}): void {
    this.#freezesNew = andNew;
    for (const pair of this.#pairs) this.#stop(pair);
  }

  /** Freezes connections at a point of their own. Resolves when the first one is frozen, with all other open ones. */
  freezeAllAt(point: FreezePoint): Promise<void> {
    return new Promise((resolve) => {
      this.#point = point;
      this.#onFrozen = () => {
        this.#onFrozen = () => {};
        this.#point = undefined;
        this.freeze();
        resolve();
      };
    });
  }

  /**
   * Lets all bytes pass again, those that waited first. Connections closed meanwhile close on the other side as well.
   */
  thaw(): void {
    this.#freezesNew = false;
    for (const pair of this.#pairs) {
      if (!pair.isFrozen) continue;
      pair.isFrozen = false;
      for (const [from, to] of [
        [pair.near, pair.far],
        [pair.far, pair.near],
      ] as const) {
        if (from.destroyed) to.end();
        else from.resume();
      }
    }
  }

  async close(): Promise<void> {
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(near: Socket): void {
    const far = connect(this.#target);
    const pair: Pair = { near, far, isFrozen: false };
    this.#pairs.add(pair);
    this.#forward(pair, near, far);
    this.#forward(pair, far, near);
    if (this.#freezesNew) this.#stop(pair);
    else near.resume();
  }

  #forward(pair: Pair, from: Socket, to: Socket): void {
    from.on("data", (bytes: Buffer) => {
      const freezes = from === pair.near ? this.#point?.(bytes) : undefined;
      if (freezes === "before") {
        // Not lost: they wait, as in the buffer of a proxy that hangs.
        this.#stop(pair);
        from.unshift(bytes);
      } else if (!to.destroyed) to.write(bytes);
      if (freezes === "after") this.#stop(pair);
      if (freezes !== undefined) this.#onFrozen();
    });
    from.on("end", () => to.end());
    from.on("error", () => {});
    from.on("close", () => {
      if (!pair.isFrozen) to.destroy();
      if (pair.near.destroyed && pair.far.destroyed) this.#pairs.delete(pair);
    });
  }

  #stop(pair: Pair): void {
    pair.isFrozen = true;
    pair.near.pause();
    pair.far.pause();
  }
}
