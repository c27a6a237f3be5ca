// The client of all upstreams: follows the configured network, and warns of upstreams that send unasked bytes.
import type { Clock } from '../../../base/runtime/clock.ts';
import { UpstreamClient } from '../../../upstream/client.ts';
import type { Settings } from './open-settings.ts';

export function openUpstream(
  { config, log }: Pick<Settings, 'config' | 'log'>,
  clock: Clock,
): UpstreamClient {
  return new UpstreamClient(clock.now, {
    wall: clock.wall,
    reuse: () => config().upstream,
    network: () => config().upstream.network,
    every: (ms, run) => clock.every(ms, run),
    stray: ({ label }) =>
      log.warn('bytes came that nobody had asked for; for a minute no connection is used twice', {
        from: label,
      }),
  });
}
