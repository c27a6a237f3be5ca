// Streamed answer of a codec task, encoded in the client's protocol. The end waits until the records are stored.
import type { CanonicalEvent, GatewayError, Report } from '../../canonical/index.ts';
import type { DecodedTask, TaskAnswer, TaskStream } from '../../protocols/index.ts';
import { answerHeaders, EVENT_STREAM, type StreamSource, StreamWriter } from '../answer/index.ts';
import { type Arrival, releaseBody } from '../call.ts';
import type { Attempt, AttemptOutput } from '../attempt/index.ts';
import type { AttemptLog } from '../attempt-log.ts';
import type { ClientConnection } from '../cancellation.ts';
import type { Ticking } from '../../base/runtime/clock.ts';
import type { UnixMs } from '../../base/units.ts';

/** Dependencies of a streamed answer. */
export interface StreamedInput {
  readonly arrival: Arrival;
  readonly attemptLog: AttemptLog;
  readonly clientConnection: ClientConnection;
  /** Losses of the request before an endpoint answers. */
  readonly report: Report;
  readonly nowMs: UnixMs;
}

export class StreamedTask<Made> implements AttemptOutput, StreamSource, Ticking {
  readonly keeps = false;
  by: Attempt | undefined;
  readonly #input: StreamedInput;
  readonly #writer: StreamWriter;
  readonly #encoder: TaskStream<Made>;

  constructor(input: StreamedInput, stream: NonNullable<DecodedTask<unknown, Made>['stream']>) {
    const { client } = input.arrival.call;
    this.#input = input;
    this.#writer = new StreamWriter(client, input.nowMs, this);
    this.#encoder = stream((frames) => (this.#writer.text += frames));
  }

  /** True once a failure can only be reported in the stream. */
  get opened(): boolean {
    return this.#writer.isOpen;
  }

  get headers(): Readonly<Record<string, string>> {
    const { arrival, attemptLog, report } = this.#input;
    const losses = this.by?.report ?? attemptLog.report ?? report;
    return { ...EVENT_STREAM.form, ...answerHeaders(arrival, attemptLog.attempts.length, this.by, losses) };
  }

  get keepAlive(): string {
    return EVENT_STREAM.keepAlive;
  }

  commit(by: Attempt): void {
    this.by = by;
    this.#input.clientConnection.stream();
    releaseBody(this.#input.arrival.call);
    this.#writer.open();
  }

  on(event: CanonicalEvent): void {
    // Created by the codec of the same task.
    if (event.type === 'piece') this.#encoder.piece(event.piece as Made);
  }

  relay(): void {
    throw new TypeError('a relayed stream for a task');
  }

  relayWhole(): void {
    throw new TypeError('a relayed response for a task');
  }

  finishing(): void {
    this.#writer.hold();
  }

  flush(): void {
    this.#writer.flush();
  }

  tick(nowMs: UnixMs): void {
    this.#writer.tick(nowMs);
  }

  /** Writes the held output and the end of a successful answer. */
  complete(answer: TaskAnswer<Made>): void {
    this.#encoder.finish(answer);
    this.#writer.end();
  }

  /** Ends a stream that has begun with an error. */
  fail(error: GatewayError): void {
    this.#encoder.error(error);
    this.#writer.end();
  }
}
