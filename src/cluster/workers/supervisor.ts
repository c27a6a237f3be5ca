// Supervises worker processes on one port: starts them, replaces those that die, restarts them without downtime, and stops
// them. Their shared state and messages go through it as well. It serves no requests itself.
import type { MetricsPage } from './metrics-page.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { WorkerProcess } from '../../base/runtime/worker-process.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { PUBLISH, PUBLISHED } from './pub-sub.ts';
import { Channel } from './channel.ts';
import { mergeMetrics, type WorkerMetrics } from './merge-metrics.ts';
import type { Welcome } from './siblings.ts';
import type { UnixMs } from '../../base/units.ts';

/** Milliseconds after which a starting worker counts as hanging. */
const START_MS = 60_000;
/** Milliseconds before a worker that died early is restarted. Doubles each time. */
const PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 30_000;
/** A worker that ran for this many milliseconds is replaced immediately. */
const HEALTHY_MS = 60_000;
/** Timeout for the metrics of other workers, in milliseconds. */
const METRICS_MS = 2_000;

export interface SupervisorOptions {
  /** Number of workers. */
  readonly count: number;
  /** Starts a worker; `worker` is its number, from 1. */
  readonly start: (worker: number, onMessage: (message: unknown) => void) => WorkerProcess;
  /** Handlers of further calls of workers. */
  readonly answers: Readonly<Record<string, (input: unknown) => unknown>>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** A worker number and its current process. */
interface Place {
  readonly worker: number;
  current: Running;
  /** Consecutive early deaths. */
  deaths: number;
}

interface Running {
  readonly child: WorkerProcess;
  readonly channel: Channel;
  readonly sinceMs: UnixMs;
  /** Resolves when the worker listens; rejects if it ends before or takes too long. */
  readonly listening: Promise<Welcome>;
  /** True once it was asked to stop. */
  isListening: boolean;
  isLeaving: boolean;
}

/** A worker ended before it listened. It has printed the reason. */
export class FailedStart extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`a worker exited with code ${exitCode} before it was ready`);
    this.exitCode = exitCode;
  }
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #places: Place[] = [];
  /** All running processes. */
  readonly #running = new Set<Running>();
  #isStopping = false;
  #restart: Promise<boolean> | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /**
   * Starts the first worker, which initialises the data directory, and then the others.
   * @returns the message of the first worker
   * @throws FailedStart if a worker does not start; the others are stopped then
   */
  async start(): Promise<Welcome> {
    try {
      const first = this.#open(1);
      const welcome = await first.current.listening;
      for (let worker = 2; worker <= this.#options.count; worker += 1) this.#open(worker);
      await Promise.all(this.#places.map(({ current }) => current.listening));
      return welcome;
    } catch (error) {
      await this.stop('SIGINT');
      throw error;
    }
  }

  /**
   * Replaces every worker. Each new one listens before the old one drains.
   * @returns false if a new one did not start; the old ones continue
   */
  restart(): Promise<boolean> {
    return (this.#restart ??= this.#replaceAll().finally(() => {
      this.#restart = undefined;
    }));
  }

  /** Makes all workers reload the configuration. */
  reload(): void {
    for (const { current } of this.#places) current.child.signal('SIGHUP');
  }

  /**
   * Drains all workers, and resolves when none is left.
   * @param signal SIGTERM: each first reports that it is not ready, for the configured time
   */
  async stop(signal: 'SIGTERM' | 'SIGINT'): Promise<void> {
    this.#isStopping = true;
    for (const running of this.#running) this.#leave(running, signal);
    await Promise.all(Array.from(this.#running, ({ child }) => child.exited));
  }

  async #replaceAll(): Promise<boolean> {
    const { log } = this.#options;
    log.info('replacing all workers', { workers: this.#places.length });
    for (const place of this.#places) {
      const next = this.#run(place.worker);
      try {
        await next.listening;
      } catch (error) {
        if (this.#isStopping) return false;
        log.error('a new worker did not start; the running workers are kept', {
          worker: place.worker,
          error,
        });
        this.#leave(next);
        return false;
      }
      if (this.#isStopping) return false;
      const before = place.current;
      place.current = next;
      place.deaths = 0;
      void this.#watch(place, next);
      this.#leave(before);
    }
    log.info('all workers have been replaced', { workers: this.#places.length });
    return true;
  }

  #open(worker: number): Place {
    const place: Place = { worker, current: this.#run(worker), deaths: 0 };
    this.#places.push(place);
    void this.#watch(place, place.current);
    return place;
  }

  #run(worker: number): Running {
    const { start, clock, answers } = this.#options;
    const listening = Promise.withResolvers<Welcome>();
    // Only `start` and `restart` wait for it. Avoids an unhandled rejection for replacements of dead workers.
    listening.promise.catch(() => {});
    const child = start(worker, (message) => channel.take(message));
    const channel = new Channel((message) => child.send(message));
    for (const [what, answering] of Object.entries(answers)) channel.answer(what, answering);
    channel.answer('listening', (welcome) => {
      running.isListening = true;
      listening.resolve(welcome as Welcome);
    });
    channel.answer('metrics of all', () => this.#metrics());
    channel.answer(PUBLISH, (message) => this.#publish(running, message));
    const late = clock.after(START_MS, () => {
      listening.reject(new Error(`it is not ready after ${START_MS} ms`));
      child.signal('SIGKILL');
    });
    void listening.promise.then(late, late);
    const running: Running = {
      child,
      channel,
      sinceMs: clock.now(),
      listening: listening.promise,
      isListening: false,
      isLeaving: false,
    };
    this.#running.add(running);
    void this.#onExit(running, (code) => listening.reject(new FailedStart(code)));
    return running;
  }

  async #onExit(running: Running, report: (exitCode: number) => void): Promise<void> {
    const code = await running.child.exited;
    this.#running.delete(running);
    report(code);
    running.channel.close();
  }

  /** Replaces a worker when it ends without having been asked to. */
  async #watch(place: Place, running: Running): Promise<void> {
    const code = await running.child.exited;
    if (running.isLeaving || this.#isStopping || place.current !== running) return;
    const { clock, log } = this.#options;
    place.deaths = clock.now() - running.sinceMs >= HEALTHY_MS ? 0 : place.deaths + 1;
    const pauseMs = place.deaths === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** (place.deaths - 1));
    const fields = { worker: place.worker, exit_code: code, again_in_ms: pauseMs };
    log.error('a worker died and is being replaced', fields);
    clock.after(pauseMs, () => {
      if (this.#isStopping || place.current !== running) return;
      place.current = this.#run(place.worker);
      void this.#watch(place, place.current);
    });
  }

  /** Drains a worker. A replaced worker stays ready for load balancers, hence SIGINT. */
  #leave(running: Running, signal: 'SIGTERM' | 'SIGINT' = 'SIGINT'): void {
    if (running.isLeaving) return;
    running.isLeaving = true;
    running.child.signal(signal);
  }

  /** Forwards a message to all other workers. @returns how many of them are listening */
  #publish(from: Running, message: unknown): number {
    const others = [...this.#running].filter((running) => running !== from);
    for (const { channel } of others) channel.ask(PUBLISHED, message).catch(() => {});
    return others.filter(({ isListening }) => isListening).length;
  }

  async #metrics(): Promise<MetricsPage> {
    const pages = await Promise.all(this.#places.map((place) => this.#metricsOf(place)));
    const found = pages.filter((page) => page !== null);
    return { contentType: found[0]?.contentType ?? 'text/plain', text: mergeMetrics(found) };
  }

  /** Metrics of a worker; null if it does not respond in time, because it is starting or hanging. */
  async #metricsOf({ worker, current }: Place): Promise<(MetricsPage & WorkerMetrics) | null> {
    const late = Promise.withResolvers<null>();
    const cancel = this.#options.clock.after(METRICS_MS, () => late.resolve(null));
    const page = current.channel.ask('metrics').then(
      (answer) => ({ ...(answer as MetricsPage), worker }),
      () => null,
    );
    return Promise.race([page, late.promise]).finally(cancel);
  }
}
