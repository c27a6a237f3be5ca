// Messages in AWS's event-stream framing, as Bedrock sends them. Built by hand: the tests must not trust the parser.
import { crc32 } from 'node:zlib';

/** One message with text headers. */
export function frame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const block = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Buffer.byteLength(value));
      return Buffer.concat([
        Buffer.from([Buffer.byteLength(name)]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ]);
    }),
  );
  return rawFrame(block, payload);
}

/** One message with a header block as it is. */
export function rawFrame(block: Buffer, payload: string): Buffer {
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + block.length + body.length, 0);
  prelude.writeUInt32BE(block.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const most = Buffer.concat([prelude, block, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(most));
  return Buffer.concat([most, checksum]);
}

/** An event of ConverseStream. */
export function event(type: string, payload: unknown): Buffer {
  return frame(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify(payload),
  );
}

/** An event of another vendor's protocol, as InvokeModelWithResponseStream wraps it. */
export function chunk(payload: unknown): Buffer {
  return event('chunk', { bytes: Buffer.from(JSON.stringify(payload)).toString('base64'), p: 'abcdefgh' });
}

/** Frame that ends a stream that failed. */
export function exception(type: string, message: string): Buffer {
  return frame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify({ message }),
  );
}
