// Preloaded into a gateway to analyse its slowest answers (BUN_OPTIONS=--preload=…). Records when each request
// reaches a step, in wall clock time and CPU time of its thread, and the duration of timers. Only for one request at
// a time. Writes its results when the gateway ends.
import { dlopen, FFIType, ptr } from 'bun:ffi';
import { writeFileSync } from 'node:fs';

/** Marks of a request, in order. */
export const MARKS = ['arrived', 'sent', 'received', 'responded'] as const;

/** Recorded times in microseconds. */
export interface Noted {
  /** For each request, the times of all marks, followed by the thread's CPU time at each. */
  readonly requests: readonly (readonly number[])[];
  /** For each call of a timer or an immediate: its duration, its CPU time, and where it was created. */
  readonly turns: readonly (readonly [took: number, cpu: number, place: string])[];
}

const path = process.env['DRAGOMAN_BENCH_STEPS'] ?? '';
// Processes that the gateway starts are not analysed.
delete process.env['BUN_OPTIONS'];
delete process.env['DRAGOMAN_BENCH_STEPS'];

/** Clock of the calling thread (time.h of Linux). */
const CLOCK_THREAD_CPUTIME_ID = 3;
const MOST = 200_000;
const LAST = MARKS.length - 1;

if (path !== '') note(path);

function note(file: string): void {
  const libc = dlopen('libc.so.6', {
    clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  });
  const spec = new BigInt64Array(2);
  const place = ptr(spec);
  const cpu = (): number => {
    libc.symbols.clock_gettime(CLOCK_THREAD_CPUTIME_ID, place);
    return Number(spec[0]) * 1e6 + Number(spec[1]) / 1e3;
  };
  const wall = (): number => Bun.nanoseconds() / 1e3;
  const requests: number[][] = [];
  const turns: [number, number, string][] = [];
  let now: number[] = [];
  const mark = (at: number): void => {
    now[at] ??= wall();
    now[at + MARKS.length] ??= cpu();
  };

  const finished = async (request: number[], answer: unknown): Promise<void> => {
    await answer;
    mark(LAST);
    if (request === now && now.length === 2 * MARKS.length && requests.length < MOST) requests.push(now);
  };
  const answering =
    (handler: (...given: unknown[]) => unknown) =>
    (...given: unknown[]): unknown => {
      now = [];
      mark(0);
      const request = now;
      const answer = handler(...given);
      void finished(request, answer);
      return answer;
    };
  const wrapped = (value: unknown): unknown => {
    if (typeof value === 'function') return answering(value as (...given: unknown[]) => unknown);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, wrapped(each)]));
  };
  const { serve, connect } = Bun;
  Bun.serve = ((options: Record<string, unknown>) =>
    serve({ ...options, routes: wrapped(options['routes']) } as never)) as unknown as typeof serve;
  const seen = new WeakSet<object>();
  type Handlers = Record<
    string,
    (socket: { write: (bytes: Uint8Array) => number }, ...rest: unknown[]) => void
  >;
  Bun.connect = ((options: { socket: Handlers }) => {
    const { open, data } = options.socket;
    if (!open || !data) return connect(options as never);
    const socket: Handlers = {
      ...options.socket,
      open(raw, ...rest) {
        if (!seen.has(raw)) {
          seen.add(raw);
          const write = raw.write.bind(raw);
          raw.write = (bytes) => {
            const taken = write(bytes);
            mark(1);
            return taken;
          };
        }
        open(raw, ...rest);
      },
      data(raw, ...rest) {
        mark(2);
        data(raw, ...rest);
      },
    };
    return connect({ ...options, socket } as never);
  }) as unknown as typeof connect;

  for (const name of ['setTimeout', 'setInterval', 'setImmediate'] as const) {
    const original = globalThis[name] as (run: (...given: unknown[]) => void, ...rest: unknown[]) => unknown;
    const timed = (run: (...given: unknown[]) => void, ...rest: unknown[]): unknown => {
      const from = `${name} ${new Error().stack?.split('\n')[2]?.trim() ?? ''}`;
      return original(
        (...given) => {
          const began = wall();
          const used = cpu();
          run(...given);
          if (turns.length < MOST) turns.push([wall() - began, cpu() - used, from]);
        },
        ...rest,
      );
    };
    globalThis[name] = Object.assign(timed, original) as never;
  }
  process.on('exit', () => writeFileSync(file, JSON.stringify({ requests, turns } satisfies Noted)));
}
