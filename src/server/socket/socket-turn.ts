// Client of one turn on a WebSocket: converts the engine's event stream to messages.
import { frameData, FrameSplitter, keepingProtocol } from '../../protocols/index.ts';
import { asObject, isJsonObject, parseJson, type JsonObject } from '../../base/json/index.ts';
import type { GatewayError } from '../../canonical/index.ts';
import type { Body, Client, ClientStream, Encoding } from '../../engine/index.ts';
import { fromByteString } from '../../base/lib/bytes.ts';

export interface MessageSink {
  /** False: the socket applies backpressure. */
  send(text: string): boolean;
}

export class SocketTurn implements Client, ClientStream {
  /** True when the turn was refused as a whole and has no response. */
  refused = false;
  readonly #sink: MessageSink;
  /** Beginning of every message: the brace, and the lane's name if it has one. */
  readonly #opening: string;
  readonly #frames = new FrameSplitter();
  #left: (() => void) | undefined;
  #gone = false;
  #drained: (() => void) | undefined;

  /** @param streamId the lane; undefined: the unnamed lane */
  constructor(sink: MessageSink, streamId: string | undefined) {
    this.#sink = sink;
    this.#opening = streamId === undefined ? '{' : `{"stream_id":${JSON.stringify(streamId)},`;
  }

  /** Sends an error without a response. @param error the object inside the API's error bodies */
  refuse(status: number, error: JsonObject): void {
    this.refused = true;
    this.#send(JSON.stringify({ type: 'error', status, error }));
  }

  respond(status: number, _headers: Readonly<Record<string, string>>, body: Body): void {
    const text = String(body);
    const { error } = asObject(parseJson(text));
    // An upstream's relayed error may have another form.
    this.refuse(status, isJsonObject(error) ? error : { type: 'server_error', message: text.slice(0, 2000) });
  }

  openStream(): ClientStream {
    return this;
  }

  /** @param data whole events. Relayed ones may have any line ends, and several `data` lines. */
  write(data: string, encoding: Encoding): boolean {
    let hasRoom = true;
    this.#frames.push(data, (frame) => {
      hasRoom = this.#event(frame, encoding);
      return true;
    });
    return hasRoom;
  }

  onDrain(drained: () => void): void {
    this.#drained = drained;
  }

  /** A CR that ends the last event may be waiting for its LF. */
  end(): void {
    this.#event(this.#frames.end(), 'bytes');
  }

  onLeave(left: () => void): void {
    this.#left = left;
    if (this.#gone) left();
  }

  /** The socket accepts data again. */
  drained(): void {
    this.#drained?.();
  }

  /** The client disconnected. */
  leave(): void {
    this.#gone = true;
    this.#left?.();
  }

  /** Comments have no data: they are keep-alives, for which WebSockets have pings. */
  #event(frame: string, encoding: Encoding): boolean {
    const data = frameData(frame).trim();
    return data === '' || this.#send(encoding === 'bytes' ? fromByteString(data) : data);
  }

  #send(json: string): boolean {
    return this.#sink.send(this.#opening + json.slice(1));
  }
}

/** Status and object of an error for a message. */
export function socketError(error: GatewayError): readonly [status: number, error: JsonObject] {
  const { status, body } = keepingProtocol.server.encodeError(error, '');
  return [status, asObject(body['error'])];
}
