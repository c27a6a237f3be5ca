// Parameters that an upstream refused to this account although its protocol allows them: learned from its 400, so
// that the next request is not refused for the same reason. Forgotten with the configuration that made the endpoint.
import type { Endpoint } from '../../catalog/index.ts';
import { type GatewayError, PARAMETERS, type Report, type ResolvedReasoning } from '../../canonical/index.ts';

/** Claude from 4.6 on, llama.cpp, Mistral and vLLM; the others name the member by which they were told. */
const PREFILL_WORDS =
  /prefill|\b(?:final|last) (?:assistant )?(?:message|role|turn)\b|must end with a user|continue_final_message|add_generation_prompt|\bprefix\b|\bpartial\b/i;

/** Members that switch reasoning off, as refusals name them. */
const SWITCH_WORDS = /reasoning|thinking|chat_template_kwargs/i;

/** Refusals of a member that a server does not know. */
const UNKNOWN_WORDS =
  /unsupported|unknown|unrecogni[sz]ed|unexpected|not (?:supported|permitted|allowed)|extra/i;

/** A refusal of `max_tokens` names the one to use instead (OpenAI's models that reason, 2026-11). */
const NEWER_NAME = /max_completion_tokens.{0,3} instead|max_tokens.{0,3} is not supported/i;

export class LearnedRefusals {
  /** OpenAI gives reasoning summaries only to organisations that it has verified (help centre, 2025-06). */
  readonly #noSummaries = new WeakSet<Endpoint>();

  readonly #noPrefills = new WeakSet<Endpoint>();

  /** Servers of models that nobody knows, which refuse to be told not to reason. */
  readonly #noSwitches = new WeakSet<Endpoint>();

  /** Servers of which nothing is known, without the parameters that they refused beyond their protocol. */
  readonly #taking = new WeakMap<Endpoint, Endpoint>();

  /** Names of the output limit that servers of which nothing is known have taught. */
  readonly #limitNames = new WeakMap<Endpoint, 'max_tokens' | 'max_completion_tokens'>();

  /**
   * True when an endpoint continues the beginning of an answer. One that cannot be told not to reason does not: its
   * thoughts would come after the text.
   */
  takesPrefill(endpoint: Endpoint): boolean {
    return (
      endpoint.quirks.prefill !== 'none' && !endpoint.reasoningMandatory && !this.#noPrefills.has(endpoint)
    );
  }

  /** Notes the failure of a request with a prefill: an endpoint that refused it for that is not asked again. */
  learnPrefill(endpoint: Endpoint, error: GatewayError): void {
    if (error.fault === 'client' && PREFILL_WORDS.test(error.message)) this.#noPrefills.add(endpoint);
  }

  /** True when this failure taught something new, so that the same request is worth sending again. */
  learn(endpoint: Endpoint, error: GatewayError): boolean {
    if (this.#learnLimitName(endpoint, error) || this.#learnSwitch(endpoint, error)) return true;
    if (this.#learnParameters(endpoint, error)) return true;
    if (error.param !== 'reasoning.summary' || error.fault !== 'client' || this.#noSummaries.has(endpoint))
      return false;
    this.#noSummaries.add(endpoint);
    return true;
  }

  /** The resolution without what this endpoint refuses. */
  apply(endpoint: Endpoint, resolved: ResolvedReasoning, report: Report): ResolvedReasoning {
    if (resolved.mode === 'off' && this.#noSwitches.has(endpoint)) {
      report.add('reasoning', 'dropped', `${endpoint.slug} refuses to be told not to reason`);
      return { mode: 'unset' };
    }
    if (resolved.mode !== 'on' || !this.#noSummaries.has(endpoint)) return resolved;
    if (resolved.summary !== undefined)
      report.add('reasoning.summary', 'dropped', `${endpoint.slug} refuses summaries to this account`);
    return { ...resolved, summary: 'none' };
  }

  /** Notes an answer that is longer than its limit: the server knows the other name of the limit, if any. */
  learnIgnoredLimit(endpoint: Endpoint): void {
    if (endpoint.quirks.maxTokensField === 'as_written' && !this.#limitNames.has(endpoint))
      this.#limitNames.set(endpoint, 'max_tokens');
  }

  /** The endpoint without the parameters that it has refused. */
  taking(endpoint: Endpoint): Endpoint {
    return this.#taking.get(endpoint) ?? endpoint;
  }

  /** The endpoint with the name of the output limit that it has taught. @param taken as the request takes it to be */
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
