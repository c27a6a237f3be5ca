// A worker's side of the messages between worker and supervisor.
import type { MetricsPage } from './metrics-page.ts';
import type { ParentProcess } from '../../base/runtime/worker-process.ts';
import { Channel } from './channel.ts';

/** Message of a worker that has started to listen. */
export interface Welcome {
  /** `http://host:port` */
  readonly origin: string;
  /** Ids of the enabled providers. */
  readonly providers: readonly string[];
  /** Key created at the first start; null: keys existed. */
  readonly firstKey: string | null;
  /** Console link with a one-time sign-in code; null: not at a terminal. */
  readonly link: string | null;
}

export class Siblings {
  readonly channel: Channel;

  constructor(parent: ParentProcess) {
    this.channel = new Channel((message) => parent.send(message));
    parent.listen((message) => this.channel.take(message));
  }

  /** Reports that this worker listens. */
  async listening(welcome: Welcome): Promise<void> {
    await this.channel.ask('listening', welcome);
  }

  /** Reads the metrics of all workers. @param own metrics of this worker, for the others */
  shareMetrics(own: () => Promise<MetricsPage>): () => Promise<MetricsPage> {
    this.channel.answer('metrics', own);
    return async () => (await this.channel.ask('metrics of all')) as MetricsPage;
  }
}
