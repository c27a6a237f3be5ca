// Recovery of a cluster: every replica ready with nothing degraded, and each kind of request answered by each of
// them and through nginx.
import { receive } from './asks.ts';
import { type Cluster, LOAD_KEY, MODEL, type Replica } from './cluster.ts';

const LOOK_MS = 50;
/** Time of a processor that is spent to see how busy the machine is. */
const PROBE_MS = 10;
const MOST_MS = 30_000;
const ONE_LOOK_MS = 2_000;

export interface Recovery {
  /** Until all was well, in milliseconds; null when it did not become so. */
  readonly ms: number | null;
  /** How much longer than alone on its machine a program took meanwhile: 1 on one that has nothing else to do. */
  readonly slowness: number;
  /** Error that was found last. */
  readonly why: string;
}

/** Looks until all is well. */
export async function recovered(cluster: Cluster): Promise<Recovery> {
  const from = performance.now();
  const looks: number[] = [];
  let why = '';
  while (performance.now() - from < MOST_MS) {
    looks.push(slownessNow());
    const wrong = await Promise.all([
      ...cluster.replicas.map(wrongWith),
      ...cluster.replicas.map(() => throughNginx(cluster)),
    ]);
    why = wrong.find((each) => each !== null) ?? '';
    if (why === '') return { ms: performance.now() - from, slowness: mean(looks), why };
    await Bun.sleep(LOOK_MS);
  }
  return { ms: null, slowness: mean(looks), why };
}

/** Time that a little work takes, beside what it needs of a processor. */
function slownessNow(): number {
  const from = performance.now();
  const used = process.cpuUsage();
  let took = 0;
  while (took < PROBE_MS) {
    const { user, system } = process.cpuUsage(used);
    took = (user + system) / 1_000;
  }
  return Math.max(1, (performance.now() - from) / took);
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / Math.max(1, numbers.length);
}

async function wrongWith(replica: Replica): Promise<string | null> {
  const ready = await fetch(`${replica.origin}/readyz`, { signal: AbortSignal.timeout(ONE_LOOK_MS) }).catch(
    () => null,
  );
  if (ready === null) return `${replica.name} does not answer`;
  const { status, degraded } = (await ready.json()) as { status: string; degraded: string[] };
  if (ready.status !== 200 || degraded.length > 0)
    return `${replica.name} is ${status}: ${degraded.join('; ')}`;
  const received = await receive(replica.origin, LOAD_KEY, 'responses', {
    model: MODEL,
    text: '[look]',
    isStreamed: false,
    more: { store: true },
  });
  return received.kind === 'answered' ? null : `${replica.name} answers ${JSON.stringify(received)}`;
}

async function throughNginx({ origin }: Cluster): Promise<string | null> {
  const received = await receive(origin, LOAD_KEY, 'chat', {
    model: MODEL,
    text: '[look]',
    isStreamed: false,
  });
  return received.kind === 'answered' ? null : `nginx answers ${JSON.stringify(received)}`;
}
