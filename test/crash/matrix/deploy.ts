// A deploy under load: every replica is told to end and started again, one after the other, while streams run through nginx.
import { type Received, receive } from './asks.ts';
import { type Cluster, LOAD_KEY, PACED, started } from './cluster.ts';

export interface Deployed {
  readonly streams: number;
  readonly answered: number;
  /** Other answers that clients received, and how often. */
  readonly reported: ReadonlyMap<string, number>;
  readonly seconds: number;
}

/** In which nginx asks a replica again that it found gone (`fail_timeout`), and longer. */
const TAKEN_BACK_MS = 1_500;
/** More than so many are written slowly: they run as long as there is time to replace a replica. */
const FEW = 200;

/** @param streams how many run at any time */
export async function deployUnderLoad(cluster: Cluster, streams: number): Promise<Deployed> {
  const model = streams > FEW ? PACED[1] : PACED[0];
  const received: Received[] = [];
  let running = true;
  const client = async (): Promise<void> => {
    while (running)
      received.push(
        await receive(cluster.origin, LOAD_KEY, 'chat', { model, text: '[deploy]', isStreamed: true }),
      );
  };
  const clients: Promise<void>[] = [];
  const from = performance.now();
  for (let at = 0; at < streams; at += 1) {
    clients.push(client());
    // They come one after the other, and so do their ends.
    await Bun.sleep(2_000 / streams);
  }
  for (const replica of cluster.replicas) {
    replica.signal('SIGTERM');
    await replica.gone();
    replica.start();
    await started(replica);
    await Bun.sleep(TAKEN_BACK_MS);
  }
  running = false;
  await Promise.all(clients);
  const reported = new Map<string, number>();
  for (const each of received) {
    if (each.kind === 'answered') continue;
    const why = each.kind === 'refused' ? 'refused' : each.why.slice(0, 200);
    reported.set(why, (reported.get(why) ?? 0) + 1);
  }
  const answered = received.filter(({ kind }) => kind === 'answered').length;
  return { streams: received.length, answered, reported, seconds: (performance.now() - from) / 1_000 };
}
