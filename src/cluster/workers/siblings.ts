// Messages between a worker and its supervisor: a worker's side of them.
import type { MetricsPage } from './metrics-page.ts';
import type { ParentProcess } from '../../base/runtime/worker-process.ts';
import { Channel } from './channel.ts';

/** Message of a worker that listens. */
export interface Welcome {
  /** `http://host:port` */
  readonly origin: string;
  /** The key that was made because there was none; null otherwise. */
  readonly firstKey: string | null;
  /** An address of the console that signs in whoever opens it first; null where nobody is there to open it. */
  readonly link: string | null;
}

export class Siblings {
  readonly channel: Channel;

  constructor(parent: ParentProcess) {
    this.channel = new Channel((message) => parent.send(message));
    parent.listen((message) => this.channel.take(message));
  }

  /** Says that this worker listens. */
  async listening(welcome: Welcome): Promise<void> {
    await this.channel.ask('listening', welcome);
  }

  /** Metrics of all workers, each of which answers with its own. @param own those of this one */
  shareMetrics(own: () => Promise<MetricsPage>): () => Promise<MetricsPage> {
    this.channel.answer('metrics', own);
    return async () => (await this.channel.ask('metrics of all')) as MetricsPage;
  }
}
