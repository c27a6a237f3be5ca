// Records the payloads of one request while it runs, by reference and without copies. `PayloadKeeper` decides whether
// they are stored.
import { joined } from '../../base/lib/bytes.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type {
  ApiCall,
  AttemptRecorder,
  Body,
  Client,
  ClientStream,
  PayloadRecorder,
} from '../../engine/index.ts';
import type { PayloadStage } from '../../accounts/ports/index.ts';
import type { Sender, UpstreamCall, UpstreamListener, UpstreamRequest } from '../../upstream/client.ts';
import type { Room } from './room.ts';
import type { UnixMs } from '../../base/units.ts';

type TimedSender = Pick<Sender, 'send' | 'now' | 'wall'>;
type HeaderList = readonly (readonly [name: string, value: string])[];

/** A payload before masking. */
export interface RecordedPayloads {
  readonly stage: PayloadStage;
  readonly attempt: number | null;
  readonly method: string | null;
  readonly address: string | null;
  readonly status: number | null;
  readonly headers: HeaderList;
  /** Names of headers whose values are masked. */
  readonly hiddenHeaders: ReadonlySet<string>;
  readonly recording: Recording;
}

export interface RecorderOptions {
  /** Evaluated when the request has ended. */
  readonly keepsOnly: 'failures' | null;
  /** Maximum bytes per payload. */
  readonly mostBytes: number;
  readonly room: Room;
  readonly now: () => UnixMs;
  /** Receives the recorder when the request is complete. */
  readonly closed: (recorder: RequestRecorder) => void;
}

const NONE: ReadonlySet<string> = new Set();

export class RequestRecorder implements PayloadRecorder {
  readonly client: Client;
  /** The client's parsed body, in which credentials are masked later. */
  readonly json: unknown;
  readonly #options: RecorderOptions;
  readonly #startedAt: UnixMs;
  #payloads: RecordedPayloads[] = [];
  #held = 0;
  /** True if memory was not sufficient. */
  #isLost = false;
  #generation: { readonly id: string; readonly createdAt: UnixMs } | undefined;
  #isKept = false;

  constructor(call: ApiCall, options: RecorderOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    this.json = call.json;
    const { method, url } = call.request;
    const asked = this.#begin({
      stage: 'client_request',
      method,
      address: url.replace(/^\w+:\/\/[^/]*/, ''),
      headers: [...call.headers],
    });
    this.note(asked, call.body.bytes);
    this.client = new RecordedClient(call.client, this);
  }

  /** Id of the generation; undefined: not settled yet, or nothing is to be stored. */
  get generationId(): string | undefined {
    return this.#isKept ? this.#generation?.id : undefined;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get payloads(): readonly RecordedPayloads[] {
    return this.#payloads;
  }

  keeps(failed: boolean): boolean {
    return failed || this.#options.keepsOnly === null;
  }

  attempt(ordinal: number, endpoint: Endpoint): AttemptRecorder {
    return {
      over: (sender) => ({
        now: sender.now,
        wall: sender.wall,
        send: (request, listener) => this.#send(ordinal, endpoint, request, listener, sender),
      }),
    };
  }

  settled(generation: { readonly id: string; readonly createdAt: UnixMs }, failed: boolean): void {
    this.#generation = generation;
    this.#isKept = this.keeps(failed);
  }

  close(): void {
    this.#options.closed(this);
  }

  /** Releases the recorded bytes. */
  release(): void {
    this.#payloads = [];
    this.#options.room.give(this.#held);
    this.#held = 0;
  }

  /** @returns recording of the answer to the client */
  answer(status: number, headers: Readonly<Record<string, string>>): Recording {
    return this.#begin({ stage: 'client_response', status, headers: Object.entries(headers) });
  }

  /**
   * Records data. If no memory is available, the whole recording is dropped, because a partial one would be misleading.
   */
  note(recording: Recording, data: Buffer): void {
    if (this.#isLost) return;
    const bytes = recording.roomFor(data);
    if (bytes > 0 && !this.#options.room.take(bytes)) {
      this.#isLost = true;
      return this.release();
    }
    this.#held += bytes;
    recording.add(data, this.#options.now() - this.#startedAt);
  }

  #send(
    attempt: number,
    endpoint: Endpoint,
    request: UpstreamRequest,
    listener: UpstreamListener,
    sender: TimedSender,
  ): UpstreamCall {
    const { to, body, lines = '' } = request;
    // A request may be signed and sent again within an attempt. Only the last one is kept.
    this.#payloads = this.#payloads.filter((each) => each.attempt !== attempt);
    const hiddenHeaders = new Set(Object.keys(endpoint.headers));
    const added = lines.split('\r\n').filter((line) => line !== '');
    const sent = this.#begin({
      stage: 'upstream_request',
      attempt,
      method: to.method,
      address: to.url,
      headers: [...Object.entries(to.headers), ...added.map(nameAndValue)],
      hiddenHeaders,
    });
    this.note(sent, joined(body));
    let came: Recording | undefined;
    return sender.send(request, {
      connected: () => listener.connected(),
      head: (head) => {
        came = this.#begin({
          stage: 'upstream_response',
          attempt,
          status: head.status,
          headers: head.headers(),
        });
        listener.head(head);
      },
      data: (bytes) => {
        if (came) this.note(came, bytes);
        listener.data(bytes);
      },
      end: () => listener.end(),
      failed: (failure, message) => listener.failed(failure, message),
    });
  }

  #begin(given: Partial<RecordedPayloads> & Pick<RecordedPayloads, 'stage' | 'headers'>): Recording {
    const recording = new Recording(this.#options.mostBytes);
    const empty = { attempt: null, method: null, address: null, status: null, hiddenHeaders: NONE };
    if (!this.#isLost) this.#payloads.push({ ...empty, ...given, recording });
    return recording;
  }
}

function nameAndValue(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

/** Records what is sent to a client. */
class RecordedClient implements Client {
  readonly #client: Client;
  readonly #recorder: RequestRecorder;

  constructor(client: Client, recorder: RequestRecorder) {
    this.#client = client;
    this.#recorder = recorder;
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: Body): void {
    this.#recorder.note(this.#recorder.answer(status, headers), Buffer.from(body));
    this.#client.respond(status, headers, body);
  }

  openStream(headers: Readonly<Record<string, string>>): ClientStream {
    const recording = this.#recorder.answer(200, headers);
    const stream = this.#client.openStream(headers);
    return {
      write: (data, encoding) => {
        this.#recorder.note(recording, Buffer.from(data, encoding === 'text' ? 'utf8' : 'latin1'));
        return stream.write(data, encoding);
      },
      onDrain: (drained) => stream.onDrain(drained),
      end: () => stream.end(),
    };
  }

  onLeave(left: () => void): void {
    this.#client.onLeave(left);
  }
}

// Bytes of one payload by reference, with the time of each read. Beyond a limit, bytes are only counted.

/** Maximum number of reads with a time. Later ones are added to the last. */
const MOST_READS = 4_000;

class Recording {
  /** Total bytes of the payload. */
  bytes = 0;
  /** Pairs of milliseconds since the request arrived and bytes, one for each read or write. */
  readonly reads: number[] = [];
  readonly #most: number;
  readonly #pieces: Buffer[] = [];
  #kept = 0;

  /** @param most maximum bytes to keep */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes of the next piece that would be kept. */
  roomFor({ length }: Buffer): number {
    return Math.min(length, Math.max(0, this.#most - this.#kept));
  }

  /** @param atMs milliseconds since the request arrived */
  add(data: Buffer, atMs: UnixMs): void {
    const last = this.reads.length - 1;
    if (last + 1 >= MOST_READS * 2) this.reads[last] = (this.reads[last] ?? 0) + data.length;
    else this.reads.push(atMs, data.length);
    this.bytes += data.length;
    const kept = this.roomFor(data);
    if (kept === 0) return;
    this.#kept += kept;
    // Copied, so that the rest of the buffer can be released.
    this.#pieces.push(kept < data.length ? Buffer.from(data.subarray(0, kept)) : data);
  }

  /** Kept bytes, as a binary (Latin-1) string. */
  text(): string {
    return joined(this.#pieces).toString('latin1');
  }
}
