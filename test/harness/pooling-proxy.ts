import { randomInt } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import pg from "pg";

/** A session on the server, and the receiver of its answers while a connection holds it. */
interface Session {
  readonly stream: Socket;
  pending: Buffer;
  onMessage: (message: Buffer) => void;
}

/**
 * A pooler that implements just enough of PostgreSQL's protocol: like pgbouncer in transaction mode it accepts every
 * client and gives each transaction of a connection the session that has been free for longest, so that two sessions
 * are enough for statements of one connection to reach both. It accepts, and forgets, settings of a startup.
 */
export class PoolingProxy {
  readonly #server: Server;
  readonly #clients: readonly pg.Client[];
  readonly #free: Session[] = [];
  readonly #waiting: ((session: Session) => void)[] = [];
  readonly #open = new Set<Socket>();

  private constructor(clients: readonly pg.Client[]) {
    this.#clients = clients;
    for (const client of clients) this.#free.push(takeSession(client));
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(url: string, sessions = 2): Promise<PoolingProxy> {
    const clients = Array.from({ length: sessions }, () => new pg.Client({ connectionString: url }));
    for (const client of clients) await client.connect();
    const proxy = new PoolingProxy(clients);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** Returns the same address, through the pooler. */
  through(url: string): string {
    const address = new URL(url);
    address.port = String((this.#server.address() as AddressInfo).port);
    return address.href;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
    for (const client of this.#clients) streamOf(client).destroy();
  }

  #serve(socket: Socket): void {
    this.#open.add(socket);
    let pending: Buffer = Buffer.alloc(0);
    let isStarted = false;
    let session: Session | undefined;
    let isAsking = false;
    const queue: Buffer[] = [];
    const pass = (taken: Session) => {
      session = taken;
      isAsking = false;
      taken.onMessage = (message) => {
        if (!socket.destroyed) socket.write(message);
        // ReadyForQuery outside of a transaction: the session is free again.
        if (message[0] === 0x5a && message[5] === 0x49) {
          session = undefined;
          this.#release(taken);
        }
      };
      for (const message of queue.splice(0)) taken.stream.write(message);
    };
    socket.on("data", (bytes: Buffer) => {
      pending = Buffer.concat([pending, bytes]);
      if (!isStarted) {
        if (pending.length < 4 || pending.length < pending.readInt32BE(0)) return;
        pending = pending.subarray(pending.readInt32BE(0));
        isStarted = true;
        socket.write(greeting());
      }
      for (let message = firstMessage(pending); message !== undefined; message = firstMessage(pending)) {
        pending = pending.subarray(message.length);
        // Terminate ends the connection, not the session.
        if (message[0] === 0x58) {
          socket.end();
          return;
        }
        if (session !== undefined) session.stream.write(message);
        else {
          queue.push(message);
          if (!isAsking) {
            isAsking = true;
            this.#take(pass);
          }
        }
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#open.delete(socket);
      if (session === undefined) return;
      // A client that left in a transaction leaves it to be rolled back.
      session.onMessage = () => {};
      const left = session;
      left.onMessage = (message) => {
        if (message[0] === 0x5a) this.#release(left);
      };
      left.stream.write(query("ROLLBACK"));
    });
  }

  #take(then: (session: Session) => void): void {
    const session = this.#free.shift();
    if (session === undefined) this.#waiting.push(then);
    else then(session);
  }

  #release(session: Session): void {
    session.onMessage = () => {};
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(session);
    else next(session);
  }
}

/** Takes over the connection of a client that has logged in. */
function takeSession(client: pg.Client): Session {
  const stream = streamOf(client);
  stream.removeAllListeners("data");
  const session: Session = { stream, pending: Buffer.alloc(0), onMessage: () => {} };
  stream.on("data", (bytes: Buffer) => {
    session.pending = Buffer.concat([session.pending, bytes]);
    for (let one = firstMessage(session.pending); one !== undefined; one = firstMessage(session.pending)) {
      session.pending = session.pending.subarray(one.length);
      session.onMessage(one);
    }
  });
  client.on("error", () => {});
  return session;
}

function streamOf(client: pg.Client): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

function firstMessage(bytes: Buffer): Buffer | undefined {
  if (bytes.length < 5) return undefined;
  const length = bytes.readInt32BE(1) + 1;
  return bytes.length < length ? undefined : bytes.subarray(0, length);
}

/** Returns AuthenticationOk, a BackendKeyData of the pooler's own, ReadyForQuery. */
function greeting(): Buffer {
  return Buffer.concat([
    message("R", int32(0)),
    message("K", int32(randomInt(1_000_000_000, 2_000_000_000)), int32(1)),
    message("Z", Buffer.from("I")),
  ]);
}

function query(text: string): Buffer {
  return message("Q", Buffer.from(`${text}\0`));
}

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
