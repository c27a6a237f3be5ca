// Facts about model families, as data: what a model can do is the same wherever it is served. Rows match the
// bare, canonical model name (see `canonicalName`); all rows that match are laid over each other in order, so
// general rows stand first. Knows no provider by name and decides nothing about a request. `source` names the page
// to check a row against; most rows were written from general knowledge of it, and only what a row calls recorded or
// recordings was seen in real answers. The dates are those of the knowledge, not of a visit.
import type { ProtocolName, Quirks } from '../../canonical/index.ts';
import { mainProtocol, serverFacts } from '../../protocols/index.ts';
import { claudeFamilies } from './claude.ts';
import type { FamilyFacts, FamilyRow } from './family.ts';
import { openaiFamilies } from './openai.ts';
import { otherFamilies } from './others.ts';
import { SPECIAL_MODELS, type SpecialModel } from './special-models.ts';

export { apiName } from './claude.ts';
export type { FamilyFacts } from './family.ts';
export { SPECIAL_MODELS } from './special-models.ts';

const FAMILIES: readonly FamilyRow[] = [
  // OpenRouter labels reasoning of models without a format of their own `unknown`.
  {
    match: /^/,
    facts: { detailsFormat: 'unknown' },
    source: 'openrouter.ai: reasoning tokens; recordings 2026',
  },

  ...openaiFamilies,
  ...claudeFamilies,
  ...otherFamilies,
];

/** Prefix that Bedrock puts before a model's name: the profile of a region, and the maker (`us.anthropic.`). */
const BEDROCK_PREFIX =
  /^(?:(?:us|us-gov|eu|ap|apac|au|jp|ca|sa|me|af|global)\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|writer|zai)\./;

/** Names that no text-generation protocol serves: vectors, speech, images, moderation, scanning, old completions. */
const NOT_TEXT =
  /embed|whisper|tts|transcri|moderation|dall-e|image|realtime|-ocr|rerank|voxtral|^(text-)?(ada|babbage|curie|davinci)(-|$)|-instruct-0914$|^gpt-3-5-turbo-instruct|-saba-|guard|safeguard|veo|imagen|sora/;

/** Text models that are made for one purpose: most refuse an ordinary chat. */
const ONE_PURPOSE = /audio|deep-research|computer-use|search-(preview|api)/;
/** Models that their vendors have retired or replaced, though price lists keep them (vendors' deprecation pages; 2026-11). */
const SUPERSEDED =
  /^claude-(v\d|[12](-|$)|instant|3-)|^gpt-3|^gpt-4(-(\d{4}|turbo|vision|32k|5-).*)?$|^chatgpt-4o|^o1-(preview|mini)|^gemini-1/;

/**
 * The name by which families are matched: lower case, without namespaces (`openai/`, `accounts/x/models/`),
 * variant suffixes (`:free`, `:20b`), and with one separator for version numbers (`4.5`, `4p5` and `4-5` are one).
 */
function canonicalName(name: string): string {
  const slash = name.lastIndexOf('/');
  let bare = (slash < 0 ? name : name.slice(slash + 1)).toLowerCase();
  bare = bare.replace(BEDROCK_PREFIX, '');
  const colon = bare.indexOf(':');
  if (colon > 0) bare = bare.slice(0, colon);
  return bare.replace(/(\d)[.p](?=\d)/g, '$1-').replace(/\./g, '-');
}

/** True when a model of this name can be asked for text over one of our protocols. */
export function isTextModel(name: string): boolean {
  return !NOT_TEXT.test(canonicalName(name)) && !specialModel(name);
}

/** Facts of a model of this name that makes something else than text and is served; undefined for all others. */
export function specialModel(name: string): SpecialModel | undefined {
  const bare = canonicalName(name);
  return SPECIAL_MODELS.find(({ match }) => match.test(bare));
}

/** True for a model that nobody should be given without asking for it by name. */
export function isOnlyByName(name: string): boolean {
  const bare = canonicalName(name);
  return ONE_PURPOSE.test(bare) || SUPERSEDED.test(bare);
}

/**
 * All facts known of a model as served over one protocol.
 * @param name the upstream's name, namespaces and dates included
 * @param reasoningField the provider's own place for the reasoning switch
 */
export function familyFacts(
  name: string,
  protocol: ProtocolName,
  reasoningField: Quirks['reasoningField'],
): FamilyFacts {
  const bare = canonicalName(name);
  let facts: FamilyFacts = {};
  for (const row of FAMILIES) {
    if (row.over && !row.over.includes(protocol)) continue;
    if (row.field && !(hasFields(protocol) && row.field.includes(reasoningField))) continue;
    if (!row.match.test(bare)) continue;
    facts = { ...facts, ...row.facts, quirks: { ...facts.quirks, ...row.facts.quirks } };
  }
  return facts;
}

/** The protocol a model prefers; undefined when its family does not care. */
export function preferredProtocol(name: string): ProtocolName | undefined {
  return familyFacts(name, mainProtocol.name, 'none').protocol;
}

/** True where servers differ in the member that tells a model to reason. */
function hasFields(protocol: ProtocolName): boolean {
  return serverFacts(protocol).varies.reasoningField !== undefined;
}

/** A key under which spellings of one name meet: case and the separator inside version numbers do not count. */
export function looseName(name: string): string {
  return name.toLowerCase().replace(/(\d)\.(?=\d)/g, '$1-');
}
