// WebSocket (RFC 6455) as a hostile client speaks it: a handshake and frames of any form, masked with zeros. Knows
// nothing of what is said in them.
import { ATTACKER_KEY, type RawSocket } from './sockets.ts';

export const TEXT = 1;
export const CONTINUATION = 0;
export const PING = 9;

/** Opens a WebSocket on a connection. @returns the status of the answer; 101 when it is open */
export async function openWebSocket(socket: RawSocket, path = '/v1/responses'): Promise<number> {
  void socket.send(
    [
      `GET ${path} HTTP/1.1`,
      'host: gateway',
      `authorization: Bearer ${ATTACKER_KEY}`,
      'upgrade: websocket',
      'connection: upgrade',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      '',
      '',
    ].join('\r\n'),
  );
  await socket.until(() => socket.text.includes('\r\n\r\n'));
  return Number(/^HTTP\/1\.1 (\d+)/.exec(socket.text)?.[1] ?? 0);
}

/** One frame. @param last false: more frames of the message follow */
export function frame(payload: string | Uint8Array, opcode: number = TEXT, last = true): Buffer {
  const data = Buffer.from(payload as Uint8Array);
  const head = Buffer.alloc(data.length < 126 ? 6 : data.length < 65_536 ? 8 : 14);
  head[0] = (last ? 0x80 : 0) | opcode;
  if (data.length < 126) head[1] = 0x80 | data.length;
  else if (data.length < 65_536) {
    head[1] = 0x80 | 126;
    head.writeUInt16BE(data.length, 2);
  } else {
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(data.length), 2);
  }
  return Buffer.concat([head, data]);
}

/** The code with which the other side closed; null: it did not say. */
export function closeCode(socket: RawSocket): number | null {
  const at = socket.tail.lastIndexOf('\x88');
  return at < 0 || at + 3 >= socket.tail.length
    ? null
    : socket.tail.charCodeAt(at + 2) * 256 + socket.tail.charCodeAt(at + 3);
}
