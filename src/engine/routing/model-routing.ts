// Choice among models: `model_routing_config` and `dragoman/auto`. Finds candidates, excludes those that cannot serve
// the request, and orders the rest. `model-score.ts` calculates scores.
import type { JsonObject } from '../../base/json/index.ts';
import {
  GatewayError,
  MODEL_STRATEGIES,
  type CanonicalRequest,
  type ModelRouting,
} from '../../canonical/index.ts';
import {
  autoCandidates,
  isOnlyByName,
  similarModels,
  type Catalog,
  type Model,
  resolveModelId,
  type ResolvedModel,
} from '../../catalog/index.ts';
import { estimateComplexity } from './complexity.ts';
import { effectiveWishes } from './effective-wishes.ts';
import { NOT_ALLOWED, RULED_OUT, fitOf, type Estimate } from './model-fit.ts';
import { describeMeasures, roundedMeasures, weighModels, weightsFor, weightsTable } from './model-score.ts';
import type { Contender, Weighed, Weights } from './model-score.ts';
import type { Exclusion, PlanContext } from './plan-types.ts';
import { requestFacts } from './request-facts.ts';

/** A model that may serve a request, with the endpoint that its id may name. */
export interface ModelOption extends ResolvedModel {
  readonly reason: string;
  readonly score: number | null;
  /** Components of the score, from 0 to 1. Null: not scored. */
  readonly measures: Weights | null;
}

export interface RoutedModels {
  /** In order of trying; never empty. */
  readonly options: readonly ModelOption[];
  readonly excluded: readonly Exclusion[];
  /** Basis of the choice, for the route table. */
  readonly basis: JsonObject;
}

const CONFIG = 'model_routing_config';
const TASK_TYPE = `${CONFIG}.task_info.task_type`;
/** Built-in task types; operators can add their own. */
const TASK_TYPES = ['chat', 'completion'] as const;
/** Maximum models that an open choice tries. */
const MOST_OPTIONS = 10;

/**
 * Chooses among models. Candidates are `available_models` and the named model; without a named model, those of the task
 * type, otherwise all that the key may use. A preferred model comes first, or else the named one unless a complexity or
 * strategy is given; the rest follow by score. If no candidate remains, a named model is tried anyway.
 * @param param position of the model or choice: `model`, `models[1]`
 * @param named null: the choice is open (`dragoman/auto`). Throws GatewayError 400 for invalid preferences, or when no
 * candidate can serve the request
 */
export function routeModels(
  param: string,
  named: ResolvedModel | null,
  request: CanonicalRequest,
  context: PlanContext,
): RoutedModels {
  const config = request.gateway.modelRouting ?? {};
  checkTaskType(config.taskType, request, context);
  const { candidates, reserve, unknown, isOpen } = findCandidates(named, config, context);
  const { mustBeNamed } = request.task ?? {};
  if (isOpen && mustBeNamed) throw new GatewayError('invalid_request', `${param}: ${mustBeNamed}`, { param });
  const strategy = MODEL_STRATEGIES.find((word) => word === config.preference);
  const preferred = strategy ? undefined : findPreferred(config.preference, candidates, isOpen, context);
  const facts = requestFacts(request, context.inputChars);
  const complexity = config.complexity ?? (named ? undefined : estimateComplexity(facts));
  const weights = weightsFor(complexity, strategy);

  const wishes = effectiveWishes(request.gateway.routing, context.keyWishes, context.settings.defaults);
  let estimate: Estimate = { request, facts, wishes };
  const contenders: Contender[] = [];
  const misfits: Exclusion[] = [];
  const consider = (candidate: ResolvedModel): void => {
    const { model, pinned } = candidate;
    const fit = fitOf(candidate, estimate, context);
    if (typeof fit === 'string') misfits.push({ modelId: model.id, endpoint: null, reason: fit });
    else contenders.push({ model, pinned, endpoints: fit });
  };
  const considerAll = (): void => {
    (preferred ? distinct([preferred, ...candidates]) : candidates).forEach(consider);
    if (contenders.length === 0) reserve.forEach(consider);
    else misfits.push(...reserve.map(({ model }) => reserveExclusion(model)));
  };
  considerAll();
  if (contenders.length === 0 && !named && facts.reasoning !== 'none') {
    // As for a named model: the answer comes without reasoning, which is reported.
    estimate = { ...estimate, facts: { ...facts, reasoning: 'none' } };
    misfits.length = 0;
    considerAll();
  }
  const favourite = preferred ?? (complexity === undefined && !strategy ? named : null);
  const weighed = weighModels(contenders, weights, facts, request.stream, context);
  const ordered = favouriteFirst(weighed, favourite).slice(0, isOpen ? MOST_OPTIONS : undefined);
  const options = ordered.map(({ contender: { model, pinned }, score, measures }): ModelOption => {
    const why = preferred ? `${CONFIG}.preference` : 'requested';
    const reason = model === favourite?.model ? why : describeMeasures(measures);
    return { model, pinned, score, measures, reason };
  });
  if (options.length === 0) {
    if (!named) throw noCandidates(param, misfits, context);
    options.push({
      ...named,
      reason: 'requested, although no candidate is known to fit',
      score: null,
      measures: null,
    });
  }
  return {
    options,
    // A choice among hundreds is summarised by counts; the full list is only for explanations.
    excluded: isOpen && !context.peek ? unknown : [...unknown, ...misfits],
    basis: {
      requested: request.model,
      auto: named === null,
      candidates: candidates.length,
      task_type: config.taskType ?? null,
      complexity: complexity ?? null,
      complexity_estimated: complexity !== undefined && config.complexity === undefined,
      preference: config.preference ?? null,
      weights: weightsTable(weights),
      order: options.map(({ model, score, measures, reason }) => ({
        model: model.id,
        score: score === null ? null : Number(score.toFixed(3)),
        measures: measures && roundedMeasures(measures),
        reason,
      })),
      excluded: countReasons([...unknown, ...misfits]),
    },
  };
}

/** The favourite first if it is a candidate, then the others by score. */
function favouriteFirst(
  weighed: readonly Weighed[],
  favourite: ResolvedModel | null | undefined,
): readonly Weighed[] {
  const first = favourite && weighed.find(({ contender }) => contender.model === favourite.model);
  return first ? [first, ...weighed.filter((entry) => entry !== first)] : weighed;
}

interface Candidates {
  readonly candidates: readonly ResolvedModel[];
  /** Candidates for when no other fits. */
  readonly reserve: readonly ResolvedModel[];
  readonly unknown: readonly Exclusion[];
  /** True: the candidates are not from a list. */
  readonly isOpen: boolean;
}

function findCandidates(named: ResolvedModel | null, config: ModelRouting, context: PlanContext): Candidates {
  const { catalog, settings, mayUse } = context;
  const listed = config.availableModels;
  const byTask = named || !config.taskType ? undefined : own(settings.taskTypes, config.taskType);
  const ids = listed ?? byTask;
  if (!ids) {
    if (named) return { candidates: [named], reserve: [], unknown: [], isOpen: false };
    return { ...openCandidates(catalog, mayUse), unknown: [], isOpen: true };
  }
  const path = listed ? `${CONFIG}.available_models` : TASK_TYPE;
  const found: ResolvedModel[] = [];
  const unknown: Exclusion[] = [];
  ids.forEach((id, index) => {
    const resolved = resolveModelId(id, catalog, `${path}[${index}]`);
    if (resolved) return found.push(resolved);
    if (listed) context.report.add(`${path}[${index}]`, 'dropped', 'no such model');
    return unknown.push({ modelId: id.slice(0, 200), endpoint: null, reason: 'no such model' });
  });
  if (found.length === 0) {
    const similar = [...new Set(ids.flatMap((id) => similarModels(id, catalog, mayUse)))].slice(0, 3);
    const hint =
      similar.length > 0 ? `did you mean ${similar.join(', ')}?` : 'GET /v1/models lists the models';
    throw new GatewayError('invalid_request', `${path}: none of these models exists; ${hint}`, {
      param: path,
    });
  }
  return { candidates: distinct(named ? [named, ...found] : found), reserve: [], unknown, isOpen: false };
}

type OpenCandidates = Pick<Candidates, 'candidates' | 'reserve'>;

const openChoices = new WeakMap<Catalog, OpenCandidates>();

/** Candidates of an open choice: all models that the key may use. */
function openCandidates(catalog: Catalog, mayUse: PlanContext['mayUse']): OpenCandidates {
  let all = openChoices.get(catalog);
  if (!all) openChoices.set(catalog, (all = splitCandidates(catalog.list())));
  const isAllowed = ({ model }: ResolvedModel): boolean => mayUse(model.id);
  const allowed = { candidates: all.candidates.filter(isAllowed), reserve: all.reserve.filter(isAllowed) };
  if (allowed.candidates.length > 0 || allowed.reserve.length > 0) return allowed;
  return splitCandidates(catalog.list().filter(({ id }) => mayUse(id)));
}

function splitCandidates(models: readonly Model[]): OpenCandidates {
  const candidates: ResolvedModel[] = [];
  const reserve: ResolvedModel[] = [];
  for (const model of autoCandidates(models)) {
    // A score means that the operator wants the model anyway.
    const isUsual =
      model.quality !== null || !model.endpoints.some((endpoint) => isOnlyByName(endpoint.model));
    (isUsual ? candidates : reserve).push({ model, pinned: null });
  }
  return { candidates, reserve };
}

function reserveExclusion({ id }: Model): Exclusion {
  return { modelId: id, endpoint: null, reason: 'superseded, or for a special purpose' };
}

/** The candidate named by `preference`; in an open choice, any model that the key may use. */
function findPreferred(
  preference: string | undefined,
  candidates: readonly ResolvedModel[],
  isOpen: boolean,
  { catalog, mayUse }: PlanContext,
): ResolvedModel | undefined {
  if (preference === undefined) return undefined;
  const resolved = resolveModelId(preference, catalog, `${CONFIG}.preference`);
  const found = isOpen
    ? resolved && mayUse(resolved.model.id)
      ? resolved
      : undefined
    : candidates.find(({ model }) => model.id === resolved?.model.id);
  if (found) return found;
  const models = isOpen ? 'any model of GET /v1/models' : candidates.map(({ model }) => model.id).join(', ');
  throw new GatewayError(
    'invalid_request',
    `${CONFIG}.preference: ${JSON.stringify(preference.slice(0, 200))} is not allowed here; ` +
      `allowed: ${MODEL_STRATEGIES.join(', ')}, ${models}`,
    { param: `${CONFIG}.preference` },
  );
}

function checkTaskType(
  taskType: string | undefined,
  { task }: CanonicalRequest,
  { settings, tasks = [] }: PlanContext,
): void {
  if (taskType === undefined) return;
  const other = tasks.find(({ type }) => type?.name === taskType);
  if (other?.type && other.name !== task?.name) {
    throw new GatewayError('invalid_request', `${TASK_TYPE}: ${other.type.servedBy}`, { param: TASK_TYPE });
  }
  const known = task ? [task.type?.name ?? task.name] : TASK_TYPES;
  const allowed = [...new Set([...known, ...Object.keys(settings.taskTypes)])];
  if (allowed.includes(taskType)) return;
  throw new GatewayError('invalid_request', `${TASK_TYPE}: must be one of ${allowed.join(', ')}`, {
    param: TASK_TYPE,
  });
}

function noCandidates(param: string, misfits: readonly Exclusion[], { catalog }: PlanContext): GatewayError {
  const mayUseNone = misfits.every(({ reason }) => reason === NOT_ALLOWED) && catalog.list().length > 0;
  if (mayUseNone) {
    const text = 'This API key may not use any of the models to choose from.';
    return new GatewayError('permission', text, { param, code: 'model_not_allowed' });
  }
  const reasons = Object.entries(countReasons(misfits)).map(([reason, count]) => `${reason} (${count})`);
  const text = reasons.length > 0 ? reasons.join('; ') : 'no provider is on';
  const first = misfits[0]?.reason ?? '';
  const isWish = first.startsWith(RULED_OUT) && misfits.every(({ reason }) => reason === first);
  return new GatewayError(
    'unsupported',
    `None of the models to choose from can serve this request: ${text}`,
    {
      param: isWish ? first.slice(RULED_OUT.length) : param,
    },
  );
}

function countReasons(exclusions: readonly Exclusion[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of exclusions) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

/** Removes duplicates; the first occurrence counts. */
function distinct<T extends ResolvedModel>(models: readonly T[]): readonly T[] {
  const seen = new Set<string>();
  return models.filter(({ model }) => !seen.has(model.id) && seen.add(model.id));
}

function own<V>(record: Readonly<Record<string, V>>, key: string): V | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
