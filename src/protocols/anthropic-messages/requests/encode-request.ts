// Encodes the body of a Messages request. Conversation, tools and thinking have files of their own.
import { asObject, isJsonObject, type JsonObject, type MutableJsonObject } from '../../../base/json/index.ts';
import { type CanonicalRequest, type Report, type Target, TEXTS } from '../../../canonical/index.ts';
import { endUserFor } from '../../end-user.ts';
import { constrainedFormat } from '../../members/constrain-schema.ts';
import { refusedPrefill, reportPrefill } from '../../content/prefill.ts';
import { titledSchema } from '../../members/titled-schema.ts';
import { encodeConversation } from './encode-conversation.ts';
import { type EncodeScope, limitBreakpoints, newScope } from './encode-parts.ts';
import { encodeThinking } from './encode-thinking.ts';
import { encodeTools } from './encode-tools.ts';
import type { WireEffort } from '../wire-types.ts';

/** `max_tokens` is required. Every Claude model since 2024-06 accepts this value. */
const DEFAULT_MAX_TOKENS = 8192;
/** Minimum `top_p` with thinking (documentation "Extended thinking", feature compatibility). */
const MIN_TOP_P_THINKING = 0.95;

/**
 * Encodes the upstream body.
 * @throws GatewayError `unsupported` naming the path, for content that Claude does not accept, and for a prefill that
 * the model is known to refuse
 */
export function encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  if (request.prefill && target.quirks.prefill === 'none') {
    // The protocol has prefills, so a server of which nothing is known gets it.
    if (target.isPrefillKnown !== false) throw refusedPrefill(request);
    reportPrefill(request, report);
  }
  const scope = newScope(target, report);
  const { tools, choice } = encodeTools(request, scope);
  const { system, turns } = encodeConversation(request.items, scope);
  limitBreakpoints([tools, system, ...turns.map(({ content }) => content)], scope);

  const maxTokens = encodeMaxTokens(request, target, report);
  const { thinking, effort } = encodeThinking(request, target, turns, choice, maxTokens, report);
  const format = request.responseFormat && encodeFormat(request, scope);

  const body: MutableJsonObject = { model: target.model, max_tokens: maxTokens };
  if (system.length > 0) body['system'] = encodeSystem(system);
  body['messages'] = turns;
  if (tools.length > 0) body['tools'] = tools;
  if (choice !== undefined) body['tool_choice'] = choice;
  if (thinking !== undefined) body['thinking'] = thinking;
  encodeTemplateSwitch(body, request, target);
  const config = encodeConfig(request, effort, format);
  if (config) body['output_config'] = config;
  encodeSampling(request, target, isOn(thinking), body, report);
  const stop = encodeStop(request, report);
  if (stop.length > 0) body['stop_sequences'] = stop;
  if (request.stream) body['stream'] = true;
  const metadata = encodeMetadata(request, report);
  if (metadata) body['metadata'] = metadata;
  encodeExtra(request, target, body, report);
  return body;
}

/** Writes the switch of servers that ignore `thinking`, but pass members to the model's template. */
function encodeTemplateSwitch(
  body: MutableJsonObject,
  request: CanonicalRequest,
  { quirks, reasoning }: Target,
): void {
  const isTaken = quirks.reasoningField === 'chat_template_kwargs' && reasoning.mode !== 'unset';
  if (isTaken && request.extra['chat_template_kwargs'] === undefined)
    body['chat_template_kwargs'] = { enable_thinking: reasoning.mode === 'on' };
}

/** Encodes instructions as one string, or as blocks if they have breakpoints or other members. */
function encodeSystem(system: readonly MutableJsonObject[]): string | readonly JsonObject[] {
  const texts: string[] = [];
  for (const block of system) {
    const text = block['text'];
    if (typeof text !== 'string' || saysMore(block)) return system;
    texts.push(text);
  }
  return texts.join('\n\n');
}

function saysMore(block: JsonObject): boolean {
  for (const name in block) if (name !== 'type' && name !== 'text' && block[name] !== undefined) return true;
  return false;
}

/** Returns the model's output limit if the client sent none; if that is unknown, the default plus the thinking budget. */
function encodeMaxTokens(request: CanonicalRequest, target: Target, report: Report): number {
  const { maxOutputTokens } = request;
  const ceiling = target.maxOutputTokens;
  if (maxOutputTokens !== undefined) {
    if (ceiling === null || maxOutputTokens <= ceiling) return maxOutputTokens;
    report.add('max_completion_tokens', 'clamped', TEXTS.writesAtMost(ceiling));
    return ceiling;
  }
  if (ceiling !== null) return ceiling;
  const budget = target.reasoning.mode === 'on' ? (target.reasoning.budgetTokens ?? 0) : 0;
  report.add(
    'max_completion_tokens',
    'defaulted',
    'Anthropic requires an output limit, and the limit of the model is not known',
  );
  return DEFAULT_MAX_TOKENS + budget;
}

/** Encodes Anthropic's schema format. The schema's name becomes its title, and `strict` is always on. */
function encodeFormat(request: CanonicalRequest, { target, report }: EncodeScope): JsonObject | undefined {
  const format = constrainedFormat(request, target, 'Anthropic', report, (schema) =>
    titledSchema(request, schema, report),
  );
  if (!format) return undefined;
  const { schema, description } = format;
  if (description === undefined) return { type: 'json_schema', schema };
  if (schema['description'] === undefined) return { type: 'json_schema', schema: { ...schema, description } };
  report.add('response_format.json_schema.description', 'dropped', TEXTS.ownDescription);
  return { type: 'json_schema', schema };
}

/** Returns `output_config`; undefined if it would be empty. */
function encodeConfig(
  request: CanonicalRequest,
  effort: WireEffort | undefined,
  format: JsonObject | undefined,
): JsonObject | undefined {
  const own = ownConfig(request);
  if (effort === undefined && format === undefined && own === NO_CONFIG) return undefined;
  const config = { ...own, effort, format };
  return Object.values(config).some((value) => value !== undefined) ? config : undefined;
}

/** Returns members of the client's own `output_config` other than effort and format. */
function ownConfig(request: CanonicalRequest): JsonObject {
  const isOurs = request.hybrid === true && !('output_config' in request.extra);
  if (request.protocol !== 'anthropic-messages' && !isOurs) return NO_CONFIG;
  const { effort: _effort, format: _format, ...rest } = asObject(request.raw['output_config']);
  return rest;
}

const NO_CONFIG: JsonObject = Object.freeze({});

/** Maximum length of `user_id` (API reference "Create a Message", `metadata`, 2026-11). */
const LONGEST_USER_ID = 256;

function encodeMetadata(request: CanonicalRequest, report: Report): JsonObject | undefined {
  const { metadata } = request.raw;
  if (request.protocol === 'anthropic-messages') return isJsonObject(metadata) ? metadata : undefined;
  const user_id = endUserFor(request, LONGEST_USER_ID, report);
  return user_id === undefined ? undefined : { user_id };
}

function isOn(thinking: JsonObject | undefined): boolean {
  return thinking !== undefined && thinking['type'] !== 'disabled';
}

function encodeSampling(
  request: CanonicalRequest,
  { quirks }: Target,
  thinking: boolean,
  body: MutableJsonObject,
  report: Report,
): void {
  let { temperature, topP, topK } = request;
  if (temperature !== undefined && temperature > 1) {
    report.add('temperature', 'clamped', 'the maximum temperature of Claude is 1');
    temperature = 1;
  }
  if (thinking) {
    if (temperature !== undefined && temperature !== 1) {
      report.add('temperature', 'dropped', TEXTS.thinkingTemperature);
    }
    temperature = undefined;
    if (topP !== undefined && topP < MIN_TOP_P_THINKING) {
      report.add('top_p', 'dropped', `the minimum top_p is ${MIN_TOP_P_THINKING} when Claude thinks`);
      topP = undefined;
    }
    if (topK !== undefined) report.add('top_k', 'dropped', 'Claude does not support top_k when it thinks');
    topK = undefined;
  }
  if (temperature !== undefined && topP !== undefined && !quirks.pairedSampling) {
    // 1 is the default of both, so it can be omitted.
    if (temperature === 1) temperature = undefined;
    else {
      if (topP !== 1) report.add('top_p', 'dropped', TEXTS.oneSampling);
      topP = undefined;
    }
  }
  if (temperature !== undefined) body['temperature'] = temperature;
  if (topP !== undefined) body['top_p'] = topP;
  if (topK !== undefined) body['top_k'] = topK;
}

function encodeStop(request: CanonicalRequest, report: Report): readonly string[] {
  const given = request.stop;
  if (!given) return NO_STOP;
  const stop = given.filter((sequence) => sequence.trim() !== '');
  if (stop.length < given.length)
    report.add('stop', 'dropped', 'Anthropic rejects stop sequences that are only white space');
  return stop;
}

const NO_STOP: readonly string[] = Object.freeze([]);

/** Copies undocumented members, only to upstreams of the client's own protocol. */
function encodeExtra(
  request: CanonicalRequest,
  target: Target,
  body: MutableJsonObject,
  report: Report,
): void {
  const passes = request.protocol === 'anthropic-messages' && target.quirks.unknownFields === 'pass';
  for (const key in request.extra) {
    if (passes && body[key] === undefined) body[key] = request.extra[key];
    else report.add(key, 'dropped', TEXTS.unknownToAnthropic);
  }
}
