// Probes of what endpoints can do, and their stored results.
export {
  capabilityPath,
  findDiagnosis,
  findMeasured,
  forgetDiagnoses,
  readCapabilities,
  readDiagnoses,
  storeDiagnoses,
  type Capabilities,
} from './capability-file.ts';
export { formatDiagnosis } from './diagnosis-json.ts';
export { costOfProbes, examine, isAnswering, mostUsd, probesFor, type Diagnosis } from './examine.ts';
export type { Finding, Outcome } from './probe.ts';
export { chooseModel } from './choose-model.ts';
