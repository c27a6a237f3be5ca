// Runs one cell of the matrix through the gateway and says what became of its facts: which were lost on the way, and in
// whose words. Knows nothing of how the gateway translates.
import { stream as sse, whole } from '../../support/upstreams/answers.ts';
import { CLIENTS } from '../../support/upstreams/client-dialects.ts';
import { dialect } from '../../support/upstreams/dialects.ts';
import { recordOf } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import type { Answer as Script } from '../../support/upstreams/scripted-upstream.ts';
import {
  UNSENDABLE_BY_CLIENT,
  UNSENDABLE_BY_UPSTREAM,
  UNSENDABLE_TO_CLIENT,
  UNSENDABLE_TO_UPSTREAM,
} from './absences.ts';
import { chatFace } from './chat-face.ts';
import { factsOfAnswer, factsOfQuestion, type Face, type Question, type Turn } from './exchange.ts';
import type { Feature, Protocol, Servers } from './feature.ts';
import { geminiFace } from './gemini-face.ts';
import { messagesFace } from './messages-face.ts';
import { responsesFace } from './responses-face.ts';
import { modelOf, type Stage } from './stage.ts';

export interface Cell {
  readonly outcome: 'lossless' | 'approximated' | 'impossible' | 'lost';
  /** The report's words, or the reason; for a fact that is lost without a word, the fact. */
  readonly words: readonly string[];
}
export interface Way {
  readonly client: Protocol;
  readonly upstream: Protocol;
  readonly stream: boolean;
}
type Ask = Way & { readonly servers: Servers | undefined };

/** How each protocol says things. */
export const FACES: Readonly<Record<Protocol, Face>> = {
  'openai-chat': chatFace,
  'openai-responses': responsesFace,
  'anthropic-messages': messagesFace,
  gemini: geminiFace,
};
interface Entry {
  readonly path: string;
  readonly reason: string;
}
interface Received {
  readonly body: Json;
  readonly report: readonly Entry[];
}

/** Outcome of a row on one way. */
export async function measure(stage: Stage, feature: Feature, way: Way): Promise<Cell> {
  const client = FACES[way.client];
  const upstream = FACES[way.upstream];
  const { question, results, servers } = feature;
  const { wanted, beyond, reasons } = withinReach(feature, way);
  if (reasons) return { outcome: 'impossible', words: reasons };

  const said = emulated(feature, way)?.answers ?? [feature.answer];
  const after = whole(upstream.whole({ text: 'Done.', finish: 'stop' }));
  stage.upstream.script(
    ...said.map((answer) => (way.stream ? sse(upstream.stream(answer)) : whole(upstream.whole(answer)))),
    after,
  );
  const first = await ask(stage, question, { ...way, servers });
  if ('refused' in first) {
    const unsendable = reasonsFor(feature, UNSENDABLE_TO_UPSTREAM[way.upstream]);
    if (unsendable && first.status === 400) return { outcome: 'impossible', words: unsendable };
    return { outcome: 'lost', words: [first.refused] };
  }
  const received = client.received(first.body);
  const disorder = outOfOrder(feature, received);
  if (disorder) return { outcome: 'lost', words: [disorder] };
  const got = [...upstream.understood(stage.upstream.requests[0]?.json), ...received];
  let { report } = first;
  if (results) {
    const own = client.giveBack(first.body, feature.forgets === true);
    const ids = client.callIds(first.body);
    const named = results.map((result, index) => ({ ...result, id: ids[index] ?? result.id }));
    const turns: Turn[] = [...question.turns, { own }, answerWith(feature, named)];
    const second = await ask(stage, { ...question, turns }, { ...way, stream: false, servers });
    if ('refused' in second) return { outcome: 'lost', words: [`second turn: ${second.refused}`] };
    report = [...report, ...second.report];
    const understood = upstream.understood(stage.upstream.requests[1]?.json);
    got.push(...understood, orderOf(understood));
  }
  return judge(feature, way, { wanted, beyond, got, report });
}

/** Facts that arrive in another order than they were said; searches, which Gemini reports at the end, are left out. */
function outOfOrder({ answer }: Feature, received: readonly string[]): string | undefined {
  const said = factsOfAnswer(answer).filter((fact) => /^(thought|text|call)/.test(fact));
  const before = said.filter((fact) => received.includes(fact)).join('; ');
  const after = received.filter((fact) => said.includes(fact)).join('; ');
  return before === after ? undefined : `${before} is heard as ${after}`;
}

const answerWith = ({ beside }: Feature, results: NonNullable<Feature['results']>): Turn =>
  beside === undefined ? { results } : { results, beside };
const emulated = ({ byGateway }: Feature, way: Way): Feature['byGateway'] =>
  byGateway?.upstreams.includes(way.upstream) ? byGateway : undefined;

/** The reasons why a protocol has no place for anything that a row is about; undefined when it has one. */
function reasonsFor(
  feature: Feature,
  absences: readonly { readonly fact: RegExp; readonly reason: string }[],
): string[] | undefined {
  const essence = factsOf(feature).filter((fact) => isAbout(feature, fact));
  const reasons = essence.map((fact) => absences.find((each) => each.fact.test(fact))?.reason);
  const known = reasons.filter((reason) => reason !== undefined);
  return known.length === reasons.length ? [...new Set(known)].toSorted() : undefined;
}

function factsOf(feature: Feature): string[] {
  const { question, answer, results } = feature;
  const facts = [...factsOfQuestion(question), ...factsOfAnswer(answer)];
  if (!results) return facts;
  const { text = '', calls = [], thoughts = [] } = answer;
  const turns = [...question.turns, { assistant: text, calls }, answerWith(feature, results)];
  const states = thoughts.map(({ state }) => `state: ${state}`);
  const turn = factsOfQuestion({ turns });
  return [...facts, ...turn, ...states, orderOf([...states, ...turn])];
}

const isAbout = ({ about }: Feature, fact: string): boolean => about.some((kind) => fact.startsWith(kind));

/**
 * The facts of a row: those that its client can say and its upstream too, and those beyond them. With reasons, nothing
 * that the row is about is within reach.
 */
function withinReach(
  feature: Feature,
  way: Way,
): Readonly<Record<'wanted' | 'beyond', readonly string[]>> & { readonly reasons: string[] | undefined } {
  const help = emulated(feature, way);
  const absences = [
    ...UNSENDABLE_BY_CLIENT[way.client],
    ...(help ? [] : UNSENDABLE_BY_UPSTREAM[way.upstream]),
  ];
  const isBeyond = (fact: string): boolean => absences.some((each) => each.fact.test(fact));
  const facts = factsOf(feature);
  const { fetched = {}, isFetched } = feature;
  const isSent = isFetched?.(way.client, way.upstream) === false;
  const arriving = (fact: string): string => (isSent ? undefined : fetched[kindOf(fact)]) ?? fact;
  return {
    wanted: facts.filter((fact) => !isBeyond(fact) && !help?.unreported.test(fact)).map(arriving),
    beyond: facts.filter(isBeyond),
    reasons: reasonsFor(feature, absences),
  };
}

/** Hidden state counts only before the calls that it led to. */
const orderOf = (facts: readonly string[]): string =>
  `order: ${facts
    .map(kindOf)
    .filter((kind) => kind === 'state' || kind.startsWith('call'))
    .join(', ')}`;

/** Kinds of which nothing may be added. */
const SAID =
  /^(user|image|pdf(?! name)|audio|assistant|system|instruction|choice|cached|reasoning|thought|text|refusal|call|result|failed result|finish|searched|found|cites|stopped by)/;
const kindOf = (fact: string): string => fact.slice(0, fact.indexOf(':'));
const valueOf = (fact: string): string => fact.slice(fact.indexOf(':'));

function judge(
  feature: Feature,
  way: Way,
  {
    wanted,
    beyond,
    got,
    report,
  }: Readonly<Record<'wanted' | 'beyond' | 'got', readonly string[]>> & Pick<Received, 'report'>,
): Cell {
  const missing = wanted.filter((fact) => !got.includes(fact));
  const standsFor = (other: string, facts: readonly string[]): boolean =>
    facts.some((fact) => kindOf(fact) === kindOf(other) || valueOf(fact) === valueOf(other));
  const added = got.filter((fact) => SAID.test(fact) && !wanted.includes(fact) && !standsFor(fact, beyond));
  const absences = UNSENDABLE_TO_CLIENT[way.client];
  const words = new Set(report.map(({ reason }) => reason));
  const unexplained: string[] = [];
  const moved: string[] = [];
  for (const fact of missing) {
    const absence = absences.find((each) => each.fact.test(fact));
    if (absence) words.add(absence.reason);
    else if (added.some((other) => valueOf(other) === valueOf(fact))) moved.push(`${fact} is said otherwise`);
    else if (!isReported(fact, report)) unexplained.push(`${fact} is lost`);
  }
  // A fact at another place follows from something that has words.
  if (words.size === 0) unexplained.push(...moved);
  for (const fact of added) if (!standsFor(fact, missing)) unexplained.push(`${fact} is added`);
  if (unexplained.length > 0) return { outcome: 'lost', words: unexplained };
  if (words.size === 0) return { outcome: 'lossless', words: [] };
  const isGone = (fact: string): boolean =>
    missing.includes(fact) && !added.some((other) => standsFor(other, [fact]));
  const essence = wanted.filter((fact) => isAbout(feature, fact));
  const gone = essence.length > 0 && essence.every(isGone);
  return { outcome: gone ? 'impossible' : 'approximated', words: [...words].toSorted() };
}

/** True when the report has an entry at the member that a fact is said in. */
function isReported(fact: string, report: readonly Entry[]): boolean {
  const place = REPORTED_AT.find((each) => each.fact.test(fact))?.path;
  return place !== undefined && report.some(({ path }) => place.test(path));
}
const REPORTED_AT: readonly { readonly fact: RegExp; readonly path: RegExp }[] = [
  { fact: /^(failed result|image in result)/, path: /^(messages|input|contents)/ },
  { fact: /^pdf name/, path: /(filename|title)$/ },
  { fact: /^strict tool/, path: /^tools.*strict$/ },
  { fact: /^instruction/, path: /^(messages|input)\[/ },
  { fact: /^id of the user/, path: /^(safety_identifier|metadata\.user_id)$/ },
  { fact: /^search (near|in)/, path: /user_location$|filters$|allowed_domains$/ },
  { fact: /^(choice: \{"allowed|tool: )/, path: /^(tool_choice|toolConfig)/ },
  { fact: /^verbosity/, path: /verbosity$/ },
  { fact: /^one call/, path: /^(parallel_tool_calls|tool_choice)/ },
  { fact: /^cached to/, path: /cache_control|prompt_cache_breakpoint/ },
  { fact: /^sampling topK/, path: /top_k|topK/ },
  { fact: /^sampling seed/, path: /seed$/ },
  { fact: /^sampling frequencyPenalty/, path: /frequency_?penalty$/i },
  { fact: /^sampling presencePenalty/, path: /presence_?penalty$/i },
];

async function ask(
  stage: Stage,
  question: Question,
  way: Ask,
): Promise<Received | { readonly refused: string; readonly status: number }> {
  const { gateway } = stage;
  const face = FACES[way.client];
  const model = modelOf(way.upstream, way.servers);
  const path = CLIENTS[way.client].path(model, way.stream);
  const response = await gateway.post(path, face.ask(question, model, way.stream));
  const text = await response.text();
  const { status } = response;
  if (status !== 200) return { refused: `${status} ${text}`, status };
  // An answer without the header has an empty report.
  const record = response.headers.has('x-dragoman-report') ? await recordOf(gateway, response) : {};
  const report = list(record, 'report')
    .filter((entry) => at(entry, 'action') !== 'defaulted')
    .map((entry) => ({ path: String(at(entry, 'path')), reason: String(at(entry, 'reason')) }));
  return { body: way.stream ? face.gather(text) : (JSON.parse(text) as Json), report };
}

/** Answer that a client receives of a failure: its own protocol's error, and never a complete answer. */
export async function measureFailure(stage: Stage, afterContent: boolean, way: Way): Promise<Cell> {
  const { gateway, upstream } = stage;
  const words = dialect(way.upstream, 'up-0001');
  let script: Script = words.error(503);
  let message = 'scripted 503';
  if (afterContent) {
    message = 'scripted overload';
    script = way.stream
      ? sse(words.opening + words.piece('Sunny') + words.errorFrame)
      : whole(words.errorBody);
  }
  upstream.script(script);
  const client = CLIENTS[way.client];
  const model = modelOf(way.upstream, undefined);
  const response = await gateway.post(client.path(model, way.stream), client.ask(model, way.stream));
  const text = await response.text();
  const inStream = way.stream && afterContent;
  const received = client.receive(inStream, text);
  const lost = [
    received.complete ? 'the answer looks complete' : '',
    received.error?.includes(message) ? '' : `the error says ${String(received.error)}`,
    response.status === (inStream ? 200 : response.status) && (inStream || response.status >= 500)
      ? ''
      : `the status is ${response.status}`,
    inStream && received.text !== 'Sunny' ? `the text is ${received.text}` : '',
  ].filter((each) => each !== '');
  return lost.length === 0 ? { outcome: 'lossless', words: [] } : { outcome: 'lost', words: lost };
}
