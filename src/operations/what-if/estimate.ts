// Routes past requests again under changed conditions, and sums up their actual and estimated cost by endpoint. Sends
// nothing.
import { type CanonicalRequest, Report, type RoutingWishes } from '../../canonical/index.ts';
import { type Catalog, type Endpoint, isAuto } from '../../catalog/index.ts';
import { costOf } from '../../accounts/ledger/index.ts';
import { planRequest, type RoutingSettings, type RoutingState } from '../../engine/routing/index.ts';
import { type Changes, changedCatalog } from './changed-catalog.ts';
import { Pace } from './pace.ts';
import type { PastRequest } from './past-request.ts';
import { SteadyState } from './steady-state.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';
import { errorText } from '../../base/lib/errors.ts';

/** Limitations of an estimate, for people. */
export const ASSUMPTIONS: readonly string[] = [
  'The estimate is based on records. Nothing was sent, and the content of the requests is unknown.',
  'Each request uses the same tokens, cache reads and tools as the original.',
  'Each request goes to the first choice of the policy. Routing settings of requests and keys, limits, failovers and conversation stickiness are ignored.',
  'Breakers and measured speeds are current. Other speeds are means of the sample, by response length.',
  'Requests for automatic models keep the model that was chosen for them.',
];

export interface EstimateInput {
  readonly sample: readonly PastRequest[];
  readonly catalog: Catalog;
  readonly settings: RoutingSettings;
  readonly state: RoutingState;
  readonly nowMs: UnixMs;
  readonly changes: Changes;
  /** Default routing preferences for requests without their own; null: the current ones. */
  readonly policy: RoutingWishes | null;
  /** Replacement models, by the name that clients wrote. */
  readonly models: Readonly<Record<string, string>>;
  /** Yields to other work; false: the time is up. */
  readonly pause: () => Promise<boolean>;
}

/** Estimate for one endpoint, or for all. */
export interface Part {
  readonly requests: number;
  /** Requests with a known price only. */
  readonly usd: number;
  readonly unpriced: number;
  /** Means over the requests for which the time is known; null: none. */
  readonly firstContentMs: DurationMs | null;
  readonly durationMs: DurationMs | null;
}

export interface Estimate {
  readonly before: Part;
  readonly after: Part;
  readonly groups: readonly {
    readonly model: string;
    readonly provider: string;
    readonly endpoint: string;
    readonly before: Part;
    readonly after: Part;
  }[];
  /** Number of requests in the sample. */
  readonly sampled: number;
  /** Requests that another endpoint would serve. */
  readonly moved: number;
  /** Requests that no endpoint could serve, by reason. */
  readonly unserved: Readonly<Record<string, number>>;
}

/** Requests that are routed before yielding to other work. */
const AT_ONCE = 25;
const CHARS_PER_TOKEN = 4;

export async function estimate(input: EstimateInput): Promise<Estimate> {
  const { sample, state, changes } = input;
  const catalog = changedCatalog(input.catalog, changes);
  const settings = input.policy ? { ...input.settings, defaults: input.policy } : input.settings;
  const steady = new SteadyState(state);
  const pace = new Pace(sample, state);
  const before = new Sums();
  const after = new Sums();
  const unserved: Record<string, number> = {};
  let moved = 0;
  let sampled = 0;
  for (const past of sample) {
    if (sampled % AT_ONCE === 0 && !(await input.pause())) break;
    sampled += 1;
    before.add(past, past);
    const endpoint = chosen(past, { ...input, catalog, settings, state: steady });
    if (typeof endpoint === 'string') {
      unserved[endpoint] = (unserved[endpoint] ?? 0) + 1;
      continue;
    }
    const isSame = endpoint.modelId === past.model && endpoint.slug === past.endpoint;
    if (!isSame) moved += 1;
    const times = isSame ? past : pace.expected(endpoint, past.outputTokens);
    after.add(
      { model: endpoint.modelId, provider: endpoint.provider, endpoint: endpoint.slug },
      {
        usd: costAt(endpoint, past),
        firstContentMs: past.firstContentMs === null ? null : times.firstContentMs,
        durationMs: times.durationMs,
      },
    );
  }
  const keys = new Map([...before.groups, ...after.groups]);
  return {
    before: before.all.part(),
    after: after.all.part(),
    groups: [...keys].map(([key, { place }]) => ({
      ...place,
      before: before.groups.get(key)?.sum.part() ?? EMPTY_SUM.part(),
      after: after.groups.get(key)?.sum.part() ?? EMPTY_SUM.part(),
    })),
    sampled,
    moved,
    unserved,
  };
}

/** The first endpoint to try, or the reason why there is none. */
function chosen(
  past: PastRequest,
  { catalog, settings, state, nowMs, models }: EstimateInput,
): Endpoint | string {
  const asked = isAuto(past.requestedModel, catalog) ? past.model : past.requestedModel;
  const request: CanonicalRequest = {
    protocol: past.protocol,
    task: past.task,
    raw: {},
    model: models[past.requestedModel] ?? models[past.model] ?? asked,
    items: [],
    tools: [],
    reasoning: {},
    stream: past.streamed,
    gateway: {},
    extra: {},
    report: new Report(),
  };
  try {
    const plan = planRequest(request, {
      catalog,
      settings,
      keyWishes: null,
      projectId: past.projectId,
      mayUse: () => true,
      state,
      nowMs,
      lacking: () => [],
      inputChars: past.inputTokens * CHARS_PER_TOKEN,
      report: request.report,
      peek: true,
    });
    return plan.candidates[0]?.endpoint ?? 'no endpoint left';
  } catch (error) {
    return errorText(error).slice(0, 300);
  }
}

/** Cost of the same tokens at an endpoint; null: unknown. The gateway's tools cost the same everywhere. */
function costAt({ price }: Endpoint, { usage, toolsUsd }: PastRequest): number | null {
  if (!usage) return 0;
  const { usd } = costOf({ ...usage, tools: {} }, price);
  return usd === null ? null : usd + toolsUsd;
}

type Place = Pick<PastRequest, 'model' | 'provider' | 'endpoint'>;

interface Counted {
  readonly usd: number | null;
  readonly firstContentMs: DurationMs | null;
  readonly durationMs: DurationMs | null;
}

/** Sums by endpoint, and in total. */
class Sums {
  readonly all = new Sum();
  readonly groups = new Map<string, { readonly place: Place; readonly sum: Sum }>();

  add({ model, provider, endpoint }: Place, counted: Counted): void {
    const key = JSON.stringify([model, endpoint]);
    let group = this.groups.get(key);
    if (!group) this.groups.set(key, (group = { place: { model, provider, endpoint }, sum: new Sum() }));
    group.sum.add(counted);
    this.all.add(counted);
  }
}

class Mean {
  #sum = 0;
  #count = 0;

  add(value: number | null): void {
    if (value === null) return;
    this.#sum += value;
    this.#count += 1;
  }

  get value(): number | null {
    return this.#count === 0 ? null : Math.round(this.#sum / this.#count);
  }
}

class Sum {
  readonly #first = new Mean();
  readonly #duration = new Mean();
  #requests = 0;
  #usd = 0;
  #unpriced = 0;

  add({ usd, firstContentMs, durationMs }: Counted): void {
    this.#requests += 1;
    if (usd === null) this.#unpriced += 1;
    else this.#usd += usd;
    this.#first.add(firstContentMs);
    this.#duration.add(durationMs);
  }

  part(): Part {
    return {
      requests: this.#requests,
      usd: this.#usd,
      unpriced: this.#unpriced,
      firstContentMs: this.#first.value,
      durationMs: this.#duration.value,
    };
  }
}

const EMPTY_SUM = new Sum();
