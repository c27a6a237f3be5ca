// What operators see: metrics, alerts, traces.
import { type Requirements, shown } from './requirement.ts';

const SEEN = 'operations: telemetry';
const METRICS = 'test/metrics.test.ts';

export const observingRequirements: Requirements = {
  'contract.metrics': shown(
    SEEN,
    'Requests, errors, times, tokens, cost, attempts, breakers and the process are told to Prometheus.',
    `${METRICS}: every metric is told under its name, with its type, its labels and no others`,
    `${METRICS}: requests are counted by operation, provider, model and status, with tokens, cost and times`,
    `${METRICS}: failures, retries and failovers are counted where they happened`,
    `${METRICS}: an open breaker is seen`,
    `${METRICS}: a stream is running until it ends`,
  ),
  'contract.metrics.access': shown(
    SEEN,
    'Metrics are for administrators, or for whoever reaches an address of their own.',
    `${METRICS}: at the gateway itself metrics are for administrators`,
  ),
  'contract.metrics.bounded': shown(
    SEEN,
    'Nothing that clients make up becomes a label.',
    `${METRICS}: model names that clients make up are one series`,
    `${METRICS}: keys beyond the first thousand are one series`,
  ),
};
