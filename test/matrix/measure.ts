// Runs one cell of the matrix through the gateway and says what became of its facts: which were lost on the way, and in
// whose words. Knows nothing of how the gateway translates.
import { stream as sse, whole } from '../upstreams/answers.ts';
import { CLIENTS } from '../upstreams/client-dialects.ts';
import { dialect } from '../upstreams/dialects.ts';
import { recordOf, UPSTREAM_KEY } from '../upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../upstreams/json-path.ts';
import {
  startUpstream,
  type Answer as Script,
  type ScriptedUpstream,
} from '../upstreams/scripted-upstream.ts';
import { startGateway, type TestGateway } from '../harness.ts';
import { chatFace } from './chat-face.ts';
import { factsOfAnswer, factsOfQuestion, type Face, type Question } from './exchange.ts';
import { PROTOCOLS, UNASKABLE, UNHEARABLE, UNSAYABLE, type Feature, type Protocol } from './features.ts';
import { geminiFace } from './gemini-face.ts';
import { messagesFace } from './messages-face.ts';
import { responsesFace } from './responses-face.ts';

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

const FACES: Readonly<Record<Protocol, Face>> = {
  'openai-chat': chatFace,
  'openai-responses': responsesFace,
  'anthropic-messages': messagesFace,
  gemini: geminiFace,
};
const MODEL: Readonly<Record<Protocol, string>> = {
  'openai-chat': 'matrix/chat',
  'openai-responses': 'matrix/responses',
  'anthropic-messages': 'matrix/messages',
  gemini: 'matrix/gemini',
};

export interface Stage extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
}

/** A gateway in front of one upstream that speaks every protocol; nothing is relayed. */
export async function openStage(): Promise<Stage> {
  const upstream = await startUpstream();
  const { origin } = upstream;
  const gateway = await startGateway({
    routing: { retries: 0, breaker: { failures: 1000 } },
    providers: {
      up: {
        api_key: UPSTREAM_KEY,
        protocols: {
          'openai-chat': {
            base_url: `${origin}/v1`,
            reasoning_format: 'anthropic-claude-v1',
            quirks: { reasoning_replay: 'reasoning_details' },
          },
          'openai-responses': { base_url: `${origin}/v1`, reasoning_format: 'openai-responses-v1' },
          'anthropic-messages': {
            base_url: origin,
            reasoning_format: 'anthropic-claude-v1',
            quirks: { cache_control: true, exclusive_reasoning: true },
          },
          gemini: { base_url: `${origin}/v1beta`, reasoning_format: 'google-gemini-v1' },
        },
      },
    },
    models: PROTOCOLS.map((protocol) => ({
      id: MODEL[protocol],
      max_output_tokens: 8000,
      endpoints: [{ provider: 'up', model: 'm', protocol, reasoning: 'both' }],
    })),
  });
  return {
    gateway,
    upstream,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await upstream.stop();
    },
  };
}

interface Entry {
  readonly path: string;
  readonly reason: string;
}
interface Heard {
  readonly body: Json;
  readonly report: readonly Entry[];
}

/** What a way does to a row. */
export async function measure(stage: Stage, feature: Feature, way: Way): Promise<Cell> {
  const client = FACES[way.client];
  const upstream = FACES[way.upstream];
  const { question, results } = feature;
  const byGateway = feature.byGateway?.upstream === way.upstream ? feature.byGateway : undefined;
  const { wanted, beyond, reasons } = withinReach(feature, way);
  if (reasons) return { outcome: 'impossible', words: reasons };

  const said = byGateway?.answer ?? feature.answer;
  const script = way.stream ? sse(upstream.stream(said)) : whole(upstream.whole(said));
  const after = whole(upstream.whole({ text: 'Done.', finish: 'stop' }));
  stage.upstream.script(script, after);
  const first = await ask(stage, question, way);
  if ('refused' in first) return { outcome: 'lost', words: [first.refused] };
  const got = [...upstream.understood(stage.upstream.requests[0]?.json), ...client.heard(first.body)];
  let { report } = first;
  if (results) {
    const own = client.giveBack(first.body, feature.forgets === true);
    const turns = [...question.turns, { own }, { results }];
    const second = await ask(stage, { ...question, turns }, { ...way, stream: false });
    if ('refused' in second) return { outcome: 'lost', words: [`second turn: ${second.refused}`] };
    report = [...report, ...second.report];
    const understood = upstream.understood(stage.upstream.requests[1]?.json);
    got.push(...understood, orderOf(understood));
  }
  return judge(feature, way, { wanted, beyond, got, report });
}

const isAbout = ({ about }: Feature, fact: string): boolean => about.some((kind) => fact.startsWith(kind));

/**
 * The facts of a row: those that its client can say and its upstream too, and those beyond them. With reasons, nothing
 * that the row is about is within reach.
 */
function withinReach(
  feature: Feature,
  way: Way,
): Readonly<Record<'wanted' | 'beyond', readonly string[]>> & { readonly reasons?: readonly string[] } {
  const { question, answer, results } = feature;
  const facts = [...factsOfQuestion(question), ...factsOfAnswer(answer)];
  if (results) {
    const { text = '', calls = [], thoughts = [] } = answer;
    const turns = [...question.turns, { assistant: text, calls }, { results }];
    const states = thoughts.map(({ state }) => `state: ${state}`);
    const turn = factsOfQuestion({ turns });
    facts.push(...turn, ...states, orderOf([...states, ...turn]));
  }
  const emulated = feature.byGateway?.upstream === way.upstream ? feature.byGateway : undefined;
  const absences = [...UNASKABLE[way.client], ...(emulated ? [] : UNSAYABLE[way.upstream])];
  const reasonOf = (fact: string): string | undefined =>
    absences.find((each) => each.fact.test(fact))?.reason;
  const reasons = facts.filter((fact) => isAbout(feature, fact)).map(reasonOf);
  const known = reasons.filter((reason) => reason !== undefined);
  return {
    wanted: facts.filter((fact) => reasonOf(fact) === undefined && !emulated?.untold.test(fact)),
    beyond: facts.filter((fact) => reasonOf(fact) !== undefined),
    ...(known.length === reasons.length ? { reasons: [...new Set(known)].toSorted() } : {}),
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
  /^(user|image|pdf|assistant|system|thought|text|refusal|call|result|failed result|finish|cites|stopped by)/;
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
  }: Readonly<Record<'wanted' | 'beyond' | 'got', readonly string[]>> & Pick<Heard, 'report'>,
): Cell {
  const missing = wanted.filter((fact) => !got.includes(fact));
  const standsFor = (other: string, facts: readonly string[]): boolean =>
    facts.some((fact) => kindOf(fact) === kindOf(other) || valueOf(fact) === valueOf(other));
  const added = got.filter((fact) => SAID.test(fact) && !wanted.includes(fact) && !standsFor(fact, beyond));
  const absences = UNHEARABLE[way.client];
  const words = new Set(report.map(({ reason }) => reason));
  const unexplained: string[] = [];
  const moved: string[] = [];
  for (const fact of missing) {
    const absence = absences.find((each) => each.fact.test(fact));
    if (absence) words.add(absence.reason);
    else if (added.some((other) => valueOf(other) === valueOf(fact))) moved.push(`${fact} is said otherwise`);
    else if (!isReported(fact, report)) unexplained.push(`${fact} is lost`);
  }
  // What stands elsewhere follows from something that has words.
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
];

async function ask(
  stage: Stage,
  question: Question,
  way: Way,
): Promise<Heard | { readonly refused: string }> {
  const { gateway } = stage;
  const face = FACES[way.client];
  const model = MODEL[way.upstream];
  const path = CLIENTS[way.client].path(model, way.stream);
  const response = await gateway.post(path, face.ask(question, model, way.stream));
  const text = await response.text();
  if (response.status !== 200) return { refused: `${response.status} ${text}` };
  const record = await recordOf(gateway, response);
  const report = list(record, 'report')
    .filter((entry) => at(entry, 'action') !== 'defaulted')
    .map((entry) => ({ path: String(at(entry, 'path')), reason: String(at(entry, 'reason')) }));
  return { body: way.stream ? face.gather(text) : (JSON.parse(text) as Json), report };
}

/** What a client hears of a failure: its own protocol's error, and never a complete answer. */
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
  const model = MODEL[way.upstream];
  const response = await gateway.post(client.path(model, way.stream), client.ask(model, way.stream));
  const text = await response.text();
  const inStream = way.stream && afterContent;
  const heard = client.hear(inStream, text);
  const lost = [
    heard.complete ? 'the answer looks complete' : '',
    heard.error?.includes(message) ? '' : `the error says ${String(heard.error)}`,
    response.status === (inStream ? 200 : response.status) && (inStream || response.status >= 500)
      ? ''
      : `the status is ${response.status}`,
    inStream && heard.text !== 'Sunny' ? `the text is ${heard.text}` : '',
  ].filter((each) => each !== '');
  return lost.length === 0 ? { outcome: 'lossless', words: [] } : { outcome: 'lost', words: lost };
}
