import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Nodes } from "./nodes.js";

/** One address in front of all nodes, like a load balancer: each client that connects gets a live node. */
export class LoadBalancer {
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(nodes: Nodes) {
    this.#server = createServer((socket) => {
      const node = nodes.any();
      if (node === undefined) {
        socket.destroy();
        return;
      }
      const inside = connect(Number(new URL(node.url).port), "127.0.0.1");
      this.#join(socket, inside);
      this.#join(inside, socket);
    });
  }

  static async open(nodes: Nodes): Promise<LoadBalancer> {
    const balancer = new LoadBalancer(nodes);
    balancer.#server.listen(0, "127.0.0.1");
    await once(balancer.#server, "listening");
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Pipes a connection into another one, and closes that one with it. */
  #join(from: Socket, to: Socket): void {
    this.#open.add(from);
    from.on("error", () => {});
    from.on("close", () => {
      this.#open.delete(from);
      to.destroy();
    });
    from.pipe(to);
  }
}
