// A client that sends requests at a constant rate, independent of responses, and measures them. Runs in a process of
// its own, so that nothing else delays it.
//
// node bin/bun.mjs run bench/steady.ts '{"port": 1, …}' prints one JSON object.
import { connect, type Socket } from 'bun';

/**
 * Load to send. In `head` and `body`, nine hashes are replaced by the number of the request, and two at signs by the
 * number within `cycle`.
 */
export interface Steady {
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** Maximum number of requests. */
  readonly most?: number;
  readonly connections: number;
  /** Header lines, each with its line end. */
  readonly head: string;
  readonly body: string;
  /** Number of the first request. */
  readonly from?: number;
  /** At most 100; absent: 1. */
  readonly cycle?: number;
}

export interface SteadyResult {
  readonly sent: number;
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests that were skipped, because no connection was free when they were due. */
  readonly omitted: number;
  /** Milliseconds from the request to the end of its response, by status. */
  readonly latencies: Readonly<Record<string, readonly number[]>>;
}

const NUMBER = '#########';
const IN_CYCLE = '@@';
/** Maximum stored latencies per status. More of a flood add no information. */
const MOST_LATENCIES = 100_000;
/** Milliseconds to wait for the last responses. */
const PATIENCE_MS = 3_000;

/** Sends the load and measures it. Rejects for an invalid response. */
export async function steady(load: Steady): Promise<SteadyResult> {
  const { perSecond, seconds, connections, from = 0, most = Infinity } = load;
  const request = requestOf(load);
  const statuses: Record<string, number> = {};
  const latencies: Record<string, number[]> = {};
  const lines: Line[] = [];
  const free: Line[] = [];
  const answered = (status: string, ms: number, line: Line): void => {
    statuses[status] = (statuses[status] ?? 0) + 1;
    const kept = (latencies[status] ??= []);
    if (kept.length < MOST_LATENCIES) kept.push(ms);
    free.push(line);
  };
  for (let opened = 0; opened < connections; opened += 1) {
    const line = new Line(answered);
    await line.open(load.port);
    lines.push(line);
    free.push(line);
  }
  let sent = 0;
  let omitted = 0;
  const begun = performance.now();
  for (;;) {
    const passed = performance.now() - begun;
    const due = Math.floor((Math.min(passed, seconds * 1000) * perSecond) / 1000);
    while (sent + omitted < due && sent < most) {
      const line = free.shift();
      if (line) line.send(request(from + sent++));
      else omitted += 1;
    }
    if (passed >= seconds * 1000 || sent >= most) break;
    await Bun.sleep(1);
  }
  const until = performance.now() + PATIENCE_MS;
  while (free.length < lines.length && performance.now() < until) await Bun.sleep(5);
  for (const line of lines) line.close();
  return { sent, statuses, omitted, latencies };
}

/** A connection with one request at a time. */
class Line {
  readonly #answered: (status: string, ms: number, line: Line) => void;
  #socket: Socket | undefined;
  #sentAt = 0;
  #bytes = '';

  constructor(answered: (status: string, ms: number, line: Line) => void) {
    this.#answered = answered;
  }

  async open(port: number): Promise<void> {
    this.#socket = await connect({
      hostname: '127.0.0.1',
      port,
      socket: { data: (_, bytes) => this.#read(bytes.toString('latin1')), close: () => {}, error: () => {} },
    });
  }

  send(request: string): void {
    this.#sentAt = performance.now();
    this.#socket?.write(request);
  }

  close(): void {
    this.#socket?.end();
  }

  #read(bytes: string): void {
    this.#bytes += bytes;
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#bytes.slice(0, end))?.[1]);
    if (!Number.isFinite(length)) throw new Error(`response without content-length: ${this.#bytes}`);
    if (this.#bytes.length < end + 4 + length) return;
    const status = this.#bytes.slice(9, 12);
    this.#bytes = '';
    this.#answered(status, performance.now() - this.#sentAt, this);
  }
}

function requestOf({ head, body, cycle = 1 }: Steady): (number: number) => string {
  const text =
    'POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n' +
    `${head}content-length: ${body.length}\r\n\r\n${body}`;
  const parts = Array.from({ length: cycle }, (_, at) =>
    text.replaceAll(IN_CYCLE, String(at).padStart(IN_CYCLE.length, '0')).split(NUMBER),
  );
  return (number) => (parts[number % cycle] ?? []).join(String(number).padStart(NUMBER.length, '0'));
}

/** Quantile of latencies. @param share from 0 to 1 */
export function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

if (import.meta.main)
  process.stdout.write(`${JSON.stringify(await steady(JSON.parse(process.argv[2] ?? '') as Steady))}\n`);
