// The minimal WebSocket client that a measurement needs: a library's would cost the reader more than the
// server takes.
import { randomBytes } from "node:crypto";
import { connect } from "node:net";

/**
 * Opens a socket at `/ws`, with a key if one is required. `onFrame` gets a buffer and the range of a message
 * in it.
 */
export function openReader(port, onFrame, secret) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    const key = randomBytes(16).toString("base64");
    socket.write(
      `GET /ws HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n${secret === undefined ? "" : `Authorization: Bearer ${secret}\r\n`}\r\n`,
    );
    let isOpen = false;
    let rest;
    socket.on("error", reject);
    socket.on("data", (data) => {
      let bytes = rest === undefined ? data : Buffer.concat([rest, data]);
      rest = undefined;
      if (!isOpen) {
        const end = bytes.indexOf("\r\n\r\n");
        if (end === -1) {
          rest = bytes;
          return;
        }
        const head = bytes.latin1Slice(0, end);
        if (!head.startsWith("HTTP/1.1 101")) {
          reject(new Error(head));
          return;
        }
        isOpen = true;
        bytes = bytes.subarray(end + 4);
        resolve({ send: (message) => socket.write(maskedFrame(JSON.stringify(message))) });
      }
      rest = readFrames(bytes, onFrame, () => socket.write(pong));
    });
  });
}

/** Passes on complete frames, and returns the start of the next one, if there is one. */
function readFrames(bytes, onFrame, onPing) {
  let start = 0;
  while (bytes.length - start >= 2) {
    const short = bytes[start + 1] & 0x7f;
    const header = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (bytes.length - start < header) break;
    let length = short;
    if (short === 126) length = bytes.readUInt16BE(start + 2);
    else if (short === 127) length = Number(bytes.readBigUInt64BE(start + 2));
    const end = start + header + length;
    if (bytes.length < end) break;
    const opcode = bytes[start] & 0x0f;
    if (opcode === 1) onFrame(bytes, start + header, end);
    else if (opcode === 9) onPing();
    start = end;
  }
  return start === bytes.length ? undefined : bytes.subarray(start);
}

/** The response to a ping without a payload, masked. */
const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** Creates a masked frame: a client must mask its messages; a mask of zeros is valid. */
function maskedFrame(text) {
  const payload = Buffer.from(text);
  const header = Buffer.alloc(payload.length < 126 ? 6 : 8);
  header[0] = 0x81;
  if (payload.length < 126) header[1] = 0x80 | payload.length;
  else {
    header[1] = 0x80 | 126;
    header.writeUInt16BE(payload.length, 2);
  }
  return Buffer.concat([header, payload]);
}
