// Shutdown of a gateway: a delay in which load balancers notice, then a drain time for running answers.
import type { Config } from '../config/index.ts';
import type { Gateway } from '../../engine/index.ts';
import { type Clock, systemClock } from '../../base/runtime/clock.ts';
import type { Listener } from '../../base/runtime/http-server.ts';
import type { App } from '../../server/app.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { DurationMs } from '../../base/units.ts';

/** Interval of checks in milliseconds, and maximum checks after running answers were told to end. */
const LOOK_MS = 50;
const LAST_LOOKS = 40;
/** Time for requests on the last accepted connections to arrive, in milliseconds. */
const ARRIVAL_MS = 50;

export interface EndingParts {
  readonly gateway: Gateway;
  readonly listener: Pick<Listener, 'leave' | 'drain'>;
  readonly app: Pick<App, 'drain'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Logger;
}

export class Ending {
  /** True once the process is shutting down, so that load balancers stop sending requests. */
  hasBegun = false;
  /** True while requests are accepted. */
  isOpen = true;

  /**
   * Stops accepting requests, and resolves when none is running.
   * @param delayMs time for which requests are still accepted, each as the last of its connection
   * @param drainMs time after which running answers end with a native error
   */
  async run(
    { drainDelayMs: delayMs, drainMs }: Pick<Config['server'], 'drainDelayMs' | 'drainMs'>,
    { gateway, listener, app, clock, log }: EndingParts,
  ): Promise<void> {
    this.hasBegun = true;
    listener.leave();
    if (delayMs > 0) {
      log.info('shutting down: new requests are accepted until load balancers notice', {
        drain_delay_ms: delayMs,
      });
      await new Promise<void>((resolve) => void clock.after(delayMs, resolve));
    }
    await listener.drain();
    await new Promise<void>((resolve) => void systemClock.after(ARRIVAL_MS, resolve));
    this.isOpen = false;
    log.info('shutting down: waiting for running requests to finish', {
      running: gateway.active,
      drain_ms: drainMs,
    });
    app.drain();
    await drained(gateway, drainMs);
  }
}

async function drained(gateway: Gateway, deadlineMs: DurationMs): Promise<void> {
  const step = (): Promise<void> => new Promise((resolve) => systemClock.after(LOOK_MS, resolve));
  const until = systemClock.now() + deadlineMs;
  while (gateway.active > 0 && systemClock.now() < until) await step();
  if (gateway.active === 0) return;
  gateway.abortAll();
  for (let look = 0; gateway.active > 0 && look < LAST_LOOKS; look++) await step();
}
