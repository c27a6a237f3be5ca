// Probes started by an operator in the running gateway, like `dragoman doctor` for one model at one provider.
import type { Endpoint } from '../../../catalog/index.ts';
import { invalidMember } from '../../../canonical/index.ts';
import type { ManagementDependencies } from '../../../operations/management/index.ts';
import {
  costOfProbes,
  type Diagnosis,
  examine,
  isAnswering,
  mostUsd,
  storeDiagnoses,
} from '../../../operations/doctor/index.ts';
import { type Task, taskMaking } from '../../../engine/index.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { UpstreamClient } from '../../../upstream/client.ts';
import { storeShared } from './open-findings.ts';
import type { Settings } from './open-settings.ts';

/** Timeout of one request in milliseconds; a local server may have to load its model first. */
const TIMEOUT_MS = 60_000;

interface ProbesParts {
  readonly settings: Settings;
  readonly storage: Pick<Storage, 'findings'>;
  readonly upstream: UpstreamClient;
  readonly clock: Clock;
}

interface Chosen {
  readonly endpoint: Endpoint;
  readonly isBuiltIn: boolean;
  readonly task: Task | undefined;
}

export function openProbes({
  settings,
  storage,
  upstream,
  clock,
}: ProbesParts): ManagementDependencies['probes'] {
  /** Running probes by endpoint; concurrent requests share them. */
  const running = new Map<string, Promise<Diagnosis>>();

  /** Earlier measurements are ignored: a quirk is either found again or gone. */
  function chosen(provider: string, modelId: string): Chosen {
    const model = settings.unmeasured().find(modelId);
    if (!model) throw invalidMember('model', `Model '${modelId.slice(0, 100)}' not found.`);
    const endpoint = model.endpoints.find((each) => each.provider === provider);
    if (!endpoint) throw invalidMember('provider', `${provider.slice(0, 100)} does not serve ${model.id}.`);
    const isText = model.outputModalities.includes('text');
    const task = isText ? undefined : taskMaking(model.outputModalities);
    if (!isText && !task) throw invalidMember('model', `${model.id} supports no task that has probes.`);
    return { endpoint, isBuiltIn: model.builtIn === true, task };
  }

  async function probed({ endpoint, isBuiltIn, task }: Chosen): Promise<Diagnosis> {
    const asking = { upstream, clock, timeoutMs: TIMEOUT_MS, redact: settings.redact };
    const diagnosis = await examine(endpoint, asking, { deep: false, task, shared: new Map() });
    // Not stored for endpoints that did not answer, and for the built-in provider.
    if (isBuiltIn || !isAnswering(diagnosis)) return diagnosis;
    if (storage.findings) await storeShared(storage.findings, [diagnosis]);
    else storeDiagnoses(settings.config().dataDir, [diagnosis]);
    settings.reread();
    return diagnosis;
  }

  return {
    plan(provider, model) {
      const { endpoint, isBuiltIn, task } = chosen(provider, model);
      const { calls, tokens } = costOfProbes(endpoint, false, task);
      return { requests: calls, tokens, usd: mostUsd(endpoint, tokens), isKept: !isBuiltIn };
    },
    run(provider, model) {
      const found = chosen(provider, model);
      const { protocol, model: name, baseUrl } = found.endpoint;
      const place = JSON.stringify([provider, protocol, name, baseUrl]);
      const known = running.get(place);
      if (known) return known;
      const made = probed(found).finally(() => running.delete(place));
      running.set(place, made);
      return made;
    },
  };
}
