// Opens the export of traces.
import type { Config } from '../../../config/index.ts';
import type { Logger } from '../../../../base/telemetry/log.ts';
import { type Collector, TraceExporter } from '../../../../operations/traces/index.ts';
import { GuardedFetch, type GuardedFetchOptions } from '../../../../upstream/fetch-guarded.ts';
import { hostAndPort } from '../../../../upstream/guard.ts';

export interface TraceParts extends Omit<GuardedFetchOptions, 'allow'> {
  /** The current configuration. */
  readonly config: () => Config;
  readonly log: Logger;
}

export function openTraces({ config, log, ...network }: TraceParts): TraceExporter {
  const collector = (): Collector | null => {
    const { otlp } = config().telemetry;
    return otlp && { ...otlp, url: `${otlp.endpoint}/v1/traces` };
  };
  // Addresses in the configuration may be in the operator's network.
  const allow = (): readonly string[] => {
    const at = collector();
    return at ? [hostAndPort(at.url)] : [];
  };
  const fetch = new GuardedFetch({ ...network, allow });
  return new TraceExporter({ collector, fetch, clock: network.clock, log });
}
