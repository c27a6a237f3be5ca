// A call that has its id, and the settings that hold for it from now on, whatever is configured meanwhile.
import { Allowance } from './allowance.ts';
import { newGenerationId } from '../runtime/ids.ts';
import type { ApiCall } from './call.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { type TraceContext, traceOf } from '../telemetry/trace-context.ts';
import type { EngineSettings } from './settings.ts';

export interface Arrival {
  /** Id of the generation. */
  readonly id: string;
  readonly call: ApiCall;
  readonly settings: EngineSettings;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Characters of the body: how large the request is, where routing asks before anybody reads it. */
  readonly inputChars: number;
  /** What limits let it use; null where none holds for it. */
  readonly allowance: Allowance | null;
  /** Where it belongs among traces; null where none are made. */
  readonly trace: TraceContext | null;
}

/** The call with an id of its own, at this moment. @param settings those that hold for it from now on */
export function arrive(
  call: ApiCall,
  settings: EngineSettings,
  { clock, limits }: Pick<GatewayDependencies, 'clock' | 'limits'>,
): Arrival {
  const createdAt = clock.now();
  const id = newGenerationId(createdAt);
  const { otlp } = settings.config.telemetry;
  return {
    id,
    call,
    settings,
    createdAt,
    inputChars: call.body.length,
    allowance: Allowance.of(limits, call.principal, clock.now),
    trace: otlp && traceOf(call.header, id, otlp.sample),
  };
}
