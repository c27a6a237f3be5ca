// Writes the state of lines. Everything that arrives during one transaction goes into the next. Writes are retried
// while the database is unavailable, because upstream answers are already paid for.
import type { GatewayError } from '../../canonical/index.ts';
import type { AskedLine, BatchStore, EndedLine } from '../../accounts/ports/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { CANCELLED, type JobRun, LOST } from '../jobs/index.ts';

/** Milliseconds before a failed write is retried. */
const RETRY_MS = 1_000;
/** Maximum lines of one transaction. */
const MOST = 500;

export interface LineWriterOptions {
  readonly run: JobRun;
  readonly batches: Pick<BatchStore, 'ask' | 'endLines'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Logger;
}

interface Waiting<Line> {
  readonly line: Line;
  readonly written: () => void;
  readonly failed: (error: GatewayError) => void;
}

export class LineWriter {
  readonly #options: LineWriterOptions;
  #asked: Waiting<AskedLine>[] = [];
  #ended: Waiting<EndedLine>[] = [];
  #isWriting = false;

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** Resolves once stored durably. Rejects when another process has taken over the batch. */
  ask(line: AskedLine): Promise<void> {
    return this.#put(this.#asked, line);
  }

  /** The same. */
  end(line: EndedLine): Promise<void> {
    return this.#put(this.#ended, line);
  }

  #put<Line>(queue: Waiting<Line>[], line: Line): Promise<void> {
    return new Promise((written, failed) => {
      queue.push({ line, written, failed });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    const { run, batches } = this.#options;
    const { id, fence } = run.job;
    while (this.#asked.length > 0 || this.#ended.length > 0) {
      const ended = this.#ended.splice(0, MOST);
      if (ended.length > 0) await this.#write(ended, (lines) => batches.endLines(id, fence, lines));
      const asked = this.#asked.splice(0, MOST);
      if (asked.length > 0) await this.#write(asked, (lines) => batches.ask(id, fence, lines));
    }
    this.#isWriting = false;
  }

  async #write<Line>(
    waiting: readonly Waiting<Line>[],
    write: (lines: readonly Line[]) => Promise<boolean>,
  ): Promise<void> {
    const { run, clock, log } = this.#options;
    const lines = waiting.map(({ line }) => line);
    for (;;) {
      try {
        const isHeld = await write(lines);
        for (const { written, failed } of waiting)
          if (isHeld) written();
          else failed(LOST);
        return;
      } catch (error) {
        log.warn('results of a batch could not be written', { id: run.job.id, error });
        const { reason } = run.cancellation;
        // Results that arrive after a batch was cancelled are delivered.
        if (reason && reason !== CANCELLED) return waiting.forEach(({ failed }) => failed(reason));
        await new Promise<void>((again) => void clock.after(RETRY_MS, again));
      }
    }
  }
}
