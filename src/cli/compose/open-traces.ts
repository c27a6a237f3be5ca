// Opens the traces: which request has one, and where its spans go.
import type { Config } from '../../config/index.ts';
import type { GatewayDependencies } from '../../engine/index.ts';
import type { Logger } from '../../telemetry/log.ts';
import { traceOf } from '../../telemetry/trace-context.ts';
import { type Collector, TraceExporter } from '../../traces/index.ts';
import { GuardedFetch, type GuardedFetchOptions } from '../../upstream/fetch-guarded.ts';
import { hostAndPort } from '../../upstream/guard.ts';

export interface TraceParts extends Omit<GuardedFetchOptions, 'allow'> {
  /** The configuration in force. */
  readonly config: () => Config;
  readonly log: Logger;
}

export interface Traces extends Pick<GatewayDependencies, 'trace'> {
  readonly exporter: TraceExporter;
}

export function openTraces({ config, log, ...network }: TraceParts): Traces {
  const collector = (): Collector | null => {
    const { otlp } = config().telemetry;
    return otlp && { ...otlp, url: `${otlp.endpoint}/v1/traces` };
  };
  // What the operator names may stand in the operator's own network.
  const allow = (): readonly string[] => {
    const at = collector();
    return at ? [hostAndPort(at.url)] : [];
  };
  const fetch = new GuardedFetch({ ...network, allow });
  return {
    trace(generationId, header) {
      const { otlp } = config().telemetry;
      return otlp && traceOf(header, generationId, otlp.sample);
    },
    exporter: new TraceExporter({ collector, fetch, clock: network.clock, log }),
  };
}
