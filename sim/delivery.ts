// Sends an answer with its faults: pace, delays, cuts, stalls and broken frames. The content of frames does not
// matter here.
import type { SimulatedText } from '../src/canonical/index.ts';
import type { Answering, Dialect, Frame } from './dialect.ts';
import type { Misbehaviour } from './misbehaviour.ts';
import type { DurationMs } from '../src/base/units.ts';

/** Calls `run` after `ms` milliseconds. @returns a function that cancels it */
export type SetTimer = (run: () => void, ms: DurationMs) => () => void;

export interface Timing {
  readonly setTimer: SetTimer;
  /** Milliseconds between two frames of every stream. */
  readonly pace: number;
}

/** Frames that are sent together when there is no pace. */
const BURST = 8;
/** Milliseconds for sent bytes to reach the reader, because a reset may discard them. */
const FLUSH_MS = 10;

const encoder = new TextEncoder();

/** One step of a response body. */
type Step =
  | { readonly do: 'send'; readonly text: string; readonly waitMs: DurationMs }
  | { readonly do: 'cut' }
  | { readonly do: 'stall' };

/**
 * Response with the frames of a stream.
 * @param signal aborted when the client disconnects, which stops the response
 */
export function deliverStream(
  frames: readonly Frame[],
  dialect: Dialect,
  answering: Answering,
  what: Misbehaviour,
  timing: Timing,
  headers: Record<string, string>,
  signal: AbortSignal,
): Response {
  const steps = planStream(frames, dialect, answering, what, timing.pace);
  return new Response(bodyOf(steps, timing.setTimer, signal), {
    headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
  });
}

/**
 * Response with a JSON body and the same faults as a stream. @param text text of the answer, which determines where
 * to cut
 */
export function deliverJson(
  json: string,
  text: string,
  what: Misbehaviour,
  timing: Timing,
  headers: Record<string, string>,
  signal: AbortSignal,
): Response {
  const init = { headers: { ...headers, 'content-type': 'application/json' } };
  const stop = what.cutAfter ?? what.stallAfter;
  if (what.malformed) return new Response(json.slice(0, -2), init);
  if (stop === undefined) {
    const waitMs = what.contentDelayMs ?? 0;
    return waitMs > 0
      ? new Response(bodyOf([{ do: 'send', text: json, waitMs }], timing.setTimer, signal), init)
      : new Response(json, init);
  }
  const start = Math.max(0, json.indexOf(JSON.stringify(text).slice(1, -1)));
  const steps: Step[] = [
    { do: 'send', text: json.slice(0, start + stop), waitMs: 0 },
    { do: what.cutAfter === undefined ? 'stall' : 'cut' },
  ];
  return new Response(bodyOf(steps, timing.setTimer, signal), init);
}

/** Response with a text, sent in pieces. */
export function deliverText(
  { type, pieces }: SimulatedText,
  { setTimer, pace }: Timing,
  headers: Record<string, string>,
  signal: AbortSignal,
): Response {
  const steps = pieces.map((text): Step => ({ do: 'send', text, waitMs: pace }));
  return new Response(bodyOf(steps, setTimer, signal), { headers: { ...headers, 'content-type': type } });
}

function planStream(
  frames: readonly Frame[],
  dialect: Dialect,
  answering: Answering,
  what: Misbehaviour,
  pace: number,
): Step[] {
  const steps: Step[] = [];
  const every = what.paceMs ?? pace;
  const middle = frames.findIndex((frame) => frame.phase === 'content' && frame.chars > 0) + 1;
  const stopAt = what.cutAfter ?? what.stallAfter ?? what.errorAfter;
  let sent = 0;
  let sawContent = false;
  for (const [i, frame] of frames.entries()) {
    if (what.noDone && frame.phase === 'done') break;
    const ending = frame.phase === 'end' || frame.phase === 'done';
    // 0 means before any content, including reasoning. Other values count only text.
    const due =
      stopAt !== undefined &&
      (ending || (stopAt === 0 ? frame.phase === 'content' : frame.chars > 0 && sent >= stopAt));
    if (due) {
      if (what.errorAfter === undefined) steps.push({ do: what.cutAfter === undefined ? 'stall' : 'cut' });
      else
        steps.push({
          do: 'send',
          text: dialect.encodeErrorFrame(answering, what.errorAfter === 0, i),
          waitMs: every,
        });
      return steps;
    }
    if (i === middle && what.malformed)
      steps.push({ do: 'send', text: dialect.malformedFrame, waitMs: every });
    if (i === middle && what.unknownEvent)
      steps.push({ do: 'send', text: dialect.unknownFrame, waitMs: every });
    const delay = frame.phase !== 'head' && !sawContent ? what.contentDelayMs : undefined;
    sawContent ||= frame.phase !== 'head';
    steps.push({ do: 'send', text: frame.text, waitMs: delay ?? (i === 0 ? 0 : every) });
    sent += frame.chars;
  }
  return steps;
}

function bodyOf(steps: readonly Step[], setTimer: SetTimer, signal: AbortSignal): ReadableStream<Uint8Array> {
  let next = 0;
  let burst = 0;
  let cancelTimer: () => void = () => {};
  let closed = false;
  const stop = (): void => {
    closed = true;
    cancelTimer();
  };
  const wait = (ms: number): Promise<void> => new Promise((resolve) => (cancelTimer = setTimer(resolve, ms)));
  return new ReadableStream<Uint8Array>({
    start(): void {
      signal.addEventListener('abort', stop, { once: true });
    },
    async pull(controller): Promise<void> {
      const step = steps[next++];
      if (!step) {
        signal.removeEventListener('abort', stop);
        return controller.close();
      }
      if (step.do === 'stall') return new Promise(() => {});
      if (step.do === 'cut') {
        await wait(FLUSH_MS);
        // No error object, so that the server prints nothing.
        if (!closed) controller.error();
        return;
      }
      burst++;
      if (step.waitMs > 0) await wait(step.waitMs);
      else if (burst % BURST === 2) await wait(0);
      if (!closed) controller.enqueue(encoder.encode(step.text));
    },
    cancel: stop,
  });
}
