// A call that has its id, and the settings that hold for it from now on, whatever is configured meanwhile.
import { RequestQuota } from './request-quota.ts';
import { newGenerationId } from '../base/runtime/ids.ts';
import { stepOf } from '../base/runtime/clock.ts';
import type { ApiCall } from './call.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { jobTraceOf, type TraceContext, traceOf } from '../base/telemetry/trace-context.ts';
import type { EngineSettings } from './settings.ts';

export interface Arrival {
  /** Id of the generation, as its client knows it. */
  readonly id: string;
  /** The same as the ledger knows it. */
  readonly recordId: string;
  readonly call: ApiCall;
  readonly settings: EngineSettings;
  /** Unix milliseconds by the machine's clock, as it is shown and stored. Of a job: when its client asked. */
  readonly createdAt: number;
  /** Its begin in milliseconds that only go forward, as all that runs for it is measured. */
  readonly arrivedAt: number;
  /** From those milliseconds to the machine's clock. */
  readonly stepMs: number;
  /** Bytes of the body: how large the request is, where routing asks before anybody reads it. */
  readonly inputChars: number;
  /** Use that limits grant it; null where none holds for it. */
  readonly quota: RequestQuota | null;
  /** Place among traces; null where none are made. */
  readonly trace: TraceContext | null;
}

/** The call with an id of its own, at this moment. @param settings those that hold for it from now on */
export function arrive(
  call: ApiCall,
  settings: EngineSettings,
  { clock, limits }: Pick<GatewayDependencies, 'clock' | 'limits'>,
): Arrival {
  // The ledger takes a record whose id says another time for counts that came late.
  const createdAt = call.job?.createdAt ?? clock.wall();
  const id = call.job?.id ?? newGenerationId(createdAt);
  const recordId = call.job?.recordId ?? id;
  const { otlp } = settings.config.telemetry;
  return {
    id,
    recordId,
    call,
    settings,
    createdAt,
    arrivedAt: clock.now(),
    stepMs: stepOf(clock),
    inputChars: call.body.bytes.length,
    quota: RequestQuota.of(limits, call.principal, clock.wall),
    trace: otlp && (call.job ? jobTraceOf : traceOf)(call.header, recordId, otlp.sample),
  };
}
