// Parameters that an upstream refused although its protocol allows them. Learned from its 400, so that the next request
// omits them. Forgotten when the configuration is reloaded.
import type { Endpoint } from '../../catalog/index.ts';
import { type GatewayError, PARAMETERS, type Report, type ResolvedReasoning } from '../../canonical/index.ts';

/** Errors of Claude from 4.6 on, llama.cpp, Mistral and vLLM; others name the parameter that requested the prefill. */
const PREFILL_WORDS =
  /prefill|\b(?:final|last) (?:assistant )?(?:message|role|turn)\b|must end with a user|continue_final_message|add_generation_prompt|\bprefix\b|\bpartial\b/i;

/** Names of parameters that turn reasoning off, as error messages contain them. */
const SWITCH_WORDS = /reasoning|thinking|chat_template_kwargs/i;

/** Error messages for a member that the server does not know. */
const UNKNOWN_WORDS =
  /unsupported|unknown|unrecogni[sz]ed|unexpected|not (?:supported|permitted|allowed)|extra/i;

/** Refusal of `max_tokens` that names its replacement (OpenAI's reasoning models, 2026-11). */
const NEWER_NAME = /max_completion_tokens.{0,3} instead|max_tokens.{0,3} is not supported/i;

export class LearnedRefusals {
  /** OpenAI returns reasoning summaries only to verified organisations (help centre, 2025-06). */
  readonly #noSummaries = new WeakSet<Endpoint>();

  readonly #noPrefills = new WeakSet<Endpoint>();

  /** Servers of unknown models that refuse a request to turn reasoning off. */
  readonly #noSwitches = new WeakSet<Endpoint>();

  /** Servers without a preset, without the non-standard parameters that they refused. */
  readonly #taking = new WeakMap<Endpoint, Endpoint>();

  /** Names of the output limit, learned from servers without a preset. */
  readonly #limitNames = new WeakMap<Endpoint, 'max_tokens' | 'max_completion_tokens'>();

  /**
   * True when an endpoint continues the beginning of an answer. With mandatory reasoning it does not, because its
   * reasoning would follow the text.
   */
  takesPrefill(endpoint: Endpoint): boolean {
    return (
      endpoint.quirks.prefill !== 'none' && !endpoint.reasoningMandatory && !this.#noPrefills.has(endpoint)
    );
  }

  /** Notes a failed request with a prefill. An endpoint that refused the prefill does not get one again. */
  learnPrefill(endpoint: Endpoint, error: GatewayError): void {
    if (error.fault === 'client' && PREFILL_WORDS.test(error.message)) this.#noPrefills.add(endpoint);
  }

  /** True when the failure taught something new, so the request is worth retrying. */
  learn(endpoint: Endpoint, error: GatewayError): boolean {
    if (this.#learnLimitName(endpoint, error) || this.#learnSwitch(endpoint, error)) return true;
    if (this.#learnParameters(endpoint, error)) return true;
    if (error.param !== 'reasoning.summary' || error.fault !== 'client' || this.#noSummaries.has(endpoint))
      return false;
    this.#noSummaries.add(endpoint);
    return true;
  }

  /** The reasoning settings without those that this endpoint refuses. */
  apply(endpoint: Endpoint, resolved: ResolvedReasoning, report: Report): ResolvedReasoning {
    if (resolved.mode === 'off' && this.#noSwitches.has(endpoint)) {
      report.add('reasoning', 'dropped', `${endpoint.slug} does not allow reasoning to be switched off`);
      return { mode: 'unset' };
    }
    if (resolved.mode !== 'on' || !this.#noSummaries.has(endpoint)) return resolved;
    if (resolved.summary !== undefined)
      report.add(
        'reasoning.summary',
        'dropped',
        `${endpoint.slug} does not allow reasoning summaries for this account`,
      );
    return { ...resolved, summary: 'none' };
  }

  /** Notes an answer that exceeded its limit: the server expects the other name of the limit. */
  learnIgnoredLimit(endpoint: Endpoint): void {
    if (endpoint.quirks.maxTokensField === 'as_written' && !this.#limitNames.has(endpoint))
      this.#limitNames.set(endpoint, 'max_tokens');
  }

  /** The endpoint without the parameters that it refused. */
  taking(endpoint: Endpoint): Endpoint {
    return this.#taking.get(endpoint) ?? endpoint;
  }

  /**
   * The endpoint with the learned name of the output limit.
   * @param taken the endpoint as adapted for the request
   */
  limited(endpoint: Endpoint, taken: Endpoint): Endpoint {
    const maxTokensField = this.#limitNames.get(endpoint);
    return maxTokensField === undefined ? taken : { ...taken, quirks: { ...taken.quirks, maxTokensField } };
  }

  #learnParameters(endpoint: Endpoint, { fault, message, param }: GatewayError): boolean {
    const known = this.taking(endpoint);
    const { alsoTakes = [] } = known;
    if (endpoint.isVendorRun || fault !== 'client' || alsoTakes.length === 0) return false;
    const isRefused = (name: string): boolean =>
      param === name || (UNKNOWN_WORDS.test(message) && new RegExp(`\\b${name}\\b`).test(message));
    const left = alsoTakes.filter((parameter) => !isRefused(PARAMETERS[parameter]));
    if (left.length === alsoTakes.length) return false;
    this.#taking.set(endpoint, { ...known, alsoTakes: left });
    return true;
  }

  #learnLimitName(endpoint: Endpoint, { fault, message }: GatewayError): boolean {
    const isOpen = endpoint.quirks.maxTokensField === 'as_written' && !this.#limitNames.has(endpoint);
    if (!isOpen || fault !== 'client' || !/max_(?:completion_)?tokens/i.test(message)) return false;
    const isNewer = NEWER_NAME.test(message);
    if (!isNewer && !message.includes('max_completion_tokens')) return false;
    this.#limitNames.set(endpoint, isNewer ? 'max_completion_tokens' : 'max_tokens');
    return true;
  }

  #learnSwitch(endpoint: Endpoint, { fault, message }: GatewayError): boolean {
    const isOurs = !endpoint.isReasoningKnown && !endpoint.isVendorRun;
    if (!isOurs || fault !== 'client' || !SWITCH_WORDS.test(message) || this.#noSwitches.has(endpoint))
      return false;
    this.#noSwitches.add(endpoint);
    return true;
  }
}
